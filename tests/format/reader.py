"""An independent reader of the posix engine's files, written from docs/FORMAT.md alone.

It and the modules beside it use nothing but the standard library. Use it as a program:

    python3 reader.py POOL CONTAINER [--no-runs] [--at SNAPSHOT] --json

What must stay true: it never learns from the engine's code; where the page is silent, the page is at fault.
"""

import argparse
import json
import sys
from pathlib import Path

from format_bytes import Corrupt, DataFiles, Kept, NotThere, Unsupported, checked, crc32c
from format_flushed import flushed_to
from format_log import GAP, RECOVERY, Damaged, Frame, find_frame
from format_lost import lost_until
from format_runs import apply_entry, choose_runs, read_entries, split_path
from format_state import (
    ARRAY,
    KEY_VALUE,
    SEGMENT,
    SYSTEM,
    TYPES,
    State,
    Value,
    apply_update,
    holds,
    read_records,
    read_segment,
)


def read_superblock(directory, magic):
    """The uuid and the marker of a pool or container."""
    path = directory / "superblock"
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotThere(f"{directory} has no superblock") from error
    if data[:8] != magic:
        raise NotThere(f"{directory} is something else")
    fields = checked(data, 64, str(path))
    fields.take(8)
    version, mandatory, _optional, _zero = (fields.u32() for _ in range(4))
    if version > 1 or mandatory != 0:
        raise Unsupported(f"{path}: version {version}, features {mandatory:#x}")
    return fields.take(16), fields.take(8)


