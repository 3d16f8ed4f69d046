"""``FDB``: a store with the methods of pyfdb."""

from __future__ import annotations

import builtins
import logging
import weakref
from collections.abc import Collection, Generator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from isotach.pyfdb._internal import _FDB, Config, _admin, _reading
from isotach.pyfdb._internal._configuration import Given
from isotach.pyfdb._internal._expand import expand
from isotach.pyfdb.pyfdb_iterator import (
    ControlElement,
    IndexAxis,
    ListElement,
    PurgeElement,
    StatsElement,
    StatusElement,
    WipeElement,
)
from isotach.pyfdb.pyfdb_type import (
    ControlAction,
    ControlIdentifier,
    DataHandle,
    MarsIdentifier,
    MarsSelection,
    UserInputMapper,
)

_internal_selection = UserInputMapper.map_selection_to_internal


class FDB:
    """A store of Isotach, used as an FDB. Threads may share it, and it can be pickled.

    The store is opened when it is first used, and created when something is first archived. What was archived is flushed when
    the object is dropped, as FDB does.

    Selections are dictionaries from keys to one or several values. The generators do their work when they are consumed, and raise
    their errors then: a wipe, purge or lock whose generator is dropped does nothing.
    """

    def __init__(
        self,
        config: str | dict[str, Any] | Path | None = None,
        user_config: str | dict[str, Any] | Path | None = None,
        *,
        userconfig: str | dict[str, Any] | Path | None = None,
    ) -> None:
        """Names the store.

        Parameters
        ----------
        config
            A configuration of Isotach or of FDB: a dictionary, YAML text, or the path of a file. Text that is no mapping is the
            URI or the path of a store. Without it ISOTACH_STORE and ISOTACH_CONFIG name the store, then FDB_CONFIG, FDB_CONFIG_FILE
            and FDB_HOME, each also with FDB5, and at last a file isotach.yaml.
        user_config, userconfig
            FDB's options for a user. They are about the layout of FDB's files, have no effect, and are returned by ``config``.

        Raises
        ------
        ValueError
            The configuration is of another type.
        FileNotFoundError
            There is no such file.
        """
        self.logger = logging.getLogger(__name__ + ".FDB")
        chosen = userconfig if user_config is None else user_config
        self._arguments: tuple[Given, Given] = (config, chosen)
        self._user = Config.of(chosen) if config is not None and chosen is not None else None
        self.FDB = _FDB(Config.of(config))
        self._at_end = weakref.finalize(self, self.FDB.flush)

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Flushes, also after an exception. It can still be used."""
        self.flush()

    def archive(
        self,
        data: bytes,
        identifier: MarsIdentifier | None = None,
        *,
        key: MarsIdentifier | None = None,
    ) -> None:
        """Archives a field under an identifier, or GRIB messages under the keys that they carry.

        Parameters
        ----------
        data
            ``bytes`` or another contiguous buffer. It is copied.
        identifier, key
            The key of the one field that the data is. Its values may be in any form that a request may have.

        Raises
        ------
        RuntimeError
            The key does not fit the schema, a message is broken, or archiving is locked.
        """
        named = key if identifier is None else identifier
        pairs = None if named is None else UserInputMapper.map_identifier_to_internal(named)
        self.FDB.archive(data, None if pairs is None else dict(pairs))

    def flush(self) -> None:
        """Makes what was archived durable and visible."""
        self.FDB.flush()

    def retrieve(self, mars_selection: MarsSelection) -> DataHandle:
        """The bytes of the fields that a selection names, in its order. Fields that do not exist are left out.

        Raises
        ------
        TypeError
            The selection is empty.
        RuntimeError
            The selection cannot be understood.
        """
        if not mars_selection:
            raise TypeError("FDB.retrieve: Wildcard selection aren't support for retrieving.")
        raw = _reading.retrieve(self.FDB, _internal_selection(mars_selection))
        return DataHandle(raw, _internal=True)

    def list(
        self,
        mars_selection: MarsSelection | None = None,
        include_masked: bool = False,
        level: int = 3,
        *,
        keys: bool | None = None,
        duplicates: bool | None = None,
        depth: int | None = None,
        expand: bool | None = None,
    ) -> Generator[ListElement, None, None]:
        """The fields that match a selection. A key left out matches every value.

        Parameters
        ----------
        include_masked
            Whether to include replaced fields.
        level
            1 for datasets, 2 for collocations, 3 for fields.
        keys, duplicates, depth, expand
            As in pyfdb 0.1: elements always have their keys, ``duplicates`` is ``include_masked``, ``depth`` is ``level``, and
            selections are always expanded.
        """
        selection = _internal_selection(mars_selection or {})
        masked = include_masked if duplicates is None else duplicates
        if isinstance(level, bool):
            # The third argument of pyfdb 0.1 is ``keys``.
            level = 3
        for raw in _reading.list(self.FDB, selection, masked, level if depth is None else depth):
            yield ListElement(raw, _internal=True)

    def inspect(self, mars_selection: MarsSelection) -> Generator[ListElement, None, None]:
        """The fields that a selection names, in its order, without their bytes."""
        for raw in _reading.inspect(self.FDB, _internal_selection(mars_selection)):
            yield ListElement(raw, _internal=True)

    def status(self, mars_selection: MarsSelection) -> Generator[StatusElement, None, None]:
        """The datasets that match a selection, with their locks."""
        for raw in _admin.status(self.FDB, _internal_selection(mars_selection)):
            yield StatusElement(raw, _internal=True)

    def wipe(
        self,
        mars_selection: MarsSelection,
        doit: bool = False,
        porcelain: bool = False,
        unsafe_wipe_all: bool = False,
    ) -> Generator[WipeElement, None, None]:
        """Removes the datasets or collocations that a selection names, all datasets if it is empty.

        Parameters
        ----------
        doit
            Whether to remove them. Without it the elements say what would be removed.
        porcelain, unsafe_wipe_all
            Without effect.

        Raises
        ------
        RuntimeError
            The selection tells single fields apart, or a dataset is locked for wiping.
        """
        for raw in _admin.wipe(self.FDB, _internal_selection(mars_selection), doit):
            yield WipeElement(raw, _internal=True)

    def purge(
        self, mars_selection: MarsSelection, doit: bool = False, porcelain: bool = False
    ) -> Generator[PurgeElement, None, None]:
        """Frees the space of replaced fields in the datasets that a selection names.

        Parameters
        ----------
        doit
            Whether to free it. Without it the elements say what would be freed.
        porcelain
            Whether to leave the report out.
        """
        selection = _internal_selection(mars_selection)
        for raw in _admin.purge(self.FDB, selection, doit, porcelain):
            yield PurgeElement(raw, _internal=True)

    def stats(self, mars_selection: MarsSelection) -> Generator[StatsElement, None, None]:
        """The statistics of each dataset that a selection names."""
        for raw in _admin.stats(self.FDB, _internal_selection(mars_selection)):
            yield StatsElement(raw, _internal=True)

    def control(
        self,
        mars_selection: MarsSelection,
        control_action: ControlAction,
        control_identifiers: Collection[ControlIdentifier],
    ) -> Generator[ControlElement, None, None]:
        """Locks or unlocks the datasets that a selection names. Every handle sees the change at once."""
        selection, action = _internal_selection(mars_selection), control_action._to_raw()
        identifiers = [identifier._to_raw() for identifier in control_identifiers]
        for raw in _admin.control(self.FDB, selection, action, identifiers):
            yield ControlElement(raw, _internal=True)

    def axes(self, mars_selection: MarsSelection, level: int = 3) -> IndexAxis:
        """The values that the fields of a selection have, for each key down to a level."""
        return IndexAxis(_reading.axes(self.FDB, _internal_selection(mars_selection), level))

    def expand(self, mars_selection: MarsSelection) -> dict[str, builtins.list[str]]:
        """The single values of a selection, with ranges and relative dates resolved. pyfdb does not have it."""
        return expand(_internal_selection(mars_selection))

    def enabled(self, control_identifier: ControlIdentifier) -> bool:
        """Whether the configuration allows an action."""
        return _admin.enabled(self.FDB, control_identifier._to_raw())

    def dirty(self) -> bool:
        """Whether something was archived that is not flushed."""
        return self.FDB.dirty()

    def config(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The configuration of the store, and that of the user."""
        user = {} if self._user is None else self._user.to_dict()
        return self.FDB.configuration.to_dict(), user

    def __reduce__(self) -> tuple[type[FDB], tuple[Given, Given]]:
        """The store is opened again where it is unpickled."""
        return FDB, self._arguments

    def __repr__(self) -> str:
        """The name of the store."""
        return repr(self.FDB)
