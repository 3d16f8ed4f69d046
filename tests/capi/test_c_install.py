"""What `scripts/capi install` lays out: programs are compiled with pkg-config and find their library by its name."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from needs import skip

from conftest import ROOT, install

PROGRAMS = {
    "isotach": "#include <isotach.h>\nint main(void) { return isotach_version() == 0; }\n",
    "fdb5": "#include <fdb5/api/fdb_c.h>\nint main(void) { return fdb_initialise(); }\n",
}
NAMES = {"isotach": "libisotach.so.0", "fdb5": "libfdb5.so"}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_built_with_pkg_config_and_asks_for_the_library_by_its_name(
    name: str, prefix: Path, tmp_path: Path
) -> None:
    if shutil.which("pkg-config") is None:
        skip("pkg-config", "there is no pkg-config")
    source, program = tmp_path / "program.c", tmp_path / "program"
    source.write_text(PROGRAMS[name])
    here = os.environ | {"PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")}
    asked = ["pkg-config", "--cflags", "--libs", name]
    flags = subprocess.run(asked, env=here, check=True, capture_output=True, text=True).stdout.split()
    subprocess.run(["cc", source, "-o", program, *flags], check=True)
    needed = subprocess.run(["readelf", "-d", program], check=True, capture_output=True, text=True).stdout
    assert f"[{NAMES[name]}]" in needed
    subprocess.run([program], env=os.environ | {"LD_LIBRARY_PATH": str(prefix / "lib")}, check=True)


def test_a_package_is_laid_out_below_destdir_with_the_paths_of_its_prefix(tmp_path: Path) -> None:
    install("fdb5", "/usr", DESTDIR=str(tmp_path), LIBDIR="lib/x86_64-linux-gnu")
    lib = tmp_path / "usr" / "lib" / "x86_64-linux-gnu"
    told = (lib / "pkgconfig" / "fdb5.pc").read_text()
    assert "libdir=/usr/lib/x86_64-linux-gnu\n" in told and "Version: 5." in told
    assert (lib / "libfdb5.so.0d").resolve() == lib / "libfdb5.so"
    assert (tmp_path / "usr" / "include" / "fdb5" / "api" / "fdb_c.h").is_file()


def test_wrong_words_are_a_usage_error() -> None:
    for words in ([], ["install"], ["install", "fdb5", "relative"], ["install", "fdb6", "/x"]):
        done = subprocess.run([ROOT / "scripts" / "capi", *words], capture_output=True, text=True)
        assert done.returncode == 2 and "usage: scripts/capi" in done.stderr, words
