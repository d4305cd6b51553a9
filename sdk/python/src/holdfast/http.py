"""JSON over persistent HTTP/1.1 connections of the standard library."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import random
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

from .errors import (
    KeyRefusedException,
    NotFoundException,
    RefusedException,
    ServerUnavailableException,
)
from .typed import plain

JSON = "application/json"
BYTES = "application/octet-stream"
MAX_IDLE = 8


def dump(value: object, default: Callable[[Any], Any] = plain) -> str:
    """Strict JSON: NaN and infinity are refused, as the server refuses them."""
    return json.dumps(
        value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=default
    )


ApiKey = str | Callable[[], str | None]
"""An API key, or a function that has it: it is called for each request."""


def server_url(given: str | None) -> str:
    return given or os.environ.get("HOLDFAST_SERVER_URL") or "http://127.0.0.1:8420"


def server_key(given: ApiKey | None) -> ApiKey | None:
    return given or os.environ.get("HOLDFAST_SERVER_API_KEY") or None


class Backoff:
    """Pauses that double from ``first`` to ``longest`` seconds, each with jitter of one half."""

    def __init__(self, first: float = 0.1, longest: float = 5.0) -> None:
        self._first = first
        self._longest = longest
        self._next = first

    def reset(self) -> None:
        self._next = self._first

    def pause(self, failure: BaseException | None = None) -> float:
        """The next pause; never shorter than the server's ``Retry-After``."""
        pause = self._next * random.uniform(0.5, 1.0)
        self._next = min(self._longest, self._next * 2)
        asked = getattr(failure, "retry_after", None)
        return pause if asked is None else max(pause, float(asked))


