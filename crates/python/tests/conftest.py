"""Stores for the tests."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import isotach
import isotach.pyfdb
import pytest

import pyfdb_keys

SCHEMA = (
    "expver: Expver; param: Param; step: Step; date: Date; [ class, expver, date [ type [ step, param ]]]"
)
KEY = {"class": "od", "expver": "0001", "date": "20240101", "type": "fc", "step": "6", "param": "130"}


def key(**changes: object) -> dict[str, object]:
    """The key of a field."""
    return {**KEY, **{name.rstrip("_"): value for name, value in changes.items()}}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[isotach.Store]:
    """An empty store."""
    with isotach.create(tmp_path / "fields", SCHEMA) as store:
        yield store


@pytest.fixture
def filled(store: isotach.Store) -> isotach.Store:
    """A store with steps 0, 6 and 12 of two parameters."""
    for step in (0, 6, 12):
        for param in (130, 131):
            store.archive(f"field {step} {param}".encode(), key(step=step, param=param))
    store.flush()
    return store


def in_child(act: Callable[[], object], fork: Callable[[], int] = os.fork) -> int:
    """Runs a function in a forked child, and returns its exit code. A child that hangs is killed."""
    child = fork()
    if child == 0:
        code = 1
        try:
            code = 0 if act() in (None, True) else 2
        finally:
            os._exit(code)
    for _ in range(3000):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return -9


# Python 3.12 and later warn of every fork of a process with threads, which is what these tests are about.
forks = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")


@pytest.fixture
def fdb_config(tmp_path: Path) -> dict[str, Any]:
    """A configuration in FDB's form, whose root is empty."""
    (tmp_path / "schema").write_text(pyfdb_keys.SCHEMA)
    (tmp_path / "root").mkdir()
    roots = [{"path": str(tmp_path / "root")}]
    return {
        "type": "local",
        "engine": "toc",
        "schema": str(tmp_path / "schema"),
        "spaces": [{"handler": "Default", "roots": roots}],
    }


@pytest.fixture
def fdb(fdb_config: dict[str, Any]) -> isotach.pyfdb.FDB:
    """An FDB with steps 0, 6 and 12 on one day, and step 0 on the next."""
    fdb = isotach.pyfdb.FDB(fdb_config)
    for step in ("0", "6", "12"):
        fdb.archive(f"step {step}".encode(), pyfdb_keys.key(step=step))
    fdb.archive(b"next day", pyfdb_keys.key(date="20240102"))
    fdb.flush()
    return fdb
