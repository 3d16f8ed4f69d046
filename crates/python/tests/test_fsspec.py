"""Fields as files of fsspec."""

from __future__ import annotations

import os
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import isotach
import pytest

from conftest import forks, in_child, key

fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed: fields as files")

DATASET = "class=od,expver=0001,date=20240101"
COLLOCATION = f"{DATASET}/type=fc"
FIELD = f"{COLLOCATION}/step=6,param=130"
BYTES = b"field 6 130"


@pytest.fixture
def root(filled: isotach.Store, tmp_path: Path) -> str:
    """The path of the filled store."""
    return str(tmp_path / "fields")


@pytest.fixture
def fs() -> Any:
    """The file system."""
    return fsspec.filesystem("isotach")


def location_of(root: str, **changes: object) -> isotach.Location:
    """The location of a field."""
    location = isotach.open(Path(root)).locate(key(**changes))
    assert location is not None
    return location


def test_directories_are_the_levels_of_keys_and_files_are_fields(fs: Any, root: str) -> None:
    assert fs.ls(root, detail=False) == [f"{root}/{DATASET}"]
    assert fs.ls(f"{root}/{DATASET}") == [{"name": f"{root}/{COLLOCATION}", "size": 0, "type": "directory"}]
    names = [f"{root}/{COLLOCATION}/step={step},param={param}" for step in (0, 12, 6) for param in (130, 131)]
    assert sorted(fs.find(root)) == names
    assert sorted(fs.glob(f"{root}/**/*param=131")) == names[1::2]
    assert sorted(fs.ls(f"{root}/{COLLOCATION}", detail=False)) == names
    assert [fs.isdir(f"{root}/{path}") for path in ("", DATASET, COLLOCATION, FIELD)] == [True] * 3 + [False]
    assert fs.ls(f"{root}/{FIELD}", detail=False) == [f"{root}/{FIELD}"]
    info = fs.info(f"isotach://{root}/{FIELD}")
    assert (info["name"], info["size"], info["type"]) == (f"{root}/{FIELD}", len(BYTES), "file")
    assert info["location"] == location_of(root)
    assert fs.du(root) == 68


@pytest.mark.parametrize(
    "path",
    [
        FIELD,
        "class=od,expver=1,date=2024-01-01/type=fc/step=6,param=t",
        "class=od,expver=0001,date=20240101,type=fc,step=6,param=130",
    ],
)
def test_a_field_is_found_by_any_form_of_its_key(fs: Any, root: str, path: str) -> None:
    assert fs.cat_file(f"{root}/{path}") == BYTES
    with fsspec.open(f"isotach://posix:{root}/{path}") as file:
        assert file.read() == BYTES


def test_parts_of_fields_are_read_as_slices(fs: Any, root: str) -> None:
    from isotach.fsspec import url_of

    for path in (f"{root}/{FIELD}", url_of(location_of(root))):
        for start, end in ((0, 5), (None, None), (6, None), (-3, None), (2, -2), (4, 100), (20, 30), (5, 2)):
            assert fs.cat_file(path, start, end) == BYTES[start:end]
    with fs.open(f"{root}/{FIELD}", block_size=4, cache_type="bytes") as file:
        assert [file.read(5), file.seek(-3, 2), file.read(), file.tell()] == [b"field", 8, b"130", 11]
    paths = [f"{root}/{FIELD}", f"{root}/{COLLOCATION}/step=0,param=131", f"{root}/{FIELD}"]
    assert fs.cat_ranges(paths, [0, 6, -3], [5, 7, None]) == [b"field", b"0", b"130"]
    assert fs.cat_ranges(paths, 0, 5) == [b"field"] * 3
    assert fs.cat(paths) == {paths[0]: BYTES, paths[1]: b"field 0 131"}


def test_a_part_that_cannot_be_read_is_an_exception_in_its_place(fs: Any, root: str) -> None:
    paths = [f"{root}/{FIELD}", f"{root}/{FIELD},colour=red", f"{root}/{COLLOCATION}"]
    parts = fs.cat_ranges(paths, 0, 5)
    assert [type(part) for part in parts] == [bytes, FileNotFoundError, IsADirectoryError]
    with pytest.raises(FileNotFoundError, match="colour"):
        fs.cat_ranges(paths, 0, 5, on_error="raise")
    with pytest.raises(ValueError, match="3 paths, 2 starts and 3 ends"):
        fs.cat_ranges(paths, [0, 0], [1, 1, 1])


