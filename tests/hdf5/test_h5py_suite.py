"""h5py's own tests, from its wheel, through the connector. `h5py-differs.txt` names each test that passes on native HDF5 only, and why."""

from __future__ import annotations

from pathlib import Path

import pytest

import suite
from conftest import HERE, NATIVE, Connector

# Of the 877 that pass on native HDF5. All but 15 do, or 18 in a pool, and some depend on time: on a busy machine one or two fail natively, too.
AT_LEAST, AT_LEAST_IN_A_POOL = 860, 855


def test_the_tests_of_h5py_pass_but_for_those_with_a_reason(isotach: Connector, tmp_path: Path) -> None:
    pytest.importorskip("h5py")
    outcomes = []
    for connector in (NATIVE, isotach):
        folder = tmp_path / ("native" if connector is NATIVE else "isotach")
        folder.mkdir()
        outcomes.append(suite.run(connector, ["--pyargs", "h5py"], folder))
    native, ours = outcomes
    expected = suite.reasons(HERE / "h5py-differs.txt")
    is_in_pool = "ISOTACH_H5_POOL" in isotach.environment
    if is_in_pool:
        expected |= suite.reasons(HERE / "h5py-differs-in-pools.txt")
    expected = {test: reason for test, reason in expected.items() if reason != "passes"}
    found = suite.surprises(native, ours, expected)
    assert not found, "\n".join(found)
    assert len(native.passed & ours.passed) >= (AT_LEAST_IN_A_POOL if is_in_pool else AT_LEAST)
