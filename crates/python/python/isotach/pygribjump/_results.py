"""What is found: the values of one field, cut into the ranges that were asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Words = NDArray[np.uint64]


class ExtractionResult:
    """The values of the ranges of one field."""

    def __init__(self, values: Floats, shape: Sequence[int]) -> None:
        """The values of all ranges, one behind the other, and the length of each range."""
        self._values = values
        self._shape = list(shape)
        self._masks: list[Words] | None = None

    def _split(self) -> list[Floats]:
        return np.split(self._values, list(accumulate(self._shape))[:-1])

    @property
    def values(self) -> list[Floats]:
        """The values of each range; NaN where the field has none."""
        return self._split()

    @property
    def values_flat(self) -> Floats:
        """The values of all ranges."""
        return self._values

    @property
    def masks(self) -> list[Words]:
        """For each range a bit for each point, the lowest first: 1 where there is a value."""
        if self._masks is None:
            self._masks = [_words(~np.isnan(part)) for part in self._split()]
        return self._masks

    @property
    def masks_flat(self) -> Words:
        """The masks of all ranges."""
        return np.concatenate(self.masks)

    def compute_bool_masks(self) -> list[NDArray[np.bool_]]:
        """For each range, whether each point has a value."""
        return [~np.isnan(part) for part in self._split()]

    def copy_values(self) -> list[Floats]:
        """Copies of the values of each range."""
        return [part.copy() for part in self._split()]

    def copy_masks(self) -> list[Words]:
        """Copies of the masks of each range."""
        return [mask.copy() for mask in self.masks]


def _words(flags: NDArray[np.bool_]) -> Words:
    """Flags as bits of words of 64 bits."""
    padded = np.zeros(-len(flags) % 64 + len(flags), dtype=bool)
    padded[: len(flags)] = flags
    return np.packbits(padded, bitorder="little").view("<u8").astype(np.uint64, copy=False)


class ExtractionIterator:
    """The results of requests, in their order."""

    def __init__(self, results: list[ExtractionResult]) -> None:
        """Called by ``GribJump``."""
        self._results = results

    def __iter__(self) -> Iterator[ExtractionResult]:
        """The results."""
        return iter(self._results)

    def dump_legacy(self) -> list[list[list[tuple[Floats, Words]]]]:
        """For each request, a list with the values and the masks of each range."""
        return [
            [list(zip(result.copy_values(), result.copy_masks(), strict=True))] for result in self._results
        ]

    def dump_values(self) -> list[list[Floats]]:
        """For each request, the values of each range."""
        return [result.copy_values() for result in self._results]


class ExtractionIteratorFromPath(ExtractionIterator):
    """The results of requests for messages in files."""


class ExtractionSingleIterator(ExtractionIterator):
    """The results of a request for several fields."""
