"""Transactions: fields that become visible together."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from types import TracebackType
from typing import Any, overload

from isotach import _isotach
from isotach._arguments import KeyLike
from isotach._exceptions import ClosedError, RepeatedKeyWarning
from isotach._files import existing
from isotach._reports import Key


class Transaction:
    """Fields of one dataset that become visible together, or not at all.

    Used with ``with``, it commits on success and discards on an exception::

        with store.transaction() as step:
            for key, data in fields:
                step.archive(data, key)

    Threads may share it.
    """

    __slots__ = ("_native",)

    def __init__(self, native: _isotach.Transaction) -> None:
        """Called by the store."""
        self._native = native

    @overload
    def archive(self, data: Any, key: KeyLike) -> None: ...
    @overload
    def archive(self, data: Any, key: None = None) -> list[Key]: ...
    def archive(self, data: Any, key: KeyLike | None = None) -> list[Key] | None:
        """Archives a field or messages in the transaction, as :meth:`Store.archive` does.

        Raises
        ------
        InvalidInputError
            Also for a field of another dataset than the transaction's. The transaction stays usable.
        """
        return archive_into(self._native, data, key)

    def commit(self) -> None:
        """Makes all fields durable and visible together. The transaction is empty then, and may be used again."""
        self._native.commit()

    def discard(self) -> None:
        """Ends the transaction without a commit."""
        self._native.discard()

    @property
    def is_empty(self) -> bool:
        """Whether it holds no uncommitted field."""
        return self._native.is_empty

    def __enter__(self) -> Transaction:
        """The transaction."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Commits, or discards after an exception."""
        try:
            if kind is None:
                self._native.commit()
        finally:
            self._native.discard()

    def __repr__(self) -> str:
        """Whether it holds fields."""
        try:
            return f"<Transaction: {'empty' if self.is_empty else 'not committed'}>"
        except ClosedError:
            return "<closed Transaction>"


def archive_into(
    native: _isotach.Handle | _isotach.Transaction, data: Any, key: KeyLike | None
) -> list[Key] | None:
    """Archives data of any kind under a key, or each of its messages under its own."""
    if key is None:
        if isinstance(data, (str, os.PathLike)):
            return checked_keys(native.archive_file(existing(data)))
        return checked_keys(native.archive_messages(data))
    if isinstance(data, (str, os.PathLike)):
        with open(data, "rb") as file:
            data = file.read()
    elif hasattr(data, "read"):
        data = data.read()
    native.archive(data, key)
    return None


def checked_keys(keys: list[Key], *, stacklevel: int = 4) -> list[Key]:
    """The keys of the messages of one call. Warns if a key occurs more than once."""
    counts = Counter(frozenset(key.items()) for key in keys)
    if len(counts) < len(keys):
        repeated = next(key for key in keys if counts[frozenset(key.items())] > 1)
        key = ",".join(f"{name}={value}" for name, value in repeated.items())
        replaced = len(keys) - len(counts)
        text = f"the last message with a key replaces those before it ({replaced} of {len(keys)} messages): {key}"
        warnings.warn(text, RepeatedKeyWarning, stacklevel=stacklevel)
    return keys
