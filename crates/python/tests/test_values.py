"""Values of chosen points, compared with those that eccodes decodes of whole messages."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import eccodes
import isotach
import numpy as np
import pytest

from grib_messages import small
from point_messages import REQUEST, SHAPE, decoded
from point_messages import messages as made


@pytest.fixture
def messages() -> list[bytes]:
    """Two messages of each kind."""
    return made()


@pytest.fixture
def store(tmp_path: Path, messages: list[bytes]) -> isotach.Store:
    """A store with the messages, one for each step."""
    store = isotach.create(tmp_path / "fields")
    for one in messages:
        store.archive(one)
    store.flush()
    return store


def steps(count: int) -> isotach.Request:
    """The request for the first steps."""
    return isotach.Request(REQUEST, step=range(count))


def test_values_of_points_are_those_of_the_whole_messages(
    store: isotach.Store, messages: list[bytes]
) -> None:
    whole = np.array([decoded(one) for one in messages])
    assert np.isnan(whole).any()
    for points in ([0], [16379, 3, 3, 5001], np.array([7, 8, 9, 4999]), range(6990, 7010), []):
        found = store.values(steps(10), points=points)
        assert found.values.dtype == np.float64
        assert np.array_equal(found.values, whole[:, list(points)], equal_nan=True)
        assert found.indices.tolist() == list(points)
    assert len(found) == 10 and found.whole == 2 and found.latitudes is None
    assert [key["step"] for key in found.keys] == [str(step) for step in range(10)]
    again = store.values(steps(10), ranges=[(100, 110), (0, 2)])
    assert again.values.shape == (10, 12) and again.indexed == 0
    assert np.array_equal(again.values, whole[:, [*range(100, 110), 0, 1]], equal_nan=True)
    handle = eccodes.codes_new_from_message(messages[0])
    assert found.grid == eccodes.codes_get(handle, "md5GridSection")
    eccodes.codes_release(handle)


def test_every_value_of_every_kind_is_that_of_eccodes(store: isotach.Store, messages: list[bytes]) -> None:
    found = store.values(steps(10), ranges=[(0, SHAPE[0] * SHAPE[1])])
    for row, one in zip(found.values, messages, strict=True):
        assert np.array_equal(row, decoded(one), equal_nan=True)


def test_points_are_found_by_location_and_by_box(store: isotach.Store, messages: list[bytes]) -> None:
    whole = np.array([decoded(one) for one in messages])
    near = store.values(steps(10), points=[(51.4, -1.2), (-88, 17.9)])
    assert near.latitudes is not None and near.longitudes is not None
    assert near.latitudes.tolist() == [52, -88] and near.longitudes.tolist() == [358, 18]
    assert np.array_equal(near.values, whole[:, near.indices], equal_nan=True)
    assert near.indices.tolist() == [19 * 180 + 179, 89 * 180 + 9]

    box = store.values(steps(10), box=(60, -4, 58, 2))
    assert box.latitudes is not None and box.longitudes is not None
    assert list(zip(box.latitudes, box.longitudes, strict=True)) == [
        (60, 0), (60, 2), (60, 356), (60, 358), (58, 0), (58, 2), (58, 356), (58, 358)
    ]  # fmt: skip
    assert np.array_equal(box.values, whole[:, box.indices], equal_nan=True)


def test_threads_share_a_store_and_a_pickled_one_gives_the_same(store: isotach.Store) -> None:
    expected = store.values(steps(10), points=[5, 16000]).values
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(
            lambda threads: store.values(steps(10), points=[5, 16000], threads=threads).values, [1, 2, 3] * 4
        )
        assert all(np.array_equal(values, expected, equal_nan=True) for values in found)
    other: isotach.Store = pickle.loads(pickle.dumps(store))
    assert np.array_equal(other.values(steps(10), points=[5, 16000]).values, expected, equal_nan=True)


def test_missing_fields_are_raised_skipped_or_reported(store: isotach.Store) -> None:
    with pytest.raises(isotach.MissingFieldsError, match="2 fields missing") as raised:
        store.values(steps(12), points=[0])
    assert raised.value.missing.count == 2
    found = store.values(steps(12), points=[0], missing="skip")
    assert found.values.shape == (10, 1) and found.missing is not None and found.missing.count == 2
    with pytest.warns(isotach.MissingFieldsWarning, match="2 fields missing"):
        store.values(steps(12), points=[0], missing="report")
    with pytest.raises(isotach.MissingFieldsError, match="step=77 matches nothing"):
        store.values(REQUEST, step=77, points=[0])
    assert store.values(REQUEST, step=77, points=[0], missing="skip").values.shape == (0, 1)


def test_fields_of_another_grid_are_refused_unless_permitted(store: isotach.Store) -> None:
    store.archive(small(step=10))
    store.flush()
    with pytest.raises(isotach.GridError, match="step=10") as raised:
        store.values(steps(11), points=[0])
    assert raised.value.code == "other-grid"
    found = store.values(steps(11), points=[0], any_grid=True)
    assert found.grid is None and len(set(found.grids)) == 2
    assert store.values(steps(10), points=[0], grid_hash=found.grids[0]).grid == found.grids[0]
    with pytest.raises(isotach.GridError, match=found.grids[10]):
        store.values(steps(10), points=[0], grid_hash=found.grids[10])
    with pytest.raises(isotach.InvalidInputError, match="fields of one grid"):
        store.values(steps(11), box=(90, 0, -90, 360), any_grid=True)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({}, TypeError, "expected one of points, box and ranges"),
        ({"points": [0], "box": (1, 2, 0, 3)}, TypeError, "points and box"),
        ({"points": [-1]}, ValueError, "expected 0 or more"),
        ({"points": [1.5]}, TypeError, "integer"),
        ({"points": [True, False]}, TypeError, "numpy.flatnonzero"),
        ({"points": [(1, 2, 3)]}, ValueError, "latitude and longitude"),
        ({"points": [(91, 0)]}, ValueError, "latitude from -90 to 90"),
        ({"box": (1, 2, 3)}, ValueError, "north, west, south, east"),
        ({"box": (0, 0, 1, 1)}, ValueError, "not below the south"),
        ({"ranges": [(5, 4)]}, ValueError, "not before the start"),
        ({"points": [16380]}, isotach.InvalidInputError, "16380"),
        ({"points": [0], "grid_hash": "12"}, ValueError, "32 hexadecimal digits"),
        ({"points": [0], "grid_hash": "1" * 32, "any_grid": True}, ValueError, "one of them"),
        ({"points": [0], "threads": 0}, ValueError, "at least 1"),
        ({"points": [0], "missing": "maybe"}, ValueError, "missing='maybe'"),
    ],
)
def test_wrong_points_are_refused(
    store: isotach.Store, arguments: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        store.values(steps(2), **arguments)


def test_a_damaged_field_is_an_exception_with_its_name(
    store: isotach.Store, messages: list[bytes], tmp_path: Path
) -> None:
    for path in (tmp_path / "fields").rglob("*"):
        if path.is_file() and messages[1] in (data := path.read_bytes()):
            place = data.index(messages[1]) + 1000
            path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
    with pytest.raises(isotach.CorruptError) as raised:
        store.values(steps(10), points=[100])
    assert raised.value.field is not None and "step=1" in raised.value.field
    assert store.values(REQUEST, step=[0, 2], points=[100]).values.shape == (2, 1)


def test_a_closed_store_gives_no_values(store: isotach.Store) -> None:
    store.close()
    with pytest.raises(isotach.ClosedError):
        store.values(steps(2), points=[0])
