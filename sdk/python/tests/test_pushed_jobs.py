"""Jobs that a real server pushes to a receiver behind a real web server."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

import pytest
from conformance.plane import ControlPlane
from conftest import Run

from holdfast import Holdfast, Job, JobContext, JobState, Worker

SECRET = "a-secret-of-the-tests"


class Quiet(WSGIRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


def stop_pushing(plane: ControlPlane, queue: str) -> None:
    with contextlib.suppress(RuntimeError):  # it is not pushed any more
        plane.call("DELETE", f"/v1/queues/{queue}/dispatch")


@pytest.fixture
def serve(plane: ControlPlane, queue: str) -> Iterator[Callable[[Worker], None]]:
    """Has the server push the test's queue to a worker."""
    servers: list[Any] = []

    def serve(worker: Worker) -> None:
        server = make_server("127.0.0.1", 0, worker.push(SECRET).wsgi, handler_class=Quiet)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        dispatch = {"url": f"http://127.0.0.1:{server.server_port}/", "secret": SECRET}
        plane.call("PUT", f"/v1/queues/{queue}/dispatch", dispatch)

    yield serve
    stop_pushing(plane, queue)
    for server in servers:
        server.shutdown()


def test_a_pushed_job_has_events_artifacts_and_a_snooze_without_budget(
    serve: Callable[[Worker], None],
    make_worker: Callable[..., Worker],
    holdfast: Holdfast,
    run: Run,
) -> None:
    worker = make_worker()

    @worker.handler("k")
    def handle(payload: Any, ctx: JobContext) -> int:
        if ctx.attempt < 3:
            ctx.event("mine", {"attempt": ctx.attempt})
            raise ctx.snooze(0.01)
        return ctx.publish("out.txt", b"pushed").size

    serve(worker)
    status = run("k", max_attempts=1)
    assert (status.result, status.attempt, status.failures) == (6, 3, 0)
    types = [event["type"] for event in holdfast.timeline(status.id)]
    assert types.count("mine") == 2
    assert holdfast.artifact(status.id, "out.txt") == b"pushed"


def test_a_pushed_job_whose_worker_stops_goes_back_without_using_budget(
    plane: ControlPlane,
    serve: Callable[[Worker], None],
    make_worker: Callable[..., Worker],
    holdfast: Holdfast,
    queue: str,
) -> None:
    worker = make_worker(shutdown_timeout=0.1)
    begun = threading.Event()

    @worker.handler("k")
    def handle(payload: Any, ctx: JobContext) -> None:
        begun.set()
        ctx.idle(60)

    serve(worker)
    job = Job(kind="k", queue=queue, max_attempts=1)
    holdfast.enqueue(job)
    assert begun.wait(30)
    stop_pushing(plane, queue)
    worker.close()
    status = holdfast.get(job.id)
    assert (status.state, status.failures, status.crashes) == (JobState.PENDING, 0, 0)
