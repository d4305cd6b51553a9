"""A real server for all tests, and a queue of its own for each."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from conformance.plane import ControlPlane
from conformance.proxy import FaultProxy

from holdfast import Holdfast, Job, JobStatus, Worker


@pytest.fixture(scope="session")
def plane() -> Iterator[ControlPlane]:
    plane = ControlPlane()
    try:
        plane.start()
        yield plane
    finally:
        plane.close()


@pytest.fixture
def queue() -> str:
    return f"q-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def holdfast(plane: ControlPlane) -> Iterator[Holdfast]:
    with Holdfast(plane.url, plane.admin_key) as client:
        yield client


@pytest.fixture
def proxy(plane: ControlPlane) -> Iterator[FaultProxy]:
    proxy = FaultProxy(("127.0.0.1", plane.port))
    yield proxy
    proxy.close()


@pytest.fixture
def make_worker(plane: ControlPlane, queue: str) -> Iterator[MakeWorker]:
    """Makes workers of the test's queue, which are closed after it."""
    made: list[Worker] = []

    def make(**options: Any) -> Worker:
        given: dict[str, Any] = {"url": plane.url, "api_key": plane.worker_key, "lease": 4.0}
        given |= {"shutdown_timeout": 0.5} | options
        made.append(Worker(queue, **given))
        return made[-1]

    yield make
    for worker in made:
        worker.close()


MakeWorker = Callable[..., Worker]
Run = Callable[..., JobStatus]


def until(condition: Callable[[], bool], timeout: float = 30.0) -> None:
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, "the condition did not become true in time"
        time.sleep(0.05)


@pytest.fixture
def run(holdfast: Holdfast, queue: str) -> Run:
    """Hands in one job and waits for its end."""

    def run(kind: str, payload: Any = None, **options: Any) -> JobStatus:
        job = Job(kind=kind, payload={} if payload is None else payload, queue=queue, **options)
        holdfast.enqueue(job)
        return holdfast.wait(job.id, 60)

    return run
