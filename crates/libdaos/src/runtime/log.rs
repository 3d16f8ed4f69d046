//! The log: lines on standard error, or in the file that `D_LOG_FILE` names, as with DAOS's own library. A line that cannot be written to
//! the file is written to standard error.

use std::{
    env,
    fs::OpenOptions,
    io::{Write, stderr},
    path::Path,
    process,
    sync::{Once, OnceLock},
};

/// Adds a line: the name of an error, and what happened. `D_LOG_MASK=CRIT` and above silence it.
pub(crate) fn line(name: &str, text: &str) {
    static SILENT: OnceLock<bool> = OnceLock::new();
    let is_silent =
        || matches!(env::var("D_LOG_MASK").as_deref(), Ok("CRIT" | "FATAL" | "EMRG" | "EMIT" | "ALRT"));
    if *SILENT.get_or_init(is_silent) {
        return;
    }
    let line = format!("isotach libdaos[{}]: {name}: {text}\n", process::id());
    let is_written = env::var_os("D_LOG_FILE").is_some_and(|path| is_appended(Path::new(&path), &line));
    if !is_written {
        // A log that cannot be written is no reason to fail.
        let _ = stderr().write_all(line.as_bytes());
    }
}

/// Appends a line to a file, and returns whether that succeeded. The first failure is reported on standard error.
fn is_appended(path: &Path, line: &str) -> bool {
    static REPORTED: Once = Once::new();
    let opened = OpenOptions::new().append(true).create(true).open(path);
    let written = opened.and_then(|mut file| file.write_all(line.as_bytes()));
    if let Err(error) = &written {
        REPORTED.call_once(|| {
            let path = path.display();
            let why =
                format!("isotach libdaos[{}]: the log is here, not in {path}: {error}\n", process::id());
            let _ = stderr().write_all(why.as_bytes());
        });
    }
    written.is_ok()
}
