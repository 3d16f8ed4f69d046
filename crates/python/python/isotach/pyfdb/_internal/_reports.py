"""Reports in the form of FDB's, with what a store of Isotach has to tell."""

from __future__ import annotations

from collections.abc import Iterator

from isotach._reports import DatasetStats, PurgedDataset, WipedDataset
from isotach.pyfdb._internal._elements import (
    RawPurgeElement,
    RawStatsElement,
    RawWipeElement,
    RawWipeElementType,
    key_text,
)

_UNITS = ("bytes", "Kbytes", "Mbytes", "Gbytes", "Tbytes", "Pbytes")


def size_text(size: int) -> str:
    """A size in bytes, and in a unit that fits."""
    value, unit = float(size), 0
    while value >= 1024 and unit < len(_UNITS) - 1:
        value, unit = value / 1024, unit + 1
    return f"{size:,} ({value:g} {_UNITS[unit]})"


def _line(name: str, value: str) -> str:
    return f"{name:<32}: {value}\n"


def stats(counts: DatasetStats) -> RawStatsElement:
    """The statistics of a dataset. FDB's lines about its own files have no counterpart."""
    index = _line("Fields", f"{counts.fields + counts.replaced_fields:,}")
    index += _line("Size of fields", size_text(counts.bytes + counts.replaced_bytes))
    if counts.replaced_fields:
        index += _line("Duplicated fields", f"{counts.replaced_fields:,}")
        index += _line("Size of duplicates", size_text(counts.replaced_bytes))
    index += _line("Reacheable fields", f"{counts.fields:,}")
    index += _line("Reachable size", size_text(counts.bytes))
    database = _line("Databases", "1")
    if counts.adopted_fields:
        database += _line("Size of adopted data", size_text(counts.adopted_bytes))
    database += _line("Total owned size", size_text(counts.container_bytes))
    database += _line("Total size", size_text(counts.container_bytes + counts.adopted_bytes))
    return RawStatsElement(index, database)


def wiped(dataset: WipedDataset) -> Iterator[RawWipeElement]:
    """What a dataset loses."""
    kinds = RawWipeElementType
    name = ":".join(dataset.key.values())
    yield RawWipeElement(kinds.CATALOGUE_INFO, f"[Database: {name}]")
    if dataset.is_whole:
        yield RawWipeElement(kinds.CATALOGUE, "Catalogue URIs to delete:", [dataset.catalogue])
    else:
        kept = "Protected catalogue URIs (explicitly untouched):"
        yield RawWipeElement(kinds.CATALOGUE_SAFE, kept, [dataset.catalogue])
    parts = [",".join(f"{name}={value}" for name, value in key.items()) for key in dataset.collocations]
    indexes = [f"{dataset.catalogue}#{part}" for part in parts]
    yield RawWipeElement(kinds.CATALOGUE_INDEX, "Index URIs to delete:", indexes)
    stores = [dataset.store] if dataset.is_whole else [f"{dataset.store}#{part}" for part in parts]
    yield RawWipeElement(kinds.STORE, "Data URIs to delete:", stores)


def purged(dataset: PurgedDataset) -> Iterator[RawPurgeElement]:
    """What a purge frees in a dataset."""
    yield RawPurgeElement("")
    yield RawPurgeElement(f"Dataset {key_text(dataset.key)}")
    for name, value in (
        ("Duplicated fields", f"{dataset.replaced_fields:,}"),
        ("Size of duplicates", size_text(dataset.replaced_bytes)),
        ("Total owned size", size_text(dataset.bytes_before)),
        ("Size to free", size_text(dataset.bytes_freed)),
        ("Size in use by others", size_text(dataset.bytes_held)),
    ):
        yield RawPurgeElement(f"    {_line(name, value).rstrip()}")
