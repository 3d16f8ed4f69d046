"""The example of dictionaries, run as a stranger would: as its page says, by several processes, of which one is killed."""

from __future__ import annotations

import ast

from place import EXAMPLE, Place

EACH = 60

OPEN = """
import pydaos
pydaos.create("tank", "notes")
container = pydaos.DCont("tank", "notes")
"""

WRITER = (
    OPEN
    + """
import sys
shared = container.get("shared")
for number in range(int(sys.argv[2])):
    key = f"{sys.argv[1]}.{number}"
    shared[key] = key * 20
    shared["latest"] = key
    print(key, flush=True)
"""
)


def test_two_processes_see_what_the_other_writes_and_changes(place: Place) -> None:
    told = place.run(EXAMPLE / "shared.py", "tank", "notes").splitlines()
    before = "bari=from south, bergen=from north, cagliari=from south, oslo=from north, rome=from south"
    after = "bergen=from north, cagliari=from south, oslo=from north, rome=changed by north"
    assert sorted(told[:2]) == [f"north sees 5: {before}", f"south sees 5: {before}"]
    assert sorted(told[2:]) == [f"north sees 4: {after}", f"south sees 4: {after}"]
    # Once more, over what is there already.
    assert len(place.run(EXAMPLE / "shared.py", "tank", "notes").splitlines()) == 4


def test_all_that_was_told_is_there_also_of_a_process_that_was_killed(place: Place) -> None:
    place.run("-c", OPEN + 'container.dict("shared")')
    writers = [place.start("-c", WRITER, name, str(EACH)) for name in "abc"]
    # This one would never end by itself in the time of a test.
    killed = place.start("-c", WRITER, "d", "10000000")
    assert killed.stdout is not None
    told = {killed.stdout.readline().strip() for _ in range(EACH // 4)}
    killed.kill()
    told.update(line.strip() for line in killed.stdout)
    assert killed.wait() < 0
    for writer in writers:
        out, err = writer.communicate(timeout=120)
        assert writer.returncode == 0, err
        told.update(out.split())
    assert len(told) >= 3 * EACH + EACH // 4
    seen = ast.literal_eval(place.run("-c", OPEN + 'print(container.get("shared").dump())'))
    latest = seen.pop("latest").decode()
    assert latest in seen
    # What was put and not told of any more may be there, and is whole.
    assert told <= set(seen) and len(set(seen) - told) <= 1
    assert all(value == key.encode() * 20 for key, value in seen.items())


def test_a_dictionary_does_what_one_of_python_does(place: Place) -> None:
    place.run(
        "-c",
        OPEN
        + """
d = container.dict("d", {"a": "1", "b": b"\\0\\1"})
assert d.dump() == {"a": b"1", "b": b"\\0\\1"} and len(d) == 2 and "a" in d and "c" not in d
d["long"], d["k" * 60000], d["é"] = b"x" * 100000, "of a long key", "ü"
assert d.get("long") == b"x" * 100000 and d["k" * 60000] == b"of a long key" and d["é"].decode() == "ü"
assert d.pop("long") == b"x" * 100000 and "long" not in d
del d["k" * 60000]
d.put("a", None)
d["b"] = ""
assert list(d) == ["é"]
d.bput({f"key {n}": str(n) for n in range(700)})
assert len(d) == 701 and sorted(d)[:2] == ["key 0", "key 1"]
assert d.bget({"key 5": None, "none": None}) == {"key 5": b"5", "none": None}
other = pydaos.DCont("tank", "notes", "RO")
assert other["d"]["key 699"] == b"699" and "d" in other and list(other) == ["d"]
container.dict("e")
assert sorted(container) == ["d", "e"] and len(container["e"]) == 0
container.destroy("d")
assert "d" not in container and list(container.dict("d")) == []
""",
    )


def test_what_is_not_there_or_not_permitted_says_so(place: Place) -> None:
    said = place.run(
        "-c",
        OPEN
        + """
import daos
d = container.dict("d", {"a": "1"})
daos.call("daos_cont_create_with_label", container._pool, b"plain", None, None, None)
def said(act):
    try:
        act()
    except Exception as error:
        print(type(error).__name__, error)
said(lambda: container.get("e"))
said(lambda: container.destroy("e"))
said(lambda: container.dict("d"))
said(lambda: d["b"])
said(lambda: d.pop("b"))
said(lambda: pydaos.DCont("tank", "none"))
said(lambda: pydaos.DCont("none", "notes"))
said(lambda: pydaos.DCont("tank", "plain"))
said(lambda: pydaos.DCont("tank", "notes", "RO")["d"].put("a", "2"))
assert d["a"] == b"1"
""",
    ).splitlines()
    assert said == [
        "DObjNotFound no object 'e' in the container",
        "DObjNotFound no object 'e' in the container",
        "PyDError daos_kv_put: DER_EXIST (-1004)",
        "KeyError 'b'",
        "KeyError 'b'",
        "PyDError daos_cont_open: DER_NONEXIST (-1005)",
        "PyDError daos_pool_connect: DER_NONEXIST (-1005)",
        "TypeError container 'plain' is not of the layout type PYTHON",
        "PyDError daos_kv_put: DER_NO_PERM (-1001)",
    ]
