"""Runs the lines of Python of a page as they are written.

    python docs_lines.py [--exact] PAGE[#SECTION] FOLDER

The blocks of a page are one program, which runs in the folder. What the page calls ``/data`` is there, too. A block of text behind a
block of Python is what it prints, or the error that it raises. With ``--exact`` what it prints must be equal.

It needs nothing but Python: it runs where only the package and one extra are installed.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from pathlib import Path
from typing import Any

_BLOCK = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", re.DOTALL)
_ERROR = re.compile(r"isotach\.(\w+): ")


def run(page: str, folder: Path, *, is_exact: bool) -> int:
    """Runs a page, and returns the number of its blocks."""
    blocks = _BLOCK.findall(_text(page))
    if not blocks:
        raise SystemExit(f"{page} has no lines of Python")
    names: dict[str, Any] = {"__name__": "__main__"}
    os.chdir(folder)
    for code, expected in blocks:
        printed = _printed(code.replace("/data/", f"{folder}/data/"), names, _ERROR.match(expected))
        if is_exact and expected and printed != expected.replace("/data/", f"{folder}/data/"):
            raise SystemExit(f"{page}:\n{code}\nprints\n{printed}\nexpected\n{expected}")
    return len(blocks)


def _text(page: str) -> str:
    path, _, section = page.partition("#")
    text = Path(path).read_text()
    if not section:
        return text
    found = [part for part in re.split(r"^## ", text, flags=re.MULTILINE) if part.startswith(f"{section}\n")]
    if len(found) != 1:
        raise SystemExit(f"{path} has {len(found)} sections {section}")
    return found[0]


def _printed(code: str, names: dict[str, Any], error: re.Match[str] | None) -> str:
    """What the code prints, or the text of the error that it must raise."""
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            exec(compile(code, "<page>", "exec"), names)
    except Exception as raised:
        if error is None or type(raised).__name__ != error[1]:
            raise
        return f"isotach.{type(raised).__name__}: {raised}\n"
    if error is not None:
        raise SystemExit(f"{code}\nraises nothing, expected {error[1]}")
    return out.getvalue()


if __name__ == "__main__":
    *options, page, folder = sys.argv[1:]
    count = run(page, Path(folder).resolve(), is_exact="--exact" in options)
    print(f"{page}: {count} blocks ran")
