from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import computing
import pytest
from conformance.plane import ControlPlane
from conformance.proxy import Exchange, FaultProxy, Response
from conftest import Run

from holdfast import (
    CancelledException,
    FailedException,
    FailureCategory,
    Holdfast,
    Job,
    JobContext,
    JobState,
    LeaseLostException,
    Worker,
)
from holdfast.attempt import Attempt
from holdfast.stop import StopKind

MakeWorker = Callable[..., Worker]


def until(condition: Callable[[], bool], patience: float = 30.0) -> None:
    end = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


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
    assert worker.stats()["unsettled"] == 0


def test_a_stop_reaches_only_the_attempt_it_is_meant_for(
    make_worker: MakeWorker, holdfast: Holdfast, queue: str, run: Run
) -> None:
    """Its process may be at another job when a late reason to stop comes."""
    worker = make_worker(concurrency=1)
    worker.handler("double", process=True)(computing.double)
    worker.handler("slow", process=True)(computing.slow)
    keeper = worker._engine.keeper
    attempts: list[Attempt] = []
    add = keeper.add

    def remember(some: Iterable[Attempt]) -> None:
        attempts.extend(some)
        add(attempts[-1:])

    keeper.add = remember  # type: ignore[assignment, method-assign]
    worker.start()
    first = run("double", {"n": 1})
    job = Job(kind="slow", queue=queue)
    holdfast.enqueue(job)
    until(lambda: len(attempts) == 2)
    time.sleep(0.5)
    attempts[0].signal.stop(StopKind.LEASE_LOST, "late")
    status = holdfast.wait(job.id, 30)
    assert (status.attempt, status.result) == (1, first.result["pid"])


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
def test_a_timeout_stops_the_handler_and_fails_the_attempt(
    make_worker: MakeWorker, run: Run
) -> None:
    worker = make_worker()

    @worker.handler("k")
    def handle(payload: Any, ctx: JobContext) -> None:
        ctx.sleep(60)

    worker.start()
    status = run("k", timeout=0.5, max_attempts=1)
    assert status.state is JobState.FAILED
    assert status.failure is not None
    assert "ATTEMPT_TIMEOUT" in status.failure.message


def test_a_cancel_is_a_flag_an_exception_and_a_callback(
    make_worker: MakeWorker, holdfast: Holdfast, queue: str
) -> None:
    worker = make_worker()
    begun = threading.Semaphore(0)
    called: list[str] = []
    raised: list[BaseException] = []

    @worker.handler("flag")
    def flag(payload: Any, ctx: JobContext) -> None:
        ctx.on_cancel(lambda: called.append(ctx.cancel_reason or ""))
        begun.release()
        while not ctx.is_cancelled:
            time.sleep(0.01)
        ctx.on_cancel(lambda: called.append("at once"))
        ctx.check_cancelled()

    @worker.handler("async")
    async def waiting(payload: Any) -> None:
        begun.release()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError as cancelled:
            raised.append(cancelled)
            raise

    worker.handler("process", process=True)(computing.cooperative)
    worker.start()
    jobs = [Job(kind=kind, queue=queue) for kind in ("flag", "async", "process")]
    holdfast.enqueue(jobs)
    begun.acquire()
    begun.acquire()
    until(lambda: holdfast.get(jobs[2].id).state is JobState.RUNNING)
    for job in jobs:
        holdfast.cancel(job.id, "no longer needed")
    for job in jobs:
        assert holdfast.wait(job.id, 30).state is JobState.CANCELLED
    assert called == ["no longer needed", "at once"]
    assert len(raised) == 1


@pytest.mark.slow
def test_a_process_that_does_not_stop_is_killed_and_its_place_is_free(
    make_worker: MakeWorker, holdfast: Holdfast, queue: str, run: Run
) -> None:
    worker = make_worker(concurrency=1)
    worker.handler("stubborn", process=True)(computing.stubborn)
    worker.handler("double", process=True)(computing.double)
    worker.handler("dies", process=True)(computing.dies)
    worker.start()
    job = Job(kind="stubborn", queue=queue)
    holdfast.enqueue(job)
    until(lambda: holdfast.get(job.id).state is JobState.RUNNING)
    time.sleep(1)
    holdfast.cancel(job.id)
    assert holdfast.wait(job.id, 30).state is JobState.CANCELLED
    failure = run("dies", max_attempts=1).failure
    assert failure is not None
    assert "exit code 7" in failure.message
    assert run("double", {"n": 2}).result["n"] == 4


