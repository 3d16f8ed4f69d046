"""Queries and indexes from C and Python, against NumPy."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import HERE, ROOT, Connector, built, compile_c

Run = Callable[[str], list[str]]
SOURCE = ROOT / "crates" / "python" / "python" / "isotach"
HEADER = ROOT / "crates" / "hdf5-vol" / "include"
PRELUDE = """
import functools, operator, re, h5py, isotach._hdf5_query, isotach.hdf5 as hdf5, numpy as np, warnings
from isotach.hdf5 import attribute, build_index, find, index_info, name, remove_index, value, where
def failure(act, *arguments, **named):
    try:
        act(*arguments, **named)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "no error"
"""
MAKE = """
rows, columns = np.mgrid[0:200, 0:300]
smooth = (rows + columns / 1000).astype("f4")
mixed = np.random.default_rng(1).permutation(60000).reshape(200, 300).astype("i4")
smooth[7, 7] = np.nan
with h5py.File("a.h5", "w") as file:
    file.create_dataset("g/smooth", data=smooth, chunks=(20, 300))
    file.create_dataset("mixed", data=mixed, chunks=(50, 170), compression="gzip", shuffle=True)
    table = np.zeros(3000, [("t", ">f8"), ("wind", [("speed", "i2"), ("from", "S3")])])
    table["t"], table["wind"]["speed"] = np.arange(3000) / 8, np.arange(3000) % 50
    table["wind"]["from"][::2] = b"NW"
    file.create_dataset("table", data=table, chunks=(1000,))
    file.create_dataset("texts", data=["a", "bc", ""])
    file.create_dataset("flags", data=np.arange(6) % 2 == 1)
    file["g/smooth"].attrs["units"] = "K"
    file["g"].attrs["level"] = np.int64(500)
    layout = h5py.VirtualLayout((200, 300), "f4")
    layout[:] = h5py.VirtualSource(file["g/smooth"])
    file.create_virtual_dataset("virtual", layout).attrs["units"] = "m"
"""


@pytest.fixture
def python(isotach: Connector, tmp_path: Path) -> Run:
    """Runs a script in a folder with a file. The package has only what the module needs: no other part of it is built."""
    package = tmp_path / "packages" / "isotach"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    for part in ("hdf5.py", "_hdf5_calls.py", "_hdf5_query.py", "_extras.py"):
        (package / part).symlink_to(SOURCE / part)

    def run(script: str) -> list[str]:
        done = isotach.run([sys.executable, "-c", PRELUDE + script], tmp_path, PYTHONPATH=str(package.parent))
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.splitlines()

    run(MAKE)
    return run


def test_a_query_finds_what_numpy_finds_with_and_without_an_index(python: Run) -> None:
    told = python("""
