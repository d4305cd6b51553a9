"""A worker on /v1/tasks with nothing but the standard library, and with a fault on request.

CONFORMANCE_FAULT names a scenario: the worker then does wrong what that scenario checks. The
kit's self-test runs it that way, to show that no scenario passes a worker that it should not.
Without a fault it passes them all.
"""

from __future__ import annotations

import http.client
import http.server
import json
import os
import signal
import threading
import time
from typing import Any
from urllib.parse import urlsplit

URL = os.environ["CONFORMANCE_URL"]
FAULT = os.environ.get("CONFORMANCE_FAULT", "")
QUEUE = os.environ["CONFORMANCE_QUEUE"]
CONCURRENCY = int(os.environ["CONFORMANCE_CONCURRENCY"])
SHUTDOWN = int(os.environ["CONFORMANCE_SHUTDOWN_MS"]) / 1000
WORKER = f"plain-{os.getpid()}"
IGNORES_LOSS = ("lease-lost", "lease-lost-by-heartbeat", "push-lease-lost", "cancel-before-start")

stopping = threading.Event()
places = threading.Semaphore(100 if FAULT == "concurrency" else CONCURRENCY)
running: set[Task] = set()


class Gone(Exception):
    """The task is not ours any more, or never was."""


class Stopped(Exception):
    """The handler was told to stop."""


class Suspended(Exception):
    """The attempt has ended by a wait; a later one goes on."""


class Continued(Exception):
    """Another job goes on in place of this one."""

    def __init__(self, payload: Any) -> None:
        super().__init__("continued")
        self.payload = payload


class Failed(Exception):
    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error["message"])
        self.error = error


def send(method: str, url: str, token: str, body: Any, wait: float) -> tuple[int, Any, float]:
    """Status, answer and pause asked for; status 0 is no answer."""
    parts = urlsplit(url)
    assert parts.hostname is not None
    timeout = 0.5 if FAULT == "slow-answers" else wait
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=timeout)
    ascii_only = FAULT == "unicode"
    content = json.dumps(body, ensure_ascii=False) if body is not None else None
    sent = content and content.encode("ascii" if ascii_only else "utf-8", "replace")
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    try:
        connection.request(
            method, parts.path + (f"?{parts.query}" if parts.query else ""), sent, headers
        )
        answer = connection.getresponse()
        data = json.loads(answer.read() or b"null")
        if FAULT == "unknown-fields" and "newerField" in (data or {}):
            raise SystemExit("unknown field")
        return answer.status, data, float(answer.headers.get("Retry-After") or 0)
    except (OSError, http.client.HTTPException, ValueError) as failure:
        if FAULT == "server-restarted" and isinstance(failure, OSError):
            crash()
        return 0, None, 0
    finally:
        connection.close()


def crash() -> None:
    os._exit(1)


def insist(method: str, url: str, token: str, body: Any) -> tuple[int, Any]:
    """Sends it until it is answered, for as long as anybody may care."""
    pause = 0.2
    until = time.monotonic() + 120
    while True:
        status, data, after = send(method, url, token, body, 30)
        if FAULT == "server-restarted" and status == 502:
            crash()
        if status not in (0, 429) and status < 500:
            return status, data
        if FAULT in ("errors-5xx", "slow-answers") or time.monotonic() > until:
            return status, data
        time.sleep(0.2 if FAULT == "retry-after" else max(pause, after))
        pause = min(2.0, pause * 2)


def note(word: str, task: Task) -> None:
    with open(os.environ["CONFORMANCE_JOURNAL"], "a") as journal:
        journal.write(f"{word} {task.kind} {task.id} {task.attempt}\n")


