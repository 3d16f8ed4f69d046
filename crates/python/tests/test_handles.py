"""Handles: threads, fork, pickle, closing, the end of the interpreter."""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import isotach
import pytest
from isotach import _isotach

from conftest import KEY, SCHEMA, forks, in_child, key

LARGE = 1 << 20


def test_a_closed_handle_refuses_every_call(filled: isotach.Store) -> None:
    retrieval, listing, inspection = filled.retrieve(KEY), filled.list(), filled.inspect(KEY)
    transaction = filled.transaction()
    transaction.archive(b"x", KEY)
    filled.close()
    filled.close()
    calls: list[Callable[[], object]] = [
        lambda: filled.archive(b"x", KEY),
        lambda: filled.archive(b"x"),
        filled.flush,
        filled.transaction,
        lambda: filled.retrieve(KEY),
        lambda: filled.retrieve_one(KEY),
        lambda: filled.retrieve_into(KEY, bytearray(20)),
        lambda: filled.share(KEY),
        lambda: filled.list(),
        lambda: filled.inspect(KEY),
        lambda: filled.axes(),
        lambda: filled.explain(),
        lambda: filled.status(),
        lambda: filled.stats(),
        lambda: filled.wipe(class_="od"),
        lambda: filled.purge(),
        lambda: filled.lock(actions="list"),
        lambda: filled.verify(),
        filled.snapshots,
        lambda: filled.snapshot("none"),
        lambda: filled.schema,
        lambda: next(retrieval),
        lambda: next(listing),
        lambda: next(inspection),
        lambda: transaction.archive(b"x", KEY),
        transaction.commit,
    ]
    for call in calls:
        with pytest.raises(isotach.ClosedError, match="is closed") as caught:
            call()
        assert caught.value.code == "closed"
    assert (filled.is_closed, filled.is_dirty) == (True, False)
    assert repr(filled).startswith("<closed Store posix:")
    assert filled._repr_html_().startswith("<b>closed Store")


def test_a_with_block_flushes_after_success_and_loses_after_an_exception(tmp_path: Path) -> None:
    with isotach.create(tmp_path / "fields", SCHEMA) as store:
        store.archive(b"kept", KEY)
    with pytest.raises(KeyError), isotach.open(tmp_path / "fields") as store:
        store.archive(b"lost", key(step=12))
        raise KeyError("mine")
    with isotach.open(tmp_path / "fields") as store:
        assert [bytes(field) for field in store.retrieve(key(step=[6, 12]), missing="skip")] == [b"kept"]
        store.archive(b"closed", key(step=12))
        store.close()
    assert store.is_closed
    with isotach.open(tmp_path / "fields") as store:
        assert len(list(store.list())) == 2


def test_a_handle_that_is_dropped_unflushed_warns_of_the_loss(tmp_path: Path) -> None:
    store = isotach.create(tmp_path / "fields", SCHEMA)
    store.archive(b"lost", KEY)
    with pytest.warns(isotach.LostFieldsWarning, match="not flushed, which are lost"):
        del store
        gc.collect()


@pytest.mark.parametrize("end", ["", "raise SystemExit(0)", "cycle = [store]; cycle.append(cycle)"])
def test_a_script_that_ends_without_a_flush_says_that_fields_are_lost(tmp_path: Path, end: str) -> None:
    code = f"import sys, isotach\nstore = isotach.create(*sys.argv[1:3])\nstore.archive(b'x', sys.argv[3])\n{end}"
    text = ",".join(f"{name}={value}" for name, value in KEY.items())
    run = subprocess.run(
        [sys.executable, "-c", code, f"posix:{tmp_path}/fields", SCHEMA, text],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (run.returncode, run.stdout) == (0, "")
    assert "LostFieldsWarning: <Store posix:" in run.stderr
    assert "fields that are not flushed, which are lost" in run.stderr


def test_many_threads_share_one_handle(store: isotach.Store) -> None:
    def work(thread: int) -> int:
        for step in range(50):
            store.archive(f"{thread} {step}".encode(), key(step=step, param=thread + 130))
        store.flush()
        read = store.retrieve(key(step=range(50), param=thread + 130))
        return sum(bytes(field) == f"{thread} {step}".encode() for step, field in enumerate(read))

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(8))) == [50] * 8


def test_threads_that_share_a_retrieval_get_each_field_once(store: isotach.Store) -> None:
    for step in range(200):
        store.archive(str(step).encode(), key(step=step))
    store.flush()
    retrieval, listing = store.retrieve(key(step=range(200))), store.list()
    with ThreadPoolExecutor(4) as pool:
        read = pool.map(lambda _: [bytes(field) for field in retrieval], range(4))
        assert sorted(int(field) for part in read for field in part) == list(range(200))
        listed = pool.map(lambda _: [field.key["step"] for field in listing], range(4))
        assert sorted(int(step) for part in listed for step in part) == list(range(200))


