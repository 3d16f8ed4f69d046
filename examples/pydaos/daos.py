"""The functions of libdaos that dictionaries need, through ctypes: types, prototypes, and errors as exceptions.

The library is found as any program's: by LD_LIBRARY_PATH, under the name `libdaos.so.2`.
"""

from __future__ import annotations

import atexit
import ctypes
from ctypes import POINTER, c_char, c_char_p, c_int, c_size_t, c_uint, c_uint16, c_uint32, c_uint64, c_void_p
from functools import cache

NONEXIST = 1005
EXIST = 1004
KEY_TOO_BIG = 2012
VALUE_TOO_BIG = 2013

READ_ONLY, READ_WRITE = 1, 2
INSERT = 2
KV_HASHED = 8
OBJECT_READ_ONLY, OBJECT_READ_WRITE = 2, 4
LAYOUT_TYPE, REDUNDANCY_FACTOR = 0x1002, 0x1007
LAYOUT_PYTHON = 3
END_OF_LIST = 3


class PyDError(Exception):
    """An error of DAOS: `code` is its positive number."""

    def __init__(self, what: str, code: int) -> None:
        """Names the operation, and DAOS's name of the error."""
        name = library().d_errstr(-code).decode()
        super().__init__(f"{what}: {name} (-{code})")
        self.code = code


class Handle(ctypes.Structure):
    """A handle of a pool, a container, an object or a transaction; zeros mean none."""

    _fields_ = (("cookie", c_uint64),)


class ObjectId(ctypes.Structure):
    """The id of an object; the lower half, and 32 bits of the upper, are the program's."""

    _fields_ = (("lo", c_uint64), ("hi", c_uint64))


class Vector(ctypes.Structure):
    """A buffer: its address, its capacity, and the number of bytes of data in it."""

    _fields_ = (("buffer", c_void_p), ("room", c_size_t), ("length", c_size_t))


class Vectors(ctypes.Structure):
    """Buffers that are filled in turn."""

    _fields_ = (("count", c_uint32), ("used", c_uint32), ("first", POINTER(Vector)))


class KeyDescription(ctypes.Structure):
    """The length of a key in a list."""

    _fields_ = (("length", c_uint64), ("kind", c_uint32))


class Anchor(ctypes.Structure):
    """The position at which a list continues; zeros mean its beginning."""

    _fields_ = (
        ("kind", c_uint16),
        ("shard", c_uint16),
        ("flags", c_uint32),
        ("parts", c_uint64),
        ("mark", c_char * 104),
    )


class Property(ctypes.Structure):
    """A property that is a number."""

    _fields_ = (("number", c_uint32), ("flags", c_uint16), ("reserved", c_uint16), ("value", c_uint64))


class Properties(ctypes.Structure):
    """A list of properties."""

    _fields_ = (("count", c_uint32), ("reserved", c_uint32), ("first", POINTER(Property)))


def properties(values: dict[int, int]) -> Properties:
    """A list of properties with these numbers and values."""
    entries = (Property * len(values))(*(Property(number, 0, 0, value) for number, value in values.items()))
    return Properties(len(entries), 0, entries)


# A pointer at the end of a list is for an event. Events are not used here: every call waits until it is done.
PROTOTYPES = {
    "daos_init": (),
    "daos_fini": (),
    "daos_pool_connect": (c_char_p, c_char_p, c_uint, POINTER(Handle), c_void_p, c_void_p),
    "daos_pool_disconnect": (Handle, c_void_p),
    "daos_cont_create_with_label": (Handle, c_char_p, POINTER(Properties), c_void_p, c_void_p),
    "daos_cont_open": (Handle, c_char_p, c_uint, POINTER(Handle), c_void_p, c_void_p),
    "daos_cont_close": (Handle, c_void_p),
    "daos_cont_query": (Handle, c_void_p, POINTER(Properties), c_void_p),
    "daos_cont_alloc_oids": (Handle, c_uint64, POINTER(c_uint64), c_void_p),
    "daos_kv_open": (Handle, ObjectId, c_uint, POINTER(Handle), c_void_p),
    "daos_kv_close": (Handle, c_void_p),
    "daos_kv_put": (Handle, Handle, c_uint64, c_char_p, c_uint64, c_char_p, c_void_p),
    "daos_kv_get": (Handle, Handle, c_uint64, c_char_p, POINTER(c_uint64), c_void_p, c_void_p),
    "daos_kv_remove": (Handle, Handle, c_uint64, c_char_p, c_void_p),
    "daos_kv_list": (
        Handle,
        Handle,
        POINTER(c_uint32),
        POINTER(KeyDescription),
        POINTER(Vectors),
        POINTER(Anchor),
        c_void_p,
    ),
    "daos_kv_destroy": (Handle, Handle, c_void_p),
    "daos_oclass_name2id": (c_char_p,),
    "daos_obj_generate_oid": (Handle, POINTER(ObjectId), c_int, c_uint32, c_uint16, c_uint32),
    "d_errstr": (c_int,),
}


@cache
def library() -> ctypes.CDLL:
    """The library with its prototypes, initialised until the process ends."""
    loaded = ctypes.CDLL("libdaos.so.2")
    for name, parameters in PROTOTYPES.items():
        # If DAOS has two functions of a name, the one without a number may be older and have other parameters.
        function = getattr(loaded, name + "2", None) or getattr(loaded, name)
        function.argtypes = parameters
        function.restype = c_int
        setattr(loaded, name, function)
    loaded.d_errstr.restype = c_char_p
    if status := loaded.daos_init():
        raise OSError(f"daos_init: {loaded.d_errstr(status).decode()}")
    atexit.register(loaded.daos_fini)
    return loaded


def call(name: str, *arguments: object) -> None:
    """Calls a function. An error becomes an exception."""
    if status := getattr(library(), name)(*arguments):
        raise PyDError(name, -status)
