//! The parameters of fields. Every run uses the first ones.

/// A parameter: its id in MARS, and its codes in GRIB 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Param {
    pub(crate) id: u32,
    pub(super) discipline: u8,
    pub(super) category: u8,
    pub(super) number: u8,
}

/// Parameters with a code of the WMO; the usual ones of pressure levels are first.
const COMMON: [(u32, [u8; 3]); 22] = [
    (130, [0, 0, 0]),
    (131, [0, 2, 2]),
    (132, [0, 2, 3]),
    (133, [0, 1, 0]),
    (129, [0, 3, 4]),
    (157, [0, 1, 1]),
    (135, [0, 2, 8]),
    (138, [0, 2, 12]),
    (155, [0, 2, 13]),
    (60, [0, 2, 14]),
    (75, [0, 1, 85]),
    (76, [0, 1, 86]),
    (246, [0, 1, 83]),
    (247, [0, 1, 84]),
    (248, [0, 6, 32]),
    (203, [0, 14, 1]),
    (1, [0, 2, 4]),
    (2, [0, 2, 5]),
    (3, [0, 0, 2]),
    (54, [0, 3, 0]),
    (10, [0, 2, 1]),
    (156, [0, 3, 5]),
];

/// Ids with a local code of ECMWF's table 128 in GRIB 2, so the id is the number. ecCodes 2.28 and 2.50 both know them; newer
/// releases have dropped some.
const LOCAL: [std::ops::RangeInclusive<u8>; 11] = [
    11..=20,
    24..=30,
    35..=42,
    62..=67,
    70..=71,
    74..=74,
    80..=120,
    123..=128,
    160..=163,
    213..=227,
    239..=245,
];
const LOCAL_DISCIPLINE: u8 = 192;
const LOCAL_TABLE: u8 = 128;

/// All parameters, in order of use.
pub(crate) fn all() -> Vec<Param> {
    let common = COMMON.iter().map(|(id, [discipline, category, number])| Param {
        id: *id,
        discipline: *discipline,
        category: *category,
        number: *number,
    });
    let local = LOCAL.iter().cloned().flatten().map(|number| Param {
        id: number.into(),
        discipline: LOCAL_DISCIPLINE,
        category: LOCAL_TABLE,
        number,
    });
    common.chain(local).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn parameters_are_distinct_and_have_a_number_in_grib_1() {
        let all = all();
        let ids: BTreeSet<u32> = all.iter().map(|param| param.id).collect();
        assert_eq!(ids.len(), all.len());
        assert!(ids.iter().all(|id| *id < 256) && all.len() > 100, "{}", all.len());
    }
}
