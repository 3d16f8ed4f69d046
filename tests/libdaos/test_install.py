"""What `scripts/libdaos install` lays out: a program is compiled and linked by any of the names that DAOS's libraries have."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from needs import skip

from place import ROOT

NAMES = ("daos", "daos_common", "gurt", "dfs", "duns")
# The names at run time, and a function that programs find behind each.
LOADED = {
    "libdaos.so.2": "daos_init",
    "libdaos.so": "daos_pool_connect2",
    "libdaos_common.so": "daos_prop_alloc",
    "libgurt.so.4": "d_errstr",
    "libgurt.so": "d_vlog",
    "libdfs.so": "dfs_mount",
    "libduns.so": "duns_resolve_path",
    "libdaos_tests.so": "dmg_pool_create",
    "libcart.so": "daos_init",
}
LOAD = r"""
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *library = argc == 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (library != NULL && dlsym(library, argv[2]) != NULL)
        return 0;
    fprintf(stderr, "%s\n", dlerror());
    return 1;
}
"""
CPP = r"""
#include <daos.h>
#include <daos_fs.h>
#include <gurt/common.h>
#include <algorithm>
#include <iostream>
#include <vector>

int main()
{
    std::vector<d_iov_t> vectors(std::max(1, std::min(2, 3)));
    daos_handle_t none = DAOS_HDL_INVAL;
    dfs_t *files = nullptr;
    if (daos_init() != 0 || daos_cont_close(none, nullptr) != -DER_NO_HDL || dfs_umount(files) == 0)
        return 1;
    std::cout << d_errstr(-DER_NONEXIST) << " " << vectors.size() << std::endl;
    return daos_fini();
}
"""


def test_a_program_is_linked_by_each_name_of_daos_libraries_from_an_installed_folder(tmp_path: Path) -> None:
    environment = os.environ | {"DESTDIR": str(tmp_path), "LIBDIR": "lib64"}
    done = subprocess.run(
        [ROOT / "scripts" / "libdaos", "install", "--debug", "/opt/daos"],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    installed = tmp_path / "opt" / "daos"
    source, program = tmp_path / "program.c", tmp_path / "program"
    source.write_text("#include <daos.h>\nint main(void) { return d_errstr(0) == NULL; }\n")
    for name in NAMES:
        told = (installed / "lib64" / "pkgconfig" / f"{name}.pc").read_text()
        assert f"-l{name} -luuid\n" in told and "libdir=/opt/daos/lib64\n" in told and "Version: 2." in told
        flags = [f"-I{installed}/include", f"-L{installed}/lib64", f"-l{name}"]
        subprocess.run(["cc", source, "-o", program, *flags], check=True)
        here = os.environ | {"LD_LIBRARY_PATH": str(installed / "lib64")}
        subprocess.run([program], env=here, check=True)


def test_pkg_config_links_a_program_that_calls_libuuid(tmp_path: Path) -> None:
    if shutil.which("pkg-config") is None or not Path("/usr/include/uuid/uuid.h").exists():
        skip("libuuid", "there is no pkg-config, or no header of libuuid")
    prefix, source, program = tmp_path / "daos", tmp_path / "program.c", tmp_path / "program"
    install = [ROOT / "scripts" / "libdaos", "install", "--debug", prefix]
    subprocess.run(install, check=True, capture_output=True)
    source.write_text(
        "#include <daos.h>\n"
        "int main(void) { uuid_t id; uuid_generate(id); return uuid_is_null(id) || daos_init() || daos_fini(); }\n"
    )
    here = os.environ | {"PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")}
    asked = ["pkg-config", "--cflags", "--libs", "daos"]
    flags = subprocess.run(asked, env=here, check=True, capture_output=True, text=True).stdout.split()
    subprocess.run(["cc", source, "-o", program, *flags], check=True)
    here = os.environ | {"LD_LIBRARY_PATH": str(prefix / "lib")}
    subprocess.run([program], env=here, check=True)


def test_programs_load_daos_libraries_by_all_their_names_from_an_installed_folder_also_in_cpp(
    tmp_path: Path,
) -> None:
    prefix = tmp_path / "daos"
    install = [ROOT / "scripts" / "libdaos", "install", "--debug", prefix]
    subprocess.run(install, check=True, capture_output=True)
    source, program = tmp_path / "load.c", tmp_path / "load"
    source.write_text(LOAD)
    subprocess.run(["cc", "-Wall", "-Werror", source, "-o", program], check=True)
    assert (prefix / "lib64").resolve() == prefix / "lib"
    here = os.environ | {"LD_LIBRARY_PATH": str(prefix / "lib")}
    for name, function in LOADED.items():
        done = subprocess.run([program, name, function], env=here, capture_output=True, text=True)
        assert done.returncode == 0, (name, done.stderr)
    source = tmp_path / "program.cc"
    source.write_text(CPP)
    flags = [f"-I{prefix}/include", f"-L{prefix}/lib", "-ldaos", "-ldfs", "-lgurt"]
    subprocess.run(["c++", "-std=c++17", "-Wall", "-Werror", source, "-o", program, *flags], check=True)
    done = subprocess.run([program], env=here, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "DER_NONEXIST 2\n"), done.stderr


def test_installing_without_an_absolute_folder_is_a_usage_error() -> None:
    for words in ([], ["relative"]):
        done = subprocess.run(
            [ROOT / "scripts" / "libdaos", "install", *words], capture_output=True, text=True
        )
        assert done.returncode == 2 and "absolute path" in done.stderr
