"""Queries of HDF5 files: conditions as Python expressions, and what they find. :mod:`isotach.hdf5` has the public names."""

from __future__ import annotations

import ctypes
import warnings
import weakref
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from isotach import _hdf5_calls as calls

_BINS = 1
_MANY_RUNS = 1000
_AT_ONCE = 16 << 20
_KINDS = {2: "group", 3: "datatype", 5: "dataset", 6: "map"}


class Condition:
    """A condition on elements, names or attributes. Conditions are combined by ``&``, ``|`` and ``~``."""

    __slots__ = ("_text", "_word")

    def __init__(self, text: str) -> None:
        """Takes a condition as text, such as ``"value > 280"``."""
        self._text = text
        self._word: str | None = None

    def __str__(self) -> str:
        """The condition as text."""
        return self._text

    def __repr__(self) -> str:
        """The condition as Python."""
        return f"Condition({self._text!r})"

    def __and__(self, other: Condition | str) -> Condition:
        """Both hold."""
        return self._joined("and", other)

    def __or__(self, other: Condition | str) -> Condition:
        """One holds, or both."""
        return self._joined("or", other)

    __rand__ = __and__
    __ror__ = __or__

    def __invert__(self) -> Condition:
        """It does not hold."""
        return Condition(f"not ({self})")

    def __bool__(self) -> bool:
        """Refused: Python's ``and``, ``or``, ``not`` and chains such as ``1 < value < 2`` would lose a part of the condition."""
        raise TypeError(
            f"the truth of {self!r} is not known: combine conditions by &, | and ~, each in brackets"
        )

    def _joined(self, word: str, other: Condition | str) -> Condition:
        """Joins two conditions. A chain of one word stays flat, since the depth of brackets is limited."""
        parts = (
            one._text if isinstance(one, Condition) and one._word == word else f"({one})"
            for one in (self, other)
        )
        joined = Condition(f" {word} ".join(parts))
        joined._word = word
        return joined


class Operand:
    """What conditions are about. Comparisons with a number or a text make a :class:`Condition`."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        """Takes the operand as conditions have it."""
        self._text = text

    def __repr__(self) -> str:
        """The operand as conditions have it."""
        return f"<{self._text}>"

    def __getitem__(self, member: str) -> Operand:
        """A member of a compound."""
        if self._text.startswith(("@", "name")):
            raise TypeError(f"{self._text} has no members: expected value")
        return Operand(f"{self._text}.{_quoted(member)}")

    def __eq__(self, other: object) -> Condition:  # type: ignore[override]
        """Equal to a number or a text."""
        return self._is("=", other)

    def __ne__(self, other: object) -> Condition:  # type: ignore[override]
        """Another number or text."""
        return self._is("!=", other)

    def __lt__(self, other: object) -> Condition:
        """Less than a number."""
        return self._is("<", other)

    def __le__(self, other: object) -> Condition:
        """At most a number."""
        return self._is("<=", other)

    def __gt__(self, other: object) -> Condition:
        """Greater than a number."""
        return self._is(">", other)

    def __ge__(self, other: object) -> Condition:
        """At least a number."""
        return self._is(">=", other)

    __hash__ = None  # type: ignore[assignment]

    def between(self, low: object, high: object) -> Condition:
        """In a range with both ends."""
        return Condition(f"{self._text} in {_literal(low)}..{_literal(high)}")

    def is_nan(self) -> Condition:
        """Not a number."""
        return Condition(f"{self._text} is nan")

    def like(self, pattern: str) -> Condition:
        """A text that fits a pattern with ``*`` for any text and ``?`` for one character."""
        return Condition(f"{self._text} like {_quoted(pattern)}")

    def _is(self, comparison: str, other: object) -> Condition:
        return Condition(f"{self._text} {comparison} {_literal(other)}")


class Attribute(Operand):
    """An attribute."""

    __slots__ = ()

    def exists(self) -> Condition:
        """The object has the attribute."""
        return Condition(f"has {self._text}")


value = Operand("value")
"""The element. ``value["wind"]["speed"]`` is a member of a compound."""

name = Operand("name")
"""The name of an object's link."""


def attribute(name: str) -> Attribute:
    """An attribute of an object."""
    return Attribute(f"@{_quoted(name)}")


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _literal(literal: object) -> str:
    """A number or a text as conditions have it."""
    if isinstance(literal, bytes):
        return _quoted(literal.decode())
    if isinstance(literal, str):
        return _quoted(literal)
    # NumPy's numbers become Python's, and a boolean is 0 or 1, as in HDF5's enumerations of h5py.
    literal = getattr(literal, "item", lambda: literal)()
    if isinstance(literal, int):
        return str(int(literal))
    if isinstance(literal, float) and literal == literal:
        return repr(literal)
    if isinstance(literal, float):
        raise ValueError("nan compares with nothing: expected a number, or is_nan()")
    raise TypeError(f"{literal!r}: expected a number or a text")


