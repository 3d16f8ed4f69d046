"""Places, with their parts as methods."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit, urlunsplit


class URI:
    """A place, with its parts as methods."""

    def __init__(self, uri: str | Path, scheme: str = "", allow_fragments: bool = True) -> None:
        """Splits the text. ``scheme`` is used if it names none."""
        text = uri.as_posix() if isinstance(uri, Path) else str(uri)
        self._parts = urlsplit(text, scheme=scheme, allow_fragments=allow_fragments)

    def netloc(self) -> str:
        """The user, host and port."""
        return self._parts.netloc

    def scheme(self) -> str:
        """What is before the colon."""
        return self._parts.scheme

    def username(self) -> str | None:
        """The user."""
        return self._parts.username

    def password(self) -> str | None:
        """The user's password."""
        return self._parts.password

    def hostname(self) -> str | None:
        """The host."""
        return self._parts.hostname

    def port(self) -> int | None:
        """The port."""
        return self._parts.port

    def path(self) -> str:
        """The path."""
        return self._parts.path

    def query(self) -> str:
        """What is behind the question mark."""
        return self._parts.query

    def fragment(self) -> str:
        """What is behind the hash."""
        return self._parts.fragment

    def __eq__(self, other: object) -> bool:
        """Whether both have the same text."""
        return isinstance(other, URI) and str(self) == str(other)

    def __hash__(self) -> int:
        """The hash of the text."""
        return hash(str(self))

    def __repr__(self) -> str:
        """The text."""
        return urlunsplit(self._parts)
