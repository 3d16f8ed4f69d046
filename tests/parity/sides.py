"""The two sides of a scenario: FDB's own programs and the isotach program, behind the same operations.

Each operation runs a program, or a few, and says what came of it. Both sides read the same configuration file, with
folders of their own in it. `main` is where a scenario works; `other` is a second store, to copy and move to.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from scenario import DONE, REFUSED, Outcome
from stores import SCHEMA, TIMEOUT_S, key_of, messages, same_eccodes

CONFIG = """type: local
engine: toc
schema: {schema}
spaces:
- handler: Default
  roots:
  - path: {root}
"""
BOTH = CONFIG + "  - path: {other}\n"
LOCKS = ("retrieve", "archive", "list", "wipe")
LEVEL = re.compile(r"\{([^{}]*)\}")

# One text, which is that of `main`, or several by name.
Config = dict[str, str] | str | None

Done = subprocess.CompletedProcess[str]


def keys_of(text: str) -> dict[str, str]:
    """The pairs of one level, as programs print them."""
    return dict(pair.split("=", 1) for pair in text.split(",") if pair)


def lines_of(text: str) -> Counter:
    """What a listing shows: each field's key, with its length if it is told."""
    found: Counter = Counter()
    for line in text.splitlines():
        if line.startswith("{"):
            key = key_of(keys_of(",".join(LEVEL.findall(line))))
            length = re.search(r"length=(\d+)", line)
            found[key, length and int(length[1])] += 1
    return found


def outcome(done: Done, given: int | str = DONE, detail: Any = None) -> Outcome:
    """What a program gave, or that it refused."""
    printed = f"$ {' '.join(map(str, done.args))}\n{done.stdout}{done.stderr}status {done.returncode}"
    if done.returncode:
        return Outcome(REFUSED, printed=printed)
    return Outcome(given, detail, printed)


class Side:
    """A folder of its own, with the inputs in reach and the configuration written into it."""

    def __init__(self, directory: Path, inputs: Path, config: Config, schema: str | None) -> None:
        self.directory, self.inputs = directory, inputs
        self.reading = "main"
        directory.mkdir(parents=True)
        self.schema = directory / "schema"
        self.schema.write_text(schema or SCHEMA.read_text())
        for name in ("main", "other"):
            (directory / name).mkdir()
        self._config("other", CONFIG, self.directory / "other")
        self._config("both", BOTH, self.directory / "main")
        given = config if isinstance(config, dict) else {"main": config or CONFIG}
        for name, text in ({"main": CONFIG} | given).items():
            self._config(name, text, self.directory / "main")

    def _config(self, name: str, text: str, root: Path) -> None:
        filled = text.format(schema=self.schema, root=root, other=self.directory / "other")
        (self.directory / f"{name}.yaml").write_text(filled)

    def config(self, at: str | None) -> Path:
        """The configuration file of this name; the one that the step reads without one."""
        return self.directory / f"{at or self.reading}.yaml"

    def files(self, names: Iterable[str]) -> list[str]:
        """The paths of inputs."""
        return [str(self.inputs / name) for name in names]

    def request_file(self, request: str) -> Path:
        """A file of MARS requests: several are parted by a semicolon."""
        path = self.directory / "request"
        path.write_text("".join(f"retrieve,{each.strip()}\n" for each in request.split(";")))
        return path

    def target(self) -> Path:
        """Where a read is to go; nothing is there."""
        path = self.directory / "read.grib"
        path.unlink(missing_ok=True)
        return path

    @staticmethod
    def given(target: Path, done: Done) -> Outcome:
        """The messages that a read left. Where nothing was found there may be no file."""
        found = messages(target.read_bytes()) if target.exists() else []
        return outcome(done, len(found), Counter(found))

    def _run(self, command: list[str], environment: dict[str, str]) -> Done:
        return subprocess.run(
            command,
            env=environment,
            cwd=self.directory,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=TIMEOUT_S,
        )


