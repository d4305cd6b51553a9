"""Extends leases by heartbeats, and stops handlers whose time is up."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable

from .attempt import Attempt
from .errors import HoldfastException, ServerUnavailableException
from .http import Backoff
from .source import HeartbeatResult, JobSource
from .stop import StopKind

log = logging.getLogger("holdfast")

TICK = 0.25
COMMAND_INTERVAL = 2.0


class LeaseKeeper:
    """Two threads of its own, so that neither a busy handler nor a slow answer delays the other.

    One sends heartbeats, all that are due in one request. One only looks at the clock.
    """

    def __init__(self, give_up: Callable[[Attempt], None]) -> None:
        self._give_up = give_up
        self._lock = threading.Lock()
        self._held: dict[tuple[str, int], Attempt] = {}
        self._overdue: dict[tuple[str, int], Attempt] = {}
        self._stopped = threading.Event()
        self._commands_at = 0.0
        self._away = False
        self._threads = [
            threading.Thread(target=self._beat_loop, name="holdfast-heartbeat", daemon=True),
            threading.Thread(target=self._watch_loop, name="holdfast-watch", daemon=True),
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def add(self, attempts: Iterable[Attempt]) -> None:
        with self._lock:
            for attempt in attempts:
                self._held[attempt.id, attempt.number] = attempt

    def remove(self, attempt: Attempt) -> None:
        with self._lock:
            self._held.pop((attempt.id, attempt.number), None)

    def held(self) -> list[Attempt]:
        with self._lock:
            return list(self._held.values())

    def knows(self, lease: tuple[str, int]) -> bool:
        with self._lock:
            return lease in self._held

    def close(self) -> None:
        self._stopped.set()

    def _beat_loop(self) -> None:
        backoff = Backoff(0.2, 2.0)
        while True:
            held = self.held()
            tick = min((one.interval / 4 for one in held), default=TICK)
            if self._stopped.wait(min(TICK, tick)):
                return
            try:
                self._beat_due(held)
                self._look_for_commands(held)
                backoff.reset()
                if self._away:
                    self._away = False
                    log.info("heartbeats are answered again")
            except ServerUnavailableException as away:
                if not self._away:
                    self._away = True
                    log.warning("heartbeats are not answered, trying again: %s", away)
                self._stopped.wait(backoff.pause(away))
            except HoldfastException as refused:
                log.error("heartbeats are refused: %s", refused)
                self._stopped.wait(backoff.pause())
            except Exception:
                log.exception("a heartbeat failed")
                self._stopped.wait(backoff.pause())

    def _beat_due(self, held: list[Attempt]) -> None:
        now = time.monotonic()
        due: dict[JobSource, list[Attempt]] = {}
        for one in held:
            if now - one.beat_at >= one.interval * 0.75:
                due.setdefault(one.source, []).append(one)
        for source, attempts in due.items():
            for result in source.heartbeat(attempts):
                self._hear(result, now)

    def _hear(self, result: HeartbeatResult, asked_at: float) -> None:
        attempt = result.attempt
        if not result.held:
            self.lost(attempt, result.why_lost)
            return
        attempt.beat_at = asked_at
        attempt.control = result.control
        if result.cancel_reason is not None:
            self.stop(attempt, StopKind.CANCELLED, result.cancel_reason)

    def _look_for_commands(self, held: list[Attempt]) -> None:
        """Cancels are learnt sooner than by heartbeats where these are far apart."""
        now = time.monotonic()
        if now - self._commands_at < COMMAND_INTERVAL:
            return
        slow = {one.source for one in held if one.interval > COMMAND_INTERVAL and not one.ended}
        self._commands_at = now
        for source in slow:
            for task, number, reason, control in source.commands():
                with self._lock:
                    attempt = self._held.get((task, number))
                if attempt is None:
                    continue
                attempt.control = control
                if reason is not None:
                    self.stop(attempt, StopKind.CANCELLED, reason)

    def lost(self, attempt: Attempt, why: str) -> None:
        self.remove(attempt)
        if not attempt.ended:
            log.warning("%r is stopped, its lease is lost: %s", attempt.job, why)
        self.stop(attempt, StopKind.LEASE_LOST, why)
        if not attempt.ended:
            with self._lock:  # its handler may have to be given up
                self._overdue[attempt.id, attempt.number] = attempt

    def stop(self, attempt: Attempt, kind: StopKind, reason: str) -> None:
        if attempt.ended:
            return
        if attempt.signal.stop(kind, reason):
            # A process can be killed, and is early enough for the end to be told in time.
            timeout = attempt.grace * 0.5 if attempt.kill else attempt.grace
            attempt.give_up_at = time.monotonic() + timeout

    def _watch_loop(self) -> None:
        while not self._stopped.wait(0.1):
            now = time.monotonic()
            for attempt in self.held() + self._lost_ones():
                self._watch(attempt, now)

    def _lost_ones(self) -> list[Attempt]:
        with self._lock:
            self._overdue = {key: one for key, one in self._overdue.items() if not one.ended}
            return list(self._overdue.values())

    def _watch(self, attempt: Attempt, now: float) -> None:
        if attempt.ended:
            return
        if attempt.give_up_at is not None:
            if now >= attempt.give_up_at:
                attempt.give_up_at = None
                self._give_up(attempt)
        elif attempt.timeout_at is not None and now >= attempt.timeout_at:
            reason = f"the attempt took longer than {attempt.timeout} s"
            self.stop(attempt, StopKind.ATTEMPT_TIMEOUT, reason)
        elif attempt.deadline is not None and now >= attempt.deadline:
            self.stop(attempt, StopKind.DEADLINE_EXCEEDED, "the job's deadline has passed")
        elif attempt.strict and now >= attempt.beat_at + attempt.lease:
            self.stop(attempt, StopKind.LEASE_LOST, "no heartbeat was answered for a lease")
