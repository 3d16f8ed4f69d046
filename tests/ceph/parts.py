"""Those that make load on a store, of whom it is known exactly what they have flushed, and when.

What must stay true: a reader takes nothing for right but the whole bytes of a version that was there while it read, and
none older than what was flushed before it asked.
"""

from __future__ import annotations

import errno
import json
import os
import subprocess
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import BinaryIO, Self

from engine import TIMEOUT_S, RadosStore, Store, key_of
from fields import KEPT, STEP_SIZE, check_steps, check_version, steps_request, version_bytes

PIPES = 4000
STEPS_AT_ONCE = 1
LEAST_PAUSE_S = 0.001


class Part(threading.Thread, ABC):
    """One that works beside the test. What goes wrong in it is kept for whoever waits for it."""

    def __init__(self, store: Store) -> None:
        """It begins at once."""
        super().__init__(daemon=True)
        self.store, self.asked_to_end, self.failure = store, threading.Event(), ""
        self.process: subprocess.Popen[bytes] | None = None
        self.folder = tempfile.TemporaryDirectory(prefix="isotach-part-")
        self.complaints = Path(self.folder.name, "complaints")
        self.start()

    def __enter__(self) -> Self:
        """As it is."""
        return self

    def __exit__(self, *_: object) -> None:
        """Ends it by force, if it has not ended."""
        self.kill()

    def run(self) -> None:
        """Works until it is asked to end."""
        try:
            self.work()
        except Exception as error:  # Whatever it is, the test is to fail of it.
            self.failure = f"{type(self).__name__}: {type(error).__name__}: {error}"

    @abstractmethod
    def work(self) -> None:
        """What this one does."""

    def begin(self, *words: str | Path) -> subprocess.Popen[bytes]:
        """Starts the program, which is killed if the test fails."""
        with self.complaints.open("wb") as complaints:
            self.process = self.store.start(complaints, *words)
        return self.process

    def client(self, *words: object) -> subprocess.Popen[bytes]:
        """A client of the program's own workload."""
        assert isinstance(self.store, RadosStore)
        return self.begin("bench", "client", *map(str, words), "--store", self.store.uri)

    def complaint(self) -> str:
        """What the program has said on standard error."""
        return self.complaints.read_text(errors="replace")

    def ended_well(self, last_words: bytes) -> int:
        """Waits for a client; how many fields it has done."""
        assert self.process is not None
        said, _ = self.process.communicate(last_words, timeout=TIMEOUT_S)
        assert (self.process.returncode, self.complaint()) == (0, ""), self.complaint()
        return json.loads(said.splitlines()[-1])["fields"]

    def kill(self) -> None:
        """Ends it by force."""
        self.asked_to_end.set()
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    @abstractmethod
    def report(self) -> str:
        """What it has done and how long it was held up."""


