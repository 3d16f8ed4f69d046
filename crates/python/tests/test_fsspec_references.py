"""References of kerchunk's form, whose chunks are fields of a store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import isotach
import numpy as np
import pytest
import xarray as xr

from conftest import key

fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed: fields as files")
pytest.importorskip("zarr", reason="zarr is not installed: references")

VALUES = np.arange(24, dtype="<f4").reshape(3, 2, 4)


@pytest.fixture
def arrays(store: isotach.Store) -> isotach.Store:
    """A store whose fields are arrays."""
    for step, values in enumerate(VALUES):
        store.archive(values, key(step=step))
    store.flush()
    return store


def references(urls: list[str], rows: int) -> dict[str, Any]:
    """The references of an array, of which a chunk has this many rows of a field."""
    array = {
        "zarr_format": 2,
        "shape": VALUES.shape,
        "chunks": (1, rows, 4),
        "dtype": "<f4",
        "order": "C",
        "compressor": None,
        "filters": None,
        "fill_value": None,
    }
    refs: dict[str, Any] = {
        ".zgroup": json.dumps({"zarr_format": 2}),
        "t/.zarray": json.dumps(array),
        "t/.zattrs": json.dumps({"_ARRAY_DIMENSIONS": ["step", "y", "x"]}),
    }
    for step, url in enumerate(urls):
        for chunk in range(2 // rows):
            refs[f"t/{step}.{chunk}.0"] = [url, 16 * rows * chunk, 16 * rows]
    return {"version": 1, "refs": refs}


def opened(refs: dict[str, Any]) -> xr.Dataset:
    """The dataset of references."""
    options = {"consolidated": False, "storage_options": {"fo": refs, "remote_protocol": "isotach"}}
    return xr.open_dataset("reference://", engine="zarr", backend_kwargs=options, chunks={})


@pytest.mark.parametrize("rows", [2, 1])
@pytest.mark.parametrize("names", ["locations", "keys"])
def test_references_into_fields_are_a_dataset(
    arrays: isotach.Store, tmp_path: Path, names: str, rows: int
) -> None:
    from isotach.fsspec import url_of

    found = sorted(arrays.list(), key=lambda listed: listed.key["step"])
    if names == "locations":
        urls = [url_of(listed.location) for listed in found]
    else:
        fs = fsspec.filesystem("isotach")
        urls = [f"isotach://{path}" for path in sorted(fs.find(str(tmp_path / "fields")))]
    ds = opened(references(urls, rows))
    np.testing.assert_array_equal(ds.t.values, VALUES)


def test_a_chunk_whose_field_is_gone_is_an_error_not_nan(arrays: isotach.Store) -> None:
    from isotach.fsspec import url_of

    urls = [url_of(listed.location) for listed in arrays.list()]
    ds = opened(references(urls, 2))
    arrays.wipe("class=od", doit=True)
    with pytest.raises(RuntimeError):
        ds.t.load()
