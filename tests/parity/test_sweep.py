"""Every GRIB sample in reach: what FDB 5.25 accepts, Isotach accepts, under the same keys; and the other way round under
Isotach's standard schema. What differs stands in sweep_exceptions.py with its reason.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from needs import skip

from sweep import STANDARD, FdbSweep, IsotachSweep, Sample, Swept, default_schema, samples
from sweep_exceptions import COMPARISONS, EXCEPTIONS, Comparison

# Files of packages, and those that only Debian's ecCodes has.
PACKAGED_MIN = 100
DEBIANS_MIN = 120
SCHEMAS = ["default", "standard"]
# No release before it has the grid's template.
KNOWS_HEALPIX = (2, 29)
Results = dict[str, dict[str, Swept]]


@pytest.fixture(scope="session")
def files(peer: None) -> list[Sample]:
    """The samples."""
    found = samples()
    if default_schema() is None or len(found) < PACKAGED_MIN:
        skip("samples", f"only {len(found)} GRIB samples: run python tests/parity/fetch_samples.py")
    if len(found) - len(packaged(found)) < DEBIANS_MIN:
        skip("samples", "Debian's samples of ecCodes are missing: install libeccodes-data")
    return found


def packaged(files: list[Sample]) -> list[Sample]:
    """Those of packages, whose names begin with a package and its version."""
    return [file for file in files if "-" in file.name.split("/")[0]]


@pytest.fixture(scope="session")
def schemas(files: list[Sample]) -> dict[str, Path]:
    return {"default": default_schema(), "standard": STANDARD}


@pytest.fixture(scope="session")
def by_fdb(
    files: list[Sample], schemas: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Results:
    """What FDB makes of every sample, by schema."""
    return {
        name: FdbSweep(tmp_path_factory.mktemp(name) / "fdb", schema).run(files)
        for name, schema in schemas.items()
    }


@pytest.fixture(scope="session")
def by_isotach(
    files: list[Sample], schemas: dict[str, Path], binary: Path, tmp_path_factory: pytest.TempPathFactory
) -> Results:
    """What Isotach makes of every sample, by schema; the standard one is what it takes if none is given."""
    given = schemas | {"standard": None}
    return {
        name: IsotachSweep(tmp_path_factory.mktemp(name), binary, schema).run(files)
        for name, schema in given.items()
    }


def agree(comparison: Comparison, fdb: Swept, isotach: Swept) -> bool:
    """Whether the two sides made the same of a file, or Isotach more where that is asked."""
    if comparison.both_ways:
        return (fdb.accepted, fdb.refused, fdb.keys) == (isotach.accepted, isotach.refused, isotach.keys)
    return fdb.accepted <= isotach.accepted and fdb.keys <= isotach.keys


def difference(name: str, fdb: Swept, isotach: Swept) -> str:
    lines = [name, f"  FDB: {fdb}", f"  Isotach: {isotach}"]
    for side, keys in (("FDB", fdb.keys - isotach.keys), ("Isotach", isotach.keys - fdb.keys)):
        lines += [f"  only {side}: {sorted(key)}" for key in sorted(keys, key=sorted)[:2]]
    return "\n".join(lines)


def version(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")[:2]))


def test_a_hundred_different_files_come_from_packages(files: list[Sample]) -> None:
    assert len(files) == len({file.name for file in files})
    assert len(packaged(files)) >= PACKAGED_MIN, len(packaged(files))


@pytest.mark.parametrize("comparison", COMPARISONS, ids=lambda comparison: comparison.name)
def test_fdb_and_isotach_make_the_same_of_every_sample(
    comparison: Comparison, files: list[Sample], by_fdb: Results, by_isotach: Results, record_property
) -> None:
    fdb, isotach = by_fdb[comparison.fdb], by_isotach[comparison.isotach]
    used, differences, fields = Counter(), [], 0
    for name in (file.name for file in files):
        if agree(comparison, fdb[name], isotach[name]):
            fields += len(fdb[name].keys)
            continue
        covering = [case for case in EXCEPTIONS if case.covers(comparison, name, fdb[name], isotach[name])]
        used.update(covering[:1])
        if not covering:
            differences.append(difference(name, fdb[name], isotach[name]))
    taken = sum(bool(fdb[file.name].accepted) for file in files)
    record_property(
        "sweep",
        f"{comparison.name}: {len(files)} files, {taken} taken by FDB, {fields} keys the same, "
        f"{len(differences)} differences",
    )
    assert not differences, "\n".join(differences)
    of_this = [case for case in EXCEPTIONS if case.comparison == comparison]
    wrong = [f"{used[case]} files, not {case.files}: {case}" for case in of_this if used[case] != case.files]
    assert not wrong, "\n".join(wrong)


def test_an_eccodes_that_is_too_old_says_what_it_does_not_know(
    files: list[Sample], binary: Path, tmp_path: Path
) -> None:
    sweep = IsotachSweep(tmp_path, binary, None)
    sweep.environment["ISOTACH_ECCODES"] = "libeccodes.so.0"
    told = json.loads(sweep.ask("info", "--json").stdout)["eccodes"]
    if told is None or version(told["version"]) >= KNOWS_HEALPIX:
        skip("old-eccodes", f"the system has no ecCodes that is too old for HEALPix: {told}")
    healpix = next(file for file in files if "healpix" in file.name)
    refused = sweep.ask("write", str(healpix.path))
    assert refused.returncode == 1
    assert f"ecCodes {told['version']} does not know this grid (template 3.150 of GRIB 2); 2.50.0 does" in (
        refused.stderr
    )


@pytest.mark.parametrize("schema", SCHEMAS)
def test_fdb_takes_most_samples(schema: str, files: list[Sample], by_fdb: Results) -> None:
    taken = sum(bool(swept.accepted) for swept in by_fdb[schema].values())
    assert taken >= len(files) // 2, f"{taken} of {len(files)}: two empty answers would agree as well"
