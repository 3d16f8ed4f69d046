"""The native decoder behind the lazy arrays of xarray and of Zarr, compared with ecCodes."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import eccodes
import isotach
import numpy as np
import pytest
from isotach._isotach import decode_into

from grib_messages import small

POINTS = 12
PACKINGS = ("grid_simple", "grid_ccsds")


def packed(packing: str, bits: int, decimal: int, missing: bool, step: int) -> bytes:
    """A message whose values are packed like this."""
    handle = eccodes.codes_new_from_message(small(step=step))
    values = np.random.default_rng(step).normal(280, 20, POINTS)
    if missing:
        values[[0, 5, 11]] = 9999
        eccodes.codes_set(handle, "bitmapPresent", 1)
    for name, value in {"packingType": packing, "bitsPerValue": bits, "decimalScaleFactor": decimal}.items():
        eccodes.codes_set(handle, name, value)
    eccodes.codes_set_values(handle, values)
    message = bytes(eccodes.codes_get_message(handle))
    eccodes.codes_release(handle)
    return message


def by_eccodes(message: bytes, dtype: str) -> Any:
    """The values and the digest of the grid."""
    handle = eccodes.codes_new_from_message(message)
    eccodes.codes_set(handle, "missingValue", -1e34)
    kind = np.float32 if dtype == "float32" else float
    values = eccodes.codes_get_array(handle, "values", ktype=kind)
    values[values == np.dtype(dtype).type(-1e34)] = np.nan
    digest = eccodes.codes_get(handle, "md5GridSection", str)
    eccodes.codes_release(handle)
    return values, digest


@pytest.fixture
def store(tmp_path: Path) -> Any:
    """An empty store of the usual schema."""
    with isotach.create(tmp_path / "fields") as store:
        yield store


def archived(store: isotach.Store, *messages: bytes) -> list[dict[str, str]]:
    """Archives messages, and returns their keys."""
    keys = [key for message in messages for key in store.archive(message)]
    store.flush()
    return keys


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("packing", PACKINGS)
def test_values_equal_those_of_eccodes_to_the_bit(store: isotach.Store, packing: str, dtype: str) -> None:
    plans = [
        (bits, decimal, missing)
        for bits in (1, 8, 11, 16, 24, 31)
        for decimal in (-1, 0, 2, 5)
        for missing in (False, True)
    ]
    messages = [packed(packing, *plan, step=step) for step, plan in enumerate(plans)]
    keys = archived(store, *messages)
    expected = [by_eccodes(message, dtype) for message in messages]
    for named in (keys, [store.locate(key) for key in keys]):
        rows = np.zeros((len(keys), POINTS), dtype)
        assert decode_into(store._native, named, expected[0][1], rows) == []
        for row, (values, _), plan in zip(rows, expected, plans, strict=True):
            np.testing.assert_array_equal(row.view("u1"), values.view("u1"), str(plan))


def test_rows_that_cannot_be_decoded_here_are_left(store: isotach.Store, tmp_path: Path) -> None:
    values = np.sin(np.arange(12.0))
    keys = archived(
        store,
        small(step=0),
        small(step=1, packingType="grid_ieee"),
        small(step=2, uvRelativeToGrid=1),
        small(step=3, Ni=3, Nj=4),
        small(step=4, values=values),
    )
    store.archive(b"GRIB, but no message", {**keys[0], "step": "5"})
    store.flush()
    absent = [{**keys[0], "step": "6"}, {**keys[0], "step": "5"}]
    digest = by_eccodes(small(), "float64")[1]
    rows = np.full((8, 12), 7.0)
    assert decode_into(store._native, [keys[0], None, *keys[1:], *absent], digest, rows) == [2, 3, 4, 6, 7]
    assert (rows[[1, 2, 3, 4, 6, 7]] == 7).all()
    np.testing.assert_allclose(rows[5], values, atol=1e-4)
    np.testing.assert_array_equal(rows[0], by_eccodes(small(step=0), "float64")[0])


def test_a_damaged_field_leaves_its_row(store: isotach.Store, tmp_path: Path) -> None:
    message = small(step=0)
    keys = archived(store, message, small(step=6))
    for path in (path for path in tmp_path.rglob("*") if path.is_file()):
        data = path.read_bytes()
        if message in data:
            path.write_bytes(data.replace(message, message[:-12] + bytes(12)))
    rows = np.zeros((2, POINTS))
    digest = by_eccodes(message, "float64")[1]
    assert 0 in decode_into(store._native, keys, digest, rows)
    with pytest.raises(isotach.CorruptError):
        store.retrieve_one(keys[0])
    assert decode_into(store._native, keys[1:], digest, rows[1]) == []


def test_an_array_that_cannot_take_the_values_is_refused(store: isotach.Store) -> None:
    keys = archived(store, small())
    for wrong in (np.zeros(12, "i8"), np.zeros(12, ">f8"), np.zeros((12, 2))[:, 0], bytes(96)):
        with pytest.raises(TypeError, match="expected"):
            decode_into(store._native, keys, "", wrong)
    with pytest.raises(ValueError, match="an array of 5 numbers for 2 fields: expected"):
        decode_into(store._native, keys * 2, "", np.zeros(5))
    little = np.zeros(12, np.dtype("float64").newbyteorder("<"))
    assert decode_into(store._native, keys, by_eccodes(small(), "float64")[1], little) == []
    # A field of another number of points is left to the caller.
    assert decode_into(store._native, keys, by_eccodes(small(), "float64")[1], np.zeros(11)) == [0]
    store.close()
    with pytest.raises(isotach.ClosedError):
        decode_into(store._native, keys, "", np.zeros(12))


def test_an_interrupt_ends_a_long_decoding(store: isotach.Store) -> None:
    location = store.locate(archived(store, small())[0])
    rows = np.zeros((1_000_000, POINTS))

    def interrupt(*_: object) -> None:
        raise InterruptedError("enough")

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(InterruptedError, match="enough"):
            decode_into(store._native, [location] * len(rows), by_eccodes(small(), "float64")[1], rows)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert not rows[-1].any(), "it had not ended"
