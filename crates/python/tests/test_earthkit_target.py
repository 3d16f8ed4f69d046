"""Fields of earthkit-data archived through its target ``isotach``."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import isotach
import numpy as np
import pytest
import xarray as xr

from grib_messages import small, surface

with warnings.catch_warnings():
    # Its imports warn.
    warnings.simplefilter("ignore")
    ekd = pytest.importorskip("earthkit.data", reason="earthkit-data is not installed: its source and target")


@pytest.fixture
def fields(tmp_path: Path) -> Any:
    """Two fields of a file."""
    (tmp_path / "two.grib").write_bytes(surface(0) + surface(6))
    return ekd.from_source("file", str(tmp_path / "two.grib")).to_fieldlist()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of an empty store."""
    isotach.create(tmp_path / "fields").close()
    return tmp_path / "fields"


def stored(folder: Path) -> dict[str, bytes]:
    """The messages of a store by their steps."""
    with isotach.open(folder) as store:
        return {listed.key["step"]: bytes(store.read(listed.location)) for listed in store.list()}


def test_a_field_list_a_field_and_a_stream_are_archived_as_they_are(fields: Any, folder: Path) -> None:
    both = {"0": surface(0), "6": surface(6)}
    fields.to_target("isotach", store=folder)
    assert stored(folder) == both
    with isotach.open(folder) as store:
        store.wipe("class=od", doit=True)
    fields[1].to_target("isotach", store=folder)
    assert stored(folder) == {"6": surface(6)}
    stream = ekd.from_source("file", str(folder.parent / "two.grib"), stream=True)
    ekd.to_target("isotach", store=folder, data=stream.to_fieldlist())
    assert stored(folder) == both


def test_metadata_and_values_are_set_in_a_template(fields: Any, folder: Path) -> None:
    with ekd.create_target("isotach", store=folder, template=fields[0]) as target:
        target.write(values=np.full(496, 3.0), metadata={"step": 12})
        target.write(fields[1], metadata={"step": 18})
    values = {
        step: ekd.from_source("memory", message).to_fieldlist()[0].values.mean()
        for step, message in stored(folder).items()
    }
    assert values == {"12": 3, "18": 6}


def test_a_dataset_of_earthkit_is_archived_as_messages(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "pl.grib").write_bytes(small(step=0) + small(step=6))
    ds = ekd.from_source("file", str(tmp_path / "pl.grib")).to_fieldlist().to_xarray(add_earthkit_attrs=True)
    with xr.set_options(keep_attrs=True):
        doubled = ds * 2
    ekd.to_target("isotach", store=folder, data=doubled)
    mean = ekd.from_source("memory", small(step=6)).to_fieldlist()[0].values.mean()
    archived = ekd.from_source("memory", stored(folder)["6"]).to_fieldlist()[0].values.mean()
    assert archived == pytest.approx(2 * mean, rel=1e-3)


def test_a_block_that_fails_archives_nothing(fields: Any, folder: Path) -> None:
    target = ekd.create_target("isotach", store=folder)
    with pytest.raises(ZeroDivisionError), target:
        target.write(fields)
        raise ZeroDivisionError
    assert target.closed
    assert stored(folder) == {}


def test_what_is_flushed_stays_and_a_closed_target_refuses(fields: Any, folder: Path) -> None:
    target = ekd.create_target("isotach", store=folder)
    target.write(fields[0])
    target.flush()
    assert set(stored(folder)) == {"0"}
    target.write(fields[1])
    target.close()
    assert set(stored(folder)) == {"0", "6"}
    for act in (target.close, target.flush, lambda: target.write(fields)):
        with pytest.raises(ValueError, match="Target is closed"):
            act()


def test_a_store_of_the_caller_is_flushed_and_stays_open(fields: Any, folder: Path) -> None:
    store = isotach.open(folder)
    fields.to_target("isotach", store=store)
    assert not store.is_closed and not store.is_dirty
    assert set(stored(folder)) == {"0", "6"}
    store.close()


def test_a_store_that_is_absent_and_data_that_is_no_grib_are_refused(fields: Any, folder: Path) -> None:
    with pytest.raises(isotach.NotFoundError, match="does not exist"):
        fields.to_target("isotach", store=folder.parent / "absent")
    netcdf = xr.Dataset({"t": ("x", [1.0, 2.0])})
    with pytest.raises(Exception, match=".") as error:
        ekd.to_target("isotach", store=folder, data=netcdf)
    assert isinstance(error.value, (ValueError, TypeError, KeyError, isotach.MessageError)), error
    assert stored(folder) == {}
