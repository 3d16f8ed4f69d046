"""Listing, inspecting, axes, and what notebooks show."""

from __future__ import annotations

import shutil
from pathlib import Path

import isotach
import pytest

from conftest import KEY, key


def test_a_listing_gives_keys_by_level_and_locations(filled: isotach.Store) -> None:
    listed = {(field.key["step"], field.key["param"]): field for field in filled.list(step=[0, 6])}
    assert sorted(listed) == [("0", "130"), ("0", "131"), ("6", "130"), ("6", "131")]
    field = listed["6", "130"]
    assert field.key == KEY
    assert field.keys == [
        {"class": "od", "expver": "0001", "date": "20240101"},
        {"type": "fc"},
        {"step": "6", "param": "130"},
    ]
    assert bytes(filled.read(field.location)) == b"field 6 130"
    assert not field.is_replaced
    assert repr(field) == "<Listed class=od,expver=0001,date=20240101,type=fc,step=6,param=130: 11 bytes>"


def test_replaced_fields_are_listed_if_asked_for(filled: isotach.Store) -> None:
    filled.archive(b"new", KEY)
    filled.flush()
    assert len(list(filled.list())) == 6
    both = [field for field in filled.list(duplicates=True) if field.key == KEY]
    assert sorted((field.is_replaced, field.location.length) for field in both) == [(False, 3), (True, 11)]


def test_an_inspection_gives_locations_in_order_and_then_the_missing(filled: isotach.Store) -> None:
    inspection = filled.inspect(key(step=[12, 3, 0]))
    assert [field.key["step"] for field in inspection] == ["12", "0"]
    assert inspection.missing is not None
    assert (inspection.missing.count, inspection.missing.keys[0]["step"]) == (1, "3")


def test_axes_give_the_values_of_each_key(filled: isotach.Store) -> None:
    assert filled.axes(class_="od", step=[0, 6]) == {
        "class": ["od"],
        "expver": ["0001"],
        "date": ["20240101"],
        "type": ["fc"],
        "step": ["0", "6"],
        "param": ["130", "131"],
    }
    assert filled.axes(class_="rd") == {}


def test_a_notebook_shows_tables_and_takes_no_field_away(filled: isotach.Store) -> None:
    for step in range(100, 130):
        filled.archive(b"x" * 2048, key(step=step))
    filled.flush()
    html = filled._repr_html_()
    assert "<table>" in html
    assert "class=od, expver=0001, date=20240101" in html
    listing = filled.list()
    html = listing._repr_html_()
    assert html.count("<tr>") == 21
    assert "<th>step</th>" in html
    assert "and more" in html
    assert len(list(listing)) == 36
    assert listing._repr_html_() == "<p>no fields</p>"


def test_listings_and_inspections_name_their_request(filled: isotach.Store) -> None:
    assert repr(filled.list(class_="od", step=6)) == '<Listing of "class=od,step=6">'
    assert repr(filled.list()) == "<Listing of all fields>"
    many = repr(filled.list(step=list(range(1000))))
    assert many.startswith('<Listing of "step=0/1/2') and many.endswith('"...>') and len(many) < 250
    inspection = filled.inspect(key(step=[0, 6, 7]))
    assert repr(inspection).startswith('<Inspection of "class=od,')
    html = inspection._repr_html_()
    assert html.count("<tr>") == 3
    assert "<th>location</th>" in html and "1 field missing: step=7" in html
    assert len(list(inspection)) == 2
    assert inspection._repr_html_().startswith("<p>no fields</p>")


def test_a_table_escapes_what_it_shows(store: isotach.Store) -> None:
    store.archive(b"x", key(class_="<b>"))
    store.flush()
    assert "&lt;b&gt;" in store.list()._repr_html_()
    assert "&lt;b&gt;" in store._repr_html_()


def test_a_lost_dataset_is_an_exception_that_carries_the_others(filled: isotach.Store) -> None:
    filled.archive(b"x", key(class_="rd"))
    filled.flush()
    label = next(dataset.store for dataset in filled.status() if dataset.key["class"] == "rd").rpartition(
        "/"
    )[2]
    [folder] = Path(filled.name.removeprefix("posix:")).rglob(label)
    shutil.rmtree(folder)
    with isotach.open(filled.name) as store:
        with pytest.raises(isotach.IsotachError, match="class=rd") as caught:
            store.stats()
        assert [stats.key["class"] for stats in caught.value.answer] == ["od"]
        with pytest.raises(isotach.IsotachError) as caught:
            store.axes()
        assert caught.value.answer["class"] == ["od"]
        listing = store.list()
        assert len([next(listing) for _ in range(6)]) == 6
        with pytest.raises(isotach.IsotachError, match="class=rd"):
            next(listing)
