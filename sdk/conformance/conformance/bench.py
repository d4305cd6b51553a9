"""How many jobs that do nothing a worker program runs, at what cost, and whether it grows."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .candidate import Candidate, add_options, candidates
from .plane import ControlPlane
from .stage import WorkerProgram

BATCH = 5_000
TICKS = os.sysconf("SC_CLK_TCK")
SAMPLE = 0.25
START_TIMEOUT = 60.0
LEASE_MS = 30_000
# Memory that is still being warmed up does not count.
WARM = 0.25
GROWTH = 1.1


def processor_seconds(pid: int) -> float:
    """Of the process and of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(int(one) for one in fields[11:15]) / TICKS


def with_children(pid: int | None) -> float:
    """Processor seconds of a process and of those that it has started; 0 for None."""
    if pid is None:
        return 0.0
    spent = processor_seconds(pid)
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            if stat.read_text().rpartition(")")[2].split()[1] == str(pid):
                spent += processor_seconds(int(stat.parent.name))
        except OSError:
            pass  # it has ended meanwhile, and is counted with its parent
    return spent


def resident_mb(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


@dataclass(frozen=True)
class Measured:
    name: str
    jobs: int
    seconds: float
    processor: list[float]
    """Seconds of the worker, the server and the database."""
    memory: list[tuple[float, float]]
    """Seconds since the start, and megabytes."""
    growth_mb: float

    @property
    def rate(self) -> float:
        return self.jobs / self.seconds

    def megabytes(self) -> tuple[float, float, float]:
        """Once it was warm, at the end, and the most."""
        warm = [size for at, size in self.memory if at >= WARM * self.seconds]
        return warm[0], warm[-1], max(size for _, size in self.memory)

    @property
    def grows(self) -> bool:
        first, last, _ = self.megabytes()
        return last > first * GROWTH + self.growth_mb


class Watch(threading.Thread):
    """Looks at the memory of a process until it is told to stop."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid = pid
        self._over = threading.Event()
        self._began = time.monotonic()
        self.seen: list[tuple[float, float]] = []

    def run(self) -> None:
        while True:
            self.seen.append((time.monotonic() - self._began, resident_mb(self._pid)))
            if self._over.wait(SAMPLE):
                return

    def stop(self) -> list[tuple[float, float]]:
        self._over.set()
        self.join()
        return self.seen


def fill(plane: ControlPlane, queue: str, jobs: int) -> None:
    for start in range(0, jobs, BATCH):
        some = [{"kind": "noop", "queue": queue}] * min(BATCH, jobs - start)
        plane.call("POST", "/v1/jobs", {"jobs": some})


def is_empty(plane: ControlPlane, queue: str) -> bool:
    if plane.call("POST", "/v1/queues/depth", {"queues": [queue], "limit": 1})["depth"] > 0:
        return False
    rest = plane.call("GET", f"/v1/jobs?queue={queue}&state=PENDING,RUNNING,RETRYING&limit=1")
    return not rest["jobs"]


def drain(plane: ControlPlane, queue: str, worker: WorkerProgram) -> None:
    while not is_empty(plane, queue):
        if not worker.alive:
            text = worker.log.read_text("utf-8", "replace")[-2_000:]
            raise RuntimeError(f"the worker program has ended:\n{text}")
        time.sleep(0.05)


def measure(plane: ControlPlane, one: Candidate, jobs: int, concurrency: int) -> Measured:
    """The first tenth is for what a program compiles or loads when it first runs."""
    queue = f"bench-{uuid.uuid4().hex[:8]}"
    fill(plane, queue, max(1, jobs // 10))
    env = {
        "CONFORMANCE_URL": plane.url,
        "CONFORMANCE_KEY": plane.worker_key,
        "CONFORMANCE_QUEUE": queue,
        "CONFORMANCE_CONCURRENCY": str(concurrency),
        "CONFORMANCE_LEASE_MS": str(LEASE_MS),
        "CONFORMANCE_WAIT_MS": "1000",
        "CONFORMANCE_SHUTDOWN_MS": "5000",
        "CONFORMANCE_JOURNAL": "/dev/null",
    }
    worker = WorkerProgram(one.command, env, plane.folder / f"{one.name or 'worker'}.log")
    plane.workers.append(worker.process)
    try:
        drain(plane, queue, worker)
        # Paused while it is filled, so that the clock starts with all of the jobs there.
        plane.call("POST", f"/v1/queues/{queue}/pause", {})
        fill(plane, queue, jobs)
        processes = (worker.process.pid, plane.server_pid, plane.database_pid)
        before = [with_children(one) for one in processes]
        watch = Watch(worker.process.pid)
        watch.start()
        began = time.monotonic()
        plane.call("POST", f"/v1/queues/{queue}/resume", {})
        drain(plane, queue, worker)
        seconds = time.monotonic() - began
        after = [with_children(one) for one in processes]
        spent = [now - then for now, then in zip(after, before)]
        return Measured(one.name or "worker", jobs, seconds, spent, watch.stop(), one.growth_mb)
    finally:
        worker.signal(signal.SIGTERM)
        worker.exit_code(30)


def show(all_: Sequence[Measured]) -> None:
    print(
        f"{'':12} {'':8} {'processor µs/job':>25} {'MB resident':>20}\n"
        f"{'worker':12} {'jobs/s':>8} {'worker':>9} {'server':>7} {'database':>9} "
        f"{'warm':>6} {'end':>6} {'most':>6}"
    )
    for one in all_:
        worker, server, database = (spent / one.jobs * 1e6 for spent in one.processor)
        first, last, most = one.megabytes()
        print(
            f"{one.name:12} {one.rate:8.0f} {worker:9.0f} {server:7.0f} {database:9.0f} "
            f"{first:6.0f} {last:6.0f} {most:6.0f}" + ("  BAD  memory grows" if one.grows else "")
        )


def main(arguments: Sequence[str] | None = None) -> int:
    usage = argparse.ArgumentParser(prog="bench", description=__doc__)
    usage.add_argument("--jobs", type=int, default=20_000, help="how many (default: 20000)")
    usage.add_argument("--concurrency", type=int, default=400, help="jobs at once (default: 400)")
    add_options(usage)
    given = usage.parse_args(arguments)
    try:
        programs = candidates(given)
    except ValueError as wrong:
        usage.error(str(wrong))
    plane = ControlPlane()
    plane.close_when_told()
    try:
        plane.start()
        # For what the server compiles and loads when it first runs; the first is not to pay for it.
        measure(plane, programs[0], max(1, given.jobs // 4), given.concurrency)
        measured = [measure(plane, one, given.jobs, given.concurrency) for one in programs]
    finally:
        plane.close()
    show(measured)
    return 1 if any(one.grows for one in measured) else 0


if __name__ == "__main__":
    sys.exit(main())
