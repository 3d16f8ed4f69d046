"""A store that an earlier version wrote is read, verified and written by this one."""

from __future__ import annotations

import json
import os
import subprocess
import tarfile
from pathlib import Path

import pytest
from needs import skip

from stored import make

STORED = Path(make.__file__).parent


class Store:
    """The program under test on a pool."""

    def __init__(self, pool: Path) -> None:
        """Takes the program that ISOTACH_BIN names."""
        program = os.environ.get("ISOTACH_BIN")
        if not program:
            skip("program", "ISOTACH_BIN does not name the program")
        self.program, self.pool = program, pool

    def run(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        """What a command did."""
        environment = {**os.environ, "ISOTACH_STORE": f"posix:{self.pool}"}
        return subprocess.run([self.program, *words], env=environment, capture_output=True)

    def check(self, *words: str) -> bytes:
        """What a command prints, which must succeed."""
        done = self.run(*words)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout

    def keys(self, *words: str) -> set[str]:
        """The keys of the fields that a listing shows."""
        lines = self.check("list", "--json", *words).splitlines()
        return {request(json.loads(line)["key"]) for line in lines}


def request(key: dict[str, str]) -> str:
    """The key as `make.key` writes it."""
    level = f",levelist={key['levelist']}" if "levelist" in key else ""
    head = ",".join(f"{name}={key[name]}" for name in ("class", "expver", "stream", "time", "domain", "date"))
    return (
        f"{head},type={key['type']},levtype={key['levtype']},step={key['step']}{level},param={key['param']}"
    )


@pytest.fixture(params=sorted(STORED.glob("*.tar.xz")), ids=lambda archive: archive.name)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    with tarfile.open(request.param) as archive:
        archive.extractall(tmp_path, filter="data")
    return Store(tmp_path / "pool")


def test_a_store_of_an_earlier_version_shows_its_fields_and_its_snapshot(store: Store) -> None:
    for at, editions in [((), make.EDITIONS), (("--at", "first"), make.EDITIONS_OF_SNAPSHOT)]:
        assert store.keys(*at) == set(editions)
        for key, edition in editions.items():
            assert store.check("read", key, *at) == make.content(key, edition)
    assert b"nothing is damaged" in store.check("verify", "--data")


def test_a_store_of_an_earlier_version_is_unlocked_purged_and_written(store: Store, tmp_path: Path) -> None:
    locked = store.run("wipe", f"{make.FORECAST},date=20240102", "--doit")
    assert locked.returncode == 1 and b"lock" in locked.stderr
    store.check("unlock", f"{make.FORECAST},date=20240102", "--wipe")
    store.check("snapshot", "remove", "first")
    store.check("purge", "--doit")
    key = make.LEVELS[0]
    (tmp_path / "field").write_bytes(make.content(key, 4))
    store.check("write", "--key", key, str(tmp_path / "field"))
    assert store.check("read", key) == make.content(key, 4)
    assert store.keys() == set(make.EDITIONS)
    assert b"nothing is damaged" in store.check("verify", "--data")
