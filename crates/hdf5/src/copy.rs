//! Copies of objects, within a file or to another.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use isotach_hdf5_types::Stored;

use crate::{
    Attribute, By, Charset, Data, Error, File, Header, Kind, Last, Object, Order, Resolved, Result, Run,
    Target,
};

/// Finds the copy of an object of the source's file by its number, for a reference to it: 0 if there is none.
pub type CopyOf<'c> = dyn FnMut(u64) -> Result<u64> + 'c;

/// What a copy needs to know of datatypes and of other files.
pub trait Convert {
    /// Whether elements of this encoded datatype cannot be copied as bytes: they name blobs or objects.
    ///
    /// # Errors
    /// Those of the caller.
    fn applies(&self, datatype: &[u8]) -> Result<bool>;

    /// The elements of a file as elements of the target.
    ///
    /// # Errors
    /// Those of the caller, and of `copy_of`.
    fn convert(
        &self,
        from: &Arc<File>,
        datatype: &[u8],
        elements: Vec<u8>,
        copy_of: &mut CopyOf<'_>,
    ) -> Result<Vec<u8>>;

    /// The number of the committed datatype that an encoded datatype is, or 0.
    ///
    /// # Errors
    /// Those of the caller.
    fn committed(&self, datatype: &[u8]) -> Result<u64>;

    /// The encoded datatype as the committed one with this number, or as none for 0.
    ///
    /// # Errors
    /// Those of the caller.
    fn with_committed(&self, datatype: &[u8], number: u64) -> Result<Vec<u8>>;

    /// The object that an external link in this group leads to, if it is there.
    ///
    /// # Errors
    /// Those of the caller.
    fn linked(&self, group: &Object, file: &str, path: &str) -> Result<Option<Object>>;
}

/// How an object is copied. The default copies the whole tree below it with attributes, links as links, and all bytes as they are.
#[derive(Default, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "HDF5's flags, which a program sets one by one")]
pub struct CopyOptions<'a> {
    /// Of the members of a group, copies only those directly in it; groups among them are empty.
    pub is_shallow: bool,
    /// Soft links become the objects that they lead to.
    pub expand_soft: bool,
    /// External links become the objects that they lead to.
    pub expand_external: bool,
    /// What references lead to is copied, too; a copy that gets no other link has one in the root, `~obj_pointed_by_` and its number. Without
    /// this, references in another file lead to nothing.
    pub expand_references: bool,
    /// Leaves the attributes out.
    pub without_attributes: bool,
    /// Uses a committed datatype of the target that equals one of the source, instead of a copy.
    pub merge_datatypes: bool,
    /// What is known of datatypes and of other files.
    pub convert: Option<&'a dyn Convert>,
}

impl std::fmt::Debug for CopyOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CopyOptions")
            .field("is_shallow", &self.is_shallow)
            .field("expand_soft", &self.expand_soft)
            .field("expand_external", &self.expand_external)
            .field("expand_references", &self.expand_references)
            .field("without_attributes", &self.without_attributes)
            .field("merge_datatypes", &self.merge_datatypes)
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
    /// The copies of the objects that were met, by the number of the file and their own. They are open until the end.
    copies: HashMap<(u64, u64), Object>,
    /// Objects whose contents are still to be copied: the object, its copy, and how deep it is.
    left: Vec<(Object, Object, u32)>,
    /// Copies that a reference leads to.
    referenced: Vec<Object>,
    /// The committed datatypes of the target, once they are known.
    datatypes: Option<Vec<(Vec<u8>, Object)>>,
}

impl Object {
    /// Copies the object with what is below it into a file, which may be its own. The copy has no link yet.
    ///
    /// # Errors
    /// `ReadOnly`, `Corrupt`, `Object`; those of [`Convert`].
    pub fn copy_to(&self, file: &Arc<File>, options: &CopyOptions<'_>) -> Result<Self> {
        let mut copying = Copying {
            file,
            options,
            copies: HashMap::new(),
            left: Vec::new(),
            referenced: Vec::new(),
            datatypes: None,
        };
        let copy = copying.copy(self, 0)?;
        while let Some((from, to, depth)) = copying.left.pop() {
            copying.contents(&from, &to, depth)?;
        }
        for object in &copying.referenced {
            if object.number() != copy.number() && object.header()?.references == 0 {
                link_to(
                    &file.root()?,
                    &format!("~obj_pointed_by_{}", object.number()),
                    object,
                    Charset::Ascii,
                )?;
            }
        }
        Ok(copy)
    }
}

