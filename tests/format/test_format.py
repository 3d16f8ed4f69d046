"""The engine and the independent reader come to the same, from the same files, whole or damaged.

Every case is a seed; a failure names it. ISOTACH_SEQUENCES, a number, asks for more seeds than a
few: a nightly run sets it to thousands.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from format_bytes import Kept, crc32c
from format_log import MIN_FRAME
from format_made import LABEL, Made, flip
from format_runs import ends_of_floor, read_floor
from format_state import SEGMENT, Value, read_records

WINDOW = 64 << 20
SEEDS = max(2, min(40, int(os.environ.get("ISOTACH_SEQUENCES") or 0) // 250))


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


@pytest.mark.parametrize("checkpoint", [1 << 24, 300])
@pytest.mark.parametrize("seed", range(300, 300 + SEEDS))
def test_reader_and_engine_agree_on_the_past(made: Made, seed: int, checkpoint: int) -> None:
    said = made.write(seed, 150, checkpoint=checkpoint, snapshots=1)
    assert said["snapshots"], "there are some"
    assert made.past() == made.past(use_runs=False) == said["snapshots"]
    assert any(objects != said["objects"] for objects in said["snapshots"].values())
    epochs = made.open().state.snapshots().values()
    runs = made.open().runs
    assert not any(start < epoch < end for start, end in runs for epoch in epochs)
    # Later changes change none of them, unless they remove it.
    later = made.write(seed + 1, 60, checkpoint=checkpoint)["snapshots"]
    assert later == said["snapshots"] == made.past()


@pytest.mark.parametrize("checkpoint", [1 << 24, 300])
@pytest.mark.parametrize("seed", range(500, 500 + SEEDS))
def test_reader_and_engine_agree_on_what_is_prepared(made: Made, seed: int, checkpoint: int) -> None:
    said = made.write(seed, 250, checkpoint=checkpoint)
    assert said["prepared"], "something is"
    for options in {"purge": 0}, {"purge": 1}:
        said = made.write(seed + 1, 40, checkpoint=checkpoint, **options)
        for use_runs in True, False:
            prepared = made.open(use_runs).prepared()
            assert sorted(prepared) == said["prepared"]
            assert all(prepared.values()), "each has updates, and its segments are there"
        assert made.reader() == made.engine() == said["objects"]


@pytest.mark.parametrize("checkpoint", [1 << 24, 300])
@pytest.mark.parametrize("seed", range(400, 400 + SEEDS))
def test_reader_and_engine_agree_after_purges(made: Made, seed: int, checkpoint: int) -> None:
    options = {"checkpoint": checkpoint, "snapshots": 1, "purge": 1}
    before = made.write(seed, 100, checkpoint=checkpoint, snapshots=1)
    # More log than a purge keeps.
    said = made.write(seed + 1, 60, **options, reserve=2 << 20)
    floor = read_floor(made.directory, made.open().uuid)
    assert floor and floor.hole_end > 1 << 20, "there was something to purge"
    assert not any(made.log.read_bytes()[4096 : floor.hole_end])
    ends = ends_of_floor(made.directory / f"floor.{floor.sequence:016x}")
    lengths = {int(file.name, 16): file.stat().st_size for file in (made.directory / "data").iterdir()}
    assert ends
    # Some of them are gone.
    assert all(end <= lengths.get(file, end) for file, end in ends.items())
    assert before["snapshots"], "there are some"
    assert made.past() == made.past(use_runs=False) == said["snapshots"]
    assert made.reader() == made.reader(use_runs=False) == made.engine() == said["objects"]
    said = made.write(seed + 2, 60, **options)
    assert made.reader() == made.reader(use_runs=False) == made.engine() == said["objects"]
    assert made.past() == said["snapshots"]


def test_a_floor_that_lies_below_all_runs_changes_nothing(made: Made) -> None:
    said = made.write(600, 60, checkpoint=300)
    fields = b"ISOTFLR1" + made.open().uuid + struct.pack("<QQQQI", 1, 0, 0, 7, 0)
    (made.directory / "floor.0000000000000001").write_bytes(fields + struct.pack("<I", crc32c(fields)))
    assert made.open().runs
    assert made.reader() == made.reader(use_runs=False) == made.engine() == said["objects"]
    said = made.write(601, 60, checkpoint=300, purge=1)
    assert made.reader() == made.engine() == said["objects"]


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
        # Nobody was told that the frame was flushed.
        (torn.directory / "flushed").unlink()
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
    noticed = 0
    for path in files:
        size = path.stat().st_size * 8
        for bit in range(5, size, size // 8):
            flip(path, bit)
            found = made.reader()
            assert found == made.engine(), f"bit {bit} of {path.name}"
            assert found in ("corrupt", said["objects"]), f"bit {bit} of {path.name}"
            noticed += found == "corrupt"
            flip(path, bit)
    assert noticed, "no flipped bit was in anything that is left"


def test_a_data_file_cut_short_or_gone_is_damage(made: Made) -> None:
    made.write(64, 60)
    for path in (made.directory / "data").iterdir():
        os.truncate(path, path.stat().st_size // 2)
    assert (made.reader(), made.engine()) == ("corrupt", "corrupt")
    shutil.rmtree(made.directory / "data")
    (made.directory / "data").mkdir()
    assert (made.reader(), made.engine()) == ("corrupt", "corrupt")


def test_a_log_that_ends_before_a_note_of_a_flush_or_before_a_run_is_damage(made: Made) -> None:
    made.write(65, 60, checkpoint=1024)
    frames, runs = made.frames(), made.open().runs
    assert runs
    for position, frame in (frames[0], frames[len(frames) // 2]):
        short = made.copy("short")
        os.truncate(short.log, position + frame.length)
        assert (short.reader(), short.engine()) == ("corrupt", "corrupt"), "by the notes"
        (short.directory / "flushed").unlink()
        assert (short.reader(), short.engine()) == ("corrupt", "corrupt"), "by the runs"


def test_every_flipped_bit_of_the_notes_of_flushes_is_noticed(made: Made) -> None:
    said = made.write(68, 12)
    notes = made.directory / "flushed"
    for bit in range(0, 4096 * 8, 501):
        flip(notes, bit)
        assert made.reader() == "corrupt", f"bit {bit}"
        # They only say how far the log goes: whoever reads fields can do without.
        assert made.engine() == said["objects"], f"bit {bit}"
        flip(notes, bit)
    assert made.reader() == said["objects"]


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
    assert (made.reader() == "newer-format") == refused
    assert made.reader() == made.engine()


@pytest.mark.parametrize(("segment", "most"), [(256, 3), (1000, 1)])
def test_transactions_in_segments_are_read_as_those_in_frames(made: Made, segment: int, most: int) -> None:
    said = made.write(80, 150, segment=segment, checkpoint=1024)
    found = [read_records(frame.body, "")[1] for _, frame in made.frames() if frame.kind == 1]
    segments = [sum(operation == SEGMENT for operation, _, _ in updates) for updates in found]
    assert max(segments) >= most
    assert made.reader() == made.reader(use_runs=False) == made.engine() == said["objects"]


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
