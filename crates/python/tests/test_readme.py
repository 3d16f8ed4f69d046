"""The lines of Python in both READMEs run as they stand."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from grib_messages import small
from grib_messages import surface as surface_message

PACKAGE = Path(__file__).parents[1] / "README.md"
PROJECT = Path(__file__).parents[3] / "README.md"


def blocks(page: Path) -> list[str]:
    """The blocks of Python of a page."""
    return re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)


def run(code: str, folder: Path) -> str:
    """What a program prints."""
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=folder, capture_output=True, text=True, timeout=120
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_the_lines_of_the_package_readme_run(tmp_path: Path) -> None:
    [code] = blocks(PACKAGE)
    assert run(code, tmp_path) == "167 b'the bytes of a field'\n"


def test_the_lines_of_the_project_readme_run(tmp_path: Path) -> None:
    surface = [surface_message(step) for step in (0, 6)]
    levels = [small(paramId=param) for param in (130, 131)]
    (tmp_path / "forecast.grib").write_bytes(b"".join(surface + levels))
    retrieved, opened = blocks(PROJECT)
    code = (retrieved + opened).replace("posix:/data/fields", "posix:fields") + "print(sorted(ds))"
    assert run(code, tmp_path) == f"0 {len(surface[0])}\n6 {len(surface[1])}\n['t', 'u']\n"
