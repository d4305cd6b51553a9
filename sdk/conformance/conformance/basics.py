"""Leases, payloads, results, failures, progress and steps, without faults on the way."""

from __future__ import annotations

import signal

from .plane import LEASE
from .registry import scenario
from .stage import Stage

TEXTS = {
    "plain": "hello",
    "umlauts": "Größe, naïve, Ελληνικά, 日本語",
    "beyond the first plane": "😀 𐍈 👩‍👩‍👧",
    "right to left": "שלום مرحبا",
    "escapes": 'quote " backslash \\ slash / newline \n tab \t bell \x07 line \u2028',
    "schlüssel 😀": {"nested": ["é", "e\u0301", None, True, 1.5, -7, []]},
}


@scenario(quick=True, shared=True)
def echo(stage: Stage) -> None:
    """Leases jobs and reports what their handlers returned, each by its first attempt."""
    stage.worker()
    jobs = stage.enqueue_all("echo", [{"n": n} for n in range(1, 21)])
    for n, id_ in enumerate(jobs, 1):
        stage.expect(id_, state="SUCCEEDED", attempt=1, result={"n": n})
        stage.check(stage.count("begin", id_) == 1, f"job {id_} was begun more than once")


@scenario(shared=True)
def unicode(stage: Stage) -> None:
    """Payload and result carry every character unchanged."""
    stage.worker()
    stage.expect(stage.enqueue("echo", TEXTS), state="SUCCEEDED", result=TEXTS)


@scenario(shared=True)
def large_payload(stage: Stage) -> None:
    """Payload and result of almost 1 MiB."""
    stage.worker()
    payload = {"text": "0123456789abcdef" * 60_000}
    stage.expect(stage.enqueue("echo", payload), state="SUCCEEDED", result=payload)


@scenario(shared=True)
def result_too_large(stage: Stage) -> None:
    """A result over 1 MiB fails the job at once instead of leaving it to run out."""
    stage.worker()
    id_ = stage.enqueue("large", {"bytes": 2_000_000}, maxAttempts=1)
    job = stage.expect(id_, state="FAILED", attempt=1, crashes=0)
    stage.check(job["failure"]["message"] != "", "the failure has no message")
    stage.alive()


@scenario()
def concurrency(stage: Stage) -> None:
    """Runs as many jobs at once as it was told, and no more."""
    # All are there before the worker is, so that only its limit holds them back.
    jobs = stage.enqueue_all("sleep", [{"ms": 3_000}] * 5)
    stage.worker(concurrency=2)
    for id_ in jobs:
        stage.expect(id_, state="SUCCEEDED", attempt=1)
    running = most = 0
    for line in stage.journal():
        running += 1 if line.startswith("begin") else -1
        most = max(most, running)
    stage.check(most == 2, f"{most} jobs ran at once, not 2")


@scenario(shared=True)
def failures(stage: Stage) -> None:
    """Category, code, message, retryable and a delay of the handler's own reach the server."""
    stage.worker()
    bad = {"category": "DATA_QUALITY", "code": "BAD_ROW", "message": "row 7 — ungültig", "until": 9}
    failed = stage.expect(stage.enqueue("fail", bad), state="FAILED", attempt=1)["failure"]
    for name in ("category", "code", "message"):
        stage.check(failed[name] == bad[name], f"failure.{name} is {failed[name]!r}")
    again = {"category": "INFRASTRUCTURE", "code": "BUSY", "message": "later", "until": 2}
    stage.expect(stage.enqueue("fail", again), state="SUCCEEDED", attempt=2, failures=1)
    later = stage.enqueue("fail", again | {"retryAfterMs": 3_500})
    job = stage.expect(later, state="SUCCEEDED", attempt=2)
    first, second = job["attempts"][:2]
    stage.check(
        _seconds(second["startedAt"]) - _seconds(first["endedAt"]) >= 3.4,
        "the second attempt began before retryAfterMs had passed",
    )


def _seconds(time: str) -> float:
    """Seconds of the day; no scenario runs over midnight for long enough to matter."""
    hours, minutes, seconds = time[11:].rstrip("Z").split(":")
    return int(hours) * 3600 + int(minutes) * 60 + float(seconds)


@scenario(shared=True)
def progress_and_log(stage: Stage) -> None:
    """Progress and log lines can be read while the job runs and after it."""
    stage.worker()
    id_ = stage.enqueue("progress", {"percent": 40, "message": "Hälfte 😀", "lines": ["a", "b ü"]})
    stage.until(lambda: stage.job(id_).get("progress") == 40, "progress of 40 %")
    job = stage.expect(id_, state="SUCCEEDED", attempt=1)
    stage.check(job["progressMessage"] == "Hälfte 😀", f"message: {job['progressMessage']!r}")
    parts = stage.plane.call("GET", f"/v1/jobs/{id_}/log")["parts"]
    text = "".join(part["text"] for part in parts)
    stage.check(text.splitlines() == ["a", "b ü"], f"the log is {text!r}")


@scenario(first=True)
def heartbeats_while_blocked(stage: Stage) -> None:
    """A handler that blocks its thread for more than two leases keeps its job."""
    stage.worker()
    id_ = stage.enqueue("block", {"ms": round(LEASE * 2_500)})
    stage.expect(id_, LEASE * 2.5, state="SUCCEEDED", attempt=1, crashes=0)


@scenario()
def steps_resumed(stage: Stage) -> None:
    """After a kill another worker goes on behind the last checkpoint."""
    first = stage.worker()
    id_ = stage.enqueue("steps", {"steps": ["a", "b", "c"], "stopIn": "b"})
    stage.await_note("step:b", id_)
    first.signal(signal.SIGKILL)
    first.process.wait()
    stage.worker()
    job = stage.expect_later_attempt(id_)
    last = job["attempt"]
    wanted = [{"step": name, "attempt": 1 if name == "a" else last} for name in "abc"]
    stage.check(job["result"] == wanted, f"the steps' results are {job['result']}")
    stage.check(stage.count("step:a", id_) == 1, "step a ran again although it was done")
