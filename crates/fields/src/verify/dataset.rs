//! Verifying a dataset: its containers, its description and its collocations.

use std::{
    collections::HashMap,
    sync::{Arc, atomic::AtomicU64},
};

use isotach_object::{Cell, Finding, Label, ObjectId, ObjectType, Part};

use super::{
    collocation,
    report::{Cure, Damage, ListedDataset, Run, VerifiedPart, look},
};
use crate::{
    Error, Result, Selection,
    catalogue::{
        dataset_reader::DatasetReader,
        layout::{COLLOCATION, DATASET, ENTRY_KEY, ENTRY_RECORD, ENTRY_SCHEMA},
        record::Record,
        root::for_each,
        select::Target,
    },
    store::Inner,
};

/// Verifies a dataset. `None` if it was wiped meanwhile.
pub(super) fn verify(
    inner: &Arc<Inner>,
    selection: &Selection,
    run: &Run<'_>,
) -> Result<Option<VerifiedPart>> {
    let Selection { root, entry, .. } = selection;
    let mut part = VerifiedPart {
        key: entry.key.clone(),
        place: selection.status()?.catalogue.to_string(),
        dataset: root.snapshot.is_none().then(|| ListedDataset {
            inner: Arc::clone(inner),
            root: Arc::clone(root),
            entry: Arc::clone(entry),
        }),
        forbidden: entry.forbidden.clone(),
        ..VerifiedPart::default()
    };
    let mut lost = verify_containers(inner, selection, run, &mut part)?;
    if root.same_incarnation(entry)?.is_none() {
        return Ok(None);
    }
    let opened = inner.reader(root, entry).and_then(|reader| {
        let Some(reader) = reader else { return Ok(None) };
        let targets = targets(inner, selection, &reader, &mut part)?;
        Ok(Some((reader, targets)))
    });
    match opened {
        Ok(None) => return Ok(None),
        Ok(Some((reader, targets))) => {
            collocation::verify(inner, &reader, &targets, &mut lost, &mut part, run)?;
            if !run.is_ended() {
                part.count_unnamed()?;
            }
        }
        Err(error) if error.is_too_many_open() => return Err(error),
        // The damage was reported already, or is reported here.
        Err(error) if part.damage.is_empty() => part.damaged(&error.to_string()),
        Err(_) => {}
    }
    let Some(now) = root.same_incarnation(entry)? else { return Ok(None) };
    // Wipes that the record counts now, and counted when the verification began.
    if root.snapshot.is_none() && now.record.generation == entry.record.generation {
        part.unended_wipes = entry.record.wipes;
    }
    for finding in lost.values() {
        let damage = part.of_finding(finding, 0);
        let what = format!("{}; no field that was asked for has it", damage.what);
        part.damage.push(Damage { what, ..damage });
    }
    for nothing_below in inner.layers(vec![selection.clone()])?.1 {
        part.damaged(&nothing_below.to_string());
    }
    Ok(Some(part))
}

/// Verifies the containers of a dataset. Returns the lost bytes, by their array.
fn verify_containers(
    inner: &Inner,
    selection: &Selection,
    run: &Run<'_>,
    part: &mut VerifiedPart,
) -> Result<HashMap<ObjectId, Finding>> {
    let mut lost = HashMap::new();
    let Selection { root, entry, .. } = selection;
    let pools = match inner.pools_of(root, &entry.record) {
        Ok(pools) => pools,
        Err(error) => return part.unknown(error).map(|()| lost),
    };
    let label: Label = entry.record.label.parse()?;
    for pool in pools {
        let before = AtomicU64::new(0);
        match inner.with_handles(|| look(&*pool, &label, run, &before)) {
            Ok(verified) => part.add_container(pool, label.clone(), verified, |finding, damage| {
                let Some(array) = array_of(finding) else { return Some(damage) };
                lost.insert(array, finding.clone());
                None
            }),
            Err(error) if error.code() == "not-found" => part.damaged(&format!("it is lost: {error}")),
            Err(error) => part.unknown(error)?,
        }
    }
    Ok(lost)
}

/// The array of a finding about bytes.
fn array_of(finding: &Finding) -> Option<ObjectId> {
    let object = finding.cell.as_ref()?.object;
    (finding.part == Part::Bytes && object.otype() == ObjectType::Array).then_some(object)
}

