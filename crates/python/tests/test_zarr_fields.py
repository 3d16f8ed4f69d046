"""The fields of a request as a Zarr store."""

from __future__ import annotations

import asyncio
import pickle
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import isotach
import numpy as np
import pytest
import zarr
from isotach.zarr import FieldsStore
from isotach.zarr._view import View, view_of
from numpy.typing import NDArray
from zarr.abc.store import OffsetByteRequest, RangeByteRequest, SuffixByteRequest
from zarr.buffer.cpu import Buffer
from zarr.testing.store import StoreTests

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import eccodes
    import xarray

SCHEMA = """
param: Param; step: Step; date: Date; time: Time; levelist: Double;
[ class, expver, stream, date, time, domain [ type, levtype [ step, levelist?, param ]]]
"""
STEPS = (0, 6, 12)
LEVELS = (1000, 500)
ROWS, COLUMNS = 31, 16


def message(sample: str = "regular_ll_pl_grib2", values: Any = None, **keys: Any) -> bytes:
    """A message with these values and keys."""
    handle = eccodes.codes_grib_new_from_samples(sample)
    labels = {"class": "od", "expver": "0001", "stream": "oper", "type": "fc"}
    try:
        eccodes.codes_set(handle, "setLocalDefinition", 1)
        for name, value in {**labels, "dataDate": 20240101, "dataTime": 0, **keys}.items():
            eccodes.codes_set(handle, name, value)
        if values is not None:
            eccodes.codes_set(handle, "bitsPerValue", 24)
            eccodes.codes_set_values(handle, values)
        return bytes(eccodes.codes_get_message(handle))
    finally:
        eccodes.codes_release(handle)


def temperature(step: int, level: int, date: int = 20240101) -> NDArray[np.float64]:
    """The values of a field."""
    points = np.arange(ROWS * COLUMNS, dtype="f8")
    return points + 1000 * step + level + date % 100 / 2


def archive_temperature(store: isotach.Store, step: int, level: int, date: int = 20240101) -> None:
    """Archives a field of the temperature."""
    values = temperature(step, level, date)
    store.archive(message(values=values, paramId=130, level=level, step=step, dataDate=date))


def expected(steps: Any = STEPS, levels: Any = LEVELS) -> NDArray[np.float64]:
    """The temperature of steps and levels."""
    fields = [[temperature(step, level).reshape(ROWS, COLUMNS) for level in levels] for step in steps]
    return np.array(fields)


@pytest.fixture
def fields(tmp_path: Path) -> Iterator[isotach.Store]:
    """Three steps on two levels, without the last field, and pressure at the surface."""
    with isotach.create(tmp_path / "fields", SCHEMA) as store:
        for step in STEPS:
            for level in LEVELS:
                if (step, level) != (12, 500):
                    archive_temperature(store, step, level)
            store.archive(message("regular_ll_sfc_grib2", paramId=134, step=step))
        store.flush()
        yield store


@pytest.fixture
def levels(fields: isotach.Store) -> FieldsStore:
    """The view of the temperature."""
    return FieldsStore(fields, step=STEPS, levelist=LEVELS, param="t", levtype="pl")


def array_of(store: FieldsStore, name: str = "t") -> Any:
    """An array of a view."""
    return zarr.open_group(store, mode="r")[name]


def test_a_view_has_the_dimensions_of_the_request_and_then_of_the_grid(levels: FieldsStore) -> None:
    array = array_of(levels)
    assert array.shape == (3, 2, ROWS, COLUMNS) and array.chunks == (1, 1, ROWS, COLUMNS)
    assert array.metadata.dimension_names == ("step", "levelist", "latitude", "longitude")
    values = expected()
    values[2, 1] = np.nan
    np.testing.assert_allclose(array[:], values, atol=1e-3)
    assert array.attrs["units"] == "K" and array.attrs["mars_param"] == "130"
    assert "mars_step" not in array.attrs


def test_xarray_opens_a_view_with_its_coordinates(fields: isotach.Store) -> None:
    archive_temperature(fields, 0, 500, 20240102)
    fields.flush()
    store = FieldsStore(fields, "date=20240101/20240102,step=0/6,levelist=500/1000,param=130,levtype=pl")
    dataset = xarray.open_zarr(store)
    assert dataset.t.dims == ("date", "step", "levelist", "latitude", "longitude")
    assert dataset.date.dt.strftime("%Y%m%d").values.tolist() == ["20240101", "20240102"]
    # A day is no reference time, of which the time of day is a part.
    assert dataset.date.attrs == {"long_name": "base date"}
    assert dataset.step.values.tolist() == [0, 6] and dataset.levelist.values.tolist() == [500, 1000]
    assert dataset.latitude.values[[0, -1]].tolist() == [60, 0] and dataset.longitude.values[-1] == 30
    one = dataset.t.sel(date="2024-01-02", step=0, levelist=500)
    np.testing.assert_allclose(one.values.ravel(), temperature(0, 500, 20240102), atol=1e-3)
    assert np.isnan(dataset.t.sel(date="2024-01-02", step=6)).all()


