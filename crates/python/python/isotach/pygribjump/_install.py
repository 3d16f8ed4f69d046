"""Putting this package in the place of pygribjump."""

from __future__ import annotations

import importlib
import sys

_HERE = "isotach.pygribjump"


def install() -> None:
    """Makes ``import pygribjump`` import this package, in this process. Calling it again does nothing.

    Raises
    ------
    RuntimeError
        Another pygribjump was imported before.
    """
    there = sys.modules.get("pygribjump")
    if there is not None and there.__name__ != _HERE:
        raise RuntimeError(
            "pygribjump was imported before: call isotach.pygribjump.install() before the first import of pygribjump"
        )
    for name in ("", ".pygribjump"):
        sys.modules["pygribjump" + name] = importlib.import_module(_HERE + name)
