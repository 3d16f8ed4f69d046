#!/usr/bin/env python3
"""Writes params.tsv, the table of parameter short names, from ecCodes' own definitions.

    pip install eccodes
    python3 make_params.py > ../src/types/params.tsv

Each identifier is put into a GRIB 1 and a GRIB 2 sample and its short name read back. Where several identifiers have
one name, MARS means the one of ECMWF's table 128 or, failing that, the one with the lowest number, those of WMO's
GRIB 1 table last; so does the table.
"""

import os
import sys

os.environ.setdefault("ECCODES_LOG_STREAM", "stderr")
import eccodes  # noqa: E402

# Every table a centre has registered lies below; the gaps between them are cheap to try.
CANDIDATES = [
    range(1, 1000),
    range(3000, 4000),
    range(129000, 131000),
    range(140000, 141000),
    range(150000, 153000),
    range(160000, 163000),
    range(170000, 175000),
    range(180000, 181000),
    range(190000, 191000),
    range(200000, 202000),
    range(210000, 241000),
    range(250000, 264000),
    range(265000, 267000),
]
WORDS_OF_THE_LANGUAGE = {"all", "any", "by", "off", "to"}


def names_in(sample):
    """Yields (paramId, shortName) for each identifier this sample can carry."""
    handle = eccodes.codes_grib_new_from_samples(sample)
    for numbers in CANDIDATES:
        for number in numbers:
            message = eccodes.codes_clone(handle)
            try:
                eccodes.codes_set(message, "paramId", number)
                if eccodes.codes_get_long(message, "paramId") == number:
                    yield number, eccodes.codes_get_string(message, "shortName").lower()
            except eccodes.CodesInternalError:
                pass
            finally:
                eccodes.codes_release(message)


def is_usable(name):
    """A name must be a word that cannot be taken for a number or for a word of the request language."""
    return (
        name not in WORDS_OF_THE_LANGUAGE
        and name not in ("unknown", "~", "none")
        and all(c.isalnum() or c in "_-+" for c in name)
        and any(c.isalpha() for c in name)
    )


def rank(number):
    """Orders the identifiers of one name: 3000 to 3999 stand for WMO's GRIB 1 table, which MARS hardly uses."""
    return (3000 <= number < 4000, number)


def main():
    """Write the table that is committed beside the types."""
    chosen = {}
    for sample in ("GRIB1", "GRIB2"):
        for number, name in names_in(sample):
            if is_usable(name):
                chosen[name] = min(number, chosen.get(name, number), key=rank)
    for name in sorted(chosen):
        sys.stdout.write(f"{name}\t{chosen[name]}\n")


if __name__ == "__main__":
    main()
