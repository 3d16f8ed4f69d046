"""Decoding by ecCodes: messages that the native decoder leaves, because they are in another packing or their grid differs in a flag."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from isotach._exceptions import MessageError
from isotach._xarray.alike import differing
from isotach._xarray.grid import Grid
from isotach._xarray.message import Doubles, opened


def decode(data: Any, grid: Grid, reference: Callable[[], Any]) -> Doubles:
    """The values of a field in the order of its message, with NaN where its bitmap leaves points out.

    Parameters
    ----------
    data
        The bytes of one GRIB message.
    grid
        The grid that the field must be on.
    reference
        Reads a message on this grid.

    Raises
    ------
    MessageError
        The message cannot be decoded, or the field is on another grid.
    """
    with opened(data) as message:
        differs = differing(message, grid, reference)
        if differs is not None:
            raise MessageError(f"the field is on another grid: {differs}")
        return message.values()
