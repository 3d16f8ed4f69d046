"""What a scenario is: the steps that a user takes with FDB's programs and with Isotach, and what each step gives.

A step is one operation that both sides know by the same name (`sides.py`). What it gives is told in one word or
number: `done` or `refused`, how many fields were listed or read, what the axes are. Behind it stands a detail, such
as the keys that were listed or the bytes that were read, which must be equal as well.

What must stay true: the outcome of FDB's own program is asserted in the same test, so neither side can change
without notice; and where the two differ on purpose, the difference is data with a reason (`Differs`), and it fails
when the two no longer differ.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

DONE = "done"
REFUSED = "refused"
Given = int | str


@dataclass(frozen=True)
class Outcome:
    """What one side gave: the word or number, what stands behind it, and what it printed."""

    given: Given
    detail: Any = None
    printed: str = ""


@dataclass(frozen=True)
class Differs:
    """The two sides differ on purpose. Where they give the same number, their details must differ."""

    fdb: Given
    isotach: Given
    reason: str


@dataclass(frozen=True)
class Step:
    """One operation, its arguments and what it gives."""

    operation: str
    arguments: tuple[str, ...]
    gives: Given | Differs
    options: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        options = [f"{name}={value}" for name, value in self.options.items()]
        return " ".join([self.operation, *self.arguments, *options])


@dataclass(frozen=True)
class Scenario:
    """A name, which is a sentence, and the steps. `config` is what both sides read, with places left open: one text, or
    several by the names that steps give to `at`."""

    name: str
    steps: list[Step]
    config: dict[str, str] | str | None = None
    schema: str | None = None


def step(operation: str, *arguments: str, gives: Given | Differs = DONE, **options: Any) -> Step:
    """A step of any operation. Each takes `at`, the configuration that it reads: `main` without it."""
    return Step(operation, arguments, gives, options)


def writes(*files: str, gives: Given | Differs = DONE, **options: Any) -> Step:
    """Archives files of `inputs.py`. Options: `modify`, `include`, `exclude`."""
    return step("write", *files, gives=gives, **options)


def lists(request: str, gives: Given | Differs, **options: Any) -> Step:
    """Lists fields, and counts them. Options: `full`, `length`, `least`, `levels`."""
    return step("list", request, gives=gives, **options)


def reads(request: str, gives: Given | Differs, **options: Any) -> Step:
    """Reads fields, and counts the messages. Option: `raw`."""
    return step("read", request, gives=gives, **options)


def compare(at: str, said: Given | Differs, fdb: Outcome, isotach: Outcome) -> None:
    """Asserts that both sides give what is said, and the same unless they differ on purpose."""
    shown = f"{at}\n  FDB: {told(fdb)}\n  Isotach: {told(isotach)}"
    if isinstance(said, Differs):
        assert (fdb.given, fdb.detail) != (isotach.given, isotach.detail), f"no longer differs: {shown}"
        assert (fdb.given, isotach.given) == (said.fdb, said.isotach), shown
        return
    assert fdb.given == said, f"FDB was to give {said}: {shown}"
    assert isotach.given == said, f"Isotach was to give {said}: {shown}"
    assert fdb.detail == isotach.detail, f"the same number, but not the same: {shown}"


def told(outcome: Outcome) -> str:
    """An outcome, short enough for a failed test."""
    return f"{outcome.given} {str(outcome.detail)[:600]}\n{outcome.printed[-900:]}"
