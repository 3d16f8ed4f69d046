"""HDF5 files in Isotach: numbered transactions, snapshots, queries and sweeps, for files that h5py opens through the connector.

h5py and the connector are set up as ``docs/hdf5.md`` says. Then::

    import h5py
    import isotach.hdf5

    with h5py.File("first.h5", "a") as file:
        with isotach.hdf5.transaction(file, 1):
            file["x"][:] = 1
        isotach.hdf5.create_snapshot(file, "monday")
    with isotach.hdf5.open("first.h5", snapshot="monday") as file:
        print(file["x"][:])

A file is an open ``h5py.File``, or a path, which h5py then opens for the time of the call. A file that netCDF4 has open is given by its path: all openings of
a file in one process share its transaction and what is not committed.

It needs the extra ``isotach[hdf5]``.
"""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from isotach import _hdf5_calls as calls
from isotach._hdf5_query import (
    Attribute,
    Condition,
    Found,
    IndexInfo,
    Operand,
    Selection,
    UnsearchedWarning,
    attribute,
    build_index,
    find,
    index_info,
    name,
    remove_index,
    value,
    where,
)

__all__ = [
    "Attribute",
    "Condition",
    "Found",
    "IndexInfo",
    "Operand",
    "Selection",
    "Snapshot",
    "Status",
    "UnsearchedWarning",
    "abort",
    "attribute",
    "build_index",
    "create_snapshot",
    "find",
    "finish",
    "index_info",
    "name",
    "newest_version",
    "open",
    "remove_index",
    "remove_snapshot",
    "snapshots",
    "start",
    "started",
    "status",
    "sweep",
    "transaction",
    "value",
    "version",
    "wait",
    "where",
]

_STATES = ("not-started", "open", "committed", "aborted")
_LOOK_MS = 20
"""How long one call waits. No other thread can use HDF5 meanwhile."""
_PAUSE_S = 0.001
"""How long HDF5 is left to other threads between two calls."""


@dataclass(frozen=True, slots=True)
class Status:
    """How a numbered transaction stands."""

    state: str
    """``"not-started"``, ``"open"``, ``"committed"`` or ``"aborted"``."""
    participants: int
    """Of one that is open: how many participants it has."""
    finished: int
    """Of one that is open: how many of them have finished."""
    reason: str
    """Of one that was aborted: why."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A version of a file that has a name."""

    name: str
    """Its name."""
    version: int
    """The number of the last transaction in it; 0 if there is none."""


# Transactions


@contextmanager
def transaction(file: Any, number: int, participant: int = 0, participants: int = 1) -> Iterator[None]:
    """What is changed in the block belongs to a transaction: it is finished at the end, and aborted after an exception.

    Parameters
    ----------
    file
        An open ``h5py.File``, or a path.
    number
        The number of the transaction, from 1 on. It is committed when all its participants have finished and every lower number is committed or
        aborted.
    participant, participants
        Which participant this process is, from 0 on, and how many there are.

    Raises
    ------
    OSError
        The number is committed or aborted already, another transaction of this process is not ended, or the file is not open for writing.
    """
    with _opened(file, "r+") as there:
        start(there, number, participant, participants)
        try:
            yield
        except BaseException:
            abort(there, number)
            raise
        finish(there)


def start(file: Any, number: int, participant: int = 0, participants: int = 1) -> None:
    """Starts a transaction, as :func:`transaction` does.

    The file must have no changes that are not flushed, and goes to the newest version.
    """
    _call(
        _file(file),
        "start_transaction",
        _u64(number),
        _u32("participant", participant),
        _u32("participants", participants),
    )


def finish(file: Any) -> None:
    """Ends this process's part of the transaction that it has started. It is durable then, and seen when the transaction is committed.

    Raises
    ------
    OSError
        No transaction is started. Or it was aborted, or another process has finished this participant: then the transaction is ended here, and what was
        changed is given up. After other failures it is still started, and can be aborted.
    """
    _call(_file(file), "finish_transaction")


def abort(file: Any, number: int) -> None:
    """Aborts a transaction that is not committed, for all its participants, whichever process has started or finished it.

    What this process has changed in it is given up.
    """
    with _opened(file, "r+") as there:
        _call(there, "abort_transaction", _u64(number))


def wait(file: Any, number: int, timeout: float | None = None) -> Status:
    """Waits until a transaction is committed or aborted. Returns how it stands then.

    Parameters
    ----------
    timeout
        The longest time in seconds; None is without end.
    """
    until = None if timeout is None else time.monotonic() + timeout
    with _opened(file, "r") as there:
        while True:
            left = None if until is None else max(0.0, until - time.monotonic())
            look = _LOOK_MS if left is None else min(_LOOK_MS, int(left * 1000))
            found = _Status()
            _call(there, "wait_transaction", _u64(number), ctypes.c_int64(look), ctypes.byref(found))
            if found.state >= _STATES.index("committed") or left == 0:
                return found.status()
            # Other threads get h5py's lock.
            time.sleep(_PAUSE_S)


def status(file: Any, number: int) -> Status:
    """How a transaction stands."""
    found = _Status()
    with _opened(file, "r") as there:
        _call(there, "get_transaction_status", _u64(number), ctypes.byref(found))
    return found.status()


def started(file: Any) -> int | None:
    """The number of the transaction that this process has started and not ended."""
    return _number(_file(file), "get_started_transaction") or None


