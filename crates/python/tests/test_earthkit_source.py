"""Fields of a store through earthkit-data's source ``isotach``."""

from __future__ import annotations

import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import isotach
import numpy as np
import pytest

from grib_messages import ensemble, message, small, surface

with warnings.catch_warnings():
    # Its imports warn.
    warnings.simplefilter("ignore")
    ekd = pytest.importorskip("earthkit.data", reason="earthkit-data is not installed: its source and target")
    pytest.importorskip("earthkit.data.indexing.xarray")

STEPS = [6, 0]
REQUEST: dict[str, Any] = {
    "class": "od",
    "expver": "0001",
    "stream": "enfo",
    "domain": "g",
    "date": 20240101,
    "time": [0, 12],
    "type": "pf",
    "levtype": "pl",
    "levelist": [500, 850],
    "number": [1, 2],
    "step": STEPS,
    "param": ["t", "u"],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a store with an ensemble."""
    with isotach.create(tmp_path / "ensemble") as store:
        ensemble(store)
    return tmp_path / "ensemble"


def source(folder: Path, request: dict[str, Any] = REQUEST, **options: Any) -> Any:
    """What earthkit-data makes of a request."""
    return ekd.from_source("isotach", request, store=folder, **options)


def read(data: Any) -> list[Any]:
    """The fields of it. A stream cannot tell its length, which ``list`` asks for."""
    return [field for field in data.to_fieldlist()]  # noqa: C416


def expected(folder: Path) -> list[bytes]:
    """The messages of the request, in its order."""
    return [bytes(field) for field in isotach.open(folder).retrieve(REQUEST)]


@pytest.mark.parametrize("is_stream", [False, True])
def test_the_fields_are_those_of_a_file_with_the_same_messages(
    folder: Path, tmp_path: Path, is_stream: bool
) -> None:
    messages = expected(folder)
    (tmp_path / "all.grib").write_bytes(b"".join(messages))
    theirs = ekd.from_source("file", str(tmp_path / "all.grib")).to_fieldlist()
    ours = source(folder, stream=is_stream).to_fieldlist(read_all=True)
    assert len(ours) == len(theirs) == 32
    assert [field.message() for field in ours] == messages
    assert ours.ls().equals(theirs.ls())
    np.testing.assert_array_equal(ours.to_numpy(), theirs.to_numpy())
    assert ours.to_xarray().load().equals(theirs.to_xarray().load())


def test_fields_are_selected_ordered_and_grouped_by_metadata(folder: Path) -> None:
    fields = source(folder).to_fieldlist()
    chosen = fields.sel({"parameter.variable": "t", "vertical.level": 500, "ensemble.member": "2"})
    steps = [field.get("time.step").total_seconds() / 3600 for field in chosen.order_by("time.step")]
    assert steps == [0, 0, 6, 6]
    assert [len(group) for group in fields.group_by("parameter.variable")] == [16, 16]
    assert [len(batch) for batch in fields.batched(20)] == [20, 12]


def test_a_stream_is_batched_and_grouped_while_it_is_read(folder: Path) -> None:
    stream = source(folder, stream=True).to_fieldlist()
    assert [len(batch) for batch in stream.batched(20)] == [20, 12]
    grouped = source(folder, {**REQUEST, "param": "t"}, stream=True).to_fieldlist().group_by("time.step")
    assert [len({field.get("time.step") for field in group}) for group in grouped] == [1] * 4
    assert [field for field in stream] == []  # noqa: C416


@pytest.mark.parametrize("is_lazy", [False, True])
def test_no_field_is_read_before_something_asks_for_it(tmp_path: Path, is_lazy: bool) -> None:
    request = {**REQUEST, "time": 0, "number": 1, "levelist": 500, "param": "t"}
    with isotach.create(tmp_path / "odd") as store:
        for step in STEPS:
            store.archive(b"no message", {**request, "step": step})
    fields = source(tmp_path / "odd", request, lazy=is_lazy).to_fieldlist()
    assert len(fields[::-1]) == 2
    with pytest.raises(isotach.MessageError):
        fields[0].to_numpy()


def test_lazy_fields_have_the_values_and_the_metadata_of_their_keys(folder: Path) -> None:
    whole, lazy = source(folder).to_fieldlist(), source(folder, lazy=True).to_fieldlist()
    names = ["parameter.variable", "time.base_datetime", "time.step", "vertical.level", "ensemble.member"]
    assert lazy.get(names) == whole.get(names)
    np.testing.assert_array_equal(lazy.to_numpy(), whole.to_numpy())
    mine, theirs = lazy.to_xarray().load(), whole.to_xarray().load()
    assert dict(mine.sizes) == dict(theirs.sizes)
    np.testing.assert_array_equal(mine.t.values, theirs.t.values)
    assert len(lazy.sel({"time.step": 6})) == 16
    np.testing.assert_array_equal(lazy[-1].to_numpy(), whole[-1].to_numpy())
    assert lazy[-1].message() == whole[-1].message()
    assert lazy[5].get("metadata.dataTime") == whole[5].get("metadata.dataTime")


def test_lazy_fields_without_a_member_and_with_a_range_of_steps_have_their_times(tmp_path: Path) -> None:
    accumulated = {"stepType": "accum", "paramId": 228, "dataDate": 20240101, "dataTime": 0}
    base = {"productDefinitionTemplateNumber": 8, "setLocalDefinition": 1, "class": "od", "expver": "0001"}
    rain = message(
        "regular_ll_sfc_grib2",
        base={**base, "stream": "oper", "type": "fc"},
        **accumulated,
        startStep=0,
        endStep=24,
    )
    with isotach.create(tmp_path / "surface") as store:
        keys = [store.archive(data)[0] for data in (rain, surface(0), surface(6))]
        store.flush()
        for key, step in zip(keys, (24, 0, 6), strict=True):
            (field,) = source(tmp_path / "surface", key, lazy=True).to_fieldlist()
            (whole,) = source(tmp_path / "surface", key).to_fieldlist()
            assert (
                field.get("time.step").total_seconds()
                == step * 3600
                == whole.get("time.step").total_seconds()
            )
            assert field.get("ensemble.member") == whole.get("ensemble.member")


def test_lazy_fields_refuse_a_field_on_another_grid(folder: Path) -> None:
    with isotach.open(folder) as store:
        store.archive(small(np.arange(15.0), step=6, Ni=5, iDirectionIncrementInDegrees=7.5))
    request = {**REQUEST, "time": 0, "number": 1, "levelist": 500, "param": "t", "step": [0, 6]}
    lazy = source(folder, request, lazy=True).to_fieldlist()
    np.testing.assert_array_equal(lazy[0].to_numpy(), source(folder, request).to_fieldlist()[0].to_numpy())
    with pytest.raises(isotach.MessageError, match="step=6.* is on another grid .*lazy=False"):
        lazy[1].to_numpy()


@pytest.mark.parametrize("is_lazy", [False, True])
def test_field_lists_are_pickled_by_their_store_and_read_by_threads(folder: Path, is_lazy: bool) -> None:
    fields = source(folder, lazy=is_lazy).to_fieldlist()
    values = fields.to_numpy()
    stored = pickle.dumps(fields)
    assert b"7777" not in stored
    restored = pickle.loads(stored)
    with ThreadPoolExecutor(4) as pool:
        read = list(pool.map(lambda n: restored[n].to_numpy(), [*range(32)] * 4))
    np.testing.assert_array_equal(np.array(read), np.concatenate([values] * 4))


def test_missing_fields_are_an_error_a_warning_or_left_out(folder: Path) -> None:
    request = {**REQUEST, "step": [0, 7]}
    for is_stream in (False, True):
        with pytest.raises(isotach.MissingFieldsError, match="16 fields missing: .*step=7"):
            read(source(folder, request, stream=is_stream))
        assert len(read(source(folder, request, stream=is_stream, missing="skip"))) == 16
        with pytest.warns(isotach.MissingFieldsWarning, match="step=7"):
            read(source(folder, request, stream=is_stream, missing="report"))
    with pytest.raises(isotach.MissingFieldsError, match="step=7 matches nothing: stored is step=0/6"):
        source(folder, {**REQUEST, "step": 7})


def test_a_source_is_given_by_keywords_a_handle_or_a_snapshot(folder: Path) -> None:
    store = isotach.open(folder)
    store.create_snapshot("monday", "class=od")
    one = {**REQUEST, "time": 0, "number": 1, "levelist": 500, "step": 0}
    with store:
        store.archive(small(np.full(12, 1.0), number=1))
    t = {"param": "t"}
    now = source(folder, one, **t).to_fieldlist()
    past = source(folder, one, at="monday", **t).to_fieldlist()
    assert [now[0].values.max(), past[0].values.max() > 1] == [1, True]
    text = ",".join(f"{name}={value}" for name, value in {**one, "param": "t"}.items())
    store = isotach.open(folder)
    for request in (text, isotach.Request(text)):
        fields = ekd.from_source("isotach", request, store=store).to_fieldlist()
        assert fields[0].message() == now[0].message()
    assert not store.is_closed


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"stream": "oper"}, TypeError, "stream='oper': expected True or False; keys of that name"),
        ({"stream": True, "lazy": True}, ValueError, "expected one of them"),
        ({"missing": "ignore"}, ValueError, "missing='ignore': expected one of"),
        ({"colour": "red"}, isotach.InvalidInputError, "colour"),
        ({"request": {"class": "od"}}, isotach.InvalidInputError, "incomplete: .* also needs"),
        ({"store": "posix:/nowhere"}, isotach.NotFoundError, "/nowhere does not exist"),
    ],
)
def test_wrong_arguments_are_refused_by_name(
    folder: Path, options: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        ekd.from_source("isotach", **{"request": REQUEST, "store": folder, **options})


def test_a_field_that_is_damaged_or_no_message_is_named_and_others_are_read(tmp_path: Path) -> None:
    one = {**REQUEST, "time": 0, "number": 1, "levelist": 500, "param": "t"}
    with isotach.create(tmp_path / "odd") as store:
        store.archive(small())
        store.archive(b"no message", {**one, "step": 6})
        store.archive(small()[:100], {**one, "step": 12})
    for is_stream in (False, True):
        fields = source(tmp_path / "odd", {**one, "step": 0}, stream=is_stream).to_fieldlist()
        assert [field.values.size for field in fields] == [12]
        for step, words in ((6, "is no GRIB message: 10 bytes"), (12, "is a part of a message: 100 of ")):
            fields = source(tmp_path / "odd", {**one, "step": step}, stream=is_stream).to_fieldlist()
            with pytest.raises(isotach.MessageError, match=f"step={step}.*posix:.* {words}"):
                [field.values for field in fields]


def test_a_stream_goes_on_behind_a_field_that_is_damaged(tmp_path: Path) -> None:
    one = {**REQUEST, "time": 0, "number": 1, "levelist": 500, "param": "t"}
    with isotach.create(tmp_path / "odd") as store:
        store.archive(small(step=0))
        store.archive(b"no message", {**one, "step": 6})
        store.archive(small(step=12))
    stream = source(tmp_path / "odd", {**one, "step": [0, 6, 12]}, stream=True).to_fieldlist()
    fields = iter(stream)
    assert next(fields).get("time.step").total_seconds() == 0
    with pytest.raises(isotach.MessageError):
        next(fields)
    assert [field.get("time.step").total_seconds() for field in fields] == [12 * 3600]