impl VerifiedPart {
    /// Reports damage of the dataset as a whole.
    pub(super) fn damaged(&mut self, what: &str) {
        self.add(what, Cure::None);
    }

    /// Whether the containers have no findings except damaged bytes of single cells.
    pub(super) fn is_readable(&self) -> bool {
        let mut findings = self.containers.iter().flat_map(|looked| &looked.findings);
        findings.all(|finding| finding.part == Part::Bytes)
    }

    fn count_unnamed(&mut self) -> Result<()> {
        let unnamed = self.dataset.as_ref().map_or(Ok(None), ListedDataset::unnamed);
        match unnamed {
            Ok(unnamed) => self.unnamed_fields = unnamed,
            // Unreadable entries were reported already.
            Err(error) if !error.is_too_many_open() && !self.damage.is_empty() => {}
            Err(error) => self.unknown(error)?,
        }
        Ok(())
    }

    /// Reports an object that could not be checked and may be intact.
    fn unknown(&mut self, error: Error) -> Result<()> {
        if error.is_too_many_open() {
            return Err(error);
        }
        self.add(&format!("it is not known to be whole: {error}"), Cure::Wait);
        Ok(())
    }

    fn add(&mut self, what: &str, cure: Cure) {
        let damage = self.damage(what, cure);
        self.damage.push(damage);
    }
}

/// Verifies the description of the dataset's container. The list of datasets supplies missing parts.
fn check_description(
    inner: &Inner,
    selection: &Selection,
    reader: &DatasetReader,
    part: &mut VerifiedPart,
) -> Result<()> {
    let entry = &selection.entry;
    let cells = [ENTRY_KEY, ENTRY_RECORD, ENTRY_SCHEMA].map(|key| Cell::kv(DATASET, key));
    let mut description = reader.get_many(inner, &cells)?.into_iter();
    let mut next = || description.next().flatten();
    let put_back = |key: &[u8], value: Vec<u8>| Cure::PutBack { object: DATASET, key: key.to_vec(), value };
    let text = next();
    if text.as_deref() != Some(entry.text.as_bytes()) {
        let cure = text.map_or_else(|| put_back(ENTRY_KEY, entry.text.as_bytes().to_vec()), |_| Cure::None);
        part.add("its container is not described as this dataset's", cure);
    }
    let record = next();
    let known = record.as_deref().and_then(Record::decode);
    if known.is_none_or(|known| known.incarnation != entry.record.incarnation) {
        let cure = record.map_or_else(|| put_back(ENTRY_RECORD, entry.record.encode()), |_| Cure::None);
        part.add("its container has no record of this incarnation", cure);
    }
    if next().is_none() {
        let is_same = inner.schema_digest == entry.record.schema;
        let schema = is_same.then(|| put_back(ENTRY_SCHEMA, inner.schema.source().as_bytes().to_vec()));
        part.add("its container has no schema", schema.unwrap_or(Cure::None));
    }
    Ok(())
}

/// Verifies the dataset's own entries. Returns the known collocations that match the request.
fn targets(
    inner: &Inner,
    selection: &Selection,
    reader: &Arc<DatasetReader>,
    part: &mut VerifiedPart,
) -> Result<Vec<Target>> {
    let catalogue = &*reader.dataset.catalogue;
    check_description(inner, selection, reader, part)?;
    let mut wrong = Vec::new();
    for_each(catalogue, DATASET, |key, value| {
        let Some((&COLLOCATION, text)) = key.split_first() else { return Ok(()) };
        let known = std::str::from_utf8(text).is_ok_and(|text| reader.collocation(text).is_some());
        if !known {
            wrong.push((key.to_vec(), value.to_vec()));
        }
        Ok(())
    })?;
    if wrong.is_empty() {
        return selection.targets(inner);
    }
    for (key, value) in wrong {
        let what = format!("the entry of collocation {:?} cannot be read", String::from_utf8_lossy(&key));
        part.add(&what, Cure::Remove { object: DATASET, key, value });
    }
    // An unreadable entry prevents listing the collocations. Once it is taken out they can be listed.
    part.damaged("its fields were not looked at: repair, and verify again");
    Ok(Vec::new())
}
