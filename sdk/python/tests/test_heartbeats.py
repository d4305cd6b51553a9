"""What is logged when heartbeats fail; one server that is away does not harm another."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from conformance.plane import ControlPlane
from conformance.proxy import Exchange, FaultProxy, Response
from conftest import MakeWorker, until

from holdfast import Holdfast, Job
from holdfast.attempt import Attempt
from holdfast.http import Http
from holdfast.model import new_id
from holdfast.tasks import TaskSource


class Heartbeats:
    """A proxy that fails the next heartbeats, and a worker behind it with a job that waits."""

    def __init__(
        self, plane: ControlPlane, proxy: FaultProxy, make_worker: MakeWorker, queue: str
    ) -> None:
        self.to_fail = 0
        self.failed = 0
        self.answered = 0
        self.status = 503
        self.leave = threading.Event()
        proxy.rule = self._rule
        worker = make_worker(url=proxy.url)

        @worker.handler("k")
        def handle(payload: Any) -> None:
            self.leave.wait(60)

        worker.start()
        self.job = Job("k", queue=queue)

    def _rule(self, exchange: Exchange) -> Response | None:
        if exchange.path != "/v1/leases/heartbeat":
            return exchange.forward()
        if self.failed < self.to_fail:
            self.failed += 1
            return Response.problem(self.status, "unavailable")
        response = exchange.forward()
        self.answered += 1
        return response

    def fail(self, times: int) -> None:
        """So many in a row, and one that is answered."""
        self.to_fail, self.failed = times, 0
        until(lambda: self.failed == times)
        before = self.answered
        until(lambda: self.answered > before)


@pytest.fixture
def heartbeats(
    plane: ControlPlane,
    proxy: FaultProxy,
    make_worker: MakeWorker,
    queue: str,
    holdfast: Holdfast,
    caplog: pytest.LogCaptureFixture,
) -> Iterator[Heartbeats]:
    caplog.set_level(logging.INFO, "holdfast")
    made = Heartbeats(plane, proxy, make_worker, queue)
    holdfast.enqueue(made.job)
    yield made
    made.leave.set()


def lines(caplog: pytest.LogCaptureFixture, least: int = logging.WARNING) -> list[str]:
    return [one.getMessage() for one in caplog.records if one.levelno >= least]


def test_three_failed_heartbeats_in_a_row_are_tolerated(
    heartbeats: Heartbeats, caplog: pytest.LogCaptureFixture
) -> None:
    heartbeats.fail(3)
    heartbeats.fail(3)
    assert lines(caplog) == []
    assert not [one for one in lines(caplog, logging.INFO) if "RECOVERED" in one]


def test_the_fourth_failed_heartbeat_logs_one_warning_and_the_recovery_one_notice(
    heartbeats: Heartbeats, caplog: pytest.LogCaptureFixture
) -> None:
    heartbeats.fail(7)
    (warning,) = lines(caplog)
    assert re.match(r"HEARTBEAT_DEGRADED: \d+ heartbeats in a row failed for 1 job;", warning)
    # More than seven failures on a busy machine, where one that takes long counts as several.
    notice = "HEARTBEAT_RECOVERED: heartbeats work again after "
    until(lambda: any(one.startswith(notice) for one in lines(caplog, logging.INFO)))
    heartbeats.fail(4)
    assert [one[:18] for one in lines(caplog)] == ["HEARTBEAT_DEGRADED"] * 2


def test_the_recovery_is_logged_also_when_no_job_is_left(
    heartbeats: Heartbeats, caplog: pytest.LogCaptureFixture, holdfast: Holdfast
) -> None:
    heartbeats.to_fail = 1_000
    until(lambda: heartbeats.failed > 3)
    heartbeats.leave.set()
    holdfast.wait(heartbeats.job.id, 30)
    until(lambda: any("HEARTBEAT_RECOVERED" in one for one in lines(caplog, logging.INFO)))


def test_refused_heartbeats_are_an_error_that_is_logged_once(
    heartbeats: Heartbeats, caplog: pytest.LogCaptureFixture
) -> None:
    heartbeats.status = 422
    heartbeats.fail(6)
    refused, degraded = lines(caplog)
    assert "422" in refused
    assert degraded.startswith("HEARTBEAT_DEGRADED")


def test_a_server_that_is_away_does_not_hold_up_heartbeats_to_another(
    plane: ControlPlane,
    proxy: FaultProxy,
    make_worker: MakeWorker,
    queue: str,
    holdfast: Holdfast,
) -> None:
    """A pushed task names its server, which may be another than that of the queues."""
    worker = make_worker()
    leave = threading.Event()

    @worker.handler("k")
    def handle(payload: Any) -> None:
        leave.wait(60)

    away = threading.Event()
    proxy.rule = lambda exchange: None if away.is_set() else exchange.forward()
    worker.start()
    keeper = worker._engine.keeper
    job = Job("k", queue=queue)
    holdfast.enqueue(job)
    until(lambda: len(keeper.held()) == 1)
    (attempt,) = keeper.held()
    other = Http(proxy.url, plane.worker_key)
    elsewhere = Attempt(
        attempt.job.envelope | {"taskId": new_id()}, TaskSource(other, "w"), "w", 0.0
    )
    away.set()
    with keeper._lock:  # it comes first
        keeper._held = {(elsewhere.id, 1): elsewhere, (attempt.id, attempt.number): attempt}
    until(lambda: len(proxy.exchanges) > 3)
    beat_at = attempt.beat_at
    until(lambda: attempt.beat_at > beat_at)
    leave.set()
    assert holdfast.wait(job.id, 30).attempt == 1
    keeper.remove(elsewhere)
