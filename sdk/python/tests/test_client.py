from __future__ import annotations

import threading
import time
from datetime import datetime, timedelta, timezone

import pytest
from conformance.plane import ControlPlane
from conformance.proxy import Exchange, FaultProxy, Response
from conftest import until

from holdfast import (
    Cancellation,
    Holdfast,
    Job,
    JobFailedException,
    JobState,
    KeyRefusedException,
    NotFoundException,
    RefusedException,
    ServerUnavailableException,
    Worker,
)


def test_an_enqueued_job_is_durable_and_shows_what_was_handed_in(
    holdfast: Holdfast, queue: str
) -> None:
    deadline = datetime.now(timezone.utc) + timedelta(hours=1)
    job = Job(kind="k", payload={"ü": [1, None]}, queue=queue, delay=60, deadline=deadline)
    assert holdfast.enqueue(job).id == job.id
    status = holdfast.get(job.id)
    assert (status.kind, status.queue, status.state) == ("k", queue, JobState.PENDING)
    assert status.payload == {"ü": [1, None]}
    assert status.created_at.tzinfo is not None


def test_the_same_job_enqueued_twice_is_one_job(holdfast: Holdfast, queue: str) -> None:
    job = Job(kind="k", queue=queue)
    first, second = holdfast.enqueue(job), holdfast.enqueue(job)
    assert first.id == second.id == job.id
    assert len(list(holdfast.jobs(queue=queue))) == 1


def test_many_jobs_are_enqueued_at_once_and_listed_page_by_page(
    holdfast: Holdfast, queue: str
) -> None:
    jobs = [Job(kind="k", queue=queue) for _ in range(120)]
    assert [one.id for one in holdfast.enqueue(jobs)] == [job.id for job in jobs]
    assert {one.id for one in holdfast.jobs(queue=queue, limit=50)} == {job.id for job in jobs}
    assert holdfast.enqueue([]) == []


def test_an_enqueue_whose_answer_was_lost_makes_one_job(
    plane: ControlPlane, holdfast: Holdfast, proxy: FaultProxy, queue: str
) -> None:
    def lose_first(exchange: Exchange) -> Response | None:
        response = exchange.forward()
        return response if len(proxy.exchanges) > 1 else None

    proxy.rule = lose_first
    job = Job(kind="k", queue=queue)
    assert Holdfast(proxy.url, plane.admin_key).enqueue(job).id == job.id
    assert len(proxy.exchanges) == 2
    assert len(list(holdfast.jobs(queue=queue))) == 1


def test_a_job_that_is_not_there_is_none(holdfast: Holdfast) -> None:
    assert holdfast.find("01a1e9d0-d164-744c-8168-ef0f33f8838b") is None
    with pytest.raises(NotFoundException, match="not_found"):
        holdfast.get("01a1e9d0-d164-744c-8168-ef0f33f8838b")


def test_a_wait_ends_with_the_timeout(holdfast: Holdfast, queue: str) -> None:
    job = Job(kind="k", queue=queue)
    holdfast.enqueue(job)
    with pytest.raises(TimeoutError, match="PENDING"):
        holdfast.wait(job.id, 0.3)


def test_cancel_and_retry(holdfast: Holdfast, queue: str) -> None:
    job = Job(kind="k", queue=queue)
    holdfast.enqueue(job)
    pending = Cancellation(job.id, JobState.PENDING, "CANCELLED")
    assert holdfast.cancel(job.id, "not needed") == pending
    with pytest.raises(JobFailedException, match="not needed"):
        holdfast.result(job.id, 5)
    ended = Cancellation(job.id, JobState.CANCELLED, "ALREADY_TERMINAL")
    assert holdfast.cancel(job.id) == ended
    assert holdfast.retry(job.id).state is JobState.PENDING
    with pytest.raises(RefusedException, match="job_not_retryable"):
        holdfast.retry(job.id)


def test_a_refused_job_says_which_field_is_wrong(holdfast: Holdfast, queue: str) -> None:
    with pytest.raises(RefusedException, match="priority"):
        holdfast.enqueue(Job(kind="k", queue=queue, priority=17))


def test_a_wrong_key_says_what_to_do(plane: ControlPlane, queue: str) -> None:
    with pytest.raises(KeyRefusedException, match="holdfast keys create"):
        Holdfast(plane.url, "hf_000000000000_wrong").enqueue(Job(kind="k", queue=queue))
    worker = Worker(queue, url=plane.url, api_key="hf_000000000000_wrong")
    worker.handler("k")(lambda payload: None)
    with pytest.raises(KeyRefusedException, match="holdfast keys create"):
        worker.run()


def test_a_server_that_is_away_is_waited_for_and_then_named() -> None:
    client = Holdfast("http://127.0.0.1:9", retry_for=0.5)
    began = time.monotonic()
    with pytest.raises(ServerUnavailableException, match=r"127\.0\.0\.1:9.* is it running"):
        client.get("01a1e9d0-d164-744c-8168-ef0f33f8838b")
    assert time.monotonic() - began < 10
    with pytest.raises(ServerUnavailableException, match="check the address"):
        Holdfast("http://no-such-host.invalid", retry_for=0.1).get("any")


def test_events_go_on_after_the_connection_was_cut(
    plane: ControlPlane, holdfast: Holdfast, queue: str
) -> None:
    client = Holdfast(plane.url, plane.admin_key)
    seen: set[str] = set()
    over = threading.Event()

    def listen() -> None:
        for event in client.events(["queue:jobs"]):
            if over.is_set():
                return
            if event.topic == "queue:jobs":
                seen.update(one["id"] for one in event.data["jobs"])

    def is_heard_of(jobs: list[Job]) -> bool:
        """The stream has the newest jobs of all queues, and others may have many: one will do."""
        jobs.append(Job(kind="k", queue=queue))
        holdfast.enqueue(jobs[-1])
        time.sleep(0.3)
        return any(job.id in seen for job in jobs)

    threading.Thread(target=listen, daemon=True).start()
    for _ in range(2):
        made: list[Job] = []
        until(lambda made=made: is_heard_of(made), 120)  # type: ignore[misc]
        client.close()  # cuts the connection; the iterator makes another one
    over.set()
