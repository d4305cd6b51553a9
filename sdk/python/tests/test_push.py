"""The receiver without a network; the conformance kit has it behind a real server."""

from __future__ import annotations

import asyncio
import io
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from holdfast import PushReceiver, Worker

SECRET = "a-secret-of-the-tests"


class Place:
    """A worker with one place that is taken until ``leave``."""

    def __init__(self) -> None:
        self.worker = Worker(concurrency=1, shutdown_timeout=0.1)
        self.begun: list[Any] = []
        self.leave = threading.Event()

        @self.worker.handler("k")
        def handle(payload: Any) -> None:
            self.begun.append(payload)
            self.leave.wait(10)

        self.receiver = self.worker.push(SECRET, "another-secret-of-the-tests")


@pytest.fixture
def place() -> Iterator[Place]:
    place = Place()
    yield place
    place.leave.set()
    # Not waited for: what it has to say reaches no server, and it tries for a while.
    threading.Thread(target=place.worker.close, daemon=True).start()


def envelope(dispatch: str = "d1", kind: str = "k") -> bytes:
    return json.dumps(
        {
            "taskId": "01a1e9d0-d164-744c-8168-ef0f33f8838b",
            "attempt": 1,
            "kind": kind,
            "payload": 1,
            "workerQueue": "q",
            "dispatchId": dispatch,
            "taskToken": "t",
            "callbackBaseUrl": "http://127.0.0.1:9",
            "heartbeatIntervalMs": 30000,
            "heartbeatTimeoutMs": 90000,
            "newer": {"a": 1},
        }
    ).encode()


def post(receiver: PushReceiver, body: bytes, bearer: str = SECRET) -> int:
    return receiver.receive("POST", f"Bearer {bearer}", body)[0]


def test_only_the_dispatch_secret_is_let_in(place: Place) -> None:
    assert post(place.receiver, envelope(), "wrong-secret-of-the-tests") == 401
    assert place.receiver.receive("POST", "", envelope())[0] == 401
    assert place.receiver.receive("POST", SECRET, envelope())[0] == 401
    assert post(place.receiver, envelope(), "another-secret-of-the-tests") == 202


def test_what_is_no_task_is_refused_with_its_cause(place: Place) -> None:
    assert post(place.receiver, b"{") == 400
    assert post(place.receiver, b"[]") == 400
    assert post(place.receiver, b"{}") == 400
    status, said = place.receiver.receive("POST", f"Bearer {SECRET}", envelope(kind="other"))
    assert status == 404
    assert "'other'" in said["message"]
    assert place.receiver.receive("GET", f"Bearer {SECRET}", b"")[0] == 405


def test_a_repeated_dispatch_is_taken_once_and_a_full_worker_says_so(place: Place) -> None:
    assert post(place.receiver, envelope("d1")) == 202
    assert post(place.receiver, envelope("d1")) == 202
    assert place.worker.stats()["started"] == 1
    assert post(place.receiver, envelope("d2")) == 503


def test_wsgi_and_asgi_answer_alike(place: Place) -> None:
    answered: list[str] = []

    def start_response(status: str, headers: list[tuple[str, str]]) -> None:
        answered.append(status)

    body = envelope("d1")
    environ = {
        "REQUEST_METHOD": "POST",
        "CONTENT_LENGTH": str(len(body)),
        "HTTP_AUTHORIZATION": f"Bearer {SECRET}",
        "wsgi.input": io.BytesIO(body),
    }
    assert json.loads(b"".join(place.receiver.wsgi(environ, start_response))) == {"accepted": True}
    environ |= {"CONTENT_LENGTH": "99999999"}
    list(place.receiver.wsgi(environ, start_response))
    assert answered == ["202 Accepted", "413 Content Too Large"]
    assert asyncio.run(asgi(place.receiver, envelope("d2"), SECRET)) == (503, b"1")
    assert asyncio.run(asgi(place.receiver, body, "wrong"))[0] == 401


async def asgi(receiver: PushReceiver, body: bytes, bearer: str) -> tuple[int, bytes | None]:
    messages = [
        {"type": "http.request", "body": body[:10], "more_body": True},
        {"type": "http.request", "body": body[10:], "more_body": False},
    ]
    sent: list[Any] = []

    async def receive() -> Any:
        return messages.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"Authorization", f"Bearer {bearer}".encode())]
    scope = {"type": "http", "method": "POST", "headers": headers}
    await receiver.asgi(scope, receive, send)
    return sent[0]["status"], dict(sent[0]["headers"]).get(b"retry-after")


def test_the_lifespan_of_an_asgi_server_closes_the_worker(place: Place) -> None:
    place.leave.set()
    messages = [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]
    sent: list[str] = []

    async def receive() -> Any:
        return messages.pop(0)

    async def send(message: Any) -> None:
        sent.append(message["type"])

    asyncio.run(place.receiver.asgi({"type": "lifespan"}, receive, send))
    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
    assert post(place.receiver, envelope("d3")) == 503
