"""The engine on DAOS where calls of libdaos fail, and where operations end late."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from place import ROOT

FIELDS = ("4096", "1", "4", "3", "2")
STORE = ("--store", "daos://tank")
# DAOS's numbers of errors.
NO_HDL, NONEXIST, TIMEDOUT, TX_UNCERTAIN = 1002, 1005, 1011, 2033


class Site:
    """Pools, and the program over a libdaos that fails."""

    def __init__(self, folder: Path) -> None:
        """Makes a store with fields, and builds the library that fails."""
        self.folder, self.library = folder / "pools", folder / "faulty.so"
        source = ROOT / "tests" / "libdaos" / "faulty.c"
        flags = ("-shared", "-fPIC", "-Wall", "-Werror", "-Wl,--no-as-needed")
        code, _, err = self.with_libdaos("cc", *flags, source, "-o", self.library, "-ldaos")
        assert code == 0, err
        self.run("init", *STORE)
        self.run("bench", "client", "archive", *FIELDS, *STORE, stdin="go\n")

    def with_libdaos(self, *command: str | Path, stdin: str = "", **faults: str) -> tuple[int, str, str]:
        """What becomes of a command that finds libdaos."""
        whole = [ROOT / "scripts" / "libdaos", "with", "--dir", self.folder, *command]
        # Where the tests themselves run on a libdaos, these have pools of their own.
        here = {name: value for name, value in os.environ.items() if name != "ISOTACH_DAOS_ROOT"} | faults
        done = subprocess.run(whole, env=here, input=stdin, capture_output=True, text=True, timeout=300)
        return done.returncode, done.stdout, done.stderr

    def call(self, *words: str, stdin: str = "", **faults: str) -> tuple[int, str, str]:
        """What becomes of the program with these words and faults."""
        named = f"ISOTACH_LIBDAOS={self.library}"
        return self.with_libdaos("env", named, "isotach", *words, stdin=stdin, **faults)

    def run(self, *words: str, stdin: str = "", **faults: str) -> str:
        """What the program prints; it must succeed."""
        code, out, err = self.call(*words, stdin=stdin, **faults)
        assert code == 0, err
        return out

    def steps(self) -> int:
        """How many fields there are."""
        return len(self.run("list", *STORE).splitlines())


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A store."""
    return Site(tmp_path)


def test_fields_are_written_and_read_where_operations_end_late_and_in_any_order(site: Site) -> None:
    before = site.steps()
    site.run("bench", "client", "archive", "50000", *FIELDS[1:], *STORE, stdin="go\n", FAULTS_LATE="1")
    site.run("bench", "client", "bulk", "50000", *FIELDS[1:], *STORE, stdin="go\n", FAULTS_LATE="1")
    site.run("verify", "--data", *STORE, FAULTS_LATE="1")
    assert site.steps() == before


def test_a_field_that_could_not_be_read_for_once_is_told_and_no_repair_takes_it_out(site: Site) -> None:
    before = site.steps()
    fault = f"daos_array_read:1-1:{TIMEDOUT}"
    code, out, _ = site.call("repair", "--data", "--doit", *STORE, FAULTS=fault)
    assert code == 1 and "left: field" in out and "DER_TIMEDOUT" in out, out
    assert "verify again" in out and "wipe" not in out, out
    assert site.steps() == before
    site.run("verify", "--data", *STORE)


def test_an_entry_on_a_lost_target_is_an_error_and_never_absent(site: Site) -> None:
    before = site.steps()
    for first, late in ((1, {}), (3, {}), (5, {}), (5, {"FAULTS_LATE": "1"}), (7, {})):
        # For one fetch only: where another finds the entry it is there.
        for last in (first, 999999):
            fault = f"daos_obj_fetch:{first}-{last}:{NONEXIST}"
            code, out, err = site.call("list", *STORE, FAULTS=fault, **late)
            is_whole = code == 0 and len(out.splitlines()) == before and last == first
            assert is_whole or (code == 1 and "DER_DATA_LOSS" in err), (fault, code, err)


def test_a_connection_that_was_taken_back_is_made_again_and_nothing_is_told_to_be_lost(site: Site) -> None:
    before = site.steps()
    assert len(site.run("list", *STORE, FAULTS=f"daos_cont_open:2-2:{NO_HDL}").splitlines()) == before
    gone = f"daos_cont_open:2-99:{NO_HDL},daos_pool_connect:2-9:{NONEXIST}"
    for fault in (f"daos_cont_open:2-99:{NO_HDL}", f"daos_pool_connect:1-9:{NO_HDL}", gone):
        code, _, err = site.call("list", *STORE, FAULTS=fault)
        assert code == 1 and "DER_NO_HDL" in err and "open it anew" in err, err
        assert "lost" not in err and "init" not in err, err


def test_a_container_that_has_lost_something_says_so_and_can_be_told_to_be_healthy(site: Site) -> None:
    code, _, err = site.call("list", *STORE, FAULTS_UNCLEAN="1")
    assert code == 1 and "DER_RF" in err, err
    assert "status" in site.run("container", "get-prop", "root", *STORE, FAULTS_UNCLEAN="1")
    assert "OWNER@" in site.run("container", "get-acl", "root", *STORE, FAULTS_UNCLEAN="1")
    site.run("container", "set-prop", "root", "status=healthy", *STORE, FAULTS_UNCLEAN="1")
    code, out, err = site.call("container", "list", *STORE, FAULTS_UNCLEAN="1")
    assert code == 1 and len(out.splitlines()) > 2 and "DER_RF" in err, (out, err)


def test_a_snapshot_whose_commit_fails_but_counts_keeps_its_state(site: Site) -> None:
    site.run("container", "create", "notes", *STORE)
    entry = ("notes", site.run("object", "create", "notes", *STORE).split()[-1], "colour")
    site.run("object", "put", *entry, *STORE, stdin="blue")
    uncertain = f"daos_tx_commit:1-1:{TX_UNCERTAIN}"
    site.run("container", "create-snap", "notes", "before", *STORE, FAULTS_AFTER=uncertain)
    site.run("object", "put", *entry, *STORE, stdin="green")
    assert site.run("object", "get", *entry, "--at", "before", *STORE) == "blue"


def test_a_snapshot_whose_name_is_taken_leaves_the_one_that_has_it(site: Site) -> None:
    site.run("container", "create", "notes", *STORE)
    entry = ("notes", site.run("object", "create", "notes", *STORE).split()[-1], "colour")
    site.run("object", "put", *entry, *STORE, stdin="blue")
    site.run("container", "create-snap", "notes", "before", *STORE)
    for fault in ("", f"daos_tx_commit:1-1:{TX_UNCERTAIN}"):
        code, _, err = site.call("container", "create-snap", "notes", "before", *STORE, FAULTS=fault)
        assert code == 1 and "exists already" in err, err
    assert site.run("object", "get", *entry, "--at", "before", *STORE) == "blue"
    assert site.run("container", "list-snaps", "notes", *STORE).count("before") == 1