def test_a_location_stays_readable_when_its_field_is_replaced(fs: Any, root: str) -> None:
    from isotach.fsspec import url_of

    location = location_of(root)
    url, path = url_of(location), f"{root}/{FIELD}"
    assert url.startswith(f"isotach://{location}?offset=0&length=11&checksum=")
    marks = fs.ukey(path), fs.checksum(path), fs.created(path), fs.modified(path)
    assert marks == (url.removeprefix("isotach://"), location.checksum, location.archived, location.archived)
    with fs.open(path) as opened, isotach.open(Path(root)) as store:
        store.archive(b"replaced", key())
        store.flush()
        assert [fs.cat_file(path), fs.cat_file(url), opened.read()] == [b"replaced", BYTES, BYTES]
        assert fs.ukey(path) != marks[0]
        store.purge("class=od", doit=True)
    with pytest.raises(isotach.IsotachError, match="0 bytes are there instead of 11"):
        fs.cat_file(url)


def test_a_field_in_an_adopted_file_is_read_through_a_store(root: str, tmp_path: Path) -> None:
    from isotach.fsspec import url_of

    (tmp_path / "some.data").write_bytes(b"before" + BYTES + b"after")
    with isotach.open(Path(root)) as store:
        store.adopt(tmp_path / "some.data", key(step=9), offset=6, length=11)
    url = url_of(location_of(root, step=9))
    assert url.startswith(f"isotach://file:{tmp_path}/some.data?offset=6&length=11&checksum=")
    fs = fsspec.filesystem("isotach", store=root)
    assert [fs.cat_file(url, 6, 7), fs.cat_file(FIELD.replace("step=6", "step=9"))] == [b"6", BYTES]
    (tmp_path / "some.data").write_bytes(b"x" * 30)
    with pytest.raises(isotach.CorruptError, match=r"some\.data"):
        fs.cat_file(url, 6, 7)


def test_a_field_that_an_overlay_relabels_has_no_url_of_its_own() -> None:
    from isotach.fsspec import url_of

    relabel = {"expver": "0002"}
    location = isotach.Location("posix:/data/fields/od/0d010001000000000000000000000007", 0, 8, 0, 0, relabel)
    assert pickle.loads(pickle.dumps(location)).relabel == location.relabel == relabel
    with pytest.raises(isotach.InvalidInputError, match="under another key .* expected a path of its key"):
        url_of(location)


def test_a_store_option_serves_paths_without_a_store(
    root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with isotach.open(Path(root)) as store:
        for given in (root, f"posix:{root}", Path(root), store):
            fs = fsspec.filesystem("isotach", store=given)
            assert fs.ls("", detail=False) == [DATASET]
            assert fs.cat_file(f"isotach://{FIELD}") == BYTES
    store = isotach.open(Path(root))
    store.create_snapshot("monday", "class=od")
    with store:
        store.archive(b"tuesday", key())
    past = fsspec.filesystem("isotach", store=root, at="monday")
    assert [past.cat_file(FIELD), past.cat_file(f"{root}/{FIELD}")] == [BYTES, BYTES]
    monkeypatch.setenv("ISOTACH_STORE", f"posix:{root}")
    with fsspec.open(f"isotach://{FIELD}") as file:
        assert file.read() == b"tuesday"


def test_each_file_system_reads_the_store_that_it_was_given(root: str) -> None:
    for _ in range(2):
        with isotach.open(Path(root)) as store:
            assert fsspec.filesystem("isotach", store=store).cat_file(FIELD) == BYTES


def test_values_with_any_characters_have_paths(tmp_path: Path) -> None:
    odd = ["a b", "x=1,y=2", "q/r", "50%", "wild*[card]?", "#", "é"]
    schema = "[ class [ type [ name, note? ]]]"
    with isotach.create(tmp_path / "odd", schema) as store:
        for value in odd:
            store.archive(value.encode(), {"class": "rd", "type": "fc", "name": value})
    fs = fsspec.filesystem("isotach", store=tmp_path / "odd")
    assert {fs.cat_file(path).decode() for path in fs.find("")} == set(odd)
    assert {path.rpartition("/")[0] for path in fs.find("")} == {"class=rd/type=fc"}


def test_a_level_without_keys_is_an_equals_sign(tmp_path: Path) -> None:
    with isotach.create(tmp_path / "bare", "[ class [ type? [ step ]]]") as store:
        store.archive(b"bare", {"class": "rd", "step": "1"})
        store.archive(b"typed", {"class": "rd", "type": "fc", "step": "1"})
    fs = fsspec.filesystem("isotach", store=tmp_path / "bare")
    paths = ["class=rd/=/step=1", "class=rd/type=fc/step=1"]
    assert sorted(fs.find("")) == paths
    assert [fs.cat_file(path) for path in paths] == [b"bare", b"typed"]


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/nowhere/class=od", "/nowhere does not exist"),
        ("class=xx", "No such file"),
        (f"{DATASET}/type=an", "No such file"),
        (FIELD.replace("step=6", "step=7"), "No such file"),
        (f"{FIELD},colour=red", "colour"),
        (f"{FIELD}/param=130", "a relative path, or a URI"),
        (f"{COLLOCATION}/=6,param=130", "a relative path, or a URI"),
        (f"{COLLOCATION}/step=6,=130", "'=130' in a path: expected name=value"),
        ("posix:/x/od/xyz?offset=0&length=1&checksum=00000000", "No such file"),
    ],
)
def test_a_path_of_nothing_is_not_found(root: str, path: str, words: str) -> None:
    fs = fsspec.filesystem("isotach", store=root)
    assert not fs.exists(path)
    for act in (fs.info, fs.ls, fs.cat_file, fs.open):
        with pytest.raises(FileNotFoundError, match=words):
            act(path)


