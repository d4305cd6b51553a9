"""Runs attempts, whichever way they came: claim → run → heartbeat → report → settle."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from .attempt import Attempt
from .channel import DirectChannel
from .context import JobContext
from .errors import CancelledException, FailureCategory
from .keeper import LeaseKeeper
from .kind import Kind
from .outcome import Lost, Outcome, Released, Snoozed, Suspended, failed, of_exception
from .processes import HandlerProcesses
from .reporter import Reporter
from .settler import Settler
from .stop import StopKind
from .threads import EventLoop, HandlerThreads

log = logging.getLogger("holdfast")

MOST_UNKNOWN = 10_000
# Handlers that end at about the same time are replaced by one request and not by one each.
GATHER = 0.005


class Engine:
    def __init__(self, kinds: dict[str, Kind], concurrency: int, unknown_kinds: float) -> None:
        self.concurrency = concurrency
        self._kinds = kinds
        self._unknown_kinds = unknown_kinds
        self._unknown: dict[str, float] = {}
        self._slots = threading.Condition(threading.Lock())
        self._running = 0
        self._counts = {"started": 0, "settled": 0, "refused": 0, "suspended": 0, "given_up": 0}
        self._draining = False
        self.keeper = LeaseKeeper(self._give_up)
        self.settler = Settler(self._settled)
        self.reporter = Reporter(self.settler.add)
        self._threads = HandlerThreads()
        self._loop = EventLoop()
        self._processes = HandlerProcesses()

    def start(self) -> None:
        self.keeper.start()
        self.settler.start()
        self.reporter.start()

    def free(self, wait: float) -> int:
        """How many more attempts there is room for; waits for the first place."""
        with self._slots:
            if self._room() > 0:
                return self._room()
            self._slots.wait(wait)
        if self.concurrency > 1 and self._room() > 0:
            time.sleep(GATHER)
        return max(0, self._room())

    def _room(self) -> int:
        # Ends that nobody answers are held leases too, and must not gather without bound.
        if self._draining or self.settler.backlog > 2 * self.concurrency + 1_000:
            return 0
        return self.concurrency - self._running

    @property
    def running(self) -> int:
        return self._running

    def stats(self) -> dict[str, int]:
        return self._counts | {"running": self._running, "unsettled": self.settler.backlog}

    def run(self, attempts: Sequence[Attempt]) -> None:
        """Takes the attempts' places and begins with them; their leases are kept from here on."""
        with self._slots:
            self._running += len(attempts)
            self._counts["started"] += len(attempts)
        self.keeper.add(attempts)
        coroutines: list[Coroutine[Any, Any, None]] = []
        for attempt in attempts:
            kind = self._kinds.get(attempt.job.kind)
            if kind is None:
                self._finish(attempt, self._leave_for_others(attempt))
                continue
            attempt.strict = kind.strict
            if kind.is_async:
                coroutines.append(self._perform_async(kind, attempt))
            else:
                self._submit(kind, attempt)
        if coroutines:
            self._loop.submit(coroutines)

    def _submit(self, kind: Kind, attempt: Attempt) -> None:
        most = self.concurrency + self._counts["given_up"]
        self._threads.submit(lambda: self._perform(kind, attempt), most)

    def _perform(self, kind: Kind, attempt: Attempt) -> None:
        try:
            channel = DirectChannel(attempt, self.reporter)
            attempt.begins()
            if not channel.started():
                outcome: Outcome = Lost()
            elif kind.process:
                outcome = self._processes.run(kind, attempt, channel)
            else:
                context = JobContext(attempt.job, channel, attempt.signal)
                outcome = kind.perform(attempt.job.payload, context, attempt.signal)
        except BaseException as error:
            outcome = of_exception(error, attempt.signal)
        self._finish(attempt, outcome)

    async def _perform_async(self, kind: Kind, attempt: Attempt) -> None:
        task = asyncio.current_task()
        loop = asyncio.get_running_loop()
        assert task is not None
        work = task
        attempt.begins()
        attempt.signal.on_stop(lambda: loop.call_soon_threadsafe(work.cancel))
        channel = DirectChannel(attempt, self.reporter)
        context = JobContext(attempt.job, channel, attempt.signal)
        if not attempt.announced and not await self._announced(channel):
            self._finish(attempt, Lost())
            return
        outcome = await kind.perform_async(attempt.job.payload, context, attempt.signal)
        self._finish(attempt, outcome)

    @staticmethod
    async def _announced(channel: DirectChannel) -> bool:
        try:
            return await asyncio.to_thread(channel.started)
        except (asyncio.CancelledError, CancelledException):
            return False

    def _finish(self, attempt: Attempt, outcome: Outcome) -> None:
        if not attempt.end():
            log.warning("the handler of %r, which was given up, has left", attempt.job)
            return
        self._leave(attempt, outcome)

    def _leave(self, attempt: Attempt, outcome: Outcome) -> None:
        with self._slots:
            self._running -= 1
            self._slots.notify_all()
        if attempt.suspended:
            outcome = Suspended()  # whatever its handler has made of that
        if isinstance(outcome, Suspended):
            self._counts["suspended"] += 1
            self.keeper.remove(attempt)
        elif isinstance(outcome, Lost):
            self.keeper.remove(attempt)
        elif attempt.reports_pending():
            self.reporter.finish(attempt, outcome)
        else:
            self.settler.add(attempt, outcome)

    def _settled(self, attempt: Attempt, outcome: Outcome, accepted: bool) -> None:
        self.keeper.remove(attempt)
        self._counts["settled" if accepted else "refused"] += 1
        if not accepted:
            what = type(outcome).__name__
            log.warning("%r: its end, %s, came too late and was refused", attempt.job, what)

    def _give_up(self, attempt: Attempt) -> None:
        """The handler was told to stop and has not left within the grace period."""
        kill = attempt.kill
        if kill is not None:
            log.warning("%r does not stop: its process is killed", attempt.job)
            kill()
            return
        if not attempt.end():
            return
        self._counts["given_up"] += 1
        log.error("%r does not stop: its handler is given up and runs on for nothing", attempt.job)
        outcome = of_exception(TimeoutError(), attempt.signal)
        if attempt.signal.kind is StopKind.CANCELLED:
            outcome = Lost()  # the server fails it with CANCEL_TIMEOUT
        self._leave(attempt, outcome)

    def _leave_for_others(self, attempt: Attempt) -> Outcome:
        """A kind that is not known here may be known to another worker of the queue."""
        now = time.monotonic()
        if len(self._unknown) >= MOST_UNKNOWN:
            self._unknown.clear()
        since = self._unknown.setdefault(attempt.id, now)
        kind = attempt.job.kind
        if now - since > self._unknown_kinds:
            known = ", ".join(sorted(self._kinds))
            message = f"no worker had a handler for {kind!r}; this one has {known}"
            return failed(FailureCategory.CONFIGURATION, "NO_HANDLER", message, False)
        log.warning("%r is left for another worker: no handler for %r", attempt.job, kind)
        return Snoozed(1.0 if since == now else 30.0)

    def drain(self) -> None:
        with self._slots:
            self._draining = True
            self._slots.notify_all()

    def stop(self, timeout: float, hurry: threading.Event) -> None:
        """Waits for running handlers, tells the rest to stop, and gives their jobs back."""
        self.drain()
        self._await_none(timeout, hurry.is_set)
        for attempt in self.keeper.held():
            self.keeper.stop(attempt, StopKind.SHUTDOWN, "the worker shuts down")
        self._await_none(2.0, lambda: False)
        for attempt in self.keeper.held():
            if attempt.end():
                self._leave(attempt, Released())
        self.reporter.close()
        if not self.settler.close(10.0):
            log.error("the server did not answer; leases that are left will run out")
        self.keeper.close()
        self._processes.close()

    def _await_none(self, timeout: float, hurried: Callable[[], bool]) -> None:
        until = time.monotonic() + timeout
        with self._slots:
            while self._running > 0 and time.monotonic() < until and not hurried():
                self._slots.wait(min(0.2, max(0.0, until - time.monotonic())))
