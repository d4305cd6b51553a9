"""The list of scenarios."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .stage import Stage


@dataclass(frozen=True)
class Scenario:
    name: str
    run: Callable[[Stage], None]
    alone: bool
    """Whether it disturbs others by a restart of the server."""
    quick: bool
    """Whether it is one of the few that stand for the others in a short run."""
    first: bool
    """Whether it takes so long that it is begun before the others."""
    shared: bool
    """Whether one worker process can serve it and others of this sort at the same time."""
    waits: bool
    """Whether its handlers wait, which not every worker can."""

    @property
    def summary(self) -> str:
        return " ".join((self.run.__doc__ or "").split())


SCENARIOS: dict[str, Scenario] = {}


def scenario(
    alone: bool = False,
    quick: bool = False,
    first: bool = False,
    shared: bool = False,
    waits: bool = False,
) -> Callable[[Callable[[Stage], None]], Callable[[Stage], None]]:
    def register(run: Callable[[Stage], None]) -> Callable[[Stage], None]:
        name = run.__name__.replace("_", "-")
        SCENARIOS[name] = Scenario(name, run, alone, quick, first, shared, waits)
        return run

    return register
