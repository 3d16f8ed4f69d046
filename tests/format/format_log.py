"""Finding the frames of a log (docs/FORMAT.md section 4)."""

import struct
from dataclasses import dataclass

from format_bytes import Corrupt, crc32c

HEADER, TRAILER, MIN_FRAME = 40, 8, 48


@dataclass
class Frame:
    """A frame that was found whole."""

    length: int
    writer: int
    sequence: int
    kind: int
    body: bytes


def read_header(data):
    """Length, salt, writer, sequence, kind, body sum, if the header sum is right."""
    if len(data) < HEADER or crc32c(data[8:36]) != int.from_bytes(data[36:40], "little"):
        return None
    length, salt, writer, sequence, kind, _zero, body_sum = struct.unpack("<IIQIHHI", data[8:36])
    return (length, salt, writer, sequence, kind, body_sum) if length >= MIN_FRAME else None


def find_frame(log, position, marker):
    """What stands at a position: a Frame, ("torn", bytes to go on) or ("pending", 0). Damage is raised."""
    n = len(log) - position
    where = f"the log at byte {position}"

    def later(limit):
        """The first later marker wholly in the first `limit` bytes, or 0."""
        at = log.find(marker, position + 1, position + min(limit, n))
        return at - position if at >= 0 else 0

    header = read_header(log[position : position + HEADER])
    if log[position : position + 8] != marker:
        if header:
            raise Corrupt(f"{where}: the marker of a frame is damaged")
        torn = later(n)
        if torn:
            return "torn", torn
        return ("pending", 0) if n < MIN_FRAME else ("torn", n - 7)
    if n < MIN_FRAME:
        torn = later(n)
        return ("torn", torn) if torn else ("pending", 0)
    if not header:
        torn = later(MIN_FRAME)
        if torn:
            return "torn", torn
        raise Corrupt(f"{where}: the header of a frame fails its checksum")
    length, salt, writer, sequence, kind, body_sum = header
    if n < length:
        torn = later(n)
        return ("torn", torn) if torn else ("pending", 0)
    if crc32c(log[position + HEADER : position + length]) == body_sum:
        body = log[position + HEADER : position + length - TRAILER]
        if salt:
            key = salt.to_bytes(4, "little") * (len(body) // 4 + 1)
            body = bytes(a ^ b for a, b in zip(body, key, strict=False))
        return Frame(length, writer, sequence, kind, body)
    torn = later(length + 7)
    if torn:
        return "torn", torn
    if any(log.endswith(marker[:count]) and n - count < length for count in range(1, 8)):
        return "pending", 0
    raise Corrupt(f"{where}: the body of a frame fails its checksum")
