"""The task protocol, /v1/tasks: one request per attempt, with the token of its envelope.

Pushed attempts use it, since whoever gets a push may have no API key.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import quote

from .attempt import Attempt
from .errors import RefusedException, ServerUnavailableException
from .http import BYTES, JSON, Http, dump
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

MOST_LINES = 1_000
LOG_BYTES = 200_000
PARALLEL = 8
UPLOAD_TIMEOUT = 120.0


class TaskSource:
    """Calls back to the server that the envelopes name."""

    def __init__(self, http: Http, worker: str) -> None:
        self._http = http
        self._worker = worker
        self._calls = ThreadPoolExecutor(PARALLEL, thread_name_prefix="holdfast-callback")

    def started(self, attempt: Attempt) -> bool:
        """False when the attempt is no longer to begin."""
        return self._held(attempt, "POST", "started", {"workerId": self._worker}) is not None

    def heartbeat(self, attempts: Sequence[Attempt]) -> list[HeartbeatResult]:
        """A call that fails is left out of the answer: its attempt stays due."""
        if len(attempts) == 1:
            return [self._beat(attempts[0])]
        found = [self._calls.submit(self._beat, one) for one in attempts]
        results: list[HeartbeatResult] = []
        away: ServerUnavailableException | None = None
        for future in found:
            try:
                results.append(future.result())
            except ServerUnavailableException as failure:
                away = failure
        if not results and away is not None:
            raise away
        return results

    def _beat(self, attempt: Attempt) -> HeartbeatResult:
        timeout = max(1.0, min(10.0, attempt.lease / 2))
        body = {"workerId": self._worker}
        answer = self._held(attempt, "POST", "heartbeat", body, timeout)
        if answer is None:
            return HeartbeatResult(attempt, False)
        if answer.get("taskToken"):
            attempt.token = answer["taskToken"]
        reason = answer.get("cancelReason") or "no reason given"
        cancel = reason if answer["shouldCancel"] else None
        return HeartbeatResult(attempt, True, cancel, answer.get("liveControl"))

    def answers(self) -> bool:
        return False  # only the token of a task can ask

    def commands(self) -> list[Command]:
        return []

    def settle(self, ends: Sequence[tuple[Attempt, Outcome]]) -> list[bool]:
        if len(ends) == 1:
            return [self._complete(*ends[0])]
        found = [self._calls.submit(self._complete, *end) for end in ends]
        return [future.result() for future in found]

    def _complete(self, attempt: Attempt, outcome: Outcome) -> bool:
        try:
            return self._completed(attempt, _completion(outcome))
        except RefusedException as refused:
            end = refused_end(refused)
            log.error("%r: %s", attempt.job, end.failure.message)
        try:
            return self._completed(attempt, _completion(end))
        except RefusedException:
            log.exception("%r: its lease will run out", attempt.job)
            return False

    def _completed(self, attempt: Attempt, said: str) -> bool:
        head = dump({"workerId": self._worker, "attempt": attempt.number})
        body = f"{head[:-1]},{said[1:]}".encode()
        return self._send(attempt, "POST", "completed", body, 40.0) is not None

    def progress(self, attempts: Sequence[tuple[Attempt, int, str]]) -> None:
        for attempt, percent, message in attempts:
            body = {"workerId": self._worker, "progressPct": percent, "message": message}
            self._held(attempt, "POST", "heartbeat", body)

    def log(self, attempt: Attempt, first: int, lines: Sequence[str]) -> None:
        start = 0
        while start < len(lines):
            stop, size = start, 0
            while stop < len(lines) and stop - start < MOST_LINES and size < LOG_BYTES:
                size += len(lines[stop]) * 3 + 3
                stop += 1
            body = {"firstLine": first + start, "lines": list(lines[start:stop])}
            self._held(attempt, "POST", "log", body)
            start = stop

    def event(self, attempt: Attempt, kind: str, data: Any) -> bool:
        return self._held(attempt, "POST", "event", {"type": kind, "data": data}) is not None

    def publish(self, attempt: Attempt, name: str, content: bytes) -> Artifact | None:
        path = f"artifacts/{quote(name, safe='')}?attempt={attempt.number}"
        answer = self._send(attempt, "PUT", path, content, UPLOAD_TIMEOUT, BYTES)
        if answer is None:
            return None
        return Artifact(answer["name"], answer["size"], answer["sha256"])

    def steps(self, attempt: Attempt) -> list[dict[str, Any]]:
        answer = self._send(attempt, "GET", "steps", None, 40.0)
        return [] if answer is None else list(answer["steps"])

    def step(self, attempt: Attempt, report: StepReport) -> bool:
        body: dict[str, Any] = {
            "stepIndex": report.index,
            "state": report.state,
            "stepAttempt": report.attempt,
        }
        if report.state == "DONE":
            body["result"] = report.result
        elif report.signature is None and report.state == "FAILED":
            body["state"] = "RUNNING"  # a wait that an operator wants again begins like a step
        elif report.state == "FAILED":
            body |= {
                "failureClass": "transient_runtime",
                "failureSignature": report.signature,
                "strategy": "soft_reset" if report.again else "queue_retry",
            }
        if report.took_ms is not None:
            body["tookMs"] = report.took_ms
        if report.recovery is not None:
            body["handledCommand"] = report.recovery["updatedAt"]
        path = f"steps/{quote(report.step_id, safe='')}"
        return self._held(attempt, "PUT", path, body) is not None

    def suspend(self, attempt: Attempt, index: int, wait: dict[str, Any]) -> dict[str, Any]:
        answer = self._held(attempt, "POST", "wait", {"wait": wait})
        return {"outcome": "LEASE_LOST"} if answer is None else dict(answer)

    def start_children(self, attempt: Attempt, start: ChildrenStart) -> list[str] | None:
        """The server says their ids."""
        head = dump({"attempt": attempt.number, "startedAs": start.started_as})
        body = f'{head[:-1]},"jobs":[{",".join(start.jobs)}]}}'.encode()
        answer = self._send(attempt, "POST", "children", body, 40.0)
        return None if answer is None else list(answer["jobs"])

    def children_ends(self, attempt: Attempt, ids: Sequence[str]) -> list[dict[str, Any]] | None:
        answer = self._held(attempt, "POST", "children/ends", {"jobs": list(ids)})
        return None if answer is None else list(answer["jobs"])

    def _held(
        self,
        attempt: Attempt,
        method: str,
        what: str,
        body: dict[str, Any],
        timeout: float = 40.0,
    ) -> Any:
        sent = dump(body | {"attempt": attempt.number}).encode()
        return self._send(attempt, method, what, sent, timeout)

    def _send(
        self,
        attempt: Attempt,
        method: str,
        what: str,
        body: bytes | None,
        timeout: float,
        content_type: str = JSON,
    ) -> Any:
        """The answer, or None when the attempt does not hold its task any more."""
        try:
            return self._http.call(
                method, f"/v1/tasks/{attempt.id}/{what}", body, timeout, attempt.token, content_type
            )
        except RefusedException as refused:
            if refused.status in (401, 403, 404, 409, 410):
                log.info("%r is lost: %s", attempt.job, refused)
                return None
            raise

    def close(self) -> None:
        self._calls.shutdown(wait=False)


def _completion(outcome: Outcome) -> str:
    if isinstance(outcome, Succeeded):
        return f'{{"outcome":"SUCCEEDED","output":{outcome.output}}}'
    if isinstance(outcome, Cancelled):
        return dump({"outcome": "CANCELLED", "cancelledDuringPhase": "running"})
    if isinstance(outcome, Failed):
        failure, delay = outcome.failure, outcome.delay
        error: dict[str, Any] = {
            "category": failure.category.value,
            "code": failure.code,
            "message": failure.message,
            "retryable": failure.retryable,
            "stackTrace": failure.stack_trace,
        }
        if delay is not None:
            error["retryAfterMs"] = round(delay * 1000)
        return dump({"outcome": "FAILED", "error": error})
    if isinstance(outcome, Snoozed):
        return dump({"outcome": "SNOOZED", "delayMs": round(outcome.delay * 1000)})
    if isinstance(outcome, Continued):
        return f'{{"outcome":"CONTINUED","payload":{outcome.payload}}}'
    if isinstance(outcome, Released):
        return dump({"outcome": "RELEASED"})
    raise TypeError(f"{outcome} is not reported")
