"""Fixtures of the parity tests: the data, one FDB and one Isotach store that hold it, and their absence.

Without FDB or without the program the tests are skipped by name; where ISOTACH_REQUIRE names what
is missing they fail instead, since there the agreement must be shown.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from needs import skip

if TYPE_CHECKING:
    from stores import FdbStore, IsotachStore, Source

NEEDED = ["pyfdb", "fdb5lib", "eccodes"]
INSTALL = "pip install -r tests/parity/requirements.txt"


@pytest.fixture(scope="session")
def peer() -> None:
    """Asks for the Python packages that the tests need."""
    if missing := [name for name in NEEDED if importlib.util.find_spec(name) is None]:
        skip("python", f"not installed: {', '.join(missing)}: {INSTALL}")


@pytest.fixture(scope="session")
def binary(peer: None) -> Path:
    """The built program."""
    from stores import program

    found = program()
    if found is None or not found.is_file():
        where = found or "target/release or target/debug"
        skip("program", f"no isotach program at {where}: build it, or set ISOTACH_BIN")
    return found


@pytest.fixture(scope="session")
def today() -> date:
    """The day to which both sides refer relative dates. FDB takes it from the clock, in UTC."""
    return datetime.now(UTC).date()


@pytest.fixture(scope="session")
def sources(peer: None, tmp_path_factory: pytest.TempPathFactory, today: date) -> list[Source]:
    """The files of the plan, in the order of archiving."""
    from make_data import make
    from stores import Source

    files = make(tmp_path_factory.mktemp("data"), today)
    return [Source(file.path, file.overlay) for file in files]


@pytest.fixture(scope="session")
def fdb(sources: list[Source], tmp_path_factory: pytest.TempPathFactory) -> FdbStore:
    """An FDB that holds the data."""
    from stores import FdbStore

    store = FdbStore(tmp_path_factory.mktemp("peer"))
    assert store.archive(sources) == [None] * len(sources)
    return store


@pytest.fixture(scope="session")
def isotach(
    binary: Path, sources: list[Source], tmp_path_factory: pytest.TempPathFactory, today: date
) -> IsotachStore:
    """An Isotach store that holds the data."""
    from stores import IsotachStore

    store = IsotachStore(tmp_path_factory.mktemp("ours"), binary, today)
    assert store.archive(sources) == [None] * len(sources)
    return store


@pytest.fixture(scope="session", autouse=True)
def same_day(today: date) -> Iterator[None]:
    """Explains failures of a run that crossed midnight, when `-1` changed its meaning on FDB's side."""
    yield
    if datetime.now(UTC).date() != today:
        pytest.fail("the run crossed midnight UTC, so relative dates differ: run it again", pytrace=False)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says what the sweep found, and for how many requests the two stores also agree on the order of the fields.

    The tests tell this by `record_property`, which reaches this process from whichever process ran them.
    """
    reports = terminalreporter.getreports("passed") + terminalreporter.getreports("failed")
    told = [told for report in reports if report.when == "call" for told in report.user_properties]
    for found in (found for name, found in told if name == "sweep"):
        terminalreporter.write_line(f"sweep, {found}")
    same = [case for name, case in told if name == "same order"]
    other = sorted(case for name, case in told if name == "other order")
    if same or other:
        terminalreporter.write_line(f"order of fields: the same in {len(same)} of {len(same) + len(other)}")
        for case in other:
            terminalreporter.write_line(f"  differs: {case}")
