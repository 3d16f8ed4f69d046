"""Runs a test suite of others in a process of its own, and compares its failures with a list that names a reason for each."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

from conftest import Connector


@dataclass(frozen=True)
class Outcome:
    """The tests of a run, by result."""

    passed: frozenset[str]
    failed: frozenset[str]
    skipped: frozenset[str]


def run(connector: Connector, arguments: list[str], folder: Path) -> Outcome:
    """Runs pytest with these arguments."""
    report = folder / "report.xml"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-n",
        "2",
        f"--junitxml={report}",
        *arguments,
    ]
    done = connector.run(command, folder=folder, TMPDIR=str(folder))
    assert report.is_file(), done.stdout[-3000:] + done.stderr[-3000:]
    return read(report)


def read(report: Path) -> Outcome:
    """The outcome that a report in JUnit's format tells."""
    passed, failed, skipped = set(), set(), set()
    for case in ET.parse(report).iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        if case.find("failure") is not None or case.find("error") is not None:
            failed.add(name)
        elif case.find("skipped") is not None:
            skipped.add(name)
        else:
            passed.add(name)
    # A test of several parts is failed if one of them is.
    return Outcome(frozenset(passed - failed), frozenset(failed), frozenset(skipped))


def reasons(path: Path) -> dict[str, str]:
    """The tests that may fail, each with its reason: lines `TEST  REASON`, and comments that begin with `#`."""
    lines = (line.strip() for line in path.read_text().splitlines())
    pairs = (line.split(maxsplit=1) for line in lines if line and not line.startswith("#"))
    return {test: reason for test, reason in pairs}


def surprises(native: Outcome, ours: Outcome, expected: dict[str, str]) -> list[str]:
    """What differs from the list: tests that pass natively and fail here without a reason, and reasons that are out of date."""
    failed = native.passed - ours.passed
    found = [f"{test} fails, and no reason is listed" for test in sorted(failed - expected.keys())]
    found += [f"{test} passes: take it off the list" for test in sorted(expected.keys() & ours.passed)]
    return found + [
        f"{test} is no test of the suite"
        for test in sorted(expected.keys() - native.passed - native.failed - native.skipped)
    ]
