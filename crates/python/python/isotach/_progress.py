"""A bar on a terminal for what takes long."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType

_BEGIN_SECONDS = 1.0
_EVERY_SECONDS = 0.1
_WIDTH = 30

Report = Callable[[int, int, int | None], object]


class Progress:
    """A bar that appears after a second, and disappears at the end."""

    def __init__(self, what: str) -> None:
        """Nothing is shown before a second has passed."""
        self._what = what
        self._next = time.monotonic() + _BEGIN_SECONDS
        self._shown = False

    @classmethod
    def of(cls, progress: Report | bool | None, what: str) -> _Given | Progress:
        """The caller's function, a bar, or nothing."""
        if callable(progress):
            return _Given(progress)
        wanted = sys.stderr is not None and sys.stderr.isatty() if progress is None else progress
        return cls(what) if wanted else _Given(None)

    def __call__(self, fields: int, done: int, total: int | None) -> None:
        """Shows the state, at most ten times a second."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _EVERY_SECONDS
        self._shown = True
        bar = ""
        if total:
            filled = min(_WIDTH, _WIDTH * done // total)
            bar = f" [{'#' * filled}{'.' * (_WIDTH - filled)}]"
        print(f"\r{self._what}{bar} {fields} fields, {size(done)}", end="\033[K", file=sys.stderr, flush=True)

    def __enter__(self) -> Report:
        """The function that shows the state."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Removes the bar."""
        if self._shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


class _Given:
    """A function of the caller's, or none."""

    def __init__(self, report: Report | None) -> None:
        self._report = report

    def __enter__(self) -> Report | None:
        return self._report

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None


def size(number: float) -> str:
    """A number of bytes, as in ``1.5 MiB``."""
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if number < 1024:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1024
    return f"{number:.1f} PiB"
