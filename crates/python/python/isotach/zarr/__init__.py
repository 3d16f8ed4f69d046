"""Zarr v3 stores: :class:`ContainerStore`, to write arrays into Isotach.

They need the package zarr, which ``pip install isotach[zarr]`` also installs.
"""

from __future__ import annotations

try:
    import zarr as _zarr  # noqa: F401
except ImportError as error:
    raise ImportError("isotach.zarr needs the package zarr: pip install isotach[zarr]") from error

from isotach.zarr._container import ContainerStore

__all__ = ["ContainerStore"]
