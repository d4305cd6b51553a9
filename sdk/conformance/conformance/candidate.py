"""Worker programs under test, and how a command line names them."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import dataclass


@dataclass(frozen=True)
class Candidate:
    """A worker program under test."""

    name: str
    command: list[str]
    skipped: frozenset[str] = frozenset()
    """Scenarios of features that it does not have."""
    waits: bool = True
    """Whether its handlers can wait: it offers the kind ``script``."""
    growth_mb: float = 48.0
    """By how much its memory may grow once it is warm, besides a tenth: collectors are lazy."""
    faulty: bool = False
    """It does wrong what a scenario checks, so it must fail every one of them."""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--worker",
        action="append",
        default=[],
        metavar="NAME=COMMAND",
        help="a worker program with a name, for several in one run",
    )
    parser.add_argument(
        "--libraries",
        action="store_true",
        help="the worker programs of the Java, Python, TypeScript and Go libraries",
    )
    parser.add_argument(
        "--no-waits",
        action="store_true",
        help="the worker programs that are given here have no handlers that wait",
    )
    parser.add_argument("command", nargs="*", help="the worker program and its arguments")


def candidates(given: argparse.Namespace) -> list[Candidate]:
    """Raises ValueError when there is none, or when a worker is not NAME=COMMAND."""
    from .libraries import libraries  # which needs this module

    waits = not given.no_waits
    found = [Candidate("", given.command, waits=waits)] if given.command else []
    found += [_named(text, waits) for text in given.worker]
    if given.libraries:
        found += libraries()
    if not found:
        raise ValueError("give the worker program behind --, as in: -- ./my-worker --flag")
    return found


def _named(text: str, waits: bool) -> Candidate:
    name, is_there, command = text.partition("=")
    if not name or not is_there or not command.strip():
        raise ValueError(f"{text!r}: name a worker as in --worker 'go=./my-worker --flag'")
    return Candidate(name, shlex.split(command), waits=waits)
