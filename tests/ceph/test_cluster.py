"""What scripts/ceph-dev promises of a cluster of one OSD."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

from clusters import CEPH_DEV, Cluster, ceph_dev, exported, processes_of

LISTENING = "0A"
LOOPBACK = "0100007F"


def test_start_prints_the_environment_and_nothing_else(cluster: Cluster) -> None:
    folder = cluster.environment["ISOTACH_CEPH_DEV"]
    assert Path(folder).samefile(cluster.folder)
    assert cluster.environment == {
        "CEPH_CONF": f"{folder}/ceph.conf",
        "CEPH_KEYRING": f"{folder}/client.admin.keyring",
        "ISOTACH_RADOS_POOL": "isotach",
        "ISOTACH_CEPH_DEV": folder,
    }


def test_a_second_start_changes_nothing_and_is_quick(cluster: Cluster) -> None:
    before = cluster.pids()
    begin = time.monotonic()
    again = cluster.start()
    assert time.monotonic() - begin < 4
    assert (again.returncode, exported(again.stdout)) == (0, cluster.environment), again.stderr
    assert (len(before), cluster.pids()) == (2, before)


def test_a_start_with_other_options_is_refused(cluster: Cluster) -> None:
    done = ceph_dev("start", "--osds", "3", "--dir", cluster.folder)
    assert done.returncode == 1
    assert "has --osds 1, not 3" in done.stderr
    assert cluster.states() == ["up", "up"]


def test_isotach_reads_and_writes_its_pools_and_nothing_more(cluster: Cluster) -> None:
    for pool in ("isotach", "isotach-data"):
        assert cluster.put(pool, "field", f"in {pool}").returncode == 0
        assert cluster.get(pool, "field") == f"in {pool}"
    assert cluster.rados("mkpool", "other").returncode != 0
    keyring = cluster.folder / "client.isotach.keyring"
    refused = cluster.ceph(
        "-n", "client.isotach", "-k", str(keyring), "osd", "blocklist", "add", "127.0.0.1:1/1"
    )
    assert refused.returncode != 0
    assert "EACCES" in refused.stderr


def test_nobody_sees_the_pools_but_may_not_use_them(cluster: Cluster) -> None:
    assert "isotach" in cluster.rados("lspools", user="nobody").stdout
    refused = cluster.rados("-p", "isotach", "put", "mine", "/dev/null", user="nobody")
    assert refused.returncode != 0
    assert "Operation not permitted" in refused.stderr


def test_a_wrong_key_is_refused(cluster: Cluster, tmp_path: Path) -> None:
    wrong = tmp_path / "keyring"
    right = (cluster.folder / "client.nobody.keyring").read_text()
    wrong.write_text(right.replace("[client.nobody]", "[client.isotach]"))
    refused = cluster.rados("lspools", keyring=wrong)
    assert refused.returncode != 0
    assert "handle_auth_bad_method" in refused.stderr


def test_the_ceph_command_speaks_to_this_cluster(cluster: Cluster) -> None:
    fsid = cluster.ceph("fsid").stdout.strip()
    assert f"fsid = {fsid}" in (cluster.folder / "ceph.conf").read_text()
    assert cluster.ceph("health").stdout.strip() == "HEALTH_OK"
    assert cluster.ceph("no", "such", "command").returncode not in (0, 1, 2)


def test_every_listener_is_on_loopback(cluster: Cluster) -> None:
    ours = set()
    for pid in cluster.pids():
        for link in Path(f"/proc/{pid}/fd").iterdir():
            ours.add(os.readlink(link).removeprefix("socket:[").removesuffix("]"))
    rows = [
        row.split()
        for table in ("tcp", "tcp6")
        for row in Path("/proc/net", table).read_text().splitlines()[1:]
    ]
    listening = [row[1].split(":")[0] for row in rows if row[3] == LISTENING and row[9] in ours]
    assert len(listening) >= 3
    assert set(listening) == {LOOPBACK}


def test_a_killed_osd_comes_back_with_what_was_written(cluster: Cluster) -> None:
    cluster.put("isotach", "kept", "before the kill")
    cluster.do("kill-osd", "0")
    assert cluster.states() == ["up", "down"]
    assert ceph_dev("status", "--dir", cluster.folder).returncode == 1
    again = ceph_dev("kill-osd", "0", "--dir", cluster.folder)
    assert (again.returncode, "osd.0 does not run" in again.stderr) == (1, True)
    cluster.do("start-osd", "0")
    assert cluster.states() == ["up", "up"]
    assert cluster.get("isotach", "kept") == "before the kill"


def test_a_paused_osd_answers_when_it_is_resumed(cluster: Cluster) -> None:
    cluster.do("pause-osd", "0")
    assert cluster.states() == ["up", "paused"]
    silent = cluster.put("isotach", "late", "text", seconds=1)
    assert "Connection timed out" in silent.stderr
    refused = ceph_dev("start-osd", "0", "--dir", cluster.folder)
    assert (refused.returncode, "osd.0 is paused" in refused.stderr) == (1, True)
    cluster.do("resume-osd", "0")
    assert cluster.put("isotach", "late", "text").returncode == 0


def test_a_killed_monitor_comes_back(cluster: Cluster) -> None:
    cluster.do("kill-mon")
    assert cluster.states() == ["down", "up"]
    cluster.do("start-mon")
    assert cluster.states() == ["up", "up"]
    assert cluster.put("isotach", "after", "text").returncode == 0


def test_a_daemon_that_does_not_start_shows_its_log(cluster: Cluster) -> None:
    cluster.do("kill-osd", "0")
    kept = cluster.folder / "osd.0" / "keyring"
    text = kept.read_text()
    kept.write_text("[osd.0]\n\tkey = \n")
    failed = ceph_dev("start-osd", "0", "--dir", cluster.folder)
    kept.write_text(text)
    assert failed.returncode == 1
    assert "osd.0 is not up" in failed.stderr
    assert f"the end of {cluster.folder}/log/osd.0" in failed.stderr
    cluster.do("start-osd", "0")


def test_after_a_kill_of_everything_a_start_brings_all_back(cluster: Cluster) -> None:
    cluster.put("isotach", "kept", "through a crash")
    cluster.kill_all()
    assert cluster.states() == ["down", "down"]
    assert cluster.start().returncode == 0
    assert cluster.states() == ["up", "up"]
    assert cluster.get("isotach", "kept") == "through a crash"


def test_two_clusters_at_once_do_not_meet(cluster: Cluster, folder: Path) -> None:
    cluster.put("isotach", "where", "first")
    second = Cluster(folder)
    assert second.put("isotach", "where", "second").returncode == 0
    assert (cluster.get("isotach", "where"), second.get("isotach", "where")) == ("first", "second")
    keyring = Path(cluster.environment["CEPH_KEYRING"])
    assert second.rados("lspools", user="admin", keyring=keyring).returncode != 0
    assert second.stop().returncode == 0
    assert not folder.exists()
    assert cluster.states() == ["up", "up"]


def test_a_folder_may_have_a_long_name_of_any_characters(installed: None, tmp_path: Path) -> None:
    name = "two words, $HOME; #1 & 'quotes' ".ljust(140, "n")
    try:
        odd = Cluster(tmp_path / name)
        base = Path(odd.environment["ISOTACH_CEPH_DEV"])
        assert base.samefile(tmp_path / name)
        assert odd.put("isotach", "field", "text").returncode == 0
        odd.do("kill-osd", "0")
        odd.do("start-osd", "0")
        assert odd.get("isotach", "field") == "text"
    finally:
        stopped = ceph_dev("stop", "--dir", tmp_path / name)
    assert stopped.returncode == 0, stopped.stderr
    assert (os.path.lexists(base), list(tmp_path.iterdir()), processes_of(base)) == (False, [], [])


def test_a_start_that_was_killed_is_made_good_by_the_next(installed: None, folder: Path) -> None:
    broken = subprocess.Popen(
        [CEPH_DEV, "start", "--dir", folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    while not (folder / "run" / "mon.a.asok").exists():
        assert broken.poll() is None
    broken.kill()
    broken.communicate()
    assert not (folder / "ready").exists()
    again = Cluster(folder)
    assert again.put("isotach", "field", "text").returncode == 0
    assert again.stop().returncode == 0
    assert (folder.exists(), processes_of(folder)) == (False, [])
