"""Which job a line of the log is about."""

from __future__ import annotations

import logging
from contextvars import ContextVar

from .attempt import LeasedJob

current: ContextVar[LeasedJob | None] = ContextVar("holdfast_job", default=None)


def current_job() -> LeasedJob | None:
    """The job whose handler called this, in whatever function, coroutine or thread pool task."""
    return current.get()


class JobLogFilter(logging.Filter):
    """Gives each record ``job_id``, ``job_kind`` and ``job_attempt``, None outside of handlers.

    ``handler.addFilter(JobLogFilter())``, and ``%(job_id)s`` in its format. ``%(in_job)s`` is a
    text to append to a message, and empty outside of handlers.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        job = current.get()
        record.job_id = job and job.id
        record.job_kind = job and job.kind
        record.job_attempt = job and job.attempt
        record.in_job = f" [{job!r}]" if job else ""
        return True
