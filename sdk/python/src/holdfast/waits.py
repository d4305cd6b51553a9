"""Waits of a handler, and the jobs that it starts.

What is over is read from the steps. Any other wait is asked for, and unless it is over the attempt
ends there. Then the handler is left, and gets it again from whatever it asks for if it goes on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

from .channel import Channel
from .children import (
    Child,
    ChildEnd,
    ChildFailedException,
    child_ids,
    sendable_jobs,
    started_as,
)
from .errors import FailedException, FailureCategory, LeaveHandler, refused
from .http import dump
from .model import Job, JobState, parse_time
from .steps import Steps, what
from .typed import read

PAYLOAD_BYTES = 1024 * 1024
FIRST = datetime(1970, 1, 1, tzinfo=timezone.utc)

Span = float | timedelta
"""Seconds, or a timedelta."""

ENDS = {
    "SLEEP": ("TIME",),
    "SIGNAL": ("SIGNAL", "TIMEOUT"),
    "APPROVAL": ("APPROVED", "REJECTED", "TIMEOUT"),
    "CHILDREN": ("ENDED", "FAILED", "TIMEOUT"),
}
"""How a wait of a sort may have ended. Another end is a newer server's."""


@dataclass(frozen=True)
class Approval:
    """What was decided."""

    approved: bool
    by: str | None
    """Who has decided; None when nobody has in time."""
    at: datetime | None
    comment: str = ""


@dataclass(frozen=True)
class Over:
    """How a wait has ended, and the payload of a signal."""

    end: dict[str, Any]
    payload: Any = None


def millis(id_: str, span: Span) -> int:
    """Rounded up: a wait is never shorter than it was asked for."""
    seconds = span.total_seconds() if isinstance(span, timedelta) else span
    if not math.isfinite(seconds):
        raise refused("BAD_DELAY", f"{id_!r}: {seconds} is no time to wait")
    return math.ceil(round(seconds * 1000, 6))


