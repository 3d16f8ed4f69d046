/*
 * The table of the object ids of a snapshot.
 */
#include "check.h"

SUBJECT(oit);

enum { OIDS_MAX = 256 };

static daos_obj_id_t found[OIDS_MAX];

/* Lists the objects, or those without a mark, `per_call` at a time; returns their number. */
static size_t list_table(daos_handle_t table, bool unmarked, uint32_t per_call)
{
    daos_anchor_t anchor = {0};
    size_t count = 0;
    unsigned int calls = 0;

    while (!daos_anchor_is_eof(&anchor)) {
        uint32_t nr = per_call;

        HOLDS(count + per_call <= OIDS_MAX);
        if (unmarked)
            OK(daos_oit_list_unmarked(table, found + count, &nr, &anchor, NULL));
        else
            OK(daos_oit_list(table, found + count, &nr, &anchor, NULL));
        HOLDS(nr <= per_call);
        count += nr;
        // A listing that never ends must fail, not hang.
        HOLDS(++calls < 10 * OIDS_MAX);
    }
    return count;
}

/* The table of a snapshot, which is closed when the check ends. */
static daos_handle_t open_table(daos_epoch_t epoch)
{
    daos_handle_t table;

    OK(daos_oit_open(container(), epoch, &table, NULL));
    return keep(KEPT_OIT, table);
}

static size_t list(daos_epoch_t epoch)
{
    return list_table(open_table(epoch), false, 10);
}

static size_t list_unmarked(daos_handle_t table, uint32_t per_call)
{
    return list_table(table, true, per_call);
}

static daos_epoch_t snapshot(void)
{
    daos_epoch_t epoch = 0;

    OK(daos_cont_create_snap_opt(container(), &epoch, NULL, DAOS_SNAP_OPT_CR | DAOS_SNAP_OPT_OIT, NULL));
    return epoch;
}

static size_t times_found(daos_obj_id_t oid, size_t count)
{
    size_t times = 0;

    for (size_t i = 0; i < count; i++)
        times += found[i].lo == oid.lo && found[i].hi == oid.hi;
    return times;
}

static daos_obj_id_t written_kv(void)
{
    daos_obj_id_t oid = new_oid(DAOS_OT_KV_HASHED);
    daos_handle_t kv = open_kv(oid, DAOS_OO_RW);

    put_text(kv, "key", "value");
    closed(kv);
    return oid;
}

CHECK(an_empty_container_lists_no_objects, "the table holds the ids of the objects that exist")
{
    EQUAL(list(snapshot()), 0);
}

CHECK(a_written_object_is_listed_with_its_whole_id, "the table holds the ids of the objects that exist")
{
    daos_obj_id_t oid = written_kv();

    EQUAL(list(snapshot()), 1);
    EQUAL(found[0].lo, oid.lo);
    EQUAL(found[0].hi, oid.hi);
}

CHECK(objects_of_every_type_are_listed, "the table holds the ids of the objects that exist")
{
    daos_obj_id_t kv = written_kv();
    daos_obj_id_t object = new_oid(DAOS_OT_MULTI_HASHED);
    daos_obj_id_t array = new_oid(DAOS_OT_ARRAY);

    OK(update_single(open_object(object, DAOS_OO_RW), DAOS_TX_NONE, 0, "dkey", "akey", "value", 5));
    create_array(array, 1, 4096);
    size_t count = list(snapshot());
    EQUAL(count, 3);
    EQUAL(times_found(kv, count), 1);
    EQUAL(times_found(object, count), 1);
    EQUAL(times_found(array, count), 1);
}

CHECK(many_objects_are_listed_in_several_calls, "the anchor carries a listing from ZERO to EOF")
{
    daos_obj_id_t oids[45];

    for (int i = 0; i < 45; i++)
        oids[i] = written_kv();
    size_t count = list(snapshot());
    EQUAL(count, 45);
    for (int i = 0; i < 45; i++)
        EQUAL(times_found(oids[i], count), 1);
}

CHECK(an_object_opened_but_never_written_is_not_listed, "objects need no creation, and opening writes nothing")
{
    new_kv();
    written_kv();
    EQUAL(list(snapshot()), 1);
}

CHECK(an_object_written_after_the_snapshot_is_not_listed, "the table is that of its snapshot")
{
    daos_obj_id_t before = written_kv();
    daos_epoch_t epoch = snapshot();
    daos_obj_id_t after = written_kv();
    size_t count = list(epoch);

    EQUAL(times_found(before, count), 1);
    EQUAL(times_found(after, count), 0);
}

CHECK(a_snapshot_with_a_table_may_be_destroyed, "after oit_close the snapshot is destroyed like any other")
{
    daos_epoch_range_t range;
    daos_handle_t table;

    written_kv();
    daos_epoch_t epoch = snapshot();
    OK(daos_oit_open(container(), epoch, &table, NULL));
    OK(daos_oit_close(table, NULL));
    range.epr_lo = range.epr_hi = epoch;
    OK(daos_cont_destroy_snap(container(), range, NULL));
}

static daos_handle_t new_table(void)
{
    return open_table(snapshot());
}

static int mark(daos_handle_t table, daos_obj_id_t oid)
{
    return daos_oit_mark(table, oid, (d_iov_t[]){iov_of("seen", 5)}, NULL);
}

CHECK(marked_objects_are_not_among_the_unmarked, "oit_list_unmarked gives the ids that oit_mark did not mark")
{
    daos_obj_id_t oids[9];

    for (int i = 0; i < 9; i++)
        oids[i] = written_kv();
    daos_handle_t table = new_table();
    EQUAL(list_unmarked(table, 10), 9);
    for (int i = 0; i < 9; i += 2)
        OK(mark(table, oids[i]));
    size_t count = list_unmarked(table, 3);
    EQUAL(count, 4);
    for (int i = 0; i < 9; i++)
        EQUAL(times_found(oids[i], count), i % 2);
}

CHECK(a_mark_may_be_taken_away, "oit_mark with NULL for the marker clears it")
{
    daos_obj_id_t oid = written_kv();
    daos_handle_t table = new_table();

    OK(mark(table, oid));
    OK(mark(table, oid));
    EQUAL(list_unmarked(table, 10), 0);
    OK(daos_oit_mark(table, oid, NULL, NULL));
    EQUAL(list_unmarked(table, 10), 1);
    EQUAL(times_found(oid, 1), 1);
}

CHECK(an_id_that_is_not_in_the_table_is_not_marked, "oit_mark of another id gives -DER_NONEXIST")
{
    written_kv();
    daos_handle_t table = new_table();
    FAILS(mark(table, new_oid(DAOS_OT_KV_HASHED)), DER_NONEXIST);
}

CHECK(a_marker_has_1_to_32_bytes, "a marker without bytes, or with more than DAOS_OIT_MARKER_MAX_LEN, gives -DER_INVAL")
{
    char bytes[DAOS_OIT_MARKER_MAX_LEN + 1] = {0};
    daos_obj_id_t oid = written_kv();
    daos_handle_t table = new_table();
    d_iov_t markers[] = {iov_of(bytes, sizeof(bytes)), iov_of(bytes, 0), iov_of(bytes, DAOS_OIT_MARKER_MAX_LEN)};

    FAILS(daos_oit_mark(table, oid, &markers[0], NULL), DER_INVAL);
    FAILS(daos_oit_mark(table, oid, &markers[1], NULL), DER_INVAL);
    OK(daos_oit_mark(table, oid, &markers[2], NULL));
}
