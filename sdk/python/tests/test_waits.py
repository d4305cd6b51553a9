"""What a handler sees of its waits; the scenarios of the conformance kit have the protocol."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
import waiting_in_process
from conformance.plane import ControlPlane
from conftest import MakeWorker, Run, until

from holdfast import (
    Child,
    ChildFailedException,
    FailedException,
    FailureCategory,
    Holdfast,
    Job,
    JobContext,
    JobState,
    JobStatus,
    LeaveHandler,
)
from holdfast.children import child_id
from holdfast.model import new_id
from holdfast.waits import millis

Ended = Callable[[str], JobStatus]


@dataclass
class Contract:
    number: str


@pytest.fixture
def begin(holdfast: Holdfast, queue: str) -> Callable[..., str]:
    def begin(kind: str, payload: Any = None, **options: Any) -> str:
        job = Job(kind, {} if payload is None else payload, queue=queue, **options)
        holdfast.enqueue(job)
        return job.id

    return begin


def waits_for(holdfast: Holdfast, id_: str, wait: str) -> None:
    """Until the job waits under this id."""

    def there() -> bool:
        status = holdfast.get(id_)
        assert not status.state.terminal, status
        return bool((status.raw.get("waitsFor") or {}).get("id") == wait)

    until(there, 60)


def failure_of(status: JobStatus) -> tuple[str, str, str]:
    assert status.failure is not None, status
    return status.failure.category.value, status.failure.code, status.failure.message


def everything(payload: list[str], ctx: JobContext) -> Any:
    ctx.log("begins")
    ctx.sleep("nap", 0.3)
    ctx.sleep_until("past", datetime.now(timezone.utc) - timedelta(hours=1))
    contract = ctx.await_signal("contract", Contract)
    limit = ctx.approve("limit", "Raise it?", details="by 5", within=timedelta(hours=1))
    counts = ctx.map("count", payload, lambda page: Job("count", page), int)
    return [contract.number, limit.approved, limit.by is not None, limit.comment, counts]


async def everything_async(payload: list[str], ctx: JobContext) -> Any:
    ctx.log("begins")
    await ctx.sleep_async("nap", 0.3)
    await ctx.sleep_until_async("past", datetime.now(timezone.utc) - timedelta(hours=1))
    contract = await ctx.await_signal_async("contract", Contract)
    limit = await ctx.approve_async("limit", "Raise it?", within=timedelta(hours=1))
    counts = await ctx.map_async("count", payload, lambda page: Job("count", page), int)
    return [contract.number, limit.approved, limit.by is not None, limit.comment, counts]


@pytest.mark.parametrize("how", ["thread", "async", "process"])
def test_a_handler_waits_for_everything_and_holds_nothing(
    make_worker: MakeWorker, holdfast: Holdfast, begin: Callable[..., str], how: str
) -> None:
    worker = make_worker(concurrency=1)
    if how == "process":
        worker.handler("onboard", process=True)(waiting_in_process.everything)
    else:
        worker.handler("onboard")(everything if how == "thread" else everything_async)
    worker.handler("count")(lambda page: len(page.split()))
    worker.start()
    id_ = begin("onboard", ["one", "one two"])
    waits_for(holdfast, id_, "contract")
    assert holdfast.signal(id_, "contract", Contract("C-17"))
    waits_for(holdfast, id_, "limit")
    assert id_ in [one.id for one in holdfast.jobs(waits="approval")]
    holdfast.decide(id_, "limit", True, "fine — ja")
    assert holdfast.result(id_, 60) == ["C-17", True, True, "fine — ja", [1, 2]]
    attempts = holdfast.get(id_).attempt
    assert attempts >= 4
    assert holdfast.log(id_).count("begins") == attempts  # sent before the attempt ended
    stats = worker.stats()
    assert stats["suspended"] == attempts - 1
    assert stats["refused"] == 0


def test_a_handler_that_goes_on_gets_it_again_from_whatever_it_asks_for(
    make_worker: MakeWorker, holdfast: Holdfast, begin: Callable[..., str]
) -> None:
    worker = make_worker()
    left: list[str] = []

    @worker.handler("careless")
    def careless(payload: Any, ctx: JobContext) -> str:
        try:
            return str(ctx.await_signal("go", str))
        except Exception as error:
            left.append(f"an ordinary exception: {error!r}")
            raise
        except BaseException:
            for call in (
                lambda: ctx.step("a", left.append, "the step was run"),
                lambda: ctx.event("still-here"),
                lambda: ctx.publish("out.txt", b"1"),
                lambda: ctx.sleep("nap", 3_600),
                lambda: ctx.spawn("more", Job("careless")),
                lambda: ctx.continue_as({}),
            ):
                with pytest.raises(LeaveHandler, match="waits for 'go'"):
                    call()
                left.append("left")
            ctx.log("not sent")
            ctx.progress(99)
            raise RuntimeError("passed over as well") from None

    worker.start()
    id_ = begin("careless", max_attempts=1)
    waits_for(holdfast, id_, "go")
    until(lambda: worker.stats()["running"] == 0)
    assert left == ["left"] * 6
    holdfast.signal(id_, "go", "woken")
    assert holdfast.result(id_, 60) == "woken"
    assert holdfast.log(id_) == ""


def test_a_wait_that_is_over_in_time_brings_nothing(
    make_worker: MakeWorker, holdfast: Holdfast, begin: Callable[..., str], run: Run
) -> None:
    worker = make_worker()

    @worker.handler("within")
    def within(payload: Any, ctx: JobContext) -> Any:
        first = ctx.await_signal("go", str, within=0.2)
        return [first, ctx.await_signal("go", str, within=timedelta(hours=1), id="go-again")]

    @worker.handler("undecided")
    def undecided(payload: str, ctx: JobContext) -> Any:
        found = ctx.approve("q", "Well?", within=0.2, afterwards=payload)
        return [found.approved, found.by, found.comment]

    worker.start()
    id_ = begin("within", unique_key=f"key-{new_id()}")
    waits_for(holdfast, id_, "go-again")
    assert holdfast.signal(id_, "go", "late", key="once")
    status = holdfast.get(id_)
    if not status.state.terminal:
        assert not holdfast.signal(id_, "go", "late", key="once")
    assert holdfast.result(id_, 60) == [None, "late"]
    assert run("undecided", "REJECT").result == [False, None, ""]
    assert run("undecided", "APPROVE").result == [True, None, ""]
    assert failure_of(run("undecided", "FAIL"))[:2] == ("TIMEOUT", "NOT_DECIDED")


def test_a_job_is_told_by_its_unique_key(
    make_worker: MakeWorker, holdfast: Holdfast, begin: Callable[..., str]
) -> None:
    worker = make_worker()
    worker.handler("k")(lambda payload, ctx: ctx.await_signal("go"))
    worker.start()
    key = f"key-{new_id()}"
    id_ = begin("k", unique_key=key)
    assert holdfast.signal_by_key("k", key, "go", [1, None])
    assert holdfast.result(id_, 60) == [1, None]


def test_what_does_not_fit_a_type_fails_for_good_and_is_kept(
    make_worker: MakeWorker, holdfast: Holdfast, begin: Callable[..., str]
) -> None:
    worker = make_worker()
    types: list[Any] = [Contract]
    worker.handler("k")(lambda payload, ctx: str(ctx.await_signal("go", types[-1])))
    worker.start()
    id_ = begin("k")
    waits_for(holdfast, id_, "go")
    holdfast.signal(id_, "go", {"no": "number"})
    category, code, message = failure_of(holdfast.wait(id_, 60))
    assert (category, code) == ("DATA_QUALITY", "VALIDATION")
    assert "wait 'go'" in message
    assert "field 'number' is missing" in message
    types.append(dict[str, str])
    holdfast.retry(id_)
    assert holdfast.result(id_, 60) == "{'no': 'number'}"


def test_children_are_joined_in_their_order_and_the_first_is_found(
    make_worker: MakeWorker, holdfast: Holdfast, run: Run
) -> None:
    worker = make_worker()

    @worker.handler("child")
    def child(payload: str, ctx: JobContext) -> Any:
        if payload == "bad":
            raise FailedException(FailureCategory.DATA_QUALITY, "BAD", "it is bad")
        if payload == "never":
            ctx.idle(600)
        return None if payload == "none" else payload

    def spawned(ctx: JobContext, names: list[str]) -> list[Child]:
        return ctx.spawn("all", [Job("child", name, max_attempts=1) for name in names])

    @worker.handler("joins")
    def joins(names: list[str], ctx: JobContext) -> Any:
        return [end.result for end in ctx.join("j", spawned(ctx, names))]

    @worker.handler("takes")
    def takes(names: list[str], ctx: JobContext) -> Any:
        try:
            return ctx.join("j", spawned(ctx, names))
        except ChildFailedException as failed:
            failure = failed.child.failure
            return [failed.child.state.value, failure and failure.code]

    @worker.handler("first")
    def first(names: list[str], ctx: JobContext) -> Any:
        return ctx.any("a", spawned(ctx, names)).result

    @worker.handler("maps")
    def maps(names: list[str], ctx: JobContext) -> Any:
        return ctx.map("m", names, lambda name: Job("child", name), int)

    @worker.handler("nothing")
    def nothing(names: list[str], ctx: JobContext) -> Any:
        return [ctx.join("j", spawned(ctx, names)), ctx.map("m", names, Job)]

    worker.start()
    assert run("joins", ["a", "b", "c"]).result == ["a", "b", "c"]
    assert run("takes", ["never", "bad"]).result == ["FAILED", "BAD"]
    category, code, message = failure_of(run("joins", ["never", "bad"]))
    assert (category, code) == ("USER_CODE", "CHILD_FAILED")
    assert "it is bad" in message
    status = run("first", ["never", "b"])
    assert status.result == "b"
    holdfast.cancel(status.id, cascade=True)
    category, code, message = failure_of(run("maps", ["a"]))
    assert (category, code) == ("DATA_QUALITY", "VALIDATION")
    assert "started by 'm', is not what the handler asks for: it is 'a'" in message
    assert run("nothing", []).result == [[], []]


def test_the_id_of_a_child_is_that_of_all_languages(
    make_worker: MakeWorker, holdfast: Holdfast, run: Run
) -> None:
    worker = make_worker()
    worker.handler("child")(lambda payload: None)

    @worker.handler("k")
    def handle(payload: Any, ctx: JobContext) -> Any:
        return ctx.spawn("c", Job("child")).id

    worker.start()
    status = run("k")
    assert status.result == child_id(status.id, "c", 1, 0)
    assert [one.id for one in holdfast.jobs(parentId=status.id)] == [status.result]
    parent = "01a1dd4a-b938-7556-b3c6-ab0755016a84"
    assert child_id(parent, "html", 1, 0) == "01a1dd4a-b938-71f0-a70c-678ad5369400"


@pytest.mark.slow
def test_many_children_are_started_in_parts(make_worker: MakeWorker, run: Run) -> None:
    worker = make_worker(concurrency=100)
    worker.handler("child")(lambda payload: payload["n"])

    @worker.handler("k")
    def handle(payload: Any, ctx: JobContext) -> bool:
        def job(n: int) -> Job:
            return Job("child", {"n": n, "fill": "x" * 3_000})

        return ctx.map("all", range(2_500), job, int) == list(range(2_500))

    worker.start()
    assert run("k").result is True


def test_a_loop_goes_on_as_another_job_of_the_same_key(
    make_worker: MakeWorker, holdfast: Holdfast, begin: Callable[..., str], queue: str
) -> None:
    worker = make_worker()

    @worker.handler("loop")
    def loop(n: int, ctx: JobContext) -> str:
        if n < 3:
            ctx.continue_as(n + 1)
        return "ended"

    @worker.handler("loop-async")
    async def loop_async(n: int, ctx: JobContext) -> str:
        if n < 3:
            ctx.continue_as(n + 1)
        return "ended"

    @worker.handler("parent")
    def parent(kind: str, ctx: JobContext) -> None:
        ctx.join("j", [ctx.spawn("c", Job(kind, 0))])

    worker.start()
    for kind in ("loop", "loop-async"):
        key = f"{kind}-{queue}"
        first = begin(kind, 0, unique_key=key)

        def ended(kind: str = kind) -> bool:
            turns = list(holdfast.jobs(queue=queue, kind=kind))
            return len(turns) == 4 and all(one.state is JobState.SUCCEEDED for one in turns)

        until(ended)
        turns = sorted(holdfast.jobs(queue=queue, kind=kind), key=lambda one: one.created_at)
        assert turns[0].id == first
        assert {one.raw.get("uniqueKey") for one in turns} == {key}
        assert holdfast.get(first).result is None
    failed = begin("parent", "loop")
    assert failure_of(holdfast.wait(failed, 60))[1] == "CHILD_FAILED"
    (child,) = holdfast.jobs(parentId=failed)
    assert failure_of(holdfast.get(child.id))[1] == "BAD_DEPENDENCY"


def test_an_operator_sends_a_job_back_to_a_wait_and_to_a_start_of_jobs(
    plane: ControlPlane, make_worker: MakeWorker, holdfast: Holdfast, begin: Callable[..., str]
) -> None:
    worker = make_worker()
    worker.handler("child")(lambda payload: None)

    @worker.handler("k")
    def handle(payload: Any, ctx: JobContext) -> Any:
        children = ctx.spawn("c", [Job("child")])
        one = ctx.await_signal("one", str)
        two = ctx.await_signal("two", str)
        return [one, two, children[0].id]

    def back(to: str) -> None:
        asked = {"action": "resume_from_step", "stepId": to, "reason": "again"}
        plane.call("POST", f"/v1/jobs/{id_}/control", asked)

    worker.start()
    id_ = begin("k")
    waits_for(holdfast, id_, "one")
    holdfast.signal(id_, "one", "a")
    waits_for(holdfast, id_, "two")
    back("one")
    waits_for(holdfast, id_, "one")
    holdfast.signal(id_, "one", "b")
    waits_for(holdfast, id_, "two")
    back("c")
    waits_for(holdfast, id_, "one")
    holdfast.signal(id_, "one", "c")
    waits_for(holdfast, id_, "two")
    holdfast.signal(id_, "two", "d")
    one, two, child = holdfast.result(id_, 60)
    assert (one, two) == ("c", "d")
    ids = {job.id for job in holdfast.jobs(parentId=id_)}
    assert len(ids) == 2
    assert child in ids


def test_a_request_for_a_wait_that_was_passed_begins_the_handler_again(
    plane: ControlPlane, make_worker: MakeWorker, holdfast: Holdfast, begin: Callable[..., str]
) -> None:
    worker = make_worker()
    in_step, go_on = threading.Event(), threading.Event()

    @worker.handler("k")
    def handle(payload: Any, ctx: JobContext) -> Any:
        def body() -> None:
            in_step.set()
            go_on.wait(60)

        one = ctx.await_signal("one", str)
        ctx.step("s", body)
        try:
            ctx.step("t", len, "")
        except BaseException:
            return "a careless handler is called again all the same"
        return one

    worker.start()
    id_ = begin("k")
    holdfast.signal(id_, "one", "a")
    assert in_step.wait(60)
    asked = {"action": "resume_from_step", "stepId": "one", "reason": "again"}
    plane.call("POST", f"/v1/jobs/{id_}/control", asked)
    (attempt,) = worker._engine.keeper.held()
    until(lambda: bool((attempt.control or {}).get("recovery")))
    go_on.set()
    waits_for(holdfast, id_, "one")
    holdfast.signal(id_, "one", "b")
    assert holdfast.result(id_, 60) == "b"


def test_ids_that_are_wrong_are_refused(make_worker: MakeWorker, run: Run) -> None:
    worker = make_worker()

    @worker.handler("reused")
    def reused(payload: Any, ctx: JobContext) -> Any:
        if ctx.attempt == 1:
            ctx.step("a", len, "")
            ctx.spawn("c", Job("child"))
            ctx.sleep("b", 0.1)
        said = []
        for call in (
            lambda: ctx.sleep("a", 3_600),
            lambda: ctx.step("b", len, ""),
            lambda: ctx.spawn("c", [Job("child"), Job("child")]),
            lambda: ctx.await_signal("b"),
        ):
            with pytest.raises(ValueError, match="before") as why:
                call()
            said.append(str(why.value))
        return said

    @worker.handler("wrong")
    def wrong(payload: str, ctx: JobContext) -> Any:
        other = Child(new_id(), "c")
        calls: dict[str, Callable[[], Any]] = {
            "twice": lambda: [ctx.step("x", len, ""), ctx.spawn("x", Job("child"))],
            "name": lambda: ctx.sleep("no spaces", 1),
            "signal": lambda: ctx.await_signal("no spaces", id="x"),
            "below": lambda: ctx.sleep("x", -1),
            "nan": lambda: ctx.sleep("x", float("nan")),
            "century": lambda: ctx.await_signal("x", within=timedelta(days=40_000)),
            "moment": lambda: ctx.sleep_until("x", datetime(1960, 1, 1, tzinfo=timezone.utc)),
            "unique": lambda: ctx.spawn("x", Job("child", unique_key="k")),
            "other": lambda: ctx.join("x", [other]),
            "many": lambda: [ctx.step(f"s{n}", len, "") for n in range(1_001)],
            "payload": lambda: ctx.continue_as("x" * 1_100_000),
            "no json": lambda: ctx.continue_as({1, 2}),
            "role": lambda: ctx.approve("x", "Well?", role="nobody"),
        }
        return calls[payload]()

    worker.handler("child")(lambda payload: None)
    worker.start()
    found = run("reused")
    assert found.result == [
        "'a' was a step before, and is a wait of the sort SLEEP now: give it another id",
        "'b' was a wait of the sort SLEEP before, and is a step now: give it another id",
        "'c' has started 1 jobs in an attempt before, and would start 2 now: what it starts must "
        "follow from the payload and from steps",
        "'b' was asked for before in this attempt: give each its own id, be it a step, a wait or "
        "a start of jobs",
    ], found
    for payload, code, words in (
        ("twice", "RETRIES_EXHAUSTED", "'x' was asked for before"),
        ("name", "BAD_NAME", "letters, digits"),
        ("signal", "BAD_NAME", "no spaces"),
        ("below", "BAD_DELAY", "x"),
        ("nan", "BAD_DELAY", "nan"),
        ("century", "BAD_DELAY", "x"),
        ("moment", "BAD_TIMING", "1970"),
        ("unique", "BAD_UNIQUE", "unique key"),
        ("other", "RETRIES_EXHAUSTED", "was not started as 'c'"),
        ("many", "BAD_LIMIT", "'s1000' is one too many"),
        ("payload", "PAYLOAD_TOO_LARGE", "over 1 MiB"),
        ("no json", "PAYLOAD_NOT_JSON", "set"),
        ("role", None, ""),
    ):
        status = run("wrong", payload, max_attempts=1)
        _, found_code, message = failure_of(status)
        assert found_code == code or (code is None and found_code != "RETRIES_EXHAUSTED"), status
        assert words in message, status


def test_waits_in_the_middle_of_something_are_refused(make_worker: MakeWorker, run: Run) -> None:
    worker = make_worker()

    def refused(call: Callable[[], Any]) -> bool:
        with pytest.raises(RuntimeError, match="in the handler itself"):
            call()
        return True

    @worker.handler("step")
    def step(payload: Any, ctx: JobContext) -> Any:
        return [
            ctx.step("a", refused, lambda: ctx.sleep("b", 1)),
            ctx.step("c", refused, lambda: ctx.spawn("d", Job("step"))),
            ctx.step("e", refused, lambda: ctx.continue_as({})),
        ]

    @worker.handler("thread")
    def thread(payload: Any, ctx: JobContext) -> Any:
        found: list[bool] = []
        other = threading.Thread(target=lambda: found.append(refused(lambda: ctx.sleep("b", 1))))
        other.start()
        other.join()
        return found

    @worker.handler("task")
    async def task(payload: Any, ctx: JobContext) -> Any:
        import asyncio

        with pytest.raises(TypeError, match=r"await ctx\.sleep_async"):
            ctx.sleep("b", 1)
        with pytest.raises(RuntimeError, match="in a task of your own"):
            await asyncio.create_task(ctx.sleep_async("b", 1))

        async def body() -> bool:
            with pytest.raises(RuntimeError, match="neither in a step"):
                await ctx.sleep_async("b", 1)
            return True

        return [await ctx.step("a", body)]

    worker.start()
    assert run("step").result == [True, True, True]
    assert run("thread").result == [True]
    assert run("task").result == [True]


def test_an_async_handler_joins_and_finds_the_first(make_worker: MakeWorker, run: Run) -> None:
    worker = make_worker()

    @worker.handler("child")
    async def child(payload: Any) -> Any:
        return payload

    @worker.handler("k")
    async def handle(payload: Any, ctx: JobContext) -> Any:
        one = await ctx.spawn_async("one", Job("child", 1))
        two = await ctx.spawn_async("two", [Job("child", 2)])
        ends = await ctx.join_async("j", [one, *two], collect=True)
        return [[end.result for end in ends], (await ctx.any_async("a", [one])).result]

    worker.start()
    assert run("k").result == [[1, 2], 1]


@pytest.mark.parametrize("how", ["thread", "process"])
def test_a_fork_goes_on_with_what_the_other_job_has_started(
    plane: ControlPlane,
    make_worker: MakeWorker,
    holdfast: Holdfast,
    begin: Callable[..., str],
    how: str,
) -> None:
    worker = make_worker()
    worker.handler("child")(lambda payload: payload)
    worker.handler("k", process=how == "process")(waiting_in_process.joins_then_steps)
    worker.start()
    id_ = begin("k")
    assert holdfast.result(id_, 60) == [[0, 1], 0]
    answer = plane.call("POST", f"/v1/jobs/{id_}/fork", {"fromStep": "last"})
    (fork,) = answer["jobs"]
    assert holdfast.result(fork["id"] if isinstance(fork, dict) else fork, 60) == [[0, 1], 0]


def test_times_are_rounded_up() -> None:
    spans = (0, 0.0001, 0.3, 1.5, 3_600, timedelta(microseconds=1))
    assert [millis("x", span) for span in spans] == [0, 1, 300, 1_500, 3_600_000, 1]
