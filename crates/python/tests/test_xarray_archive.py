"""``Dataset.isotach.archive``: datasets as GRIB messages of a store."""

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
def ds(tmp_path: Path) -> Iterator[xr.Dataset]:
    """A dataset of an ensemble."""
    with isotach.create(tmp_path / "ensemble") as store:
        ensemble(store)
        yield xr.open_dataset("class=od", engine="isotach", store=store)


@pytest.fixture
def target(tmp_path: Path) -> Iterator[isotach.Store]:
    """An empty store."""
    with isotach.create(tmp_path / "target") as store:
        yield store


def again(store: isotach.Store, request: str = "") -> xr.Dataset:
    """What the store has now."""
    store.flush()
    return xr.open_dataset(request, engine="isotach", store=store)


def test_a_dataset_comes_back_as_it_was(ds: xr.Dataset, target: isotach.Store) -> None:
    keys = ds.isotach.archive(target)
    assert len(keys) == 32
    assert keys[0]["param"] == "130"
    back = again(target)
    xr.testing.assert_allclose(back, ds, atol=1e-3)
    for name in ds.variables:
        assert back[name].attrs == ds[name].attrs


def test_results_are_written_with_the_headers_of_what_they_were_made_of(
    ds: xr.Dataset, target: isotach.Store
) -> None:
    anomaly = ds - ds.mean("number")
    with pytest.raises(isotach.InvalidInputError, match="the variable t has no template"):
        anomaly.isotach.archive(target)
    anomaly.isotach.archive(target, template=ds, expver="anom")
    back = again(target, "expver=anom")
    np.testing.assert_allclose(back.t.values, anomaly.t.values, atol=0.02)
    np.testing.assert_array_equal(back.step, ds.step)


def test_a_mean_needs_a_label_for_the_dimension_that_is_gone(ds: xr.Dataset, tmp_path: Path) -> None:
    mean = ds.mean("number")
    with isotach.open(tmp_path / "ensemble") as store:
        with pytest.raises(
            isotach.InvalidInputError, match="no number, and its template has number=1: give number=,"
        ):
            mean.isotach.archive(store, template=ds)
        with pytest.raises(isotach.InvalidInputError, match="no number, and its template has number=1"):
            mean.isotach.archive(store, template=small(), expver="0002")
        with pytest.raises(
            isotach.InvalidInputError, match="no step, and its template has step=0: give step="
        ):
            ds.mean("step").isotach.archive(store, template=ds)
        with pytest.raises(
            isotach.InvalidInputError, match="has number=1: give number=, or type='em' for a mean"
        ):
            mean.isotach.archive(store, template=ds, type="pf")
        assert not store.is_dirty
        (first, *_) = mean.isotach.archive(store, template=ds, type="em")
        assert first["type"] == "em" and "number" not in first
        assert {key["number"] for key in mean.isotach.archive(store, template=ds, number=0)} == {"0"}
        xr.testing.assert_allclose(again(store, "type=pf,number=1/2"), ds)
        np.testing.assert_allclose(again(store, "type=em").t.values, mean.t.values, atol=0.02)


def test_a_field_that_would_replace_its_template_is_refused_unless_that_is_meant(
    ds: xr.Dataset, tmp_path: Path
) -> None:
    with isotach.open(f"posix:{tmp_path}/ensemble/") as store:
        with pytest.raises(
            isotach.InvalidInputError, match="is the template, and would be replaced: .*expver="
        ):
            (ds + 1).isotach.archive(store, template=ds)
        assert not store.is_dirty
        values = ds.t.values
        (ds + 1).isotach.archive(store, template=ds, replace=True)
        np.testing.assert_allclose(again(store).t.values, values + 1, atol=0.02)


def test_a_store_given_by_its_path_is_flushed(ds: xr.Dataset, tmp_path: Path) -> None:
    isotach.create(tmp_path / "target").close()
    ds.isel(number=0).isotach.archive(tmp_path / "target")
    assert xr.open_dataset(tmp_path / "target", engine="isotach").number == 1


