"""Requests and keys in every form that callers give them."""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Any

import isotach
import numpy
import pytest

from conftest import KEY, key


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        ("6", ["6"]),
        ("0/to/12/by/6", ["0", "to", "12", "by", "6"]),
        ("'0/6'", ["0/6"]),
        (6, ["6"]),
        (6.0, ["6"]),
        (0.5, ["0.5"]),
        (1e300, ["1e+300"]),
        (Decimal("0.5"), ["0.5"]),
        ([0, 6], ["0", "6"]),
        ((0, "6"), ["0", "6"]),
        (["0/6"], ["0/6"]),
        (range(0, 13, 6), ["0", "6", "12"]),
        ((step for step in (0, 6)), ["0", "6"]),
        (numpy.arange(3), ["0", "1", "2"]),
        (numpy.array([0.5, 1.0]), ["0.5", "1"]),
        (numpy.int64(6), ["6"]),
        (numpy.str_("6"), ["6"]),
        (numpy.array(["a", "b"]), ["a", "b"]),
        (date(2024, 1, 2), ["20240102"]),
        (datetime(2024, 1, 2), ["20240102"]),
        (numpy.datetime64("2024-01-02"), ["20240102"]),
        (numpy.array(["2024-01-02", "2024-01-03"], "datetime64[ns]"), ["20240102", "20240103"]),
        (time(6, 30), ["0630"]),
        (timedelta(hours=6), ["6"]),
        (timedelta(minutes=90), ["90m"]),
        (timedelta(seconds=10), ["10s"]),
        (numpy.timedelta64(6, "h"), ["6"]),
        (10**30, [str(10**30)]),
        (numpy.float32(0.1), ["0.1"]),
        (numpy.array([0.1, 123456792], "float32"), ["0.1", "123456792"]),
        (numpy.float16(0.1), ["0.1"]),
        (numpy.longdouble(6), ["6"]),
    ],
    ids=repr,
)
def test_a_value_of_any_kind_becomes_the_text_of_mars(value: object, texts: list[str]) -> None:
    assert isotach.Request({"x": value}).to_dict() == {"x": texts}


def test_a_datetime_gives_the_date_or_the_time_by_the_name_of_its_key() -> None:
    noon = datetime(2024, 1, 2, 12)
    assert isotach.Request(date=noon.date(), time=noon).to_dict() == {"date": ["20240102"], "time": ["1200"]}
    with pytest.raises(
        ValueError, match=r"date=datetime.*expected a date without a time; give the time as time=1200"
    ):
        isotach.Request(date=noon)


class Nanosecond(datetime):
    """What pandas calls a timestamp."""

    nanosecond = 1


class Summertime(tzinfo):
    """A zone whose offset depends on the date."""

    def utcoffset(self, moment: datetime | None, /) -> timedelta | None:
        return None if moment is None else timedelta(hours=1)

    def dst(self, moment: datetime | None, /) -> timedelta | None:
        return None

    def tzname(self, moment: datetime | None, /) -> str:
        return "summertime"


PARIS = timezone(timedelta(hours=1))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (time(0, 0, 30), "expected whole minutes"),
        (datetime(2024, 1, 2, 6, 0, 0, 1), "expected whole minutes"),
        (Nanosecond(2024, 1, 2, 6), "expected whole microseconds"),
        (numpy.datetime64("2024-01-02T06:00:00.000000001"), "expected whole microseconds"),
        (time(6, tzinfo=PARIS), "expected UTC"),
        (time(6, tzinfo=Summertime()), "expected UTC"),
        (datetime(2024, 1, 2, 6, tzinfo=PARIS), r"expected UTC, as astimezone\(datetime.UTC\) gives"),
    ],
    ids=repr,
)
def test_a_time_that_is_no_whole_minute_in_utc_is_refused(value: object, text: str) -> None:
    with pytest.raises(ValueError, match=f"time=.*{text}"):
        isotach.Request(time=value)


