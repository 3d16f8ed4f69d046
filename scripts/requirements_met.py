"""Says which pinned Python requirements this interpreter lacks, one a line; exit code 1 if there are any.

Usage: python scripts/requirements_met.py REQUIREMENTS.txt

What must stay true: it asks the installed packages, needs no network, and understands just what our
requirements files hold: comments, `-r FILE` relative to the file, and `name==version`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def pins(path: Path) -> Iterator[tuple[str, str]]:
    """Every (name, version) that the file pins, with those of the files it refers to."""
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        line = line.split("#", 1)[0].strip()
        if line.startswith("-r "):
            yield from pins(path.parent / line[3:].strip())
        elif line:
            name, equals, wanted = line.partition("==")
            if not equals:
                sys.exit(f"{path}:{number}: {line!r} is not pinned; write name==version")
            yield name.strip(), wanted.strip()


def installed(name: str) -> str | None:
    """The version that is installed, if any."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def main() -> int:
    """Prints what is missing; the exit code."""
    if len(sys.argv) != 2:
        sys.exit("usage: requirements_met.py REQUIREMENTS.txt")
    wanted = set(pins(Path(sys.argv[1])))
    missing = sorted(f"{name}=={pin}" for name, pin in wanted if installed(name) != pin)
    print("\n".join(missing), end="\n" if missing else "")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
