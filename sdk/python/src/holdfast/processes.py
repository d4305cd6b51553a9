"""Processes for handlers that compute: they hold up neither heartbeats nor other handlers.

A process runs one job at a time and is used again. Unlike a thread it can be killed, which
happens to a handler that does not stop when it is told to.
"""

from __future__ import annotations

import multiprocessing
import signal as signals
import threading
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any

from .attempt import Attempt, LeasedJob
from .channel import DirectChannel
from .context import JobContext
from .errors import (
    CancelledException,
    FailedException,
    FailureCategory,
    HoldfastException,
    LeaseLostException,
)
from .kind import Kind
from .model import Artifact
from .outcome import Outcome, of_exception
from .source import StepReport
from .stop import StopKind, StopSignal

ANSWERED = ("event", "publish", "steps", "step", "suspend", "start_children", "children_ends")


def _sent(failure: Exception | None) -> tuple[Any, ...] | None:
    """What a pipe can carry of it."""
    if failure is None:
        return None
    if isinstance(failure, FailedException):
        return "failed", str(failure), failure.category.value, failure.code, failure.retryable
    if isinstance(failure, CancelledException):
        return "lost" if isinstance(failure, LeaseLostException) else "stop", str(failure)
    return "wrong" if isinstance(failure, ValueError) else "refused", str(failure)


def _received(sort: str, message: str, *said: Any) -> Exception:
    if sort == "failed":
        category, code, retryable = said
        return FailedException(FailureCategory(category), code, message, retryable=retryable)
    made = {"lost": LeaseLostException, "stop": CancelledException, "wrong": ValueError}
    return made.get(sort, HoldfastException)(message)


class HandlerProcess:
    """The worker's end of one process."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()
        self._lock = threading.Lock()
        self._current: Attempt | None = None

    def run(self, kind: Kind, attempt: Attempt, channel: DirectChannel) -> Outcome:
        with self._lock:
            self._current = attempt
        attempt.kill = lambda: self._kill(attempt)
        try:
            self._send(("run", kind, attempt.job.envelope, attempt.control))
            attempt.signal.on_stop(lambda: self._stop(attempt))
            return self._listen(attempt, channel)
        except (EOFError, OSError):
            self.process.join(5)
            message = (
                f"the handler's process ended with exit code {self.process.exitcode}: "
                "a signal, or a crash of native code"
            )
            died = FailedException(FailureCategory.INFRASTRUCTURE, "PROCESS_DIED", message)
            return of_exception(died, attempt.signal)
        finally:
            attempt.kill = None
            with self._lock:
                self._current = None

    def _listen(self, attempt: Attempt, channel: DirectChannel) -> Outcome:
        told = attempt.control
        while True:
            while not self._pipe.poll(0.25):
                if attempt.control != told:
                    told = attempt.control
                    self._send(("control", told))
            name, *args = self._pipe.recv()
            if name == "end":
                outcome: Outcome = args[0]
                return outcome
            try:
                answer = getattr(channel, name)(*args)
                failure = None
            except (HoldfastException, ValueError) as why:
                answer, failure = None, why
            if name in ANSWERED:
                self._send(("answer", answer, _sent(failure)))

    def _stop(self, attempt: Attempt) -> None:
        """Meant for this attempt alone: the process may be at another one by now."""
        with self._lock:
            if self._current is attempt:
                try:
                    self._pipe.send(("stop", attempt.signal.kind, attempt.signal.reason))
                except OSError:
                    pass

    def _kill(self, attempt: Attempt) -> None:
        with self._lock:
            if self._current is attempt:
                self.process.kill()

    def _send(self, message: tuple[Any, ...]) -> None:
        with self._lock:
            self._pipe.send(message)

    @property
    def alive(self) -> bool:
        return self.process.is_alive()

    def close(self) -> None:
        self.process.kill()
        self._pipe.close()


class HandlerProcesses:
    """Idle processes; as many exist as jobs of such kinds have run at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[HandlerProcess] = []
        self._all: set[HandlerProcess] = set()

    def run(self, kind: Kind, attempt: Attempt, channel: DirectChannel) -> Outcome:
        process = self._take()
        try:
            return process.run(kind, attempt, channel)
        finally:
            with self._lock:
                if process.alive:
                    self._idle.append(process)
                else:
                    self._all.discard(process)

    def _take(self) -> HandlerProcess:
        with self._lock:
            while self._idle:
                process = self._idle.pop()
                if process.alive:
                    return process
                self._all.discard(process)
        made = HandlerProcess()
        with self._lock:
            self._all.add(made)
        return made

    def close(self) -> None:
        with self._lock:
            processes, self._all, self._idle = self._all, set(), []
        for process in processes:
            process.close()


