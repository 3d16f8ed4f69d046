"""The engine on RADOS while OSDs and the monitor fail under writers and readers. `make test-ceph` runs these.

What must stay true: nobody is told of an error, readers see whole fields only, and all that was flushed is there
afterwards, byte for byte. `load.py` checks that; each test here breaks something and mends it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from clusters import Cluster, until
from engine import RadosStore, Store, key_of
from fields import check_version
from load import Load
from parts import Replacer

pytestmark = pytest.mark.faults
Say = Callable[[str], None]
TIMEOUT_S = 10
# Fields in many objects of an erasure coded pool, and entries in omaps that are split all the while.
IN_PARTS = {"data": "isotach-ec", "chunk": 65_536, "entries": 100}
# Beyond a time-out, for the start of the program and the machine's other work.
GRACE_S = 8


def told(load: Load) -> str:
    """The figure that counts, and what everyone has done."""
    return f"longest flush {load.longest():.2f} s\n{load.report()}"


# First, while the cluster is new: an OSD that has just returned may still need the monitor before it can serve.
def test_writers_and_readers_go_on_without_a_monitor(
    store: RadosStore, three: Cluster, measured: Say
) -> None:
    with Load(store) as load:
        three.do("kill-mon")
        # Whoever is connected needs no monitor; who comes new waits for it.
        load.more_versions(10)
        begin = time.monotonic()
        refused = store.but(timeout=5).refused("list")
        assert "no monitor answers within 5 s" in refused
        took = time.monotonic() - begin
        three.do("start-mon")
        load.more(5)
    measured(f"without a monitor a new process is refused after {took:.1f} s; {told(load)}")


@pytest.mark.parametrize("options", [{}, IN_PARTS], ids=["as-it-is", "erasure-coded-and-in-parts"])
def test_writers_and_readers_go_on_when_an_osd_is_killed_and_comes_back(
    store: RadosStore, three: Cluster, options: dict[str, object], measured: Say
) -> None:
    with Load(store.but(**options)) as load:
        three.do("kill-osd", "1")
        load.more(5)
        three.do("start-osd", "1")
        load.more(5)
    measured(told(load))


def test_writers_and_readers_go_on_when_an_osd_hangs_for_a_while(
    store: RadosStore, three: Cluster, measured: Say
) -> None:
    with Load(store) as load:
        three.do("pause-osd", "0")
        load.more(5)
        three.do("resume-osd", "0")
        load.more(5)
    measured(told(load))


def test_writers_wait_without_monitor_and_osd_and_go_on_when_the_monitor_returns(
    store: RadosStore, three: Cluster, measured: Say
) -> None:
    with Load(store) as load:
        three.do("kill-mon")
        three.do("kill-osd", "2")
        # Nobody is told that the OSD is gone.
        load.blocked()
        three.do("start-mon")
        returned = time.monotonic()
        load.more_versions(1)
        waited = time.monotonic() - returned
        three.do("start-osd", "2")
        load.more(5)
    measured(f"first flush {waited:.1f} s after the monitor returned; {told(load)}")


def test_writers_wait_below_min_size_and_go_on_when_an_osd_returns(
    store: RadosStore, three: Cluster, measured: Say
) -> None:
    with Load(store) as load:
        three.do("kill-osd", "0")
        three.do("kill-osd", "2")
        begin = time.monotonic()
        load.blocked()
        three.do("start-osd", "0")
        returned = time.monotonic()
        load.more_versions(1)
        waited = time.monotonic() - returned
        load.more(5)
        three.do("start-osd", "2")
        load.more(2)
    away = returned - begin
    measured(
        f"one OSD of three for {away:.1f} s; first flush {waited:.1f} s after another returned; {told(load)}"
    )


def test_a_catalogue_on_posix_stays_right_while_an_osd_of_the_store_is_killed(
    binary: Path, store: RadosStore, three: Cluster, tmp_path: Path, measured: Say
) -> None:
    catalogue = tmp_path / "catalogue"
    config = tmp_path / "isotach.yaml"
    config.write_text(f'spaces:\n  - catalogue: "posix:{catalogue}"\n    store: "{store.uri}"\n')
    both = Store(binary, "--config", config)
    with Load(both, replacers=3) as load:
        locations = [entry["location"] for entry in both.said("list")]
        assert len(locations) == 3 and all(one.startswith("rados:") for one in locations), locations
        three.do("kill-osd", "2")
        load.more(10)
        three.do("start-osd", "2")
        load.more(10)
    assert (catalogue / "containers").is_dir()
    measured(told(load))


def test_a_hung_cluster_is_told_of_within_the_timeout_and_loses_nothing(
    store: RadosStore, three: Cluster, measured: Say
) -> None:
    store.ok("init")
    store.archive(5, b"before")
    limited = store.but(timeout=TIMEOUT_S)
    with Replacer(limited, 0) as writer:
        until(lambda: writer.flushed > 5 or writer.failure, "the writer is at work")
        three.do("pause-osd", "0")
        three.do("pause-osd", "1")
        begin = time.monotonic()
        told = limited.refused("read", key_of(5), "-o", "-")
        read_took = time.monotonic() - begin
        until(lambda: not writer.is_alive(), "the writer has given up")
        write_took = time.monotonic() - writer.times[-1]
    three.do("resume-osd", "0")
    three.do("resume-osd", "1")
    for one in (told, writer.complaint()):
        assert "no answer in time" in one and "ceph status" in one, one
    # A writer in the midst of a flush may wait for several operations, one after the other.
    assert read_took < TIMEOUT_S + GRACE_S and write_took < 4 * TIMEOUT_S + GRACE_S, (read_took, write_took)
    # Nobody knows what came of the write that was not answered.
    found = check_version(store.read(0), 0)
    assert writer.flushed - 1 <= found < writer.fed, (writer.flushed, found)
    assert store.read(5) == b"before"
    store.archive(0, b"goes on")
    assert store.read(0) == b"goes on"
    measured(
        f"with a timeout of {TIMEOUT_S} s, a reader failed after {read_took:.1f} s, a writer {write_took:.1f} s after its last flush"
    )
