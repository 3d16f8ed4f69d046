//! Running the program on a store of its own.

use std::{
    ffi::OsStr,
    fs::File,
    io::{Read, Write},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::SystemTime,
};

use isotach_grib::{Eccodes, EccodesError, FieldName, ForecastPlan, MessageMaker};
use isotach_needs::{Need, skip};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use tempfile::TempDir;

/// A key that names a field whole, but for its step.
pub(crate) const KEY: &str =
    "class=rd,expver=test,stream=oper,date=20240101,time=0000,type=fc,levtype=sfc,param=167";

/// What names the fields of [`messages`], but for their step.
pub(crate) const MESSAGE: &str =
    "class=rd,expver=test,stream=oper,date=20240101,time=0,domain=g,type=fc,levtype=pl,levelist=850,param=t";

/// A folder with a store in it.
pub(crate) struct Store {
    pub(crate) folder: TempDir,
}

/// What the program said.
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
}

impl Said {
    /// Standard output as text.
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.out).expect("text on standard output")
    }

    /// Succeeded, and said so.
    #[track_caller]
    pub(crate) fn succeeds(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        self
    }

    /// Failed with this exit code and this one line on standard error.
    #[track_caller]
    pub(crate) fn fails(self, code: i32, message: &str) -> Self {
        assert_eq!(self.err.trim_end(), format!("isotach: {message}"));
        assert_eq!(self.code, Some(code), "{self:?}");
        self
    }

    /// As `fails`, with these parts in the message.
    #[track_caller]
    pub(crate) fn fails_with(self, code: i32, parts: &[&str]) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert!(self.err.starts_with("isotach: ") && self.err.lines().count() == 1, "{}", self.err);
        for part in parts {
            assert!(self.err.contains(part), "{part:?} is not in {}", self.err);
        }
        self
    }
}

impl std::fmt::Debug for Said {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let out = String::from_utf8_lossy(&self.out[..self.out.len().min(2000)]);
        write!(f, "exit code {:?}, standard output {out:?}, standard error {:?}", self.code, self.err)
    }
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        let err = String::from_utf8(output.stderr).expect("text on standard error");
        // A mistake of the user or of the data never shows our insides.
        assert!(!err.contains("panicked") && !err.contains("backtrace"), "{err}");
        Self { code: output.status.code(), out: output.stdout, err }
    }
}

/// The program, without settings of whoever runs the tests but where ecCodes is.
pub(crate) fn program(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isotach"));
    for name in ["ISOTACH_STORE", "ISOTACH_CONFIG", "XDG_CONFIG_HOME"] {
        command.env_remove(name);
    }
    command
        .env("HOME", home)
        .env("XDG_CONFIG_DIRS", home.join("machine"))
        .env("ISOTACH_TODAY", "2024-01-02")
        .current_dir(home)
        .stdin(Stdio::null());
    command
}

/// Every file below a folder, with its bytes and the time it was changed.
pub(crate) fn tree(path: &Path) -> Vec<(PathBuf, Vec<u8>, SystemTime)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).expect("a folder") {
        let path = entry.expect("an entry").path();
        let metadata = std::fs::metadata(&path).expect("a file");
        match metadata.is_dir() {
            true => files.extend(tree(&path)),
            false => {
                let modified = metadata.modified().expect("a time");
                files.push((path.clone(), std::fs::read(&path).expect("a file"), modified));
            }
        }
    }
    files.sort();
    files
}

/// Runs a command.
pub(crate) fn said(command: &mut Command) -> Said {
    command.output().expect("the program runs").into()
}

impl Store {
    /// A store with the standard schema.
    pub(crate) fn new() -> Self {
        let store = Self::absent();
        store.run(["init"]).succeeds();
        store
    }

    /// A store with this schema.
    pub(crate) fn with_schema(schema: &str) -> Self {
        let store = Self::absent();
        let file = store.file("schema.txt", schema.as_bytes());
        store.run(["init".as_ref(), "--schema".as_ref(), file.as_os_str()]).succeeds();
        store
    }

    /// A folder in which there is no store.
    pub(crate) fn absent() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    pub(crate) fn uri(&self) -> String {
        format!("posix:{}", self.path().display())
    }

