"""A script written for pyfdb, which uses every public name of it. It prints a line for each step: a name and what came of it.

``test_pyfdb_script.py`` runs it with pyfdb and with isotach.pyfdb, and compares the lines.

Usage: pyfdb_script.py FOLDER, with an empty folder that also holds the files ``schema`` and ``messages.grib``.
"""

from __future__ import annotations

import io
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyfdb
from pyfdb import (
    FDB,
    URI,
    ControlAction,
    ControlElement,
    ControlIdentifier,
    DataHandle,
    IndexAxis,
    ListElement,
    MarsSelection,
    PurgeElement,
    StatsElement,
    StatusElement,
    WipeElement,
)
from pyfdb._internal import FDBToolRequest
from pyfdb._internal.pyfdb_internal import ConfigMapper
from pyfdb.pyfdb_iterator import WipeElementType
from pyfdb.pyfdb_type import MarsIdentifier, UserInputMapper

from pyfdb_keys import KEY

FOLDER = Path(sys.argv[1])
DATASET = ("class", "expver", "stream", "date", "time", "domain")
FIRST = {name: KEY[name] for name in DATASET}


def tell(name: str, call: Callable[[], Any]) -> None:
    """Prints what a call returns, or raises: the kind of the error that a handler would name, and its text."""
    try:
        told: Any = call()
    except Exception as error:
        kinds = (TypeError, KeyError, RuntimeError, ValueError, AttributeError, OSError)
        kind = next((kind.__name__ for kind in kinds if isinstance(error, kind)), type(error).__name__)
        told = f"{kind}: {error}"
    print(json.dumps([name, told], default=repr), flush=True)


def key(**changes: str) -> dict[str, str]:
    """The key of a field."""
    return {**KEY, **changes}


def by_key(elements: Any) -> list[Any]:
    """Elements in an order that does not depend on the store's."""
    return sorted(elements, key=lambda element: json.dumps(element.combined_key(), sort_keys=True))


def opening() -> FDB:
    """Makes the FDB in every way."""
    root = FOLDER / "root"
    root.mkdir()
    config = {
        "type": "local",
        "engine": "toc",
        "schema": str(FOLDER / "schema"),
        "spaces": [{"handler": "Default", "roots": [{"path": str(root)}]}],
    }
    file = FOLDER / "config.yaml"
    file.write_text(json.dumps(config))
    fdb = FDB(config)
    tell("config", lambda: fdb.config() == (config, {}))
    tell("config of a file", lambda: FDB(file).config() == (config, {}))
    tell("config of a text", lambda: FDB(file.read_text()).config() == (config, {}))
    tell("config of the user", lambda: FDB(config, user_config={"useSubToc": True}).config()[1])
    tell("config of a wrong type", lambda: FDB(5))  # type: ignore[arg-type]
    tell("config of no file", lambda: FDB(FOLDER / "none.yaml"))
    tell("ConfigMapper", lambda: ConfigMapper.from_json(ConfigMapper.to_json(config) or "") == config)
    tell("ConfigMapper of none", lambda: ConfigMapper.to_json(None))
    tell("enabled", lambda: [fdb.enabled(identifier) for identifier in ControlIdentifier])
    tell("enabled roots", lambda: fdb.enabled(ControlIdentifier.UNIQUEROOT))
    tell("enabled writable", lambda: FDB({**config, "writable": False}).enabled(ControlIdentifier.ARCHIVE))
    tell("logger", lambda: fdb.logger.name.rpartition("pyfdb.")[2])
    tell("version", lambda: pyfdb.__version__)
    tell("names", lambda: sorted(set(pyfdb.__all__) - {"install"}))
    tell("repr", lambda: repr(fdb).startswith("LocalFDB("))
    tell("raw", lambda: type(fdb.FDB).__name__.endswith("FDB"))
    return fdb


