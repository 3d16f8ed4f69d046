//! Random steps: on few objects, few keys and near offsets, so that they affect each other.

use std::sync::LazyLock;

use proptest::{
    collection::vec,
    prelude::{Just, Strategy, any},
    prop_oneof,
    sample::select,
};

use super::{
    super::{
        bytes::noise,
        trial::{array_id, general_id, kv_id},
    },
    step::{Condition, Step, Turn},
};
use isotach_object::{Cell, Epoch, ObjectId, Precondition, Update};

/// All keys that occur, for every kind of key.
pub(super) const KEYS: [&[u8]; 4] = [b"a", b"a\0", b"b", b"\xff"];
/// All names of snapshots.
pub(super) const SNAPSHOTS: [&str; 2] = ["one", "two"];
/// An offset far from everything.
pub(super) const FAR: u64 = 1 << 40;
/// The largest offset there is.
pub(super) const LAST: u64 = i64::MAX as u64;

/// What all data are parts of.
static SOURCE: LazyLock<Vec<u8>> = LazyLock::new(|| noise(77, 100_000));

pub(super) fn turn() -> impl Strategy<Value = Turn> {
    // The first handle more often, so that updates are held back for some turns.
    (prop_oneof![3 => Just(0), 1 => Just(1)], step()).prop_map(|(handle, step)| Turn { handle, step })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => vec(update(), 0..6).prop_map(Step::Update),
        8 => (vec(condition(), 0..3), vec(update(), 0..4), any::<bool>())
            .prop_map(|(conditions, updates, staged)| Step::Commit { conditions, updates, staged }),
        1 => vec(update(), 0..4).prop_map(Step::GiveUp),
        2 => Just(Step::Mark),
        1 => Just(Step::Flush),
        1 => any::<bool>().prop_map(|new_engine| Step::Reopen { new_engine }),
        12 => look(),
        3 => snapshot(),
    ]
}

/// Few names, so that snapshots are met when they are looked for.
fn snapshot() -> impl Strategy<Value = Step> {
    let name = || select(SNAPSHOTS.to_vec());
    // What is done with the past is mostly looking; the others must be refused.
    let there = prop_oneof![9 => look(), 1 => change()];
    prop_oneof![
        4 => name().prop_map(Step::CreateSnapshot),
        1 => name().prop_map(Step::DestroySnapshot),
        1 => Just(Step::ListSnapshots),
        6 => (name(), there).prop_map(|(name, step)| Step::At(name, Box::new(step))),
    ]
}

fn change() -> impl Strategy<Value = Step> {
    prop_oneof![
        vec(update(), 1..3).prop_map(Step::Update),
        vec(update(), 1..3).prop_map(|updates| Step::Commit {
            conditions: Vec::new(),
            updates,
            staged: false
        }),
        select(SNAPSHOTS.to_vec()).prop_map(Step::CreateSnapshot),
    ]
}

fn look() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => vec(value_cell(), 0..5).prop_map(Step::Get),
        3 => vec(any_cell(), 0..5).prop_map(Step::Size),
        4 => vec((extent_cell(), offset(), length()), 0..5).prop_map(Step::Read),
        2 => (extent_cell(), offset(), length())
            .prop_map(|(cell, offset, length)| Step::Share(cell, offset, length as u64)),
        1 => (extent_cell(), offset(), prop_oneof![length().prop_map(|length| length as u64), Just(u64::MAX)])
            .prop_map(|(cell, offset, length)| Step::Extents(cell, offset, length)),
        2 => (object(kv_objects()), limit(), any::<bool>())
            .prop_map(|(object, limit, values)| Step::ListEntries { object, limit, values }),
        1 => (object(vec![general_id(1)]), limit())
            .prop_map(|(object, limit)| Step::ListDkeys { object, limit }),
        1 => (object(vec![general_id(1)]), key(), limit())
            .prop_map(|(object, dkey, limit)| Step::ListAkeys { object, dkey, limit }),
        1 => limit().prop_map(|limit| Step::ListObjects { limit }),
    ]
}

fn update() -> impl Strategy<Value = Update<'static>> {
    prop_oneof![
        8 => (value_cell(), data()).prop_map(|(cell, value)| Update::Put { cell, value }),
        3 => value_cell().prop_map(|cell| Update::Remove { cell }),
        8 => (extent_cell(), offset(), data())
            .prop_map(|(cell, offset, data)| Update::Write { cell, offset, data }),
        3 => (extent_cell(), offset()).prop_map(|(cell, size)| Update::SetSize { cell, size }),
        3 => (extent_cell(), offset(), length())
            .prop_map(|(cell, offset, length)| Update::Punch { cell, offset, length: length as u64 }),
        1 => (extent_cell(), offset())
            .prop_map(|(cell, offset)| Update::Punch { cell, offset, length: u64::MAX }),
        2 => (object(vec![general_id(1)]), key())
            .prop_map(|(object, dkey)| Update::RemoveDkey { object, dkey }),
        1 => select(objects()).prop_map(|object| Update::Destroy { object }),
    ]
}

