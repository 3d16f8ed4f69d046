"""Three OSDs, of which some fail. `make test-ceph` runs these."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from clusters import Cluster, environment

pytestmark = pytest.mark.faults


def test_the_pools_are_as_the_help_says(three: Cluster) -> None:
    pools = {
        pool["pool_name"]: pool
        for pool in json.loads(three.ceph("osd", "pool", "ls", "detail", "-f", "json").stdout)
    }
    shape = {name: (pool["size"], pool["min_size"]) for name, pool in pools.items()}
    assert shape == {"isotach": (3, 2), "isotach-ec": (3, 2)}
    assert "ec_overwrites" not in pools["isotach-ec"]["flags_names"]


def test_an_erasure_coded_pool_takes_whole_objects_but_no_overwrites(three: Cluster, tmp_path: Path) -> None:
    assert three.put("isotach-ec", "array", "whole").returncode == 0
    assert three.get("isotach-ec", "array") == "whole"
    (tmp_path / "more").write_text("part")
    refused = three.rados("-p", "isotach-ec", "put", "array", tmp_path / "more", "--offset", "1")
    assert "Operation not supported" in refused.stderr
    refused = three.rados("-p", "isotach-ec", "setomapval", "array", "key", "value")
    assert "Operation not supported" in refused.stderr


def test_reads_and_writes_go_on_without_one_osd(three: Cluster) -> None:
    for pool in ("isotach", "isotach-ec"):
        three.put(pool, "before", f"all of {pool}")
    three.do("kill-osd", "1")
    assert three.states() == ["up", "up", "down", "up"]
    for pool in ("isotach", "isotach-ec"):
        assert three.get(pool, "before") == f"all of {pool}"
        assert three.put(pool, "after", "two left").returncode == 0
    three.do("start-osd", "1")
    assert three.get("isotach", "after") == "two left"


def test_a_write_waits_while_two_osds_are_gone(three: Cluster) -> None:
    three.do("kill-osd", "0")
    three.do("kill-osd", "2")
    waits = three.put("isotach", "held", "text", seconds=3)
    assert "Connection timed out" in waits.stderr
    three.do("start-osd", "0")
    assert three.put("isotach", "held", "text").returncode == 0
    three.do("start-osd", "2")


def test_a_hung_osd_holds_writes_up_for_seconds_only(three: Cluster) -> None:
    three.do("pause-osd", "0")
    # So many that some belong to the one that hangs. It is given up after 6 s; without our settings after 20 s.
    keyring = three.folder / "client.isotach.keyring"
    command = [
        "rados",
        "-n",
        "client.isotach",
        "-k",
        keyring,
        "-p",
        "isotach",
        "--rados-osd-op-timeout",
        "15",
    ]
    for number in range(8):
        put = [*command, "put", f"object-{number}", three.folder / "ceph.conf"]
        done = subprocess.run(put, env=environment(CEPH_CONF=three.environment["CEPH_CONF"]), timeout=30)
        assert done.returncode == 0
    three.do("resume-osd", "0")
    assert three.states() == ["up"] * 4


def test_clients_go_on_while_the_monitor_is_away(three: Cluster) -> None:
    command = [
        "rados",
        "-n",
        "client.isotach",
        "-k",
        three.folder / "client.isotach.keyring",
        "-p",
        "isotach",
    ]
    asked = environment(CEPH_CONF=three.environment["CEPH_CONF"])
    bench = subprocess.Popen(
        [*command, "bench", "5", "write", "-b", "4096"], env=asked, stdout=subprocess.PIPE, text=True
    )
    assert bench.stdout is not None
    first = next(line for line in bench.stdout if line.split()[:1] == ["1"])
    three.do("kill-mon")
    seconds = [line.split() for line in [first, *bench.stdout] if line.split()[:1] in (["2"], ["3"], ["4"])]
    three.do("start-mon")
    assert bench.wait(30) == 0
    assert len(seconds) == 3
    assert all(int(columns[3]) > 0 for columns in seconds)


def test_all_three_come_back_after_a_kill_of_everything(three: Cluster) -> None:
    three.put("isotach", "kept", "through a crash")
    three.kill_all()
    assert three.start().returncode == 0
    assert three.states() == ["up"] * 4
    assert three.get("isotach", "kept") == "through a crash"


def test_a_full_osd_stays_whole_and_has_room_again_after_removals(folder: Path, installed: None) -> None:
    small = Cluster(folder, "--gib", "4")
    bench = ["-p", "isotach", "bench", "50", "write", "-b", "4194304", "--no-cleanup"]
    assert "Connection timed out" in small.rados(*bench, seconds=5).stderr
    assert "osd.0 is full" in small.ceph("health", "detail").stdout
    listed = small.rados("-p", "isotach", "ls")
    assert listed.returncode == 0, listed.stderr
    objects = [name for name in listed.stdout.split() if "object" in name]
    assert small.rados("-p", "isotach", "get", objects[0], "/dev/null").returncode == 0
    assert "Connection timed out" in small.put("isotach", "one more", "text", seconds=2).stderr
    for start in range(0, len(objects), 100):
        removed = small.rados("-p", "isotach", "--force-full", "rm", *objects[start : start + 100])
        assert removed.returncode == 0, removed.stderr
    assert small.put("isotach", "one more", "text").returncode == 0
    assert small.states() == ["up", "up"]
