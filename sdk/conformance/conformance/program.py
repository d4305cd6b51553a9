"""Processes of the built program."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
START_TIMEOUT = 240.0
# What the environment says of the database and the JVM; all other settings are the kit's.
KEPT = ("HOLDFAST_DATABASE_ALLOW_UNSAFE", "HOLDFAST_JAVA_OPTS")


def launcher() -> list[str]:
    """HOLDFAST_PROGRAM is a folder with holdfast.jar; without it the checkout is built and run."""
    program = os.environ.get("HOLDFAST_PROGRAM")
    if not program:
        return [str(REPOSITORY / "holdfast")]
    home = os.environ.get("JAVA_HOME")
    java = f"{home}/bin/java" if home else "java"
    jar = str(Path(program) / "holdfast.jar")
    options = ["-XX:+UseSerialGC", "-Xmx384m", "--enable-native-access=ALL-UNNAMED"]
    options += os.environ.get("HOLDFAST_JAVA_OPTS", "").split()
    return [java, *options, "-cp", jar, "dev.holdfast.app.Main"]


class Program:
    """One process of the built program, with its output in a file."""

    def __init__(self, folder: Path, name: str, arguments: list[str], env: dict[str, str]) -> None:
        self._log = folder / f"{name}.log"
        inherited = {
            k: v for k, v in os.environ.items() if k in KEPT or not k.startswith("HOLDFAST_")
        }
        with self._log.open("ab") as out:
            self._start = out.tell()
            self.process = subprocess.Popen(
                [*launcher(), *arguments],
                cwd=folder,
                env=inherited | env,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
            )

    def await_ready(self) -> None:
        until = time.monotonic() + START_TIMEOUT
        while time.monotonic() < until and self.process.poll() is None:
            if any(line.startswith("ready") for line in self.output().splitlines()):
                return
            time.sleep(0.2)
        raise RuntimeError(f"the server did not start; its output:\n{self.output()[-3000:]}")

    def output(self) -> str:
        return self._log.read_bytes()[self._start :].decode("utf-8", "replace")

    def stop(self, timeout: float = 30.0) -> None:
        self.process.terminate()
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