class Task:
    def __init__(self, envelope: dict[str, Any]) -> None:
        self.id: str = envelope["taskId"]
        self.kind: str = envelope["kind"]
        self.attempt: int = envelope["attempt"]
        self.payload: Any = envelope["payload"]
        self.token: str = envelope["taskToken"]
        self.base: str = envelope["callbackBaseUrl"]
        self.interval: float = envelope["heartbeatIntervalMs"] / 1000
        self.stop = threading.Event()
        self.why = ""
        self.ended = threading.Event()
        self.progress: dict[str, Any] = {}

    def call(self, what: str, body: dict[str, Any] | None, method: str = "POST") -> Any:
        said = None if body is None else {"attempt": self.attempt, "workerId": WORKER} | body
        status, data = insist(method, f"{self.base}/v1/tasks/{self.id}/{what}", self.token, said)
        if status in (401, 403, 404, 409, 410):
            raise Gone(f"{what}: {status} {data}")
        if status in (400, 413, 415, 422):
            raise ValueError(f"{what}: {status} {data}")
        return data if status == 200 else None

    def told_to_stop(self, why: str) -> None:
        self.why = self.why or why
        self.stop.set()

    def beat(self) -> None:
        answer = self.call("heartbeat", dict(self.progress))
        if answer is None:
            return
        if "taskToken" in answer and FAULT not in ("token-renewed", "push-token-renewed"):
            self.token = answer["taskToken"]
        if answer["shouldCancel"] and FAULT not in (
            "cancel-in-time",
            "cancel-before-start",
            "push",
        ):
            self.told_to_stop("cancel")

    def heartbeats(self) -> None:
        while not self.ended.wait(self.interval * 0.8):
            if FAULT == "heartbeats-while-blocked" and self.kind == "block":
                continue
            threading.Thread(target=self.heartbeat, daemon=True).start()

    def heartbeat(self) -> None:
        try:
            self.beat()
        except Gone:
            if FAULT == "reordered":
                crash()
            if FAULT not in IGNORES_LOSS:
                self.told_to_stop("gone")
        except ValueError as refused:
            print(refused, flush=True)

    def run(self) -> None:
        try:
            self.work()
        except Gone as gone:
            print(self.id, gone, flush=True)
            if FAULT in ("cancel-too-late", "result-refused"):
                crash()
        finally:
            self.ended.set()
            running.discard(self)
            places.release()

    def work(self) -> None:
        try:
            self.call("started", {})
        except Gone:
            if FAULT != "cancel-before-start":
                raise
        threading.Thread(target=self.heartbeats, daemon=True).start()
        try:
            end: dict[str, Any] = {"outcome": "SUCCEEDED", "output": handle(self)}
        except Suspended:
            self.is_suspended()
            return
        except Continued as next_:
            end = {"outcome": "CONTINUED", "payload": next_.payload}
            if FAULT == "continues-as":
                end = {"outcome": "SUCCEEDED"}
        except Stopped:
            if self.why == "gone":
                return
            end = {"outcome": "CANCELLED"}
            if self.why == "shutdown":
                end = failure("INFRASTRUCTURE", "WORKER_SHUTDOWN", "the worker stops", 0)
                if FAULT == "shutdown-gives-back":
                    return
        except Failed as failed:
            end = {"outcome": "FAILED", "error": failed.error}
        if self.why == "gone" and FAULT != "lease-lost":
            return
        self.complete(end)

    def is_suspended(self) -> None:
        if FAULT == "cancel-while-waiting":
            crash()
        if FAULT == "children-of-one-place":
            time.sleep(3_600)

    def complete(self, end: dict[str, Any]) -> None:
        if FAULT == "duplicates":
            status, _, _ = send(
                "POST", f"{self.base}/v1/tasks/{self.id}/completed", self.token,
                end | {"attempt": self.attempt, "workerId": WORKER}, 30,
            )  # fmt: skip
            if status == 0:
                self.work()
            return
        try:
            self.call("completed", end)
        except ValueError as refused:
            if FAULT == "result-too-large":
                time.sleep(60)
            self.call("completed", failure("USER_CODE", "BAD_RESULT", str(refused)[:500], None))


def failure(category: str, code: str, message: str, after: int | None) -> dict[str, Any]:
    error: dict[str, Any] = {"category": category, "code": code, "message": message}
    if after is not None:
        error |= {"retryAfterMs": after, "retryable": True}
    return {"outcome": "FAILED", "error": error}


def handle(task: Task) -> Any:
    payload = task.payload
    if task.kind == "noop":
        return None
    if task.kind not in ("progress", "large"):
        note("begin", task)
    if task.kind == "echo":
        if FAULT == "large-payload" and len(json.dumps(payload)) > 65_536:
            return None
        return None if FAULT == "echo" else payload
    if task.kind == "sleep":
        if task.stop.wait(span(task)):
            note("stopped", task)
            raise Stopped
        note("end", task)
        return {"attempt": task.attempt}
    if task.kind == "block":
        # Without heartbeats it must outlast its lease, also where the server is slow to notice.
        time.sleep(span(task) * (6 if FAULT == "heartbeats-while-blocked" else 1))
        note("end", task)
        return {"attempt": task.attempt}
    if task.kind == "fail":
        if task.attempt >= payload["until"]:
            return {"attempt": task.attempt}
        names = ("category", "code", "message", "retryAfterMs")
        error = {name: payload[name] for name in names if name in payload}
        if FAULT == "failures":
            error = {"category": "USER_CODE", "message": "failed"}
        raise Failed(error)
    if task.kind == "progress":
        if FAULT != "progress-and-log":
            task.progress = {"progressPct": payload["percent"], "message": payload["message"]}
            task.call("log", {"firstLine": 1, "lines": payload["lines"]})
        time.sleep(2.5)
        return None
    if task.kind == "large":
        return "x" * int(payload["bytes"])
    if task.kind == "steps":
        return steps(task)
    if task.kind == "script":
        return Script(task).run()
    raise Failed({"category": "CONFIGURATION", "code": "NO_HANDLER", "message": task.kind})


