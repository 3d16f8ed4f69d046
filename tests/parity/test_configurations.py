"""FDB's configuration files: what FDB's own programs do under one, and what Isotach does under the same.

The file is the same but for the folder of the root. Where Isotach refuses what FDB does, a prohibition of the file is at
stake, and the table says so.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

SCHEMA = "[ class, expver, stream, date: Date, time: Time [ type, levtype [ step: Step, param: Param, levelist? ]]]\n"
DATASET = "class=rd,expver=test,stream=oper,date=20240101,time=0000"
FIELD = f"{DATASET},type=fc,levtype=sfc,step=0,param=167"
TIMEOUT_S = 120


@dataclass(frozen=True)
class Did:
    """Whether each of the four actions took place."""

    archive: bool = True
    list: bool = True
    retrieve: bool = True
    wipe: bool = True


# The switch of the root, what FDB 5.25 does, and what Isotach does where that is something else.
SWITCHES = {
    "name: plain": (Did(), None),
    "archive: false": (Did(archive=False), None),
    "writable: false": (Did(archive=False), Did(archive=False, wipe=False)),
    "wipe: false": (Did(), Did(wipe=False)),
    "retrieve: false": (Did(retrieve=False), None),
    "list: false": (Did(list=False, wipe=False), Did(list=False)),
    "visit: false": (Did(list=False, wipe=False), Did(list=False, retrieve=False)),
}


def configuration(folder: Path, side: str, switch: str) -> Path:
    """A configuration of one root with this switch."""
    (folder / "schema").write_text(SCHEMA)
    root = folder / side
    root.mkdir(exist_ok=True)
    path = folder / f"{side}.yaml"
    path.write_text(
        f"type: local\nengine: toc\nschema: {folder / 'schema'}\nspaces:\n"
        f"- handler: Default\n  roots:\n  - path: {root}\n    {switch}\n"
    )
    return path


def run(*command: str, folder: Path) -> subprocess.CompletedProcess[bytes]:
    """Runs a program with nothing of FDB's or Isotach's in its environment."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("FDB", "ISOTACH_"))}
    return subprocess.run(
        command,
        cwd=folder,
        env=kept | {"FDB_HOME": str(folder)},
        capture_output=True,
        check=False,
        timeout=TIMEOUT_S,
        stdin=subprocess.DEVNULL,
    )


class Isotach:
    """Isotach under a configuration."""

    def __init__(self, folder: Path, binary: Path, switch: str) -> None:
        self.folder, self.binary = folder, str(binary)
        self.path = configuration(folder, "isotach", "name: plain")
        (folder / "field").write_bytes(b"field")
        self.do("init")
        self.do("write", "--key", FIELD, "field")
        self.path = configuration(folder, "isotach", switch)

    def do(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        """Runs a command."""
        return run(self.binary, "--config", str(self.path), *arguments, folder=self.folder)

    def does(self) -> Did:
        """Tries each action in turn."""
        return Did(
            archive=self.do("write", "--key", FIELD, "field").returncode == 0,
            list=bool(self.do("list", DATASET).stdout),
            retrieve=self.do("read", FIELD, "-o", "-").stdout == b"field",
            wipe=self.do("wipe", DATASET, "--doit").returncode == 0,
        )


FDB_WORKER = """
import sys, pyfdb
path, action, field, dataset = sys.argv[1:]
fdb = pyfdb.FDB(open(path).read())
key = dict(pair.split("=") for pair in field.split(","))
if action == "archive":
    fdb.archive(b"field", key)
    fdb.flush()
elif action == "list":
    sys.exit(not list(fdb.list(dict(pair.split("=") for pair in dataset.split(",")))))
elif action == "retrieve":
    with fdb.retrieve(key) as handle:
        sys.exit(handle.readall() != b"field")
else:
    list(fdb.wipe(dict(pair.split("=") for pair in dataset.split(",")), doit=True))
"""


class Fdb:
    """FDB under a configuration."""

    def __init__(self, folder: Path, switch: str) -> None:
        self.folder = folder
        self.path = configuration(folder, "fdb", "name: plain")
        assert self.do("archive")
        self.path = configuration(folder, "fdb", switch)

    def do(self, action: str) -> bool:
        """Runs an action in a process of its own, and says whether it took place."""
        arguments = [str(self.path), action, FIELD, DATASET]
        return run(sys.executable, "-c", FDB_WORKER, *arguments, folder=self.folder).returncode == 0

    def is_there(self) -> bool:
        """Whether the dataset's folder is there."""
        return any((self.folder / "fdb").iterdir())

    def does(self) -> Did:
        """Tries each action in turn."""
        archive, list_, retrieve = self.do("archive"), self.do("list"), self.do("retrieve")
        self.do("wipe")
        return Did(archive=archive, list=list_, retrieve=retrieve, wipe=not self.is_there())


@pytest.mark.parametrize("switch", SWITCHES)
def test_isotach_keeps_to_a_switch_of_a_root(binary: Path, tmp_path: Path, switch: str) -> None:
    fdbs, own = SWITCHES[switch]
    assert Isotach(tmp_path, binary, switch).does() == (own or fdbs)


@pytest.mark.parametrize("switch", SWITCHES)
def test_fdb_does_under_a_switch_what_the_table_says(peer: None, tmp_path: Path, switch: str) -> None:
    assert Fdb(tmp_path, switch).does() == SWITCHES[switch][0]
