"""What tests need that not every machine has, and how a test is skipped where it is missing."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def skip(need: str, why: str) -> NoReturn:
    """Skips the running test, or fails it where ISOTACH_REQUIRE has the need among its words, which commas part."""
    if need in os.environ.get("ISOTACH_REQUIRE", "").split(","):
        pytest.fail(f"the test must run, since ISOTACH_REQUIRE names {need}: {why}", pytrace=False)
    pytest.skip(why)
