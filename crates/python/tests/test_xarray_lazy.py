"""Lazy arrays: chunks, threads and processes, and errors within them."""

from __future__ import annotations

import asyncio
import os
import pickle
from collections.abc import Iterator
from pathlib import Path

import dask
import isotach
import numpy as np
import pytest
import xarray as xr

from grib_messages import ensemble, small


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a store with an ensemble."""
    with isotach.create(tmp_path / "ensemble") as store:
        ensemble(store)
    return tmp_path / "ensemble"


@pytest.fixture
def ds(folder: Path) -> Iterator[xr.Dataset]:
    """The dataset of it."""
    with isotach.open(folder) as store:
        yield xr.open_dataset("class=od", engine="isotach", store=store)


def test_all_ways_of_indexing_give_what_numpy_gives(ds: xr.Dataset) -> None:
    whole = ds.t.copy().load()
    for index in (
        {"number": 0},
        {"number": [1, 0], "longitude": [3, 0, 0]},
        {"step": slice(None, None, -1), "latitude": slice(0, 2)},
        {"number": 1, "forecast_reference_time": 0, "step": 0, "level": 1, "latitude": 1, "longitude": 2},
        {"level": [], "latitude": 1},
        {"number": xr.DataArray([0, 1], dims="point"), "longitude": xr.DataArray([2, 0], dims="point")},
        {"latitude": np.array([True, False, True])},
    ):
        xr.testing.assert_identical(ds.t.isel(index).copy().load(), whole.isel(index))


@pytest.mark.parametrize("scheduler", ["threads", "processes", "synchronous"])
def test_a_chunk_is_a_field_on_every_scheduler_of_dask(folder: Path, scheduler: str) -> None:
    expected = xr.open_dataset(folder, engine="isotach").load()
    ds = xr.open_dataset(folder, engine="isotach", chunks={})
    assert ds.t.data.numblocks == (2, 2, 2, 2, 1, 1)
    # A pool of processes that are forked beside threads is what the warning of Python is about.
    with dask.config.set(scheduler=scheduler, **{"multiprocessing.context": "spawn", "num_workers": 2}):
        xr.testing.assert_identical(ds.compute(), expected)


def test_a_cluster_of_dask_reads_with_handles_of_its_own(folder: Path) -> None:
    distributed = pytest.importorskip("distributed")
    ds = xr.open_dataset(folder, engine="isotach", chunks={})
    quiet = {"distributed.worker.daemon": True, "distributed.admin.tick.limit": "1h"}
    with (
        dask.config.set(quiet),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
        ) as cluster,
        distributed.Client(cluster),
    ):
        assert float(ds.t.mean()) == pytest.approx(float(xr.open_dataset(folder, engine="isotach").t.mean()))


def test_a_pickled_dataset_reads_what_the_first_one_would(ds: xr.Dataset) -> None:
    again = pickle.loads(pickle.dumps(ds))
    xr.testing.assert_identical(again.load(), ds.load())


def test_a_forked_process_reads_the_dataset_of_its_parent(ds: xr.Dataset) -> None:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.write(writer, repr(float(ds.t.mean())).encode())
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert float(os.read(reader, 100)) == float(ds.t.mean())
    os.close(reader)
    os.close(writer)


def test_datasets_load_beside_an_event_loop(ds: xr.Dataset) -> None:
    expected = ds.copy().load()
    loaded = asyncio.run(ds.load_async())
    xr.testing.assert_identical(loaded, expected)


def _damage(folder: Path, data: bytes) -> None:
    """Changes the stored bytes of a message, wherever the engine has put them."""
    for path in folder.rglob("*"):
        if path.is_file() and data in (content := path.read_bytes()):
            at = content.index(data) + len(data) - 12
            with path.open("r+b") as file:
                file.seek(at)
                file.write(bytes(byte ^ 0xFF for byte in content[at : at + 4]))
            return
    raise AssertionError("the message is in no file")


@pytest.mark.parametrize("chunks", [None, {}])
def test_a_damaged_field_is_an_error_that_names_it_and_others_load(
    folder: Path, chunks: dict[str, int] | None
) -> None:
    _damage(folder, small(number=2, dataTime=1200, step=6, level=850, paramId=131))
    ds = xr.open_dataset(folder, engine="isotach", chunks=chunks)
    with pytest.raises(isotach.CorruptError, match="field .*number=2.*levelist=850.*bytes") as caught:
        ds.u.load()
    assert caught.value.field is not None
    assert "param=131" in caught.value.field
    assert caught.value.place is not None
    assert not np.isnan(ds.t).any()
    assert not np.isnan(ds.u.isel(number=0)).any()
    with pytest.raises(isotach.CorruptError):
        ds.u.isel(number=1, forecast_reference_time=1, step=1, level=1).load()


def test_a_damaged_first_field_does_not_hide_the_others(folder: Path) -> None:
    _damage(folder, small())
    ds = xr.open_dataset(folder, engine="isotach")
    assert ds.t.attrs["units"] == "K"
    assert float(ds.t.isel(number=1, step=0, level=0, forecast_reference_time=0)[0, 0]) == 2630
    with pytest.raises(isotach.CorruptError, match="param=130"):
        ds.t.load()


def test_a_field_on_another_grid_is_an_error_when_it_is_read(folder: Path) -> None:
    with isotach.open(folder) as store:
        moved = {"latitudeOfFirstGridPointInDegrees": 50, "latitudeOfLastGridPointInDegrees": 30}
        store.archive(small(step=6, **moved))
    ds = xr.open_dataset(folder, engine="isotach")
    with pytest.raises(isotach.MessageError, match="step=6.*another grid"):
        ds.t.load()
    assert not np.isnan(ds.t.isel(step=0)).any()


def test_a_closed_store_is_an_error(folder: Path) -> None:
    store = isotach.open(folder)
    ds = xr.open_dataset("class=od", engine="isotach", store=store)
    store.close()
    with pytest.raises(isotach.ClosedError):
        ds.t.load()


def test_a_field_that_was_replaced_meanwhile_is_read_as_it_is_now(folder: Path) -> None:
    ds = xr.open_dataset(folder, engine="isotach")
    with isotach.open(folder) as store:
        store.archive(small(values=np.zeros(12)))
    assert float(ds.t[0, 0, 0, 0, 0, 0]) == 0


def test_a_dataset_of_a_snapshot_keeps_the_fields_that_are_replaced_later(folder: Path) -> None:
    with isotach.open(folder) as store:
        store.create_snapshot("before", "class=od")
        ds = xr.open_dataset("class=od", engine="isotach", store=folder, at="before")
        before = xr.open_dataset(folder, engine="isotach").load()
        store.archive(small(values=np.zeros(12)))
    xr.testing.assert_equal(ds, before)


def test_a_field_that_was_wiped_meanwhile_is_an_error_that_names_it(folder: Path) -> None:
    ds = xr.open_dataset(folder, engine="isotach")
    with isotach.open(folder) as store:
        store.wipe("class=od,expver=0001,stream=enfo,date=20240101,time=1200,domain=g", doit=True)
    assert not np.isnan(ds.t.isel(forecast_reference_time=0)).any()
    with pytest.raises(isotach.MissingFieldsError, match="time=1200.* was removed since it was found"):
        ds.t.load()
