"""What a context needs of its worker; in a handler's own process, through a pipe."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from .attempt import Attempt
from .errors import LeaseLostException, ServerUnavailableException
from .http import Backoff
from .model import Artifact
from .source import StepReport
from .stop import StopKind

T = TypeVar("T")


class Channel(Protocol):
    def progress(self, percent: int, message: str) -> None: ...

    def log(self, text: str) -> None: ...

    def event(self, kind: str, data: Any) -> None: ...

    def publish(self, name: str, content: bytes) -> Artifact: ...

    def steps(self) -> list[dict[str, Any]]: ...

    def step(self, report: StepReport) -> None: ...

    def control(self) -> dict[str, Any] | None: ...


class DirectChannel:
    """The handler runs in the worker's process."""

    __slots__ = ("_attempt", "_wake_reporter")

    def __init__(self, attempt: Attempt, wake_reporter: Callable[[Attempt], None]) -> None:
        self._attempt = attempt
        self._wake_reporter = wake_reporter

    def started(self) -> bool:
        """Whether the handler may begin."""
        if not self._attempt.announced:
            self._attempt.announced = self._insist(self._announce)
        return self._attempt.announced

    def _announce(self) -> bool:
        return self._attempt.source.started(self._attempt)

    def progress(self, percent: int, message: str) -> None:
        self._attempt.progress = (percent, message)
        self._wake_reporter(self._attempt)

    def log(self, text: str) -> None:
        self._attempt.add_lines(text)
        self._wake_reporter(self._attempt)

    def event(self, kind: str, data: Any) -> None:
        self._held(self._insist(lambda: self._attempt.source.event(self._attempt, kind, data)))

    def publish(self, name: str, content: bytes) -> Artifact:
        artifact = self._insist(lambda: self._attempt.source.publish(self._attempt, name, content))
        self._held(artifact is not None)
        assert artifact is not None
        return artifact

    def steps(self) -> list[dict[str, Any]]:
        return self._insist(lambda: self._attempt.source.steps(self._attempt))

    def step(self, report: StepReport) -> None:
        self._held(self._insist(lambda: self._attempt.source.step(self._attempt, report)))

    def control(self) -> dict[str, Any] | None:
        return self._attempt.control

    def _held(self, held: bool) -> None:
        if not held:
            self._attempt.signal.stop(StopKind.LEASE_LOST, "the server refused a report")
            raise LeaseLostException("the attempt no longer holds its job: leave the handler")

    def _insist(self, call: Callable[[], T]) -> T:
        """Repeats the call through outages until it is answered or the handler should stop."""
        backoff = Backoff()
        while True:
            try:
                return call()
            except ServerUnavailableException as away:
                if self._attempt.signal.wait(backoff.pause(away)):
                    self._attempt.signal.check()
