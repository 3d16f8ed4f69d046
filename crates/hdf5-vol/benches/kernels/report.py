"""The I/O kernels on native parallel HDF5 and on the connector, in turns: a report in Markdown, with pictures and the records of all runs.

    make kernels KERNELS='[--out FOLDER] [--quick] [--rounds N] [--folder FOLDER] [--options "?sync=no"]'

What must stay true: a run whose data was wrong, or that failed, is shown as failed and has no figures; then the exit code is 1.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from chart import Panel, draw
from figures import Figure, Point, figures

HERE = Path(__file__).parent
ROOT = HERE.parents[3]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
CONNECTORS = ("native", "isotach")
# A kernel that hangs is a failed one.
SECONDS_MAX = 300

NOTES = """\
What is unfair to the connector: it sums every byte, and a close is a commit that survives a kill at any moment. Native HDF5 does neither, and never syncs; so the
connector had the options above. What is unfair to native HDF5: it was made for a parallel file system, and this is one node, whose ranks share processors.
"""


@dataclass(frozen=True)
class Record:
    """A run: what it was, and what the kernel printed, or why there is nothing."""

    figure: str
    label: str
    connector: str
    round: int
    ranks: int
    command: list[str]
    seconds: float
    result: dict[str, object] | None
    error: str | None


class Bench:
    """Built kernels, and the environments to run them in."""

    def __init__(self, programs: Path, plugins: Path, folder: Path | None, options: str) -> None:
        """Keeps where things are."""
        clean = {
            name: value for name, value in os.environ.items() if not name.startswith(("HDF5_", "ISOTACH_H5"))
        }
        ours = {"HDF5_PLUGIN_PATH": str(plugins), "HDF5_VOL_CONNECTOR": f"isotach {options}".strip()}
        self.environments = {"native": clean, "isotach": clean | ours}
        self.programs = programs
        self.folder = folder

    def run(self, figure: Figure, point: Point, connector: str, number: int) -> Record:
        """Runs a kernel in a folder of its own."""
        program = str(self.programs / figure.kernel)
        command = ["mpirun", "-n", str(point.ranks), program, *point.command()]
        began = time.perf_counter()
        with tempfile.TemporaryDirectory(prefix="kernels-", dir=self.folder) as folder:
            try:
                done = subprocess.run(
                    command,
                    cwd=folder,
                    env=self.environments[connector],
                    capture_output=True,
                    text=True,
                    timeout=SECONDS_MAX,
                )
                result, error = judge(done)
            except subprocess.TimeoutExpired:
                result, error = None, f"it did not end in {SECONDS_MAX} s"
        seconds = round(time.perf_counter() - began, 3)
        shown = ["mpirun", "-n", str(point.ranks), figure.kernel, *point.command()]
        return Record(figure.name, point.label, connector, number, point.ranks, shown, seconds, result, error)


def judge(done: subprocess.CompletedProcess[str]) -> tuple[dict[str, object] | None, str | None]:
    """What a kernel printed, if all was right; else what was wrong."""
    line = next((line for line in done.stdout.splitlines() if line.startswith("{")), None)
    result = json.loads(line) if line is not None and line.endswith("}") else None
    if result is not None and result["wrong"] != 0:
        return None, f"{result['wrong']} of {result['checked']} elements were wrong"
    if done.returncode != 0 or result is None:
        said = [line for line in done.stderr.splitlines() if "error: " in line] or done.stderr.splitlines()[
            :1
        ]
        return None, f"exit code {done.returncode}: {said[0] if said else 'nothing was printed'}"
    return result, None


def measure(bench: Bench, chosen: list[Figure], rounds: int) -> list[Record]:
    """All runs, native HDF5 and the connector in turns."""
    records = []
    for figure in chosen:
        for point in figure.points:
            for number in range(rounds):
                # Each is first as often as the other.
                order = CONNECTORS if number % 2 == 0 else CONNECTORS[::-1]
                records += [bench.run(figure, point, connector, number) for connector in order]
        print(f"{figure.title}: measured", file=sys.stderr)
    return records


def rate(records: list[Record], figure: Figure, label: str, connector: str, phase: str) -> float | None:
    """The median of the rounds; None if one of them failed."""
    runs = [
        run for run in records if (run.figure, run.label, run.connector) == (figure.name, label, connector)
    ]
    if any(run.result is None for run in runs):
        return None
    return statistics.median(
        float(str(run.result[f"{phase}_{figure.unit}_per_second"])) for run in runs if run.result is not None
    )


def cell(value: float | None) -> str:
    """A figure of a table."""
    return "failed" if value is None else f"{value:.3g}" if value < 100 else f"{value:.0f}"


def section(figure: Figure, records: list[Record]) -> str:
    """The table of a figure, with its picture."""
    lines = [
        f"## {figure.title}",
        "",
        f"![{figure.rate}, by {figure.axis}]({figure.name}.svg)",
        "",
        f"| {figure.axis} | written, native | isotach | of native | read, native | isotach | of native |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for point in figure.points:
        row = [point.label]
        for phase in ("write", "read"):
            native, isotach = (
                rate(records, figure, point.label, connector, phase) for connector in CONNECTORS
            )
            ratio = f"{isotach / native:.2f}" if native and isotach else ""
            row += [cell(native), cell(isotach), ratio]
        lines.append(f"| {' | '.join(row)} |")
    # Each reason once: rounds fail alike.
    failed = {
        f"- {run.label}, {run.connector}: {run.error}": None
        for run in records
        if run.figure == figure.name and run.error
    }
    return "\n".join([*lines, *([""] if failed else []), *failed, ""])


def picture(figure: Figure, records: list[Record]) -> str:
    """A panel for what is written, and one for what is read."""
    labels = [point.label for point in figure.points]
    panels = [
        Panel(
            f"{title}, {figure.rate}",
            labels,
            {
                connector: [rate(records, figure, label, connector, phase) for label in labels]
                for connector in CONNECTORS
            },
        )
        for phase, title in (("write", "written"), ("read", "read"))
    ]
    return draw(figure.title, figure.axis, panels)


def printed(command: list[str]) -> str:
    """The first line that a command prints."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    return (done.stdout.splitlines() or ["unknown"])[0]


