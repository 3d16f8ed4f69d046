"""The engine on DAOS through our libdaos, by the program: what people do with pools, containers, objects and fields."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from place import ROOT

# `bench client` is told how many bytes a field has, members, steps, parameters and levels.
FIELDS = ("4096", "1", "4", "3", "2")


class Site:
    """A folder with pools that `daos:` URIs name."""

    def __init__(self, folder: Path) -> None:
        """Nothing is there yet."""
        self.folder = folder

    def call(self, *words: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """What becomes of the program with these words."""
        command = [ROOT / "scripts" / "libdaos", "with", "--dir", self.folder, "isotach", *words]
        # Where the tests themselves run on a libdaos, these have pools of their own.
        here = {name: value for name, value in os.environ.items() if name != "ISOTACH_DAOS_ROOT"}
        return subprocess.run(command, env=here, input=stdin, capture_output=True, text=True, timeout=300)

    def run(self, *words: str | Path, stdin: str = "") -> str:
        """What the program prints; it must succeed."""
        done = self.call(*words, stdin=stdin)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def refused(self, *words: str | Path) -> str:
        """What the program says when it fails, as it must."""
        done = self.call(*words)
        assert done.returncode == 1, (done.stdout, done.stderr)
        return done.stderr


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A place for pools."""
    return Site(tmp_path / "pools")


def test_pools_are_made_shown_and_removed_once(site: Site) -> None:
    assert "does not exist" in site.refused("pool", "show", "--store", "daos://tank")
    site.run("pool", "create", "--store", "daos://tank")
    assert "exists already" in site.refused("pool", "create", "--store", "daos://tank")
    shown = json.loads(site.run("pool", "show", "--json", "--store", "daos://tank"))
    assert shown["engine"] == "daos" and shown["containers"] == 0
    assert {"transactions", "snapshots", "many processes"} <= set(shown["capabilities"])
    site.run("pool", "destroy", "--doit", "--store", "daos://tank")
    assert "does not exist" in site.refused("pool", "destroy", "--doit", "--store", "daos://tank")


def test_containers_and_objects_are_made_listed_read_and_removed(site: Site, tmp_path: Path) -> None:
    store = ("--store", "daos://tank")
    site.run("pool", "create", *store)
    site.run("container", "create", "notes", *store)
    assert "exists already" in site.refused("container", "create", "notes", *store)
    map_, array = (
        site.run("object", "create", "notes", "--type", kind, *store).split()[-1]
        for kind in ("key-value", "array")
    )
    (tmp_path / "value").write_bytes(b"a value")
    (tmp_path / "bytes").write_bytes(bytes(range(256)) * 40_000)
    site.run("object", "put", "notes", map_, "key", "-i", tmp_path / "value", *store)
    site.run("object", "put", "notes", array, "-i", tmp_path / "bytes", *store)
    listed = site.run("object", "list", "notes", *store)
    assert map_ in listed and array in listed
    for number, (object_, keys, name) in enumerate(((map_, ("key",), "value"), (array, (), "bytes"))):
        site.run("object", "get", "notes", object_, *keys, "-o", tmp_path / f"out{number}", *store)
        assert (tmp_path / f"out{number}").read_bytes() == (tmp_path / name).read_bytes()
    site.run("container", "create-snap", "notes", "before", *store)
    site.run("object", "destroy", "notes", map_, "--doit", *store)
    assert map_ in site.run("object", "list", "notes", "--at", "before", *store)
    assert json.loads(site.run("container", "list-snaps", "notes", "--json", *store))["snapshot"] == "before"
    site.run("container", "destroy-snap", "notes", "before", "--doit", *store)
    assert map_ not in site.run("object", "list", "notes", *store)
    assert "notes" in site.run("container", "list", *store)
    site.run("container", "destroy", "notes", "--doit", *store)
    assert "does not exist" in site.refused("container", "show", "notes", *store)


