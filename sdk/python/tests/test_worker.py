"""Handlers and what they return, fail with and report."""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

import computing
import pytest
from conformance.plane import ControlPlane
from conformance.proxy import FaultProxy
from conftest import MakeWorker, Run, until

from holdfast import FailedException, FailureCategory, Holdfast, Job, JobContext, JobState, Worker


def test_plain_async_and_process_handlers_return_results(make_worker: MakeWorker, run: Run) -> None:
    worker = make_worker()

    @worker.handler("plain")
    def plain(payload: Any) -> Any:
        return payload

    @worker.handler("async")
    async def waiting(payload: Any, ctx: JobContext) -> Any:
        await asyncio.sleep(0.01)
        return [payload, ctx.attempt]

    worker.handler("double", process=True)(computing.double)
    worker.start()
    assert run("plain", {"a": "ü"}).result == {"a": "ü"}
    assert run("async", 7).result == [7, 1]
    computed = run("double", {"n": 21}).result
    assert computed["n"] == 42
    assert computed["pid"] != os.getpid()
    assert run("double", {"n": 1}).result == {"n": 2, "pid": computed["pid"]}


def test_progress_log_and_events_are_there_when_the_job_has_ended(
    make_worker: MakeWorker, run: Run, holdfast: Holdfast
) -> None:
    worker = make_worker()

    @worker.handler("k")
    def handle(payload: Any, ctx: JobContext) -> None:
        ctx.event("mine", {"x": 1})
        ctx.progress(40, "two fifths")
        for n in range(3000):
            ctx.log(f"line {n} ü")

    worker.handler("double", process=True)(computing.double)
    worker.start()
    status = run("k")
    assert (status.progress, status.progress_message) == (40, "two fifths")
    lines = holdfast.log(status.id).splitlines()
    assert lines[-1] == "line 2999 ü"
    assert lines == [f"line {n} ü" for n in range(3000 - len(lines), 3000)]
    assert "mine" in [event["type"] for event in holdfast.timeline(status.id)]
    status = run("double", {"n": 1})
    assert holdfast.log(status.id) == "from the process\n"
    assert "computed" in [event["type"] for event in holdfast.timeline(status.id)]


def test_a_handler_knows_its_job(make_worker: MakeWorker, run: Run, queue: str) -> None:
    worker = make_worker()

    @worker.handler("k")
    def handle(payload: Any, ctx: JobContext) -> Any:
        job = ctx.job
        if ctx.attempt == 1:
            raise FailedException(FailureCategory.INFRASTRUCTURE, "BUSY", "once", retry_after=0)
        assert job.deadline is not None
        assert job.last_failure is not None
        ahead = (job.deadline - job.enqueued_at).total_seconds()
        known = [job.tenant, job.workspace, job.run_key, job.asset_id, job.partition_key]
        return [job.id, job.queue, job.run, *known, job.resources, list(job.tags), job.failures,
                job.max_attempts, job.last_failure["code"], ahead > 3000]  # fmt: skip

    worker.start()
    status = run(
        "k", max_attempts=4, deadline=datetime.now(timezone.utc) + timedelta(hours=1),
        run_key="mine", asset_id="a", partition_key="p", resources={"cpu": 2}, tags=("t",),
    )  # fmt: skip
    assert status.result == [
        status.id, queue, status.id, "default", "default", "mine", "a", "p", {"cpu": 2}, ["t"], 1,
        4, "BUSY", True,
    ]  # fmt: skip


@dataclass
class Resize:
    width: int
    height: int = 10


def test_payloads_become_dataclasses_and_grow_without_harm(
    make_worker: MakeWorker, run: Run
) -> None:
    worker = make_worker()

    @worker.handler("resize", payload=Resize)
    def resize(size: Resize) -> int:
        return size.width * size.height

    worker.start()
    assert run("resize", {"width": 3, "newer": True}).result == 30
    failure = run("resize", {"height": 3}).failure
    assert failure is not None
    assert (failure.code, failure.retryable) == ("VALIDATION", False)


def test_failures_carry_category_code_and_stack_trace(make_worker: MakeWorker, run: Run) -> None:
    worker = make_worker()

    @worker.handler("bug")
    def bug(payload: Any) -> None:
        raise KeyError("column")

    @worker.handler("known")
    def known(payload: Any) -> None:
        raise FailedException(FailureCategory.DATA_QUALITY, "BAD_ROW", "row 7")

    @worker.handler("unfit")
    def unfit(payload: Any) -> Any:
        return {1, 2}

    worker.start()
    first = run("bug", max_attempts=2)
    assert first.attempt == 2
    assert first.failure is not None
    assert "KeyError: 'column'" in first.failure.message
    assert "test_worker.py" in (first.failure.stack_trace or "")
    second = run("known")
    assert second.attempt == 1
    assert second.failure is not None
    assert (second.failure.code, second.failure.message) == ("BAD_ROW", "row 7")
    third = run("unfit").failure
    assert third is not None
    assert third.code == "RESULT_NOT_JSON"


