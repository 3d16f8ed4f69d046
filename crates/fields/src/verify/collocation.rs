//! Verifying a collocation: its axes, every entry of its index, every entry of its history.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, atomic::AtomicU64, mpsc::SyncSender},
    thread,
};

use isotach_mars::Key;
use isotach_object::{Anchor, Cell, Error as ObjectError, Finding, ObjectId, Page};

use super::{
    check::{Candidate, Checker, unless_out_of_handles},
    report::{Cure, Damage, Level, Run, VerifiedPart},
};
use crate::{
    Error, Location, Result,
    catalogue::{
        dataset_reader::DatasetReader,
        history::parse_history,
        jump::decode_jump,
        layout::{element_of_kv_key, kv_key},
        location::is_deletion,
        select::Target,
    },
    store::Inner,
    sync::lock,
};

/// The number of fields in a thread's batch.
const BATCH: usize = 256;

/// Verifies collocations of a dataset. After the call, `lost` contains the lost bytes that belong to no field.
pub(super) fn verify(
    inner: &Arc<Inner>,
    reader: &Arc<DatasetReader>,
    targets: &[Target],
    lost: &mut HashMap<ObjectId, Finding>,
    part: &mut VerifiedPart,
    run: &Run<'_>,
) -> Result<()> {
    let known = std::mem::take(lost);
    let checker = Checker {
        inner,
        reader,
        lost: &known,
        is_readable: part.is_readable(),
        run,
        found: Mutex::default(),
        replaced: AtomicU64::new(0),
        seen: Mutex::default(),
    };
    let threads = run.options.threads.max(1);
    let (give, take) = std::sync::mpsc::sync_channel::<Vec<Candidate>>(2 * threads);
    let take = Mutex::new(take);
    let walked = thread::scope(|scope| {
        let (checker, take) = (&checker, &take);
        let threads: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(move || -> Result<()> {
                    loop {
                        let batch = lock(take).recv();
                        let Ok(batch) = batch else { return Ok(()) };
                        if let Err(error) = checker.check(&batch) {
                            // Drain the channel, so that the sender does not block.
                            while lock(take).recv().is_ok() {}
                            return Err(error);
                        }
                    }
                })
            })
            .collect();
        let walked = targets.iter().try_for_each(|target| {
            let (part, batch, axes) = (&mut *part, Vec::new(), Vec::new());
            Walk { inner, reader, target, give: &give, run, part, batch, axes }.walk()
        });
        drop(give);
        for thread in threads {
            let panicked = |_| ObjectError::corrupt("a thread that reads has failed", "memory");
            thread.join().map_err(panicked)??;
        }
        walked
    });
    let Checker { found, replaced, seen, .. } = checker;
    part.replaced_fields += replaced.into_inner();
    let mut found = found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    found.sort_by_cached_key(|damage: &Damage| damage.key.values_joined());
    part.damage.append(&mut found);
    let seen = seen.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    lost.extend(known.into_iter().filter(|(object, _)| !seen.contains(object)));
    walked
}

/// Verifies one collocation.
struct Walk<'w> {
    inner: &'w Inner,
    reader: &'w Arc<DatasetReader>,
    target: &'w Target,
    give: &'w SyncSender<Vec<Candidate>>,
    run: &'w Run<'w>,
    part: &'w mut VerifiedPart,
    batch: Vec<Candidate>,
    /// The values of each axis, and missing values that were looked up again.
    axes: Vec<(BTreeSet<String>, BTreeSet<String>)>,
}

