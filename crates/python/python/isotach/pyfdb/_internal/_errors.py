"""Errors in the words of FDB that callers match.

The classes stay those of isotach, which are subclasses of RuntimeError, as callers of pyfdb expect.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from isotach._exceptions import InvalidInputError, IsotachError, LockedError, MessageError

_UNKNOWN_KEY = re.compile(r'unknown key "([^"]*)"')
_OF_A_VALUE = re.compile(r"[A-Za-z_]+=")


@contextmanager
def in_words_of_fdb(*, archiving: bool = False) -> Iterator[None]:
    """Gives the errors of the block the texts that FDB's have."""
    try:
        yield
    except IsotachError as error:
        text = str(error)
        if not text.startswith("UserError"):
            error.args = (_of_archiving(error, text) if archiving else _of_request(error, text),)
        raise


def user_error(text: str) -> InvalidInputError:
    """The error for a selection or identifier that cannot be used."""
    return InvalidInputError(f"UserError: {text}")


def unknown_key(error: InvalidInputError) -> str | None:
    """The key of a request that no rule of the schema has, if that is the mistake."""
    found = _UNKNOWN_KEY.search(str(error))
    return found.group(1) if found else None


def is_incomplete(error: InvalidInputError) -> bool:
    """Whether the request lacks keys that the schema asks for."""
    return "the request is incomplete" in str(error)


def _of_request(error: IsotachError, text: str) -> str:
    if not isinstance(error, InvalidInputError):
        return text
    name = unknown_key(error)
    if name is not None:
        return f"UserError: Cannot match [{name}]: {text}"
    if text.startswith("param="):
        return f"UserError: Cannot match parameter: {text}"
    return f"UserError: Bad value: {text}" if _OF_A_VALUE.match(text) else f"UserError: {text}"


def _of_archiving(error: IsotachError, text: str) -> str:
    if isinstance(error, LockedError):
        return f"UserError: Database {error.dataset} matched for archived is LOCKED against archiving: {text}"
    if isinstance(error, MessageError) and text.startswith("no GRIB message"):
        return f"Cannot find a metkit SplitterBuilder: {text}"
    if isinstance(error, InvalidInputError) and text.startswith("no rule"):
        return f"UserError: Could not find a rule to archive: {text}"
    return _of_request(error, text)
