"""What a context needs of its worker; in a handler's own process, through a pipe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol, TypeVar

from .attempt import Attempt
from .errors import (
    KeyRefusedException,
    LeaseLostException,
    RefusedException,
    ServerUnavailableException,
    refused,
)
from .http import Backoff
from .model import Artifact
from .reporter import Reporter
from .source import ChildrenStart, StepReport
from .stop import StopKind

T = TypeVar("T")

MOST_ENDS = 1_000


class Channel(Protocol):
    def progress(self, percent: int, message: str) -> None: ...

    def log(self, text: str) -> None: ...

    def event(self, kind: str, data: Any) -> None: ...

    def publish(self, name: str, content: bytes) -> Artifact: ...

    def steps(self) -> list[dict[str, Any]]: ...

    def step(self, report: StepReport) -> None: ...

    def suspend(self, index: int, wait: dict[str, Any]) -> dict[str, Any]: ...

    def start_children(
        self, started_as: str, index: int, time: int, jobs: Sequence[str]
    ) -> list[str]: ...

    def children_ends(self, ids: Sequence[str]) -> list[dict[str, Any]]: ...

    def control(self) -> dict[str, Any] | None: ...


class DirectChannel:
    """The handler runs in the worker's process."""

    __slots__ = ("_attempt", "_reporter")

    def __init__(self, attempt: Attempt, reporter: Reporter) -> None:
        self._attempt = attempt
        self._reporter = reporter

    def started(self) -> bool:
        """Whether the handler may begin."""
        if not self._attempt.announced:
            self._attempt.announced = self._insist(self._announce)
        return self._attempt.announced

    def _announce(self) -> bool:
        return self._attempt.source.started(self._attempt)

    def progress(self, percent: int, message: str) -> None:
        if self._attempt.suspended:
            return
        self._attempt.progress = (percent, message)
        self._reporter.touch(self._attempt)

    def log(self, text: str) -> None:
        if self._attempt.suspended:
            return
        self._attempt.add_lines(text)
        self._reporter.touch(self._attempt)

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

    def suspend(self, index: int, wait: dict[str, Any]) -> dict[str, Any]:
        """The answer. Until it is here a heartbeat may find that the lease is gone."""
        attempt = self._attempt
        self._flush()
        with attempt.lock:
            if attempt.asking or attempt.suspended:
                raise ValueError("the handler waits already: wait for one thing at a time")
            attempt.asking = True
        try:
            answer = self._answered(lambda: attempt.source.suspend(attempt, index, wait))
            attempt.suspended = answer["outcome"] == "SUSPENDED"
        finally:
            attempt.asking = False
        self._held(answer["outcome"] != "LEASE_LOST")
        return answer

    def _flush(self) -> None:
        """What is reported after a wait would be refused."""
        if not self._attempt.reports_pending():
            return
        sent = self._reporter.flush(self._attempt)
        while not sent.wait(0.2):
            self._attempt.signal.check()

    def start_children(
        self, started_as: str, index: int, time: int, jobs: Sequence[str]
    ) -> list[str]:
        attempt, start = self._attempt, ChildrenStart(started_as, index, time, jobs)
        ids = self._answered(lambda: attempt.source.start_children(attempt, start))
        self._held(ids is not None)
        assert ids is not None
        return ids

    def children_ends(self, ids: Sequence[str]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for first in range(0, len(ids), MOST_ENDS):
            part = ids[first : first + MOST_ENDS]
            ends = self._answered(partial(self._attempt.source.children_ends, self._attempt, part))
            self._held(ends is not None)
            found += ends or []
        return found

    def control(self) -> dict[str, Any] | None:
        return self._attempt.control

    def _answered(self, call: Callable[[], T]) -> T:
        """What is refused now would be refused from another attempt as well."""
        try:
            return self._insist(call)
        except KeyRefusedException:
            raise
        except RefusedException as why:
            raise refused(why.error.upper()[:100], str(why)) from why

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
