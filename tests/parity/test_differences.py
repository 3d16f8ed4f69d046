"""The places where Isotach differs from FDB on purpose: both behaviours, as `differences.py` states them."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from cases import CASES
from differences import ANSWERING, ARCHIVING, FIELD, Answering, Archiving, Behaviour, table

PAGE = Path(__file__).parents[2] / "docs" / "parity.md"


def named(case: Answering | Archiving) -> str:
    return case.name.replace(" ", "-")


def check(answer, operation: str, said: Behaviour) -> None:
    """The answer is the behaviour: so many fields, or a refusal that contains the text."""
    from stores import messages

    if isinstance(said, str):
        assert answer.error is not None, f"{len(answer.keys)} keys, {len(answer.data)} bytes"
        assert said in answer.error
        return
    assert answer.error is None, answer.error
    assert len(answer.keys if operation == "list" else messages(answer.data)) == said


def check_archived(error: str | None, said: str | None) -> None:
    assert (error is None) == (said is None), error
    assert said is None or said in error


@pytest.fixture(scope="session")
def fdb_answers(fdb):
    """FDB's answers about the common data, by name."""
    answers = fdb.ask([(case.operation, case.request) for case in ANSWERING])
    return {case.name: answer for case, answer in zip(ANSWERING, answers)}


@pytest.fixture
def schema(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The schema of an archiving difference: its own, or the common one."""
    from stores import SCHEMA

    case: Archiving = request.getfixturevalue("case")
    if case.schema is None:
        return SCHEMA
    path = tmp_path / "schema"
    path.write_text(case.schema + "\n")
    return path


@pytest.fixture
def source(request: pytest.FixtureRequest, peer: None, tmp_path: Path):
    """The field of an archiving difference, with all its keys given."""
    from make_data import SFC1, message
    from stores import Source

    case: Archiving = request.getfixturevalue("case")
    keys = SFC1 | {"type": "fc", "dataDate": 20240101, "dataTime": 1200, "step": 6, "paramId": 167}
    path = tmp_path / "field.grib"
    path.write_bytes(message(keys, 7.0))
    return Source(path, identifier=FIELD | case.given)


@pytest.mark.parametrize("case", ANSWERING, ids=named)
def test_fdb_answers_as_stated(case: Answering, fdb_answers) -> None:
    check(fdb_answers[case.name], case.operation, case.fdb)


@pytest.mark.parametrize("case", ANSWERING, ids=named)
def test_isotach_answers_as_stated(case: Answering, isotach) -> None:
    check(isotach.ask([(case.operation, case.request)])[0], case.operation, case.isotach)


@pytest.mark.parametrize("case", ARCHIVING, ids=named)
def test_fdb_archives_as_stated(case: Archiving, source, schema: Path, tmp_path: Path) -> None:
    from stores import FdbStore

    store = FdbStore(tmp_path, schema)
    check_archived(store.archive([source])[0], case.fdb)
    answers = store.ask([(asked.operation, asked.request) for asked in case.questions])
    for asked, answer in zip(case.questions, answers):
        check(answer, asked.operation, asked.fdb)


@pytest.mark.parametrize("case", ARCHIVING, ids=named)
def test_isotach_archives_as_stated(
    case: Archiving, source, schema: Path, binary: Path, today: date, tmp_path: Path
) -> None:
    from stores import IsotachStore

    store = IsotachStore(tmp_path, binary, today, schema)
    check_archived(store.archive([source])[0], case.isotach)
    for asked in case.questions:
        check(store.ask([(asked.operation, asked.request)])[0], asked.operation, asked.isotach)


def test_isotach_says_which_fields_are_missing(isotach) -> None:
    request = next(case.request for case in CASES if case.name == "some missing")
    answer = isotach.retrieve(request)
    assert answer.error is None, answer.error
    assert "step=7" in answer.log and "step=8" in answer.log, answer.log


def test_a_strict_read_of_missing_fields_fails(isotach) -> None:
    request = next(case.request for case in CASES if case.name == "some missing")
    assert isotach.retrieve(request, "--strict").status == 1


def test_the_page_shows_every_difference() -> None:
    assert table() in PAGE.read_text(), (
        "docs/parity.md is not what `python tests/parity/differences.py` prints"
    )
