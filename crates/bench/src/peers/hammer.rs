//! fdb-hammer, FDB's own benchmark, beside `bench hammer` on as many fields of the same size.
//!
//! What must stay true: both flush after each step, after which the limit syncs, too; and what starting takes is in the
//! figures of neither.

use std::{
    env,
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::Instant,
};

use serde::Deserialize;
use serde_json::{Value, json};

use super::setup::{SCHEMA, Setting, configuration, environment, told, without_foreign, words};
use crate::{
    COMMAND, Error, Result,
    harness::{launcher::cpus, load::Load, team::Total},
    workloads::{
        ensemble::FIELDS_PER_STEP,
        forecast::{Forecast, ForecastArgs, Keys, Message},
    },
};

/// Parameters of a level: with a template of edition 2, fdb-hammer of 5.10.8 has room for seven.
const PARAMS: u32 = 5;
const LEVELS: u32 = FIELDS_PER_STEP as u32 / PARAMS;
/// What the program is called.
const PROGRAM: &str = "fdb-hammer";

/// What a hammer does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    Write,
    Read,
}

impl Act {
    /// What a row is called.
    pub(super) fn what(self) -> &'static str {
        match self {
            Self::Write => "hammer write",
            Self::Read => "hammer read",
        }
    }
}

/// `bench hammer` in a folder, in processes of its own.
pub(super) fn hammer(act: Act, folder: &Path, load: &Load, sync: bool) -> Result<Total> {
    let program = env::current_exe().map_err(Error::pipe("find this program"))?;
    let (act, record) = match act {
        Act::Write => (["--write", "--keep"].as_slice(), "written"),
        // As fdb-hammer asks.
        Act::Read => (["--read", "--one-by-one"].as_slice(), "read"),
    };
    let mut command = Command::new(program);
    let pool = format!("posix:{}{}", folder.join("store").display(), if sync { "" } else { "?sync=no" });
    command.args([COMMAND, "hammer", "--json", "--repetitions=1", "--pool", &pool, "--out"]);
    command
        .arg(folder.join(record))
        .args(act)
        .args(shape(load))
        .args([format!("--size={}", load.size), format!("-n={}", load.procs)]);
    let output = command.output().map_err(Error::pipe("start this program"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let told: Option<Told> = serde_json::from_slice(&output.stdout).ok().filter(|_| output.status.success());
    let Some(told) = told else {
        let how = format!("ended with {}: {}", output.status, said.trim());
        return Err(Error::Worker { command: "hammer".to_owned(), how });
    };
    let (fields, seconds) = (told.bytes / load.size as u64, told.total_s);
    let together_s = told.overlap * seconds;
    Ok(total(load, Times { seconds, together_s, lifetime_s: None }, fields, told.bytes))
}

/// What is read of the figures of `bench hammer`.
#[derive(Debug, Deserialize)]
struct Told {
    bytes: u64,
    total_s: f64,
    overlap: f64,
}

/// The words of both hammers for the fields of a load.
fn shape(load: &Load) -> [String; 4] {
    [
        format!("--nsteps={}", load.steps),
        format!("--nlevels={LEVELS}"),
        format!("--nparams={PARAMS}"),
        "--nensembles=1".to_owned(),
    ]
}

/// When processes were at work.
#[derive(Debug, Clone, Copy)]
struct Times {
    seconds: f64,
    together_s: f64,
    lifetime_s: Option<f64>,
}

/// Neither hammer says what processor time and memory it took.
fn total(load: &Load, times: Times, fields: u64, bytes: u64) -> Total {
    let (procs, none) = (load.procs, f64::NAN);
    let Times { seconds, together_s, lifetime_s } = times;
    Total {
        procs,
        seconds,
        together_s,
        user: none,
        sys: none,
        rss_kb: 0,
        fields,
        bytes,
        first_s: none,
        close_s: none,
        lifetime_s,
    }
}

/// The fdb-hammer of a system.
#[derive(Debug)]
pub(super) struct FdbHammer {
    program: PathBuf,
    version: String,
}

impl FdbHammer {
    /// The one given, or that on the path; none if there is none.
    pub(super) fn find(given: Option<&Path>) -> Result<Option<Self>> {
        let program = match given {
            Some(given) if given.is_file() => Some(given.canonicalize().map_err(Error::io("find", given))?),
            Some(given) => {
                let what = format!("--fdb-hammer {}: no such file", given.display());
                return Err(Error::invalid(what, "the program fdb-hammer, as of Debian's package fdb5"));
            }
            None => env::var_os("PATH").and_then(|path| {
                env::split_paths(&path).map(|folder| folder.join(PROGRAM)).find(|program| program.is_file())
            }),
        };
        Ok(program.map(|program| Self { version: version_beside(&program), program }))
    }

    /// All that it is told.
    pub(super) fn settings(&self) -> Value {
        let (home, folder) = (Path::new("HOME"), Path::new("FOLDER"));
        json!({
            "program": self.program,
            "version": self.version,
            "arguments": format!("--class=rd --expver=xxxx --nlevels={LEVELS} --nparams={PARAMS} --nensembles=1"),
            "template": "GRIB edition 2, as hammer's own; it decodes each message",
            "configuration": configuration(home, &folder.join("fdb")),
            "schema": words(SCHEMA),
            "environment": told(&environment(Setting::Default, home, &folder.join("fdb.yaml"), true)),
            "in memory": "FDB_DATA_SYNC_ON_FLUSH=0",
            "flush": format!("after each step, of {FIELDS_PER_STEP} fields"),
        })
    }

    /// Writes or reads in a folder, in as many processes as the load has.
    pub(super) fn run(&self, act: Act, folder: &Path, load: &Load, sync: bool) -> Result<Total> {
        let template = folder.join("template.grib2");
        if act == Act::Write {
            prepare(folder, &template, load.size)?;
        }
        let sockets = cpus::sockets();
        let one = |process: usize| -> Result<Done> {
            // As hammer's processes, each is on a processor of its own: that of the thread that starts it.
            cpus::cpu_of(&sockets, process).into_iter().for_each(cpus::stay_on);
            self.start(act, folder, &template, load, sync, process)?.finish(act)
        };
        let done = thread::scope(|scope| {
            let threads: Vec<_> = (0..load.procs).map(|process| scope.spawn(move || one(process))).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|_| Err(lost())))
                .collect::<Result<Vec<_>>>()
        })?;
        let (fields, bytes) =
            (done.iter().map(|one| one.fields).sum(), done.iter().map(|one| one.bytes).sum());
        if bytes != load.bytes() {
            return Err(Error::wrong(format!("{bytes} bytes of {PROGRAM}"), format!("{}", load.bytes())));
        }
        Ok(total(load, times(&done), fields, bytes))
    }

    fn start(
        &self,
        act: Act,
        folder: &Path,
        template: &Path,
        load: &Load,
        sync: bool,
        process: usize,
    ) -> Result<Running> {
        let said = folder.join(format!("said-{process}"));
        let file = File::create(&said).map_err(Error::io("create", &said))?;
        let errors = file.try_clone().map_err(Error::io("create", &said))?;
        let mut command = Command::new(&self.program);
        without_foreign(&mut command);
        command.envs(environment(Setting::Default, &folder.join("home"), &folder.join("fdb.yaml"), sync));
        command
            .args(["--class=rd", "--expver=xxxx"])
            .args(shape(load))
            .arg(format!("--number={}", process + 1));
        if act == Act::Read {
            command.arg("--read");
        }
        let command = command.arg(template).stdin(Stdio::null()).stdout(file).stderr(errors);
        let started = Instant::now();
        let child = command.spawn().map_err(Error::io("start", &self.program))?;
        Ok(Running { child, said, started })
    }
}

