//! The log: lines on standard error, or in the file that `D_LOG_FILE` names, as DAOS's own library has it.

use std::{env, fs::OpenOptions, io::Write, process, sync::OnceLock};

/// Adds a line: the name of an error, and what happened. `D_LOG_MASK=CRIT` and above silence it.
pub(crate) fn line(name: &str, text: &str) {
    static SILENT: OnceLock<bool> = OnceLock::new();
    let is_silent =
        || matches!(env::var("D_LOG_MASK").as_deref(), Ok("CRIT" | "FATAL" | "EMRG" | "EMIT" | "ALRT"));
    if *SILENT.get_or_init(is_silent) {
        return;
    }
    let line = format!("isotach libdaos[{}]: {name}: {text}\n", process::id());
    // A log that cannot be written is no reason to fail.
    let _ = match env::var_os("D_LOG_FILE") {
        Some(path) => OpenOptions::new()
            .append(true)
            .create(true)
            .open(path)
            .and_then(|mut file| file.write_all(line.as_bytes())),
        None => std::io::stderr().write_all(line.as_bytes()),
    };
}
