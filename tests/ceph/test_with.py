"""`ceph-dev with`: a command in a cluster of its own, of which nothing is left."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from clusters import CEPH_DEV, Cluster, ceph_dev, environment, processes_of, until

SHOW = 'rados -p "$ISOTACH_RADOS_POOL" lspools && cat && echo "$ISOTACH_CEPH_DEV" >"$0" && scripts/ceph-dev status && exit 7'
# A command that starts others, which a signal has to reach too.
LINGER = 'echo "$ISOTACH_CEPH_DEV" >"$0.part"; sleep 1000 & mv "$0.part" "$0"; wait'


@pytest.fixture
def temporary(tmp_path: Path) -> Iterator[Path]:
    """The folder for temporary files, where `with` makes its own."""
    made = tmp_path / "t"
    made.mkdir()
    yield made
    for left in made.iterdir():
        ceph_dev("stop", "--dir", left)


def test_with_leaves_the_file_mask_of_its_caller(installed: None, temporary: Path) -> None:
    mask = 'umask 027 && exec "$0" with -- bash -c umask'
    done = subprocess.run(
        ["bash", "-c", mask, CEPH_DEV],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env=environment(TMPDIR=str(temporary)),
    )
    assert done.stdout == "0027\n"


def test_with_passes_on_input_environment_and_exit_code(
    installed: None, temporary: Path, tmp_path: Path
) -> None:
    done = subprocess.run(
        [CEPH_DEV, "with", "--", "bash", "-c", SHOW, tmp_path / "seen"],
        cwd=CEPH_DEV.parents[1],
        input="from outside\n",
        capture_output=True,
        text=True,
        timeout=60,
        env=environment(TMPDIR=str(temporary)),
    )
    assert done.returncode == 7, done.stderr
    assert all(line.startswith("ceph-dev: ") for line in done.stderr.splitlines()), done.stderr
    lines = done.stdout.splitlines()
    assert lines[:3] == ["isotach", "isotach-data", "from outside"]
    assert [line.split()[:2] for line in lines[3:]] == [["mon.a", "up"], ["osd.0", "up"]]
    seen = (tmp_path / "seen").read_text().strip()
    assert (os.path.lexists(seen), list(temporary.iterdir()), processes_of(seen)) == (False, [], [])


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)], ids=["term", "int"]
)
def test_with_ends_the_command_and_the_cluster_on_a_signal(
    installed: None, temporary: Path, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    seen = tmp_path / "seen"
    # Where the tests run in the background of a script SIGINT is ignored, here and in all they start, and bash cannot undo that.
    command = ["env", "--default-signal", CEPH_DEV, "with", "bash", "-c", LINGER, seen]
    started = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment(TMPDIR=str(temporary))
    )
    until(lambda: seen.exists() or started.poll() is not None, "the command runs")
    started.send_signal(number)
    # Ends only once nobody holds the output any more, so nothing that the command started is left.
    text, _ = started.communicate(timeout=30)
    base = seen.read_text().strip()
    assert started.returncode == code, text
    assert (os.path.lexists(base), list(temporary.iterdir()), processes_of(base)) == (False, [], [])


def test_with_stops_when_a_signal_comes_during_the_start(installed: None, temporary: Path) -> None:
    started = subprocess.Popen(
        [CEPH_DEV, "with", "true"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment(TMPDIR=str(temporary)),
    )
    until(lambda: list(temporary.glob("*/log/mon.a.log")), "the monitor is being made")
    started.terminate()
    text, _ = started.communicate(timeout=30)
    assert (started.returncode, list(temporary.iterdir()), processes_of(temporary)) == (143, [], []), text


def test_a_cluster_ends_when_the_script_is_killed(installed: None, temporary: Path, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    show = 'echo "$ISOTACH_CEPH_DEV" >"$0.part"; mv "$0.part" "$0"; cat'
    with subprocess.Popen(
        [CEPH_DEV, "with", "bash", "-c", show, seen],
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(TMPDIR=str(temporary)),
    ) as started:
        until(lambda: seen.exists() or started.poll() is not None, "the command runs")
        base = seen.read_text().strip()
        assert processes_of(base)
        started.kill()
        started.wait(timeout=30)
        until(lambda: not any(temporary.iterdir()), "the folder is gone")
    assert (os.path.lexists(base), processes_of(base)) == (False, [])


def test_with_leaves_a_memory_that_is_too_small_alone(
    installed: None, temporary: Path, tmp_path: Path
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "df").write_text("#!/bin/sh\necho Avail\necho 65536\n")
    (programs / "df").chmod(0o755)
    done = ceph_dev(
        "with",
        "--in-memory",
        "bash",
        "-c",
        'ls -d "$0"/*',
        temporary,
        TMPDIR=str(temporary),
        PATH=f"{programs}:{os.environ['PATH']}",
    )
    assert (done.returncode, Path(done.stdout.strip()).parent) == (0, temporary), done.stderr


def test_with_does_not_stop_a_cluster_that_was_there(cluster: Cluster, tmp_path: Path) -> None:
    done = ceph_dev("with", "--dir", cluster.folder, "touch", tmp_path / "ran")
    assert (done.returncode, (tmp_path / "ran").exists()) == (1, False)
    assert "there is a cluster" in done.stderr
    assert cluster.states() == ["up", "up"]
