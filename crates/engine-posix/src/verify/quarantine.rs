//! Setting aside: what is damaged and can be made anew is moved out of a container, and never deleted (FORMAT.md section 1).

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use isotach_engine_kit::random;
use isotach_object::{Finding, Label, Part, Result, SetAside};

use crate::{
    access::rights,
    format::superblock::{Kind, Superblock},
    index::run::Span,
    io::{
        directory::Directory,
        disk::{Folder, Naming, failing},
        flushed,
        storage::Storage,
    },
    purge::{self, reserve},
    verify::restore,
};

/// The folder of a pool with what was set aside.
pub(crate) const FOLDER: &str = "aside";
/// The file with what people should know about it.
const NOTE: &str = "note.txt";

/// Moves what is damaged of a container to a new folder below `root`, with a note, and brings back what can be of a log that
/// has lost its end. `open` opens the container.
pub(crate) fn set_aside(
    disk: &dyn Folder,
    root: &Path,
    label: &Label,
    container: &Directory,
    findings: &[Finding],
    note: &str,
    open: impl FnOnce() -> Result<Storage>,
) -> Result<SetAside> {
    let is_cut = findings.iter().any(|finding| finding.part == Part::End);
    let _only_one = is_cut.then(|| purge::lock(container)).transpose()?;
    if reserve::is_short(container) {
        reserve::give_up_reserve(container);
    }
    let repair = || {
        let mut aside = make(disk, root, label, container, note)?;
        if is_cut {
            let is_headless = restore::is_headless(disk, container.path());
            if is_headless {
                let block = Superblock::read_in(container, Kind::Container)?;
                restore::make_header(container, block.uuid)?;
            }
            let storage = open()?;
            // Another repair may have done it since the findings were made.
            if is_headless || restore::is_cut(&storage)? {
                restore::restore(disk, &storage, &mut aside)?;
            }
        }
        mend_notes(disk, container, &mut aside, findings)?;
        move_aside(disk, container.path(), &mut aside, findings)?;
        Ok(aside)
    };
    let repaired = repair();
    reserve::make_reserve_again(container);
    repaired
}

/// Makes a new folder below `root` for what is damaged of `container`, with a note.
fn make(
    disk: &dyn Folder,
    root: &Path,
    label: &Label,
    container: &Directory,
    note: &str,
) -> Result<SetAside> {
    let folder = make_folder(disk, root, label)?;
    // What was behind the container's gate stays behind one.
    rights::copy_gate(container, &Directory::open(disk, &folder)?)?;
    let file = folder.join(NOTE);
    disk.write_new(&file, note.as_bytes()).map_err(failing("create", &file))?;
    disk.sync_folder(&folder).map_err(failing("sync", &folder))?;
    Ok(SetAside { place: folder.display().to_string(), ..SetAside::default() })
}

/// Makes damaged notes of flushes anew, with those that are sound, and keeps the file as it was in that folder. A container is
/// never without the file.
fn mend_notes(
    disk: &dyn Folder,
    container: &Directory,
    aside: &mut SetAside,
    findings: &[Finding],
) -> Result<()> {
    let notes = container.path_of(flushed::FILE).display().to_string();
    let is_notes = |finding: &Finding| finding.part == Part::Derived && finding.place == notes;
    let is_done = aside.moved.iter().chain(&aside.made).any(|name| name == flushed::FILE);
    if !findings.iter().any(is_notes) || is_done {
        return Ok(());
    }
    let uuid = Superblock::read_in(container, Kind::Container)?.uuid;
    // Others may have mended them since the findings were made.
    if flushed::read_in(container, uuid)?.damage.is_none() {
        return Ok(());
    }
    restore::keep_notes(disk, container, aside)?;
    flushed::mend(container, uuid)
}

/// Moves the runs that are damaged and can be made anew to that folder. One that goes over a damaged place of the log stays: there
/// the log does not say what the run says.
fn move_aside(disk: &dyn Folder, container: &Path, aside: &mut SetAside, findings: &[Finding]) -> Result<()> {
    let folder = Path::new(&aside.place);
    for name in movable(container, findings).into_iter().map(Span::file_name) {
        let from = container.join(&name);
        // What was found may have been moved there by the restoration, and something else have its name now.
        if aside.moved.contains(&name) {
            continue;
        }
        match disk.rename(&from, &folder.join(&name)) {
            Ok(()) => aside.moved.push(name),
            // Others have merged it into a wider one meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failing("move aside", &from)(error)),
        }
    }
    for path in [folder, container] {
        disk.sync_folder(path).map_err(failing("sync", path))?;
    }
    Ok(())
}

fn make_folder(disk: &dyn Folder, root: &Path, label: &Label) -> Result<PathBuf> {
    let all = root.join(FOLDER);
    match disk.make_folder(&all, Naming::Owned) {
        Ok(()) => disk.sync_folder(root).map_err(failing("sync", root))?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(failing("create", &all)(error)),
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let folder = all.join(format!("{label}.{now}.{:016x}", random::number()?));
    disk.make_folder(&folder, Naming::Shared).map_err(failing("create", &folder))?;
    disk.sync_folder(&all).map_err(failing("sync", &all))?;
    Ok(folder)
}

/// The runs among the findings that are of this container and of sound parts of the log.
fn movable(container: &Path, findings: &[Finding]) -> BTreeSet<Span> {
    let of = |part: Part| findings.iter().filter(move |finding| finding.part == part);
    let covers_damage = |span: &Span| {
        of(Part::History).any(|finding| finding.byte.is_none_or(|byte| span.from <= byte && byte < span.to))
    };
    of(Part::Derived)
        .filter_map(|finding| {
            let path = Path::new(&finding.place);
            let span = Span::of_file_name(path.file_name()?.to_str()?)?;
            (path.parent() == Some(container)).then_some(span)
        })
        // What a purge made says what the log does not any more.
        .filter(|span| span.tag == 0 && !covers_damage(span))
        .collect()
}
