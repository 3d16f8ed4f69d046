"""The classes and functions of pygribjump."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from isotach import _isotach
from isotach._exceptions import GridError, IsotachError, MissingFieldsError
from isotach._store import Store
from isotach.pyfdb.pyfdb import FDB
from isotach.pygribjump._requests import ExtractionRequest, PathExtractionRequest, checked
from isotach.pygribjump._results import (
    ExtractionIterator,
    ExtractionIteratorFromPath,
    ExtractionResult,
    ExtractionSingleIterator,
)
from isotach.pygribjump._texts import (
    default_context,
    dic_to_request,
    library_version,
    list_to_rangestr,
    merge_default_context,
    multivalued_dic_to_request,
    rangestr_to_list,
    version,
)

__all__ = [
    "ExtractionIterator",
    "ExtractionIteratorFromPath",
    "ExtractionRequest",
    "ExtractionResult",
    "ExtractionSingleIterator",
    "GribJump",
    "GribJumpException",
    "PathExtractionRequest",
    "default_context",
    "dic_to_request",
    "library_version",
    "list_to_rangestr",
    "merge_default_context",
    "multivalued_dic_to_request",
    "rangestr_to_list",
    "version",
]

_WITHOUT_LIST = "Polyrequest should be a list of tuples or ExtractionRequest objects"


class GribJumpException(RuntimeError):  # noqa: N818
    """An extraction failed."""


def _not_found(function: str, what: object) -> GribJumpException:
    return GribJumpException(f"Error in function '{function}': GribJumpException: DataNotFound. {what}")


@contextmanager
def _in_words_of_gribjump(function: str) -> Iterator[None]:
    """Raises errors of the store as gribjump does. Programs look for these words."""
    try:
        yield
    except GridError as error:
        raise GribJumpException(
            f"Error in function '{function}': BadValue: Grid hash mismatch: {error}"
        ) from error
    except MissingFieldsError as error:
        raise _not_found(function, error) from error
    except IsotachError as error:
        raise GribJumpException(f"Error in function '{function}': {error}") from error


def _grids(grid_hash: str | None, function: str) -> tuple[str | None, bool]:
    """Which grids are permitted: the one with the hash, or any if the check is turned off."""
    if os.environ.get("GRIBJUMP_IGNORE_GRID", "0").lower() in ("1", "true", "yes", "on"):
        return None, True
    if not grid_hash:
        raise GribJumpException(
            f"Error in function '{function}': BadValue: Grid hash was not specified in request but is required. "
            "(GRIBJUMP_IGNORE_GRID=1 turns the check off)"
        )
    if re.fullmatch(r"[0-9a-fA-F]{32}", grid_hash) is None:
        raise GribJumpException(
            f"Error in function '{function}': BadValue: Grid hash mismatch: {grid_hash!r} is no hash of a grid"
        )
    return grid_hash, False


def _result(values: Any, shape: list[int]) -> ExtractionResult:
    return ExtractionResult(np.frombuffer(values, dtype="<f8"), shape)


class GribJump:
    """Extracts points of the fields of a store: the one that ``isotach.pyfdb.FDB()`` opens."""

    def __init__(self) -> None:
        """Opens nothing yet."""
        self._fdb = FDB()

    def _store(self, function: str) -> Store:
        store = self._fdb.FDB.readable()
        if store is None:
            raise _not_found(function, "There is no store yet")
        return store

    def extract(self, polyrequest: Any, ctx: Mapping[str, str] | None = None) -> ExtractionIterator:
        """The points of several fields.

        Parameters
        ----------
        polyrequest
            A list of :class:`ExtractionRequest`, or of tuples of a request, ranges and optionally a grid hash. Each names one
            field.
        ctx
            Who calls; without effect.

        Raises
        ------
        GribJumpException
            A field does not exist, has another grid, or cannot be read.
        """
        if not isinstance(polyrequest, list):
            raise ValueError(_WITHOUT_LIST)
        if not polyrequest:
            raise ValueError("Polyrequest should not be empty")
        if isinstance(polyrequest[0], tuple):
            requests = [_unpacked(item) for item in polyrequest]
        elif isinstance(polyrequest[0], ExtractionRequest):
            requests = polyrequest
        else:
            raise ValueError(_WITHOUT_LIST)
        return ExtractionIterator(self._extracted(requests, "gribjump_extract"))

    def _extracted(self, requests: list[ExtractionRequest], function: str) -> list[ExtractionResult]:
        """The results of requests. Those with the same ranges are read together."""
        alike: dict[tuple[Any, ...], list[int]] = {}
        for number, request in enumerate(requests):
            alike.setdefault((request.grid_hash, *request.ranges), []).append(number)
        with _in_words_of_gribjump(function):
            store = self._store(function)
        results: list[ExtractionResult | None] = [None] * len(requests)
        for (grid_hash, *ranges), numbers in alike.items():
            grids = _grids(grid_hash, function)
            keys = [requests[number].request for number in numbers]
            with _in_words_of_gribjump(function):
                found = _isotach.values_at(store._native, keys, ranges, grids, 0)
            for number, values in zip(numbers, found, strict=True):
                if values is None:
                    raise _not_found(function, f"There is no field {requests[number].request}")
                results[number] = _result(values, requests[number].shape)
        return [result for result in results if result is not None]

    def extract_from_paths(
        self, requests: list[PathExtractionRequest], ctx: Mapping[str, str] | None = None
    ) -> ExtractionIteratorFromPath:
        """The points of messages in files."""
        function = "gribjump_extract_from_paths"
        results = []
        for request in requests:
            path, offset = request.place
            grids = _grids(request.grid_hash, function)
            with _in_words_of_gribjump(function):
                values = _isotach.values_in_file(path, offset, request.ranges, grids)
            results.append(_result(values, request.shape))
        return ExtractionIteratorFromPath(results)

    def extract_single(
        self,
        request: Mapping[str, Any],
        ranges: list[tuple[int, int]],
        gridHash: str | None = None,  # noqa: N803
        ctx: Mapping[str, str] | None = None,
    ) -> ExtractionSingleIterator:
        """The same points of all fields that a request names: a value or a list of values for each key."""
        function = "gribjump_extract_single"
        ranges = checked(ranges)
        hash_of_all, any_grid = _grids(gridHash, function)
        with _in_words_of_gribjump(function):
            found = self._store(function).values(
                dict(request), ranges=ranges, grid_hash=hash_of_all, any_grid=any_grid
            )
        shape = [high - low for low, high in ranges]
        return ExtractionSingleIterator([ExtractionResult(row, shape) for row in found.values])

    def extract_from_mask(
        self,
        requests: list[dict[str, str]],
        mask: ArrayLike,
        gridHash: str | None = None,  # noqa: N803
        ctx: Mapping[str, str] | None = None,
    ) -> ExtractionIterator:
        """The points for which a flat mask is true, of each field."""
        _check_list(requests)
        return self.extract([ExtractionRequest.from_mask(one, mask, gridHash) for one in requests], ctx)

    def extract_from_indices(
        self,
        requests: list[dict[str, str]],
        indices: Any,
        gridHash: str | None = None,  # noqa: N803
        ctx: Mapping[str, str] | None = None,
    ) -> ExtractionIterator:
        """The points at these places, of each field."""
        _check_list(requests)
        return self.extract([ExtractionRequest.from_indices(one, indices, gridHash) for one in requests], ctx)

    def extract_from_ranges(
        self,
        requests: list[dict[str, str]],
        ranges: list[tuple[int, int]],
        gridHash: str | None = None,  # noqa: N803
        ctx: Mapping[str, str] | None = None,
    ) -> ExtractionIterator:
        """The points of these ranges, of each field."""
        _check_list(requests)
        return self.extract([ExtractionRequest(one, ranges, gridHash) for one in requests], ctx)

    def axes(
        self, req: Mapping[str, str], level: int = 3, ctx: Mapping[str, str] | None = None
    ) -> dict[str, list[str]]:
        """The values that the fields of a request have, for each key down to a level of the schema."""
        with _in_words_of_gribjump("gribjump_new_axes"):
            axes = self._fdb.axes(dict(req), level)
        return {name: list(values) for name, values in axes.items()}


def _check_list(requests: Any) -> None:
    if not isinstance(requests, list):
        raise ValueError("Requests should be a list of dictionaries")


def _unpacked(item: tuple[Any, ...]) -> ExtractionRequest:
    if len(item) not in (2, 3):
        raise ValueError("Polyrequest should be a list of tuples of length 2 or 3")
    request, ranges, *grid_hash = item
    return ExtractionRequest(request, list(ranges), *grid_hash)
