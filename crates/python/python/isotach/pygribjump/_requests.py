"""What is asked for: a field, ranges of its points, and the hash of its grid."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ranges = Sequence[tuple[int, int]]


def checked(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Refuses no ranges, and empty ones."""
    ranges = list(ranges)
    if not ranges:
        raise ValueError(f"Must provide at least one range but found {ranges=}")
    for one in ranges:
        if not one[0] < one[1]:
            raise ValueError(f"Found invalid range {one}: Expected lo < hi for ranges [lo, hi).")
    return [(int(low), int(high)) for low, high in ranges]


class _Ranged:
    """Ranges of points."""

    def __init__(self, ranges: Iterable[tuple[int, int]], gridHash: str | None) -> None:  # noqa: N803
        self._ranges = checked(ranges)
        self._grid_hash = gridHash

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """The half-open ranges of places among the values of the field."""
        return self._ranges

    @property
    def shape(self) -> list[int]:
        """The length of each range."""
        return [high - low for low, high in self._ranges]

    @property
    def grid_hash(self) -> str | None:
        """The hash that the field's grid must have."""
        return self._grid_hash


class ExtractionRequest(_Ranged):
    """Ranges of points of one field."""

    def __init__(
        self,
        req: dict[str, str],
        ranges: Iterable[tuple[int, int]],
        gridHash: str | None = None,  # noqa: N803
    ) -> None:
        """The request names one field. The hash is ecCodes' key ``md5GridSection``."""
        super().__init__(ranges, gridHash)
        self._request = {name: str(value) for name, value in req.items()}

    @property
    def request(self) -> dict[str, str]:
        """The keys of the field."""
        return self._request

    @classmethod
    def from_mask(cls, req: dict[str, str], mask: ArrayLike, gridHash: str | None = None) -> Self:  # noqa: N803
        """The points for which a flat mask is true."""
        flags = np.asarray(mask, dtype=bool).ravel()
        if not flags.any():
            raise ValueError("Mask must contain at least one True value")
        steps = np.diff(np.concatenate(([False], flags, [False])).astype(int))
        starts, ends = np.flatnonzero(steps == 1), np.flatnonzero(steps == -1)
        return cls(req, zip(starts.tolist(), ends.tolist(), strict=True), gridHash)

    @classmethod
    def from_indices(cls, req: dict[str, str], points: Any, gridHash: str | None = None) -> Self:  # noqa: N803
        """Single points by their places."""
        return cls(req, [(int(point), int(point) + 1) for point in points], gridHash)

    def indices(self) -> NDArray[np.int_]:
        """The place of each value."""
        return np.concatenate([np.arange(low, high) for low, high in self._ranges])


class PathExtractionRequest(_Ranged):
    """Ranges of points of one message in a file."""

    def __init__(
        self,
        path: str,
        scheme: str,
        offset: int,
        host: str,
        port: int,
        ranges: Iterable[tuple[int, int]],
        gridHash: str | None = None,  # noqa: N803
    ) -> None:
        """The message begins at ``offset``. Files of other hosts are not read."""
        super().__init__(ranges, gridHash)
        if scheme not in ("", "file") or host not in ("", "localhost"):
            raise ValueError(
                f"{scheme}://{host}:{port}{path}: expected the scheme file and no host, because only files of this machine are read"
            )
        self._path, self._offset = path, offset

    @property
    def place(self) -> tuple[str, int]:
        """The path, and the offset in bytes."""
        return self._path, self._offset
