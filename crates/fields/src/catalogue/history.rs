//! Entries of a collocation's history.

use isotach_object::ObjectId;

/// The key of a field's entry in the history: its object id.
pub(crate) fn history_key(id: ObjectId) -> [u8; 16] {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&id.hi().to_le_bytes());
    key[8..].copy_from_slice(&id.lo().to_le_bytes());
    key
}

/// Reads an entry of the history: the object id, the location's record, the element's text.
pub(crate) fn parse_history<'a>(key: &[u8], value: &'a [u8]) -> Option<(ObjectId, &'a [u8], &'a str)> {
    let (hi, lo) = (key.get(..8)?.first_chunk::<8>()?, key.get(8..)?.first_chunk::<8>()?);
    let id = ObjectId::from_halves(u64::from_le_bytes(*hi), u64::from_le_bytes(*lo)).ok()?;
    let (length, rest) = value.split_first_chunk::<4>()?;
    let (record, element) = rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
    Some((id, record, std::str::from_utf8(element).ok()?))
}
