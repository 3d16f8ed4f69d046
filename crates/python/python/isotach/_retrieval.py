"""Retrieving: the iterator over the fields of a request."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Literal

from isotach import _html, _isotach
from isotach._exceptions import MissingFieldsError, MissingFieldsWarning
from isotach._isotach import Field, Request
from isotach._reports import Missing

WhenMissing = Literal["raise", "skip", "report"]
"""What happens at the end of a retrieval if fields are missing: an exception, nothing, or a warning."""

_CHOICES = ("raise", "skip", "report")


class Retrieval(Iterator[Field]):
    """The fields of a request in the request's order, read as they are asked for.

    While the caller processes fields, others are read ahead: at most 64 MiB. Threads may share the iterator; each field comes
    once. After an exception for one field, such as :class:`CorruptError`, ``next`` goes on with the field behind it.
    """

    __slots__ = ("_ended", "_explain", "_found", "_missing", "_native", "_when_missing")

    def __init__(
        self,
        native: _isotach.Retrieval,
        when_missing: WhenMissing,
        explain: Callable[[Request], str | None],
    ) -> None:
        """Called by the store."""
        self._native = native
        self._when_missing = when_missing
        self._explain = explain
        self._found = False
        self._ended = False
        self._missing: Missing | None = None

    @property
    def request(self) -> Request:
        """The request."""
        return self._native.request

    @property
    def missing(self) -> Missing | None:
        """The missing fields. None before the end, and where a whole dataset could not be read."""
        return self._missing

    def __iter__(self) -> Retrieval:
        """The retrieval itself: its fields come once."""
        return self

    def __next__(self) -> Field:
        """The next field."""
        field = self._native.next()
        if field is None:
            self._end()
            raise StopIteration
        self._found = True
        return field

    def next_batch(self) -> list[Field]:
        """The next fields: up to 64, ending with the one that reaches 1 MiB. An empty list at the end."""
        fields = self._native.next_batch()
        if not fields:
            self._end()
        self._found = self._found or bool(fields)
        return fields

    def _end(self) -> None:
        """Tells of missing fields, once."""
        if self._ended:
            return
        self._ended = True
        missing = self._missing = self._native.missing()
        explain = None if self._found else lambda: self._explain(self.request)
        report_missing(missing, self._when_missing, explain, stacklevel=4)

    @property
    def state(self) -> str:
        """Whether it has begun, or ended with missing fields."""
        if not self._ended:
            return "begun" if self._found else "not begun"
        if self._missing is None:
            return "ended, the missing fields are unknown"
        return f"ended, {self._missing.text}" if self._missing.count else "ended, nothing is missing"

    def __repr__(self) -> str:
        """The request and the state."""
        return f"<Retrieval of {str(self.request)!r}: {self.state}>"

    def _repr_html_(self) -> str:
        """A table of the request."""
        return _html.retrieval(self)


def report_missing(
    missing: Missing | None,
    when_missing: WhenMissing,
    explain: Callable[[], str | None] | None,
    *,
    stacklevel: int,
) -> None:
    """Tells of missing fields as the caller chose. ``explain`` says why nothing was found, if nothing was."""
    if missing is None or missing.count == 0 or when_missing == "skip":
        return
    why = explain() if explain is not None else None
    text = missing.text if why is None else f"{missing.text}; {why}"
    if when_missing == "report":
        warnings.warn(text, MissingFieldsWarning, stacklevel=stacklevel)
        return
    error = MissingFieldsError(text)
    error.missing = missing
    raise error


def checked(when_missing: str) -> WhenMissing:
    """Refuses an unknown choice."""
    if when_missing not in _CHOICES:
        raise ValueError(f"missing={when_missing!r}: expected one of {', '.join(map(repr, _CHOICES))}")
    return when_missing  # type: ignore[return-value]
