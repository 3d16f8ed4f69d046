"""A script written for pyfdb does the same with pyfdb and with isotach.pyfdb."""

from __future__ import annotations

import importlib.util
import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import isotach.pyfdb
import pytest

from grib_messages import surface
from pyfdb_differences import DIFFERENT, MATCHED, UNEQUAL
from pyfdb_keys import SCHEMA

SCRIPT = Path(__file__).with_name("pyfdb_script.py")


def run(folder: Path, *command: str) -> dict[str, Any]:
    """Runs the script in a new folder, and returns what each step told."""
    folder.mkdir()
    (folder / "schema").write_text(SCHEMA)
    (folder / "messages.grib").write_bytes(surface(0) + surface(6))
    (folder / "home").mkdir()
    # FDB looks for other configurations below its home, and the one in its package crashes it.
    environment = {**os.environ, "FDB_HOME": str(folder / "home")}
    for name in ("FDB_CONFIG", "FDB5_CONFIG", "FDB_CONFIG_FILE", "FDB5_CONFIG_FILE"):
        environment.pop(name, None)
    done = subprocess.run(
        [sys.executable, *command, str(SCRIPT), str(folder)],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    # The libraries of FDB also write to standard output.
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('["')]
    return {name: normal(told) for name, told in lines}


def normal(told: Any) -> Any:
    """What a step told, without what must be unequal."""
    if isinstance(told, list):
        return [normal(one) for one in told]
    if isinstance(told, dict):
        return {name: normal(one) for name, one in told.items()}
    if not isinstance(told, str):
        return told
    for pattern, replacement, _ in UNEQUAL:
        told = re.sub(pattern, replacement, told)
    kind, colon, text = told.partition("Error: ")
    if colon and kind.isalpha():
        matched = next((part for part in MATCHED if part in text), text)
        return f"{kind}{colon}{matched}"
    return told


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The run with isotach.pyfdb."""
    return run(tmp_path_factory.mktemp("isotach") / "run", "-m", "isotach.pyfdb")


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The run with pyfdb."""
    if importlib.util.find_spec("pyfdb") is None:
        pytest.skip("pyfdb is not installed: a comparison with it")
    return run(tmp_path_factory.mktemp("pyfdb") / "run")


def test_the_script_tells_the_same_with_both(theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    assert list(ours) == list(theirs)
    unlike = {name: (theirs[name], told) for name, told in ours.items() if told != theirs[name]}
    assert {name: pair for name, pair in unlike.items() if name not in DIFFERENT} == {}
    assert DIFFERENT.keys() - unlike.keys() == set(), "these steps are alike now"


@pytest.mark.parametrize("name", DIFFERENT)
def test_a_step_that_differs_comes_out_as_the_table_says(
    theirs: dict[str, Any], ours: dict[str, Any], name: str
) -> None:
    with_pyfdb, with_isotach, _ = DIFFERENT[name]
    assert ours[name] == with_isotach
    if isinstance(with_pyfdb, str):
        assert re.match(with_pyfdb, theirs[name])
    else:
        assert theirs[name] == with_pyfdb


def test_the_script_runs_to_its_end_without_pyfdb(ours: dict[str, Any]) -> None:
    assert ours["handle"] == [True, False, "[Closed] Datahandle: MultiHandle"]
    assert ours["tool request of all"] == " -- ALL --"


def test_the_script_uses_every_public_name() -> None:
    text = SCRIPT.read_text()
    additions = {"install", "timestamp", "expand"}
    names = set(isotach.pyfdb.__all__)
    for name in isotach.pyfdb.__all__:
        value = getattr(isotach.pyfdb, name)
        if inspect.isclass(value):
            of_class = {attribute for base in value.__mro__[:2] for attribute in vars(base)}
            names |= {one for one in of_class - set(dir(dict)) - set(dir(int)) if not one.startswith("_")}
    assert len(names) > 60
    assert {one for one in names - additions if not re.search(rf"\b{one}\b", text)} == set()


def test_pyfdb_has_no_other_public_name(theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    assert ours["names"] == theirs["names"]
    assert ours["version"] == theirs["version"]
