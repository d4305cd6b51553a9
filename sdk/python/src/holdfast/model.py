"""Jobs as a producer hands them in and as the server shows them."""

from __future__ import annotations

import os
import re
import time
import uuid
from dataclasses import KW_ONLY, dataclass, field, fields
from datetime import datetime, timezone
from enum import Enum
from typing import Any

from .errors import FailureCategory


class JobState(str, Enum):
    WAITING = "WAITING"
    PENDING = "PENDING"
    RUNNING = "RUNNING"
    RETRYING = "RETRYING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"

    @property
    def terminal(self) -> bool:
        return self.name in ("SUCCEEDED", "FAILED", "CANCELLED")


def new_id() -> str:
    """A UUIDv7, chosen by the client so that an enqueue can be repeated safely."""
    millis = time.time_ns() // 1_000_000
    number = millis << 80 | int.from_bytes(os.urandom(10), "big")
    number = number & ~(0xF << 76) | 0x7 << 76
    number = number & ~(0x3 << 62) | 0x2 << 62
    return str(uuid.UUID(int=number))


def parse_time(text: str) -> datetime:
    """ISO 8601 with a zone; digits beyond microseconds are cut."""
    text = re.sub(r"(\.\d{6})\d+", r"\1", text.replace("Z", "+00:00"))
    text = re.sub(r"\.(\d{1,5})(?=[+-]|$)", lambda m: "." + m.group(1).ljust(6, "0"), text)
    return datetime.fromisoformat(text)


@dataclass(frozen=True)
class Job:
    """A job to enqueue: ``Job("resize", {"width": 640}, queue="media")``.

    Spans are seconds; a value of None is left to the server.
    """

    kind: str
    payload: Any = field(default_factory=dict)
    _: KW_ONLY
    id: str = field(default_factory=new_id)
    queue: str | None = None
    priority: int | None = None
    delay: float | None = None
    run_at: datetime | None = None
    max_attempts: int | None = None
    max_crashes: int | None = None
    timeout: float | None = None
    deadline: datetime | None = None
    unique_key: str | None = None
    unique_states: tuple[JobState, ...] | None = None
    unique_window: float | None = None
    concurrency_key: str | None = None
    concurrency_limit: int | None = None
    depends_on: tuple[str, ...] | None = None
    when_dependency_fails: str | None = None
    parent_id: str | None = None
    run_id: str | None = None
    run_key: str | None = None
    tenant: str | None = None
    workspace: str | None = None
    asset_id: str | None = None
    partition_key: str | None = None
    resources: dict[str, Any] | None = None
    traceparent: str | None = None
    tags: tuple[str, ...] | None = None

    def to_json(self) -> dict[str, Any]:
        sent: dict[str, Any] = {}
        for one in fields(self):
            value = getattr(self, one.name)
            if value is not None or one.name == "payload":
                name, shown = _wire(one.name, value)
                sent[name] = shown
        return sent


_SPANS = {
    "delay": "delayMs",
    "timeout": "timeoutMs",
    "unique_window": "uniqueWindowMs",
}


def _wire(name: str, value: Any) -> tuple[str, Any]:
    if name in _SPANS:
        return _SPANS[name], round(value * 1000)
    head, *tail = name.split("_")
    camel = head + "".join(part.title() for part in tail)
    if isinstance(value, datetime):
        zoned = value if value.tzinfo else value.astimezone()
        return camel, zoned.astimezone(timezone.utc).isoformat()
    return camel, list(value) if isinstance(value, tuple) else value


@dataclass(frozen=True)
class Enqueued:
    id: str
    duplicate: bool


@dataclass(frozen=True)
class Failure:
    category: FailureCategory
    code: str
    message: str
    retryable: bool
    stack_trace: str | None = None

    @staticmethod
    def of(data: dict[str, Any]) -> Failure:
        return Failure(
            FailureCategory(data["category"]),
            data["code"],
            data["message"],
            data["retryable"],
            data.get("stackTrace"),
        )


@dataclass(frozen=True)
class JobStatus:
    """A job as the server shows it. ``raw`` has every field of the answer."""

    id: str
    kind: str
    queue: str
    state: JobState
    attempt: int
    failures: int
    crashes: int
    progress: int | None
    progress_message: str | None
    worker_id: str | None
    created_at: datetime
    finished_at: datetime | None
    payload: Any
    result: Any
    failure: Failure | None
    raw: dict[str, Any] = field(repr=False)

    @staticmethod
    def of(data: dict[str, Any]) -> JobStatus:
        finished, failure = data.get("finishedAt"), data.get("failure")
        return JobStatus(
            id=data["id"],
            kind=data["kind"],
            queue=data["queue"],
            state=JobState(data["state"]),
            attempt=data["attempt"],
            failures=data["failures"],
            crashes=data["crashes"],
            progress=data.get("progress"),
            progress_message=data.get("progressMessage"),
            worker_id=data.get("workerId"),
            created_at=parse_time(data["createdAt"]),
            finished_at=parse_time(finished) if finished else None,
            payload=data.get("payload"),
            result=data.get("result"),
            failure=Failure.of(failure) if failure else None,
            raw=data,
        )


@dataclass(frozen=True)
class Cancellation:
    """What a cancel came to. ``outcome`` is CANCELLED, REQUESTED, ALREADY_REQUESTED or
    ALREADY_TERMINAL."""

    id: str
    previous_state: JobState
    outcome: str


@dataclass(frozen=True)
class Artifact:
    """A file that a job has published."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Event:
    """One event of the live stream; ``topic`` is ``reset`` when earlier events no longer count."""

    topic: str
    data: Any
    id: str | None
