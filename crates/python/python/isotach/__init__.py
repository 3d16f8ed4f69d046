"""Isotach: a field store for weather data.

A field is named by metadata, its key, never by a file name::

    import isotach

    with isotach.create("posix:/data/fields") as store:
        store.archive(Path("forecast.grib"))

    store = isotach.open("posix:/data/fields")
    for field in store.retrieve(class_="od", date=20240101, time=0, type="fc", levtype="sfc", step=[0, 6], param="2t"):
        print(field.key["step"], len(field))

Every error is an :class:`IsotachError`; its subclasses are named for what a handler would do.
"""

from __future__ import annotations

import os as _os
import sys as _sys

from isotach._exceptions import (
    AlreadyExistsError,
    ClosedError,
    ConflictError,
    CorruptError,
    ForbiddenError,
    GridError,
    InvalidInputError,
    IsotachError,
    LockedError,
    LostError,
    LostFieldsWarning,
    MessageError,
    MissingFieldsError,
    MissingFieldsWarning,
    NewerFormatError,
    NoSpaceError,
    NotFoundError,
    RepeatedKeyWarning,
    StorageError,
    TooManyOpenError,
    UnsupportedError,
)
from isotach._isotach import Field, Inspected, Inspection, Listed, Listing, Location, Request
from isotach._isotach import after_fork as _after_fork
from isotach._isotach import before_fork as _before_fork
from isotach._isotach import set_environment as _set_environment
from isotach._isotach import version as _version
from isotach._open import create, open
from isotach._points import PointValues
from isotach._reports import (
    Damage,
    DatasetStats,
    DatasetStatus,
    DeletedFields,
    DeleteReport,
    Missing,
    PurgedDataset,
    Snapshot,
    VerifiedPart,
    VerifyReport,
    WipedDataset,
    WipeReport,
)
from isotach._retrieval import Retrieval
from isotach._store import Store
from isotach._transaction import Transaction

__version__ = _version()

_set_environment(_sys.prefix)
_os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)

__all__ = [
    "AlreadyExistsError",
    "ClosedError",
    "ConflictError",
    "CorruptError",
    "Damage",
    "DatasetStats",
    "DatasetStatus",
    "DeleteReport",
    "DeletedFields",
    "Field",
    "ForbiddenError",
    "GridError",
    "Inspected",
    "Inspection",
    "InvalidInputError",
    "IsotachError",
    "Listed",
    "Listing",
    "Location",
    "LockedError",
    "LostError",
    "LostFieldsWarning",
    "MessageError",
    "Missing",
    "MissingFieldsError",
    "MissingFieldsWarning",
    "NewerFormatError",
    "NoSpaceError",
    "NotFoundError",
    "PointValues",
    "PurgedDataset",
    "RepeatedKeyWarning",
    "Request",
    "Retrieval",
    "Snapshot",
    "StorageError",
    "Store",
    "TooManyOpenError",
    "Transaction",
    "UnsupportedError",
    "VerifiedPart",
    "VerifyReport",
    "WipeReport",
    "WipedDataset",
    "create",
    "open",
]
