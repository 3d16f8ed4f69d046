"""Putting this package in the place of pyfdb."""

from __future__ import annotations

from isotach._in_place import put_in_place

_MODULES = (".pyfdb", ".pyfdb_iterator", ".pyfdb_type", "._internal", "._internal.pyfdb_internal")


def install() -> None:
    """Makes ``import pyfdb`` import this package, in this process. Calling it again does nothing.

    Raises
    ------
    RuntimeError
        Another pyfdb was imported before.
    """
    put_in_place("pyfdb", _MODULES)