def archiving(fdb: FDB) -> None:
    """Archives fields, messages, and what must be refused."""
    tell("empty list", lambda: list(FDB(fdb.config()[0]).list({})))
    tell("dirty before", fdb.dirty)
    tell("archive", lambda: fdb.archive(b"step 0", KEY))
    tell("dirty", fdb.dirty)
    pairs: MarsIdentifier = list(key(step="6").items())
    tell("archive by pairs", lambda: fdb.archive(data=b"step 6", identifier=pairs))
    tell("archive levels", lambda: fdb.archive(b"level", key(levtype="pl", levelist="500", step="12")))
    tell("flush", fdb.flush)
    tell("dirty after", fdb.dirty)
    messages = (FOLDER / "messages.grib").read_bytes()

    def in_block() -> bool:
        with FDB(fdb.config()[0]) as other:
            other.archive(b"next day", key(date="20240102"))
            other.archive(messages)
            return other.dirty()

    tell("archive in a block", in_block)
    tell("archive no message", lambda: fdb.archive(b"no message"))
    tell("archive too few keys", lambda: fdb.archive(b"x", {"class": "rd"}))
    tell("archive an unknown key", lambda: fdb.archive(b"x", key(colour="red")))
    tell("archive a list", lambda: fdb.archive(b"x", key(step="0/6")))
    tell("archive a key twice", lambda: fdb.archive(b"x", [("class", "rd"), ("class", "od")]))
    tell("archive a wrong identifier", lambda: fdb.archive(b"x", "class=rd"))  # type: ignore[arg-type]
    (FOLDER / "elsewhere").mkdir()
    elsewhere = FDB({**fdb.config()[0], "spaces": [{"roots": [{"path": str(FOLDER / "elsewhere")}]}]})
    tell("archive another form", lambda: elsewhere.archive(b"x", key(time="0")))


def retrieving(fdb: FDB) -> None:
    """Reads by every method of the handle."""
    both: MarsSelection = {**KEY, "step": [6, 0, 99], "date": "20240101/20240102"}
    handle = fdb.retrieve(both)
    tell("handle", lambda: [isinstance(handle, DataHandle), handle.opened, repr(handle)])
    tell("size", handle.size)
    tell("read too early", lambda: handle.read(4))
    tell("readinto too early", lambda: handle.readinto(memoryview(bytearray(4))))
    tell("open", handle.open)
    tell("opened", lambda: [handle.opened, repr(handle)])
    tell("read", lambda: [handle.read(4).decode(), handle.read(4).decode(), handle.read(0).decode()])
    buffer = bytearray(20)
    tell("readinto", lambda: [handle.readinto(memoryview(buffer)), buffer.decode()])
    tell("read at the end", lambda: [handle.read().decode(), handle.readinto(memoryview(buffer))])
    tell("close", lambda: [handle.close(), handle.close(), handle.opened])
    tell("readall", lambda: [handle.readall().decode(), handle.readall(3).decode(), handle.opened])
    tell("read a negative count", lambda: [handle.open(), handle.read(-2)])

    def short() -> str:
        with fdb.retrieve(KEY) as one:
            one.read(4)
            return one.read(100).decode()

    tell("short read", short)

    def copied() -> str:
        out = io.BytesIO()
        with fdb.retrieve(KEY) as one:
            shutil.copyfileobj(one, out)
        return out.getvalue().decode()

    tell("copied", copied)
    message = {**fdb_key(), "param": "2t", "step": "0/to/6/by/6"}
    tell("messages", lambda: fdb.retrieve(message).readall() == (FOLDER / "messages.grib").read_bytes())
    for name, wrong in SELECTIONS.items():
        tell(f"retrieve {name}", lambda wrong=wrong: fdb.retrieve({**KEY, **wrong}).size())
        tell(f"inspect {name}", lambda wrong=wrong: len(list(fdb.inspect({**KEY, **wrong}))))
        tell(f"list {name}", lambda wrong=wrong: len(list(fdb.list({**FIRST, **wrong}))))
    tell("retrieve {}", lambda: fdb.retrieve({}))
    tell("retrieve few keys", lambda: fdb.retrieve({"class": "rd", "step": "0"}).size())
    tell("retrieve several classes", lambda: fdb.retrieve({**KEY, "class": ["rd", "od"]}).size())
    tell("handle by a user", lambda: DataHandle(None))  # type: ignore[arg-type]


