//! Lists, creates and removes snapshots of an HDF5 file: `snapshots FILE [create NAME | remove NAME | sweep]`.
//!
//! `ISOTACH_H5_POOL` may name the pool of the file, as for the connector.

use std::{env, process::ExitCode};

use isotach_hdf5::{Access, Result, Site};

fn run(words: &[String]) -> Result<String> {
    let site = Site::from_environment(None)?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        [file] => {
            let snapshots = site.open(file, Access::ReadOnly)?.snapshots()?;
            let lines = snapshots.iter().map(|snapshot| format!("{}\t{}\n", snapshot.version, snapshot.name));
            Ok(lines.collect())
        }
        [file, "create", name] => {
            let version = site.open(file, Access::ReadWrite)?.create_snapshot(name)?;
            Ok(format!("{version}\t{name}\n"))
        }
        [file, "remove", name] => {
            site.open(file, Access::ReadWrite)?.remove_snapshot(name)?;
            Ok(String::new())
        }
        [file, "sweep"] => Ok(format!("{} removed\n", site.sweep(file)?)),
        _ => Err(isotach_hdf5::Error::invalid(words.join(" "), "FILE [create NAME | remove NAME | sweep]")),
    }
}

fn main() -> ExitCode {
    match run(&env::args().skip(1).collect::<Vec<_>>()) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("snapshots: {error}");
            ExitCode::FAILURE
        }
    }
}