impl Copying<'_> {
    /// The copy of an object, whose contents are left for later.
    fn copy(&mut self, from: &Object, depth: u32) -> Result<Object> {
        if let Some(copy) = self.copies.get(&key(from)) {
            return Ok(copy.clone());
        }
        if let Some(equal) = self.equal_datatype(from)? {
            self.copies.insert(key(from), equal.clone());
            return Ok(equal);
        }
        let header = from.header()?;
        let mut new = Header { references: 0, ..(*header).clone() };
        new.datatype = self.datatype(from, &header.datatype)?;
        new.key_datatype = self.datatype(from, &header.key_datatype)?;
        if let Some(data) = &mut new.data
            && let Some(fill) = data.fill.take()
        {
            data.fill = Some(self.converted(from, &header.datatype, fill)?);
        }
        let copy = self.file.create_object(new)?;
        self.copies.insert(key(from), copy.clone());
        self.left.push((from.clone(), copy.clone(), depth));
        Ok(copy)
    }

    /// Copies the attributes of an object, its members and its elements.
    fn contents(&mut self, from: &Object, to: &Object, depth: u32) -> Result<()> {
        if !self.options.without_attributes {
            for (name, _) in from.attributes(By::CreationOrder, Order::Increasing)? {
                let Some(attribute) = from.attribute(&name)? else { continue };
                let value = self.converted(from, &attribute.datatype, attribute.value)?;
                let datatype = self.datatype(from, &attribute.datatype)?;
                to.put_attribute(Attribute { datatype, value, ..attribute })?;
            }
        }
        if from.kind() == Kind::Group && !(self.options.is_shallow && depth > 0) {
            self.members(from, to, depth)?;
        }
        let header = from.header()?;
        match &header.data {
            Some(data) => self.data(from, to, &header.datatype, data),
            None if header.kind == Kind::Map => self.map_entries(from, to, &header.datatype),
            None => Ok(()),
        }
    }

    /// Copies the keys and values of a map. What values refer to is as in a dataset.
    fn map_entries(&mut self, from: &Object, to: &Object, datatype: &[u8]) -> Result<()> {
        let form = match self.options.convert {
            Some(_) => {
                let form = Stored::parse(datatype).and_then(|stored| stored.datatype()?.file_form());
                Some(form.map_err(|error| Error::corrupt(error.to_string(), from.to_string()))?)
            }
            None => None,
        };
        for key in from.map_keys()? {
            let Some(mut value) = from.map_value(&key)? else { continue };
            if let Some(form) = &form {
                form.replace_references(&mut value, &mut |number| {
                    self.copy_of(from, number).map_err(Damage::Copy)
                })
                .map_err(|damage| damage.at(from))?;
            }
            to.put_map_value(&key, value)?;
        }
        Ok(())
    }

    fn is_other(&self, from: &Object) -> bool {
        from.file().number() != self.file.number()
    }

    /// An encoded datatype of a file as one of the target: a committed one is copied with what it is of.
    fn datatype(&mut self, from: &Object, datatype: &[u8]) -> Result<Vec<u8>> {
        let Some(convert) = self.options.convert.filter(|_| self.is_other(from) && !datatype.is_empty())
        else {
            return Ok(datatype.to_vec());
        };
        let number = convert.committed(datatype)?;
        if number == 0 {
            return Ok(datatype.to_vec());
        }
        let committed = match from.file().object(number) {
            Ok(object) if object.kind() == Kind::Datatype => self.copy(&object, 0)?,
            Ok(_) | Err(Error::NotFound { .. }) => return convert.with_committed(datatype, 0),
            Err(error) => return Err(error),
        };
        if committed.header()?.references == 0 {
            // It has no link, and what is of it keeps it.
            committed.change_reference_count(1)?;
        }
        convert.with_committed(datatype, committed.number())
    }

    /// A committed datatype of the target that equals one of another file, if such are to be used.
    fn equal_datatype(&mut self, from: &Object) -> Result<Option<Object>> {
        if !self.options.merge_datatypes || from.kind() != Kind::Datatype || !self.is_other(from) {
            return Ok(None);
        }
        if self.datatypes.is_none() {
            self.datatypes = Some(committed_in(self.file)?);
        }
        let wanted = &from.header()?.datatype;
        let known = self.datatypes.iter().flatten().find(|(datatype, _)| datatype == wanted);
        Ok(known.map(|(_, object)| object.clone()))
    }

    fn converted(&mut self, from: &Object, datatype: &[u8], elements: Vec<u8>) -> Result<Vec<u8>> {
        match self.options.convert {
            Some(convert) if convert.applies(datatype)? => {
                convert.convert(from.file(), datatype, elements, &mut |number| self.copy_of(from, number))
            }
            _ => Ok(elements),
        }
    }

    /// The number of the copy that a reference leads to; 0 for none.
    fn copy_of(&mut self, from: &Object, number: u64) -> Result<u64> {
        if !self.options.expand_references {
            return Ok(if self.is_other(from) { 0 } else { number });
        }
        let object = match from.file().object(number) {
            Ok(object) => object,
            Err(Error::NotFound { .. }) => return Ok(0),
            Err(error) => return Err(error),
        };
        let copy = self.copy(&object, 0)?;
        self.referenced.push(copy.clone());
        Ok(copy.number())
    }

    fn data(&mut self, from: &Object, to: &Object, datatype: &[u8], data: &Data) -> Result<()> {
        let converts = self.options.convert.map_or(Ok(false), |convert| convert.applies(datatype))?;
        if !converts {
            return from.chunk_infos()?.iter().try_for_each(|chunk| {
                let (mask, bytes) = from.read_chunk(&chunk.offset)?;
                to.write_chunk(&chunk.offset, mask, &bytes)
            });
        }
        let (count, mut first) = (data.space.count()?, 0);
        while first < count {
            let runs = [Run { first, count: ELEMENTS.min(count - first) }];
            let mut elements = vec![0; (runs[0].count * u64::from(data.element)) as usize];
            from.read(&runs, &mut elements)?;
            to.write(&runs, &self.converted(from, datatype, elements)?)?;
            first += runs[0].count;
        }
        Ok(())
    }

    /// Copies the links of a group, and what they lead to.
    fn members(&mut self, from: &Object, to: &Object, depth: u32) -> Result<()> {
        for (name, link) in from.links(By::CreationOrder, Order::Increasing)? {
            match self.target(from, &link.target)? {
                Some(target) => {
                    let copy = self.copy(&target, depth + 1)?;
                    link_to(to, &name, &copy, link.charset)?;
                }
                None => to.insert_link(&name, link.target, link.charset)?,
            }
        }
        Ok(())
    }

    /// The object that a link becomes; nothing for one that stays a link.
    fn target(&self, group: &Object, target: &Target) -> Result<Option<Object>> {
        match target {
            Target::Hard { number, kind } => Ok(Some(Object::open(group.file().clone(), *number, *kind))),
            Target::Soft(path) if self.options.expand_soft => {
                match group.file().resolve(group, path, Last::Follow) {
                    Ok(Resolved::Object(object)) => Ok(Some(object)),
                    Ok(Resolved::External { file, path, link_parent }) => {
                        self.linked(&link_parent, &file, &path)
                    }
                    _ => Ok(None),
                }
            }
            Target::External { file, path } => self.linked(group, file, path),
            _ => Ok(None),
        }
    }

    fn linked(&self, group: &Object, file: &str, path: &str) -> Result<Option<Object>> {
        match self.options.convert.filter(|_| self.options.expand_external) {
            Some(convert) => convert.linked(group, file, path),
            None => Ok(None),
        }
    }
}

