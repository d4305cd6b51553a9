"""Processes of the built program."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from glob import glob
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
START_TIMEOUT = 240.0
# What the environment says of the database and the JVM; all other settings are the kit's.
KEPT = ("HOLDFAST_DATABASE_ALLOW_UNSAFE", "HOLDFAST_JAVA_OPTS")


# Where bin/find-java looks; the program needs no compiler.
HOMES = (
    "/usr/lib/jvm/*",
    "/usr/java/*",
    "/opt/java/*",
    "/opt/jdk*",
    "~/.sdkman/candidates/java/*",
    "~/.jdks/*",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
)
OLDEST_JAVA = 21


def java() -> str:
    """That of JAVA_HOME or of the PATH if it will do, and else the newest that is installed."""
    on_path = shutil.which("java")
    first = [os.environ.get("JAVA_HOME"), on_path and Path(on_path).resolve().parents[1]]
    homes = [Path(one) for one in first if one]
    others = [Path(one) for pattern in HOMES for one in glob(os.path.expanduser(pattern))]
    homes += sorted(others, key=java_version, reverse=True)
    for home in homes:
        if java_version(home) >= OLDEST_JAVA and (home / "bin/java").exists():
            return str(home / "bin/java")
    raise RuntimeError(
        f"no Java {OLDEST_JAVA} or later was found: install one (on Debian: apt-get install "
        "openjdk-21-jre-headless) or set JAVA_HOME to where it is"
    )


def java_version(home: Path) -> int:
    """The major version, or 0."""
    try:
        found = re.search(r'^JAVA_VERSION="(\d+)', (home / "release").read_text(), re.MULTILINE)
    except OSError:
        return 0
    return int(found.group(1)) if found else 0


def launcher() -> list[str]:
    """CONFORMANCE_PROGRAM is a folder with holdfast.jar; without it the checkout is built."""
    program = os.environ.get("CONFORMANCE_PROGRAM")
    if not program:
        return [str(REPOSITORY / "holdfast")]
    jar = str(Path(program) / "holdfast.jar")
    options = ["-XX:+UseSerialGC", "-Xmx384m", "--enable-native-access=ALL-UNNAMED"]
    options += os.environ.get("HOLDFAST_JAVA_OPTS", "").split()
    return [java(), *options, "-cp", jar, "dev.holdfast.app.Main"]


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
