//! Repairing what a verification found, as far as nothing is lost by it.
//!
//! What must stay true: nothing is deleted. What the containers can make anew is moved aside by their engine; an entry
//! that leads to no right bytes is written into a note, which is durable, before it is taken out. Bytes stay where they
//! are. An entry that has changed since it was looked at is left alone.

use std::fmt::Write;

use isotach_mars::Key;
use isotach_object::{Cell, Container, Error as ObjectError, Part, Precondition, Transaction, Update};

use super::{Cure, Damage, Looked, VerifiedPart, VerifyReport, check::unless_no_room};
use crate::{Error, Result};

/// What a repair does about a damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repair {
    /// What is damaged is moved aside, and made anew from what is not.
    MovedAside,
    /// The entry is written down aside and taken out: readers find no field, instead of a corrupt one.
    TakenOut,
    /// What was missing is put back.
    PutBack,
    /// Nothing: it has changed meanwhile, or there is nothing that a repair could do.
    Left,
}

impl Repair {
    /// A stable word for it.
    pub fn code(self) -> &'static str {
        match self {
            Self::MovedAside => "moved aside",
            Self::TakenOut => "taken out",
            Self::PutBack => "put back",
            Self::Left => "left",
        }
    }
}

/// What a repair did, or would do.
#[derive(Debug)]
pub struct RepairReport {
    /// Whether it was done.
    pub done: bool,
    /// Each damage, in the order of the verification's report, and what was done about it.
    pub repaired: Vec<Repaired>,
}

/// One damage and what was done about it.
#[derive(Debug)]
pub struct Repaired {
    /// The dataset; empty for the list of datasets.
    pub dataset: Key,
    /// What is damaged.
    pub damage: Damage,
    /// What was done, or would be.
    pub repair: Repair,
    /// Where what was moved or written down is, once it is done.
    pub aside: Option<String>,
}

impl VerifyReport {
    /// Repairs what can be, or says what would be repaired if not `doit`.
    ///
    /// # Errors
    /// [`Error::ReadOnly`] for what a snapshot shows; `Unsupported` where an engine cannot keep anything aside; what the
    /// engines report.
    pub fn repair(&self, doit: bool) -> Result<RepairReport> {
        if let Some(name) = &self.past {
            return Err(Error::ReadOnly { snapshot: name.to_string(), what: "repair" });
        }
        let mut repaired = Vec::new();
        for part in self.parts.iter().filter(|part| !part.damage.is_empty()) {
            part.repair(doit, &mut repaired)?;
        }
        Ok(RepairReport { done: doit, repaired })
    }
}

impl VerifiedPart {
    fn repair(&self, doit: bool, repaired: &mut Vec<Repaired>) -> Result<()> {
        let can_be = self.damage.iter().any(|damage| ![Cure::None, Cure::Wait].contains(&damage.cure));
        let (mut aside, mut moved) = (None, Vec::new());
        if doit && can_be {
            let note = self.note()?;
            // The note stands beside the catalogue's container, which has the entries.
            let has_derived =
                |looked: &Looked| looked.findings.iter().any(|finding| finding.part == Part::Derived);
            for (at, looked) in self.containers.iter().enumerate() {
                if at > 0 && !has_derived(looked) {
                    continue;
                }
                let set = looked.pool.set_aside(&looked.label, &looked.findings, &note)?;
                moved.extend(set.moved);
                aside.get_or_insert(set.place);
            }
        }
        let catalogue = match self.containers.first() {
            Some(looked) if doit && can_be => {
                unless_no_room(looked.pool.open_container(&looked.label).map_err(Error::from))?
            }
            _ => None,
        };
        for damage in &self.damage {
            let repair = match (&damage.cure, &catalogue) {
                (Cure::SetAside, _) if doit => {
                    let is_moved = moved.iter().any(|name| damage.place.ends_with(&format!("/{name}")));
                    if is_moved { Repair::MovedAside } else { Repair::Left }
                }
                (cure, Some(catalogue)) if doit => cure_entry(&**catalogue, cure)?,
                _ if doit => Repair::Left,
                (cure, _) => cure.plan(),
            };
            let aside = aside.clone().filter(|_| repair != Repair::Left);
            repaired.push(Repaired { dataset: self.key.clone(), damage: damage.clone(), repair, aside });
        }
        catalogue.map_or(Ok(()), |catalogue| Ok(catalogue.flush()?))
    }

    /// What people need to know later, and to undo it.
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
            Self::SetAside => Repair::MovedAside,
            Self::Remove { .. } => Repair::TakenOut,
            Self::PutBack { .. } => Repair::PutBack,
        }
    }
}

fn cure_entry(catalogue: &dyn Container, cure: &Cure) -> Result<Repair> {
    match cure {
        Cure::None | Cure::Wait | Cure::SetAside => Ok(Repair::Left),
        Cure::PutBack { object, key } => {
            catalogue.update(&[Update::Put { cell: Cell::kv(*object, key), value: &[] }])?;
            Ok(Repair::PutBack)
        }
        Cure::Remove { object, key, value } => {
            let cell = Cell::kv(*object, key);
            let preconditions = vec![Precondition::Equals(cell, value)];
            match catalogue.commit(&Transaction { preconditions, updates: vec![Update::Remove { cell }] }) {
                Ok(_) => Ok(Repair::TakenOut),
                Err(ObjectError::Conflict { .. }) => Ok(Repair::Left),
                Err(error) => Err(error.into()),
            }
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
