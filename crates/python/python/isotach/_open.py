"""Opening and creating stores."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from isotach._exceptions import InvalidInputError
from isotach._isotach import Handle
from isotach._store import Store

_CONFIGURATIONS = (".yaml", ".yml", ".json")
_TEXT = re.compile(r"\s*(\{|[\w-]+:\s|.*\n)")
"""How the text of a configuration begins: with a brace, with ``name: ``, or with one of several lines."""


def open(store: str | os.PathLike[str] | Mapping[str, Any] | None = None, *, at: str | None = None) -> Store:  # noqa: A001
    """Opens an existing store.

    Parameters
    ----------
    store
        A URI (``"posix:/data/fields"``, ``"rados:pool"``, ``"daos:pool"``) or the path of a store; the path of a configuration
        file; a configuration as a mapping or as YAML text. FDB's configurations are understood, too. Without it, what the
        program ``isotach`` would use: ``ISOTACH_STORE``, ``ISOTACH_CONFIG``, ``./isotach.yaml``, or ``isotach/isotach.yaml`` in the
        configuration folder of the user or the machine.
    at
        The name of a snapshot. The store is then read-only, and shows the state that the snapshot named.

    Raises
    ------
    NotFoundError
        There is no store, or no such snapshot.
    InvalidInputError
        The URI or the configuration is wrong.
    """
    return Store(Handle(*_origin(store), at))


def create(
    store: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    schema: str | os.PathLike[str] | None = None,
) -> Store:
    """Creates a store, or opens it if it exists.

    Parameters
    ----------
    store
        As for :func:`open`. Folders above a posix store are created, too.
    schema
        A schema in FDB's language: its text, or the path of its file as a ``Path``. Without it that of the configuration, or the
        standard schema, which fits ordinary MARS-labelled GRIB.

    Raises
    ------
    AlreadyExistsError
        The store exists with another schema.
    InvalidInputError
        The URI, the configuration or the schema is wrong.
    """
    text = Path(schema).read_text() if isinstance(schema, os.PathLike) else schema
    if isinstance(schema, str) and "[" not in schema:
        raise InvalidInputError(
            f"schema={schema!r}: expected the text of a schema, which has rules in '[ ]', or the path of its file as a Path"
        )
    return Store(Handle(*_origin(store), create=True, schema=text))


def _origin(store: str | os.PathLike[str] | Mapping[str, Any] | None) -> tuple[str, str, str | None]:
    """The kind of the argument, its text, and the folder of relative paths in it."""
    if store is None:
        return "environment", "", None
    if isinstance(store, Mapping):
        return "text", json.dumps(dict(store), default=os.fspath), None
    if isinstance(store, str):
        if _TEXT.match(store):
            return "text", store, None
        return "file" if _is_configuration(store) else "uri", store, None
    if isinstance(store, os.PathLike):
        path = os.fspath(store)
        if isinstance(path, str):
            is_file = _is_configuration(path) or path.endswith(_CONFIGURATIONS)
            return "file" if is_file else "uri", os.path.abspath(path), None
    raise TypeError(
        f"a store of type {type(store).__name__}: expected a URI, a path, a configuration, or nothing"
    )


def _is_configuration(path: str) -> bool:
    """Whether there is a file. One of data is refused."""
    if not os.path.isfile(path):
        return False
    try:
        with Path(path).open("rb") as file:
            head = file.read(512)
    except OSError:
        # The native module names the problem.
        return True
    if head.startswith(b"GRIB"):
        raise InvalidInputError(
            f"{path} is a GRIB file: expected a store; store.archive({path!r}) archives it, and store.adopt indexes it in place"
        )
    if b"\0" in head:
        raise InvalidInputError(f"{path} is a binary file: expected a store or its configuration")
    return True