class Http:
    """One server and one credential. Safe to use from several threads."""

    def __init__(
        self, url: str, token: ApiKey | None = None, *, context: ssl.SSLContext | None = None
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"server URL {url!r}: give one such as http://127.0.0.1:8420")
        self.url = url.rstrip("/")
        self._host = parts.hostname
        self._port = parts.port
        self.base = parts.path.rstrip("/")
        self._tls: ssl.SSLContext | None = None
        if parts.scheme == "https":
            self._tls = context or ssl.create_default_context()
        self._token = token
        self._lock = threading.Lock()
        self._idle: list[http.client.HTTPConnection] = []
        self._busy: set[http.client.HTTPConnection] = set()

    def get(self, path: str, timeout: float = 40.0) -> Any:
        return self.call("GET", path, None, timeout)

    def post(self, path: str, body: object, timeout: float = 40.0) -> Any:
        return self.call("POST", path, dump(body).encode(), timeout)

    def call(
        self,
        method: str,
        path: str,
        body: bytes | None,
        timeout: float,
        token: str | None = None,
        content_type: str = JSON,
    ) -> Any:
        """The decoded JSON of a 2xx answer; an exception for anything else."""
        return _decoded(self.content(method, path, body, timeout, token, content_type))

    def content(
        self,
        method: str,
        path: str,
        body: bytes | None,
        timeout: float,
        token: str | None = None,
        content_type: str = JSON,
    ) -> bytes:
        """The same, and not decoded."""
        headers = self.headers(token)
        answer = self._exchange(method, path, body, timeout, headers, content_type)
        if answer[0] == 401 and (fresh := self.headers(token)) != headers:
            answer = self._exchange(method, path, body, timeout, fresh, content_type)
        status, retry_after, content = answer
        if status // 100 == 2:
            return content
        raise problem(status, retry_after, content)

    def _exchange(
        self,
        method: str,
        path: str,
        body: bytes | None,
        timeout: float,
        headers: dict[str, str],
        content_type: str,
    ) -> tuple[int, str | None, bytes]:
        with self.connection(timeout) as connection:
            headers = dict(headers)
            if body is not None:
                headers["Content-Type"] = content_type
            connection.request(method, self.base + path, body, headers)
            response = connection.getresponse()
            content = response.read()
            if response.will_close:
                connection.close()
        return response.status, response.headers.get("Retry-After"), content

    def headers(self, token: str | None = None) -> dict[str, str]:
        bearer = token or (self._token() if callable(self._token) else self._token)
        accept = {"Accept": JSON}
        return accept | {"Authorization": f"Bearer {bearer}"} if bearer else accept

    @contextlib.contextmanager
    def connection(self, timeout: float) -> Iterator[http.client.HTTPConnection]:
        """A connection that is kept for the next call unless this one fails."""
        connection = self._take(timeout)
        try:
            yield connection
        except (OSError, http.client.HTTPException) as failure:
            self._drop(connection)
            what = f"no answer from {self.url}: {_advice(failure, timeout)}"
            raise ServerUnavailableException(what) from failure
        except BaseException:
            self._drop(connection)
            raise
        with self._lock:
            self._busy.discard(connection)
            if len(self._idle) < MAX_IDLE:
                self._idle.append(connection)
                return
        connection.close()

    def _take(self, timeout: float) -> http.client.HTTPConnection:
        with self._lock:
            while self._idle:
                connection = self._idle.pop()
                if connection.sock is not None and _closed_by_peer(connection.sock):
                    connection.close()
                    continue
                self._busy.add(connection)
                connection.timeout = timeout
                if connection.sock is not None:
                    connection.sock.settimeout(timeout)
                return connection
        if self._tls is None:
            made = http.client.HTTPConnection(self._host, self._port, timeout=timeout)
        else:
            made = http.client.HTTPSConnection(
                self._host, self._port, timeout=timeout, context=self._tls
            )
        with self._lock:
            self._busy.add(made)
        return made

    def _drop(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            self._busy.discard(connection)
        connection.close()

    def abort(self) -> None:
        """Ends requests that are under way in other threads, and closes idle connections."""
        with self._lock:
            busy, idle = list(self._busy), self._idle
            self._idle = []
        for connection in busy:
            sock = connection.sock
            if sock is not None:
                with contextlib.suppress(OSError):
                    sock.shutdown(socket.SHUT_RDWR)
        for connection in idle:
            connection.close()


def _advice(failure: Exception, timeout: float) -> str:
    if isinstance(failure, ConnectionRefusedError):
        return "nobody listens there; is it running, and is this its port?"
    if isinstance(failure, socket.gaierror):
        return "there is no such host; check the address"
    if isinstance(failure, TimeoutError):
        return f"it took longer than {timeout:g} s"
    if isinstance(failure, ssl.SSLCertVerificationError):
        return f"{failure}; give a context that knows its certificate as tls"
    return str(failure) or type(failure).__name__


def _closed_by_peer(sock: socket.socket) -> bool:
    """An idle connection has nothing to read; one that is readable was closed."""
    try:
        sock.settimeout(0)
        return not isinstance(sock, ssl.SSLSocket) and sock.recv(1, socket.MSG_PEEK) == b""
    except (BlockingIOError, ssl.SSLWantReadError):
        return False
    except OSError:
        return True


def _decoded(content: bytes) -> Any:
    try:
        return json.loads(content) if content else None
    except ValueError as failure:
        raise ServerUnavailableException(f"the answer is not JSON: {failure}") from failure


def problem(status: int, retry_after: str | None, content: bytes) -> Exception:
    """The exception for an answer that is not 2xx."""
    try:
        body = json.loads(content)
    except ValueError:
        body = None
    fields = body if isinstance(body, dict) else {}
    error = str(fields.get("error", "unknown"))
    message = str(fields.get("message", content[:200].decode("utf-8", "replace")))
    # A server that stops may answer 400 bad_request to a request that was whole.
    interrupted = status == 400 and error == "bad_request"
    if interrupted or status >= 500 or status in (408, 425, 429) or status // 100 == 3:
        after = float(retry_after) if retry_after and retry_after.isdigit() else None
        return ServerUnavailableException(f"{message} ({status} {error})", after, status)
    if status in (401, 403):
        advice = "make a key with 'holdfast keys create --role ...' and pass it as api_key"
        return KeyRefusedException(status, error, f"{message}; {advice}", fields)
    if status == 404:
        return NotFoundException(status, error, message, fields)
    return RefusedException(status, error, message, fields)
