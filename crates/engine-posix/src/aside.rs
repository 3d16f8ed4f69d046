//! Setting aside: what is damaged and can be made anew is moved out of a container, and never deleted (FORMAT.md section 1).

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use isotach_object::{Finding, Label, Part, Result, SetAside};

use crate::{
    directory::Directory,
    disk::{Folder, Naming},
    pool::failed,
    random, rights,
    run::Span,
};

/// The folder of a pool with what was set aside.
pub(crate) const FOLDER: &str = "aside";
/// The file with what people should know about it.
const NOTE: &str = "note.txt";

/// Moves the damaged runs of `container` to a new folder below `root`, with a note. A run that goes over a damaged place of
/// the log stays: there the log does not say what the run says.
pub(crate) fn set_aside(
    disk: &dyn Folder,
    root: &Path,
    label: &Label,
    container: &Directory,
    findings: &[Finding],
    note: &str,
) -> Result<SetAside> {
    let folder = make_folder(disk, root, label)?;
    // What was behind the container's gate stays behind one.
    rights::copy_gate(container, &Directory::open(disk, &folder)?)?;
    let container = container.path();
    let file = folder.join(NOTE);
    disk.write_new(&file, note.as_bytes()).map_err(failed("create", &file))?;
    let mut moved = Vec::new();
    for span in movable(container, findings) {
        let name = span.file_name();
        let from = container.join(&name);
        match disk.rename(&from, &folder.join(&name)) {
            Ok(()) => moved.push(name),
            // Others have merged it into a wider one meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed("move aside", &from)(error)),
        }
    }
    for path in [&*folder, container] {
        disk.sync_folder(path).map_err(failed("sync", path))?;
    }
    Ok(SetAside { place: folder.display().to_string(), moved })
}

fn make_folder(disk: &dyn Folder, root: &Path, label: &Label) -> Result<PathBuf> {
    let all = root.join(FOLDER);
    match disk.make_folder(&all, Naming::Owned) {
        Ok(()) => disk.sync_folder(root).map_err(failed("sync", root))?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(failed("create", &all)(error)),
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let folder = all.join(format!("{label}.{now}.{:016x}", random::number()?));
    disk.make_folder(&folder, Naming::Shared).map_err(failed("create", &folder))?;
    disk.sync_folder(&all).map_err(failed("sync", &all))?;
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