class Container:
    """A container, read whole; with `end`, as it was at that epoch."""

    def __init__(self, pool, label, use_runs=True, end=None):
        pool = Path(pool)
        read_superblock(pool, b"ISOTPOOL")
        self.directory = pool / "containers" / label
        self.uuid, self.marker = read_superblock(self.directory, b"ISOTCONT")
        self.data = DataFiles(self.directory / "data")
        self.log = (self.directory / "log.0000000000000001").read_bytes()
        self.base = self._check_log_header()
        self.whole_end = self.base + len(self.log)
        flushed = flushed_to(self.directory, self.uuid)
        if self.whole_end < flushed:
            raise Corrupt(f"the log was flushed up to epoch {flushed} and ends before")
        if end is not None:
            self.log = self.log[: end - self.base]
        self.state = State()
        self.counted = self.failed = self.torn = 0
        self.runs = []
        self._replay(self._load_runs(use_runs))

    def _check_log_header(self):
        fields = checked(self.log[:64], 64, "the header of the log")
        magic, generation, base, uuid = fields.take(8), fields.u64(), fields.u64(), fields.take(16)
        if (magic, generation, uuid) != (b"ISOTLOG1", 1, self.uuid):
            raise Corrupt("the header of the log is another's")
        return base

    def _load_runs(self, use_runs):
        chain = choose_runs(self.directory, self.uuid, self.base, self.log, self.whole_end, use_runs)
        for run in chain:
            for name, tag, payload, epoch in read_entries(run):
                apply_entry(self.state, split_path(name, run.what), tag, payload, epoch, run.what)
        self.runs = [run.span for run in chain]
        self.run_files = [Path(run.what) for run in chain]
        return chain[-1].span[1] - self.base if chain else 64

    def _replay(self, position):
        sequences = {}
        while position < len(self.log):
            try:
                found, damage = find_frame(self.log, position, self.marker), None
            except Damaged as error:
                found, damage = ("damaged", 0), error
            if isinstance(found, Frame):
                self._take(found, self.base + position + found.length, sequences)
                position += found.length
                continue
            if found[0] == "pending":
                return
            self.torn += 1
            if found[0] != "torn":
                reach = damage.reach if damage else len(self.marker)
                lost = lost_until(self.log, position, reach, self.marker, self.directory)
                if lost is not None:
                    position = lost
                    continue
            if damage:
                raise damage
            position += found[1]

    def _take(self, frame, epoch, sequences):
        last = sequences.get(frame.writer)
        if last is not None and frame.sequence <= last:
            return
        if last is not None and frame.sequence > last + 1:
            raise Corrupt(f"frames of a writer are missing before epoch {epoch}")
        sequences[frame.writer] = frame.sequence
        if frame.kind == 1:
            self._transaction(frame.body, epoch)
        elif frame.kind == GAP:
            sequences.clear()
        elif frame.kind not in (2, RECOVERY) and frame.kind < 0x8000:
            raise Unsupported(f"frame of kind {frame.kind}")

    def _transaction(self, body, epoch):
        conditions, updates = read_records(body, f"the frame that ends at epoch {epoch}")
        if not all(holds(self.state, *condition, epoch) for condition in conditions):
            self.failed += 1
            return
        self.counted += 1
        for operation, cell, argument in updates:
            if operation == SEGMENT:
                what = f"a segment of the frame that ends at epoch {epoch}"
                for update in read_segment(self.data.read(argument), what):
                    apply_update(self.state, *update, epoch)
            else:
                apply_update(self.state, operation, cell, argument, epoch)

    def prepared(self):
        """The prepared transactions: all their updates, those in segments included."""
        stages = {}
        for name, (files, updates) in self.state.prepared().items():
            stages[name] = []
            for operation, cell, argument in updates:
                if operation == SEGMENT:
                    if argument.file not in files:
                        raise Corrupt(f"the prepared transaction {name} does not name a data file of its own")
                    stages[name] += read_segment(self.data.read(argument), f"a segment of the stage {name}")
                else:
                    stages[name].append((operation, cell, argument))
        return stages

    def value(self, found):
        """The bytes of a value."""
        return self.data.read(found.stored.extent) if isinstance(found.stored, Kept) else found.stored

    def array(self, found):
        """All bytes, holes as zeros."""
        out = bytearray(found.size)
        for part in found.parts:
            out[part.offset : part.offset + part.length] = self.data.read(part.extent, part.skip, part.length)
        return bytes(out)

    def _describe(self, found):
        if isinstance(found, Value):
            return {"value": self.value(found).hex()}
        return {"size": found.size, "crc32c": crc32c(self.array(found))}

    def contents(self):
        """What the container holds, in the words that the engine's example prints."""
        objects = []
        for number, cells in sorted(self.state.objects.items()):
            if not cells or number >> 120 == SYSTEM:
                continue
            told = {"id": f"{number:032x}"}
            if TYPES[number >> 120] == KEY_VALUE:
                told["entries"] = {key.hex(): self.value(v).hex() for (key, _), v in sorted(cells.items())}
            elif TYPES[number >> 120] == ARRAY:
                told["array"] = self._describe(cells[b"", b""])
            else:
                told["dkeys"] = {}
                for (dkey, akey), found in sorted(cells.items()):
                    told["dkeys"].setdefault(dkey.hex(), {})[akey.hex()] = self._describe(found)
            objects.append(told)
        return {"objects": objects, "snapshots": self.state.snapshots()}


def main():
    """The program."""
    parser = argparse.ArgumentParser(description="Read a container of the posix engine.")
    parser.add_argument("pool")
    parser.add_argument("container")
    parser.add_argument("--no-runs", action="store_true", help="replay all of the log that is there")
    parser.add_argument("--at", help="as it was when this snapshot was made")
    parser.add_argument("--json", action="store_true", help="print all that the container holds")
    arguments = parser.parse_args()
    try:
        place = (arguments.pool, arguments.container, not arguments.no_runs)
        container = Container(*place)
        if arguments.at:
            snapshots = container.state.snapshots()
            if arguments.at not in snapshots:
                raise NotThere(f"snapshot {arguments.at}")
            container = Container(*place, snapshots[arguments.at])
        contents = container.contents()
    except (Corrupt, Unsupported, NotThere) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    if arguments.json:
        json.dump(contents, sys.stdout, indent=1)
        print()
    else:
        counts = (
            f"{container.counted} transactions replayed, {container.failed} failed, {container.torn} torn"
        )
        print(f"{len(contents['objects'])} objects; {len(container.runs)} runs, {counts}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
