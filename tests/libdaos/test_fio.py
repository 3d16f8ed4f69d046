"""fio's engine for DAOS's file system, from Debian's source package, built unchanged against our headers and run on our library.

`scripts/setup test` fetches the source into the build folder. Without it these tests are skipped, and where ISOTACH_REQUIRE names fio they fail.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from needs import skip

from place import ROOT

FOLDER = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve() / "fio"
# Threads that write at random with operations under way, and one after the other in large pieces.
JOBS = """
[global]
ioengine=dfs
pool=tank
cont=files
thread
filesize=8m
iodepth=16
verify=crc32c
verify_fatal=1
do_verify={do_verify}
verify_only={verify_only}
randrepeat=1
[random]
rw=randwrite
bs=16k
numjobs=4
[large]
stonewall
rw=write
bs=1m
numjobs=2
"""
BYTES = 6 * 8 * 2**20
# Changes one byte of a file of the container.
CHANGE = r"""
#include <fcntl.h>
#include <stdlib.h>
#include <daos.h>
#include <daos_fs.h>

int main(int argc, char **argv)
{
    unsigned char byte;
    d_iov_t vector = {&byte, 1, 1};
    d_sg_list_t list = {1, 0, &vector};
    daos_size_t size = 1;
    dfs_obj_t *file;
    dfs_t *files;
    if (argc != 3 || dfs_init() != 0 || dfs_connect("tank", NULL, "files", O_RDWR, NULL, &files) != 0)
        return 2;
    if (dfs_open(files, NULL, argv[1], S_IFREG, O_RDWR, 0, 0, NULL, &file) != 0)
        return 3;
    if (dfs_read(files, file, &list, atoll(argv[2]), &size, NULL) != 0 || size != 1)
        return 4;
    byte ^= 1;
    if (dfs_write(files, file, &list, atoll(argv[2]), NULL) != 0 || dfs_release(file) != 0)
        return 5;
    return dfs_disconnect(files);
}
"""


@pytest.fixture(scope="module")
def prefix() -> Path:
    """A folder with our library and headers, as they are installed."""
    done = subprocess.run(
        [ROOT / "scripts" / "libdaos", "install", "--debug", FOLDER / "daos"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return FOLDER / "daos"


@pytest.fixture(scope="module")
def fio(prefix: Path) -> Path:
    """The built program. What was built before is built again only where the source or our headers changed."""
    source = next(iter(sorted(FOLDER.glob("fio-*"))), None)
    if source is None:
        skip("fio", f"there is no source of fio in {FOLDER}: `scripts/setup test` fetches it")
    build = FOLDER / "build"
    build.mkdir(exist_ok=True)
    flags = {"CFLAGS": f"-I{prefix}/include", "LDFLAGS": f"-L{prefix}/lib", "LIBRARY_PATH": f"{prefix}/lib"}
    if not (build / "config-host.mak").exists():
        subprocess.run(
            [source / "configure", "--disable-native", "--disable-optimizations"],
            cwd=build,
            env=os.environ | flags,
            check=True,
        )
    assert "CONFIG_DFS=y" in (build / "config-host.mak").read_text(), "its configure found no DAOS"
    jobs = f"-j{len(os.sched_getaffinity(0))}"
    made = subprocess.run(
        ["make", jobs, "fio"], cwd=build, env=os.environ | flags, capture_output=True, text=True
    )
    assert made.returncode == 0, made.stderr[-4000:]
    return build / "fio"


class Site:
    """A pool with a container that is a file system, and fio there."""

    def __init__(self, folder: Path, prefix: Path, fio: Path, isotach: Path) -> None:
        """The container is made as a user makes it."""
        self.folder, self.prefix, self.fio, self.told = folder, prefix, fio, ""
        root = folder / "daos"
        root.mkdir()
        pool = f"posix:{root}/tank"
        subprocess.run([isotach, "pool", "create", "--store", pool], check=True)
        made = [
            "container",
            "create",
            "--store",
            pool,
            "files",
            "--type",
            "POSIX",
            "--properties",
            "rd_fac:0",
        ]
        subprocess.run([isotach, *made], check=True)
        here = {"ISOTACH_DAOS_ROOT": f"posix:{root}?sync=no", "LD_LIBRARY_PATH": str(prefix / "lib")}
        self.environment = os.environ | here

    def run(self, jobs: str) -> tuple[int, list[dict]]:
        """The exit code, and what is told of each job."""
        (self.folder / "jobs.fio").write_text(jobs)
        words = [self.fio, "--output-format=json", self.folder / "jobs.fio"]
        # Where it runs, fio leaves files with the state of a verification.
        here = {"cwd": self.folder, "env": self.environment}
        done = subprocess.run(words, **here, capture_output=True, text=True, timeout=100)
        self.told = done.stderr + done.stdout
        start = done.stdout.find("{")
        return done.returncode, json.loads(done.stdout[start:])["jobs"] if start >= 0 else []

    def change(self, file: str, offset: int) -> None:
        """Changes a byte of a file."""
        source, program = self.folder / "change.c", self.folder / "change"
        source.write_text(CHANGE)
        flags = [f"-I{self.prefix}/include", f"-L{self.prefix}/lib", "-ldfs", "-ldaos"]
        subprocess.run(["cc", "-Wall", "-Werror", source, "-o", program, *flags], check=True)
        subprocess.run([program, file, str(offset)], env=self.environment, check=True)


@pytest.fixture
def site(tmp_path: Path, prefix: Path, fio: Path, isotach: Path) -> Iterator[Site]:
    """A place for one test."""
    yield Site(tmp_path, prefix, fio, isotach)


def total(jobs: list[dict], way: str) -> int:
    """Bytes of all jobs, without errors."""
    assert all(job["error"] == 0 for job in jobs), jobs
    return sum(job[way]["io_bytes"] for job in jobs)


def test_what_threads_of_fio_write_with_many_operations_under_way_is_verified(site: Site) -> None:
    code, jobs = site.run(JOBS.format(do_verify=1, verify_only=0))
    assert code == 0, jobs
    assert len(jobs) == 6 and total(jobs, "write") == BYTES and total(jobs, "read") == BYTES


def test_another_process_of_fio_verifies_what_the_first_wrote_and_notices_a_changed_byte(site: Site) -> None:
    code, jobs = site.run(JOBS.format(do_verify=0, verify_only=0))
    assert code == 0 and total(jobs, "write") == BYTES
    again = JOBS.format(do_verify=1, verify_only=1)
    code, jobs = site.run(again)
    assert code == 0, jobs
    # In a block, far behind the header that fio begins it with.
    block = 3 * 16 * 1024
    site.change("random.2.0", block + 1000)
    code, _ = site.run(again)
    assert code != 0 and f"verify failed at file random.2.0 offset {block}," in site.told, site.told
