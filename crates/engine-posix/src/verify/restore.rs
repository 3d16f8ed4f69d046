//! Restoring a log that has lost its end (FORMAT.md section 8.7).
//!
//! A run that ends behind the log contains what was lost up to there. It becomes the first of a new generation, as after a purge. What
//! nothing can restore is given up, and its positions are filled: object ids are positions, and none may be handed out twice.
//!
//! What must stay true: until the end, a note of a flush shows that the log is too short, so nobody opens the container. An interrupted
//! restoration begins again.

use std::{io, path::Path, sync::Arc};

use isotach_engine_kit::{bytes::Put, random};
use isotach_object::{Restored, Result, SetAside, Unnamed};

use crate::{
    format::frame::{self, FRAME_MIN, Origin},
    index::{
        chain,
        run::{Run, Span},
    },
    io::{
        boot,
        directory::Directory,
        disk::{Folder, failing, if_there},
        flush_notes::{self, NoteWriter},
        log::{self, GENERATION, HEADER},
        storage::Storage,
    },
    purge::{self, manifest::PurgeManifest},
    verify,
};

/// The maximum length of a fill frame.
const GAP_MAX: u64 = 16 << 20;
/// The log is filled this far behind the loss. The last part is filled when everything else is done.
const MARGIN: u64 = 4096;

/// Whether a container's log is missing, or too short to have a header.
pub(crate) fn is_headless(disk: &dyn Folder, container: &Path) -> bool {
    let stat = disk.stat(&container.join(log::file_name(GENERATION)));
    stat.map_or_else(|error| error.kind() == io::ErrorKind::NotFound, |stat| stat.length < HEADER as u64)
}

/// Gives a log without a header a new one, which depends only on the uuid.
pub(crate) fn make_header(directory: &Directory, uuid: [u8; 16]) -> Result<()> {
    let name = log::file_name(GENERATION);
    let make = || {
        let file = directory.change(&name).or_else(|_| directory.create(&name))?;
        file.set_length(0)?;
        file.write_all_at(&log::header(uuid, GENERATION, 0), 0)?;
        file.sync()?;
        directory.sync()
    };
    make().map_err(|error| directory.failed("write", &name, error))
}

/// Whether a log has lost its end.
pub(crate) fn is_cut(storage: &Storage) -> Result<bool> {
    let (spans, _) = chain::spans(storage)?;
    Ok(flush_notes::lost(storage)? > 0 || chain::lost(storage, &spans)? > 0)
}

/// Restores a container whose log has lost its end, and adds the result to `quarantined`. Data files with bytes that nothing names get a
/// second name in its folder, and runs that are not needed any more are moved there. The caller holds the lock of purges.
pub(crate) fn restore(disk: &dyn Folder, storage: &Storage, quarantined: &mut SetAside) -> Result<()> {
    let Surviving { runs, end, furthest } = what_is_left(storage)?;
    let reach = runs.last().map_or(0, |run| run.span().to);
    let told = flush_notes::read_in(&storage.directory, storage.uuid)?;
    let target = told.epoch.max(furthest);
    let known = reach.max(end);
    // Before a new manifest, behind which lost names look like purged ones.
    let unnamed = keep(disk, &verify::unnamed(storage, &runs)?, Path::new(&quarantined.place))?;
    let mut filler = Filler { storage, writer: random::number()?, sequence: 0 };
    let behind = target.max(storage.log.epoch_at(storage.log.length()?)) + MARGIN;
    let mut notes = NoteWriter::new(filler.writer, true);
    if told.damage.is_some() {
        // The container is refused throughout: one of the two files exists.
        keep_notes(disk, &storage.directory, quarantined)?;
        notes.replace(&storage.directory, storage.uuid, behind)?;
    } else {
        notes.note_durably(&storage.directory, storage.uuid, behind)?;
    }
    if reach > end {
        filler.fill(target)?;
        purge::republish(storage, runs)?;
        move_runs(disk, storage, quarantined)?;
    }
    filler.fill(behind)?;
    quarantined.restored = Some(Restored { epoch: known, lost: target.saturating_sub(known), unnamed });
    Ok(())
}

/// Keeps damaged notes, which are replaced.
pub(crate) fn keep_notes(disk: &dyn Folder, container: &Directory, quarantined: &mut SetAside) -> Result<()> {
    let notes = container.path_of(flush_notes::FILE);
    let linked = if_there(disk.link(&notes, &Path::new(&quarantined.place).join(flush_notes::FILE)));
    let names = match linked.map_err(failing("keep", &notes))? {
        Some(()) => &mut quarantined.moved,
        None => &mut quarantined.made,
    };
    names.push(flush_notes::FILE.to_owned());
    Ok(())
}

