"""Where a script for pyfdb comes out differently. docs/pyfdb.md has these tables."""

from __future__ import annotations

from typing import Any

UNEQUAL = (
    (r"location=[^)]*", "location=PLACE", "datasets have other places"),
    (r"uri=URI\[[^]]*\]", "uri=PLACE", "fields have other places"),
    (r"offset=\d+", "offset=N", "each of Isotach's objects begins at 0, and FDB appends to files"),
    (r"timestamp=[1-9]\d*", "timestamp=T", "the runs are at different times"),
    (r", FDB Owner: \w+", "", "Isotach does not report the owner of files"),
    (r"'[^']*none.yaml'", "'none.yaml'", "each run has its own folder"),
)
"""What is replaced before lines are compared: a pattern, what takes its place, and why both cannot be equal."""

MATCHED = (
    "UserError: Bad value",
    "Cannot match parameter",
    "Cannot match [colour]",
    "is LOCKED against archiving",
    "Cannot find a metkit SplitterBuilder",
    "Could not find a rule to archive",
    "Must be opened first",
    "No list of values allowed",
    "already exists in Identifier",
    "Identifier: Unknown type",
    "IndexAxis: Unknown type",
    "is not valid",
    "from user code is not supported",
    "UserError",
)
"""The parts of error texts that callers match. The rest of a text is the library's own."""

REFUSED = "RuntimeError: UserError: Bad value"

DIFFERENT: dict[str, tuple[Any, Any, str]] = {
    "short read": (" 0\0\0\0\0", " 0", "pyfdb fills a short read with zeros"),
    "archive an unknown key": (
        r"RuntimeError: Serious bug: Keywords not used: \{colour\}",
        "RuntimeError: Could not find a rule to archive",
        "FDB finds a rule and then a key too many",
    ),
    "archive another form": (
        "RuntimeError: UserError",
        None,
        "FDB refuses time=0; Isotach archives it as time=0000",
    ),
    "retrieve several classes": ("RuntimeError: UserError", 6, "Isotach answers requests across classes"),
    "retrieve no values": (0, REFUSED, "FDB finds nothing, or everything; Isotach refuses an empty list"),
    "inspect no values": (0, REFUSED, "FDB finds nothing, or everything; Isotach refuses an empty list"),
    "list no values": (3, REFUSED, "FDB finds nothing, or everything; Isotach refuses an empty list"),
    "list of none": ("RuntimeError: UserError", [], "Isotach has no list of all classes"),
    "axes of none": ("RuntimeError: UserError", {}, "Isotach has no list of all classes"),
}
"""The steps that come out differently: with pyfdb (a text is a pattern), with Isotach, and why."""
