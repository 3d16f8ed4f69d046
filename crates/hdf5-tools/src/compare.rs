//! [`Comparison`]: whether a copy is equal to its source.

use isotach_hdf5::{Header, Kind, Target as LinkTarget};
use isotach_hdf5_types::{Class, Datatype, Error as TypeError, ReferenceKind, Stored, StoredCreation};

use crate::{
    Error, Result, Source,
    copy::{Steps, pieces},
    native::have_same_mappings,
    plan::{Plan, datatype, file_form},
    translate::{Numbers, blob_of, cut, referenced},
};

/// Compares a copy with its source: objects, links, attributes and elements.
pub(crate) struct Comparison<'c> {
    pub(crate) source: &'c dyn Source,
    pub(crate) copy: &'c dyn Source,
    pub(crate) numbers: &'c Numbers,
    pub(crate) plan: &'c Plan,
}

impl Comparison<'_> {
    /// Compares everything that was copied.
    pub(crate) fn run(&self, steps: &mut Steps<'_>) -> Result<()> {
        for object in &self.plan.objects {
            let path = object.path.as_str();
            let equal = |is_equal: bool, what: &'static str| {
                if is_equal { Ok(()) } else { Err(Error::Differs { path: path.to_owned(), what }) }
            };
            let copy = *self
                .numbers
                .get(&object.number)
                .ok_or(Error::Differs { path: path.to_owned(), what: "the existence" })?;
            let about = Error::about(path);
            let (one, other) = (self.source.header(object.number)?, self.copy.header(copy)?);
            equal(self.has_same_header(&one, &other, path)?, "the header")?;
            if object.kind == Kind::Group {
                equal(self.has_same_links(object.number, copy).map_err(&about)?, "a link")?;
            }
            equal(self.has_same_attributes(object.number, copy).map_err(&about)?, "an attribute")?;
            if object.kind == Kind::Dataset {
                let is_equal = self.has_same_elements(object.number, copy, &one, steps).map_err(&about)?;
                equal(is_equal, "the elements")?;
            }
            if object.kind == Kind::Map {
                equal(self.has_same_entries(object.number, copy, &one).map_err(&about)?, "an entry")?;
            }
        }
        Ok(())
    }

    fn has_same_type(&self, one: &[u8], other: &[u8], place: &str) -> Result<bool> {
        let committed =
            |stored| Stored::parse(stored).map(|stored| stored.committed).map_err(Error::at(place));
        let expected = self.numbers.get(&committed(one)?).copied().unwrap_or(0);
        Ok(datatype(one, place)? == datatype(other, place)? && expected == committed(other)?)
    }

    fn has_same_types(&self, one: &Header, other: &Header, place: &str) -> Result<bool> {
        let types = [(&one.datatype, &other.datatype), (&one.key_datatype, &other.key_datatype)];
        for (one, other) in types {
            if one.is_empty() != other.is_empty()
                || (!one.is_empty() && !self.has_same_type(one, other, place)?)
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn has_same_header(&self, one: &Header, other: &Header, place: &str) -> Result<bool> {
        if one.kind != other.kind
            || one.comment != other.comment
            || one.tracks_link_order != other.tracks_link_order
            || !self.has_same_types(one, other, place)?
        {
            return Ok(false);
        }
        let (Some(one_data), Some(other_data)) = (&one.data, &other.data) else {
            return Ok(one.data.is_none() && other.data.is_none());
        };
        let form = file_form(&one.datatype, place)?;
        let has_same_fill = match (&one_data.fill, &other_data.fill) {
            (Some(one), Some(other)) => self.are_equal(&form, one, other)?,
            (one, other) => one.is_none() && other.is_none(),
        };
        let creation = |stored| StoredCreation::parse(stored).map_err(Error::at(place));
        let (one_creation, other_creation) = (creation(&one.creation)?, creation(&other.creation)?);
        // The mappings of a virtual dataset are in its properties.
        if one_creation.is_virtual() && !have_same_mappings(one_creation.encoded, other_creation.encoded)? {
            return Ok(false);
        }
        let ids = |data: &isotach_hdf5::Data| data.filters.iter().map(|filter| filter.id).collect::<Vec<_>>();
        Ok(has_same_fill
            && self.are_equal(&form, one_creation.unused_fill, other_creation.unused_fill)?
            && one_data.space == other_data.space
            && one_data.is_chunked == other_data.is_chunked
            && one_data.chunk == other_data.chunk
            && ids(one_data) == ids(other_data))
    }

    fn has_same_entries(&self, map: u64, copy: u64, header: &Header) -> Result<bool> {
        let form = file_form(&header.datatype, "its datatype")?;
        let keys = self.source.map_keys(map)?;
        if keys != self.copy.map_keys(copy)? {
            return Ok(false);
        }
        for key in keys {
            let mut value = self.source.map_value(map, &key)?;
            let replaced =
                form.replace_references::<TypeError>(&mut value, &mut |number| Ok(self.copy_of(number)));
            replaced.map_err(Error::at("a value of a map"))?;
            if value != self.copy.map_value(copy, &key)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn has_same_links(&self, group: u64, copy: u64) -> Result<bool> {
        let expected = self.source.links(group)?.into_iter().filter_map(|(name, link)| {
            let target = match link.target {
                _ if self.plan.left_out_links.contains(&(group, name.clone())) => return None,
                LinkTarget::Hard { number, kind } => {
                    LinkTarget::Hard { number: *self.numbers.get(&number)?, kind }
                }
                other => other,
            };
            Some((name, target, link.charset))
        });
        let there = self.copy.links(copy)?.into_iter().map(|(name, link)| (name, link.target, link.charset));
        Ok(expected.eq(there))
    }

    fn has_same_attributes(&self, object: u64, copy: u64) -> Result<bool> {
        let names = self.source.attributes(object)?;
        let kept = |name: &String| !self.plan.left_out_attributes.contains(&(object, name.clone()));
        let names: Vec<String> = names.into_iter().filter(kept).collect();
        if names != self.copy.attributes(copy)? {
            return Ok(false);
        }
        for name in names {
            let (one, other) = (self.source.attribute(object, &name)?, self.copy.attribute(copy, &name)?);
            let form = file_form(&one.datatype, &name)?;
            if !self.has_same_type(&one.datatype, &other.datatype, &name)?
                || one.space != other.space
                || one.charset != other.charset
                || !self.are_equal(&form, &one.value, &other.value)?
            {
                return Ok(false);
            }
            self.forget_blobs();
        }
        Ok(true)
    }

    fn forget_blobs(&self) {
        self.source.forget_blobs();
        self.copy.forget_blobs();
    }

    fn has_same_elements(
        &self,
        dataset: u64,
        copy: u64,
        header: &Header,
        steps: &mut Steps<'_>,
    ) -> Result<bool> {
        let Some(data) = &header.data else { return Ok(true) };
        if self.plan.by_chunk.contains(&dataset) {
            let chunks = self.source.chunks(dataset)?;
            if chunks.len() != self.copy.chunks(copy)?.len() {
                return Ok(false);
            }
            for chunk in chunks {
                let one = self.source.read_chunk(dataset, &chunk.offset)?;
                if one != self.copy.read_chunk(copy, &chunk.offset)? {
                    return Ok(false);
                }
                steps.add_bytes(one.1.len() as u64);
            }
            return Ok(true);
        }
        let form = file_form(&header.datatype, "its datatype")?;
        for block in pieces(self.source, dataset, data.element)? {
            let (one, other) = (self.source.read(dataset, &block)?, self.copy.read(copy, &block)?);
            if !self.are_equal(&form, &one, &other)? {
                return Ok(false);
            }
            self.forget_blobs();
            steps.add_bytes(one.len() as u64);
        }
        Ok(true)
    }

    /// Whether elements are equal. The datatype has the form of the file.
    fn are_equal(&self, datatype: &Datatype, one: &[u8], other: &[u8]) -> Result<bool> {
        if !datatype.is_bound_to_its_file() || one.len() != other.len() {
            return Ok(one == other);
        }
        let size = datatype.size as usize;
        for (one, other) in one.chunks_exact(size).zip(other.chunks_exact(size)) {
            if !self.is_equal(datatype, one, other)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn is_equal(&self, datatype: &Datatype, one: &[u8], other: &[u8]) -> Result<bool> {
        match &datatype.class {
            Class::Compound { members } => {
                for member in members {
                    let range =
                        member.offset as usize..member.offset as usize + member.datatype.size as usize;
                    let (one, other) = (one.get(range.clone()), other.get(range));
                    let (one, other) = one.zip(other).ok_or_else(cut)?;
                    if !self.are_equal(&member.datatype, one, other)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Class::Array { base, .. } => self.are_equal(base, one, other),
            Class::Sequence { base } => {
                let ((length, one), (other_length, other)) =
                    (blob(self.source, one)?, blob(self.copy, other)?);
                Ok(length == other_length && self.are_equal(base, &one, &other)?)
            }
            Class::VariableText { .. } => Ok(blob(self.source, one)? == blob(self.copy, other)?),
            Class::Reference(ReferenceKind::Object) => Ok(self.copy_of(number(one)?) == number(other)?),
            Class::Reference(ReferenceKind::Standard) => {
                Ok(self.copy_of(referenced(one)?) == referenced(other)?)
            }
            _ => Ok(one == other),
        }
    }

    /// The number of an object's copy; 0 for no object, and for one that was not copied.
    fn copy_of(&self, number: u64) -> u64 {
        self.numbers.get(&number).copied().unwrap_or(0)
    }
}

fn number(element: &[u8]) -> Result<u64> {
    Ok(u64::from_le_bytes(*element.first_chunk().ok_or_else(cut)?))
}

fn blob(file: &dyn Source, element: &[u8]) -> Result<(u32, Vec<u8>)> {
    match blob_of(element)? {
        (0, _) => Ok((0, Vec::new())),
        (length, name) => Ok((length, file.blob(&name)?)),
    }
}