def test_each_parameter_is_an_array_with_the_dimensions_that_it_has(fields: isotach.Store) -> None:
    store = FieldsStore(fields, class_="od")
    group = zarr.open_group(store, mode="r")
    assert sorted(group.array_keys()) == ["latitude", "levelist", "longitude", "sp", "step", "t"]
    assert group["sp"].metadata.dimension_names == ("step", "latitude", "longitude")
    assert group["t"].metadata.dimension_names == ("step", "levelist", "latitude", "longitude")
    assert group["levelist"][:].tolist() == [500, 1000]


def test_a_parameter_without_a_field_is_an_error_that_names_it(fields: isotach.Store) -> None:
    with pytest.raises(
        isotach.MissingFieldsError, match="no field of param=133/135: expected a req"
    ) as caught:
        FieldsStore(fields, step=STEPS, param=["t", "q", "135"], levtype="pl")
    assert caught.value.missing.keys == [{"param": "133"}, {"param": "135"}]


def test_a_value_that_no_field_has_stays_in_its_place(fields: isotach.Store) -> None:
    single = FieldsStore(fields, step=[12, 9, 0, 99], levelist=1000, param=130, levtype="pl")
    assert array_of(single, "step")[:].tolist() == [12, 9, 0, 99]
    array = array_of(single)
    assert np.isnan(array[[1, 3]]).all()
    np.testing.assert_allclose(array[2].ravel(), temperature(0, 1000), atol=1e-3)
    range_ = FieldsStore(fields, "step=0/to/12/by/3,levelist=1000,param=130,levtype=pl")
    assert array_of(range_, "step")[:].tolist() == [0, 3, 6, 9, 12]
    assert np.isnan(array_of(range_)[:, 0, 0]).tolist() == [False, True, False, True, False]


def test_single_precision_is_half_the_size(fields: isotach.Store, levels: FieldsStore) -> None:
    store = FieldsStore(fields, levels.request, dtype="float32")
    assert array_of(store).dtype == np.float32 and store.dtype == "float32"
    np.testing.assert_allclose(array_of(store)[0, 0], array_of(levels)[0, 0], rtol=1e-6)
    sizes = [asyncio.run(view.getsize("t/c/0/0/0/0")) for view in (store, levels)]
    assert sizes == [ROWS * COLUMNS * 4, ROWS * COLUMNS * 8]
    assert store != levels


def test_parts_of_a_chunk_are_the_bytes_of_its_values(levels: FieldsStore) -> None:
    whole = levels.get_sync("t/c/0/0/0/0").to_bytes()
    np.testing.assert_allclose(np.frombuffer(whole, "<f8"), temperature(0, 1000), atol=1e-3)
    parts = {
        RangeByteRequest(8, 24): whole[8:24],
        RangeByteRequest(0, 10**9): whole,
        OffsetByteRequest(100): whole[100:],
        SuffixByteRequest(16): whole[-16:],
        SuffixByteRequest(0): b"",
    }
    for part, data in parts.items():
        assert levels.get_sync("t/c/0/0/0/0", byte_range=part).to_bytes() == data, part
    assert levels.get_sync("t/c/2/1/0/0") is None


def test_missing_points_are_nan_and_values_like_the_usual_mark_are_not(fields: isotach.Store) -> None:
    values = temperature(18, 1000)
    values[7] = 9999.0
    values[[3, 5]] = 1e20
    sent = message(values=None, paramId=130, level=1000, step=18)
    handle = eccodes.codes_new_from_message(sent)
    for name, value in {"bitmapPresent": 1, "missingValue": 1e20, "bitsPerValue": 24}.items():
        eccodes.codes_set(handle, name, value)
    eccodes.codes_set_values(handle, values)
    fields.archive(bytes(eccodes.codes_get_message(handle)))
    eccodes.codes_release(handle)
    fields.flush()
    for dtype in ("float64", "float32"):
        store = FieldsStore(fields, step=18, levelist=1000, param=130, levtype="pl", dtype=dtype)
        read = array_of(store)[:].ravel()
        assert np.flatnonzero(np.isnan(read)).tolist() == [3, 5]
        assert abs(read[7] - 9999.0) < 1e-2


def test_a_grid_without_rows_has_one_dimension_with_coordinates(fields: isotach.Store) -> None:
    fields.archive(message("reduced_gg_pl_32_grib2", paramId=131, level=500, step=0))
    fields.flush()
    store = FieldsStore(fields, param="u", levtype="pl")
    dataset = xarray.open_zarr(store)
    assert dataset.u.dims == ("values",) and set(dataset.coords) == {"latitude", "longitude"}
    assert dataset.latitude.size == dataset.u.size == 6114
    assert abs(float(dataset.latitude[0]) - 87.8638) < 1e-3


