"""Waits of handlers, and the jobs that they start, for programs that offer the kind ``script``."""

from __future__ import annotations

import json
import signal
from typing import Any

from .plane import LEASE
from .proxy import Exchange, Response
from .registry import scenario
from .stage import Stage, Unfit


def _step(name: str) -> dict[str, Any]:
    return {"op": "step", "id": name}


def _await(name: str, **more: Any) -> dict[str, Any]:
    return {"op": "await", "name": name, **more}


def _script(stage: Stage, *ops: dict[str, Any], **options: Any) -> str:
    return stage.enqueue("script", {"do": list(ops)}, **options)


def _waits(stage: Stage, id_: str) -> None:
    """Until the job waits, and the attempt has ended by that."""
    stage.until(lambda: stage.state(id_) == "WAITING", f"job {id_} to wait")


def _signal(stage: Stage, id_: str, name: str, payload: Any) -> None:
    stage.plane.call("POST", f"/v1/jobs/{id_}/signals", {"name": name, "payload": payload})


def _done_once(stage: Stage, id_: str, *names: str) -> None:
    for name in names:
        times = stage.count(f"step:{name}", id_)
        stage.check(times == 1, f"step {name} was run {times} times, not once")


@scenario(waits=True, quick=True, shared=True)
def signal_after_suspend(stage: Stage) -> None:
    """A handler waits without an attempt, is called again later, and does no step twice."""
    stage.worker()
    id_ = _script(stage, _step("a"), _await("go"), _step("b"))
    _waits(stage, id_)
    _signal(stage, id_, "go", {"n": [1, "ü"]})
    result = [{"step": "a", "attempt": 1}, {"n": [1, "ü"]}, {"step": "b", "attempt": 2}]
    job = stage.expect(id_, state="SUCCEEDED", attempt=2, failures=0, crashes=0, result=result)
    _done_once(stage, id_, "a", "b")
    first = job["attempts"][0]["outcome"]
    stage.check(first == "SUSPENDED", f"the first attempt has ended as {first}")


@scenario(waits=True, shared=True)
def signal_before_wait(stage: Stage) -> None:
    """A signal that is there already is no wait: the handler goes on in its first attempt."""
    stage.worker()
    id_ = _script(stage, {"op": "sleep", "id": "later", "ms": 0}, _await("go"), delayMs=2_500)
    _signal(stage, id_, "go", "early")
    stage.expect(id_, state="SUCCEEDED", attempt=1, result=[None, "early"])


@scenario(waits=True)
def signal_during_suspend(stage: Stage) -> None:
    """A signal that comes while the wait is on its way to the server is taken in place."""
    sent: list[str] = []

    def late(exchange: Exchange) -> Response | None:
        if exchange.is_wait and not sent:
            sent.append(id_)
            _signal(stage, id_, "go", 7)
        return exchange.forward()

    stage.proxy.rule = late
    id_ = _script(stage, _await("go"))
    stage.worker()
    stage.expect(id_, state="SUCCEEDED", attempt=1, result=[7])
    stage.check(bool(sent), "the worker has not asked for the wait")


@scenario(waits=True)
def wait_answer_lost(stage: Stage) -> None:
    """A wait whose answer is lost or refused by an outage is asked for again, and is one wait."""
    asked: list[float] = []

    def loses(exchange: Exchange) -> Response | None:
        if not exchange.is_wait:
            return exchange.forward()
        asked.append(exchange.at)
        if len(asked) == 1:
            return Response.problem(503, "unavailable")
        response = exchange.forward()
        return None if len(asked) == 2 else response

    stage.proxy.rule = loses
    stage.worker()
    id_ = _script(stage, _step("a"), _await("go"))
    stage.until(lambda: len(asked) >= 3, "the wait to be asked for again")
    _waits(stage, id_)
    _signal(stage, id_, "go", 1)
    result = [{"step": "a", "attempt": 1}, 1]
    stage.expect(id_, state="SUCCEEDED", attempt=2, failures=0, crashes=0, result=result)
    _done_once(stage, id_, "a")


@scenario(waits=True, shared=True)
def wait_times_out(stage: Stage) -> None:
    """A sleep ends by itself; a wait for a signal with a bound brings nothing when it is over."""
    stage.worker()
    id_ = _script(stage, {"op": "sleep", "id": "nap", "ms": 1_500}, _await("go", withinMs=1_500))
    stage.expect(id_, state="SUCCEEDED", attempt=3, result=[None, None])


@scenario(waits=True, shared=True)
def approval(stage: Stage) -> None:
    """A handler asks a person, and gets who has decided what."""
    stage.worker()
    id_ = _script(stage, {"op": "approve", "id": "limit", "text": "Raise the limit?"})
    _waits(stage, id_)
    said = {"waitId": "limit", "approved": True, "comment": "fine — ja"}
    stage.plane.call("POST", f"/v1/jobs/{id_}/decisions", said)
    job = stage.expect(id_, state="SUCCEEDED", attempt=2)
    (found,) = job["result"]
    wanted = {"approved": True, "comment": "fine — ja"}
    stage.check({k: found.get(k) for k in wanted} == wanted and found["by"], f"it got {found}")