def machine(folder: Path | None) -> dict[str, str]:
    """What the figures depend on."""
    model = next(
        (
            line.split(":")[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if "model name" in line
        ),
        platform.machine(),
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 30
    place = str(folder or tempfile.gettempdir())
    return {
        "date": time.strftime("%Y-%m-%d"),
        "processors": f"{os.cpu_count()}, {model}",
        "memory": f"{memory} GiB",
        "system": f"{platform.system()} {platform.release()}",
        "MPI": printed(["mpirun", "--version"]),
        "HDF5 and netCDF-C": ", ".join(versions()),
        "file system": printed(["stat", "-f", "-c", "%T", place]),
        "source": printed(["git", "describe", "--always", "--dirty"]),
        "load before": f"{os.getloadavg()[0]:.1f}",
    }


def versions() -> list[str]:
    """Those of the crates that scripts/hdf5-parallel builds."""
    found = []
    for name in ("hdf5", "netcdf"):
        manifest = (ROOT / "tests" / "hdf5" / "parallel" / name / "Cargo.toml").read_text()
        found.append(
            next(line for line in manifest.splitlines() if "-src = " in line)
            .replace(" = ", " ")
            .replace('"', "")
        )
    return found


def write(
    out: Path, chosen: list[Figure], records: list[Record], facts: dict[str, str], command: str
) -> None:
    """The report, its pictures and the records."""
    out.mkdir(parents=True, exist_ok=True)
    for figure in chosen:
        (out / f"{figure.name}.svg").write_text(picture(figure, records))
    rows = [f"| {name} | {value} |" for name, value in facts.items()]
    head = [
        "# I/O kernels on native HDF5 and on the connector",
        "",
        f"`{command}`",
        "",
        "| | |",
        "|---|---|",
        *rows,
        "",
        NOTES,
    ]
    what = "Rates are in MiB per second, of metadata in objects per second: medians of all rounds. `records.json` has every run."
    body = [section(figure, records) for figure in chosen]
    (out / "report.md").write_text("\n".join([*head, what, "", *body]))
    whole = {"command": command, "machine": facts, "runs": [vars(record) for record in records]}
    (out / "records.json").write_text(json.dumps(whole, indent=1) + "\n")


def build_kernels(folder: Path) -> Path:
    """Builds the kernels: where they are."""
    programs = folder / "programs"
    programs.mkdir()
    subprocess.run(["make", "--silent", "-C", HERE, f"OUT={programs}"], check=True)
    return programs


def build_connector(folder: Path) -> Path:
    """Builds the connector: a folder with nothing else, since HDF5 opens every library of it."""
    plugins = folder / "plugins"
    plugins.mkdir()
    subprocess.run(
        ["cargo", "build", "--quiet", "--release", "--locked", "-p", "isotach-hdf5-vol"], check=True, cwd=ROOT
    )
    shutil.copy(TARGET / "release" / "libisotach_vol.so", plugins)
    return plugins


def main() -> int:
    """Builds, measures, writes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--out", type=Path, default=TARGET / "kernels", help="the folder of the report; default: %(default)s"
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, in less than two minutes")
    parser.add_argument("--rounds", type=int, help="default: 3, and 1 with --quick")
    parser.add_argument(
        "--folder", type=Path, help="where the kernels write; default: a folder for temporary files"
    )
    parser.add_argument("--options", default="?sync=no", help="of the connector; default: %(default)s")
    parser.add_argument(
        "--plugins", type=Path, help="a folder with nothing but the connector; default: it is built"
    )
    parser.add_argument("--only", nargs="*", metavar="FIGURE", help="figures by name; default: all")
    arguments = parser.parse_args()
    chosen = [
        figure for figure in figures(arguments.quick) if not arguments.only or figure.name in arguments.only
    ]
    if shutil.which("mpicc") is None or not chosen:
        parser.error("run it by `make kernels`, and name figures that exist")
    facts = machine(arguments.folder)
    facts["connector"] = f"isotach {arguments.options}"
    with tempfile.TemporaryDirectory(prefix="kernels-") as folder:
        place = Path(folder)
        plugins = arguments.plugins or build_connector(place)
        bench = Bench(build_kernels(place), plugins, arguments.folder, arguments.options)
        records = measure(bench, chosen, arguments.rounds or (1 if arguments.quick else 3))
    command = " ".join(["make kernels", f"KERNELS='{' '.join(sys.argv[1:])}'"])
    write(arguments.out, chosen, records, facts, command)
    failed = sum(record.error is not None for record in records)
    print(f"{arguments.out / 'report.md'}: {len(records)} runs, of which {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