def test_spectral_coefficients_have_no_coordinates(fields: isotach.Store) -> None:
    fields.archive(message("sh_pl_grib2", paramId=155, level=500, step=0))
    fields.flush()
    dataset = xarray.open_zarr(FieldsStore(fields, param=155, levtype="pl"))
    assert dataset["d"].dims == ("values",) and not dataset.coords


def test_text_is_a_coordinate_too(fields: isotach.Store) -> None:
    for type_ in ("an", "fc"):
        fields.archive(message(paramId=133, level=500, step=0, type=type_, values=temperature(0, 500)))
    fields.flush()
    dataset = xarray.open_zarr(FieldsStore(fields, param="q", levtype="pl", type=["fc", "an"]))
    assert dataset.type.values.tolist() == ["fc", "an"]
    assert dataset["q"].dims == ("type", "latitude", "longitude")


def test_a_damaged_field_is_an_error_and_others_still_load(levels: FieldsStore, tmp_path: Path) -> None:
    location = levels._view.fields.location(levels._view.chunks["t/c/1/0/0/0"])
    whole = bytes(levels._store.read(location))
    for path in (path for path in tmp_path.rglob("*") if path.is_file()):
        data = path.read_bytes()
        if whole in data:
            path.write_bytes(data.replace(whole, whole[:-40] + bytes(40)))
    array = array_of(pickle.loads(pickle.dumps(levels)))
    with pytest.raises(isotach.CorruptError) as caught:
        array[1, 0]
    assert "step=6" in (caught.value.field or "") and caught.value.place
    np.testing.assert_allclose(array[0, 0].ravel(), temperature(0, 1000), atol=1e-3)


def test_a_field_that_is_no_message_or_has_another_grid_is_an_error(fields: isotach.Store) -> None:
    key = next(iter(fields.list(step=0, levelist=500))).key
    fields.archive(b"not GRIB", {**key, "step": "24"})
    fields.archive(message("reduced_gg_pl_32_grib2", paramId=130, level=500, step=30))
    fields.flush()
    array = array_of(FieldsStore(fields, step=[0, 24, 30], levelist=500, param=130, levtype="pl"))
    np.testing.assert_allclose(array[0].ravel(), temperature(0, 500), atol=1e-3)
    with pytest.raises(isotach.MessageError, match="no GRIB message") as caught:
        array[1]
    assert any("step=24" in note for note in caught.value.__notes__)
    with pytest.raises(isotach.MessageError, match="another grid"):
        array[2]
    with pytest.raises(isotach.MessageError):
        FieldsStore(fields, step=24, levelist=500, param=130, levtype="pl")


def test_messages_of_two_editions_and_flags_have_the_same_points(fields: isotach.Store) -> None:
    values = np.arange(float(ROWS * COLUMNS))
    fields.archive(message(values=values, paramId=130, level=500, step=24, uvRelativeToGrid=1))
    fields.archive(message("regular_ll_pl_grib1", values, paramId=130, level=500, step=30))
    fields.archive(message("regular_ll_pl_grib1", values, paramId=131, level=500, step=0))
    for step, flag in ((36, "alternativeRowScanning"), (42, "jPointsAreConsecutive")):
        fields.archive(message(values=values, paramId=130, level=500, step=step, **{flag: 1}))
    fields.flush()
    array = array_of(FieldsStore(fields, step=[0, 24, 30, 36, 42], levelist=500, param=130, levtype="pl"))
    for place in (1, 2):
        np.testing.assert_allclose(array[place].ravel(), values, atol=1e-3)
    with pytest.raises(isotach.MessageError, match="regular_ll with alternating rows of shape"):
        array[3]
    with pytest.raises(isotach.MessageError, match="latitudes up to .* degrees apart|of shape"):
        array[4]
    both = FieldsStore(fields, param=["t", "u"], step=0, levelist=500, levtype="pl")
    assert set(zarr.open_group(both, mode="r").array_keys()) >= {"t", "u"}


def test_requests_that_are_no_view_are_refused(fields: isotach.Store, tmp_path: Path) -> None:
    with pytest.raises(isotach.MissingFieldsError, match="step"):
        FieldsStore(fields, step=77)
    with pytest.raises(isotach.NotFoundError):
        FieldsStore(tmp_path / "none", step=0)
    with pytest.raises(ValueError, match="dtype"):
        FieldsStore(fields, step=0, dtype="float16")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="read_only"):
        FieldsStore(fields, step=0, read_only=False)
    fields.archive(message("reduced_gg_pl_32_grib2", paramId=131, level=500, step=0))
    fields.flush()
    with pytest.raises(isotach.InvalidInputError, match="another grid"):
        FieldsStore(fields, param=["t", "u"], step=0, levtype="pl")


