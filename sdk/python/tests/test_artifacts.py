from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import computing
import pytest
from conftest import Run

from holdfast import Holdfast, JobContext, RefusedException, Worker


def test_files_of_a_job_are_published_and_read_again(
    make_worker: Callable[..., Worker], holdfast: Holdfast, run: Run, tmp_path: Path
) -> None:
    worker = make_worker()
    file = tmp_path / "rows.csv"
    file.write_text("a;b\n")

    @worker.handler("k")
    def handle(payload: Any, ctx: JobContext) -> list[Any]:
        ctx.publish("a b.txt", b"first")
        ctx.publish("a b.txt", b"second")
        made = ctx.publish("rows.csv", file)
        return [made.name, made.size]

    worker.handler("process", process=True)(computing.publishes)
    worker.start()
    status = run("k")
    assert status.result == ["rows.csv", 4]
    assert sorted(one.name for one in holdfast.artifacts(status.id)) == ["a b.txt", "rows.csv"]
    assert holdfast.artifact(status.id, "a b.txt") == b"second"
    status = run("process")
    assert holdfast.artifact(status.id, "out.bin") == bytes(range(256))
    with pytest.raises(RefusedException, match="not_found"):
        holdfast.artifact(status.id, "other.bin")


def test_a_file_that_cannot_be_published_says_why(
    make_worker: Callable[..., Worker], run: Run
) -> None:
    worker = make_worker()

    @worker.handler("k")
    def handle(payload: Any, ctx: JobContext) -> None:
        ctx.publish(payload["name"], b"x" * payload["size"])

    worker.start()
    for name, size, words in ((".hidden", 1, "bad_name"), ("a", (64 << 20) + 1, "over 64 MiB")):
        failure = run("k", {"name": name, "size": size}, max_attempts=1).failure
        assert failure is not None
        assert words in failure.message
