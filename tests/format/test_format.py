"""The engine and the independent reader come to the same, from the same files, whole or damaged.

Containers are made by the engine's example `make_container`; ISOTACH_MAKE_CONTAINER names a built one, else
cargo builds it. Every case is a seed; a failure names it.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from format_bytes import Corrupt, NotThere, Unsupported, crc32c
from format_log import MIN_FRAME, Frame, find_frame
from format_runs import choose_runs
from reader import Container

ROOT = Path(__file__).parents[2]
LABEL = "c"
WINDOW = 64 << 20


@pytest.fixture(scope="session")
def program() -> Path:
    """The built example."""
    if given := os.environ.get("ISOTACH_MAKE_CONTAINER"):
        return Path(given)
    command = [
        "cargo",
        "build",
        "--locked",
        "-q",
        "-p",
        "isotach-engine-posix",
        "--example",
        "make_container",
    ]
    built = subprocess.run(
        [*command, "--message-format=json"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    )
    messages = (json.loads(line) for line in built.stdout.splitlines())
    return Path(next(m["executable"] for m in messages if m.get("executable")))


@dataclass
class Made:
    """A pool with one container, and the program that writes on it."""

    program: Path
    pool: Path

    @property
    def directory(self) -> Path:
        """The container's."""
        return self.pool / "containers" / LABEL

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

    def reader(self, use_runs: bool = True):
        """What the reader finds, in the words of `engine`."""
        try:
            return self.open(use_runs).contents()["objects"]
        except Corrupt:
            return "corrupt"
        except Unsupported:
            return "unsupported"
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
            elif here[0] == "torn":
                position += here[1]
            else:
                break
        return found


@pytest.fixture
def made(program: Path, tmp_path: Path) -> Made:
    """A pool that is not there yet."""
    return Made(program, tmp_path / "pool")


