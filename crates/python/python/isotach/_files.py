"""Files that appear when they are complete."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def written_whole(target: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file that takes the place of ``target`` when the block ends, with its permissions. After an exception nothing is left."""
    path = Path(target)
    part = path.parent / f".isotach-{secrets.token_hex(8)}"
    try:
        with open(part, "xb", buffering=0) as file:
            yield file
            with suppress(FileNotFoundError):
                os.fchmod(file.fileno(), path.stat().st_mode & 0o7777)
                # One of both files must survive a power failure.
                os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
