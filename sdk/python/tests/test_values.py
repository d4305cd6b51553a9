"""Parts that need no server."""

from __future__ import annotations

import io
import uuid
from datetime import datetime, timezone
from typing import Any, cast

import pytest

from holdfast import (
    FailedException,
    FailureCategory,
    Job,
    RefusedException,
    ServerUnavailableException,
    SnoozeException,
    Worker,
)
from holdfast.http import Backoff, Http, problem
from holdfast.model import new_id, parse_time
from holdfast.sse import parse


def test_ids_are_uuids_of_version_7_in_the_order_of_time() -> None:
    first = new_id()
    assert uuid.UUID(first).version == 7
    assert uuid.UUID(first).variant == uuid.RFC_4122
    millis = uuid.UUID(first).int >> 80
    assert abs(millis / 1000 - datetime.now().timestamp()) < 5


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [
        ("2026-11-15T13:04:50Z", 0),
        ("2026-11-15T13:04:50.7Z", 700_000),
        ("2026-11-15T13:04:50.741982008Z", 741_982),
        ("2026-11-15T14:04:50.741+01:00", 741_000),
    ],
)
def test_times_are_read_with_any_number_of_digits(text: str, microseconds: int) -> None:
    wanted = datetime(2026, 11, 15, 13, 4, 50, microseconds, timezone.utc)
    assert parse_time(text) == wanted


def test_a_job_is_made_of_kind_and_payload_and_named_options() -> None:
    job = Job("resize", {"width": 640}, queue="media")
    assert (job.kind, job.payload, job.queue) == ("resize", {"width": 640}, "media")
    assert Job("ping").payload == {}


def test_a_job_is_written_in_the_names_and_units_of_the_api() -> None:
    at = datetime(2030, 1, 1, 3, tzinfo=timezone.utc)
    job = Job(kind="k", payload=None, delay=1.5, run_at=at, max_attempts=5, depends_on=("a", "b"))
    assert job.to_json() == {
        "kind": "k",
        "payload": None,
        "id": job.id,
        "delayMs": 1500,
        "runAt": "2030-01-01T03:00:00+00:00",
        "maxAttempts": 5,
        "dependsOn": ["a", "b"],
    }


def test_pauses_grow_to_their_limit_and_respect_retry_after() -> None:
    backoff = Backoff(1.0, 4.0)
    pauses = [backoff.pause() for _ in range(6)]
    assert all(0.5 <= pauses[n] <= 2.0**n for n in range(3))
    assert max(pauses) <= 4.0
    assert backoff.pause(ServerUnavailableException("busy", 7.0)) == 7.0
    backoff.reset()
    assert backoff.pause() <= 1.0


def test_answers_become_exceptions_by_what_the_caller_can_do() -> None:
    busy = problem(429, "3", b'{"error":"rate_limited","message":"slower"}')
    assert isinstance(busy, ServerUnavailableException)
    assert busy.retry_after == 3.0
    assert isinstance(problem(502, None, b"<html>"), ServerUnavailableException)
    stopping = b'{"error":"bad_request","message":"the request could not be read as HTTP"}'
    assert isinstance(problem(400, None, stopping), ServerUnavailableException)
    malformed = b'{"error":"malformed_json","message":"at line 1"}'
    assert isinstance(problem(400, None, malformed), RefusedException)
    assert "409 job_already_terminal" in str(
        problem(409, None, b'{"error":"job_already_terminal","message":"ended"}')
    )


def test_events_are_parsed_and_an_unfinished_one_is_left_out() -> None:
    text = b': hello\nretry: 2000\n\nid: 1\nevent: a\ndata: {"x":\ndata: 1}\n\nevent: b\ndata: {}'
    events = list(parse(cast(Any, io.BytesIO(text))))
    assert [(one.topic, one.data, one.id) for one in events] == [("a", {"x": 1}, "1")]


def test_mistakes_are_named_before_anything_runs() -> None:
    worker = Worker("q")
    with pytest.raises(ValueError, match=r"def f\(payload, ctx\)"):
        worker.handler("k")(lambda: None)
    with pytest.raises(ValueError, match="top level"):
        worker.handler("k", process=True)(lambda payload: None)
    with pytest.raises(ValueError, match="no handlers"):
        worker.start()
    worker.handler("k")(lambda payload: None)
    with pytest.raises(ValueError, match="already"):
        worker.handler("k")(lambda payload: None)
    with pytest.raises(ValueError, match="16 characters"):
        worker.push("short")
    with pytest.raises(ValueError, match="name those to serve"):
        Worker().start()
    with pytest.raises(ValueError, match="give one such as http"):
        Http("localhost:8420")
    with pytest.raises(ValueError, match="0 or more"):
        SnoozeException(-1)


def test_categories_are_retried_as_the_server_does() -> None:
    retried = {one.name for one in FailureCategory if one.retryable}
    assert retried == {"USER_CODE", "INFRASTRUCTURE", "TIMEOUT"}


def test_some_codes_are_not_retried_whatever_their_category() -> None:
    def failed(code: str, retryable: bool | None = None) -> FailedException:
        return FailedException(FailureCategory.USER_CODE, code, "why", retryable=retryable)

    assert failed("ANY_OTHER").retryable
    assert not failed("VALIDATION").retryable
    assert failed("VALIDATION", True).retryable