class Waits:
    """Those of one attempt."""

    def __init__(self, job_id: str, channel: Channel, steps: Steps) -> None:
        self._job_id = job_id
        self._channel = channel
        self._steps = steps
        self._started: set[Child] = set()
        self._ended_before: set[Child] = set()
        """Those of the job that this one is a fork of: nobody would wake this one for them."""
        self.next: str | None = None
        """The payload with which another job goes on, as JSON."""

    def sleep(self, id_: str, span: Span) -> None:
        self._wait({"id": id_, "sort": "SLEEP", "withinMs": millis(id_, span)})

    def sleep_until(self, id_: str, until: datetime) -> None:
        moment = until.astimezone(timezone.utc)
        if moment < FIRST:
            raise refused("BAD_TIMING", f"{id_!r} until {moment} must be between 1970 and 9999")
        at = moment.isoformat().replace("+00:00", "Z")
        self._wait({"id": id_, "sort": "SLEEP", "until": at})

    def await_signal(self, id_: str | None, name: str, type_: Any, within: Span | None) -> Any:
        id_ = name if id_ is None else id_
        asked = {"id": id_, "sort": "SIGNAL", "signal": name}
        over = self._wait(asked | _bound(id_, within))
        if over.end["outcome"] == "TIMEOUT":
            return None
        return fitting(f"what wait {id_!r} has got by the signal {name!r}", type_, over.payload)

    def approve(self, id_: str, question: dict[str, Any], within: Span | None) -> Approval:
        asked = {"id": id_, "sort": "APPROVAL", "question": question}
        end = self._wait(asked | _bound(id_, within)).end
        if end["outcome"] == "TIMEOUT":
            message = f"nobody has decided {id_!r} in time: {question['text']}"
            raise FailedException(FailureCategory.TIMEOUT, "NOT_DECIDED", message)
        at = end.get("at")
        return Approval(
            end["outcome"] == "APPROVED",
            end.get("by"),
            parse_time(at) if at else None,
            end.get("comment") or "",
        )

    def spawn(self, id_: str, jobs: Sequence[Job]) -> list[Child]:
        """Starts them, unless an attempt before has done it."""
        sent = sendable_jobs(id_, jobs)
        status, command = self._steps.ask(id_)
        starter = self._job_id
        if status["state"] == "DONE" and command is None:
            _must_be_as_many(status, len(jobs))
            starter = status["waitEnd"].get("job") or starter
            ids = child_ids(starter, id_, status["attempt"], len(jobs))
        else:
            status = self._steps.redo(status, command)
            index, time = status["stepIndex"], status["attempt"] + 1
            ids = self._channel.start_children(id_, index, time, sent)
            if len(ids) != len(jobs):
                raise _unknown(id_, f"{len(ids)} of {len(jobs)} jobs")
            end = {"sort": "CHILDREN", "outcome": "STARTED", "jobs": len(jobs)}
            self._steps.keep(_done(id_, index, time, end))
        children = [Child(one, id_) for one in ids]
        self._started.update(children)
        if starter != self._job_id:
            self._ended_before.update(children)
        return children

    def join(self, id_: str, children: Iterable[Child], collect: bool) -> list[ChildEnd]:
        ends = [ChildEnd.of(one) for one in self._joined(id_, list(children), collect)]
        if not collect:
            _must_have_succeeded(ends)
        return ends

    def _joined(self, id_: str, children: list[Child], collect: bool) -> list[dict[str, Any]]:
        self._check_started(children)
        awaited = [one for one in children if one not in self._ended_before]
        if awaited:
            self._wait(_for_children(id_, awaited) | ({} if collect else {"failFast": True}))
        elif children:
            self._passed(id_)
        return self._ends(children)

    def any(self, id_: str, children: Iterable[Child]) -> ChildEnd:
        all_ = list(children)
        self._check_started(all_)
        there = [one for one in all_ if one in self._ended_before]
        if there:
            first = (self._passed(id_) or {}).get("job") or there[0].id
        else:
            first = self._wait(_for_children(id_, all_) | {"any": True}).end.get("job")
        found = [one for one in all_ if one.id == first]
        if not found:
            raise ValueError(
                f"the first that has ended for {id_!r} is job {first}, which is none of these: "
                "wait for all that was started with them"
            )
        return ChildEnd.of(self._ends(found)[0])

    def map(self, id_: str, items: Iterable[Any], job: Callable[[Any], Job], type_: Any) -> Any:
        children = self.spawn(id_, [job(one) for one in items])
        ends = self._joined(f"{id_}:join", children, collect=False)
        _must_have_succeeded([ChildEnd.of(one) for one in ends])
        return [self._result(id_, one, type_) for one in ends]

    @staticmethod
    def _result(id_: str, end: dict[str, Any], type_: Any) -> Any:
        of = f"the result of job {end['job']}, started by {id_!r},"
        if end.get("result") is None and type_ is None:
            why = "there is none; spawn and join are for jobs whose results do not matter"
            raise _does_not_fit(of, why)
        return fitting(of, type_, end.get("result"))

    def continue_as(self, payload: Any) -> LeaveHandler:
        self._steps.check()
        try:
            text = dump(payload)
            size = len(text.encode())
        except (TypeError, ValueError, RecursionError) as why:
            raise refused("PAYLOAD_NOT_JSON", f"the next payload is not JSON: {why}") from why
        if size > PAYLOAD_BYTES:
            raise refused("PAYLOAD_TOO_LARGE", f"a payload of {size:,} bytes is over 1 MiB")
        self.next = text
        return self._steps.leave(LeaveHandler("the job goes on as another one"))

    def _wait(self, asked: dict[str, Any]) -> Over:
        """How it has ended: read from the steps if it was over before, else the server is asked."""
        id_, sort = asked["id"], asked["sort"]
        status, command = self._steps.ask(id_)
        if status["state"] == "DONE" and command is None:
            end = status.get("waitEnd")
            if end is None or end["sort"] != sort or end["outcome"] == "STARTED":
                raise ValueError(
                    f"{id_!r} was {what(status)} before, and is a wait of the sort {sort} now: "
                    "give it another id"
                )
            return _known(asked, Over(end, status.get("checkpoint")))
        status = self._steps.redo(status, command)
        answer = self._channel.suspend(status["stepIndex"], asked)
        if answer["outcome"] == "SUSPENDED":
            raise self._steps.leave(LeaveHandler(f"the job waits for {id_!r}"))
        end = answer.get("end")
        if answer["outcome"] != "OVER" or end is None:
            raise _unknown(id_, str(answer["outcome"]))
        over = _known(asked, Over(end, answer.get("payload")))
        kept = _done(id_, status["stepIndex"], status["attempt"] + 1, end)
        self._steps.keep(kept | {"checkpoint": over.payload})
        return over

    def _passed(self, id_: str) -> dict[str, Any] | None:
        """A wait for which there is nothing to wait any more.

        How it has ended for the job that this one is a fork of, if it waited for it.
        """
        status, command = self._steps.ask(id_)
        if status["state"] == "DONE" and command is None:
            end: dict[str, Any] | None = status.get("waitEnd")
            return end
        self._steps.redo(status, command)
        return None

    def _check_started(self, children: Iterable[Child]) -> None:
        """A wait for any other job might never end."""
        for child in children:
            if child not in self._started:
                raise ValueError(
                    f"job {child.id} was not started as {child.started_as!r} by this one: wait "
                    "for what spawn has returned"
                )

    def _ends(self, children: Sequence[Child]) -> list[dict[str, Any]]:
        if not children:
            return []
        ends = self._channel.children_ends([one.id for one in children])
        if len(ends) < len(children):
            gone = f"{len(children) - len(ends):,} of {len(children):,} have been deleted"
            raise _does_not_fit("how the jobs have ended that were started before", gone)
        return ends


