//! Copies a file to a new one of either kind.

use std::cell::Cell;

use isotach_hdf5::{Header, Kind, Site, Target as LinkTarget};
use isotach_hdf5_types::{Stored, StoredCreation};

use crate::{
    Block, Error, Refusal, Result, Source,
    compare::Comparison,
    model::{ModelLimits, ModelTarget},
    native::{NativeLimits, NativeTarget},
    open::Kind as FileKind,
    place::{check_free, is_uri},
    plan::{Plan, file_form},
    target::{Limits, Target},
    translate::{Numbers, Translation},
};

/// How a file is copied.
#[derive(Debug, Clone, Copy)]
pub struct CopyOptions {
    /// The kind of the new file.
    pub kind: FileKind,
    /// Whether the copy is compared with the source before it appears.
    pub check: bool,
    /// Whether parts that cannot be carried over are left out, instead of refusing the whole file.
    pub skip_unsupported: bool,
}

/// What was copied.
#[derive(Debug, Default)]
pub struct Copied {
    /// The objects.
    pub objects: u64,
    /// The datasets among them.
    pub datasets: u64,
    /// The attributes.
    pub attributes: u64,
    /// The stored bytes of the datasets, in the source.
    pub bytes: u64,
    /// How many references led to no object of the copy, and are null in it.
    pub lost_references: u64,
    /// What was left out.
    pub left_out: Vec<Refusal>,
}

/// How far a copy is.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// The datasets that are done.
    pub datasets: u64,
    /// The stored bytes that are done. A copy that is checked counts them twice.
    pub bytes: u64,
    /// All of them.
    pub bytes_total: u64,
}

/// How many bytes of elements are copied at once.
pub(crate) const PIECE: u64 = 8 << 20;

/// Copies a file to a new one, which appears when it is complete and, unless the options say otherwise, found equal.
///
/// # Errors
/// `Exists`; `Refused` before anything is written; `Differs`; those of both files.
pub fn copy(
    site: &Site,
    source: &dyn Source,
    name: &str,
    options: CopyOptions,
    progress: &mut dyn FnMut(Step),
) -> Result<Copied> {
    let limits: Box<dyn Limits> = match options.kind {
        FileKind::Isotach => Box::new(ModelLimits::new()?),
        FileKind::Native => Box::new(NativeLimits::new()?),
    };
    if options.kind == FileKind::Native || !is_uri(name) {
        check_free(name.as_ref())?;
    }
    let plan = Plan::new(source, &*limits)?;
    if !plan.refused.is_empty() && !options.skip_unsupported {
        return Err(Error::Refused { refused: plan.refused });
    }
    let root = source.header(source.root()?)?;
    let properties = source.properties()?;
    let mut target: Box<dyn Target> = match options.kind {
        FileKind::Isotach => {
            // The properties of the root group are those of the file.
            let root = Header { creation: Vec::new(), ..(*root).clone() };
            Box::new(ModelTarget::create(site, name, &root, &properties)?)
        }
        FileKind::Native => Box::new(NativeTarget::create(name, &root, &properties)?),
    };
    let passes = if options.check { 2 } else { 1 };
    let mut steps =
        Steps { step: Step { datasets: 0, bytes: 0, bytes_total: plan.bytes * passes }, progress };
    let (numbers, mut copied) = Copy { source, target: &*target, plan: &plan }.run(&mut steps)?;
    let copy = target.complete()?;
    if options.check {
        Comparison { source, copy: &*copy, numbers: &numbers, plan: &plan }.run(&mut steps)?;
    }
    drop(copy);
    target.publish()?;
    copied.left_out = plan.refused;
    Ok(copied)
}

/// Counts what is done.
pub(crate) struct Steps<'s> {
    step: Step,
    progress: &'s mut dyn FnMut(Step),
}

impl Steps<'_> {
    pub(crate) fn add_bytes(&mut self, bytes: u64) {
        self.step.bytes += bytes;
        (self.progress)(self.step);
    }

    fn add_dataset(&mut self) {
        self.step.datasets += 1;
        (self.progress)(self.step);
    }
}

/// The pieces of a dataset that are copied one after the other.
pub(crate) fn pieces(source: &dyn Source, number: u64, element: u32) -> Result<impl Iterator<Item = Block>> {
    let most = (PIECE / u64::from(element.max(1))).max(1);
    Ok(source.stored(number)?.into_iter().flat_map(move |block| block.cut(most)))
}

struct Copy<'c> {
    source: &'c dyn Source,
    target: &'c dyn Target,
    plan: &'c Plan,
}

