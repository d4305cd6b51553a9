"""The receiver behind the web servers that Python programs use: each as a process of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from conformance.plane import ControlPlane, free_port
from conftest import until

from holdfast import Holdfast, Job, JobState

SECRET = "a-secret-of-the-tests"
FOLDER = Path(__file__).resolve().parents[1]

SERVERS = {
    "uvicorn": "uvicorn {module}:asgi --port {port}",
    "hypercorn": "hypercorn {module}:asgi --bind 127.0.0.1:{port}",
    "gunicorn": "gunicorn {module}:wsgi --config {conf} --threads 4 --bind 127.0.0.1:{port}",
    "gunicorn --preload": "gunicorn {module}:wsgi --preload --config {conf} --threads 4 "
    "--bind 127.0.0.1:{port}",
}


class WebServer:
    def __init__(self, name: str, folder: Path, module: str, conf: str, log: Path) -> None:
        self.port = free_port()
        arguments = SERVERS[name].format(module=module, conf=conf, port=self.port).split()
        self.journal = log.with_suffix(".journal")
        self._log = log
        given = {"DISPATCH_SECRET": SECRET, "JOURNAL": str(self.journal)}
        with log.open("wb") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-m", *arguments],
                cwd=folder,
                env=os.environ | given,
                stdout=out,
                stderr=subprocess.STDOUT,
            )

    def listens(self) -> bool:
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", self.port)) == 0

    def stop(self) -> str:
        """What it wrote."""
        self.process.terminate()
        self.process.wait(60)
        return self._log.read_text()


@contextmanager
def pushed(plane: ControlPlane, queue: str, server: WebServer) -> Iterator[None]:
    """Has the server send the queue's tasks to a web server once that listens."""
    until(server.listens, 60)
    dispatch = {"url": f"http://127.0.0.1:{server.port}/", "secret": SECRET}
    plane.call("PUT", f"/v1/queues/{queue}/dispatch", dispatch)
    try:
        yield
    finally:
        plane.call("DELETE", f"/v1/queues/{queue}/dispatch")


@pytest.mark.parametrize("name", SERVERS)
def test_the_example_works_behind_a_real_web_server(
    name: str, plane: ControlPlane, holdfast: Holdfast, queue: str, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    server = WebServer(name, FOLDER / "examples", "push_worker", "gunicorn_conf.py", log)
    try:
        with pushed(plane, queue, server):
            jobs = [Job("echo", [n, "ü"], queue=queue) for n in range(5)]
            holdfast.enqueue(jobs)
            for n, job in enumerate(jobs):
                assert holdfast.result(job.id, 60) == [n, "ü"]
    finally:
        text = server.stop()
    assert "Traceback" not in text, text
    assert "ERROR" not in text.upper(), text


@pytest.mark.parametrize("name", SERVERS)
def test_a_web_server_that_stops_gives_its_jobs_back_without_a_crash(
    name: str, plane: ControlPlane, holdfast: Holdfast, queue: str, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    server = WebServer(name, FOLDER / "tests", "pushing", "pushing.py", log)
    try:
        with pushed(plane, queue, server):
            job = Job("wait", queue=queue, max_attempts=1)
            holdfast.enqueue(job)
            until(server.journal.exists, 60)
        text = server.stop()
    finally:
        server.process.kill()
    status = holdfast.get(job.id)
    assert (status.state, status.failures, status.crashes) == (JobState.PENDING, 0, 0), text
