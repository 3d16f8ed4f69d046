"""``python -m isotach.pyfdb``: runs a script with this package in place of pyfdb, or tells what is installed."""

from __future__ import annotations

import argparse
import logging
import runpy
import sys
from pathlib import Path

from isotach.pyfdb import _internal, install


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(prog="python -m isotach.pyfdb", description="pyfdb over Isotach")
    parser.add_argument("--print-home", action="store_true", help="print the home of the library")
    parser.add_argument("--print-home-deps", action="store_true", help="print the homes of all libraries")
    parser.add_argument("-v", "--verbose", action="store_true", help="log at level DEBUG")
    parser.add_argument("script", nargs="?", help="a script to run with this package as pyfdb")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the arguments of the script")
    given = parser.parse_args()
    if given.script is not None:
        _run(given.script, given.arguments)
        return
    level = logging.DEBUG if given.verbose else logging.INFO
    logging.basicConfig(format="%(asctime)s | %(levelname)-6s | %(message)s", level=level)
    if not (given.print_home or given.print_home_deps):
        parser.print_help()
        sys.exit(2)
    for name, version, revision, place in _internal._version_info():
        if given.print_home_deps or name == "fdb":
            logging.info("\t%s %s (%s) %s", name, version, revision, place)


def _run(script: str, arguments: list[str]) -> None:
    """Runs a script as ``python SCRIPT`` would."""
    install()
    sys.argv = [script, *arguments]
    sys.path[0] = str(Path(script).resolve().parent)
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main()
