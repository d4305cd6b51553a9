"""The command line of the kit."""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
import traceback
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from . import basics, libraries, network, pushed, stopping, waiting
from .candidate import Candidate, add_options, candidates
from .plane import ControlPlane
from .registry import SCENARIOS, Scenario
from .stage import Peer, Stage, Unfit

MODULES = (basics, stopping, network, pushed, waiting)


@dataclass(frozen=True)
class Verdict:
    candidate: Candidate
    scenario: Scenario
    passed: bool
    seconds: float
    why: str = ""
    kit_failed: bool = False
    """The kit itself failed, which says nothing about the worker."""

    @property
    def is_as_expected(self) -> bool:
        return self.passed != self.candidate.faulty and not self.kit_failed

    @property
    def title(self) -> str:
        return f"{self.candidate.name} {self.scenario.name}".strip()


def perform(stage: Stage, candidate: Candidate, one: Scenario) -> Verdict:
    began = time.monotonic()
    why = ""
    kit_failed = False
    try:
        one.run(stage)
    except Unfit as unfit:
        why = f"{unfit}\n{stage.output()}"
    except Exception:
        why = f"{traceback.format_exc()}\n{stage.output()}"
        kit_failed = True
    verdict = Verdict(candidate, one, not why, time.monotonic() - began, why, kit_failed)
    show(verdict)
    return verdict


@dataclass(frozen=True)
class Unit:
    """Scenarios of one worker program that have a stage of their own, most often a single one."""

    candidate: Candidate
    scenarios: list[Scenario]
    peers: list[Peer]
    """Other programs that take over from it."""

    def run(self, plane: ControlPlane) -> list[Verdict]:
        first, is_shared = self.scenarios[0], len(self.scenarios) > 1
        fault = first.name if self.candidate.faulty else ""
        name = "shared" if is_shared else first.name
        stage = Stage(plane, name, self.candidate.command, fault, is_shared, self.peers)
        try:
            with ThreadPoolExecutor(len(self.scenarios)) as pool:
                return list(
                    pool.map(lambda one: perform(stage, self.candidate, one), self.scenarios)
                )
        finally:
            stage.close()


def fits(candidate: Candidate, one: Scenario) -> bool:
    return one.name not in candidate.skipped and (candidate.waits or not one.waits)


def units(candidate: Candidate, names: Sequence[str], peers: list[Peer]) -> list[Unit]:
    """A faulty worker has one fault at a time, and shares nothing."""
    chosen = [SCENARIOS[name] for name in names if fits(candidate, SCENARIOS[name])]
    shared = [one for one in chosen if one.shared and not candidate.faulty]
    found = [Unit(candidate, [one], peers) for one in chosen if one not in shared]
    return [Unit(candidate, shared, peers), *found] if shared else found


def peers_of(candidate: Candidate, all_: Sequence[Candidate]) -> list[Peer]:
    """The plain worker, and the next one of the run that can wait; a faulty one has no other."""
    found = [Peer(libraries.plain().command)]
    able = [one for one in all_ if one.waits and not one.faulty and one.name != "plain"]
    if candidate in able and len(able) > 1:
        found.append(Peer(able[(able.index(candidate) + 1) % len(able)].command))
    return found


def run(
    plane: ControlPlane, candidates: Sequence[Candidate], names: Sequence[str], parallel: int
) -> list[Verdict]:
    """Those that restart the server come last, with one restart for the workers of all."""
    all_ = [unit for each in candidates for unit in units(each, names, peers_of(each, candidates))]
    together = [unit for unit in all_ if not unit.scenarios[0].alone]
    # What takes longest comes first: what has to wait, and what waits in vain.
    together.sort(
        key=lambda unit: (
            not any(one.first for one in unit.scenarios), not unit.candidate.faulty
        )
    )  # fmt: skip
    with ThreadPoolExecutor(parallel) as pool:
        verdicts = [
            one for each in pool.map(lambda unit: unit.run(plane), together) for one in each
        ]
    for name in names:
        alone = [
            unit for unit in all_ if unit.scenarios[0].alone and unit.scenarios[0].name == name
        ]
        if alone:
            plane.restart_together(len(alone))
            with ThreadPoolExecutor(len(alone)) as pool:
                for each in pool.map(lambda unit: unit.run(plane), alone):
                    verdicts += each
    return verdicts


def show(verdict: Verdict) -> None:
    good = verdict.is_as_expected
    word = "passed" if verdict.passed else "failed"
    mark = "ok  " if good else "BAD "
    print(f"{mark} {verdict.title:37} {word} in {verdict.seconds:5.1f} s", flush=True)
    if verdict.passed:
        return
    why = verdict.why.strip()
    shown = why.splitlines()[0] if good else why.replace("\n", "\n     ")
    print(f"     {shown}", flush=True)


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="run", description="Runs scenarios against worker programs."
    )
    made.add_argument("--list", action="store_true", help="list the scenarios and end")
    made.add_argument("--only", help="scenarios to run, separated by commas")
    made.add_argument("--skip", default="", help="scenarios to leave out, separated by commas")
    made.add_argument("--quick", action="store_true", help="only the few that cover the most")
    made.add_argument("--parallel", type=int, default=8, help="scenarios at once (default: 8)")
    made.add_argument(
        "--self-test",
        action="store_true",
        help="give each scenario a worker with its fault; every scenario must fail",
    )
    made.add_argument(
        "--faulty",
        action="store_true",
        help="also the workers without a library, and one with a fault for each scenario",
    )
    add_options(made)
    return made


def chosen(given: argparse.Namespace) -> list[str]:
    """Raises ValueError when there is no such scenario."""
    names = given.only.split(",") if given.only else list(SCENARIOS)
    skipped = given.skip.split(",") if given.skip else []
    unknown = [name for name in [*names, *skipped] if name not in SCENARIOS]
    if unknown:
        raise ValueError(f"no scenario {', '.join(unknown)}: --list shows them all")
    return [
        name for name in names if name not in skipped and (SCENARIOS[name].quick or not given.quick)
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    usage = parser()
    given = usage.parse_args(arguments)
    if given.list:
        for one in SCENARIOS.values():
            print(f"{one.name:26} {one.summary}")
        return 0
    try:
        names, workers = chosen(given), candidates(given)
    except ValueError as wrong:
        usage.error(str(wrong))
    if given.self_test:
        workers = [dataclasses.replace(one, faulty=True) for one in workers]
    if given.faulty:
        workers += [libraries.plain(), libraries.batch(), libraries.faulty()]
    plane = ControlPlane()
    plane.close_when_told()
    if not plane.is_own:
        names = [name for name in names if not SCENARIOS[name].alone]
    try:
        plane.start()
        verdicts = run(plane, workers, names, given.parallel)
    finally:
        plane.close()
    bad = [one.title for one in verdicts if not one.is_as_expected]
    print(f"{len(verdicts) - len(bad)} of {len(verdicts)} as expected", end="")
    print(f"; not: {', '.join(bad)}" if bad else "")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
