"""Opening and creating stores from every form of a configuration."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import isotach
import pytest

from conftest import KEY, SCHEMA


def test_a_store_opens_by_uri_path_file_text_and_mapping(tmp_path: Path) -> None:
    folder = tmp_path / "fields"
    with isotach.create(f"posix:{folder}", SCHEMA) as store:
        store.archive(b"x", KEY)
    mapping = {"spaces": [{"pool": f"posix:{folder}"}]}
    file = tmp_path / "isotach.yaml"
    file.write_text(f"spaces:\n  - pool: posix:{folder}\n")
    for form in (
        f"posix:{folder}",
        str(folder),
        folder,
        mapping,
        json.dumps(mapping),
        f"spaces: [{{pool: 'posix:{folder}'}}]",
        f"\nspaces: [{{pool: 'posix:{folder}'}}]",
        file,
        str(file),
        file.read_text(),
    ):
        with isotach.open(form) as store:
            assert store.retrieve_one(KEY) is not None


def test_a_configuration_of_fdb_is_understood(tmp_path: Path) -> None:
    (tmp_path / "schema").write_text(SCHEMA)
    config = {
        "type": "local",
        "engine": "toc",
        "schema": str(tmp_path / "schema"),
        "spaces": [{"handler": "Default", "roots": [{"path": str(tmp_path / "root")}]}],
    }
    with isotach.create(config) as store:
        store.archive(b"x", KEY)
    with isotach.open(config) as store:
        assert store.retrieve_one(KEY) is not None


def test_the_environment_names_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    isotach.create(tmp_path / "fields", SCHEMA).close()
    monkeypatch.chdir(tmp_path)
    for name in ("ISOTACH_STORE", "ISOTACH_CONFIG", "XDG_CONFIG_DIRS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "none"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    with pytest.raises(ValueError, match="no store: expected an argument, ISOTACH_STORE or ISOTACH_CONFIG"):
        isotach.open()
    (tmp_path / "isotach.yaml").write_text("spaces: [{pool: posix:fields}]")
    isotach.open().close()
    monkeypatch.setenv("ISOTACH_STORE", "posix:/none")
    with pytest.raises(isotach.NotFoundError, match="/none"):
        isotach.open()
    monkeypatch.setenv("ISOTACH_STORE", "fields")
    with pytest.raises(ValueError, match=r'ISOTACH_STORE: store "fields": expected ./fields'):
        isotach.open()


def test_a_relative_path_stays_the_same_store_in_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pickle

    monkeypatch.chdir(tmp_path)
    isotach.create(Path("fields"), SCHEMA).close()
    pickled = [
        pickle.dumps(isotach.open(form))
        for form in (Path("fields"), "./fields", {"spaces": [{"pool": "posix:fields"}]})
    ]
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    for one in pickled:
        assert list(pickle.loads(one).list()) == []


def test_a_memory_store_lives_as_long_as_its_process(tmp_path: Path) -> None:
    isotach.create("memory:here", SCHEMA).close()
    with isotach.open("memory:here") as store:
        store.archive(b"x", KEY)
        store.flush()
        with isotach.open("memory:here") as other:
            assert other.retrieve_one(KEY) is not None
    code = "import isotach\ntry: isotach.open('memory:here')\nexcept isotach.NotFoundError as error: print(error.__notes__[0])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert run.stdout == "a memory: store exists within one process only\n", run.stderr


def test_a_schema_is_text_or_a_path(tmp_path: Path) -> None:
    (tmp_path / "schema").write_text(SCHEMA)
    with isotach.create(tmp_path / "one", tmp_path / "schema") as store:
        assert "class, expver, date" in store.schema
    with isotach.create(tmp_path / "two") as store:
        assert "class" in store.schema
    with pytest.raises(isotach.InvalidInputError, match="line 1, column") as caught:
        isotach.create(tmp_path / "three", "[ class")
    assert caught.value.code == "schema"
    with pytest.raises(ValueError, match=r"schema='.*/schema': expected the text of a schema.* as a Path"):
        isotach.create(tmp_path / "three", str(tmp_path / "schema"))


@pytest.mark.parametrize(
    ("wrong", "error", "text"),
    [
        ("fields", ValueError, r'store "fields": expected ./fields or posix:fields'),
        ("s3:bucket", ValueError, 'engine "s3": expected one of'),
        ("spaces:\n  - pol: posix:/data\n", ValueError, "configuration:2:5: .*unknown field `pol`"),
        ({"spaces": []}, ValueError, "expected at least one space"),
        (b"/data", TypeError, "a store of type bytes: expected a URI"),
        (5, TypeError, "a store of type int"),
        (Path("none.yaml"), LookupError, "none.yaml does not exist"),
    ],
    ids=repr,
)
def test_a_wrong_store_is_refused(wrong: object, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        isotach.open(wrong)  # type: ignore[arg-type]


def test_a_file_of_data_is_no_store_and_grib_can_be_archived(tmp_path: Path) -> None:
    (tmp_path / "grib").write_bytes(b"GRIB" + bytes(12))
    (tmp_path / "other").write_bytes(b"\x89HDF" + bytes(12))
    for open_ in (isotach.open, isotach.create):
        for path in (tmp_path / "grib", str(tmp_path / "grib")):
            with pytest.raises(
                isotach.InvalidInputError, match=r"grib is a GRIB file: expected a store; store.archive"
            ):
                open_(path)
        with pytest.raises(isotach.InvalidInputError, match="other is a binary file: expected a store"):
            open_(tmp_path / "other")


def test_folders_above_a_store_are_created_with_it(tmp_path: Path) -> None:
    with isotach.create(tmp_path / "above" / "more" / "fields", SCHEMA) as store:
        store.archive(b"x", KEY)
    isotach.open(tmp_path / "above" / "more" / "fields").close()


def test_a_store_shows_its_name(tmp_path: Path) -> None:
    with isotach.create(tmp_path / "fields", SCHEMA) as store:
        assert store.name == f"posix:{tmp_path}/fields"
        assert repr(store) == f"<Store posix:{tmp_path}/fields>"
        assert store.at is None
    assert os.path.isdir(tmp_path / "fields")
