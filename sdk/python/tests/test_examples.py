"""The examples run as they are, and the README shows them as they are."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from conformance.plane import ControlPlane, free_port
from conftest import until

from holdfast import Holdfast, Job

FOLDER = Path(__file__).resolve().parents[1]
SECRET = "a-secret-of-the-examples"


@contextmanager
def started(plane: ControlPlane, name: str, **env: str) -> Iterator[None]:
    given = {"HOLDFAST_SERVER_URL": plane.url, "HOLDFAST_SERVER_API_KEY": plane.worker_key}
    command = [sys.executable, str(FOLDER / "examples" / name)]
    process = subprocess.Popen(command, env=os.environ | given | env)
    try:
        yield
    finally:
        process.terminate()
        process.wait(30)


@pytest.mark.parametrize(
    ("name", "queue", "kind", "payload", "result"),
    [
        ("async_worker.py", "mail", "send-mail", {"to": "a@b"}, {"to": "a@b"}),
        ("steps_worker.py", "books", "ingest", {"text": "a bc def"}, 6),
    ],
)
def test_an_example_worker_does_its_job(
    plane: ControlPlane, holdfast: Holdfast, name: str, queue: str, kind: str, payload: Any,
    result: Any,
) -> None:  # fmt: skip
    with started(plane, name):
        job = Job(kind=kind, payload=payload, queue=queue)
        holdfast.enqueue(job)
        assert holdfast.result(job.id, 60) == result


def test_the_example_that_waits(plane: ControlPlane, holdfast: Holdfast) -> None:
    with started(plane, "durable_worker.py"):
        user = {"name": "Ada", "pages": ["one", "one two"], "cool_off": 0.2}
        job = Job("onboard", user, queue="onboarding")
        holdfast.enqueue(job)
        holdfast.signal(job.id, "contract", {"number": "C-17"})
        until(lambda: (holdfast.get(job.id).raw.get("waitsFor") or {}).get("id") == "limit", 60)
        holdfast.decide(job.id, "limit", True)
        wanted = {"signed": "C-17", "raised": True, "words": [1, 2]}
        assert holdfast.result(job.id, 60) == wanted


def test_the_example_that_computes(plane: ControlPlane, holdfast: Holdfast) -> None:
    with started(plane, "cpu_worker.py"):
        job = Job(kind="stretch", payload={"text": "a"}, queue="compute")
        holdfast.enqueue(job)
        assert len(holdfast.result(job.id, 60)) == 64


def test_the_example_that_hands_in_and_its_worker(plane: ControlPlane) -> None:
    given = {"HOLDFAST_SERVER_URL": plane.url, "HOLDFAST_SERVER_API_KEY": plane.admin_key}
    command = [sys.executable, str(FOLDER / "examples" / "hand_in.py")]
    with started(plane, "worker.py"):
        out = subprocess.run(
            command, env=os.environ | given, capture_output=True, text=True, timeout=90, check=True
        )
    assert out.stdout == "{'width': 640}\n"


def test_the_example_of_a_push(plane: ControlPlane, holdfast: Holdfast) -> None:
    port, queue = free_port(), f"pushed-{uuid.uuid4().hex[:8]}"
    with started(plane, "push_worker.py", DISPATCH_SECRET=SECRET, PORT=str(port)):
        dispatch = {"url": f"http://127.0.0.1:{port}/", "secret": SECRET}
        plane.call("PUT", f"/v1/queues/{queue}/dispatch", dispatch)
        job = Job(kind="echo", payload=[1, "ü"], queue=queue)
        holdfast.enqueue(job)
        assert holdfast.result(job.id, 60) == [1, "ü"]
        plane.call("DELETE", f"/v1/queues/{queue}/dispatch")


def test_the_readme_shows_the_examples_as_they_are() -> None:
    text = (FOLDER / "README.md").read_text()
    shown = re.findall(r"<!-- snippet: sdk/python/(\S+) -->\n```python\n(.*?)```", text, re.DOTALL)
    assert text.count("```python") == len(shown)
    assert len(shown) >= 5
    for name, code in shown:
        assert code == (FOLDER / name).read_text(), name
