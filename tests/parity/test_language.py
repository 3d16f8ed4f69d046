"""The MARS language as `language.py` states it: both sides' answers, and every keyword of the language that FDB ships."""

from __future__ import annotations

import importlib.util
from datetime import date
from pathlib import Path

import pytest

from language import (
    ASKED,
    FIELDS,
    MEMBER,
    NAMES_A_FIELD,
    OTHER_NAMES,
    REFUSED,
    Asked,
    Behaviour,
    asked_table,
    keyword_table,
    keywords,
    like,
    no_effect,
)

PAGE = Path(__file__).parents[2] / "docs" / "parity.md"
# Values that FDB's language takes for the keywords that it does not take just anything for.
VALUES = {
    "accuracy": "16",
    "area": "75/-10/30/40",
    "frame": "1",
    "gaussian": "regular",
    "grid": "1/1",
    "interpolation": "linear",
    "intgrid": "none",
    "optimise": "on",
    "packing": "si",
    "padding": "0",
    "process": "local",
    "repres": "sh",
    "rotation": "-90/0",
    "truncation": "none",
    "units": "si",
    "use": "frequent",
}
# Keywords that FDB knows for other verbs than retrieve, or only beside others.
NOT_ALONE = {
    "compatibility",
    "decache",
    "disp",
    "duplicates",
    "filename",
    "format",
    "formula",
    "option",
    "output",
    "priority",
    "pseudodate",
    "requirements",
    "resol",
    "sourcebase",
    "style",
    "tape",
    "wait",
}


@pytest.fixture(scope="session")
def sources(peer: None, tmp_path_factory: pytest.TempPathFactory) -> list:
    """One message for every field of the plan."""
    from make_data import SFC1, message
    from stores import Source

    path = tmp_path_factory.mktemp("language") / "field.grib"
    keys = SFC1 | {"type": "fc", "dataDate": 20240101, "dataTime": 1200, "step": 6, "paramId": 167}
    path.write_bytes(message(keys, 7.0))
    return [Source(path, identifier=identifier) for identifier in FIELDS]


@pytest.fixture(scope="session")
def fdb(sources: list, tmp_path_factory: pytest.TempPathFactory):
    from stores import FdbStore
    from sweep import STANDARD

    store = FdbStore(tmp_path_factory.mktemp("language-peer"), STANDARD)
    assert store.archive(sources) == [None] * len(sources)
    return store


@pytest.fixture(scope="session")
def isotach(sources: list, binary: Path, today: date, tmp_path_factory: pytest.TempPathFactory):
    from stores import IsotachStore

    store = IsotachStore(tmp_path_factory.mktemp("language-ours"), binary, today, schema=None)
    assert store.archive(sources) == [None] * len(sources)
    return store


@pytest.fixture(scope="session")
def fdb_answers(fdb) -> dict:
    """FDB's answers to every request, read and listed."""
    asked = [(operation, case) for case in ASKED for operation in ("retrieve", "list")]
    answers = fdb.ask([(operation, case.request) for operation, case in asked])
    return {(operation, case.name): answer for (operation, case), answer in zip(asked, answers)}


def named(case: Asked) -> str:
    return case.name.replace(" ", "-")


def check(answer, said: Behaviour) -> None:
    """The answer holds so many fields, or is a refusal that contains the text."""
    from stores import messages

    if isinstance(said, str):
        assert answer.error is not None and said in answer.error
        return
    assert answer.error is None, answer.error
    assert len(answer.keys or messages(answer.data)) == said


@pytest.mark.parametrize("case", ASKED, ids=named)
def test_fdb_answers_as_the_page_says(case: Asked, fdb_answers: dict) -> None:
    check(fdb_answers["retrieve", case.name], case.fdb_reads)
    check(fdb_answers["list", case.name], case.fdb_lists)


@pytest.mark.parametrize("case", ASKED, ids=named)
def test_isotach_answers_as_the_page_says(case: Asked, isotach) -> None:
    check(isotach.retrieve(case.request), case.reads)
    check(isotach.list(case.request), case.lists)
    if isinstance(case.reads, int) and case.reads:
        assert "missing" not in isotach.retrieve(case.request).log


def test_the_page_accounts_for_every_keyword_of_fdbs_language(peer: None) -> None:
    import yaml

    installed = Path(importlib.util.find_spec("metkitlib").origin).parent
    language = yaml.safe_load((installed / "share/metkit/language.yaml").read_text())
    known: set[str] = set()
    for verb, own in language.items():
        if not verb.startswith("_"):
            known.update(name for name in own or {} if not name.startswith("_"))
    for settings in (settings for own in language.values() for settings in (own or {}).values()):
        known.update(settings.get("aliases", []) if isinstance(settings, dict) else [])
    assert keywords() == known, f"only FDB: {known - keywords()}; only the page: {keywords() - known}"


def test_keywords_without_effect_change_nothing_and_are_refused_when_strict(isotach) -> None:
    for keyword in no_effect():
        request = like(MEMBER, **{keyword: VALUES.get(keyword, "1")})
        assert len(isotach.list(request).keys) == 1, keyword
        refused = isotach.run("list", request, "--strict-request")
        assert refused.returncode == 2 and f'"{keyword}" is a keyword of MARS' in refused.stderr, keyword


def test_fdb_reads_alike_with_keywords_without_effect(fdb, isotach) -> None:
    alone = [keyword for keyword in no_effect() if keyword not in NOT_ALONE]
    requests = [like(MEMBER, **{keyword: VALUES.get(keyword, "1")}) for keyword in alone]
    field = isotach.retrieve(like(MEMBER)).data
    for keyword, request, answer in zip(
        alone, requests, fdb.ask([("retrieve", request) for request in requests])
    ):
        assert (answer.error, answer.data) == (None, field), keyword
        assert isotach.retrieve(request).data == field, keyword


def test_keywords_that_name_a_field_are_known_and_those_refused_are_not(isotach) -> None:
    for keyword in [*NAMES_A_FIELD.split(), *OTHER_NAMES]:
        assert "unknown key" not in (isotach.list(f"{keyword}=1").error or ""), keyword
    for keyword in REFUSED:
        assert f'unknown key "{keyword}"' in (isotach.list(f"{keyword}=1").error or ""), keyword


def test_the_page_shows_the_language() -> None:
    page = PAGE.read_text()
    cure = "docs/parity.md is not what `python tests/parity/language.py` prints"
    assert asked_table() in page and keyword_table() in page, cure
