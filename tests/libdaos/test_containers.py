"""Containers that the program makes for programs written for DAOS: these find the type and the properties that were asked for."""

from __future__ import annotations

import subprocess
from pathlib import Path

from place import ROOT, Place

# Prints layout, checksum and redundancy factor of a container, whether the map under its root takes a key, and whether it is mounted.
PROGRAM = r"""
#include <fcntl.h>
#include <stdio.h>
#include <daos.h>
#include <daos_fs.h>

int main(int argc, char **argv)
{
    daos_handle_t pool, container, map;
    daos_prop_t *found = daos_prop_alloc(0);
    dfs_t *files;
    if (argc != 2 || daos_init() != 0 || daos_pool_connect("tank", NULL, DAOS_PC_RW, &pool, NULL, NULL) != 0)
        return 2;
    if (daos_cont_open(pool, argv[1], DAOS_COO_RW, &container, NULL, NULL) != 0)
        return 3;
    if (daos_cont_query(container, NULL, found, NULL) != 0)
        return 4;
    daos_obj_id_t root = ((struct daos_prop_co_roots *)daos_prop_entry_get(found, DAOS_PROP_CO_ROOTS)->dpe_val_ptr)->cr_oids[0];
    root.hi |= (uint64_t)DAOS_OT_KV_HASHED << OID_FMT_TYPE_SHIFT;
    printf("%d %d %d", (int)daos_prop_entry_get(found, DAOS_PROP_CO_LAYOUT_TYPE)->dpe_val,
           (int)daos_prop_entry_get(found, DAOS_PROP_CO_CSUM)->dpe_val,
           (int)daos_prop_entry_get(found, DAOS_PROP_CO_REDUN_FAC)->dpe_val);
    printf(" %d", daos_kv_open(container, root, DAOS_OO_RW, &map, NULL));
    printf(" %d\n", dfs_mount(pool, container, O_RDWR, &files));
    return 0;
}
"""


# Makes a container by the library, or mounts one for reading, or prints all that is told of one but its label and how it came to be.
WHOLE = r"""
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <daos.h>
#include <daos_fs.h>

static void print_list(struct daos_acl *list)
{
    char **texts;
    size_t count, at;
    if (daos_acl_to_strs(list, &texts, &count) != 0)
        return;
    for (at = 0; at < count; at++)
        printf("%s%s", at == 0 ? "" : ",", texts[at]);
}

static int query(daos_handle_t pool, const char *label)
{
    daos_handle_t container;
    daos_prop_t *found = daos_prop_alloc(0);
    uint32_t at, byte;
    if (daos_cont_open(pool, label, DAOS_COO_RO, &container, NULL, NULL) != 0)
        return 3;
    if (daos_cont_query(container, NULL, found, NULL) != 0)
        return 4;
    for (at = 0; at < found->dpp_nr; at++) {
        struct daos_prop_entry *entry = &found->dpp_entries[at];
        printf("%x ", entry->dpe_type);
        if (entry->dpe_type == DAOS_PROP_CO_LABEL)
            printf("a label");
        else if (entry->dpe_type == DAOS_PROP_CO_OWNER || entry->dpe_type == DAOS_PROP_CO_OWNER_GROUP)
            printf("%s", entry->dpe_str);
        else if (entry->dpe_type == DAOS_PROP_CO_ACL)
            print_list(entry->dpe_val_ptr);
        else if (entry->dpe_type == DAOS_PROP_CO_ROOTS)
            for (byte = 0; byte < sizeof(struct daos_prop_co_roots); byte++)
                printf("%02x", ((unsigned char *)entry->dpe_val_ptr)[byte]);
        else
            printf("%llu", (unsigned long long)entry->dpe_val);
        printf("\n");
    }
    return 0;
}

static int make(daos_handle_t pool, const char *label)
{
    daos_prop_t *wanted = daos_prop_alloc(1);
    uuid_t uuid;
    wanted->dpp_entries[0].dpe_type = DAOS_PROP_CO_LAYOUT_TYPE;
    wanted->dpp_entries[0].dpe_val = DAOS_PROP_CO_LAYOUT_PYTHON;
    return daos_cont_create_with_label(pool, label, wanted, &uuid, NULL);
}

static int mount(const char *label)
{
    struct stat root;
    dfs_t *files;
    if (dfs_init() != 0 || dfs_connect("tank", NULL, label, O_RDONLY, NULL, &files) != 0)
        return 5;
    if (dfs_stat(files, NULL, NULL, &root) != 0)
        return 6;
    printf("%o %d\n", root.st_mode, root.st_uid == geteuid());
    return dfs_disconnect(files);
}

int main(int argc, char **argv)
{
    daos_handle_t pool;
    if (argc != 3 || daos_init() != 0 || daos_pool_connect("tank", NULL, DAOS_PC_RW, &pool, NULL, NULL) != 0)
        return 2;
    if (strcmp(argv[1], "make") == 0)
        return make(pool, argv[2]) != 0;
    return strcmp(argv[1], "mount") == 0 ? mount(argv[2]) : query(pool, argv[2]);
}
"""


