"""Parallel programs: what the ranks do together on native HDF5, they do on ours; and a job that is killed leaves the last version."""

from __future__ import annotations

import difflib
import re
import sys
from pathlib import Path

import pytest

import ranks
from conftest import HERE, NATIVE, Connector

AREAS = ["files", "transfers", "selections", "extents", "metadata", "filters", "ranks"]
JOBS = HERE / "parallel" / "jobs"


@pytest.fixture(scope="module")
def parallel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program of `parallel`."""
    return ranks.build_checks(tmp_path_factory.mktemp("parallel"))


@pytest.fixture(scope="module", params=[2, 4])
def native(
    request: pytest.FixtureRequest, parallel: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[int, dict[str, list[str]]]:
    """What the program prints on native HDF5, by area, with so many ranks."""
    done = ranks.run(NATIVE, request.param, parallel, tmp_path_factory.mktemp("native"))
    told = re.search(r"^(\d+) checks, (\d+) failed$", done.stdout, re.MULTILINE)
    assert told is not None and done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert int(told[1]) >= 500 and int(told[2]) == 0
    return request.param, ranks.areas(done.stdout)


@pytest.mark.parametrize("area", AREAS)
def test_ranks_do_on_isotach_what_they_do_on_native_hdf5(
    area: str, native: tuple[int, dict[str, list[str]]], parallel: Path, isotach: Connector, tmp_path: Path
) -> None:
    count, expected = native
    done = ranks.run(isotach, count, parallel, tmp_path, area)
    found = ranks.areas(done.stdout).get(area, [])
    difference = difflib.unified_diff(expected[area], found, "native", "isotach", lineterm="", n=1)
    assert done.returncode == 0 and found == expected[area], "\n".join(difference) + done.stderr[-2000:]


def test_a_process_alone_reads_what_ranks_have_written_with_another_hdf5(
    parallel: Path, isotach: Connector, tmp_path: Path
) -> None:
    assert ranks.run(isotach, 3, parallel, tmp_path, "transfers").returncode == 0
    code = (
        "import h5py, numpy, sys; f = h5py.File(sys.argv[1])\n"
        "for d in f.values(): assert (d[:].ravel() == numpy.arange(d.size) + 70).all(), d\n"
        "print(len(f))"
    )
    for name in ("rows-together.h5", "rows-alone.h5"):
        done = isotach.run([sys.executable, "-c", code, tmp_path / name])
        assert done.stdout == "5\n", done.stderr[-2000:]


@pytest.mark.parametrize("microseconds", [0, 300, 1000, 3000, 10_000, 30_000])
def test_a_rank_that_is_killed_while_all_write_leaves_a_whole_version(
    microseconds: int, isotach: Connector, tmp_path: Path
) -> None:
    program = ranks.build(tmp_path / "killed", [JOBS / "killed.c"])
    file = tmp_path / "killed.h5"
    done = ranks.run(isotach, 3, program, file, str(microseconds))
    committed = [int(number) for number in re.findall(r"^committed (\d+)$", done.stdout, re.MULTILINE)]
    assert done.returncode not in (0, 124) and len(committed) >= 3, done.stdout + done.stderr[-2000:]
    code = (
        "import h5py, numpy, sys; f = h5py.File(sys.argv[1])\n"
        "found = {int(number) for d in f.values() for number in numpy.unique(d[:])}\n"
        "assert len(found) == 1 and f['plain'].size == f['packed'].size >= 99_999, found\n"
        "print(found.pop())"
    )
    read = isotach.run([sys.executable, "-c", code, file])
    assert read.returncode == 0, read.stderr[-2000:]
    # The job may die between a commit and the line that tells of it.
    assert int(read.stdout) in (committed[-1], committed[-1] + 1)


def test_a_failure_of_one_rank_is_told_to_all(isotach: Connector, tmp_path: Path) -> None:
    program = ranks.build(tmp_path / "failing", [JOBS / "failing.c"])
    done = ranks.run(isotach, 3, program, tmp_path)
    told: dict[str, list[str]] = {}
    for line in done.stdout.splitlines():
        found = re.fullmatch(r"(.*), rank \d: (.*)", line)
        assert found is not None, line
        told.setdefault(found[1], []).append(found[2])
    beyond = "the selection lies outside of the extent"
    for call in ("write", "read", "asynchronous write", "asynchronous read"):
        other = f"rank 1 has failed: {beyond}"
        assert told[call] == [other, beyond, other], told
    assert told["write again"] == told["close"] == told["close with none"] == ["done"] * 3
    for call, expected in {
        "close with different links": 'rank 1 has changed link "one" of object 1',
        "open different files": "rank 1 is to open",
        "open nothing": "errno = 2",
        "open alone, too": "together with other ranks",
        "atomic transfers": "no support for atomic transfers",
        "close with an object open": "has 1 objects open",
    }.items():
        assert len(told[call]) == 3 and all(expected in text for text in told[call]), told[call]
    assert [text.startswith("rank 0 has failed: ") for text in told["open nothing"]] == [False, True, True]
    code = "import h5py, sys; print(*h5py.File(sys.argv[1]))"
    for name, links in {"a.h5": "d", "left.h5": "left"}.items():
        read = isotach.run([sys.executable, "-c", code, tmp_path / name])
        assert read.stdout.split() == [links], read.stderr[-2000:]


def test_a_parallel_netcdf_program_does_on_isotach_what_it_does_natively(
    isotach: Connector, tmp_path: Path
) -> None:
    program = ranks.build(tmp_path / "netcdf", [JOBS / "netcdf.c"], "-lnetcdf")
    expected = ranks.run(NATIVE, 3, program, tmp_path / "native.nc")
    found = ranks.run(isotach, 3, program, tmp_path / "isotach.nc")
    assert expected.stdout.endswith("\n0 failed\n"), expected.stdout + expected.stderr[-2000:]
    assert found.stdout == expected.stdout, found.stdout + found.stderr[-2000:]
    code = (
        "import netCDF4, numpy, sys; f = netCDF4.Dataset(sys.argv[1]); series = f['series'][:]\n"
        "assert f.title == 'ranks' and f['series'].units == 'K' and series.shape == (5, 3000)\n"
        "assert (series == numpy.arange(5)[:, None] * 1e6 + numpy.arange(3000)).all()\n"
        "assert (f['table'][:] == numpy.arange(3000)).all(); print('equal')"
    )
    read = isotach.run([sys.executable, "-c", code, tmp_path / "isotach.nc"])
    assert read.stdout == "equal\n", read.stderr[-2000:]
