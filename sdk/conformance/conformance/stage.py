"""What a scenario works with: its queue, its proxy, its worker programs, and questions to ask."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .plane import LEASE, ControlPlane, free_port
from .proxy import FaultProxy

TERMINAL = ("SUCCEEDED", "FAILED", "CANCELLED")
SECRET = "conformance-dispatch-secret"
POLL = 0.2


class Unfit(AssertionError):
    """The worker did not do what the scenario asks."""


def _history(job: dict[str, Any]) -> str:
    lines = [
        f"attempt {one['attempt']} {one['outcome']} {one['startedAt']} to {one.get('endedAt')}"
        f" {(one.get('failure') or {}).get('code', '')}"
        for one in job["attempts"]
    ]
    return "\n".join(lines)


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

    def exit_code(self, patience: float) -> int:
        try:
            return self.process.wait(patience)
        except subprocess.TimeoutExpired:
            raise Unfit(f"the worker program had not ended {patience} s after SIGTERM") from None

    @property
    def alive(self) -> bool:
        return self.process.poll() is None


class Stage:
    def __init__(self, plane: ControlPlane, name: str, command: list[str], fault: str) -> None:
        self.plane = plane
        self.queue = f"{name}-{uuid.uuid4().hex[:6]}"[-48:]
        self.proxy = FaultProxy(("127.0.0.1", plane.port))
        self._command = command
        self._fault = fault
        self._folder = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=plane.folder))
        self._journal = self._folder / "journal"
        self._journal.touch()
        self._workers: list[WorkerProgram] = []
        self._proxies = [self.proxy]

    def worker(
        self, concurrency: int = 4, shutdown_ms: int = 10_000, push_port: int | None = None
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
            "CONFORMANCE_FAULT": self._fault,
        }
        if push_port is not None:
            env |= {"CONFORMANCE_PUSH_PORT": str(push_port), "CONFORMANCE_PUSH_SECRET": SECRET}
        log = self._folder / f"worker-{len(self._workers) + 1}.log"
        worker = WorkerProgram(self._command, env, log)
        self._workers.append(worker)
        self.until(lambda: "ready" in self._text(log).splitlines(), 180, "the line 'ready'", worker)
        return worker

    def push_worker(self) -> tuple[WorkerProgram, FaultProxy, int]:
        """A worker in push mode, the proxy in front of it, and its own port."""
        port = free_port()
        worker = self.worker(push_port=port)
        front = FaultProxy(("127.0.0.1", port), self.proxy.url)
        self._proxies.append(front)
        body = {"url": f"{front.url}/tasks", "secret": SECRET, "maxInFlight": 4}
        self.plane.call("PUT", f"/v1/queues/{self.queue}/dispatch", body)
        return worker, front, port

    def enqueue(self, kind: str, payload: Any = None, **options: Any) -> str:
        job = {"kind": kind, "queue": self.queue, "payload": payload or {}} | options
        return str(self.plane.call("POST", "/v1/jobs", job)["id"])

    def job(self, id_: str) -> dict[str, Any]:
        return dict(self.plane.call("GET", f"/v1/jobs/{id_}?include=attempts,events"))

    def state(self, id_: str) -> str:
        return str(self.plane.call("GET", f"/v1/jobs/{id_}")["state"])

    def ended(self, id_: str, patience: float = 60.0) -> dict[str, Any]:
        """The job once it has ended."""
        self.until(lambda: self.state(id_) in TERMINAL, patience, f"the end of job {id_}")
        return self.job(id_)

    def expect(self, id_: str, patience: float = 60.0, **fields: Any) -> dict[str, Any]:
        """The job has ended, and its fields are these."""
        job = self.ended(id_, patience)
        for name, wanted in fields.items():
            if job.get(name) != wanted:
                shown = str(job.get(name))[:300]
                what = f"{job['kind']} {id_}: {name} is {shown}, not {str(wanted)[:300]}"
                raise Unfit(f"{what}\n{_history(job)}")
        return job

    def expect_later_attempt(
        self, id_: str, patience: float = 60.0, **fields: Any
    ) -> dict[str, Any]:
        """The job has succeeded, and what counts is the result of a later attempt.

        Its number may be above two: the server may give a job to a long poll whose worker is gone.
        """
        job = self.expect(id_, patience, state="SUCCEEDED", **fields)
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

    def begun(self, id_: str, attempt: int = 1, patience: float = 30.0) -> None:
        what = f"'begin' of {id_} attempt {attempt} in the journal"
        self.until(lambda: self.count("begin", id_, attempt) > 0, patience, what)

    def until(
        self,
        condition: Callable[[], bool],
        patience: float,
        what: str,
        worker: WorkerProgram | None = None,
    ) -> None:
        until = time.monotonic() + patience
        while not condition():
            if time.monotonic() > until:
                raise Unfit(f"waited {patience} s for {what}")
            if worker is not None and not worker.alive:
                raise Unfit(f"the worker program ended before {what}")
            time.sleep(POLL)

    def check(self, holds: bool, otherwise: str) -> None:
        if not holds:
            raise Unfit(otherwise)

    def alive(self) -> None:
        """The worker program has not ended by itself and still works."""
        self.check(all(one.alive for one in self._workers), "the worker program has ended")
        self.expect(self.enqueue("echo", {"still": "there"}), state="SUCCEEDED", attempt=1)

    def output(self) -> str:
        return "\n".join(self._text(one.log)[-2_000:] for one in self._workers)

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
