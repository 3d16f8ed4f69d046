"""A throw-away cluster as its users call it: scripts/ceph-dev, and the `rados` command as one of its users.

What must stay true: every command has a time-out, and no variable of an outer cluster reaches it.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Iterable
from pathlib import Path

CEPH_DEV = Path(__file__).parents[2] / "scripts" / "ceph-dev"
TIMEOUT_S = 60
PAUSE_S = 0.05
SET_BY_WITH = ["CEPH_ARGS", "CEPH_CONF", "CEPH_KEYRING", "ISOTACH_RADOS_POOL", "ISOTACH_CEPH_DEV"]

Done = subprocess.CompletedProcess[str]


def environment(**more: str) -> dict[str, str]:
    """Ours, without what belongs to an outer cluster."""
    kept = {name: value for name, value in os.environ.items() if name not in SET_BY_WITH}
    return kept | more


def ceph_dev(*words: str | Path, **more: str) -> Done:
    """Runs scripts/ceph-dev to its end."""
    command = [CEPH_DEV, *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, env=environment(**more))


def until(holds: Callable[[], object], what: str) -> None:
    """Waits until something holds."""
    end = time.monotonic() + TIMEOUT_S
    while not holds():
        assert time.monotonic() < end, f"not within {TIMEOUT_S} s: {what}"
        time.sleep(PAUSE_S)


def exported(lines: str) -> dict[str, str]:
    """The variables that `start` prints, as a shell reads them."""
    words = shlex.split(lines)
    assert words[::2] == ["export"] * (len(words) // 2), lines
    return dict(word.split("=", 1) for word in words[1::2])


def processes_of(folder: str | Path) -> list[int]:
    """Every process whose command line names this folder, but for a shell that was called with it."""
    return [pid for pid, words in command_lines() if any(word.startswith(f"{folder}/") for word in words)]


def command_lines() -> Iterable[tuple[int, list[str]]]:
    """All processes that there are."""
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_text(errors="replace").split("\0")
        except OSError:
            continue
        yield int(entry.parent.name), words


class Cluster:
    """A cluster in a folder; it is started at once."""

    def __init__(self, folder: Path, *options: str) -> None:
        """The options are those of `start`."""
        self.folder, self.options = folder, options
        self.started = self.start()
        assert self.started.returncode == 0, self.started.stderr
        self.environment = exported(self.started.stdout)

    def start(self) -> Done:
        """Starts it, again."""
        return ceph_dev("start", *self.options, "--dir", self.folder)

    def stop(self) -> Done:
        """Ends it."""
        return ceph_dev("stop", "--dir", self.folder)

    def do(self, action: str, *words: str) -> Done:
        """A sub-command that must succeed."""
        done = ceph_dev(action, *words, "--dir", self.folder)
        assert done.returncode == 0, done.stderr
        return done

    def status(self) -> dict[str, list[str]]:
        """What each daemon is."""
        lines = ceph_dev("status", "--dir", self.folder).stdout.splitlines()
        return {name: state for name, *state in map(str.split, lines)}

    def states(self) -> list[str]:
        """What the daemons are, the monitor first."""
        return [state[0] for state in self.status().values()]

    def pids(self) -> list[int]:
        """The daemons that are there."""
        return [int(state[-1]) for state in self.status().values() if state[-1].isdigit()]

    def kill_all(self) -> None:
        """What a crash of the machine's user session does."""
        for pid in self.pids():
            os.kill(pid, signal.SIGKILL)
        until(lambda: not self.pids(), "the daemons are gone")

    def rados(
        self, *words: str | Path, user: str = "isotach", keyring: Path | None = None, seconds: int = 20
    ) -> Done:
        """The `rados` command, which gives up on time."""
        kept = keyring or Path(self.environment["ISOTACH_CEPH_DEV"], f"client.{user}.keyring")
        limits = ["--rados-osd-op-timeout", str(seconds), "--client-mount-timeout", "10"]
        command = ["rados", "-n", f"client.{user}", "-k", kept, *limits, *words]
        asked = environment(CEPH_CONF=self.environment["CEPH_CONF"])
        return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, env=asked)

    def put(self, pool: str, name: str, text: str, seconds: int = 20) -> Done:
        """Writes an object."""
        source = self.folder / "put"
        source.write_text(text)
        return self.rados("-p", pool, "put", name, source, seconds=seconds)

    def get(self, pool: str, name: str) -> str:
        """Reads an object."""
        done = self.rados("-p", pool, "get", name, "-")
        assert done.returncode == 0, done.stderr
        return done.stdout

    def ceph(self, *words: str) -> Done:
        """The `ceph` command."""
        return ceph_dev("ceph", "--dir", self.folder, *words)
