//! Packed elements: bytes that mean the same without a file.
//!
//! A packed element has no gaps between the members of a compound, and variable-length data is in it instead of in blobs. Equal elements have
//! equal bytes, so keys of maps can be compared as bytes. `docs/hdf5-layout.md` describes the form.

use isotach_engine_kit::bytes::{Put as _, Reader};

use crate::{
    Class, Datatype, Error, Padding, ReferenceKind, Result,
    decode::until_zero,
    error::no_value,
    value::{ReadBlob, variable},
};

/// An element in the form of a file of the connector, with its blobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unpacked {
    /// The element.
    pub element: Vec<u8>,
    /// The blobs that it names: [`Unpacked::blob`] finds one by its name.
    pub blobs: Vec<Vec<u8>>,
}

impl Unpacked {
    /// The name of the blob with this index.
    pub fn name(index: usize) -> [u8; 16] {
        let mut name = [0; 16];
        name[..8].copy_from_slice(&(index as u64 + 1).to_le_bytes());
        name
    }

    /// The blob with this name.
    pub fn blob<'b>(blobs: &'b [Vec<u8>], name: &[u8; 16]) -> Option<&'b [u8]> {
        let number = Reader(name).u64()?;
        blobs.get(usize::try_from(number).ok()?.checked_sub(1)?).map(Vec::as_slice)
    }
}

/// The first bytes of a reference to an object of the same file: its kind, no flags, and the length of the number that follows.
const TO_OBJECT: [u8; 3] = [2, 0, 8];

fn cut<T>(part: Option<T>) -> Result<T> {
    part.ok_or_else(|| no_value("it is cut short"))
}

fn refuse_reference() -> Error {
    Error::Unpackable { what: "a reference to a region, an attribute or another file" }
}

/// How much longer elements may be than what they are packed as.
const GAPS: usize = 4096;

const TOO_LONG: Error = Error::Unpackable { what: "a compound with gaps of megabytes" };

/// The bytes that unpacking may allocate. Packing refuses elements that exceed it, so whatever is packed can be unpacked.
struct Room(usize);

impl Room {
    fn of(packed: &[u8]) -> Self {
        Self(GAPS.saturating_mul(packed.len().saturating_add(GAPS)))
    }

    fn take(&mut self, bytes: usize) -> Result<()> {
        self.0 = self.0.checked_sub(bytes).ok_or(TOO_LONG)?;
        Ok(())
    }
}

const WITHOUT_BYTES: &str = "elements without bytes";

/// What variable-length data is made of; nothing for elements of a fixed length.
fn parts_of_length(class: &Class) -> Option<Option<&Datatype>> {
    match class {
        Class::Sequence { base } => Some(Some(base)),
        Class::VariableText { .. } => Some(None),
        _ => None,
    }
}

impl Datatype {
    /// Packs an element. This is a [`Datatype::file_form`], and so is the element.
    ///
    /// # Errors
    /// `Value` for bytes that are no such element; `Blob` if `blob` fails; `Unpackable` for references to other than objects, and for compounds with gaps of
    /// megabytes.
    pub fn pack(&self, element: &[u8], blob: &mut ReadBlob<'_>) -> Result<Vec<u8>> {
        let mut packing = Packing { packed: Vec::new(), unpacked_size: 0, blob };
        match parts_of_length(&self.class) {
            // The packed element ends where its data does.
            Some(base) => drop(packing.data(base, element)?),
            None => packing.element(self, element)?,
        }
        Room::of(&packing.packed).take(self.size as usize)?;
        Room::of(&packing.packed).take(packing.unpacked_size)?;
        Ok(packing.packed)
    }

    /// Whether an element is what it is packed.
    fn is_packed(&self) -> bool {
        match &self.class {
            Class::Array { base, .. } => base.is_packed(),
            Class::Text { padding, .. } => *padding != Padding::Terminated,
            Class::Compound { .. }
            | Class::Sequence { .. }
            | Class::VariableText { .. }
            | Class::Reference(_) => false,
            _ => true,
        }
    }

    /// The element that was packed. This is a [`Datatype::file_form`].
    ///
    /// # Errors
    /// `Value` for bytes that no element was packed as; `Unpackable` for compounds with gaps of megabytes.
    pub fn unpack(&self, packed: &[u8]) -> Result<Unpacked> {
        Room::of(packed).take(self.size as usize)?;
        let mut unpacking = Unpacking { reader: Reader(packed), blobs: Vec::new(), room: Room::of(packed) };
        let mut element = vec![0; self.size as usize];
        match parts_of_length(&self.class) {
            Some(base) => unpacking.data(base, None, &mut element)?,
            None => unpacking.element(self, &mut element)?,
        }
        if !unpacking.reader.is_empty() {
            return Err(no_value("bytes behind its end"));
        }
        Ok(Unpacked { element, blobs: unpacking.blobs })
    }

