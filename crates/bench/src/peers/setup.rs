//! FDB as it is measured: its libraries, a home with its settings, its schema and its root.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Map, Value, json};

use crate::{COMMAND, Error, Result, harness::team::Peer, workloads::ensemble::FIELDS_PER_STEP};

/// The schema of the workload's fields, in the levels that suit FDB best: member and level in the third.
pub(super) const SCHEMA: &str = "\
param: Param; step: Step; date: Date; time: Time; levelist: Double; expver: Expver; number: Integer;
[ class, expver, stream=enfo, date, time, domain
    [ type, levtype
        [ step, number?, levelist?, param ]]]
";
/// The Python packages that bring FDB's library and those that it needs.
const PACKAGES: [&str; 4] = ["fdb5lib", "metkitlib", "eckitlib", "eccodeslib"];
/// The buffer that suits FDB best, which has 64 MiB unless told otherwise.
const TUNED: &str = "fdbBufferSize: 1048576\n";
/// How to get FDB, and how to go without.
const CURE: &str = "FDB (`pip install fdb5lib` in the active Python environment, or --fdb FOLDER with what \
    `pip install --target FOLDER fdb5lib` has brought there), or --without-fdb";
/// Where FDB reads it, below its home.
const API: &str = "etc/config/fdb-api";
/// Variables whose names begin like this would change what is measured.
const FOREIGN: [&str; 4] = ["FDB", "ECKIT", "METKIT", "ECCODES"];

/// A setting of FDB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Setting {
    /// As it comes.
    Default,
    /// With a buffer of 1 MiB, and a table of contents for each process.
    Tuned,
}

/// Where FDB is.
pub(super) struct Libraries {
    folders: Option<OsString>,
    pub(super) version: String,
}

impl Libraries {
    /// Looks for FDB in a folder of Python packages: the one given, or that of the active environment, or else wherever the
    /// system's loader looks.
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
        let own = env::current_exe().map_err(Error::pipe("find this program"))?;
        let mut command = Command::new(own);
        without_foreign(&mut command).args([COMMAND, "fdb-version"]).envs(self.loader());
        let output = command.output().map_err(Error::pipe("start this program"))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
        }
        let told = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        let what = if told.is_empty() { output.status.to_string() } else { told };
        Err(Error::invalid(what, CURE))
    }

    fn loader(&self) -> Option<(&'static str, OsString)> {
        self.folders.clone().map(|folders| ("LD_LIBRARY_PATH", folders))
    }
}

/// FDB, and folders in which it finds its settings.
pub(super) struct Installation {
    pub(super) libraries: Libraries,
    folder: PathBuf,
}

impl Installation {
    /// Makes the folders of the settings in one that is there.
    pub(super) fn make(libraries: Libraries, folder: &Path) -> Result<Self> {
        let made = Self { libraries, folder: folder.to_owned() };
        made.make_home(Setting::Default)?;
        made.make_home(Setting::Tuned)?;
        Ok(made)
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

    /// FDB reads its settings from beside the program that uses it, so each setting has a copy of this one.
    fn make_home(&self, setting: Setting) -> Result<()> {
        let (home, program) = (self.home(setting), self.program(setting));
        for folder in ["bin", "etc/config", "etc/fdb"].map(|name| home.join(name)) {
            fs::create_dir_all(&folder).map_err(Error::io("make", &folder))?;
        }
        let own = env::current_exe().map_err(Error::pipe("find this program"))?;
        fs::copy(&own, &program).map_err(Error::io("copy this program to", &program))?;
        let (schema, settings) = (home.join("schema"), home.join(API));
        fs::write(&schema, SCHEMA).map_err(Error::io("write", &schema))?;
        match setting {
            Setting::Default => Ok(()),
            Setting::Tuned => fs::write(&settings, TUNED).map_err(Error::io("write", &settings)),
        }
    }

    /// FDB with its root in a folder.
    pub(super) fn at(&self, setting: Setting, root: &Path, sync: bool) -> Result<Peer> {
        let (home, config) = (self.home(setting), root.with_extension("yaml"));
        // JSON is YAML.
        fs::write(&config, configuration(&home, root).to_string()).map_err(Error::io("write", &config))?;
        let mut variables: Vec<(&'static str, OsString)> = self.libraries.loader().into_iter().collect();
        variables.extend(environment(setting, &home, &config, sync));
        Ok(Peer { program: self.program(setting), variables })
    }
}

/// What tells FDB where its schema and its root are.
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

/// All that FDB is told, on disk; HOME is a folder of its own, FOLDER that of the measurement.
pub(super) fn settings_of_fdb(version: &str, setting: Setting) -> Value {
    let (home, folder) = (Path::new("HOME"), Path::new("FOLDER"));
    let variables = environment(setting, home, &folder.join("store.yaml"), true);
    let api = match setting {
        Setting::Default => {
            "not there, so that each process has a buffer of 64 MiB for what it archives".to_owned()
        }
        Setting::Tuned => words(TUNED),
    };
    json!({
        "version": version,
        "interface": "C",
        "configuration": configuration(home, &folder.join("store")),
        "schema": words(SCHEMA),
        API: api,
        "environment": told(&variables),
        "in memory": "FDB_DATA_SYNC_ON_FLUSH=0",
        "flush": rhythm(),
    })
}

pub(super) fn told(variables: &[(&str, OsString)]) -> Map<String, Value> {
    let pairs = variables.iter().map(|(name, value)| ((*name).to_owned(), value.to_string_lossy().into()));
    pairs.collect()
}

/// A text in one line.
pub(super) fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The same of Isotach.
pub(super) fn settings_of_isotach() -> Value {
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "store": "posix:FOLDER/store",
        "schema": "the standard one",
        "in memory": "posix:FOLDER/store?sync=no",
        "flush": rhythm(),
    })
}

fn rhythm() -> String {
    format!("after {FIELDS_PER_STEP} fields")
}

/// A command that variables do not reach by which whoever starts the benchmark may have set FDB up.
pub(crate) fn without_foreign(command: &mut Command) -> &mut Command {
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

/// The folders of the libraries, as the loader wants them; `None` where FDB is not among the packages.
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
    fn packages_are_found_in_an_environment_with_the_libraries_that_they_need() {
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
    fn the_schema_takes_the_fields_of_the_workload() {
        let schema = isotach_mars::Schema::parse(SCHEMA).unwrap();
        let keys = crate::workloads::ensemble::Keys::new().unwrap();
        let key = keys.of(crate::workloads::ensemble::fields_of(1, 2).next().unwrap());
        assert_eq!(schema.split(&key).unwrap().element.to_string(), "step=2,number=1,levelist=1000,param=60");
    }
}
