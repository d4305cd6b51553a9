"""Payloads and results with types, and which job a line of the log is about."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from dataclasses import dataclass, field
from datetime import datetime, timezone
from enum import Enum
from typing import Any, Literal, Optional

import pydantic
import pytest
from conformance.plane import ControlPlane
from conftest import MakeWorker, Run, until

from holdfast import Holdfast, Job, JobContext, JobLogFilter, Step, Worker, current_job
from holdfast.http import dump
from holdfast.typed import Misfit, read


class Fit(str, Enum):
    COVER = "cover"
    CONTAIN = "contain"


@dataclass
class Size:
    width: int
    height: int = 10


@dataclass
class Resize:
    name: str
    sizes: list[Size]
    at: datetime
    fit: Fit = Fit.COVER
    quality: Optional[float] = None  # noqa: UP045
    mode: Literal["fast", "good"] = "fast"
    options: dict[str, int | None] = field(default_factory=dict)
    box: tuple[int, int] = (0, 0)


class Model(pydantic.BaseModel):
    width: int = pydantic.Field(gt=0, alias="w")
    at: datetime
    sizes: list[Size] = []


AT = datetime(2030, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
RESIZE = Resize("cat", [Size(1), Size(2, 3)], AT, Fit.CONTAIN, 0.5, "good", {"a": None}, (1, 2))
MODEL = Model(w=7, at=AT, sizes=[Size(1, 2)])


def test_typed_payloads_and_results_go_through_the_server(
    make_worker: MakeWorker, run: Run
) -> None:
    worker = make_worker()

    @worker.handler("dataclass", payload=Resize)
    def resize(given: Any) -> Resize:
        assert given == RESIZE
        return given  # type: ignore[no-any-return]

    @worker.handler("annotated")
    async def annotated(given: Model, ctx: JobContext) -> Model:
        assert given == MODEL
        return given

    worker.handler("numbers", payload=list[int])(sum)
    worker.start()
    result = run("dataclass", RESIZE).result
    assert read(Resize, result) == RESIZE
    assert Model.model_validate(run("annotated", MODEL).result) == MODEL
    assert run("numbers", [1, 2]).result == 3
    for kind, payload, words in (
        ("dataclass", {"name": 1}, "field 'name' is 1: it must be str"),
        ("annotated", {"w": 0, "at": "2030-01-01T00:00:00Z"}, "greater than 0"),
        ("numbers", [1, "2"], "field '[1]' is '2': it must be int"),
    ):
        failure = run(kind, payload).failure
        assert failure is not None
        assert failure.code == "VALIDATION"
        assert words in failure.message


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"sizes": [{"height": 1}]}, r"field 'sizes\[0\]\.width' is missing"),
        ({"sizes": {}}, "field 'sizes' is {}: it must be list"),
        ({"at": "yesterday"}, "field 'at': "),
        ({"fit": "none"}, "field 'fit': 'none' is not a valid Fit"),
        ({"quality": "1"}, "field 'quality' is '1': it must be float"),
        ({"quality": True}, "field 'quality' is True"),
        ({"mode": "slow"}, "field 'mode' is 'slow'"),
        ({"options": {"a": "b"}}, "field 'options.a' is 'b': it must be int"),
        ({"box": [1]}, r"field 'box' is \[1\]"),
    ],
)
def test_a_value_that_does_not_fit_says_where(change: dict[str, Any], words: str) -> None:
    whole = {"name": "cat", "sizes": [], "at": "2030-01-01T00:00:00Z", "newer": 1}
    assert read(Resize, whole) == Resize("cat", [], datetime(2030, 1, 1, tzinfo=timezone.utc))
    with pytest.raises(Misfit, match=words):
        read(Resize, whole | change)


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(TypeError, match="set is not JSON serializable"):
        dump({1, 2})


def test_a_typed_step_has_its_type_also_from_the_checkpoint(
    make_worker: MakeWorker, run: Run
) -> None:
    worker = make_worker()

    @worker.handler("typed")
    def typed(payload: Any, ctx: JobContext) -> Any:
        size = ctx.step(Step("measure", result=Size), Size, 3)
        if ctx.attempt == 1:
            raise ctx.snooze(0)
        return [type(size).__name__, size.width]

    @worker.handler("untyped")
    def untyped(payload: Any, ctx: JobContext) -> Any:
        return ctx.step("measure", Size, 3).width

    worker.start()
    assert run("typed").result == ["Size", 3]
    failure = run("untyped", max_attempts=1).failure
    assert failure is not None
    assert "Step('measure', result=Size)" in failure.message


def test_events_and_artifacts_of_async_handlers_hold_up_no_other(
    make_worker: MakeWorker, run: Run, holdfast: Holdfast
) -> None:
    worker = make_worker()

    @worker.handler("k")
    async def handle(payload: Any, ctx: JobContext) -> Any:
        refused = []
        for call in (
            lambda: ctx.event("mine"),
            lambda: ctx.publish("out.txt", b"1"),
            lambda: ctx.idle(0),
        ):
            with pytest.raises(TypeError, match=r"await \S+ instead|await \S+\(…\) instead") as why:
                call()
            refused.append(str(why.value).split(" ")[0])
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)

        ticking = asyncio.create_task(tick())
        await ctx.event_async("mine", {"n": 1})
        artifact = await ctx.publish_async("out.txt", b"content")
        ticking.cancel()
        return [refused, artifact.size, ticks > 2]

    worker.start()
    status = run("k")
    assert status.result == [["ctx.event", "ctx.publish", "ctx.idle"], 7, True]
    assert "mine" in [event["type"] for event in holdfast.timeline(status.id)]
    assert holdfast.artifact(status.id, "out.txt") == b"content"


def test_a_rotated_key_is_taken_without_a_restart(
    plane: ControlPlane, holdfast: Holdfast, queue: str
) -> None:
    def made() -> dict[str, Any]:
        body = {"name": "rotated", "role": "worker"}
        return dict(plane.call("POST", "/v1/keys", body))

    before, after = made(), made()
    key = [before["key"]]
    worker = Worker(queue, url=plane.url, api_key=lambda: key[0], lease=4.0, shutdown_timeout=0.5)
    worker.handler("k")(lambda payload: payload)
    leave = threading.Event()

    @worker.handler("long")
    def long(payload: Any) -> str:
        leave.wait(60)
        return "done"

    with worker:
        job = Job("long", queue=queue)
        holdfast.enqueue(job)
        until(lambda: len(worker._engine.keeper.held()) == 1)
        (attempt,) = worker._engine.keeper.held()
        key[0] = after["key"]
        plane.call("DELETE", f"/v1/keys/{before['id']}")
        revoked_at = time.monotonic()
        until(lambda: attempt.beat_at > revoked_at)
        leave.set()
        assert holdfast.result(job.id, 60) == "done"
        other = Job("k", 1, queue=queue)
        holdfast.enqueue(other)
        assert holdfast.result(other.id, 60) == 1
        assert holdfast.get(job.id).attempt == 1


def test_log_records_of_handlers_have_their_job(
    make_worker: MakeWorker, run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    worker = make_worker()
    log = logging.getLogger("of-the-program")
    caplog.set_level(logging.INFO)
    caplog.handler.addFilter(JobLogFilter())

    @worker.handler("plain")
    def plain(payload: Any) -> None:
        log.info("plain")

    @worker.handler("async")
    async def waits(payload: Any) -> None:
        await asyncio.to_thread(log.info, "async")

    worker.start()
    ids = {kind: run(kind).id for kind in ("plain", "async")}
    log.info("outside")
    seen = {one.getMessage(): one for one in caplog.records if one.name == "of-the-program"}
    for kind, id_ in ids.items():
        record: Any = seen[kind]
        assert (record.job_id, record.job_kind, record.job_attempt) == (id_, kind, 1)
        assert record.in_job == f" [{kind} {id_} attempt 1]"
    outside: Any = seen["outside"]
    assert (outside.job_id, outside.in_job, current_job()) == (None, "", None)
