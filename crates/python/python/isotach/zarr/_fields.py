"""The fields of a request as a read-only Zarr store."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

import isotach
from isotach._arguments import RequestLike
from isotach._isotach import Request
from isotach.zarr._read_only import ReadOnlyStore
from isotach.zarr._view import View, view_of


class FieldsStore(ReadOnlyStore):
    """The fields of a request as a read-only Zarr v3 group, with an array for each parameter.

    The dimensions of an array are the keys with several values, in the order of the request, then those of the grid:
    ``latitude`` and ``longitude``, or ``values``. A chunk is a field, decoded when it is read. Fields that do not exist are NaN; a
    damaged one is an error.

    ::

        store = FieldsStore("posix:/data/fields", date=20240101, step=[0, 6, 12], param=["2t", "tp"], levtype="sfc")
        zarr.open(store)["2t"][1]
        xarray.open_zarr(store)

    Opening lists the fields and reads one of each parameter. The view stays as it is when fields are archived later.

    Parameters
    ----------
    store
        An open :class:`isotach.Store`, or what :func:`isotach.open` takes.
    request
        As for :meth:`isotach.Store.list`: a key left out matches every value.
    dtype
        ``"float64"``, in which ecCodes decodes, or ``"float32"``, in half the memory.

    Raises
    ------
    MissingFieldsError
        No field matches the request, or none has a parameter that the request names.
    InvalidInputError
        The fields are on several grids, or those of a parameter have different keys.
    MessageError
        A field is no GRIB message.
    """

    _view: View

    def __init__(
        self,
        store: isotach.Store | str | os.PathLike[str] | Mapping[str, Any] | None = None,
        request: RequestLike = None,
        *,
        dtype: Literal["float64", "float32"] = "float64",
        read_only: bool = True,
        **keywords: Any,
    ) -> None:
        """Lists the fields, and reads one of each parameter."""
        if not read_only:
            raise ValueError("read_only=False: expected True, because the fields of a request are a view")
        if dtype not in ("float64", "float32"):
            raise ValueError(f"dtype={dtype!r}: expected 'float64' or 'float32'")
        opened = store if isinstance(store, isotach.Store) else isotach.open(store)
        self._request = Request(request, **keywords)
        super().__init__(opened, view_of(opened, self._request, np.dtype(dtype).newbyteorder("<")))

    @property
    def request(self) -> Request:
        """The request."""
        return self._request

    @property
    def dtype(self) -> str:
        """The type of the values."""
        return self._view.dtype.name

    # The handle

    def __eq__(self, other: object) -> bool:
        """Whether both show the same request of the same store."""
        return isinstance(other, type(self)) and self._identity() == other._identity()

    def __hash__(self) -> int:
        """Of the request."""
        return hash(self._identity())

    def _identity(self) -> tuple[str, str | None, Request, str]:
        return self._store.name, self._store.at, self._request, self.dtype

    def __str__(self) -> str:
        """The store and the request."""
        return f"{self._store.name}?{self._request}"

    def __repr__(self) -> str:
        """The store and the request."""
        return f"<FieldsStore {self}>"
