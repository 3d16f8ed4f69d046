"""The names of z3fdb, compared with z3fdb itself where it can be installed."""

from __future__ import annotations

import asyncio
import importlib
import pickle
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import isotach
import numpy as np
import pytest
import zarr
from isotach import z3fdb as ours
from zarr.abc.store import RangeByteRequest
from zarr.buffer.cpu import Buffer, buffer_prototype

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import eccodes

SCHEMA = """
param: Param; step: Step; date: Date; levelist: Double; expver: Expver; time: Time;
[ class, expver, stream, date, time, domain [ type, levtype [ step, levelist?, param ]]]
"""
DATES, STEPS, LEVELS, PARAMS = (20240101, 20240102), (0, 6, 12), (1000, 500), (130, 131)
POINTS = 496
ABSENT = (20240102, 12, 500, 131)
REQUEST = {
    "class": "od",
    "expver": "0001",
    "stream": "oper",
    "date": ["20240101", "20240102"],
    "time": "0000",
    "domain": "g",
    "type": "fc",
    "levtype": "pl",
    "step": ["0", "6", "12"],
    "levelist": ["1000", "500"],
    "param": ["130", "131"],
}
FIRST_DAY = {**REQUEST, "date": "20240101"}


def values(date: int, step: int, level: int, param: int) -> Any:
    """The values of a field."""
    return np.arange(POINTS, dtype="f8") + 1000 * step + level + date % 100 * 7 + param


def message(date: int, step: int, level: int, param: int) -> bytes:
    """A field."""
    handle = eccodes.codes_grib_new_from_samples("regular_ll_pl_grib2")
    keys = {"setLocalDefinition": 1, "class": "od", "expver": "0001", "stream": "oper", "type": "fc"}
    more = {
        "dataTime": 0,
        "dataDate": date,
        "step": step,
        "level": level,
        "paramId": param,
        "bitsPerValue": 24,
    }
    try:
        for name, value in {**keys, **more}.items():
            eccodes.codes_set(handle, name, value)
        eccodes.codes_set_values(handle, values(date, step, level, param))
        return bytes(eccodes.codes_get_message(handle))
    finally:
        eccodes.codes_release(handle)