    /// Writes a file beside the store.
    pub(crate) fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, bytes).expect("a file is written");
        path
    }

    /// The program on this store.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = program(self.folder.path());
        command.args(["--store", &self.uri()]).args(arguments);
        command
    }

    pub(crate) fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Said {
        said(&mut self.command(arguments))
    }

    /// Runs with these bytes on standard input.
    pub(crate) fn feed<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>, input: &[u8]) -> Said {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program runs");
        // A program that fails early may close its input before it has read all.
        let _ = child.stdin.take().expect("standard input").write_all(input);
        child.wait_with_output().expect("the program ends").into()
    }

    /// Archives bytes that are no GRIB under a whole key.
    #[track_caller]
    pub(crate) fn write_raw(&self, step: u32, bytes: &[u8]) {
        self.write_keyed(&format!("{KEY},step={step}"), bytes);
    }

    /// Archives bytes under a key that names a field whole.
    pub(crate) fn write_keyed(&self, key: &str, bytes: &[u8]) {
        let file = self.file("raw", bytes);
        self.run(["write".as_ref(), "--key".as_ref(), key.as_ref(), file.as_os_str()]).succeeds();
    }

    /// Writes a file.
    pub(crate) fn write(&self, file: &Path) -> Said {
        self.run(["write".as_ref(), file.as_os_str()])
    }

    /// How many fields are listed.
    #[track_caller]
    pub(crate) fn count(&self) -> usize {
        self.run(["list"]).succeeds().text().lines().count()
    }

    /// The bytes of one request.
    #[track_caller]
    pub(crate) fn read(&self, request: &str) -> Vec<u8> {
        self.run(["read", request, "-o", "-"]).succeeds().out
    }

    /// The label of a dataset's container.
    #[track_caller]
    pub(crate) fn label(&self) -> String {
        let containers = std::fs::read_dir(self.path().join("containers")).expect("containers");
        let mut labels = containers.flatten().map(|entry| entry.file_name().into_string().expect("a label"));
        labels.find(|label| label != "root").expect("a dataset")
    }

    /// The path of a file of a dataset's container whose name begins so.
    #[track_caller]
    pub(crate) fn file_of_container(&self, below: &str, prefix: &str) -> PathBuf {
        let container = self.path().join("containers").join(self.label());
        let mut files: Vec<PathBuf> = std::fs::read_dir(container.join(below))
            .expect("files")
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
            .map(|entry| entry.path())
            .collect();
        files.sort_by_key(|path| path.metadata().map(|there| there.len()).unwrap_or_default());
        files.pop().unwrap_or_else(|| panic!("no {prefix} in {}", container.display()))
    }
}

/// The same bytes; if not, says so without printing them all.
#[track_caller]
pub(crate) fn same_bytes(found: &[u8], expected: &[u8]) {
    assert!(found == expected, "{} bytes, which are not the {} expected", found.len(), expected.len());
}

/// Messages of a small forecast of the class rd, steps 0, 6, 12, ..., or `None` after saying that the test is skipped.
pub(crate) fn messages(count: u32) -> Option<Vec<Vec<u8>>> {
    let eccodes = match Eccodes::load() {
        Ok(eccodes) => eccodes,
        Err(error @ EccodesError::NotInstalled { .. }) => {
            skip(Need::Eccodes, &error.to_string());
            return None;
        }
        Err(error) => panic!("{error}"),
    };
    let plan = ForecastPlan {
        class: "rd".to_owned(),
        expver: "test".to_owned(),
        stream: "oper".to_owned(),
        kind: "fc".to_owned(),
        members: None,
        message_size: 1024,
        ..ForecastPlan::default()
    };
    let mut maker = MessageMaker::new(eccodes, plan).expect("a maker");
    let name = |number| FieldName { member: 0, step: number * 6, level: 850, param: 130 };
    Some((0..count).map(|number| maker.message(name(number)).expect("a message")).collect())
}

/// A terminal: the side that a person sits at, and the side of a program.
pub(crate) fn terminal() -> (File, Stdio) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&master).expect("a terminal is granted");
    unlockpt(&master).expect("a terminal is unlocked");
    let name = ptsname(&master, Vec::new()).expect("a terminal has a name");
    let side = File::options().read(true).write(true).open(name.to_str().expect("a path in UTF-8"));
    (master.into(), side.expect("a terminal is opened").into())
}

/// What stands on a terminal once the programs that had it are gone.
pub(crate) fn shown(mut terminal: File) -> String {
    let mut shown = Vec::new();
    let mut part = [0; 4096];
    // The last read fails, for nobody holds the other side any more.
    while let Ok(read @ 1..) = terminal.read(&mut part) {
        shown.extend_from_slice(&part[..read]);
    }
    String::from_utf8_lossy(&shown).into_owned()
}
