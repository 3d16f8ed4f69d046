"""A variable to be."""

from __future__ import annotations

from dataclasses import dataclass

from isotach._xarray.cube import Group
from isotach._xarray.heads import Head


@dataclass(frozen=True)
class Member:
    """The fields of a variable, and what the first of them says."""

    name: str
    group: Group
    head: Head
    dims: tuple[str, ...]
    """The names of the dimensions of its extents, some of which are squeezed."""
