"""What holds for all tests in Python: those that are skipped are told in the file that ISOTACH_SKIPS names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Adds a line for a skipped test."""
    told = os.environ.get("ISOTACH_SKIPS")
    if told and report.skipped and isinstance(report.longrepr, tuple):
        why = " ".join(report.longrepr[2].removeprefix("Skipped: ").split())
        with Path(told).open("a") as file:
            file.write(f"python\tpytest\t{report.nodeid}\t{why}\n")