@contextmanager
def ticking() -> Iterator[Callable[[], int]]:
    """A thread that counts while it gets the interpreter, which nobody is asked for within the test; and its count."""
    ticks = 0
    done = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0)

    switching, thread = sys.getswitchinterval(), threading.Thread(target=tick)
    sys.setswitchinterval(1000)
    try:
        thread.start()
        yield lambda: ticks
    finally:
        sys.setswitchinterval(switching)
        done.set()
        thread.join()


def test_other_threads_run_while_a_call_waits(store: isotach.Store) -> None:
    data = bytes(64 << 20)
    with ticking() as ticks:
        before = ticks()
        store.archive(data, KEY)
        during = ticks() - before
    assert during > 0


def test_two_threads_may_close_one_handle_while_others_use_it(filled: isotach.Store) -> None:
    begin = threading.Barrier(6)

    def use() -> str:
        begin.wait()
        try:
            while True:
                for field in filled.retrieve(key(step=[0, 6, 12], param=[130, 131])):
                    assert bytes(field).startswith(b"field")
        except isotach.ClosedError:
            return "closed"

    def close() -> str:
        begin.wait()
        time.sleep(0.05)
        filled.close()
        return "closed"

    with ThreadPoolExecutor(6) as pool:
        futures = [pool.submit(use) for _ in range(4)] + [pool.submit(close) for _ in range(2)]
        assert {future.result(timeout=60) for future in futures} == {"closed"}


@forks
def test_a_forked_child_opens_a_handle_of_its_own(filled: isotach.Store) -> None:
    filled.archive(b"of the parent", key(step=24))

    def act() -> bool:
        assert not filled.is_dirty
        assert filled.retrieve_one(key(step=24)) is None
        filled.archive(b"of the child", key(step=48))
        filled.flush()
        return [bytes(field) for field in filled.retrieve(key(step=[6, 48]))] == [
            b"field 6 130",
            b"of the child",
        ]

    assert in_child(act) == 0
    assert filled.is_dirty
    filled.flush()
    assert [bytes(field) for field in filled.retrieve(key(step=[24, 48]))] == [
        b"of the parent",
        b"of the child",
    ]


def test_a_child_that_c_forked_uses_nothing_of_its_parent(filled: isotach.Store) -> None:
    retrieval = filled.retrieve(KEY)
    filled.archive(b"of the parent", key(step=24))

    def act() -> bool:
        with pytest.raises(isotach.ClosedError):
            next(retrieval)
        return not filled.is_dirty and bytes(filled.retrieve_one(key(step=6)) or b"") == b"field 6 130"

    # Python does not know of such a fork, and calls nothing before or after it.
    assert in_child(act, ctypes.PyDLL(None).fork) == 0
    assert bytes(next(retrieval)) == b"field 6 130"


@forks
def test_iterators_and_transactions_stay_with_the_parent(filled: isotach.Store) -> None:
    for step in range(100, 120):
        filled.archive(bytes(LARGE), key(step=step))
    filled.flush()
    retrieval, listing, inspection = (
        filled.retrieve(key(step=range(100, 120))),
        filled.list(),
        filled.inspect(KEY),
    )
    transaction = filled.transaction()
    transaction.archive(b"of the parent", key(step=24))
    kept = [next(retrieval), next(retrieval)]
    next(listing)

    def act() -> bool:
        for call in (
            lambda: next(retrieval),
            lambda: next(listing),
            lambda: next(inspection),
            transaction.commit,
        ):
            try:
                call()
            except isotach.ClosedError as error:
                assert "belongs to the process that began it" in str(error)
            else:
                return False
        assert len(bytes(kept[0])) == LARGE
        kept.clear()
        return True

    def drop() -> None:
        nonlocal retrieval, listing, inspection, transaction, kept
        del retrieval, listing, inspection, transaction, kept
        gc.collect()

    assert in_child(act) == 0
    assert in_child(drop) == 0
    assert len(list(retrieval)) == 18
    transaction.commit()
    assert filled.retrieve_one(key(step=24)) is not None


def in_fresh_process(script: str, *arguments: object) -> None:
    """Runs a script in an interpreter of its own. One that hangs is killed."""
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script, *map(str, arguments)],
        timeout=60,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr


def test_two_threads_may_fork_at_once(tmp_path: Path) -> None:
    isotach.create(tmp_path / "fields", SCHEMA).close()
    in_fresh_process(
        """
import os, sys, threading, time
# Runs after the hook of isotach, and lets the other thread run.
os.register_at_fork(before=lambda: time.sleep(0.1))
import isotach

def fork():
    begin.wait()
    child = os.fork()
    if child == 0:
        os._exit(0)
    ended.append(os.waitpid(child, 0)[1])

try:
    # Loads ecCodes.
    isotach.open(sys.argv[1]).archive(b"GRIB" + bytes([0, 0, 16, 2]) + bytes(7) + bytes([20]) + b"7777")
except isotach.InvalidInputError:
    pass
begin, ended = threading.Barrier(2), []
threads = [threading.Thread(target=fork) for _ in range(2)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert ended == [0, 0], ended
""",
        tmp_path / "fields",
    )


