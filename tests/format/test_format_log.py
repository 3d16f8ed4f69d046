"""The engine and the independent reader take the same frames and records for right, and the same for damage."""

from __future__ import annotations

import hashlib

import pytest

from format_bytes import crc32c
from format_log import MIN_FRAME, Frame, find_frame
from format_made import Made, record, sealed, u64
from format_state import ARRAY, GENERAL, KEY_VALUE


@pytest.mark.parametrize(
    ("kind", "expected"), [(5, "newer-format"), (6, "newer-format"), (0x7FFF, "newer-format"), (0x8000, None)]
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
    "unknown operation": b"\x0a" + bytes(23),
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
    "a segment with a key": record(9, GENERAL, b"d", rest=EMPTY_EXTENT),
    "a segment of an object": record(9, GENERAL, rest=EMPTY_EXTENT),
    "a segment longer than a frame": bytes([9])
    + bytes(23)
    + u64(1, 0, (1 << 30) + 1)
    + bytes(4 * ((1 << 14) + 1)),
    "a precondition behind a segment": bytes([9]) + bytes(23) + EMPTY_EXTENT + record(16, KEY_VALUE, b"k"),
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


KEY = record(1, KEY_VALUE, b"k", rest=NO_VALUE)


def segment(made: Made, number: int, records: bytes, wrong: int = 0) -> bytes:
    """A segment record, whose records are put into a data file."""
    (made.directory / "data" / f"{number:016x}").write_bytes(records)
    total = (crc32c(records) ^ wrong).to_bytes(4, "little")
    return bytes([9]) + bytes(23) + u64(number, 0, len(records)) + total


def test_the_records_of_a_segment_are_applied_in_its_place(made: Made) -> None:
    made.write(73, 1)

    def value(text: bytes) -> bytes:
        return record(1, KEY_VALUE, b"segment", rest=len(text).to_bytes(4, "little") + text)

    for number, expected in enumerate([b"inline", b"second"]):
        frame = value(b"before") + segment(made, 10, value(b"first")) + segment(made, 11, value(b"second"))
        body = frame + (value(b"inline") if expected == b"inline" else b"")
        with made.log.open("ab") as log:
            log.write(sealed(made, 1, body, number))
        assert made.reader() == made.engine()
        (entries,) = [o["entries"] for o in made.reader() if int(o["id"], 16) == (KEY_VALUE << 120) + 1]
        assert entries[b"segment".hex()] == expected.hex()


@pytest.mark.parametrize(
    ("what", "records"),
    [
        ("a precondition", KEY + record(16, KEY_VALUE, b"never")),
        ("bytes that are no record", KEY + b"x"),
        ("a malformed update", KEY + record(3, ARRAY)),
        ("a segment", KEY + bytes([9]) + bytes(23) + EMPTY_EXTENT),
    ],
)
def test_a_segment_that_holds_what_it_may_not_is_damage(made: Made, what: str, records: bytes) -> None:
    made.write(74, 1)
    with made.log.open("ab") as log:
        log.write(sealed(made, 1, segment(made, 10, records)))
    assert (made.reader(), made.engine()) == ("corrupt", "corrupt"), what


def test_a_damaged_segment_is_damage_unless_its_transaction_fails(made: Made) -> None:
    said = made.write(75, 1)["objects"]
    wrong = segment(made, 10, KEY, wrong=1)
    with made.log.open("ab") as log:
        log.write(sealed(made, 1, record(17, KEY_VALUE, b"never") + wrong))
    assert made.reader() == made.engine() == said
    with made.log.open("ab") as log:
        log.write(sealed(made, 1, wrong, 1))
    assert (made.reader(), made.engine()) == ("corrupt", "corrupt")


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
                assert isinstance(found, Frame) or found[0] in ("torn", "strange"), (
                    f"cut at {first} and {second}"
                )
                at += 0 if isinstance(found, Frame) else found[1]
            assert at == first + second
    for first in range(1, len(whole[0])):
        log, verdict = whole[0][:first] + good, ("pending", 0)
        for seen in range(len(log) + 1):
            now = find_frame(log[:seen], 0, marker)
            assert verdict in (("pending", 0), now), f"cut at {first}, seen {seen}"
            verdict = now
        assert verdict == ("torn" if first >= 8 else "strange", first)


def lost_tail(made: Made, in_marker: bool = False) -> bytes:
    """Three frames: of the second a sector is lost, from within its marker on if that is asked for; the third survived."""
    start = len(made.log.read_bytes())
    empty = len(sealed(made, 1, record(1, KEY_VALUE, b"", rest=NO_VALUE)))
    # The second frame begins three bytes before a sector.
    length = 1024 + (509 - start - empty) % 512
    puts = [
        record(1, KEY_VALUE, b"k" * length, rest=NO_VALUE),
        record(1, KEY_VALUE, b"l" * 1500, rest=NO_VALUE),
    ]
    first = sealed(made, 1, puts[0])
    tail = bytearray(first + sealed(made, 1, puts[1], 1) + sealed(made, 1, puts[1], 2))
    lost = len(first) + 3 + (0 if in_marker else 512)
    assert (start + lost) % 512 == 0
    tail[lost : lost + 512] = bytes(512)
    return bytes(tail)


@pytest.mark.parametrize("in_marker", [False, True])
@pytest.mark.parametrize("recovered", [False, True])
@pytest.mark.parametrize("same_boot", [False, True])
def test_a_tail_that_a_power_failure_left_half_ends_at_the_loss_and_what_follows_counts(
    made: Made, same_boot: bool, recovered: bool, in_marker: bool
) -> None:
    made.write(73, 5)
    tail = lost_tail(made, in_marker)
    if recovered:
        tail += sealed(made, 3, u64(77), writer=b"recovery")
        tail += sealed(made, 1, record(1, KEY_VALUE, b"after", rest=NO_VALUE), 1, b"recovery")
    with made.log.open("ab") as log:
        log.write(tail)
    if not same_boot:
        for name in made.directory.glob("boot.*"):
            name.unlink()
    found = made.reader()
    assert found == made.engine()
    if same_boot and not recovered:
        assert found == "corrupt"
        return
    (entries,) = [o["entries"] for o in found if int(o["id"], 16) == (KEY_VALUE << 120) + 1]
    assert any(key.startswith(b"kkk".hex()) for key in entries), "the frame before the loss"
    assert not any(key.startswith(b"lll".hex()) for key in entries), "the frames behind it"
    assert (b"after".hex() in entries) == recovered


def test_a_sector_of_zeros_before_a_settled_frame_is_damage_whatever_follows(made: Made) -> None:
    made.write(74, 5)
    tail = lost_tail(made) + sealed(made, 2, writer=b"settling")
    tail += sealed(made, 2, sequence=1, writer=b"settling", flags=1)
    tail += sealed(made, 3, u64(77), writer=b"recovery")
    with made.log.open("ab") as log:
        log.write(tail)
    assert made.reader() == made.engine() == "corrupt"
