"""pygribjump's interface over a store."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import isotach
import numpy as np
import pytest
from isotach import pygribjump

from point_messages import REQUEST, decoded
from point_messages import messages as made

DAY = {
    "class": "od", "expver": "0001", "stream": "enfo", "date": "20240101", "time": "0000", "domain": "g", "type": "pf",
    "levtype": "pl", "number": "1", "levelist": "500", "param": "130",
}  # fmt: skip
Messages = list[bytes]


def of(step: int) -> dict[str, str]:
    """The request for a step."""
    return {**DAY, "step": str(step)}


@pytest.fixture
def messages() -> Messages:
    """Two messages of each kind."""
    return made()


@pytest.fixture
def store(tmp_path: Path, messages: Messages, monkeypatch: pytest.MonkeyPatch) -> isotach.Store:
    """The store that the environment names."""
    monkeypatch.setenv("ISOTACH_STORE", f"posix:{tmp_path}/fields")
    monkeypatch.delenv("GRIBJUMP_IGNORE_GRID", raising=False)
    with isotach.create(tmp_path / "fields") as store:
        for one in messages:
            store.archive(one)
    return isotach.open(tmp_path / "fields")


@pytest.fixture
def grid(store: isotach.Store) -> str:
    """The hash of the grid of all fields."""
    found = store.values(REQUEST, step=0, points=[0]).grid
    assert found is not None
    return found


def test_tuples_and_requests_give_the_values_and_masks_of_each_range(
    grid: str,
    messages: Messages,
) -> None:
    jump = pygribjump.GribJump()
    asked = [(of(step), [(0, 3), (4990, 5010 + step)], grid) for step in (3, 0, 7, 1)]
    iterator = jump.extract(asked, {"origin": "a test"})
    for (request, ranges, _), result in zip(asked, iterator, strict=True):
        whole = decoded(messages[int(request["step"])])
        for (low, high), values, mask, flags in zip(
            ranges, result.values, result.masks, result.compute_bool_masks(), strict=True
        ):
            assert np.array_equal(values, whole[low:high], equal_nan=True)
            assert np.array_equal(flags, ~np.isnan(whole[low:high]))
            assert mask.dtype == np.uint64 and len(mask) == (high - low + 63) // 64
            bits = [int(mask[bit // 64]) >> (bit % 64) & 1 for bit in range(high - low)]
            assert bits == flags.tolist()
        assert np.array_equal(result.values_flat, np.concatenate(result.values), equal_nan=True)
        assert np.array_equal(result.masks_flat, np.concatenate(result.copy_masks()))
    legacy = iterator.dump_legacy()
    assert np.array_equal(legacy[0][0][1][0], iterator.dump_values()[0][1], equal_nan=True)
    requests = [pygribjump.ExtractionRequest(of(step), [(5, 6)], grid) for step in range(10)]
    values = [result.values_flat[0] for result in jump.extract(requests)]
    assert np.array_equal(values, [decoded(one)[5] for one in messages], equal_nan=True)


def test_masks_indices_and_ranges_choose_the_same_points(grid: str, messages: Messages) -> None:
    jump, places = pygribjump.GribJump(), [3, 4, 5, 9000]
    mask = np.zeros(16380, dtype=bool)
    mask[places] = True
    fields = [of(0), of(2)]
    expected = [decoded(messages[step])[places] for step in (0, 2)]
    for iterator in (
        jump.extract_from_mask(fields, mask, grid),
        jump.extract_from_indices(fields, np.array(places), grid),
        jump.extract_from_ranges(fields, [(3, 6), (9000, 9001)], grid),
    ):
        found = [result.values_flat for result in iterator]
        assert np.array_equal(found, expected, equal_nan=True)
    request = pygribjump.ExtractionRequest.from_mask(of(0), mask)
    assert request.indices().tolist() == places and request.shape == [3, 1]


def test_a_request_for_several_fields_gives_a_result_for_each(grid: str, messages: Messages) -> None:
    iterator = pygribjump.GribJump().extract_single({**DAY, "step": ["0", "1"]}, [(7, 9)], grid)
    found = [result.values_flat.tolist() for result in iterator]
    assert found == [decoded(messages[step])[7:9].tolist() for step in (0, 1)]


def test_messages_in_files_are_extracted_by_path(
    grid: str,
    messages: Messages,
    tmp_path: Path,
) -> None:
    (tmp_path / "file").write_bytes(b"".join(messages))
    offset = len(messages[0])
    request = pygribjump.PathExtractionRequest(str(tmp_path / "file"), "file", offset, "", 0, [(8, 9)], grid)
    (result,) = pygribjump.GribJump().extract_from_paths([request])
    assert result.values_flat.tolist() == [decoded(messages[1])[8]]
    with pytest.raises(ValueError, match="no host"):
        pygribjump.PathExtractionRequest("/file", "fdb", 0, "elsewhere", 7777, [(8, 9)])


def test_axes_have_the_values_of_the_fields(store: isotach.Store) -> None:
    axes = pygribjump.GribJump().axes({"class": "od", "expver": "0001"}, ctx={"origin": "a test"})
    assert axes["class"] == ["od"] and axes["param"] == ["130"]
    assert sorted(axes["step"], key=int) == [str(step) for step in range(10)]
    assert "step" not in pygribjump.GribJump().axes({"class": "od"}, level=1)


def test_failures_have_the_words_that_programs_look_for(
    grid: str, store: isotach.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    jump, wrong = pygribjump.GribJump(), "0" * 32
    failed = pygribjump.GribJumpException
    with pytest.raises(failed, match=r"'gribjump_extract': BadValue: Grid hash mismatch.*step=0"):
        jump.extract([(of(0), [(0, 1)], wrong)])
    with pytest.raises(failed, match="BadValue: Grid hash was not specified"):
        jump.extract([(of(0), [(0, 1)])])
    with pytest.raises(failed, match="DataNotFound.*99"):
        jump.extract([(of(99), [(0, 1)], grid)])
    with pytest.raises(failed, match="16381"):
        jump.extract([(of(0), [(0, 16381)], grid)])
    with pytest.raises(failed, match="'gribjump_extract_single': GribJumpException: DataNotFound.*99"):
        jump.extract_single({**DAY, "step": ["0", "99"]}, [(0, 1)], grid)
    monkeypatch.setenv("GRIBJUMP_IGNORE_GRID", "1")
    assert len(list(jump.extract([(of(0), [(0, 1)])]))) == 1
    assert len(list(jump.extract([(of(0), [(0, 1)], wrong)]))) == 1


@pytest.mark.parametrize("polyrequest", [[], (), "x", [1], [({},)], [(of(0), [])], [(of(0), [(2, 2)])]])
def test_requests_of_another_form_are_refused(store: isotach.Store, polyrequest: Any) -> None:
    with pytest.raises(ValueError):
        pygribjump.GribJump().extract(polyrequest)


def test_texts_and_contexts_are_those_of_pygribjump() -> None:
    assert pygribjump.rangestr_to_list("0-6,7-12") == [(0, 6), (7, 12)]
    assert pygribjump.list_to_rangestr([(0, 6), (7, 12)]) == "0-6,7-12"
    assert pygribjump.dic_to_request({"class": "od", "step": "1"}) == "class=od,step=1"
    assert pygribjump.multivalued_dic_to_request({"class": "od", "step": [1, 2]}) == "class=od,step=1/2"
    context = pygribjump.merge_default_context({"action": "mine"}, "theirs")
    assert context["action"] == "mine" and context["source"] == "pygribjump"


def test_installed_in_its_place_it_is_what_programs_import(store: isotach.Store, grid: str) -> None:
    program = f"""
import isotach.pygribjump
isotach.pygribjump.install()
isotach.pygribjump.install()
import pygribjump
from pygribjump.pygribjump import GribJump
assert pygribjump is isotach.pygribjump
(result,) = GribJump().extract([({of(0)!r}, [(0, 1)], {grid!r})])
print(result.values_flat[0])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert float(done.stdout) == store.values(REQUEST, step=0, points=[0]).values[0, 0]
