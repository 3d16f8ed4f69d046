//! Objects of a file of several ranks that no hard link leads to any more. Each rank drops its handles at another time, so all remove such an
//! object in one commit: the first one before which none has it open.

use std::collections::BTreeSet;

use isotach_engine_kit::bytes::Put as _;

use crate::{
    Error, File, Header, Result,
    file::delete,
    layout::{HEADER, is_metadata},
    ranks::{Call, Team},
    session::Session,
};

impl File {
    /// Removes the objects without links that no rank has open. All ranks have changed the same.
    pub(crate) fn remove_unlinked_together(&self, session: &mut Session, team: &Team) -> Result<()> {
        let mut kept = BTreeSet::new();
        loop {
            let mut found = session.without_links();
            found.append(&mut session.unlinked);
            found.retain(|number| !kept.contains(number));
            if found.is_empty() {
                session.unlinked = kept;
                return Ok(());
            }
            let mut open = Vec::new();
            found
                .iter()
                .filter(|number| self.handles().contains_key(number))
                .for_each(|number| open.put_u64(*number));
            let all = team.gather::<Error>(Call::Unlinked, Ok(open))?;
            let open = all.iter().flat_map(|open| open.as_chunks::<8>().0);
            kept.extend(open.map(|number| u64::from_le_bytes(*number)));
            for number in found.difference(&kept) {
                if let Some(header) = session.header(*number)? {
                    let targets = delete(session, *number, &header)?;
                    self.unlink(session, targets)?;
                }
            }
        }
    }
}

impl Session {
    /// The changed objects that no hard link leads to.
    fn without_links(&self) -> BTreeSet<u64> {
        let headers = self.changes.iter().filter(|(object, key, _)| is_metadata(*object) && *key == HEADER);
        headers
            .filter_map(|(object, _, change)| {
                let header = Header::decode(change.value.as_ref()?, "a change").ok()?;
                (header.references == 0).then_some(object.lo())
            })
            .collect()
    }
}
