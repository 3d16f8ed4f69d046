"""The names of z3fdb, for programs that were written for it: arrays whose axes are combinations of keys.

The arrays come from an Isotach store. New programs should use :class:`isotach.zarr.FieldsStore`, which has coordinates and an array for
each parameter.
"""

from __future__ import annotations

from isotach.z3fdb._axes import AxisDefinition, Chunking, ExtractorType
from isotach.z3fdb._builder import CustomStoreBuilder, MarsSelection, SimpleStoreBuilder
from isotach.z3fdb._store import Z3fdbError

has_gribjump_extractor = False
"""Whether ``ExtractorType.GribJump`` can be used."""

__all__ = [
    "AxisDefinition",
    "Chunking",
    "CustomStoreBuilder",
    "ExtractorType",
    "MarsSelection",
    "SimpleStoreBuilder",
    "Z3fdbError",
    "has_gribjump_extractor",
]
