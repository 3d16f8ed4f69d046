"""Helpers that pyfdb has in this module and that tests of others use."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from isotach.pyfdb._internal._configuration import Given, parsed
from isotach.pyfdb._internal._errors import user_error
from isotach.pyfdb._internal._expand import expand

InternalMarsSelection = dict[str, Collection[str]]
"""A selection whose values are lists of text."""

InternalMarsIdentifier = list[tuple[str, str]]
"""The key of a field."""


class FDBToolRequest:
    """A request for the operations that may visit everything.

    Parameters
    ----------
    key_values
        The keys with their values.
    all
        Whether the request means everything.
    minimum_key_set
        Keys that must be there.

    Raises
    ------
    InvalidInputError
        A key of ``minimum_key_set`` is missing.
    """

    def __init__(
        self,
        key_values: Mapping[str, Collection[str]] | None = None,
        all: bool = False,  # noqa: A002
        minimum_key_set: Collection[str] | None = None,
    ) -> None:
        """Resolves ranges and relative dates."""
        self.tool_request = expand(key_values or {})
        self._all = all
        for name in minimum_key_set or ():
            if name not in self.tool_request:
                raise user_error(f"Please provide a value for '{name}'")

    @classmethod
    def from_internal_mars_selection(cls, selection: Mapping[str, Collection[str]] | None) -> FDBToolRequest:
        """The request for a selection. An empty one means everything."""
        if not selection:
            return cls({}, all=True)
        for name, values in selection.items():
            if isinstance(values, str):
                raise ValueError(f"Expecting collection of values for key {name}, not {values}")
        return cls(selection)

    def __repr__(self) -> str:
        """The request in MARS's language."""
        if self._all:
            return " -- ALL --"
        lines = [f"\t{name}={'/'.join(values)}" for name, values in self.tool_request.items()]
        return ",\n".join(["retrieve", *lines]) + "\n\n"


class ConfigMapper:
    """Configurations as JSON."""

    @classmethod
    def to_json(cls, config: Given) -> str | None:
        """A configuration as JSON: from text or a file in YAML or JSON, or from a dictionary. None stays None."""
        if config is None:
            return None
        if isinstance(config, Path):
            return json.dumps(parsed(config.read_text()))
        if isinstance(config, dict):
            return json.dumps(config)
        if isinstance(config, str):
            return json.dumps(parsed(config))
        raise ValueError("Config: Unknown config type, must be str, dict or Path.")

    @classmethod
    def from_json(cls, config: str) -> dict[str, Any]:
        """A configuration from JSON."""
        read: dict[str, Any] = json.loads(config)
        return read
