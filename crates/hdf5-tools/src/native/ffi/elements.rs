//! [`Elements`]: elements in memory, and their translation to and from the form of a file of the connector.
//!
//! Elements without variable-length data and references are the same in both forms.

use std::{
    collections::HashMap,
    ffi::{CStr, CString, c_char, c_void},
    ptr, slice,
};

use isotach_hdf5::Error as FileError;
use isotach_hdf5_types::{Class, Datatype, ReferenceKind};

use super::{DEFAULT, call_with_memory, id::Id, raw::Hid};
use crate::{Error, Result};

/// The name of a piece of variable-length data.
type BlobName = [u8; 16];

/// Variable-length data of elements that are on their way.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    blobs: HashMap<BlobName, Vec<u8>>,
    last: u64,
}

impl Arena {
    /// Keeps bytes. Without bytes the name is zeros.
    pub(crate) fn put(&mut self, bytes: Vec<u8>) -> BlobName {
        let mut name = [0; 16];
        if !bytes.is_empty() {
            self.last += 1;
            name[..8].copy_from_slice(&self.last.to_le_bytes());
            self.blobs.insert(name, bytes);
        }
        name
    }

    pub(crate) fn get(&self, name: &BlobName) -> Option<&[u8]> {
        self.blobs.get(name).map(Vec::as_slice)
    }

    /// Gives up everything.
    pub(crate) fn clear(&mut self) {
        self.blobs.clear();
    }
}

/// A datatype in memory, and in the form of a file of the connector.
#[derive(Debug)]
pub(crate) struct Elements {
    kind: Id,
    memory: Datatype,
    file: Datatype,
    is_plain: bool,
}

/// Zeroed memory that is aligned for any element.
fn buffer(bytes: usize) -> Vec<u64> {
    vec![0; bytes.div_ceil(8)]
}

fn bytes_of(buffer: &[u64]) -> &[u8] {
    // SAFETY: numbers are bytes, all of them set.
    unsafe { slice::from_raw_parts(buffer.as_ptr().cast(), buffer.len() * 8) }
}

fn bytes_of_mut(buffer: &mut [u64]) -> &mut [u8] {
    // SAFETY: as above; every byte is a valid part of a number.
    unsafe { slice::from_raw_parts_mut(buffer.as_mut_ptr().cast(), buffer.len() * 8) }
}

/// The bytes of an object reference in memory of any kind.
const REFERENCE: usize = 64;
/// HDF5's `H5R_OBJECT2`.
const TO_OBJECT: u8 = 2;

impl Elements {
    /// Elements of a datatype in memory, whose encoded form is given.
    pub(crate) fn new(kind: Id, encoded: &[u8]) -> Result<Self> {
        let wrong = Error::at("a datatype");
        let forms = || {
            let datatype = Datatype::decode(encoded)?;
            Ok((datatype.memory_form()?, datatype.file_form()?, !datatype.is_bound_to_its_file()))
        };
        let (memory, file, is_plain) = forms().map_err(wrong)?;
        if kind.type_size() != memory.size as usize {
            let what = format!("elements of {} bytes that have {} in memory", memory.size, kind.type_size());
            return Err(FileError::unsupported(what).into());
        }
        Ok(Self { kind, memory, file, is_plain })
    }

    /// The datatype in memory.
    pub(crate) fn kind(&self) -> &Id {
        &self.kind
    }

    /// The datatype in the form of a file of the connector.
    pub(crate) fn file_form(&self) -> &Datatype {
        &self.file
    }

    /// Reads `count` elements with a call that fills memory.
    fn read(
        &self,
        count: usize,
        file: &Id,
        arena: &mut Arena,
        what: &str,
        fill: impl FnOnce(*mut c_void) -> i32,
    ) -> Result<Vec<u8>> {
        let library = self.kind.library;
        let (size, file_size) = (self.memory.size as usize, self.file.size as usize);
        let total = count.checked_mul(size.max(file_size)).filter(|total| *total <= isize::MAX as usize / 2);
        let total = total.ok_or_else(|| FileError::unsupported("more elements than memory"))?;
        if self.is_plain {
            let mut elements = vec![0_u8; total];
            library.check(fill(elements.as_mut_ptr().cast()), what)?;
            return Ok(elements);
        }
        let mut memory = buffer(count * size);
        library.check(fill(memory.as_mut_ptr().cast()), what)?;
        let mut elements = vec![0_u8; count * file_size];
        let mut reading = Reading { file, arena };
        let pairs = bytes_of(&memory).chunks_exact(size).zip(elements.chunks_exact_mut(file_size));
        let translated: Result<()> =
            pairs.take(count).try_for_each(|(from, to)| reading.element(&self.memory, &self.file, from, to));
        let space = library.space(&isotach_hdf5::Space::fixed(&[count as u64]))?;
        let memory = memory.as_mut_ptr().cast();
        let freed = call_with_memory!(library, H5Treclaim(self.kind.raw, space.raw, DEFAULT, memory));
        translated?;
        library.check(freed, "free variable-length data")?;
        Ok(elements)
    }

