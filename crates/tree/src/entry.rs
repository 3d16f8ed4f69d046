//! [`Entry`]: what a directory holds of a value.

use isotach_object::{Error, ObjectId, Result};

/// The largest value that is in its entry, in bytes.
pub(crate) const INLINE_MAX: usize = 4096;

/// The first byte of an entry.
const INLINE: u8 = 0;
const ARRAY: u8 = 1;

/// What a directory holds of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry<'e> {
    /// The value itself.
    Inline(&'e [u8]),
    /// The array that holds the value, and its length in bytes.
    Array(ObjectId, u64),
}

impl<'e> Entry<'e> {
    /// The entry that these bytes are.
    pub(crate) fn decode(stored: &'e [u8]) -> Result<Self> {
        match stored {
            [INLINE, value @ ..] => Ok(Self::Inline(value)),
            [ARRAY, rest @ ..] => {
                let (words, []) = rest.as_chunks::<8>() else { return Err(damaged(stored)) };
                let [high, low, length] = words else { return Err(damaged(stored)) };
                let [high, low, length] = [high, low, length].map(|word| u64::from_le_bytes(*word));
                Ok(Self::Array(ObjectId::from_halves(high, low).map_err(|_| damaged(stored))?, length))
            }
            _ => Err(damaged(stored)),
        }
    }

    pub(crate) fn encode(self) -> Vec<u8> {
        match self {
            Self::Inline(value) => [&[INLINE], value].concat(),
            Self::Array(object, length) => {
                let words = [object.hi(), object.lo(), length].map(u64::to_le_bytes);
                [&[ARRAY], words.as_flattened()].concat()
            }
        }
    }

    /// The length of the value.
    pub(crate) fn length(self) -> u64 {
        match self {
            Self::Inline(value) => value.len() as u64,
            Self::Array(_, length) => length,
        }
    }

    /// The array that holds the value, if it is not in the entry.
    pub(crate) fn array(self) -> Option<ObjectId> {
        match self {
            Self::Inline(_) => None,
            Self::Array(object, _) => Some(object),
        }
    }
}

fn damaged(stored: &[u8]) -> Error {
    let begin = stored.get(..32.min(stored.len())).unwrap_or_default().escape_ascii();
    Error::corrupt(format!("an entry that begins with \"{begin}\""), "a directory of a tree")
}

#[cfg(test)]
mod tests {
    use isotach_object::{ObjectClass, ObjectType};

    use super::*;

    #[test]
    fn an_entry_reads_back_and_a_damaged_one_is_corrupt() {
        let array = ObjectId::new(ObjectType::Array, ObjectClass::S1, 0, 7);
        for entry in [Entry::Inline(b""), Entry::Inline(b"abc"), Entry::Array(array, 1 << 40)] {
            assert_eq!(Entry::decode(&entry.encode()).unwrap(), entry);
        }
        let whole = Entry::Array(array, 5).encode();
        let wrong = [&b""[..], &[2], &whole[..24], &[&whole[..], &[0]].concat(), &[1; 25]];
        for stored in wrong {
            assert_eq!(Entry::decode(stored).unwrap_err().code(), "corrupt", "{stored:?}");
        }
    }
}
