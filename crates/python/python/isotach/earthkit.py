"""earthkit-data: the fields of a store as a source, and a store as a target.

earthkit-data finds both by their entry points::

    import earthkit.data as ekd

    fields = ekd.from_source(
        "isotach", {"class": "od", "date": 20240101, "step": [0, 6]}, store="posix:/data/fields"
    )
    fields.to_fieldlist().to_target("isotach", store="posix:/data/copy")

It needs the extra ``isotach[earthkit]``. The guide is ``docs/earthkit.md``.
"""

from __future__ import annotations

from typing import Any

from isotach import _open
from isotach._arguments import RequestLike, request_of
from isotach._extras import extra
from isotach._handles import shared
from isotach._isotach import Request
from isotach._retrieval import WhenMissing, checked, report_missing
from isotach._store import Store

with extra("earthkit"):
    from earthkit.data.sources import Source
    from earthkit.data.targets import SimpleTarget

__all__ = ["IsotachSource", "IsotachTarget"]


class IsotachSource(Source):  # type: ignore[misc]
    """The source ``isotach`` of :func:`earthkit.data.from_source`."""

    def __init__(
        self,
        request: RequestLike = None,
        *,
        store: Any = None,
        at: str | None = None,
        stream: bool = False,
        lazy: bool = False,
        missing: WhenMissing = "raise",
        **keywords: Any,
    ) -> None:
        """The fields that a request names, in the request's order.

        Parameters
        ----------
        request, keywords
            As for :meth:`isotach.Store.retrieve`.
        store
            The store: as for :func:`isotach.open`, or an open :class:`isotach.Store`.
        at
            The name of a snapshot of the store.
        stream
            Whether the fields are read one after the other, for iterating once, in the memory of a few. Otherwise each field is
            read when its metadata or its values are asked for.
        lazy
            Whether metadata comes from the keys, so that a field is read for its values only. All fields of a parameter
            must be on one grid.
        missing
            What happens if fields do not exist: ``"raise"`` an exception, ``"skip"`` them, or ``"report"`` them by a warning; at
            once, or at the end of a stream.

        Raises
        ------
        InvalidInputError
            The request cannot be understood, or lacks a key that the schema asks for.
        MissingFieldsError
            Fields do not exist.
        """
        super().__init__()
        for name, value in (("stream", stream), ("lazy", lazy)):
            if not isinstance(value, bool):
                raise TypeError(
                    f"{name}={value!r}: expected True or False; keys of that name belong into the request"
                )
        if stream and lazy:
            raise ValueError("stream=True and lazy=True: expected one of them")
        self._store = _opened(store, at)
        self._request = Request(request_of(request, keywords))
        self._is_stream, self._is_lazy, self._missing = stream, lazy, checked(missing)

    def mutate(self) -> Any:
        """The field list."""
        if self._is_stream:
            from isotach._earthkit import stream

            return stream.stream_of(self._store.retrieve(self._request, missing=self._missing))
        inspection = self._store.inspect(self._request)
        found = [(one.key, one.location) for one in inspection]
        explain = None if found else lambda: self._store.explain(self._request)
        report_missing(inspection.missing, self._missing, explain, stacklevel=4)
        from isotach._earthkit import keys, messages

        return (keys if self._is_lazy else messages).fields_of(self._store, found)


def _opened(store: Any, at: str | None) -> Store:
    """The handle of this process for a store. One that the caller has opened is the caller's."""
    if isinstance(store, Store):
        return store if at is None else store.snapshot(at)
    return shared(_open.open(store, at=at))


class IsotachTarget(SimpleTarget):  # type: ignore[misc]
    """The target ``isotach`` of :func:`earthkit.data.to_target`.

    Each field is archived as a GRIB message, under the key that it carries. Fields become visible by :meth:`flush`, and by
    :meth:`close`, which ``to_target`` calls. A ``with`` block that ends by an exception discards what was not flushed, unless the
    caller opened the store.
    """

    def __init__(self, *, store: Any = None, encoder: Any = "grib", **options: Any) -> None:
        """Opens the store.

        Parameters
        ----------
        store
            The store: as for :func:`isotach.open`, or an open :class:`isotach.Store`, which stays open.
        encoder, options
            As for every target: ``template``, ``metadata``.

        Raises
        ------
        NotFoundError
            There is no store: :func:`isotach.create` creates it.
        """
        super().__init__(encoder=encoder, **options)
        self._is_own = not isinstance(store, Store)
        self._store: Store = _open.open(store) if self._is_own else store

    def _write(self, data: Any, **options: Any) -> None:
        encoded = self._encode(data, **options)
        for one in encoded if hasattr(encoded, "__iter__") else [encoded]:
            self._store.archive(one.to_bytes())

    def flush(self) -> None:
        """Makes the fields that were written durable and visible.

        Raises
        ------
        ValueError
            The target is closed.
        """
        self._raise_if_closed()
        self._store.flush()

    def close(self) -> None:
        """Flushes, and closes the store if it was opened here.

        Raises
        ------
        ValueError
            The target is closed.
        """
        self._end(is_kept=True)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        """Closes. After an exception nothing is flushed."""
        if not self.closed:
            self._end(is_kept=kind is None)

    def _end(self, *, is_kept: bool) -> None:
        self._mark_closed()
        if self._is_own:
            self._store.close(flush=is_kept)
        elif is_kept:
            self._store.flush()
