"""Stops of attempts and workers: cancels, timeouts, lost leases, shutdown."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from collections.abc import Iterable
from typing import Any

import computing
import pytest
from conformance.plane import ControlPlane
from conformance.proxy import Exchange, FaultProxy, Response
from conftest import MakeWorker, Run, until

from holdfast import CancelledException, Holdfast, Job, JobContext, JobState, LeaseLostException
from holdfast.attempt import Attempt
from holdfast.stop import StopKind


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


@pytest.mark.slow
def test_a_timeout_stops_the_handler_and_fails_the_attempt(
    make_worker: MakeWorker, run: Run
) -> None:
    worker = make_worker()

    @worker.handler("k")
    def handle(payload: Any, ctx: JobContext) -> None:
        ctx.idle(60)

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
def test_a_process_that_does_not_stop_is_killed_and_its_slot_is_free(
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
def test_a_thread_that_does_not_stop_is_abandoned_and_its_slot_is_free(
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


def test_leases_whose_answer_was_lost_are_released_at_once(
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
            ctx.idle(60)
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


def test_close_waits_for_running_jobs_and_releases_the_rest(
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
        ctx.idle(60)

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
