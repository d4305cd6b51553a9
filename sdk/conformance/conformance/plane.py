"""The control plane: a real server from the built program, on a database of its own.

With CONFORMANCE_SERVER and CONFORMANCE_ADMIN_KEY it is a server that runs already, and has the
settings below. Scenarios that restart the server then cannot run.
"""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from .database import Database
from .program import Program

HEARTBEAT_INTERVAL = 1.0
# Long enough for a machine that has much else to do.
LEASE = 10.0
GRACE = 6.0
TOKEN_TTL = 5.0
# A heartbeat brings a fresh token when half of the life of the other is over.
OUTLASTS_TOKEN = TOKEN_TTL + 5.0
RESTART_TIMEOUT = 240.0
CALL_TIMEOUT = 60.0

SETTINGS = {
    "HEARTBEAT_INTERVAL_MS": str(round(HEARTBEAT_INTERVAL * 1000)),
    "HEARTBEAT_TIMEOUT_MS": str(round(LEASE * 1000)),
    "CANCEL_GRACE_PERIOD_MS": str(round(GRACE * 1000)),
    "TOKEN_TTL_SECONDS": str(round(TOKEN_TTL)),
    "HOLDFAST_RETRIES_DELAY": "1s",
    "HOLDFAST_RETRIES_FACTOR": "1",
    "HOLDFAST_SERVER_REQUESTS_PER_SECOND": "0",
    "HOLDFAST_DISPATCH_ALLOW": "127.0.0.1",
}


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class ControlPlane:
    """A database for all scenarios and a server that can be restarted alone."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="holdfast-conformance-"))
        self.folder.chmod(0o755)
        given = os.environ.get("CONFORMANCE_SERVER", "")
        self.is_own = not given
        """Whether the server can be restarted."""
        self.port = free_port() if self.is_own else int(urlsplit(given).port or 80)
        self.url = f"http://127.0.0.1:{self.port}"
        self._database = Database(self.folder)
        self._server: Program | None = None
        self._restart: threading.Barrier | None = None
        self._connections = threading.local()
        # A start costs most of a scenario; with too many at once, leases of others run out.
        self.starting = threading.Semaphore(max(2, os.cpu_count() or 2))
        self.workers: list[subprocess.Popen[bytes]] = []
        """All worker programs that were started here."""
        self.admin_key = os.environ.get("CONFORMANCE_ADMIN_KEY", "") if given else ""
        self.worker_key = ""

    def start(self) -> None:
        if self.is_own:
            self._database.start()
            self.admin_key = self._database.admin_key()
            self.start_server()
        made = self.call("POST", "/v1/keys", {"name": "worker", "role": "worker"})
        self.worker_key = made["key"]

    @property
    def server_pid(self) -> int | None:
        return None if self._server is None else self._server.process.pid

    @property
    def database_pid(self) -> int | None:
        return self._database.pid

    def start_server(self, **settings: str) -> None:
        database = {"HOLDFAST_DATABASE_URL": self._database.url}
        env = SETTINGS | database | {"HOLDFAST_SERVER_PORT": str(self.port)} | settings
        self._server = Program(self.folder, "server", ["server"], env)
        self._server.await_ready()

    def restart_together(self, parties: int) -> None:
        """From here on ``restart`` waits for so many scenarios, and restarts the server once."""
        self._restart = threading.Barrier(parties, self._restart_now, RESTART_TIMEOUT)

    def restart(self) -> None:
        """Kills the server and starts it again; returns when it answers."""
        assert self._restart is not None
        self._restart.wait()

    def _restart_now(self) -> None:
        self.kill_server()
        time.sleep(1.5)
        self.start_server()

    def kill_server(self) -> None:
        assert self._server is not None
        self._server.kill()

    def close_when_told(self) -> None:
        """Ctrl-C and SIGTERM end the kit at once, with all that it has started."""

        def leave(number: int, _: object) -> None:
            for worker in self.workers:
                worker.kill()  # without a worker its scenario ends soon, and nobody waits for it
            self.close()
            os._exit(128 + number)

        signal.signal(signal.SIGTERM, leave)
        signal.signal(signal.SIGINT, leave)

    def close(self) -> None:
        if self._server is not None:
            self._server.stop()
        self._database.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def call(self, method: str, path: str, body: object = None, bearer: str | None = None) -> Any:
        """Repeats it while the server is away, so a job to enqueue must have an id."""
        headers = {"Content-Type": "application/json"}
        if bearer or self.admin_key:
            headers["Authorization"] = f"Bearer {bearer or self.admin_key}"
        sent = None if body is None else json.dumps(body).encode()
        until = time.monotonic() + CALL_TIMEOUT
        while True:
            try:
                status, content = self._send(method, path, sent, headers)
            except (OSError, http.client.HTTPException):
                if time.monotonic() > until:
                    raise
            else:
                if status < 400:
                    return json.loads(content)
                if status != 503 or time.monotonic() > until:
                    text = content.decode("utf-8", "replace")
                    raise RuntimeError(f"{method} {path}: {status} {text}")
            time.sleep(0.3)

    def _send(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[int, bytes]:
        """Each thread has a connection that stays open, since scenarios look at jobs often."""
        connection: http.client.HTTPConnection | None = getattr(self._connections, "open", None)
        if connection is None:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
            self._connections.open = connection
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException):
            connection.close()
            raise