def version(file: Any) -> int:
    """The number of the version that is read through a file: that of the last transaction in it that is committed. 0 if there is none."""
    with _opened(file, "r") as there:
        return _number(there, "get_file_version")


def newest_version(file: Any) -> int:
    """The number of the newest version."""
    with _opened(file, "r") as there:
        return _number(there, "get_newest_version")


# Snapshots


def open(path: str | os.PathLike[str], *, snapshot: str | None = None, version: int | None = None) -> Any:
    """Opens a file for reading, at a snapshot or at the number of a version.

    Parameters
    ----------
    snapshot
        The name of a snapshot.
    version
        The number of the newest version, or of one that a snapshot shows.

    Returns
    -------
    h5py.File
        The open file.

    Raises
    ------
    FileNotFoundError
        There is no such file, snapshot or version.
    """
    h5py = calls.h5py()
    list_ = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    # As h5py opens files: closing one closes what is open in it.
    list_.set_fclose_degree(h5py.h5f.CLOSE_STRONG)
    if snapshot is not None:
        _call_list(list_, "set_snapshot", _name(snapshot))
    if version is not None:
        _call_list(list_, "set_version", _u64(version))
    return h5py.File(h5py.h5f.open(os.fsencode(path), h5py.h5f.ACC_RDONLY, fapl=list_))


def create_snapshot(file: Any, name: str) -> None:
    """Names the newest version, so that it stays readable. What was changed through this process's openings of the file is committed before.

    Raises
    ------
    OSError
        There is a snapshot of this name, the name has other characters than ``A-Z a-z 0-9 . _ : -``, or the engine has no snapshots.
    """
    with _opened(file, "r+") as there:
        _call(there, "create_snapshot", _name(name))


def remove_snapshot(file: Any, name: str) -> None:
    """Removes a snapshot. Files that are open at it stay open.

    Raises
    ------
    OSError
        There is no snapshot of this name.
    """
    with _opened(file, "r+") as there:
        _call(there, "remove_snapshot", _name(name))


def snapshots(file: Any) -> list[Snapshot]:
    """All snapshots of a file, oldest first."""
    found: list[Snapshot] = []

    def each(name: bytes, version: int, _: object) -> int:
        found.append(Snapshot(name.decode(), version))
        return 0

    with _opened(file, "r") as there:
        _call(there, "iterate_snapshots", _SnapshotCallback(each), ctypes.c_void_p())
    return found


def sweep(path: str | os.PathLike[str]) -> int:
    """Removes the data that processes have stored in a file and not committed before they died. Returns how many arrays were removed.

    Others may read and write meanwhile.
    """
    h5py = calls.h5py()
    removed = ctypes.c_uint64()
    list_ = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    with calls.locked():
        done = calls.function("sweep")(
            calls.library(),
            ctypes.c_char_p(os.fsencode(path)),
            ctypes.c_int64(list_.id),
            ctypes.byref(removed),
        )
        if done < 0:
            raise calls.error()
    return removed.value


# Calls


class _Status(ctypes.Structure):
    """``isotach_h5_status_t``."""

    _fields_ = (
        ("state", ctypes.c_int),
        ("participants", ctypes.c_uint),
        ("finished", ctypes.c_uint),
        ("reason", ctypes.c_char * 244),
    )

    def status(self) -> Status:
        """The same as a value of Python's."""
        reason = self.reason.decode(errors="replace")
        return Status(_STATES[self.state], self.participants, self.finished, reason)


_SnapshotCallback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_void_p)


def _u64(number: int) -> ctypes.c_uint64:
    if not 0 <= number < 1 << 64:
        raise ValueError(f"transaction {number}: expected a number from 1 to 2**64 - 1")
    return ctypes.c_uint64(number)


def _u32(name: str, number: int) -> ctypes.c_uint:
    if not 0 <= number < 1 << 32:
        raise ValueError(f"{name} {number}: expected a number from 0 to 2**32 - 1")
    return ctypes.c_uint(number)


def _name(name: str) -> ctypes.c_char_p:
    if "\0" in name:
        raise ValueError(f"snapshot {name!r}: expected a name without NUL")
    return ctypes.c_char_p(name.encode())


def _file(file: Any) -> Any:
    """An open file.

    Raises
    ------
    TypeError
        It is none of h5py's.
    """
    if isinstance(file, calls.h5py().File):
        return file
    raise TypeError(f"{type(file).__name__}: expected an open h5py.File")


@contextmanager
def _opened(file: Any, mode: str) -> Iterator[Any]:
    """An open file, or the file at a path for the time of the block."""
    if isinstance(file, (str, os.PathLike)):
        with calls.h5py().File(file, mode) as there:
            yield there
    else:
        yield _file(file)


def _call(file: Any, name: str, *arguments: Any) -> None:
    """Calls a function of the connector on an open file."""
    with calls.locked():
        done = calls.function(name)(calls.library(), ctypes.c_int64(file.id.id), *arguments)
        if done < 0:
            raise calls.error()


def _call_list(list_: Any, name: str, *arguments: Any) -> None:
    """Calls a function of the connector on a property list."""
    with calls.locked():
        done = calls.function(name)(calls.library(), ctypes.c_int64(list_.id), *arguments)
        if done < 0:
            raise calls.error()


def _number(file: Any, name: str) -> int:
    number = ctypes.c_uint64()
    _call(file, name, ctypes.byref(number))
    return number.value
