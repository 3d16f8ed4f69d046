"""Isotach and FDB 5.25 give the same answers to the same requests on the same files.

FDB's answers are checked against the recorded counts as well, so that an empty store on either side fails.
Where the two differ on purpose, `test_differences.py` holds both behaviours.
"""

from __future__ import annotations

from collections import Counter
from datetime import date
from pathlib import Path

import pytest

from cases import CASES, REFUSED, Case, table

READ = [case for case in CASES if case.read is not None]
PAGE = Path(__file__).parents[2] / "docs" / "parity.md"


def named(case: Case) -> str:
    return case.name.replace(" ", "-")


@pytest.fixture(scope="session")
def fdb_answers(fdb):
    """FDB's answers to every case, asked in one process: (operation, case name) to answer."""
    asked = [("list", case) for case in CASES] + [("retrieve", case) for case in READ]
    answers = fdb.ask([(operation, case.request) for operation, case in asked])
    return {(operation, case.name): answer for (operation, case), answer in zip(asked, answers)}


@pytest.fixture(scope="session")
def fdb_refusals(fdb):
    """FDB's answers to the requests that both refuse."""
    return dict(zip([text for text, _ in REFUSED], fdb.ask([("list", text) for text, _ in REFUSED])))


@pytest.fixture(scope="session")
def labels(sources) -> dict[bytes, str]:
    """A name for every message archived: its file and number."""
    from stores import messages

    found = {}
    for source in sources:
        for number, message in enumerate(messages(source.path.read_bytes()), start=1):
            found[message] = f"{source.path.name} message {number}"
    return found


def shown(key) -> str:
    return ",".join(f"{name}={value}" for name, value in sorted(key))


def difference(fdb: Counter, ours: Counter, show) -> str:
    """The two multisets' difference, one line for each thing that only one side has."""
    lines = [f"  only FDB (x{count}): {show(thing)}" for thing, count in (fdb - ours).items()]
    lines += [f"  only Isotach (x{count}): {show(thing)}" for thing, count in (ours - fdb).items()]
    return "\n".join(lines)


@pytest.mark.parametrize("case", CASES, ids=named)
def test_fdb_lists_the_recorded_number_of_fields(case: Case, fdb_answers) -> None:
    answer = fdb_answers["list", case.name]
    assert answer.error is None, answer.error
    assert len(answer.keys) == len(set(answer.keys)) == case.listed


@pytest.mark.parametrize("case", READ, ids=named)
def test_fdb_reads_the_recorded_number_of_fields(case: Case, fdb_answers, labels) -> None:
    from stores import messages

    answer = fdb_answers["retrieve", case.name]
    assert answer.error is None, answer.error
    read = messages(answer.data)
    assert len(read) == case.read
    assert all(message in labels for message in read), "FDB gave a message that was not archived"


@pytest.mark.parametrize("case", CASES, ids=named)
def test_both_list_the_same_keys(case: Case, fdb_answers, isotach) -> None:
    expected, answer = fdb_answers["list", case.name], isotach.list(case.request)
    assert answer.error is None, f"{case.request}\n{answer.error}"
    unlike = difference(Counter(expected.keys), Counter(answer.keys), shown)
    assert not unlike, f"{case.request}\n{unlike}"


@pytest.mark.parametrize("case", READ, ids=named)
def test_both_read_the_same_bytes(case: Case, fdb_answers, isotach, labels, record_property) -> None:
    from stores import messages

    expected, answer = fdb_answers["retrieve", case.name], isotach.retrieve(case.request)
    assert answer.error is None, f"{case.request}\n{answer.error}"
    theirs, ours = messages(expected.data), messages(answer.data)
    unlike = difference(
        Counter(theirs), Counter(ours), lambda m: labels.get(m, f"unknown message {m[:32]!r}")
    )
    assert not unlike, f"{case.request}\n{unlike}"
    record_property("same order" if theirs == ours else "other order", case.name)


@pytest.mark.parametrize("request_text, key", REFUSED)
def test_both_refuse(request_text: str, key: str, fdb_refusals, isotach) -> None:
    assert fdb_refusals[request_text].error is not None
    answer = isotach.list(request_text)
    assert answer.error is not None, f"{request_text} gave {len(answer.keys)} fields"
    assert key in answer.error
    assert answer.status in (1, 2)


def test_the_newest_of_two_fields_is_read(isotach, sources) -> None:
    replacement = next(source for source in sources if source.path.name == "oper_replaced.grib")
    request = next(case.request for case in CASES if case.name == "replaced field")
    assert isotach.retrieve(request.replace("step=6/12", "step=6")).data == replacement.path.read_bytes()


def test_a_relative_date_is_the_day_it_names(isotach, today: date) -> None:
    listed = isotach.list("class=od,type=an,date=0")
    assert {dict(key)["date"] for key in listed.keys} == {today.strftime("%Y%m%d")}


def test_the_page_shows_every_case() -> None:
    assert table() in PAGE.read_text(), "docs/parity.md is not what `python tests/parity/cases.py` prints"
