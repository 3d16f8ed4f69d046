"""The options of ``open_dataset``, whose names are earthkit-data's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import isotach
import numpy as np
import pytest
import xarray as xr

from grib_messages import ensemble, message, small


@pytest.fixture
def fields(tmp_path: Path) -> Iterator[isotach.Store]:
    """A store with an ensemble."""
    with isotach.create(tmp_path / "ensemble") as store:
        ensemble(store)
        yield store


def opened(store: isotach.Store, request: str = "param=t", **options: Any) -> xr.Dataset:
    """The dataset of a request."""
    return xr.open_dataset(request, engine="isotach", store=store, **options)


def test_dimensions_of_one_coordinate_become_scalars_unless_they_are_ensured(fields: isotach.Store) -> None:
    request = "param=t,number=1,levelist=500"
    ds = opened(fields, request)
    assert ds.t.dims == ("forecast_reference_time", "step", "latitude", "longitude")
    assert ds.number == 1
    assert ds.level == 500
    assert opened(fields, request, ensure_dims="number").t.dims[0] == "number"
    assert opened(fields, request, ensure_dims="expver").t.dims[0] == "expver"
    assert opened(fields, request, squeeze=False).t.ndim == 6
    typed = opened(fields, request, profile="cfgrib", ensure_dims="isobaricInhPa")
    assert typed.t.dims[-3] == "isobaricInhPa"
    attributes = opened(fields, request, dims_as_attrs=["level", "number"])
    assert (attributes.t.attrs["level"], attributes.t.attrs["number"]) == (500, 1)
    assert "level" not in attributes.coords


@pytest.mark.parametrize(
    ("options", "dims"),
    [
        ({"time_dims": ["valid_time"]}, ("number", "valid_time", "level")),
        ({"time_dims": ["date", "time", "step"]}, ("number", "time", "step", "level")),
        ({"time_dim_mode": "raw", "squeeze": False}, ("number", "date", "time", "step", "level")),
        ({"time_dims": ["step", "forecast_reference_time"]}, None),
        ({"fixed_dims": ["step", {"lev": "levelist"}, "number", "time"]}, ("step", "lev", "number", "time")),
        ({"rename_dims": {"number": "member"}}, None),
        (
            {"level_dim_mode": "level_per_type"},
            ("number", "forecast_reference_time", "step", "pl"),
        ),
        (
            {"level_dim_mode": "level_and_type"},
            ("number", "forecast_reference_time", "step", "level_and_type"),
        ),
    ],
)
def test_dimensions_follow_the_options(
    fields: isotach.Store, options: dict[str, Any], dims: tuple[str, ...] | None
) -> None:
    request = "param=t,time=0" if "valid_time" in options.get("time_dims", []) else "param=t"
    ds = opened(fields, request, **options)
    if "time_dims" in options and dims is None:
        dims = ("number", "step", "forecast_reference_time", "level")
    if "rename_dims" in options:
        dims = ("member", "forecast_reference_time", "step", "level")
    assert ds.t.dims[:-2] == dims
    assert not np.isnan(ds.t).any()


def test_the_valid_time_is_a_coordinate_or_a_dimension(fields: isotach.Store) -> None:
    ds = opened(fields, add_valid_time_coord=True)
    assert ds.valid_time.dims == ("forecast_reference_time", "step")
    assert ds.valid_time[1, 1] == np.datetime64("2024-01-01T18")
    along = opened(fields, time_dims="valid_time")
    expected = ["2024-01-01T00", "2024-01-01T06", "2024-01-01T12", "2024-01-01T18"]
    assert (along.valid_time.values == np.array(expected, "M8[h]")).all()
    assert float(along.t[0, 3, 0, 0, 0]) == 1000 + 1200 + 6 * 20 + 500 + 130


def test_values_are_double_or_single_precision(fields: isotach.Store) -> None:
    assert opened(fields).t.dtype == np.float64
    single = opened(fields, dtype="float32")
    assert single.t.dtype == np.float32
    np.testing.assert_array_equal(single.t.values, opened(fields).t.values.astype("float32"))
    with pytest.raises(isotach.InvalidInputError, match="dtype=int32: expected float32 or float64"):
        opened(fields, dtype="int32")


def test_names_and_attributes_can_be_changed(fields: isotach.Store) -> None:
    ds = opened(
        fields,
        rename_variables={"t": "temperature"},
        rename_attrs={"units": "unit"},
        global_attrs={"title": "A test"},
        coord_attrs={
            "number": {"comment": "member"},
            "latitude": {"comment": "north"},
            "lev": {"comment": "level"},
        },
        rename_dims={"level": "lev"},
    )
    assert ds.temperature.attrs["unit"] == "K"
    assert ds.attrs["title"] == "A test"
    assert ds.number.attrs["comment"] == "member"
    assert ds.latitude.attrs == {**opened(fields).latitude.attrs, "comment": "north"}
    assert ds.lev.attrs["comment"] == "level"


def test_values_are_loaded_at_once_if_that_is_asked_for(fields: isotach.Store) -> None:
    ds = opened(fields, lazy_load=False)
    fields.close()
    assert not np.isnan(ds.t).any()


def test_one_param_on_levels_of_two_types_has_two_variables(fields: isotach.Store) -> None:
    fields.archive(small(typeOfLevel="hybrid", level=3))
    fields.flush()
    request = "param=t,number=1,step=0,time=0"
    with pytest.raises(isotach.InvalidInputError, match="levels of several types.*: name one levtype"):
        opened(fields, request)
    ds = opened(fields, request, level_dim_mode="level_per_type")
    assert ds.t_pl.dims == ("pl", "latitude", "longitude")
    assert ds.t_ml.dims == ("latitude", "longitude")
    assert ds.ml.attrs["standard_name"] == "atmosphere_hybrid_sigma_pressure_coordinate"


def test_steps_of_minutes_are_durations(tmp_path: Path) -> None:
    with isotach.create(tmp_path / "fields") as store:
        for minutes in (0, 30, 90):
            store.archive(small(np.arange(12.0), step=f"{minutes}m"))
        store.flush()
        ds = opened(store)
    assert (ds.step.values == np.array([0, 30, 90], "timedelta64[m]")).all()


def test_the_control_forecast_is_member_0(tmp_path: Path) -> None:
    with isotach.create(tmp_path / "fields") as store:
        store.archive(small(type="cf", number=0))
        store.archive(small(number=1))
        store.flush()
        ds = opened(store)
    assert ds.number.values.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"sqeeze": True}, TypeError, "unknown option sqeeze: did you mean squeeze?"),
        (
            {"remapping": {}},
            isotach.InvalidInputError,
            "remapping is an option of earthkit-data that Isotach does not",
        ),
        ({"decode_times": False}, isotach.InvalidInputError, "decode_times.*times are always datetime64"),
        (
            {"profile": "mars"},
            isotach.InvalidInputError,
            "profile='mars': expected 'isotach', 'earthkit', 'cfgrib'",
        ),
        ({"profile": {"nothing": 1}}, TypeError, "unknown option nothing"),
        ({"level_dim_mode": "x"}, isotach.InvalidInputError, "level_dim_mode='x': expected 'level'"),
        ({"time_dims": ["month"]}, isotach.InvalidInputError, r"time_dims=\['month'\]: expected some of"),
        ({"time_dim_mode": "x"}, isotach.InvalidInputError, "time_dim_mode='x'"),
        ({"squeeze": "yes"}, isotach.InvalidInputError, "squeeze='yes': expected True or False"),
        ({"rename_dims": 3}, isotach.InvalidInputError, "rename_dims=3: expected a mapping"),
        (
            {"fixed_dims": ["step"], "extra_dims": ["number"]},
            isotach.InvalidInputError,
            "expected fixed_dims alone",
        ),
        ({"drop_dims": "x", "extra_dims": "x"}, isotach.InvalidInputError, "x is in drop_dims, too"),
        (
            {"extra_dims": "foo"},
            isotach.InvalidInputError,
            "extra_dims=foo: no field has this key, but class",
        ),
        ({"fixed_dims": ["step", "foo"]}, isotach.InvalidInputError, "fixed_dims=foo: no field has this key"),
        ({"ensure_dims": "foo"}, isotach.InvalidInputError, "ensure_dims=foo: expected some of"),
        (
            {"rename_dims": {"foo": "bar"}},
            isotach.InvalidInputError,
            "rename_dims=foo: expected some of .*step",
        ),
        ({"drop_dims": "foo"}, isotach.InvalidInputError, "drop_dims=foo: expected some of"),
        ({"dims_as_attrs": "foo"}, isotach.InvalidInputError, "dims_as_attrs=foo: expected some of"),
        (
            {"coord_attrs": {"foo": {"a": 1}}},
            isotach.InvalidInputError,
            "coord_attrs=foo: expected some of .*latitude, .*number, .*step",
        ),
        (
            {"coord_attrs": {"number": {"a": 1}}, "rename_dims": {"number": "member"}},
            isotach.InvalidInputError,
            "coord_attrs=number: expected some of .*member",
        ),
        (
            {"rename_variables": {"t2m": "temperature"}},
            isotach.InvalidInputError,
            "rename_variables=t2m: expected some of t$",
        ),
        ({"fixed_dims": ["step"]}, isotach.InvalidInputError, "have the same place along the dimensions"),
    ],
)
def test_a_wrong_option_says_what_is_expected(
    fields: isotach.Store, options: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        opened(fields, **options)


def test_a_request_of_a_wrong_type_is_refused(fields: isotach.Store) -> None:
    with pytest.raises((TypeError, isotach.InvalidInputError)):
        xr.open_dataset(3, engine="isotach", store=fields)
    with pytest.raises(isotach.NotFoundError):
        xr.open_dataset("posix:/nowhere/at/all", engine="isotach")


def test_a_text_that_is_neither_a_store_nor_a_request_is_refused_as_such() -> None:
    with pytest.raises(
        isotach.InvalidInputError, match="^nofields is neither a store nor a request: expected"
    ):
        xr.open_dataset("nofields", engine="isotach")


def test_an_unknown_param_has_its_number_as_its_name(tmp_path: Path) -> None:
    with isotach.create(tmp_path / "fields") as store:
        data = message(discipline=0, parameterCategory=192, parameterNumber=77)
        store.archive(data)
        store.flush()
        (name,) = xr.open_dataset(store, engine="isotach").data_vars
    assert name.startswith("p")
