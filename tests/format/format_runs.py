"""Runs: the checkpoints of a log (docs/FORMAT.md sections 5.3 and 7)."""

import re
from dataclasses import dataclass

from format_bytes import Corrupt, Fields, checked, crc32c, read_extent, read_kept
from format_state import GENERAL, TYPES, Cell, Part, Value, check_object

VALUE, VALUE_EXTENT, REMOVED, BYTES, CUT = range(1, 6)


def split_path(path, what):
    """The cell of a path; for the path of an object or distribution key, what of the cell it tells."""
    number = int.from_bytes(path[:16], "big")
    if len(path) < 16:
        raise Corrupt(f"{what}: a path of {len(path)} bytes")
    check_object(number, what)
    rest = path[16:]
    if TYPES[number >> 120] != GENERAL or not rest:
        return Cell(number, rest, b"")
    match = re.match(rb"((?:[^\x00]|\x00\xff)*)\x00\x01", rest, re.DOTALL)
    if not match:
        raise Corrupt(f"{what}: the path of a general cell")
    return Cell(number, match[1].replace(b"\x00\xff", b"\x00"), rest[match.end() :])


def apply_entry(state, cell, tag, payload, epoch, what):
    """Section 7.3."""
    fields = Fields(payload, what)
    if tag == VALUE:
        state.put(cell, Value(fields.take(len(payload))), epoch)
    elif tag == VALUE_EXTENT:
        state.put(cell, Value(read_kept(fields)), epoch)
    elif tag == REMOVED:
        state.remove(cell, epoch)
    elif tag == BYTES:
        if fields.u32() == 1:
            state.remove(cell, epoch)
        while fields.more():
            operation = fields.u8()
            if operation == 1:
                offset, length, skip = fields.u64(), fields.u64(), fields.u64()
                extent = read_extent(fields)
                if skip + length > extent.length or offset + length >= 1 << 64:
                    raise Corrupt(f"{what}: a part that is longer than its extent")
                state.write(cell, Part(offset, length, skip, extent), epoch)
            elif operation == 2:
                state.set_size(cell, fields.u64(), epoch)
            elif operation == 3:
                state.punch(cell, fields.u64(), fields.u64(), epoch)
            else:
                raise Corrupt(f"{what}: operation {operation} on bytes")
        state._named(cell, epoch)
    elif tag == CUT:
        if cell.dkey:
            state.remove_dkey(cell.object, cell.dkey, epoch)
        else:
            state.destroy(cell.object, epoch)
    else:
        raise Corrupt(f"{what}: an entry of tag {tag}")
    if fields.more():
        raise Corrupt(f"{what}: a payload that is too long")


@dataclass
class Run:
    """A run whose header and index are right."""

    span: tuple
    tag: int
    what: str
    data: bytes
    entries: int
    has_cuts: bool
    log_sum: int
    last: bytes
    blocks: list


def open_run(directory, uuid, span, tag):
    """Section 7.1; damage here is why a run is left out."""
    start = f"{tag:016x}." if tag else ""
    path = directory / f"run.{start}{span[0]:016x}-{span[1]:016x}"
    data, what = path.read_bytes(), str(path)
    fields = checked(data[:96], 96, what)
    if fields.take(8) != b"ISOTRUN1" or fields.take(16) != uuid:
        raise Corrupt(f"{what} is not a run of this container")
    if (fields.u64(), fields.u64()) != span:
        raise Corrupt(f"{what} has another span than its name")
    entries, position, length = fields.u64(), fields.u64(), fields.u64()
    index_sum, has_cuts, log_sum = fields.u32(), fields.u32(), fields.u32()
    if fields.u64() != tag:
        raise Corrupt(f"{what} is of another generation than its name says")
    index = data[position : position + length]
    if len(index) != length or crc32c(index) != index_sum:
        raise Corrupt(f"the index of {what} fails its checksum")
    index, blocks = Fields(index, f"the index of {what}"), []
    last = index.take(index.u32())
    while index.more():
        blocks.append((index.u64(), index.u32(), index.u32(), index.take(index.u32())))
    return Run(span, tag, what, data, entries, has_cuts == 1, log_sum, last, blocks)


