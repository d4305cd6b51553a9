"""The conformance kit itself, where its self-test does not reach."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from conformance import program
from conformance.plane import ControlPlane
from conformance.stage import Stage

from holdfast import RefusedException
from holdfast.http import Http


def java_home(folder: Path, version: str) -> Path:
    (folder / "bin").mkdir(parents=True)
    java = folder / "bin/java"
    java.touch(0o755)
    (folder / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return folder


def test_a_java_that_is_too_old_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, good = java_home(tmp_path / "17", "17.0.9"), java_home(tmp_path / "jvm/21", "21")
    newest = java_home(tmp_path / "jvm/25", "25.0.1")
    monkeypatch.setattr(program, "HOMES", (f"{tmp_path}/jvm/*",))
    monkeypatch.setenv("PATH", f"{old}/bin", prepend=os.pathsep)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert program.java() == f"{newest}/bin/java"
    monkeypatch.setenv("JAVA_HOME", str(old))
    assert program.java() == f"{newest}/bin/java"
    monkeypatch.setenv("JAVA_HOME", str(good))
    assert program.java() == f"{good}/bin/java"
    monkeypatch.setenv("JAVA_HOME", str(old))
    monkeypatch.setattr(program, "HOMES", ())
    with pytest.raises(RuntimeError, match="no Java 21 or later"):
        program.java()


def test_what_the_server_refused_is_shown_with_the_answer(plane: ControlPlane) -> None:
    stage = Stage(plane, "kit", [sys.executable, "-c", ""], "")
    try:
        worker = Http(stage.proxy.url, plane.worker_key)
        with pytest.raises(RefusedException):
            worker.post("/v1/leases/settle", {"settlements": []})
        shown = stage.output()
        assert "the server answered POST /v1/leases/settle with 4" in shown
        assert "must hold 1 to 500 entries" in shown
    finally:
        stage.close()
