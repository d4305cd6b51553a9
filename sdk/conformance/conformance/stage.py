"""What a scenario works with: its queue, its proxy, its worker programs, and questions to ask."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .plane import LEASE, ControlPlane, free_port
from .proxy import FaultProxy

TERMINAL = ("SUCCEEDED", "FAILED", "CANCELLED")
SECRET = "conformance-dispatch-secret"
FIRST_LOOK = 0.1
SLOWEST_LOOK = 1.0
# What must come comes at once as a rule; a busy machine may stand still for half a minute, though.
TIMEOUT = 120.0
# With a fault it never comes, so nobody waits for that long.
TIMEOUT_WITH_FAULT = 45.0


class Unfit(AssertionError):
    """The worker did not do what the scenario asks."""


def _history(job: dict[str, Any]) -> str:
    lines = [
        f"attempt {one['attempt']} {one['outcome']} {one['startedAt']} to {one.get('endedAt')}"
        f" {(one.get('failure') or {}).get('code', '')}"
        for one in job["attempts"]
    ]
    return "\n".join(lines)


@dataclass(frozen=True)
class Peer:
    """A worker program, under test or beside one."""

    command: list[str]
    fault: str = ""


class WorkerProgram:
    """The program under test. Its output goes to a file that is shown when a scenario fails."""

    def __init__(self, command: list[str], env: dict[str, str], log: Path) -> None:
        self.log = log
        with log.open("ab") as out:
            self.process = subprocess.Popen(
                command,
                env=os.environ | env,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        self.started = time.monotonic()

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def exit_code(self, timeout: float) -> int:
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise Unfit(f"the worker program had not ended {timeout} s after SIGTERM") from None

    @property
    def alive(self) -> bool:
        return self.process.poll() is None


class Stage:
    def __init__(
        self,
        plane: ControlPlane,
        name: str,
        command: list[str],
        fault: str,
        shared: bool = False,
        peers: Sequence[Peer] = (),
    ) -> None:
        """``shared``: several scenarios work here at once, and have one worker program."""
        self.plane = plane
        self.timeout = TIMEOUT_WITH_FAULT if fault else TIMEOUT
        self.queue = f"{name}-{uuid.uuid4().hex[:6]}"[-48:]
        self.proxy = FaultProxy(("127.0.0.1", plane.port))
        self._own = Peer(command, fault)
        self._peers = peers
        self._folder = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=plane.folder))
        self._journal = self._folder / "journal"
        self._journal.touch()
        self._shared = shared
        self._lock = threading.Lock()
        self._workers: list[WorkerProgram] = []
        self._proxies = [self.proxy]

    def worker(
        self, concurrency: int = 4, shutdown_ms: int = 10_000, push_port: int | None = None
    ) -> WorkerProgram:
        """A worker program that serves; the same one for all scenarios that share this stage."""
        with self._lock:
            if self._shared and self._workers:
                return self._workers[0]
            return self._start(self._own, concurrency, shutdown_ms, push_port)

    def pairs(self) -> list[tuple[Peer, Peer]]:
        """The program under test with each of its peers, in both orders."""
        return [pair for one in self._peers for pair in ((self._own, one), (one, self._own))]

    def program(self, one: Peer) -> WorkerProgram:
        """A worker program of one of them."""
        with self._lock:
            return self._start(one, 4, 10_000, None)

    def _start(
        self, one: Peer, concurrency: int, shutdown_ms: int, push_port: int | None
    ) -> WorkerProgram:
        env = {
            "CONFORMANCE_URL": self.proxy.url,
            "CONFORMANCE_KEY": self.plane.worker_key,
            "CONFORMANCE_QUEUE": self.queue,
            "CONFORMANCE_CONCURRENCY": str(concurrency),
            "CONFORMANCE_LEASE_MS": str(round(LEASE * 1000)),
            "CONFORMANCE_WAIT_MS": "1000",
            "CONFORMANCE_SHUTDOWN_MS": str(shutdown_ms),
            "CONFORMANCE_JOURNAL": str(self._journal),
            "CONFORMANCE_FAULT": one.fault,
        }
        if push_port is not None:
            env |= {"CONFORMANCE_PUSH_PORT": str(push_port), "CONFORMANCE_PUSH_SECRET": SECRET}
        log = self._folder / f"worker-{len(self._workers) + 1}.log"
        with self.plane.starting:
            worker = WorkerProgram(one.command, env, log)
            self._workers.append(worker)
            self.plane.workers.append(worker.process)
            self.until(
                lambda: "ready" in self._text(log).splitlines() or not worker.alive,
                "the line 'ready'",
            )
        self.check(worker.alive, "the worker program ended before the line 'ready'")
        return worker

    def push_worker(self) -> tuple[WorkerProgram, FaultProxy, int]:
        """A worker in push mode, the proxy in front of it, and its own port."""
        port = free_port()
        worker = self.worker(push_port=port)
        front = FaultProxy(("127.0.0.1", port), self.proxy.url, "worker")
        self._proxies.append(front)
        body = {"url": f"{front.url}/tasks", "secret": SECRET, "maxInFlight": 4}
        self.plane.call("PUT", f"/v1/queues/{self.queue}/dispatch", body)
        return worker, front, port

    def enqueue(self, kind: str, payload: Any = None, **options: Any) -> str:
        return self.enqueue_all(kind, [payload], **options)[0]

    def enqueue_all(self, kind: str, payloads: Sequence[Any], **options: Any) -> list[str]:
        jobs = [
            {"id": str(uuid.uuid4()), "kind": kind, "queue": self.queue, "payload": one or {}}
            | options
            for one in payloads
        ]
        self.plane.call("POST", "/v1/jobs", {"jobs": jobs})
        return [str(one["id"]) for one in jobs]

    def job(self, id_: str) -> dict[str, Any]:
        return dict(self.plane.call("GET", f"/v1/jobs/{id_}?include=attempts,events"))

    def state(self, id_: str) -> str:
        return str(self.plane.call("GET", f"/v1/jobs/{id_}")["state"])

    def ended(
        self, id_: str, after: float = 0.0, most_attempts: int | None = None
    ) -> dict[str, Any]:
        """The job once it has ended, or has more attempts than it may have.

        ``after`` is how many seconds it takes at least.
        """

        def is_over() -> bool:
            job = self.plane.call("GET", f"/v1/jobs/{id_}")
            if job["state"] in TERMINAL:
                return True
            self.check(any(one.alive for one in self._workers), "the worker program has ended")
            return most_attempts is not None and job["attempt"] > most_attempts

        self.until(is_over, f"the end of job {id_}", after + self.timeout)
        return self.job(id_)

    def expect(self, id_: str, after: float = 0.0, **fields: Any) -> dict[str, Any]:
        """The job has ended, and its fields are these."""
        job = self.ended(id_, after, fields.get("attempt"))
        for name, wanted in fields.items():
            if job.get(name) != wanted:
                shown = str(job.get(name))[:300]
                what = f"{job['kind']} {id_}: {name} is {shown}, not {str(wanted)[:300]}"
                raise Unfit(f"{what}\n{_history(job)}")
        return job

    def expect_later_attempt(self, id_: str, **fields: Any) -> dict[str, Any]:
        """The job has succeeded, and what counts is the result of a later attempt.

        Its number may be above two: the server may give a job to a long poll whose worker is gone.
        """
        job = self.expect(id_, state="SUCCEEDED", **fields)
        self.check(job["attempt"] >= 2, "the first attempt counted although it was over")
        return job

    def journal(self) -> list[str]:
        return self._text(self._journal).splitlines()

    def count(self, word: str, id_: str, attempt: int | None = None) -> int:
        """How many lines of the journal begin with the word and are about the job's attempt."""
        found = [line.split() for line in self.journal()]
        return sum(
            one[0] == word and one[2] == id_ and attempt in (None, int(one[3])) for one in found
        )

    def begun(self, id_: str, attempt: int = 1) -> None:
        self.await_note("begin", id_, attempt)

    def await_note(self, word: str, id_: str, attempt: int = 1) -> None:
        """Until the word stands in the journal."""
        what = f"'{word}' of {id_} attempt {attempt} in the journal"
        self.until(lambda: self.count(word, id_, attempt) > 0, what)

    def until(self, condition: Callable[[], bool], what: str, timeout: float | None = None) -> None:
        timeout = self.timeout if timeout is None else timeout
        until = time.monotonic() + timeout
        look = FIRST_LOOK
        while not condition():
            if time.monotonic() > until:
                raise Unfit(f"waited {timeout:.0f} s for {what}")
            time.sleep(look)
            look = min(SLOWEST_LOOK, look * 1.5)

    def check(self, holds: bool, otherwise: str) -> None:
        if not holds:
            raise Unfit(otherwise)

    def alive(self) -> None:
        """The worker program has not ended by itself and still works."""
        self.check(all(one.alive for one in self._workers), "the worker program has ended")
        self.expect(self.enqueue("echo", {"still": "there"}), state="SUCCEEDED", attempt=1)

    def release(self, id_: str, attempt: int = 1) -> None:
        """Gives a job back in the name of the worker that holds it, which does not know of it."""
        held = {"taskId": id_, "attempt": attempt, "workerId": self.job(id_)["workerId"]}
        body = {"settlements": [held | {"outcome": "RELEASED"}]}
        acks = self.plane.call("POST", "/v1/leases/settle", body, self.plane.worker_key)["acks"]
        if acks != ["ACCEPTED"]:
            raise RuntimeError(f"the release of {id_} was answered {acks}")

    def output(self) -> str:
        """What the workers wrote, and which of their requests were refused."""
        texts = [self._text(one.log)[-2_000:] for one in self._workers]
        refused = [one for proxy in self._proxies for one in proxy.refusals]
        return "\n".join(texts + refused)

    @staticmethod
    def _text(path: Path) -> str:
        return path.read_text("utf-8", "replace")

    def close(self) -> None:
        for worker in self._workers:
            if worker.alive:
                worker.signal(signal.SIGKILL)
                worker.process.wait()
        for proxy in self._proxies:
            proxy.close()
