//! The installation of FDB that is measured: its libraries, its settings, its schema and its root.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Map, Value, json};

use crate::{
    Error, Result,
    harness::launcher::{COMMAND, this_program},
    workloads::ensemble::FIELDS_PER_STEP,
};

/// The schema of the ensemble, with the levels that suit FDB best: member and level are in the third.
pub(super) const SCHEMA: &str = "\
param: Param; step: Step; date: Date; time: Time; levelist: Double; expver: Expver; number: Integer;
[ class, expver, stream=enfo, date, time, domain
    [ type, levtype
        [ step, number?, levelist?, param ]]]
";
/// The Python packages with the library of FDB and those that it needs.
const PACKAGES: [&str; 4] = ["fdb5lib", "metkitlib", "eckitlib", "eccodeslib"];
/// The buffer that suits FDB best; its default is 64 MiB.
const TUNED: &str = "fdbBufferSize: 1048576\n";
/// How to install FDB, and how to do without.
const CURE: &str = "FDB (`pip install fdb5lib` in the active Python environment, or --fdb FOLDER with what \
    `pip install --target FOLDER fdb5lib` has brought there), or --without-fdb";
/// The file of the settings, below the home of FDB.
const API: &str = "etc/config/fdb-api";
/// Prefixes of variables that would change what is measured.
const FOREIGN: [&str; 4] = ["FDB", "ECKIT", "METKIT", "ECCODES"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Setting {
    Default,
    /// With a buffer of 1 MiB, and a table of contents for each process.
    Tuned,
}

pub(super) struct Libraries {
    folders: Option<OsString>,
    pub(super) version: String,
}

impl Libraries {
    /// Finds FDB in the given folder of Python packages, in that of the active environment, or where the system's loader
    /// looks.
    pub(super) fn find(packages: Option<&Path>) -> Result<Self> {
        let folders = match packages {
            Some(folder) => Some(libraries_in(folder).ok_or_else(|| {
                let what = format!("--fdb {}, which has no fdb5lib", folder.display());
                Error::invalid(what, format!("a folder of Python packages with {CURE}"))
            })?),
            None => {
                env::var_os("VIRTUAL_ENV").and_then(|environment| in_environment(Path::new(&environment)))
            }
        };
        let mut found = Self { folders, version: String::new() };
        found.version = found.ask_version()?;
        Ok(found)
    }

    fn ask_version(&self) -> Result<String> {
        let mut command = this_program()?;
        without_foreign(&mut command).args([COMMAND, "fdb-version"]).envs(self.loader());
        let output = command.output().map_err(Error::pipe("start this program"))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
        }
        let error = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        let what = if error.is_empty() { output.status.to_string() } else { error };
        Err(Error::invalid(what, CURE))
    }

    fn loader(&self) -> Option<(&'static str, OsString)> {
        self.folders.clone().map(|folders| ("LD_LIBRARY_PATH", folders))
    }
}

pub(super) struct Installation {
    pub(super) libraries: Libraries,
    folder: PathBuf,
}

impl Installation {
    /// Creates the folders of the settings in `folder`.
    pub(super) fn create(libraries: Libraries, folder: &Path) -> Result<Self> {
        let created = Self { libraries, folder: folder.to_owned() };
        created.create_home(Setting::Default)?;
        created.create_home(Setting::Tuned)?;
        Ok(created)
    }

    fn home(&self, setting: Setting) -> PathBuf {
        self.folder.join(match setting {
            Setting::Default => "default",
            Setting::Tuned => "tuned",
        })
    }

    fn program(&self, setting: Setting) -> PathBuf {
        self.home(setting).join("bin/isotach")
    }

    /// FDB reads its settings from beside the program that uses it, so each setting has a copy of this program.
    fn create_home(&self, setting: Setting) -> Result<()> {
        let (home, program) = (self.home(setting), self.program(setting));
        for folder in ["bin", "etc/config", "etc/fdb"].map(|name| home.join(name)) {
            fs::create_dir_all(&folder).map_err(Error::io("create", &folder))?;
        }
        fs::copy(this_program()?.get_program(), &program)
            .map_err(Error::io("copy this program to", &program))?;
        let (schema, settings) = (home.join("schema"), home.join(API));
        fs::write(&schema, SCHEMA).map_err(Error::io("write", &schema))?;
        match setting {
            Setting::Default => Ok(()),
            Setting::Tuned => fs::write(&settings, TUNED).map_err(Error::io("write", &settings)),
        }
    }

    /// The command that runs the copy of this program with FDB on a root.
    pub(super) fn command(&self, setting: Setting, root: &Path, sync: bool) -> Result<Command> {
        let (home, config) = (self.home(setting), root.with_extension("yaml"));
        // JSON is YAML.
        fs::write(&config, configuration(&home, root).to_string()).map_err(Error::io("write", &config))?;
        let mut command = Command::new(self.program(setting));
        without_foreign(&mut command).envs(self.libraries.loader());
        command.envs(environment(setting, &home, &config, sync));
        Ok(command)
    }
}

