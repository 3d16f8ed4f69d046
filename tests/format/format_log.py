"""Finding the frames of a log (docs/FORMAT.md section 4)."""

import struct
from dataclasses import dataclass

from format_bytes import Corrupt, crc32c

HEADER, TRAILER, MIN_FRAME = 48, 8, 56
RECOVERY = 3
GAP = 4
SETTLED = 1


class Damaged(Corrupt):
    """A frame whose bytes are not what was written: changed, or lost. The first `reach` were one write."""

    def __init__(self, what, reach=HEADER):
        super().__init__(what)
        self.reach = reach


@dataclass
class Frame:
    """A frame that was found whole."""

    length: int
    writer: int
    sequence: int
    kind: int
    body: bytes
    settled: bool = False


def read_header(data):
    """Length, salt, writer, sequence, kind, flags, body sum, if the header sum is right."""
    if len(data) < HEADER or crc32c(data[8:44]) != int.from_bytes(data[44:48], "little"):
        return None
    length, salt, writer, sequence, kind, flags, body_sum, _zero = struct.unpack("<IIQQHHII", data[8:44])
    return (length, salt, writer, sequence, kind, flags, body_sum) if length >= MIN_FRAME else None


def find_frame(log, position, marker):
    """What stands at a position: a Frame, ("torn" or "strange", bytes to go on) or ("pending", 0). Damage is raised."""
    n = len(log) - position
    where = f"the log at byte {position}"

    def later(limit):
        """The first later marker wholly in the first `limit` bytes, or 0."""
        at = log.find(marker, position + 1, position + min(limit, n))
        return at - position if at >= 0 else 0

    def begun(end):
        """How many bytes of a marker that goes on past the first `end` bytes stand at their end."""
        seen = log[position + end - 7 : position + end]
        return next((count for count in range(7, 0, -1) if seen.endswith(marker[:count])), 0)

    header = read_header(log[position : position + HEADER])
    if log[position : position + 8] != marker:
        if header:
            raise Damaged(f"{where}: the marker of a frame is damaged", header[0] - TRAILER)
        strange = later(n)
        if strange:
            return "strange", strange
        return ("pending", 0) if n < MIN_FRAME else ("strange", n - 7)
    if n < MIN_FRAME:
        torn = later(n)
        return ("torn", torn) if torn else ("pending", 0)
    if not header:
        torn = later(MIN_FRAME + 7)
        if torn:
            return "torn", torn
        if n < MIN_FRAME + 7 and n - begun(n) < MIN_FRAME:
            return "pending", 0
        raise Damaged(f"{where}: the header of a frame fails its checksum")
    length, salt, writer, sequence, kind, flags, body_sum = header
    if n < length:
        torn = later(n)
        return ("torn", torn) if torn else ("pending", 0)
    if crc32c(log[position + HEADER : position + length]) == body_sum:
        body = log[position + HEADER : position + length - TRAILER]
        if salt:
            key = salt.to_bytes(4, "little") * (len(body) // 4 + 1)
            body = bytes(a ^ b for a, b in zip(body, key, strict=False))
        return Frame(length, writer, sequence, kind, body, bool(flags & SETTLED))
    torn = later(length)
    if torn:
        return "torn", torn
    if begun(length):
        return "torn", length - begun(length)
    raise Damaged(f"{where}: the body of a frame fails its checksum", length - TRAILER)
