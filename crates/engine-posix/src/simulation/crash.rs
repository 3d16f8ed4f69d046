//! The state of a simulated disk after a power failure.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Loss, Random, SECTOR,
    tree::{DiskChange, Tree},
};

/// The tree after these changes of `base` and a power failure.
pub(super) fn left(base: &Tree, journal: &[DiskChange], loss: Loss) -> Tree {
    let last_write = journal.iter().rposition(|change| matches!(change, DiskChange::Write { .. }));
    let mut random = match loss {
        Loss::Seeded(seed) | Loss::LastTorn(seed) => Random(seed),
        Loss::All | Loss::Nothing => Random(0),
    };
    let mut tree = base.clone();
    // Backwards, because a change is durable if a sync follows.
    let mut synced = BTreeSet::new();
    let mut durable: Vec<bool> = journal.iter().rev().map(|change| is_durable(change, &mut synced)).collect();
    durable.reverse();
    let mut open: BTreeMap<u64, Vec<&DiskChange>> = BTreeMap::new();
    for (at, (change, durable)) in journal.iter().zip(durable).enumerate() {
        match (change, loss) {
            _ if durable => tree.apply(change),
            (_, Loss::All) => {}
            (DiskChange::Write { inode, position, bytes }, Loss::LastTorn(_)) if last_write == Some(at) => {
                let kept = random.below(bytes.len() as u64 + 1) as usize;
                let kept = whole_sectors(&tree, *inode, *position, bytes.len(), kept);
                let (inode, position, bytes) = (*inode, *position, bytes[..kept].into());
                tree.apply(&DiskChange::Write { inode, position, bytes });
            }
            (_, Loss::Nothing | Loss::LastTorn(_)) => tree.apply(change),
            (DiskChange::Write { inode, .. } | DiskChange::SetLength { inode, .. }, Loss::Seeded(_)) => {
                open.entry(*inode).or_default().push(change);
            }
            (_, Loss::Seeded(_)) => {
                if random.below(2) == 0 {
                    tree.apply(change);
                }
            }
        }
    }
    for (inode, changes) in open {
        scatter(&mut tree, inode, &changes, &mut random);
    }
    tree
}

/// How much of a torn write stays. A sector of existing bytes is written completely or not at all.
fn whole_sectors(tree: &Tree, inode: u64, position: u64, length: usize, kept: usize) -> usize {
    let (start, end) = (position as usize, position as usize + length);
    let is_there = tree.bytes(inode).is_ok_and(|bytes| end <= bytes.len());
    match is_there && kept < length {
        true => ((start + kept) / SECTOR * SECTOR).saturating_sub(start),
        false => kept,
    }
}

/// Whether a change survives the power failure. A sync follows for the inodes in `synced`.
fn is_durable(change: &DiskChange, synced: &mut BTreeSet<u64>) -> bool {
    match change {
        DiskChange::Make { .. } => true,
        DiskChange::Name(names) => names.iter().any(|(folder, ..)| synced.contains(folder)),
        DiskChange::Write { inode, .. } | DiskChange::SetLength { inode, .. } => synced.contains(inode),
        DiskChange::Sync { inode } => {
            synced.insert(*inode);
            true
        }
    }
}

/// Gives each sector of a file, and its length, a state that it had since the file was last synced.
fn scatter(tree: &mut Tree, inode: u64, changes: &[&DiskChange], random: &mut Random) {
    let state = |tree: &Tree| tree.bytes(inode).map(<[u8]>::to_vec).unwrap_or_default();
    let mut states = vec![state(tree)];
    for change in changes {
        tree.apply(change);
        states.push(state(tree));
    }
    // The share that survives varies, so that tests meet long tails with few holes, and short ones.
    let odds = random.below(9);
    let mut pick = || match random.below(8) < odds {
        true => states.len() - 1,
        false => random.below(states.len() as u64) as usize,
    };
    let mut file = states[pick()].clone();
    for (number, sector) in file.chunks_mut(SECTOR).enumerate() {
        let chosen = &states[pick()];
        let start = chosen.len().min(number * SECTOR);
        let there = &chosen[start..chosen.len().min(start + sector.len())];
        sector.fill(0);
        sector[..there.len()].copy_from_slice(there);
    }
    tree.apply(&DiskChange::SetLength { inode, length: 0 });
    tree.apply(&DiskChange::Write { inode, position: 0, bytes: file.into() });
}
