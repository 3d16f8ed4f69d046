"""The lines of Python in the pages run as they are written, and print what the pages say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import docs_samples

ROOT = Path(__file__).parents[3]
LINES = Path(__file__).parent / "docs_lines.py"


@pytest.mark.parametrize("page", ["python", "pyfdb", "xarray", "zarr", "earthkit", "fsspec"])
def test_the_lines_of_a_page_run_and_print_what_it_says(page: str, tmp_path: Path) -> None:
    docs_samples.write(tmp_path)
    if page == "xarray" and docs_samples.sample() is None:
        why = f"there is no {docs_samples.ERA5}, which scripts/setup test fetches"
        if "samples" in os.environ.get("ISOTACH_REQUIRE", "").split(","):
            pytest.fail(f"the test must run, since ISOTACH_REQUIRE names samples: {why}")
        pytest.skip(why)
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("FDB", "ISOTACH"))
    }
    ended = subprocess.run(
        [sys.executable, LINES, "--exact", ROOT / "docs" / f"{page}.md", tmp_path],
        capture_output=True,
        text=True,
        timeout=300,
        env={**environment, "HOME": str(tmp_path), "COLUMNS": "80"},
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    assert "blocks ran" in ended.stdout
