"""Numbered transactions through the C interface: several processes, kills in every state, and wrong use."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conftest import HERE, ROOT, Connector, built, compile_c

HEADER = ROOT / "crates" / "hdf5-vol" / "include"


@pytest.fixture(scope="session")
def calls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program of `calls`."""
    program = tmp_path_factory.mktemp("calls") / "calls"
    compile_c([HERE / "calls" / "main.c"], program, "-I", str(HEADER), str(built()))
    return program


class Process:
    """A process of the program, which answers commands."""

    def __init__(self, connector: Connector, program: Path, folder: Path) -> None:
        """Starts it in a folder."""
        clean = {
            name: value for name, value in os.environ.items() if not name.startswith(("HDF5_", "ISOTACH_H5"))
        }
        self.process = subprocess.Popen(
            [program],
            cwd=folder,
            env=clean | connector.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, *commands: str) -> str:
        """Runs commands, each of which must succeed, and returns what the last one found."""
        answer = "ok"
        for command in commands:
            answer = self.tell(command)
            assert answer.startswith("ok"), f"{command}: {answer}"
        return answer.removeprefix("ok").strip()

    def fail(self, command: str) -> str:
        """Runs a command that fails, and returns the texts of the error stack."""
        answer = self.tell(command)
        assert answer.startswith("error"), f"{command}: {answer}"
        return answer

    def tell(self, command: str) -> str:
        """Runs a command, and returns its answer."""
        self.send(command)
        return self.answer()

    def send(self, command: str) -> None:
        """Sends a command, and does not wait."""
        assert self.process.stdin is not None
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def answer(self) -> str:
        """Waits for an answer."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"the program has ended: {self.process.wait()}"
        return line.strip()

    def kill(self) -> None:
        """Kills the process."""
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()


Start = Callable[..., Process]


@pytest.fixture
def start(isotach: Connector, calls: Path, tmp_path: Path) -> Iterator[Start]:
    """Starts processes in one folder, where a file of 1000 elements is made first, all 0."""
    processes = []

    def start(*commands: str, connector: Connector = isotach) -> Process:
        process = Process(connector, calls, tmp_path)
        processes.append(process)
        process.ask(*commands)
        return process

    start("open create a.h5", "write 0", "close").kill()
    yield start
    for process in processes:
        process.kill()


def test_transactions_that_finish_in_the_other_order_are_committed_in_theirs(start: Start) -> None:
    one, two, reader = start("open rw a.h5"), start("open rw a.h5"), start("open r a.h5")
    one.ask("start 1 0 1", "write 1", "group of-one", "flush")
    two.ask("start 2 0 1", "write 2", "group of-two")
    assert (one.ask("started"), two.ask("read")) == ("1", "1000x2")
    two.ask("finish")
    assert two.ask("status 2") == "open 1/1" and two.ask("read") == "1000x0"
    assert reader.ask("refresh", "read") == "1000x0"
    two.send("wait 2 -1")
    one.ask("finish")
    assert two.answer() == "ok committed" and one.ask("status 1") == "committed"
    assert reader.ask("version") == "0" and reader.ask("read") == "1000x0"
    assert reader.ask("refresh", "read") == "1000x2" and reader.ask("version") == "2"
    assert [reader.ask(f"has {name}") for name in ("of-one", "of-two")] == ["1", "1"]
    two.ask("close")
    one.ask("close")
    assert start("open r a.h5").ask("newest") == "2"


def test_several_processes_write_one_version(start: Start) -> None:
    processes = [start("open rw a.h5", f"start 1 {number} 3") for number in range(3)]
    reader = start("open r a.h5")
    for number, process in enumerate(processes):
        # The parts meet within chunks.
        process.ask(f"write {number + 1} {333 * number} 333", f"group of-{number}", "finish")
        expected = "1000x0" if number < 2 else "333x1 333x2 333x3 1x0"
        assert reader.ask("refresh", "read") == expected
    assert processes[0].ask("wait 1 0") == "committed"


def test_a_transaction_is_aborted_by_its_process_or_by_another(start: Start) -> None:
    one, two, other = start("open rw a.h5"), start("open rw a.h5"), start("open rw a.h5")
    one.ask("start 1 0 1", "write 1", "group gone", "abort 1")
    assert (one.ask("read"), one.ask("has gone"), one.ask("started")) == ("1000x0", "0", "0")
    two.ask("start 2 0 1", "write 2")
    other.ask("abort 2")
    assert "aborted (by a program)" in two.fail("finish")
    two.ask("abort 2", "start 3 0 1", "write 3", "finish")
    assert other.ask("status 2") == "aborted by a program" and other.ask("newest") == "3"
    assert two.ask("read") == "1000x3"


@pytest.mark.parametrize("state", ["started", "finished"])
def test_a_killed_process_leaves_whole_versions_and_its_number(state: str, start: Start) -> None:
    dead = start("open rw a.h5", "start 2 0 1", "write 2", "group of-two")
    if state == "finished":
        dead.ask("finish")
    dead.kill()
    one = start("open rw a.h5", "start 1 0 1", "write 1", "finish")
    reader = start("open r a.h5")
    if state == "finished":
        assert one.ask("wait 2 0") == "committed" and reader.ask("read") == "1000x2"
        return
    assert reader.ask("read") == "1000x1" and one.ask("wait 2 0") == "open 0/1"
    three = start("open rw a.h5", "start 3 0 1", "write 3", "finish")
    assert three.ask("wait 3 10") == "open 1/1" and reader.ask("refresh", "read") == "1000x1"
    three.kill()
    one.ask("abort 2")
    assert one.ask("wait 3 0") == "committed" and reader.ask("refresh", "read") == "1000x3"


def test_a_participant_that_was_killed_is_started_again(start: Start) -> None:
    start("open rw a.h5", "start 1 1 2", "write 9").kill()
    start("open rw a.h5", "start 1 0 2", "write 1 0 500", "finish").kill()
    again = start("open rw a.h5", "start 1 1 2", "write 2 500 500", "finish")
    assert again.ask("read") == "500x1 500x2"


def test_of_two_processes_that_are_one_participant_the_first_finish_counts(start: Start) -> None:
    late, quick = (start("open rw a.h5", "start 1 0 2") for _ in range(2))
    late.ask("write 8", "group of-the-late")
    quick.ask("write 9", "finish")
    assert "another process has finished as participant 0" in late.fail("finish")
    assert (late.ask("started"), late.ask("status 1")) == ("0", "open 1/2")
    late.ask("close")
    last = start("open rw a.h5", "start 1 1 2", "finish")
    assert last.ask("read") == "1000x9" and last.ask("has of-the-late") == "0"


def test_kills_at_any_moment_leave_the_last_committed_version(start: Start) -> None:
    for number in range(1, 13):
        writer = start("open rw a.h5", "abort 1" if number == 1 else f"abort {2 * number - 1}")
        for command in (f"start {2 * number} 0 1", f"write {number}", f"group of-{number}", "finish"):
            writer.send(command)
        if number % 3:
            # The kill comes some time after this answer.
            writer.answer()
            for _ in range(number % 4):
                writer.answer()
        writer.kill()
        look = start("open rw a.h5", "newest", "close", "open rw a.h5")
        newest = int(look.ask("newest")) // 2
        assert look.ask("read") == f"1000x{newest}" and look.ask(f"has of-{newest}") == str(int(newest > 0))
        assert look.ask(f"has of-{newest + 1}") == "0"
        if newest < number:
            look.ask(f"abort {2 * number}")
        look.kill()


def test_a_flush_within_a_transaction_commits_nothing(start: Start) -> None:
    writer, reader = start("open rw a.h5"), start("open r a.h5")
    writer.ask("start 1 0 1", "write 1", "flush")
    assert reader.ask("refresh", "read") == "1000x0"
    writer.kill()
    assert start("open r a.h5").ask("read") == "1000x0"


def test_closing_a_file_within_a_transaction_fails_and_gives_it_up(start: Start) -> None:
    writer = start("open rw a.h5", "start 1 0 1", "write 1")
    assert "while transaction 1 is started" in writer.fail("close")
    assert writer.ask("open rw a.h5", "read") == "1000x0" and writer.ask("status 1") == "open 0/1"
    writer.ask("start 1 0 1", "write 2", "finish", "close")
    assert start("open r a.h5").ask("read") == "1000x2"


def test_a_file_is_opened_at_a_snapshot_or_version_by_its_property_list(start: Start) -> None:
    writer = start("open rw a.h5")
    for number in (1, 2, 3):
        writer.ask(f"start {number} 0 1", f"write {number}", "finish")
        if number == 2:
            writer.ask("create_snapshot second")
    assert writer.ask("snapshots") == "second=2"
    reader = start()
    for how, found, told in [
        ("snapshot a.h5 second", "1000x2", "second 0"),
        ("version a.h5 2", "1000x2", "- 2"),
        ("version a.h5 3", "1000x3", "- 3"),
    ]:
        assert reader.ask(f"open {how}", "read") == found and reader.ask("list") == told
        reader.ask("close")
    assert "version 1 of file a.h5" in reader.fail("open version a.h5 1")
    assert "snapshot none of file a.h5" in reader.fail("open snapshot a.h5 none")
    writer.ask("remove_snapshot second")
    assert writer.ask("snapshots") == ""
    assert "snapshot second" in writer.fail("remove_snapshot second")


def test_wrong_use_is_an_error_that_says_what_was_expected(start: Start, tmp_path: Path) -> None:
    writer = start("open rw a.h5", "start 1 0 1", "finish")
    for command, text in [
        ("start 1 0 1", "which is committed: expected a number from 2 on"),
        ("start 0 0 1", "transaction 0 of file a.h5: expected a number from 1 on"),
        ("start 2 3 3", "participant 3 of 3"),
        ("finish", "expected one that was started"),
        ("abort 1", "transaction 1, which is committed"),
        ("with dataset", "expected that of an open file"),
        ("with none", "id -1: expected that of an open file"),
        ("with list", "expected that of an open file"),
        ("set file monday", "expected a file-access property list"),
        ("set default monday", "expected a file-access property list"),
        ("create_snapshot a/b", "expected 1 to 127"),
        ("sweep none.h5", "none.h5"),
    ]:
        writer.ask("read")
        assert text in writer.fail(command), command
    writer.ask("write 5")
    assert "expected a flush" in writer.fail("start 2 0 1")
    assert "which this process has changed" in writer.fail("sweep a.h5")
    writer.ask("flush", "start 2 0 1", "write 6")
    assert "the end of transaction 2" in writer.fail("start 3 0 1")
    assert "while transaction 2 is started" in writer.fail("create_snapshot s")
    writer.ask("finish")
    assert writer.ask("sweep a.h5") == "0"
    reader = start("open r a.h5")
    for command in ("start 3 0 1", "finish", "abort 3", "create_snapshot s", "remove_snapshot s"):
        assert "for reading only" in reader.fail(command)
    assert reader.ask("status 2") == "committed" and reader.ask("read") == "1000x6"


def test_a_native_file_is_refused(start: Start) -> None:
    native = start("open create native.h5", "write 1", connector=Connector({}))
    for command in ("start 1 0 1", "create_snapshot s", "newest"):
        assert "opened with the connector native" in native.fail(command)
    assert native.ask("read") == "1000x1"
    native.ask("close")
    through = start("open rw native.h5")
    assert "a file of HDF5's own format" in through.fail("newest") and through.ask("read") == "1000x1"
    through.ask("close")
    assert "native.h5" in through.fail("open snapshot native.h5 s")


def test_another_copy_of_the_connector_is_refused(start: Start, isotach: Connector, tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    shutil.copy(built(), tmp_path / "copy")
    copy = Connector(isotach.environment | {"HDF5_PLUGIN_PATH": str(tmp_path / "copy")})
    assert "another copy of libisotach_vol.so" in start("open rw a.h5", connector=copy).fail("newest")


def test_the_header_declares_what_the_connector_exports() -> None:
    header = (HEADER / "isotach_hdf5.h").read_text()
    # Those of an HDF5 library take it first, and have a macro that gives it.
    declared = dict(
        re.findall(r"^(?:const )?\w+ \*?(isotach_h5_\w+)\((const hid_t \*library)?", header, re.MULTILINE)
    )
    macros = set(
        re.findall(r"^#define (isotach_h5_\w+)\(\.\.\.\) \1\(ISOTACH_H5_LIBRARY", header, re.MULTILINE)
    )
    symbols = subprocess.run(
        ["nm", "-D", "--defined-only", built()], check=True, capture_output=True, text=True
    )
    exported = set(re.findall(r" T (isotach_h5_\w+)", symbols.stdout))
    assert declared.keys() == exported and len(exported) == 26
    assert macros == {name for name, library in declared.items() if library}
