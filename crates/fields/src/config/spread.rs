//! The choice of a root for a new dataset.
//!
//! What must stay true: the choice depends only on the dataset's key and the roots. Processes with one configuration
//! that create a dataset at the same time choose the same root, so it is never in two.

use isotach_engine_kit::checksum::crc32c;
use isotach_mars::Key;

/// How new datasets are spread over the roots of a space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Spread {
    /// All go to the first root that takes them.
    #[default]
    First,
    /// Evenly, each by its key.
    Datasets,
    /// Evenly, those of one `expver` together.
    Expvers,
}

impl Spread {
    /// The index of the root of a new dataset. `roots` has at least one name.
    pub(crate) fn choose(self, dataset: &Key, roots: &[&str]) -> usize {
        let text = match self {
            Self::First => return 0,
            Self::Datasets => dataset.to_string(),
            Self::Expvers => dataset.get("expver").unwrap_or_default().to_owned(),
        };
        // Rendezvous hashing (Thaler and Ravishankar 1998): without one root, the datasets of the others stay.
        let weight = |root: &str| mixed(crc32c(text.as_bytes()), crc32c(root.as_bytes()));
        (0..roots.len()).max_by_key(|number| weight(roots[*number])).unwrap_or(0)
    }
}

/// A hash of two numbers, each bit of which depends on all of theirs (the finalizer of SplitMix64).
fn mixed(one: u32, other: u32) -> u64 {
    let mut hash = u64::from(one) << 32 | u64::from(other);
    hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ hash >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOTS: [&str; 5] = ["posix:/a", "posix:/b", "posix:/c", "posix:/d", "posix:/e"];

    fn day(day: u32) -> Key {
        Key::new().with("class", "od").with("date", &day.to_string())
    }

    #[test]
    fn datasets_are_spread_evenly_and_always_alike() {
        let mut counts = [0; 4];
        for key in (0..400).map(day) {
            let chosen = Spread::Datasets.choose(&key, &ROOTS[..4]);
            assert_eq!(chosen, Spread::Datasets.choose(&key.clone(), &ROOTS[..4]));
            assert_eq!(Spread::First.choose(&key, &ROOTS[..4]), 0);
            counts[chosen] += 1;
        }
        assert!(counts.iter().all(|count| *count > 50), "{counts:?}");
    }

    #[test]
    fn a_root_less_moves_only_the_datasets_that_would_go_there() {
        let rest = [ROOTS[0], ROOTS[1], ROOTS[3], ROOTS[4]];
        for key in (0..200).map(day) {
            let all = ROOTS[Spread::Datasets.choose(&key, &ROOTS)];
            let fewer = rest[Spread::Datasets.choose(&key, &rest)];
            assert!(all == fewer || all == ROOTS[2], "{key}: {all}, then {fewer}");
        }
    }

    #[test]
    fn the_datasets_of_one_expver_go_to_one_root() {
        let of = |expver: &str, date: &str| {
            Spread::Expvers.choose(&Key::new().with("expver", expver).with("date", date), &ROOTS)
        };
        let all: Vec<usize> = (0..50).map(|number| of(&format!("x{number:03}"), "20240101")).collect();
        assert!((0..50).all(|number| of(&format!("x{number:03}"), "20240102") == all[number]));
        assert!((0..5).all(|root| all.contains(&root)), "{all:?}");
    }
}
