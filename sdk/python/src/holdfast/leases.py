"""The batch protocol, /v1/leases: many attempts in one request, under one API key."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote, urlencode

from .attempt import Attempt
from .children import child_ids
from .errors import RefusedException
from .http import BYTES, Http, dump
from .model import Artifact
from .outcome import (
    Cancelled,
    Continued,
    Failed,
    Outcome,
    Released,
    Snoozed,
    Succeeded,
    refused_end,
)
from .source import ChildrenStart, Command, HeartbeatResult, StepReport

log = logging.getLogger("holdfast")

MOST_LEASED = 100
MOST_BEATS = 1_000
MOST_REPORTS = 500
MOST_SETTLED = 500
MOST_STARTED = 1_000
BATCH_BYTES = 16 * 1024 * 1024
BATCH_CHARS = 4 * 1024 * 1024
PIECE_CHARS = 4_096
UPLOAD_TIMEOUT = 120.0

STEP_EVENTS = {
    "RUNNING": "task.step.attempt.started",
    "DONE": "task.step.attempt.finished",
    "FAILED": "task.step.attempt.failed",
}


class LeaseSource:
    """Attempts leased under one worker id."""

    def __init__(self, http: Http, worker: str, lease: float) -> None:
        self._http = http
        self._worker = worker
        self._lease_ms = round(lease * 1000)

    def depth(self, queues: Sequence[str]) -> int:
        body = {"queues": list(queues), "limit": 1}
        return int(self._http.post("/v1/queues/depth", body, 15.0)["depth"])

    def lease(self, http: Http, queue: str, most: int) -> tuple[list[Attempt], float | None]:
        """What is due, up to ``most``; when there is nothing, in how long something is.

        It never waits: a job that the server gives to a request whose worker has gone is only
        found when its lease runs out, and that counts as a crash.
        """
        body = {
            "workerId": self._worker,
            "max": min(most, MOST_LEASED),
            "waitMs": 0,
            "leaseMs": self._lease_ms,
        }
        asked_at = time.monotonic()
        answer = http.post(f"/v1/queues/{quote(queue, safe='')}/lease", body)
        due = answer.get("nextDueInMs")
        attempts = [Attempt(one, self, self._worker, asked_at) for one in answer["tasks"]]
        return attempts, None if due is None else due / 1000

    def wait(self, http: Http, queues: Sequence[str], wait: float) -> list[str]:
        body = {"workerId": self._worker, "queues": list(queues), "waitMs": round(wait * 1000)}
        return list(http.post("/v1/queues/wait", body, wait + 20.0)["queues"])

    def held(self) -> list[tuple[str, int]]:
        """All leases under this worker's name, those whose answer was lost included."""
        answer = self._http.get(f"/v1/leases?workerId={quote(self._worker, safe='')}", 10.0)
        return [(one["taskId"], one["attempt"]) for one in answer["leases"]]

    def release(self, leases: Sequence[tuple[str, int]]) -> None:
        for start in range(0, len(leases), MOST_SETTLED):
            ends = [
                {"taskId": id_, "attempt": n, "workerId": self._worker, "outcome": "RELEASED"}
                for id_, n in leases[start : start + MOST_SETTLED]
            ]
            self._http.post("/v1/leases/settle", {"settlements": ends}, 10.0)

    def started(self, attempt: Attempt) -> bool:
        return True  # a leased attempt is under way from the lease on

    def heartbeat(self, attempts: Sequence[Attempt]) -> list[HeartbeatResult]:
        results: list[HeartbeatResult] = []
        for start in range(0, len(attempts), MOST_BEATS):
            some = attempts[start : start + MOST_BEATS]
            lease = max(one.lease for one in some)
            body = {"leaseMs": round(lease * 1000), "leases": [_key(one) for one in some]}
            answer = self._http.post("/v1/leases/heartbeat", body, max(1.0, min(10.0, lease / 2)))
            by_key = {(one.id, one.number): one for one in some}
            for result in answer["leases"]:
                attempt = by_key.get((result["taskId"], result["attempt"]))
                if attempt is not None:
                    held = result["ack"] == "ACCEPTED"
                    reason, control = result.get("cancelReason"), result.get("liveControl")
                    results.append(HeartbeatResult(attempt, held, reason, control))
        return results

    def answers(self) -> bool:
        self.commands()
        return True

    def commands(self) -> list[Command]:
        worker = quote(self._worker, safe="")
        results = self._http.get(f"/v1/leases/commands?workerId={worker}", 5.0)["leases"]
        return [
            (one["taskId"], one["attempt"], one.get("cancelReason"), one.get("liveControl"))
            for one in results
        ]

    def settle(self, ends: Sequence[tuple[Attempt, Outcome]]) -> list[bool]:
        """One refused end makes the server refuse its batch, so each is then sent alone."""
        bodies = [_settlement(attempt, outcome) for attempt, outcome in ends]
        accepted: list[bool] = []
        start = 0
        while start < len(bodies):
            stop, size = start, 0
            while stop < len(bodies) and stop - start < MOST_SETTLED:
                size += len(bodies[stop])
                if size > BATCH_BYTES and stop > start:
                    break
                stop += 1
            try:
                accepted += self._settle(bodies[start:stop])
            except RefusedException as refused:
                if refused.status in (401, 403):
                    raise
                accepted += [self._settle_alone(*end, refused) for end in ends[start:stop]]
            start = stop
        return accepted

    def _settle(self, bodies: Sequence[str]) -> list[bool]:
        body = f'{{"settlements":[{",".join(bodies)}]}}'.encode()
        acks = self._http.call("POST", "/v1/leases/settle", body, 40.0)["acks"]
        return [ack == "ACCEPTED" for ack in acks]

    def _settle_alone(self, attempt: Attempt, outcome: Outcome, why: RefusedException) -> bool:
        try:
            return self._settle([_settlement(attempt, outcome)])[0]
        except RefusedException as refused:
            if refused.status in (401, 403):
                raise
            why = refused
        end = refused_end(why)
        log.error("%r: %s", attempt.job, end.failure.message)
        try:
            return self._settle([_settlement(attempt, end)])[0]
        except RefusedException:
            log.exception("%r: its lease will run out", attempt.job)
            return False

    def progress(self, attempts: Sequence[tuple[Attempt, int, str]]) -> None:
        reports = [
            _key(attempt) | {"progressPct": percent, "message": message}
            for attempt, percent, message in attempts
        ]
        for start in range(0, len(reports), MOST_REPORTS):
            self._report(reports[start : start + MOST_REPORTS])

    def log(self, attempt: Attempt, first: int, lines: Sequence[str]) -> None:
        """Pieces are numbered by the flush that first sent them, so a repeat changes nothing."""
        reports = []
        for piece in _pieces(lines):
            attempt.log_number += 1
            said = {"piece": attempt.log_number, "text": piece}
            reports.append(_key(attempt) | {"log": said})
        number = attempt.log_number - len(reports)
        try:
            for start in range(0, len(reports), MOST_REPORTS):
                self._report(reports[start : start + MOST_REPORTS])
        except BaseException:
            attempt.log_number = number
            raise

    def event(self, attempt: Attempt, kind: str, data: Any) -> bool:
        return self._report([_key(attempt) | {"type": kind, "data": data}])[0]

    def _report(self, reports: Sequence[dict[str, Any]]) -> list[bool]:
        acks = self._http.post("/v1/leases/report", {"reports": reports})["acks"]
        return [ack == "ACCEPTED" for ack in acks]

    def publish(self, attempt: Attempt, name: str, content: bytes) -> Artifact | None:
        query = urlencode(_key(attempt))
        path = f"/v1/leases/artifacts/{quote(name, safe='')}?{query}"
        answer = self._http.call("PUT", path, content, UPLOAD_TIMEOUT, content_type=BYTES)
        if answer["ack"] != "ACCEPTED":
            return None
        return Artifact(answer["name"], answer["size"], answer["sha256"])

    def steps(self, attempt: Attempt) -> list[dict[str, Any]]:
        query = {"taskId": attempt.id, "attempt": attempt.number, "workerId": self._worker}
        return list(self._http.get(f"/v1/leases/steps?{urlencode(query)}")["steps"])

    def step(self, attempt: Attempt, report: StepReport) -> bool:
        return self._report([_key(attempt) | {"step": _step(report)}])[0]

    def suspend(self, attempt: Attempt, index: int, wait: dict[str, Any]) -> dict[str, Any]:
        body = _key(attempt) | {"index": index, "wait": wait}
        return dict(self._http.post("/v1/leases/suspend", body))

    def start_children(self, attempt: Attempt, start: ChildrenStart) -> list[str] | None:
        """In parts. How many they are comes with the last; until then nothing is known of them."""
        ids = child_ids(attempt.id, start.started_as, start.time, len(start.jobs))
        jobs = [f'{{"id":"{id_}",{job[1:]}' for id_, job in zip(ids, start.jobs)]
        said = _key(attempt) | {"startedAs": start.started_as, "index": start.index}
        sent = 0
        for part in _parts(jobs):
            sent += len(part)
            head = dump(said | {"count": sent if sent == len(jobs) else 0})
            body = f'{head[:-1]},"jobs":[{",".join(part)}]}}'.encode()
            if self._http.call("POST", "/v1/leases/children", body, 40.0)["ack"] != "ACCEPTED":
                return None
        return ids

    def children_ends(self, attempt: Attempt, ids: Sequence[str]) -> list[dict[str, Any]] | None:
        body = _key(attempt) | {"jobs": list(ids)}
        return list(self._http.post("/v1/leases/children/ends", body)["jobs"])


