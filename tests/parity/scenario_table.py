"""Where FDB's programs and isotach differ in the scenarios, as the table of docs/from-fdb.md.

`python tests/parity/scenario_table.py` prints it; a test compares.
"""

from __future__ import annotations

from scenario import Differs, Step
from scenarios import SCENARIOS


def table() -> str:
    """A row for each step that differs, but for those that differ because one before it did."""
    rows = ["| scenario | step | FDB | Isotach | reason |", "|---|---|---|---|---|"]
    for scenario in SCENARIOS:
        told: set[str] = set()
        for step in scenario.steps:
            if isinstance(step.gives, Differs) and step.gives.reason not in told | {"as above"}:
                told.add(step.gives.reason)
                rows.append(row(scenario.name, step, step.gives))
    return "\n".join(rows) + "\n"


def row(name: str, step: Step, differs: Differs) -> str:
    """One row of the table."""
    what = "the other bytes" if differs.fdb == differs.isotach else differs.isotach
    return f"| {name} | {step.operation} | {differs.fdb} | {what} | {differs.reason} |"


if __name__ == "__main__":
    print(table(), end="")
