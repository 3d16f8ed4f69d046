//! Translates elements that are copied to another place: their blobs are copied with them, and references lead to copies.

use std::{cell::RefCell, sync::Arc};

use isotach_hdf5::{BlobId, Convert, CopyOf, Error as FileError, File, Object, Result as FileResult};
use isotach_hdf5_types::{Class, Datatype, ReferenceKind, Stored};

use crate::{
    abi::DEFAULT,
    beside,
    error::{Error, Result},
    handle::Node,
    place::Place,
    view::{Beside, View},
};

/// To the file of a view, from files that are open in views.
pub(crate) struct Values<'a> {
    to: &'a Arc<View>,
    /// The source, and the files that its external links have led to.
    from: RefCell<Vec<Arc<View>>>,
}

impl<'a> Values<'a> {
    pub(crate) fn new(from: &Arc<View>, to: &'a Arc<View>) -> Self {
        Self { to, from: RefCell::new(vec![Arc::clone(from)]) }
    }

    /// What an external link in a group leads to; nothing if it is not there.
    fn follow(&self, group: &Object, file: &str, path: &str) -> Result<Option<Object>> {
        let number = group.file().number();
        let view = self.from.borrow().iter().find(|view| view.file.number() == number).cloned();
        let view = view.ok_or_else(|| Error::argument("a link of a file that is not open"))?;
        let there = match beside::open_linked(&view, file, DEFAULT) {
            Ok(Beside::Ours(view)) => view,
            Ok(Beside::Native(_)) => {
                return Err(Error::unsupported(format!("copying what is in the native file {file}")));
            }
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(error),
        };
        let object = there.file.root()?;
        let found = Place { view: there, node: Node { object, path: None } }.follow(path, DEFAULT);
        match found {
            Ok(Place { view, node }) => {
                view.wait();
                self.from.borrow_mut().push(view);
                Ok(Some(node.object))
            }
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Convert for Values<'_> {
    fn applies(&self, datatype: &[u8]) -> FileResult<bool> {
        Ok(stored(datatype)?.datatype().map_err(damaged)?.is_bound_to_its_file())
    }

    fn convert(
        &self,
        from: &Arc<File>,
        datatype: &[u8],
        mut elements: Vec<u8>,
        copy_of: &mut CopyOf<'_>,
    ) -> FileResult<Vec<u8>> {
        let kind = stored(datatype)?.datatype().and_then(|kind| kind.file_form()).map_err(damaged)?;
        let mut translation = Translation { from, to: &self.to.file, copy_of };
        for element in elements.chunks_exact_mut(kind.size.max(1) as usize) {
            translation.element(&kind, element)?;
        }
        Ok(elements)
    }

    fn committed(&self, datatype: &[u8]) -> FileResult<u64> {
        Ok(stored(datatype)?.committed)
    }

    fn with_committed(&self, datatype: &[u8], number: u64) -> FileResult<Vec<u8>> {
        Ok(Stored { committed: number, ..stored(datatype)? }.to_vec())
    }

    fn linked(&self, group: &Object, file: &str, path: &str) -> FileResult<Option<Object>> {
        self.follow(group, file, path).map_err(outward)
    }
}

fn stored(datatype: &[u8]) -> FileResult<Stored<'_>> {
    Stored::parse(datatype).map_err(damaged)
}

#[expect(clippy::needless_pass_by_value, reason = "`map_err` gives errors away")]
fn damaged(error: isotach_hdf5_types::Error) -> FileError {
    FileError::corrupt(error.to_string(), "a header or an attribute")
}

fn outward(error: Error) -> FileError {
    match error {
        Error::File(error) | Error::At(_, error) => error,
        other => FileError::unsupported(format!("copying what a link leads to: {other}")),
    }
}

/// The kind and the flag of a reference in the file: one to an object has its number at once, others have it in a blob.
const TO_OBJECT: u8 = 2;
const EXTERNAL: u8 = 1;

/// Elements in the form of the source's file become elements of the target's.
struct Translation<'t, 'c> {
    from: &'t Arc<File>,
    to: &'t Arc<File>,
    copy_of: &'t mut CopyOf<'c>,
}

impl Translation<'_, '_> {
    fn element(&mut self, kind: &Datatype, element: &mut [u8]) -> FileResult<()> {
        match &kind.class {
            Class::Compound { members } => {
                for member in members {
                    let (first, size) = (member.offset as usize, member.datatype.size as usize);
                    let part = element.get_mut(first..first + size).ok_or_else(cut)?;
                    self.element(&member.datatype, part)?;
                }
                Ok(())
            }
            Class::Array { base, .. } => self.each(base, element),
            Class::Sequence { base } => self.blob(element.get_mut(4..).ok_or_else(cut)?, Some(base)),
            Class::VariableText { .. } => self.blob(element.get_mut(4..).ok_or_else(cut)?, None),
            Class::Reference(kind) => self.reference(*kind, element),
            _ => Ok(()),
        }
    }

    fn each(&mut self, kind: &Datatype, elements: &mut [u8]) -> FileResult<()> {
        elements
            .chunks_exact_mut(kind.size.max(1) as usize)
            .try_for_each(|element| self.element(kind, element))
    }

    /// Copies the blob that 16 bytes name, with what its elements name.
    fn blob(&mut self, name: &mut [u8], base: Option<&Datatype>) -> FileResult<()> {
        let id = BlobId(name.get(..16).and_then(|name| name.try_into().ok()).ok_or_else(cut)?);
        if id.is_null() || id == BlobId::EMPTY {
            return Ok(());
        }
        let mut bytes = self.from.blob(&id)?;
        if let Some(base) = base.filter(|base| base.is_bound_to_its_file()) {
            self.each(base, &mut bytes)?;
        }
        name[..16].copy_from_slice(&self.to.put_blob(&bytes)?.0);
        Ok(())
    }

    fn reference(&mut self, kind: ReferenceKind, element: &mut [u8]) -> FileResult<()> {
        if element.iter().all(|byte| *byte == 0) {
            return Ok(());
        }
        match kind {
            ReferenceKind::Object => self.number(element),
            // The program's library has what it leads to.
            ReferenceKind::Region => Ok(()),
            ReferenceKind::Standard if element.get(1).is_none_or(|flags| flags & EXTERNAL != 0) => Ok(()),
            ReferenceKind::Standard if element[0] == TO_OBJECT => {
                self.number(element.get_mut(3..11).ok_or_else(cut)?)?;
                if element[3..11] == [0; 8] {
                    element.fill(0);
                }
                Ok(())
            }
            ReferenceKind::Standard => {
                let name = element.get_mut(6..22).ok_or_else(cut)?;
                let id = BlobId(<[u8; 16]>::try_from(&*name).map_err(|_| cut())?);
                let mut bytes = self.from.blob(&id)?;
                let number = bytes.get_mut(1..9).ok_or_else(cut)?;
                self.number(number)?;
                if *number == [0; 8] {
                    element.fill(0);
                } else {
                    name.copy_from_slice(&self.to.put_blob(&bytes)?.0);
                }
                Ok(())
            }
        }
    }

    /// Puts the number of the copy in the place of an object's.
    fn number(&mut self, bytes: &mut [u8]) -> FileResult<()> {
        let number = u64::from_le_bytes(<[u8; 8]>::try_from(&*bytes).map_err(|_| cut())?);
        if number != u64::MAX {
            bytes.copy_from_slice(&(self.copy_of)(number)?.to_le_bytes());
        }
        Ok(())
    }
}

fn cut() -> FileError {
    FileError::corrupt("an element that is cut short", "a dataset or an attribute")
}