def messages() -> Iterator[bytes]:
    """All fields but one."""
    for date in DATES:
        for step in STEPS:
            for level in LEVELS:
                for param in PARAMS:
                    if (date, step, level, param) != ABSENT:
                        yield message(date, step, level, param)


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The configuration of a store with the fields."""
    folder = tmp_path_factory.mktemp("isotach")
    with isotach.create(folder / "fields", SCHEMA) as store:
        for one in messages():
            store.archive(one)
    path = folder / "isotach.yaml"
    path.write_text(f"spaces: [{{pool: 'posix:{folder}/fields'}}]")
    return path


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    """The module z3fdb, and the configuration of an FDB with the same fields."""
    if tuple(map(int, zarr.__version__.split(".")[:2])) > (3, 1):
        pytest.skip(f"z3fdb needs zarr 3.1, and this environment has {zarr.__version__}")
    folder = tmp_path_factory.mktemp("fdb")
    (folder / "root").mkdir()
    (folder / "schema").write_text(SCHEMA)
    config = folder / "fdb.yaml"
    root = f"spaces: [{{handler: Default, roots: [{{path: '{folder}/root'}}]}}]"
    config.write_text(f"type: local\nengine: toc\nschema: {folder}/schema\n{root}\n")
    fdb = importlib.import_module("pyfdb").FDB(config)
    for one in messages():
        fdb.archive(one)
    fdb.flush()
    return importlib.import_module("z3fdb"), config


def built(module: Any, config: Path, parts: Any, extend: int | None = None, fill: float | None = None) -> Any:
    """The store that a builder of either module makes of requests and axes."""
    builder = module.SimpleStoreBuilder(config)
    for request, axes in parts:
        made = [module.AxisDefinition(keys, chunking(module, how)) for keys, how in axes]
        builder.add_part(request, made, module.ExtractorType.GRIB)
    if extend is not None:
        builder.extend_on_axis(extend)
    if fill is not None:
        builder.fill_missing_value(fill)
    return builder.build()


def chunking(module: Any, how: str | int) -> Any:
    """A chunking by its name, or by its size."""
    return module.Chunking.FixedSizeChunk(how) if isinstance(how, int) else module.Chunking[how]


ONE, ALL = "SINGLE_VALUE", "WHOLE_AXIS"
ARRAYS: dict[str, tuple[Any, ...]] = {
    "an axis for each key": ([(FIRST_DAY, [(["step"], ONE), (["levelist"], ALL), (["param"], ONE)])],),
    "axes of several keys": ([({**REQUEST, "param": "130"}, [(["step", "date"], 2), (["levelist"], ALL)])],),
    "the last key changes fastest": ([(FIRST_DAY, [(["levelist", "param"], ALL), (["step"], ONE)])],),
    "a range": (
        [
            (
                {**REQUEST, "step": "0/to/12/by/6", "param": ["t"]},
                [(["step"], ONE), (["date", "levelist"], ALL)],
            )
        ],
    ),
    "an axis of one value": (
        [(FIRST_DAY, [(["date"], ONE), (["step"], ONE), (["param", "levelist"], ONE)])],
    ),
    "two parts": (
        [
            ({**FIRST_DAY, "param": "131"}, [(["step"], ONE), (["param", "levelist"], ALL)]),
            ({**FIRST_DAY, "param": "130"}, [(["step"], ONE), (["param", "levelist"], ALL)]),
        ],
        1,
    ),
    "the other order": (
        [({**FIRST_DAY, "step": [12, 0, 6], "param": 130}, [(["step"], ONE), (["levelist"], ALL)])],
    ),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_equals_that_of_z3fdb(name: str, config: Path, theirs: tuple[Any, Path]) -> None:
    module, their_config = theirs
    mine = zarr.open_array(built(ours, config, *ARRAYS[name]), mode="r")
    other = zarr.open_array(built(module, their_config, *ARRAYS[name]), mode="r")
    assert (mine.shape, mine.chunks, mine.dtype) == (other.shape, other.chunks, other.dtype)
    assert mine.metadata.codecs == other.metadata.codecs
    np.testing.assert_array_equal(mine[...], other[...])


@pytest.mark.parametrize("name", ARRAYS)
def test_the_keys_of_a_store_equal_those_of_z3fdb(name: str, config: Path, theirs: tuple[Any, Path]) -> None:
    async def keys(store: Any) -> list[str]:
        return sorted([key async for key in store.list()])

    module, their_config = theirs
    mine, other = built(ours, config, *ARRAYS[name]), built(module, their_config, *ARRAYS[name])
    assert asyncio.run(keys(mine)) == asyncio.run(keys(other))


STEP, REST = (["date", "step"], ONE), (["param", "levelist"], ONE)
REFUSED: dict[str, tuple[Any, ...]] = {
    "no part": ([],),
    "several parts without an axis": ([(FIRST_DAY, [STEP, REST]), (FIRST_DAY, [STEP, REST])],),
    "an axis that is not there": ([(REQUEST, [STEP, REST])], 7),
    "values without an axis": ([(REQUEST, [STEP])],),
    "an axis key that the request lacks": ([(REQUEST, [STEP, REST, (["number"], ONE)])],),
    "a key in two axes": ([(REQUEST, [STEP, REST, (["step"], ONE)])],),
    "no field": ([({**REQUEST, "step": "999"}, [STEP, REST])],),
    "a request that is not full": (
        [({key: REQUEST[key] for key in REQUEST if key != "domain"}, [STEP, REST])],
    ),
    "chunks of nothing": ([(REQUEST, [(["date", "step"], 0), REST])],),
    "parts of different shapes": (
        [(FIRST_DAY, [STEP, REST]), ({**FIRST_DAY, "step": "0"}, [STEP, REST])],
        1,
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_z3fdb_refuses_is_refused(name: str, config: Path, theirs: tuple[Any, Path]) -> None:
    module, their_config = theirs
    for one, path in ((ours, config), (module, their_config)):
        with pytest.raises(RuntimeError):
            built(one, path, *REFUSED[name])


@pytest.mark.parametrize("name", REFUSED)
def test_a_definition_that_is_no_array_is_refused(name: str, config: Path) -> None:
    with pytest.raises((isotach.InvalidInputError, isotach.MissingFieldsError)):
        built(ours, config, *REFUSED[name])


def test_an_array_holds_the_fields_at_their_places(config: Path) -> None:
    array = zarr.open_array(built(ours, config, *ARRAYS["two parts"]), mode="r")
    assert array.shape == (3, 4, POINTS) and array.chunks == (1, 4, POINTS) and array.dtype == np.float32
    assert array.metadata.dimension_names == ("step", "param_levelist", "values")
    for step, at in ((0, 0), (12, 2)):
        for (param, level), place in zip(
            ((131, 1000), (131, 500), (130, 1000), (130, 500)), range(4), strict=True
        ):
            expected = values(20240101, step, level, param)
            np.testing.assert_allclose(array[at, place], expected, atol=1e-2)


MISSING = ([({**REQUEST, "date": "20240102"}, [(["step"], ONE), (["levelist", "param"], ALL)])],)


def test_a_missing_field_is_an_error_like_z3fdbs(config: Path, theirs: tuple[Any, Path]) -> None:
    module, their_config = theirs
    for one, path in ((ours, config), (module, their_config)):
        array = zarr.open_array(built(one, path, *MISSING), mode="r")
        assert array[:2].shape == (2, 4, POINTS)
        with pytest.raises(RuntimeError):
            array[2]


def test_a_missing_field_is_named_or_has_the_value_that_was_chosen(config: Path) -> None:
    array = zarr.open_array(built(ours, config, *MISSING), mode="r")
    with pytest.raises(isotach.MissingFieldsError, match="step=12,levelist=500,param=131") as caught:
        array[2]
    assert caught.value.missing.count == 1
    filled = zarr.open_array(built(ours, config, *MISSING, None, -5.0), mode="r")
    assert filled.fill_value == -5.0
    assert (filled[2, 3] == -5.0).all() and (filled[2, :3] != -5.0).all()
    holes = zarr.open_array(built(ours, config, *MISSING, None, np.nan), mode="r")
    assert np.isnan(holes[2, 3]).all() and not np.isnan(holes[2, :3]).any()


def test_chunks_that_do_not_divide_the_axis_are_filled_up(config: Path) -> None:
    parts = [(FIRST_DAY, [(["step"], 2), (["levelist", "param"], 3)])]
    array = zarr.open_array(built(ours, config, parts), mode="r")
    assert array.chunks == (2, 3, POINTS)
    np.testing.assert_allclose(array[2, 3], values(20240101, 12, 500, 131), atol=1e-2)


def test_a_store_of_several_arrays_is_a_group(config: Path) -> None:
    builder = ours.CustomStoreBuilder(config)
    axis = ours.AxisDefinition(["step"], ours.Chunking.FixedSizeChunk(chunk_shape=2), name="time")
    levels = ours.AxisDefinition(["levelist"], ours.Chunking.WHOLE_AXIS)
    for path, param in (("upper/t", "130"), ("/u", "131")):
        builder.add_part(path, {**FIRST_DAY, "param": param}, [axis, levels], ours.ExtractorType.Grib())
    builder.fill_missing_value("u", 0.0)
    group = zarr.open_group(builder.build(), mode="r")
    assert sorted(group.array_keys()) == ["u"] and sorted(group.group_keys()) == ["upper"]
    assert group["upper/t"].metadata.dimension_names == ("time", "levelist", "values")
    np.testing.assert_allclose(group["upper/t"][1, 1], values(20240101, 6, 500, 130), atol=1e-2)


def test_a_store_refuses_writes_reads_ranges_and_survives_pickle(config: Path) -> None:
    store = built(ours, config, *ARRAYS["two parts"])
    for write in (store.set("key", Buffer.from_bytes(b"")), store.delete("zarr.json")):
        with pytest.raises(ours.Z3fdbError) as caught:
            asyncio.run(write)
        assert isinstance(caught.value, ValueError)
    whole = store.get_sync("c/0/0/0").to_bytes()
    part = asyncio.run(store.get("c/0/0/0", buffer_prototype, RangeByteRequest(4, 12)))
    assert part.to_bytes() == whole[4:12] and asyncio.run(store.getsize("c/0/0/0")) == len(whole)
    again = pickle.loads(pickle.dumps(store))
    assert again == store and again.get_sync("c/0/0/0").to_bytes() == whole
    for key in ("c/9/0/0", "c/0/0/1", "c/00/0/0", "c/0/0", "c/a/0/0", "other"):
        assert store.get_sync(key) is None, key


def test_the_names_and_their_properties_are_those_of_z3fdb(theirs: tuple[Any, Path]) -> None:
    module, _ = theirs
    assert set(module.__all__) <= set(ours.__all__)
    for one in (ours, module):
        axis = one.AxisDefinition(["step"], one.Chunking.SINGLE_VALUE)
        assert axis.keys == ["step"] and axis.chunking is one.Chunking.SINGLE_VALUE
        axis.keys, axis.chunking = ["date"], one.Chunking.FixedSizeChunk(chunkShape=2)
        assert axis.keys == ["date"] and axis.chunking.chunkShape == 2
        assert axis.chunking == one.Chunking.FixedSizeChunk(2)
        with pytest.raises(TypeError, match="chunking"):
            one.AxisDefinition(["step"], 3)
        assert issubclass(one.Z3fdbError, Exception) and one.ExtractorType.GRIB.name == "GRIB"
        assert [member.name for member in one.Chunking] == ["WHOLE_AXIS", "SINGLE_VALUE"]


def test_what_the_module_does_not_have_is_refused_in_words() -> None:
    assert not ours.has_gribjump_extractor
    with pytest.raises(ours.Z3fdbError, match="ExtractorType.GRIB"):
        ours.ExtractorType.GribJump()
    with pytest.raises(TypeError, match="chunk_shape"):
        ours.Chunking.FixedSizeChunk()
