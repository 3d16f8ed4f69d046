"""The builders of stores, as z3fdb has them."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import isotach
from isotach._exceptions import InvalidInputError
from isotach.z3fdb._axes import AxisDefinition
from isotach.z3fdb._cube import Cube, Cubes, part_of
from isotach.z3fdb._store import FdbZarrStore

MarsSelection = Mapping[str, str | int | float | Collection[str | int | float]]
"""A request."""


@dataclass
class _Plan:
    """What was said of one array."""

    parts: list[tuple[MarsSelection, Sequence[AxisDefinition]]] = field(default_factory=list)
    extension: int | None = None
    fill: float | None = None


class CustomStoreBuilder:
    """Builds a store with one array for each path, or with one array at the root.

    ``fdb_config_file`` is the path of a configuration file, or anything else that :func:`isotach.open` takes.
    """

    def __init__(self, fdb_config_file: Path | str | None = None) -> None:
        """Without an argument the store is the one that the environment names."""
        self._config = fdb_config_file
        self._plans: dict[str, _Plan] = {}

    def _plan(self, path: str | None) -> _Plan:
        return self._plans.setdefault((path or "").strip("/"), _Plan())

    def add_part(
        self,
        path: str | None,
        mars_request: MarsSelection,
        axes: Sequence[AxisDefinition],
        extractor: Any = None,
    ) -> None:
        """Adds the fields of a request to an array. Keys with several values belong to an axis."""
        self._plan(path).parts.append((mars_request, list(axes)))

    def extend_on_axis(self, path: str | None, axis: int) -> None:
        """Names the axis along which the parts of an array follow each other."""
        self._plan(path).extension = axis

    def fill_missing_value(self, path: str | None, value: float) -> None:
        """Sets the value of missing points, and of missing fields, which are an error otherwise."""
        self._plan(path).fill = value

    def build(self) -> FdbZarrStore:
        """The store. One field of each part is read.

        Raises
        ------
        InvalidInputError
            The parts are no array.
        MissingFieldsError
            A part has no field.
        """
        if not any(plan.parts for plan in self._plans.values()):
            raise InvalidInputError("no part: expected at least one")
        if "" in self._plans and len(self._plans) > 1:
            raise InvalidInputError("an array at the root and others: expected one of both")
        config = self._config
        store = isotach.open(os.fspath(config) if isinstance(config, os.PathLike) else config)
        return FdbZarrStore(store, Cubes({path: _cube(store, plan) for path, plan in self._plans.items()}))


class SimpleStoreBuilder:
    """Builds a store with one array at the root; see :class:`CustomStoreBuilder`."""

    def __init__(self, fdb_config_file: Path | str | None = None) -> None:
        """Without an argument the store is the one that the environment names."""
        self._builder = CustomStoreBuilder(fdb_config_file)

    def add_part(
        self, mars_request: MarsSelection, axes: Sequence[AxisDefinition], extractor_type: Any
    ) -> None:
        """Adds the fields of a request. Keys with several values belong to an axis."""
        self._builder.add_part(None, mars_request, axes, extractor_type)

    def extend_on_axis(self, axis: int) -> None:
        """Names the axis along which the parts follow each other."""
        self._builder.extend_on_axis(None, axis)

    def fill_missing_value(self, value: float) -> None:
        """Sets the value of missing points, and of missing fields, which are an error otherwise."""
        self._builder.fill_missing_value(None, value)

    def build(self) -> FdbZarrStore:
        """The store; see :meth:`CustomStoreBuilder.build`."""
        return self._builder.build()


def _cube(store: isotach.Store, plan: _Plan) -> Cube:
    if not plan.parts:
        raise InvalidInputError("an array without a part: expected at least one")
    axes = plan.parts[0][1]
    if len(plan.parts) > 1 and plan.extension is None:
        raise InvalidInputError(
            "several parts: expected extend_on_axis with the axis along which they follow each other"
        )
    extension = plan.extension or 0
    if plan.extension is not None and not 0 <= extension < len(axes):
        raise InvalidInputError(f"extend_on_axis({extension}): expected an axis from 0 to {len(axes) - 1}")
    made = [part_of(store, selection, along) for selection, along in plan.parts]
    parts, grids = [part for part, _ in made], [grid for _, grid in made]
    others = {tuple(size for at, size in enumerate(part.shape) if at != extension) for part in parts}
    if len(others) > 1 or len({len(part.shape) for part in parts}) > 1:
        raise InvalidInputError(
            "parts of different shapes: expected the same but for the axis of extend_on_axis"
        )
    if len({grid.digest for grid in grids}) > 1:
        raise InvalidInputError("parts on different grids: expected one grid")
    cube = Cube(parts, grids[0], axes, extension, plan.fill)
    if min(cube.chunk_shape, default=1) < 1:
        raise InvalidInputError(f"chunks of {min(cube.chunk_shape)} positions: expected at least 1")
    return cube