with h5py.File("a.h5", "r+") as file:
    one_of = functools.reduce(operator.or_, (value == number for number in range(200)))
    none_of = functools.reduce(operator.and_, (value != number for number in range(200)))
    def check():
        for dataset, condition, expected in [
            ("g/smooth", (value > 20) & (value < 40.5), lambda x: (x > 20) & (x < 40.5)),
            ("g/smooth", value == 0.1, lambda x: x == 0.1),
            ("g/smooth", value.is_nan() | (value >= 199), lambda x: np.isnan(x) | (x >= 199)),
            ("g/smooth", ~(value <= 150), lambda x: ~(x <= 150)),
            ("g/smooth", "value != 3", lambda x: x != 3),
            ("mixed", value.between(100, 110), lambda x: (x >= 100) & (x <= 110)),
            ("mixed", (value == 5) | (value > np.int32(59990)), lambda x: (x == 5) | (x > 59990)),
            ("mixed", value < 2.5, lambda x: x < 2.5),
            ("table", (value["t"] < 100) & (value["wind"]["speed"] == 7), lambda x: (x["t"] < 100) & (x["wind"]["speed"] == 7)),
            ("table", "t > 370 and wind.from = 'NW'", lambda x: (x["t"] > 370) & (x["wind"]["from"] == b"NW")),
            ("texts", value == "bc", lambda x: x == b"bc"),
            ("mixed", value < 30000, lambda x: x < 30000),
            ("g/smooth", value < float("inf"), lambda x: x < np.inf),
            ("g/smooth", value > 1e-22, lambda x: x > 1e-22),
            ("mixed", (value > 5) & one_of, lambda x: (x > 5) & np.isin(x, range(200))),
            ("mixed", (one_of | (value > 59000)) & ~none_of | (value == 400), lambda x: np.isin(x, [*range(200), 400])),
            ("flags", value == True, lambda x: x),
            ("flags", value == "TRUE", lambda x: x),
        ]:
            whole = file[dataset][...]
            mask = expected(whole)
            found = where(file[dataset], condition)
            assert np.array_equal(found.mask, mask), (dataset, str(condition))
            assert len(found) == mask.sum()
            assert np.array_equal(found.indices, np.flatnonzero(mask))
            assert all(np.array_equal(one, other) for one, other in zip(found.coordinates, np.nonzero(mask)))
            for at_once in (1 << 24, 1000):
                isotach._hdf5_query._AT_ONCE = at_once
                assert np.array_equal(found.values(), whole[mask], equal_nan=whole.dtype.kind == "f")
            assert np.array_equal(file[dataset][found.mask], whole[mask], equal_nan=whole.dtype.kind == "f")
    for bins in (None, False, True):
        for dataset in ("g/smooth", "mixed", "table"):
            if bins is not None:
                info = build_index(file[dataset], bins=bins)
                print(dataset, info.has_bins, info.indexed == info.chunks)
        check()
        file.flush()
        check()
    file["mixed"][3, 4] = -7
    print(where(file["mixed"], value < 0).coordinates)
    remove_index(file["mixed"])
    print(index_info(file["mixed"]), len(where(file["mixed"], value < 0)))
""")
    assert told == [
        "g/smooth False True",
        "mixed False True",
        "table False True",
        "g/smooth True True",
        "mixed True True",
        "table True True",
        "(array([3]), array([4]))",
        "None 1",
    ]


def test_a_selection_indexes_h5py_datasets_and_arrays(python: Run) -> None:
    told = python("""
with h5py.File("a.h5", "r+") as file:
    file["g/smooth"][where(file["g/smooth"], value.is_nan()).mask] = -1
    low = where(file["g/smooth"], value < 0)
    print(low, low.shape, low.runs.tolist(), low.space().get_select_npoints(), file["mixed"][...][low.coordinates] == file["mixed"][7, 7])
    none = where(file["mixed"], value < 0)
    print(len(none), none.values(), none.mask.any(), none.space().get_select_npoints(), file["mixed"][none.mask])
    file["scalar"], file["null"] = 3.5, h5py.Empty("f4")
    for condition in (value > 3, value > 4):
        one = where(file["scalar"], condition)
        print(one.mask, one.indices, one.coordinates, one.values(), one.space().get_select_npoints())
    print(failure(where, file["null"], value > 1))
""")
    assert told == [
        "<Selection of 1 elements of '/g/smooth'> (200, 300) [[2107, 1]] 1 [ True]",
        "0 [] False 0 []",
        "True [0] () [3.5] 1",
        "False [] () [] 0",
        "TypeError: '/null' has no elements, as h5py.Empty says: expected a dataset with a shape",
    ]


def test_an_index_of_a_new_dataset_is_made_as_it_is_written(python: Run) -> None:
    told = python("""
with h5py.File("b.h5", "w") as file:
    made = file.create_dataset("made", (40, 1000), "f4", chunks=(10, 1000), maxshape=(None, 1000))
    print(build_index(made, bins=True))
    made[...] = np.arange(40000).reshape(40, 1000)
with h5py.File("b.h5", "r+") as file:
    print(index_info(file["made"]))
    file["made"].resize((50, 1000))
    file["made"][40:] = -5
    print(len(where(file["made"], value < 0)))
with h5py.File("b.h5") as file:
    print(index_info(file["made"]), len(where(file["made"], value < 0)))
