"""`isotach h5`: listing, dumping and copying of files of either kind."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import HERE, NATIVE, ROOT, Connector, library

KINDS = {"native": "native", "isotach": "isotach"}


def command(
    folder: Path, *arguments: str, code: int = 0, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Runs `isotach h5` in a folder, with the HDF5 library of h5py's wheel."""
    program = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug" / "isotach"
    assert program.is_file(), f"there is no {program}: cargo build -p isotach-cli"
    done = Connector({}).run(
        [program, "h5", *arguments], folder=folder, **({"ISOTACH_HDF5": str(library())} | environment)
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done


def fails(folder: Path, *arguments: str, **environment: str) -> str:
    """Runs a command that fails, and returns its one line."""
    done = command(folder, *arguments, code=1, **environment)
    assert done.stderr.startswith("isotach: ") and done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def python(connector: Connector, script: str, folder: Path) -> str:
    """Runs a script."""
    done = connector.run([sys.executable, "-c", "import h5py, numpy as np\n" + script], folder=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def everything(connector: Connector, action: str, path: Path) -> str:
    """Makes a file, or tells what is in one."""
    done = connector.run([sys.executable, HERE / "everything.py", action, path])
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def connector_of(kind: str, isotach: Connector) -> Connector:
    """The connector for a kind of files."""
    return isotach if kind == "isotach" else NATIVE


@pytest.fixture(scope="module")
def files(isotach: Connector, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file of each kind, with everything in it."""
    folder = tmp_path_factory.mktemp("everything")
    for kind in KINDS:
        everything(connector_of(kind, isotach), "make", folder / f"{kind}.h5")
    return folder


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("to", KINDS)
def test_a_copy_says_through_h5py_what_its_source_says(
    kind: str, to: str, files: Path, isotach: Connector, tmp_path: Path
) -> None:
    source = str(files / f"{kind}.h5")
    expected = json.loads(everything(connector_of(kind, isotach), "tell", Path(source)))
    assert "checked" in command(tmp_path, "copy", source, "copy.h5", "--to", to).stdout
    copy = json.loads(everything(connector_of(to, isotach), "tell", tmp_path / "copy.h5"))
    assert list(copy) == list(expected)
    for path, told in expected.items():
        assert copy[path] == told, path
    # And back.
    command(tmp_path, "copy", "copy.h5", "back.h5", "--to", kind)
    assert json.loads(everything(connector_of(kind, isotach), "tell", tmp_path / "back.h5")) == expected


def test_the_other_kind_is_what_a_file_is_copied_to(files: Path, tmp_path: Path) -> None:
    command(tmp_path, "copy", str(files / "native.h5"), "one.h5")
    assert b"isotach" in (tmp_path / "one.h5").read_bytes()[:16]
    command(tmp_path, "copy", "one.h5", "two.h5", "--no-check")
    assert (tmp_path / "two.h5").stat().st_size > 4096


def test_the_connector_in_the_environment_does_not_change_a_copy(
    files: Path, isotach: Connector, tmp_path: Path
) -> None:
    command(tmp_path, "copy", str(files / "native.h5"), "copy.h5", **isotach.environment)
    assert b"isotach" in (tmp_path / "copy.h5").read_bytes()[:16]


def test_chunks_are_copied_as_they_are_stored(isotach: Connector, tmp_path: Path) -> None:
    script = """
chunk = np.arange(64, dtype="i4")
with h5py.File("file.h5", "w") as file:
    data = file.create_dataset("x", (100,), "i4", chunks=(64,), compression="gzip")
    data.id.write_direct_chunk((64,), chunk.tobytes(), filter_mask=1)
"""
    python(NATIVE, script, tmp_path)
    command(tmp_path, "copy", "file.h5", "copy.h5")
    check = """
with h5py.File("copy.h5") as file:
    mask, stored = file["x"].id.read_direct_chunk((64,))
    print(mask, len(stored), file["x"][70], file["x"].id.get_num_chunks())
"""
    assert python(isotach, check, tmp_path).split() == ["1", "256", "6", "1"]


@pytest.mark.parametrize("kind", KINDS)
def test_ls_shows_links_with_what_they_lead_to(kind: str, files: Path) -> None:
    lines = command(files, "ls", f"{kind}.h5", "--json").stdout.splitlines()
    links = {link["name"]: link for link in map(json.loads, lines)}
    packed = links["packed"]
    assert (packed["shape"], packed["max_shape"], packed["chunk"]) == ([40, 100], [None, 100], [16, 32])
    assert [one["name"] for one in packed["filters"]] == ["shuffle", "deflate", "fletcher32"]
    assert (packed["type"], packed["attributes"]) == ("i64", 2)
    assert (links["scalar"]["shape"], links["null"]["shape"]) == ([], None)
    types = {
        "plain": "f32",
        "big_endian": "i16be",
        "fixed": "string[5]",
        "texts": "string",
        "enum": "enum",
        "sequences": "vlen<i32>",
        "references": "ref",
        "opaque": "opaque[3]",
        "compound": "compound{a: i32, b: array[2]<f64>, s: string, r: ref}",
    }
    assert {name: links[name]["type"] for name in types} == types
    assert links["soft"] == {"name": "soft", "kind": "soft link", "target": "/group/below"}
    external = {"name": "external", "kind": "external link", "file": "other.h5", "target": "/a/b"}
    assert links["external"] == external
    assert links["zzz_hard"]["same_as"] == "packed"
    table = command(files, "ls", f"{kind}.h5").stdout
    assert "40x100 of *x100" in table and "shuffle, deflate 4, fletcher32" in table
    assert "soft -> /group/below" in table and "external -> other.h5:/a/b" in table
    below = command(files, "ls", f"{kind}.h5/soft").stdout.splitlines()
    assert [line.split()[0] for line in below[2:]] == ["z", "a", "m"], "in the order of creation"
    deep = command(files, "ls", f"{kind}.h5", "-r").stdout
    assert "group/below/m" in deep and "group/cycle = ." in deep


@pytest.mark.parametrize("kind", KINDS)
def test_dump_shows_values_of_all_kinds(kind: str, files: Path) -> None:
    lines = command(files, "dump", f"{kind}.h5", "--json").stdout.splitlines()
    objects = {one["path"]: one for one in map(json.loads, lines)}
    shown = {path: one["values"] for path, one in objects.items() if "values" in one}
    assert shown["/scalar"] == [3.5] and shown["/null"] == [] and shown["/empty"] == []
    assert shown["/plain"][:3] == [0.0, 0.1, 0.2] and objects["/plain"]["more"] == 900
    assert shown["/texts"][1:3] == ["two\u20ac", ""] and shown["/fixed"] == ["ab", "cde"]
    assert shown["/filled_texts"][2:5] == ["filled", "set", "filled"]
    assert shown["/sequences"] == [[1, 2, 3], [], [4]]
    assert shown["/enum"] == ["R", "G", "B", "G"] and shown["/bool"] == ["TRUE", "FALSE"]
    assert shown["/opaque"] == ["0x010203"] and shown["/long_double"] == [1.25]
    assert shown["/compound"][0] == {"a": 1, "b": [1.5, 2.5], "s": "hello", "r": "/packed"}
    assert shown["/references"] == ["/", "/group/below", None]
    assert objects["/"]["attributes"]["numbers"] == [[0, 1, 2], [3, 4, 5]]
    assert objects["/"]["attributes"]["nothing"] is None
    assert objects["/along_x"]["attributes"]["DIMENSION_LIST"] == [["/x"]]
    text = command(files, "dump", f"{kind}.h5", "/plain", "/group").stdout
    assert "  [0,0] 0.0, 0.1, 0.2" in text and "and 900 more elements" in text
    assert "group /group/below" in text
    assert command(files, "dump", f"{kind}.h5", "/plain", "--all").stdout.count("\n") == 101
    attributes = command(files, "dump", f"{kind}.h5", "/packed", "-a").stdout
    assert "@reference: /scalar" in attributes and "[0,0]" not in attributes


def test_files_of_the_connector_are_shown_without_an_hdf5_library(files: Path) -> None:
    command(files, "ls", "isotach.h5", ISOTACH_HDF5="/no/such/library.so")
    command(files, "dump", "isotach.h5", ISOTACH_HDF5="/no/such/library.so")
    missing = fails(files, "ls", "native.h5", ISOTACH_HDF5="/no/such/library.so")
    assert "ISOTACH_HDF5 names /no/such/library.so, which cannot be used" in missing


def test_without_any_library_the_error_says_what_to_install(files: Path) -> None:
    nowhere = {"ISOTACH_HDF5": "", "VIRTUAL_ENV": "", "CONDA_PREFIX": "", "PATH": ""}
    said = fails(files, "ls", "native.h5", LD_LIBRARY_PATH="/no/such", **nowhere)
    assert "pip install h5py" in said and "libhdf5.so.310" in said


def test_what_is_no_file_of_either_kind_is_named(files: Path, tmp_path: Path) -> None:
    (tmp_path / "text.h5").write_text("nothing of HDF5's")
    native = (files / "native.h5").read_bytes()
    (tmp_path / "cut.h5").write_bytes(native[: len(native) // 2])
    shutil.copy(files / "isotach.h5", tmp_path / "lost.h5")
    for action in (["ls"], ["dump"], ["copy"]):
        rest = ["copy.h5"] if action == ["copy"] else []
        assert "there is no file none.h5" in fails(tmp_path, *action, "none.h5", *rest)
        assert "text.h5 is no HDF5 file" in fails(tmp_path, *action, "text.h5", *rest)
        assert "truncated file" in fails(tmp_path, *action, "cut.h5", *rest)
        assert "lost.h5" in fails(tmp_path, *action, "lost.h5", *rest)
    assert "/none in isotach.h5 does not exist" in fails(files, "ls", "isotach.h5/none")
    assert "/packed/x in native.h5 does not exist" in fails(files, "dump", "native.h5", "/packed/x")
    assert "name that file" in fails(files, "dump", "native.h5", "/external/x")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cut.h5", "lost.h5", "text.h5"]


def test_a_file_that_exists_is_never_replaced(files: Path, tmp_path: Path) -> None:
    there = tmp_path / "there.h5"
    there.write_text("mine")
    for kind in KINDS:
        for to in KINDS:
            said = fails(tmp_path, "copy", str(files / f"{kind}.h5"), "there.h5", "--to", to)
            assert "there.h5 exists already" in said
    assert there.read_text() == "mine" and list(tmp_path.iterdir()) == [there]


UNSUPPORTED = """
with h5py.File("file.h5", "w") as file:
    file["plain"] = np.arange(10)
    file.create_dataset("group/regions", (1,), dtype=h5py.regionref_dtype)[0] = file["plain"].regionref[2:4]
    file["plain"].attrs["region"] = file["plain"].regionref[1:2]
    file.create_dataset("outside", (4,), "i4", external=[("raw.bin", 0, 16)])
    file.create_dataset("lzf", data=np.arange(100), chunks=(10,), compression="lzf")
    file["to_outside"] = file["outside"].ref
"""


def test_what_cannot_be_copied_is_named_before_anything_is_written(
    isotach: Connector, tmp_path: Path
) -> None:
    python(NATIVE, UNSUPPORTED, tmp_path)
    before = sorted(tmp_path.iterdir())
    said = fails(tmp_path, "copy", "file.h5", "copy.h5")
    for part in (
        "/group/regions (region references)",
        "/outside (",
        "/lzf (",
        "--skip-unsupported",
    ):
        assert part in said, said
    assert "attribute region of /plain" in said
    assert sorted(tmp_path.iterdir()) == before
    done = command(tmp_path, "copy", "file.h5", "copy.h5", "--skip-unsupported")
    assert "left out: /outside (its elements are in external files)" in done.stderr
    assert "1 reference to no object of the copy" in done.stderr
    check = "f = h5py.File('copy.h5'); print(sorted(f), list(f['group']), list(f['plain'].attrs), bool(f['to_outside'][()]))"
    assert python(isotach, check, tmp_path).strip() == "['group', 'plain', 'to_outside'] [] [] False"


VIRTUAL = """
with h5py.File("source.h5", "w") as file:
    file["x"] = np.arange(10)
with h5py.File("file.h5", "w") as file:
    layout = h5py.VirtualLayout((3, 10), "i8")
    layout[1] = h5py.VirtualSource("source.h5", "x", (10,))
    file.create_virtual_dataset("virtual", layout, fillvalue=-1)
"""


def test_virtual_datasets_go_on_to_name_their_sources(tmp_path: Path) -> None:
    python(NATIVE, VIRTUAL, tmp_path)
    command(tmp_path, "copy", "file.h5", "copy.h5")
    assert "virtual dataset" in command(tmp_path, "ls", "copy.h5").stdout
    assert "in other datasets" in command(tmp_path, "dump", "copy.h5").stdout
    command(tmp_path, "copy", "copy.h5", "back.h5")
    read = "print(h5py.File('back.h5')['virtual'][:, 7], h5py.File('back.h5')['virtual'].is_virtual)"
    assert python(NATIVE, read, tmp_path).split() == ["[-1", "7", "-1]", "True"]
    assert "[1,0] 0, 1, 2" in command(tmp_path, "dump", "back.h5").stdout


# References of the kind that h5py does not write, through the library itself.
REFERENCES = """
import ctypes, os, h5py
hdf5 = ctypes.CDLL(os.environ["HDF5_LIBRARY"])
hdf5.H5Dcreate2.restype = hdf5.H5Topen2.restype = hdf5.H5Tvlen_create.restype = ctypes.c_int64
hid = ctypes.c_int64
kind = hid.in_dll(hdf5, "H5T_STD_REF_g")
with h5py.File(path, mode) as file:
    if mode == "w":
        file["target"], file["group/other"] = [1, 2], 3
        space = h5py.h5s.create_simple((3,))
        data = hid(hdf5.H5Dcreate2(hid(file.id.id), b"references", kind, hid(space.id), hid(0), hid(0), hid(0)))
    else:
        hdf5.H5Dopen2.restype = ctypes.c_int64
        data = hid(hdf5.H5Dopen2(hid(file.id.id), b"references", hid(0)))
    references = (ctypes.c_char * 64 * 3)()
    if mode == "w":
        for at, name in enumerate([b"target", b"group/other"]):
            assert hdf5.H5Rcreate_object(hid(file.id.id), name, hid(0), references[at]) >= 0
        assert hdf5.H5Dwrite(data, kind, hid(0), hid(0), hid(0), references) >= 0
    else:
        assert hdf5.H5Dread(data, kind, hid(0), hid(0), hid(0), references) >= 0
        name = ctypes.create_string_buffer(100)
        for at in range(2):
            assert hdf5.H5Rget_obj_name(references[at], hid(0), name, 100) > 0
            print(name.value.decode())
        print(bytes(references[2]) == bytes(64))
    for reference in references[:2]:
        hdf5.H5Rdestroy(reference)
    hdf5.H5Dclose(data)
"""


@pytest.mark.parametrize("kind", KINDS)
def test_references_of_the_newer_kind_lead_to_the_copies(
    kind: str, isotach: Connector, tmp_path: Path
) -> None:
    def run(kind: str, name: str, mode: str) -> str:
        connector = connector_of(kind, isotach)
        with_library = Connector(connector.environment | {"HDF5_LIBRARY": str(library())})
        return python(with_library, f"path, mode = {name!r}, {mode!r}{REFERENCES}", tmp_path)

    run(kind, "file.h5", "w")
    assert command(tmp_path, "dump", "file.h5", "/references").stdout.endswith(
        "[0] /target, /group/other, null\n"
    )
    for to in KINDS:
        command(tmp_path, "copy", "file.h5", f"{to}.h5", "--to", to)
        assert run(to, f"{to}.h5", "r").split() == ["/target", "/group/other", "True"]


NETCDF = """
import netCDF4
with netCDF4.Dataset("file.nc", "w") as data:
    data.createDimension("x", 4)
    data.createDimension("time", None)
    values = data.createVariable("values", "f8", ("time", "x"), zlib=True)
    values[0:3] = np.arange(12).reshape(3, 4)
    values.units = "K"
    data.createVariable("names", str, ("x",))[:] = np.array(["a", "bb", "", "dddd"], object)
    data.createGroup("below").createVariable("y", "i4", ("x",))[:] = 7
"""
READ = """
import netCDF4
with netCDF4.Dataset("copy.nc", "a") as data:
    assert data["values"].dimensions == ("time", "x") and data["values"].units == "K"
    assert data["values"][2].tolist() == [8, 9, 10, 11] and data.dimensions["time"].isunlimited()
    assert list(data["names"][:]) == ["a", "bb", "", "dddd"] and data["below/y"][3] == 7
    data["values"][3] = 1
"""


@pytest.mark.parametrize("kind", KINDS)
def test_netcdf_goes_on_with_the_copy_of_a_file(kind: str, isotach: Connector, tmp_path: Path) -> None:
    python(connector_of(kind, isotach), NETCDF, tmp_path)
    for to in KINDS:
        (tmp_path / "copy.nc").unlink(missing_ok=True)
        command(tmp_path, "copy", "file.nc", "copy.nc", "--to", to)
        python(connector_of(to, isotach), READ, tmp_path)


def test_attributes_of_any_length_are_copied_to_native_files(isotach: Connector, tmp_path: Path) -> None:
    python(isotach, "h5py.File('file.h5', 'w').attrs['long'] = np.arange(50_000)", tmp_path)
    command(tmp_path, "copy", "file.h5", "copy.h5")
    assert python(NATIVE, "print(h5py.File('copy.h5').attrs['long'].sum())", tmp_path).strip() == "1249975000"


def test_a_damaged_native_file_leaves_no_copy(tmp_path: Path) -> None:
    script = (
        "h5py.File('file.h5', 'w').create_dataset('x', data=np.arange(9000), chunks=(1000,), fletcher32=True)"
    )
    python(NATIVE, script, tmp_path)
    path = tmp_path / "file.h5"
    damaged = bytearray(path.read_bytes())
    # The superblock and the root's header stay, the objects below are lost.
    damaged[400:2600] = bytes(2200)
    path.write_bytes(damaged)
    fails(tmp_path, "copy", "file.h5", "copy.h5")
    left = [one.name for one in tmp_path.iterdir() if one.name not in ("file.h5", ".isotach-h5")]
    assert left == []


def test_files_in_a_pool_are_copied_from_and_to(files: Path, isotach: Connector, tmp_path: Path) -> None:
    pool = f"posix:{tmp_path}/pool"
    command(tmp_path, "copy", str(files / "native.h5"), f"{pool}/file.h5", "--to", "isotach")
    assert "packed" in command(tmp_path, "ls", f"{pool}/file.h5").stdout
    assert "below" in command(tmp_path, "ls", f"{pool}/file.h5/group").stdout
    said = fails(tmp_path, "copy", str(files / "native.h5"), f"{pool}/file.h5", "--to", "isotach")
    assert "exists already" in said
    command(tmp_path, "copy", f"{pool}/file.h5", "back.h5")
    expected = json.loads(everything(NATIVE, "tell", files / "native.h5"))
    assert json.loads(everything(NATIVE, "tell", tmp_path / "back.h5")) == expected


def test_the_help_of_each_command_has_an_example(tmp_path: Path) -> None:
    for action in ("ls", "dump", "copy", "snapshot", "sweep"):
        assert f"isotach h5 {action} " in command(tmp_path, action, "--help").stdout