SELECTIONS: dict[str, dict[str, Any]] = {
    "all": {"step": ["0", "6"]},
    "text": {"step": "0/6"},
    "a range": {"step": "0/to/12/by/6"},
    "a range in words": {"step": ["0", "to", "12", "by", "6"]},
    "numbers": {"step": [0, 6.0], "date": 20240101},
    "a tuple": {"step": ("0", "6")},
    "other forms": {"date": "2024-01-01", "time": 0, "step": "06", "param": "138.128", "expver": "XXXX"},
    "nothing": {"step": "99"},
    "no values": {"step": []},
    "another day": {"date": "20250101"},
    "a list in a list": {"step": ["0/6"]},
    "a range in a list": {"date": ["20240101/to/20240102"]},
    "a wrong date": {"date": "nonsense"},
    "a wrong param": {"param": "nonsense"},
    "an unknown key": {"colour": "red"},
    "none": {"step": None},
    "a mapping": {"step": {"a": "b"}},
}


def fdb_key() -> dict[str, str]:
    """The dataset and collocation of the messages."""
    return {**key(), "class": "od", "expver": "0001"}


def element_of(element: ListElement) -> list[Any]:
    """Everything that an element tells, without places."""
    handle = element.data_handle
    return [
        element.has_location(),
        element.length(),
        element.offset() is None,
        element.uri is None,
        element.combined_key(),
        list(element.combined_key()),
        element.keys(),
        handle is None or handle.readall().decode(errors="replace")[:4],
        repr(element),
    ]


def listing(fdb: FDB) -> None:
    """Lists and inspects at all levels."""
    for level in (1, 2, 3):
        for name, selection in {"all": {}, "step": {"step": "6"}, "type": {"type": "an"}}.items():
            found = by_key(fdb.list(selection, level=level))
            tell(f"list {name} at level {level}", lambda found=found: [element_of(one) for one in found])
    tell("list lazily", lambda: next(fdb.list({"colour": "red"}), None) is None)
    tell("list of none", lambda: list(fdb.list({"class": "xx"})))
    inspected = list(fdb.inspect({**KEY, "step": "6/0"}))
    tell("inspect", lambda: [element_of(one)[:-1] for one in inspected])
    tell("uri", lambda: isinstance(inspected[0].uri, URI))
    tell("element by a user", lambda: ListElement(None))  # type: ignore[arg-type]
    with FDB(fdb.config()[0]) as other:
        other.archive(b"again!", KEY)
    later = FDB(fdb.config()[0])
    tell("list replaced", lambda: len(list(later.list(KEY, include_masked=True))))
    tell("list unique", lambda: [element_of(one)[7] for one in later.list(KEY)])


def axes(fdb: FDB) -> None:
    """The axes as a mapping."""
    day = {"date": "20240101", "levtype": "sfc", "class": "rd"}
    found = fdb.axes(day)
    tell("axes", lambda: [isinstance(found, IndexAxis), repr(found), dict(found.items())])
    tell("axes as a mapping", lambda: [list(found.keys()), list(found.values()), len(found), list(found)])
    tell("axes has", lambda: [found.has_key("step"), "step" in found, "colour" in found])
    tell("axes item", lambda: [found["step"], found["levelist"]])
    tell("axes missing", lambda: found["colour"])
    tell("axes equal", lambda: [found == fdb.axes(day), found == dict(found.items()), found != {}])
    tell("axes levels", lambda: [dict(fdb.axes(day, level=level).items()) for level in (1, 2, 3)])
    tell("axes of none", lambda: dict(fdb.axes({"class": "xx"}).items()))
    tell("axes set", lambda: found.__setitem__("a", "b"))
    tell("axes delete", lambda: found.__delitem__("step"))
    tell("axes clear", found.clear)
    tell("axes of a dictionary", lambda: repr(IndexAxis({"b": "x", "a": ["1", "2"]})))
    tell("axes promote", lambda: IndexAxis({"a": ["1"]}) == {"a": 1})
    tell("axes of a wrong type", lambda: IndexAxis(5))  # type: ignore[arg-type]


