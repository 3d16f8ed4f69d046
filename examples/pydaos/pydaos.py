"""Dictionaries in a DAOS container, shared by all processes that open it: the part of DAOS's pydaos that most programs use.

>>> container = DCont("tank", "notes")
>>> winds = container.dict("winds")
>>> winds["u"] = "12.5"
>>> winds.dump()
{'u': b'12.5'}
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from ctypes import byref, c_char, c_uint32, c_uint64, c_void_p

import daos
from daos import Anchor, Handle, KeyDescription, ObjectId, PyDError, Vector, Vectors, call, library

__all__ = ["DCont", "DDict", "DObjNotFound", "PyDError", "create"]

NOTHING = Handle(0)
# The object with the names of the others. daos_cont_alloc_oids never returns its user bits.
ROOT = ObjectId(0, 1)
KEYS_AT_ONCE = 256


class DObjNotFound(Exception):
    """An object of this name does not exist."""

    def __init__(self, name: str) -> None:
        """Names the object."""
        super().__init__(f"no object {name!r} in the container")
        self.name = name


def create(pool: str, container: str) -> None:
    """Creates a container for Python objects, unless it exists."""
    wanted = daos.properties({daos.LAYOUT_TYPE: daos.LAYOUT_PYTHON, daos.REDUNDANCY_FACTOR: 0})
    connected = _connect(pool, "RW")
    try:
        call("daos_cont_create_with_label", connected, container.encode(), byref(wanted), None, None)
    except PyDError as error:
        if error.code != daos.EXIST:
            raise
    finally:
        call("daos_pool_disconnect", connected, None)


def _connect(pool: str, mode: str) -> Handle:
    flags = {"RO": daos.READ_ONLY, "RW": daos.READ_WRITE}[mode]
    connected = Handle()
    call("daos_pool_connect", pool.encode(), None, flags, byref(connected), None, None)
    return connected


class DCont:
    """An open container of Python objects."""

    def __init__(self, pool: str, cont: str, open_mode: str = "RW") -> None:
        """Opens it by labels or UUIDs, for reading and writing (RW) or for reading (RO)."""
        self._pool = _connect(pool, open_mode)
        self._container = Handle()
        self._mode = daos.OBJECT_READ_WRITE if open_mode == "RW" else daos.OBJECT_READ_ONLY
        flags = daos.READ_WRITE if open_mode == "RW" else daos.READ_ONLY
        try:
            call("daos_cont_open", self._pool, cont.encode(), flags, byref(self._container), None, None)
            self._check(cont)
            self._names = self._map(self._id(ROOT))
        except BaseException:
            self.close()
            raise

    def _check(self, cont: str) -> None:
        """Refuses a container with another layout."""
        found = daos.properties({daos.LAYOUT_TYPE: 0})
        call("daos_cont_query", self._container, None, byref(found), None)
        if found.first[0].value != daos.LAYOUT_PYTHON:
            raise TypeError(f"container {cont!r} is not of the layout type PYTHON")

    def _id(self, user: ObjectId) -> ObjectId:
        made = ObjectId(user.lo, user.hi)
        kind = library().daos_oclass_name2id(b"S1")
        call("daos_obj_generate_oid", self._container, byref(made), daos.KV_HASHED, kind, 0, 0)
        return made

    def _map(self, number: ObjectId) -> Handle:
        opened = Handle()
        call("daos_kv_open", self._container, number, self._mode, byref(opened), None)
        return opened

    def dict(self, name: str, values: Mapping[str, str | bytes | None] | None = None) -> DDict:
        """Creates a dictionary of this name, with some values; PyDError (DER_EXIST) if it exists."""
        first = c_uint64()
        call("daos_cont_alloc_oids", self._container, 1, byref(first), None)
        number = self._id(ObjectId(first.value, 0))
        _put(self._names, name, bytes(number), daos.INSERT)
        made = DDict(name, self, self._map(number))
        made.bput(values or {})
        return made

    def get(self, name: str) -> DDict:
        """The dictionary of this name; DObjNotFound if it does not exist."""
        stored = _get(self._names, name)
        if stored is None:
            raise DObjNotFound(name)
        return DDict(name, self, self._map(ObjectId.from_buffer_copy(stored)))

    def destroy(self, name: str) -> None:
        """Removes the dictionary of this name and all its keys; DObjNotFound if it does not exist."""
        gone = self.get(name)
        call("daos_kv_remove", self._names, NOTHING, 0, name.encode(), None)
        call("daos_kv_destroy", gone._map, NOTHING, None)

    def close(self) -> None:
        """Closes the container; its dictionaries must not be used after that."""
        for handle, function in ((self._container, "daos_cont_close"), (self._pool, "daos_pool_disconnect")):
            if handle.cookie:
                call(function, handle, None)
                handle.cookie = 0

    def __getitem__(self, name: str) -> DDict:
        """As `get`."""
        return self.get(name)

    def __contains__(self, name: str) -> bool:
        """Whether an object of this name exists."""
        return _get(self._names, name) is not None

    def __iter__(self) -> Iterator[str]:
        """The names of all objects, in no order."""
        return _keys(self._names)

    def __enter__(self) -> DCont:
        """The container itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Closes it."""
        self.close()


class DDict:
    """A dictionary: keys are strings, values are strings or bytes and are read back as bytes."""

    def __init__(self, name: str, container: DCont, opened: Handle) -> None:
        """Wraps a dictionary that `DCont` opened."""
        self.name = name
        # The container stays open as long as the dictionary exists.
        self._container = container
        self._map = opened

    def get(self, key: str) -> bytes:
        """The value of a key; KeyError if it does not exist."""
        value = _get(self._map, key)
        if value is None:
            raise KeyError(key)
        return value

    def put(self, key: str, value: str | bytes | None) -> None:
        """Sets the value of a key, visible to everyone; None, or no bytes, delete the key."""
        if value:
            _put(self._map, key, value.encode() if isinstance(value, str) else value, 0)
        else:
            call("daos_kv_remove", self._map, NOTHING, 0, key.encode(), None)

    def bget(self, values: dict[str, bytes | None]) -> dict[str, bytes | None]:
        """Fills in the value of each key of a dictionary, or None if the key does not exist."""
        values.update((key, _get(self._map, key)) for key in list(values))
        return values

    def bput(self, values: Mapping[str, str | bytes | None]) -> None:
        """Sets many values."""
        for key, value in values.items():
            self.put(key, value)

    def pop(self, key: str) -> bytes:
        """Deletes a key and returns its value; KeyError if it does not exist."""
        value = self.get(key)
        self.put(key, None)
        return value

    def dump(self) -> dict[str, bytes]:
        """All keys and values, without keys that others delete during the call."""
        found = ((key, _get(self._map, key)) for key in self)
        return {key: value for key, value in found if value is not None}

    def __getitem__(self, key: str) -> bytes:
        """As `get`."""
        return self.get(key)

    def __setitem__(self, key: str, value: str | bytes | None) -> None:
        """As `put`."""
        self.put(key, value)

    def __delitem__(self, key: str) -> None:
        """As `pop`."""
        self.pop(key)

    def __contains__(self, key: str) -> bool:
        """Whether a key exists."""
        size = c_uint64()
        call("daos_kv_get", self._map, NOTHING, 0, key.encode(), byref(size), None, None)
        return size.value > 0

    def __iter__(self) -> Iterator[str]:
        """All keys, in no order."""
        return _keys(self._map)

    def __len__(self) -> int:
        """The number of keys. They are counted one by one."""
        return sum(1 for _ in self)

    def __del__(self) -> None:
        """Closes the object, if its container is still open."""
        if self._container._container.cookie:
            library().daos_kv_close(self._map, None)


def _put(opened: Handle, key: str, value: bytes, flags: int) -> None:
    call("daos_kv_put", opened, NOTHING, flags, key.encode(), len(value), value, None)


def _get(opened: Handle, key: str) -> bytes | None:
    """The value of a key; None if it does not exist. An empty value counts as none, as in dictionaries of pydaos."""
    room = 4096
    while True:
        buffer, size = ctypes.create_string_buffer(room), c_uint64(room)
        try:
            call("daos_kv_get", opened, NOTHING, 0, key.encode(), byref(size), buffer, None)
            return buffer.raw[: size.value] or None
        except PyDError as error:
            if error.code != daos.VALUE_TOO_BIG:
                raise
            # Another process may set a longer value in between. Then this tries again.
            room = size.value


def _keys(opened: Handle) -> Iterator[str]:
    """All keys of a map, read a few hundred at a time."""
    room, anchor = 1 << 16, Anchor()
    lengths = (KeyDescription * KEYS_AT_ONCE)()
    while anchor.kind != daos.END_OF_LIST:
        count, buffer = c_uint32(KEYS_AT_ONCE), (c_char * room)()
        vector = Vector(ctypes.cast(buffer, c_void_p), room, room)
        vectors = Vectors(1, 0, ctypes.pointer(vector))
        try:
            call(
                "daos_kv_list",
                opened,
                NOTHING,
                byref(count),
                lengths,
                byref(vectors),
                byref(anchor),
                None,
            )
        except PyDError as error:
            if error.code != daos.KEY_TOO_BIG:
                raise
            room = lengths[0].length
            continue
        end = 0
        for described in lengths[: count.value]:
            begin, end = end, end + described.length
            yield buffer.raw[begin:end].decode()
