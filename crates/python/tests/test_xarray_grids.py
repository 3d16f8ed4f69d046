"""Datasets on all kinds of grids."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import eccodes
import isotach
import numpy as np
import pytest
import xarray as xr

from grib_messages import message, small

LAMBERT = {
    "gridType": "lambert",
    "shapeOfTheEarth": 6,
    "Nx": 4,
    "Ny": 3,
    "latitudeOfFirstGridPointInDegrees": 40,
    "longitudeOfFirstGridPointInDegrees": 0,
    "LaDInDegrees": 45,
    "LoVInDegrees": 5,
    "DxInMetres": 10000,
    "DyInMetres": 10000,
    "Latin1InDegrees": 45,
    "Latin2InDegrees": 45,
}
HEALPIX = {
    "gridType": "healpix",
    "Nside": 2,
    "orderingConvention": "ring",
    "longitudeOfFirstGridPointInDegrees": 45,
}


def opened(tmp_path: Path, data: bytes, **options: Any) -> xr.Dataset:
    """The dataset of a store with one message."""
    with isotach.create(tmp_path / "fields") as store:
        store.archive(data)
    return xr.open_dataset(tmp_path / "fields", engine="isotach", **options)


def points(data: bytes, key: str) -> np.ndarray[Any, Any]:
    """What ecCodes says of a message itself."""
    handle = eccodes.codes_new_from_message(data)
    try:
        return np.asarray(eccodes.codes_get_double_array(handle, key))
    finally:
        eccodes.codes_release(handle)


@pytest.mark.parametrize(
    ("sample", "keys", "size"),
    [("reduced_gg_pl_32_grib2", {}, 6114), ("regular_ll_pl_grib2", HEALPIX, 48)],
    ids=["reduced Gaussian", "HEALPix"],
)
def test_points_without_rows_have_the_dimension_values(
    tmp_path: Path, sample: str, keys: dict[str, Any], size: int
) -> None:
    data = message(sample, np.arange(float(size)), **keys)
    ds = opened(tmp_path, data)
    (variable,) = ds.data_vars.values()
    assert variable.dims == ("values",)
    np.testing.assert_array_equal(variable.values, points(data, "values"))
    for name in ("latitude", "longitude"):
        assert ds[name].dims == ("values",)
        np.testing.assert_array_equal(ds[name].values, points(data, f"{name}s"))
    assert "GRIB_Ni" not in variable.attrs
    assert "latitude" not in opened(tmp_path, data, add_geo_coords=False).coords
    assert opened(tmp_path, data, chunks={}).latitude.chunks == ((size,),)


def test_a_projected_grid_has_rows_and_columns_with_coordinates_of_each_point(tmp_path: Path) -> None:
    data = message(values=np.arange(12.0), **LAMBERT)
    ds = opened(tmp_path, data)
    (variable,) = ds.data_vars.values()
    assert variable.dims == ("y", "x")
    np.testing.assert_array_equal(variable.values.ravel(), points(data, "values"))
    np.testing.assert_array_equal(ds.latitude.values.ravel(), points(data, "latitudes"))
    assert ds.longitude.dims == ("y", "x")
    flat = opened(tmp_path, data, flatten_values=True)
    assert flat.latitude.dims == ("values",)


def test_spherical_harmonics_have_values_without_coordinates(tmp_path: Path) -> None:
    data = message("sh_pl_grib2")
    ds = opened(tmp_path, data)
    (variable,) = ds.data_vars.values()
    assert variable.sizes == {"values": 4160}
    assert "latitude" not in ds.coords
    np.testing.assert_array_equal(variable.values, points(data, "values"))


def test_a_message_by_columns_is_an_array_by_rows(tmp_path: Path) -> None:
    data = small(np.arange(12.0), jPointsAreConsecutive=1)
    ds = opened(tmp_path, data)
    assert ds.t.dims == ("latitude", "longitude")
    np.testing.assert_array_equal(ds.t.values, np.arange(12.0).reshape(4, 3).T)
    assert ds.latitude.values.tolist() == [60, 50, 40]
    with isotach.create(tmp_path / "again") as store:
        ds.isotach.archive(store)
        store.flush()
        xr.testing.assert_equal(xr.open_dataset(store, engine="isotach"), ds)


def test_rows_from_south_to_north_have_ascending_latitudes(tmp_path: Path) -> None:
    south = {
        "jScansPositively": 1,
        "latitudeOfFirstGridPointInDegrees": 40,
        "latitudeOfLastGridPointInDegrees": 60,
    }
    ds = opened(tmp_path, small(np.arange(12.0), **south))
    assert ds.latitude.values.tolist() == [40, 50, 60]
    assert float(ds.t.sel(latitude=40, longitude=10)) == 1


def test_rows_of_alternating_direction_are_values_with_coordinates(tmp_path: Path) -> None:
    data = small(np.arange(12.0), alternativeRowScanning=1)
    ds = opened(tmp_path, data)
    assert ds.t.dims == ("values",)
    np.testing.assert_array_equal(ds.longitude.values, points(data, "longitudes"))


def test_points_that_a_bitmap_leaves_out_are_nan_and_stay_so(tmp_path: Path) -> None:
    # 9999 is what ecCodes returns for a missing point unless told otherwise: as a value it must stay one.
    values = np.array([np.nan, 9999.0, *range(10)])
    ds = opened(tmp_path, small())
    ds["t"] = ds.t.copy(data=values.reshape(3, 4))
    with isotach.create(tmp_path / "again") as store:
        ds.isotach.archive(store, template=small())
        store.flush()
        again = xr.open_dataset(store, engine="isotach")
        np.testing.assert_allclose(again.t.values.ravel(), values, atol=0.2)


def test_messages_of_two_editions_and_flags_have_the_same_points(tmp_path: Path) -> None:
    with isotach.create(tmp_path / "fields") as store:
        store.archive(small(np.arange(12.0), step=0))
        store.archive(small(np.arange(12.0) + 6, step=6, uvRelativeToGrid=1))
        store.archive(small(np.arange(12.0) + 1, paramId=131, edition=1))
        store.archive(small(np.arange(12.0) + 7, paramId=131, step=6))
        store.flush()
        ds = xr.open_dataset(store, engine="isotach").load()
    np.testing.assert_allclose(ds.t[:, 0, :2].values, [[0, 1], [6, 7]], atol=1e-3)
    np.testing.assert_allclose(ds.u[:, 0, :2].values, [[1, 2], [7, 8]], atol=1e-3)


def test_a_field_with_other_points_says_what_differs(tmp_path: Path) -> None:
    with isotach.create(tmp_path / "fields") as store:
        store.archive(small())
        store.archive(
            small(step=6, longitudeOfFirstGridPointInDegrees=5, longitudeOfLastGridPointInDegrees=35)
        )
        store.archive(small(np.arange(12.0), step=12, jPointsAreConsecutive=1))
        store.archive(small(np.arange(12.0), step=18, alternativeRowScanning=1))
        store.flush()
        ds = xr.open_dataset(store, engine="isotach")
        expected = (
            "longitudes up to 5 degrees apart",
            "latitudes up to 20 degrees apart",
            "alternativeRowScanning=1, expected 0",
        )
        for step, text in enumerate(expected, 1):
            with pytest.raises(isotach.MessageError, match=f"on another grid: {text}"):
                ds.t[step].load()
        assert not np.isnan(ds.t[0]).any()


def test_two_grids_in_one_dataset_are_refused_by_name(tmp_path: Path) -> None:
    with isotach.create(tmp_path / "fields") as store:
        store.archive(small())
        moved = {"latitudeOfFirstGridPointInDegrees": 50, "latitudeOfLastGridPointInDegrees": 30}
        store.archive(small(paramId=131, **moved))
        store.flush()
        with pytest.raises(isotach.InvalidInputError, match="2 grids in one dataset .*: t; .*: u"):
            xr.open_dataset(store, engine="isotach")
        assert set(xr.open_dataset("param=u", engine="isotach", store=store)) == {"u"}
        assert set(xr.open_dataset("", engine="isotach", store=store, drop_variables="u")) == {"t"}
