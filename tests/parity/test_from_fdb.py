"""The page "from fdb-* to isotach" names every program of FDB and every option, and isotach takes its command lines."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "from-fdb.md"
TEXT = PAGE.read_text()
SHARED, *SECTIONS = TEXT.split("\n## ")
# These say nothing of their options: a shell script, a server that would start, and a program that may crash.
MUTE = {"fdb", "fdb-server", "fdb-hammer", "fdb-which"}


# What fdb-hammer takes, as its source has it.
HAMMER = """class expver step nsteps number nensembles level nlevels levels nparams read list full-check md-check itt
step-window random-delay poll-period poll-max-attempts no-randomise-data check-queue-size nodes ppn start-at stop-at
barrier-port barrier-max-wait statistics verbose delay disable-subtocs uri-file"""


def programs() -> list[str]:
    """The names of FDB's programs; none where FDB is not installed."""
    try:
        import fdb5lib
    except ImportError:
        return []
    folder = Path(fdb5lib.__file__).parent / "bin"
    return sorted(path.name for path in folder.iterdir())


def section_of(program: str) -> str:
    """The section whose table or heading names a program."""
    named = re.compile(rf"(?<![\w-]){re.escape(program)}(?![\w-])")
    found = [section for section in SECTIONS if named.search(section.splitlines()[0])]
    return "\n".join(found or [section for section in SECTIONS if named.search(section)])


def options_of(program: str, folder: Path) -> list[str]:
    """The options that a program tells when it is given one that it does not know."""
    import fdb5lib

    path = Path(fdb5lib.__file__).parent / "bin" / program
    keep = {name: value for name, value in os.environ.items() if not name.startswith("FDB")}
    said = subprocess.run(
        [path, "--no-such-option"],
        env=keep | {"FDB_HOME": str(folder)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return re.findall(r"^ +(--[a-z0-9-]+)", said.stdout + said.stderr, re.MULTILINE)


def command_lines() -> list[str]:
    """Every command line of isotach on the page."""
    spans = re.findall(r"`([^`\n]+)`", TEXT)
    blocks = [
        line for block in re.findall(r"```\w+\n(.*?)```", TEXT, re.DOTALL) for line in block.splitlines()
    ]
    found = {match[0].strip() for text in spans + blocks if (match := re.search(r"\bisotach( .+)?$", text))}
    return sorted(line for line in found if "..." not in line)


@pytest.fixture(scope="session")
def names(peer: None) -> list[str]:
    """The programs, which are there."""
    found = programs()
    assert len(found) > 25, found
    return found


def test_the_page_names_every_program(names: list[str]) -> None:
    assert [name for name in names if not section_of(name)] == []


@pytest.mark.parametrize("program", [name for name in programs() if name not in MUTE])
def test_the_page_names_every_option_of(program: str, peer: None, tmp_path: Path) -> None:
    options = options_of(program, tmp_path)
    assert options, f"{program} tells no options"
    told = SHARED + section_of(program)
    missing = [option for option in options if not re.search(rf"{option}(?![\w-])", told)]
    assert missing == [], f"{PAGE.name} does not say what stands for {program} {missing}"


def test_the_page_names_every_option_of_the_hammer() -> None:
    told = section_of("fdb-hammer")
    assert [name for name in HAMMER.split() if f"`--{name}`" not in told] == []


def test_isotach_takes_every_command_line_of_the_page(binary: Path) -> None:
    lines = command_lines()
    assert len(lines) > 40, lines
    for line in lines:
        words = line.split()[1:]
        done = subprocess.run(
            [binary, *words, "--help"], capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == 0, f"{line}\n{done.stderr}"


def test_the_page_shows_every_difference_of_the_scenarios() -> None:
    from scenario_table import table

    assert table() in TEXT, "docs/from-fdb.md is not what `python tests/parity/scenario_table.py` prints"
