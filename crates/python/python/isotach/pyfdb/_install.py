"""Putting this package in the place of pyfdb."""

from __future__ import annotations

import importlib
import sys

_HERE = "isotach.pyfdb"
_MODULES = ("", ".pyfdb", ".pyfdb_iterator", ".pyfdb_type", "._internal", "._internal.pyfdb_internal")


def install() -> None:
    """Makes ``import pyfdb`` import this package, in this process. Calling it again does nothing.

    Raises
    ------
    RuntimeError
        Another pyfdb was imported before.
    """
    there = sys.modules.get("pyfdb")
    if there is not None and there.__name__ != _HERE:
        raise RuntimeError(
            "pyfdb was imported before: call isotach.pyfdb.install() before the first import of pyfdb"
        )
    for name in _MODULES:
        sys.modules["pyfdb" + name] = importlib.import_module(_HERE + name)
