"""The worker programs of the libraries in this repository."""

from __future__ import annotations

import os
import subprocess
import sys

from .candidate import Candidate
from .program import REPOSITORY

WORKERS = REPOSITORY / "sdk/conformance/workers"
TOOLS_MISSING = 7
# Java's workers lease their jobs and take no pushed ones.
PUSH = frozenset({"push", "push-duplicate", "push-lease-lost", "push-token-renewed", "push-waits"})


def libraries() -> list[Candidate]:
    """Java, Python, TypeScript and Go; what cannot be had is said and left out."""
    return [*_java(), _python(), *_typescript(), *_go()]


def faulty() -> Candidate:
    """Does wrong whatever a scenario checks."""
    return Candidate("faulty", [sys.executable, str(WORKERS / "plain_worker.py")], faulty=True)


def plain() -> Candidate:
    return Candidate("plain", [sys.executable, str(WORKERS / "plain_worker.py")])


def batch() -> Candidate:
    """The worker that docs/guides/new-language.md describes; it takes no pushed tasks."""
    return Candidate("batch", [sys.executable, str(WORKERS / "batch_worker.py")], PUSH, False)


def _java() -> list[Candidate]:
    classes = REPOSITORY / "checks/system-tests/target/test-classes/dev/holdfast/sdk"
    if not (classes / "ConformanceWorker.class").exists():
        command = "mvn -Pchecks -DskipTests -pl checks/system-tests -am verify"
        print(f"java is left out: it is not compiled; run '{command}'", flush=True)
        return []
    return [Candidate("java", [str(WORKERS / "java_worker")], PUSH)]


def _python() -> Candidate:
    source = REPOSITORY / "sdk/python/src"
    command = ["env", f"PYTHONPATH={source}", sys.executable, str(WORKERS / "python_worker.py")]
    # It frees what it does not need at once.
    return Candidate("python", command, growth_mb=8.0)


def _typescript() -> list[Candidate]:
    folder = REPOSITORY / "sdk/typescript"
    if not _built("typescript"):
        return []
    program = folder / "target/consumer/out/tests/conformance-worker.js"
    return [Candidate("typescript", ["node", str(program)])]


def _go() -> list[Candidate]:
    if not _built("go"):
        return []
    return [Candidate("go", [str(REPOSITORY / "sdk/go/target/conformance")], growth_mb=16.0)]


def _built(language: str) -> bool:
    """Whether its library could be built; what is missing is said."""
    build = subprocess.run(
        [str(REPOSITORY / "sdk" / language / "test"), "--build"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ,
    )
    if build.returncode == TOOLS_MISSING:
        print(f"{language} is left out: {build.stdout.strip().splitlines()[-1]}", flush=True)
        return False
    if build.returncode != 0:
        raise RuntimeError(f"sdk/{language} cannot be built:\n{build.stdout}")
    return True