@scenario(waits=True, quick=True, shared=True)
def children(stage: Stage) -> None:
    """A handler starts jobs once, waits without a place, and gets their results in order."""
    stage.worker()
    items = [{"n": n} for n in range(6)]
    id_ = _script(stage, {"op": "map", "id": "each", "items": items}, _step("end"))
    job = stage.expect(id_, state="SUCCEEDED", failures=0, crashes=0)
    stage.check(job["result"][0] == items, f"the results are {job['result'][0]}")
    page = stage.plane.call("GET", f"/v1/jobs?parentId={id_}&limit=50")["jobs"]
    stage.check(len(page) == 6, f"{len(page)} jobs were started, not 6")


@scenario(waits=True)
def children_of_one_place(stage: Stage) -> None:
    """With a single place the parent gives it to its children, and to children of these."""
    stage.worker(concurrency=1)
    inner = {"do": [{"op": "map", "id": "each", "items": [1, 2]}]}
    spawn = {"op": "spawn", "id": "inner", "kind": "script", "payload": inner}
    id_ = _script(stage, spawn, {"op": "join", "id": "both", "of": ["inner"]})
    stage.expect(id_, state="SUCCEEDED", failures=0, result=[None, ["SUCCEEDED"]])


@scenario(waits=True, shared=True)
def child_fails(stage: Stage) -> None:
    """A join cancels the others when one fails, and fails the parent for good; COLLECT gets all."""
    stage.worker()
    bad = {"category": "DATA_QUALITY", "code": "BAD", "message": "bad", "until": 9}
    spawns = [
        {"op": "spawn", "id": "bad", "kind": "fail", "payload": bad},
        {"op": "spawn", "id": "good", "kind": "sleep", "payload": {"ms": 600_000}},
    ]
    id_ = _script(stage, *spawns, {"op": "join", "id": "both", "of": ["bad", "good"]})
    failure = stage.expect(id_, state="FAILED")["failure"]
    code = failure["code"]
    stage.check(code == "CHILD_FAILED", f"the failure of the parent is {code}")
    jobs = stage.plane.call("GET", f"/v1/jobs?parentId={id_}")["jobs"]
    running = [one["id"] for one in jobs if one["kind"] == "sleep"]
    stage.expect(running[0], state="CANCELLED")
    spawns[1]["payload"] = {"ms": 10}
    collect = {"op": "join", "id": "both", "of": ["bad", "good"], "collect": True}
    all_ = _script(stage, *spawns, collect)
    stage.expect(all_, state="SUCCEEDED", result=[None, None, ["FAILED", "SUCCEEDED"]])


@scenario(waits=True, shared=True)
def cancel_while_waiting(stage: Stage) -> None:
    """A job that waits is cancelled at once, and what it waited for no longer wakes it."""
    stage.worker()
    id_ = _script(stage, _await("go"), _step("b"))
    _waits(stage, id_)
    stage.plane.call("POST", f"/v1/jobs/{id_}/cancel", {"reason": "not needed"})
    stage.expect(id_, state="CANCELLED", attempt=1)
    stage.alive()
    stage.check(stage.count("step:b", id_) == 0, "the handler has gone on")


@scenario(waits=True, shared=True)
def wait_is_swallowed(stage: Stage) -> None:
    """What a handler returns that takes no notice of a wait is passed over."""
    stage.worker()
    id_ = _script(stage, _await("go"), _step("b"), {"op": "careless"})
    _waits(stage, id_)
    stage.alive()
    stage.check(stage.state(id_) == "WAITING", "the job was settled although it waits")
    stage.check(stage.count("step:b", id_) == 0, "a step was run in an attempt that had ended")
    _signal(stage, id_, "go", 1)
    result = [1, {"step": "b", "attempt": 2}, None]
    stage.expect(id_, state="SUCCEEDED", attempt=2, result=result)


@scenario(waits=True)
def unknown_wait_outcome(stage: Stage) -> None:
    """What a newer server makes of a wait, and the worker does not know, is no success."""
    asked: list[str] = []

    def newer(exchange: Exchange) -> Response | None:
        response = exchange.forward()
        if exchange.is_wait and response.status == 200 and len(asked) < 2:
            asked.append(exchange.path)
            said = json.loads(response.body)
            if len(asked) == 1:
                said["outcome"] = "PARKED"
            else:
                said |= {"outcome": "OVER", "end": {"sort": "SIGNAL", "outcome": "ECHOED"}}
            response.body = json.dumps(said).encode()
        return response

    stage.proxy.rule = newer
    stage.worker()
    for _ in range(2):
        _unknown(stage)