class Selection:
    """The elements of a dataset that pass a condition.

    ``dataset[selection.mask]`` reads or writes them through h5py, ``array[selection.mask]`` and ``array[selection.coordinates]`` take them from an array
    of the same shape.
    """

    def __init__(self, dataset: Any, pointer: Any) -> None:
        """Takes what the connector has found."""
        import numpy

        self._dataset, self._pointer = dataset, pointer
        weakref.finalize(self, calls.function("free_selection", None), pointer)
        count = ctypes.c_size_t()
        get = calls.function("get_selection_runs", ctypes.c_void_p)
        first = get(pointer, ctypes.byref(count))
        if count.value:
            numbers = ctypes.cast(first, ctypes.POINTER(ctypes.c_uint64))
            self.runs = numpy.ctypeslib.as_array(numbers, (count.value, 2)).astype("i8")
        else:
            self.runs = numpy.empty((0, 2), "i8")
        """Elements that follow each other in row-major order: an array with the first element and the count of each run."""
        self.shape: tuple[int, ...] = dataset.shape
        """The extent of the dataset."""

    def __len__(self) -> int:
        """How many elements there are."""
        return int(self.runs[:, 1].sum())

    def __repr__(self) -> str:
        """How many elements there are, of which dataset."""
        return f"<Selection of {len(self)} elements of {self._dataset.name!r}>"

    @property
    def indices(self) -> Any:
        """The elements, counted in row-major order."""
        import numpy

        first, count = self.runs[:, 0], self.runs[:, 1]
        before = numpy.cumsum(count) - count
        return numpy.arange(len(self)) + numpy.repeat(first - before, count)

    @property
    def coordinates(self) -> tuple[Any, ...]:
        """The places of the elements: an array for each dimension, as ``numpy.nonzero`` gives them."""
        import numpy

        return tuple(numpy.unravel_index(self.indices, self.shape)) if self.shape else ()

    @property
    def mask(self) -> Any:
        """An array of the dataset's shape that is true at the elements."""
        import numpy

        change = numpy.zeros(int(numpy.prod(self.shape, dtype="i8")) + 1, "i1")
        change[self.runs[:, 0]] += 1
        change[self.runs.sum(axis=1)] -= 1
        return numpy.cumsum(change[:-1], dtype="i1").view(bool).reshape(self.shape)

    def space(self) -> Any:
        """A dataspace in which the elements are selected, for h5py's low-level functions."""
        h5py = calls.h5py()
        with calls.locked():
            create = calls.function("create_selection_space", ctypes.c_int64)
            space = create(calls.library(), self._pointer)
            if space < 0:
                raise calls.error()
            return h5py.h5s.SpaceID(space)

    def values(self) -> Any:
        """The values of the elements, in row-major order, as ``dataset[selection.mask]``."""
        import numpy

        values = numpy.empty(len(self), self._dataset.dtype)
        if len(self) == 0:
            return values
        if len(self.runs) <= _MANY_RUNS or self.shape[0] == 1:
            memory = calls.h5py().h5s.create_simple((len(self),))
            self._dataset.id.read(memory, self.space(), values)
            return values
        # HDF5 takes longer to walk through so many parts than to read what is between them.
        indices = self.indices
        row = int(numpy.prod(self.shape[1:], dtype="i8"))
        rows = _rows(self._dataset, row)
        starts = range(0, self.shape[0], rows)
        bounds = numpy.searchsorted(indices, [start * row for start in starts]).tolist()
        for start, first, end in zip(starts, bounds, [*bounds[1:], len(indices)], strict=True):
            if first < end:
                whole = self._dataset[start : start + rows].reshape(-1)
                values[first:end] = whole[indices[first:end] - start * row]
        return values


