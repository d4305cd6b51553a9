"""Where attempts come from and where their ends go; one class per protocol of the server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .attempt import Attempt
from .model import Artifact
from .outcome import Outcome

Command = tuple[str, int, str | None, dict[str, Any] | None]
"""Job, attempt, the reason of a cancel and what operators ask."""


@dataclass(frozen=True)
class HeartbeatResult:
    """What the server answered to a heartbeat of one attempt."""

    attempt: Attempt
    held: bool
    cancel_reason: str | None = None
    control: dict[str, Any] | None = None
    why_lost: str = "the server gave the job to another attempt, or it has ended"


@dataclass(frozen=True)
class StepReport:
    step_id: str
    index: int
    state: str
    attempt: int
    result: Any = None
    signature: str | None = None
    again: bool = False
    """Of a step that failed: whether this attempt of the job tries it again."""
    recovery: dict[str, Any] | None = None
    """The operator's request that this attempt of the step carries out."""
    took_ms: int | None = None
    """How long the attempt has run, where its start was not reported."""


@dataclass(frozen=True)
class ChildrenStart:
    """A start of jobs, these as JSON. ``time`` counts those under this id, from 1."""

    started_as: str
    index: int
    time: int
    jobs: Sequence[str]


class JobSource(Protocol):
    """Calls that fail raise ServerUnavailableException and may be made again."""

    def started(self, attempt: Attempt) -> bool: ...

    def heartbeat(self, attempts: Sequence[Attempt]) -> list[HeartbeatResult]: ...

    def answers(self) -> bool:
        """Asks without an attempt to tell of; False when there is nothing to ask."""
        ...

    def commands(self) -> list[Command]: ...

    def settle(self, ends: Sequence[tuple[Attempt, Outcome]]) -> list[bool]: ...

    def progress(self, attempts: Sequence[tuple[Attempt, int, str]]) -> None: ...

    def log(self, attempt: Attempt, first: int, lines: Sequence[str]) -> None: ...

    def event(self, attempt: Attempt, kind: str, data: Any) -> bool: ...

    def publish(self, attempt: Attempt, name: str, content: bytes) -> Artifact | None: ...

    def steps(self, attempt: Attempt) -> list[dict[str, Any]]: ...

    def step(self, attempt: Attempt, report: StepReport) -> bool: ...

    def suspend(self, attempt: Attempt, index: int, wait: dict[str, Any]) -> dict[str, Any]:
        """``outcome`` of the answer is OVER, SUSPENDED or LEASE_LOST."""
        ...

    def start_children(self, attempt: Attempt, start: ChildrenStart) -> list[str] | None:
        """Their ids, or None when the attempt does not hold its job any more."""
        ...

    def children_ends(self, attempt: Attempt, ids: Sequence[str]) -> list[dict[str, Any]] | None:
        """How up to 1,000 have ended, in this order."""
        ...
