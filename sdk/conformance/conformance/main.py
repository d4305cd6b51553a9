"""The command line of the kit."""

from __future__ import annotations

import argparse
import signal
import sys
import time
import traceback
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from . import basics, network, pushed, stopping
from .plane import ControlPlane
from .registry import SCENARIOS, Scenario
from .stage import Stage, Unfit

MODULES = (basics, stopping, network, pushed)


@dataclass(frozen=True)
class Verdict:
    scenario: Scenario
    passed: bool
    seconds: float
    why: str = ""
    kit_failed: bool = False
    """The kit itself failed, which says nothing about the worker."""


def perform(plane: ControlPlane, one: Scenario, command: list[str], fault: str) -> Verdict:
    began = time.monotonic()
    stage = Stage(plane, one.name, command, fault)
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
    return Verdict(one, not why, time.monotonic() - began, why, kit_failed)


def run(
    plane: ControlPlane, names: Sequence[str], command: list[str], parallel: int, self_test: bool
) -> list[Verdict]:
    """Scenarios that disturb others come last, one at a time."""

    def one(name: str) -> Verdict:
        verdict = perform(plane, SCENARIOS[name], command, name if self_test else "")
        show(verdict, self_test)
        return verdict

    together = [name for name in names if not SCENARIOS[name].alone]
    with ThreadPoolExecutor(parallel) as pool:
        verdicts = list(pool.map(one, together))
    return verdicts + [one(name) for name in names if SCENARIOS[name].alone]


def as_expected(verdict: Verdict, self_test: bool) -> bool:
    return verdict.passed != self_test and not verdict.kit_failed


def show(verdict: Verdict, self_test: bool) -> None:
    good = as_expected(verdict, self_test)
    word = "passed" if verdict.passed else "failed"
    mark = "ok  " if good else "BAD "
    print(f"{mark} {verdict.scenario.name:26} {word} in {verdict.seconds:5.1f} s", flush=True)
    if not verdict.passed and not (self_test and good):
        print("     " + verdict.why.strip().replace("\n", "\n     "), flush=True)
    elif self_test and good:
        print("     " + verdict.why.strip().splitlines()[0], flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="run", description="Runs scenarios against a worker program."
    )
    parser.add_argument("--list", action="store_true", help="list the scenarios and end")
    parser.add_argument("--only", help="scenarios to run, separated by commas")
    parser.add_argument("--skip", default="", help="scenarios to leave out, separated by commas")
    parser.add_argument("--parallel", type=int, default=3, help="scenarios at once (default: 3)")
    parser.add_argument(
        "--self-test",
        action="store_true",
        help="give each scenario a worker with its fault; every scenario must fail",
    )
    parser.add_argument("command", nargs="*", help="the worker program and its arguments")
    given = parser.parse_args(arguments)
    if given.list:
        for one in SCENARIOS.values():
            print(f"{one.name:26} {one.summary}")
        return 0
    names = given.only.split(",") if given.only else list(SCENARIOS)
    skipped = given.skip.split(",") if given.skip else []
    unknown = [name for name in [*names, *skipped] if name not in SCENARIOS]
    if unknown:
        parser.error(f"no scenario {', '.join(unknown)}: --list shows them all")
    if not given.command:
        parser.error("give the worker program: run -- ./my-worker --flag")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the server must not be left behind
    plane = ControlPlane()
    try:
        plane.start()
        chosen = [name for name in names if name not in skipped]
        verdicts = run(plane, chosen, given.command, given.parallel, given.self_test)
    finally:
        plane.close()
    bad = [one.scenario.name for one in verdicts if not as_expected(one, given.self_test)]
    print(f"{len(verdicts) - len(bad)} of {len(verdicts)} as expected", end="")
    print(f"; not: {', '.join(bad)}" if bad else "")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
