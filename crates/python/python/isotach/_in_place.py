"""Putting a module of this package in the place of another package."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable


def put_in_place(package: str, modules: Iterable[str]) -> None:
    """Makes ``import PACKAGE`` import ``isotach.PACKAGE``, in this process.

    Parameters
    ----------
    package
        The name of the other package.
    modules
        The names of its modules within it, each with a dot in front.

    Raises
    ------
    RuntimeError
        The other package was imported before.
    """
    here = f"isotach.{package}"
    there = sys.modules.get(package)
    if there is not None and there.__name__ != here:
        raise RuntimeError(
            f"{package} was imported before: call {here}.install() before the first import of {package}"
        )
    for name in ("", *modules):
        sys.modules[package + name] = importlib.import_module(here + name)
