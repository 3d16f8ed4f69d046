"""The engine on RADOS in a cluster that becomes full. `make test-ceph` runs these.

What must stay true: a writer is told that there is no room, or waits for it if it is asked to; nothing that was flushed is
lost; reading goes on; wiping works, gives room, and writing goes on.
"""

from __future__ import annotations

import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from clusters import Cluster, ceph_dev, until
from engine import Done, RadosStore, key_of
from fields import FIELDS_OF_A_STEP, check_version, version_bytes
from parts import Part, Replacer

pytestmark = pytest.mark.faults
Say = Callable[[str], None]
FILLING = 1 << 20
WAITS_S = 5


@pytest.fixture
def small(folder: Path, installed: None) -> Iterator[Cluster]:
    """A cluster that is soon full."""
    yield Cluster(folder, "--gib", "4")
    ceph_dev("stop", "--dir", folder)


class Waiter(Part):
    """A process that archives a field."""

    def work(self) -> None:
        """Archives it."""
        process = self.begin("write", "--key", key_of(7), "-")
        process.communicate(b"waited for room")
        assert process.returncode == 0, self.complaint()

    def report(self) -> str:
        """Whether it is done."""
        return "still at work" if self.is_alive() else "done"


def fill(store: RadosStore) -> Done:
    """Archives steps until there is no room."""
    words = ["bench", "client", "archive", str(FILLING), "1", "1", "0", "100", "--store", store.uri]
    done = store.run(*words, data=b"go\n")
    assert done.returncode == 1 and b"no space left" in done.stderr, done
    return done


def check_filling(store: RadosStore) -> int:
    """Each step that was flushed is there, whole; how many there are."""
    fields = Counter(int(one["key"]["step"]) for one in store.said("list", "class=od"))
    last = max(fields)
    assert all(fields[step] == FIELDS_OF_A_STEP for step in range(last)), fields
    words = ["bench", "client", "retr1", str(FILLING), "1", "1", "0", str(last), "--store", store.uri]
    store.ok(*words, data=b"go\n")
    return last


def test_a_full_cluster_is_told_of_or_waited_for_and_a_wipe_gives_room(
    binary: Path, small: Cluster, measured: Say
) -> None:
    store = RadosStore(binary, small, "full")
    store.ok("init")
    for step in range(3):
        store.archive(step, version_bytes(step, 1))
    with Replacer(store, 9) as writer:
        until(lambda: writer.flushed > 3, "the writer is at work")
        begin = time.monotonic()
        told = [fill(store).stderr.decode().strip()]
        filled = time.monotonic() - begin
        until(lambda: writer.failure, "the other writer has failed too")
    told.append(writer.complaint().strip())
    told.append(store.refused("write", "--key", key_of(8), "-", data=b"new"))
    assert all("no space left" in one and "remove data" in one for one in told), told

    found = check_version(store.read(9), 9)
    assert writer.flushed - 1 <= found < writer.fed, (writer.flushed, found)
    assert [store.read(step) for step in range(3)] == [version_bytes(step, 1) for step in range(3)]
    steps = check_filling(store)

    with Waiter(store.but(full="wait")) as waiter:
        until(lambda: waiter.process is not None, "the waiting writer has begun")
        with pytest.raises(subprocess.TimeoutExpired):
            waiter.process.wait(WAITS_S)
        begin = time.monotonic()
        store.ok("wipe", "class=od", "--doit")
        wiped = time.monotonic() - begin
        until(lambda: not waiter.is_alive(), "the waiting writer has ended")
        room = time.monotonic() - begin
    assert not waiter.failure, waiter.failure
    assert store.read(7) == b"waited for room"
    store.archive(8, b"goes on")
    assert store.read(8) == b"goes on"
    store.ok("verify", "--data", "class=rd")
    measured(
        f"full after {filled:.1f} s and {steps} whole steps of 100 MiB; {told[-1]}\n"
        f"    wiping took {wiped:.1f} s, the waiting writer went on {room:.1f} s after its beginning"
    )