fn condition() -> impl Strategy<Value = Condition> {
    prop_oneof![
        2 => any_cell().prop_map(|cell| Condition::Fixed(Precondition::Absent(cell))),
        2 => any_cell().prop_map(|cell| Condition::Fixed(Precondition::Present(cell))),
        1 => (value_cell(), data())
            .prop_map(|(cell, value)| Condition::Fixed(Precondition::Equals(cell, value))),
        3 => value_cell().prop_map(Condition::EqualsNow),
        4 => (any_cell(), 0..3_usize).prop_map(|(cell, mark)| Condition::UnchangedSince(cell, mark)),
        1 => any_cell().prop_map(|cell| Condition::Fixed(Precondition::Unchanged(cell, Epoch(u64::MAX)))),
    ]
}

/// Cells that hold values, and seldom a wrong one.
fn value_cell() -> impl Strategy<Value = Cell<'static>> {
    prop_oneof![
        60 => (select(kv_objects()), key()).prop_map(|(object, key)| Cell::kv(object, key)),
        40 => general_cell(),
        1 => wrong_cell(),
    ]
}

/// Cells that hold bytes, and seldom a wrong one.
fn extent_cell() -> impl Strategy<Value = Cell<'static>> {
    prop_oneof![
        60 => select(vec![array_id(1), array_id(2)]).prop_map(Cell::array),
        40 => general_cell(),
        1 => wrong_cell(),
    ]
}

fn any_cell() -> impl Strategy<Value = Cell<'static>> {
    prop_oneof![value_cell(), extent_cell()]
}

fn general_cell() -> impl Strategy<Value = Cell<'static>> {
    // Few, so that values and records take turns in one cell.
    let keys = || select(KEYS[..2].to_vec());
    (keys(), keys()).prop_map(|(dkey, akey)| Cell::general(general_id(1), dkey, akey))
}

/// Any object with any keys, also with none: right by chance only.
fn wrong_cell() -> impl Strategy<Value = Cell<'static>> {
    let keys = || select(vec![&b""[..], b"a"]);
    (select(objects()), keys(), keys()).prop_map(|(object, dkey, akey)| Cell { object, dkey, akey })
}

/// One of these, and seldom another.
fn object(right: Vec<ObjectId>) -> impl Strategy<Value = ObjectId> {
    prop_oneof![30 => select(right), 1 => select(objects())]
}

fn objects() -> Vec<ObjectId> {
    vec![kv_id(1), kv_id(2), array_id(1), array_id(2), general_id(1)]
}

fn kv_objects() -> Vec<ObjectId> {
    vec![kv_id(1), kv_id(2)]
}

/// Every well-formed cell that the other strategies make.
pub(super) fn all_cells() -> Vec<Cell<'static>> {
    let entries = kv_objects().into_iter().flat_map(|object| KEYS.map(|key| Cell::kv(object, key)));
    let arrays = [array_id(1), array_id(2)].map(Cell::array);
    let general = KEYS.into_iter().flat_map(|dkey| KEYS.map(|akey| Cell::general(general_id(1), dkey, akey)));
    entries.chain(arrays).chain(general).collect()
}

fn key() -> impl Strategy<Value = &'static [u8]> {
    select(KEYS.to_vec())
}

fn data() -> impl Strategy<Value = &'static [u8]> {
    let length = prop_oneof![
        20 => 0..12_usize,
        8 => 12..300_usize,
        4 => 3000..6000_usize,
        1 => 60_000..70_000_usize,
    ];
    (0..20_000_usize, length).prop_map(|(start, length)| &SOURCE[start..start + length])
}

fn offset() -> impl Strategy<Value = u64> {
    prop_oneof![
        20 => 0..30_u64,
        8 => 0..8000_u64,
        2 => FAR - 10..FAR + 10,
        1 => LAST - 20..=LAST + 1,
    ]
}

fn length() -> impl Strategy<Value = usize> {
    prop_oneof![10 => 0..40_usize, 5 => 0..9000_usize]
}

fn limit() -> impl Strategy<Value = usize> {
    prop_oneof![20 => 1..5_usize, 5 => 5..100_usize, 1 => Just(0)]
}
