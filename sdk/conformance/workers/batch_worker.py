"""A worker on /v1/leases, written after docs/guides/new-language.md alone: no library, no faults.

It takes no pushed tasks. Its four threads are those of the page: claim, heartbeat, settle, and one
for each job.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import threading
import time
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import quote, urlencode

URL, KEY = os.environ["CONFORMANCE_URL"], os.environ["CONFORMANCE_KEY"]
QUEUE = os.environ["CONFORMANCE_QUEUE"]
LEASE_MS = int(os.environ["CONFORMANCE_LEASE_MS"])
WAIT_MS = int(os.environ["CONFORMANCE_WAIT_MS"])
WORKER = f"batch-{os.getpid()}-{time.time_ns()}"

Json = dict[str, Any]
stopping = threading.Event()
places = threading.Semaphore(int(os.environ["CONFORMANCE_CONCURRENCY"]))
held: dict[tuple[str, int], Job] = {}
ends: queue.Queue[tuple[Job, Json]] = queue.Queue()


class Refused(Exception):
    """4xx but 429: the same request would be refused again."""


class Stopped(Exception):
    pass


class Failed(Exception):
    pass


def call(method: str, path: str, body: Json | None = None) -> Any:
    """Repeats the request until it is answered, for as long as that takes."""
    pause = 0.2
    while True:
        request = urllib.request.Request(URL + path, method=method)
        request.add_header("Authorization", f"Bearer {KEY}")
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        after = 0.0
        try:
            with urllib.request.urlopen(request, timeout=75) as answer:
                return json.loads(answer.read())
        except urllib.error.HTTPError as error:
            if error.code != 429 and error.code < 500:
                raise Refused(error.read().decode()) from None
            after = float(error.headers.get("Retry-After") or 0)
        except (OSError, ValueError):
            pass
        time.sleep(max(pause, after))
        pause = min(2.0, pause * 2)


class Job:
    def __init__(self, task: Json) -> None:
        self.task, self.payload, self.kind = task, task["payload"], task["kind"]
        self.id, self.attempt = task["taskId"], task["attempt"]
        self.key = {"taskId": self.id, "attempt": self.attempt, "workerId": WORKER}
        self.stop = threading.Event()
        self.why = ""

    def tell_stop(self, why: str) -> None:
        self.why = self.why or why
        self.stop.set()

    def run(self) -> None:
        timers = [
            threading.Timer(self.task[name] / 1000, self.tell_stop, [code])
            for name, code in (
                ("timeoutMs", "ATTEMPT_TIMEOUT"),
                ("deadlineMs", "DEADLINE_EXCEEDED"),
            )
            if self.task.get(name) is not None
        ]
        for timer in timers:
            timer.daemon = True
            timer.start()
        self.work()
        for timer in timers:
            timer.cancel()

    def work(self) -> None:
        try:
            end: Json = {"outcome": "SUCCEEDED", "output": HANDLERS[self.kind](self)}
        except Stopped:
            end = {"outcome": "RELEASED" if self.why == "shutdown" else "CANCELLED"}
            if self.why in ("ATTEMPT_TIMEOUT", "DEADLINE_EXCEEDED"):
                again = self.why == "ATTEMPT_TIMEOUT"
                end = failure("TIMEOUT", self.why, "the time of the attempt is over", again)
        except Failed as failed:
            end = {"outcome": "FAILED"} | failed.args[0]
        except Exception as error:
            end = failure("USER_CODE", "HANDLER_FAILED", f"{type(error).__name__}: {error}", True)
        if self.why == "lost":
            held.pop((self.id, self.attempt), None)
            places.release()
        else:
            ends.put((self, end))

    def report(self, said: Json) -> None:
        acks = call("POST", "/v1/leases/report", {"reports": [self.key | said]})["acks"]
        if acks[0] == "LEASE_LOST":
            self.tell_stop("lost")
            raise Stopped

    def note(self, word: str) -> None:
        with open(os.environ["CONFORMANCE_JOURNAL"], "a") as journal:
            journal.write(f"{word} {self.kind} {self.id} {self.attempt}\n")


def failure(category: str, code: str, message: str, retryable: bool) -> Json:
    error = {"category": category, "code": code, "message": message, "retryable": retryable}
    return {"outcome": "FAILED", "error": error}


# ---- claim, heartbeat, settle


def claim() -> None:
    while not stopping.is_set():
        free = 0
        while free < 100 and places.acquire(blocking=free == 0, timeout=0.2 if free == 0 else None):
            free += 1
        if free == 0:
            continue
        body = {"workerId": WORKER, "max": free, "waitMs": 0, "leaseMs": LEASE_MS}
        tasks = call("POST", f"/v1/queues/{quote(QUEUE)}/lease", body)["tasks"]
        for task in tasks:
            job = Job(task)
            held[job.id, job.attempt] = job
            threading.Thread(target=job.run, daemon=True).start()
        for _ in range(free - len(tasks)):
            places.release()
        if not tasks and not stopping.is_set():
            wait = {"workerId": WORKER, "queues": [QUEUE], "waitMs": WAIT_MS}
            call("POST", "/v1/queues/wait", wait)


def hear(leases: list[Json]) -> None:
    for one in leases:
        job = held.get((one["taskId"], one["attempt"]))
        if job is not None and one["ack"] == "LEASE_LOST":
            job.tell_stop("lost")
        elif job is not None and one.get("cancelReason") is not None:
            job.tell_stop("cancel")


def heartbeats() -> None:
    beat_at = time.monotonic()
    while True:
        time.sleep(0.5)
        if not held:
            continue
        if time.monotonic() >= beat_at:
            beat_at = time.monotonic() + LEASE_MS / 3000
            leases = [job.key for job in list(held.values())[:1000]]
            body = {"leaseMs": LEASE_MS, "leases": leases}
            hear(call("POST", "/v1/leases/heartbeat", body)["leases"])
        else:
            hear(call("GET", f"/v1/leases/commands?workerId={quote(WORKER)}")["leases"])


def settle() -> None:
    while True:
        batch = [ends.get()]
        while len(batch) < 500 and not ends.empty():
            batch.append(ends.get())
        send(batch)


def send(batch: list[tuple[Job, Json]]) -> None:
    """A refused batch is sent one by one, and what is refused alone fails its job."""
    try:
        call("POST", "/v1/leases/settle", {"settlements": [job.key | end for job, end in batch]})
    except Refused as refused:
        for job, end in batch:
            if len(batch) > 1:
                send([(job, end)])
            else:
                send([(job, failure("USER_CODE", "BAD_RESULT", str(refused)[:500], False))])
        return
    for job, _ in batch:
        held.pop((job.id, job.attempt), None)
        places.release()


# ---- the kinds that the kit asks for


def span(job: Job) -> float:
    later = job.payload.get("later", job.payload["ms"])
    return float(job.payload["ms"] if job.attempt == 1 else later) / 1000


def echo(job: Job) -> Any:
    job.note("begin")
    return job.payload


def sleep(job: Job) -> Json:
    job.note("begin")
    if job.stop.wait(span(job)):
        job.note("stopped")
        raise Stopped
    job.note("end")
    return {"attempt": job.attempt}


def block(job: Job) -> Json:
    job.note("begin")
    time.sleep(span(job))
    job.note("end")
    return {"attempt": job.attempt}


def fail(job: Job) -> Json:
    job.note("begin")
    given = job.payload
    if job.attempt >= given["until"]:
        return {"attempt": job.attempt}
    retryable = given["category"] in ("USER_CODE", "INFRASTRUCTURE", "TIMEOUT")
    end = failure(given["category"], given["code"], given["message"], retryable)
    raise Failed(end | ({"delayMs": given["retryAfterMs"]} if "retryAfterMs" in given else {}))


def progress(job: Job) -> None:
    text = "".join(f"{line}\n" for line in job.payload["lines"])
    job.report({"log": {"piece": 1, "text": text}})
    job.report({"progressPct": job.payload["percent"], "message": job.payload["message"]})
    time.sleep(2.5)


def steps(job: Job) -> list[Any]:
    job.note("begin")
    known = call("GET", f"/v1/leases/steps?{urlencode(job.key)}")["steps"]
    before = {one["stepId"]: one for one in known}
    results = []
    for index, name in enumerate(job.payload["steps"], 1):
        done = before.get(name, {"state": "", "attempt": 0})
        if done["state"] == "DONE":
            results.append(done["checkpoint"])
            continue
        about = {"stepId": name, "stepIndex": index, "stepAttempt": done["attempt"] + 1}
        about |= {"reset": False, "events": []}
        job.report({"step": about | {"state": "RUNNING"}})
        job.note(f"step:{name}")
        if job.attempt == 1 and job.payload.get("stopIn") == name and job.stop.wait(60):
            raise Stopped
        results.append({"step": name, "attempt": job.attempt})
        job.report({"step": about | {"state": "DONE", "checkpoint": results[-1]}})
    return results


HANDLERS = {
    "noop": lambda job: None,
    "echo": echo,
    "sleep": sleep,
    "block": block,
    "fail": fail,
    "progress": progress,
    "large": lambda job: "x" * int(job.payload["bytes"]),
    "steps": steps,
}


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    claimer = threading.Thread(target=claim, daemon=True)
    for thread in (
        claimer,
        threading.Thread(target=heartbeats, daemon=True),
        threading.Thread(target=settle, daemon=True),
    ):
        thread.start()
    print("ready", flush=True)
    while not stopping.wait(1.0):
        pass
    claimer.join(WAIT_MS / 1000 + 5)  # what its last claim brings is work, too
    for timeout, why in ((int(os.environ["CONFORMANCE_SHUTDOWN_MS"]) / 1000, "shutdown"), (5, "")):
        until = time.monotonic() + timeout
        while held and time.monotonic() < until:
            time.sleep(0.05)
        for job in list(held.values()):
            job.tell_stop(why)


if __name__ == "__main__":
    main()
