"""How a handler waits, and starts jobs, without holding anything meanwhile."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, NoReturn, TypeVar, cast, overload

from .channel import Channel
from .children import Child, ChildEnd
from .model import Job
from .steps import Steps
from .waits import Approval, Span, Waits, question

T = TypeVar("T")
I = TypeVar("I")  # noqa: E741

As = type[T] | Callable[[Any], T]
"""A type, or a function that makes the value of what JSON has."""


class Waiting:
    """The waits of a context. Each has a sibling for async handlers.

    What it brings is kept under its id, one of those of the steps: ids are unique in a job, and a
    later attempt that asks for the same id gets it at once.
    """

    __slots__ = ("_place", "_steps", "_waits")

    def __init__(self, job_id: str, channel: Channel, steps: Steps) -> None:
        self._steps = steps
        self._waits = Waits(job_id, channel, steps)
        self._place: object = None

    def begins(self) -> None:
        """From here on the handler runs, on this thread or in this task."""
        self._place = _place()

    def sleep(self, id: str, span: Span) -> None:
        """Lets the job wait for so many seconds, or a timedelta, by the database's clock."""
        self._check("sleep", id)
        self._waits.sleep(id, span)

    async def sleep_async(self, id: str, span: Span) -> None:
        """The same for async handlers."""
        self._check_place(id)
        await asyncio.to_thread(self._waits.sleep, id, span)

    def sleep_until(self, id: str, until: datetime) -> None:
        """The same until a moment; one that has passed is no wait."""
        self._check("sleep_until", id)
        self._waits.sleep_until(id, until)

    async def sleep_until_async(self, id: str, until: datetime) -> None:
        """The same for async handlers."""
        self._check_place(id)
        await asyncio.to_thread(self._waits.sleep_until, id, until)

    @overload
    def await_signal(
        self, name: str, type: As[T], *, within: None = None, id: str | None = None
    ) -> T: ...

    @overload
    def await_signal(
        self, name: str, type: As[T], *, within: Span, id: str | None = None
    ) -> T | None: ...

    @overload
    def await_signal(
        self, name: str, type: None = None, *, within: Span | None = None, id: str | None = None
    ) -> Any: ...

    def await_signal(
        self, name: str, type: Any = None, *, within: Span | None = None, id: str | None = None
    ) -> Any:
        """Waits for a signal of this name, and returns what was sent; None after ``within``.

        A signal that came before is taken at once; several of one name are taken in their order,
        each once. The id is the name: a handler that waits several times for one name gives each
        wait its own.
        """
        self._check("await_signal", name if id is None else id)
        return self._waits.await_signal(id, name, type, within)

    @overload
    async def await_signal_async(
        self, name: str, type: As[T], *, within: None = None, id: str | None = None
    ) -> T: ...

    @overload
    async def await_signal_async(
        self, name: str, type: As[T], *, within: Span, id: str | None = None
    ) -> T | None: ...

    @overload
    async def await_signal_async(
        self, name: str, type: None = None, *, within: Span | None = None, id: str | None = None
    ) -> Any: ...

    async def await_signal_async(
        self, name: str, type: Any = None, *, within: Span | None = None, id: str | None = None
    ) -> Any:
        """The same for async handlers."""
        self._check_place(name if id is None else id)
        return await asyncio.to_thread(self._waits.await_signal, id, name, type, within)

    def approve(
        self,
        id: str,
        text: str,
        *,
        details: str = "",
        role: str = "operator",
        within: Span | None = None,
        afterwards: str = "REJECT",
    ) -> Approval:
        """Asks a person, and waits until somebody has decided, or ``within`` is over.

        ``role`` is who may decide, operator or admin. ``afterwards`` is what happens when nobody
        has in time: REJECT, APPROVE or FAIL.
        """
        self._check("approve", id)
        return self._waits.approve(id, question(text, details, role, afterwards), within)

    async def approve_async(
        self,
        id: str,
        text: str,
        *,
        details: str = "",
        role: str = "operator",
        within: Span | None = None,
        afterwards: str = "REJECT",
    ) -> Approval:
        """The same for async handlers."""
        self._check_place(id)
        asked = question(text, details, role, afterwards)
        return await asyncio.to_thread(self._waits.approve, id, asked, within)

    @overload
    def spawn(self, id: str, job: Job) -> Child: ...

    @overload
    def spawn(self, id: str, job: Sequence[Job]) -> list[Child]: ...

    def spawn(self, id: str, job: Job | Sequence[Job]) -> Child | list[Child]:
        """Starts a job, or several, once, whatever crashes, and does not wait for it.

        It has the tenant, the workspace and the run of this job, and its queue and priority unless
        it says otherwise. It may have neither a unique key nor dependencies, and its id follows
        from that of this one. What is started under an id must follow from the payload and from
        steps.
        """
        self._check("spawn", id)
        return self._spawn(id, job)

    @overload
    async def spawn_async(self, id: str, job: Job) -> Child: ...

    @overload
    async def spawn_async(self, id: str, job: Sequence[Job]) -> list[Child]: ...

    async def spawn_async(self, id: str, job: Job | Sequence[Job]) -> Child | list[Child]:
        """The same for async handlers."""
        self._check_place(id)
        return await asyncio.to_thread(self._spawn, id, job)

    def _spawn(self, id: str, job: Job | Sequence[Job]) -> Child | list[Child]:
        if isinstance(job, Job):
            return self._waits.spawn(id, [job])[0]
        return self._waits.spawn(id, job)

    def join(self, id: str, children: Iterable[Child], *, collect: bool = False) -> list[ChildEnd]:
        """Waits until these have ended, and returns how, in their order.

        When one fails or is cancelled it cancels the others and raises ChildFailedException, which
        fails this job for good unless the handler takes it. ``collect`` waits for all, however they
        end.
        """
        self._check("join", id)
        return self._waits.join(id, children, collect)

    async def join_async(
        self, id: str, children: Iterable[Child], *, collect: bool = False
    ) -> list[ChildEnd]:
        """The same for async handlers."""
        self._check_place(id)
        return await asyncio.to_thread(self._waits.join, id, children, collect)

    def any(self, id: str, children: Iterable[Child]) -> ChildEnd:
        """Waits until one of these has ended, and returns the one that did so first."""
        self._check("any", id)
        return self._waits.any(id, children)

    async def any_async(self, id: str, children: Iterable[Child]) -> ChildEnd:
        """The same for async handlers."""
        self._check_place(id)
        return await asyncio.to_thread(self._waits.any, id, children)

    @overload
    def map(self, id: str, items: Iterable[I], job: Callable[[I], Job], type: As[T]) -> list[T]: ...

    @overload
    def map(
        self, id: str, items: Iterable[I], job: Callable[[I], Job], type: None = None
    ) -> list[Any]: ...

    def map(
        self, id: str, items: Iterable[I], job: Callable[[I], Job], type: Any = None
    ) -> list[Any]:
        """Starts a job for each item, waits for all as ``join`` does, and returns their results.

        It waits under ``ID:join``.
        """
        self._check("map", id)
        return cast("list[Any]", self._waits.map(id, items, job, type))

    @overload
    async def map_async(
        self, id: str, items: Iterable[I], job: Callable[[I], Job], type: As[T]
    ) -> list[T]: ...

    @overload
    async def map_async(
        self, id: str, items: Iterable[I], job: Callable[[I], Job], type: None = None
    ) -> list[Any]: ...

    async def map_async(
        self, id: str, items: Iterable[I], job: Callable[[I], Job], type: Any = None
    ) -> list[Any]:
        """The same for async handlers. ``job`` is called on another thread."""
        self._check_place(id)
        return cast("list[Any]", await asyncio.to_thread(self._waits.map, id, items, job, type))

    def continue_as(self, payload: Any) -> NoReturn:
        """Ends this job, and another one goes on in its place: for loops without end.

        It is the same in async handlers.
        """
        self._check_place("continue_as")
        raise self._waits.continue_as(payload)

    def _check(self, name: str, id: str) -> None:
        not_on_event_loop(name, f"await ctx.{name}_async(…)")
        self._check_place(id)

    def _check_async(self, id: str) -> None:
        self._check_place(id)

    def _check_place(self, what: str) -> None:
        self._steps.check()
        if self._steps.in_body or self._place not in (None, _place()):
            raise RuntimeError(
                f"{what!r} would end the attempt in the middle of something: wait, start jobs and "
                "go on as another job in the handler itself, and neither in a step nor on a thread "
                "or in a task of your own"
            )


def _place() -> object:
    """The task, or the thread, that runs this."""
    if on_event_loop():
        task = asyncio.current_task()
        if task is not None:
            return task
    return threading.get_ident()


def not_on_event_loop(name: str, instead: str) -> None:
    if on_event_loop():
        raise TypeError(f"ctx.{name} would hold up all async handlers: {instead} instead")


def on_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
