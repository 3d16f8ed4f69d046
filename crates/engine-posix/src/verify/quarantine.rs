//! The quarantine: damaged files that can be made again are moved out of a container, and never deleted (FORMAT.md section 1).

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
        disk::{Folder, Naming, failing, if_there},
        flush_notes,
        storage::Storage,
    },
    purge::{self, reserve},
    verify::restore,
};

/// The quarantine of a pool. On disk the folder is called `aside`.
pub(crate) const FOLDER: &str = "aside";
/// The file with a note for users.
const NOTE: &str = "note.txt";

/// Moves damaged files of a container to a new folder in the quarantine below `root`, with a note. Restores what it can of a log that has
/// lost its end. `open` opens the container.
pub(crate) fn quarantine(
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
        let mut quarantined = make(disk, root, label, container, note)?;
        if is_cut {
            let is_headless = restore::is_headless(disk, container.path());
            if is_headless {
                let block = Superblock::read_in(container, Kind::Container)?;
                restore::make_header(container, block.uuid)?;
            }
            let storage = open()?;
            // Another repair may have restored it since the findings.
            if is_headless || restore::is_cut(&storage)? {
                restore::restore(disk, &storage, &mut quarantined)?;
            }
        }
        mend_notes(disk, container, &mut quarantined, findings)?;
        move_runs(disk, container.path(), &mut quarantined, findings)?;
        Ok(quarantined)
    };
    let repaired = repair();
    reserve::make_reserve_again(container);
    repaired
}

/// Creates a folder in the quarantine below `root` for `container`, with a note.
fn make(
    disk: &dyn Folder,
    root: &Path,
    label: &Label,
    container: &Directory,
    note: &str,
) -> Result<SetAside> {
    let folder = make_folder(disk, root, label)?;
    // The container's gate protects the files here, too.
    rights::copy_gate(container, &Directory::open(disk, &folder)?)?;
    let file = folder.join(NOTE);
    let written = disk.write_new(&file, note.as_bytes()).and_then(|file| file.sync());
    written.map_err(failing("create", &file))?;
    disk.sync_folder(&folder).map_err(failing("sync", &folder))?;
    Ok(SetAside { place: folder.display().to_string(), ..SetAside::default() })
}

/// Replaces damaged notes of flushes by the sound ones, and keeps the old file in the quarantine. A container always has the file.
fn mend_notes(
    disk: &dyn Folder,
    container: &Directory,
    quarantined: &mut SetAside,
    findings: &[Finding],
) -> Result<()> {
    let notes = container.path_of(flush_notes::FILE).display().to_string();
    let is_notes = |finding: &Finding| finding.part == Part::Derived && finding.place == notes;
    let is_done = quarantined.moved.iter().chain(&quarantined.made).any(|name| name == flush_notes::FILE);
    if !findings.iter().any(is_notes) || is_done {
        return Ok(());
    }
    let uuid = Superblock::read_in(container, Kind::Container)?.uuid;
    // Another process may have mended them since the findings.
    if flush_notes::read_in(container, uuid)?.damage.is_none() {
        return Ok(());
    }
    restore::keep_notes(disk, container, quarantined)?;
    flush_notes::mend(container, uuid)
}

/// Moves damaged runs that can be made again to the quarantine. A run over a damaged part of the log stays, because the log does not
/// contain its entries.
fn move_runs(
    disk: &dyn Folder,
    container: &Path,
    quarantined: &mut SetAside,
    findings: &[Finding],
) -> Result<()> {
    let folder = Path::new(&quarantined.place);
    for name in movable(container, findings).into_iter().map(Span::file_name) {
        let from = container.join(&name);
        // The restoration may have moved it already, and another file have its name now.
        if quarantined.moved.contains(&name) {
            continue;
        }
        // Others may have merged it into a wider one meanwhile.
        let moved =
            if_there(disk.rename(&from, &folder.join(&name))).map_err(failing("quarantine", &from))?;
        quarantined.moved.extend(moved.map(|()| name));
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

/// The runs among the findings that belong to this container and cover sound parts of the log.
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
        // The log does not contain the entries of a purge's runs any more.
        .filter(|span| span.tag == 0 && !covers_damage(span))
        .collect()
}
