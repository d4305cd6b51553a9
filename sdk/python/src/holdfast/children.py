"""Jobs that a handler starts, and how they have ended."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from .errors import FailedException, FailureCategory, refused
from .http import dump
from .model import Failure, Job, JobState

MOST_STARTED = 100_000


@dataclass(frozen=True)
class Child:
    """A job that a handler has started, to wait for."""

    id: str
    started_as: str
    """The id under which it was started."""


@dataclass(frozen=True)
class ChildEnd:
    """How a job has ended that another one has started."""

    id: str
    state: JobState
    result: Any = None
    """That of one that has succeeded, if it has any."""
    failure: Failure | None = None
    """That of one that has failed."""

    @staticmethod
    def of(data: dict[str, Any]) -> ChildEnd:
        failure = data.get("failure")
        return ChildEnd(
            data["job"],
            JobState(data["state"]),
            data.get("result"),
            Failure.of(failure) if failure else None,
        )


class ChildFailedException(FailedException):
    """A job that this one waits for has not succeeded. Fails this one for good unless taken."""

    def __init__(self, child: ChildEnd) -> None:
        why = f": {child.failure.message}" if child.failure else ""
        message = f"job {child.id}, which this one has started, ended {child.state.value}{why}"
        super().__init__(FailureCategory.USER_CODE, "CHILD_FAILED", message, retryable=False)
        self.child = child


def child_id(parent: str, started_as: str, time: int, place: int) -> str:
    """The same in all languages, and whenever it is asked for.

    ``time`` counts how often the parent has started jobs under this id. The milliseconds are those
    of the parent, so that both lie beside each other in an index.
    """
    made = bytearray(uuid.UUID(parent).bytes)
    digest = hashlib.sha256(made + f"{started_as}/{time}/{place}".encode()).digest()
    made[6] = 0x70 | digest[0] & 0xF
    made[7] = digest[1]
    made[8:] = digest[8:16]
    made[8] = made[8] & 0x3F | 0x80
    made[14] &= 0xFC  # the last ten bits say in which of several databases the job is
    made[15] = 0
    return str(uuid.UUID(bytes=bytes(made)))


def child_ids(parent: str, started_as: str, time: int, count: int) -> list[str]:
    return [child_id(parent, started_as, time, place) for place in range(count)]


def sendable_jobs(started_as: str, jobs: Sequence[Job]) -> list[str]:
    """As JSON, without their ids. All are valid before any is started."""
    if len(jobs) > MOST_STARTED:
        message = f"{started_as!r} would start {len(jobs):,} jobs: {MOST_STARTED:,} at most"
        raise refused("BAD_LIMIT", message)
    sent = []
    for place, job in enumerate(jobs):
        if job.unique_key is not None or job.depends_on:
            message = (
                f"job {place} of {started_as!r}: a job that another one starts has neither a "
                "unique key nor dependencies"
            )
            raise refused("BAD_UNIQUE", message)
        said = job.to_json()
        del said["id"]  # it follows from this job
        sent.append(dump(said))
    return sent


def started_as(children: Iterable[Child]) -> list[str]:
    return list(dict.fromkeys(one.started_as for one in children))
