"""Takes pushed tasks as a WSGI or ASGI application."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import ssl
import threading
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, MutableMapping, Sequence
from typing import Any

from .attempt import Attempt
from .engine import Engine
from .http import Http, dump
from .kind import Kind
from .tasks import TaskSource

log = logging.getLogger("holdfast")

MOST_BYTES = 8 * 1024 * 1024
REMEMBERED = 10_000
SHORTEST_SECRET = 16

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Answer = tuple[int, dict[str, Any]]

REASONS = {
    202: "Accepted",
    400: "Bad Request",
    401: "Unauthorized",
    404: "Not Found",
    405: "Method Not Allowed",
    413: "Content Too Large",
    503: "Service Unavailable",
}


class PushReceiver:
    """Answers 202 at once and works afterwards. A repeated dispatch is taken once."""

    def __init__(
        self,
        engine: Engine,
        kinds: dict[str, Kind],
        secrets: Sequence[str],
        worker: str,
        callback_url: str | None,
        start: Callable[[], None],
        close: Callable[[], None],
        tls: ssl.SSLContext | None,
    ) -> None:
        if not secrets or min(map(len, secrets)) < SHORTEST_SECRET:
            raise ValueError("dispatch secret: give one of 16 characters or more")
        self._engine = engine
        self._kinds = kinds
        self._secrets = [f"Bearer {one}".encode() for one in secrets]
        self._worker = worker
        self._callback_url = callback_url
        self._start = start
        self._close = close
        self._tls = tls
        self.asgi = AsgiApplication(self.receive, start, close)
        """An ASGI application."""
        self._lock = threading.Lock()
        self._sources: dict[str, TaskSource] = {}
        self._seen: OrderedDict[str, None] = OrderedDict()

    def receive(self, method: str, authorization: str, body: bytes) -> Answer:
        # 401 fails the task with its cause; 503 has the server send it again.
        if not self._authentic(authorization):
            return 401, {"error": "secret_invalid", "message": "this is not the dispatch secret"}
        if method != "POST":
            return 405, {"error": "method_not_allowed", "message": "tasks are sent by POST"}
        try:
            envelope = json.loads(body)
            kind, dispatch = envelope["kind"], envelope["dispatchId"]
            base = self._callback_url or envelope["callbackBaseUrl"]
            attempt = Attempt(envelope, self._source(base), self._worker, time.monotonic())
        except (ValueError, KeyError, TypeError, RecursionError) as why:
            return 400, {"error": "bad_envelope", "message": f"not a task envelope: {why!r}"}
        if kind not in self._kinds:
            known = ", ".join(sorted(self._kinds))
            message = f"no handler for kind {kind!r}; there are {known}"
            return 404, {"error": "no_handler", "message": message}
        self._start()
        with self._lock:
            if dispatch not in self._seen:
                if self._engine.free(0.0) == 0:
                    return 503, {"error": "busy", "message": "all slots are taken"}
                self._seen[dispatch] = None
                if len(self._seen) > REMEMBERED:
                    self._seen.popitem(last=False)
                attempt.announced = False
                self._engine.run([attempt])
        return 202, {"accepted": True}

    def _authentic(self, authorization: str) -> bool:
        shown = authorization.encode("utf-8", "replace")
        return any(hmac.compare_digest(shown, secret) for secret in self._secrets)

    def _source(self, url: str) -> TaskSource:
        with self._lock:
            source = self._sources.get(url)
            if source is None:
                source = TaskSource(Http(url, context=self._tls), self._worker)
                self._sources[url] = source
            return source

    def wsgi(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        length = environ.get("CONTENT_LENGTH") or "0"
        size = int(length) if length.isdigit() else 0
        authorization = environ.get("HTTP_AUTHORIZATION", "")
        if size > MOST_BYTES:
            status, said = 413, _too_large()
        else:
            body = environ["wsgi.input"].read(size) if size else b""
            status, said = self.receive(environ["REQUEST_METHOD"], authorization, body)
        content = dump(said).encode()
        headers = [(name, value) for name, value in _headers(status, content).items()]
        start_response(f"{status} {REASONS[status]}", headers)
        return [content]


class AsgiApplication:
    """An object and not a method: uvicorn takes a bound method for an ASGI 2 application."""

    def __init__(
        self,
        receive: Callable[[str, str, bytes], Answer],
        start: Callable[[], None],
        close: Callable[[], None],
    ) -> None:
        self._receive = receive
        self._start = start
        self._close = close

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1003})
        else:
            raise ValueError(f"{scope['type']} is not served: tasks are sent by HTTP")

    async def _http(self, scope: Message, receive: Receive, send: Send) -> None:
        body = bytearray()
        more = True
        while more and len(body) <= MOST_BYTES:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            more = message.get("more_body", False)
        headers = {name.lower(): value for name, value in scope["headers"]}
        authorization = headers.get(b"authorization", b"").decode("latin-1")
        if len(body) > MOST_BYTES:
            status, said = 413, _too_large()
        else:
            status, said = self._receive(scope["method"], authorization, bytes(body))
        content = dump(said).encode()
        answered = [
            (name.lower().encode(), value.encode())
            for name, value in _headers(status, content).items()
        ]
        await send({"type": "http.response.start", "status": status, "headers": answered})
        await send({"type": "http.response.body", "body": content})

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                self._start()
                await send({"type": "lifespan.startup.complete"})
            else:
                await asyncio.to_thread(self._close)
                await send({"type": "lifespan.shutdown.complete"})
                return


def _too_large() -> dict[str, Any]:
    return {"error": "body_too_large", "message": f"over {MOST_BYTES:,} bytes"}


def _headers(status: int, content: bytes) -> dict[str, str]:
    headers = {"Content-Type": "application/json", "Content-Length": str(len(content))}
    if status == 503:
        headers["Retry-After"] = "1"
    return headers
