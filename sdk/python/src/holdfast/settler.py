"""Tells the server how attempts ended: what gathers during one request goes with the next."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable

from .attempt import Attempt
from .errors import HoldfastException, ServerUnavailableException
from .http import Backoff
from .leases import MOST_SETTLED
from .outcome import Outcome
from .source import JobSource

log = logging.getLogger("holdfast")


class Settler:
    """One thread. An end is sent again until it is answered; twice does no harm."""

    def __init__(self, settled: Callable[[Attempt, Outcome, bool], None]) -> None:
        self._settled = settled
        self._ready = threading.Condition(threading.Lock())
        self._ends: deque[tuple[Attempt, Outcome]] = deque()
        self._under_way = 0
        self._closed = False
        self._abandoned = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="holdfast-settle", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def add(self, attempt: Attempt, outcome: Outcome) -> None:
        with self._ready:
            self._ends.append((attempt, outcome))
            self._ready.notify()

    @property
    def backlog(self) -> int:
        return len(self._ends) + self._under_way

    def close(self, timeout: float) -> bool:
        """Waits until all ends are answered; False when that took longer."""
        with self._ready:
            self._closed = True
            self._ready.notify()
        self._thread.join(timeout)
        self._abandoned.set()
        return self.backlog == 0

    def _loop(self) -> None:
        while True:
            with self._ready:
                while not self._ends and not self._closed:
                    self._ready.wait()
                if not self._ends:
                    return
                some = [self._ends.popleft() for _ in range(min(len(self._ends), MOST_SETTLED))]
                self._under_way = len(some)
            by_source: dict[JobSource, list[tuple[Attempt, Outcome]]] = {}
            for end in some:
                by_source.setdefault(end[0].source, []).append(end)
            for source, ends in by_source.items():
                self._settle(source, ends)
            self._under_way = 0

    def _settle(self, source: JobSource, ends: list[tuple[Attempt, Outcome]]) -> None:
        backoff = Backoff()
        told_at = 0.0
        while True:
            try:
                accepted = source.settle(ends)
                if len(accepted) != len(ends):
                    raise ServerUnavailableException("the server answered another number of ends")
                break
            except Exception as failure:
                if not isinstance(failure, HoldfastException):
                    log.exception("ends could not be sent")
                elif time.monotonic() - told_at > 30:
                    told_at = time.monotonic()
                    log.warning("%d ends are sent again: %s", len(ends), failure)
                if self._abandoned.wait(backoff.pause(failure)):
                    return
        for (attempt, outcome), taken in zip(ends, accepted):
            try:
                self._settled(attempt, outcome, taken)
            except Exception:
                log.exception("the end of %r", attempt.job)
