//! DAOS's hash functions of bytes. Programs use them for object ids and hash tables.

/// Bernstein's hash.
pub(crate) fn string_u32(bytes: &[u8]) -> u32 {
    bytes.iter().fold(5381, |hash, byte| u32::wrapping_mul(hash, 33).wrapping_add(u32::from(*byte)))
}

/// MurmurHash64A.
pub(crate) fn murmur64(bytes: &[u8], seed: u32) -> u64 {
    const FACTOR: u64 = 0xc6a4_a793_5bd1_e995;
    const SHIFT: u32 = 47;
    let mixed = |hash: u64| hash ^ hash >> SHIFT;
    let mut hash = u64::from(seed) ^ (bytes.len() as u64).wrapping_mul(FACTOR);
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        let word = mixed(u64::from_le_bytes(*word).wrapping_mul(FACTOR)).wrapping_mul(FACTOR);
        hash = (hash ^ word).wrapping_mul(FACTOR);
    }
    if !rest.is_empty() {
        let mut word = [0; 8];
        word[..rest.len()].copy_from_slice(rest);
        hash = (hash ^ u64::from_le_bytes(word)).wrapping_mul(FACTOR);
    }
    mixed(mixed(hash).wrapping_mul(FACTOR))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_of_bytes_is_that_of_murmurs_own_program() {
        let of_file = murmur64(b"testFile.00000000", 0xDEAD_10CC);
        assert_eq!((murmur64(b"", 0), murmur64(b"a", 0)), (0, 0x0717_17d2_d36b_6b11));
        assert_eq!((murmur64(b"12345678", 1), of_file), (0x8900_6016_6fad_afa0, 0xa880_9640_9a3e_9630));
        assert_eq!((string_u32(b""), string_u32(b"ab")), (5381, 5_863_208));
    }
}
