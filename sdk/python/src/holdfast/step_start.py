"""When the start of a step is reported: not before it has run for a while."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

from .errors import HoldfastException

ANNOUNCED_AFTER = 0.5


class StepStart:
    """The start of an attempt of a step, which nobody else knows of before it is told."""

    __slots__ = ("_lock", "_tell", "_untold", "since", "took_ms")

    def __init__(self, tell: Callable[[], None]) -> None:
        self._lock = threading.Lock()
        self._tell = tell
        self._untold = True
        self.since = time.monotonic()
        self.took_ms: int | None = None

    def tell(self) -> None:
        """What is reported after this comes after it."""
        with self._lock:
            if self._untold:
                self._untold = False
                self._tell()

    def tell_beside(self) -> None:
        if self._untold:
            threading.Thread(target=self._try, name="holdfast-step-start", daemon=True).start()

    def _try(self) -> None:
        try:
            self.tell()
        except HoldfastException:
            pass  # the report of the end is answered likewise

    def end(self) -> int | None:
        """How long the attempt took, if its start is not told; then it never is."""
        with self._lock:
            if self._untold:
                self._untold = False
                self.took_ms = round((time.monotonic() - self.since) * 1000)
            return self.took_ms


class LongSteps:
    """Tells the starts of steps that have run for a while; one thread looks after all of them."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: deque[StepStart] = deque()
        self._thread: threading.Thread | None = None

    def watch(self, start: StepStart) -> None:
        with self._changed:
            self._waiting.append(start)
            if self._thread is None or not self._thread.is_alive():  # as after a fork
                self._thread = threading.Thread(
                    target=self._run, name="holdfast-long-steps", daemon=True
                )
                self._thread.start()
            elif len(self._waiting) == 1:
                self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._waiting:
                    self._changed.wait()
                # All wait equally long, so the first is due first.
                start = self._waiting.popleft()
            left = start.since + ANNOUNCED_AFTER - time.monotonic()
            if left > 0:
                time.sleep(left)
            start.tell_beside()


LONG_STEPS = LongSteps()
