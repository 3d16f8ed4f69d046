"""Status, statistics, wiping, purging and locks."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from isotach._reports import DatasetStatus
from isotach.pyfdb._internal import _reports
from isotach.pyfdb._internal._elements import (
    RawControlAction,
    RawControlElement,
    RawControlIdentifier,
    RawPurgeElement,
    RawStatsElement,
    RawWipeElement,
)
from isotach.pyfdb._internal._errors import in_words_of_fdb
from isotach.pyfdb._internal._raw import RawFDB
from isotach.pyfdb._internal._reading import Selection
from isotach.pyfdb._internal._selection import any_of, logger, request_of

_LOCKABLE = {
    RawControlIdentifier.LIST: "list",
    RawControlIdentifier.RETRIEVE: "retrieve",
    RawControlIdentifier.ARCHIVE: "archive",
    RawControlIdentifier.WIPE: "wipe",
}


def status(fdb: RawFDB, selection: Selection) -> Iterator[RawControlElement]:
    """The datasets that match, with their locks."""
    request = request_of(selection)
    store = fdb.readable()
    found = None if store is None else any_of(request, store.status)
    for one in found or ():
        yield _element(one)


def stats(fdb: RawFDB, selection: Selection) -> Iterator[RawStatsElement]:
    """The statistics of each dataset that matches, as a whole."""
    request = request_of(selection)
    store = fdb.readable()
    datasets = None if store is None else any_of(request, store.status)
    if store is None or not datasets:
        return
    names = {name for dataset in datasets for name in dataset.key}
    request = {name: value for name, value in request.items() if name in names}
    for counts in store.stats(request):
        yield _reports.stats(counts)


def wipe(fdb: RawFDB, selection: Selection, doit: bool) -> Iterator[RawWipeElement]:
    """Removes the datasets or collocations that match; all of them if the selection is empty."""
    request = request_of(selection)
    store = fdb.readable()
    if store is None:
        return
    requests = [request] if request else [dataset.key for dataset in store.status()]
    seen = set()
    for one in requests:
        report = any_of(one, lambda request: store.wipe(request, doit=doit))
        for dataset in report.datasets if report else ():
            # The key of a dataset without an optional key also matches those with it.
            key = tuple(dataset.key.items())
            if key not in seen:
                seen.add(key)
                yield from _reports.wiped(dataset)


def purge(fdb: RawFDB, selection: Selection, doit: bool, porcelain: bool) -> Iterator[RawPurgeElement]:
    """Frees the space of replaced fields in the datasets that match. No file is removed as a whole, so porcelain has no lines."""
    request = request_of(selection)
    store = fdb.readable()
    found = None if store is None else any_of(request, lambda request: store.purge(request, doit=doit))
    for dataset in found or ():
        if not porcelain:
            yield from _reports.purged(dataset)


def control(
    fdb: RawFDB,
    selection: Selection,
    action: RawControlAction,
    identifiers: Collection[RawControlIdentifier],
) -> Iterator[RawControlElement]:
    """Locks or unlocks the datasets that match, and reports their locks afterwards."""
    request = request_of(selection)
    store = fdb.readable()
    if store is None:
        return
    actions = [_LOCKABLE[one] for one in identifiers if one in _LOCKABLE]
    if RawControlIdentifier.UNIQUEROOT in identifiers:
        logger.info("UNIQUEROOT has no effect: a dataset of Isotach has one place")
    if actions and action != RawControlAction.NONE:
        change = store.lock if action == RawControlAction.DISABLE else store.unlock
        with in_words_of_fdb():
            any_of(request, lambda request: change(request, actions=actions))
    yield from status(fdb, selection)


def enabled(fdb: RawFDB, identifier: RawControlIdentifier) -> bool:
    """Whether the configuration allows an action."""
    config = fdb.configuration.to_dict()
    name = _LOCKABLE.get(identifier)
    if name is None:
        return True
    both = ("writable",) if name in ("archive", "wipe") else ("visitable", "visit")
    own = config.get(name)
    return own is not False if own is not None else all(config.get(key) is not False for key in both)


def _element(status: DatasetStatus) -> RawControlElement:
    identifiers = [identifier for identifier, name in _LOCKABLE.items() if name in status.locks]
    return RawControlElement(status.key, status.catalogue, identifiers)
