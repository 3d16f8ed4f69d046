//! Repairing the findings of a verification, as far as that loses nothing.
//!
//! What must stay true: nothing is deleted. Engines quarantine files that they can rebuild. An entry without correct
//! bytes is written to a durable note before it is taken out. Bytes stay where they are. An entry that has changed
//! since it was verified is left unchanged. A failed repair does not prevent others.

use std::{fmt::Write, sync::Arc};

use isotach_mars::Key;
use isotach_object::{
    Cell, Container, Error as ObjectError, Finding, Part, Precondition, Restored, SetAside, Transaction,
    Update,
};

use super::{
    datasets,
    report::{Cure, Damage, ListedDataset, VerifiedPart, VerifyReport},
};
use crate::{
    Action, Error, Result,
    admin::sweep::Orphan,
    catalogue::{layout::SETTINGS, record::Record},
};

/// The repair of a damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repair {
    /// Damaged files are quarantined, and rebuilt from intact ones.
    Quarantined,
    /// The entry is quarantined and taken out: readers find no field instead of a corrupt one.
    TakenOut,
    /// What was missing is put back.
    PutBack,
    /// The container is usable again, with the end of its history as far as other files prove it.
    Restored,
    /// Nothing: it has changed, or no repair is possible.
    Left,
}

impl Repair {
    /// Its stable code.
    pub fn code(self) -> &'static str {
        match self {
            Self::Quarantined => "moved aside",
            Self::TakenOut => "taken out",
            Self::PutBack => "put back",
            Self::Restored => "restored",
            Self::Left => "left",
        }
    }
}

/// The report of a repair, or of its dry run.
#[derive(Debug)]
pub struct RepairReport {
    /// Whether it was done.
    pub done: bool,
    /// Each damage, in the order of the verification's report, and its repair.
    pub repaired: Vec<Repaired>,
    /// The containers whose history had lost its end.
    pub restored: Vec<RestoredContainer>,
    /// The wipes of collocations that were ended, or would be. One that is still running fails with `Conflict`; on an engine
    /// without transactions it goes on, and what is flushed meanwhile may be lost.
    pub ended_wipes: Vec<EndedWipes>,
}

/// The wipes of collocations of a dataset that a repair ended, or would end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedWipes {
    /// The dataset's key.
    pub dataset: Key,
    /// How many.
    pub wipes: u16,
}

/// A container whose history had lost its end.
#[derive(Debug)]
pub struct RestoredContainer {
    /// The dataset of its fields; empty for the list of datasets, and if the dataset is unknown.
    pub dataset: Key,
    /// What came back.
    pub restored: Restored,
}

/// One damage and its repair.
#[derive(Debug)]
pub struct Repaired {
    /// The dataset; empty for the list of datasets.
    pub dataset: Key,
    /// What is damaged.
    pub damage: Damage,
    /// The repair, done or planned.
    pub repair: Repair,
    /// The place of quarantined files or entries, once it is done.
    pub quarantine: Option<String>,
    /// The reason of a failed repair.
    pub why: Option<String>,
}

impl VerifyReport {
    /// Repairs the damage, or with `doit` false only reports the plan. A list of datasets is complete afterwards: what
    /// it has lost with the end of its history is put back before this returns.
    ///
    /// # Errors
    /// [`Error::ReadOnly`] for a snapshot, and [`Error::Forbidden`]: nothing is repaired then. Other failures are in
    /// the report, with their reasons, and all other damage is repaired.
    pub fn repair(&self, doit: bool) -> Result<RepairReport> {
        if let Some(name) = &self.snapshot {
            return Err(Error::ReadOnly { snapshot: name.to_string(), what: "repair" });
        }
        let is_concerned = |part: &&VerifiedPart| !part.damage.is_empty() || part.unended_wipes > 0;
        for part in self.parts.iter().filter(|part| doit && is_concerned(part)) {
            part.forbidden.check(Action::Archive, || format!("repair of {}", part.place))?;
        }
        let mut report =
            RepairReport { done: doit, repaired: Vec::new(), restored: Vec::new(), ended_wipes: Vec::new() };
        for part in self.parts.iter().filter(|part| !part.damage.is_empty()) {
            match doit {
                true => part.repair(&mut report),
                false => part.plan(&mut report),
            }
        }
        for part in &self.parts {
            part.end_wipes(doit, &mut report);
        }
        Ok(report)
    }
}

/// The result of a step of a repair, or the reason of its failure. Other steps continue.
type Attempt<T> = std::result::Result<T, String>;

/// The results for the containers of a part, in their order. `None` if there was nothing to do.
type Sets = Vec<Option<Attempt<SetAside>>>;

impl VerifiedPart {
    fn plan(&self, report: &mut RepairReport) {
        let plan = |damage: &Damage| self.repaired(damage, Ok(damage.cure.plan()), None);
        report.repaired.extend(self.damage.iter().map(plan));
    }

