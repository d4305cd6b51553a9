"""Client and worker for Holdfast, a job platform on PostgreSQL. Standard library only."""

from .attempt import LeasedJob
from .children import Child, ChildEnd, ChildFailedException
from .client import Holdfast
from .context import JobContext
from .errors import (
    CancelledException,
    FailedException,
    FailureCategory,
    HoldfastException,
    JobFailedException,
    KeyRefusedException,
    LeaseLostException,
    LeaveHandler,
    NotFoundException,
    RefusedException,
    ServerUnavailableException,
    SnoozeException,
)
from .logs import JobLogFilter, current_job
from .model import Artifact, Cancellation, Enqueued, Event, Failure, Job, JobState, JobStatus
from .push import PushReceiver
from .steps import Step
from .waits import Approval
from .worker import Worker

__all__ = [
    "Approval",
    "Artifact",
    "Cancellation",
    "CancelledException",
    "Child",
    "ChildEnd",
    "ChildFailedException",
    "Enqueued",
    "Event",
    "FailedException",
    "Failure",
    "FailureCategory",
    "Holdfast",
    "HoldfastException",
    "Job",
    "JobContext",
    "JobFailedException",
    "JobLogFilter",
    "JobState",
    "JobStatus",
    "KeyRefusedException",
    "LeaseLostException",
    "LeasedJob",
    "LeaveHandler",
    "NotFoundException",
    "PushReceiver",
    "RefusedException",
    "ServerUnavailableException",
    "SnoozeException",
    "Step",
    "Worker",
    "current_job",
]
