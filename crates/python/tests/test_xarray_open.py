"""``xarray.open_dataset(engine="isotach")``: variables, dimensions, coordinates and attributes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import isotach
import numpy as np
import pytest
import xarray as xr
from isotach._isotach import decode_into

from grib_messages import ensemble, small


@pytest.fixture
def fields(tmp_path: Path) -> Iterator[isotach.Store]:
    """A store with an ensemble of temperature and wind."""
    with isotach.create(tmp_path / "ensemble") as store:
        ensemble(store)
        yield store


def test_a_request_is_a_dataset_with_a_variable_for_each_param(fields: isotach.Store) -> None:
    ds = xr.open_dataset({"class": "od", "levtype": "pl"}, engine="isotach", store=fields)
    assert set(ds.data_vars) == {"t", "u"}
    assert ds.t.dims == ("number", "forecast_reference_time", "step", "level", "latitude", "longitude")
    assert ds.t.shape == (2, 2, 2, 2, 3, 4)
    assert ds.number.values.tolist() == [1, 2]
    assert ds.level.values.tolist() == [500, 850]
    assert (ds.step.values == np.array([0, 6], "timedelta64[h]")).all()
    assert (ds.forecast_reference_time.values == np.array(["2024-01-01T00", "2024-01-01T12"], "M8[h]")).all()
    assert ds.latitude.values.tolist() == [60, 50, 40]
    assert ds.longitude.values.tolist() == [0, 10, 20, 30]


def test_each_value_is_that_of_its_field(fields: isotach.Store) -> None:
    ds = xr.open_dataset("class=od", engine="isotach", store=fields).load()
    first = ds.u.isel(latitude=0, longitude=0)
    expected = (
        131
        + 1000 * ds.number
        + 1200 * xr.DataArray([0, 1], dims="forecast_reference_time")
        + 20 * xr.DataArray([0, 6], dims="step")
        + ds.level
    )
    np.testing.assert_allclose(first.values, expected.transpose(*first.dims).values)
    np.testing.assert_allclose((ds.t - ds.t[..., :1, :1].values)[0, 0, 0, 0].values.ravel(), np.arange(12))


def test_attributes_are_those_of_cf_and_of_the_messages(fields: isotach.Store) -> None:
    ds = xr.open_dataset("class=od", engine="isotach", store=fields)
    assert ds.t.attrs["standard_name"] == "air_temperature"
    assert ds.t.attrs["long_name"] == "Temperature"
    assert ds.t.attrs["units"] == "K"
    assert ds.t.attrs["GRIB_paramId"] == 130
    assert ds.t.attrs["GRIB_gridType"] == "regular_ll"
    assert ds.t.attrs["GRIB_Nx"] == 4
    assert ds.level.attrs["standard_name"] == "air_pressure"
    assert ds.level.attrs["units"] == "hPa"
    assert ds.level.attrs["level_type"] == "pl"
    assert ds.level.attrs["GRIB_typeOfLevel"] == "isobaricInhPa"
    assert ds.attrs["Conventions"] == "CF-1.8"
    assert ds.attrs["GRIB_centre"] == "ecmf"
    assert ds.attrs["MARS_expver"] == "0001"


def test_a_dataset_with_attributes_and_times_can_be_written_as_netcdf(fields: isotach.Store) -> None:
    ds = xr.open_dataset("class=od", engine="isotach", store=fields, add_valid_time_coord=True)
    again = xr.load_dataset(ds.to_netcdf())
    xr.testing.assert_equal(again, ds)


def test_a_store_is_opened_whole_by_its_path_uri_or_handle(fields: isotach.Store, tmp_path: Path) -> None:
    expected = xr.open_dataset("", engine="isotach", store=fields).load()
    for store in (fields, tmp_path / "ensemble", str(tmp_path / "ensemble"), f"posix:{tmp_path}/ensemble"):
        xr.testing.assert_identical(xr.open_dataset(store, engine="isotach").load(), expected)
        xr.testing.assert_identical(xr.open_dataset("class=od", engine="isotach", store=store), expected)


def test_a_snapshot_is_opened_by_its_name(fields: isotach.Store) -> None:
    fields.create_snapshot("before", "class=od")
    fields.archive(small(step=12, level=500))
    fields.flush()
    assert xr.open_dataset("param=t", engine="isotach", store=fields, at="before").sizes["step"] == 2


def test_opening_reads_a_field_of_each_variable_and_lists_only_if_there_are_holes(
    fields: isotach.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    for name in ("list", "read", "retrieve", "retrieve_one", "inspect", "axes", "stats", "locate"):
        method = getattr(isotach.Store, name)
        monkeypatch.setattr(
            isotach.Store,
            name,
            lambda *args, _name=name, _method=method, **kw: (calls.append(_name), _method(*args, **kw))[1],
        )
    decoded: list[int] = []

    def counted(handle: Any, keys: list[Any], *arguments: Any) -> list[int]:
        decoded.append(len(keys))
        return decode_into(handle, keys, *arguments)

    monkeypatch.setattr("isotach._xarray.array.decode_into", counted)
    ds = xr.open_dataset("class=od", engine="isotach", store=fields)
    assert sorted(calls) == ["axes", "locate", "locate", "retrieve_one", "retrieve_one", "stats", "stats"]
    calls.clear()
    ds.t.isel(number=0, forecast_reference_time=1, step=0, level=[1, 0], latitude=2).load()
    assert (calls, decoded) == ([], [1, 1])
    xr.open_dataset("class=od", engine="isotach", store=fields)
    assert sorted(calls) == ["axes", "locate", "locate", "stats", "stats"]
    fields.archive(small(number=3))
    fields.flush()
    calls.clear()
    xr.open_dataset("class=od", engine="isotach", store=fields, allow_holes=True)
    assert sorted(calls) == ["axes", "list", "locate", "locate", "stats"]


OPTIONAL = (
    "[ class, expver, stream, date, time, domain?g [ type, levtype [ step, number?, levelist?, param ]]]"
)
"""A schema by which a field may be without a number and a level."""
KEY = {
    "class": "od",
    "expver": "0001",
    "stream": "oper",
    "date": "20240101",
    "time": "0000",
    "type": "fc",
    "levtype": "pl",
}


def test_a_field_without_a_number_does_not_stand_for_one_that_is_missing(tmp_path: Path) -> None:
    with isotach.create(tmp_path / "fields", OPTIONAL) as store:
        # Four fields, and the axes have two numbers and two steps.
        for labels in (
            {"number": 1, "step": 0},
            {"number": 1, "step": 6},
            {"number": 2, "step": 0},
            {"step": 0},
        ):
            key = {**KEY, "param": "130", "levelist": "500", **labels}
            store.archive(small(**{"number": 0, **labels}), key)
        store.flush()
        with pytest.raises(isotach.MissingFieldsError, match="2 fields missing: .*step=6"):
            xr.open_dataset(store, engine="isotach")
        ds = xr.open_dataset(store, engine="isotach", allow_holes=True)
        assert ds.number.values.tolist() == [0, 1, 2]
        assert np.isnan(ds.t[:, :, 0, 0]).values.tolist() == [[False, True], [False, False], [False, True]]


def test_a_key_that_only_some_fields_have_does_not_make_others_up(tmp_path: Path) -> None:
    key = {**KEY, "step": "0"}
    with isotach.create(tmp_path / "fields", OPTIONAL) as store:
        # As many fields as the axes have combinations: two parameters, one level.
        store.archive(small(), {**key, "param": "130", "levelist": "500"})
        store.archive(small(paramId=131), {**key, "param": "131"})
        store.flush()
        ds = xr.open_dataset(store, engine="isotach").load()
    assert float(ds.t[0, 0]) == 1630
    assert float(ds.u[0, 0]) == 1631


def test_missing_fields_are_named_unless_holes_are_allowed(tmp_path: Path) -> None:
    hole = (2, 1200, 6, 850, 131)
    with isotach.create(tmp_path / "fields") as store:
        ensemble(store, without=[hole])
        with pytest.raises(isotach.MissingFieldsError, match="1 field missing: param=131,.*step=6") as caught:
            xr.open_dataset("class=od", engine="isotach", store=store)
        (key,) = caught.value.missing.keys
        assert key == {
            "param": "131",
            "number": "2",
            "date": "20240101",
            "time": "1200",
            "step": "6",
            "levelist": "850",
        }
        ds = xr.open_dataset("class=od", engine="isotach", store=store, allow_holes=True)
        assert np.isnan(ds.u[1, 1, 1, 1]).all()
        assert int(np.isnan(ds.u).sum()) == 12
        assert not np.isnan(ds.t).any()


def test_values_that_the_request_names_and_no_field_has_are_missing(fields: isotach.Store) -> None:
    request = "class=od,step=0/to/12/by/6,number=1/2,param=t"
    with pytest.raises(isotach.MissingFieldsError, match="8 fields missing: .*step=12"):
        xr.open_dataset(request, engine="isotach", store=fields)
    ds = xr.open_dataset(request, engine="isotach", store=fields, allow_holes=True)
    assert ds.sizes["step"] == 3
    assert np.isnan(ds.t.isel(step=2)).all()
    assert not np.isnan(ds.t.isel(step=[0, 1])).any()
    with pytest.raises(isotach.MissingFieldsError, match="date=20240102"):
        xr.open_dataset("date=20240101/to/20240102", engine="isotach", store=fields)


def test_a_range_has_the_steps_of_the_store(tmp_path: Path) -> None:
    with isotach.create(tmp_path / "fields") as store:
        ensemble(store, steps=(0, 12, 24, 36))
        # Without by, steps go by 12.
        request = "class=od,step=0/to/36"
        assert xr.open_dataset(request, engine="isotach", store=store).sizes["step"] == 4
        with pytest.raises(isotach.MissingFieldsError, match="24 fields missing: .*step=6") as caught:
            xr.open_dataset("step=0/6/to/30,param=t", engine="isotach", store=store)
        assert {key["step"] for key in caught.value.missing.keys} == {"6", "18", "30"}
        with pytest.raises(isotach.MissingFieldsError, match="16 fields missing: .*step=30m"):
            xr.open_dataset("class=od,step=0/30m", engine="isotach", store=store)
        with pytest.raises(isotach.MissingFieldsError, match="date="):
            xr.open_dataset("date=20240101/-1", engine="isotach", store=store)
        with pytest.raises(
            isotach.InvalidInputError, match="step has .* values without a field: expected at"
        ):
            xr.open_dataset("step=0/to/2000/by/1", engine="isotach", store=store)


def test_a_param_without_any_field_is_named(fields: isotach.Store) -> None:
    with pytest.raises(isotach.MissingFieldsError, match="no field of param=q"):
        xr.open_dataset("class=od,param=t/q", engine="isotach", store=fields)
    assert set(xr.open_dataset("param=130.128/u", engine="isotach", store=fields)) == {"t", "u"}


def test_a_request_that_matches_nothing_says_why(fields: isotach.Store) -> None:
    with pytest.raises(isotach.MissingFieldsError, match="no fields match the request: .*expver"):
        xr.open_dataset("class=od,expver=0002", engine="isotach", store=fields)


def test_surface_fields_and_fields_on_levels_are_in_one_dataset(fields: isotach.Store) -> None:
    for number, time, step in ((n, t, s) for n in (1, 2) for t in (0, 1200) for s in (0, 6)):
        keys = {"number": number, "dataTime": time, "step": step}
        fields.archive(small(values=np.full(12, 280.0), **keys, paramId=167))
    fields.flush()
    ds = xr.open_dataset("class=od", engine="isotach", store=fields)
    assert ds["2t"].dims == ("number", "forecast_reference_time", "step", "latitude", "longitude")
    assert "level" in ds.t.dims


def test_fields_that_differ_in_another_key_need_a_dimension_for_it(fields: isotach.Store) -> None:
    fields.archive(small(expver="0002"))
    fields.flush()
    request = "param=t,number=1,step=0,levelist=500,time=0"
    with pytest.raises(isotach.InvalidInputError, match="differ in expver=0001/0002: .*extra_dims='expver'"):
        xr.open_dataset(request, engine="isotach", store=fields)
    ds = xr.open_dataset(request, engine="isotach", store=fields, extra_dims="expver")
    assert ds.t.dims == ("expver", "latitude", "longitude")


def test_a_field_that_is_no_message_is_an_error_at_opening(tmp_path: Path) -> None:
    key = {
        "class": "od",
        "expver": "1",
        "stream": "oper",
        "date": 20240101,
        "time": 0,
        "type": "fc",
        "levtype": "sfc",
        "step": 0,
        "param": "2t",
    }
    with isotach.create(tmp_path / "fields") as store:
        store.archive(b"no GRIB", key)
        store.flush()
        with pytest.raises(isotach.MessageError, match="param=167"):
            xr.open_dataset("class=od", engine="isotach", store=store)