def test_coordinates_give_the_keys(ds: xr.Dataset, target: isotach.Store) -> None:
    one = ds[["t"]].isel(number=[0], forecast_reference_time=[0], step=[0], level=[0])
    moved = one.assign_coords(
        number=("number", [2], ds.number.attrs),
        forecast_reference_time=(
            "forecast_reference_time",
            np.array(["2025-03-04T06:30"], "M8[ns]"),
            ds.forecast_reference_time.attrs,
        ),
        step=("step", np.array([36], "timedelta64[h]"), ds.step.attrs),
        level=("level", [0.5], ds.level.attrs),
    )
    (key,) = moved.isotach.archive(target)
    expected = {"number": "2", "date": "20250304", "time": "0630", "step": "36", "levelist": "0.5"}
    assert {name: key[name] for name in expected} == expected
    back = again(target)
    assert back.step == np.timedelta64(36, "h")
    assert back.level == 0.5
    assert back.t.attrs["GRIB_typeOfLevel"] == "isobaricInPa"


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("number", 1.5, "number=1.5: the message would have 1"),
        ("level", 0.005, "level=0.005: expected whole pascals"),
        (
            "forecast_reference_time",
            np.datetime64("2024-01-01T00:00:30", "ns"),
            "forecast_reference_time=.*00:00:30.*: expected whole minutes",
        ),
        ("step", np.timedelta64(1500, "ms"), "step=1500 milliseconds: expected whole seconds"),
    ],
)
def test_a_label_that_the_message_would_round_is_refused(
    ds: xr.Dataset, target: isotach.Store, name: str, value: Any, text: str
) -> None:
    one = ds[["t"]].isel(number=[0], forecast_reference_time=[0], step=[0], level=[0])
    moved = one.assign_coords({name: (name, np.array([value]), ds[name].attrs)})
    with pytest.raises(isotach.InvalidInputError, match=text):
        moved.isotach.archive(target)
    assert not target.is_dirty


def test_a_keyword_that_a_coordinate_contradicts_is_refused(ds: xr.Dataset, target: isotach.Store) -> None:
    with pytest.raises(isotach.InvalidInputError, match="number=7: the message would have 1"):
        ds.isotach.archive(target, number=7)
    with pytest.raises(isotach.InvalidInputError, match="levelist=300: the message would have (500|850)"):
        ds.isotach.archive(target, levelist=300)
    assert len(ds.isel(number=0, drop=True).isotach.archive(target, number=7)) == 16


def test_a_level_that_is_no_whole_number_is_not_rounded(target: isotach.Store) -> None:
    keys = {"typeOfLevel": "hybrid", "level": 3}
    form = small(np.arange(12.0), **keys)
    target.archive(form)
    ds = again(target)
    with pytest.raises(isotach.InvalidInputError, match="level=3.5: the message would have"):
        ds.assign_coords(level=((), 3.5, ds.level.attrs)).isotach.archive(target, template=form)


def test_renamed_dimensions_are_known_by_their_standard_names(ds: xr.Dataset, target: isotach.Store) -> None:
    renamed = ds.rename(number="member", forecast_reference_time="time", step="lead_time", level="pressure")
    renamed.isotach.archive(target)
    xr.testing.assert_allclose(again(target), ds, atol=1e-3)


@pytest.mark.parametrize("profile", ["cfgrib", "earthkit"])
@pytest.mark.parametrize("kind", ["isobaricInhPa", "hybrid"])
def test_a_dataset_of_each_profile_can_be_written(
    target: isotach.Store, tmp_path: Path, profile: str, kind: str
) -> None:
    with isotach.create(tmp_path / "levels") as store:
        for level in (3, 4):
            store.archive(small(np.arange(12.0) + level, typeOfLevel=kind, level=level))
    ds = xr.open_dataset(tmp_path / "levels", engine="isotach", profile=profile)
    ds.isotach.archive(target)
    target.flush()
    back = xr.open_dataset(target, engine="isotach", profile=profile)
    assert any(ds.sizes[dim] == 2 for dim in ds.dims)
    xr.testing.assert_allclose(back, ds, atol=1e-3)


def test_a_dataset_by_valid_time_keeps_the_step_of_the_template(
    ds: xr.Dataset, target: isotach.Store, tmp_path: Path
) -> None:
    by_valid_time = xr.open_dataset(
        "param=t,step=6", engine="isotach", store=tmp_path / "ensemble", time_dims="valid_time"
    )
    by_valid_time.isotach.archive(target)
    xr.testing.assert_allclose(again(target).t, ds.t.isel(step=1), atol=1e-3)


