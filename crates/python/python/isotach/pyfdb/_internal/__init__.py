"""What lies under the public classes, with the names that pyfdb gives it."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path

import isotach
from isotach.pyfdb._internal._configuration import Configuration as Config
from isotach.pyfdb._internal._elements import RawControlAction as _ControlAction
from isotach.pyfdb._internal._elements import RawControlElement as ControlElement
from isotach.pyfdb._internal._elements import RawControlIdentifier as _ControlIdentifier
from isotach.pyfdb._internal._elements import RawIndexAxis as IndexAxis
from isotach.pyfdb._internal._elements import RawListElement as ListElement
from isotach.pyfdb._internal._elements import RawPurgeElement as PurgeElement
from isotach.pyfdb._internal._elements import RawStatsElement as StatsElement
from isotach.pyfdb._internal._elements import RawWipeElement as WipeElement
from isotach.pyfdb._internal._elements import RawWipeElementType as WipeElementType
from isotach.pyfdb._internal._handle import RawDataHandle as _DataHandle
from isotach.pyfdb._internal._raw import RawFDB as _FDB
from isotach.pyfdb._internal._uri import URI as _URI
from isotach.pyfdb._internal.pyfdb_internal import ConfigMapper, FDBToolRequest

__all__ = [
    "Config",
    "ConfigMapper",
    "ControlElement",
    "FDBToolRequest",
    "IndexAxis",
    "ListElement",
    "PurgeElement",
    "StatsElement",
    "WipeElement",
    "WipeElementType",
    "_ControlAction",
    "_ControlIdentifier",
    "_DataHandle",
    "_FDB",
    "_URI",
]

_fdb5_build_version = "5.25.0"
"""The version of FDB whose interface this is."""


def _version_info() -> list[tuple[str, str, str, str]]:
    """The name, version, revision and place of each library below."""
    place = str(Path(isotach.__file__).parent)
    return [
        ("fdb", _fdb5_build_version, f"isotach {isotach.__version__}", place),
        ("isotach", isotach.__version__, "", place),
    ]


def _check_fdb5_version_compatibility(
    build_version: str, runtime_info: Iterable[tuple[str, str, str, str]]
) -> None:
    """Compares the version that was built for with the one that runs."""
    hint = "`python -m pyfdb --print-home-deps` shows the libraries"
    running = next((version for name, version, _, _ in runtime_info if name == "fdb"), None)
    if running is None:
        raise RuntimeError(f"the version of fdb that runs is unknown: {hint}")
    if running != build_version:
        text = f"built for fdb {build_version}, and fdb {running} runs: {hint}"
        warnings.warn(text, UserWarning, stacklevel=2)
