"""What holds for all tests in Python: those that are skipped are told in the file that ISOTACH_SKIPS names; a browser."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Browser
from browser import program as browser_program
from needs import skip


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Adds a line for a skipped test."""
    told = os.environ.get("ISOTACH_SKIPS")
    if told and report.skipped and isinstance(report.longrepr, tuple):
        why = " ".join(report.longrepr[2].removeprefix("Skipped: ").split())
        with Path(told).open("a") as file:
            file.write(f"python\tpytest\t{report.nodeid}\t{why}\n")


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser without a network."""
    found = browser_program()
    if found is None:
        skip("browser", "no Chromium is installed: `scripts/setup test` installs it as root")
    running = Browser(found, tmp_path_factory.mktemp("profile"))
    yield running
    running.close()