def span(task: Task) -> float:
    later = task.payload.get("later", task.payload["ms"])
    return float(task.payload["ms"] if task.attempt == 1 else later) / 1000


def steps(task: Task) -> list[Any]:
    known = {one["stepId"]: one for one in task.call("steps", None, "GET")["steps"]}
    results = []
    for index, name in enumerate(task.payload["steps"], 1):
        before = known.get(name, {"state": "", "attempt": 0})
        if before["state"] == "DONE" and FAULT != "steps-resumed":
            results.append(before["checkpoint"])
            continue
        said = {"stepIndex": index, "stepAttempt": before["attempt"] + 1}
        task.call(f"steps/{name}", said | {"state": "RUNNING"}, "PUT")
        note(f"step:{name}", task)
        if task.attempt == 1 and task.payload.get("stopIn") == name:
            time.sleep(60)
        results.append({"step": name, "attempt": task.attempt})
        task.call(f"steps/{name}", said | {"state": "DONE", "result": results[-1]}, "PUT")
    return results


REPEATS = ("signal-after-suspend", "killed-between-waits", "handed-over")
REVERSES = ("children", "push-waits")


class Script:
    """A handler that waits: what it does is in its payload."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.children: dict[str, list[str]] = {}
        self.suspended = False
        listed = task.call("steps", None, "GET")["steps"]
        self.known = {one["stepId"]: one for one in listed}

    def run(self) -> Any:
        ops = self.task.payload["do"]
        careless = any(op["op"] == "careless" for op in ops)
        results = []
        for op in ops:
            try:
                results.append(self.do(op))
            except Suspended:
                if not careless:
                    raise
                results.append(None)
        if self.suspended:
            raise Suspended
        return results

    def do(self, op: dict[str, Any]) -> Any:
        name = op["op"]
        if self.suspended and FAULT == "wait-is-swallowed" and name == "step":
            note(f"step:{op['id']}", self.task)
        if self.suspended:
            raise Suspended
        if name == "step":
            return self.step(op["id"])
        if name == "sleep":
            self.wait({"id": op["id"], "sort": "SLEEP", "withinMs": op["ms"]})
        if name == "await":
            return self.signal(op)
        if name == "approve":
            asked = {"id": op["id"], "sort": "APPROVAL", "question": {"text": op["text"]}}
            end = self.wait(asked)["end"]
            found = {"approved": end["outcome"] == "APPROVED", "by": end["by"]}
            return found | ({} if FAULT == "approval" else {"comment": end["comment"]})
        if name == "spawn":
            self.start(op["id"], [{"kind": op["kind"], "payload": op["payload"]}])
        if name == "map":
            self.start(op["id"], [{"kind": "echo", "payload": one} for one in op["items"]])
            ends = self.join(f"{op['id']}:join", [op["id"]], True)
            return [one["result"] for one in ends][:: -1 if FAULT in REVERSES else 1]
        if name == "join":
            ends = self.join(op["id"], op["of"], not op.get("collect"))
            return [one["state"] for one in ends]
        if name == "pause" and self.task.attempt < op["until"]:
            time.sleep(op["ms"] / 1000)
        if name == "continueAs":
            raise Continued(op["payload"])
        return None

    def step(self, id_: str) -> Any:
        before = self.known.get(id_, {"state": "", "attempt": 0})
        if before["state"] == "DONE" and FAULT not in REPEATS:
            return before["checkpoint"]
        index = before.get("stepIndex") or 1 + max(
            (one["stepIndex"] for one in self.known.values()), default=0
        )
        said = {"stepIndex": index, "stepAttempt": before["attempt"] + 1}
        self.task.call(f"steps/{id_}", said | {"state": "RUNNING"}, "PUT")
        note(f"step:{id_}", self.task)
        result = {"step": id_, "attempt": self.task.attempt}
        self.task.call(f"steps/{id_}", said | {"state": "DONE", "result": result}, "PUT")
        self.known[id_] = {"stepIndex": index, "attempt": said["stepAttempt"], "state": "DONE"}
        return result

    def signal(self, op: dict[str, Any]) -> Any:
        name = op["name"]
        asked = {"id": op.get("id", name), "sort": "SIGNAL", "signal": name}
        if "withinMs" in op:
            asked["withinMs"] = op["withinMs"]
        answer = self.wait(asked)
        if FAULT in ("signal-before-wait", "signal-during-suspend"):
            return None
        if answer["end"]["outcome"] == "TIMEOUT":
            return "late" if FAULT == "wait-times-out" else None
        return answer["payload"]

    def wait(self, asked: dict[str, Any]) -> Any:
        if FAULT == "wait-answer-lost":
            url = f"{self.task.base}/v1/tasks/{self.task.id}/wait"
            said = {"attempt": self.task.attempt, "wait": asked}
            status, answer, _ = send("POST", url, self.task.token, said, 30)
            if status != 200:
                raise Failed({"category": "INFRASTRUCTURE", "message": f"no wait: {status}"})
        else:
            answer = self.task.call("wait", {"wait": asked})
        if answer["outcome"] == "SUSPENDED":
            self.suspended = True
            raise Suspended
        known = ("TIME", "SIGNAL", "TIMEOUT", "APPROVED", "REJECTED", "ENDED", "FAILED")
        if answer["outcome"] != "OVER" or answer["end"]["outcome"] not in known:
            if FAULT == "unknown-wait-outcome":
                crash()
            raise Failed({"category": "INFRASTRUCTURE", "message": f"unknown: {answer}"})
        self.reserve(asked["id"])
        return answer

    def reserve(self, id_: str) -> None:
        """The next step comes after it, as the server counts."""
        last = max((one["stepIndex"] for one in self.known.values()), default=0)
        self.known.setdefault(id_, {"stepIndex": last + 1, "attempt": 1, "state": ""})

    def start(self, id_: str, jobs: list[dict[str, Any]]) -> None:
        answer = self.task.call("children", {"startedAs": id_, "jobs": jobs})
        self.children[id_] = answer["jobs"]
        self.reserve(id_)

    def join(self, id_: str, of: list[str], fail_fast: bool) -> Any:
        self.wait({"id": id_, "sort": "CHILDREN", "started": of, "failFast": fail_fast})
        jobs = [job for one in of for job in self.children[one]]
        ends = self.task.call("children/ends", {"jobs": jobs})["jobs"]
        bad = [one for one in ends if one["state"] != "SUCCEEDED"]
        if fail_fast and bad and FAULT != "child-fails":
            message = f"job {bad[0]['job']} ended {bad[0]['state']}"
            error = {"category": "USER_CODE", "code": "CHILD_FAILED", "message": message}
            raise Failed(error | {"retryable": False})
        return ends


def take(envelope: dict[str, Any]) -> None:
    task = Task(envelope)
    running.add(task)
    threading.Thread(target=task.run, daemon=True).start()


def pull() -> None:
    url = f"{URL}/v1/queues/{QUEUE}/lease"
    wait = int(os.environ["CONFORMANCE_WAIT_MS"])
    while not stopping.is_set():
        if not places.acquire(timeout=0.2):
            continue
        body = {"workerId": WORKER, "max": 1, "waitMs": wait}
        if stopping.is_set():
            return
        key = os.environ["CONFORMANCE_KEY"]
        status, data, after = send("POST", url, key, body, 30)
        if status == 200 and data["tasks"]:
            take(data["tasks"][0])
            continue
        places.release()
        if status != 200:
            if FAULT == "server-restarted" and status in (0, 502):
                crash()
            time.sleep(0.2 if FAULT == "retry-after" else max(0.3, after))


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    seen: set[str] = set()  # noqa: RUF012

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        secret = f"Bearer {os.environ['CONFORMANCE_PUSH_SECRET']}"
        status = 202
        if self.headers.get("Authorization") != secret and FAULT != "push":
            status = 401
        else:
            envelope = json.loads(body)
            known = envelope["dispatchId"] in self.seen and FAULT != "push-duplicate"
            if not known and places.acquire(blocking=False):
                self.seen.add(envelope["dispatchId"])
                take(envelope)
            elif not known:
                status = 503
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


def main() -> None:
    def terminate(*_: Any) -> None:
        if FAULT == "shutdown-during-work":
            os._exit(0)
        stopping.set()

    signal.signal(signal.SIGTERM, terminate)
    if "CONFORMANCE_PUSH_PORT" in os.environ:
        address = ("127.0.0.1", int(os.environ["CONFORMANCE_PUSH_PORT"]))
        server = http.server.ThreadingHTTPServer(address, Receiver)
        threading.Thread(target=server.serve_forever, daemon=True).start()
    puller = threading.Thread(target=pull, daemon=True)
    if "CONFORMANCE_PUSH_PORT" not in os.environ:
        puller.start()
    print("ready", flush=True)
    while not stopping.wait(1.0):
        pass
    if puller.is_alive():
        puller.join(5)  # what its last long poll brings is work, too
    until = time.monotonic() + SHUTDOWN
    while time.monotonic() < until and running:
        time.sleep(0.1)
    for task in list(running):
        task.told_to_stop("shutdown")
    until = time.monotonic() + 5
    while time.monotonic() < until and running:
        time.sleep(0.1)


if __name__ == "__main__":
    main()