/// What is left of a log that has lost its end.
struct Surviving {
    /// The sound runs from the beginning on.
    runs: Vec<Arc<Run>>,
    /// The end of the last frame with a meaning. No run ends within a frame that was cut, and an interrupted restoration has put what
    /// follows.
    end: u64,
    /// The furthest epoch of any sound run.
    furthest: u64,
}

fn what_is_left(storage: &Storage) -> Result<Surviving> {
    let (mut spans, manifest) = chain::spans(storage)?;
    let start = verify::first_to_scan(storage, manifest);
    let end = storage.log.epoch_at(verify::end_of_history(storage, start)?);
    let mut open = Vec::new();
    spans.retain(|span| match Run::open(&storage.directory, storage.uuid, *span) {
        // The log of a run that ends behind it cannot be compared.
        Ok(run) => {
            let is_of_log = span.to > end
                || chain::knows_log(storage, &run, manifest.as_ref()).is_ok_and(|is_known| is_known);
            if is_of_log {
                open.push(Arc::new(run));
            }
            is_of_log
        }
        Err(_) => false,
    });
    let runs = chain::runs_from(&open, &spans, storage.log.epoch_at(0));
    let reach = runs.last().map_or(0, |run| run.span().to);
    chain::check_reach(storage, reach, manifest.as_ref())?;
    let furthest = spans.iter().map(|span| span.to).max().unwrap_or(0);
    Ok(Surviving { runs, end, furthest })
}

/// Appends frames without a meaning.
struct Filler<'p> {
    storage: &'p Storage,
    writer: u64,
    sequence: u64,
}

impl Filler<'_> {
    /// Extends the log durably at least to an epoch.
    fn fill(&mut self, epoch: u64) -> Result<()> {
        let Storage { directory, log, .. } = self.storage;
        let unrecorded = boot::unrecorded(directory).ok().flatten();
        if let Some(boot) = unrecorded {
            let mut frame = vec![0; frame::HEADER];
            frame.put_u64(boot);
            self.append(frame, frame::kind::RECOVERY)?;
            boot::record(directory, boot)?;
        }
        loop {
            let left = epoch.saturating_sub(log.epoch_at(log.length()?));
            if left == 0 {
                return log.sync();
            }
            let length = left.clamp(FRAME_MIN as u64, GAP_MAX) as usize;
            self.append(vec![0; length - frame::TRAILER], frame::kind::GAP)?;
        }
    }

    fn append(&mut self, mut frame: Vec<u8>, kind: u16) -> Result<()> {
        let origin = Origin { writer: self.writer, sequence: self.sequence };
        frame::seal(&mut frame, self.storage.marker, kind, origin, false);
        self.storage.log.append(&frame)?;
        self.sequence += 1;
        Ok(())
    }
}

/// Moves the runs that are not valid any more to the quarantine.
fn move_runs(disk: &dyn Folder, storage: &Storage, quarantined: &mut SetAside) -> Result<()> {
    let (names, manifest) = PurgeManifest::list(storage)?;
    let is_stale = |span: Span| !PurgeManifest::validates(manifest.as_ref(), &span);
    for name in names.iter().filter(|name| Span::of_file_name(name).is_some_and(is_stale)) {
        let from = storage.directory.path_of(name);
        let to = Path::new(&quarantined.place).join(name);
        disk.rename(&from, &to).map_err(failing("quarantine", &from))?;
        quarantined.moved.push(name.clone());
    }
    Ok(())
}

/// Gives data files a second name, so that no purge frees the bytes that nothing names. Takes no space. Either all names are durable on
/// return, or none exists.
fn keep(disk: &dyn Folder, unnamed: &[Unnamed], quarantined: &Path) -> Result<Vec<Unnamed>> {
    let mut named: Vec<Unnamed> = Vec::new();
    let mut link = |unnamed: &Unnamed| {
        let from = Path::new(&unnamed.place);
        let name = from.file_name().unwrap_or_default().to_string_lossy();
        let to = quarantined.join(format!("unnamed.{name}.{:016x}", unnamed.from));
        disk.link(from, &to).map_err(failing("keep", from))?;
        named.push(Unnamed { place: to.display().to_string(), ..*unnamed });
        Ok(())
    };
    let linked = unnamed.iter().try_for_each(&mut link);
    match linked.and_then(|()| disk.sync_folder(quarantined).map_err(failing("sync", quarantined))) {
        Ok(()) => Ok(named),
        Err(error) => {
            named.iter().for_each(|named| drop(disk.remove(Path::new(&named.place))));
            Err(error)
        }
    }
}