def _rows(dataset: Any, row: int) -> int:
    """How many rows of a dataset are read at once: whole chunks, of some MiB together."""
    high = dataset.chunks[0] if dataset.chunks else 1
    chunks = max(1, _AT_ONCE // max(1, high * row * dataset.dtype.itemsize))
    return int(high * chunks)


class UnsearchedWarning(UserWarning):
    """A dataset could not be searched, so :func:`find` does not tell whether it passes."""

    def __init__(self, path: str, why: str) -> None:
        """Takes which dataset, and why."""
        super().__init__(path, why)
        self.path = path
        """The path of the dataset from the group that was searched."""
        self.why = why
        """Why its elements cannot be read."""

    def __str__(self) -> str:
        """Which dataset, and why."""
        return f"{self.path} was not searched: {self.why}"


@dataclass(frozen=True, slots=True)
class Found:
    """An object that passes a condition."""

    path: str
    """Its path from the group that was searched; ``"."`` for the group itself."""
    kind: str
    """``"group"``, ``"dataset"``, ``"datatype"`` or ``"map"``."""
    elements: int | None
    """How many of its elements pass, where the condition is on elements."""


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """The index of a dataset."""

    has_bins: bool
    """Whether it says where each number is."""
    chunks: int
    """How many chunks are stored."""
    indexed: int
    """How many of them have an index that fits."""
    without: int
    """How many can have none: they are very small, or were changed in place."""


def where(dataset: Any, condition: Condition | str) -> Selection:
    """Finds the elements of a dataset that pass a condition.

    Parameters
    ----------
    dataset
        An ``h5py.Dataset``.
    condition
        An expression, as ``(value > 280) & (value < 300)``, or a text, as ``"temperature > 280 and pressure in 100..500"``.

    Raises
    ------
    OSError
        The condition cannot be read, names a member that there is not, or compares a number with a text; the dataset is virtual.
    """
    if getattr(dataset, "shape", ()) is None:
        raise TypeError(
            f"{dataset.name!r} has no elements, as h5py.Empty says: expected a dataset with a shape"
        )
    pointer = ctypes.c_void_p()
    _call(dataset, "select_runs", _text(condition), ctypes.byref(pointer))
    return Selection(dataset, pointer)


def find(group: Any, condition: Condition | str) -> list[Found]:
    """Finds the objects in and below a group that pass a condition, and the group itself.

    Parameters
    ----------
    group
        An ``h5py.File`` or ``h5py.Group``.
    condition
        An expression, as ``(attribute("units") == "K") & (value > 300)``, or a text. A condition on elements finds the datasets that have such
        elements.

    Warns
    -----
    UnsearchedWarning
        The elements of a dataset cannot be read, because it is virtual or has a filter that is not known, and the condition depends on them.
    """
    found: list[Found] = []
    unsearched: list[UnsearchedWarning] = []

    def each(path: bytes, kind: int, elements: int, _: object) -> int:
        found.append(Found(path.decode(), _KINDS.get(kind, "other"), elements if elements >= 0 else None))
        return 0

    def other(path: bytes, why: bytes, _: object) -> int:
        unsearched.append(UnsearchedWarning(path.decode(), why.decode()))
        return 0

    callbacks = _FindCallback(each), _UnsearchedCallback(other)
    _call(group, "find", _text(condition), *callbacks, ctypes.c_void_p())
    for one in unsearched:
        warnings.warn(one, stacklevel=2)
    return found


def build_index(dataset: Any, *, bins: bool = False, members: str | Iterable[str] = ()) -> IndexInfo:
    """Indexes the numbers of a dataset: the chunks that have no index that fits, and from then on each chunk when it is stored.

    Parameters
    ----------
    bins
        Also index where each number is. This takes about as much space as the numbers, and makes queries fast that find few elements in mixed data.
    members
        The member or members to index, as ``"wind.speed"``; all numbers if there are none.
    """
    names = [_encoded(member) for member in ([members] if isinstance(members, str) else members)]
    array = (ctypes.c_char_p * len(names))(*names)
    pointer = array if names else ctypes.c_void_p()
    _call(dataset, "build_index", pointer, ctypes.c_size_t(len(names)), ctypes.c_uint(_BINS * bins))
    info = index_info(dataset)
    assert info is not None
    return info


def remove_index(dataset: Any) -> None:
    """Removes the index of a dataset."""
    _call(dataset, "remove_index")


def index_info(dataset: Any) -> IndexInfo | None:
    """The index of a dataset, if it has one."""
    info = _Info()
    _call(dataset, "get_index_info", ctypes.byref(info))
    if not info.is_there:
        return None
    return IndexInfo(bool(info.has_bins), info.chunks, info.indexed, info.without)


class _Info(ctypes.Structure):
    """``isotach_h5_index_info_t``."""

    _fields_ = (
        ("is_there", ctypes.c_int),
        ("has_bins", ctypes.c_int),
        ("chunks", ctypes.c_uint64),
        ("indexed", ctypes.c_uint64),
        ("without", ctypes.c_uint64),
    )


_FindCallback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_int64, ctypes.c_void_p)
_UnsearchedCallback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p)


def _text(condition: Condition | str) -> ctypes.c_char_p:
    if not isinstance(condition, (Condition, str)):
        raise TypeError(f"{condition!r}: expected a condition")
    return ctypes.c_char_p(_encoded(str(condition)))


def _encoded(text: str) -> bytes:
    """A text as C has it, which a NUL would cut."""
    if "\0" in text:
        raise ValueError(f"{text!r}: expected a text without NUL")
    return text.encode()


def _call(object_: Any, name: str, *arguments: Any) -> None:
    """Calls a function of the connector on an open object of h5py's."""
    if not hasattr(getattr(object_, "id", None), "id"):
        raise TypeError(f"{type(object_).__name__}: expected an open object of h5py's")
    with calls.locked():
        if calls.function(name)(calls.library(), ctypes.c_int64(object_.id.id), *arguments) < 0:
            raise calls.error()
