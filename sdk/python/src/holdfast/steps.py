"""Steps with checkpoints: what is done is not done again by a later attempt."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from .attempt import sendable
from .channel import Channel
from .errors import (
    CancelledException,
    FailedException,
    LeaveHandler,
    SnoozeException,
    refused,
)
from .http import dump
from .source import StepReport
from .step_start import LONG_STEPS, StepStart
from .stop import StopSignal
from .typed import plain, read

WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/-]{0,99}")
SIGNATURE_CHARS = 1_000
CHECKPOINT_BYTES = 1024 * 1024
LONGEST_DELAY = 300.0
MOST_STEPS = 1_000


class RestartHandler(LeaveHandler):
    """An operator asked for a step that this run has passed: the handler begins again."""


@dataclass(frozen=True)
class Step:
    """The name of a step with a budget: ``ctx.step(Step("embed", attempts=3), embed, text)``.

    A body that raises is called again, ``attempts`` times in one attempt of the job, with a pause
    of ``delay`` seconds that doubles. ``timeout`` is for each call, and for async bodies only.
    """

    name: str
    attempts: int = 1
    delay: float = 1.0
    timeout: float | None = None
    result: Any = None
    """The type of its result, such as a dataclass, for when it comes from the checkpoint."""

    def __post_init__(self) -> None:
        if self.attempts < 1 or self.delay < 0 or (self.timeout is not None and self.timeout <= 0):
            raise ValueError(
                f"step {self.name!r}: attempts must be 1 or more, delay 0 or more seconds, and "
                "timeout more than 0 seconds"
            )

    def plain(self, result: Any) -> Any:
        """What to keep of the result: without a type it must be what it will be when it is read."""
        return json.loads(dump(result, plain if self.result is not None else self._typeless))

    def _typeless(self, value: Any) -> Any:
        raise TypeError(
            f"step {self.name!r} returned a {type(value).__name__}, and a later attempt would get "
            f"JSON: give its type, as in Step({self.name!r}, result={type(value).__name__})"
        )

    def read(self, checkpoint: Any) -> Any:
        return checkpoint if self.result is None else read(self.result, checkpoint)

    def pause(self, call: int) -> float:
        """After this call of the body, counted from 1."""
        return min(LONGEST_DELAY, self.delay * 2.0 ** (call - 1))

    def is_retried(self, call: int, error: BaseException) -> bool:
        if call >= self.attempts or isinstance(error, CancelledException | SnoozeException):
            return False
        return not isinstance(error, FailedException) or error.retryable


class Done:
    """The step's checkpoint is there."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Steps:
    """The steps of one attempt. A handler runs one of them at a time."""

    def __init__(self, channel: Channel, signal: StopSignal) -> None:
        self._channel = channel
        self._signal = signal
        self._lock = threading.Lock()
        self._known: dict[str, dict[str, Any]] | None = None
        self._entered: list[str] = []
        self._honoured: set[str] = set()
        self._start: StepStart | None = None
        self._continues = False
        """Whether the first report of this attempt tells at which step the job continues."""
        self._bodies = 0
        self.left: LeaveHandler | None = None
        """Why the handler is to be left although it has not returned."""

    def restart(self) -> None:
        self.left = None
        self._entered.clear()

    def leave(self, why: LeaveHandler) -> LeaveHandler:
        """The handler gets it again from whatever it asks for, if it goes on."""
        self.left = why
        return why

    def check_left(self) -> None:
        if self.left is not None:
            raise type(self.left)(*self.left.args)

    def check(self) -> None:
        """Raises what the handler is to leave by, if it is to."""
        self.check_left()
        self._signal.check()

    @contextmanager
    def body(self) -> Iterator[None]:
        """The body of a step runs."""
        self._bodies += 1
        try:
            yield
        finally:
            self._bodies -= 1

    @property
    def in_body(self) -> bool:
        return self._bodies > 0

    def ask(self, name: str) -> tuple[dict[str, Any], dict[str, Any] | None]:
        """What is known of this id, and what an operator wants of it.

        A handler asks once. One that was not begun before gets the next index.
        """
        if not WORD.fullmatch(name):
            message = (
                f"id {name!r}: use up to 100 letters, digits and _ . : / -, "
                "and begin with a letter or a digit"
            )
            raise refused("BAD_NAME", message)
        with self._lock:
            return self._ask(name)

    def _ask(self, name: str) -> tuple[dict[str, Any], dict[str, Any] | None]:
        self.check()
        known = self._all_known()
        self._wait_while_held()
        recovery = self._recovery(name)
        if name in self._entered:
            raise ValueError(
                f"{name!r} was asked for before in this attempt: give each its own id, "
                "be it a step, a wait or a start of jobs"
            )
        step = known.get(name)
        if step is None:
            last = max((one["stepIndex"] for one in known.values()), default=0)
            if last >= MOST_STEPS:
                message = (
                    f"{name!r} is one too many: a job has at most {MOST_STEPS:,} steps, waits and "
                    "starts of jobs"
                )
                raise refused("BAD_LIMIT", message)
            step = {"stepId": name, "stepIndex": last + 1, "state": "FAILED", "attempt": 0}
            known[name] = step
        self._entered.append(name)
        return dict(step), recovery

    def keep(self, status: dict[str, Any]) -> None:
        """What is known of an id from now on."""
        with self._lock:
            if self._known is not None:
                self._known[status["stepId"]] = status

    def redo(self, status: dict[str, Any], asked: dict[str, Any] | None) -> dict[str, Any]:
        """The wait or start of jobs that is to be done now.

        What it was before is dropped if an operator has asked for it.
        """
        if asked is None:
            return status
        name, index = status["stepId"], status["stepIndex"]
        attempt = status["attempt"] + 1
        self._channel.step(StepReport(name, index, "FAILED", attempt, recovery=asked))
        dropped = {"stepId": name, "stepIndex": index, "state": "FAILED", "attempt": attempt}
        with self._lock:
            self._honoured.add(asked["updatedAt"])
            if asked["action"] != "retry_step":
                self._drop(index)
        self.keep(dropped)
        return dict(dropped)

    def _drop(self, index: int) -> None:
        """What comes later is not done any longer."""
        for other in (self._known or {}).values():
            if other["stepIndex"] > index:
                other["state"] = "INTERRUPTED"

    def enter(self, name: str) -> Done | StepReport:
        """Either what the step left earlier, or its report as RUNNING, told if it has to be."""
        step, recovery = self.ask(name)
        if step["state"] == "DONE" and recovery is None:
            if step.get("waitEnd") is not None:
                raise ValueError(
                    f"{name!r} was {what(step)} before, and is a step now: give it another id"
                )
            return Done(step.get("checkpoint"))
        with self._lock:
            return self._begin(name, step, recovery)

    def _begin(
        self, name: str, step: dict[str, Any], recovery: dict[str, Any] | None
    ) -> Done | StepReport:
        known = self._all_known()
        index, attempt = step["stepIndex"], step["attempt"] + 1
        report = StepReport(name, index, "RUNNING", attempt, recovery=recovery)
        if attempt == 1 and recovery is None and not self._continues:
            self._start = StepStart(lambda: self._channel.step(report))
            LONG_STEPS.watch(self._start)
        else:
            self._channel.step(report)
            self._continues = False
        known[name] = {"stepId": name, "stepIndex": index, "state": "RUNNING", "attempt": attempt}
        if recovery is not None:
            self._honoured.add(recovery["updatedAt"])
            if recovery["action"] == "accept_step":
                self.done(report, None)
                return Done(None)
            if recovery["action"] != "retry_step":
                self._drop(index)
        return report

    def done(self, running: StepReport, result: Any) -> None:
        size = len(dump(result).encode())
        if size > CHECKPOINT_BYTES:
            raise ValueError(
                f"step {running.step_id!r} returned {size:,} bytes, over 1 MiB: "
                "store the data and return a reference"
            )
        took = self._ended()
        self._channel.step(
            StepReport(
                running.step_id, running.index, "DONE", running.attempt, result, took_ms=took
            )
        )
        if self._known is not None:
            self._known[running.step_id] |= {"state": "DONE", "checkpoint": result}

    def failed(self, running: StepReport, error: BaseException, again: bool = False) -> None:
        """Not told once the handler should stop: the server then shows it as INTERRUPTED."""
        took = self._ended()
        if self._signal.kind is not None:
            return
        signature = sendable(f"{type(error).__name__}: {error}"[:SIGNATURE_CHARS])
        self._channel.step(
            StepReport(
                running.step_id,
                running.index,
                "FAILED",
                running.attempt,
                signature=signature,
                again=again,
                took_ms=took,
            )
        )

    def announce(self) -> None:
        """What the handler tells next comes after the start of its step."""
        start = self._start
        if start is not None:
            start.tell()

    def announce_beside(self) -> None:
        """The same without waiting."""
        start = self._start
        if start is not None:
            start.tell_beside()

    def _ended(self) -> int | None:
        start, self._start = self._start, None
        return None if start is None else start.end()

    def again(self, failed: StepReport) -> StepReport:
        """Begins the next try of a step whose body has failed, unless the handler should stop."""
        self._signal.check()
        running = StepReport(failed.step_id, failed.index, "RUNNING", failed.attempt + 1)
        self._channel.step(running)
        if self._known is not None:
            self._known[failed.step_id]["attempt"] = running.attempt
        return running

    def _all_known(self) -> dict[str, dict[str, Any]]:
        if self._known is None:
            self._known = {one["stepId"]: one for one in self._channel.steps()}
            self._continues = bool(self._known)
        return self._known

    def _wait_while_held(self) -> None:
        """A pause or takeover by an operator lasts until neither is asked any more."""
        while (asked := self._channel.control()) and (asked["paused"] or asked["takeover"]):
            self._signal.wait(0.2)
            self.check()

    def _recovery(self, name: str) -> dict[str, Any] | None:
        asked = (self._channel.control() or {}).get("recovery")
        if not asked or asked["updatedAt"] in self._honoured:
            return None
        if asked["stepId"] in self._entered:
            raise self.leave(RestartHandler())
        return dict(asked) if asked["stepId"] == name else None


def what(status: dict[str, Any]) -> str:
    """What an id has been, for people."""
    end = status.get("waitEnd")
    if end is None:
        return "a step"
    if end["outcome"] == "STARTED":
        return "a start of jobs"
    return f"a wait of the sort {end['sort']}"
