"""What the round-trip tests know about GRIB files: their messages, their keys, and ways to spoil them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import eccodes

from fdb_side import mars_keys

# What a file without MARS labels is given. A key that the messages carry themselves is left alone.
LABELS = {"class": "rd", "expver": "rtrp", "stream": "oper", "type": "fc"}


@dataclass
class Message:
    """One message of a file: its bytes and its MARS keys."""

    data: bytes
    keys: dict[str, str]

    @property
    def name(self) -> tuple[tuple[str, str], ...]:
        """The keys as something that can be compared."""
        return tuple(sorted(self.keys.items()))


def read_messages(path: Path) -> list[Message]:
    """The messages of a file, without the padding between them; raises what ecCodes raises on a bad one."""
    found = []
    with path.open("rb") as stream:
        while (handle := eccodes.codes_grib_new_from_file(stream)) is not None:
            found.append(Message(eccodes.codes_get_message(handle), mars_keys(handle)))
            eccodes.codes_release(handle)
    return found


def is_whole(path: Path) -> bool:
    """Whether ecCodes reads the file to its end and finds at least one message."""
    try:
        return bool(read_messages(path))
    except eccodes.CodesInternalError:
        return False


def labels(messages: list[Message]) -> dict[str, str]:
    """The labels that the messages lack, to be given on the command line."""
    carried = set(messages[0].keys)
    return {name: value for name, value in LABELS.items() if name not in carried}


def latest(messages: list[Message]) -> list[Message]:
    """The messages that stay visible: of those with the same keys, the last. Without MARS labels all do: their keys
    also tell levels that MARS has no words for.
    """
    if any("class" not in message.keys for message in messages):
        return messages
    return list({message.name: message for message in messages}.values())


def without_end(messages: list[bytes], number: int) -> bytes:
    """The messages with the end marker of one of them (counted from 1) overwritten."""
    spoiled = list(messages)
    spoiled[number - 1] = spoiled[number - 1][:-4] + b"\0\0\0\0"
    return b"".join(spoiled)


def cut_short(messages: list[bytes]) -> bytes:
    """The messages with the last one cut in the middle."""
    return b"".join(messages[:-1]) + messages[-1][: len(messages[-1]) // 2]
