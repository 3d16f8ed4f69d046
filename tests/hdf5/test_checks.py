"""One program calls HDF5 on the native connector and on ours: both must do the same, call by call."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

import pytest

from conftest import NATIVE, Connector

AREAS = [
    "files",
    "groups",
    "links",
    "attributes",
    "types",
    "datasets",
    "extents",
    "selections",
    "chunks",
    "variable",
    "references",
    "objects",
    "copies",
    "virtual",
    "filters",
    "natives",
    "external",
    "asynchronous",
]


def test_the_native_connector_passes_at_least_600_checks(checks: Path, tmp_path: Path) -> None:
    done = NATIVE.run([checks, tmp_path])
    told = re.search(r"^(\d+) checks, (\d+) failed$", done.stdout, re.MULTILINE)
    assert told is not None and done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert int(told[1]) >= 600


@pytest.mark.parametrize("area", AREAS)
def test_a_program_does_on_isotach_what_it_does_on_native_hdf5(
    area: str, checks: Path, isotach: Connector, tmp_path: Path
) -> None:
    native, ours = tmp_path / "native", tmp_path / "isotach"
    native.mkdir()
    ours.mkdir()
    expected = NATIVE.run([checks, native, area]).stdout.replace(str(native), "FOLDER")
    done = isotach.run([checks, ours, area])
    found = done.stdout.replace(str(ours), "FOLDER")
    difference = difflib.unified_diff(
        expected.splitlines(), found.splitlines(), "native", "isotach", lineterm="", n=1
    )
    assert found == expected, "\n".join(difference) + done.stderr[-2000:]
