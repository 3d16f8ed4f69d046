"""What a power failure took from the end of a log (docs/FORMAT.md section 8.3)."""

from pathlib import Path

from format_log import RECOVERY, TRAILER, Damaged, Frame, find_frame

SECTOR = 512


def is_recorded(directory):
    """Whether the name of this start of the machine is there."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().replace("-", "")[:16]
    return (directory / f"boot.{boot}").exists()


def _reads_as_zeros(log, start, end, first_alone):
    """Whether a sector holds nothing but zeros of what lies from start to end."""
    while start < end:
        stop = min(end, start - start % SECTOR + SECTOR)
        if not any(log[start:stop]):
            return True
        if first_alone:
            return False
        start = stop
    return False


def lost_until(log, position, claimed, marker, directory):
    """Where the log goes on behind bytes that were lost: a position, or None if none were. `claimed` is the length of
    damaged bytes, None for strange ones."""
    found = log.find(marker, position + 1)
    following = found if found >= 0 else len(log)
    end = following if claimed is None else min(following, position + claimed) - TRAILER
    if not _reads_as_zeros(log, position, end, claimed is None):
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
