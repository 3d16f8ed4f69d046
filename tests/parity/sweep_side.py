"""FDB's half of the sweep: archives the messages of each file in a store of its own, and lists what is there.

It runs apart from the test session because an error in a native library may end the process. Standard input is one
JSON job, `{"schema": FILE, "scratch": DIR, "files": [FILE, ...]}`; standard output one JSON object per file, flushed at
once: `{"errors": [TEXT|null, ...], "keys": [...]}`, with an entry of `errors` for each message.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import eccodes
import pyfdb

from fdb_side import claim_stdout, configuration


def messages(path: Path) -> list[bytes | str]:
    """The messages of a file, and in place of what cannot be read as one, why."""
    found: list[bytes | str] = []
    with path.open("rb") as stream:
        while True:
            try:
                handle = eccodes.codes_grib_new_from_file(stream)
            except eccodes.CodesInternalError as error:
                return [*found, f"ecCodes: {error}"]
            if handle is None:
                return found
            found.append(eccodes.codes_get_message(handle))
            eccodes.codes_release(handle)


def refusal(archive: Any, message: bytes | str) -> str | None:
    """Why a message is refused, or none."""
    if isinstance(message, str):
        return message
    try:
        archive(message)
    except Exception as error:  # noqa: BLE001 (pyfdb raises many types)
        return str(error)
    return None


def sweep(root: Path, schema: str, path: Path) -> dict[str, Any]:
    """Archives a file's messages one by one, and lists all."""
    config = configuration(str(root), schema)
    fdb = pyfdb.FDB(config)
    errors = [refusal(fdb.archive, message) for message in messages(path)]
    fdb.flush()
    keys = [element.combined_key() for element in pyfdb.FDB(config).list({})]
    return {"errors": errors, "keys": keys}


def main() -> None:
    answers = claim_stdout()
    job = json.load(sys.stdin)
    root = Path(job["scratch"]) / "root"
    for file in job["files"]:
        root.mkdir(parents=True)
        answer = sweep(root, job["schema"], Path(file))
        print(json.dumps(answer), file=answers, flush=True)
        shutil.rmtree(root)


if __name__ == "__main__":
    main()
