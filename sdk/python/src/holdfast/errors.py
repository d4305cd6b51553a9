"""What can go wrong, by what the caller can do about it."""

from __future__ import annotations

from enum import Enum
from typing import Any


class FailureCategory(str, Enum):
    """Decides whether a failed attempt is tried again, unless the failure says so itself."""

    USER_CODE = "USER_CODE"
    DATA_QUALITY = "DATA_QUALITY"
    INFRASTRUCTURE = "INFRASTRUCTURE"
    CONFIGURATION = "CONFIGURATION"
    TIMEOUT = "TIMEOUT"
    CANCELLED = "CANCELLED"

    @property
    def retryable(self) -> bool:
        return self.name in ("USER_CODE", "INFRASTRUCTURE", "TIMEOUT")


NEVER_RETRIED = (
    "INPUT_TOO_LARGE",
    "VALIDATION",
    "NO_HANDLER",
    "DEADLINE_EXCEEDED",
    "CANCEL_TIMEOUT",
    "TOXIC_JOB",
    "NOT_DECIDED",
    "NOT_SIGNALLED",
    "REJECTED",
)
"""Codes of failures that another attempt cannot help, whatever their category."""


class HoldfastException(Exception):
    """Base class of all exceptions of this package."""


class ServerUnavailableException(HoldfastException):
    """The server did not answer, or asked for a pause. The same request can be sent again."""

    def __init__(self, message: str, retry_after: float | None = None, status: int = 0) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.status = status


class RefusedException(HoldfastException):
    """The request cannot be taken as it is. ``error`` is a name for programs."""

    def __init__(self, status: int, error: str, message: str, fields: dict[str, Any]) -> None:
        super().__init__(f"{message} ({status} {error})")
        self.status = status
        self.error = error
        self.fields = fields


class NotFoundException(RefusedException):
    """There is no such job, or it belongs to another tenant."""


class KeyRefusedException(RefusedException):
    """The API key or the dispatch secret is missing, unknown, revoked or of another role."""


class JobFailedException(HoldfastException):
    """The job that a caller waited for ended FAILED or CANCELLED."""

    def __init__(self, job_id: str, state: str, code: str, message: str) -> None:
        super().__init__(f"job {job_id} is {state}: {code}: {message}")
        self.job_id = job_id
        self.state = state
        self.code = code


class CancelledException(HoldfastException):
    """Raised in a handler that should stop. Let it through."""


class LeaseLostException(CancelledException):
    """The attempt no longer holds its job. Leave the handler; nothing it sends is taken."""


class LeaveHandler(BaseException):
    """Leaves a handler whose job waits, or goes on as another one. Let it through.

    No Exception, because handlers may well catch those. What a handler does that catches it all
    the same is passed over.
    """


class SnoozeException(HoldfastException):
    """``raise ctx.snooze(seconds)``: run the job again later, without using its budget."""

    def __init__(self, delay: float) -> None:
        if delay < 0:
            raise ValueError(f"snooze of {delay} s: give a delay of 0 or more seconds")
        super().__init__(f"snoozed for {delay} s")
        self.delay = delay


class FailedException(HoldfastException):
    """Fails the attempt with a category and a code of the handler's own."""

    def __init__(
        self,
        category: FailureCategory,
        code: str,
        message: str,
        *,
        retryable: bool | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.category = FailureCategory(category)
        self.code = code
        if retryable is None:
            retryable = self.category.retryable and code not in NEVER_RETRIED
        self.retryable = retryable
        self.retry_after = retry_after


def refused(code: str, message: str) -> FailedException:
    """What another attempt would do just as wrong."""
    return FailedException(FailureCategory.USER_CODE, code, message, retryable=False)
