"""Where Isotach and FDB 5.25 do not make the same of a sample, and why.

The sweep makes three comparisons. An exception is for the files of one of them whose name fits a pattern and whose
refusal by FDB holds a text, and says how many files that are and what Isotach makes of each. One with another number of
files fails the test, so that the list says what is so.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from sweep import Swept


@dataclass(frozen=True)
class Comparison:
    """The schema on each side, and whether FDB must also take what Isotach takes."""

    name: str
    fdb: str
    isotach: str
    both_ways: bool


COMPARISONS = [
    Comparison("FDB's default schema on both sides", "default", "default", True),
    Comparison("FDB's default schema there, the standard schema here", "default", "standard", False),
    Comparison("the standard schema on both sides", "standard", "standard", True),
]


@dataclass(frozen=True)
class Except:
    """Files of which the two sides do not make the same."""

    comparison: Comparison
    pattern: str
    fdb_says: str
    fdb_takes: bool
    isotach_refuses: int
    files: int
    reason: str

    def covers(self, comparison: Comparison, name: str, fdb: Swept, isotach: Swept) -> bool:
        fits = comparison == self.comparison and fnmatchcase(name, self.pattern) and self.fdb_says in fdb.why
        made = (bool(fdb.accepted), isotach.refused, isotach.accepted > 0)
        return fits and made == (self.fdb_takes, self.isotach_refuses, True)


BROKEN = "*/era5-levels-corrupted.grib"
BROKEN_REASON = (
    "the first of its messages is broken: ecCodes' reader ends there, `write --skip-bad` goes on to the next"
)
LIMITED_AREA = "*/tiggelam_cnmc_sfc.grib2"
LIMITED_AREA_REASON = (
    "FDB finds no class, stream and type in these messages, which ecCodes gives them in the namespace `mars`"
)
EXCEPTIONS = [
    Except(COMPARISONS[0], LIMITED_AREA, "Could not find [class]", False, 0, 1, LIMITED_AREA_REASON),
    Except(COMPARISONS[2], LIMITED_AREA, "Could not find [class]", False, 0, 1, LIMITED_AREA_REASON),
    Except(COMPARISONS[0], BROKEN, "Wrong message length", False, 1, 1, BROKEN_REASON),
    Except(COMPARISONS[2], BROKEN, "Wrong message length", False, 1, 1, BROKEN_REASON),
    Except(
        COMPARISONS[2],
        "*",
        "Could not find [class]",
        False,
        0,
        55,
        "messages without MARS labels: FDB ends at the first rule that names a key they lack, Isotach files them under "
        "its last rule",
    ),
]
