"""A store on a throw-away cluster, or on whatever else a configuration names, driven through the built program.

What must stay true: every command has a time-out that is longer than the store's own, and no variable of an outer store
or cluster reaches it.
"""

from __future__ import annotations

import copy
import json
import os
import subprocess
from pathlib import Path
from typing import IO, Any

from clusters import Cluster, environment

HERE = Path(__file__).parent
# The machine may be busy with other work.
TIMEOUT_S = 240
SCREEN_LINES = 24
PLACED = "class=rd,expver=x001,stream=oper,date=20240101,time=1200,type=an,levtype=sfc"

Done = subprocess.CompletedProcess[bytes]


def program() -> Path | None:
    """The built program: ISOTACH_BIN, else the newest of the release and the debug build."""
    if named := os.environ.get("ISOTACH_BIN"):
        return Path(named)
    target = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parents[1] / "target"))
    built = [path for build in ("release", "debug") if (path := target / build / "isotach").is_file()]
    return max(built, key=lambda path: path.stat().st_mtime, default=None)


def key_of(step: int, param: int = 167) -> str:
    """The whole key of a field that needs no message."""
    return f"{PLACED},step={step},param={param}"


def shown(done: Done) -> str:
    """A command and what came of it, for a failure's text."""
    errors = done.stderr.decode(errors="replace")
    return f"{' '.join(map(str, done.args))}\nexit code {done.returncode}\n{errors}"


def clean_environment() -> dict[str, str]:
    """Ours, without what names a store."""
    return {name: value for name, value in environment().items() if not name.startswith("ISOTACH_")}


class Store:
    """A store, which has to be made by `init`."""

    def __init__(self, binary: Path, *place: str | Path) -> None:
        """The place is what the program is told of it, as --store URI."""
        self.binary, self.place = binary, list(place)

    def command(self, *words: str | Path) -> list[str | Path]:
        """The program with its place; `bench` has places of its own."""
        return [self.binary, *([] if words[0] == "bench" else self.place), *words]

    def run(self, *words: str | Path, data: bytes = b"", seconds: float = TIMEOUT_S, **more: str) -> Done:
        """Runs the program to its end."""
        return subprocess.run(
            self.command(*words),
            input=data,
            capture_output=True,
            timeout=seconds,
            env=clean_environment() | more,
        )

    def start(self, complaints: IO[bytes], *words: str | Path) -> subprocess.Popen[bytes]:
        """Starts the program. What it complains of goes into a file, which never fills as a pipe does."""
        pipe = subprocess.PIPE
        return subprocess.Popen(
            self.command(*words), stdin=pipe, stdout=pipe, stderr=complaints, env=clean_environment()
        )

    def ok(self, *words: str | Path, data: bytes = b"") -> bytes:
        """What a command prints that must succeed."""
        done = self.run(*words, data=data)
        assert done.returncode == 0, shown(done)
        return done.stdout

    def refused(self, *words: str | Path, data: bytes = b"", **more: str) -> str:
        """What a command complains of that must fail with exit code 1. It fits on a screen, and our own line is the last."""
        done = self.run(*words, data=data, **more)
        assert done.returncode == 1, shown(done)
        lines = done.stderr.decode().splitlines()
        assert lines[-1].startswith("isotach: ") and len(lines) < SCREEN_LINES, shown(done)
        return lines[-1]

    def said(self, *words: str | Path) -> list[Any]:
        """The lines of JSON that a command prints."""
        return [json.loads(line) for line in self.ok(*words, "--json").splitlines()]

    def archive(self, step: int, data: bytes) -> None:
        """Archives a field, which is flushed when this returns."""
        self.ok("write", "--key", key_of(step), "-", data=data)

    def read(self, step: int) -> bytes:
        """A field that must be there."""
        return self.ok("read", "--strict", key_of(step), "-o", "-")


class RadosStore(Store):
    """A pool of ours on a cluster."""

    def __init__(self, binary: Path, cluster: Cluster, name: str, **options: object) -> None:
        """The options are those of the URI; without others the user is `isotach`, who may do the least."""
        folder = cluster.environment["ISOTACH_CEPH_DEV"]
        self.cluster, self.name = cluster, name
        self.options = {"conf": f"{folder}/ceph.conf", "user": "isotach"} | options
        super().__init__(binary, "--store", self.uri)

    @property
    def uri(self) -> str:
        """As the program is given it."""
        options = "&".join(f"{name}={value}" for name, value in self.options.items() if value != "")
        return f"rados://isotach/{self.name}?{options}"

    def but(self, **options: object) -> RadosStore:
        """The same pool with other options."""
        other = copy.copy(self)
        other.options = self.options | options
        other.place = ["--store", other.uri]
        return other
