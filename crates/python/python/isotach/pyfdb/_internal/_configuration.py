"""What names the store: the argument of ``FDB``, or the environment."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isotach._isotach import Handle
from isotach._store import Store

Given = str | dict[str, Any] | Path | None
"""A configuration as callers give it."""

_OF_ISOTACH = ("ISOTACH_STORE", "ISOTACH_CONFIG")
_TEXTS = ("FDB_CONFIG", "FDB5_CONFIG")
_FILES = ("FDB_CONFIG_FILE", "FDB5_CONFIG_FILE")
_HOMES = ("FDB_HOME", "FDB5_HOME")
# One line of YAML, as in "type: local". Neither a path nor a URI has a space behind a colon at its start.
_MAPPING = re.compile(r"\s*(\{|- |---|[\w\"']+:(\s|$))")


@dataclass(frozen=True)
class Configuration:
    """The origin of a store, as the native module takes it."""

    kind: str
    value: str
    folder: str

    @classmethod
    def of(cls, config: Given) -> Configuration:
        """The configuration that an argument of ``FDB`` gives."""
        folder = os.getcwd()
        if config is None or config == {} or isinstance(config, str) and not config.strip():
            return _of_environment(folder)
        if isinstance(config, Mapping):
            return cls("text", json.dumps(dict(config), default=os.fspath), folder)
        if isinstance(config, str):
            return _of_text(config, folder)
        if isinstance(config, os.PathLike):
            return _of_path(Path(config), folder)
        raise ValueError("Config: Unknown config type, must be str, dict or Path.")

    def store(self, *, create: bool) -> Store:
        """Opens the store, or creates it if it does not exist."""
        folder = self.folder if self.kind == "text" else None
        return Store(Handle(self.kind, self.value, folder, create=create))

    def to_dict(self) -> dict[str, Any]:
        """The configuration as a dictionary. Empty where files in well-known places would name the store."""
        if self.kind == "environment":
            return {}
        if self.kind == "uri":
            return {"spaces": [{"pool": self.value}]}
        text = Path(self.value).read_text() if self.kind == "file" else self.value
        read = parsed(text)
        return read if isinstance(read, dict) else {}


def parsed(text: str) -> Any:
    """The value of a text in JSON or YAML."""
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        import yaml
    except ImportError as error:
        raise ImportError("a configuration in YAML needs PyYAML: pip install isotach[pyfdb]") from error
    return yaml.safe_load(text)


def _of_text(text: str, folder: str) -> Configuration:
    if "\n" in text or _MAPPING.match(text):
        return Configuration("text", text, folder)
    return Configuration("file" if os.path.isfile(text) else "uri", _absolute(text, folder), folder)


def _absolute(text: str, folder: str) -> str:
    """A path that does not depend on the working folder. A URI stays as it is."""
    return os.path.join(folder, text) if text.startswith(("./", "../")) or os.path.isfile(text) else text


def _of_path(path: Path, folder: str) -> Configuration:
    """A configuration file, or the folder of a store."""
    if not path.exists():
        raise FileNotFoundError(2, "No such file or directory", str(path))
    return Configuration("uri" if path.is_dir() else "file", str(path.absolute()), folder)


def _of_environment(folder: str) -> Configuration:
    """What names a store of Isotach comes first, and then FDB's variables in FDB's order."""
    if not any(os.environ.get(name) for name in _OF_ISOTACH):
        for name in _TEXTS:
            if text := os.environ.get(name):
                return Configuration("text", text, folder)
        for name in _FILES:
            if file := os.environ.get(name):
                return Configuration("file", os.path.abspath(file), folder)
        for name in _HOMES:
            if home := os.environ.get(name):
                path = Path(home).absolute() / "etc" / "fdb" / "config.yaml"
                if path.is_file():
                    return Configuration("file", str(path), folder)
    return Configuration("environment", "", folder)
