"""A worker: handlers by kind, and the threads that feed them."""

from __future__ import annotations

import logging
import multiprocessing
import os
import secrets
import signal
import socket
import ssl
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from .engine import Engine
from .errors import ServerUnavailableException
from .http import ApiKey, Http, server_key, server_url
from .kind import Kind
from .leases import LeaseSource
from .logs import JobLogFilter
from .poller import Poller
from .push import PushReceiver

log = logging.getLogger("holdfast")

F = TypeVar("F", bound=Callable[..., Any])

START_TIMEOUT = 15.0
REFUSED_TIMEOUT = 5.0


class Worker:
    """``Worker("media")``, handlers by ``@worker.handler(kind)``, then ``worker.run()``.

    ``lease`` is after how many seconds without a heartbeat its jobs are given to others;
    heartbeats are sent three times as often. ``poll`` is how often it looks for jobs that
    nothing announces, such as retries. ``api_key`` may be a function that has the key.
    """

    def __init__(
        self,
        *queues: str,
        url: str | None = None,
        api_key: ApiKey | None = None,
        concurrency: int = 10,
        shutdown_timeout: float = 30.0,
        lease: float = 30.0,
        poll: float = 1.0,
        unknown_kinds: float = 300.0,
        name: str | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        if not 1 <= concurrency <= 10_000:
            raise ValueError(f"concurrency of {concurrency}: give 1 to 10,000 jobs at once")
        if not 0.1 <= lease <= 86_400:
            raise ValueError(f"lease of {lease} s: give 0.1 seconds to a day")
        if not 0.01 <= poll <= 60:
            raise ValueError(f"poll of {poll} s: give 0.01 to 60 seconds")
        self._queues = queues
        self._url = server_url(url)
        self._key = server_key(api_key)
        self._tls = tls
        self._lease = lease
        self._poll = poll
        self._shutdown_timeout = shutdown_timeout
        self.name = name or f"py-{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(3)}"
        self._kinds: dict[str, Kind] = {}
        self._engine = Engine(self._kinds, concurrency, unknown_kinds)
        self._poller: Poller | None = None
        self._started = False
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._hurry = threading.Event()
        self._serving = False
        self._closed = False

    def handler(
        self,
        kind: str,
        *,
        process: bool = False,
        strict: bool = False,
        payload: type | Callable[[Any], Any] | None = None,
    ) -> Callable[[F], F]:
        """Registers ``def f(payload)`` or ``def f(payload, ctx)``, plain or async, for a kind.

        ``process`` runs it in a process of its own, for work that computes or holds the GIL.
        ``strict`` stops it when its lease may have run out, even if nobody has said so.
        ``payload`` makes the handler's argument and checks it: a dataclass, a model of pydantic,
        another type such as ``list[int]``, or a function. Unless given, it is the annotation of the
        argument, when that is a dataclass or a model.
        """

        def register(function: F) -> F:
            if kind in self._kinds:
                raise ValueError(f"kind {kind!r} has a handler already: give each kind one")
            self._kinds[kind] = Kind(
                kind, function, process=process, strict=strict, payload=payload
            )
            return function

        return register

    def start(self) -> Worker:
        """Checks server and key, then serves the queues until ``close``."""
        if not self._queues:
            raise ValueError("no queue: name those to serve, as in Worker('media')")
        self._begin()
        http = Http(self._url, self._key, context=self._tls)
        source = LeaseSource(http, self.name, self._lease)
        self._check(source)
        polling = Http(self._url, self._key, context=self._tls)
        self._engine.start()
        self._serving = True
        self._poller = Poller(polling, source, self._engine, self._queues, self._poll)
        self._poller.start()
        log.info("%s serves %s at %s", self.name, ", ".join(self._queues), self._url)
        return self

    def _begin(self) -> None:
        if not self._kinds:
            raise ValueError("no handlers: register one with @worker.handler('kind')")
        if getattr(multiprocessing.current_process(), "_inheriting", False):
            raise RuntimeError(
                "a handler's process imports this module and must not start the worker again: "
                "put worker.run() below  if __name__ == '__main__':"
            )
        with self._lock:
            if self._started or self._closed:
                raise RuntimeError("this worker was started or closed before: make a new one")
            self._started = True

    def _check(self, source: LeaseSource) -> None:
        began = time.monotonic()
        while True:
            try:
                source.depth(self._queues)
                return
            except ServerUnavailableException as away:
                refused = isinstance(away.__cause__, ConnectionRefusedError)
                timeout = REFUSED_TIMEOUT if refused else START_TIMEOUT
                unknown = isinstance(away.__cause__, socket.gaierror)
                if unknown or time.monotonic() - began > timeout:
                    raise
            time.sleep(0.25)

    def run(self) -> None:
        """Serves until SIGTERM or SIGINT; a second signal gives running jobs back at once.

        What goes on is logged to standard error unless the program has set up logging.
        """
        _log_somewhere()
        before = {one: signal.getsignal(one) for one in (signal.SIGTERM, signal.SIGINT)}
        for one in before:
            signal.signal(one, self._signalled)
        try:
            self.start()
            while not self._stop.wait(1.0):
                pass
        finally:
            self.close()
            for one, handler in before.items():
                signal.signal(one, handler)

    def _signalled(self, *_: object) -> None:
        if self._stop.is_set():
            self._hurry.set()
        self._stop.set()

    def close(self) -> None:
        """Leases nothing more, waits for running jobs, then stops the rest and gives them back."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        self._stop.set()
        self._engine.drain()
        if not self._serving:
            return
        if self._poller is not None:
            log.info("%s stops; %d jobs are running", self.name, self._engine.running)
            self._poller.stop()
        self._engine.stop(self._shutdown_timeout, self._hurry)
        log.info("%s has stopped", self.name)

    def push(self, *secrets_: str, callback_url: str | None = None) -> PushReceiver:
        """A WSGI and ASGI application for a queue's dispatch URL; give it the queue's secret.

        With two secrets either is accepted, so that one can be replaced without a gap.
        """
        self._begin()
        return PushReceiver(
            self._engine,
            self._kinds,
            secrets_,
            self.name,
            callback_url,
            self._serve_pushed,
            self.close,
            self._tls,
        )

    def _serve_pushed(self) -> None:
        """With the first request: threads do not outlive the fork of a web server."""
        with self._lock:
            if self._serving or self._closed:
                return
            self._engine.start()
            self._serving = True

    def stats(self) -> dict[str, int]:
        """started, settled, refused, suspended and given_up so far; running and unsettled now."""
        return self._engine.stats()

    def __enter__(self) -> Worker:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()


def _log_somewhere() -> None:
    if not log.hasHandlers():
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s%(in_job)s"))
        handler.addFilter(JobLogFilter())
        log.addHandler(handler)
        log.setLevel(logging.INFO)