def test_fields_copied_to_daos_and_back_are_the_same(site: Site, tmp_path: Path) -> None:
    here, back = f"posix:{tmp_path}/here?sync=no", f"posix:{tmp_path}/back?sync=no"
    for store in (here, "daos://tank", back):
        site.run("init", "--store", store)
    site.run("bench", "client", "archive", *FIELDS, "--store", here, stdin="go\n")
    site.run("copy", "class=od", "--store", here, "--to", "daos://tank")
    site.run("copy", "class=od", "--store", "daos://tank", "--to", back)
    listed = [
        sorted(site.run("list", "class=od", "--store", store).splitlines())
        for store in (here, "daos://tank", back)
    ]
    assert len(listed[0]) > 0 and listed[0] == listed[1] == listed[2]
    exact = "".join(f"retrieve,{line.strip('{}').replace('}{', ',')}\n" for line in listed[0])
    (tmp_path / "requests").write_text(exact)
    for number, store in enumerate((here, "daos://tank", back)):
        site.run("read", "-f", tmp_path / "requests", "--store", store, "-o", tmp_path / f"{number}.grib")
    assert (tmp_path / "0.grib").stat().st_size == len(listed[0]) * int(FIELDS[0])
    assert (
        (tmp_path / "0.grib").read_bytes()
        == (tmp_path / "1.grib").read_bytes()
        == (tmp_path / "2.grib").read_bytes()
    )
    site.run("snapshot", "create", "before", "class=od", "--store", "daos://tank")
    site.run("wipe", "class=od", "--doit", "--store", "daos://tank")
    assert site.run("list", "class=od", "--store", "daos://tank") == ""
    kept = site.run("list", "class=od", "--at", "before", "--store", "daos://tank")
    assert sorted(kept.splitlines()) == listed[0]


def test_field_io_measures_daos_beside_posix_in_all_modes_and_both_patterns(
    site: Site, tmp_path: Path
) -> None:
    pools = f"posix:{tmp_path}/fio?sync=no,daos://fio"
    what = ("--pattern", "a,b", "--mode", "full,no-containers,no-index", "--contention", "low,high")
    how = ("-n", "2", "--operations", "10", "--size", "65536", "--repetitions", "1")
    site.run("bench", "field-io", *what, *how, "--pool", pools, "--out", tmp_path / "out")
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    assert run["complete"] and run["problems"] == []
    told: dict[str, list[tuple[object, ...]]] = {"posix": [], "daos": []}
    for result in run["results"]:
        case = run["cases"][result["case"]]
        assert result["wrong"] == 0, "a reader met other bytes than were written"
        found = (
            case["mode"],
            case["pattern"],
            case["contention"],
            result["phase"],
            result["operations"],
            result["bytes"],
        )
        told[case["store"].partition(":")[0]].append(found)
    # Pattern A has two phases, B three.
    assert sorted(told["posix"]) == sorted(told["daos"]) and len(told["daos"]) == 3 * 2 * (2 + 3)


def test_rights_and_properties_of_a_container_are_shown_and_set_as_daos_has_them(site: Site) -> None:
    store = ("--store", "daos://tank")
    site.run("pool", "create", *store)
    site.run("container", "create", "notes", "--acl", "A::ann@:rw,A:G:GROUP@:rwtT", *store)
    told = site.run("container", "get-acl", "notes", *store)
    assert told.splitlines()[2:] == ["A::OWNER@:rwdtTaAo", "A::ann@:rwta", "A:G:GROUP@:rwtTa"]
    assert site.run("container", "set-acl", "notes", "--acl", told, *store) == told
    given = site.run("container", "set-owner", "notes", "--group", "games", *store)
    assert "# group: games\n" in given
    shown = json.loads(site.run("container", "get-prop", "notes", "--json", *store))
    properties = shown["properties"]
    assert (properties["layout_type"], properties["cksum"], properties["rd_fac"]) == ("METEO", "crc32", "0")
    assert "healthy" in site.run("container", "set-prop", "notes", "status=healthy", *store)
    unknown = site.call("container", "set-owner", "notes", "--owner", "no-such-user-here", *store)
    assert unknown.returncode == 2 and "a user that this machine knows" in unknown.stderr
    wrong = site.call("container", "set-prop", "notes", "colour=red", *store)
    assert wrong.returncode == 2 and "one of: label, layout_type" in wrong.stderr
    # Of a store: what is made in it inherits.
    site.run("init", "--acl", "A::ann@:r", *store)
    site.run("bench", "client", "archive", *FIELDS, *store, stdin="go\n")
    inherited = site.run("acl", "get", "class=od", *store)
    assert "A::OWNER@:rwdtTaAo\nA::ann@:rta\n" in inherited
    # Whoever takes the right to read from himself is told what he needs.
    site.run("container", "set-acl", "notes", "--acl", "A::OWNER@:aA", *store)
    assert "DER_NO_PERM" in site.refused("object", "list", "notes", *store)
    assert "A::OWNER@:aA" in site.run("container", "get-acl", "notes", *store)