fn lost() -> Error {
    Error::Worker { command: PROGRAM.to_owned(), how: "was lost".to_owned() }
}

/// The longest time that one of them says that it was at it. None says when that began: they overlap as their lives do.
fn times(done: &[Done]) -> Times {
    let seconds = done.iter().map(|one| one.seconds).fold(0.0, f64::max);
    let (starts, ends) = (|| done.iter().map(|one| one.started), || done.iter().map(|one| one.ended));
    let between = |from: Option<Instant>, to: Option<Instant>| {
        from.zip(to).map_or(0.0, |(from, to)| to.saturating_duration_since(from).as_secs_f64())
    };
    let lifetime_s = between(starts().min(), ends().max());
    let together_s = between(starts().max(), ends().min());
    Times { seconds, together_s: seconds * together_s / lifetime_s, lifetime_s: Some(lifetime_s) }
}

/// Home, root and template of an fdb-hammer.
fn prepare(folder: &Path, template: &Path, size: usize) -> Result<()> {
    let [home, root] = ["home", "fdb"].map(|name| folder.join(name));
    for folder in [&home, &root] {
        fs::create_dir(folder).map_err(Error::io("make", folder))?;
    }
    let write = |path: &Path, bytes: &[u8]| fs::write(path, bytes).map_err(Error::io("write", path));
    write(&home.join("schema"), SCHEMA.as_bytes())?;
    write(&folder.join("fdb.yaml"), configuration(&home, &root).to_string().as_bytes())?;
    write(template, &message(size)?)
}

