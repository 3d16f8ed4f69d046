"""The engine and the independent reader come to the same, from the same files, whole or damaged.

Containers are made by the engine's example `make_container`; ISOTACH_MAKE_CONTAINER names a built one, else
cargo builds it. Every case is a seed; a failure names it. ISOTACH_SEQUENCES, a number, asks for more seeds than a
few: a nightly run sets it to thousands.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from format_bytes import Corrupt, Kept, NotThere, Unsupported, crc32c
from format_log import HEADER, MIN_FRAME, Frame, find_frame
from format_state import Value
from reader import Container

ROOT = Path(__file__).parents[2]
LABEL = "c"
WINDOW = 64 << 20
SEEDS = max(2, min(40, int(os.environ.get("ISOTACH_SEQUENCES") or 0) // 250))


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

    def last_run(self) -> Path:
        """The file of the last run that is in use."""
        start, end = self.open().runs[-1]
        return self.directory / f"run.{start:016x}-{end:016x}"

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
@pytest.mark.parametrize("seed", range(1, 1 + SEEDS))
def test_reader_and_engine_agree_with_and_without_runs(made: Made, seed: int, checkpoint: int) -> None:
    said = made.write(seed, 120, checkpoint=checkpoint)
    assert said["committed"] > 0 and said["conflicts"] > 0, "both verdicts are met"
    assert made.reader() == said["objects"]
    assert made.reader(use_runs=False) == said["objects"]
    assert made.engine() == said["objects"]
    assert bool(made.open().runs) == (checkpoint < 1 << 24)


@pytest.mark.parametrize("seed", range(100, 100 + SEEDS))
def test_the_tail_is_replayed_on_runs_as_on_the_whole_log(made: Made, seed: int) -> None:
    made.write(seed, 80, checkpoint=1024)
    said = made.write(seed + 1000, 80)
    opened, whole = made.open(), made.open(use_runs=False)
    assert opened.runs and opened.counted > 0
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


@pytest.mark.parametrize("seed", range(200, 200 + SEEDS // 2))
def test_a_torn_frame_never_counts_and_those_after_it_do(made: Made, seed: int) -> None:
    made.write(seed, 25)
    position, last = made.frames()[-1]
    cuts = {1, 7, 8, 9, 43, 44, 47, 48, 55, 56, last.length // 2, last.length - 8, last.length - 1}
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
    for bit in [*range(0, 64 * 8, 29), *range(64 * 8, 120 * 8, 13), *range(120 * 8, size, size // 20)]:
        flip(made.log, bit)
        assert (made.reader(), made.engine()) == ("corrupt", "corrupt"), f"bit {bit}"
        flip(made.log, bit)
    assert made.reader() == made.engine() == said["objects"]


def test_a_run_with_a_flipped_bit_is_left_out_or_is_damage_and_the_log_says_it_all(made: Made) -> None:
    said = made.write(62, 60, checkpoint=1024)["objects"]
    run = made.last_run()
    data = run.read_bytes()
    index = int.from_bytes(data[48:56], "little")
    bits = [*range(0, 96 * 8, 67), *range(96 * 8, len(data) * 8, len(data) * 8 // 10), index * 8 + 3]
    for bit in bits:
        flip(run, bit)
        expected = "corrupt" if 96 <= bit // 8 < index else said
        assert (made.reader(), made.engine()) == (expected, expected), f"bit {bit}"
        assert made.reader(use_runs=False) == said
        flip(run, bit)


def test_a_run_cut_short_or_of_another_container_is_left_out(made: Made) -> None:
    said = made.write(62, 60, checkpoint=1024)["objects"]
    run = made.last_run()
    whole = run.read_bytes()
    for wrong in b"", whole[:95], whole[:-1], whole[:8] + bytes(16) + whole[24:]:
        run.write_bytes(wrong)
        assert made.reader() == made.engine() == said
        assert run.name not in {f"run.{a:016x}-{b:016x}" for a, b in made.open().runs}


def test_a_flipped_bit_of_data_is_damage_or_concerns_nothing_that_is_left(made: Made) -> None:
    said = made.write(63, 60)
    files = [path for path in (made.directory / "data").iterdir() if path.stat().st_size]
    seen = set()
    for path in files:
        size = path.stat().st_size * 8
        for bit in range(5, size, size // 8):
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


def test_runs_that_reach_past_the_end_of_the_log_are_left_out(made: Made) -> None:
    made.write(65, 60, checkpoint=1024)
    frames, runs = made.frames(), made.open().runs
    assert runs
    for position, frame in (frames[0], frames[len(frames) // 2], frames[-1]):
        end = position + frame.length
        short = made.copy("short")
        os.truncate(short.log, end)
        assert short.reader() == short.engine() == short.reader(use_runs=False), f"{end} bytes left"
        assert all(to <= end for _, to in short.open().runs)


def test_every_flipped_bit_of_a_superblock_is_refused(made: Made) -> None:
    made.write(66, 5)
    for path in made.pool / "superblock", made.directory / "superblock":
        for bit in range(0, 64 * 8, 17):
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
    middle = (
        (HEADER + len(tail)).to_bytes(4, "little") + bytes(4) + b"somebody" + sequence.to_bytes(8, "little")
    )
    middle += kind.to_bytes(2, "little") + bytes(2) + crc32c(tail).to_bytes(4, "little") + bytes(4)
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


GENERAL, KEY_VALUE, ARRAY = 0, 8, 13


def record(operation: int, otype: int, dkey: bytes = b"", akey: bytes = b"", rest: bytes = b"") -> bytes:
    """A record on the object 1 of a type."""
    lengths = len(dkey).to_bytes(2, "little") + len(akey).to_bytes(2, "little")
    high, low = (otype << 56).to_bytes(8, "little"), (1).to_bytes(8, "little")
    return bytes([operation, 0]) + lengths + bytes(2) + high + low + dkey + akey + rest


def u64(*numbers: int) -> bytes:
    """Numbers as they stand in a record."""
    return b"".join(number.to_bytes(8, "little") for number in numbers)


EMPTY_EXTENT = u64(1, 0, 0) + bytes(4)
ONE_BYTE = u64(1, 0, 1) + bytes(4)
NO_VALUE = bytes(4)
LAST = (1 << 63) - 1
SOUND = {
    "a value of no bytes": record(1, KEY_VALUE, b"k", rest=NO_VALUE),
    "bytes up to the last there can be": record(4, ARRAY, rest=u64(LAST) + EMPTY_EXTENT),
    "the greatest size": record(5, GENERAL, b"d", b"a", u64(LAST)) + record(5, GENERAL, b"d", b"a", u64(0)),
    "a punch without an end": record(6, ARRAY, rest=u64(LAST, (1 << 64) - 1)),
    "a distribution key": record(7, GENERAL, b"d"),
    "an object": record(8, KEY_VALUE),
}
MALFORMED = {
    "unknown operation": b"\x09" + bytes(23),
    "cut short": record(3, KEY_VALUE, b"k")[:-1],
    "unknown type": record(3, 99, b"k"),
    "no key": record(3, KEY_VALUE),
    "an attribute key in a key-value object": record(3, KEY_VALUE, b"k", b"a"),
    "no attribute key": record(3, GENERAL, b"d"),
    "a key in an array": record(5, ARRAY, b"k", rest=u64(1)),
    "a value in an array": record(1, ARRAY, rest=NO_VALUE),
    "a value in a data file without a digest": record(2, KEY_VALUE, b"k", rest=EMPTY_EXTENT),
    "remove of an array": record(3, ARRAY),
    "equals of an array": record(18, ARRAY, rest=NO_VALUE),
    "bytes in a key-value object": record(4, KEY_VALUE, b"k", rest=u64(0) + EMPTY_EXTENT),
    "a size in a key-value object": record(5, KEY_VALUE, b"k", rest=u64(0)),
    "a hole in a key-value object": record(6, KEY_VALUE, b"k", rest=u64(0, 1)),
    "bytes past the last there can be": record(4, ARRAY, rest=u64(LAST) + ONE_BYTE),
    "a size past the greatest": record(5, ARRAY, rest=u64(LAST + 1)),
    "a punch past the greatest size": record(6, ARRAY, rest=u64(LAST + 1, 0)),
    "a distribution key of a key-value object": record(7, KEY_VALUE, b"k"),
    "an empty distribution key": record(7, GENERAL),
    "a distribution key and an attribute key": record(7, GENERAL, b"d", b"a"),
    "destroy with a key": record(8, KEY_VALUE, b"k"),
    "a precondition behind an update": record(3, KEY_VALUE, b"k") + record(16, KEY_VALUE, b"k"),
    "a malformed update behind a precondition that fails": record(17, KEY_VALUE, b"never") + record(3, ARRAY),
}


@pytest.mark.parametrize("what", MALFORMED)
def test_a_malformed_record_is_damage(made: Made, what: str) -> None:
    made.write(70, 1)
    with made.log.open("ab") as log:
        log.write(sealed(made, 1, MALFORMED[what]))
    assert (made.reader(), made.engine()) == ("corrupt", "corrupt")


@pytest.mark.parametrize("what", SOUND)
def test_a_record_at_the_limits_is_no_damage(made: Made, what: str) -> None:
    made.write(70, 1)
    with made.log.open("ab") as log:
        log.write(sealed(made, 1, SOUND[what]))
    assert made.reader() == made.engine() != "corrupt"


def test_verdicts_need_no_data_file(made: Made) -> None:
    value = b"some value"
    extent = u64(7, 0, len(value)) + crc32c(value).to_bytes(4, "little")
    put = record(2, KEY_VALUE, b"kept", rest=extent + hashlib.sha256(value).digest())
    made.write(71, 1)

    def compared(with_value: bytes, sequence: int, key: bytes) -> bytes:
        length = len(with_value).to_bytes(4, "little")
        body = record(18, KEY_VALUE, b"kept", rest=length + with_value) + record(
            1, KEY_VALUE, key, rest=NO_VALUE
        )
        return sealed(made, 1, body, sequence)

    frames = [
        sealed(made, 1, put),
        compared(value, 1, b"equal"),
        compared(b"same size!", 2, b"other bytes"),
        compared(b"short", 3, b"other length"),
        # The value itself is taken away, so that what is left can be read without its file.
        sealed(made, 1, record(3, KEY_VALUE, b"kept"), 4),
    ]
    with made.log.open("ab") as log:
        log.write(b"".join(frames))
    assert made.reader() == made.engine()
    (entries,) = [o["entries"] for o in made.reader() if int(o["id"], 16) == (KEY_VALUE << 120) + 1]
    assert list(entries) == [b"equal".hex()]


def test_the_digests_of_values_in_data_files_are_right(made: Made) -> None:
    made.write(8, 200, checkpoint=1024)
    for container in made.open(), made.open(use_runs=False):
        cells = [
            cell.stored
            for cells in container.state.objects.values()
            for cell in cells.values()
            if isinstance(cell, Value)
        ]
        kept = [stored for stored in cells if isinstance(stored, Kept)]
        assert kept
        assert all(hashlib.sha256(container.data.read(one.extent)).digest() == one.digest for one in kept)


def test_frames_cut_short_in_a_row_hide_none_and_verdicts_never_change(made: Made) -> None:
    made.write(72, 1)
    marker = made.open().marker
    body = record(1, KEY_VALUE, b"k", rest=NO_VALUE)
    whole = [sealed(made, 1, body * count, count) for count in (2, 1, 0)]
    good = whole[2]
    for first in range(1, len(whole[0])):
        for second in sorted({*range(1, 20), 47, 48, 55, 56, len(whole[1]) - 1}):
            log = whole[0][:first] + whole[1][:second] + good
            at, found = 0, None
            while not isinstance(found, Frame):
                found = find_frame(log, at, marker)
                assert isinstance(found, Frame) or found[0] == "torn", f"cut at {first} and {second}"
                at += 0 if isinstance(found, Frame) else found[1]
            assert at == first + second
    for first in range(1, len(whole[0])):
        log, verdict = whole[0][:first] + good, ("pending", 0)
        for seen in range(len(log) + 1):
            now = find_frame(log[:seen], 0, marker)
            assert verdict in (("pending", 0), now), f"cut at {first}, seen {seen}"
            verdict = now
        assert verdict == ("torn", first)
