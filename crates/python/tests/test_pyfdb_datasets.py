"""Axes, locks, wipes, purges and statistics with isotach.pyfdb."""

from __future__ import annotations

import isotach.pyfdb as pyfdb
import pytest

from pyfdb_keys import KEY, key


def test_axes_are_a_dictionary_that_cannot_be_changed(fdb: pyfdb.FDB) -> None:
    axes = fdb.axes({})
    assert axes["step"] == ["0", "12", "6"]
    assert axes["levelist"] == [""]
    assert list(axes) == sorted([*KEY, "levelist"])
    assert [len(fdb.axes({}, level=level)) for level in (1, 2, 3)] == [6, 8, 11]
    assert fdb.axes({"class": "od"}) == {}
    assert axes.has_key("step") and "colour" not in axes
    assert fdb.axes({"step": 6, "date": "20240101"}) == key(step="6", levelist="")
    assert repr(pyfdb.IndexAxis({"b": "x", "a": [1, "2"]})) == "IndexAxis[axis={a=(1,2),b=(x)}]"
    with pytest.raises(KeyError, match="Couldn't find key: colour in IndexAxis."):
        axes["colour"]
    for change in (lambda: axes.update(a="b"), lambda: axes.__setitem__("a", "b"), axes.clear, axes.popitem):
        with pytest.raises(TypeError, match="read-only"):
            change()
    with pytest.raises(TypeError):
        pyfdb.IndexAxis(5)  # type: ignore[arg-type]


def test_locks_are_shown_and_obeyed_at_once(fdb: pyfdb.FDB) -> None:
    action, identifier = pyfdb.ControlAction, pyfdb.ControlIdentifier
    locks = [identifier.LIST, identifier.RETRIEVE, identifier.ARCHIVE, identifier.WIPE]
    day = {"date": "20240101"}
    (changed,) = fdb.control(day, action.DISABLE, [*locks, identifier.UNIQUEROOT])
    assert isinstance(changed, pyfdb.ControlElement)
    assert changed.controlIdentifiers() == locks
    assert changed.key()["date"] == ["20240101"]
    assert "rd:xxxx:oper:20240101" in str(changed.location())
    assert changed == next(fdb.status(day))
    assert [element.controlIdentifiers() for element in fdb.status({})] == [locks, []]
    assert len(list(fdb.list({}))) == len(list(fdb.list({}, level=1))) == 1
    both = {**KEY, "date": "20240101/20240102"}
    assert fdb.retrieve(both).size() == 8
    assert fdb.retrieve(both).readall() == b"next day"
    assert len(list(fdb.inspect(both))) == 1
    with pytest.raises(RuntimeError, match=" matched for archived is LOCKED against archiving"):
        fdb.archive(b"x", KEY)
    with pytest.raises(RuntimeError, match="locked"):
        list(fdb.wipe(day, doit=True))
    assert [one.controlIdentifiers() for one in fdb.control(day, action.ENABLE, locks)] == [[]]
    assert len(list(fdb.list({}))) == 4


def test_a_wipe_says_what_goes_and_then_removes_it(fdb: pyfdb.FDB) -> None:
    kinds = ["CATALOGUE_INFO", "CATALOGUE", "CATALOGUE_INDEX", "STORE"]
    day = {"date": "20240101"}
    elements = list(fdb.wipe(day))
    assert [element.type().name for element in elements] == kinds
    assert elements[0].msg() == "[Database: rd:xxxx:oper:20240101:0000:g]"
    assert [uri.scheme() for uri in elements[1].uris()] == ["posix"]
    assert len(list(fdb.list({}))) == 4
    assert len(list(fdb.wipe(day, doit=True))) == 4
    assert len(list(fdb.list({}))) == 1
    with pytest.raises(RuntimeError, match="UserError: .*tell single fields apart"):
        list(fdb.wipe({"step": "0"}))
    assert len(list(fdb.wipe({}, doit=True))) == 4
    assert list(fdb.list({})) == []


def test_a_purge_reports_and_frees_replaced_fields(fdb: pyfdb.FDB) -> None:
    with fdb:
        fdb.archive(b"again", KEY)
    report = [str(line) for line in fdb.purge({"date": "20240101"})]
    assert "    Duplicated fields               : 1" in report
    assert list(fdb.purge({}, doit=True, porcelain=True)) == []
    assert len(list(fdb.list({}, include_masked=True))) == 4


def test_statistics_count_the_whole_dataset(fdb: pyfdb.FDB) -> None:
    with fdb:
        fdb.archive(b"again", KEY)
    (stats,) = fdb.stats({"date": "20240101", "step": "6"})
    assert "Fields                          : 4\n" in stats.index_statistics()
    assert "Reachable size                  : 18 (18 bytes)\n" in stats.index_statistics()
    assert "Duplicated fields               : 1\n" in stats.index_statistics()
    assert stats.db_statistics().startswith("Databases                       : 1\n")
    assert (
        str(stats)
        == f"Index Statistics: \n{stats.index_statistics()}\nDB Statistics: \n{stats.db_statistics()}"
    )
