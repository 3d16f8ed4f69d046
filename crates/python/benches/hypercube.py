"""One hypercube of fields read through Zarr: from an Isotach view, from Zarr arrays on disk, and by z3fdb from ECMWF's FDB."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import eccodes
import isotach
import numpy as np
import zarr
from isotach.zarr import FieldsStore

from measuring import Report, evict, medians

ROWS, COLUMNS, LEVELS = 721, 1440, 8
PATTERNS = 8
SCHEMA = """
param: Param; step: Step; date: Date; time: Time; levelist: Double; expver: Expver;
[ class, expver, stream, date, time, domain [ type, levtype [ step, levelist?, param ]]]
"""
KEYS = {
    "class": "od",
    "expver": "0001",
    "stream": "oper",
    "date": "20240101",
    "time": "0000",
    "domain": "g",
    "type": "fc",
    "levtype": "pl",
    "param": "130",
}


def messages(steps: int, packing: str) -> Iterator[bytes]:
    """Fields of a quarter of a degree with 16 bits for each value: for each step some levels."""
    base = {
        "setLocalDefinition": 1,
        "class": "od",
        "expver": "0001",
        "stream": "oper",
        "type": "fc",
        "dataDate": 20240101,
        "dataTime": 0,
        "paramId": 130,
        "Ni": COLUMNS,
        "Nj": ROWS,
        "latitudeOfFirstGridPointInDegrees": 90,
        "latitudeOfLastGridPointInDegrees": -90,
        "longitudeOfFirstGridPointInDegrees": 0,
        "longitudeOfLastGridPointInDegrees": 359.75,
        "iDirectionIncrementInDegrees": 0.25,
        "jDirectionIncrementInDegrees": 0.25,
        "packingType": packing,
        "bitsPerValue": 16,
    }
    random = np.random.default_rng(1)
    waves = 250 + 30 * np.sin(np.linspace(0, 40, ROWS))[:, None] * np.cos(np.linspace(0, 60, COLUMNS))
    handles = []
    for _ in range(PATTERNS):
        handle = eccodes.codes_grib_new_from_samples("regular_ll_pl_grib2")
        for name, value in base.items():
            eccodes.codes_set(handle, name, value)
        eccodes.codes_set_values(handle, (waves + random.normal(0, 1, waves.shape)).ravel())
        handles.append(handle)
    for number in range(steps * LEVELS):
        step, level = divmod(number, LEVELS)
        handle = handles[number % PATTERNS]
        eccodes.codes_set(handle, "step", step)
        eccodes.codes_set(handle, "level", 100 * (level + 1))
        yield eccodes.codes_get_message(handle)


class Cube:
    """The hypercube in each of its forms, and what reads it."""

    def __init__(self, folder: Path, steps: int, dtype: str, packing: str, *, with_fdb: bool) -> None:
        """Archives the fields, and copies the view into arrays on disk."""
        self.steps, self.dtype = steps, dtype
        self.folder = folder
        self.levels = [100 * (level + 1) for level in range(LEVELS)]
        isotach.create(f"posix:{folder}/fields?sync=no", SCHEMA).close()
        fdb = self._fdb() if with_fdb else None
        with isotach.open(f"posix:{folder}/fields?sync=no") as store:
            for message in messages(steps, packing):
                store.archive(message)
                if fdb is not None:
                    fdb.archive(message)
        if fdb is not None:
            fdb.flush()
        view = self.view()
        for name, compressors in (("plain", None), ("zstd", "auto")):
            array = zarr.create_array(
                str(folder / name),
                shape=view.shape,
                chunks=view.chunks,
                dtype=view.dtype,
                compressors=compressors,
            )
            for step in range(steps):
                array[step] = view[step]

    def view(self) -> Any:
        """The fields as an array of Isotach's view."""
        store = isotach.open(f"posix:{self.folder}/fields?sync=no")
        request = {**KEYS, "step": [*range(self.steps)], "levelist": self.levels}
        fields = FieldsStore(store, request, dtype=self.dtype)  # type: ignore[arg-type]
        return zarr.open_group(fields, mode="r")["t"]

    def on_disk(self, name: str) -> Any:
        """An array on disk."""
        return zarr.open_array(str(self.folder / name), mode="r")

    def _fdb(self) -> Any:
        root = self.folder / "fdb" / "root"
        root.mkdir(parents=True)
        schema = root.parent / "schema"
        schema.write_text(SCHEMA)
        config = root.parent / "fdb.yaml"
        spaces = f"spaces: [{{handler: Default, roots: [{{path: '{root}'}}]}}]"
        config.write_text(f"type: local\nengine: toc\nschema: {schema}\n{spaces}\n")
        import pyfdb

        return pyfdb.FDB(config)

    def by_z3fdb(self) -> Any:
        """The fields as an array of z3fdb's."""
        import z3fdb

        builder = z3fdb.SimpleStoreBuilder(self.folder / "fdb" / "fdb.yaml")
        single = z3fdb.Chunking.SINGLE_VALUE
        axes = [z3fdb.AxisDefinition(["step"], single), z3fdb.AxisDefinition(["levelist"], single)]
        request = {
            **KEYS,
            "step": [str(step) for step in range(self.steps)],
            "levelist": [str(level) for level in self.levels],
        }
        builder.add_part(request, axes, z3fdb.ExtractorType.GRIB)
        return zarr.open_array(builder.build(), mode="r")


