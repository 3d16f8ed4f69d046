//! What the kernels write and read: runs of 64-bit values, each of which says which value of which variable it is, in which
//! version. So every value that is read is checked, and one of another place or version is found.

/// Bytes of a value.
pub(super) const VALUE: usize = 8;
/// Versions that values can tell apart.
pub(super) const VERSIONS_MAX: u64 = (1 << 16) - 1;

/// A run of values of a variable, and where it lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    /// The number of the array.
    pub(super) array: u64,
    /// The place of the first value in the array.
    pub(super) start: u64,
    pub(super) variable: u8,
    /// Which of all values of the variable the first one is.
    pub(super) position: u64,
    /// How many values there are.
    pub(super) count: u64,
}

impl Piece {
    /// A run of a variable that has an array to itself.
    pub(super) fn of_variable(variable: u8, position: u64, count: u64) -> Self {
        Self { array: u64::from(variable), start: position, variable, position, count }
    }

    pub(super) fn bytes(&self) -> usize {
        self.count as usize * VALUE
    }

    /// Its values: 8 bits of the variable, 16 of the version, 40 of the position. None is zero, as a hole would be.
    fn values(self, version: u64) -> impl Iterator<Item = [u8; VALUE]> {
        let first = u64::from(self.variable) << 56 | (version & VERSIONS_MAX) << 40 | self.position;
        (first..first + self.count).map(u64::to_le_bytes)
    }
}

/// The bytes of all pieces together.
pub(super) fn bytes_of(pieces: &[Piece]) -> usize {
    pieces.iter().map(Piece::bytes).sum()
}

/// Lays the values of all pieces one after the other into a buffer of just their size.
pub(super) fn fill(pieces: &[Piece], version: u64, buffer: &mut Vec<u8>) {
    buffer.resize(bytes_of(pieces), 0);
    let values = pieces.iter().flat_map(|piece| piece.values(version));
    buffer.chunks_exact_mut(VALUE).zip(values).for_each(|(place, value)| place.copy_from_slice(&value));
}

/// Whether these are the values of all pieces, one after the other, in a version.
pub(super) fn are_right(pieces: &[Piece], version: u64, bytes: &[u8]) -> bool {
    let mut rest = bytes;
    pieces.iter().all(|piece| {
        let Some((of_piece, after)) = rest.split_at_checked(piece.bytes()) else { return false };
        rest = after;
        of_piece.chunks_exact(VALUE).zip(piece.values(version)).all(|(found, value)| found == value)
    }) && rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_of_another_variable_version_or_place_is_found_and_so_are_holes_and_missing_bytes() {
        let pieces = [Piece::of_variable(1, 5, 3), Piece { start: 0, ..Piece::of_variable(2, 70, 2) }];
        let mut bytes = Vec::new();
        fill(&pieces, 4, &mut bytes);
        assert_eq!(bytes.len(), 5 * VALUE);
        assert!(are_right(&pieces, 4, &bytes));
        assert!(!are_right(&pieces, 5, &bytes) && !are_right(&pieces, 4, &bytes[..4 * VALUE]));
        assert!(!are_right(&pieces[..1], 4, &bytes), "more than was asked for");
        for other in [Piece::of_variable(2, 5, 3), Piece::of_variable(1, 6, 3)] {
            assert!(!are_right(&[other, pieces[1]], 4, &bytes));
        }
        let mut mixed = Vec::new();
        fill(&pieces, 5, &mut mixed);
        mixed[..VALUE].copy_from_slice(&bytes[..VALUE]);
        assert!(!are_right(&pieces, 5, &mixed), "a mix of two versions");
        bytes[4 * VALUE..].fill(0);
        assert!(!are_right(&pieces, 4, &bytes), "a hole");
    }
}
