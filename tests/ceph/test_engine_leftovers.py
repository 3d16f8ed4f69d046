"""What writers leave in RADOS that are killed. `make test-ceph` runs these.

What must stay true: what was flushed is there, the next writer is not held up, and bytes that nothing names are given back.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from clusters import until
from engine import RadosStore
from fields import SIZES, check_version
from parts import Replacer

pytestmark = pytest.mark.faults
Say = Callable[[str], None]
CHUNK = 65_536
MOST_TRIES = 20
# What entries and headers of a container take.
OVERHEAD = 65_536


def test_of_a_killed_writer_all_that_was_flushed_is_there_and_the_next_one_works(
    store: RadosStore, measured: Say
) -> None:
    store.ok("init")
    with Replacer(store, 0, flush_every=10) as writer:
        until(lambda: writer.fed > 25 or writer.failure, "two flushes, and some more versions are taken")
        assert not writer.failure, writer.failure
    found = check_version(store.read(0), 0)
    assert writer.flushed - 1 <= found < writer.fed, (writer.flushed, found)
    store.archive(1, b"the next writer")
    eager = store.but(grace=0)
    first, again = (sum(one["freed_bytes"] for one in eager.said("purge", "--doit")) for _ in range(2))
    assert (again, check_version(store.read(0), 0), store.read(1)) == (0, found, b"the next writer")
    store.ok("verify", "--data")
    stats = store.said("stats")[0]
    # What was taken and not flushed stays until the dataset is wiped.
    unflushed = sum(SIZES[version % len(SIZES)] for version in range(writer.flushed, writer.fed))
    left = stats["container_bytes"] - stats["bytes"]
    assert stats["replaced_fields"] == 0 and left <= unflushed + OVERHEAD, stats
    measured(f"{writer.flushed} versions flushed, {writer.fed} fed; purge freed {first} bytes; {left} stay")


def held_after_a_kill(store: RadosStore) -> int:
    """Kills a writer of a field of many pieces; how many bytes nobody knows of, which are too young to be given back."""
    with Replacer(store, 0) as writer:
        # The tenth version is the big one.
        until(lambda: writer.given >= len(SIZES) or writer.failure, "the big version is under way")
        assert not writer.failure, writer.failure
    found = check_version(store.read(0), 0)
    assert writer.flushed - 1 <= found < writer.fed, (writer.flushed, found)
    return store.said("purge", "--doit")[0]["held_bytes"]


def test_purge_gives_back_pieces_of_a_field_whose_writer_was_killed_before_it_named_them(
    store: RadosStore, measured: Say
) -> None:
    in_pieces = store.but(chunk=CHUNK)
    store.ok("init")
    # The kill may come before the first piece or after the last.
    tries = [held_after_a_kill(in_pieces)]
    while not tries[-1] and len(tries) < MOST_TRIES:
        tries.append(held_after_a_kill(in_pieces))
    assert tries[-1] >= CHUNK, tries
    given = store.but(grace=0).said("purge", "--doit")[0]
    assert (given["freed_bytes"], given["held_bytes"]) == (tries[-1], 0), (tries, given)
    store.archive(0, b"goes on")
    assert store.read(0) == b"goes on"
    store.ok("verify", "--data")
    measured(f"{given['freed_bytes'] / CHUNK:.1f} pieces of {CHUNK} bytes given back, at try {len(tries)}")
