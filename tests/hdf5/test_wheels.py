"""The HDF5 libraries of several wheels in one process, through one connector, and xarray on top of them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from conftest import NATIVE, Connector

BOTH = """
import {first}, {second}
import netCDF4, h5py, numpy as np
with netCDF4.Dataset("both.nc", "w") as data:
    data.createDimension("x", 4)
    data.createDimension("time", None)
    values = data.createVariable("values", "f8", ("time", "x"), zlib=True)
    values[0:3] = np.arange(12).reshape(3, 4)
    values.units = "K"
    data.createVariable("names", str, ("x",))[:] = np.array(["a", "bb", "", "dddd"], object)
with h5py.File("both.nc", "r+") as file:
    assert sorted(file) == ["names", "time", "values", "x"], list(file)
    assert file["values"][1].tolist() == [4, 5, 6, 7]
    assert file["values"].attrs["units"] in ("K", b"K")
    assert [name.decode() for name in file["names"][:]] == ["a", "bb", "", "dddd"]
    assert [scale.name for scale in file["values"].dims[1].values()] == ["/x"]
    file["values"][2, 3] = 100
    file["more"] = np.arange(3)
with netCDF4.Dataset("both.nc", "a") as data:
    assert data["values"][2].tolist() == [8, 9, 10, 100]
    data["values"][3] = 1
with h5py.File("both.nc", "r") as file:
    assert file["values"].shape == (4, 4) and file["more"][2] == 2
print("done")
"""

XARRAY = """
import numpy as np, pandas as pd, xarray as xr
data = xr.Dataset(
    {{"t": (("time", "lat", "lon"), np.random.default_rng(1).normal(size=(4, 3, 5)).astype("f4"), {{"units": "K"}}),
      "n": (("time",), np.arange(4), {{}}), "name": (("lat",), np.array(["a", "b", "c"], object), {{}})}},
    coords={{"time": pd.date_range("2024-01-01", periods=4, freq="6h"), "lat": [10.0, 20.0, 30.0], "lon": np.arange(5.0)}},
    attrs={{"title": "a round trip"}})
data.to_netcdf("trip.nc", engine="{engine}", encoding={{"t": {{"zlib": True, "chunksizes": (1, 3, 5)}}}}, unlimited_dims=["time"])
for engine in ("netcdf4", "h5netcdf"):
    with xr.open_dataset("trip.nc", engine=engine) as again:
        xr.testing.assert_identical(again.load(), data)
print("done")
"""


ALIKE = """
import h5py, numpy as np
shapes = {"a": (10,), "b": (1000,), "c": (2, 4), "d": (2, 5)}
with h5py.File("alike.h5", "w") as file:
    for name, chunks in shapes.items():
        file.create_dataset(name, tuple(20 * length for length in chunks), "f4", chunks=chunks)
    file["source"] = np.arange(20)
    for name, first in (("low", 0), ("high", 10)):
        layout = h5py.VirtualLayout((10,), "i8")
        layout[:] = h5py.VirtualSource(".", "source", (20,))[first : first + 10]
        file.create_virtual_dataset(name, layout)
with h5py.File("alike.h5") as file:
    assert {name: file[name].chunks for name in shapes} == shapes
    assert file["low"][:].tolist() == [*range(10)] and file["high"][:].tolist() == [*range(10, 20)]
print("done")
"""


def run(connector: Connector, script: str, folder: Path) -> None:
    folder.mkdir()
    done = connector.run([sys.executable, "-c", script], folder=folder)
    assert done.returncode == 0 and done.stdout.endswith("done\n"), done.stdout + done.stderr


@pytest.mark.parametrize(("first", "second"), [("h5py", "netCDF4"), ("netCDF4", "h5py")])
def test_h5py_and_netcdf4_work_on_one_file_in_one_process(
    first: str, second: str, isotach: Connector, tmp_path: Path
) -> None:
    for name, connector in (("native", NATIVE), ("isotach", isotach)):
        run(connector, BOTH.format(first=first, second=second), tmp_path / name)


@pytest.mark.parametrize("engine", ["netcdf4", "h5netcdf"])
def test_xarray_reads_what_it_wrote_with_either_engine(
    engine: str, isotach: Connector, tmp_path: Path
) -> None:
    for name, connector in (("native", NATIVE), ("isotach", isotach)):
        run(connector, XARRAY.format(engine=engine), tmp_path / name)


def test_datasets_with_lists_that_hdf5_takes_for_equal_keep_their_own(
    isotach: Connector, tmp_path: Path
) -> None:
    for name, connector in (("native", NATIVE), ("isotach", isotach)):
        run(connector, ALIKE, tmp_path / name)