class FdbSide(Side):
    """FDB's own programs, with an FDB_HOME of their own so that no installed FDB is consulted."""

    def __init__(
        self, programs: Path, directory: Path, inputs: Path, config: Config, schema: str | None
    ) -> None:
        super().__init__(directory, inputs, config, schema)
        self.programs, home = programs, directory / "home"
        # The handler expver notes here which root it has chosen, in a file that must exist.
        (home / "etc/fdb").mkdir(parents=True)
        (home / "etc/fdb/expver_to_fdb_root.map").touch()
        # FDB wants its roots to be there; a configuration may name several below its folder.
        for name in ("main", "other"):
            for root in re.findall(r"path: (\S+)", self.config(name).read_text()):
                Path(root).mkdir(parents=True, exist_ok=True)
        keep = {name: value for name, value in os.environ.items() if not name.startswith("FDB")}
        self.environment = keep | {"FDB_HOME": str(home)}

    def run(self, program: str, *arguments: str | Path, at: str | None = None) -> Done:
        """Runs one of the programs."""
        command = [str(self.programs / program), *map(str, arguments)]
        return self._run(command, self.environment | {"FDB_CONFIG_FILE": str(self.config(at))})

    @staticmethod
    def visiting(request: str, least: str | None = None) -> list[str]:
        """How a program that visits is told what: all, or a request of which only the class must be given."""
        if least is not None:
            return [f"--minimum-keys={least}", request]
        return ["--minimum-keys=class", request] if request else ["--minimum-keys=", "--all"]

    def write(self, *names: str, modify: str = "", include: str = "", exclude: str = "") -> Outcome:
        """Archives files."""
        given = {"modifiers": modify, "include-filter": include, "exclude-filter": exclude}
        options = [f"--{name}={value}" for name, value in given.items() if value]
        return outcome(self.run("fdb-write", *options, *self.files(names)))

    def list(
        self,
        request: str,
        full: bool = False,
        length: bool = False,
        least: str | None = None,
        levels: int = 3,
    ) -> Outcome:
        """Lists fields."""
        options = ["--porcelain", *["--full"] * full, *["--length"] * length]
        options += [f"--depth={levels}"] * (levels < 3)
        done = self.run("fdb-list", *options, *self.visiting(request, least))
        found = lines_of(done.stdout)
        return outcome(done, found.total(), found)

    def read(self, request: str, raw: bool = False) -> Outcome:
        """Reads fields."""
        target = self.target()
        options = ["--raw"] * raw
        return self.given(target, self.run("fdb-read", *options, self.request_file(request), target))

    def extract(self, name: str) -> Outcome:
        """Reads the fields that have the keys of a file's messages."""
        target = self.target()
        return self.given(target, self.run("fdb-read", "--extract", *self.files([name]), target))

    def inspect(self, request: str) -> Outcome:
        """Where the fields of an exact request are."""
        done = self.run("fdb-inspect", "--output", request)
        found = Counter(key for key, _ in lines_of(done.stdout).elements())
        return outcome(done, found.total(), found)

    def axes(self, request: str, keys: str) -> Outcome:
        """The values of these keys."""
        done = self.run("fdb-axes", "--json", *self.visiting(request))
        return outcome(
            done, axes_text(json.loads(done.stdout or "{}"), keys) if not done.returncode else DONE
        )

    def stats(self, request: str, ignore: bool = False) -> Outcome:
        """How many fields there are and how many were replaced, with their bytes."""
        done = self.run("fdb-stats", "--json", *["--ignore-no-data"] * ignore, *self.visiting(request))
        if done.returncode:
            return outcome(done)
        said = json.loads(done.stdout)
        there, replaced, *sizes = (
            said.get(name, 0) for name in ("reachable", "duplicates", "reachableSize", "duplicatesSize")
        )
        return outcome(done, f"{there} and {replaced} replaced", tuple(sizes))

    def status(self, request: str) -> Outcome:
        """How many datasets there are, and what they are locked against."""
        done = self.run("fdb-status", *self.visiting(request))
        parts = done.stdout.split("Database: ")[1:]
        locked = {
            key_of(keys_of(LEVEL.findall(part)[0])): {name for name in LOCKS if f"{name}: LOCKED" in part}
            for part in parts
        }
        return outcome(done, len(locked), locked)

    def lock(self, request: str, actions: str = "") -> Outcome:
        """Locks datasets against actions."""
        return outcome(self.run("fdb-lock", *[f"--{each}" for each in actions.split()], request))

    def unlock(self, request: str, actions: str = "") -> Outcome:
        """Unlocks them."""
        return outcome(self.run("fdb-unlock", *[f"--{each}" for each in actions.split()], request))

    def dump(self, request: str) -> Outcome:
        """How many datasets there are, and their collocations."""
        done = self.run("fdb-dump", "--simple", request)
        datasets = re.findall(r" key: \{([^}]*)\}", done.stdout)
        collocations = {key_of(keys_of(text)) for text in re.findall(r" Key: \{([^}]*)\}", done.stdout)}
        return outcome(done, len(datasets), collocations)

    def where(self, request: str) -> Outcome:
        """How many datasets a request means."""
        done = self.run("fdb-where", "--porcelain", *self.visiting(request))
        return outcome(done, len(done.stdout.splitlines()))

    def wipe(
        self, request: str, doit: bool = True, least: str | None = None, ignore: bool = False
    ) -> Outcome:
        """Removes datasets, or whole collocations of them."""
        options = ["--doit"] * doit + ["--ignore-no-data"] * ignore
        options += [f"--minimum-keys={least}"] * (least is not None)
        return outcome(self.run("fdb-wipe", *options, request))

    def purge(self, request: str, doit: bool = True) -> Outcome:
        """Gives back the room of replaced fields."""
        return outcome(self.run("fdb-purge", *["--doit"] * doit, *self.visiting(request)))

    def copy(self, request: str, listed: bool = True, modify: str = "") -> Outcome:
        """Copies fields to the other store."""
        places = [f"--source={self.config('main')}", f"--target={self.config('other')}"]
        what = ["--from-list", *self.visiting(request)] if listed else [self.request_file(request)]
        return outcome(self.run("fdb-copy", *places, *[f"--modifiers={modify}"] * bool(modify), *what))

    def move(self, request: str) -> Outcome:
        """Moves datasets to the other store."""
        done = self.run("fdb-move", f"--dest={self.directory / 'other'}", *self.visiting(request), at="both")
        return outcome(done)

    def patch(self, request: str, modify: str) -> Outcome:
        """Archives fields again under another class or experiment, in the same store."""
        return outcome(self.run("fdb-patch", *[f"--{each}" for each in modify.split(",")], request))

    def hide(self, request: str, doit: bool = True) -> Outcome:
        """Hides all that is in a dataset, and keeps it."""
        return outcome(self.run("fdb-hide", *["--doit"] * doit, request))

    def overlay(self, *datasets: str, keys: str = "", remove: bool = False, force: bool = False) -> Outcome:
        """Shows a dataset under another key."""
        options = [f"--variable-keys={keys}"] * bool(keys) + ["--remove"] * remove + ["--force"] * force
        done = self.run("fdb-overlay", *options, *datasets)
        # The program ends with 0 when its arguments are not two; nothing was done then.
        return outcome(done) if "Usage:" not in done.stdout else Outcome(REFUSED, printed=done.stdout)

    def schema_rules(self) -> Outcome:
        """How many rules for datasets the schema has."""
        done = self.run("fdb-schema")
        return outcome(done, sum(line.startswith("[") for line in done.stdout.splitlines()))

    def info(self) -> Outcome:
        """Whether the program says which configuration it reads."""
        done = self.run("fdb-info", "--all")
        return outcome(done, DONE if "main.yaml" in done.stdout else "another configuration")


