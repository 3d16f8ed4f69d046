"""Files that appear when they are complete."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


def existing(path: str | os.PathLike[str]) -> str:
    """The path of a file or pipe that exists. It is not opened: a pipe can be opened only once.

    Raises
    ------
    OSError
        There is none.
    """
    if stat.S_ISDIR(os.stat(path).st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    return os.fspath(path)


@contextmanager
def written_whole(target: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file that takes the place of ``target`` when the block ends, with its permissions. After an exception nothing is left."""
    path = Path(target)
    part = path.parent / f".isotach-{secrets.token_hex(8)}"
    try:
        opened = open(part, "xb", buffering=0)  # noqa: SIM115
    except OSError as error:
        error.filename = os.fspath(target)
        raise
    try:
        with opened as file:
            yield file
            with suppress(FileNotFoundError):
                os.fchmod(file.fileno(), path.stat().st_mode & 0o7777)
                # One of both files must survive a power failure.
                os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