def _unknown(stage: Stage) -> None:
    id_ = _script(stage, _await("go"), _step("b"))
    _waits(stage, id_)
    stage.alive()
    stage.check(stage.count("step:b", id_) == 0, "the handler has gone on")
    stage.check(stage.state(id_) != "SUCCEEDED", "the job has succeeded without its signal")
    _signal(stage, id_, "go", 1)
    job = stage.expect(id_, state="SUCCEEDED")
    stage.check(job["result"][0] == 1, f"the result is {job['result']}")


@scenario(waits=True)
def killed_between_waits(stage: Stage) -> None:
    """After a kill another worker goes on behind what is done, with the jobs that were started."""
    first = stage.worker()
    spawn = {"op": "spawn", "id": "one", "kind": "echo", "payload": {"n": 1}}
    pause = {"op": "pause", "ms": 60_000, "until": 3}
    join = {"op": "join", "id": "all", "of": ["one"]}
    id_ = _script(stage, spawn, _await("go"), _step("a"), pause, _step("b"), join)
    _waits(stage, id_)
    _signal(stage, id_, "go", "x")
    stage.await_note("step:a", id_, 2)
    stage.until(lambda: _is_done(stage, id_, "a"), "step a to be done")
    first.signal(signal.SIGKILL)
    first.process.wait()
    stage.worker()
    job = stage.expect(id_, LEASE, state="SUCCEEDED")
    last = job["attempt"]
    stage.check(job["result"][1] == "x", "the signal was not kept")
    stage.check(job["result"][4] == {"step": "b", "attempt": _of(stage, id_, "b")}, "step b")
    stage.check(last >= 3, "nobody was killed")
    _done_once(stage, id_, "a")
    page = stage.plane.call("GET", f"/v1/jobs?parentId={id_}")["jobs"]
    stage.check(len(page) == 1, f"{len(page)} jobs were started, not one")


def _is_done(stage: Stage, id_: str, step: str) -> bool:
    steps = stage.plane.call("GET", f"/v1/jobs/{id_}?include=steps")["steps"]
    return any(one["stepId"] == step and one["state"] == "DONE" for one in steps)


def _of(stage: Stage, id_: str, step: str) -> int:
    """The attempt that has run a step."""
    for line in stage.journal():
        word, _, job, attempt = line.split()
        if word == f"step:{step}" and job == id_:
            return int(attempt)
    raise Unfit(f"step {step} was not run")


@scenario(waits=True, shared=True)
def continues_as(stage: Stage) -> None:
    """A job goes on as another one with another payload, once."""
    stage.worker()
    key = f"loop-{stage.queue}"
    second = {"do": [_step("last")]}
    first = {"do": [_step("first"), {"op": "continueAs", "payload": second}]}
    id_ = stage.enqueue("script", first, uniqueKey=key)
    stage.expect(id_, state="SUCCEEDED", attempt=1)
    run = stage.plane.call("GET", f"/v1/jobs?queue={stage.queue}&kind=script&search=loop&limit=50")
    next_ = [one for one in run["jobs"] if one.get("uniqueKey") == key and one["id"] != id_]
    stage.check(len(next_) == 1, f"{len(next_)} jobs go on in its place, not one")
    stage.expect(next_[0]["id"], state="SUCCEEDED", result=[{"step": "last", "attempt": 1}])


@scenario(waits=True)
def handed_over(stage: Stage) -> None:
    """What one worker has begun another one finishes, in whatever language, in both orders."""
    for first, second in stage.pairs():
        spawn = {"op": "spawn", "id": "one", "kind": "echo", "payload": {"n": 1}}
        join = {"op": "join", "id": "j", "of": ["one"]}
        id_ = _script(stage, _step("a"), spawn, _await("go"), _step("b"), join)
        before = stage.program(first)
        _waits(stage, id_)
        before.signal(signal.SIGTERM)
        before.exit_code(stage.timeout)
        after = stage.program(second)
        _signal(stage, id_, "go", {"from": "outside"})
        by = [{"step": "a", "attempt": 1}, {"step": "b", "attempt": 2}]
        wanted = [by[0], None, {"from": "outside"}, by[1], ["SUCCEEDED"]]
        stage.expect(id_, state="SUCCEEDED", failures=0, crashes=0, result=wanted)
        _done_once(stage, id_, "a", "b")
        after.signal(signal.SIGTERM)
        after.exit_code(stage.timeout)


@scenario(waits=True)
def push_waits(stage: Stage) -> None:
    """A pushed task waits, and is pushed again when the wait is over; it starts jobs as well."""
    stage.push_worker()
    items = [{"n": 1}, {"n": 2}]
    id_ = _script(stage, _step("a"), _await("go"), {"op": "map", "id": "m", "items": items})
    _waits(stage, id_)
    _signal(stage, id_, "go", 5)
    job = stage.expect(id_, state="SUCCEEDED", failures=0, crashes=0)
    wanted = [{"step": "a", "attempt": 1}, 5, items]
    stage.check(job["result"] == wanted, f"the result is {job['result']}")
    _done_once(stage, id_, "a")
