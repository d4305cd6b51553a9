from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

import computing
from conformance.plane import ControlPlane
from conftest import Run, until

from holdfast import (
    FailedException,
    FailureCategory,
    Holdfast,
    Job,
    JobContext,
    JobState,
    Step,
    Worker,
)

MakeWorker = Callable[..., Worker]


def is_running(plane: ControlPlane, job: str, step: str) -> bool:
    """Whether it has run for so long that others know of it."""
    steps = plane.call("GET", f"/v1/jobs/{job}/steps")["steps"]
    return (step, "RUNNING") in [(one["stepId"], one["state"]) for one in steps]


def test_a_step_that_is_done_is_not_done_again(
    make_worker: MakeWorker, run: Run, holdfast: Holdfast
) -> None:
    worker = make_worker()
    calls: list[str] = []

    def work(name: str, value: Any) -> Any:
        calls.append(name)
        return value

    @worker.handler("k")
    def handle(payload: Any, ctx: JobContext) -> list[Any]:
        first = ctx.step("fetch", work, "fetch", {"rows": 7})
        nothing = ctx.step("tidy", work, "tidy", None)
        if ctx.attempt == 1:
            ctx.step("load", lambda: 1 / 0)
        return [first, nothing, ctx.step("load", work, "load", ctx.attempt)]

    worker.start()
    status = run("k")
    assert status.result == [{"rows": 7}, None, 2]
    assert calls == ["fetch", "tidy", "load"]
    types = [event["type"] for event in holdfast.timeline(status.id)]
    assert types.count("task.step.attempt.started") == 4
    assert types.count("task.step.attempt.failed") == 1


def test_a_step_that_takes_long_is_seen_to_run_and_what_it_tells_comes_after_its_start(
    plane: ControlPlane, make_worker: MakeWorker, holdfast: Holdfast, queue: str
) -> None:
    worker = make_worker()
    finish = threading.Event()

    @worker.handler("k")
    def handle(payload: Any, ctx: JobContext) -> None:
        ctx.step("soon", lambda: 1)
        ctx.step("told", ctx.event, "halved")
        ctx.step("slow", finish.wait, 60)

    worker.start()
    id_ = holdfast.enqueue(Job("k", queue=queue)).id

    until(lambda: is_running(plane, id_, "slow"))
    finish.set()
    assert holdfast.wait(id_, 60).state is JobState.SUCCEEDED
    timeline = holdfast.timeline(id_)
    types = [event["type"].replace("task.step.attempt.", "") for event in timeline]
    wanted = ["started", "finished", "started", "halved", "finished", "started", "finished"]
    assert types[2:-1] == wanted
    assert [event["number"] for event in timeline] == list(range(1, len(types) + 1))


def test_async_and_process_handlers_have_steps(make_worker: MakeWorker, run: Run) -> None:
    worker = make_worker()
    calls: list[int] = []

    @worker.handler("async")
    async def handle(payload: Any, ctx: JobContext) -> list[int]:
        async def work(n: int) -> int:
            calls.append(n)
            await asyncio.sleep(0)
            return n

        first = await ctx.step("a", work, 1)
        if ctx.attempt == 1:
            raise ValueError("not yet")
        return [first, await ctx.step("b", work, 2)]

    @worker.handler("mixed")
    async def mixed(payload: Any, ctx: JobContext) -> None:
        ctx.step("a", lambda: 1)

    worker.handler("process", process=True)(computing.step_fails)
    worker.start()
    assert run("async").result == [1, 2]
    assert calls == [1, 2]
    assert run("process").result == 2
    failure = run("mixed", max_attempts=1).failure
    assert failure is not None
    assert "asyncio.to_thread" in failure.message


def test_a_step_is_tried_again_within_its_budget(
    plane: ControlPlane, make_worker: MakeWorker, run: Run
) -> None:
    worker = make_worker()
    calls: list[str] = []

    @worker.handler("plain")
    def plain(payload: Any, ctx: JobContext) -> int:
        def flaky() -> int:
            calls.append("flaky")
            if calls.count("flaky") < 3:
                raise ValueError("not yet")
            return 3

        return ctx.step(Step("flaky", attempts=3, delay=0.01), flaky)

    @worker.handler("permanent")
    def permanent(payload: Any, ctx: JobContext) -> None:
        def bad() -> None:
            calls.append("bad")
            raise FailedException(FailureCategory.DATA_QUALITY, "BAD_ROW", "row 7")

        ctx.step(Step("bad", attempts=3, delay=0.01), bad)

    @worker.handler("async")
    async def hangs(payload: Any, ctx: JobContext) -> None:
        async def hang() -> None:
            calls.append("hang")
            await asyncio.sleep(60)

        await ctx.step(Step("hang", attempts=2, delay=0.01, timeout=0.05), hang)

    worker.start()
    status = run("plain", max_attempts=1)
    assert (status.result, status.attempt) == (3, 1)
    steps = plane.call("GET", f"/v1/jobs/{status.id}/steps")["steps"]
    assert [(one["state"], one["attempt"]) for one in steps] == [("DONE", 3)]
    failure = run("permanent", max_attempts=1).failure
    assert failure is not None
    assert failure.code == "BAD_ROW"
    assert calls.count("bad") == 1
    assert run("async", max_attempts=1).state is JobState.FAILED
    assert calls.count("hang") == 2


