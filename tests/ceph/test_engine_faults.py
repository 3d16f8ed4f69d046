"""The engine on RADOS while OSDs and the monitor fail under writers and readers. `make test-ceph` runs these.

What must stay true: nobody is told of an error, readers see whole fields only, and all that was flushed is there
afterwards, byte for byte. `load.py` checks that; each test here breaks something and mends it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from clusters import Cluster
from engine import RadosStore, Store, key_of
from load import Load

pytestmark = pytest.mark.faults
Say = Callable[[str], None]
FIRST = key_of(0)
# Beyond a time-out, for the start of the program and the machine's other work.
GRACE_S = 8


def told(load: Load) -> str:
    """The figure that counts, and what everyone has done."""
    return f"longest flush {load.longest():.2f} s\n{load.report()}"


def test_writers_and_readers_go_on_when_an_osd_is_killed_and_comes_back(
    store: RadosStore, three: Cluster, measured: Say
) -> None:
    with Load(store) as load:
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
    for step in range(3):
        store.archive(step, b"before %d" % step)
    limited = store.but(timeout=20)
    took = []
    for osd in ("0", "1"):
        three.do("pause-osd", osd)
    for words in (["write", "--key", FIRST, "-"], ["read", FIRST, "-o", "-"]):
        begin = time.monotonic()
        refused = limited.refused(*words, data=b"new")
        took.append(time.monotonic() - begin)
        assert "no answer in time" in refused and "ceph status" in refused, refused
    for osd in ("0", "1"):
        three.do("resume-osd", osd)
    assert all(seconds < 20 + GRACE_S for seconds in took), took
    # Nobody knows what came of the write that was not answered.
    assert store.read(0) in (b"before 0", b"new")
    assert [store.read(1), store.read(2)] == [b"before 1", b"before 2"]
    measured("refused after {:.1f} s (write) and {:.1f} s (read) with a timeout of 20 s".format(*took))
