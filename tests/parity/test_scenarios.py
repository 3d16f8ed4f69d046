"""Each scenario, taken with FDB's own programs and with the isotach program, one case for each."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from scenario import Outcome, Scenario, Step, compare
from scenarios import SCENARIOS

if TYPE_CHECKING:
    from sides import Side

NAMES = [scenario.name for scenario in SCENARIOS]


@pytest.fixture(scope="session")
def inputs(peer: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the scenarios archive."""
    from inputs import make

    return make(tmp_path_factory.mktemp("inputs"))


@pytest.fixture(scope="session")
def programs(peer: None) -> Path:
    """The folder of FDB's programs."""
    import fdb5lib

    return Path(fdb5lib.__file__).parent / "bin"


@pytest.mark.parametrize("scenario", SCENARIOS, ids=NAMES)
def test_both_give_what_is_stated_at_every_step(
    scenario: Scenario, programs: Path, binary: Path, inputs: Path, tmp_path: Path
) -> None:
    from sides import FdbSide, IsotachSide

    sides = (
        FdbSide(programs, tmp_path / "fdb", inputs, scenario.config, scenario.schema),
        IsotachSide(binary, tmp_path / "isotach", inputs, scenario.config, scenario.schema),
    )
    with ThreadPoolExecutor() as both:
        outcomes = list(both.map(lambda side: [taken(side, step) for step in scenario.steps], sides))
    for number, (step, fdb, isotach) in enumerate(zip(scenario.steps, *outcomes), start=1):
        compare(f"step {number}, {step}", step.gives, fdb, isotach)


def taken(side: Side, step: Step) -> Outcome:
    """Takes a step on one side."""
    options = dict(step.options)
    side.reading = options.pop("at", "main")
    return getattr(side, step.operation)(*step.arguments, **options)


def test_there_are_at_least_40_scenarios_each_with_a_name_of_its_own() -> None:
    assert len(set(NAMES)) == len(NAMES) >= 40
