"""FDB runs beside Isotach in the benchmark, on the same fields, and is measured in every operation."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from needs import skip

OPERATIONS = {
    "archive",
    "retrieve",
    "retrieve, one request",
    "list",
    "archive beside readers",
    "retrieve beside writers",
}


def compare(
    binary: Path, folder: Path, *words: str, processes: int = 1, code: int = 0
) -> list[dict[str, Any]]:
    """The lines of a small comparison, which leaves nothing but its record."""
    command = [binary, "bench", "peers", "--quick", "--repetitions", "1", "--sizes", "4096"]
    command += ["-n", str(processes), "--json", "--where", folder, "--out", folder / "run", *words]
    environment = dict(os.environ, VIRTUAL_ENV=sys.prefix)
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == code, ran.stderr
    assert list(folder.iterdir()) == [folder / "run"], "nothing else is left"
    return [json.loads(line) for line in ran.stdout.splitlines()]


@pytest.mark.parametrize("processes", [1, 2])
def test_fdb_is_measured_in_every_operation_beside_isotach(
    binary: Path, tmp_path: Path, processes: int
) -> None:
    lines = compare(binary, tmp_path, processes=processes)
    assert lines[0]["fdb"].startswith("5."), lines[0]
    for peer in ("isotach", "fdb-tuned", "fdb"):
        assert {line["what"] for line in lines if line.get("peer") == peer} >= OPERATIONS
    settings = json.loads((tmp_path / "run" / "run.json").read_text())["settings"]
    assert settings["FDB"]["version"] == lines[0]["fdb"]
    assert "1048576" in settings["FDB tuned"]["etc/config/fdb-api"]
    assert settings["FDB tuned"]["environment"]["FDB_SUB_TOCS"] == "1"
    alike = {"archive", "retrieve", "retrieve, one request", "list"}
    counts = {line["fields"] for line in lines if line["what"] in alike}
    assert len(counts) == 1, "all move as many fields"
    at_work = {line["what"]: (line["procs"], line["archived_by"]) for line in lines if "peer" in line}
    assert at_work["archive"] == (processes, processes)
    assert at_work["list"] == at_work["archive beside readers"] == (1, processes)


def test_a_hammer_that_cannot_work_is_left_out_and_the_rest_is_measured(binary: Path, tmp_path: Path) -> None:
    lines = compare(binary, tmp_path, "--fdb-hammer", "/bin/false", code=1)
    whats = {line["what"] for line in lines}
    assert whats >= OPERATIONS
    assert "hammer write" not in whats
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert not record["complete"]
    assert "fdb-hammer" in record["problems"][0]["what"]


def test_fdb_hammer_writes_and_reads_as_many_fields_as_hammer(binary: Path, tmp_path: Path) -> None:
    if shutil.which("fdb-hammer") is None:
        skip("fdb5", "no fdb-hammer on PATH: apt-get install fdb5")
    lines = compare(binary, tmp_path)
    for what in ("hammer write", "hammer read"):
        moved = {line["peer"]: (line["fields"], line["bytes"]) for line in lines if line["what"] == what}
        assert set(moved) == {"limit", "isotach", "fdb-hammer"}, what
        assert len(set(moved.values())) == 1, moved
    hammered = [line for line in lines if line.get("peer") == "fdb-hammer"]
    assert all(line["lifetime_s"] >= line["seconds"] for line in hammered), "an upper bound"
    settings = lines[0]["settings"]["fdb-hammer"]
    assert settings["environment"]["FDB_HOME"] == "HOME"