class PipeChannel:
    """The handler's end: the context's calls become messages."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self._lock = threading.Lock()
        self._asking = threading.Lock()
        self._answered = threading.Event()
        self._answer: tuple[Any, tuple[Any, ...] | None] = (None, None)
        self.asked: dict[str, Any] | None = None

    def send(self, *message: Any) -> None:
        with self._lock:
            self._pipe.send(message)

    def progress(self, percent: int, message: str) -> None:
        self.send("progress", percent, message)

    def log(self, text: str) -> None:
        self.send("log", text)

    def event(self, kind: str, data: Any) -> None:
        self._ask("event", kind, data)

    def publish(self, name: str, content: bytes) -> Artifact:
        artifact: Artifact = self._ask("publish", name, content)
        return artifact

    def steps(self) -> list[dict[str, Any]]:
        return list(self._ask("steps"))

    def step(self, report: StepReport) -> None:
        self._ask("step", report)

    def suspend(self, index: int, wait: dict[str, Any]) -> dict[str, Any]:
        return dict(self._ask("suspend", index, wait))

    def start_children(
        self, started_as: str, index: int, time: int, jobs: Sequence[str]
    ) -> list[str]:
        return list(self._ask("start_children", started_as, index, time, jobs))

    def children_ends(self, ids: Sequence[str]) -> list[dict[str, Any]]:
        return list(self._ask("children_ends", ids))

    def control(self) -> dict[str, Any] | None:
        return self.asked

    def _ask(self, *message: Any) -> Any:
        with self._asking:
            self._answered.clear()
            self.send(*message)
            self._answered.wait()
            answer, failure = self._answer
        if failure is not None:
            raise _received(*failure)
        return answer

    def hear(self, answer: Any, failure: tuple[Any, ...] | None) -> None:
        self._answer = (answer, failure)
        self._answered.set()


def _serve(pipe: Connection) -> None:
    """The main function of a handler's process: one job after the other, until the worker ends."""
    signals.signal(signals.SIGINT, signals.SIG_IGN)  # Ctrl-C is the worker's to handle
    work: list[tuple[Kind, JobContext, StopSignal]] = []
    ready = threading.Semaphore(0)
    channel = PipeChannel(pipe)

    def listen() -> None:
        signal = StopSignal()
        try:
            while True:
                name, *args = pipe.recv()
                if name == "run":
                    kind, envelope, channel.asked = args
                    signal = StopSignal()
                    work.append((kind, JobContext(LeasedJob(envelope), channel, signal), signal))
                    ready.release()
                elif name == "stop":
                    signal.stop(StopKind(args[0]), args[1])
                elif name == "control":
                    channel.asked = args[0]
                else:
                    channel.hear(*args)
        except (EOFError, OSError):
            signals.raise_signal(signals.SIGKILL)  # the worker is gone, and so is the lease

    threading.Thread(target=listen, name="holdfast-pipe", daemon=True).start()
    while True:
        ready.acquire()
        kind, context, signal = work.pop()
        channel.send("end", kind.perform(context.job.payload, context, signal))