def read(array: Any) -> float:
    """The seconds that all values of an array take, a step at a time."""
    begin = time.perf_counter()
    for step in range(array.shape[0]):
        assert array[step].size == np.prod(array.shape[1:])
    return time.perf_counter() - begin


def measure(report: Report, folder: Path, mib: int, dtype: str, packing: str, rounds: int) -> None:
    """Compares the forms of a hypercube of this size, with warm and with cold files."""
    with_fdb = dtype == "float32" and importlib.util.find_spec("z3fdb") is not None
    field = ROWS * COLUMNS * np.dtype(dtype).itemsize
    steps = max(2, round(mib * 2**20 / field / LEVELS))
    folder = folder / f"{packing}-{dtype}"
    folder.mkdir()
    cube = Cube(folder, steps, dtype, packing, with_fdb=with_fdb)
    arrays: dict[str, Any] = {
        "the view": cube.view(),
        "Zarr on disk": cube.on_disk("plain"),
        "Zarr on disk, zstd": cube.on_disk("zstd"),
    }
    if with_fdb:
        arrays["z3fdb on FDB"] = cube.by_z3fdb()
    compare(arrays)
    total = field * LEVELS * steps / 2**20
    for state, acts in (
        ("warm", [lambda array=array: read(array) for array in arrays.values()]),
        ("cold", [lambda array=array: cold(folder, array) for array in arrays.values()]),
    ):
        seconds = dict(zip(arrays, medians(rounds, *acts), strict=True))
        name = f"{total:.0f} MiB of {dtype}, {packing}, {state}"
        for what, one in seconds.items():
            report.add(f"{name}: {what}", total / one, "MiB/s")
        ratio = seconds["Zarr on disk"] / seconds["the view"]
        report.goal(f"{name}: the view to Zarr on disk", ratio, "", at_least=0.8)
        if with_fdb:
            ratio = seconds["z3fdb on FDB"] / seconds["the view"]
            report.goal(f"{name}: the view to z3fdb", ratio, "", at_least=3)


def cold(folder: Path, array: Any) -> float:
    """As :func:`read`, after all files have left the page cache."""
    evict(folder)
    return read(array)


def compare(arrays: dict[str, Any]) -> None:
    """Fails unless all arrays have the same values."""
    expected: Sequence[Any] | None = None
    for array in arrays.values():
        values = np.asarray(array[0]).reshape(LEVELS, -1)
        if expected is None:
            expected = values
        np.testing.assert_array_equal(values, expected)
