"""The conformance kit: this package passes it, and no scenario passes a worker with its fault."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from conformance import main
from conformance.plane import ControlPlane
from conformance.registry import SCENARIOS

WORKERS = Path(main.__file__).resolve().parents[1] / "workers"


@pytest.mark.timeout(1_800)
@pytest.mark.parametrize(
    ("program", "faults"),
    [("python_worker.py", False), ("plain_worker.py", False), ("plain_worker.py", True)],
    ids=["this-package", "plain-worker", "plain-worker-with-faults"],
)
def test_conformance(plane: ControlPlane, program: str, faults: bool) -> None:
    command = [sys.executable, str(WORKERS / program)]
    verdicts = main.run(plane, list(SCENARIOS), command, 3, faults)
    assert len(verdicts) == len(SCENARIOS)
    wrong = [one for one in verdicts if not main.as_expected(one, faults)]
    assert not wrong, "\n".join(f"{one.scenario.name}: {one.why}" for one in wrong)
