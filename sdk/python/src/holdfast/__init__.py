"""Client and worker for Holdfast, a job platform on PostgreSQL. Standard library only."""

from .attempt import LeasedJob
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
    NotFoundException,
    RefusedException,
    ServerUnavailableException,
    SnoozeException,
)
from .logs import JobLogFilter, current_job
from .model import Artifact, Cancellation, Enqueued, Event, Failure, Job, JobState, JobStatus
from .push import PushReceiver
from .steps import Step
from .worker import Worker

__all__ = [
    "Artifact",
    "Cancellation",
    "CancelledException",
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
    "NotFoundException",
    "PushReceiver",
    "RefusedException",
    "ServerUnavailableException",
    "SnoozeException",
    "Step",
    "Worker",
    "current_job",
]