def question(text: str, details: str, role: str, afterwards: str) -> dict[str, Any]:
    """As the server takes it; what is left out is its default."""
    said = {"text": text, "role": role, "afterwards": afterwards}
    return said | {"details": details} if details else said


def fitting(of: str, type_: Any, value: Any) -> Any:
    """What an attempt before, a signal or another job has left, in the type that is asked for."""
    if type_ is None:
        return value
    try:
        return read(type_, value)
    except Exception as why:
        raise _does_not_fit(of, str(why)) from why


def _does_not_fit(of: str, why: str) -> FailedException:
    """A later attempt would read the same. It is kept, and read by a retry of a mended handler."""
    message = f"{of} is not what the handler asks for: {why}"
    return FailedException(FailureCategory.DATA_QUALITY, "VALIDATION", message, retryable=False)


def _known(asked: dict[str, Any], over: Over) -> Over:
    if over.end["outcome"] not in ENDS[asked["sort"]]:
        raise _unknown(asked["id"], over.end["outcome"])
    return over


def _unknown(id_: str, outcome: str) -> FailedException:
    """Another worker may know what a newer server says."""
    message = (
        f"{id_!r} has come to {outcome}, which this version of the library does not know: "
        "is the server newer?"
    )
    return FailedException(FailureCategory.INFRASTRUCTURE, "UNKNOWN_ANSWER", message)


def _bound(id_: str, within: Span | None) -> dict[str, Any]:
    return {} if within is None else {"withinMs": millis(id_, within)}


def _for_children(id_: str, children: Iterable[Child]) -> dict[str, Any]:
    return {"id": id_, "sort": "CHILDREN", "started": started_as(children)}


def _done(id_: str, index: int, attempt: int, end: dict[str, Any]) -> dict[str, Any]:
    return {
        "stepId": id_,
        "stepIndex": index,
        "state": "DONE",
        "attempt": attempt,
        "waitEnd": end,
    }


def _must_be_as_many(status: dict[str, Any], jobs: int) -> None:
    end, id_ = status.get("waitEnd"), status["stepId"]
    if end is None or end["outcome"] != "STARTED":
        raise ValueError(f"{id_!r} was another step or wait before: give it another id")
    if end.get("jobs") != jobs:
        raise ValueError(
            f"{id_!r} has started {end.get('jobs')} jobs in an attempt before, and would start "
            f"{jobs} now: what it starts must follow from the payload and from steps"
        )


def _must_have_succeeded(ends: Sequence[ChildEnd]) -> None:
    """One that has failed says more than those that were cancelled because of it."""
    for state in (JobState.FAILED, JobState.CANCELLED):
        for end in ends:
            if end.state is state:
                raise ChildFailedException(end)
