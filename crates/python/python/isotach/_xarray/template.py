"""Templates: the message whose headers a variable is written with."""

from __future__ import annotations

from dataclasses import dataclass, field

from isotach._handles import Source
from isotach._reports import Key

TEMPLATE = "isotach_template"
"""The name of the template in a variable's encoding."""


@dataclass(frozen=True)
class Template:
    """A field of a store, and what was known of its variable when it was opened."""

    source: Source
    key: Key
    ranges: dict[int, str] = field(default_factory=dict)
    """For each step in nanoseconds that is the end of a range, the range."""
    labels: frozenset[str] = frozenset()
    """What the coordinates of the variable told apart."""

    def read(self) -> bytes:
        """The message."""
        return bytes(self.source.read(self.key))