def test_a_child_that_was_forked_while_eccodes_was_loaded_can_load_it(tmp_path: Path) -> None:
    isotach.create(tmp_path / "fields", SCHEMA).close()
    in_fresh_process(
        """
import os, sys, threading, time, isotach

def load():
    begin.wait()
    try:
        store.archive(b"GRIB" + bytes([0, 0, 16, 2]) + bytes(7) + bytes([20]) + b"7777")
    except isotach.InvalidInputError:
        pass

store, begin, children = isotach.open(sys.argv[1]), threading.Barrier(2), []
thread = threading.Thread(target=load)
thread.start()
begin.wait()
for _ in range(30):
    time.sleep(0.001)
    child = os.fork()
    if child == 0:
        begin = threading.Barrier(1)
        load()
        os._exit(0)
    children.append(child)
thread.join()
left = children
for _ in range(1500):
    left = [child for child in left if os.waitpid(child, os.WNOHANG)[0] == 0]
    if not left:
        break
    time.sleep(0.01)
for child in left:
    os.kill(child, 9)
assert not left, f"{len(left)} children hang"
""",
        tmp_path / "fields",
    )


def test_other_threads_run_while_handles_are_dropped(filled: isotach.Store, tmp_path: Path) -> None:
    def opened() -> _isotach.Handle:
        # Not a Store, whose end asks whether it is flushed, and lets other threads run meanwhile.
        handle = _isotach.Handle("uri", str(tmp_path / "fields"))
        assert handle.retrieve_one(KEY) is not None
        return handle

    during = rounds = 0
    with ticking() as ticks:
        # The other thread must wake up while one is dropped, which takes a moment only.
        while not during and rounds < 50:
            rounds += 1
            handles = [opened() for _ in range(50)]
            before = ticks()
            handles.clear()
            during = ticks() - before
    assert during > 0


@forks
def test_a_child_works_while_threads_of_the_parent_are_busy(filled: isotach.Store) -> None:
    for step in range(100, 110):
        filled.archive(bytes(LARGE), key(step=step))
    filled.flush()
    done = threading.Event()

    def work(thread: int) -> None:
        step = 0
        while not done.is_set():
            step += 1
            filled.archive(b"x", key(step=step, param=thread + 200))
            filled.flush()
            for field in filled.retrieve(key(step=range(100, 110))):
                assert len(field) == LARGE

    with ThreadPoolExecutor(4) as pool:
        futures = [pool.submit(work, thread) for thread in range(4)]
        try:
            for child in range(20):
                filled_by_child = key(step=child, param=210)

                def act(fresh: dict[str, object] = filled_by_child) -> bool:
                    filled.archive(b"of a child", fresh)
                    filled.flush()
                    return (
                        sum(len(field) for field in filled.retrieve(key(step=range(100, 110)))) == 10 * LARGE
                    )

                assert in_child(act) == 0
        finally:
            done.set()
        for future in futures:
            future.result(timeout=60)
    assert len(list(filled.list(param=210))) == 20


def test_a_handle_is_opened_again_where_it_is_unpickled(filled: isotach.Store) -> None:
    filled.archive(b"unflushed", key(step=24))
    again = pickle.loads(pickle.dumps(filled))
    assert not again.is_dirty
    assert again.retrieve_one(key(step=24)) is None
    assert again.retrieve_one(KEY) is not None
    again.close()
    assert not filled.is_closed
    filled.create_snapshot("before", class_="od")
    with filled.snapshot("before") as past, pickle.loads(pickle.dumps(past)) as again:
        assert again.at == "before"


def read_step(store: isotach.Store, step: int) -> bytes | None:
    """The bytes of a field, in another process."""
    field = store.retrieve_one(key(step=step))
    return None if field is None else bytes(field)


@pytest.mark.parametrize("method", ["spawn", "forkserver", pytest.param("fork", marks=forks)])
def test_worker_processes_share_a_store(filled: isotach.Store, method: str) -> None:
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
        read = list(pool.map(read_step, [filled] * 3, [0, 6, 12]))
    assert read == [b"field 0 130", b"field 6 130", b"field 12 130"]


ENDS = """
import sys, threading, isotach
store = isotach.open(sys.argv[1])
key = "class=od,expver=1,date=20240101,type=fc,param=t,step="
for step in range(100, 110):
    store.archive(bytes(1 << 20), key + str(step))
store.flush()
retrieval = store.retrieve(key + "/".join(map(str, range(100, 110))))
field = next(retrieval)
listing, transaction = store.list(), store.transaction()
next(listing)
transaction.archive(b"x", key + "200")
def work(store):
    try:
        while True:
            for _ in store.retrieve(key + "/".join(map(str, range(100, 110)))):
                pass
    except isotach.ClosedError:
        pass
for _ in range(2):
    threading.Thread(target=work, args=(store,), daemon=True).start()
cycle = [store, retrieval]
cycle.append(cycle)
print("done", flush=True)
"""


@pytest.mark.parametrize(
    "end", ["", "raise SystemExit(0)", "store.close()", "del store, retrieval, listing, field"]
)
def test_an_interpreter_ends_with_handles_open(filled: isotach.Store, tmp_path: Path, end: str) -> None:
    code = ENDS + end
    run = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "fields")], capture_output=True, text=True, timeout=60
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "done\n", "")