class Replacer(Part):
    """One process that replaces a field by its next version, over and over, and flushes.

    It reads each version from a pipe of its own. When it opens a pipe it has taken what was in the one before, and
    flushed it, where it flushes after each: so we know what is flushed, and when.
    """

    def __init__(self, store: Store, writer: int, flush_every: int = 1) -> None:
        """The writer's number is the step of its field."""
        self.writer, self.flush_every = writer, flush_every
        self.fed, self.given, self.times = 0, 0, [time.monotonic()]
        super().__init__(store)

    @property
    def flushed(self) -> int:
        """How many versions are flushed. Of one group more it may not be known."""
        taken = max(len(self.times) - 2, 0)
        return taken // self.flush_every * self.flush_every

    def longest(self) -> float:
        """The longest time between two flushes, of which the first is left out: it has the start of the process."""
        times = self.times[1:]
        return max(after - before for before, after in zip(times, times[1:], strict=False))

    def work(self) -> None:
        """Feeds the process."""
        pipes = [Path(self.folder.name, str(number)) for number in range(PIPES)]
        os.mkfifo(pipes[0])
        every = ["--flush-every", str(self.flush_every)]
        self.begin("write", "--json", *every, "--key", key_of(self.writer), *pipes)
        for number, pipe in enumerate(pipes):
            with self.opened(pipe) as opened:
                self.times.append(time.monotonic())
                is_last = self.asked_to_end.is_set()
                if not is_last:
                    os.mkfifo(pipes[number + 1])
                self.fed += 1
                opened.write(version_bytes(self.writer, number))
            self.given += 1
            pipe.unlink()
            if is_last:
                return self.take_leave()
        raise AssertionError(f"no pipe is left of {PIPES}")

    def opened(self, pipe: Path) -> BinaryIO:
        """The pipe, as soon as the process reads it."""
        assert self.process is not None
        while True:
            try:
                opened = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
            except OSError as error:
                assert error.errno == errno.ENXIO, error
            else:
                os.set_blocking(opened, True)
                return os.fdopen(opened, "wb")
            assert self.process.poll() is None, self.complaint()
            time.sleep(LEAST_PAUSE_S)

    def take_leave(self) -> None:
        """The next pipe is not there, of which the process tells; of nothing else may it complain."""
        assert self.process is not None
        said, _ = self.process.communicate(timeout=TIMEOUT_S)
        self.times.append(time.monotonic())
        complaint = self.complaint()
        assert "cannot open it: No such file" in complaint and complaint.count("\n") == 1, complaint
        assert json.loads(said)["fields"] == self.fed, (said, self.fed)

    def check(self) -> None:
        """What was flushed last is there."""
        assert self.store.read(self.writer) == version_bytes(self.writer, self.fed - 1)

    def report(self) -> str:
        """See Part."""
        return f"{self.flushed} versions, longest flush {self.longest():.2f} s"


class Streamer(Part):
    """Processes, one after the other, that archive steps of a member: a hundred fields and a flush each."""

    def __init__(self, store: RadosStore, member: int) -> None:
        """The member is its own."""
        self.member, self.steps, self.longest_s = member, 0, 0.0
        super().__init__(store)

    def work(self) -> None:
        """Archives."""
        while not self.asked_to_end.is_set():
            begin = time.monotonic()
            self.client("archive", STEP_SIZE, self.member, 1, self.steps, STEPS_AT_ONCE)
            assert self.ended_well(b"go\n") == 100 * STEPS_AT_ONCE
            self.steps += STEPS_AT_ONCE
            self.longest_s = max(self.longest_s, time.monotonic() - begin)

    def check(self) -> None:
        """All that was flushed is there, and nothing else."""
        request = steps_request(self.member, range(self.steps))
        check_steps(self.store.ok("read", "--strict", request, "-o", "-"), self.member, range(self.steps))

    def report(self) -> str:
        """See Part."""
        return f"{self.steps * 100} fields, longest process of {STEPS_AT_ONCE * 100} {self.longest_s:.2f} s"


class StepReader(Part):
    """One process that reads a step which is there, over and over, and checks each field."""

    fields = 0

    def work(self) -> None:
        """Reads until it is asked to end."""
        process = self.client("retr1", STEP_SIZE, KEPT, 1, 0, 1, "loop")
        assert process.stdin is not None
        process.stdin.write(b"go\n")
        process.stdin.flush()
        while not self.asked_to_end.wait(0.1):
            assert process.poll() is None, self.complaint()
        self.fields = self.ended_well(b"end\n")
        assert self.fields > 0

    def report(self) -> str:
        """See Part."""
        return f"{self.fields} fields in one process"


class Follower(Part):
    """Processes, one after the other, that read the fields that are being replaced."""

    def __init__(self, store: Store, replacers: list[Replacer]) -> None:
        """They have flushed something."""
        self.replacers, self.reads, self.longest_s = replacers, 0, 0.0
        super().__init__(store)

    def work(self) -> None:
        """Reads them in turn."""
        while not self.asked_to_end.is_set():
            self.look(self.replacers[self.reads % len(self.replacers)])
            self.reads += 1

    def look(self, replacer: Replacer) -> None:
        """Reads one."""
        least, begin = replacer.flushed - 1, time.monotonic()
        found = self.store.read(replacer.writer)
        self.longest_s = max(self.longest_s, time.monotonic() - begin)
        version = check_version(found, replacer.writer)
        assert least <= version < replacer.fed, f"version {version} where {least} was flushed"

    def report(self) -> str:
        """See Part."""
        return f"{self.reads} processes, longest read {self.longest_s:.2f} s"