@pytest.mark.slow
def test_a_thread_that_does_not_stop_is_given_up_and_its_place_is_free(
    make_worker: MakeWorker, holdfast: Holdfast, queue: str, run: Run
) -> None:
    worker = make_worker(concurrency=1)
    leave = threading.Event()

    @worker.handler("stubborn")
    def stubborn(payload: Any) -> str:
        leave.wait(60)
        return "late"

    @worker.handler("echo")
    def echo(payload: Any) -> Any:
        return payload

    worker.start()
    job = Job(kind="stubborn", queue=queue)
    holdfast.enqueue(job)
    until(lambda: holdfast.get(job.id).state is JobState.RUNNING)
    holdfast.cancel(job.id)
    status = holdfast.wait(job.id, 30)
    assert status.failure is not None
    assert status.failure.code == "CANCEL_TIMEOUT"
    assert run("echo", 1).result == 1
    assert worker.stats()["given_up"] == 1
    leave.set()
    assert run("echo", 2).result == 2
    assert holdfast.get(job.id).state is JobState.FAILED


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


def test_leases_whose_answer_was_lost_are_given_back_at_once(
    plane: ControlPlane, make_worker: MakeWorker, proxy: FaultProxy, run: Run
) -> None:
    lost: list[bytes] = []

    def lose_first_job(exchange: Exchange) -> Response | None:
        response = exchange.forward()
        if exchange.path.endswith("/lease") and b'"taskId"' in response.body and not lost:
            lost.append(response.body)
            return None
        return response

    proxy.rule = lose_first_job
    worker = make_worker(url=proxy.url, lease=60.0)
    worker.handler("k")(lambda payload: None)
    worker.start()
    status = run("k")
    assert (status.attempt, status.crashes) == (2, 0)


def test_a_strict_handler_stops_when_its_lease_may_have_run_out(
    make_worker: MakeWorker, proxy: FaultProxy, holdfast: Holdfast, queue: str
) -> None:
    worker = make_worker(url=proxy.url, lease=2.0)
    stopped: list[BaseException] = []

    @worker.handler("k", strict=True)
    def handle(payload: Any, ctx: JobContext) -> None:
        if ctx.attempt > 1:
            return
        try:
            ctx.sleep(60)
        except CancelledException as cancelled:
            stopped.append(cancelled)
            raise

    worker.start()
    job = Job(kind="k", queue=queue)
    holdfast.enqueue(job)
    until(lambda: worker.stats()["running"] == 1)
    rule = proxy.rule
    proxy.cut()
    until(lambda: len(stopped) == 1, 10)
    assert isinstance(stopped[0], LeaseLostException)
    proxy.rule = rule
    assert holdfast.wait(job.id, 60).state is JobState.SUCCEEDED


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


def test_close_waits_for_running_jobs_and_gives_the_rest_back(
    make_worker: MakeWorker, holdfast: Holdfast, queue: str
) -> None:
    worker = make_worker(shutdown_timeout=1.5)
    begun = threading.Semaphore(0)

    @worker.handler("short")
    def short(payload: Any) -> str:
        begun.release()
        time.sleep(0.7)
        return "done"

    @worker.handler("long")
    def long(payload: Any, ctx: JobContext) -> None:
        begun.release()
        ctx.sleep(60)

    @worker.handler("stubborn")
    def stubborn(payload: Any) -> None:
        begun.release()
        time.sleep(30)

    worker.start()
    jobs = [Job(kind=kind, queue=queue) for kind in ("short", "long", "stubborn")]
    holdfast.enqueue(jobs)
    for _ in jobs:
        begun.acquire()
    worker.close()
    assert holdfast.get(jobs[0].id).result == "done"
    for job in jobs[1:]:
        status = holdfast.get(job.id)
        assert (status.state, status.crashes, status.failures) == (JobState.PENDING, 0, 0)


def test_run_ends_with_sigterm_and_restores_the_signal_handlers(make_worker: MakeWorker) -> None:
    worker = make_worker()
    worker.handler("k")(lambda payload: None)
    before = signal.getsignal(signal.SIGTERM)
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGTERM)).start()
    worker.run()
    assert signal.getsignal(signal.SIGTERM) is before


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