def test_threads_read_chunks_at_the_same_time(levels: FieldsStore) -> None:
    array, results = array_of(levels), {}

    def read(at: int) -> None:
        results[at] = array[at % 2, at // 2 % 2]

    threads = [threading.Thread(target=read, args=(at,)) for at in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for at, values in results.items():
        np.testing.assert_allclose(values.ravel(), temperature(STEPS[at % 2], LEVELS[at // 2 % 2]), atol=1e-3)


def test_an_unpickled_view_shows_the_same_fields(levels: FieldsStore, fields: isotach.Store) -> None:
    archive_temperature(fields, 12, 500)
    fields.flush()
    again = pickle.loads(pickle.dumps(levels))
    assert again == levels and hash(again) == hash(levels)
    np.testing.assert_array_equal(array_of(again)[:], array_of(levels)[:])
    assert np.isnan(array_of(again)[2, 1]).all(), "the view is that of its opening"


class PatchedView(FieldsStore):
    """A view whose documents Zarr's suite may change. What reads and lists them is that of every view."""

    async def set(self, key: str, value: Buffer) -> None:
        """Puts a document into the view."""
        self._view.documents[key] = value.to_bytes()


class TestFieldsStore(StoreTests[PatchedView, Buffer]):
    """Zarr's suite, but for what writes."""

    store_cls = PatchedView
    buffer_cls = Buffer

    @pytest.fixture
    def store_kwargs(self, fields: isotach.Store, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
        # The suite begins with an empty store.
        def empty_view(*arguments: Any) -> View:
            view = view_of(*arguments)
            view.documents.clear()
            view.chunks.clear()
            return view

        monkeypatch.setattr("isotach.zarr._fields.view_of", empty_view)
        return {"store": fields, "request": "levtype=pl", "read_only": True}

    async def set(self, store: PatchedView, key: str, value: Buffer) -> None:
        """Puts a document into the view."""
        store._view.documents[key] = value.to_bytes()

    async def get(self, store: PatchedView, key: str) -> Buffer:
        """The document."""
        return Buffer.from_bytes(store._view.documents[key])

    def test_store_repr(self, store: PatchedView) -> None:
        assert repr(store) == f"<FieldsStore {store}>" and str(store).endswith("?levtype=pl")

    def test_store_supports_writes(self, store: PatchedView) -> None:
        assert not store.supports_writes and not store.supports_deletes

    def test_store_supports_listing(self, store: PatchedView) -> None:
        assert store.supports_listing

    def test_store_read_only(self, store: PatchedView) -> None:
        assert store.read_only
        with pytest.raises(AttributeError):
            store.read_only = False  # type: ignore[misc]

    @pytest.mark.parametrize("read_only", [True])
    async def test_store_open_read_only(self, open_kwargs: dict[str, Any], read_only: bool) -> None:
        await super().test_store_open_read_only(open_kwargs, read_only)

    async def test_serializable_store(self, store: PatchedView) -> None:
        again = pickle.loads(pickle.dumps(store))
        assert again == store and again.read_only


def _skip_what_writes() -> None:
    """Names the tests of the suite that a view cannot pass, because it refuses to write."""
    writing = (
        "test_read_only_store_raises",
        "test_with_read_only_store",
        "test_set",
        "test_set_not_open",
        "test_set_many",
        "test_set_sync",
        "test_set_if_not_exists",
        "test_delete",
        "test_delete_dir",
        "test_delete_nonexistent_key_does_not_raise",
        "test_delete_sync",
        "test_delete_sync_missing",
        "test_delete_sync_visible_to_async_get",
        "test_sync_async_set_get_parity",
        "test_clear",
    )
    for name in writing:
        if hasattr(StoreTests, name):
            skipped = pytest.mark.skip(f"a view of fields is read-only: {name}")(getattr(StoreTests, name))
            setattr(TestFieldsStore, name, skipped)


_skip_what_writes()


def test_every_write_to_a_view_is_refused(levels: FieldsStore) -> None:
    value = Buffer.from_bytes(b"")
    refused = pytest.raises(
        ValueError, match="store was opened in read-only mode and does not support writing"
    )
    with refused:
        levels.set_sync("key", value)
    with refused:
        levels.delete_sync("zarr.json")
    with refused:
        levels.with_read_only(False)
    for write in (
        levels.set("key", value),
        levels.set_if_not_exists("key", value),
        levels.delete("zarr.json"),
    ):
        with refused:
            asyncio.run(write)
    for write in (levels.clear(), levels.delete_dir("t")):
        with pytest.raises(NotImplementedError):
            asyncio.run(write)
    assert levels.with_read_only(True) == levels and asyncio.run(levels.exists("zarr.json"))
