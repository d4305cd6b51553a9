"""A proxy between worker and server, in which scenarios put faults."""

from __future__ import annotations

import contextlib
import http.client
import json
import select
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "host", "date", "server"}


@dataclass
class Response:
    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)
    is_fault: bool = False
    """Whether the kit has made it up."""

    @staticmethod
    def problem(status: int, error: str, **headers: str) -> Response:
        body = json.dumps({"error": error, "message": "a fault of the conformance kit"}).encode()
        return Response(status, body, {"Content-Type": "application/json", **headers}, True)


@dataclass
class Exchange:
    """One request of the worker, and how to send it on."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    upstream: tuple[str, int]
    callback_url: str
    client: socket.socket
    at: float = field(default_factory=time.monotonic)
    status: int | None = None

    @property
    def is_lease(self) -> bool:
        return self.path.endswith("/lease") or self.path.endswith("/queues/wait")

    @property
    def is_heartbeat(self) -> bool:
        return self.path.endswith("/heartbeat") or "/leases/commands" in self.path

    @property
    def is_end(self) -> bool:
        return self.path.endswith("/completed") or self.path.endswith("/leases/settle")

    @property
    def is_wait(self) -> bool:
        """Whether a handler asks to wait."""
        return self.path.endswith("/leases/suspend") or (
            "/v1/tasks/" in self.path and self.path.endswith("/wait")
        )

    def forward(self) -> Response:
        """Ends the request to the server when the worker hangs up, as a real proxy does."""
        connection = http.client.HTTPConnection(*self.upstream, timeout=120)
        try:
            headers = {k: v for k, v in self.headers.items() if k.lower() not in HOP}
            connection.request(self.method, self.path, self._sent(), headers)
            self._await_answer(connection.sock)
            answer = connection.getresponse()
            content = answer.read()
            kept = {k: v for k, v in answer.getheaders() if k.lower() not in HOP}
            return Response(answer.status, self._rewritten(content), kept)
        except OSError:
            return Response.problem(502, "bad_gateway")
        finally:
            connection.close()

    def _await_answer(self, server: socket.socket) -> None:
        while True:
            ready, _, _ = select.select([server, self.client], [], [], 120)
            if server in ready or not ready:
                return
            if self.hung_up():
                raise ConnectionAbortedError("the worker hung up")
            time.sleep(0.05)

    def hung_up(self) -> bool:
        try:
            return self.client.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
        except BlockingIOError:
            return False
        except OSError:
            return True

    def _sent(self) -> bytes | None:
        return self._rewritten(self.body) if self.body else None

    def _rewritten(self, content: bytes) -> bytes:
        """Envelopes name the server; their callbacks are to come through the proxy as well."""
        if b'"callbackBaseUrl"' not in content:
            return content
        data = json.loads(content)
        for envelope in data.get("tasks", [data]):
            envelope["callbackBaseUrl"] = self.callback_url
        return json.dumps(data, ensure_ascii=False).encode()


Rule = Callable[[Exchange], Response | None]


def pass_on(exchange: Exchange) -> Response | None:
    return exchange.forward()


def refuse_replaced_tokens() -> Rule:
    """Refuses a task's token a second after a heartbeat was answered with a fresh one.

    So does a server some time after its signing key was rotated.
    """
    replaced: dict[str, float] = {}

    def rule(exchange: Exchange) -> Response | None:
        given = next((v for k, v in exchange.headers.items() if k.lower() == "authorization"), "")
        if exchange.at > replaced.get(given, exchange.at) + 1:
            return Response.problem(401, "token_expired")
        response = exchange.forward()
        if exchange.is_heartbeat and response.status == 200:
            token = json.loads(response.body).get("taskToken")
            if token and given != f"Bearer {token}":
                replaced.setdefault(given, time.monotonic())
        return response

    return rule


class FaultProxy:
    """``rule`` answers each request; None closes the connection without an answer."""

    def __init__(
        self, upstream: tuple[str, int], callback_url: str | None = None, answers: str = "server"
    ) -> None:
        """``answers`` says who does."""
        self.rule: Rule = pass_on
        self.exchanges: list[Exchange] = []
        self.refusals: deque[str] = deque(maxlen=10)
        """The last requests that were answered 4xx, with the answers."""
        self.open: set[socket.socket] = set()
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                size = int(self.headers.get("Content-Length") or 0)
                body = self.rfile.read(size)
                exchange = Exchange(
                    self.command,
                    self.path,
                    dict(self.headers),
                    body,
                    upstream,
                    proxy.callback_url,
                    self.connection,
                )
                proxy.exchanges.append(exchange)
                proxy.open.add(self.connection)
                response = proxy.rule(exchange)
                if response is None:
                    self.close_connection = True
                    return
                exchange.status = response.status
                if response.status // 100 == 4 and not response.is_fault:
                    text = response.body[:600].decode("utf-8", "replace")
                    proxy.refusals.append(
                        f"the {answers} answered {exchange.method} {exchange.path} "
                        f"with {response.status} {text}"
                    )
                try:
                    self.send_response(response.status)
                    for name, value in response.headers.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(response.body)))
                    self.end_headers()
                    self.wfile.write(response.body)
                except OSError:
                    self.close_connection = True

            do_GET = do_POST = do_PUT = do_DELETE = answer

            def log_message(self, *_: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 64

            def handle_error(self, *_: Any) -> None:
                pass

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self.callback_url = callback_url or self.url
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def cut(self) -> None:
        """Ends all connections, and answers nothing from here on."""
        self.rule = lambda _: None
        for connection in list(self.open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self.open.clear()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
