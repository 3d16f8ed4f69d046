//! Filter 5, n-bit: of each number only the bits that its type uses, one after the other.
//!
//! The values are those that HDF5 computes for a dataset: how many there are, whether nothing needs to be done, how many elements a chunk
//! has, and the type. A type is its class, its size and what follows: order, precision and offset of an atomic one; the base of an array; the
//! members of a compound, each with its offset. Bytes of any other type are kept.

use super::bits::{BitReader, BitWriter, number, put_number};
use crate::{Error, Result};

const ATOMIC: u32 = 1;
const ARRAY: u32 = 2;
const COMPOUND: u32 = 3;
const OTHER: u32 = 4;

/// What is kept of some bytes of an element.
#[derive(Debug, Clone, Copy)]
enum Field {
    /// Bits of a number.
    Number { at: usize, size: usize, is_big: bool, precision: u32, offset: u32 },
    /// All.
    Bytes { at: usize, size: usize },
}

/// The fields of an element, from the filter's values.
struct Fields {
    element: usize,
    fields: Vec<Field>,
}

/// Reads the description of a type.
struct Parser<'v> {
    values: &'v [u32],
    at: usize,
    fields: Vec<Field>,
    most: usize,
}

impl Parser<'_> {
    fn next(&mut self) -> Option<u32> {
        let value = self.values.get(self.at).copied();
        self.at += 1;
        value
    }

    /// Adds the fields of a type whose first byte is here, and returns its size.
    fn parse(&mut self, class: u32, at: usize, depth: u32) -> Option<usize> {
        let size = self.next()? as usize;
        // A compound's members may not be more than its bytes, so a description cannot grow without end.
        if size == 0 || at.checked_add(size)? > self.most || depth > 32 || self.fields.len() > self.most {
            return None;
        }
        match class {
            ATOMIC => {
                let (order, precision, offset) = (self.next()?, self.next()?, self.next()?);
                let fits = precision.checked_add(offset)? as usize <= size * 8 && order <= 1 && size <= 8;
                fits.then_some(())?;
                self.fields.push(Field::Number { at, size, is_big: order == 1, precision, offset });
            }
            ARRAY => {
                let base = self.next()?;
                let begin = self.at;
                let step = *self.values.get(begin)? as usize;
                for place in 0..size.checked_div(step)? {
                    self.at = begin;
                    self.parse(base, at + place * step, depth + 1)?;
                }
            }
            COMPOUND => {
                let (members, mut used) = (self.next()?, 0);
                for _ in 0..members {
                    let (offset, class) = (self.next()? as usize, self.next()?);
                    used += self.parse(class, at.checked_add(offset)?, depth + 1)?;
                    (used <= size).then_some(())?;
                }
            }
            OTHER => self.fields.push(Field::Bytes { at, size }),
            _ => return None,
        }
        Some(size)
    }
}

/// `None` for values that HDF5 would not make.
fn fields(values: &[u32]) -> Option<Fields> {
    (values.first().copied()? as usize == values.len()).then_some(())?;
    let element = *values.get(4)? as usize;
    let mut parser = Parser { values, at: 4, fields: Vec::new(), most: element };
    parser.parse(*values.get(3)?, 0, 0)?;
    Some(Fields { element, fields: parser.fields })
}

fn is_needless(values: &[u32]) -> bool {
    values.get(1).is_some_and(|flag| *flag != 0)
}

pub(super) fn encode(values: &[u32], bytes: &[u8]) -> Result<Vec<u8>> {
    if is_needless(values) {
        return Ok(bytes.to_vec());
    }
    let wrong = || Error::invalid("the values of an n-bit filter", "those that HDF5 computes for a dataset");
    let fields = fields(values).ok_or_else(wrong)?;
    let mut bits = BitWriter::default();
    for element in bytes.chunks_exact(fields.element) {
        for field in &fields.fields {
            match *field {
                Field::Number { at, size, is_big, precision, offset } => {
                    let value = number(&element[at..at + size], is_big);
                    bits.put(value.checked_shr(offset).unwrap_or(0), precision);
                }
                Field::Bytes { at, size } => {
                    element[at..at + size].iter().for_each(|byte| bits.put((*byte).into(), 8));
                }
            }
        }
    }
    Ok(bits.finish())
}

pub(super) fn decode(values: &[u32], stored: &[u8], most: usize) -> Option<Vec<u8>> {
    if is_needless(values) {
        return Some(stored.to_vec());
    }
    let fields = fields(values)?;
    let length = (*values.get(2)? as usize).checked_mul(fields.element).filter(|length| *length <= most)?;
    let mut bytes = vec![0; length];
    let mut bits = BitReader::new(stored);
    for element in bytes.chunks_exact_mut(fields.element) {
        for field in &fields.fields {
            match *field {
                Field::Number { at, size, is_big, precision, offset } => {
                    let value = bits.take(precision)?.checked_shl(offset).unwrap_or(0);
                    put_number(&mut element[at..at + size], value, is_big);
                }
                Field::Bytes { at, size } => {
                    for byte in &mut element[at..at + size] {
                        *byte = bits.take(8)? as u8;
                    }
                }
            }
        }
    }
    Some(bytes)
}
