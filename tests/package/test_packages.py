"""The Debian packages and the recipe of an image, in a Debian where nothing else is."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bare import Bare
from conftest import ROOT

PROGRAM = """
#include <daos.h>
#include <stdio.h>
int main(void)
{
    daos_handle_t pool, cont;
    int rc = daos_init();
    if (!rc) rc = daos_pool_connect("tank", NULL, DAOS_PC_RW, &pool, NULL, NULL);
    if (!rc) rc = daos_cont_create_with_label(pool, "made", NULL, NULL, NULL);
    if (!rc) rc = daos_cont_open(pool, "made", DAOS_COO_RW, &cont, NULL, NULL);
    printf("%s\\n", rc ? d_errstr(rc) : "opened");
    return rc != 0;
}
"""

ALL = "isotach isotach-dev isotach-libdaos isotach-libfdb5"

# A program of each of the two C interfaces of the field store, built by name, and what it prints.
C_PROGRAMS = {
    "isotach": (
        "#include <isotach.h>\n#include <stdio.h>\n"
        'int main(void) { isotach_store *store; return isotach_create("/data/made", 0, &store); }\n'
    ),
    "fdb5": "#include <fdb5/api/fdb_c.h>\nint main(void) { fdb_handle_t *fdb; return fdb_new_handle(&fdb); }\n",
}


@pytest.fixture
def emptied(bare: Bare) -> Iterator[Bare]:
    """A bare Debian, which gets rid of what a test installed and made."""
    yield bare
    bare.check(f"dpkg --purge {ALL} && rm -rf /data/* /packages /var/lib/isotach")


@pytest.fixture
def installed(emptied: Bare, packages: dict[str, Path]) -> Bare:
    """A bare Debian with all packages, whose dependencies dpkg has found there."""
    for file in packages.values():
        emptied.put(file, "/packages")
    emptied.check("dpkg -i /packages/*.deb")
    return emptied


def test_a_package_names_what_it_needs_and_its_version_is_the_programs(packages: dict[str, Path]) -> None:
    assert sorted(packages) == ["isotach", "isotach-dev", "isotach-libdaos", "isotach-libfdb5"]
    told = subprocess.run(["dpkg-deb", "-f", packages["isotach"]], capture_output=True, text=True).stdout
    version = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]
    assert f"Version: {version}\n" in told
    assert "libeccodes0" in told and re.search(r"Depends: .*libc6 \(>= ", told)


def test_the_demo_the_manual_and_the_completions_work_from_the_package_alone(installed: Bare) -> None:
    out = installed.check("isotach demo --members 2 --map demo.png")
    assert "a map of" in out
    assert (installed.folder / "data/demo.png").read_bytes().startswith(b"\x89PNG")
    version = installed.check("isotach --version")
    assert version.startswith("isotach 0.")
    manual = installed.check("zcat /usr/share/man/man1/isotach.1.gz")
    assert ".TH isotach" in manual and "ISOTACH WRITE" in manual
    for place in ("bash-completion/completions/isotach", "zsh/vendor-completions/_isotach"):
        assert "isotach" in installed.check(f"cat /usr/share/{place}")
    assert "complete -c isotach" in installed.check("cat /usr/share/fish/vendor_completions.d/isotach.fish")
    assert "clap 4" in installed.check("zcat -f /usr/share/doc/isotach/crates.txt* | sed 's/ v/ /'")


def test_the_packages_configuration_leads_to_a_store_of_the_machine_and_is_an_operators_to_change(
    installed: Bare,
) -> None:
    yaml = "/etc/xdg/isotach/isotach.yaml"
    assert installed.check("cat /var/lib/dpkg/info/isotach.conffiles").strip() == yaml
    refused = installed.run("isotach list")
    assert refused.returncode == 1 and f"--config {yaml} init" in refused.stderr, refused.stderr
    installed.check("groupadd forecast")
    command = next(
        line for line in installed.check(f"cat {yaml}").splitlines() if "sudo isotach init" in line
    )
    installed.check(command.lstrip("# ").removeprefix("sudo "))
    assert "posix:/var/lib/isotach" in installed.check("isotach where")
    installed.check(f"dpkg --purge {ALL}")
    assert installed.run(f"test -e {yaml}").returncode == 1
    assert installed.run("test -d /var/lib/isotach").returncode == 0


def test_a_program_for_daos_is_built_and_run_with_what_the_package_brings(installed: Bare) -> None:
    source = installed.folder / "data/program.c"
    source.write_text(PROGRAM)
    installed.check("cc program.c -o by-name -ldaos -luuid")
    installed.check("cc program.c -o by-pkg-config $(pkg-config --cflags --libs daos)")
    for program in ("by-name", "by-pkg-config"):
        place = f"/data/pools-of-{program}"
        installed.check(f"mkdir {place} && isotach pool create --store posix:{place}/tank")
        assert installed.check(f"./{program}", ISOTACH_DAOS_ROOT=f"posix:{place}") == "opened\n"


@pytest.mark.parametrize("name", C_PROGRAMS)
def test_a_program_in_c_is_built_and_run_with_what_its_package_brings(name: str, installed: Bare) -> None:
    (installed.folder / "data/program.c").write_text(C_PROGRAMS[name])
    installed.check(f"cc program.c -o program $(pkg-config --cflags --libs {name}) && mkdir root")
    config = "{type: local, spaces: [{roots: [{path: /data/root}]}]}"
    installed.check("./program", FDB_CONFIG=config)
    created = "made" if name == "isotach" else "root"
    assert "class" in installed.check(f"isotach schema show --store /data/{created}")


def test_the_recipe_of_the_image_installs_a_program_that_runs_the_demo(
    emptied: Bare, packages: dict[str, Path]
) -> None:
    recipe = (ROOT / "Containerfile").read_text().replace("\\\n", " ")
    last = recipe.split("\nFROM ")[-1]
    command = re.search(r"^RUN --mount=\S+,target=(\S+)\s+(.*)$", last, re.MULTILINE)
    for file in packages.values():
        emptied.put(file, command[1])
    emptied.check(command[2], DEBIAN_FRONTEND="noninteractive")
    entry = re.search(r'^ENTRYPOINT \["(.*)"\]$', last, re.MULTILINE)[1]
    assert "a map of" in emptied.check(f"{entry} demo --members 1")
