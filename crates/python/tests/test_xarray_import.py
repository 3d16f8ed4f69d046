"""What is needed is imported when it is used, and its absence names the extra."""

from __future__ import annotations

import subprocess
import sys

import pytest


def run(code: str) -> str:
    """The output of a new interpreter."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_the_package_itself_imports_no_optional_one() -> None:
    loaded = run("import isotach, sys; print(*{'numpy', 'xarray', 'eccodes', 'dask'} & sys.modules.keys())")
    assert loaded.split() == []


@pytest.mark.parametrize(
    ("absent", "module"),
    [("xarray", "isotach.xarray"), ("eccodes", "isotach._xarray.message")],
)
def test_an_absent_package_names_the_extra(absent: str, module: str) -> None:
    code = f"import sys; sys.modules[{absent!r}] = None\ntry:\n import {module}\nexcept ImportError as e: print(e)"
    assert run(code).rstrip().endswith("pip install isotach[xarray]")


def test_xarray_finds_the_engine_and_the_accessor_by_the_entry_point() -> None:
    code = "import xarray; print('isotach' in xarray.backends.list_engines(), hasattr(xarray.Dataset, 'isotach'))"
    assert run(code).split() == ["True", "True"]
