"""Tasks that the server posts to the worker."""

from __future__ import annotations

import http.client
import json

from .plane import OUTLASTS_TOKEN
from .proxy import Exchange, Response, refuse_replaced_tokens
from .registry import scenario
from .stage import Stage


@scenario()
def push(stage: Stage) -> None:
    """Pushed tasks are run and reported; a request without the dispatch secret is refused."""
    _, front, port = stage.push_worker()
    envelopes: list[bytes] = []

    def keep(exchange: Exchange) -> Response | None:
        envelopes.append(exchange.body)
        return exchange.forward()

    front.rule = keep
    jobs = stage.enqueue_all("echo", [{"n": n} for n in range(1, 4)])
    for n, id_ in enumerate(jobs, 1):
        stage.expect(id_, state="SUCCEEDED", attempt=1, result={"n": n})
    forged = json.loads(envelopes[0]) | {"dispatchId": "forged"}
    for headers in ({}, {"Authorization": "Bearer another-secret-of-the-kit"}):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        sent = {"Content-Type": "application/json"} | headers
        connection.request("POST", "/tasks", json.dumps(forged), sent)
        status = connection.getresponse().status
        connection.close()
        stage.check(status in (401, 403), f"a forged task was answered {status}")
    cancelled = stage.enqueue("sleep", {"ms": 60_000})
    stage.begun(cancelled)
    stage.plane.call("POST", f"/v1/jobs/{cancelled}/cancel", {"reason": "not needed"})
    stage.expect(cancelled, state="CANCELLED", attempt=1)


@scenario()
def push_duplicate(stage: Stage) -> None:
    """A push that is repeated with the same dispatchId is taken once."""
    _, front, _ = stage.push_worker()

    def twice(exchange: Exchange) -> Response | None:
        exchange.forward()
        return exchange.forward()

    front.rule = twice
    jobs = stage.enqueue_all("sleep", [{"ms": 500}] * 3)
    for id_ in jobs:
        stage.expect(id_, state="SUCCEEDED", attempt=1)
        stage.check(stage.count("begin", id_) == 1, f"job {id_} was begun more than once")


@scenario()
def push_lease_lost(stage: Stage) -> None:
    """The handler of a pushed task stops when a heartbeat is answered that it is lost."""
    _, front, _ = stage.push_worker()
    envelopes: list[bytes] = []

    def keep(exchange: Exchange) -> Response | None:
        envelopes.append(exchange.body)
        return exchange.forward()

    front.rule = keep
    id_ = stage.enqueue("sleep", {"ms": 600_000, "later": 100})
    stage.begun(id_)
    end = {"attempt": 1, "workerId": "kit", "outcome": "RELEASED"}
    token = json.loads(envelopes[0])["taskToken"]
    stage.plane.call("POST", f"/v1/tasks/{id_}/completed", end, token)
    stage.await_note("stopped", id_)
    stage.expect_later_attempt(id_, crashes=0)


@scenario(first=True)
def push_token_renewed(stage: Stage) -> None:
    """A worker goes on with the fresh token that a heartbeat of a pushed task brought."""
    stage.proxy.rule = refuse_replaced_tokens()
    stage.push_worker()
    id_ = stage.enqueue("sleep", {"ms": round(OUTLASTS_TOKEN * 1_000)})
    stage.expect(id_, OUTLASTS_TOKEN, state="SUCCEEDED", attempt=1)