""")
    assert told == [
        "IndexInfo(has_bins=True, chunks=0, indexed=0, without=0)",
        "IndexInfo(has_bins=True, chunks=4, indexed=4, without=0)",
        "10000",
        "IndexInfo(has_bins=True, chunks=5, indexed=5, without=0) 10000",
    ]


def test_objects_are_found_and_wrong_conditions_say_why(python: Run) -> None:
    told = python("""
with h5py.File("a.h5", "r") as file:
    print([(hit.path, hit.kind, hit.elements) for hit in find(file, attribute("units") == "K")])
    print([(hit.path, hit.kind, hit.elements) for hit in find(file, (attribute("units") == "K") & (value > 199))])
    print([hit.path for hit in find(file, attribute("level").exists() | name.like("t*"))])
    print(find(file["g"], "@level > 400")[0])
    with warnings.catch_warnings(record=True) as caught:
        print([hit.path for hit in find(file, (attribute("units") == "m") & (value > 1))])
        print([(re.sub("object [0-9]+", "object N", str(one.message)), one.filename, one.category.__name__) for one in caught])
    for condition in ("value > ", "x > 1", "value = 'a'", "name = 'a'"):
        print(failure(where, file["g/smooth"], condition))
    print(failure(where, file, "value > 1"))
    print(failure(where, 7, "value > 1"))
    print(failure(bool, value > 1))
    print(failure(lambda: value > float("nan")))
    print(failure(lambda: value > [1]))
    print(failure(where, file["g/smooth"], "value > 1\\0 and value < 2"))
    print(failure(build_index, file["g/smooth"]))
with h5py.File("a.h5", "r+") as file:
    print(failure(build_index, file["texts"]))
    print(failure(build_index, file["table"], members=["wind.x"]))
    print(failure(build_index, file["table"], members=["wind.speed\\0"]))
    print(build_index(file["table"], members="wind.speed"))
""")
    assert told[:6] == [
        "[('g/smooth', 'dataset', None)]",
        "[('g/smooth', 'dataset', 299)]",
        "['g', 'table', 'texts']",
        "Found(path='.', kind='group', elements=None)",
        "[]",
        "[('virtual was not searched: no support for a query of object N of a.h5, which is virtual: query its sources', '<string>', 'UnsearchedWarning')]",
    ]
    expected = [
        ("OSError", "column 9", "a number or a text"),
        ("OSError", "member x"),
        ("OSError", "a number", "f32"),
        ("OSError", "expected value"),
        ("OSError", "a dataset"),
        ("TypeError", "h5py"),
        ("TypeError", "&, | and ~"),
        ("ValueError", "is_nan"),
        ("TypeError", "a number or a text"),
        ("ValueError", "without NUL"),
        ("OSError", "read"),
        ("OSError", "numbers"),
        ("OSError", "one of speed, from"),
        ("ValueError", "without NUL"),
    ]
    for line, parts in zip(told[6:-1], expected, strict=True):
        assert all(part in line for part in parts), line
    assert told[-1] == "IndexInfo(has_bins=False, chunks=3, indexed=3, without=0)"


def test_c_programs_read_what_a_query_selects(isotach: Connector, python: Run, tmp_path: Path) -> None:
    program = tmp_path / "queries"
    compile_c([HERE / "queries" / "main.c"], program, "-I", str(HEADER), str(built()))
    done = isotach.run([program, "a.h5"], tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.sub("(object|id) [0-9]+", r"\1 N", done.stdout).splitlines() == [
        "11 elements, sum 1155",
        "1 runs: 3000 900",
        "11 elements, sum 1155",
        "index 1, bins 1: 8 of 8 chunks",
        "g/smooth 5 -1",
        "g/smooth 5 299",
        "virtual: no support for a query of object N of a.h5, which is virtual: query its sources",
        "refused: virtual was not searched: no support for a query of object N of a.h5, which is virtual: query its sources. "
        "To find the others, pass unsearched_op",
        "refused: id N: expected that of an open file, group or dataset of this HDF5 library",
        'refused: condition is NULL: expected a text, such as "value > 280"',
        'refused: condition "value >", column 8: the end: expected a number or a text in quotes',
        "refused: the file of id N was opened with the connector native: expected a file of Isotach, which is opened with HDF5_VOL_CONNECTOR=isotach",
    ]
