"""netCDF4-python's own tests, from its source package, with its wheel, through the connector."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

from needs import skip

import suite
from conftest import HERE, NATIVE, ROOT, Connector

# Of the 154 that pass on native HDF5.
AT_LEAST = 150
# Neither the network nor the program ncdump is there everywhere.
WITHOUT = {"NO_NET": "1", "NO_CDL": "1"}


def the_suite() -> Path:
    """The folder with the tests."""
    folder = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "netcdf4"
    pin = folder / "pin"
    if not pin.is_file() or pin.read_text() not in (HERE / "requirements.txt").read_text():
        skip("python", "the tests of this netCDF4 are not there: `scripts/setup test` fetches them")
    return folder / "test"


def filters() -> str:
    """The folder of the wheel's filters, where HDF5 looks for plugins unless it is told where to look."""
    spec = find_spec("netCDF4")
    if spec is None or spec.origin is None:
        skip("python", "netCDF4 is not installed: `scripts/setup test` installs it")
    return str(Path(spec.origin).parent / "plugins")


def test_the_tests_of_netcdf4_pass(isotach: Connector, tmp_path: Path) -> None:
    plugins = f"{isotach.environment['HDF5_PLUGIN_PATH']}:{filters()}"
    ours = Connector(isotach.environment | WITHOUT | {"HDF5_PLUGIN_PATH": plugins})
    outcomes = []
    for name, connector in (("native", Connector(NATIVE.environment | WITHOUT)), ("isotach", ours)):
        # Some tests read files beside them.
        folder = shutil.copytree(the_suite(), tmp_path / name)
        outcomes.append(suite.run(connector, ["."], folder))
    native, through = outcomes
    found = suite.surprises(native, through, {})
    assert not found, "\n".join(found)
    assert len(native.passed & through.passed) >= AT_LEAST
