"""GRIB files go in and come out byte for byte, and spoiled files are refused from the bad message on.

The files are generated, or every file of the directory that ISOTACH_GRIB_DIR names. A message is found again
by listing the store and reading every key that is listed.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from datetime import date
from pathlib import Path

import pytest
from needs import skip

ENDINGS = {".grib", ".grib1", ".grib2", ".grb", ".grb2"}


def chosen() -> list[Path]:
    """The files of ISOTACH_GRIB_DIR; none if it is not set."""
    directory = os.environ.get("ISOTACH_GRIB_DIR")
    return sorted(p for p in Path(directory).iterdir() if p.suffix in ENDINGS) if directory else []


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for each file; generated files are named by the plan, and made when first needed."""
    if "file" in metafunc.fixturenames:
        files = chosen() or generated_names()
        metafunc.parametrize("file", files, ids=[Path(file).name for file in files], indirect=True)


def generated_names() -> list[Path]:
    """The names of the files that `make_data.py` makes, without a need for ecCodes."""
    try:
        from make_data import plan
    except ImportError:
        return []
    return [Path(file.name) for file in plan(date(2024, 6, 1))]


@pytest.fixture
def file(request: pytest.FixtureRequest, peer: None) -> Path:
    """A file by its path, or a generated one by its name."""
    path: Path = request.param
    if path.is_absolute() or path.exists():
        return path
    sources = request.getfixturevalue("sources")
    return next(source.path for source in sources if source.path.name == path.name)


@pytest.fixture
def store(binary: Path, today: date, tmp_path: Path):
    """An empty store with the schema that the program has by default."""
    from stores import IsotachStore

    return IsotachStore(tmp_path, binary, today, schema=None)


@pytest.fixture
def good(sources) -> list[bytes]:
    """Five good messages with different keys."""
    from roundtrip import read_messages

    path = next(source.path for source in sources if source.path.name == "oper_pl_1.grib")
    return [message.data for message in read_messages(path)[:5]]


def read_all(store) -> list[bytes]:
    """The messages that are read by the keys that the store lists, each key alone, each message once.

    A key reads one message, except that a step also reads the ranges which end there.
    """
    from stores import messages

    listed = store.list("")
    assert listed.error is None, listed.error
    ranges = any("-" in dict(key)["step"] for key in listed.keys)
    read: dict[bytes, None] = {}
    for key in listed.keys:
        answer = store.retrieve(",".join(f"{name}={value}" for name, value in sorted(key)))
        assert answer.error is None, f"{sorted(key)}: {answer.error}"
        found = messages(answer.data)
        assert len(found) == 1 or (ranges and found), f"{sorted(key)} reads {len(found)} messages"
        read.update(dict.fromkeys(found))
    return list(read)


def test_a_whole_file_comes_back_byte_for_byte_and_another_is_refused(file: Path, store) -> None:
    from roundtrip import is_whole, labels, latest, read_messages
    from stores import Source

    if not is_whole(file):
        refused = store.write(Source(file))
        assert refused.returncode == 1
        assert file.name in refused.stderr and "panicked" not in refused.stderr
        return
    messages = read_messages(file)
    written = store.write(Source(file, labels(messages)))
    assert written.returncode == 0, written.stderr
    unlike = Counter(message.data for message in latest(messages))
    unlike.subtract(Counter(read_all(store)))
    lost = sum(count for count in unlike.values() if count > 0)
    foreign = -sum(count for count in unlike.values() if count < 0)
    assert (lost, foreign) == (0, 0), f"{lost} messages lost and {foreign} that were not archived"


def spoiled(store, data: bytes, name: str, tmp_path: Path, *options: str):
    """Writes a spoiled file and gives what the program said."""
    path = tmp_path / name
    path.write_bytes(data)
    return store.run("write", *options, str(path))


def test_messages_before_a_bad_one_are_archived(store, good: list[bytes], tmp_path: Path) -> None:
    from roundtrip import without_end

    refused = spoiled(store, without_end(good, 3), "bad_third.grib", tmp_path)
    assert refused.returncode == 1, refused.stderr
    said = refused.stderr.replace(str(tmp_path), "")
    assert re.search(r"\b3\b", said) and re.search(rf"\b{len(good[0]) + len(good[1])}\b", said), said
    assert Counter(read_all(store)) == Counter(good[:2])


def test_skip_bad_archives_the_messages_around_a_bad_one(store, good: list[bytes], tmp_path: Path) -> None:
    from roundtrip import without_end

    spoiled(store, without_end(good, 3), "bad_third.grib", tmp_path, "--skip-bad")
    assert Counter(read_all(store)) == Counter(good[:2] + good[3:])


def test_messages_before_a_cut_are_archived(store, good: list[bytes], tmp_path: Path) -> None:
    from roundtrip import cut_short

    refused = spoiled(store, cut_short(good), "cut.grib", tmp_path)
    assert refused.returncode == 1, refused.stderr
    assert Counter(read_all(store)) == Counter(good[:-1])


def test_padding_between_messages_is_ordinary(store, good: list[bytes], tmp_path: Path) -> None:
    written = spoiled(store, b"\0\0\0\0\0\0\0\0".join(good) + b"\0" * 7, "padded.grib", tmp_path)
    assert written.returncode == 0, written.stderr
    assert Counter(read_all(store)) == Counter(good)


def test_a_file_that_is_no_grib_is_refused(store, tmp_path: Path) -> None:
    refused = spoiled(store, b"This is a text and no field.\n" * 20, "text.grib", tmp_path)
    assert refused.returncode == 1
    assert "text.grib" in refused.stderr and "panicked" not in refused.stderr
    assert read_all(store) == []


def test_the_absence_of_files_is_said(peer: None) -> None:
    if os.environ.get("ISOTACH_GRIB_DIR") and not chosen():
        endings = ", ".join(sorted(ENDINGS))
        skip("samples", f"ISOTACH_GRIB_DIR holds no GRIB file: put files that end in {endings} there")
