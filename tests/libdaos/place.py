"""A folder with our libdaos under DAOS's name and a pool, and Python programs that run there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "pydaos"


class Place:
    """A folder with the library and a pool `tank`, and programs that run there."""

    def __init__(self, folder: Path, library: Path, isotach: Path) -> None:
        """Copies the library and makes the pool, as the example's page says."""
        lib, root = folder / "lib", folder / "daos"
        lib.mkdir()
        root.mkdir()
        shutil.copy(library, lib / "libdaos.so.2")
        subprocess.run([isotach, "pool", "create", "--store", f"posix:{root}/tank"], check=True)
        here = {"ISOTACH_DAOS_ROOT": f"posix:{root}?sync=no", "LD_LIBRARY_PATH": str(lib)}
        self.environment = os.environ | here | {"PYTHONPATH": str(EXAMPLE)}

    def start(self, *words: str | Path) -> subprocess.Popen[str]:
        """Starts Python with these words."""
        return subprocess.Popen(
            [sys.executable, *words],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *words: str | Path) -> str:
        """What Python prints with these words; it must succeed."""
        process = self.start(*words)
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        return out