    /// Elements that are selected in a dataset's space.
    pub(crate) fn read_dataset(
        &self,
        dataset: &Id,
        selected: &Id,
        count: usize,
        file: &Id,
        arena: &mut Arena,
    ) -> Result<Vec<u8>> {
        let library = self.kind.library;
        let memory = library.space(&isotach_hdf5::Space::fixed(&[count as u64]))?;
        self.read(count, file, arena, "read elements", |buffer| {
            call_with_memory!(
                library,
                H5Dread(dataset.raw, self.kind.raw, memory.raw, selected.raw, DEFAULT, buffer)
            )
        })
    }

    /// All elements of an attribute.
    pub(crate) fn read_attribute(
        &self,
        attribute: &Id,
        count: usize,
        file: &Id,
        arena: &mut Arena,
    ) -> Result<Vec<u8>> {
        if count == 0 {
            return Ok(Vec::new());
        }
        self.read(count, file, arena, "read an attribute", |buffer| {
            call_with_memory!(self.kind.library, H5Aread(attribute.raw, self.kind.raw, buffer))
        })
    }

    /// The fill value of a dataset creation list.
    pub(crate) fn read_fill(&self, list: &Id, file: &Id, arena: &mut Arena) -> Result<Vec<u8>> {
        self.read(1, file, arena, "read the fill value", |buffer| {
            call_with_memory!(self.kind.library, H5Pget_fill_value(list.raw, self.kind.raw, buffer))
        })
    }

    /// Writes elements with a call that reads memory.
    fn write(
        &self,
        elements: &[u8],
        file: &Id,
        arena: &Arena,
        what: &str,
        take: impl FnOnce(*const c_void) -> i32,
    ) -> Result<()> {
        let library = self.kind.library;
        if self.is_plain {
            return library.check(take(elements.as_ptr().cast()), what).map(|_| ());
        }
        let (size, file_size) = (self.memory.size as usize, self.file.size as usize);
        let count = elements.len() / file_size;
        let mut memory = buffer(count * size);
        let mut writing =
            Writing { file, arena, kept: Vec::new(), texts: Vec::new(), references: Vec::new() };
        let pairs = elements.chunks_exact(file_size).zip(bytes_of_mut(&mut memory).chunks_exact_mut(size));
        let translated =
            pairs.take(count).try_for_each(|(from, to)| writing.element(&self.file, &self.memory, from, to));
        let outcome = translated.and_then(|()| library.check(take(memory.as_ptr().cast()), what).map(|_| ()));
        writing.give_up_references();
        outcome
    }

    /// Writes elements to those that are selected in a dataset's space.
    pub(crate) fn write_dataset(
        &self,
        dataset: &Id,
        selected: &Id,
        elements: &[u8],
        file: &Id,
        arena: &Arena,
    ) -> Result<()> {
        let library = self.kind.library;
        let count = (elements.len() / self.file.size as usize) as u64;
        let memory = library.space(&isotach_hdf5::Space::fixed(&[count]))?;
        self.write(elements, file, arena, "write elements", |buffer| {
            call_with_memory!(
                library,
                H5Dwrite(dataset.raw, self.kind.raw, memory.raw, selected.raw, DEFAULT, buffer)
            )
        })
    }

    /// Writes all elements of an attribute.
    pub(crate) fn write_attribute(
        &self,
        attribute: &Id,
        elements: &[u8],
        file: &Id,
        arena: &Arena,
    ) -> Result<()> {
        if elements.is_empty() {
            return Ok(());
        }
        self.write(elements, file, arena, "write an attribute", |buffer| {
            call_with_memory!(self.kind.library, H5Awrite(attribute.raw, self.kind.raw, buffer))
        })
    }

    /// Sets the fill value of a dataset creation list.
    pub(crate) fn write_fill(&self, list: &Id, element: &[u8], file: &Id, arena: &Arena) -> Result<()> {
        self.write(element, file, arena, "set the fill value", |buffer| {
            call_with_memory!(self.kind.library, H5Pset_fill_value(list.raw, self.kind.raw, buffer))
        })
    }
}

/// From memory to the form of a file.
struct Reading<'r> {
    file: &'r Id,
    arena: &'r mut Arena,
}