def status_of(element: StatusElement | ControlElement) -> list[Any]:
    """What an element tells of a dataset."""
    return [element.key(), element.controlIdentifiers(), isinstance(element.location(), URI), repr(element)]


def locking(fdb: FDB) -> None:
    """Status and locks."""
    tell("status", lambda: sorted((status_of(one) for one in fdb.status({})), key=repr))
    tell("status of one", lambda: len(list(fdb.status(FIRST))))
    tell("status of none", lambda: list(fdb.status({"date": "20250101"})))
    locks = [ControlIdentifier.RETRIEVE, ControlIdentifier.LIST, ControlIdentifier.ARCHIVE]
    fdb.control(FIRST, ControlAction.DISABLE, locks)
    tell("control not consumed", lambda: [one.controlIdentifiers() for one in fdb.status(FIRST)])
    tell("control", lambda: [status_of(one) for one in fdb.control(FIRST, ControlAction.DISABLE, locks)])
    other = FDB(fdb.config()[0])
    tell(
        "status equals control",
        lambda: list(other.status(FIRST)) == list(fdb.control(FIRST, ControlAction.NONE, [])),
    )
    tell("list locked", lambda: len(list(other.list(FIRST))))
    tell("retrieve locked", lambda: other.retrieve(KEY).readall().decode())
    tell("inspect locked", lambda: list(other.inspect(KEY)))
    tell("archive locked", lambda: other.archive(b"x", KEY))
    tell("unlock", lambda: [status_of(one) for one in fdb.control(FIRST, ControlAction.ENABLE, locks)])
    tell("list unlocked", lambda: len(list(FDB(fdb.config()[0]).list(FIRST))))
    both = ControlIdentifier.LIST | ControlIdentifier.WIPE
    tell("control by a flag", lambda: list(fdb.control(FIRST, ControlAction.DISABLE, [both])))
    tell("flags", lambda: [str(both), repr(both), str(ControlIdentifier.NONE), both.value])
    tell("actions", lambda: [[str(action), action.value] for action in ControlAction])
    tell("identifiers", lambda: [[str(identifier), identifier.value] for identifier in ControlIdentifier])
    for kind in (StatusElement, ControlElement, WipeElement, PurgeElement, StatsElement):
        tell(f"{kind.__name__} by a user", lambda kind=kind: kind(None))


def removing(fdb: FDB) -> None:
    """Statistics, purge and wipe."""
    (stats,) = FDB(fdb.config()[0]).stats(FIRST)
    tell("stats", lambda: [isinstance(stats, StatsElement), stats.index_statistics()])
    tell("stats of the storage", lambda: stats.db_statistics().splitlines()[0])
    tell("stats text", lambda: str(stats).startswith("Index Statistics: \n" + stats.index_statistics()))
    purged = list(fdb.purge(FIRST))
    tell(
        "purge",
        lambda: [isinstance(purged[0], PurgeElement), any("Duplicated" in str(one) for one in purged)],
    )
    tell("purge replaced", lambda: [str(one).strip() for one in purged if "Duplicated fields" in str(one)])
    tell("purge one field", lambda: list(fdb.purge({"step": "0"})))
    tell("purge porcelain", lambda: list(fdb.purge(FIRST, doit=True, porcelain=True)))
    day = {"date": "20240102"}
    wiped = list(fdb.wipe(day))
    tell("wipe", lambda: [isinstance(wiped[0], WipeElement), [one.type().name for one in wiped]])
    tell("wipe messages", lambda: [one.msg() for one in wiped])
    tell("wipe places", lambda: [[isinstance(uri, URI) for uri in one.uris()][:1] for one in wiped])
    tell("wipe text", lambda: str(wiped[1]).startswith(f"{wiped[1].msg()}\n    "))
    tell("wipe kinds", lambda: [[str(kind), kind.value] for kind in WipeElementType])
    tell("wipe dry", lambda: len(list(FDB(fdb.config()[0]).list(day))))
    tell("wipe of none", lambda: list(fdb.wipe({"date": "20250101"}, doit=True)))
    list(FDB(fdb.config()[0]).wipe(day, doit=True, porcelain=True))
    tell("wiped", lambda: len(list(FDB(fdb.config()[0]).list(day))))
    list(FDB(fdb.config()[0]).wipe({}, doit=True, unsafe_wipe_all=True))
    tell("wiped all", lambda: list(FDB(fdb.config()[0]).list({})))


