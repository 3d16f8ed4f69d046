"""A file with everything that h5py can write, and what a file says through h5py. Run as `everything.py make|tell FILE`."""

from __future__ import annotations

import json
import sys

import h5py
import numpy as np


def values(file: h5py.File) -> None:
    """Datasets of numbers, with all layouts and properties."""
    file["scalar"] = 3.5
    file["null"] = h5py.Empty("i4")
    file["plain"] = np.arange(1000, dtype="f4").reshape(10, 100) / 10
    file["big_endian"] = np.arange(5, dtype=">i2")
    file["half"] = np.array([0.1, 2], dtype="f2")
    file["long_double"] = np.array([1.25], dtype=np.longdouble)
    file["complex"] = np.array([1 + 2j, 3 - 4j])
    file["opaque"] = np.array([b"\x01\x02\x03"], dtype="V3")
    file["dates"] = np.array(["2020-01-01"], dtype="M8[s]").astype(h5py.opaque_dtype("M8[s]"))
    file.create_dataset("empty", shape=(0, 4), dtype="u8")
    file.create_dataset("growing", shape=(0,), maxshape=(None,), dtype="i4")
    packed = {"chunks": (16, 32), "compression": "gzip", "shuffle": True, "fletcher32": True}
    file.create_dataset("packed", data=np.arange(4000).reshape(40, 100), maxshape=(None, 100), **packed)
    file.create_dataset("scaled", data=np.arange(100.0), chunks=(10,), scaleoffset=2)
    file.create_dataset("chunked", data=np.arange(35).reshape(5, 7), chunks=(2, 3))
    sparse = file.create_dataset("sparse", shape=(1000, 1000), chunks=(100, 100), dtype="f8", fillvalue=7.5)
    sparse[500:510, 500] = 1
    file.create_dataset("never_filled", shape=(4,), dtype="i4", fillvalue=9, fill_time="never")


def kinds(file: h5py.File) -> None:
    """Datasets of texts, sequences, enumerations, compounds, references and committed types."""
    file["fixed"] = np.array([b"ab", b"cde"], dtype="S5")
    file.create_dataset("texts", data=["one", "two\u20ac", "", "x" * 300], dtype=h5py.string_dtype())
    filled = file.create_dataset(
        "filled_texts", (30,), chunks=(4,), dtype=h5py.string_dtype(), fillvalue="filled"
    )
    filled[3] = "set"
    sequences = file.create_dataset("sequences", (3,), dtype=h5py.vlen_dtype("i4"))
    sequences[0], sequences[2] = [1, 2, 3], [4]
    file.create_dataset("enum", data=[0, 1, 2, 1], dtype=h5py.enum_dtype({"R": 0, "G": 1, "B": 2}, "i1"))
    file["bool"] = [True, False]
    fields = [("a", "i4"), ("b", "f8", (2,)), ("s", h5py.string_dtype()), ("r", h5py.ref_dtype)]
    compound = file.create_dataset("compound", (2,), dtype=np.dtype(fields))
    compound[0] = (1, (1.5, 2.5), "hello", file["packed"].ref)
    compound[1] = (2, (0, 0), "", file.ref)
    references = file.create_dataset("references", (3,), dtype=h5py.ref_dtype)
    references[0], references[1] = file.ref, file["group/below"].ref
    file["committed"] = np.dtype([("x", "f4"), ("y", "f4")])
    file["committed"].attrs["doc"] = "a datatype"
    file.create_dataset("of_committed", (2,), dtype=file["committed"])[0] = (1, 2)


