"""Faults between worker and server."""

from __future__ import annotations

import itertools
import json
import random
import threading
import time
from datetime import datetime, timedelta, timezone
from typing import Any

from .plane import LEASE, OUTLASTS_TOKEN
from .proxy import Exchange, Response, refuse_replaced_tokens
from .registry import scenario
from .stage import Stage


@scenario(alone=True)
def server_restarted(stage: Stage) -> None:
    """A running job survives a kill and restart of the server, and new jobs are taken after it."""
    stage.worker()
    # A token lasts until the deadline, so it does not run out while the server starts.
    deadline = datetime.now(timezone.utc) + timedelta(minutes=30)
    # Longer than a lease, which must not run out before the worker can reach the server again.
    span = {"ms": round(LEASE * 1_000) + 4_000}
    id_ = stage.enqueue("sleep", span, deadline=deadline.isoformat())
    stage.begun(id_)
    stage.plane.restart()
    stage.expect(id_, span["ms"] / 1000, state="SUCCEEDED", attempt=1, crashes=0)
    stage.alive()


@scenario(quick=True)
def errors_5xx(stage: Stage) -> None:
    """Calls that are answered 500, 502 or 503, before or after they took effect, are sent again."""
    chance = random.Random(20_261_117)

    def fails_often(exchange: Exchange) -> Response | None:
        failing = chance.random() < 0.5
        status = chance.choice([500, 502, 503])
        if not failing:
            return exchange.forward()
        # Jobs of a lease whose answer is lost come back late; that is no fault of the worker.
        if not exchange.is_lease and chance.random() < 0.5:
            exchange.forward()
        return Response.problem(status, "unavailable")

    stage.worker()
    stage.proxy.rule = fails_often
    # So many that a worker which sends a settlement only once is found: each is lost by a quarter.
    jobs = stage.enqueue_all("sleep", [{"ms": 600}] * 24)
    for id_ in jobs:
        stage.expect(id_, state="SUCCEEDED", attempt=1)
        stage.check(stage.count("begin", id_) == 1, f"job {id_} was begun more than once")


@scenario()
def retry_after(stage: Stage) -> None:
    """After 429 with Retry-After the same call is not sent again before that time."""
    refused: dict[str, list[float]] = {}

    def limited(exchange: Exchange) -> Response | None:
        if exchange.is_lease or exchange.is_end:
            times = refused.setdefault(exchange.path, [])
            times.append(exchange.at)
            if len(times) <= 2:
                return Response.problem(429, "rate_limited", **{"Retry-After": "2"})
        return exchange.forward()

    stage.proxy.rule = limited
    stage.worker(concurrency=1)
    stage.expect(stage.enqueue("echo", {"n": 1}), state="SUCCEEDED", attempt=1)
    for path, times in refused.items():
        for before, after in itertools.pairwise(times[:3]):
            wait = after - before
            stage.check(wait >= 1.9, f"{path} was sent again {wait:.2f} s after 429, not 2 s")


@scenario()
def slow_answers(stage: Stage) -> None:
    """Answers that take 1.5 seconds neither fail a job nor have it done twice."""

    def slow(exchange: Exchange) -> Response | None:
        response = exchange.forward()
        time.sleep(1.5)
        return response

    stage.worker()
    stage.proxy.rule = slow
    jobs = stage.enqueue_all("sleep", [{"ms": 3_000}] * 3)
    for id_ in jobs:
        stage.expect(id_, state="SUCCEEDED", attempt=1, crashes=0)
        stage.check(stage.count("begin", id_) == 1, f"job {id_} was begun more than once")


