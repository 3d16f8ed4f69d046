"""earthkit-data reads and writes a store through its source and target for FDB."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import isotach
import pytest

from grib_messages import surface
from pyfdb_keys import SCHEMA

SCRIPT = """
import json, sys

import isotach.pyfdb

isotach.pyfdb.install()
import earthkit.data as ek

config, file = json.loads(sys.argv[1]), sys.argv[2]
fields = ek.from_source("file", file).to_fieldlist()
fields[0].to_target("fdb", config=config, userconfig={"useSubToc": True})
ek.to_target("fdb", data=fields[1], config=config)
target = ek.create_target("fdb", config=config)
target.write(fields)
target.flush()
request = {"class": "od", "expver": "0001", "stream": "oper", "domain": "g", "date": 20240101, "time": 0}
request |= {"type": "fc", "levtype": "sfc", "param": "2t", "step": [6, 0]}


def means(**options):
    return [float(field.values.mean()) for field in ek.from_source("fdb", request, **options).to_fieldlist()]


print(json.dumps({
    "stream": means(config=config),
    "file": means(config=config, userconfig={"useSubToc": True}, stream=False),
    "lazy": sorted(means(config=config, lazy=True, user_config={"useSubToc": True})),
    "environment": means(),
}))
"""


@pytest.mark.skipif(
    importlib.util.find_spec("earthkit") is None or importlib.util.find_spec("earthkit.data") is None,
    reason="earthkit-data is not installed: its source and target for FDB",
)
def test_earthkit_reads_and_writes_as_if_it_were_an_fdb(tmp_path: Path) -> None:
    isotach.create(tmp_path / "fields", SCHEMA).close()
    config = {"spaces": [{"pool": f"posix:{tmp_path / 'fields'}"}]}
    (tmp_path / "messages.grib").write_bytes(surface(0) + surface(6))
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("FDB", "ISOTACH"))
    }
    environment |= {"FDB5_CONFIG": json.dumps(config), "HOME": str(tmp_path)}
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(config), str(tmp_path / "messages.grib")],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    means = json.loads(run.stdout.splitlines()[-1])
    assert means == {"stream": [6, 0], "file": [6, 0], "lazy": [0, 6], "environment": [6, 0]}
