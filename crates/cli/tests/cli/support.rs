//! Runs the program on a store of its own.

use std::{
    ffi::OsStr,
    fmt::Display,
    fs::File,
    io::{Read, Write},
    ops::Range,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::SystemTime,
};

use isotach_grib::{Eccodes, EccodesError, FieldName, ForecastPlan, MessageMaker};
use isotach_needs::{Need, skip};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::Value;
use tempfile::TempDir;

/// A complete key without its step.
pub(crate) const KEY: &str =
    "class=rd,expver=test,stream=oper,date=20240101,time=0000,type=fc,levtype=sfc,param=167";

/// The key of the fields of [`messages`], without their step.
pub(crate) const MESSAGE: &str =
    "class=rd,expver=test,stream=oper,date=20240101,time=0,domain=g,type=fc,levtype=pl,levelist=850,param=t";

/// The complete key of a step, or of several.
pub(crate) fn field(step: impl Display) -> String {
    format!("{KEY},step={step}")
}

/// A user without rights, in a group of its own.
pub(crate) const OTHER: u32 = 3_901_005;

/// A folder with a store in it.
pub(crate) struct Store {
    pub(crate) folder: TempDir,
}

/// The output of the program.
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

    /// Standard output as a JSON value.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(self.text()).expect("one JSON value")
    }

    /// Asserts these parts of standard output.
    #[track_caller]
    pub(crate) fn shows(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.text().contains(part), "{part:?} is not in {}", self.text());
        }
        self
    }

    /// Asserts the beginning of standard output.
    #[track_caller]
    pub(crate) fn begins(self, start: &str) -> Self {
        assert!(self.text().starts_with(start), "{start:?} does not begin {}", self.text());
        self
    }

    /// What follows this beginning in a line of standard output.
    #[track_caller]
    pub(crate) fn rest_of_line(&self, start: &str) -> &str {
        self.text().lines().find_map(|line| line.strip_prefix(start)).unwrap_or_else(|| panic!("{self:?}"))
    }

    /// The number of lines of standard output.
    pub(crate) fn lines(&self) -> usize {
        self.text().lines().count()
    }

    /// Asserts this exit code.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        self
    }

    /// Asserts success.
    #[track_caller]
    pub(crate) fn succeeds(self) -> Self {
        self.exits(0)
    }

    /// Asserts this exit code and this one line on standard error.
    #[track_caller]
    pub(crate) fn fails(self, code: i32, message: &str) -> Self {
        assert_eq!(self.err.trim_end(), format!("isotach: {message}"));
        self.exits(code)
    }

    /// As `fails`, for these parts of the message.
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
        // Mistakes of users and bad data never cause a panic.
        assert!(!err.contains("panicked") && !err.contains("backtrace"), "{err}");
        Self { code: output.status.code(), out: output.stdout, err }
    }
}

/// The program without the settings of the user, except for the path of ecCodes.
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

/// Every file below a folder, with its bytes and modification time.
pub(crate) fn tree(path: &Path) -> Vec<(PathBuf, Vec<u8>, SystemTime)> {
    let mut files = Vec::new();
    for path in paths_in(path) {
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
        store.ok(["init"]);
        store
    }

    /// A store with this schema.
    pub(crate) fn with_schema(schema: &str) -> Self {
        let store = Self::absent();
        let file = store.file("schema.txt", schema.as_bytes());
        store.ok(["init", "--schema", &file]);
        store
    }

    /// A store with one field.
    #[track_caller]
    pub(crate) fn with_field(step: u32, bytes: &[u8]) -> Self {
        let store = Self::new();
        store.write_raw(step, bytes);
        store
    }

    /// A folder without a store.
    pub(crate) fn absent() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    pub(crate) fn uri(&self) -> String {
        format!("posix:{}", self.path().display())
    }

    /// Writes a file beside the store, and returns its path.
    pub(crate) fn file(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.beside(name);
        std::fs::write(&path, bytes).expect("a file is written");
        path
    }

    /// A path beside the store.
    pub(crate) fn beside(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().expect("a path in UTF-8").to_owned()
    }

    /// The program on this store.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = program(self.folder.path());
        command.args(["--store", &self.uri()]).args(arguments);
        command
    }

    /// Runs the program with a limit, in the words of the shell's `ulimit`.
    pub(crate) fn limited<S: AsRef<OsStr>>(
        &self,
        limit: &str,
        arguments: impl IntoIterator<Item = S>,
    ) -> Said {
        let program = self.command(arguments);
        let mut shell = Command::new("sh");
        shell.args(["-c", "ulimit $0 && exec \"$@\"", limit]);
        shell.arg(program.get_program()).args(program.get_args());
        for (name, value) in program.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        said(&mut shell)
    }

    pub(crate) fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Said {
        said(&mut self.command(arguments))
    }

    /// Runs the program without `--store`.
    pub(crate) fn bare<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Said {
        said(program(self.folder.path()).args(arguments))
    }

    /// Writes this configuration file, and returns a function that runs the program with it.
    pub(crate) fn configured(&self, yaml: &str) -> impl Fn(&[&str]) -> Said + use<> {
        let (home, file) = (self.folder.path().to_owned(), self.file("isotach.yaml", yaml.as_bytes()));
        move |arguments| said(program(&home).arg("--config").arg(&file).args(arguments))
    }

    /// Runs the program, and asserts success.
    #[track_caller]
    pub(crate) fn ok<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Said {
        self.run(arguments).succeeds()
    }

    /// Runs the program as a user without rights. Skips the test unless it runs as root.
    pub(crate) fn run_as_other(&self, arguments: &[&str]) -> Option<Said> {
        if !rustix::process::geteuid().is_root() {
            skip(Need::Root, "only root can run the program as another user");
            return None;
        }
        let folder = self.folder.path();
        set_mode(folder, 0o755);
        let program = folder.join("isotach");
        if !program.exists() {
            // A copy, because the other user may not have access to the program's folder. Another process makes it: children of
            // other tests could inherit a descriptor of ours, and the system refuses to run a file that is open for writing.
            let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_isotach")).arg(&program).status();
            assert!(copied.expect("cp runs").success());
        }
        let mut command = Command::new(program);
        command.arg("--store").arg(self.path()).args(arguments).current_dir("/");
        Some(said(command.env_clear().env("HOME", "/nonexistent").uid(OTHER).gid(OTHER)))
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

    /// Archives bytes that are no GRIB as the field of a step.
    #[track_caller]
    pub(crate) fn write_raw(&self, step: u32, bytes: &[u8]) {
        self.write_keyed(&field(step), bytes);
    }

    /// Archives bytes under a complete key.
    #[track_caller]
    pub(crate) fn write_keyed(&self, key: &str, bytes: &[u8]) {
        let file = self.file("raw", bytes);
        self.ok(["write", "--key", key, &file]);
    }

    /// Archives the messages of a file.
    pub(crate) fn write(&self, file: &str) -> Said {
        self.run(["write", file])
    }

    /// The number of listed fields.
    #[track_caller]
    pub(crate) fn count(&self) -> usize {
        self.ok(["list"]).lines()
    }

    /// The bytes that a request reads.
    #[track_caller]
    pub(crate) fn read(&self, request: &str) -> Vec<u8> {
        self.try_read(request).succeeds().out
    }

    /// Reads to standard output.
    pub(crate) fn try_read(&self, request: &str) -> Said {
        self.run(["read", request, "-o", "-"])
    }

    /// The label of a dataset's container.
    #[track_caller]
    pub(crate) fn label(&self) -> String {
        let dataset = paths_in(self.path().join("containers")).find(|path| !path.ends_with("root"));
        dataset.expect("a dataset").file_name().expect("a label").to_string_lossy().into_owned()
    }

    /// The path of the largest file of a dataset's container whose name has this prefix.
    #[track_caller]
    pub(crate) fn file_of_container(&self, below: &str, prefix: &str) -> PathBuf {
        let container = self.path().join("containers").join(self.label());
        let files = paths_in(container.join(below)).filter(|path| has_prefix(path, prefix));
        let length = |path: &PathBuf| path.metadata().map(|metadata| metadata.len()).unwrap_or_default();
        files.max_by_key(length).unwrap_or_else(|| panic!("no {prefix} in {}", container.display()))
    }
}

