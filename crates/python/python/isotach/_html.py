"""Tables for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from isotach._progress import size

if TYPE_CHECKING:
    from isotach._isotach import Listing
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
    if not fields:
        return "<p>no fields</p>"
    keys = [field.key for field in fields]
    names = list(dict.fromkeys(name for key in keys for name in key))
    rows = [
        [
            *(key.get(name, "") for name in names),
            size(field.location.length),
            "replaced" if field.is_replaced else "",
        ]
        for key, field in zip(keys, fields, strict=True)
    ]
    more = "<p>and more</p>" if has_more else ""
    return f"{_table((*names, 'size', ''), rows)}{more}"


def _pairs(key: dict[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in key.items())


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
