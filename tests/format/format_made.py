"""Containers that the engine has made, ways to harm them, and frames that no engine of today writes."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from format_bytes import Corrupt, NotThere, Unsupported, crc32c
from format_log import HEADER, Frame, find_frame
from reader import Container

LABEL = "c"


@dataclass
class Made:
    """A pool with one container, and the program that writes on it."""

    program: Path
    pool: Path

    @property
    def directory(self) -> Path:
        """The container's."""
        return self.pool / "containers" / LABEL

    def last_run(self) -> Path:
        """The file of the last run that is in use."""
        return self.open().run_files[-1]

    @property
    def log(self) -> Path:
        """The log file."""
        return self.directory / "log.0000000000000001"

    def write(self, seed: int, count: int, **options: int) -> dict:
        """Has the engine make updates; gives what it says."""
        options = {"seed": seed, "count": count, **options}
        return self._run(*[word for name, value in options.items() for word in (f"--{name}", str(value))])

    def engine(self):
        """What the engine finds: the objects, or the code of its error."""
        try:
            return self._run("--check")["objects"]
        except subprocess.CalledProcessError as error:
            return error.stderr.partition(":")[0]

    def _run(self, *options: str) -> dict:
        command = [self.program, self.pool, LABEL, *options]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stderr)
        return json.loads(done.stdout)

    def open(self, use_runs: bool = True) -> Container:
        """Opens it with the reader."""
        return Container(self.pool, LABEL, use_runs)

    def past(self, use_runs: bool = True) -> dict:
        """What the reader finds in each snapshot."""
        snapshots = self.open(use_runs).state.snapshots()
        return {
            name: Container(self.pool, LABEL, use_runs, epoch).contents()["objects"]
            for name, epoch in snapshots.items()
        }

    def reader(self, use_runs: bool = True):
        """What the reader finds, in the words of `engine`."""
        try:
            return self.open(use_runs).contents()["objects"]
        except Corrupt:
            return "corrupt"
        except Unsupported:
            return "newer-format"
        except NotThere:
            return "invalid-input"

    def copy(self, name: str) -> Made:
        """A copy beside this one."""
        other = Made(self.program, self.pool.with_name(name))
        shutil.rmtree(other.pool, ignore_errors=True)
        shutil.copytree(self.pool, other.pool)
        return other

    def frames(self) -> list[tuple[int, Frame]]:
        """The positions of the frames, and the frames."""
        container, position, found = self.open(use_runs=False), 64, []
        while position < len(container.log):
            here = find_frame(container.log, position, container.marker)
            if isinstance(here, Frame):
                found.append((position, here))
                position += here.length
            elif here[0] in ("torn", "strange"):
                position += here[1]
            else:
                break
        return found


def flip(path: Path, bit: int) -> None:
    """Flips one bit of a file."""
    with path.open("r+b") as file:
        file.seek(bit // 8)
        byte = file.read(1)[0]
        file.seek(bit // 8)
        file.write(bytes([byte ^ 1 << bit % 8]))


def sealed(
    made: Made, kind: int, body: bytes = b"", sequence: int = 0, writer: bytes = b"somebody", flags: int = 0
) -> bytes:
    """A frame that is whole and right, as no engine of today writes it."""
    tail = body + bytes(8)
    middle = (HEADER + len(tail)).to_bytes(4, "little") + bytes(4) + writer + sequence.to_bytes(8, "little")
    middle += (
        kind.to_bytes(2, "little")
        + flags.to_bytes(2, "little")
        + crc32c(tail).to_bytes(4, "little")
        + bytes(4)
    )
    return made.open().marker + middle + crc32c(middle).to_bytes(4, "little") + tail


def record(operation: int, otype: int, dkey: bytes = b"", akey: bytes = b"", rest: bytes = b"") -> bytes:
    """A record on the object 1 of a type."""
    lengths = len(dkey).to_bytes(2, "little") + len(akey).to_bytes(2, "little")
    high, low = (otype << 56).to_bytes(8, "little"), (1).to_bytes(8, "little")
    return bytes([operation, 0]) + lengths + bytes(2) + high + low + dkey + akey + rest


def u64(*numbers: int) -> bytes:
    """Numbers as they stand in a record."""
    return b"".join(number.to_bytes(8, "little") for number in numbers)
