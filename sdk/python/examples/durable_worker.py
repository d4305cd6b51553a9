from dataclasses import dataclass
from datetime import timedelta

from holdfast import Job, JobContext, Worker

worker = Worker("onboarding")


@dataclass
class User:
    name: str
    pages: list[str]
    cool_off: float = 3 * 86_400


@dataclass
class Contract:
    number: str


@worker.handler("onboard")
def onboard(user: User, ctx: JobContext) -> dict[str, object]:
    ctx.step("welcome", print, f"mail to {user.name}: welcome")
    ctx.sleep("cool-off", user.cool_off)  # three days: no slot, no lease, no thread
    contract = ctx.await_signal("contract", Contract, within=timedelta(days=7))
    if contract is None:
        return {"signed": None}
    limit = ctx.approve("limit", f"Raise the limit of {user.name}?", within=timedelta(days=2))
    words = ctx.map("count", user.pages, lambda page: Job("count-words", page), int)
    return {"signed": contract.number, "raised": limit.approved, "words": words}


@worker.handler("count-words")
def count(page: str) -> int:
    return len(page.split())


if __name__ == "__main__":
    worker.run()
