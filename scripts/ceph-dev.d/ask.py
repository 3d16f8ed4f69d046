#!/usr/bin/python3
"""What scripts/ceph-dev asks of a running cluster: is it up, make the pools, is it ready.

Usage: ask.py FOLDER PIDS monitor | make OSD_UUID... | active OSD_ID... | ready OSD_ID...
       (PIDS: the daemons that must live on meanwhile, in one word)

What must stay true: every question has a time-out, since a client of Ceph waits for ever by default. Runs on the
system's Python, which has the `rados` module that the `ceph` command itself is made of.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
import time
from collections.abc import Callable
from pathlib import Path

import rados

TIMEOUT_S = 40
PAUSE_S = 0.02


class Failure(Exception):
    """What did not come about."""


WATCHED: list[str] = []


def has_ended(pid: str) -> bool:
    """Whether a process is gone, or a zombie."""
    try:
        return Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def until(told: Callable[[], str]) -> None:
    """Asks again until nothing is missing any more."""
    end = time.monotonic() + TIMEOUT_S
    while missing := told():
        if any(map(has_ended, WATCHED)):
            raise Failure(f"{missing}, and a daemon has ended")
        if time.monotonic() > end:
            raise Failure(f"{missing}, after {TIMEOUT_S} s")
        time.sleep(PAUSE_S)


def connect(folder: Path) -> rados.Rados:
    """A connection as the administrator."""
    limits = {
        "keyring": str(folder / "client.admin.keyring"),
        "rados_osd_op_timeout": str(TIMEOUT_S),
        "rados_mon_op_timeout": str(TIMEOUT_S),
        "client_mount_timeout": str(TIMEOUT_S),
    }
    cluster = rados.Rados(conffile=str(folder / "ceph.conf"), name="client.admin", conf=limits)
    cluster.connect()
    return cluster


def command(cluster: rados.Rados, prefix: str, **words: object) -> str:
    """What the monitor answers."""
    code, answer, complaint = cluster.mon_command(
        json.dumps({"prefix": prefix, "format": "json", **words}), b""
    )
    if code:
        raise Failure(f"`ceph {prefix}` failed ({code}): {complaint}")
    return answer.decode()


def monitor(folder: Path, words: list[str]) -> None:
    """Waits until the monitor takes connections and has a quorum."""
    text = (folder / "ceph.conf").read_text()
    port = int(text.split("[v2:127.0.0.1:")[1].split("]")[0])

    def missing() -> str:
        with socket.socket() as probe:
            return (
                f"mon.a does not listen on 127.0.0.1:{port}" if probe.connect_ex(("127.0.0.1", port)) else ""
            )

    until(missing)
    command(connect(folder), "quorum_status")


def make(folder: Path, words: list[str]) -> None:
    """Tells the monitor of the OSDs, given by their UUIDs in order, and makes the pools."""
    cluster = connect(folder)
    for number, uuid in enumerate(words):
        command(cluster, "osd new", uuid=uuid, id=number)
    if any(folder.glob("mgr.*")):
        # Else the manager makes a pool of its own. Forced, because the monitor knows its options only once it is up.
        option = "mgr/devicehealth/enable_monitoring"
        command(cluster, "config set", who="mgr", name=option, value="false", force=True)
    create(cluster, "isotach", pg_num=32, pool_type="replicated")
    if len(words) == 1:
        create(cluster, "isotach-data", pg_num=32, pool_type="replicated")
        return
    profile = ["plugin=jerasure", "technique=reed_sol_van", "k=2", "m=1", "crush-failure-domain=osd"]
    command(cluster, "osd erasure-code-profile set", name="isotach-ec", profile=profile)
    create(cluster, "isotach-ec", pg_num=16, pool_type="erasure", erasure_code_profile="isotach-ec")
    # As the replicated pool: it goes on without one OSD of three.
    command(cluster, "osd pool set", pool="isotach-ec", var="min_size", val="2")


def create(cluster: rados.Rados, pool: str, pg_num: int, **words: object) -> None:
    """Makes a pool."""
    command(cluster, "osd pool create", pool=pool, pg_num=pg_num, pgp_num=pg_num, **words)


def active(folder: Path, words: list[str]) -> None:
    """Waits until these OSDs are active."""
    for number in words:
        until(lambda number=number: inactive(folder / "run" / f"osd.{number}.asok", number))


def ready(folder: Path, words: list[str]) -> None:
    """Waits until these OSDs are active, a manager too if there is one, and every pool takes a write."""
    active(folder, words)
    cluster = connect(folder)
    if any(folder.glob("mgr.*")):
        until(
            lambda: "" if json.loads(command(cluster, "mgr dump"))["available"] else "mgr.x is not available"
        )
    for pool in cluster.list_pools():
        probe(cluster, pool)


def inactive(path: Path, number: str) -> str:
    """What an OSD says on its own socket; the monitor's map may still call a dead one up."""
    try:
        state = status(path)["state"]
    except (OSError, ValueError, KeyError, struct.error) as error:
        state = f"silent ({error})"
    return "" if state == "active" else f"osd.{number} is {state}, not active"


def status(path: Path) -> dict[str, str]:
    """A daemon's status: the question ends with a zero byte, the answer begins with its length."""
    with socket.socket(socket.AF_UNIX) as daemon:
        daemon.connect(str(path))
        daemon.sendall(b'{"prefix": "status", "format": "json"}\0')
        (length,) = struct.unpack(">I", daemon.recv(4, socket.MSG_WAITALL))
        return json.loads(daemon.recv(length, socket.MSG_WAITALL))


def probe(cluster: rados.Rados, pool: str) -> None:
    """Writes an object, reads and removes it. Without a manager nobody can be asked for the state of the PGs."""
    try:
        with cluster.open_ioctx(pool) as context:
            context.write_full(".ceph-dev", b"here")
            if context.read(".ceph-dev") != b"here":
                raise Failure(f"pool {pool} gave back something else than was written")
            context.remove_object(".ceph-dev")
    except rados.Error as error:
        raise Failure(f"pool {pool} does not take an object: {error}") from error


def main() -> int:
    """Does what the command line says."""
    folder, pids, action, *words = sys.argv[1:]
    WATCHED.extend(pids.split())
    # A stopped OSD takes connections to its own socket and says nothing.
    socket.setdefaulttimeout(5)
    try:
        {"monitor": monitor, "make": make, "active": active, "ready": ready}[action](Path(folder), words)
    except (Failure, rados.Error) as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