def make(path: str) -> None:
    """Writes the file."""
    with h5py.File(path, "w", track_order=True) as file:
        file.create_group("group/below", track_order=True)
        values(file)
        kinds(file)
        file.attrs["title"] = "everything"
        file.attrs["numbers"] = np.arange(6).reshape(2, 3)
        file.attrs["nothing"] = h5py.Empty("f4")
        file.attrs["texts"] = ["a", "b\u00e9", ""]
        file.attrs.create(
            "committed", np.array((1, 2), dtype=file["committed"].dtype), dtype=file["committed"]
        )
        file["packed"].attrs["reference"] = file["scalar"].ref
        file["packed"].attrs["long"] = np.arange(7_000, dtype="f8")
        file["soft"], file["dangling"] = h5py.SoftLink("/group/below"), h5py.SoftLink("nowhere")
        file["external"] = h5py.ExternalLink("other.h5", "/a/b")
        file["zzz_hard"] = file["packed"]
        file["group/cycle"] = file["/"]
        for name in ("z", "a", "m"):
            file["group/below"][name] = name
        file["x"], file["along_x"] = np.arange(3.0), np.arange(3)
        file["x"].make_scale("x")
        file["along_x"].dims[0].attach_scale(file["x"])
        file["along_x"].dims[0].label = "X"


def plain(file: h5py.File, value: object) -> object:
    """A value as JSON, with references as the numbers of the objects in the order of `tell`."""
    if isinstance(value, h5py.Reference):
        return sorted(names_of(file, file[value])) if value else None
    if isinstance(value, np.ndarray) and value.dtype.hasobject:
        return [plain(file, one) for one in value.ravel()]
    if isinstance(value, np.void) and value.dtype.names and value.dtype.hasobject:
        return [plain(file, value[name]) for name in value.dtype.names]
    if isinstance(value, np.ndarray | np.generic):
        return value.tobytes().hex()
    return value.hex() if isinstance(value, bytes) else str(value)


def names_of(file: h5py.File, item: h5py.HLObject) -> list[str]:
    """The names of an object in the root group, or its own name."""
    found = [name for name in file if isinstance(file.get(name, getlink=True), h5py.HardLink)]
    return [name for name in found if file[name] == item] or [item.name]


def dataset(file: h5py.File, item: h5py.Dataset) -> dict[str, object]:
    """What a dataset says."""
    properties = item.id.get_create_plist()
    # What a program set of a filter; HDF5 adds values to it.
    filters = [
        (properties.get_filter(number)[0], item.compression_opts)
        for number in range(properties.get_nfilters())
    ]
    numbers = not item.dtype.hasobject
    # HDF5 sets the fill time of variable-length data itself in native files.
    fill_time = properties.get_fill_time() if numbers else ""
    return {
        "type": str(item.dtype),
        "enum": str(h5py.check_enum_dtype(item.dtype)),
        "committed": item.id.get_type().committed(),
        "shape": str((item.shape, item.maxshape, item.chunks)),
        "filters": str(filters),
        "fill": f"{item.fillvalue!r} {fill_time}",
        "stored": item.id.get_storage_size() if numbers and item.chunks else None,
        "value": None if item.shape is None or item.name == "/never_filled" else plain(file, item[()]),
    }


def tell(path: str) -> dict[str, object]:
    """What the file says."""
    told: dict[str, object] = {}
    # HDF5 shows a fill value with variable-length parts only in files that it may write to.
    with h5py.File(path, "r+") as file:

        def walk(group: h5py.Group, above: str) -> None:
            for name in group:
                link, here = group.get(name, getlink=True), f"{above}/{name}"
                if not isinstance(link, h5py.HardLink):
                    told[here] = [type(link).__name__, *vars(link).values()]
                    continue
                show(group[name], here)

        def show(item: h5py.HLObject, here: str) -> None:
            if item.id in seen:
                told[here] = ["the same as", seen[item.id]]
                return
            seen[item.id] = here
            attributes = [
                [name, str(item.attrs.get_id(name).dtype), plain(file, item.attrs[name])]
                for name in item.attrs
            ]
            told[here] = [type(item).__name__, attributes]
            if isinstance(item, h5py.Dataset):
                told[here] += [dataset(file, item)]
            elif isinstance(item, h5py.Datatype):
                told[here] += [str(item.dtype)]
            else:
                walk(item, here)

        seen: dict[object, str] = {}
        show(file["/"], "")
    return told


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2])
    else:
        print(json.dumps(tell(sys.argv[2])))
