"""Tables for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from isotach._progress import size

if TYPE_CHECKING:
    from isotach._isotach import Inspection, Listing, Location
    from isotach._retrieval import Retrieval
    from isotach._store import Store

_ROWS = 20


def store(store: Store) -> str:
    """The datasets of a store."""
    heading = f"<b>{escape(repr(store)[1:-1])}</b>"
    if store.is_closed:
        return heading
    datasets = store.status()
    rows = [
        [
            _pairs(dataset.key),
            f"{dataset.created:%Y-%m-%d %H:%M}" if dataset.created else "",
            ", ".join(dataset.locks),
        ]
        for dataset in datasets[:_ROWS]
    ]
    more = f"<p>and {len(datasets) - _ROWS} more</p>" if len(datasets) > _ROWS else ""
    return f"{heading}{_table(('dataset', 'created (UTC)', 'locked'), rows)}{more}"


def retrieval(retrieval: Retrieval) -> str:
    """The request of a retrieval, and its state."""
    rows = [[name, "/".join(values)] for name, values in retrieval.request.to_dict().items()]
    return f"<b>{escape(retrieval.state)}</b>{_table(('key', 'values'), rows)}"


def listing(listing: Listing) -> str:
    """The next fields of a listing, which stay the next ones."""
    fields, has_more = listing._peek(_ROWS)
    states = ["replaced" if field.is_replaced else "" for field in fields]
    return _fields([(field.key, field.location) for field in fields], "", states, has_more)


def inspection(inspection: Inspection) -> str:
    """The next fields of an inspection, which stay the next ones; and the missing ones, if they are known."""
    fields, has_more = inspection._peek(_ROWS)
    places = [str(field.location) for field in fields]
    table = _fields([(field.key, field.location) for field in fields], "location", places, has_more)
    missing = inspection.missing
    return table if missing is None or not missing.count else f"{table}<p>{escape(missing.text)}</p>"


def _fields(
    fields: Sequence[tuple[dict[str, str], Location]], last: str, cells: Sequence[str], has_more: bool
) -> str:
    """Fields by key and size, with one more column."""
    if not fields:
        return "<p>no fields</p>"
    names = list(dict.fromkeys(name for key, _ in fields for name in key))
    rows = [
        [*(key.get(name, "") for name in names), size(location.length), cell]
        for (key, location), cell in zip(fields, cells, strict=True)
    ]
    more = "<p>and more</p>" if has_more else ""
    return f"{_table((*names, 'size', last), rows)}{more}"


def _pairs(key: dict[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in key.items())


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
