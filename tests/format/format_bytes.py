"""Numbers, checksums and extents of the posix engine's files (docs/FORMAT.md, conventions and section 6)."""

import struct
from dataclasses import dataclass

CHUNK = 65536
DIGEST = 32


class Corrupt(Exception):
    """Damage: bytes that contradict the format or a checksum."""


class Unsupported(Exception):
    """Something that only a newer program understands."""


class NotThere(Exception):
    """The directory is not what was asked for."""


def _tables():
    first = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = (value >> 1) ^ 0x82F63B78 if value & 1 else value >> 1
        first.append(value)
    tables = [first]
    for _ in range(7):
        tables.append([(value >> 8) ^ first[value & 0xFF] for value in tables[-1]])
    return tables


T0, T1, T2, T3, T4, T5, T6, T7 = _tables()


def crc32c(data):
    """CRC32C of bytes, eight at a time."""
    crc = 0xFFFFFFFF
    whole = len(data) & ~7
    for low, high in struct.iter_unpack("<II", data[:whole]):
        low ^= crc
        crc = (
            T7[low & 0xFF]
            ^ T6[(low >> 8) & 0xFF]
            ^ T5[(low >> 16) & 0xFF]
            ^ T4[low >> 24]
            ^ T3[high & 0xFF]
            ^ T2[(high >> 8) & 0xFF]
            ^ T1[(high >> 16) & 0xFF]
            ^ T0[high >> 24]
        )
    for byte in data[whole:]:
        crc = (crc >> 8) ^ T0[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


class Fields:
    """Takes numbers and bytes off the front of a byte string; too few are damage."""

    def __init__(self, data, what):
        self.data, self.at, self.what = data, 0, what

    def take(self, count):
        end = self.at + count
        if end > len(self.data):
            raise Corrupt(f"{self.what} is too short")
        taken, self.at = self.data[self.at : end], end
        return taken

    def number(self, size):
        return int.from_bytes(self.take(size), "little")

    def u8(self):
        return self.number(1)

    def u16(self):
        return self.number(2)

    def u32(self):
        return self.number(4)

    def u64(self):
        return self.number(8)

    def more(self):
        return self.at < len(self.data)


def checked(data, size, what):
    """`data` without its last four bytes, which are the checksum of the others."""
    if len(data) != size:
        raise Corrupt(f"{what} has {len(data)} bytes instead of {size}")
    if crc32c(data[:-4]) != int.from_bytes(data[-4:], "little"):
        raise Corrupt(f"the checksum of {what} is wrong")
    return Fields(data[:-4], what)


@dataclass(frozen=True)
class Extent:
    """Bytes of a data file, and what their chunks sum to."""

    file: int
    position: int
    length: int
    sums: tuple


def read_extent(fields):
    """Takes an extent off."""
    file, position, length = fields.u64(), fields.u64(), fields.u64()
    chunks = max(1, -(-length // CHUNK))
    if position + length >= 1 << 64:
        raise Corrupt(f"{fields.what}: an extent past 2^64")
    sums = struct.unpack(f"<{chunks}I", fields.take(4 * chunks))
    return Extent(file, position, length, sums)


@dataclass(frozen=True)
class Kept:
    """A value that is kept in a data file, and its SHA-256."""

    extent: Extent
    digest: bytes


def read_kept(fields):
    """Takes an extent and a digest off."""
    return Kept(read_extent(fields), fields.take(DIGEST))


class DataFiles:
    """The data files of a container."""

    def __init__(self, folder):
        self.folder = folder

    def read(self, extent, skip=0, length=None):
        """Bytes of an extent, every chunk that is touched being checked whole."""
        length = extent.length - skip if length is None else length
        first, last = skip // CHUNK, max(skip // CHUNK + 1, -(-(skip + length) // CHUNK))
        start, end = first * CHUNK, min(last * CHUNK, extent.length)
        path = self.folder / f"{extent.file:016x}"
        try:
            with path.open("rb") as file:
                file.seek(extent.position + start)
                data = file.read(end - start)
        except FileNotFoundError as error:
            raise Corrupt(f"data file {path} is missing") from error
        if len(data) != end - start:
            raise Corrupt(f"data file {path} ends too early")
        for number in range(first, last):
            at = number * CHUNK - start
            if crc32c(data[at : at + CHUNK]) != extent.sums[number]:
                raise Corrupt(f"chunk {number} at {extent.position} of {path} fails its checksum")
        return data[skip - start : skip - start + length]
