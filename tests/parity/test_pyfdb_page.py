"""The page of pyfdb has the differences that the tests of the Python package assert."""

from __future__ import annotations

import runpy
from pathlib import Path

HERE = Path(__file__).parents[2]
PAGE = HERE / "docs" / "pyfdb.md"
TABLES = HERE / "crates" / "python" / "tests" / "pyfdb_differences.py"


def test_the_page_has_each_step_and_each_reason():
    tables, page = runpy.run_path(str(TABLES)), PAGE.read_text()
    cells = {cell for row in page.splitlines() for cell in row.strip("| ").split(" | ")}
    steps = {step for cell in cells for step in cell.split(", ")}
    assert tables["DIFFERENT"].keys() - steps == set()
    reasons = {reason for *_, reason in [*tables["UNEQUAL"], *tables["DIFFERENT"].values()]}
    assert reasons - cells == set()
