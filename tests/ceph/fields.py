"""The fields that the tests of the engine archive, each byte of which is known.

What must stay true: the steps are those of the program's own clients (`isotach bench client`), byte for byte.
"""

from __future__ import annotations

import random
import struct
from functools import cache

# What a replaced field has in turn: in one object with its table, in one of its own, in two.
SIZES = [5_000, 300_000, 40_000, 300_000, 1_000_000, 5_000, 300_000, 40_000, 300_000, 9_000_000]
STEP_SIZE = 16_384
FIELDS_OF_A_STEP = 100
# The member that readers read which do not wait for writers.
KEPT = 100
NAME = struct.Struct("<4I")
LEVELS = [1000, 925, 850, 700, 500, 400, 300, 250, 200, 100]
PARAMS = [60, 75, 76, 129, 130, 131, 132, 133, 138, 155]
FORECAST = "class=od,expver=xxxx,stream=enfo,date=20240101,time=0000,domain=g,type=pf,levtype=pl"
WORD = (1 << 64) - 1


def version_bytes(writer: int, version: int) -> bytes:
    """The bytes of a version of a replaced field."""
    head = f"writer {writer} version {version} ".encode()
    return head + random.Random(f"{writer} {version}").randbytes(SIZES[version % len(SIZES)])


def check_version(found: bytes, writer: int) -> int:
    """Which version of a replaced field this is, and all of it."""
    version = int(found[:40].split()[3])
    assert found == version_bytes(writer, version), f"version {version} is not whole"
    return version


@cache
def middle() -> bytes:
    """What the fields of a step have between their names: the generator SplitMix64."""
    state, parts = 0, []
    for _ in range(STEP_SIZE // 8):
        state = (state + 0x9E3779B97F4A7C15) & WORD
        mixed = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & WORD
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & WORD
        parts.append(struct.pack("<Q", mixed ^ (mixed >> 31)))
    return b"".join(parts)[NAME.size : -NAME.size]


def steps_request(member: int, steps: range) -> str:
    """The request for all fields of some steps."""
    lists = {"step": steps, "levelist": LEVELS, "param": PARAMS}
    named = [f"{name}={'/'.join(map(str, values))}" for name, values in lists.items()]
    return ",".join([FORECAST, f"number={member}", *named])


def check_steps(found: bytes, member: int, steps: range) -> None:
    """Whether these are the fields of some steps, each once and byte for byte, in any order."""
    names = []
    for at in range(0, len(found), STEP_SIZE):
        field = found[at : at + STEP_SIZE]
        name = field[: NAME.size]
        assert field == name + middle() + name, f"the field at byte {at} is not whole"
        names.append(NAME.unpack(name))
    pairs = [(level, param) for level in range(len(LEVELS)) for param in range(len(PARAMS))]
    assert sorted(names) == [(member, step, *pair) for step in steps for pair in pairs]
