"""Sends progress and log lines about twice a second, and before the attempt's end."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from .attempt import Attempt
from .errors import HoldfastException, ServerUnavailableException
from .outcome import Outcome

log = logging.getLogger("holdfast")

INTERVAL = 0.5
TIMEOUT = 30.0
"""How long ends wait for reports that the server does not answer."""


class Reporter:
    """One thread. What cannot be sent because the server is away is sent with the next round."""

    def __init__(self, settle: Callable[[Attempt, Outcome], None]) -> None:
        self._settle = settle
        self._lock = threading.Lock()
        self._dirty: dict[Attempt, None] = {}
        self._ending: list[Callable[[], object]] = []
        self._away_since: float | None = None
        self._wake = threading.Event()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="holdfast-report", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def touch(self, attempt: Attempt) -> None:
        with self._lock:
            self._dirty[attempt] = None

    def finish(self, attempt: Attempt, outcome: Outcome) -> None:
        """Reports after the end would be refused, so the end waits for them."""
        self._after(lambda: self._settle(attempt, outcome))

    def flush(self, attempt: Attempt) -> threading.Event:
        """Set once what the attempt has reported is sent, or cannot be."""
        sent = threading.Event()
        self.touch(attempt)
        self._after(sent.set)
        return sent

    def _after(self, then: Callable[[], object]) -> None:
        with self._lock:
            self._ending.append(then)
        self._wake.set()

    def close(self) -> None:
        self._closed.set()
        self._wake.set()
        self._thread.join(10.0)

    def _loop(self) -> None:
        while not self._closed.is_set():
            self._wake.wait(INTERVAL)
            self._wake.clear()
            self._round()
        self._round()

    def _round(self) -> None:
        with self._lock:
            dirty, self._dirty = self._dirty, {}
            ending, self._ending = self._ending, []
        if not dirty and not ending:
            return
        try:
            self._send(list(dirty))
            self._away_since = None
        except ServerUnavailableException as away:
            now = time.monotonic()
            self._away_since = self._away_since or now
            log.info("progress and log lines are sent later: %s", away)
            with self._lock:
                self._dirty = dirty | self._dirty
                if now - self._away_since < TIMEOUT and not self._closed.is_set():
                    self._ending = ending + self._ending
                    ending = []
        except HoldfastException as refused:
            log.warning("progress or log lines are refused: %s", refused)
        except Exception:
            log.exception("progress or log lines could not be sent")
        for then in ending:
            then()

    def _send(self, dirty: list[Attempt]) -> None:
        said = []
        for attempt in dirty:
            if attempt.progress is not None:
                said.append((attempt, *attempt.progress))
        if said:
            by_source = {one[0].source for one in said}
            for source in by_source:
                source.progress([one for one in said if one[0].source is source])
            for attempt, percent, message in said:
                if attempt.progress == (percent, message):
                    attempt.progress = None
        for attempt in dirty:
            self._send_lines(attempt)

    def _send_lines(self, attempt: Attempt) -> None:
        with attempt.lock:
            lines = list(attempt.lines)
        if not lines:
            return
        attempt.source.log(attempt, attempt.line_number, lines)
        with attempt.lock:
            attempt.line_number += len(lines)
            del attempt.lines[: len(lines)]
