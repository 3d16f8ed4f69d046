"""Medians of rounds, and what is printed of them."""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable
from pathlib import Path


def medians(rounds: int, *acts: Callable[[], float]) -> list[float]:
    """The median of what each function returns, in rounds in which all have their turn. A first round does not count."""
    found: list[list[float]] = [[] for _ in acts]
    for number in range(rounds + 1):
        for act, figures in zip(acts, found, strict=True):
            figure = act()
            if number:
                figures.append(figure)
    return [statistics.median(figures) for figures in found]


class Report:
    """Prints figures as rows of a table in Markdown."""

    def __init__(self) -> None:
        """Prints the head of the table."""
        print("| what | median | goal | |\n|---|---:|---:|---|", flush=True)

    def add(self, what: str, figure: float, unit: str) -> None:
        """Prints a figure."""
        print(f"| {what} | {figure:.4g} {unit} | | |", flush=True)

    def goal(
        self,
        what: str,
        figure: float,
        unit: str,
        *,
        at_least: float | None = None,
        at_most: float | None = None,
    ) -> None:
        """Prints a figure and whether it reaches its goal."""
        is_reached = (at_least is None or figure >= at_least) and (at_most is None or figure <= at_most)
        goal = f"at least {at_least}" if at_least is not None else f"at most {at_most}"
        print(
            f"| {what} | {figure:.3g} {unit} | {goal} | {'' if is_reached else 'not '}reached |", flush=True
        )


def evict(folder: Path) -> None:
    """Makes all files of a folder leave the page cache."""
    os.sync()
    for path in folder.rglob("*"):
        if path.is_file():
            file = os.open(path, os.O_RDONLY)
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(file)
