"""An application of a worker that waits, for real web servers to serve."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from holdfast import JobContext, Worker

worker = Worker(shutdown_timeout=0.1)


@worker.handler("wait")
def wait(payload: Any, ctx: JobContext) -> None:
    Path(os.environ["JOURNAL"]).write_text(f"{os.getpid()}\n")
    ctx.idle(60)


receiver = worker.push(os.environ["DISPATCH_SECRET"])
asgi, wsgi = receiver.asgi, receiver.wsgi


def worker_exit(server: object, process: object) -> None:
    """The hook of gunicorn's configuration, for which this module is given as well."""
    import pushing

    pushing.worker.close()
