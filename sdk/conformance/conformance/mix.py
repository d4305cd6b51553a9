"""A mix of jobs for worker programs on the same queues, while workers and server are killed.

Every job must end exactly once, as its kind says, and none may be lost or made up.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import signal
import sys
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .candidate import Candidate, add_options, candidates
from .plane import LEASE, ControlPlane
from .stage import TERMINAL, WorkerProgram

# New ones for each run, so that what an earlier one has left in the database does not count.
QUEUES = tuple(f"mix-{name}-{uuid.uuid4().hex[:6]}" for name in ("one", "two"))
BATCH = 500
CONCURRENCY = 10
CHECKERS = 8
# Kills are at random: a job that meets many of them has done nothing wrong.
MANY = 1_000
# The server counts no further.
MOST_COUNTED = 10_000
KINDS = ("noop",) * 8 + ("echo",) * 6 + ("sleep",) * 3 + ("fail",) * 2 + ("steps",)
FAIL_ONCE = {
    "category": "INFRASTRUCTURE",
    "code": "ONCE",
    "message": "once",
    "until": 2,
    "retryAfterMs": 100,
}
START_TIMEOUT = 120.0
GIVES_UP_WITHIN = 60.0
TIMEOUT = 90.0
"""Without any job that ends for this long, the rest is given up."""


@dataclass
class Planned:
    """A job and what it must return."""

    id: str
    kind: str
    queue: str
    payload: dict[str, Any]

    def body(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "kind": self.kind,
            "queue": self.queue,
            "payload": self.payload,
            "maxCrashes": MANY,
        }

    def wanted(self, job: dict[str, Any]) -> Any:
        attempt = {"attempt": job["attempt"]}
        if self.kind == "steps":
            names = [one["step"] for one in job["result"] or []]
            return job["result"] if names == self.payload["steps"] else self.payload["steps"]
        return {"noop": None, "echo": self.payload}.get(self.kind, attempt)


def plan(count: int, chance: random.Random) -> list[Planned]:
    planned = []
    for n in range(count):
        kind = KINDS[n % len(KINDS)]
        payloads: dict[str, dict[str, Any]] = {
            "echo": {"n": n, "text": "größer 😀"},
            "sleep": {"ms": chance.randint(1, 60)},
            "fail": FAIL_ONCE,
            "steps": {"steps": ["a", "b"]},
        }
        payload = payloads.get(kind, {})
        planned.append(Planned(str(uuid.uuid4()), kind, chance.choice(QUEUES), payload))
    return planned


@dataclass
class Crowd:
    """The worker processes: one for each program and queue, replaced when it is killed."""

    plane: ControlPlane
    members: list[tuple[Candidate, str]]
    folder: Path
    running: dict[int, WorkerProgram] = field(default_factory=dict)
    started: int = 0
    killed: Counter[str] = field(default_factory=Counter)
    names: dict[str, str] = field(default_factory=dict)
    """Which program a process is of, by its id."""
    wrong: list[str] = field(default_factory=list)

    def start(self, number: int) -> None:
        candidate, queue = self.members[number]
        self.started += 1
        env = {
            "CONFORMANCE_URL": self.plane.url,
            "CONFORMANCE_KEY": self.plane.worker_key,
            "CONFORMANCE_QUEUE": queue,
            "CONFORMANCE_CONCURRENCY": str(CONCURRENCY),
            "CONFORMANCE_LEASE_MS": str(round(LEASE * 1000)),
            "CONFORMANCE_WAIT_MS": "1000",
            "CONFORMANCE_SHUTDOWN_MS": "5000",
            "CONFORMANCE_JOURNAL": str(self.folder / "journal"),
        }
        log = self.folder / f"{candidate.name or 'worker'}-{self.started}.log"
        program = WorkerProgram(candidate.command, env, log)
        self.running[number] = program
        self.plane.workers.append(program.process)
        self.names[str(program.process.pid)] = candidate.name or "worker"

    def revive(self) -> None:
        """Starts those again that gave up at their start, because the server was away."""
        for number, one in list(self.running.items()):
            if one.alive:
                continue
            if time.monotonic() - one.started > GIVES_UP_WITHIN:
                name = self.members[number][0].name
                self.wrong.append(f"{name} ended by itself with code {one.process.returncode}")
            self.start(number)

    def program_of(self, worker: str) -> str:
        """The program that chose this name for its worker; the names have their process's id."""
        parts = re.split(r"\D+", worker)
        return next((self.names[part] for part in parts if part in self.names), "nobody")

    def await_ready(self) -> None:
        until = time.monotonic() + START_TIMEOUT
        for number, one in self.running.items():
            while "ready" not in one.log.read_text("utf-8", "replace").splitlines():
                if not one.alive or time.monotonic() > until:
                    text = one.log.read_text("utf-8", "replace")[-2_000:]
                    name = self.members[number][0].name
                    raise RuntimeError(f"the worker program {name} did not start:\n{text}")
                time.sleep(0.1)

    def kill(self, number: int) -> None:
        one = self.running[number]
        one.signal(signal.SIGKILL)
        one.process.wait()
        self.killed[self.members[number][0].name or "worker"] += 1
        self.start(number)

    def stop(self) -> list[str]:
        """How those ended that should have ended well."""
        for one in self.running.values():
            one.signal(signal.SIGTERM)
        wrong = []
        for number, one in self.running.items():
            code = one.exit_code(30)
            if code != 0:
                wrong.append(f"{self.members[number][0].name} ended with code {code} after SIGTERM")
        return wrong

    def close(self) -> None:
        for one in self.running.values():
            if one.alive:
                one.signal(signal.SIGKILL)
                one.process.wait()


