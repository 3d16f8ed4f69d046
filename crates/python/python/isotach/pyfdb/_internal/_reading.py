"""Retrieving, listing, inspecting, and the axes."""

from __future__ import annotations

import builtins
import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from isotach._reports import DatasetStatus
from isotach._store import Store
from isotach.pyfdb._internal._elements import Key, RawIndexAxis, RawListElement
from isotach.pyfdb._internal._handle import Nothing, RawDataHandle, Requested, Unlocked
from isotach.pyfdb._internal._raw import RawFDB
from isotach.pyfdb._internal._selection import any_of, each_of, request_of

Selection = Mapping[str, Collection[str]]

_NAMES = re.compile(r"\w+")


def retrieve(fdb: RawFDB, selection: Selection) -> RawDataHandle:
    """The bytes of the fields that a selection names, in its order."""
    request = request_of(selection)
    store = fdb.readable()
    return RawDataHandle(Nothing() if store is None else Requested(store, request))


def list(fdb: RawFDB, selection: Selection, masked: bool, level: int) -> Iterator[RawListElement]:  # noqa: A001
    """The fields that match a selection; the collocations at level 2, and the datasets at level 1."""
    request = request_of(selection)
    store = fdb.readable()
    if store is None:
        return
    if level == 1:
        for status in _datasets(store, request):
            if "list" not in status.locks and "list" not in status.forbidden:
                yield RawListElement(store, None, [status.key, {}, {}])
        return
    found = any_of(request, lambda request: store.list(request, duplicates=masked))
    seen = set()
    for listed in found or ():
        if level != 2:
            yield RawListElement(store, listed)
            continue
        dataset, collocation, _ = listed.keys
        upper = (*dataset.items(), *collocation.items())
        if upper not in seen:
            seen.add(upper)
            yield RawListElement(store, None, [dataset, collocation, {}])


def inspect(fdb: RawFDB, selection: Selection) -> Iterator[RawListElement]:
    """The fields that a selection names, in its order."""
    request = request_of(selection)
    store = fdb.readable()
    found = None if store is None else each_of(request, store.inspect)
    if store is None or found is None:
        return
    levels = _Levels(store)
    for one in Unlocked(found):
        yield RawListElement(store, one, levels.of(one.key))


def axes(fdb: RawFDB, selection: Selection, level: int) -> RawIndexAxis:
    """The values of each key of the datasets that match; below them those of the fields that match."""
    request = request_of(selection)
    store = fdb.readable()
    datasets = [] if store is None else _datasets(store, request)
    if store is None or not datasets:
        return RawIndexAxis({})
    names = {name for status in datasets for name in status.key}
    axes = {name: _sorted(status.key.get(name) for status in datasets) for name in names}
    if level == 1:
        return RawIndexAxis(axes)
    levels = [levels_of_rule(status.rule) for status in datasets]
    below = any_of(request, store.axes) or {}
    for name, values in below.items():
        if name not in axes and (level != 2 or any(name in rule[1] for rule in levels)):
            axes[name] = _sorted(values)
    if level != 2 and below:
        for name in {name for rule in levels for name in rule[2]} - axes.keys():
            axes[name] = [""]
    return RawIndexAxis(axes)


def levels_of_rule(rule: str) -> builtins.list[builtins.list[str]]:
    """The names of the keys at each level of a rule such as ``[ class, date [ type [ step, param ]]]``."""
    levels = [_NAMES.findall(level) for level in rule.split("[")[1:]]
    return [*levels, *([[]] * (3 - len(levels)))]


def _datasets(store: Store, request: dict[str, str]) -> builtins.list[DatasetStatus]:
    return any_of(request, store.status) or []


def _sorted(values: Iterable[str | None]) -> builtins.list[str]:
    return sorted({value for value in values if value is not None})


class _Levels:
    """Splits keys of fields into levels, by the rules of their datasets."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._datasets: builtins.list[tuple[Key, builtins.list[builtins.list[str]]]] = []

    def of(self, key: Key) -> builtins.list[Key]:
        """The key of each level."""
        for dataset, names in self._datasets:
            if dataset.items() <= key.items():
                return [{name: key[name] for name in level if name in key} for level in names]
        # A dataset with more keys is the better match: one without an optional key is a part of it.
        known = sorted(self._store.status(), key=lambda status: -len(status.key))
        self._datasets = [(status.key, levels_of_rule(status.rule)) for status in known]
        if not any(dataset.items() <= key.items() for dataset, _ in self._datasets):
            return [key, {}, {}]
        return self.of(key)
