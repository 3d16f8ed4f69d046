"""Both stores over every GRIB sample: what each accepts of a file, and under which keys.

The samples are files of other projects' packages, which fetch_samples.py brings, and those that come with Debian's
ecCodes. Each is archived in a store of its own, so that no file replaces another's fields.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from fetch_samples import PLACE, SCHEMA
from stores import HERE, TIMEOUT_S, Key, beside_fdb, died, key_of, same_eccodes

ECCODES = [Path("/usr/share/eccodes/samples"), Path("/usr/share/eccodes/ifs_samples")]
STANDARD = HERE.parents[1] / "crates/mars/src/schema/standard.schema"


@dataclass(frozen=True)
class Sample:
    """A file, and the name by which the exceptions know it: its package and its path there."""

    name: str
    path: Path


@dataclass
class Swept:
    """What a store made of one file."""

    accepted: int
    refused: int
    keys: frozenset[Key]
    why: str = ""

    def __str__(self) -> str:
        return f"{self.accepted} accepted, {self.refused} refused, {len(self.keys)} keys {self.why[:300]}"


def samples() -> list[Sample]:
    """Every sample there is, those with the same bytes once."""
    found: dict[str, Sample] = {}
    for root in [PLACE, *ECCODES]:
        for path in sorted(root.rglob("*")):
            if path.is_file() and b"GRIB" in (data := path.read_bytes())[:64]:
                name = str(path.relative_to(root if root == PLACE else root.parent))
                found.setdefault(hashlib.sha256(data).hexdigest(), Sample(name, path))
    return list(found.values())


def messages_of(data: bytes) -> list[bytes]:
    """Whole messages that stand one behind the other, by the lengths that they give."""
    found = []
    while data:
        assert data[:4] == b"GRIB", data[:16]
        length = int.from_bytes(data[4:7] if data[7] == 1 else data[8:16])
        found.append(data[:length])
        data = data[length:]
    return found


def default_schema() -> Path | None:
    """The schema that earthkit-data's tutorials call FDB's default."""
    return next(PLACE.rglob(SCHEMA), None)


class FdbSweep:
    """FDB, in processes that each take the files in turn until one dies."""

    def __init__(self, scratch: Path, schema: Path) -> None:
        self.scratch, self.schema, self.home = scratch, schema, scratch / "home"
        self.home.mkdir(parents=True)

    def run(self, files: list[Sample]) -> dict[str, Swept]:
        """What FDB makes of each file."""
        answers: list[dict] = []
        while len(answers) < len(files):
            process, more = self._process([file.path for file in files[len(answers) :]])
            answers += more
            if len(answers) < len(files):
                answers.append({"errors": [died(process)], "keys": []})
        return {file.name: self._swept(answer) for file, answer in zip(files, answers)}

    def _process(self, paths: list[Path]) -> tuple[subprocess.CompletedProcess[str], list[dict]]:
        with tempfile.TemporaryDirectory(dir=self.scratch) as scratch:
            job = {"schema": str(self.schema), "scratch": scratch, "files": [str(path) for path in paths]}
            return beside_fdb("sweep_side.py", job, self.home)

    @staticmethod
    def _swept(answer: dict) -> Swept:
        errors = [error for error in answer["errors"] if error is not None]
        keys = frozenset(key_of(key) for key in answer["keys"])
        accepted = len(answer["errors"]) - len(errors)
        return Swept(accepted, len(errors), keys, (errors or [""])[0])


class IsotachSweep:
    """The program, on a copy of an empty store for each file."""

    def __init__(self, scratch: Path, binary: Path, schema: Path | None) -> None:
        self.scratch, self.binary = scratch, binary
        keep = {name: value for name, value in os.environ.items() if not name.startswith("ISOTACH_")}
        self.environment = keep | same_eccodes()
        made = self._run(scratch / "empty", "init", *(["--schema", str(schema)] if schema else []))
        assert made.returncode == 0, made.stderr

    def run(self, files: list[Sample]) -> dict[str, Swept]:
        """What Isotach makes of each file."""
        with ThreadPoolExecutor(max_workers=os.cpu_count()) as workers:
            return {file.name: found for file, found in zip(files, workers.map(self._sweep, files))}

    def _sweep(self, file: Sample) -> Swept:
        with tempfile.TemporaryDirectory(dir=self.scratch) as folder:
            store = Path(folder) / "store"
            shutil.copytree(self.scratch / "empty", store)
            written = self._run(store, "write", "--skip-bad", "--json", str(file.path))
            assert "panicked" not in written.stderr, f"{file.name}: {written.stderr}"
            counts = json.loads(written.stdout) if written.stdout else {"fields": 0, "skipped": 1}
            listed = self._run(store, "list", "--json")
            assert listed.returncode == 0, f"{file.name}: {listed.stderr}"
            keys = frozenset(key_of(json.loads(line)["key"]) for line in listed.stdout.splitlines())
            self._check_bytes(store, file, keys)
        return Swept(counts["fields"], counts["skipped"], keys, written.stderr)

    def _check_bytes(self, store: Path, file: Sample, keys: frozenset[Key]) -> None:
        """Every field comes back as a message of the file."""
        requests, output = store.parent / "requests", store.parent / "read.grib"
        lines = (",".join(f'{name}="{value}"' for name, value in sorted(key)) for key in keys)
        requests.write_text("".join(f"retrieve,{line}\n" for line in lines))
        output.touch()
        if keys:
            done = self._run(store, "read", "--file", str(requests), "-o", str(output))
            assert done.returncode == 0, f"{file.name}: {done.stderr}"
        there, read = file.path.read_bytes(), messages_of(output.read_bytes())
        # A request without an optional key also finds the field that has the key's default.
        assert len(read) >= len(keys), f"{file.name}: {len(read)} messages are read of {len(keys)} fields"
        assert all(message in there for message in read), (
            f"{file.name}: a message comes back with other bytes"
        )

    def ask(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs the program on the store that is copied for each file; nothing is to be archived there."""
        return self._run(self.scratch / "empty", *arguments)

    def _run(self, store: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.binary), "--store", f"posix:{store}", *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_S,
            stdin=subprocess.DEVNULL,
        )
