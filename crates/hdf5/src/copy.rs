//! Copies of objects, within a file or to another.

use std::{collections::HashMap, sync::Arc};

use crate::{
    Attribute, By, Charset, Data, File, Header, Kind, Last, Object, Order, Resolved, Result, Run, Target,
};

/// Translates elements that cannot be copied to another file as bytes: blobs, references, committed datatypes.
pub trait Convert {
    /// Whether elements of this encoded datatype need it.
    ///
    /// # Errors
    /// Those of the caller.
    fn applies(&self, datatype: &[u8]) -> Result<bool>;

    /// The elements of the source as elements of the target.
    ///
    /// # Errors
    /// Those of the caller.
    fn convert(&self, datatype: &[u8], elements: Vec<u8>) -> Result<Vec<u8>>;
}

/// How an object is copied. The default copies the whole tree below it with attributes, soft links as links, and all bytes as they are.
#[derive(Default, Clone, Copy)]
pub struct CopyOptions<'a> {
    /// Of the members of a group, copies only those directly in it; groups among them are empty.
    pub is_shallow: bool,
    /// Soft links become the objects that they lead to.
    pub expand_soft: bool,
    /// Leaves the attributes out.
    pub without_attributes: bool,
    /// Translates elements.
    pub convert: Option<&'a dyn Convert>,
}

impl std::fmt::Debug for CopyOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CopyOptions")
            .field("is_shallow", &self.is_shallow)
            .field("expand_soft", &self.expand_soft)
            .field("without_attributes", &self.without_attributes)
            .field("converts", &self.convert.is_some())
            .finish()
    }
}

/// Elements that are converted at once.
const ELEMENTS: u64 = 1 << 16;

/// A copy under way.
struct Copying<'c> {
    file: &'c Arc<File>,
    options: &'c CopyOptions<'c>,
    /// The copies of the objects that were met, which are open until the end.
    copies: HashMap<u64, Object>,
}

impl Object {
    /// Copies the object with what is below it into a file, which may be its own. The copy has no link yet.
    ///
    /// # Errors
    /// `ReadOnly`, `Corrupt`, `Object`; those of [`Convert`].
    pub fn copy_to(&self, file: &Arc<File>, options: &CopyOptions<'_>) -> Result<Self> {
        let mut copying = Copying { file, options, copies: HashMap::new() };
        // Groups whose members are still to be copied: the group, its copy, and how deep it is.
        let copy = copying.one(self)?;
        let mut groups = vec![(self.clone(), copy.clone(), 0_u32)];
        while let Some((from, to, depth)) = groups.pop() {
            if from.kind() == Kind::Group && !(options.is_shallow && depth > 0) {
                groups
                    .extend(copying.members(&from, &to)?.into_iter().map(|(from, to)| (from, to, depth + 1)));
            }
        }
        Ok(copy)
    }
}

impl Copying<'_> {
    /// Copies an object without its members.
    fn one(&mut self, from: &Object) -> Result<Object> {
        let header = from.header()?;
        let copy = self.file.create_object(Header { references: 0, ..(*header).clone() })?;
        self.copies.insert(from.number(), copy.clone());
        if !self.options.without_attributes {
            for (name, _) in from.attributes(By::CreationOrder, Order::Increasing)? {
                let Some(attribute) = from.attribute(&name)? else { continue };
                let value = self.converted(&attribute.datatype, attribute.value)?;
                copy.put_attribute(Attribute { value, ..attribute })?;
            }
        }
        if let Some(data) = &header.data {
            self.data(from, &copy, &header.datatype, data)?;
        }
        Ok(copy)
    }

    fn converted(&self, datatype: &[u8], elements: Vec<u8>) -> Result<Vec<u8>> {
        match self.options.convert {
            Some(convert) if convert.applies(datatype)? => convert.convert(datatype, elements),
            _ => Ok(elements),
        }
    }

    fn data(&self, from: &Object, to: &Object, datatype: &[u8], data: &Data) -> Result<()> {
        match self.options.convert {
            Some(convert) if convert.applies(datatype)? => {
                let (count, mut first) = (data.space.count()?, 0);
                while first < count {
                    let runs = [Run { first, count: ELEMENTS.min(count - first) }];
                    let mut elements = vec![0; (runs[0].count * u64::from(data.element)) as usize];
                    from.read(&runs, &mut elements)?;
                    to.write(&runs, &convert.convert(datatype, elements)?)?;
                    first += runs[0].count;
                }
                Ok(())
            }
            _ => from.chunk_infos()?.iter().try_for_each(|chunk| {
                let (mask, bytes) = from.read_chunk(&chunk.offset)?;
                to.write_chunk(&chunk.offset, mask, &bytes)
            }),
        }
    }

    /// Copies the links of a group. Returns the members that were met for the first time, with their copies.
    fn members(&mut self, from: &Object, to: &Object) -> Result<Vec<(Object, Object)>> {
        let mut new = Vec::new();
        for (name, link) in from.links(By::CreationOrder, Order::Increasing)? {
            let target = match &link.target {
                Target::Hard { number, kind } => Some(Object::open(from.file().clone(), *number, *kind)),
                Target::Soft(path) if self.options.expand_soft => {
                    match from.file().resolve(from, path, Last::Follow) {
                        Ok(Resolved::Object(object)) => Some(object),
                        _ => None,
                    }
                }
                _ => None,
            };
            let Some(target) = target else {
                to.insert_link(&name, link.target, link.charset)?;
                continue;
            };
            let copy = match self.copies.get(&target.number()) {
                Some(copy) => copy.clone(),
                None => {
                    let copy = self.one(&target)?;
                    new.push((target, copy.clone()));
                    copy
                }
            };
            link_to(to, &name, &copy, link.charset)?;
        }
        Ok(new)
    }
}

fn link_to(group: &Object, name: &str, object: &Object, charset: Charset) -> Result<()> {
    group.insert_link(name, Target::Hard { number: object.number(), kind: object.kind() }, charset)
}