def test_a_hole_is_not_written(ds: xr.Dataset, target: isotach.Store) -> None:
    holed = ds[["t"]].where(ds.step > np.timedelta64(0, "h"))
    assert len(holed.isotach.archive(target, template=ds)) == 8
    assert again(target).step == np.timedelta64(6, "h")


def test_chunked_values_are_written(ds: xr.Dataset, target: isotach.Store, tmp_path: Path) -> None:
    chunked = xr.open_dataset(tmp_path / "ensemble", engine="isotach", chunks={})
    (chunked + 1).isotach.archive(target, template=chunked)
    xr.testing.assert_allclose(again(target), ds + 1, atol=1e-3)


def test_one_message_is_the_template_of_all_variables(ds: xr.Dataset, target: isotach.Store) -> None:
    bare = ds.isel(step=0, number=0)
    bare = bare.copy(data={name: array.values for name, array in bare.items()})
    for array in bare.values():
        array.encoding.clear()
    bare.isotach.archive(target, template=small(expver="0003"))
    assert set(again(target, "expver=0003").data_vars) == {"t", "u"}


def test_a_template_that_is_a_constant_field_gets_bits(ds: xr.Dataset, target: isotach.Store) -> None:
    ds[["t"]].isel(number=0, step=0).isotach.archive(target, template=small(np.zeros(12)))
    np.testing.assert_allclose(again(target).t.values, ds.t.isel(number=0, step=0).values, atol=1e-3)


def test_points_in_another_order_or_of_another_grid_are_refused(
    ds: xr.Dataset, target: isotach.Store
) -> None:
    with pytest.raises(isotach.InvalidInputError, match="t has another latitude than its template"):
        ds.sortby("latitude").isotach.archive(target)
    with pytest.raises(isotach.InvalidInputError, match="t has .*'longitude': 2"):
        ds.isel(longitude=[0, 1]).isotach.archive(target)
    assert not list(target.list())


def test_a_range_of_steps_comes_back_as_it_was_and_others_follow_it(
    target: isotach.Store, tmp_path: Path
) -> None:
    with isotach.create(tmp_path / "rain") as store:
        keys = {"productDefinitionTemplateNumber": 11, "typeOfLevel": "surface", "level": 0, "paramId": 228}
        for end in (6, 12):
            store.archive(small(np.arange(12.0) + end, **keys, stepRange=f"0-{end}"))
    rain = xr.open_dataset(tmp_path / "rain", engine="isotach")
    assert (rain.step.values == np.array([6, 12], "timedelta64[h]")).all()
    later = rain.assign_coords(step=rain.step + np.timedelta64(12, "h"))
    later.step.attrs = rain.step.attrs
    for one in (rain, later):
        one.isotach.archive(target, template=rain)
    back = again(target)
    assert (back.step.values == np.array([6, 12, 18, 24], "timedelta64[h]")).all()
    np.testing.assert_allclose(back.tp.values[:2], rain.tp.values, atol=1e-3)


def test_a_coordinate_that_the_message_cannot_have_is_named(ds: xr.Dataset, target: isotach.Store) -> None:
    strange = ds[["t"]].isel(number=0).expand_dims(colour=[1])
    with pytest.raises(isotach.MessageError, match="the variable t at colour=1.*colour=1"):
        strange.isotach.archive(target)
    with pytest.raises(isotach.MessageError, match="no GRIB message"):
        ds.isotach.archive(target, template=b"other")


def test_points_without_rows_are_written_by_their_template(target: isotach.Store, tmp_path: Path) -> None:
    with isotach.create(tmp_path / "reduced") as store:
        store.archive(message("reduced_gg_pl_32_grib2", np.arange(6114.0)))
        store.flush()
        ds = xr.open_dataset(store, engine="isotach").load()
        (ds * 2).isotach.archive(target, template=ds)
    (name,) = ds.data_vars
    np.testing.assert_allclose(again(target)[name].values, ds[name].values * 2, atol=0.2)
