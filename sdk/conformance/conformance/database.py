"""A PostgreSQL of the kit's own, without any other process of Holdfast on it.

'holdfast dev' unpacks PostgreSQL and makes the schema. It is then stopped, since its own
processes would take back the leases of a server that is restarted by a scenario.
"""

from __future__ import annotations

import configparser
import json
import os
import signal
import subprocess
import time
from pathlib import Path

from .program import REPOSITORY, Program

TIMEOUT = 60.0


def _installed(home: Path) -> Path:
    """The launcher of a checkout unpacks the server once, beside the build; a program, at home."""
    beside = REPOSITORY / "modules/app/target/postgres"
    for postgres in [*home.glob("bin-*/bin/postgres"), *beside.glob("**/bin/postgres")]:
        return postgres
    raise RuntimeError(f"no PostgreSQL was unpacked in {home} or {beside}")


class Database:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self.url = os.environ.get("CONFORMANCE_DATABASE_URL", "")

    def start(self) -> None:
        if self.url:
            environment = {"HOLDFAST_DATABASE_URL": self.url}
            migrate = Program(self._folder, "migrate", ["migrate"], environment)
            if migrate.process.wait() != 0:
                raise RuntimeError(f"'holdfast migrate' failed:\n{migrate.output()}")
            return
        made = Program(self._folder, "dev", ["dev", "-q", "unused"], {"HOLDFAST_SERVER_PORT": "0"})
        try:
            made.await_ready()
        except BaseException:
            made.stop()
            raise
        home = self._folder / ".holdfast"
        service = configparser.ConfigParser()
        service.read(home / "pg_service.conf")
        known = service["holdfast"]
        made.stop()
        self._run(home, known["port"])
        self.url = (
            f"postgresql://{known['user']}:{known['password']}"
            f"@127.0.0.1:{known['port']}/{known['dbname']}"
        )

    def _run(self, home: Path, port: str) -> None:
        postgres = _installed(home)
        log = self._folder / "postgres.log"
        with log.open("wb") as out:
            self._process = subprocess.Popen(
                [*_as_owner(home / "data"), str(postgres), "-D", str(home / "data"), "-p", port],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        until = time.monotonic() + TIMEOUT
        while time.monotonic() < until and self._process.poll() is None:
            for one in (log, home / "postgres.log"):
                if one.exists() and "ready to accept" in one.read_text().split("shut down")[-1]:
                    return
            time.sleep(0.1)
        raise RuntimeError(f"PostgreSQL did not start:\n{log.read_text()}")

    def admin_key(self) -> str:
        """By the command line, since a server whose database has keys gives none to strangers."""
        arguments = ["keys", "create", "--role", "admin", "--name", "conformance-kit", "--json"]
        env = {"HOLDFAST_DATABASE_URL": self.url}
        made = Program(self._folder, "keys", arguments, env)
        if made.process.wait() != 0:
            raise RuntimeError(f"'holdfast keys create' failed:\n{made.output()}")
        return str(json.loads(made.output()[made.output().index("{") :])["key"])

    @property
    def pid(self) -> int | None:
        """Of the postmaster, when the kit has started it."""
        return None if self._process is None else self._process.pid

    def close(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)  # a fast shutdown
            self._process.wait(60)


def _as_owner(data: Path) -> list[str]:
    """PostgreSQL refuses to run as root; 'holdfast dev' helps itself in the same two ways."""
    if os.getuid() != 0:
        return []
    owner = data.stat()
    if owner.st_uid == 0:
        return ["unshare", "--user"]
    return ["setpriv", f"--reuid={owner.st_uid}", f"--regid={owner.st_gid}", "--clear-groups"]