/// Two forms of one type have the same parts.
fn unlike() -> Error {
    FileError::unsupported("two forms of a datatype that differ").into()
}

fn part(bytes: &[u8], first: u32, size: u32) -> Result<&[u8]> {
    bytes.get(first as usize..).and_then(|rest| rest.get(..size as usize)).ok_or_else(unlike)
}

fn part_mut(bytes: &mut [u8], first: u32, size: u32) -> Result<&mut [u8]> {
    bytes.get_mut(first as usize..).and_then(|rest| rest.get_mut(..size as usize)).ok_or_else(unlike)
}

/// The pointer or length at a place of an element.
fn word(bytes: &[u8], first: u32) -> Result<usize> {
    let word = part(bytes, first, size_of::<usize>() as u32)?;
    // SAFETY: the slice has the bytes of a word.
    Ok(unsafe { word.as_ptr().cast::<usize>().read_unaligned() })
}

fn set_word(bytes: &mut [u8], first: u32, word: usize) -> Result<()> {
    let place = part_mut(bytes, first, size_of::<usize>() as u32)?;
    // SAFETY: the slice has room for a word.
    unsafe { place.as_mut_ptr().cast::<usize>().write_unaligned(word) };
    Ok(())
}

impl Reading<'_> {
    fn element(&mut self, memory: &Datatype, form: &Datatype, from: &[u8], to: &mut [u8]) -> Result<()> {
        match (&memory.class, &form.class) {
            (Class::Compound { members }, Class::Compound { members: targets }) => {
                for (member, target) in members.iter().zip(targets) {
                    let from = part(from, member.offset, member.datatype.size)?;
                    let to = part_mut(to, target.offset, target.datatype.size)?;
                    self.element(&member.datatype, &target.datatype, from, to)?;
                }
                Ok(())
            }
            (Class::Array { base, .. }, Class::Array { base: target, .. }) => {
                self.elements(base, target, from, to)
            }
            (Class::Sequence { base }, Class::Sequence { base: target }) => {
                let (length, pointer) = (word(from, 0)?, word(from, 8)?);
                if length == 0 || pointer == 0 {
                    return Ok(());
                }
                let bytes = length * base.size as usize;
                // SAFETY: HDF5 allocated as many elements as the length says, and they are freed after this.
                let inner =
                    unsafe { slice::from_raw_parts(ptr::with_exposed_provenance::<u8>(pointer), bytes) };
                let mut blob = vec![0; length * target.size as usize];
                self.elements(base, target, inner, &mut blob)?;
                self.blob(length, blob, to)
            }
            (Class::VariableText { .. }, _) => {
                let pointer = word(from, 0)?;
                if pointer == 0 {
                    return Ok(());
                }
                // SAFETY: HDF5 allocated a text with a zero at its end, and it is freed after this.
                let text =
                    unsafe { CStr::from_ptr(ptr::with_exposed_provenance::<c_char>(pointer)) }.to_bytes();
                self.blob(text.len(), text.to_vec(), to)
            }
            (Class::Reference(ReferenceKind::Standard), _) => self.reference(from, to),
            _ => {
                to.copy_from_slice(part(from, 0, form.size)?);
                Ok(())
            }
        }
    }

    fn elements(&mut self, memory: &Datatype, form: &Datatype, from: &[u8], to: &mut [u8]) -> Result<()> {
        let mut pairs = from.chunks_exact(memory.size as usize).zip(to.chunks_exact_mut(form.size as usize));
        pairs.try_for_each(|(from, to)| self.element(memory, form, from, to))
    }

    fn blob(&mut self, length: usize, bytes: Vec<u8>, to: &mut [u8]) -> Result<()> {
        let length = u32::try_from(length)
            .map_err(|_| FileError::unsupported("variable-length data of 2^32 elements"))?;
        part_mut(to, 0, 4)?.copy_from_slice(&length.to_le_bytes());
        part_mut(to, 4, 16)?.copy_from_slice(&self.arena.put(bytes));
        Ok(())
    }

    /// A reference to an object becomes its kind, flags, and the length and bytes of the object's number.
    fn reference(&mut self, from: &[u8], to: &mut [u8]) -> Result<()> {
        if from.iter().all(|byte| *byte == 0) {
            return Ok(());
        }
        let library = self.file.library;
        let mut reference = [0_u64; REFERENCE / 8];
        bytes_of_mut(&mut reference).copy_from_slice(part(from, 0, REFERENCE as u32)?);
        let kind = call_with_memory!(library, H5Rget_type(reference.as_ptr().cast()));
        if kind != TO_OBJECT.into() {
            return Err(FileError::unsupported("references to regions and attributes").into());
        }
        let object =
            call_with_memory!(library, H5Ropen_object(reference.as_mut_ptr().cast(), DEFAULT, DEFAULT));
        let number = Id::of(library, object, "open the target of a reference")?.info()?.number;
        part_mut(to, 0, 3)?.copy_from_slice(&[TO_OBJECT, 0, 8]);
        part_mut(to, 3, 8)?.copy_from_slice(&number.to_le_bytes());
        Ok(())
    }
}

