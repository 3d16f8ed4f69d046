"""FDB's half of the parity tests: one process that archives files and answers queries through pyfdb.

It runs apart from the test session because an error in a native library may end the process. Standard input
is one JSON job:

    {"root": DIR, "schema": FILE, "archive": [{"path", "overlay"} or {"path", "identifier"}, ...],
     "queries": [{"op": "list"|"inspect"|"retrieve", "request": "k=v,..."}, ...]}

and standard output one JSON object per line: `{"error": TEXT|null}` for each file and
`{"error", "keys"|"data"}` for each query, in order, flushed at once, so that the parent can say which one died.
"""

from __future__ import annotations

import base64
import json
import os
import sys
from pathlib import Path
from typing import Any, TextIO

import eccodes
import pyfdb


def configuration(root: str, schema: str) -> dict[str, Any]:
    """A local FDB with one root, which needs nothing from FDB_HOME."""
    spaces = [{"handler": "Default", "roots": [{"path": root}]}]
    return {"type": "local", "engine": "toc", "schema": schema, "spaces": spaces}


def selection(request: str) -> dict[str, str]:
    """The request's text as the mapping that pyfdb takes; lists and ranges stay text, which pyfdb splits."""
    return dict(pair.split("=", 1) for pair in request.split(",")) if request else {}


def mars_keys(handle: int) -> dict[str, str]:
    """The MARS namespace of one message."""
    keys: dict[str, str] = {}
    iterator = eccodes.codes_keys_iterator_new(handle, "mars")
    while eccodes.codes_keys_iterator_next(iterator):
        name = eccodes.codes_keys_iterator_get_name(iterator)
        keys[name] = eccodes.codes_get_string(handle, name)
    eccodes.codes_keys_iterator_delete(iterator)
    return keys


def archive_with_overlay(fdb: pyfdb.FDB, path: Path, overlay: dict[str, str]) -> None:
    """FDB takes a whole identifier or none: message keys and given keys are joined here."""
    with path.open("rb") as stream:
        while (handle := eccodes.codes_grib_new_from_file(stream)) is not None:
            fdb.archive(eccodes.codes_get_message(handle), mars_keys(handle) | overlay)
            eccodes.codes_release(handle)


def archive(config: dict[str, Any], file: dict[str, Any]) -> None:
    """Archives one file and flushes."""
    fdb = pyfdb.FDB(config)
    path = Path(file["path"])
    try:
        if "identifier" in file:
            fdb.archive(path.read_bytes(), file["identifier"])
        elif file.get("overlay"):
            archive_with_overlay(fdb, path, file["overlay"])
        else:
            fdb.archive(path.read_bytes())
    finally:
        fdb.flush()


def query(config: dict[str, Any], asked: dict[str, str]) -> dict[str, Any]:
    """Runs one query on a handle of its own, since an open handle does not see later flushes."""
    fdb = pyfdb.FDB(config)
    chosen = selection(asked["request"])
    if asked["op"] == "retrieve":
        with fdb.retrieve(chosen) as handle:
            return {"data": base64.b64encode(handle.readall()).decode()}
    elements = fdb.list(chosen) if asked["op"] == "list" else fdb.inspect(chosen)
    return {"keys": [element.combined_key() for element in elements]}


def claim_stdout() -> TextIO:
    """Keeps standard output for the answers and sends what FDB itself prints there to standard error."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return answers


def main() -> None:
    answers = claim_stdout()

    def report(answer: dict[str, Any]) -> None:
        print(json.dumps(answer), file=answers, flush=True)

    job = json.load(sys.stdin)
    config = configuration(job["root"], job["schema"])
    for file in job["archive"]:
        try:
            archive(config, file)
            report({"error": None})
        except Exception as error:  # noqa: BLE001 (pyfdb raises many types)
            report({"error": str(error)})
    for asked in job["queries"]:
        try:
            report({"error": None} | query(config, asked))
        except Exception as error:  # noqa: BLE001 (pyfdb raises many types)
            report({"error": str(error)})


if __name__ == "__main__":
    main()
