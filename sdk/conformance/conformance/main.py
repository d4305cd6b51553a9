"""The command line of the kit."""

from __future__ import annotations

import argparse
import dataclasses
import signal
import sys
import time
import traceback
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from . import basics, libraries, network, pushed, stopping
from .candidate import Candidate, add_options, candidates
from .plane import ControlPlane
from .registry import SCENARIOS, Scenario
from .stage import Stage, Unfit

MODULES = (basics, stopping, network, pushed)


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


def perform(plane: ControlPlane, candidate: Candidate, one: Scenario) -> Verdict:
    began = time.monotonic()
    stage = Stage(plane, one.name, candidate.command, one.name if candidate.faulty else "")
    why = ""
    kit_failed = False
    try:
        one.run(stage)
    except Unfit as unfit:
        why = f"{unfit}\n{stage.output()}"
    except Exception:
        why = f"{traceback.format_exc()}\n{stage.output()}"
        kit_failed = True
    finally:
        stage.close()
    return Verdict(candidate, one, not why, time.monotonic() - began, why, kit_failed)


def run(
    plane: ControlPlane, candidates: Sequence[Candidate], names: Sequence[str], parallel: int
) -> list[Verdict]:
    """Those that restart the server come last, with one restart for the workers of all."""

    def one(candidate: Candidate, name: str) -> Verdict:
        verdict = perform(plane, candidate, SCENARIOS[name])
        show(verdict)
        return verdict

    pairs = [(each, name) for name in names for each in candidates if name not in each.skipped]
    pairs.sort(key=lambda pair: not SCENARIOS[pair[1]].first)
    together = [pair for pair in pairs if not SCENARIOS[pair[1]].alone]
    with ThreadPoolExecutor(parallel) as pool:
        verdicts = list(pool.map(lambda pair: one(*pair), together))
    for name in names:
        alone = [pair for pair in pairs if SCENARIOS[name].alone and pair[1] == name]
        if alone:
            plane.restart_together(len(alone))
            with ThreadPoolExecutor(len(alone)) as pool:
                verdicts += pool.map(lambda pair: one(*pair), alone)
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
    made.add_argument("--parallel", type=int, default=3, help="scenarios at once (default: 3)")
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
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the server must not be left behind
    plane = ControlPlane()
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