def flip(path: Path, bit: int) -> None:
    """Flips one bit of a file."""
    with path.open("r+b") as file:
        file.seek(bit // 8)
        byte = file.read(1)[0]
        file.seek(bit // 8)
        file.write(bytes([byte ^ 1 << bit % 8]))


def test_the_checksum_is_castagnolis() -> None:
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(b"") == 0


@pytest.mark.parametrize("checkpoint", [1 << 24, 1024, 300])
@pytest.mark.parametrize("seed", range(1, 9))
def test_reader_and_engine_agree_with_and_without_runs(made: Made, seed: int, checkpoint: int) -> None:
    said = made.write(seed, 120, checkpoint=checkpoint)
    assert said["committed"] > 0 and said["conflicts"] > 0, "both verdicts are met"
    assert made.reader() == said["objects"]
    assert made.reader(use_runs=False) == said["objects"]
    assert made.engine() == said["objects"]
    assert (made.open().runs > 0) == (checkpoint < 1 << 24)


@pytest.mark.parametrize("seed", range(20, 26))
def test_the_tail_is_replayed_on_runs_as_on_the_whole_log(made: Made, seed: int) -> None:
    made.write(seed, 80, checkpoint=1024)
    said = made.write(seed + 100, 80)
    opened, whole = made.open(), made.open(use_runs=False)
    assert opened.runs > 0 and opened.counted > 0
    assert whole.counted > opened.counted
    assert opened.contents()["objects"] == whole.contents()["objects"] == said["objects"]


def test_runs_forget_only_what_no_read_set_reaches(made: Made) -> None:
    made.write(31, 100, checkpoint=1024)
    said = made.write(32, 100, checkpoint=1024, reserve=WINDOW)
    assert made.reader() == said["objects"]
    assert made.reader(use_runs=False) == said["objects"]


def test_the_example_is_read_as_a_program_too(made: Made) -> None:
    said = made.write(5, 30)
    for options in [], ["--no-runs"]:
        command = [
            sys.executable,
            Path(__file__).with_name("reader.py"),
            made.pool,
            LABEL,
            *options,
            "--json",
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert json.loads(done.stdout)["objects"] == said["objects"]


def test_a_body_that_holds_the_marker_is_salted(made: Made) -> None:
    made.write(3, 200)
    container = made.open()
    salts = [container.log[at + 12 : at + 16] for at, _ in made.frames()]
    assert any(salt != bytes(4) for salt in salts), "a frame with a salt was met"
    # Once for each frame, and nowhere else.
    assert container.log.count(container.marker) == len(salts)
    assert made.reader() == made.engine()


def test_object_ids_are_the_positions_of_reserve_frames(made: Made) -> None:
    made.write(3, 60)
    reserved = [(at, frame.length) for at, frame in made.frames() if frame.kind == 2]
    assert reserved and all(length == MIN_FRAME for _, length in reserved)
    assert not any(any(frame.body) for _, frame in made.frames() if frame.kind == 2)


@pytest.mark.parametrize("seed", [41, 42])
def test_a_torn_frame_never_counts_and_those_after_it_do(made: Made, seed: int) -> None:
    made.write(seed, 25)
    position, last = made.frames()[-1]
    cuts = {1, 7, 8, 9, 35, 36, 39, 40, 41, 47, 48, last.length // 2, last.length - 8, last.length - 1}
    for cut in sorted(cut for cut in cuts if cut < last.length):
        torn = made.copy("torn")
        os.truncate(torn.log, position + cut)
        pending = torn.reader()
        assert pending == torn.engine(), f"pending after {cut} bytes"
        said = torn.write(seed + 7, 15)
        opened = torn.open()
        assert opened.torn > 0, f"torn after {cut} bytes"
        assert opened.contents()["objects"] == said["objects"], f"torn after {cut} bytes"


@pytest.mark.parametrize("garbage", [b"x", b"garbage", bytes(60), random.Random(1).randbytes(500)])
def test_garbage_at_the_end_is_passed_over(made: Made, garbage: bytes) -> None:
    said = made.write(51, 25)
    with made.log.open("ab") as log:
        log.write(garbage)
    assert made.reader() == made.engine() == said["objects"]
    said = made.write(52, 15)
    assert made.reader() == made.engine() == said["objects"]


def test_every_flipped_bit_of_the_log_is_damage(made: Made) -> None:
    said = made.write(61, 12)
    size = made.log.stat().st_size * 8
    for bit in [*range(0, 64 * 8, 13), *range(64 * 8, 112 * 8, 7), *range(112 * 8, size, size // 30)]:
        flip(made.log, bit)
        assert (made.reader(), made.engine()) == ("corrupt", "corrupt"), f"bit {bit}"
        flip(made.log, bit)
    assert made.reader() == made.engine() == said["objects"]


def test_every_flipped_bit_of_a_run_is_damage(made: Made) -> None:
    made.write(62, 60, checkpoint=1024)
    start, end = choose_runs(made.directory, base=0)[-1]
    run = made.directory / f"run.{start:016x}-{end:016x}"
    size = run.stat().st_size * 8
    whole = made.reader(use_runs=False)
    for bit in [*range(0, 96 * 8, 13), *range(96 * 8, size, size // 30)]:
        flip(run, bit)
        assert (made.reader(), made.engine()) == ("corrupt", "corrupt"), f"bit {bit}"
        assert made.reader(use_runs=False) == whole, "the log says it all"
        flip(run, bit)


def test_a_flipped_bit_of_data_is_damage_or_concerns_nothing_that_is_left(made: Made) -> None:
    said = made.write(63, 60)
    files = [path for path in (made.directory / "data").iterdir() if path.stat().st_size]
    seen = set()
    for path in files:
        size = path.stat().st_size * 8
        for bit in range(5, size, size // 20):
            flip(path, bit)
            found = made.reader()
            assert found == made.engine(), f"bit {bit} of {path.name}"
            assert found in ("corrupt", said["objects"]), f"bit {bit} of {path.name}"
            seen.add(found == "corrupt")
            flip(path, bit)
    assert True in seen


def test_a_data_file_cut_short_or_gone_is_damage(made: Made) -> None:
    made.write(64, 60)
    for path in (made.directory / "data").iterdir():
        os.truncate(path, path.stat().st_size // 2)
    assert (made.reader(), made.engine()) == ("corrupt", "corrupt")
    shutil.rmtree(made.directory / "data")
    (made.directory / "data").mkdir()
    assert (made.reader(), made.engine()) == ("corrupt", "corrupt")


def test_a_log_cut_short_below_its_runs_is_damage(made: Made) -> None:
    made.write(65, 60, checkpoint=1024)
    os.truncate(made.log, 200)
    assert (made.reader(), made.engine()) == ("corrupt", "corrupt")


def test_every_flipped_bit_of_a_superblock_is_refused(made: Made) -> None:
    made.write(66, 5)
    for path in made.pool / "superblock", made.directory / "superblock":
        for bit in range(0, 64 * 8, 5):
            flip(path, bit)
            expected = "invalid-input" if bit < 64 else "corrupt"
            assert (made.reader(), made.engine()) == (expected, expected), f"bit {bit} of {path}"
            flip(path, bit)


@pytest.mark.parametrize(("offset", "refused"), [(8, True), (12, True), (16, False)])
def test_a_newer_version_is_refused_and_an_optional_feature_is_not(
    made: Made, offset: int, refused: bool
) -> None:
    made.write(67, 5)
    path = made.directory / "superblock"
    block = bytearray(path.read_bytes()[:60])
    block[offset] ^= 2
    path.write_bytes(bytes(block) + crc32c(bytes(block)).to_bytes(4, "little"))
    assert (made.reader() == "unsupported") == refused
    assert made.reader() == made.engine()


def sealed(made: Made, kind: int, body: bytes = b"", sequence: int = 0) -> bytes:
    """A frame that is whole and right, as no engine of today writes it."""
    tail = body + bytes(8)
    middle = (40 + len(tail)).to_bytes(4, "little") + bytes(4) + b"somebody" + sequence.to_bytes(4, "little")
    middle += kind.to_bytes(2, "little") + bytes(2) + crc32c(tail).to_bytes(4, "little")
    return made.open().marker + middle + crc32c(middle).to_bytes(4, "little") + tail


@pytest.mark.parametrize(
    ("kind", "expected"), [(3, "unsupported"), (7, "unsupported"), (0x7FFF, "unsupported"), (0x8000, None)]
)
def test_an_unknown_kind_is_refused_unless_it_is_optional(
    made: Made, kind: int, expected: str | None
) -> None:
    said = made.write(68, 10)
    frame = sealed(made, kind, b"what only a newer program knows")
    with made.log.open("ab") as log:
        log.write(frame)
    assert made.reader() == made.engine() == (expected or said["objects"])


def test_a_duplicate_is_passed_over_and_a_gap_is_damage(made: Made) -> None:
    said = made.write(69, 10)
    position, frame = made.frames()[-1]
    again = made.log.read_bytes()[position : position + frame.length]
    with made.log.open("ab") as log:
        log.write(again)
    assert made.reader() == made.engine() == said["objects"]
    frames = sealed(made, 2) + sealed(made, 2, sequence=1) + sealed(made, 2, sequence=3)
    with made.log.open("ab") as log:
        log.write(frames[:-MIN_FRAME])
    assert made.reader() == made.engine() == said["objects"]
    with made.log.open("ab") as log:
        log.write(frames[-MIN_FRAME:])
    assert (made.reader(), made.engine()) == ("corrupt", "corrupt")


def test_a_malformed_record_is_damage(made: Made) -> None:
    made.write(70, 10)
    for body in b"\x09" + bytes(23), b"\x03" + bytes(22), b"\x03" + bytes(7) + bytes([99] * 16):
        other = made.copy("malformed")
        with other.log.open("ab") as log:
            log.write(sealed(other, 1, body))
        assert (other.reader(), other.engine()) == ("corrupt", "corrupt"), body
