"""The same messages through cfgrib and earthkit-data: equal but for what is listed here, with the reasons in ``docs/xarray.md``."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import isotach
import numpy as np
import pytest
import xarray as xr

from grib_messages import message

NOT_OURS = {
    "cfgrib": {"GRIB_missingValue", "stored_direction", "history"},
    "earthkit": {"_earthkit"},
}
"""Attributes that we do not have."""
OF_OUR_OWN = {
    "cfgrib": {"MARS_class", "MARS_expver", "MARS_stream", "MARS_type", "MARS_levtype"},
    "earthkit": set(),
}
"""Attributes that only we have."""
DIFFERENT = {
    "cfgrib": {("", "Conventions")},
    "earthkit": {
        ("", "institution"),
        ("member", "long_name"),
        ("member", "units"),
        ("t", "units"),
        ("z", "units"),
        ("t", "level_type"),
        ("z", "level_type"),
    },
}
"""Attributes, by variable, that are not equal."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of the shape of ERA5's ensemble: ten members, four times, two levels, two parameters, in GRIB 1."""
    rng = np.random.default_rng(1)
    path = tmp_path / "era5.grib"
    with path.open("wb") as out:
        for date, time in ((20170101, 0), (20170101, 1200), (20170102, 0), (20170102, 1200)):
            for number in range(10):
                for level in (500, 850):
                    for param in (129, 130):
                        keys = {
                            "dataDate": date,
                            "dataTime": time,
                            "level": level,
                            "paramId": param,
                            "number": number,
                        }
                        out.write(_era5(rng.normal(250 * (131 - param), 10, 31 * 16), keys))
    return path


def _era5(values: Any, keys: dict[str, Any]) -> bytes:
    local = {"setLocalDefinition": 1, "localDefinitionNumber": 1, "totalNumber": 10}
    labels = {"class": "ea", "expver": "0001", "stream": "enda", "type": "an", "step": 0}
    return message("regular_ll_pl_grib1", values, base={**local, **labels}, **keys)


def ours(file: Path, tmp_path: Path, profile: str) -> xr.Dataset:
    """The messages through a store."""
    with isotach.create(tmp_path / "fields") as store:
        assert len(store.archive(file)) == 160
    return xr.open_dataset(tmp_path / "fields", engine="isotach", profile=profile)


def differences(name: str, ours: dict[str, Any], theirs: dict[str, Any], rival: str) -> set[tuple[str, str]]:
    """The attributes that are not equal, without those that only one of both has."""
    ours = {key: value for key, value in ours.items() if key not in OF_OUR_OWN[rival]}
    theirs = {key: value for key, value in theirs.items() if key not in NOT_OURS[rival]}
    return {(name, key) for key in {*ours, *theirs} if ours.get(key) != theirs.get(key)}


def compare(mine: xr.Dataset, theirs: xr.Dataset, rival: str, names: set[str]) -> None:
    """Values are equal to the bit, and attributes but for the list."""
    assert dict(mine.sizes) == dict(theirs.sizes)
    assert set(mine.data_vars) == set(theirs.data_vars) == {"t", "z"}
    assert {str(name) for name in theirs.variables} == names
    found = differences("", mine.attrs, theirs.attrs, rival)
    for name in names:
        assert mine[name].dims == theirs[name].dims
        np.testing.assert_array_equal(
            mine[name].values.astype(theirs[name].dtype), theirs[name].values, err_msg=name
        )
        found |= differences(name, mine[name].attrs, theirs[name].attrs, rival)
    assert found == DIFFERENT[rival]


def test_the_dataset_equals_that_of_cfgrib(file: Path, tmp_path: Path) -> None:
    mine = ours(file, tmp_path, "cfgrib")
    theirs = xr.open_dataset(file, engine="cfgrib", backend_kwargs={"indexpath": ""})
    compare(mine, theirs, "cfgrib", {str(name) for name in mine.variables})
    assert mine.t.dtype == theirs.t.dtype
    assert all(mine[name].dtype == theirs[name].dtype for name in mine.coords)


@pytest.mark.parametrize(
    ("sample", "keys", "coordinates", "attributes"),
    [
        ("regular_ll_pl_grib1", {}, {"number"}, {"standard_name", "GRIB_cfName"}),
        ("regular_ll_pl_grib2", {"step": 6}, set(), set()),
        ("regular_ll_pl_grib2", {"step": "30m"}, set(), {"GRIB_stepUnits"}),
        ("regular_ll_sfc_grib2", {"paramId": 167}, {"heightAboveGround"}, set()),
        ("regular_ll_sfc_grib2", {"paramId": 134}, {"surface"}, set()),
        ("regular_gg_pl_grib2", {}, set(), {"GRIB_Nx", "GRIB_Ny", "GRIB_Ni", "GRIB_Nj"}),
    ],
)
def test_a_single_field_differs_from_that_of_cfgrib_as_the_guide_says(
    tmp_path: Path, sample: str, keys: dict[str, Any], coordinates: set[str], attributes: set[str]
) -> None:
    labels = {"class": "od", "expver": "0001", "stream": "oper", "type": "fc"}
    local = {"setLocalDefinition": 1, **({"localDefinitionNumber": 1} if sample.endswith("1") else {})}
    (tmp_path / "one.grib").write_bytes(message(sample, base={**local, **labels}, **keys))
    with isotach.create(tmp_path / "fields") as store:
        store.archive(tmp_path / "one.grib")
    mine = xr.open_dataset(tmp_path / "fields", engine="isotach", profile="cfgrib")
    theirs = xr.open_dataset(tmp_path / "one.grib", engine="cfgrib", backend_kwargs={"indexpath": ""})
    assert {str(name) for name in {*theirs.variables} ^ {*mine.variables}} == coordinates
    for name in {*theirs.coords} & {*mine.coords}:
        np.testing.assert_array_equal(mine[name].values, theirs[name].values)
    (variable,) = mine.data_vars
    np.testing.assert_array_equal(mine[variable].values, theirs[variable].values)
    found = differences("", mine[variable].attrs, theirs[variable].attrs, "cfgrib")
    assert {key for _, key in found} == attributes


def test_the_dataset_equals_that_of_earthkit_data(file: Path, tmp_path: Path) -> None:
    mine = ours(file, tmp_path, "earthkit")
    with warnings.catch_warnings():
        # Its imports warn.
        warnings.simplefilter("ignore")
        import earthkit.data

        theirs = earthkit.data.from_source("file", str(file)).to_fieldlist().to_xarray().load()
    # It drops the coordinate of a dimension that it squeezes.
    compare(mine, theirs, "earthkit", {str(name) for name in mine.variables} - {"step"})