def test_mistakes_with_steps_are_named(make_worker: MakeWorker, run: Run) -> None:
    worker = make_worker()

    @worker.handler("k")
    def handle(payload: Any, ctx: JobContext) -> None:
        ctx.step("a", lambda: None)
        ctx.step(payload["name"], lambda: "x" * payload["size"])

    worker.start()
    for name, size, words in (
        ("a", 1, "give each its own id"),
        ("no spaces", 1, "letters, digits"),
        ("b", 2_000_000, "over 1 MiB"),
    ):
        failure = run("k", {"name": name, "size": size}, max_attempts=1).failure
        assert failure is not None
        assert words in failure.message


def test_an_operator_may_have_an_ended_job_go_on_from_a_step(
    plane: ControlPlane, make_worker: MakeWorker, holdfast: Holdfast, run: Run
) -> None:
    worker = make_worker()
    calls: list[str] = []

    @worker.handler("k")
    def handle(payload: Any, ctx: JobContext) -> None:
        for name in ("a", "b", "c"):
            ctx.step(name, calls.append, name)

    worker.start()
    status = run("k")
    request = {"action": "resume_from_step", "stepId": "b"}
    plane.call("POST", f"/v1/jobs/{status.id}/control", request)
    until = time.monotonic() + 30
    while len(calls) < 5 and time.monotonic() < until:
        time.sleep(0.05)
    assert holdfast.wait(status.id, 20).state is JobState.SUCCEEDED
    assert calls == ["a", "b", "c", "b", "c"]


def test_a_request_for_a_step_that_was_passed_begins_the_handler_again(
    plane: ControlPlane, make_worker: MakeWorker, holdfast: Holdfast, queue: str
) -> None:
    worker = make_worker()
    in_second, go_on = threading.Event(), threading.Event()
    calls: list[str] = []

    @worker.handler("k")
    def handle(payload: Any, ctx: JobContext) -> int:
        def second() -> None:
            calls.append("b")
            in_second.set()
            go_on.wait(30)

        ctx.step("a", calls.append, "a")
        ctx.step("b", second)
        ctx.step("c", calls.append, "c")
        return ctx.attempt

    worker.start()
    job = Job(kind="k", queue=queue)
    holdfast.enqueue(job)
    assert in_second.wait(20)
    request = {"action": "resume_from_step", "stepId": "a"}
    plane.call("POST", f"/v1/jobs/{job.id}/control", request)
    time.sleep(2.5)
    go_on.set()
    assert holdfast.result(job.id, 20) == 1
    assert calls == ["a", "b", "a", "b", "c"]
    assert "task.control.recovery.ack" in [one["type"] for one in holdfast.timeline(job.id)]


def test_a_paused_job_begins_no_further_step(
    plane: ControlPlane, make_worker: MakeWorker, holdfast: Holdfast, queue: str
) -> None:
    worker = make_worker()
    in_first, go_on = threading.Event(), threading.Event()
    calls: list[str] = []

    @worker.handler("k")
    def handle(payload: Any, ctx: JobContext) -> None:
        def first() -> None:
            in_first.set()
            go_on.wait(30)

        ctx.step("a", first)
        ctx.step("b", calls.append, "b")

    worker.start()
    job = Job(kind="k", queue=queue)
    holdfast.enqueue(job)
    assert in_first.wait(20)
    until(lambda: is_running(plane, job.id, "a"))
    plane.call("POST", f"/v1/jobs/{job.id}/control", {"action": "pause"})
    time.sleep(2.5)
    go_on.set()
    time.sleep(1)
    assert calls == []
    plane.call("POST", f"/v1/jobs/{job.id}/control", {"action": "resume"})
    assert holdfast.wait(job.id, 20).state is JobState.SUCCEEDED
    assert calls == ["b"]