/// From the form of a file to memory.
struct Writing<'w> {
    file: &'w Id,
    arena: &'w Arena,
    /// Sequences that elements point to.
    kept: Vec<Vec<u64>>,
    /// Texts that elements point to.
    texts: Vec<CString>,
    /// The references of all elements.
    references: Vec<*mut u8>,
}

impl<'w> Writing<'w> {
    fn element(&mut self, form: &Datatype, memory: &Datatype, from: &[u8], to: &mut [u8]) -> Result<()> {
        match (&form.class, &memory.class) {
            (Class::Compound { members }, Class::Compound { members: targets }) => {
                for (member, target) in members.iter().zip(targets) {
                    let from = part(from, member.offset, member.datatype.size)?;
                    let to = part_mut(to, target.offset, target.datatype.size)?;
                    self.element(&member.datatype, &target.datatype, from, to)?;
                }
                Ok(())
            }
            (Class::Array { base, .. }, Class::Array { base: target, .. }) => {
                self.elements(base, target, from, to)
            }
            (Class::Sequence { base }, Class::Sequence { base: target }) => {
                let (length, blob) = self.blob(from, base.size)?;
                if length == 0 {
                    return Ok(());
                }
                let mut inner = buffer(length * target.size as usize);
                self.elements(base, target, blob, bytes_of_mut(&mut inner))?;
                set_word(to, 0, length)?;
                set_word(to, 8, inner.as_mut_ptr().expose_provenance())?;
                self.kept.push(inner);
                Ok(())
            }
            (Class::VariableText { .. }, _) => {
                let (_, blob) = self.blob(from, 1)?;
                let text = blob.split(|byte| *byte == 0).next().unwrap_or_default();
                let text = CString::new(text).unwrap_or_default();
                set_word(to, 0, text.as_ptr().expose_provenance())?;
                self.texts.push(text);
                Ok(())
            }
            (Class::Reference(ReferenceKind::Standard), _) => self.reference(from, to),
            _ => {
                to.copy_from_slice(part(from, 0, memory.size)?);
                Ok(())
            }
        }
    }

    fn elements(&mut self, form: &Datatype, memory: &Datatype, from: &[u8], to: &mut [u8]) -> Result<()> {
        let mut pairs = from.chunks_exact(form.size as usize).zip(to.chunks_exact_mut(memory.size as usize));
        pairs.try_for_each(|(from, to)| self.element(form, memory, from, to))
    }

    /// The length in elements and the bytes of variable-length data.
    fn blob(&self, from: &[u8], size: u32) -> Result<(usize, &'w [u8])> {
        let (length, bytes) = self.find(from)?;
        let whole = bytes.get(..length * size as usize);
        let whole = whole
            .ok_or_else(|| FileError::corrupt("variable-length data that is cut short", "an element"))?;
        Ok((length, whole))
    }

    fn find(&self, from: &[u8]) -> Result<(usize, &'w [u8])> {
        let mut length = [0; 4];
        length.copy_from_slice(part(from, 0, 4)?);
        let length = u32::from_le_bytes(length) as usize;
        if length == 0 {
            return Ok((0, &[]));
        }
        let mut name = [0; 16];
        name.copy_from_slice(part(from, 4, 16)?);
        let arena: &'w Arena = self.arena;
        let bytes = arena.get(&name);
        Ok((
            length,
            bytes.ok_or_else(|| FileError::corrupt("variable-length data that is absent", "an element"))?,
        ))
    }

    fn reference(&mut self, from: &[u8], to: &mut [u8]) -> Result<()> {
        let number = match crate::translate::referenced(from)? {
            0 => return Ok(()),
            number => number,
        };
        let object: Id = self.file.object(number)?;
        let place = to.as_mut_ptr();
        let library = self.file.library;
        let here: Hid = object.raw;
        let status = call_with_memory!(library, H5Rcreate_object(here, c".".as_ptr(), DEFAULT, place.cast()));
        library.check(status, "create a reference")?;
        self.references.push(place);
        Ok(())
    }

    /// References hold their file open.
    fn give_up_references(&mut self) {
        for reference in self.references.drain(..) {
            call_with_memory!(self.file.library, H5Rdestroy(reference.cast()));
        }
    }
}