def _key(attempt: Attempt) -> dict[str, Any]:
    return {"taskId": attempt.id, "attempt": attempt.number, "workerId": attempt.worker}


def _settlement(attempt: Attempt, outcome: Outcome) -> str:
    said = _key(attempt)
    if isinstance(outcome, Succeeded):
        head = dump(said | {"outcome": "SUCCEEDED"})
        return f'{head[:-1]},"output":{outcome.output}}}'
    if isinstance(outcome, Failed):
        failure = outcome.failure
        said["outcome"] = "FAILED"
        said["error"] = {
            "category": failure.category.value,
            "code": failure.code,
            "message": failure.message,
            "retryable": failure.retryable,
            "stackTrace": failure.stack_trace,
        }
        if outcome.delay is not None:
            said["delayMs"] = round(outcome.delay * 1000)
    elif isinstance(outcome, Cancelled):
        said["outcome"] = "CANCELLED"
    elif isinstance(outcome, Snoozed):
        said |= {"outcome": "SNOOZED", "delayMs": round(outcome.delay * 1000)}
    elif isinstance(outcome, Continued):
        head = dump(said | {"outcome": "CONTINUED"})
        return f'{head[:-1]},"payload":{outcome.payload}}}'
    elif isinstance(outcome, Released):
        said |= {"outcome": "RELEASED", "abortedByShutdown": True}
    else:
        raise TypeError(f"{outcome} is not reported")
    return dump(said)


