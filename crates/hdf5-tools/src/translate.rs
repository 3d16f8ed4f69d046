//! [`Translation`]: elements of one file as elements of another. Variable-length data is copied, and references lead to the copies of
//! their objects.

use std::{cell::Cell, collections::HashMap};

use isotach_hdf5::{BlobId, Error as FileError};
use isotach_hdf5_types::{Class, Datatype, Error as TypeError, ReferenceKind};

use crate::{Error, Result, Source, target::Target};

/// The numbers of the copies of objects.
pub(crate) type Numbers = HashMap<u64, u64>;

/// From one file to another.
pub(crate) struct Translation<'t> {
    pub(crate) source: &'t dyn Source,
    pub(crate) target: &'t dyn Target,
    pub(crate) numbers: &'t Numbers,
    /// How many references led to no object that is copied, and are null now.
    pub(crate) lost: &'t Cell<u64>,
}

/// An element is shorter than its datatype says.
pub(crate) fn cut() -> FileError {
    FileError::corrupt("an element that is cut short", "an element")
}

/// Length and name of variable-length data.
pub(crate) fn blob_of(element: &[u8]) -> Result<(u32, BlobId)> {
    let (length, rest) = element.split_first_chunk().ok_or_else(cut)?;
    let name = rest.first_chunk().ok_or_else(cut)?;
    Ok((u32::from_le_bytes(*length), BlobId(*name)))
}

/// The number of the object that a reference of the newer kind leads to; 0 for none.
pub(crate) fn referenced(element: &[u8]) -> Result<u64> {
    match element {
        // An object of this file, and a number of 8 bytes.
        [2, 0, 8, number @ ..] => Ok(u64::from_le_bytes(*number.first_chunk().ok_or_else(cut)?)),
        _ if element.iter().all(|byte| *byte == 0) => Ok(0),
        _ => Err(FileError::unsupported("references to regions, attributes and other files").into()),
    }
}

impl Translation<'_> {
    /// Translates elements in place. The datatype has the form of the file.
    pub(crate) fn elements(&self, datatype: &Datatype, elements: &mut [u8]) -> Result<()> {
        if !datatype.is_bound_to_its_file() {
            return Ok(());
        }
        elements
            .chunks_exact_mut(datatype.size as usize)
            .try_for_each(|element| self.element(datatype, element))
    }

    /// Translates a packed value of a map in place.
    pub(crate) fn packed(&self, datatype: &Datatype, value: &mut [u8]) -> Result<()> {
        let replaced = datatype.replace_references::<TypeError>(value, &mut |number| Ok(self.number(number)));
        replaced.map_err(Error::at("a value of a map"))
    }

    fn element(&self, datatype: &Datatype, element: &mut [u8]) -> Result<()> {
        match &datatype.class {
            Class::Compound { members } => {
                for member in members {
                    let (first, length) = (member.offset as usize, member.datatype.size as usize);
                    let part = element.get_mut(first..first + length).ok_or_else(cut)?;
                    self.elements(&member.datatype, part)?;
                }
                Ok(())
            }
            Class::Array { base, .. } => self.elements(base, element),
            Class::Sequence { base } => self.blob(element, |bytes| self.elements(base, bytes)),
            Class::VariableText { .. } => self.blob(element, |_| Ok(())),
            Class::Reference(ReferenceKind::Object) => {
                let number = element.first_chunk_mut().ok_or_else(cut)?;
                *number = self.number(u64::from_le_bytes(*number)).to_le_bytes();
                Ok(())
            }
            Class::Reference(ReferenceKind::Standard) => self.reference(element),
            Class::Reference(ReferenceKind::Region) => {
                Err(FileError::unsupported("region references").into())
            }
            _ => Ok(()),
        }
    }

    /// Copies variable-length data, which `change` translates.
    fn blob(&self, element: &mut [u8], change: impl FnOnce(&mut [u8]) -> Result<()>) -> Result<()> {
        let (length, name) = blob_of(element)?;
        let mut copy = BlobId::NULL;
        if length > 0 {
            let mut bytes = self.source.blob(&name)?;
            change(&mut bytes)?;
            copy = self.target.put_blob(bytes)?;
        }
        element.get_mut(4..20).ok_or_else(cut)?.copy_from_slice(&copy.0);
        Ok(())
    }

    /// The number of an object's copy; 0 if there is none.
    fn number(&self, number: u64) -> u64 {
        if number == 0 || number == u64::MAX {
            return 0;
        }
        self.numbers.get(&number).copied().unwrap_or_else(|| {
            self.lost.set(self.lost.get() + 1);
            0
        })
    }

    fn reference(&self, element: &mut [u8]) -> Result<()> {
        match self.number(referenced(element)?) {
            0 => element.fill(0),
            number => element.get_mut(3..11).ok_or_else(cut)?.copy_from_slice(&number.to_le_bytes()),
        }
        Ok(())
    }
}