def test_nothing_can_be_written(fs: Any, root: str) -> None:
    path = f"{root}/{FIELD}"
    for write in (
        lambda: fs.open(path, "wb"),
        lambda: fs.pipe_file(path, b"x"),
        lambda: fs.rm(path),
        lambda: fs.rm(root, recursive=True),
        lambda: fs.mkdir(f"{root}/class=xx"),
        lambda: fs.makedirs(f"{root}/class=xx", exist_ok=True),
        lambda: fs.touch(path),
        lambda: fs.mv(path, f"{path}x"),
        lambda: fs.cp_file(path, f"{path}x"),
    ):
        with pytest.raises(OSError, match=r"Read-only.*isotach\.Store\.archive writes fields"):
            write()
    assert fs.cat_file(path) == BYTES


def test_listings_are_kept_only_if_the_caller_asks_for_it(root: str) -> None:
    fresh = fsspec.filesystem("isotach", store=root)
    kept = fsspec.filesystem("isotach", store=root, use_listings_cache=True)
    assert len(fresh.ls(COLLOCATION)) == len(kept.ls(COLLOCATION)) == 6
    with isotach.open(Path(root)) as store:
        store.archive(b"new", key(step=24))
    assert [len(fresh.ls(COLLOCATION)), len(kept.ls(COLLOCATION))] == [7, 6]
    assert len(kept.ls(COLLOCATION, refresh=True)) == 7


def test_a_locked_dataset_is_left_out_as_in_listings(fs: Any, root: str) -> None:
    store = isotach.open(Path(root))
    store.lock("class=od", actions="list")
    assert fs.ls(root) == []
    store.unlock("class=od", actions="list")
    assert len(fs.ls(root)) == 1


def test_caches_of_fsspec_keep_fields_until_they_are_replaced(root: str, tmp_path: Path) -> None:
    chain = f"filecache::isotach://{root}/{FIELD}"
    options = {"cache_storage": str(tmp_path / "cache"), "check_files": True}
    for expected in (BYTES, b"replaced"):
        with fsspec.open(chain, filecache=options) as file:
            assert file.read() == expected
        with isotach.open(Path(root)) as store:
            store.archive(b"replaced", key())


def _read(fs: Any, path: str) -> bytes:
    data: bytes = fs.cat_file(path)
    return data


@forks
def test_file_systems_are_pickled_shared_by_threads_and_used_by_children(fs: Any, root: str) -> None:
    path = f"{root}/{FIELD}"
    assert _read(fs, path) == BYTES
    restored = pickle.loads(pickle.dumps(fsspec.filesystem("isotach", store=root)))
    assert restored.cat_file(FIELD) == BYTES
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: _read(fs, path), range(200))) == {BYTES}
    assert in_child(lambda: _read(fs, path) == BYTES) == 0
    with fs.open(path) as file:
        file.seek(6)
        again = pickle.loads(pickle.dumps(file))
        assert again.read() == b"6 130"


def test_threads_with_file_systems_of_their_own_share_one_handle(root: str) -> None:
    def handle(_: int) -> int:
        fs = fsspec.filesystem("isotach")
        fs.cat_file(f"{root}/{FIELD}")
        (store,) = fs._stores.values()
        return id(store._native)

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(handle, range(16)))) == 1


def test_a_store_may_be_relative_to_the_working_folder(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(os.path.dirname(root))
    fs = fsspec.filesystem("isotach")
    assert fs.cat_file(f"posix:fields/{FIELD}") == BYTES
