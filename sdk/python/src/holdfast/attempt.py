"""One attempt at a job, as this worker holds it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from .model import parse_time
from .stop import StopSignal

if TYPE_CHECKING:
    from .source import JobSource

LINE_CHARS = 2_000
PENDING_LINES = 10_000


def sendable(text: str) -> str:
    """The text without what neither UTF-8 nor PostgreSQL can hold."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")


class LeasedJob:
    """What the server said of the job. ``envelope`` has every field, known here or not."""

    __slots__ = ("envelope",)

    def __init__(self, envelope: dict[str, Any]) -> None:
        self.envelope = envelope

    @property
    def id(self) -> str:
        return str(self.envelope["taskId"])

    @property
    def kind(self) -> str:
        return str(self.envelope["kind"])

    @property
    def queue(self) -> str:
        return str(self.envelope["workerQueue"])

    @property
    def attempt(self) -> int:
        return int(self.envelope["attempt"])

    @property
    def payload(self) -> Any:
        return self.envelope["payload"]

    @property
    def failures(self) -> int:
        """Failed attempts that count against the budget so far."""
        return int(self.envelope.get("failures") or 0)

    @property
    def max_attempts(self) -> int | None:
        """How many may fail."""
        return self.envelope.get("maxAttempts")

    @property
    def enqueued_at(self) -> datetime:
        return parse_time(self.envelope["enqueuedAt"])

    @property
    def deadline(self) -> datetime | None:
        at = self.envelope.get("deadline")
        return parse_time(at) if at else None

    @property
    def tenant(self) -> str:
        return str(self.envelope["tenantId"])

    @property
    def workspace(self) -> str:
        return str(self.envelope["workspaceId"])

    @property
    def run(self) -> str:
        return str(self.envelope["runId"])

    @property
    def run_key(self) -> str:
        return str(self.envelope["taskKey"])

    @property
    def asset_id(self) -> str | None:
        return self.envelope.get("assetId")

    @property
    def partition_key(self) -> str | None:
        return self.envelope.get("partitionKey")

    @property
    def resources(self) -> dict[str, Any]:
        return dict(self.envelope.get("resources") or {})

    @property
    def last_failure(self) -> dict[str, Any] | None:
        """Why an attempt before this one failed: category, code, message and retryable."""
        return self.envelope.get("retryContext")

    @property
    def traceparent(self) -> str | None:
        return self.envelope.get("traceparent")

    @property
    def tags(self) -> tuple[str, ...]:
        return tuple(self.envelope.get("tags") or ())

    def __repr__(self) -> str:
        return f"{self.kind} {self.id} attempt {self.attempt}"


class Attempt:
    """State that the worker's threads share: heartbeats, reports under way and the stop signal."""

    __slots__ = (
        "announced", "asking", "beat_at", "control", "deadline", "ended", "give_up_at", "grace",
        "id", "interval", "job", "kill", "lease", "line_number", "lines", "lock", "log_number",
        "number", "progress", "signal", "source", "strict", "suspended", "timeout", "timeout_at",
        "token", "worker",
    )  # fmt: skip

    def __init__(
        self, envelope: dict[str, Any], source: JobSource, worker: str, asked_at: float
    ) -> None:
        """``asked_at`` is when the lease was asked for: it does not last longer than from then."""
        self.job = LeasedJob(envelope)
        self.id: str = envelope["taskId"]
        self.number: int = envelope["attempt"]
        self.worker = worker
        self.source = source
        self.token: str = envelope.get("taskToken", "")
        self.lease: float = envelope["heartbeatTimeoutMs"] / 1000
        # The server's interval does not know of a lease that the worker chose.
        self.interval: float = min(envelope["heartbeatIntervalMs"] / 1000, self.lease / 3)
        self.grace: float = envelope.get("cancelGracePeriodMs", 30_000) / 1000
        self.control: dict[str, Any] | None = envelope.get("liveControl")
        self.beat_at = asked_at
        timeout, deadline = envelope.get("timeoutMs"), envelope.get("deadlineMs")
        self.timeout: float | None = timeout / 1000 if timeout else None
        self.timeout_at: float | None = None
        self.deadline: float | None = asked_at + deadline / 1000 if deadline is not None else None
        self.give_up_at: float | None = None
        self.strict = False
        self.announced = True
        """False for a pushed attempt until the server has answered its ``started``."""
        self.ended = False
        self.asking = False
        """Whether a wait is asked for: the attempt may have ended by it, and the answer be late."""
        self.suspended = False
        """Whether the attempt has ended by a wait."""
        self.kill: Callable[[], object] | None = None
        self.signal = StopSignal()
        self.lock = threading.Lock()
        self.lines: list[str] = []
        self.line_number = 1
        self.log_number = 0
        self.progress: tuple[int, str] | None = None

    def begins(self) -> None:
        """A timeout counts from when the handler begins."""
        if self.timeout is not None:
            self.timeout_at = time.monotonic() + self.timeout

    def end(self) -> bool:
        """True for the first caller: a handler that was given up may still return."""
        with self.lock:
            first, self.ended = not self.ended, True
        return first

    def add_lines(self, text: str) -> None:
        lines = [line[:LINE_CHARS] for line in sendable(text).splitlines()]
        with self.lock:
            self.lines.extend(lines)
            if len(self.lines) > PENDING_LINES:
                del self.lines[:-PENDING_LINES]

    def reports_pending(self) -> bool:
        return self.progress is not None or bool(self.lines)
