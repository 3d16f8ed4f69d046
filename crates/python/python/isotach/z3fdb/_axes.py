"""The axes of an array, as z3fdb names them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, EnumType
from typing import Any

from isotach.z3fdb._store import Z3fdbError


@dataclass(frozen=True, init=False)
class _FixedSizeChunk:
    """Chunks of so many positions of an axis."""

    chunkShape: int  # noqa: N815

    def __init__(self, chunkShape: int | None = None, *, chunk_shape: int | None = None) -> None:  # noqa: N803
        """Takes the number under either name."""
        size = chunkShape if chunk_shape is None else chunk_shape
        if size is None or (chunkShape is not None and chunk_shape is not None):
            raise TypeError("FixedSizeChunk: expected either chunkShape or chunk_shape")
        object.__setattr__(self, "chunkShape", size)

    @property
    def chunk_shape(self) -> int:
        """The number of positions."""
        return self.chunkShape


class _ChunkingType(EnumType):
    """Gives the enumeration a class that is no member."""

    @property
    def FixedSizeChunk(cls) -> type[_FixedSizeChunk]:  # noqa: N802
        """Chunks of so many positions of an axis."""
        return _FixedSizeChunk


class Chunking(Enum, metaclass=_ChunkingType):
    """How an axis is divided into chunks."""

    WHOLE_AXIS = 1
    SINGLE_VALUE = 2


@dataclass(frozen=True, kw_only=True)
class _Grib:
    """Fields are decoded whole."""

    fdb_config: Any = None


class _ExtractorTypes(EnumType):
    """Gives the enumeration what is no member."""

    @property
    def Grib(cls) -> type[_Grib]:  # noqa: N802
        """Fields are decoded whole."""
        return _Grib

    def GribJump(cls, **_: Any) -> Any:  # noqa: N802
        """Parts of fields, which this module does not have."""
        raise Z3fdbError("ExtractorType.GribJump: expected ExtractorType.GRIB, which decodes whole fields")


class ExtractorType(Enum, metaclass=_ExtractorTypes):
    """How fields are decoded."""

    GRIB = 0


class AxisDefinition:
    """An axis: the combinations of the values of keys, of which the last changes fastest."""

    def __init__(self, keys: Sequence[str], chunking: Any, name: str | None = None) -> None:
        """Takes the keys, a :class:`Chunking` or ``Chunking.FixedSizeChunk``, and the name of the dimension."""
        self.keys = list(keys)
        self.chunking = chunking
        self.name = name

    @property
    def chunking(self) -> Any:
        """How the axis is divided into chunks."""
        return self._chunking

    @chunking.setter
    def chunking(self, chunking: Any) -> None:
        if not isinstance(chunking, (Chunking, _FixedSizeChunk)):
            raise TypeError(
                f"chunking of type {type(chunking).__name__}: "
                "expected Chunking.WHOLE_AXIS, Chunking.SINGLE_VALUE or Chunking.FixedSizeChunk(...)"
            )
        self._chunking = chunking

    @property
    def dimension_name(self) -> str:
        """The name, or the keys with underscores between them."""
        return self.name or "_".join(self.keys)

    def chunk_size(self, positions: int) -> int:
        """The positions of a chunk of an axis with so many positions."""
        if isinstance(self._chunking, _FixedSizeChunk):
            return self._chunking.chunkShape
        return positions if self._chunking is Chunking.WHOLE_AXIS else 1
