"""What writers leave in RADOS that are killed. `make test-ceph` runs these.

What must stay true: what was flushed is there, the next writer is not held up, and bytes that nothing names are given back.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from clusters import Cluster, until
from engine import RadosStore, key_of
from fields import SIZES, check_version, version_bytes
from parts import Part, Replacer

pytestmark = pytest.mark.faults
Say = Callable[[str], None]
CHUNK = 65_536
# What entries and headers of a container take.
OVERHEAD = 65_536


def test_of_a_killed_writer_all_that_was_flushed_is_there_and_the_next_one_works(
    store: RadosStore, measured: Say
) -> None:
    store.ok("init")
    writer = Replacer(store, 0, flush_every=10)
    until(lambda: writer.fed > 25 or writer.failure, "two flushes, and some more versions are taken")
    assert not writer.failure, writer.failure
    writer.kill()
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


class BigWriter(Part):
    """A process that archives a field in many pieces."""

    def work(self) -> None:
        """Archives it."""
        self.begin("write", "--key", key_of(0), "-").communicate(version_bytes(0, 9))


def operations(cluster: Cluster, osd: str) -> int:
    """How many operations an OSD has not ended."""
    told = cluster.ceph("daemon", f"osd.{osd}", "dump_ops_in_flight").stdout
    return json.loads(told)["num_ops"]


def test_purge_gives_back_pieces_of_a_field_whose_writer_was_killed_before_it_named_them(
    store: RadosStore, three: Cluster, measured: Say, tmp_path: Path
) -> None:
    store.ok("init")
    store.archive(1, b"kept")
    three.do("pause-osd", "2")
    writer = BigWriter(store.but(chunk=CHUNK))
    until(lambda: operations(three, "0") + operations(three, "1") >= 4, "pieces are under way")
    writer.kill()
    three.do("resume-osd", "2")
    until(lambda: operations(three, "0") + operations(three, "1") == 0, "no operation is left")
    lingering = store.said("purge", "--doit")[0]
    given = store.but(grace=0).said("purge", "--doit")[0]
    assert (lingering["freed_bytes"], given["freed_bytes"]) == (0, lingering["held_bytes"]), lingering
    assert given["freed_bytes"] >= CHUNK and given["freed_bytes"] % CHUNK == 0, given
    assert store.read(1) == b"kept"
    store.archive(0, version_bytes(0, 9))
    assert store.read(0) == version_bytes(0, 9)
    store.ok("verify", "--data")
    measured(f"{given['freed_bytes'] // CHUNK} pieces of {CHUNK} bytes given back")
