//! Creating and removing pools, which is an administrator's work: DAOS's program `dmg` does it, and its library does not.

use std::process::{Command, Output};

use isotach_object::{Error, PoolUri, Result};

use crate::options::Options;

/// Creates a pool.
pub(crate) fn create(uri: &PoolUri, options: &Options) -> Result<()> {
    let size = format!("--size={}", options.size);
    dmg(uri, options, &["pool", "create", &size, &options.pool])
}

/// Removes a pool with everything in it, even while processes are connected to it, such as this one.
pub(crate) fn destroy(uri: &PoolUri, options: &Options) -> Result<()> {
    dmg(uri, options, &["pool", "destroy", "--force", "--recursive", &options.pool])
}

fn dmg(uri: &PoolUri, options: &Options, arguments: &[&str]) -> Result<()> {
    if options.system.is_some() {
        let expected = "no option system: `dmg` reads its system from its own configuration";
        return Err(Error::invalid(format!("make or remove pool {uri}"), expected));
    }
    let command = format!("dmg {}", arguments.join(" "));
    match Command::new("dmg").args(arguments).output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(refused(uri, &command, &output)),
        Err(error) => {
            let what = format!("run `{command}`, as an administrator of DAOS makes and removes pools");
            Err(Error::Io { what, source: Box::new(error) })
        }
    }
}

fn refused(uri: &PoolUri, command: &str, output: &Output) -> Error {
    let said = [output.stderr.as_slice(), output.stdout.as_slice()].map(String::from_utf8_lossy).join(" ");
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    if said.contains("DER_NONEXIST") {
        return Error::not_found(format!("pool {uri}"));
    }
    if said.contains("DER_EXIST") || said.contains("already exists") {
        return Error::AlreadyExists { what: format!("pool {uri}") };
    }
    Error::Io { what: format!("`{command}` failed"), source: said.into() }
}
