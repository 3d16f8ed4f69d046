"""The I/O kernels of `crates/hdf5-vol/benches/kernels` with few elements, on parallel HDF5: on the native connector and on ours."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from conftest import NATIVE, ROOT, Connector
from ranks import WITH_MPI, need_parallel_hdf5

KERNELS = ROOT / "crates" / "hdf5-vol" / "benches" / "kernels"

CLAMR = ["clamr", "--cells", "19", "--steps", "2"]
PIO = ["pio", "--variables", "2", "--frames", "2", "--size", "37"]
ROUNDROBIN, SUBSET = ["--decomposition", "ROUNDROBIN"], ["--rearranger", "SUBSET"]


@dataclass(frozen=True)
class Case:
    """A kernel with its options, and how many elements all ranks compare."""

    kernel: list[str]
    ranks: int
    checked: int


# CLAMR compares 128 elements of small arrays per rank and step, and six arrays of a cell; Legion the corners twice for each shard.
CASES = {
    "chunks independent": Case(["chunks", "--rows", "2"], 4, 4 * 2 * (1 << 17)),
    "chunks collective": Case(["chunks", "--rows", "2", "--calls", "collective"], 4, 4 * 2 * (1 << 17)),
    "clamr contiguous": Case(CLAMR, 4, 2 * (4 * 128 + 6 * 19 * 19)),
    "clamr in chunks": Case([*CLAMR, "--chunk", "100"], 4, 2 * (4 * 128 + 6 * 19 * 19)),
    "legion": Case(["legion", "--elements", "5184", "--shards", "9"], 2, 5184 + 9 * 2),
    "objects": Case(["objects", "--datasets", "5", "--attributes", "3"], 2, 2 * 5 * 3),
    "pio block box": Case(PIO, 4, 2 * 2 * 37 * 4),
    "pio block subset": Case([*PIO, *SUBSET, "--io-ranks", "2"], 4, 2 * 2 * 37 * 4),
    "pio round robin box": Case([*PIO, *ROUNDROBIN, "--io-ranks", "3"], 4, 2 * 2 * 37 * 4),
    "pio round robin subset": Case([*PIO, *ROUNDROBIN, *SUBSET, "--io-ranks", "2"], 4, 2 * 2 * 37 * 4),
}


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built kernels."""
    need_parallel_hdf5()
    folder = tmp_path_factory.mktemp("kernels")
    subprocess.run([*WITH_MPI, "make", "--silent", "-C", KERNELS, f"OUT={folder}"], check=True)
    return folder


def run_kernel(connector: Connector, kernels: Path, case: Case, folder: Path) -> None:
    """Runs a kernel, which must find all its data right."""
    command = [*WITH_MPI, "mpirun", "-n", str(case.ranks), kernels / case.kernel[0], *case.kernel[1:]]
    done = connector.run(command, folder)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    told = json.loads(done.stdout)
    assert (told["ranks"], told["checked"], told["wrong"]) == (case.ranks, case.checked, 0)
    unit = "objects" if case.kernel[0] == "objects" else "mib"
    assert told[f"write_{unit}_per_second"] > 0 and told[f"read_{unit}_per_second"] > 0


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_kernel_reads_what_it_wrote_on_native_hdf5(case: Case, kernels: Path, tmp_path: Path) -> None:
    run_kernel(NATIVE, kernels, case, tmp_path)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_kernel_reads_what_it_wrote_on_isotach(
    case: Case, kernels: Path, isotach: Connector, tmp_path: Path
) -> None:
    run_kernel(isotach, kernels, case, tmp_path)


def report(plugins: str, out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Runs the report of one figure."""
    command = [*WITH_MPI, sys.executable, KERNELS / "report.py", "--quick", "--only", "legion-shards"]
    return NATIVE.run([*command, "--out", out, "--plugins", plugins, *options])


@pytest.mark.usefixtures("kernels")
def test_the_report_has_a_row_for_each_point_and_a_record_for_each_run(
    isotach: Connector, tmp_path: Path
) -> None:
    done = report(isotach.environment["HDF5_PLUGIN_PATH"], tmp_path, "--rounds", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    runs = json.loads((tmp_path / "records.json").read_text())["runs"]
    assert len(runs) == 2 * 2 * 2 and all(run["result"]["wrong"] == 0 for run in runs)
    page = (tmp_path / "report.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith(("| 4 |", "| 64 |"))]
    assert len(rows) == 2 and all(len(row.split("|")) == 9 for row in rows)
    assert "failed" not in page
    assert (tmp_path / "legion-shards.svg").read_text().count("<polyline") == 4


@pytest.mark.usefixtures("kernels")
def test_the_report_shows_runs_without_right_data_as_failed(tmp_path: Path) -> None:
    empty = tmp_path / "plugins"
    empty.mkdir()
    done = report(str(empty), tmp_path / "out", "--rounds", "1")
    assert done.returncode == 1, done.stdout + done.stderr
    page = (tmp_path / "out" / "report.md").read_text()
    assert page.count("| failed |") == 4 and "- 64, isotach: exit code" in page
