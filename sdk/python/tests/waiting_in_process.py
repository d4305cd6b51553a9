"""Handlers that wait, for processes: these import them by their names."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

from holdfast import Job, JobContext


def contract(value: Any) -> str:
    return str(value["number"])


def everything(payload: list[str], ctx: JobContext) -> Any:
    ctx.log("begins")
    ctx.sleep("nap", 0.3)
    ctx.sleep_until("past", datetime.now(timezone.utc) - timedelta(hours=1))
    number = ctx.await_signal("contract", contract)
    limit = ctx.approve("limit", "Raise it?", within=timedelta(hours=1))
    counts = ctx.map("count", payload, lambda page: Job("count", page), int)
    return [number, limit.approved, limit.by is not None, limit.comment, counts]


def joins_then_steps(payload: Any, ctx: JobContext) -> Any:
    children = ctx.spawn("c", [Job("child", n) for n in range(2)])
    ends = ctx.join("j", children)
    first = ctx.any("a", children)
    return [[end.result for end in ends], ctx.step("last", int, first.result * 0)]