/// A message of the template that is built in.
fn message(size: usize) -> Result<Vec<u8>> {
    let args = ForecastArgs {
        template: None,
        nsteps: 1,
        step: 0,
        nensembles: 1,
        number: 1,
        nlevels: 1,
        level: 1,
        levels: Vec::new(),
        nparams: 1,
        class: None,
        expver: None,
        sizes: vec![size],
    };
    let mut bytes = Vec::new();
    for forecast in Forecast::all(&args)? {
        for field in Keys::new(&forecast.key, &forecast.shape)?.fields(1, 0) {
            bytes = Message::new(&forecast.template).of(&field).to_vec();
        }
    }
    Ok(bytes)
}

/// What the program beside it says of the version.
fn version_beside(program: &Path) -> String {
    let mut command = Command::new(program.with_file_name("fdb-info"));
    let said = without_foreign(&mut command).arg("--version").stderr(Stdio::null()).output();
    let said = said.ok().filter(|output| output.status.success()).map(|output| output.stdout);
    let line = said.and_then(|said| String::from_utf8_lossy(&said).lines().next().map(str::to_owned));
    line.unwrap_or_else(|| "not known: there is no fdb-info beside it".to_owned())
}

/// A process, ended when it is dropped.
struct Running {
    child: Child,
    /// The file with what it says.
    said: PathBuf,
    started: Instant,
}

/// The figures of one process.
#[derive(Debug, PartialEq)]
struct Done {
    fields: u64,
    bytes: u64,
    seconds: f64,
    started: Instant,
    ended: Instant,
}

impl Running {
    fn finish(mut self, act: Act) -> Result<Done> {
        let status = self.child.wait().map_err(Error::pipe(format!("wait for {PROGRAM}")))?;
        let life = (self.started, Instant::now());
        let said = fs::read(&self.said).map_err(Error::io("read", &self.said))?;
        let said = String::from_utf8_lossy(&said);
        match figures(act, &said, life) {
            Some(done) if status.success() => Ok(done),
            _ => {
                let last: Vec<&str> = said.lines().rev().take(3).collect();
                let how =
                    format!("ended with {status}: {}", last.into_iter().rev().collect::<Vec<_>>().join("; "));
                Err(Error::Worker { command: PROGRAM.to_owned(), how })
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already; either way nothing is left behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The figures in what it says. Of writing, the time for which it was at it: setting keys in the template is told apart.
fn figures(act: Act, said: &str, (started, ended): (Instant, Instant)) -> Option<Done> {
    let value =
        |name: &str| said.lines().find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(':')?.trim()));
    let [fields, bytes, seconds] = match act {
        Act::Write => ["Fields written", "Bytes written", "Writing duration"],
        Act::Read => ["Fields read", "Bytes read", "Total duration"],
    };
    Some(Done {
        fields: value(fields)?.parse().ok()?,
        bytes: value(bytes)?.parse().ok()?,
        seconds: value(seconds)?.parse().ok()?,
        started,
        ended,
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_figures_are_found_among_all_that_it_says() {
        let said = "Member: 0, step: 0\nFields written: 200\nBytes written: 819200\nTotal duration: 0.523287\n\
            GRIB duration: 0.110567\nWriting duration: 0.41272\nTotal rate: 1.56549e+06 bytes / s\n";
        let life = (Instant::now(), Instant::now());
        let (started, ended) = life;
        let done = Done { fields: 200, bytes: 819_200, seconds: 0.41272, started, ended };
        assert_eq!(figures(Act::Write, said, life), Some(done));
        assert_eq!(figures(Act::Read, said, life), None);
    }

    #[test]
    fn processes_overlap_as_their_lives_do_and_their_time_is_the_longest_that_one_tells() {
        let begin = Instant::now();
        let one = |seconds: f64, from: u64, to: u64| {
            let [started, ended] = [from, to].map(|at| begin + Duration::from_secs(at));
            Done { fields: 1, bytes: 1, seconds, started, ended }
        };
        let times = times(&[one(2.0, 0, 5), one(3.0, 1, 4), one(1.0, 2, 8)]);
        assert_eq!((times.seconds, times.lifetime_s), (3.0, Some(8.0)));
        assert_eq!(times.together_s / times.seconds, 0.25, "from the last start to the first end");
    }

    #[test]
    fn the_template_is_one_message_of_the_size_that_is_asked_for() {
        let message = message(4096).unwrap();
        assert_eq!(
            (message.len(), &message[..4], &message[4092..], message[7]),
            (4096, &b"GRIB"[..], &b"7777"[..], 2)
        );
    }

    #[test]
    fn one_that_is_named_must_be_there() {
        let told = FdbHammer::find(Some(Path::new("no/such/hammer"))).unwrap_err().to_string();
        assert!(told.contains("no such file"), "{told}");
    }
}
