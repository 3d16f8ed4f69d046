"""Cells, updates, verdicts: what a transaction says and does (docs/FORMAT.md section 5)."""

import hashlib
from dataclasses import dataclass, field

from format_bytes import Corrupt, Extent, Fields, Kept, read_extent, read_kept

GENERAL, KEY_VALUE, ARRAY, SYSTEM = 0, 8, 13, 255
TYPES = dict.fromkeys([0, *range(2, 8)], GENERAL) | dict.fromkeys(range(8, 11), KEY_VALUE)
TYPES |= dict.fromkeys(range(11, 14), ARRAY) | {255: SYSTEM}
SNAPSHOTS = 0xFF010001 << 96
PREPARED = SNAPSHOTS | 1
WINDOW = 64 << 20
MAX_END = (1 << 63) - 1
MAX_SEGMENT = 1 << 30


@dataclass(frozen=True, order=True)
class Cell:
    """The address of a value or of bytes."""

    object: int
    dkey: bytes
    akey: bytes

    def otype(self):
        return TYPES[self.object >> 120]


def check_object(number, what):
    """Refuses an id of an unknown type."""
    if number >> 120 not in TYPES:
        raise Corrupt(f"{what}: object id of unknown type {number >> 120}")


@dataclass
class Value:
    """A value: its bytes, or a `Kept`."""

    stored: object


@dataclass(frozen=True)
class Part:
    """`length` bytes at `offset` are those of `extent` from `skip` on."""

    offset: int
    length: int
    skip: int
    extent: Extent


@dataclass
class Bytes:
    """Bytes by offset: a size, and parts that do not overlap, in no order."""

    size: int = 0
    parts: list = field(default_factory=list)

    def punch(self, start, end):
        kept = []
        for part in self.parts:
            stop = part.offset + part.length
            if part.offset < min(start, stop):
                kept.append(Part(part.offset, min(start, stop) - part.offset, part.skip, part.extent))
            if max(part.offset, end) < stop:
                cut = max(part.offset, end) - part.offset
                kept.append(Part(part.offset + cut, part.length - cut, part.skip + cut, part.extent))
        self.parts = kept

    def write(self, part):
        if part.length > 0:
            self.punch(part.offset, part.offset + part.length)
            self.parts.append(part)
            self.size = max(self.size, part.offset + part.length)

    def set_size(self, size):
        self.punch(size, 1 << 64)
        self.size = size


class State:
    """What a container's history amounts to: contents of cells, and their last changes."""

    def __init__(self):
        self.objects = {}  # object: {(dkey, akey): Value or Bytes}
        self.changes = {}  # object: {(dkey, akey): epoch}
        self.dkey_changes = {}
        self.object_changes = {}

    def find(self, cell):
        return self.objects.get(cell.object, {}).get((cell.dkey, cell.akey))

    def last_change(self, cell):
        return max(
            self.changes.get(cell.object, {}).get((cell.dkey, cell.akey), 0),
            self.dkey_changes.get((cell.object, cell.dkey), 0),
            self.object_changes.get(cell.object, 0),
        )

    def snapshots(self):
        """Names of snapshots, and the epochs that they name (section 5.8)."""
        cells = self.objects.get(SNAPSHOTS, {})
        return {name.decode("ascii"): self.last_change(Cell(SNAPSHOTS, name, b"")) for name, _ in cells}

    def prepared(self):
        """Names of prepared transactions, and what their values say (section 5.9)."""
        cells = self.objects.get(PREPARED, {})
        return {name.decode("ascii"): read_stage(found, name) for (name, _), found in cells.items()}

    def _named(self, cell, epoch):
        self.changes.setdefault(cell.object, {})[cell.dkey, cell.akey] = epoch

    def put(self, cell, value, epoch):
        self.objects.setdefault(cell.object, {})[cell.dkey, cell.akey] = value
        self._named(cell, epoch)

    def remove(self, cell, epoch):
        self.objects.get(cell.object, {}).pop((cell.dkey, cell.akey), None)
        self._named(cell, epoch)

    def _bytes(self, cell):
        found = self.find(cell)
        if not isinstance(found, Bytes):
            found = self.objects.setdefault(cell.object, {})[cell.dkey, cell.akey] = Bytes()
        return found

    def write(self, cell, part, epoch):
        self._bytes(cell).write(part)
        self._named(cell, epoch)

    def set_size(self, cell, size, epoch):
        self._bytes(cell).set_size(size)
        self._named(cell, epoch)

    def punch(self, cell, offset, length, epoch):
        found = self.find(cell)
        if isinstance(found, Bytes):
            found.punch(offset, offset + length)
        self._named(cell, epoch)

    def remove_dkey(self, number, dkey, epoch):
        cells = self.objects.get(number, {})
        for key in [key for key in cells if key[0] == dkey]:
            del cells[key]
        self.dkey_changes[number, dkey] = epoch

    def destroy(self, number, epoch):
        self.objects.pop(number, None)
        self.object_changes[number] = epoch


