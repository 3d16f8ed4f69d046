"""Requests and ranges as text, and the context of a call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from getpass import getuser
from socket import gethostname
from typing import Any

import isotach

VERSION = "0.13.1"
"""The version of pygribjump whose interface this is."""


def rangestr_to_list(rangestr: str) -> list[tuple[int, ...]]:
    """Ranges from text: ``"0-6,7-12"`` is ``[(0, 6), (7, 12)]``."""
    return [tuple(map(int, one.split("-"))) for one in rangestr.split(",")]


def list_to_rangestr(ranges: Iterable[Iterable[int]]) -> str:
    """The text of ranges."""
    return ",".join("-".join(map(str, one)) for one in ranges)


def dic_to_request(dic: Mapping[str, str]) -> str:
    """The text of a request with one value for each key."""
    return ",".join("=".join(pair) for pair in dic.items())


def multivalued_dic_to_request(dic: Mapping[str, Any]) -> str:
    """The text of a request with one value or a list of values for each key."""
    return ",".join(
        f"{name}={'/'.join(map(str, value)) if isinstance(value, list) else value}"
        for name, value in dic.items()
    )


def version() -> str:
    """The version of pygribjump whose interface this is."""
    return VERSION


def library_version() -> str:
    """The version of gribjump whose behaviour this is."""
    return VERSION


def default_context(action: str) -> dict[str, str]:
    """Who calls, from where, and what for."""

    def unless_failed(function: Callable[[], str]) -> str:
        try:
            return function()
        except (OSError, KeyError, ImportError):
            return "unknown"

    return {
        "source": "pygribjump",
        "action": action,
        "pygribjump_version": version(),
        "gribjump_version": library_version(),
        "isotach_version": isotach.__version__,
        "user": unless_failed(getuser),
        "hostname": unless_failed(gethostname),
    }


def merge_default_context(ctx: Mapping[str, str] | None, action: str) -> dict[str, str]:
    """The caller's context, with what it lacks."""
    return {**default_context(action), **(ctx or {})}