def read_entries(run):
    """All entries of a run, in order: (path, tag, payload, epoch)."""
    found, what = list(read_blocks(run)), run.what
    if len(found) != run.entries or any(tag == CUT for _, tag, _, _ in found) != run.has_cuts:
        raise Corrupt(f"{what} does not hold what its header says")
    if any(one[0] >= two[0] for one, two in zip(found, found[1:], strict=False)):
        raise Corrupt(f"the paths of {what} do not ascend")
    return found


def read_blocks(run):
    """Section 7.2."""
    path, what = b"", run.what
    for position, length, block_sum, first in run.blocks:
        block = run.data[position : position + length]
        if len(block) != length or crc32c(block) != block_sum:
            raise Corrupt(f"a block of {what} fails its checksum")
        fields, path = Fields(block, f"a block of {what}"), b""
        while fields.more():
            shared, suffix, payload, tag = fields.u32(), fields.u32(), fields.u32(), fields.u8()
            fields.take(3)
            epoch = fields.u64()
            if shared > len(path):
                raise Corrupt(f"an entry of {what} shares more than there is")
            at_start, before = not path, path
            path = path[:shared] + fields.take(suffix)
            if before[shared : shared + 1] == path[shared : shared + 1]:
                raise Corrupt(f"an entry of {what} shares less than there is in common")
            if at_start and path != first:
                raise Corrupt(f"the index of {what} names another first path")
            yield path, tag, fields.take(payload), epoch
    if path != run.last:
        raise Corrupt(f"the index of {what} names another last path")


@dataclass
class Floor:
    """What the last purge published."""

    sequence: int
    epoch: int
    hole_end: int
    tag: int


def read_floor(directory, uuid):
    """Section 7.6: the floor of the greatest sequence, if there is one."""
    names = [entry.name for entry in directory.iterdir()]
    sequences = [int(name[6:], 16) for name in names if re.fullmatch(r"floor\.[0-9a-f]{16}", name)]
    if not sequences:
        return None
    path = directory / f"floor.{max(sequences):016x}"
    data = path.read_bytes()
    fields = checked(data[:64], 64, str(path))
    if fields.take(8) != b"ISOTFLR1" or fields.take(16) != uuid:
        raise Corrupt(f"{path} is not a floor of this container")
    floor = Floor(fields.u64(), fields.u64(), fields.u64(), fields.u64())
    if floor.sequence != max(sequences) or not floor.tag or floor.hole_end > floor.epoch:
        raise Corrupt(f"{path} contradicts itself")
    return floor


def ends_of_floor(path):
    """Section 7.6: how far the data files were named, by their numbers; None where the floor does not say so."""
    if len(data := path.read_bytes()[64:]) == 0:
        return None
    fields = checked(data, len(data) // 16 * 16 + 4, str(path))
    return {fields.u64(): fields.u64() for _ in range(len(data) // 16)}


def choose_runs(directory, uuid, base, log, whole_end, all_of_them=True):
    """Section 7.4: the chain of usable runs; without `all_of_them` no more than must be used. The log that is there ends at
    epoch `whole_end`."""
    floor, end_of_log = read_floor(directory, uuid), base + len(log)
    usable = []
    for entry in directory.iterdir():
        match = re.fullmatch(r"run\.(?:([0-9a-f]{16})\.)?([0-9a-f]{16})-([0-9a-f]{16})", entry.name)
        tag, start, end = (int(number or "0", 16) for number in match.groups()) if match else (0, 0, 0)
        valid = tag == floor.tag or (not tag and start >= floor.epoch) if floor else not tag
        needed = all_of_them or (floor and start < floor.epoch)
        if valid and needed and start < end and (end <= end_of_log or end > whole_end):
            try:
                run = open_run(directory, uuid, (start, end), tag)
            except Corrupt:
                continue
            known = log[max(64, end - base - 4096) : end - base]
            if end > whole_end:
                raise Corrupt(f"{run.what} ends behind the log")
            if not (floor and end < floor.epoch) and crc32c(known) != run.log_sum:
                if not tag:
                    continue
                raise Corrupt(f"the log has changed before the end of {run.what}")
            usable.append(run)
    chain, at = [], base
    while following := [run for run in usable if run.span[0] == at]:
        chain.append(max(following, key=lambda run: run.span))
        at = chain[-1].span[1]
    if floor and at < min(floor.epoch, end_of_log):
        raise Corrupt(f"the runs go to epoch {at}, and the log was purged up to {floor.epoch}")
    return chain