@scenario()
def duplicates(stage: Stage) -> None:
    """Calls that arrive twice, and ends whose answer is lost, count once."""
    lost: set[tuple[str, ...]] = set()
    sent_again: set[tuple[str, ...]] = set()

    def twice(exchange: Exchange) -> Response | None:
        response = exchange.forward()
        if exchange.is_lease or exchange.method == "GET":
            return response
        response = exchange.forward()
        if exchange.is_end:
            end = _attempts(exchange)
            if end not in lost:
                lost.add(end)
                return None
            sent_again.add(end)
        return response

    stage.proxy.rule = twice
    stage.worker(concurrency=1)
    done = stage.enqueue_all("sleep", [{"ms": 1_500}] * 2)
    failing = {"category": "USER_CODE", "code": "ONCE", "message": "once", "until": 2}
    again = stage.enqueue("fail", failing)
    for id_ in done:
        stage.expect(id_, state="SUCCEEDED", attempt=1)
        stage.check(stage.count("begin", id_, 1) == 1, f"attempt 1 of {id_} was begun twice")
    stage.expect(again, state="SUCCEEDED", attempt=2, failures=1)
    stage.until(lambda: sent_again == lost, "ends to be sent again after a lost answer")
    reported = {attempt for ends in lost for attempt in ends}
    stage.check(len(reported) == 4, f"{len(reported)} attempts were reported as ended, not 4")


def _attempts(exchange: Exchange) -> tuple[str, ...]:
    """Which attempts a request reports as ended, in either protocol; one, or some together."""
    body = json.loads(exchange.body)
    ends = body.get("settlements", [body])
    return tuple(sorted(f"{one.get('taskId', exchange.path)} {one['attempt']}" for one in ends))


@scenario()
def reordered(stage: Stage) -> None:
    """A heartbeat that arrives after the job's end, and is answered so, does no harm."""
    late = threading.Event()

    def heartbeats_late(exchange: Exchange) -> Response | None:
        if exchange.is_heartbeat and not late.is_set():
            late.wait(LEASE * 0.8)
        return exchange.forward()

    stage.worker()
    stage.proxy.rule = heartbeats_late
    id_ = stage.enqueue("sleep", {"ms": round(LEASE * 600)})
    stage.expect(id_, state="SUCCEEDED", attempt=1)
    late.set()
    time.sleep(1)
    stage.check(any(one.is_heartbeat for one in stage.proxy.exchanges), "no heartbeat was sent")
    stage.alive()


@scenario()
def unknown_fields(stage: Stage) -> None:
    """Fields and headers of a newer server are passed over."""

    def newer(exchange: Exchange) -> Response | None:
        response = exchange.forward()
        if response.status == 200 and response.body.startswith(b"{"):
            data = _grown(json.loads(response.body))
            response.body = json.dumps(data, ensure_ascii=False).encode()
            response.headers["X-Holdfast-Newer"] = "1"
        return response

    stage.proxy.rule = newer
    stage.worker()
    stage.expect(stage.enqueue("echo", {"n": 1}), state="SUCCEEDED", result={"n": 1})
    stage.expect(stage.enqueue("sleep", {"ms": 2_500}), state="SUCCEEDED", attempt=1)
    id_ = stage.enqueue("steps", {"steps": ["a", "b"]})
    wanted = [{"step": "a", "attempt": 1}, {"step": "b", "attempt": 1}]
    stage.expect(id_, state="SUCCEEDED", result=wanted)


def _grown(data: Any) -> Any:
    """The answer with a new field in every object, but for payloads and checkpoints."""
    if isinstance(data, list):
        return [_grown(one) for one in data]
    if not isinstance(data, dict):
        return data
    kept = ("payload", "checkpoint", "resources")
    grown = {name: one if name in kept else _grown(one) for name, one in data.items()}
    return grown | {"newerField": {"a": [1, None]}}


@scenario(first=True)
def token_renewed(stage: Stage) -> None:
    """A worker goes on with the fresh token that a heartbeat brought."""
    stage.proxy.rule = refuse_replaced_tokens()
    stage.worker()
    id_ = stage.enqueue("sleep", {"ms": round(OUTLASTS_TOKEN * 1_000)})
    stage.expect(id_, OUTLASTS_TOKEN, state="SUCCEEDED", attempt=1)
