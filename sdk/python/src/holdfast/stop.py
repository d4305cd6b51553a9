"""How a handler learns that it should stop: a flag, an exception and a callback."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from enum import Enum

from .errors import CancelledException, LeaseLostException

log = logging.getLogger("holdfast")


class StopKind(str, Enum):
    CANCELLED = "CANCELLED"
    LEASE_LOST = "LEASE_LOST"
    ATTEMPT_TIMEOUT = "ATTEMPT_TIMEOUT"
    DEADLINE_EXCEEDED = "DEADLINE_EXCEEDED"
    SHUTDOWN = "SHUTDOWN"


class StopSignal:
    """Set at most once, from any thread; a lost lease replaces every other reason."""

    __slots__ = ("_callbacks", "_event", "_lock", "kind", "reason")

    def __init__(self) -> None:
        self.kind: StopKind | None = None
        self.reason = ""
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[], object]] = []
        self._event: threading.Event | None = None

    def stop(self, kind: StopKind, reason: str) -> bool:
        """Whether this was the first reason to stop."""
        with self._lock:
            first = self.kind is None
            if not first and kind is not StopKind.LEASE_LOST:
                return False
            self.kind, self.reason = kind, reason
            callbacks, self._callbacks = self._callbacks, []
            if self._event is not None:
                self._event.set()
        for callback in callbacks:
            _call(callback)
        return first

    def on_stop(self, callback: Callable[[], object]) -> None:
        """Called once, on the thread that stops; at once when that has happened already."""
        with self._lock:
            if self.kind is None:
                self._callbacks.append(callback)
                return
        _call(callback)

    def wait(self, seconds: float) -> bool:
        with self._lock:
            if self.kind is not None:
                return True
            if self._event is None:
                self._event = threading.Event()
            event = self._event
        return event.wait(seconds)

    def check(self) -> None:
        if self.kind is StopKind.LEASE_LOST:
            raise LeaseLostException(self.reason)
        if self.kind is not None:
            raise CancelledException(f"{self.kind.value}: {self.reason}")


def _call(callback: Callable[[], object]) -> None:
    try:
        callback()
    except Exception:
        log.exception("a callback given to on_cancel failed")