def compiled(text: str, folder: Path, library: Path) -> Path:
    """A program of this text."""
    source, program = folder / "program.c", folder / "program"
    source.write_text(text)
    headers = ROOT / "crates" / "libdaos" / "include"
    subprocess.run(["cc", "-Wall", "-Werror", f"-I{headers}", source, library, "-o", program], check=True)
    return program


def pool_of(place: Place) -> str:
    """The pool of the test."""
    return place.environment["ISOTACH_DAOS_ROOT"].split("?")[0] + "/tank"


def create(place: Place, isotach: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """`isotach container create` in the pool of the test."""
    command = [isotach, "container", "create", "--store", pool_of(place), *words]
    return subprocess.run(command, capture_output=True, text=True)


def test_a_program_finds_the_type_and_the_properties_that_a_container_was_made_with(
    place: Place, isotach: Path, library: Path, tmp_path: Path
) -> None:
    program = compiled(PROGRAM, tmp_path, library)

    def told(label: str) -> str:
        return subprocess.run(
            [program, label], env=place.environment, capture_output=True, text=True, check=True
        ).stdout

    not_posix = 22
    for words, expected in {
        ("neo", "--type", "PYTHON"): f"3 0 0 0 {not_posix}\n",
        ("files", "--type", "posix", "--properties", "rd_fac:0,cksum:crc32"): "1 2 0 0 0\n",
        ("data", "--type", "HDF5", "--mode", "750"): f"2 0 0 0 {not_posix}\n",
        ("plain", "--properties", "cksum:sha1"): f"0 4 0 0 {not_posix}\n",
    }.items():
        made = create(place, isotach, *words)
        assert made.returncode == 0, made.stderr
        assert told(words[0]) == expected, words
    assert told("files") == "1 2 0 0 0\n", "mounted again"
    assert create(place, isotach, "neo", "--type", "PYTHON").returncode == 1


def test_a_type_or_property_that_there_is_not_is_refused_and_makes_nothing(
    place: Place, isotach: Path
) -> None:
    for words in (
        ["--type", "unknown"],
        ["--properties", "rd_fac:9"],
        ["--properties", "label:other"],
    ):
        refused = create(place, isotach, "wrong", *words)
        assert refused.returncode == 2 and "expected" in refused.stderr, refused
    # What no program could mount.
    factor = ["wrong", "--type", "POSIX", "--properties", "rd_fac:1"]
    refused = create(place, isotach, *factor)
    assert refused.returncode == 2 and "use rd_fac:0, or set" in refused.stderr, refused
    assert create(place, isotach, "wrong").returncode == 0, "nothing was made under the name"
    ignoring = [isotach, "container", "create", "--store", pool_of(place), "files", *factor[1:]]
    environment = place.environment | {"ISOTACH_DAOS_REDUNDANCY": "ignore"}
    subprocess.run(ignoring, env=environment, check=True)


def test_a_container_of_the_program_is_told_like_one_that_the_library_made(
    place: Place, isotach: Path, library: Path, tmp_path: Path
) -> None:
    program = compiled(WHOLE, tmp_path, library)

    def told(*words: str) -> list[str]:
        done = subprocess.run([program, *words], env=place.environment, capture_output=True, text=True)
        assert done.returncode == 0, (words, done)
        return done.stdout.splitlines()

    told("make", "by_library")
    assert create(place, isotach, "by_program", "--type", "PYTHON").returncode == 0
    of_library = told("query", "by_library")
    assert len(of_library) > 15 and told("query", "by_program") == of_library
    # A list that is asked for holds for programs, too.
    made = create(place, isotach, "closed", "--type", "PYTHON", "--acl", "A::EVERYONE@:r")
    assert made.returncode == 0, made.stderr
    of_closed = told("query", "closed")
    lists = [lines for lines in zip(of_library, of_closed, strict=True) if lines[0] != lines[1]]
    assert lists == [("100a A::OWNER@:rwdtTaAo,A:G:GROUP@:rwtT", "100a A::OWNER@:rwdtTaAo,A::EVERYONE@:r")]


def test_a_new_file_system_is_mounted_for_reading_by_whoever_comes_first(
    place: Place, isotach: Path, library: Path, tmp_path: Path
) -> None:
    program = compiled(WHOLE, tmp_path, library)
    for label, words in {"open": [], "closed": ["--mode", "700"]}.items():
        made = create(place, isotach, label, "--type", "POSIX", *words)
        assert made.returncode == 0, made.stderr
        done = subprocess.run(
            [program, "mount", label], env=place.environment, capture_output=True, text=True
        )
        assert (done.returncode, done.stdout) == (0, "40755 1\n"), done


def test_a_label_that_no_program_can_open_is_refused(place: Place, isotach: Path) -> None:
    for label in ("daos.pool-attributes", "01234567-89ab-cdef-0123-456789abcdef"):
        refused = create(place, isotach, label, "--type", "PYTHON")
        assert refused.returncode == 2 and "expected a label" in refused.stderr, refused
