//! The data of the kernels: runs of 64-bit values. Each value names its variable, position and version, so a value of
//! another position or version is detected.

pub(super) const VALUE: usize = 8;
/// The number of versions that values can distinguish.
pub(super) const VERSIONS_MAX: u64 = (1 << 16) - 1;

/// A run of values of a variable, and its location.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) array: u64,
    /// The index of the first value in the array.
    pub(super) start: u64,
    pub(super) variable: u8,
    /// The index of the first value among all values of the variable.
    pub(super) position: u64,
    pub(super) count: u64,
}

impl Piece {
    /// A run of a variable with an array of its own.
    pub(super) fn of_variable(variable: u8, position: u64, count: u64) -> Self {
        Self { array: u64::from(variable), start: position, variable, position, count }
    }

    pub(super) fn bytes(&self) -> usize {
        self.count as usize * VALUE
    }

    /// Its values: 8 bits for the variable, 16 for the version, 40 for the position. None is zero, as a hole would be.
    fn values(self, version: u64) -> impl Iterator<Item = [u8; VALUE]> {
        let first = u64::from(self.variable) << 56 | (version & VERSIONS_MAX) << 40 | self.position;
        (first..first + self.count).map(u64::to_le_bytes)
    }
}

/// A count at a scale, at least one.
pub(super) fn scaled(count: u64, scale: f64) -> u64 {
    ((count as f64 * scale).round() as u64).max(1)
}

pub(super) fn bytes_of(pieces: &[Piece]) -> usize {
    pieces.iter().map(Piece::bytes).sum()
}

/// Resizes a buffer and fills it with the values of all pieces, in order.
pub(super) fn fill(pieces: &[Piece], version: u64, buffer: &mut Vec<u8>) {
    buffer.resize(bytes_of(pieces), 0);
    let values = pieces.iter().flat_map(|piece| piece.values(version));
    buffer.chunks_exact_mut(VALUE).zip(values).for_each(|(bytes, value)| bytes.copy_from_slice(&value));
}

/// Whether these are the values of all pieces in a version, in order.
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
    fn wrong_values_holes_and_missing_bytes_are_detected() {
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
