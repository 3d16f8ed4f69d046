"""Paths of fields: the store, and behind it the levels of the key, or a location.

/data/fields/class=od,expver=0001,date=20240101/type=fc,levtype=sfc/step=6,param=167
posix:/data/fields/od:0001:20240101/0d010001000000000000000000000007?offset=0&length=1024&checksum=0123abcd
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qs, quote, unquote

from isotach._exceptions import InvalidInputError
from isotach._isotach import Location
from isotach._reports import Key

_LEVEL = re.compile(r"\w+=|=$")
_EMPTY_LEVEL = "="
"""A level of which a field has no key."""
_LEVELS_MAX = 3
_FACTS = re.compile(r"[?&](offset=\d+&length=\d+&checksum=[0-9a-f]{8})$")


@dataclass(frozen=True)
class Place:
    """What a path names."""

    store: str
    """The store, as :func:`isotach.open` takes it. Empty if the path does not name one."""
    levels: tuple[str, ...] = ()
    """The levels of a key: those of its dataset, its collocation and its element, as far as they are given."""
    location: Location | None = None

    def key(self) -> Key:
        """The key that the levels name.

        Raises
        ------
        InvalidInputError
            A pair has no name.
        """
        key: Key = {}
        for pair in (pair for level in self.levels if level != _EMPTY_LEVEL for pair in level.split(",")):
            name, equals, value = pair.partition("=")
            if not (name and equals):
                raise InvalidInputError(f"{pair!r} in a path: expected name=value")
            key[unquote(name)] = unquote(value)
        return key


def place_of(path: str) -> Place:
    """What a path without its protocol names."""
    facts = _FACTS.search(path)
    if facts is not None:
        uri = path[: facts.start()]
        pairs = {name: values[0] for name, values in parse_qs(facts[1]).items()}
        location = Location(uri, int(pairs["offset"]), int(pairs["length"]), int(pairs["checksum"], 16))
        return Place("" if location.is_adopted else _pool(uri), location=location)
    parts = path.split("/")
    begin = len(parts)
    while begin > max(0, len(parts) - _LEVELS_MAX) and _LEVEL.match(parts[begin - 1]):
        begin -= 1
    return Place("/".join(parts[:begin]), tuple(parts[begin:]))


def path_of(location: Location) -> str:
    """The path of a location.

    Raises
    ------
    InvalidInputError
        The location is that of a field which an overlay shows under another key.
    """
    if location.relabel is not None:
        raise InvalidInputError(
            f"the field at {location} is shown under another key than it is stored: expected a path of its key"
        )
    uri = location.uri
    facts = f"offset={location.offset}&length={location.length}&checksum={location.checksum:08x}"
    return f"{uri}{'&' if '?' in uri else '?'}{facts}"


def level_of(key: Key) -> str:
    """The text of a level."""
    pairs = (f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in key.items())
    return ",".join(pairs) or _EMPTY_LEVEL


def _pool(uri: str) -> str:
    """The pool of an object: its URI without container and object."""
    path, question, options = uri.partition("?")
    return path.rsplit("/", 2)[0] + question + options
