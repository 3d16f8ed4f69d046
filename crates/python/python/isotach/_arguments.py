"""Keys and requests as callers give them: text, a mapping, keywords, or a :class:`Request`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from isotach._isotach import Request

RequestLike = str | Mapping[str, Any] | Request | None
"""MARS text, a mapping from names to one or several values, or a request. None means everything.

A name in a mapping or a keyword may have an underscore behind it, as ``class_``, because ``class`` is a word of Python.
"""

KeyLike = str | Mapping[str, Any]
"""Text such as ``"class=od,step=6"``, or a mapping from names to values."""


def request_of(request: RequestLike, keywords: Mapping[str, Any]) -> RequestLike:
    """The request with the keywords added."""
    return Request(request, **keywords) if keywords else request


def key_of(key: KeyLike | None, keywords: Mapping[str, Any]) -> KeyLike:
    """The key, or the one that the keywords name. A name may have an underscore behind it, for a word of Python."""
    if not keywords:
        if key is None:
            raise TypeError("no key: expected a mapping, text, or keywords")
        return key
    if key is None:
        return keywords
    if isinstance(key, str):
        raise TypeError("both a key as text and keywords: expected one of them")
    named = {name.rstrip("_"): value for name, value in keywords.items()}
    return {**{name: value for name, value in key.items() if str(name).rstrip("_") not in named}, **named}
