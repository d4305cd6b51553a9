"""Cancels, lost leases and shutdown."""

from __future__ import annotations

import signal
import time

from .plane import GRACE, LEASE
from .proxy import Exchange, Response, pass_on
from .registry import scenario
from .stage import Stage


@scenario(quick=True, shared=True)
def cancel_in_time(stage: Stage) -> None:
    """A cancel stops the handler within the grace period, and the job is CANCELLED."""
    stage.worker()
    id_ = stage.enqueue("sleep", {"ms": 60_000})
    stage.begun(id_)
    stage.plane.call("POST", f"/v1/jobs/{id_}/cancel", {"reason": "not needed"})
    stage.expect(id_, state="CANCELLED", attempt=1)
    stage.await_note("stopped", id_)
    stage.alive()


@scenario()
def cancel_too_late(stage: Stage) -> None:
    """A handler that does not stop in time ends as CANCEL_TIMEOUT; its result is not taken."""
    stage.worker()
    # Long after the grace period, which begins when the server is asked to cancel.
    id_ = stage.enqueue("block", {"ms": round(GRACE * 1_000) + 20_000})
    stage.begun(id_)
    stage.plane.call("POST", f"/v1/jobs/{id_}/cancel", {"reason": "not needed"})
    job = stage.ended(id_)
    # A worker that can kill its handler may be in time.
    if job["state"] == "FAILED":
        code = job["failure"]["code"]
        stage.check(code == "CANCEL_TIMEOUT", f"the failure is {code}")
        stage.await_note("end", id_)
    else:
        stage.check(job["state"] == "CANCELLED", f"the job is {job['state']}")
    stage.alive()
    stage.check(stage.state(id_) == job["state"], "the late result was taken")


@scenario()
def cancel_before_start(stage: Stage) -> None:
    """A job that is cancelled while its lease is on the way does not run to its end."""
    cancelled: list[str] = []

    def slow_lease(exchange: Exchange) -> Response | None:
        response = exchange.forward()
        if exchange.is_lease and b'"taskId"' in response.body and not cancelled:
            cancelled.append(id_)
            stage.plane.call("POST", f"/v1/jobs/{id_}/cancel", {"reason": "early"})
        return response

    stage.proxy.rule = slow_lease
    id_ = stage.enqueue("sleep", {"ms": 60_000})
    stage.worker()
    stage.expect(id_, state="CANCELLED", attempt=1)
    stage.alive()
    stopped = "the handler to stop, if it was begun"
    stage.until(lambda: stage.count("begin", id_) == stage.count("stopped", id_), stopped)


@scenario()
def lease_lost(stage: Stage) -> None:
    """A worker that was cut off stops the handler of an attempt that it no longer holds."""
    stage.worker()
    id_ = stage.enqueue("sleep", {"ms": 60_000, "later": 200})
    stage.begun(id_)
    stage.proxy.cut()
    stage.until(lambda: stage.state(id_) != "RUNNING", "the job to be taken back")
    stage.proxy.rule = pass_on
    stage.await_note("stopped", id_)
    job = stage.expect_later_attempt(id_)
    stage.check(job["result"] == {"attempt": job["attempt"]}, f"the result is {job['result']}")


@scenario(quick=True)
def lease_lost_by_heartbeat(stage: Stage) -> None:
    """A handler stops when nothing but a heartbeat tells that its lease was lost."""
    # With one place it claims nothing meanwhile, from which it could learn the same.
    stage.worker(concurrency=1)
    id_ = stage.enqueue("sleep", {"ms": 600_000, "later": 100})
    stage.begun(id_)
    stage.release(id_)
    stage.await_note("stopped", id_)
    job = stage.expect_later_attempt(id_, crashes=0)
    stage.check(job["result"] == {"attempt": job["attempt"]}, f"the result is {job['result']}")


@scenario()
def result_refused(stage: Stage) -> None:
    """A result that comes after the lease was lost is refused, and the worker goes on."""
    stage.worker()
    id_ = stage.enqueue("block", {"ms": round(LEASE * 1_000) + 4_000, "later": 100})
    stage.begun(id_)
    stage.proxy.cut()
    stage.until(lambda: stage.state(id_) != "RUNNING", "the job to be taken back")
    stage.await_note("end", id_)
    stage.proxy.rule = pass_on
    job = stage.expect_later_attempt(id_)
    stage.check(job["result"] == {"attempt": job["attempt"]}, f"the result is {job['result']}")
    stage.alive()


@scenario()
def shutdown_during_work(stage: Stage) -> None:
    """SIGTERM lets the running job finish, takes no other, and ends the program with code 0."""
    worker = stage.worker(concurrency=1, shutdown_ms=60_000)
    running = stage.enqueue("sleep", {"ms": 5_000})
    stage.begun(running)
    worker.signal(signal.SIGTERM)
    time.sleep(0.5)
    waiting = stage.enqueue("echo", {"n": 1})
    code = worker.exit_code(stage.timeout)
    stage.check(code == 0, f"the worker program ended with code {code}")
    stage.expect(running, state="SUCCEEDED", attempt=1, result={"attempt": 1})
    stage.check(stage.count("begin", waiting) == 0, "a job was begun after SIGTERM")
    stage.worker()
    stage.expect(waiting, state="SUCCEEDED", crashes=0)


@scenario()
def shutdown_gives_back(stage: Stage) -> None:
    """A job that outlasts the shutdown timeout is told to stop and released, not lost."""
    worker = stage.worker(shutdown_ms=1_000)
    id_ = stage.enqueue("sleep", {"ms": 600_000, "later": 100})
    stage.begun(id_)
    worker.signal(signal.SIGTERM)
    code = worker.exit_code(stage.timeout)
    stage.check(code == 0, f"the worker program ended with code {code}")
    stage.check(stage.job(id_)["state"] != "RUNNING", "the job is still held")
    stage.worker()
    job = stage.expect_later_attempt(id_, crashes=0)
    stage.check(job["result"] == {"attempt": job["attempt"]}, f"the result is {job['result']}")
