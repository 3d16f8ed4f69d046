//! Reading parts of the bytes of many fields, in one batch for each container.

use std::{ops::Range, sync::Arc};

use isotach_object::{ArrayRead, Cell, Container};

use crate::{
    Error, FieldStore, Inspected, Result,
    catalogue::location::{ContainerUri, Place},
    retrieve::bytes::{corrupt, read_file},
    store::Inner,
};

/// Parts of the bytes of a field, in the order in which they were asked for.
pub type FieldParts = Vec<Vec<u8>>;

impl FieldStore {
    /// Reads parts of the bytes of fields. They are the bytes that are stored, also where an overlay shows the field under
    /// another key. Checksums are verified. Of an adopted file there is only one of the whole field, which is then read as a
    /// whole.
    ///
    /// In place of the parts of a field that cannot be read is the error: [`Error::Corrupt`], also for a range past the
    /// field's end; [`Error::Invalid`] for a range that ends before it starts; [`Error::Forbidden`]; what the engine
    /// reports.
    pub fn read_parts(&self, wanted: &[(&Inspected, &[Range<u64>])]) -> Vec<Result<FieldParts>> {
        let inner = &self.inner;
        let mut parts: Vec<_> = wanted.iter().map(|(field, ranges)| inner.parts_of(field, ranges)).collect();
        let mut containers: Vec<&Arc<ContainerUri>> = Vec::new();
        for (field, _) in wanted {
            if let Place::Object { container, .. } = &field.location.place
                && !containers.contains(&container)
            {
                containers.push(container);
            }
        }
        for uri in containers {
            let of_this = wanted.iter().zip(&mut parts).filter(|((field, _), _)| is_in(field, uri));
            let group = of_this.map(|(&(field, ranges), parts)| Wanted { field, ranges, parts });
            inner.read_group(uri, group.collect());
        }
        parts
    }
}

fn is_in(field: &Inspected, uri: &Arc<ContainerUri>) -> bool {
    matches!(&field.location.place, Place::Object { container, .. } if container == uri)
}

/// Parts of a field, and where they go.
struct Wanted<'w> {
    field: &'w Inspected,
    ranges: &'w [Range<u64>],
    parts: &'w mut Result<FieldParts>,
}

impl Inner {
    /// Buffers for parts of a field in an object; the parts themselves of an adopted one.
    fn parts_of(&self, field: &Inspected, ranges: &[Range<u64>]) -> Result<FieldParts> {
        self.check_readable(&field.location)?;
        let length = self.length_of(field)?;
        if let Some(Range { start, end }) = ranges.iter().find(|range| range.start > range.end) {
            let what = format!("bytes {start} to {end} (exclusive) of field {}", field.key);
            return Err(Error::invalid(what, "a start that is not past the end"));
        }
        // `length_of` has checked that offset and length can be added.
        if let Some(Range { start, end }) = ranges.iter().find(|range| range.end > length as u64) {
            return Err(corrupt(
                field,
                format!("{length} bytes are there, and {start} to {end} are asked for"),
            ));
        }
        if let Place::File(path) = &field.location.place {
            let mut bytes = vec![0; length];
            self.with_handles(|| read_file(field, path, &mut bytes))?;
            let part = |range: &Range<u64>| bytes[range.start as usize..range.end as usize].to_vec();
            return Ok(ranges.iter().map(part).collect());
        }
        Ok(ranges.iter().map(|range| vec![0; (range.end - range.start) as usize]).collect())
    }

    /// Reads parts of fields that are in one container. If one of them fails, they are repeated one by one to find it.
    fn read_group(&self, uri: &Arc<ContainerUri>, mut group: Vec<Wanted<'_>>) {
        let read = |some: &mut [Wanted<'_>]| {
            let container = self.container(uri)?;
            self.with_handles(|| read_together(&*container, some))
        };
        if read(&mut group).is_err() {
            for one in &mut group {
                let alone = read(std::slice::from_mut(one));
                one.fail(alone);
            }
        }
    }
}

impl Wanted<'_> {
    /// Puts an error in place of the parts.
    fn fail(&mut self, outcome: Result<()>) {
        if let (Err(error), Ok(_)) = (outcome, &self.parts) {
            *self.parts = Err(error);
        }
    }
}

/// Reads the parts of some fields with one call.
fn read_together(container: &dyn Container, group: &mut [Wanted<'_>]) -> Result<()> {
    let (mut fields, mut reads) = (Vec::new(), Vec::new());
    for Wanted { field, ranges, parts } in group {
        let (Some(object), Ok(parts)) = (field.location.object(), &mut **parts) else { continue };
        for (range, buffer) in ranges.iter().zip(parts) {
            let offset = field.location.offset + range.start;
            fields.push(*field);
            reads.push(ArrayRead { cell: Cell::array(object), offset, buffer, filled: 0 });
        }
    }
    if let Err(source) = container.read_many(&mut reads) {
        let key = fields.first().map(|field| field.key.clone()).unwrap_or_default();
        return Err(Error::of_field(&key, source));
    }
    let is_short = |(_, read): &(&&Inspected, &ArrayRead<'_>)| read.filled < read.buffer.len();
    match fields.iter().zip(&reads).find(is_short) {
        None => Ok(()),
        Some((field, read)) => {
            let end = read.offset + read.filled as u64 - field.location.offset;
            Err(corrupt(field, format!("only {end} bytes are there instead of {}", field.location.length)))
        }
    }
}
