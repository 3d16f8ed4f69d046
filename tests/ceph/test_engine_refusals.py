"""What the program says where a cluster, or its configuration, does not let it in; and what it needs to be let in.

What must stay true: an error says in a line what is wrong and what to do, in time, and the exit code is 1.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from clusters import Cluster
from engine import RadosStore, key_of
from fields import STEP_SIZE, version_bytes

pytestmark = pytest.mark.faults
Say = Callable[[str], None]
TIMEOUT_S = 5
# Beyond the time-out, for the start of the program and the machine's other work.
GRACE_S = 8


@pytest.fixture
def short(store: RadosStore) -> RadosStore:
    """The store, which does not wait for long."""
    return store.but(timeout=TIMEOUT_S)


def refused(store: RadosStore, measured: Say, *words: str, **more: str) -> str:
    """The error of a command, which comes in time."""
    begin = time.monotonic()
    told = store.refused(*words, **more)
    took = time.monotonic() - begin
    assert took < TIMEOUT_S + GRACE_S, told
    measured(f"after {took:.1f} s: {told}")
    return told


def test_a_wrong_key_is_refused_with_a_hint_at_the_keyring(
    short: RadosStore, three: Cluster, tmp_path: Path, measured: Say
) -> None:
    keyring = tmp_path / "keyring"
    other = (three.folder / "client.nobody.keyring").read_text()
    keyring.write_text(other.replace("[client.nobody]", "[client.isotach]"))
    told = refused(short.but(keyring=keyring), measured, "list")
    assert "no permission" in told and "key in the keyring" in told


def test_a_keyring_that_is_not_there_is_refused_with_a_hint_at_the_option(
    short: RadosStore, tmp_path: Path, measured: Say
) -> None:
    told = refused(short.but(keyring=tmp_path / "none"), measured, "list")
    assert "keyring does not exist" in told and "CEPH_KEYRING" in told


@pytest.mark.parametrize("command", ["init", "list"])
def test_a_user_without_rights_is_refused_with_a_hint_at_what_is_needed(
    short: RadosStore, command: str, measured: Say
) -> None:
    told = refused(short.but(user="nobody"), measured, command)
    assert "no permission" in told and "docs/engines/rados.md" in told


@pytest.mark.parametrize("command", ["init", "list"])
def test_a_pool_that_is_not_there_is_refused_with_the_command_that_makes_it(
    short: RadosStore, command: str, measured: Say
) -> None:
    short.place = ["--store", short.uri.replace("rados://isotach/", "rados://forecasts/")]
    told = refused(short, measured, command)
    assert "ceph osd pool create forecasts" in told


def test_a_monitor_that_cannot_be_reached_is_told_of_in_time(
    short: RadosStore, three: Cluster, tmp_path: Path, measured: Say
) -> None:
    closed = tmp_path / "ceph.conf"
    conf = Path(three.environment["CEPH_CONF"]).read_text()
    closed.write_text(re.sub(r"mon host = .*", "mon host = [v2:127.0.0.1:9]", conf))
    told = refused(short.but(conf=closed), measured, "list")
    assert f"no monitor answers within {TIMEOUT_S} s" in told and "mon_host" in told


def test_a_configuration_that_is_not_there_is_refused_with_its_path(
    short: RadosStore, tmp_path: Path, measured: Say
) -> None:
    told = refused(short.but(conf=tmp_path / "none.conf"), measured, "list")
    assert "none.conf" in told and "CEPH_CONF" in told


@pytest.mark.skipif(Path("/etc/ceph/ceph.conf").exists(), reason="this machine has a cluster of its own")
def test_no_configuration_at_all_is_refused_with_the_places_that_were_looked_at(
    short: RadosStore, tmp_path: Path, measured: Say
) -> None:
    told = refused(short.but(conf=""), measured, "list", HOME=str(tmp_path))
    assert "/etc/ceph" in told and "CEPH_CONF" in told


def test_a_user_with_the_least_rights_can_do_all_that_the_store_can(store: RadosStore, measured: Say) -> None:
    store.ok("init")
    for operation in ("archive", "retr1", "bulk", "list"):
        words = ["bench", "client", operation, str(STEP_SIZE), "1", "1", "0", "2", "--store", store.uri]
        store.ok(*words, data=b"go\n")
    for version in range(2):
        store.archive(0, version_bytes(0, version))
    store.archive(1, b"another")
    assert store.read(0) == version_bytes(0, 1)
    assert len(store.said("list", "expver=x001")) == 2
    for words in (["inspect", key_of(0)], ["axes"], ["stats"], ["dump"], ["where"], ["pool", "list"]):
        store.ok(*words)
    store.ok("verify", "--data")
    assert store.said("purge", "--doit", "expver=x001")[0]["replaced_fields"] == 1
    store.ok("wipe", "class=rd", "--doit")
    store.ok("wipe", "class=od", "--doit")
    assert store.said("list") == []
    store.ok("pool", "destroy", "--doit", "--force")
    measured(
        "init, clients, write, read, list, inspect, axes, stats, dump, verify, purge, wipe, pool destroy"
    )