/// Why references in a value of a map cannot be replaced.
enum Damage {
    Value(isotach_hdf5_types::Error),
    Copy(Error),
}

impl From<isotach_hdf5_types::Error> for Damage {
    fn from(error: isotach_hdf5_types::Error) -> Self {
        Self::Value(error)
    }
}

impl Damage {
    fn at(self, map: &Object) -> Error {
        match self {
            Self::Value(error) => Error::corrupt(error.to_string(), map.to_string()),
            Self::Copy(error) => error,
        }
    }
}

fn key(object: &Object) -> (u64, u64) {
    (object.file().number(), object.number())
}

fn link_to(group: &Object, name: &str, object: &Object, charset: Charset) -> Result<()> {
    group.insert_link(name, Target::Hard { number: object.number(), kind: object.kind() }, charset)
}

/// The committed datatypes of a file that hard links lead to, by their encoded form.
fn committed_in(file: &Arc<File>) -> Result<Vec<(Vec<u8>, Object)>> {
    let (mut found, mut groups, mut seen) = (Vec::new(), vec![file.root()?], HashSet::new());
    while let Some(group) = groups.pop() {
        for (_, link) in group.links(By::Name, Order::Increasing)? {
            let Target::Hard { number, kind } = link.target else { continue };
            if !matches!(kind, Kind::Group | Kind::Datatype) || !seen.insert(number) {
                continue;
            }
            let object = Object::open(file.clone(), number, kind);
            if kind == Kind::Group {
                groups.push(object);
            } else {
                found.push((object.header()?.datatype.clone(), object));
            }
        }
    }
    Ok(found)
}
