"""What a handler knows about its attempt, and how it talks back."""

from __future__ import annotations

import asyncio
import inspect
import itertools
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast, overload

from .attempt import LeasedJob, sendable
from .channel import Channel
from .errors import SnoozeException
from .model import Artifact
from .outcome import Outcome, Suspended, of_exception, of_next
from .steps import Done, RestartHandler, Step, Steps
from .stop import StopSignal
from .waiting import Waiting, not_on_event_loop, on_event_loop

P = ParamSpec("P")
T = TypeVar("T")

ARTIFACT_BYTES = 64 * 1024 * 1024


class JobContext(Waiting):
    """Safe to use from any thread, but for waits: these are for the handler itself."""

    __slots__ = ("_channel", "_percent", "_signal", "job")

    def __init__(self, job: LeasedJob, channel: Channel, signal: StopSignal) -> None:
        super().__init__(job.id, channel, Steps(channel, signal))
        self.job = job
        self._channel = channel
        self._signal = signal
        self._percent = 0

    @property
    def id(self) -> str:
        """The same in every attempt of the job: a good idempotency key for calls to others."""
        return self.job.id

    @property
    def attempt(self) -> int:
        return self.job.attempt

    @property
    def is_cancelled(self) -> bool:
        """True once the handler should stop, for whatever reason."""
        return self._signal.kind is not None

    @property
    def cancel_reason(self) -> str | None:
        return self._signal.reason if self.is_cancelled else None

    def check_cancelled(self) -> None:
        """Raises CancelledException when the handler should stop."""
        if self._signal.kind is not None:
            self._signal.check()

    def on_cancel(self, callback: Callable[[], object]) -> None:
        """Calls back once when the handler should stop; at once if that is so already."""
        self._signal.on_stop(callback)

    def idle(self, seconds: float) -> None:
        """As time.sleep, but ends with CancelledException when the handler should stop.

        Keeps the place of the job meanwhile; ``sleep`` holds nothing.
        """
        not_on_event_loop("idle", "await asyncio.sleep(…)")
        if self._signal.wait(seconds):
            self._signal.check()

    def progress(self, percent: float, message: str = "") -> None:
        """Cheap to call often: the last value is sent about twice a second."""
        self._percent = max(0, min(100, int(percent)))
        self._steps.announce_beside()
        self._channel.progress(self._percent, sendable(message[:4_000]))

    def log(self, text: str) -> None:
        """Adds lines to the job's log; sent about twice a second, and before the job ends."""
        self._channel.log(text)

    def event(self, kind: str, data: Any = None) -> None:
        """Adds an entry to the job's timeline and returns once it is durable."""
        not_on_event_loop("event", "await ctx.event_async(…)")
        self._steps.check_left()
        self._steps.announce()
        self._channel.event(kind, {} if data is None else data)

    async def event_async(self, kind: str, data: Any = None) -> None:
        """The same for async handlers: others go on meanwhile."""
        await asyncio.to_thread(self.event, kind, data)

    def publish(self, name: str, file: str | os.PathLike[str] | bytes) -> Artifact:
        """Sends a file of at most 64 MiB to the server and returns once it is the job's artifact.

        ``file`` is its path or its content. A later file of the same name takes its place.
        """
        not_on_event_loop("publish", "await ctx.publish_async(…)")
        self._steps.check_left()
        content = file if isinstance(file, bytes) else Path(file).read_bytes()
        if len(content) > ARTIFACT_BYTES:
            raise ValueError(
                f"artifact {name!r} has {len(content):,} bytes, over 64 MiB: "
                "store it elsewhere and return a reference"
            )
        return self._channel.publish(name, content)

    async def publish_async(self, name: str, file: str | os.PathLike[str] | bytes) -> Artifact:
        """The same for async handlers: others go on meanwhile."""
        return await asyncio.to_thread(self.publish, name, file)

    def snooze(self, seconds: float) -> SnoozeException:
        """``raise ctx.snooze(60)``: come back later, without using budget."""
        return SnoozeException(seconds)

    @overload
    def step(
        self, name: str | Step, body: Callable[P, Awaitable[T]], *args: P.args, **kw: P.kwargs
    ) -> Awaitable[T]: ...

    @overload
    def step(self, name: str | Step, body: Callable[P, T], *args: P.args, **kw: P.kwargs) -> T: ...

    def step(self, name: str | Step, body: Callable[..., Any], *args: Any, **kw: Any) -> Any:
        """Calls ``body`` unless an earlier attempt has done so, and keeps what it returns.

        The result is JSON of at most 1 MiB, or of the ``result`` type of a ``Step``. In an async
        handler, give an async function and await the call. A ``Step`` in place of the name has a
        budget of attempts.
        """
        step = name if isinstance(name, Step) else Step(name)
        if inspect.iscoroutinefunction(body):
            return self._step_async(self._steps, step, body, args, kw)
        if step.timeout is not None:
            raise TypeError(
                f"step {step.name!r}: a plain function cannot be stopped after a timeout; "
                "give an async function, or a timeout of the job"
            )
        if on_event_loop():
            raise TypeError(
                f"step {step.name!r}: in an async handler give an async function and await it; "
                "wrap blocking work as 'async def body(): return await asyncio.to_thread(work)'"
            )
        return self._step(self._steps, step, body, args, kw)

    def _step(self, steps: Steps, step: Step, body: Callable[..., T], args: Any, kw: Any) -> T:
        begun = steps.enter(step.name)
        if isinstance(begun, Done):
            return cast(T, step.read(begun.value))
        for call in itertools.count(1):
            try:
                with steps.body():
                    result = body(*args, **kw)
                break
            except Exception as error:
                again = step.is_retried(call, error)
                steps.failed(begun, error, again)
                if not again:
                    raise
            self.idle(step.pause(call))
            begun = steps.again(begun)
        steps.done(begun, step.plain(result))
        return result

    async def _step_async(
        self, steps: Steps, step: Step, body: Callable[..., Awaitable[T]], args: Any, kw: Any
    ) -> T:
        begun = await asyncio.to_thread(steps.enter, step.name)
        if isinstance(begun, Done):
            return cast(T, step.read(begun.value))
        for call in itertools.count(1):
            try:
                with steps.body():
                    result = await asyncio.wait_for(body(*args, **kw), step.timeout)
                break
            except Exception as error:
                again = step.is_retried(call, error)
                await asyncio.to_thread(steps.failed, begun, error, again)
                if not again:
                    raise
            await asyncio.sleep(step.pause(call))
            begun = await asyncio.to_thread(steps.again, begun)
        await asyncio.to_thread(steps.done, begun, step.plain(result))
        return result

    def left(self, outcome: Outcome) -> Outcome | None:
        """What the attempt came to, whatever its handler has made of being left.

        None if the handler is to be called again.
        """
        why = self._steps.left
        if why is None:
            return outcome
        if isinstance(why, RestartHandler):
            self._steps.restart()
            stopped = self._signal.kind is not None
            return of_exception(why, self._signal) if stopped else None
        if self._waits.next is not None:
            return of_next(self._waits.next, self._signal)
        return Suspended()
