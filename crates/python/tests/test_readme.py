"""The lines of the README run as they stand."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_the_lines_of_the_readme_run(tmp_path: Path) -> None:
    [code] = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert (run.returncode, run.stdout) == (0, "167 b'the bytes of a field'\n"), run.stderr