impl Copy<'_> {
    fn run(&self, steps: &mut Steps<'_>) -> Result<(Numbers, Copied)> {
        let lost = Cell::new(0);
        let mut numbers = Numbers::from([(self.source.root()?, self.target.root()?)]);
        // Datasets and attributes may be of a committed datatype, wherever it is.
        let (types, others): (Vec<_>, Vec<_>) =
            self.plan.objects.iter().partition(|object| object.kind == Kind::Datatype);
        for object in types.into_iter().chain(others) {
            if !numbers.contains_key(&object.number) {
                let number =
                    self.create(object.number, &numbers, &lost).map_err(Error::about(&object.path))?;
                numbers.insert(object.number, number);
            }
        }
        let mut copied = Copied { objects: self.plan.objects.len() as u64, ..Copied::default() };
        for object in self.plan.objects.iter().filter(|object| object.kind == Kind::Group) {
            self.links(object.number, &numbers).map_err(Error::about(&object.path))?;
        }
        let translation =
            Translation { source: self.source, target: self.target, numbers: &numbers, lost: &lost };
        for object in &self.plan.objects {
            let about = Error::about(&object.path);
            copied.attributes += self.attributes(object.number, &translation).map_err(&about)?;
            if object.kind == Kind::Dataset {
                self.elements(object.number, &translation, steps).map_err(&about)?;
                copied.datasets += 1;
                steps.add_dataset();
            }
            if object.kind == Kind::Map {
                self.map_entries(object.number, &translation).map_err(&about)?;
            }
        }
        copied.bytes = self.plan.bytes;
        copied.lost_references = lost.get();
        Ok((numbers, copied))
    }

    /// A stored datatype in the copy: a committed one is that of the copy.
    fn stored_type(stored: &[u8], numbers: &Numbers) -> Result<Vec<u8>> {
        let Stored { committed, encoded } = Stored::parse(stored).map_err(Error::at("a datatype"))?;
        Ok(Stored { committed: numbers.get(&committed).copied().unwrap_or(0), encoded }.to_vec())
    }

    fn create(&self, number: u64, numbers: &Numbers, lost: &Cell<u64>) -> Result<u64> {
        let mut header = (*self.source.header(number)?).clone();
        if !header.key_datatype.is_empty() {
            header.key_datatype = Self::stored_type(&header.key_datatype, numbers)?;
        }
        if !header.datatype.is_empty() {
            let form = file_form(&header.datatype, "its datatype")?;
            header.datatype = Self::stored_type(&header.datatype, numbers)?;
            let translation = Translation { source: self.source, target: self.target, numbers, lost };
            if let Some(fill) = header.data.as_mut().and_then(|data| data.fill.as_mut()) {
                translation.elements(&form, fill)?;
            }
            if header.kind == Kind::Dataset {
                let stored = StoredCreation::parse(&header.creation).map_err(Error::at("its properties"))?;
                let mut unused_fill = stored.unused_fill.to_vec();
                translation.elements(&form, &mut unused_fill)?;
                header.creation = StoredCreation { unused_fill: &unused_fill, ..stored }.to_vec();
            }
        }
        let created = self.target.create(&header)?;
        self.forget_blobs();
        Ok(created)
    }

    fn forget_blobs(&self) {
        self.source.forget_blobs();
        self.target.forget_blobs();
    }

    fn links(&self, group: u64, numbers: &Numbers) -> Result<()> {
        let Some(copy) = numbers.get(&group) else { return Ok(()) };
        for (name, link) in self.source.links(group)? {
            let left_out = self.plan.left_out_links.contains(&(group, name.clone()));
            let target = match &link.target {
                _ if left_out => continue,
                LinkTarget::Hard { number, kind } => match numbers.get(number) {
                    Some(number) => LinkTarget::Hard { number: *number, kind: *kind },
                    None => continue,
                },
                other => other.clone(),
            };
            self.target.link(*copy, &name, &target, link.charset)?;
        }
        Ok(())
    }

    fn attributes(&self, object: u64, translation: &Translation<'_>) -> Result<u64> {
        let Some(copy) = translation.numbers.get(&object) else { return Ok(0) };
        let mut count = 0;
        for name in self.source.attributes(object)? {
            if self.plan.left_out_attributes.contains(&(object, name.clone())) {
                continue;
            }
            let mut attribute = self.source.attribute(object, &name)?;
            translation.elements(&file_form(&attribute.datatype, &name)?, &mut attribute.value)?;
            attribute.datatype = Self::stored_type(&attribute.datatype, translation.numbers)?;
            self.target.put_attribute(*copy, attribute)?;
            self.forget_blobs();
            count += 1;
        }
        Ok(count)
    }

    fn map_entries(&self, map: u64, translation: &Translation<'_>) -> Result<()> {
        let Some(copy) = translation.numbers.get(&map) else { return Ok(()) };
        let form = file_form(&self.source.header(map)?.datatype, "its datatype")?;
        for key in self.source.map_keys(map)? {
            let mut value = self.source.map_value(map, &key)?;
            translation.packed(&form, &mut value)?;
            self.target.put_map_value(*copy, &key, value)?;
        }
        Ok(())
    }

    fn elements(&self, dataset: u64, translation: &Translation<'_>, steps: &mut Steps<'_>) -> Result<()> {
        let Some(copy) = translation.numbers.get(&dataset) else { return Ok(()) };
        let header = self.source.header(dataset)?;
        let Some(data) = &header.data else { return Ok(()) };
        if self.plan.by_chunk.contains(&dataset) {
            for chunk in self.source.chunks(dataset)? {
                let (mask, bytes) = self.source.read_chunk(dataset, &chunk.offset)?;
                self.target.write_chunk(*copy, &chunk.offset, mask, &bytes)?;
                steps.add_bytes(bytes.len() as u64);
            }
            return Ok(());
        }
        let form = file_form(&header.datatype, "its datatype")?;
        for block in pieces(self.source, dataset, data.element)? {
            let mut elements = self.source.read(dataset, &block)?;
            translation.elements(&form, &mut elements)?;
            self.target.write(*copy, &block, &elements)?;
            self.forget_blobs();
            steps.add_bytes(elements.len() as u64);
        }
        Ok(())
    }
}
