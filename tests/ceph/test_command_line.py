"""What scripts/ceph-dev says and refuses where there is no cluster, and so no need of Ceph."""

from __future__ import annotations

from pathlib import Path

import pytest

from clusters import ceph_dev


@pytest.mark.parametrize(
    "words",
    [
        "",
        "begin",
        "start --osds 2",
        "start --gib 1",
        "start --gib many",
        "start --dir",
        "start now",
        "start --in-memory",
        "stop --osds 1",
        "with --osds 1",
        "with --ods 1 true",
        "kill-osd",
        "kill-osd one",
        "installed now",
    ],
)
def test_wrong_usage_has_an_exit_code_of_its_own(words: str, tmp_path: Path) -> None:
    done = ceph_dev(*words.split(), ISOTACH_CEPH_DIR=str(tmp_path / "none"))
    assert (done.returncode, done.stdout) == (2, "")
    assert "ceph-dev: error: " in done.stderr
    assert "scripts/ceph-dev help" in done.stderr
    assert not (tmp_path / "none").exists()


def test_help_names_every_sub_command_and_variable() -> None:
    done = ceph_dev("help")
    assert (done.returncode, done.stderr) == (0, "")
    named = "start with stop status kill-osd pause-osd resume-osd start-osd kill-mon start-mon ceph installed"
    for word in [
        *named.split(),
        "CEPH_CONF",
        "CEPH_KEYRING",
        "ISOTACH_RADOS_POOL",
        "ISOTACH_CEPH_DEV",
        "--mgr",
        "--in-memory",
    ]:
        assert word in done.stdout, word


@pytest.mark.parametrize("action", ["start", "stop", "with"])
def test_a_folder_that_is_not_its_own_is_left_alone(installed: None, action: str, tmp_path: Path) -> None:
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "thesis.txt").write_text("years of work")
    done = ceph_dev(action, "--dir", foreign, *(["true"] if action == "with" else []))
    assert done.returncode == 1
    assert "not made by ceph-dev" in done.stderr
    assert [(path.name, path.read_text()) for path in foreign.iterdir()] == [("thesis.txt", "years of work")]


def test_without_a_cluster_stop_is_content_and_the_others_say_how_to_start(tmp_path: Path) -> None:
    nowhere = tmp_path / "none"
    assert ceph_dev("stop", "--dir", nowhere).returncode == 0
    status = ceph_dev("status", "--dir", nowhere)
    assert (status.returncode, status.stdout) == (1, f"no cluster in {nowhere}\n")
    for action in (["kill-osd", "0"], ["start-mon"]):
        done = ceph_dev(*action, "--dir", nowhere)
        assert done.returncode == 1
        assert f"scripts/ceph-dev start --dir {nowhere}" in done.stderr
    assert not nowhere.exists()


def test_missing_packages_are_named(tmp_path: Path) -> None:
    for program in ("bash", "dirname", "readlink", "env"):
        found = next(path for path in (Path("/usr/bin", program), Path("/bin", program)) if path.exists())
        (tmp_path / program).symlink_to(found)
    for action in (["installed"], ["start", "--dir", str(tmp_path / "c")]):
        done = ceph_dev(*action, PATH=str(tmp_path))
        assert done.returncode == 1
        assert "not installed: ceph-mon ceph-osd ceph-common" in done.stderr
        assert "apt-get install" in done.stderr
    assert not (tmp_path / "c").exists()
