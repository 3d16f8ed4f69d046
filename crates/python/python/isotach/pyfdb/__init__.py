"""pyfdb over a store of Isotach: scripts written for pyfdb 5.25 run as they are.

Either import it under pyfdb's name, or put it in pyfdb's place for programs that cannot be edited::

    import isotach.pyfdb as pyfdb

    import isotach.pyfdb

    isotach.pyfdb.install()
    import pyfdb

What differs, and what is better, is on the page docs/pyfdb.md.
"""

from __future__ import annotations

from isotach.pyfdb._install import install
from isotach.pyfdb._internal import _fdb5_build_version
from isotach.pyfdb.pyfdb import FDB
from isotach.pyfdb.pyfdb_iterator import (
    ControlElement,
    IndexAxis,
    ListElement,
    PurgeElement,
    StatsElement,
    StatusElement,
    WipeElement,
)
from isotach.pyfdb.pyfdb_type import URI, ControlAction, ControlIdentifier, DataHandle, MarsSelection

__version__ = _fdb5_build_version

__all__ = [
    "FDB",
    "URI",
    "ControlAction",
    "ControlElement",
    "ControlIdentifier",
    "DataHandle",
    "IndexAxis",
    "ListElement",
    "MarsSelection",
    "PurgeElement",
    "StatsElement",
    "StatusElement",
    "WipeElement",
    "install",
]