class IsotachSide(Side):
    """The isotach program, on a posix store in each of the folders."""

    def __init__(
        self, binary: Path, directory: Path, inputs: Path, config: Config, schema: str | None
    ) -> None:
        super().__init__(directory, inputs, config, schema)
        self.binary = binary
        keep = {name: value for name, value in os.environ.items() if not name.startswith(("ISOTACH_", "FDB"))}
        self.environment = keep | same_eccodes()
        for at in ("main", "other"):
            shutil.rmtree(directory / at)
            made = self.run("init", "--parents", at=at)
            assert made.returncode == 0, made.stderr

    def run(self, *arguments: str | Path, at: str | None = None) -> Done:
        """Runs the program."""
        command = [str(self.binary), "--config", str(self.config(at)), *map(str, arguments)]
        return self._run(command, self.environment)

    def write(self, *names: str, modify: str = "", include: str = "", exclude: str = "") -> Outcome:
        """Archives files."""
        given = {"modify": modify, "include-filter": include, "exclude-filter": exclude}
        options = [f"--{name}={value}" for name, value in given.items() if value]
        return outcome(self.run("write", *options, *self.files(names)))

    def list(
        self,
        request: str,
        full: bool = False,
        length: bool = False,
        least: str | None = None,
        levels: int = 3,
    ) -> Outcome:
        """Lists fields."""
        options = ["--duplicates"] * full + ["--length"] * length + ["--porcelain"]
        options += [f"--minimum-keys={least}"] * (least is not None) + [f"--depth={levels}"] * (levels < 3)
        done = self.run("list", *options, *[request] * bool(request))
        found = lines_of(done.stdout)
        return outcome(done, found.total(), found)

    def read(self, request: str, raw: bool = False) -> Outcome:
        """Reads fields."""
        target = self.target()
        return self.given(target, self.run("read", "-f", self.request_file(request), "-o", target))

    def extract(self, name: str) -> Outcome:
        """Reads the fields that have the keys of a file's messages."""
        target = self.target()
        return self.given(target, self.run("read", "--extract", *self.files([name]), "-o", target))

    def inspect(self, request: str) -> Outcome:
        """Where the fields of an exact request are."""
        done = self.run("inspect", request, "--json")
        found = Counter(key_of(json.loads(line)["key"]) for line in done.stdout.splitlines())
        return outcome(done, found.total(), found)

    def axes(self, request: str, keys: str) -> Outcome:
        """The values of these keys."""
        done = self.run("axes", "--json", *[request] * bool(request))
        return outcome(
            done, axes_text(json.loads(done.stdout or "{}"), keys) if not done.returncode else DONE
        )

    def stats(self, request: str, ignore: bool = False) -> Outcome:
        """How many fields there are and how many were replaced, with their bytes."""
        done = self.run("stats", "--json", *[request] * bool(request))
        sums: Counter = Counter()
        for line in done.stdout.splitlines():
            said = json.loads(line)
            sums.update(
                {name: said[name] for name in ("fields", "bytes", "replaced_fields", "replaced_bytes")}
            )
        given = f"{sums['fields']} and {sums['replaced_fields']} replaced"
        return outcome(done, given, (sums["bytes"], sums["replaced_bytes"]))

    def status(self, request: str) -> Outcome:
        """How many datasets there are, and what they are locked against."""
        done = self.run("status", request, "--json")
        said = [json.loads(line) for line in done.stdout.splitlines()]
        return outcome(done, len(said), {key_of(each["key"]): set(each["locked"]) for each in said})

    def lock(self, request: str, actions: str = "") -> Outcome:
        """Locks datasets against actions."""
        return outcome(self.run("lock", *[f"--{each}" for each in actions.split()], request))

    def unlock(self, request: str, actions: str = "") -> Outcome:
        """Unlocks them."""
        return outcome(self.run("unlock", *[f"--{each}" for each in actions.split()], request))

    def dump(self, request: str) -> Outcome:
        """How many datasets there are, and their collocations."""
        done = self.run("dump", request, "--json")
        said = [json.loads(line) for line in done.stdout.splitlines()]
        collocations = {key_of(each["key"]) for dataset in said for each in dataset["collocations"]}
        return outcome(done, len(said), collocations)

    def where(self, request: str) -> Outcome:
        """How many datasets a request means."""
        done = self.run("where", request, "--json")
        return outcome(done, len(done.stdout.splitlines()))

    def wipe(
        self, request: str, doit: bool = True, least: str | None = None, ignore: bool = False
    ) -> Outcome:
        """Removes datasets, or whole collocations of them."""
        least_keys = [f"--minimum-keys={least}"] * (least is not None)
        return outcome(self.run("wipe", *["--doit"] * doit, *least_keys, request))

    def purge(self, request: str, doit: bool = True) -> Outcome:
        """Gives back the room of replaced fields."""
        return outcome(self.run("purge", *["--doit"] * doit, *[request] * bool(request)))

    def copy(self, request: str, listed: bool = True, modify: str = "") -> Outcome:
        """Copies fields to the other store."""
        what = [request] if listed else ["-f", self.request_file(request)]
        place = f"posix:{self.directory / 'other'}"
        return outcome(self.run("copy", *what, *[f"--modify={modify}"] * bool(modify), "--to", place))

    def move(self, request: str) -> Outcome:
        """Moves datasets to the other store."""
        return outcome(self.run("move", request, "--to", f"posix:{self.directory / 'other'}"))

    def patch(self, request: str, modify: str) -> Outcome:
        """Archives fields again under another class or experiment, in the same store."""
        return outcome(self.run("copy", request, f"--modify={modify}"))

    def hide(self, request: str, doit: bool = True) -> Outcome:
        """Hides all that is in a dataset, and keeps it: a snapshot has it when the dataset is wiped."""
        if doit and (kept := self.run("snapshot", "create", "hidden", request)).returncode:
            return outcome(kept)
        return outcome(self.run("wipe", request, *["--doit"] * doit))

    def overlay(self, *datasets: str, keys: str = "", remove: bool = False, force: bool = False) -> Outcome:
        """Shows a dataset under another key."""
        options = [f"--variable-keys={keys}"] * bool(keys) + ["--remove"] * remove + ["--force"] * force
        return outcome(self.run("overlay", *options, *datasets))

    def schema_rules(self) -> Outcome:
        """How many rules for datasets the schema has."""
        done = self.run("schema", "show", "--json")
        text = json.loads(done.stdout)["text"] if not done.returncode else ""
        return outcome(done, sum(line.startswith("[") for line in text.splitlines()))

    def info(self) -> Outcome:
        """Whether the program says which configuration it reads."""
        done = self.run("info")
        return outcome(done, DONE if "main.yaml" in done.stdout else "another configuration")


def axes_text(values: dict[str, list[str]], keys: str) -> str:
    """The values of some keys, in one text."""
    sorted_values = {name: "/".join(sorted(values.get(name, []))) for name in keys.split()}
    return " ".join(f"{name}={text}" for name, text in sorted_values.items())
