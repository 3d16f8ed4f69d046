"""Stores for the tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import isotach
import pytest

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
