"""The exceptions, by what a handler would do. Each has the stable code of the library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from isotach._reports import Missing


class IsotachError(RuntimeError):
    """An operation failed. ``code`` is the stable code that all languages and ``--json`` share."""

    code: str = "isotach"
    answer: Any = None
    """Where an operation visits many datasets and some are unusable, its results for all others."""


class InvalidInputError(IsotachError, ValueError):
    """A key, request, schema, configuration or argument is wrong: correct the call."""

    code = "invalid-input"


class MessageError(InvalidInputError):
    """A GRIB message is broken, cannot be decoded, or cannot be relabelled; or ecCodes is missing."""

    code = "message"


class GridError(InvalidInputError):
    """A field has another grid than expected: ask for the fields of one grid, or permit several."""

    code = "other-grid"


class NotFoundError(IsotachError, LookupError):
    """A store, dataset or snapshot does not exist: create it, or name another one."""

    code = "not-found"


class AlreadyExistsError(IsotachError):
    """A name is in use, or the store exists with another schema."""

    code = "already-exists"


class ConflictError(IsotachError):
    """Another writer was first: read again and retry."""

    code = "conflict"


class LockedError(IsotachError):
    """The dataset is locked, or is being moved: wait, or unlock it."""

    code = "locked"
    dataset: str | None = None


class ForbiddenError(IsotachError):
    """The configuration or the permissions of the storage forbid the action, or the store is a snapshot."""

    code = "forbidden"
    dataset: str | None = None


class CorruptError(IsotachError):
    """Stored bytes are damaged. Other fields can be read: go on with them, and repair or archive again."""

    code = "corrupt"
    field: str | None = None
    """The key of the field, if the damage is a field's."""
    dataset: str | None = None
    """The key of the dataset, if the damage is a dataset's."""
    place: str | None = None
    """The file or object, with the position."""


class LostError(IsotachError):
    """Fields that were archived since the last flush are lost: archive them again."""

    code = "lost"
    dataset: str | None = None
    fields: int | None = None
    """The number of lost fields."""


class NoSpaceError(IsotachError):
    """The storage is full: purge, or add space. What is visible stays visible."""

    code = "no-space"


class TooManyOpenError(IsotachError):
    """The process may open no more files: close handles, or raise the limit."""

    code = "too-many-open"


class UnsupportedError(IsotachError):
    """The engine does not have the capability: use another engine."""

    code = "unsupported"


class NewerFormatError(IsotachError):
    """A store, or a pool or container of one, has a newer format than this package knows: install a newer package."""

    code = "newer-format"


class StorageError(IsotachError):
    """The operating system, a server or a vendor's library failed: a retry may succeed."""

    code = "io"


class ClosedError(IsotachError):
    """The store, transaction or iterator is closed, or belongs to another process: open a new one."""

    code = "closed"


class MissingFieldsError(IsotachError, LookupError):
    """Fields of a request do not exist. All others were returned before."""

    code = "missing-fields"
    missing: Missing
    """How many fields are missing, and the keys of the first."""


class MissingFieldsWarning(UserWarning):
    """Fields of a request do not exist, and ``missing="report"`` was given."""


class RepeatedKeyWarning(UserWarning):
    """Messages of one call carry the same key: the last of them replaces the others."""


class LostFieldsWarning(UserWarning):
    """A handle was dropped, or the interpreter ended, with fields that were not flushed: they are lost."""


CLASSES: Mapping[str, type[IsotachError]] = {
    "already-exists": AlreadyExistsError,
    "below-collocation": InvalidInputError,
    "conflict": ConflictError,
    "copy-differs": CorruptError,
    "corrupt": CorruptError,
    "forbidden": ForbiddenError,
    "invalid-input": InvalidInputError,
    "io": StorageError,
    "key": InvalidInputError,
    "locked": LockedError,
    "lost": LostError,
    "message": MessageError,
    "moving": LockedError,
    "newer-format": NewerFormatError,
    "no-space": NoSpaceError,
    "not-a-store": NotFoundError,
    "not-decoded": MessageError,
    "not-found": NotFoundError,
    "not-relabelled": MessageError,
    "nothing-below": NotFoundError,
    "other-grid": GridError,
    "other-schema": AlreadyExistsError,
    "permission-denied": ForbiddenError,
    "poisoned": LostError,
    "read-only": ForbiddenError,
    "request": InvalidInputError,
    "schema": InvalidInputError,
    "too-many-open": TooManyOpenError,
    "unsupported": UnsupportedError,
    "wiped": LostError,
}
"""The class for each code of the library."""

_OF_PYTHON: Mapping[str, type[IsotachError]] = {"closed": ClosedError}


def exception_of(code: str, message: str, facts: Mapping[str, Any]) -> IsotachError:
    """The exception for an error of the library, with its facts as attributes."""
    error = (CLASSES.get(code) or _OF_PYTHON.get(code) or IsotachError)(message)
    error.code = code
    for name, value in facts.items():
        setattr(error, name, value)
    return error
