"""What goes wrong: each is an HDF5 error with a text that helps, and what was there stays readable."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from conftest import NATIVE, Connector, library


def python(connector: Connector, script: str, folder: Path) -> str:
    """Runs a script, and returns what it printed."""
    done = connector.run([sys.executable, "-c", "import h5py, numpy as np, os\n" + script], folder=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def failure(connector: Connector, script: str, folder: Path) -> str:
    """Runs a script that raises OSError, and returns the error's text."""
    lines = "".join(f"    {line}\n" for line in script.splitlines())
    return python(
        connector,
        f"try:\n{lines}    print('no error')\nexcept OSError as error:\n    print(type(error).__name__, error)\n",
        folder,
    )


def test_a_missing_file_and_one_that_is_there_are_the_errors_of_python(
    isotach: Connector, tmp_path: Path
) -> None:
    assert failure(isotach, "h5py.File('none.h5', 'r')", tmp_path).startswith("FileNotFoundError")
    assert failure(isotach, "h5py.File('none.h5', 'r+')", tmp_path).startswith("FileNotFoundError")
    python(isotach, "h5py.File('there.h5', 'w').close()", tmp_path)
    assert failure(isotach, "h5py.File('there.h5', 'x')", tmp_path).startswith("FileExistsError")
    assert failure(isotach, "h5py.File('no-folder/file.h5', 'w')", tmp_path).startswith("FileNotFoundError")


def test_a_native_file_is_read_and_written_as_a_native_file(isotach: Connector, tmp_path: Path) -> None:
    python(NATIVE, "h5py.File('native.h5', 'w')['x'] = [1, 2]", tmp_path)
    script = (
        "with h5py.File('native.h5', 'r+') as file:\n"
        "    file['y'] = file['x'][:] + 1\n"
        "    print(list(file), [name for name in file['x'].attrs])\n"
        "    file.visititems(lambda name, found: print(name, found.shape))\n"
    )
    assert python(isotach, script, tmp_path) == "['x', 'y'] []\nx (2,)\ny (2,)\n"
    assert python(NATIVE, "print(h5py.File('native.h5', 'r')['y'][:])", tmp_path) == "[2 3]\n"
    assert "isotach" not in (tmp_path / "native.h5").read_bytes().decode("latin-1")
    (tmp_path / "text.h5").write_text("nothing of HDF5's")
    assert "file signature not found" in failure(isotach, "h5py.File('text.h5', 'r')", tmp_path)


def test_links_and_virtual_datasets_lead_into_native_files(isotach: Connector, tmp_path: Path) -> None:
    python(
        NATIVE, "h5py.File('native.h5', 'w').create_dataset('g/x', data=np.arange(6).reshape(2, 3))", tmp_path
    )
    script = (
        "with h5py.File('file.h5', 'w') as file:\n"
        "    file['link'] = h5py.ExternalLink('native.h5', '/g')\n"
        "    layout = h5py.VirtualLayout((4, 3), 'i8')\n"
        "    layout[1:3] = h5py.VirtualSource('native.h5', 'g/x', (2, 3))\n"
        "    file.create_virtual_dataset('virtual', layout, fillvalue=-1)\n"
        "    print(list(file['link']), file['link/x'][1].tolist(), file['link/x'].file.filename)\n"
        "    print('link/x' in file, 'link/none' in file, file['virtual'][:, 1].tolist())\n"
        "    try:\n"
        "        file['copy'] = file['link/x']\n"
        "    except (OSError, RuntimeError) as error:\n"
        "        print('isotach h5 copy' in str(error))\n"
    )
    told = python(isotach, script, tmp_path).splitlines()
    assert told == ["['x'] [3, 4, 5] native.h5", "True False [-1, 1, 4, -1]", "True"]


def test_files_of_isotach_are_read_into_memory_and_not_changed_there(
    isotach: Connector, tmp_path: Path
) -> None:
    python(isotach, "h5py.File('file.h5', 'w')['x'] = [1, 2]", tmp_path)
    opened = "h5py.File('file.h5', '{}', driver='core', backing_store=False)"
    assert python(isotach, f"print({opened.format('r')}['x'][:])", tmp_path) == "[1 2]\n"
    assert "file.h5: open it for reading" in failure(isotach, opened.format("r+"), tmp_path)
    python(isotach, "h5py.File('stored.h5', 'w', driver='core')['x'] = [3]", tmp_path)
    assert (tmp_path / "stored.h5").read_bytes()[8:15] == b"isotach"


