"""Handlers that run in processes; these import the module that the handlers are in."""

from __future__ import annotations

import os
import time
from typing import Any

from holdfast import JobContext


def double(payload: dict[str, Any], ctx: JobContext) -> dict[str, Any]:
    ctx.progress(50, "half")
    ctx.log("from the process")
    ctx.event("computed", {"n": payload["n"]})
    first = ctx.step("first", answer, payload["n"])
    return {"n": first * 2, "pid": os.getpid()}


def answer(n: int) -> int:
    return n


def stubborn(payload: dict[str, Any]) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        sum(range(100_000))


def cooperative(payload: dict[str, Any], ctx: JobContext) -> None:
    while True:
        ctx.check_cancelled()
        time.sleep(0.01)


def slow(payload: dict[str, Any], ctx: JobContext) -> int:
    ctx.idle(2)
    return os.getpid()


def dies(payload: dict[str, Any]) -> None:
    os._exit(7)


def step_fails(payload: dict[str, Any], ctx: JobContext) -> int:
    ctx.step("a", answer, 1)
    if ctx.attempt == 1:
        raise ValueError("not yet")
    return ctx.attempt


def publishes(payload: dict[str, Any], ctx: JobContext) -> int:
    return ctx.publish("out.bin", bytes(range(256))).size
