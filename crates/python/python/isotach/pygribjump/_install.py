"""Putting this package in the place of pygribjump."""

from __future__ import annotations

from isotach._in_place import put_in_place

_MODULES = (".pygribjump",)


def install() -> None:
    """Makes ``import pygribjump`` import this package, in this process. Calling it again does nothing.

    Raises
    ------
    RuntimeError
        Another pygribjump was imported before.
    """
    put_in_place("pygribjump", _MODULES)