def _step(report: StepReport) -> dict[str, Any]:
    """The entries of the timeline that /v1/tasks/{id}/steps/{step} would write."""
    data: dict[str, Any] = {
        "stepId": report.step_id,
        "stepIndex": report.index,
        "attempt": report.attempt,
    }
    if report.state == "FAILED":
        data |= {
            "failureClass": "transient_runtime",
            "failureSignature": report.signature,
            "strategy": "soft_reset" if report.again else "queue_retry",
        }
    events = [{"type": STEP_EVENTS[report.state], "data": data}]
    if report.state == "FAILED" and report.signature is None:
        events = []  # a wait that an operator wants again
    elif report.took_ms is not None and report.state == "DONE":
        events = []  # the server says that it began and that it is done
    elif report.took_ms is not None:
        began = {name: data[name] for name in ("stepId", "stepIndex", "attempt")}
        events.insert(0, {"type": STEP_EVENTS["RUNNING"], "data": began})
    step: dict[str, Any] = {
        "stepId": report.step_id,
        "stepIndex": report.index,
        "state": report.state,
        "stepAttempt": report.attempt,
        "reset": False,
        "events": events,
    }
    if report.state == "DONE":
        step["checkpoint"] = report.result
    if report.took_ms is not None:
        step["tookMs"] = report.took_ms
    asked = report.recovery
    if asked is not None:
        names = ("action", "stepId", "requestedBy", "updatedAt")
        ack = {name: asked[name] for name in names if name in asked}
        ack |= {"stepIndex": report.index, "attempt": report.attempt}
        events.insert(0, {"type": "task.control.recovery.ack", "data": ack})
        step["handledCommand"] = asked["updatedAt"]
        if asked["action"] != "retry_step":
            step["discardFromIndex"] = report.index
    return step


def _parts(jobs: Sequence[str]) -> list[list[str]]:
    """No more, and no larger, than a request may be; one where there are no jobs."""
    parts: list[list[str]] = [[]]
    size = 0
    for job in jobs:
        if len(parts[-1]) == MOST_STARTED or (parts[-1] and size + len(job) > BATCH_CHARS):
            parts.append([])
            size = 0
        parts[-1].append(job)
        size += len(job)
    return parts


def _pieces(lines: Sequence[str]) -> list[str]:
    pieces, current = [], ""
    for line in lines:
        if current and len(current) + len(line) + 1 > PIECE_CHARS:
            pieces.append(current)
            current = ""
        current += line + "\n"
    return [*pieces, current] if current else pieces
