"""pygribjump over a store of Isotach: programs written for pygribjump 0.13, such as polytope, run as they are.

Either import it under pygribjump's name, or put it in pygribjump's place for programs that cannot be edited::

    import isotach.pygribjump as pygribjump

    import isotach.pygribjump

    isotach.pygribjump.install()
    import pygribjump

The store is the one that ``isotach.pyfdb.FDB()`` opens. Fields need no scan and no index files: see docs/python.md.
"""

from __future__ import annotations

from isotach._extras import extra

with extra("values"):
    import numpy as _numpy  # noqa: F401

from isotach.pygribjump._install import install
from isotach.pygribjump.pygribjump import (
    ExtractionIterator,
    ExtractionIteratorFromPath,
    ExtractionRequest,
    ExtractionResult,
    ExtractionSingleIterator,
    GribJump,
    GribJumpException,
    PathExtractionRequest,
    default_context,
    dic_to_request,
    library_version,
    list_to_rangestr,
    merge_default_context,
    multivalued_dic_to_request,
    rangestr_to_list,
    version,
)

__version__ = version()

__all__ = [
    "ExtractionIterator",
    "ExtractionIteratorFromPath",
    "ExtractionRequest",
    "ExtractionResult",
    "ExtractionSingleIterator",
    "GribJump",
    "GribJumpException",
    "PathExtractionRequest",
    "default_context",
    "dic_to_request",
    "install",
    "library_version",
    "list_to_rangestr",
    "merge_default_context",
    "multivalued_dic_to_request",
    "rangestr_to_list",
    "version",
]
