//! Bringing back a log that has lost its end (FORMAT.md section 8.7).
//!
//! A run that ends behind the log says what was lost up to there. It becomes the first of a new generation, as a purge makes
//! them. What nothing can bring back is given up, and the positions where it stood are filled: object ids are positions, and none
//! may be given out twice.
//!
//! What must stay true: until all is done a note of a flush says that the log is too short, so that nobody opens the container,
//! and a restoration that was cut off is done again from the beginning.

use std::{io, path::Path, sync::Arc};

use isotach_engine_kit::{bytes::Put, random};
use isotach_object::{Error, Restored, Result, SetAside, Unnamed};

use crate::{
    format::frame::{self, FRAME_MIN, Origin},
    index::{
        chain,
        run::{Run, Span},
    },
    io::{
        boot,
        directory::Directory,
        disk::{Folder, failing},
        flushed::{self, Notes},
        log::{self, GENERATION, HEADER},
        storage::Storage,
    },
    purge::{self, manifest::Floor},
    verify,
};

/// Bytes of one frame that takes the place of what was lost, at most.
const GAP_MAX: u64 = 16 << 20;
/// How far behind what was lost the log is filled. The last of it is filled when all else is done.
const MARGIN: u64 = 4096;

/// Whether a container's log is missing, or too short to have a header.
pub(crate) fn is_headless(disk: &dyn Folder, container: &Path) -> bool {
    let stat = disk.stat(&container.join(log::file_name(GENERATION)));
    stat.map_or_else(|error| error.kind() == io::ErrorKind::NotFound, |stat| stat.length < HEADER as u64)
}

/// Gives a log without a header one. All containers have the same but for their uuid.
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
    Ok(flushed::lost(storage)? > 0 || chain::lost(storage, &spans)? > 0)
}

/// Makes a container usable again whose log has lost its end, and says in `aside` what came of it. Data files with bytes that
/// nothing names get a name in that folder, and runs that have no use any more are moved there. The caller holds the lock of
/// purges.
pub(crate) fn restore(disk: &dyn Folder, storage: &Storage, aside: &mut SetAside) -> Result<()> {
    let Left { runs, end, furthest } = what_is_left(storage)?;
    let reach = runs.last().map_or(0, |run| run.span().to);
    let told = flushed::read_in(&storage.directory, storage.uuid)?;
    let target = told.epoch.max(furthest);
    let known = reach.max(end);
    // Before a new floor, behind which nobody can tell what is not named any more from what is purged.
    let unnamed = keep(disk, &verify::unnamed(storage, &runs)?, Path::new(&aside.place))?;
    let mut filler = Filler { storage, writer: random::number()?, sequence: 0 };
    let behind = target.max(storage.log.epoch_at(storage.log.length()?)) + MARGIN;
    let mut notes = Notes::new(filler.writer, true);
    if told.damage.is_some() {
        // The container is refused all the time: one of the two files is there.
        keep_notes(disk, &storage.directory, aside)?;
        notes.begin_anew(&storage.directory, storage.uuid, behind)?;
    } else {
        notes.insist(&storage.directory, storage.uuid, behind)?;
    }
    if reach > end {
        filler.fill(target)?;
        purge::republish(storage, runs)?;
        move_runs(disk, storage, aside)?;
    }
    filler.fill(behind)?;
    aside.restored = Some(Restored { epoch: known, lost: target.saturating_sub(known), unnamed });
    Ok(())
}