def helpers() -> None:
    """The classes without a store."""
    text = "scheme://user:secret@example.com:8443/path/to?query=a&sort=b#section"
    uri = URI(text)
    tell("uri parts", lambda: [uri.scheme(), uri.netloc(), uri.username(), uri.password(), uri.hostname()])
    tell("uri more parts", lambda: [uri.port(), uri.path(), uri.query(), uri.fragment(), str(uri)])
    tell("uri equal", lambda: [uri == URI(text), uri == URI(text + "x"), uri == text, uri != URI(text)])
    tell("uri of a path", lambda: [str(URI(Path("/a/b"))), URI("/a/b", scheme="file").scheme()])
    selection = {"a": "1/to/3", "b": [1, 2.5, "x/y"], "c": 0.5, "d": range(2)}
    tell("mapper", lambda: UserInputMapper.map_selection_to_internal(selection))
    tell("mapper back", lambda: UserInputMapper.map_selection_to_external({"a": ["1"], "b": "2", "c": 3}))
    tell("mapper of pairs", lambda: UserInputMapper.map_identifier_to_internal({"a": "1"}))
    request = FDBToolRequest.from_internal_mars_selection({"date": ["20240130", "to", "20240201"]})
    tell("tool request", lambda: str(request))
    internal = FDBToolRequest.from_internal_mars_selection
    for name, texts in EXPANDED.items():
        for text in texts:
            tell(
                f"tool request {name}={text}",
                lambda name=name, text=text: str(internal({name: text.split("/")})),
            )
    tell("tool request of all", lambda: str(FDBToolRequest.from_internal_mars_selection({})))
    tell("tool request of text", lambda: FDBToolRequest.from_internal_mars_selection({"a": "b"}))
    tell("tool request minimum", lambda: FDBToolRequest({"class": ["od"]}, False, ["class", "expver"]))


EXPANDED = {
    "date": ("2024-01-31/2024-032", "20240105/to/20240101/by/-2", "20240228/to/20240301", "nonsense"),
    "time": ("0/06:00/12/1830", "0000/to/18", "6/to/12/by/3", "24"),
    "step": ("6h/90m/1d", "0/to/24", "24/to/0/by/-6", "0-24/to/48-72/by/24", "0/to/2/by/30m", "06", "x"),
    "number": ("01", "1/to/4/by/2", "4/to/1/by/-1"),
    "levelist": ("500.0/850", "1/to/3"),
    "expver": ("1", "xxxx", "ab"),
    "param": ("130.128/167",),
    "type": ("FC",),
}


def main() -> None:
    """All of it, in order."""
    fdb = opening()
    archiving(fdb)
    config = fdb.config()[0]
    # It holds the datasets that it wrote to, also when others remove them.
    del fdb
    retrieving(FDB(config))
    listing(FDB(config))
    axes(FDB(config))
    locking(FDB(config))
    removing(FDB(config))
    helpers()


if __name__ == "__main__":
    main()
