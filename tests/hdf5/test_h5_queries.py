"""`isotach h5 query` and `isotach h5 index`: what they print, and their exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import Connector
from test_h5_command import command, fails, python

MAKE = """
with h5py.File("run.h5", "w") as file:
    numbers = np.arange(40_000, dtype="f4").reshape(40, 1000)
    numbers[3, 7] = np.nan
    file.create_dataset("fields/t", data=numbers, chunks=(5, 1000)).attrs["units"] = "K"
    stations = np.zeros(6000, [("p", "f4"), ("wind", [("speed", "i2")])])
    stations["p"] = np.arange(6000) * 7919 % 6000
    stations["wind"]["speed"] = np.arange(6000) % 5
    file.create_dataset("stations", data=stations, chunks=(3000,))
    file["names"] = ["one", "two"]
    wide = file.create_dataset("wide", (3,), h5py.string_dtype(length=3 << 20))
    wide[1] = b"w" * 7
    layout = h5py.VirtualLayout((40, 1000), "f4")
    layout[:] = h5py.VirtualSource(file["fields/t"])
    file.create_virtual_dataset("virtual", layout)
"""


@pytest.fixture
def folder(isotach: Connector, tmp_path: Path) -> Path:
    """A folder with a file of ours."""
    python(isotach, MAKE, tmp_path)
    return tmp_path


def lines(folder: Path, *arguments: str) -> list[Any]:
    """The JSON objects that a command prints."""
    return [json.loads(line) for line in command(folder, *arguments, "--json").stdout.splitlines()]


def test_a_query_of_a_dataset_prints_elements_with_their_places(folder: Path) -> None:
    query = ("query", "run.h5", "fields/t", "value > 39997 or value is nan")
    assert command(folder, *query).stdout == (
        "[3,7] NaN\n[39,998] 39998.0\n[39,999] 39999.0\n3 elements (of 8 chunks 8 read, 0 by bins)\n"
    )
    found = lines(folder, *query)
    assert found[1:] == [
        {"place": [39, 998], "value": 39998},
        {"place": [39, 999], "value": 39999},
        {"more": 0},
    ]
    assert found[0]["place"] == [3, 7]
    assert command(folder, *query, "--count").stdout == "3\n"


def test_more_than_a_hundred_elements_are_counted_and_shown_on_demand(folder: Path) -> None:
    query = ("query", "run.h5", "stations", "wind.speed = 2")
    found = lines(folder, *query)
    assert (len(found), found[-1]) == (101, {"more": 1100})
    assert found[99] == {"place": [497], "value": {"p": 497 * 7919 % 6000, "wind": {"speed": 2}}}
    assert "1200 elements, the last 1100 not shown" in command(folder, *query).stdout.splitlines()[-1]
    found = lines(folder, *query, "--all")
    assert (len(found), found[-1]) == (1201, {"more": 0})
    assert [one["place"] for one in found[:-1]] == [[at] for at in range(2, 6000, 5)]
    assert len(lines(folder, "query", "run.h5", "wide", "value like '*'", "--all")) == 4


def test_a_query_of_a_group_prints_objects_and_names_what_it_cannot_read(folder: Path) -> None:
    query = ("query", "run.h5", "/", "value > 39997")
    done = command(folder, *query)
    head, _, row = done.stdout.splitlines()
    assert (head.split(), row.split()) == (["path", "kind", "elements"], ["fields/t", "dataset", "2"])
    assert done.stderr.startswith("isotach: not searched: virtual: ") and "virtual" in done.stderr
    found, virtual = lines(folder, *query)
    assert found == {"path": "fields/t", "kind": "dataset", "elements": 2}
    assert (virtual["path"], virtual["kind"]) == ("virtual", "dataset")
    assert "virtual" in virtual["not_searched"]
    assert command(folder, *query, "--count").stdout == "1\n"
    by_units = lines(folder, "query", "run.h5", "/", "@units = 'K'")
    assert by_units == [{"path": "fields/t", "kind": "dataset", "elements": None}]
    nothing = command(folder, "query", "run.h5", "/", "name = 'no'")
    assert (nothing.stdout, nothing.stderr) == ("", "")


def test_an_index_is_built_shown_kept_and_removed(folder: Path) -> None:
    index = ("index", "run.h5", "fields/t")
    assert command(folder, *index, "--show").stdout == "no index\n"
    assert lines(folder, *index, "--show") == [None]
    assert command(folder, *index).stdout == "index of value: 8 of 8 chunks\n"
    assert "of 8 chunks 1 read, 0 by bins" in command(folder, "query", *index[1:], "value > 39997").stdout
    bins = {"members": ["value"], "bins": True, "chunks": 8, "indexed": 8, "without": 0}
    assert lines(folder, *index, "--bins") == [bins]
    # Without options it stays what it is.
    assert lines(folder, *index) == [bins]
    assert lines(folder, *index, "--show") == [bins]
    assert "0 read, 1 by bins" in command(folder, "query", *index[1:], "value > 39997").stdout
    assert command(folder, *index, "--remove").stdout == ""
    assert command(folder, *index, "--show").stdout == "no index\n"
    assert "no index" in fails(folder, *index, "--remove")


def test_members_stay_chosen_until_others_are_named(folder: Path) -> None:
    index = ("index", "run.h5", "stations")
    chosen = lines(folder, *index, "--member", "wind.speed", "--bins")
    assert chosen == [{"members": ["wind.speed"], "bins": True, "chunks": 2, "indexed": 2, "without": 0}]
    assert lines(folder, *index) == chosen
    other = lines(folder, *index, "--member", "p")
    assert other == [chosen[0] | {"members": ["p"]}]


def test_wrong_calls_end_with_one_line_and_an_exit_code(folder: Path) -> None:
    wrong = command(folder, "query", "run.h5", "fields/t", "value >", code=2).stderr
    assert "column 8" in wrong and "a number" in wrong
    assert "x" in fails(folder, "query", "run.h5", "fields/t", "x > 1")
    assert "virtual" in fails(folder, "query", "run.h5", "virtual", "value > 1")
    assert "nothing" in fails(folder, "query", "run.h5", "nothing", "value > 1")
    assert "numbers" in fails(folder, "index", "run.h5", "names")
    command(folder, "index", "run.h5", "stations", "--member", "p..q", code=2)
    command(folder, "index", "run.h5", "stations", "--show", "--bins", code=2)
