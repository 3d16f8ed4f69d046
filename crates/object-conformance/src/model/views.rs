//! Read sets as an engine judges them that keeps no history of cells: what a cell holds is compared with what it held.

use std::{collections::BTreeMap, sync::Arc};

use isotach_object::{ArrayRead, Cell, Container, Epoch, ObjectType, Precondition, Result};

/// Cells with more bytes count as changed: such an engine need not compare them.
const COMPARED_MAX: u64 = 64 << 20;

/// The states at epochs.
#[derive(Default)]
pub(super) struct Views(BTreeMap<Epoch, Arc<dyn Container>>);

impl Views {
    /// Keeps the state at an epoch, which is the present one or that of a handle on the past.
    pub(super) fn keep(&mut self, container: &dyn Container, epoch: Epoch) -> Result<()> {
        self.0.insert(epoch, container.snapshots().unwrap().open_at(epoch)?);
        Ok(())
    }

    /// The precondition that a model with a history is to be asked in place of this one; none if it holds.
    pub(super) fn judge<'a>(
        &self,
        container: &dyn Container,
        precondition: Precondition<'a>,
    ) -> Option<Precondition<'a>> {
        let Precondition::Unchanged(cell, epoch) = precondition else { return Some(precondition) };
        let then = self.0.get(&epoch);
        if cell.check().is_err() || (then.is_none() && epoch != Epoch(0)) {
            return Some(precondition);
        }
        let held = then.map_or(Some(Content::default()), |then| content(&**then, &cell));
        match (held, content(container, &cell)) {
            (Some(held), Some(holds)) if held == holds => None,
            // It was changed at some time, so this does not hold.
            _ => Some(Precondition::Unchanged(cell, Epoch(0))),
        }
    }
}

/// What a cell holds: its size, its value, and its bytes.
type Content = (Option<u64>, Option<Vec<u8>>, Vec<u8>);

/// What a cell holds, unless that is too much.
fn content(container: &dyn Container, cell: &Cell<'_>) -> Option<Content> {
    let size = container.size_many(&[*cell]).unwrap().remove(0);
    let value = match cell.object.otype() {
        ObjectType::Array => None,
        _ => container.get_many(&[*cell]).unwrap().remove(0),
    };
    if value.is_some() || cell.object.otype() == ObjectType::KeyValue {
        return Some((size, value, Vec::new()));
    }
    let mut buffer =
        vec![0; size.filter(|size| *size <= COMPARED_MAX).or((size.is_none()).then_some(0))? as usize];
    container.read_many(&mut [ArrayRead { cell: *cell, offset: 0, buffer: &mut buffer, filled: 0 }]).unwrap();
    Some((size, None, buffer))
}
