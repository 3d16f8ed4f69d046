"""Reading through the stream reader of ecCodes."""

from __future__ import annotations

import sys


def is_stream_reader() -> bool:
    """Whether the caller of the caller is ``eccodes.StreamReader``.

    Old programs give it handles that are not open, which pyfdb 0.1 opened by itself. It calls ``read`` from C, where an
    exception is printed and lost: all that such a program would see is an "Input output problem".
    """
    frame = sys._getframe(2)
    return frame.f_globals.get("__name__") == "eccodes.highlevel.reader"
