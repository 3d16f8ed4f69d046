"""Optional packages: imported where they are used, and named by their extra where they are absent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Says which extra an import in the block needs.

    Raises
    ------
    ImportError
        The package, or a library that it loads, is absent.
    """
    try:
        yield
    except (ImportError, RuntimeError) as error:
        raise ImportError(f"{error}: pip install isotach[{name}]") from error