/// The configuration of FDB: its schema and its root.
pub(super) fn configuration(home: &Path, root: &Path) -> Value {
    json!({
        "type": "local",
        "engine": "toc",
        "schema": home.join("schema"),
        "spaces": [{ "handler": "Default", "roots": [{ "path": root }] }],
    })
}

pub(super) fn environment(
    setting: Setting,
    home: &Path,
    config: &Path,
    sync: bool,
) -> Vec<(&'static str, OsString)> {
    let mut variables: Vec<(&'static str, OsString)> = vec![
        ("FDB_HOME", home.into()),
        ("FDB5_HOME", home.into()),
        ("FDB_CONFIG_FILE", config.into()),
        ("FDB5_CONFIG_FILE", config.into()),
        ("FDB_DATA_SYNC_ON_FLUSH", if sync { "1" } else { "0" }.into()),
    ];
    if setting == Setting::Tuned {
        variables.push(("FDB_SUB_TOCS", "1".into()));
    }
    variables
}

/// All settings of FDB on disk. HOME stands for a folder of its own, FOLDER for that of the measurement.
pub(super) fn settings_of_fdb(version: &str, setting: Setting) -> Value {
    let (home, folder) = (Path::new("HOME"), Path::new("FOLDER"));
    let variables = environment(setting, home, &folder.join("store.yaml"), true);
    let api = match setting {
        Setting::Default => "no file, so each process has a buffer of 64 MiB for what it archives".to_owned(),
        Setting::Tuned => one_line(TUNED),
    };
    json!({
        "version": version,
        "interface": "C",
        "configuration": configuration(home, &folder.join("store")),
        "schema": one_line(SCHEMA),
        API: api,
        "environment": variables_map(&variables),
        "in memory": "FDB_DATA_SYNC_ON_FLUSH=0",
        "flush": flushes(),
    })
}

pub(super) fn variables_map(variables: &[(&str, OsString)]) -> Map<String, Value> {
    let pairs = variables.iter().map(|(name, value)| ((*name).to_owned(), value.to_string_lossy().into()));
    pairs.collect()
}

pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(super) fn settings_of_isotach() -> Value {
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "store": "posix:FOLDER/store",
        "schema": "the standard one",
        "in memory": "posix:FOLDER/store?sync=no",
        "flush": flushes(),
    })
}

fn flushes() -> String {
    format!("after {FIELDS_PER_STEP} fields")
}

/// Removes the variables that configure FDB from the environment of a command.
pub(super) fn without_foreign(command: &mut Command) -> &mut Command {
    let is_foreign = |name: &str| FOREIGN.iter().any(|prefix| name.starts_with(prefix));
    for (name, _) in env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_foreign)) {
        command.env_remove(name);
    }
    command
}

fn in_environment(environment: &Path) -> Option<OsString> {
    let folders = fs::read_dir(environment.join("lib")).ok()?;
    folders.flatten().find_map(|folder| libraries_in(&folder.path().join("site-packages")))
}

/// The folders of the libraries in the form of the loader; none if FDB is not among the packages.
fn libraries_in(packages: &Path) -> Option<OsString> {
    let of = |package: &str| {
        let folders = ["lib64", "lib"].map(|name| packages.join(package).join(name));
        folders.into_iter().find(|folder| folder.is_dir())
    };
    of(PACKAGES[0])?;
    env::join_paths(PACKAGES.iter().filter_map(|package| of(package))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_found_in_an_environment_with_the_libraries_they_need() {
        let environment = tempfile::tempdir().unwrap();
        let packages = environment.path().join("lib/python3.11/site-packages");
        fs::create_dir_all(packages.join("eckitlib/lib64")).unwrap();
        assert_eq!(in_environment(environment.path()), None);
        fs::create_dir_all(packages.join("fdb5lib/lib64")).unwrap();
        let expected =
            env::join_paths([packages.join("fdb5lib/lib64"), packages.join("eckitlib/lib64")]).unwrap();
        assert_eq!(in_environment(environment.path()), Some(expected));
    }

    #[test]
    fn the_schema_accepts_the_fields_of_the_ensemble() {
        let schema = isotach_mars::Schema::parse(SCHEMA).unwrap();
        let keys = crate::workloads::ensemble::Keys::new().unwrap();
        let key = keys.of(crate::workloads::ensemble::fields_of(1, 2).next().unwrap());
        assert_eq!(schema.split(&key).unwrap().element.to_string(), "step=2,number=1,levelist=1000,param=60");
    }
}
