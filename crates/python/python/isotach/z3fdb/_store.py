"""The store that the builders make."""

from __future__ import annotations

from isotach.zarr._read_only import ReadOnlyStore


class Z3fdbError(Exception):
    """An operation that a view does not have."""


class _ReadOnlyError(Z3fdbError, ValueError):
    """A write. Zarr expects a ValueError, and programs for z3fdb expect its own."""


class FdbZarrStore(ReadOnlyStore):
    """A read-only Zarr store, made by a builder."""

    def _refusal(self) -> Exception:
        return _ReadOnlyError("store was opened in read-only mode and does not support writing")

    def __eq__(self, other: object) -> bool:
        """Whether both show the same arrays of the same store."""
        return isinstance(other, FdbZarrStore) and self._identity() == other._identity()

    def __hash__(self) -> int:
        """Of the store and the metadata."""
        return hash(self._identity())

    def _identity(self) -> tuple[object, ...]:
        return self._store.name, self._store.at, tuple(sorted(self._view.documents.items()))

    def __repr__(self) -> str:
        """The store."""
        return f"<FdbZarrStore over {self._store.name}>"