    /// Replaces the numbers of the objects that a packed element refers to, by what `each` makes of them; 0 is no object.
    ///
    /// # Errors
    /// `Value` for bytes that no element was packed as; those of `each`.
    pub fn replace_references<E: From<Error>>(
        &self,
        packed: &mut [u8],
        each: &mut dyn FnMut(u64) -> Result<u64, E>,
    ) -> Result<(), E> {
        if !self.refers() {
            return Ok(());
        }
        let mut rest = packed;
        if let Some(base) = parts_of_length(&self.class) {
            while let (Some(base), false) = (base, rest.is_empty()) {
                base.replace(&mut rest, each)?;
            }
            return Ok(());
        }
        self.replace(&mut rest, each)
    }

    /// Whether an element may have references in it.
    fn refers(&self) -> bool {
        matches!(self.class, Class::Reference(_)) || self.parts().any(Self::refers)
    }

    fn replace<E: From<Error>>(
        &self,
        rest: &mut &mut [u8],
        each: &mut dyn FnMut(u64) -> Result<u64, E>,
    ) -> Result<(), E> {
        match &self.class {
            Class::Compound { members } => {
                members.iter().try_for_each(|member| member.datatype.replace(rest, each))
            }
            Class::Array { base, dims } => {
                let count: u64 = dims.iter().map(|length| u64::from(*length)).product();
                (0..count).try_for_each(|_| base.replace(rest, each))
            }
            Class::Sequence { .. } | Class::VariableText { .. } => {
                let count = taken(rest, 4)?;
                let count = cut(Reader(count).u32())?;
                match parts_of_length(&self.class).flatten() {
                    Some(base) => (0..count).try_for_each(|_| base.replace(rest, each)),
                    None => taken(rest, count as usize).map(drop).map_err(E::from),
                }
            }
            Class::Reference(kind) => {
                let element = taken(rest, self.size as usize)?;
                if element.iter().all(|byte| *byte == 0) {
                    return Ok(());
                }
                let first = if *kind == ReferenceKind::Standard { TO_OBJECT.len() } else { 0 };
                let number = cut(element.get_mut(first..first + 8))?;
                let new = each(cut(Reader(number).u64())?)?;
                number.copy_from_slice(&new.to_le_bytes());
                if new == 0 {
                    element.fill(0);
                }
                Ok(())
            }
            _ => taken(rest, self.size as usize).map(drop).map_err(E::from),
        }
    }
}

/// Takes bytes from the front.
fn taken<'p>(rest: &mut &'p mut [u8], count: usize) -> Result<&'p mut [u8]> {
    let (front, behind) = cut(std::mem::take(rest).split_at_mut_checked(count))?;
    *rest = behind;
    Ok(front)
}

fn is_to_object(kind: ReferenceKind, element: &[u8]) -> bool {
    match kind {
        ReferenceKind::Object => true,
        ReferenceKind::Standard => element.starts_with(&TO_OBJECT),
        ReferenceKind::Region => false,
    }
}

struct Packing<'r, 'b> {
    packed: Vec<u8>,
    /// The bytes that the elements of variable-length data take when they are unpacked.
    unpacked_size: usize,
    blob: &'r mut ReadBlob<'b>,
}

impl Packing<'_, '_> {
    fn element(&mut self, datatype: &Datatype, element: &[u8]) -> Result<()> {
        let element = cut(element.get(..datatype.size as usize))?;
        match &datatype.class {
            Class::Text { padding: Padding::Terminated, .. } => {
                let (text, end) = (until_zero(element), self.packed.len() + element.len());
                self.packed.extend_from_slice(text);
                self.packed.resize(end, 0);
            }
            Class::Compound { members } => {
                for member in members {
                    self.element(&member.datatype, cut(element.get(member.offset as usize..))?)?;
                }
            }
            Class::Array { base, .. } if !base.is_packed() => self.each(base, element)?,
            class @ (Class::Sequence { .. } | Class::VariableText { .. }) => {
                let (base, at) = (parts_of_length(class).flatten(), self.packed.len());
                self.packed.put_u32(0);
                let count = self.data(base, element)?;
                cut(self.packed.get_mut(at..at + 4))?.copy_from_slice(&count.to_le_bytes());
            }
            Class::Reference(kind) => {
                let is_null = element.iter().all(|byte| *byte == 0);
                if !is_null && !is_to_object(*kind, element) {
                    return Err(refuse_reference());
                }
                self.packed.extend_from_slice(element);
            }
            _ => self.packed.extend_from_slice(element),
        }
        Ok(())
    }