    fn repaired(&self, damage: &Damage, done: Attempt<Repair>, aside: Option<&String>) -> Repaired {
        let (repair, why) = done.map_or_else(|why| (Repair::Left, Some(why)), |repair| (repair, None));
        let quarantine = aside.filter(|_| repair != Repair::Left).cloned();
        Repaired { dataset: self.key.clone(), damage: damage.clone(), repair, quarantine, why }
    }

    fn repair(&self, report: &mut RepairReport) {
        let can_be = self.damage.iter().any(|damage| ![Cure::None, Cure::Wait].contains(&damage.cure));
        if !can_be {
            return self.plan(report);
        }
        let (sets, described) = self.repair_containers();
        let catalogue = self.catalogue(&sets);
        let mut done: Vec<Attempt<Repair>> =
            self.damage.iter().map(|damage| cure(&damage.cure, damage, &sets, &catalogue)).collect();
        if let Err(why) = flush(&catalogue) {
            let of_entry = |repair: &Repair| [Repair::TakenOut, Repair::PutBack].contains(repair);
            done.iter_mut()
                .filter(|done| done.as_ref().is_ok_and(of_entry))
                .for_each(|done| *done = Err(why.clone()));
        }
        let aside = sets.first().and_then(|set| set.as_ref()?.as_ref().ok()).map(|set| set.place.clone());
        report.repaired.extend(
            self.damage.iter().zip(done).map(|(damage, done)| self.repaired(damage, done, aside.as_ref())),
        );
        let mut restored: Vec<_> =
            sets.into_iter().flatten().flatten().filter_map(|set| set.restored).collect();
        if let (Some(restored), Some(aside)) = (restored.first_mut(), &aside) {
            self.copy_unnamed(restored, aside, report);
        }
        let of_dataset = |restored| RestoredContainer { dataset: self.key.clone(), restored };
        report.restored.extend(restored.into_iter().map(of_dataset));
        if let Some(described) = described {
            self.put_back_lost(described, &catalogue, aside.as_ref(), report);
        }
    }

    /// Ends the wipes of collocations that have begun and not ended.
    fn end_wipes(&self, doit: bool, report: &mut RepairReport) {
        let unended = self.dataset.as_ref().filter(|_| self.unended_wipes > 0);
        let Some(ListedDataset { inner, root, entry }) = unended else { return };
        let ended = match doit {
            true => inner.end_wipes(root, entry, Record::settled),
            false => Ok(self.unended_wipes),
        };
        match ended {
            Ok(wipes) => report.ended_wipes.push(EndedWipes { dataset: self.key.clone(), wipes }),
            Err(error) => self.failed("a wipe of collocations has begun and not ended", &error, report),
        }
    }

    /// Reports a step that failed and is not the repair of reported damage.
    fn failed(&self, what: &str, error: &Error, report: &mut RepairReport) {
        let damage = self.damage(what, Cure::Wait);
        report.repaired.push(self.repaired(&damage, Err(error.to_string()), None));
    }

    /// Quarantines fields whose entries were in another container and are lost.
    fn copy_unnamed(&self, restored: &mut Restored, aside: &str, report: &mut RepairReport) {
        let copied = self.dataset.as_ref().map_or(Ok(None), |dataset| dataset.copy_unnamed(aside.as_ref()));
        match copied {
            Ok(copy) => restored.unnamed.extend(copy),
            Err(error) => {
                self.failed("arrays that no entry names could not be copied aside", &error, report);
            }
        }
    }

    /// Lets the engines repair their containers, the catalogue's last, because the others are found by it. If a list of
    /// datasets comes back, also returns the datasets that exist, found before any of them can be created anew.
    fn repair_containers(&self) -> (Sets, Option<Result<Vec<Orphan>>>) {
        let is_for_engine = |finding: &Finding| [Part::Derived, Part::End].contains(&finding.part);
        let mut sets: Sets = self.containers.iter().map(|_| None).collect();
        let mut described = None;
        for (at, looked) in self.containers.iter().enumerate().rev() {
            // The note is kept beside the catalogue's container, which has the entries.
            if at > 0 && !looked.findings.iter().any(is_for_engine) {
                continue;
            }
            if at == 0 && self.key.is_empty() && self.comes_back() {
                described = Some(datasets::described(&*looked.pool));
            }
            let set = self.note().and_then(|note| {
                Ok(looked.pool.maintenance()?.quarantine(&looked.label, &looked.findings, &note)?)
            });
            sets[at] = Some(set.map_err(|error| error.to_string()));
        }
        (sets, described)
    }

    /// Whether the repair restores entries by which unreported datasets may be found.
    fn comes_back(&self) -> bool {
        let finds = |damage: &Damage| match damage.cure {
            Cure::Restore { .. } => true,
            Cure::PutBack { object, .. } => object == SETTINGS,
            _ => false,
        };
        self.damage.iter().any(finds)
    }

    /// The container with the entries, if its note could be written.
    fn catalogue(&self, sets: &Sets) -> Attempt<Arc<dyn Container>> {
        if let Some(Some(Err(why))) = sets.first() {
            return Err(why.clone());
        }
        let looked = self.containers.first().ok_or("its container is lost")?;
        looked.pool.open_container(&looked.label).map_err(|error| error.to_string())
    }

