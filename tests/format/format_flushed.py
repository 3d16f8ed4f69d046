"""Section 8.7: how far the log was flushed."""

import struct

from format_bytes import Corrupt, crc32c
from format_lost import this_boot

SLOT = 32
SIZE = 4096


def flushed_to(directory, uuid):
    """The greatest epoch of the notes that count; 0 without any."""
    try:
        data = (directory / "flushed").read_bytes()
    except FileNotFoundError:
        return 0
    header = b"ISOTFLU1" + uuid + bytes(4)
    if len(data) != SIZE or data[:SLOT] != header + struct.pack("<I", crc32c(header)):
        raise Corrupt(f"{directory / 'flushed'} is not this container's")
    flushed = 0
    for at in range(SLOT, SIZE, SLOT):
        slot = data[at : at + SLOT]
        if slot == bytes(SLOT):
            continue
        epoch, boot, _writer, zero, checksum = struct.unpack("<QQQII", slot)
        if zero or checksum != crc32c(slot[:-4]):
            raise Corrupt(f"a note at byte {at} of {directory / 'flushed'}")
        if boot in (0, this_boot()):
            flushed = max(flushed, epoch)
    return flushed
