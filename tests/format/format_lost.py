"""What a power failure took from the end of a log (docs/FORMAT.md section 8.3)."""

from pathlib import Path

from format_log import RECOVERY, Damaged, Frame, find_frame

SECTOR = 512


def this_boot():
    """The number of this start of the machine."""
    return int(Path("/proc/sys/kernel/random/boot_id").read_text().replace("-", "")[:16], 16)


def is_recorded(directory):
    """Whether the name of this start of the machine is there."""
    return (directory / f"boot.{this_boot():016x}").exists()


def _reads_as_zeros(log, start, reach, end):
    """Whether one of the sectors that the bytes from start to reach lie in has nothing but zeros up to end."""
    at = start
    while at < min(reach, end):
        stop = min(end, at - at % SECTOR + SECTOR)
        if not any(log[at:stop]):
            return True
        at = stop
    return False


def lost_until(log, position, reach, marker, directory):
    """Where the log goes on behind bytes that were lost: a position, or None if none were. The first `reach` of them were
    one write."""
    found = log.find(marker, position + 1)
    following = found if found >= 0 else len(log)
    if not _reads_as_zeros(log, position, position + reach, following):
        return None
    last, at = {}, following
    while at < len(log):
        try:
            here = find_frame(log, at, marker)
        except Damaged:
            found = log.find(marker, at + 1)
            at = found if found >= 0 else len(log)
            continue
        if not isinstance(here, Frame):
            if here[0] == "pending":
                break
            at += here[1]
            continue
        if here.kind == RECOVERY:
            return at
        if here.settled and last.get(here.writer) == here.sequence - 1:
            return None
        last[here.writer] = here.sequence
        at += here.length
    return None if is_recorded(directory) else len(log)
