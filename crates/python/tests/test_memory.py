"""How much memory a long retrieval takes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import isotach

from conftest import SCHEMA, key

STEPS, PARAMS = 1000, 100
RESIDENT_KIB_MAX = 200_000_000 // 1024
PROGRAM = """
import sys, isotach
from pathlib import Path
fields = sum(len(field) == 100 for field in isotach.open(Path(sys.argv[1])).retrieve(sys.argv[2]))
status = Path("/proc/self/status").read_text().split()
print(fields, status[status.index("VmHWM:") + 1])
"""


def test_a_hundred_thousand_fields_are_iterated_in_200_megabytes(tmp_path: Path) -> None:
    with isotach.create(tmp_path / "fields", SCHEMA) as store:
        for step in range(STEPS):
            for param in range(1, PARAMS + 1):
                store.archive(bytes(100), key(step=step, param=param))
    request = isotach.Request(key(step=range(STEPS), param=range(1, PARAMS + 1)))
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "fields"), str(request)]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    fields, resident_kib = map(int, told.stdout.split())
    assert fields == STEPS * PARAMS
    assert resident_kib < RESIDENT_KIB_MAX, f"{resident_kib} KiB"
