"""Zarr v3 stores: :class:`ContainerStore`, to write arrays into Isotach, and :class:`FieldsStore`, to read fields as arrays.

They need the package zarr, which ``pip install isotach[zarr]`` also installs.
"""

from __future__ import annotations

from importlib.util import find_spec as _find_spec

if _find_spec("zarr") is None:
    raise ImportError("isotach.zarr needs the package zarr: pip install isotach[zarr]")

from isotach.zarr._container import ContainerStore
from isotach.zarr._fields import FieldsStore

__all__ = ["ContainerStore", "FieldsStore"]