PUT, PUT_EXTENT, REMOVE, WRITE, SET_SIZE, PUNCH, REMOVE_DKEY, DESTROY, SEGMENT = range(1, 10)
ABSENT, PRESENT, EQUALS, UNCHANGED = range(16, 20)


def check_record(operation, cell, argument, what):
    """Section 5.2: what no record may say."""
    otype, d, a = cell.otype(), len(cell.dkey), len(cell.akey)
    if operation == REMOVE_DKEY:
        sound = otype == GENERAL and d > 0 and a == 0
    elif operation == DESTROY:
        sound = d == 0 and a == 0 and otype != SYSTEM
    elif operation == SEGMENT:
        sound = cell == Cell(0, b"", b"") and argument.length <= MAX_SEGMENT
    elif otype in (KEY_VALUE, SYSTEM):
        sound = d > 0 and a == 0
    else:
        sound = {GENERAL: d > 0 and a > 0, ARRAY: d == 0 and a == 0}[otype]
    if operation in (PUT, PUT_EXTENT, REMOVE, EQUALS):
        sound = sound and otype != ARRAY
    elif operation in (WRITE, SET_SIZE, PUNCH):
        sound = sound and otype not in (KEY_VALUE, SYSTEM)
    if operation == WRITE:
        sound = sound and argument.offset + argument.length <= MAX_END
    elif operation == SET_SIZE:
        sound = sound and argument <= MAX_END
    elif operation == PUNCH:
        sound = sound and argument[0] <= MAX_END
    if not sound:
        raise Corrupt(f"{what}: operation {operation} says what it may not")


def read_records(body, what):
    """The preconditions and the updates of a transaction: (operation, cell, argument)."""
    fields = Fields(body, what)
    conditions, updates = [], []
    while fields.more():
        operation, _zero, dkey, akey, _zero2 = (
            fields.u8(),
            fields.u8(),
            fields.u16(),
            fields.u16(),
            fields.u16(),
        )
        number = fields.u64() << 64 | fields.u64()
        check_object(number, what)
        cell = Cell(number, fields.take(dkey), fields.take(akey))
        if operation in (PUT, EQUALS):
            argument = fields.take(fields.u32())
        elif operation == PUT_EXTENT:
            argument = read_kept(fields)
        elif operation == WRITE:
            offset = fields.u64()
            extent = read_extent(fields)
            argument = Part(offset, extent.length, 0, extent)
        elif operation == SEGMENT:
            argument = read_extent(fields)
        elif operation in (SET_SIZE, UNCHANGED):
            argument = fields.u64()
        elif operation == PUNCH:
            argument = (fields.u64(), fields.u64())
        elif operation in (REMOVE, REMOVE_DKEY, DESTROY, ABSENT, PRESENT):
            argument = None
        else:
            raise Corrupt(f"{what}: operation {operation}")
        if operation >= ABSENT and updates:
            raise Corrupt(f"{what}: a precondition behind an update")
        check_record(operation, cell, argument, what)
        (conditions if operation >= ABSENT else updates).append((operation, cell, argument))
    return conditions, updates


def read_segment(body, what):
    """The updates of a segment."""
    conditions, updates = read_records(body, what)
    if conditions or any(operation == SEGMENT for operation, _, _ in updates):
        raise Corrupt(f"{what}: a segment holds what it may not")
    return updates


def read_stage(found, name):
    """The numbers of the data files of a prepared transaction, and its updates and segments."""
    what = f"the prepared transaction {name}"
    if isinstance(found.stored, Kept):
        raise Corrupt(f"{what}: its value is not in the record")
    fields = Fields(found.stored, what)
    files = [fields.u64() for _ in range(fields.u32())]
    conditions, updates = read_records(found.stored[4 + 8 * len(files) :], what)
    if conditions:
        raise Corrupt(f"{what}: a precondition")
    return files, updates


def apply_update(state, operation, cell, argument, epoch):
    """Section 5.4."""
    if operation in (PUT, PUT_EXTENT):
        state.put(cell, Value(argument), epoch)
    elif operation == REMOVE:
        state.remove(cell, epoch)
    elif operation == WRITE:
        state.write(cell, argument, epoch)
    elif operation == SET_SIZE:
        state.set_size(cell, argument, epoch)
    elif operation == PUNCH:
        state.punch(cell, *argument, epoch)
    elif operation == REMOVE_DKEY:
        state.remove_dkey(cell.object, cell.dkey, epoch)
    elif operation == DESTROY:
        state.destroy(cell.object, epoch)


def holds(state, operation, cell, argument, epoch):
    """Section 5.5."""
    found = state.find(cell)
    if operation == ABSENT:
        return found is None
    if operation == PRESENT:
        return found is not None
    if operation == EQUALS:
        if not isinstance(found, Value):
            return False
        stored = found.stored
        if isinstance(stored, Kept):
            same_length = stored.extent.length == len(argument)
            return same_length and stored.digest == hashlib.sha256(argument).digest()
        return stored == argument
    return argument + WINDOW >= epoch and state.last_change(cell) <= argument