def in_batches(planned: Sequence[Planned], portions: int) -> Iterator[Sequence[Planned]]:
    size = max(1, -(-len(planned) // portions))
    for start in range(0, len(planned), size):
        yield planned[start : start + size]


def enqueue(plane: ControlPlane, some: Sequence[Planned]) -> None:
    """The ids are the kit's, so a call whose answer was lost is repeated without harm."""
    for start in range(0, len(some), BATCH):
        plane.call(
            "POST", "/v1/jobs", {"jobs": [one.body() for one in some[start : start + BATCH]]}
        )


def disturb(
    plane: ControlPlane, crowd: Crowd, planned: Sequence[Planned], kills: int, restarts: int,
    chance: random.Random,
) -> None:  # fmt: skip
    """Hands in the jobs portion by portion, with a kill after each, while they run."""
    faults = ["worker"] * kills + ["server"] * restarts
    chance.shuffle(faults)
    for some in in_batches(planned, len(faults) + 1):
        enqueue(plane, some)
        time.sleep(chance.uniform(0.05, 0.6))
        if not faults:
            continue
        if faults.pop() == "server":
            plane.kill_server()
            time.sleep(chance.uniform(0.1, 1.0))
            plane.start_server()
        else:
            crowd.kill(chance.randrange(len(crowd.members)))
        crowd.revive()


def await_ends(plane: ControlPlane, crowd: Crowd, count: int) -> None:
    left = _left(plane)
    until = time.monotonic() + TIMEOUT
    while left > 0:
        time.sleep(0.5)
        crowd.revive()
        before, left = left, _left(plane)
        if left != before:
            until = time.monotonic() + TIMEOUT
        if time.monotonic() > until:
            print(f"{left} of {count} jobs have not ended", flush=True)
            return


def _left(plane: ControlPlane) -> int:
    states = "WAITING,PENDING,RUNNING,RETRYING"
    return sum(
        int(plane.call("GET", f"/v1/jobs/count?queue={queue}&state={states}")["count"])
        for queue in QUEUES
    )


@dataclass
class Found:
    wrong: list[str]
    attempts: int = 0
    crashes: int = 0
    ends: Counter[str] = field(default_factory=Counter)
    """By the worker that ended the job."""


def check(plane: ControlPlane, crowd: Crowd, planned: Sequence[Planned]) -> Found:
    """Looks at every job, and at whether there are others."""
    found = Found(crowd.wrong)
    for queue in QUEUES:
        wanted = min(MOST_COUNTED, sum(one.queue == queue for one in planned))
        there = int(plane.call("GET", f"/v1/jobs/count?queue={queue}")["count"])
        if there != wanted:
            found.wrong.append(f"queue {queue} has {there} jobs, not {wanted}")

    def look(one: Planned) -> dict[str, Any]:
        return dict(plane.call("GET", f"/v1/jobs/{one.id}?include=attempts,events"))

    with ThreadPoolExecutor(CHECKERS) as pool:
        for one, job in zip(planned, pool.map(look, planned)):
            found.attempts += job["attempt"]
            found.crashes += job["crashes"]
            worker = str((job["attempts"] or [{}])[-1].get("workerId") or "")
            found.ends[crowd.program_of(worker)] += 1
            found.wrong += [f"{one.kind} {one.id}: {what}" for what in wrong_with(one, job)]
    return found


def wrong_with(one: Planned, job: dict[str, Any]) -> list[str]:
    wrong = []
    if job["state"] != "SUCCEEDED":
        wrong.append(f"it is {job['state']}: {job.get('failure')}")
    else:
        wanted = one.wanted(job)
        if job.get("result") != wanted:
            wrong.append(f"its result is {job.get('result')}, not {wanted}")
    ends = [each["outcome"] for each in job["attempts"] if each["outcome"] in TERMINAL[:1]]
    if ends != ["SUCCEEDED"]:
        wrong.append(f"{len(ends)} attempts of it have succeeded")
    done = [each for each in job["events"] if each["type"] == "done"]
    if len(done) != 1:
        wrong.append(f"its timeline has {len(done)} ends")
    if len(job["attempts"]) != job["attempt"]:
        wrong.append(f"{len(job['attempts'])} attempts are known of {job['attempt']}")
    return wrong


def main(arguments: Sequence[str] | None = None) -> int:
    usage = argparse.ArgumentParser(prog="mix", description=__doc__)
    usage.add_argument("--jobs", type=int, default=10_000, help="how many (default: 10000)")
    usage.add_argument("--kills", type=int, default=30, help="kills of workers (default: 30)")
    usage.add_argument("--restarts", type=int, default=3, help="kills of the server (default: 3)")
    usage.add_argument("--seed", type=int, default=None, help="repeats the choices of a run")
    add_options(usage)
    given = usage.parse_args(arguments)
    try:
        programs = candidates(given)
    except ValueError as wrong:
        usage.error(str(wrong))
    seed = int.from_bytes(os.urandom(4), "big") if given.seed is None else given.seed
    print(f"seed {seed}", flush=True)
    return run(programs, given.jobs, given.kills, given.restarts, random.Random(seed))


def run(
    programs: Sequence[Candidate], jobs: int, kills: int, restarts: int, chance: random.Random
) -> int:
    plane = ControlPlane()
    plane.close_when_told()
    if not plane.is_own:
        restarts = 0
    members = [(one, queue) for queue in QUEUES for one in programs]
    crowd = Crowd(plane, members, plane.folder)
    planned = plan(jobs, chance)
    try:
        plane.start()
        for number in range(len(members)):
            crowd.start(number)
        crowd.await_ready()
        began = time.monotonic()
        disturb(plane, crowd, planned, kills, restarts, chance)
        await_ends(plane, crowd, jobs)
        seconds = time.monotonic() - began
        found = check(plane, crowd, planned)
        found.wrong += crowd.stop()
    finally:
        crowd.close()
        plane.close()
    if len(found.ends) < len(programs):
        found.wrong.append(f"only {', '.join(found.ends)} have ended jobs")
    show(found, jobs, crowd.killed, restarts, seconds)
    return 1 if found.wrong else 0


def show(found: Found, jobs: int, killed: Counter[str], restarts: int, seconds: float) -> None:
    names = ", ".join(f"{name} {count}" for name, count in sorted(killed.items()))
    ends = ", ".join(f"{name} {count}" for name, count in sorted(found.ends.items()))
    print(f"{jobs} jobs in {seconds:.1f} s, ended by: {ends}")
    print(f"killed: {names or 'none'}, server {restarts}")
    print(f"{found.attempts} attempts, {found.crashes} of them interrupted by a kill")
    for line in found.wrong[:20]:
        print(f"BAD  {line}")
    print(f"{len(found.wrong)} faults" if found.wrong else "every job has ended exactly once")


if __name__ == "__main__":
    sys.exit(main())
