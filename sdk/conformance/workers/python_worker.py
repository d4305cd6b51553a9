"""The worker program of the Python package, as the kit starts it."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

from holdfast import (
    CancelledException,
    Child,
    FailedException,
    FailureCategory,
    Job,
    JobContext,
    LeaveHandler,
    Worker,
)

worker = Worker(
    os.environ["CONFORMANCE_QUEUE"],
    url=os.environ["CONFORMANCE_URL"],
    api_key=os.environ["CONFORMANCE_KEY"],
    lease=int(os.environ["CONFORMANCE_LEASE_MS"]) / 1000,
    concurrency=int(os.environ["CONFORMANCE_CONCURRENCY"]),
    shutdown_timeout=int(os.environ["CONFORMANCE_SHUTDOWN_MS"]) / 1000,
)


def note(word: str, ctx: JobContext) -> None:
    with open(os.environ["CONFORMANCE_JOURNAL"], "a") as journal:
        journal.write(f"{word} {ctx.job.kind} {ctx.id} {ctx.attempt}\n")


def span(payload: dict[str, Any], ctx: JobContext) -> float:
    later = payload.get("later", payload["ms"])
    return float(payload["ms"] if ctx.attempt == 1 else later) / 1000


@worker.handler("noop")
def noop(payload: Any) -> None:
    pass


@worker.handler("echo")
def echo(payload: Any, ctx: JobContext) -> Any:
    note("begin", ctx)
    return payload


@worker.handler("sleep")
def sleep(payload: dict[str, Any], ctx: JobContext) -> dict[str, int]:
    note("begin", ctx)
    try:
        ctx.idle(span(payload, ctx))
    except CancelledException:
        note("stopped", ctx)
        raise
    note("end", ctx)
    return {"attempt": ctx.attempt}


@worker.handler("block", process=True)
def block(payload: dict[str, Any], ctx: JobContext) -> dict[str, int]:
    note("begin", ctx)
    time.sleep(span(payload, ctx))  # as deaf as a computation, and leaves the processor to others
    note("end", ctx)
    return {"attempt": ctx.attempt}


@worker.handler("fail")
def fail(payload: dict[str, Any], ctx: JobContext) -> dict[str, int]:
    note("begin", ctx)
    if ctx.attempt >= payload["until"]:
        return {"attempt": ctx.attempt}
    after = payload.get("retryAfterMs")
    raise FailedException(
        FailureCategory(payload["category"]),
        payload["code"],
        payload["message"],
        retry_after=None if after is None else after / 1000,
    )


@worker.handler("progress")
def progress(payload: dict[str, Any], ctx: JobContext) -> None:
    for line in payload["lines"]:
        ctx.log(line)
    ctx.progress(payload["percent"], payload["message"])
    ctx.idle(2.5)


@worker.handler("large")
def large(payload: dict[str, Any], ctx: JobContext) -> str:
    return "x" * int(payload["bytes"])


@worker.handler("steps")
def steps(payload: dict[str, Any], ctx: JobContext) -> list[dict[str, Any]]:
    def body(name: str) -> dict[str, Any]:
        note(f"step:{name}", ctx)
        if ctx.attempt == 1 and payload.get("stopIn") == name:
            time.sleep(60)
        return {"step": name, "attempt": ctx.attempt}

    note("begin", ctx)
    return [ctx.step(name, body, name) for name in payload["steps"]]


class Script:
    """What a handler that waits is to do."""

    def __init__(self, ctx: JobContext) -> None:
        self.ctx = ctx
        self.children: dict[str, Child] = {}

    def run(self, ops: list[dict[str, Any]]) -> list[Any]:
        careless = any(op["op"] == "careless" for op in ops)
        results = []
        for op in ops:
            try:
                results.append(self.do(op))
            except LeaveHandler:
                if not careless:
                    raise
                results.append(None)
        return results

    def do(self, op: dict[str, Any]) -> Any:
        return getattr(self, f"do_{op['op']}")(op)

    def do_step(self, op: dict[str, Any]) -> Any:
        def body() -> dict[str, Any]:
            note(f"step:{op['id']}", self.ctx)
            return {"step": op["id"], "attempt": self.ctx.attempt}

        return self.ctx.step(op["id"], body)

    def do_sleep(self, op: dict[str, Any]) -> None:
        self.ctx.sleep(op["id"], op["ms"] / 1000)

    def do_await(self, op: dict[str, Any]) -> Any:
        within = op["withinMs"] / 1000 if "withinMs" in op else None
        return self.ctx.await_signal(op["name"], within=within, id=op.get("id"))

    def do_approve(self, op: dict[str, Any]) -> Any:
        found = self.ctx.approve(op["id"], op["text"])
        return {"approved": found.approved, "by": found.by, "comment": found.comment}

    def do_spawn(self, op: dict[str, Any]) -> None:
        self.children[op["id"]] = self.ctx.spawn(op["id"], Job(op["kind"], op["payload"]))

    def do_map(self, op: dict[str, Any]) -> Any:
        return self.ctx.map(op["id"], op["items"], lambda item: Job("echo", item))

    def do_join(self, op: dict[str, Any]) -> Any:
        all_ = [self.children[id_] for id_ in op["of"]]
        ends = self.ctx.join(op["id"], all_, collect=op.get("collect", False))
        return [end.state.value for end in ends]

    def do_pause(self, op: dict[str, Any]) -> None:
        if self.ctx.attempt < op["until"]:
            time.sleep(op["ms"] / 1000)

    def do_continueAs(self, op: dict[str, Any]) -> None:
        self.ctx.continue_as(op["payload"])

    def do_careless(self, op: dict[str, Any]) -> None:
        pass


@worker.handler("script")
def script(payload: dict[str, Any], ctx: JobContext) -> list[Any]:
    note("begin", ctx)
    return Script(ctx).run(payload["do"])


class Quiet(WSGIRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


def serve_pushes(port: int, secret: str) -> None:
    receiver = worker.push(secret)
    server = make_server("127.0.0.1", port, receiver.wsgi, handler_class=Quiet)
    signal.signal(
        signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown, daemon=True).start()
    )
    print("ready", flush=True)
    server.serve_forever()
    worker.close()


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    if "CONFORMANCE_PUSH_PORT" in os.environ:
        port = int(os.environ["CONFORMANCE_PUSH_PORT"])
        serve_pushes(port, os.environ["CONFORMANCE_PUSH_SECRET"])
    else:
        print("ready", flush=True)
        worker.run()