def test_a_date_in_another_time_zone_is_refused_and_utc_is_not() -> None:
    with pytest.raises(ValueError, match="date=.*expected UTC"):
        isotach.Request(date=datetime(2024, 1, 2, tzinfo=PARIS))
    assert isotach.Request(
        date=datetime(2024, 1, 2, tzinfo=UTC), time=datetime(2024, 1, 2, 6, tzinfo=timezone(timedelta()))
    ).to_dict() == {"date": ["20240102"], "time": ["0600"]}


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (None, TypeError, "x=None: expected text, a number"),
        (True, TypeError, "x=True: expected text, a number"),
        ([True], TypeError, "x=True: expected text, a number"),
        ([], ValueError, r"x=\[\]: expected at least one value"),
        ([[1]], TypeError, r"x=\[1\] of type list: expected text"),
        ({"a": 1}, TypeError, "of type dict: expected text, a number, a date, a time, or a sequence"),
        ({1, 2}, TypeError, "of type set"),
        (b"od", TypeError, "x=b'od' of type bytes"),
        (object(), TypeError, "of type object"),
        (float("inf"), ValueError, "x=inf: expected a finite number"),
        (1j, TypeError, "of type complex"),
        (timedelta(microseconds=1), ValueError, "expected whole seconds"),
        (numpy.timedelta64(1, "ns"), ValueError, "expected whole microseconds"),
        (numpy.datetime64("NaT"), ValueError, "x=.*NaT.*: expected a time"),
        ("0/", ValueError, 'x="0/": expected values'),
        ("0/6,class=rd", ValueError, "expected values"),
    ],
    ids=repr,
)
def test_any_other_value_is_refused_with_its_name(value: object, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        isotach.Request({"x": value})


class Mine(Mapping[str, Any]):
    """A mapping that is no dictionary."""

    def __getitem__(self, name: str) -> Any:
        return KEY[name]

    def __iter__(self) -> Iterator[str]:
        return iter(KEY)

    def __len__(self) -> int:
        return len(KEY)


def test_empty_text_stands_for_a_key_that_a_field_lacks(tmp_path: Path) -> None:
    with isotach.create(tmp_path / "fields", "[ class [ levtype [ step, levelist? ]]]") as store:
        surface = {"class": "od", "levtype": "sfc", "step": "6"}
        store.archive(b"surface", {**surface, "levelist": ""})
        store.archive(b"level", {"class": "od", "levtype": "pl", "step": "6", "levelist": "500"})
        store.flush()
        assert [field.key for field in store.list(levelist="")] == [surface]
        assert [bytes(field) for field in store.retrieve(surface, levelist="")] == [b"surface"]
        assert list(store.list(step="")) == []


def test_every_form_of_a_request_finds_the_same_field(filled: isotach.Store) -> None:
    text = "class=od,expver=0001,date=20240101,type=fc,step=6,param=t"
    rest = {name: value for name, value in KEY.items() if name != "class"}
    forms: list[tuple[Any, dict[str, Any]]] = [
        (text, {}),
        (f"retrieve,{text}", {}),
        (KEY, {}),
        (OrderedDict(KEY), {}),
        (MappingProxyType(KEY), {}),
        (Mine(), {}),
        (isotach.Request(text), {}),
        (None, {"class_": "od", **rest}),
        ({"class": "od"}, rest),
        ({"class_": "od", **rest}, {}),
        ({"class_": "rd"}, {"class_": "od", **rest}),
        ("class=od", rest),
        (isotach.Request(class_="od"), rest),
    ]
    for request, keywords in forms:
        assert [bytes(field) for field in filled.retrieve(request, **keywords)] == [b"field 6 130"]


def test_a_name_with_and_without_underscore_is_refused(store: isotach.Store) -> None:
    both = {**KEY, "class_": "rd"}
    with pytest.raises(
        isotach.InvalidInputError, match="a request with class and class_: expected one of them"
    ):
        store.retrieve(both)
    with pytest.raises(isotach.InvalidInputError, match="a key with class and class_"):
        store.archive(b"field", both)


def test_every_form_of_a_key_finds_the_same_field(filled: isotach.Store) -> None:
    for form in (
        "class=od,expver=1,date=2024-01-01,type=fc,step=6,param=t",
        KEY,
        Mine(),
        key(step=6, param=130),
        {"class_": "od", **{name: value for name, value in KEY.items() if name != "class"}},
    ):
        field = filled.retrieve_one(form)
        assert field is not None
        assert field.key == KEY
    with pytest.raises(TypeError, match="no key"):
        filled.retrieve_one()
    with pytest.raises(TypeError, match="a key as text and keywords"):
        filled.retrieve_one("class=od", step=6)


def test_a_request_is_a_value_that_can_be_kept() -> None:
    request = isotach.Request("class=od", step=[0, 6])
    assert str(request) == "class=od,step=0/6"
    assert request == isotach.Request({"class": "od", "step": "0/6"})
    assert request != isotach.Request("class=od")
    assert request != "class=od"
    assert len({request, pickle.loads(pickle.dumps(request))}) == 1
    assert dict(request) == {"class": ["od"], "step": ["0", "6"]}
    assert "class" in request
    assert "type" not in request
    assert (len(request), request.keys()) == (2, ["class", "step"])
    assert repr(request) == 'Request("class=od,step=0/6")'
    with pytest.raises(KeyError, match="type"):
        request["type"]


@pytest.mark.parametrize(
    ("request_", "error", "text"),
    [
        ("class=od,,", ValueError, "line 1, column 10"),
        (5, TypeError, "a request of type int: expected a mapping"),
        ([("class", "od")], TypeError, "a request of type list"),
        ({5: "od"}, TypeError, "a request with the name 5: expected text"),
        ({"colour": "red"}, ValueError, 'unknown key "colour"'),
        ({"stap": 6}, ValueError, 'did you mean "step"'),
        ({"class": "od"}, ValueError, "the request is incomplete"),
    ],
)
def test_a_wrong_request_is_refused_when_it_is_made(
    filled: isotach.Store, request_: Any, error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        filled.retrieve(request_)
