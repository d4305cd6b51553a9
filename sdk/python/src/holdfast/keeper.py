"""Extends leases by heartbeats, and stops handlers whose time is up."""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable, Iterable

from .attempt import Attempt
from .errors import HoldfastException, ServerUnavailableException
from .source import Command, HeartbeatResult, JobSource
from .stop import StopKind

log = logging.getLogger("holdfast")

TICK = 0.25
COMMAND_INTERVAL = 2.0
TOLERATED = 3


class Link:
    """How the heartbeats to one source fare."""

    def __init__(self, source: JobSource) -> None:
        self.source = source
        self.failed_in_a_row = 0
        self.retry_at = 0.0
        self.interval = 1.0
        self._degraded = False

    def well(self) -> None:
        if self._degraded:
            self._degraded = False
            log.info(
                "HEARTBEAT_RECOVERED: heartbeats work again after %d failures",
                self.failed_in_a_row,
            )
        self.failed_in_a_row = 0

    def failed(self, attempts: int, error: Exception, took: float) -> None:
        # A heartbeat that took as long as several intervals counts as several failures.
        first = self.failed_in_a_row == 0
        self.failed_in_a_row += max(1, int(took / self.interval))
        # Sooner than after a whole interval: leases run out meanwhile.
        asked = getattr(error, "retry_after", None) or 0.0
        pause = self.interval / 4 * random.uniform(0.8, 1.2)
        self.retry_at = time.monotonic() + max(pause, asked)
        if self.failed_in_a_row > TOLERATED and not self._degraded:
            self._degraded = True
            log.warning(
                "HEARTBEAT_DEGRADED: %d heartbeats in a row failed for %d %s; running jobs "
                "continue (%s)",
                self.failed_in_a_row,
                attempts,
                "job" if attempts == 1 else "jobs",
                error,
            )
        elif isinstance(error, ServerUnavailableException):
            log.debug("a heartbeat failed: %s", error)
        elif first:
            # Nothing is known to heal it, so it is told at once.
            log.error("a heartbeat failed: %s", error, exc_info=_unexpected(error))


def _unexpected(error: Exception) -> Exception | None:
    return None if isinstance(error, HoldfastException) else error


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
        self._links: dict[JobSource, Link] = {}
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
        while True:
            held = self.held()
            tick = min((one.interval / 4 for one in held), default=TICK)
            if self._stopped.wait(min(TICK, tick)):
                return
            try:
                self._beat_due(held)
                self._look_for_commands(held)
            except Exception:
                log.exception("the heartbeats")

    def _beat_due(self, held: list[Attempt]) -> None:
        """A server that is away does not hold up the heartbeats to another one."""
        now = time.monotonic()
        due: dict[JobSource, list[Attempt]] = {}
        for one in held:
            if now - one.beat_at >= one.interval * 0.75:
                due.setdefault(one.source, []).append(one)
        busy = {one.source for one in held}
        for source, attempts in due.items():
            link = self._links.setdefault(source, Link(source))
            link.interval = min(one.interval for one in attempts)
            self._beat(link, attempts)
        for link in self._links.values():
            if link.failed_in_a_row and link.source not in busy:
                self._beat(link, [])

    def _beat(self, link: Link, attempts: list[Attempt]) -> None:
        now = time.monotonic()
        if now < link.retry_at:
            return
        try:
            if not attempts and not link.source.answers():
                return
            for result in link.source.heartbeat(attempts):
                self._hear(result, now)
            link.well()
        except Exception as failure:
            link.failed(len(attempts), failure, time.monotonic() - now)

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
            link = self._links.get(source)
            if link is not None and link.failed_in_a_row:
                continue  # heartbeats bring the cancels as well
            for task, number, reason, control in _commands(source):
                with self._lock:
                    attempt = self._held.get((task, number))
                if attempt is None:
                    continue
                attempt.control = control
                if reason is not None:
                    self.stop(attempt, StopKind.CANCELLED, reason)

    def lost(self, attempt: Attempt, why: str) -> None:
        if attempt.asking or attempt.suspended:
            return  # it may have ended by the wait that it asks for
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


def _commands(source: JobSource) -> list[Command]:
    try:
        return source.commands()
    except HoldfastException as failure:
        log.debug("no commands: %s", failure)  # the heartbeat says what is wrong
        return []
