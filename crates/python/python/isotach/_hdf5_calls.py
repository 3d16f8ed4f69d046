"""Calls of the HDF5 connector's C interface for the HDF5 library that h5py uses."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from isotach._extras import extra


def h5py() -> Any:
    """The module h5py."""
    with extra("hdf5"):
        import h5py as found
    return found


@cache
def connector() -> ctypes.CDLL:
    """The connector that HDF5 has loaded: opening the same file again gives the same library."""
    folders = os.environ.get("HDF5_PLUGIN_PATH", "").split(os.pathsep)
    for folder in folders:
        path = Path(folder) / "libisotach_vol.so"
        if folder and path.is_file():
            return ctypes.CDLL(str(path))
    raise OSError(
        f"no libisotach_vol.so in HDF5_PLUGIN_PATH={os.pathsep.join(folders)}: docs/hdf5.md says how it is set"
    )


@cache
def hdf5() -> ctypes.CDLL:
    """h5py's HDF5 library: a search in one of its modules finds what that is linked with."""
    return ctypes.CDLL(h5py().h5f.__file__)


def library() -> ctypes.c_void_p:
    """What names h5py's HDF5 library to the connector, as ``ISOTACH_H5_LIBRARY`` does in C."""
    return ctypes.c_void_p(ctypes.addressof(ctypes.c_int64.in_dll(hdf5(), "H5E_ERR_CLS_g")))


def function(name: str, result: Any = ctypes.c_int) -> Callable[..., Any]:
    """A function of the interface, and what it returns."""
    found = getattr(connector(), f"isotach_h5_{name}")
    found.restype = result
    return found  # type: ignore[no-any-return]


def locked() -> Any:
    """h5py's lock: its HDF5 library is for one thread at a time."""
    return h5py()._objects.phil


class _Entry(ctypes.Structure):
    """``H5E_error2_t``."""

    _fields_ = (
        ("class_id", ctypes.c_int64),
        ("major", ctypes.c_int64),
        ("minor", ctypes.c_int64),
        ("line", ctypes.c_uint),
        ("function", ctypes.c_char_p),
        ("file", ctypes.c_char_p),
        ("text", ctypes.c_char_p),
    )


_EntryCallback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint, ctypes.POINTER(_Entry), ctypes.c_void_p)


def error() -> OSError:
    """The error on HDF5's stack: the connector's text, if it has put one there."""
    texts: list[str] = []

    def each(_: int, entry: Any, __: object) -> int:
        text = (entry.contents.text or b"").decode(errors="replace")
        if entry.contents.file == b"isotach_vol":
            texts.insert(0, text)
        else:
            texts.append(text)
        return 0

    walk = hdf5().H5Ewalk2
    walk(ctypes.c_int64(0), ctypes.c_int(0), _EntryCallback(each), ctypes.c_void_p())
    return OSError(texts[0] if texts else "a call of the HDF5 connector failed")
