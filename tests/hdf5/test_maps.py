"""Maps (H5M): a program whose HDF5 has them, the commands, a program whose HDF5 lacks them, ranks, and a writer that is killed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ranks
from conftest import HERE, Connector
from ranks import WITH_MPI
from test_h5_command import command, fails


def build(folder: Path, name: str) -> Path:
    """Builds a program that is linked with an HDF5 that has maps: wheels have none."""
    return ranks.build(folder / name, [HERE / "maps" / f"{name}.c"])


@pytest.fixture(scope="module")
def maps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program of `maps/maps.c`."""
    return build(tmp_path_factory.mktemp("program"), "maps")


@pytest.fixture(scope="module")
def folder(maps: Path, isotach: Connector, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file that has maps, of which all checks hold."""
    folder = tmp_path_factory.mktemp("maps")
    done = isotach.run([*WITH_MPI, maps, "check", folder], folder)
    told = re.search(r"^(\d+) checks, (\d+) failed$", done.stdout, re.MULTILINE)
    assert told is not None and done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert int(told[1]) >= 100 and int(told[2]) == 0
    return folder


def test_a_program_finds_in_maps_what_it_has_put_there(folder: Path) -> None:
    assert (folder / "maps.h5").is_file()


def test_ls_and_dump_show_the_types_keys_and_values_of_maps(folder: Path) -> None:
    lines = command(folder, "ls", "maps.h5", "--json").stdout.splitlines()
    links = {link["name"]: link for link in map(json.loads, lines)}
    numbers = links["numbers"]
    assert (numbers["kind"], numbers["type"], numbers["keys"]) == ("map", "i32be -> f64", 4)
    assert re.search(r"^people +map +3 keys ", command(folder, "ls", "maps.h5").stdout, re.MULTILINE)
    text = command(folder, "dump", "maps.h5", "people").stdout
    assert text.splitlines()[1:] == [
        '  "": {age: 0, name: ""}',
        '  "ann": {age: 31, name: "Ann A."}',
        '  "bob": {age: 46, name: "Bob B. Bobson, whose name is longer"}',
    ]
    shown = json.loads(command(folder, "dump", "maps.h5", "sequences", "--json").stdout)
    entries = sorted((entry["key"], entry["value"]) for entry in shown["entries"])
    assert entries == [([], 0), ([1], 1), ([1, 2], 2), ([1, 2, 3], 3)] and shown["more"] == 0
    shown = json.loads(command(folder, "dump", "maps.h5", "index", "--json").stdout)
    assert shown["entries"] == [{"key": 1, "value": "/group/map"}]
    shown = json.loads(command(folder, "dump", "maps.h5", "group/map", "--json").stdout)
    assert shown["attributes"] == {"unit": 10}


def test_a_copy_has_the_maps_and_a_native_file_cannot(folder: Path, tmp_path: Path) -> None:
    source, copy = str(folder / "maps.h5"), str(tmp_path / "copy.h5")
    command(tmp_path, "copy", source, copy, "--to", "isotach")
    dumped = [command(tmp_path, "dump", name, "--json").stdout for name in (source, copy)]
    assert dumped[0] == dumped[1] and dumped[0].count('"kind":"map"') == 8
    told = fails(tmp_path, "copy", source, str(tmp_path / "native.h5"), "--to", "native")
    assert "8 parts of the file cannot be copied" in told and "native files have no maps" in told


def test_a_program_whose_hdf5_has_no_maps_sees_their_links(folder: Path, isotach: Connector) -> None:
    code = (
        "import h5py; f = h5py.File('maps.h5'); print(*f)\n"
        "assert 'people' in f and f.get('people', getlink=True)\n"
        "try: f['people']\n"
        "except Exception as error: print(error)\n"
        "f.close(); h5py.File('maps.h5', 'r+').close()"
    )
    done = isotach.run([sys.executable, "-c", code], folder)
    assert done.returncode == 0, done.stderr[-2000:]
    names, error = done.stdout.splitlines()
    assert names.split() == [
        "fixed",
        "gaps",
        "group",
        "index",
        "linked",
        "numbers",
        "people",
        "sequences",
        "type",
    ]
    assert "maps in an HDF5 library that is built without H5M" in error


def test_keys_that_each_rank_has_put_are_in_one_version(isotach: Connector, tmp_path: Path) -> None:
    program, file = build(tmp_path, "ranks"), tmp_path / "ranks.h5"
    done = ranks.run(isotach, 3, program, file)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert sorted(done.stdout.splitlines()) == [
        f"rank {rank}: 51 keys, then 151, and rank 2" for rank in range(3)
    ]
    shown = json.loads(command(tmp_path, "dump", str(file), "map", "--all", "--json").stdout)
    found = {entry["key"]: entry["value"] for entry in shown["entries"]}
    assert found == {-1: "rank 2"} | {key: f"key {key} of rank {key % 3}" for key in range(150)}


@pytest.mark.parametrize("commits", [1, 5, 20])
def test_a_killed_writer_leaves_a_whole_version_of_a_map(
    commits: int, maps: Path, isotach: Connector, tmp_path: Path
) -> None:
    file = tmp_path / "killed.h5"
    # The script is replaced by the program, which is killed itself.
    words = [f"{name}={value}" for name, value in isotach.environment.items()]
    command = [*WITH_MPI, "env", *words, maps, "write", file]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        last = [writer.stdout.readline() for _ in range(commits)][-1]
        writer.kill()
        rest = writer.stdout.read()
    assert last == f"committed {commits}\n"
    told = [last, *rest.splitlines()][-1]
    committed = int(told.split()[1]) if re.fullmatch(r"committed \d+\n?", told) else commits
    done = isotach.run([*WITH_MPI, maps, "read", file])
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert int(done.stdout) in (committed, committed + 1)
