"""How an attempt ended, and what its handler's exception means."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from typing import Any

from .attempt import sendable
from .errors import FailedException, FailureCategory, RefusedException, SnoozeException
from .http import dump
from .model import Failure
from .stop import StopKind, StopSignal

RESULT_BYTES = 1024 * 1024
MESSAGE_CHARS = 4_000
STACK_CHARS = 32_000


@dataclass(frozen=True)
class Succeeded:
    output: str
    """JSON, encoded on the handler's thread."""


@dataclass(frozen=True)
class Failed:
    failure: Failure
    delay: float | None = None


@dataclass(frozen=True)
class Cancelled:
    reason: str


@dataclass(frozen=True)
class Snoozed:
    delay: float


@dataclass(frozen=True)
class Released:
    """Given back unharmed, because the worker shuts down."""


@dataclass(frozen=True)
class Continued:
    """Another job goes on in place of this one."""

    payload: str
    """JSON."""


@dataclass(frozen=True)
class Suspended:
    """The attempt has ended by a wait: nothing is reported."""


@dataclass(frozen=True)
class Lost:
    """Another attempt holds the job, or it has ended: nothing is reported."""


Outcome = Succeeded | Failed | Cancelled | Snoozed | Released | Continued | Suspended | Lost


def failed(category: FailureCategory, code: str, message: str, retryable: bool) -> Failed:
    return Failed(Failure(category, code, sendable(message[:MESSAGE_CHARS]), retryable))


def of_result(result: Any, signal: StopSignal) -> Outcome:
    """Finished work counts, even if the handler was asked to stop meanwhile."""
    if signal.kind is StopKind.LEASE_LOST:
        return Lost()
    try:
        output = dump(result)
        size = len(output.encode())
    except (TypeError, ValueError, RecursionError) as why:
        message = f"the handler's result is not JSON: {why}; return dicts, lists, texts, numbers"
        return failed(FailureCategory.USER_CODE, "RESULT_NOT_JSON", message, False)
    if size > RESULT_BYTES:
        message = f"a result of {size:,} bytes is over 1 MiB: store it and return a reference"
        return failed(FailureCategory.USER_CODE, "RESULT_TOO_LARGE", message, False)
    return Succeeded(output)


def of_next(payload: str, signal: StopSignal) -> Outcome:
    """A loop without end ends here, where it is cancelled and at its deadline."""
    if signal.kind in (StopKind.LEASE_LOST, StopKind.CANCELLED, StopKind.DEADLINE_EXCEEDED):
        return of_exception(TimeoutError(), signal)
    return Continued(payload)


def refused_end(why: RefusedException) -> Failed:
    """The server does not take the end of an attempt, and would not from another."""
    code = "RESULT_TOO_LARGE" if why.status == 413 else "RESULT_NOT_JSON"
    if why.error == "bad_dependency":
        code = "BAD_DEPENDENCY"
    message = f"the server refused the end of the attempt: {why}"
    return failed(FailureCategory.USER_CODE, code, message, False)


def of_exception(error: BaseException, signal: StopSignal) -> Outcome:
    """What leaves a handler that was told to stop is a consequence of the stop."""
    kind, reason = signal.kind, signal.reason
    if kind is StopKind.LEASE_LOST:
        return Lost()
    if kind is StopKind.CANCELLED:
        return Cancelled(reason)
    if kind is StopKind.SHUTDOWN:
        return Released()
    if kind is StopKind.ATTEMPT_TIMEOUT or kind is StopKind.DEADLINE_EXCEEDED:
        retryable = kind is StopKind.ATTEMPT_TIMEOUT
        return failed(FailureCategory.TIMEOUT, kind.value, reason, retryable)
    if isinstance(error, SnoozeException):
        return Snoozed(error.delay)
    if isinstance(error, FailedException):
        failure = Failure(
            error.category,
            sendable(error.code[:100]),
            sendable(str(error)[:MESSAGE_CHARS]),
            error.retryable,
            _stack(error),
        )
        return Failed(failure, error.retry_after)
    code = "OUT_OF_MEMORY" if isinstance(error, MemoryError) else "HANDLER_FAILED"
    message = sendable(f"{type(error).__name__}: {error}"[:MESSAGE_CHARS])
    return Failed(Failure(FailureCategory.USER_CODE, code, message, True, _stack(error)))


def _stack(error: BaseException) -> str:
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    return sendable(text[-STACK_CHARS:])
