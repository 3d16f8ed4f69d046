"""What operations report. All sizes are in bytes, all times are aware datetimes in UTC."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

Key = dict[str, str]
"""The key of a field or dataset: names and values."""


@dataclass(frozen=True, slots=True)
class Missing:
    """The fields of a request that do not exist."""

    count: int
    """How many."""
    keys: list[Key]
    """The first of them, at most 1000, each by the keys that the request names."""
    text: str = ""
    """A line that names the first of them. Empty if nothing is missing."""


@dataclass(frozen=True, slots=True)
class DatasetStatus:
    """A dataset as the store lists it."""

    key: Key
    locks: list[str]
    """The actions that it is locked against: retrieve, list, archive, wipe."""
    forbidden: list[str]
    """The actions that the configuration forbids on it."""
    created: datetime | None
    rule: str
    """The rule of the schema that it was created by."""
    catalogue: str
    """The URI of its container of the catalogue."""
    store: str
    """The URI of its container of the store."""
    below: list[Key] = field(default_factory=list)
    """The datasets that it shows below its own fields, the uppermost first."""


@dataclass(frozen=True, slots=True)
class DatasetStats:
    """The counts of one dataset for a request."""

    key: Key
    collocations: int
    fields: int
    bytes: int
    replaced_fields: int
    replaced_bytes: int
    adopted_fields: int
    adopted_bytes: int
    container_bytes: int
    """The size of the dataset's containers."""


@dataclass(frozen=True, slots=True)
class WipedDataset:
    """What a dataset loses by a wipe."""

    key: Key
    is_whole: bool
    """Whether the whole dataset is removed."""
    collocations: list[Key]
    kept_by: list[str]
    """The snapshots that still show a whole dataset."""
    uncounted: str | None
    """Why there may be more fields than were counted."""
    catalogue: str
    store: str
    fields: int
    bytes: int
    replaced_fields: int
    replaced_bytes: int
    adopted_fields: int
    adopted_bytes: int


@dataclass(frozen=True, slots=True)
class WipeReport:
    """What a wipe removes, or has removed."""

    done: bool
    """False for a dry run."""
    datasets: list[WipedDataset]

    @property
    def fields(self) -> int:
        """The fields of all datasets."""
        return sum(dataset.fields for dataset in self.datasets)

    @property
    def bytes(self) -> int:
        """The bytes of the fields of all datasets."""
        return sum(dataset.bytes for dataset in self.datasets)


@dataclass(frozen=True, slots=True)
class DeletedFields:
    """The fields that a dataset loses by a deletion."""

    key: Key
    """The dataset."""
    fields: int
    bytes: int
    """The bytes of the fields, those in adopted files included."""


@dataclass(frozen=True, slots=True)
class DeleteReport:
    """What a deletion removes, or has removed."""

    done: bool
    """False for a dry run."""
    datasets: list[DeletedFields]

    @property
    def fields(self) -> int:
        """The fields of all datasets."""
        return sum(dataset.fields for dataset in self.datasets)

    @property
    def bytes(self) -> int:
        """The bytes of the fields of all datasets."""
        return sum(dataset.bytes for dataset in self.datasets)


@dataclass(frozen=True, slots=True)
class PurgedDataset:
    """What a purge frees in a dataset, or has freed."""

    key: Key
    replaced_fields: int
    replaced_bytes: int
    bytes_before: int
    """The size of the dataset's containers before the purge."""
    bytes_freed: int
    """In a dry run, an estimate."""
    bytes_held: int
    """What writers and readers still use. A later purge can free it."""
    history_stays: bool
    """Whether the storage cannot free the space of a container's history."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A past state of datasets, under a name."""

    name: str
    created: datetime | None
    request: str
    """The request that chose its datasets."""
    datasets: list[Key]
    is_complete: bool
    """Whether it can be read."""


@dataclass(frozen=True, slots=True)
class Damage:
    """A damaged place."""

    level: str
    """What is damaged: a field, a collocation, a dataset, or the store."""
    key: Key
    what: str
    place: str
    byte: int | None


@dataclass(frozen=True, slots=True)
class VerifiedPart:
    """A dataset, or the list of the datasets of a store, whose key is empty."""

    key: Key
    place: str
    fields: int
    replaced_fields: int
    damage: list[Damage]
    more_damage: int
    """The number of damaged places that are not in ``damage``."""
    unended_wipes: int
    """The number of wipes of collocations that have begun and not ended."""


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What a verification found."""

    is_sound: bool
    """Whether nothing is damaged."""
    bytes: int
    """The bytes that were read."""
    parts: list[VerifiedPart]

    @property
    def fields(self) -> int:
        """The fields that were verified."""
        return sum(part.fields for part in self.parts)

    @property
    def damage(self) -> list[Damage]:
        """The damage of all parts."""
        return [damage for part in self.parts for damage in part.damage]