    fn each(&mut self, datatype: &Datatype, elements: &[u8]) -> Result<()> {
        elements.chunks_exact(datatype.size as usize).try_for_each(|element| {
            let before = self.packed.len();
            self.element(datatype, element)?;
            if self.packed.len() == before { Err(no_value(WITHOUT_BYTES)) } else { Ok(()) }
        })
    }

    /// Packs variable-length data. Returns its length in elements.
    fn data(&mut self, base: Option<&Datatype>, element: &[u8]) -> Result<u32> {
        let size = base.map_or(1, |base| base.size);
        let (count, bytes) = variable(element, size, self.blob)?;
        let data = cut(bytes.get(..count * size as usize))?;
        match base {
            Some(base) if !base.is_packed() => {
                self.unpacked_size = self.unpacked_size.saturating_add(data.len());
                self.each(base, data)?;
            }
            _ => self.packed.extend_from_slice(data),
        }
        u32::try_from(count).map_err(|_| no_value("a sequence of 2^32 elements"))
    }
}

struct Unpacking<'p> {
    reader: Reader<'p>,
    blobs: Vec<Vec<u8>>,
    /// For the elements of variable-length data that are longer than what they are packed as.
    room: Room,
}

impl Unpacking<'_> {
    fn element(&mut self, datatype: &Datatype, element: &mut [u8]) -> Result<()> {
        let element = cut(element.get_mut(..datatype.size as usize))?;
        match &datatype.class {
            Class::Compound { members } => {
                for member in members {
                    let part = cut(element.get_mut(member.offset as usize..))?;
                    self.element(&member.datatype, part)?;
                }
            }
            Class::Array { base, .. } if !base.is_packed() => {
                for part in element.chunks_exact_mut(base.size as usize) {
                    self.element(base, part)?;
                }
            }
            class @ (Class::Sequence { .. } | Class::VariableText { .. }) => {
                let count = cut(self.reader.u32())?;
                self.data(parts_of_length(class).flatten(), Some(count), element)?;
            }
            _ => element.copy_from_slice(cut(self.reader.take(element.len()))?),
        }
        Ok(())
    }

    /// Unpacks variable-length data: so many elements, or all that are left.
    fn data(&mut self, base: Option<&Datatype>, count: Option<u32>, element: &mut [u8]) -> Result<()> {
        let (found, bytes) = match base {
            Some(base) if !base.is_packed() => self.each(base, count)?,
            base => self.verbatim(base.map_or(1, |base| base.size as usize), count)?,
        };
        let (length, name) = cut(element.split_at_mut_checked(4))?;
        length.copy_from_slice(&found.to_le_bytes());
        cut(name.get_mut(..16))?.copy_from_slice(&Unpacked::name(self.blobs.len()));
        self.blobs.push(bytes);
        Ok(())
    }

    /// Elements whose packed form is the element itself: how many, and their bytes.
    fn verbatim(&mut self, size: usize, count: Option<u32>) -> Result<(u32, Vec<u8>)> {
        let left = self.reader.0.len();
        let length = count.map_or(Some(left), |count| size.checked_mul(count as usize));
        let bytes = cut(length.and_then(|length| self.reader.take(length)))?;
        if size == 0 || !bytes.len().is_multiple_of(size) {
            return Err(no_value("a part of an element"));
        }
        let found = u32::try_from(bytes.len() / size).map_err(|_| no_value("2^32 elements"))?;
        Ok((found, bytes.to_vec()))
    }

    /// Elements that are packed one by one: how many, and their bytes.
    fn each(&mut self, base: &Datatype, count: Option<u32>) -> Result<(u32, Vec<u8>)> {
        let (mut found, mut bytes) = (0_u32, Vec::new());
        while count.map_or(!self.reader.is_empty(), |count| found < count) {
            let (start, left) = (bytes.len(), self.reader.0.len());
            self.room.take(base.size as usize)?;
            bytes.resize(start + base.size as usize, 0);
            self.element(base, cut(bytes.get_mut(start..))?)?;
            if self.reader.0.len() == left {
                return Err(no_value(WITHOUT_BYTES));
            }
            found += 1;
        }
        Ok((found, bytes))
    }
}

#[cfg(test)]
mod tests;