/// Whether the name of a file has this prefix.
pub(crate) fn has_prefix(path: &Path, prefix: &str) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix))
}

/// Sets the permissions of a file or folder.
pub(crate) fn set_mode(path: impl AsRef<Path>, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("permissions are set");
}

/// Inverts a bit of each of these bytes of a file.
pub(crate) fn damage(path: impl AsRef<Path>, range: Range<usize>) {
    let mut bytes = std::fs::read(&path).expect("a file");
    bytes[range].iter_mut().for_each(|byte| *byte ^= 0x10);
    std::fs::write(path, bytes).expect("a file is written");
}

/// Cuts a file to this length.
pub(crate) fn truncate(path: impl AsRef<Path>, length: impl FnOnce(u64) -> u64) {
    let file = File::options().write(true).open(path).expect("a file");
    file.set_len(length(file.metadata().expect("its length").len())).expect("a file is cut");
}

/// The paths in a folder.
pub(crate) fn paths_in(folder: impl AsRef<Path>) -> impl Iterator<Item = PathBuf> {
    std::fs::read_dir(folder).expect("a directory").map(|entry| entry.expect("an entry").path())
}

/// Asserts equal bytes, without printing them.
#[track_caller]
pub(crate) fn same_bytes(found: &[u8], expected: &[u8]) {
    assert!(found == expected, "{} bytes, which are not the {} expected", found.len(), expected.len());
}

/// Messages of a small forecast of the class rd, steps 0, 6, 12, .... Without ecCodes the test is skipped.
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

/// Such messages, and a store with a file of them beside it.
pub(crate) fn messages_in_file(count: u32) -> Option<(Vec<Vec<u8>>, Store, String)> {
    let (good, store) = (messages(count)?, Store::new());
    let file = store.file("good.grib", &good.concat());
    Some((good, store, file))
}

/// Such messages, and a store in which they are archived.
#[track_caller]
pub(crate) fn archived_messages(count: u32) -> Option<(Vec<Vec<u8>>, Store)> {
    let (good, store, file) = messages_in_file(count)?;
    store.write(&file).succeeds();
    Some((good, store))
}

/// A terminal: the side of the user, and the side of a program.
pub(crate) fn terminal() -> (File, Stdio) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&master).expect("a terminal is granted");
    unlockpt(&master).expect("a terminal is unlocked");
    let name = ptsname(&master, Vec::new()).expect("a terminal has a name");
    let side = File::options().read(true).write(true).open(name.to_str().expect("a path in UTF-8"));
    (master.into(), side.expect("a terminal is opened").into())
}

/// The text on a terminal after its programs have ended.
pub(crate) fn shown(mut terminal: File) -> String {
    let mut shown = Vec::new();
    let mut part = [0; 4096];
    // The last read fails, because no program has the other side open.
    while let Ok(read @ 1..) = terminal.read(&mut part) {
        shown.extend_from_slice(&part[..read]);
    }
    String::from_utf8_lossy(&shown).into_owned()
}