/// Keeps damaged notes, which are made anew.
pub(crate) fn keep_notes(disk: &dyn Folder, container: &Directory, aside: &mut SetAside) -> Result<()> {
    let notes = container.path_of(flushed::FILE);
    match disk.link(&notes, &Path::new(&aside.place).join(flushed::FILE)) {
        Ok(()) => aside.moved.push(flushed::FILE.to_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => aside.made.push(flushed::FILE.to_owned()),
        Err(error) => return Err(failing("keep", &notes)(error)),
    }
    Ok(())
}

fn move_to(disk: &dyn Folder, from: &Path, name: &str, aside: &mut SetAside) -> Result<()> {
    disk.rename(from, &Path::new(&aside.place).join(name)).map_err(failing("move aside", from))?;
    aside.moved.push(name.to_owned());
    Ok(())
}

/// What a log that has lost its end left.
struct Left {
    /// The sound runs from the beginning on.
    runs: Vec<Arc<Run>>,
    /// The epoch of the end of the last frame that says something: no run ends within one that was cut, and what stands behind
    /// it was put there by a restoration that was itself cut off.
    end: u64,
    /// The furthest epoch that any sound run speaks of.
    furthest: u64,
}

fn what_is_left(storage: &Storage) -> Result<Left> {
    let (mut spans, floor) = chain::spans(storage)?;
    let start = floor.and_then(|floor| storage.log.position_of(floor.epoch)).unwrap_or(0).max(HEADER as u64);
    let end = storage.log.epoch_at(verify::end_of_history(storage, start)?);
    let mut open = Vec::new();
    spans.retain(|span| match Run::open(&storage.directory, storage.uuid, *span) {
        // Of a run that ends behind the log nothing else can be asked.
        Ok(run) => {
            let is_of_log = span.to > end
                || chain::knows_log(storage, &run, floor.as_ref()).is_ok_and(|is_known| is_known);
            if is_of_log {
                open.push(Arc::new(run));
            }
            is_of_log
        }
        Err(_) => false,
    });
    let chain = chain::chain(&spans, storage.log.epoch_at(0));
    let runs: Vec<Arc<Run>> =
        chain.iter().filter_map(|span| open.iter().find(|run| run.span() == *span).cloned()).collect();
    let reach = runs.last().map_or(0, |run| run.span().to);
    if let Some(floor) = floor.filter(|floor| reach < floor.epoch) {
        let what =
            format!("the sound runs go to epoch {reach}, and the log was purged up to {}", floor.epoch);
        return Err(Error::corrupt(what, storage.directory.path().display().to_string()));
    }
    let furthest = spans.iter().map(|span| span.to).max().unwrap_or(0);
    Ok(Left { runs, end, furthest })
}

/// Appends frames that say nothing.
struct Filler<'p> {
    storage: &'p Storage,
    writer: u64,
    sequence: u64,
}

impl Filler<'_> {
    /// Lets the log reach an epoch at least, durably.
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

/// Moves the runs aside that do not count any more.
fn move_runs(disk: &dyn Folder, storage: &Storage, aside: &mut SetAside) -> Result<()> {
    let (names, floor) = Floor::list(storage)?;
    let is_stale = |span: Span| !Floor::admits(floor.as_ref(), &span);
    for name in names.iter().filter(|name| Span::of_file_name(name).is_some_and(is_stale)) {
        move_to(disk, &storage.directory.path_of(name), name, aside)?;
    }
    Ok(())
}

/// Gives data files a second name, so that no purge takes the bytes that nothing names. Takes no room, and all of it is durable
/// when it returns; or none of it is there.
fn keep(disk: &dyn Folder, unnamed: &[Unnamed], aside: &Path) -> Result<Vec<Unnamed>> {
    let mut kept: Vec<Unnamed> = Vec::new();
    let mut link = |unnamed: &Unnamed| {
        let from = Path::new(&unnamed.place);
        let name = from.file_name().unwrap_or_default().to_string_lossy();
        let to = aside.join(format!("unnamed.{name}.{:016x}", unnamed.from));
        disk.link(from, &to).map_err(failing("keep", from))?;
        kept.push(Unnamed { place: to.display().to_string(), ..*unnamed });
        Ok(())
    };
    let linked = unnamed.iter().try_for_each(&mut link);
    match linked.and_then(|()| disk.sync_folder(aside).map_err(failing("sync", aside))) {
        Ok(()) => Ok(kept),
        Err(error) => {
            kept.iter().for_each(|kept| drop(disk.remove(Path::new(&kept.place))));
            Err(error)
        }
    }
}
