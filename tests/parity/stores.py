"""The two stores behind one pair of calls: archive files, ask queries.

`FdbStore` speaks to `fdb_side.py` in a process of its own; `IsotachStore` runs the built program. Both give
answers of the same shape, which is all that the tests see.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

HERE = Path(__file__).parent
SCHEMA = HERE / "schema"
TIMEOUT_S = 600

Key = frozenset[tuple[str, str]]
Query = tuple[str, str]


@dataclass
class Answer:
    """What a store said to one query: keys for a list, bytes for a read, or the text of an error."""

    keys: list[Key] = field(default_factory=list)
    data: bytes = b""
    error: str | None = None
    status: int = 0
    log: str = ""


@dataclass
class Source:
    """A file to archive: `overlay` is laid over the keys of its messages, `identifier` replaces them."""

    path: Path
    overlay: dict[str, str] = field(default_factory=dict)
    identifier: dict[str, str] | None = None


def key_of(named: dict[str, str]) -> Key:
    """A field's key; an optional key that is absent and one that is empty are the same."""
    return frozenset((name, str(value)) for name, value in named.items() if value not in ("", None))


def messages(data: bytes) -> list[bytes]:
    """Splits concatenated GRIB messages by the lengths in their first sections."""
    found = []
    while data:
        assert data[:4] == b"GRIB", f"not a GRIB message: {data[:16]!r}"
        length = int.from_bytes(data[4:7] if data[7] == 1 else data[8:16])
        found.append(data[:length])
        data = data[length:]
    return found


def beside_fdb(script: str, job: dict, home: Path) -> tuple[subprocess.CompletedProcess[str], list[dict]]:
    """Runs a script with FDB in a process of its own, and gives the process and the lines it answered."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("FDB")}
    process = subprocess.run(
        [sys.executable, HERE / script],
        input=json.dumps(job),
        env=environment | {"FDB_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_S,
    )
    return process, [json.loads(line) for line in process.stdout.splitlines()]


class FdbStore:
    """A local FDB below `directory`, with an FDB_HOME of its own so that no installed FDB is consulted."""

    def __init__(self, directory: Path, schema: Path = SCHEMA) -> None:
        self.root, self.home, self.schema = directory / "fdb", directory / "fdb-home", schema
        self.root.mkdir(parents=True)
        self.home.mkdir()

    def archive(self, sources: Iterable[Source]) -> list[str | None]:
        """Archives each file and flushes; gives an error text, or none, for each."""
        files = [{"path": str(s.path), "overlay": s.overlay} | self._identifier(s) for s in sources]
        process, answers = self._run({"archive": files, "queries": []})
        errors = [answer["error"] for answer in answers]
        return errors + [died(process)] * (len(files) - len(errors))

    def ask(self, queries: list[Query]) -> list[Answer]:
        """Answers every query; one that kills the process is reported, and the rest are asked again."""
        found: list[Answer] = []
        while len(found) < len(queries):
            rest = [{"op": op, "request": request} for op, request in queries[len(found) :]]
            process, answers = self._run({"archive": [], "queries": rest})
            found += [self._answer(answer) for answer in answers]
            if len(answers) < len(rest):
                found.append(Answer(error=died(process), log=process.stderr))
        return found

    def _run(self, job: dict) -> tuple[subprocess.CompletedProcess[str], list[dict]]:
        return beside_fdb(
            "fdb_side.py", {"root": str(self.root), "schema": str(self.schema)} | job, self.home
        )

    @staticmethod
    def _identifier(source: Source) -> dict:
        return {} if source.identifier is None else {"identifier": source.identifier}

    @staticmethod
    def _answer(said: dict) -> Answer:
        keys = [key_of(key) for key in said.get("keys", [])]
        return Answer(keys=keys, data=base64.b64decode(said.get("data", "")), error=said["error"])


def died(process: subprocess.CompletedProcess[str]) -> str:
    """Says how a process ended that should have answered."""
    return f"FDB's process ended with status {process.returncode}: {process.stderr[-500:]}"


def program() -> Path | None:
    """The built program: ISOTACH_BIN, else the newest of the release and the debug build."""
    if named := os.environ.get("ISOTACH_BIN"):
        return Path(named)
    target = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parents[1] / "target"))
    built = [path for build in ("release", "debug") if (path := target / build / "isotach").is_file()]
    return max(built, key=lambda path: path.stat().st_mtime, default=None)


class IsotachStore:
    """A posix store below `directory`, driven through the command line."""

    def __init__(self, directory: Path, binary: Path, today: date, schema: Path | None = SCHEMA) -> None:
        self.uri, self.binary, self.output = f"posix:{directory / 'isotach'}", binary, directory / "read.grib"
        directory.mkdir(parents=True, exist_ok=True)
        keep = {name: value for name, value in os.environ.items() if not name.startswith("ISOTACH_")}
        self.environment = keep | {"ISOTACH_TODAY": today.isoformat()} | same_eccodes()
        made = self.run("init", *(["--schema", str(schema)] if schema else []))
        assert made.returncode == 0, f"init: {made.stderr}"

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs the program on this store."""
        command = [str(self.binary), "--store", self.uri, *arguments]
        return subprocess.run(
            command,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_S,
            stdin=subprocess.DEVNULL,
        )

    def write(self, source: Source) -> subprocess.CompletedProcess[str]:
        """Archives one file; an identifier is given whole, as an overlay that names every key."""
        given = ",".join(f"{name}={value}" for name, value in (source.identifier or source.overlay).items())
        return self.run("write", *(["--key", given] if given else []), str(source.path))

    def archive(self, sources: Iterable[Source]) -> list[str | None]:
        """Archives each file in turn; gives an error text, or none, for each."""
        return [done.stderr if done.returncode else None for done in map(self.write, sources)]

    def ask(self, queries: list[Query]) -> list[Answer]:
        """Answers every query."""
        return [self.list(request) if op == "list" else self.retrieve(request) for op, request in queries]

    def list(self, request: str) -> Answer:
        """The keys of the fields that the request matches."""
        done = self.run("list", request, "--json")
        if done.returncode:
            return Answer(
                error=done.stderr or f"status {done.returncode}", status=done.returncode, log=done.stderr
            )
        keys = [key_of(json.loads(line)["key"]) for line in done.stdout.splitlines()]
        return Answer(keys=keys, log=done.stderr)

    def retrieve(self, request: str, *options: str) -> Answer:
        """The bytes that the request retrieves."""
        self.output.unlink(missing_ok=True)
        done = self.run("read", request, "-o", str(self.output), *options)
        data = self.output.read_bytes() if self.output.exists() else b""
        error = (done.stderr or f"status {done.returncode}") if done.returncode else None
        return Answer(data=data, error=error, status=done.returncode, log=done.stderr + done.stdout)


def same_eccodes() -> dict[str, str]:
    """The setting that lets the program load the ecCodes which FDB uses, so that both see the same keys."""
    # Only here: without the packages this module is still read, and the tests that need them are skipped by name.
    import findlibs

    found = findlibs.find("eccodes")
    return {"ISOTACH_ECCODES": found} if found else {}