impl Walk<'_> {
    fn walk(&mut self) -> Result<()> {
        let (collocation, whole) = (&self.target.collocation, Arc::clone(&self.target.collocation.whole));
        match self.reader.axes(self.inner, collocation) {
            Ok(axes) => {
                self.axes = axes.0.iter().map(|(_, values)| (values.clone(), BTreeSet::new())).collect();
            }
            Err(error) if error.code() == "corrupt" => {
                self.damaged(Level::Collocation, &whole, &error.to_string(), Cure::None);
            }
            Err(error) => return self.unless_wiped(error),
        }
        let objects = &collocation.objects;
        self.for_pages(objects.index, |walk, page| walk.page(objects.index, false, page))?;
        self.for_pages(objects.history, |walk, page| walk.page(objects.history, true, page))?;
        self.for_pages(objects.jump, |walk, page| {
            walk.check_jump_indexes(page);
            Ok(())
        })?;
        let batch = std::mem::take(&mut self.batch);
        let _ = self.give.send(batch);
        Ok(())
    }

    /// Calls `each` with the pages of an object up to one that is damaged.
    fn for_pages(
        &mut self,
        object: ObjectId,
        mut each: impl FnMut(&mut Self, &Page) -> Result<()>,
    ) -> Result<()> {
        let mut anchor = Some(Anchor::start());
        while let Some(at) = anchor.take().filter(|_| !self.run.is_ended()) {
            match self.reader.page(self.inner, object, &at) {
                Ok(page) => {
                    each(self, &page)?;
                    anchor = page.next().cloned();
                }
                Err(error) if error.code() == "corrupt" => {
                    let whole = Arc::clone(&self.target.collocation.whole);
                    self.damaged(Level::Collocation, &whole, &error.to_string(), Cure::None);
                }
                Err(error) => return self.unless_wiped(error),
            }
        }
        Ok(())
    }

    /// Checks jump indexes. One that is removed is made again from its field's bytes.
    fn check_jump_indexes(&mut self, page: &Page) {
        let object = self.target.collocation.objects.jump;
        let whole = Arc::clone(&self.target.collocation.whole);
        for (key, value) in page.iter().filter(|(key, value)| decode_jump(key, value).is_none()) {
            let cure = Cure::Remove { object, key: key.to_vec(), value: value.to_vec() };
            self.damaged(Level::Collocation, &whole, "a jump index cannot be read", cure);
        }
    }

    fn unless_wiped(&self, error: Error) -> Result<()> {
        if self.reader.was_wiped(&error) { Ok(()) } else { Err(error) }
    }

    fn damaged(&mut self, level: Level, key: &Key, what: &str, cure: Cure) {
        self.part.damage.push(Damage::new(level, key, what, &self.reader.place(), cure));
    }

    fn page(&mut self, object: ObjectId, is_history: bool, page: &Page) -> Result<()> {
        let names = self.target.collocation.names.len();
        for (key, value) in page.iter().filter(|(_, value)| is_history || !is_deletion(value)) {
            let (element, record) = match is_history {
                false => (element_of_kv_key(key, names), Some(value)),
                true => parse_history(key, value)
                    .map_or((None, None), |(_, record, element)| (Some(element), Some(record))),
            };
            let whole = element.and_then(|element| self.target.collocation.field_key(element));
            if whole.as_ref().zip(element).is_some_and(|(_, element)| !self.wants(element)) {
                continue;
            }
            let level = if is_history { Level::ReplacedField } else { Level::Field };
            let location = record.and_then(|record| Location::decode(record, &self.reader.dataset.uri));
            let (Some(whole), Some(element), Some(location)) = (&whole, element, location) else {
                let what = format!("the entry {:?} cannot be read", String::from_utf8_lossy(key));
                let cure = Cure::Remove { object, key: key.to_vec(), value: value.to_vec() };
                let whole = whole.unwrap_or_else(|| (*self.target.collocation.whole).clone());
                self.damaged(level, &whole, &what, cure);
                continue;
            };
            if !is_history {
                self.part.fields += 1;
                self.check_axes(whole, element, value)?;
            }
            let newest = is_history.then(|| {
                (
                    self.target.collocation.objects.index,
                    kv_key(element).as_bytes().to_vec(),
                    record.unwrap_or_default().to_vec(),
                )
            });
            let (key, value) = (key.to_vec(), value.to_vec());
            self.batch.push(Candidate { object, key, value, field: whole.clone(), location, newest });
            if self.batch.len() >= BATCH {
                let batch = std::mem::take(&mut self.batch);
                let _ = self.give.send(batch);
            }
        }
        Ok(())
    }

    fn wants(&self, element: &str) -> bool {
        let names = self.target.collocation.names.iter().map(|name| &**name);
        let Some(element) = Key::from_joined(names, element) else { return true };
        self.target.plans.iter().any(|plan| plan.element.matches(&element))
    }

    /// Checks a field's values against the axes, because readers skip fields with values that are not on the axes. The
    /// axes were read before the index. So a missing value is looked up again, and then the field's entry with this
    /// record.
    fn check_axes(&mut self, whole: &Key, element: &str, record: &[u8]) -> Result<()> {
        let names = Arc::clone(&self.target.collocation.names);
        let Some(key) = Key::from_joined(names.iter().map(|name| &**name), element) else { return Ok(()) };
        for (at, (name, value)) in key.slots().enumerate() {
            let Some((values, known)) = self.axes.get_mut(at) else { return Ok(()) };
            if values.contains(value) || known.contains(value) {
                continue;
            }
            let escaped = Key::new().with(name, value).values_joined();
            let entry = kv_key(&escaped).as_bytes().to_vec();
            let objects = &self.target.collocation.objects;
            let axis = objects.axes.get(at).copied();
            let now = |object, key: &[u8]| {
                let found =
                    unless_out_of_handles(self.reader.get_many(self.inner, &[Cell::kv(object, key)]))?;
                Ok::<_, Error>(found.and_then(|mut found| found.pop().flatten()))
            };
            let is_missed = axis.map_or(Ok(None), |axis| now(axis, &entry))?.is_none();
            let is_there =
                || Ok::<_, Error>(now(objects.index, kv_key(element).as_bytes())?.as_deref() == Some(record));
            if is_missed && !is_there()? {
                continue;
            }
            known.insert(value.to_owned());
            if is_missed {
                let what = format!("axis {name} lacks {value:?}, so that its fields are not found");
                let cure =
                    axis.map_or(Cure::None, |object| Cure::PutBack { object, key: entry, value: Vec::new() });
                self.damaged(Level::Collocation, whole, &what, cure);
            }
        }
        Ok(())
    }
}
