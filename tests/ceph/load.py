"""Writers and readers on a store all at once, while a test breaks what is under them."""

from __future__ import annotations

import time
from collections.abc import Callable

from engine import TIMEOUT_S, RadosStore, Store
from fields import KEPT, STEP_SIZE
from parts import Follower, Part, Replacer, StepReader, Streamer

# No flush takes so long unless it is blocked.
BLOCKED_S = 3


class Load:
    """Writers and readers. `with` it they all work; in its end all that was flushed is checked."""

    def __init__(self, store: Store, replacers: int = 2) -> None:
        """Steps are archived too where the store is one whose URI says all."""
        self.store, self.count = store, replacers
        self.replacers: list[Replacer] = []
        self.streamers: list[Streamer] = []
        self.readers: list[Part] = []

    def __enter__(self) -> Load:
        """Begins, and waits until everyone has done something."""
        self.store.ok("init")
        self.replacers = [Replacer(self.store, writer) for writer in range(self.count)]
        if isinstance(self.store, RadosStore):
            self.keep_a_step(self.store)
            self.streamers = [Streamer(self.store, member) for member in (1, 2)]
            self.readers = [StepReader(self.store)]
        self.more(1)
        self.readers.append(Follower(self.store, self.replacers))
        self.more(5)
        return self

    def __exit__(self, kind: type | None, *_: object) -> None:
        """Ends it; by force, if something has gone wrong."""
        try:
            if kind is None:
                self.end()
        finally:
            for part in self.parts():
                part.kill()

    def keep_a_step(self, store: RadosStore) -> None:
        """Archives what is read all the while."""
        words = ["bench", "client", "archive", str(STEP_SIZE), str(KEPT), "1", "0", "1", "--store", store.uri]
        store.ok(*words, data=b"go\n")

    def parts(self) -> list[Part]:
        """All of it."""
        return [*self.replacers, *self.streamers, *self.readers]

    def until(self, holds: Callable[[], bool], what: str) -> None:
        """Waits for something; ends at once if a part has failed."""
        end = time.monotonic() + TIMEOUT_S
        while not holds():
            failures = [part.failure for part in self.parts() if part.failure]
            assert not failures, "; ".join(failures)
            assert time.monotonic() < end, f"not within {TIMEOUT_S} s: {what}"
            time.sleep(0.02)

    def more_versions(self, count: int) -> None:
        """Waits until so many versions more are flushed of each replaced field."""
        enough = [(replacer, replacer.flushed + count) for replacer in self.replacers]
        self.until(lambda: all(replacer.flushed >= flushed for replacer, flushed in enough), "more versions")

    def more(self, versions: int) -> None:
        """Waits for that, and for more steps of each member, and reads of the replaced fields."""
        steps = [(streamer, streamer.steps) for streamer in self.streamers]
        followers = [part for part in self.readers if isinstance(part, Follower)]
        reads = [(follower, follower.reads + 2) for follower in followers]
        self.more_versions(versions)
        self.until(lambda: all(streamer.steps > count for streamer, count in steps), "more steps")
        self.until(lambda: all(follower.reads >= count for follower, count in reads), "more reads")

    def blocked(self) -> None:
        """Waits until nothing has been flushed for a while."""

        def is_blocked() -> bool:
            return all(time.monotonic() - replacer.times[-1] > BLOCKED_S for replacer in self.replacers)

        self.until(is_blocked, "all writers are blocked")

    def end(self) -> None:
        """Asks all to end and checks what they have done."""
        for part in self.parts():
            part.asked_to_end.set()
        self.until(lambda: not any(part.is_alive() for part in self.parts()), "all have ended")
        failures = [part.failure for part in self.parts() if part.failure]
        assert not failures, "; ".join(failures)
        for writer in [*self.replacers, *self.streamers]:
            writer.check()
        self.store.ok("verify", "--data")

    def longest(self) -> float:
        """The longest time between two flushes of one writer."""
        return max(replacer.longest() for replacer in self.replacers)

    def report(self) -> str:
        """A line for each part."""
        return "\n".join(f"    {type(part).__name__}: {part.report()}" for part in self.parts())