    /// Puts back the entries that the list of datasets lacks, and reports them.
    fn put_back_lost(
        &self,
        described: Result<Vec<Orphan>>,
        list: &Attempt<Arc<dyn Container>>,
        aside: Option<&String>,
        report: &mut RepairReport,
    ) {
        let mut put_back = |lost: Vec<Damage>| {
            // Damage that was reported before is in the report.
            let is_reported = |damage: &Damage| {
                self.damage.iter().any(|known| (&known.place, &known.what) == (&damage.place, &damage.what))
            };
            let new = lost.iter().filter(|damage| !is_reported(damage));
            let done: Vec<_> =
                new.map(|damage| (damage, cure(&damage.cure, damage, &Vec::new(), list))).collect();
            // Put all entries before one flush waits for the device.
            let flushed = flush(list);
            report.repaired.extend(done.into_iter().map(|(damage, done)| {
                let done = done.and_then(|repair| flushed.clone().map(|()| repair));
                self.repaired(damage, done, aside)
            }));
        };
        let pool = &self.containers[0].pool;
        let listed = described.and_then(|described| {
            put_back(datasets::settings(&**pool, &described)?);
            put_back(datasets::unlisted(pool, described)?);
            Ok(())
        });
        if let Err(error) = listed {
            let what = "it is not known whether the list of datasets names all that there are";
            self.failed(what, &error, report);
        }
    }

    /// The information that users need later to undo the repair.
    fn note(&self) -> Result<String> {
        let mut note =
            String::from("Set aside by isotach repair. Bytes of keys and values are in hexadecimal.\n");
        let write = |note: &mut String| {
            writeln!(note, "dataset {}\nin {}\n", self.key, self.place)?;
            for damage in &self.damage {
                writeln!(
                    note,
                    "{} {}: {} in {}",
                    damage.level.code(),
                    damage.key,
                    damage.what,
                    damage.place
                )?;
                if let Cure::Remove { object, key, value } = &damage.cure {
                    writeln!(
                        note,
                        "  entry taken out of object {object}: key {} value {}",
                        hex(key),
                        hex(value)
                    )?;
                }
            }
            std::fmt::Result::Ok(())
        };
        write(&mut note).map_err(|_| ObjectError::NoSpace { what: "memory for a note".to_owned() })?;
        Ok(note)
    }
}

impl Cure {
    fn plan(&self) -> Repair {
        match self {
            Self::None | Self::Wait => Repair::Left,
            Self::SetAside { .. } => Repair::Quarantined,
            Self::Restore { .. } => Repair::Restored,
            Self::Remove { .. } => Repair::TakenOut,
            Self::PutBack { .. } => Repair::PutBack,
        }
    }
}

/// Repairs a damage, or returns how its container was repaired.
fn cure(
    cure: &Cure,
    damage: &Damage,
    sets: &Sets,
    catalogue: &Attempt<Arc<dyn Container>>,
) -> Attempt<Repair> {
    let set = |at: usize| {
        sets.get(at).and_then(Option::as_ref).map(|set| set.as_ref().map_err(String::clone)).transpose()
    };
    let is_of = |name: &String| damage.place.ends_with(&format!("/{name}"));
    Ok(match cure {
        Cure::None | Cure::Wait => Repair::Left,
        Cure::SetAside { at } => match set(*at)? {
            Some(set) if set.moved.iter().any(is_of) => Repair::Quarantined,
            Some(set) if set.made.iter().any(is_of) => Repair::PutBack,
            _ => Repair::Left,
        },
        Cure::Restore { at } => set(*at)?.map_or(Repair::Left, |_| Repair::Restored),
        Cure::PutBack { object, key, value } => {
            let cell = Cell::kv(*object, key);
            let put = Update::Put { cell, value };
            unless_changed(&**catalogue.as_ref()?, Precondition::Absent(cell), put, Repair::PutBack)?
        }
        Cure::Remove { object, key, value } => {
            let cell = Cell::kv(*object, key);
            let (is_same, remove) = (Precondition::Equals(cell, value), Update::Remove { cell });
            unless_changed(&**catalogue.as_ref()?, is_same, remove, Repair::TakenOut)?
        }
    })
}

/// Changes an entry, if it is unchanged since it was verified.
fn unless_changed(
    catalogue: &dyn Container,
    as_before: Precondition<'_>,
    update: Update<'_>,
    repair: Repair,
) -> Attempt<Repair> {
    match catalogue.commit(&Transaction { preconditions: vec![as_before], updates: vec![update] }) {
        Ok(_) => Ok(repair),
        Err(ObjectError::Conflict { .. }) => Err("it has changed since it was looked at".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn flush(catalogue: &Attempt<Arc<dyn Container>>) -> Attempt<()> {
    match catalogue {
        Ok(catalogue) => catalogue.flush().map_err(|error| error.to_string()),
        Err(_) => Ok(()),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