def test_one_result_that_the_server_refuses_does_not_hold_up_the_others(
    make_worker: MakeWorker, holdfast: Holdfast, queue: str
) -> None:
    worker = make_worker(concurrency=20)

    @worker.handler("k")
    def handle(payload: Any) -> str:
        return "a\0b" if payload == 3 else "fine"

    jobs = [Job(kind="k", payload=n, queue=queue) for n in range(10)]
    holdfast.enqueue(jobs)
    worker.start()
    states = [holdfast.wait(job.id, 30).state.value for job in jobs]
    assert states == ["FAILED" if n == 3 else "SUCCEEDED" for n in range(10)]
    failure = holdfast.get(jobs[3].id).failure
    assert failure is not None
    assert failure.code == "RESULT_NOT_JSON"


def test_texts_that_cannot_be_sent_hold_up_nothing(make_worker: MakeWorker, run: Run) -> None:
    worker = make_worker()

    @worker.handler("k")
    def handle(payload: Any, ctx: JobContext) -> Any:
        ctx.log("a\0b \ud800")
        ctx.progress(5, "\ud800")
        if payload == "raise":
            raise ValueError("a\0b \ud800")
        return "\ud800"

    worker.start()
    for payload, code in (("raise", "RETRIES_EXHAUSTED"), ("return", "RESULT_NOT_JSON")):
        failure = run("k", payload, max_attempts=1).failure
        assert failure is not None
        assert failure.code == code
    until(lambda: worker.stats()["unsettled"] == 0)


def test_a_snooze_comes_back_without_using_budget(make_worker: MakeWorker, run: Run) -> None:
    worker = make_worker()

    @worker.handler("k")
    def handle(payload: Any, ctx: JobContext) -> int:
        if ctx.attempt < 3:
            raise ctx.snooze(0.2)
        return ctx.attempt

    worker.start()
    status = run("k", max_attempts=1)
    assert (status.result, status.failures) == (3, 0)


@pytest.mark.slow
def test_a_kind_without_handler_is_left_for_another_worker(
    make_worker: MakeWorker, holdfast: Holdfast, queue: str
) -> None:
    one, other = make_worker(), make_worker(unknown_kinds=0.5)
    one.handler("known")(lambda payload: None)
    one.start()
    job = Job(kind="later", queue=queue)
    holdfast.enqueue(job)
    until(lambda: one.stats()["settled"] >= 1)
    other.handler("later")(lambda payload: "here")
    one.close()
    other.start()
    status = holdfast.wait(job.id, 30)
    assert (status.state, status.failures) == (JobState.SUCCEEDED, 0)


@pytest.mark.slow
def test_a_kind_that_nobody_knows_fails_in_the_end(make_worker: MakeWorker, run: Run) -> None:
    worker = make_worker(unknown_kinds=0.5)
    worker.handler("known")(lambda payload: None)
    worker.start()
    failure = run("unknown").failure
    assert failure is not None
    assert failure.code == "NO_HANDLER"
    assert "known" in failure.message


@pytest.mark.slow
def test_several_queues_are_served_in_turn(
    plane: ControlPlane, holdfast: Holdfast, queue: str
) -> None:
    other = f"{queue}-b"
    worker = Worker(queue, other, url=plane.url, api_key=plane.worker_key, concurrency=1)
    order: list[str] = []
    worker.handler("k")(lambda payload, ctx: order.append(ctx.job.queue))
    holdfast.enqueue([Job(kind="k", queue=name) for name in (queue, other) for _ in range(4)])
    with worker:
        until(lambda: len(order) == 8)
        late = Job(kind="k", queue=other, delay=1.5)
        holdfast.enqueue(late)
        holdfast.wait(late.id, 20)
    assert set(order[:2]) == {queue, other}


def test_a_handler_that_computes_does_not_starve_heartbeats(
    make_worker: MakeWorker, run: Run, proxy: FaultProxy
) -> None:
    """It holds the interpreter for as long as it may; others get it every few milliseconds."""
    worker = make_worker(url=proxy.url)

    def heartbeats() -> int:
        return sum(one.path.endswith("/heartbeat") and bool(one.status) for one in proxy.exchanges)

    @worker.handler("compute")
    def compute(payload: Any) -> int:
        before, rounds = heartbeats(), 0
        while rounds % 10_000 != 0 or heartbeats() < before + 3:
            rounds += 1
        return rounds

    worker.start()
    status = run("compute", timeout=60)
    assert status.state is JobState.SUCCEEDED
    assert (status.attempt, status.crashes) == (1, 0)


@pytest.mark.slow
def test_ten_thousand_jobs_cost_less_than_half_a_millisecond_each(
    make_worker: MakeWorker, holdfast: Holdfast, queue: str
) -> None:
    """2,000 jobs a second for one process; by CPU time, since the machine may be busy."""
    worker = make_worker(concurrency=300, lease=60.0)

    @worker.handler("noop")
    def noop(payload: Any) -> None:
        return None

    holdfast.enqueue([Job(kind="noop", queue=queue) for _ in range(10_000)])
    clock, cpu = time.monotonic(), time.process_time()
    worker.start()
    until(lambda: worker.stats()["settled"] == 10_000, 120)
    spent = time.process_time() - cpu
    print(f"{10_000 / (time.monotonic() - clock):,.0f} jobs/s, {spent / 10:.3f} ms CPU each")
    assert spent / 10_000 < 0.0005