def test_a_stub_of_a_newer_format_and_a_lost_container_say_so(isotach: Connector, tmp_path: Path) -> None:
    python(isotach, "h5py.File('file.h5', 'w')['x'] = [1, 2]", tmp_path)
    stub = tmp_path / "file.h5"
    whole = stub.read_bytes()
    stub.write_bytes(whole.replace(b"isotach 1", b"isotach 9"))
    assert "newer" in failure(isotach, "h5py.File('file.h5', 'r')", tmp_path)
    stub.write_bytes(whole[: len(whole) // 2])
    assert "file.h5" in failure(isotach, "h5py.File('file.h5', 'r')", tmp_path)
    stub.write_bytes(whole)
    (tmp_path / ".isotach-h5").rename(tmp_path / "elsewhere")
    assert "isotach-h5" in failure(isotach, "h5py.File('file.h5', 'r')", tmp_path)
    (tmp_path / "elsewhere").rename(tmp_path / ".isotach-h5")
    assert python(isotach, "print(h5py.File('file.h5', 'r')['x'][1])", tmp_path) == "2\n"


def test_a_damaged_chunk_is_named_and_the_others_are_read(isotach: Connector, tmp_path: Path) -> None:
    python(
        isotach,
        "with h5py.File('file.h5', 'w') as file:\n"
        "    file.create_dataset('group/values', data=np.full((4, 1 << 17), 0x5a5a5a5a5a5a5a5a), chunks=(1, 1 << 17))\n",
        tmp_path,
    )
    pattern = b"\x5a" * 4096
    holders = [
        path
        for path in (tmp_path / ".isotach-h5").rglob("*")
        if path.is_file() and pattern in path.read_bytes()
    ]
    (data,) = holders
    content = bytearray(data.read_bytes())
    place = content.rindex(pattern) + 100
    content[place] ^= 1
    data.write_bytes(content)
    read = "file = h5py.File('file.h5', 'r')\n"
    # Which of the chunks it is depends on the order in which they were written.
    script = (
        read + "for row in range(4):\n"
        "    try:\n"
        "        assert (file['group/values'][row] == 0x5a5a5a5a5a5a5a5a).all()\n"
        "        print('whole')\n"
        "    except OSError as error:\n"
        "        print(row, str(error).replace('\\n', ' '))\n"
    )
    lines = python(isotach, script, tmp_path).splitlines()
    (damaged,) = [line for line in lines if line != "whole"]
    assert lines.count("whole") == 3
    row = damaged.split()[0]
    assert "/group/values" in damaged and f"[{row}, 0]" in damaged, damaged


def test_one_of_several_programs_that_create_a_file_at_once_wins_whole(
    isotach: Connector, tmp_path: Path
) -> None:
    script = (
        "import sys, subprocess\n"
        "children = [subprocess.Popen([sys.executable, '-c', '''\n"
        "import h5py, sys, numpy as np\n"
        'with h5py.File("file.h5", "w") as file:\n'
        '    for name in "abc":\n'
        "        file[name] = np.full(1000, int(sys.argv[1]))\n"
        '    file.attrs["writer"] = int(sys.argv[1])\n'
        "''', str(number)], stderr=subprocess.PIPE, text=True) for number in range(6)]\n"
        # One whose file another program has replaced before it commits is told so.
        "errors = [child.communicate()[1] for child in children]\n"
        "failed = [error for child, error in zip(children, errors) if child.returncode]\n"
        "assert len(failed) < 6 and all('was destroyed while this handle was open' in error for error in failed), failed\n"
        "with h5py.File('file.h5', 'r') as file:\n"
        "    writer = file.attrs['writer']\n"
        "    assert sorted(file) == ['a', 'b', 'c'] and all((file[name][:] == writer).all() for name in 'abc')\n"
        "print('done')\n"
    )
    assert python(isotach, script, tmp_path) == "done\n"


FULL = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
file = h5py.File('file.h5', 'r+')
file['x'][...] = 0
file.attrs['n'] = 2
try:
    file['large'] = np.random.default_rng(1).integers(0, 1 << 60, 1 << 20)
    print('no error')
except (OSError, RuntimeError) as error:
    print(str(error).replace('\\n', ' '))
{then}
"""


@pytest.mark.parametrize("then", ["os.kill(os.getpid(), signal.SIGKILL)", "file.close()"])
def test_a_full_disk_leaves_the_last_version(then: str, isotach: Connector, tmp_path: Path) -> None:
    create = (
        "with h5py.File('file.h5', 'w') as file:\n    file['x'] = np.arange(1000)\n    file.attrs['n'] = 1\n"
    )
    python(isotach, create, tmp_path)
    script = "import h5py, numpy as np, os, sys\nsys.stdout.reconfigure(line_buffering=True)\n" + FULL.format(
        then=then
    )
    told = isotach.run([sys.executable, "-c", script], folder=tmp_path)
    assert "no space left" in told.stdout, told.stdout + told.stderr
    if then == "file.close()":
        assert told.returncode == 1 and "file.h5 stays at its last version" in told.stderr
    check = (
        "with h5py.File('file.h5', 'r') as file:\n    print(file.attrs['n'], file['x'][999], sorted(file))\n"
    )
    assert python(isotach, check, tmp_path).strip() == "1 999 ['x']"


def test_an_attribute_that_was_replaced_by_a_larger_one_overruns_no_buffer(
    isotach: Connector, tmp_path: Path
) -> None:
    script = (
        "with h5py.File('file.h5', 'w') as file:\n"
        "    file.attrs['n'] = np.arange(3)\n"
        "    opened = h5py.h5a.open(file.id, b'n')\n"
        "    file.attrs['n'] = np.arange(100000)\n"
        "    try:\n"
        "        opened.read(np.zeros(3, 'i8'))\n"
        "    except OSError as error:\n"
        "        print(error)\n"
    )
    assert "another extent" in python(isotach, script, tmp_path)


def test_closing_a_reader_commits_nothing_of_the_writer_beside_it(isotach: Connector, tmp_path: Path) -> None:
    script = (
        "import subprocess, sys\n"
        "writer = h5py.File('file.h5', 'w')\n"
        "writer['x'] = 1\n"
        "writer.flush()\n"
        "reader = h5py.File('file.h5', 'r')\n"
        "writer['y'] = 2\n"
        "reader.close()\n"
        'other = \'import h5py; print(sorted(h5py.File("file.h5", "r")))\'\n'
        "print(subprocess.run([sys.executable, '-c', other], capture_output=True, text=True).stdout)\n"
        "writer.close()\n"
    )
    assert python(isotach, script, tmp_path).strip() == "['x']"
    assert python(isotach, "print(sorted(h5py.File('file.h5', 'r')))", tmp_path).strip() == "['x', 'y']"


LIMIT = (
    "import resource, signal\n"
    "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, resource.RLIM_INFINITY))\n"
)

ATTEMPTS = (
    "def attempt(name, act):\n"
    "    try:\n"
    "        act()\n"
    "        print(name, 'done')\n"
    "    except (OSError, RuntimeError) as error:\n"
    "        print(name, 'failed')\n"
)


def test_texts_that_do_not_fit_on_the_disk_are_not_committed_in_part(
    isotach: Connector, tmp_path: Path
) -> None:
    create = (
        "with h5py.File('file.h5', 'w') as file:\n"
        "    file.create_dataset('x', data=['old'] * 3000, dtype=h5py.string_dtype(), chunks=(100,))\n"
    )
    python(isotach, create, tmp_path)
    script = (
        LIMIT
        + ATTEMPTS
        + "file = h5py.File('file.h5', 'r+')\n"
        # Not through h5py, which crashes when such a write fails.
        + f"import ctypes\nwrite = ctypes.CDLL('{library()}').H5Dwrite\n"
        + "write.argtypes = [ctypes.c_int64] * 5 + [ctypes.c_void_p]\n"
        + "texts = (ctypes.c_char_p * 3000)(*(os.urandom(3000).hex().encode() for _ in range(3000)))\n"
        + "kind = h5py.h5t.C_S1.copy()\n"
        + "kind.set_size(h5py.h5t.VARIABLE)\n"
        + "kind.set_cset(h5py.h5t.CSET_UTF8)\n"
        + "dataset = h5py.h5d.open(file.id, b'x')\n"
        + "print('write', write(dataset.id, kind.id, 0, 0, 0, texts))\n"
        + "del dataset\n"
        + "resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))\n"
        + "attempt('flush', file.flush)\n"
        + "attempt('close', file.close)\n"
    )
    assert python(isotach, script, tmp_path).splitlines() == ["write -1", "flush failed", "close failed"]
    check = "print(set(h5py.File('file.h5', 'r')['x'].asstr()[:]))"
    assert python(isotach, check, tmp_path).strip() == "{'old'}"


def test_after_a_failed_write_no_handle_of_the_process_commits(isotach: Connector, tmp_path: Path) -> None:
    python(isotach, "h5py.File('file.h5', 'w')['x'] = np.arange(1000)", tmp_path)
    script = (
        LIMIT
        + ATTEMPTS
        + "one, two = h5py.File('file.h5', 'r+'), h5py.File('file.h5', 'r+')\n"
        + "two['x'][0] = 7\n"
        + "large = np.random.default_rng(1).integers(0, 1 << 60, 1 << 20)\n"
        + "attempt('write', lambda: one.create_dataset('large', data=large))\n"
        + "resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))\n"
        + "attempt('flush', two.flush)\n"
        + "attempt('close', one.close)\n"
        + "attempt('close', two.close)\n"
        + "again = h5py.File('file.h5', 'r+')\n"
        + "print(sorted(again), again['x'][0])\n"
        + "again['x'][0] = 8\n"
        + "attempt('close', again.close)\n"
    )
    told = python(isotach, script, tmp_path).splitlines()
    assert told == ["write failed", "flush failed", "close failed", "close failed", "['x'] 0", "close done"]
    assert python(isotach, "print(h5py.File('file.h5', 'r')['x'][0])", tmp_path).strip() == "8"
