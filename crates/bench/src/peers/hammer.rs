//! fdb-hammer, the benchmark of FDB, beside `bench hammer` on as many fields of the same size.
//!
//! What must stay true: both flush after each step, and so does the limit; and the time to start is in the figures of
//! neither.

use std::{
    env,
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::Instant,
};

use serde::Deserialize;
use serde_json::{Value, json};

use super::setup::{SCHEMA, Setting, configuration, environment, one_line, variables_map, without_foreign};
use crate::{
    Error, Result,
    harness::{
        folders::create_folders,
        launcher::{COMMAND, cpus, this_program},
        usage::Total,
    },
    workloads::{
        ensemble::FIELDS_PER_STEP,
        forecast,
        load::{Load, store},
    },
};

/// Parameters of a level: fdb-hammer 5.10.8 supports at most seven with a template of edition 2.
const PARAMS: u32 = 5;
const LEVELS: u32 = FIELDS_PER_STEP as u32 / PARAMS;
const PROGRAM: &str = "fdb-hammer";
const TEMPLATE: &str = "template.grib2";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Write,
    Read,
}

impl Action {
    pub(super) fn what(self) -> &'static str {
        match self {
            Self::Write => "hammer write",
            Self::Read => "hammer read",
        }
    }
}

pub(super) fn hammer(action: Action, folder: &Path, load: &Load, sync: bool) -> Result<Total> {
    let (action, record) = match action {
        Action::Write => (["--write", "--keep"].as_slice(), "written"),
        // fdb-hammer reads one by one, too.
        Action::Read => (["--read", "--one-by-one"].as_slice(), "read"),
    };
    let mut command = this_program()?;
    let pool = store(&folder.join("store"), sync);
    command.args([COMMAND, "hammer", "--json", "--repetitions=1", "--pool", &pool, "--out"]);
    command
        .arg(folder.join(record))
        .args(action)
        .args(shape(load))
        .args([format!("--size={}", load.size), format!("-n={}", load.procs)]);
    let output = command.output().map_err(Error::pipe("start this program"))?;
    let figures = serde_json::from_slice(&output.stdout).ok().filter(|_| output.status.success());
    let Some(HammerFigures { bytes, total_s, overlap }) = figures else {
        let error = String::from_utf8_lossy(&output.stderr);
        let how = format!("ended with {}: {}", output.status, error.trim());
        return Err(Error::Worker { command: "hammer".to_owned(), how });
    };
    Ok(total(load.procs, [total_s, overlap * total_s], bytes / load.size as u64, bytes))
}

/// The figures of `bench hammer` that are read.
#[derive(Debug, Deserialize)]
struct HammerFigures {
    bytes: u64,
    total_s: f64,
    overlap: f64,
}

/// The options of both hammers for the fields of a load.
fn shape(load: &Load) -> [String; 4] {
    [
        format!("--nsteps={}", load.steps),
        format!("--nlevels={LEVELS}"),
        format!("--nparams={PARAMS}"),
        "--nensembles=1".to_owned(),
    ]
}

/// The total of processes that worked so many seconds in all, and together. Neither hammer reports processor time and memory.
fn total(procs: usize, [seconds, together_s]: [f64; 2], fields: u64, bytes: u64) -> Total {
    let ([user, sys, first_s, close_s], rss_kb, lifetime_s) = ([f64::NAN; 4], 0, None);
    Total { procs, seconds, together_s, user, sys, rss_kb, fields, bytes, first_s, close_s, lifetime_s }
}

#[derive(Debug)]
pub(super) struct FdbHammer {
    program: PathBuf,
    version: String,
}

impl FdbHammer {
    /// Finds the given program, or the one on the path, if any.
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

    pub(super) fn settings(&self) -> Value {
        let (home, folder) = (Path::new("HOME"), Path::new("FOLDER"));
        json!({
            "program": self.program,
            "version": self.version,
            "arguments": format!("--class=rd --expver=xxxx --nlevels={LEVELS} --nparams={PARAMS} --nensembles=1"),
            "template": "GRIB edition 2, as hammer's own; it decodes each message",
            "configuration": configuration(home, &folder.join("fdb")),
            "schema": one_line(SCHEMA),
            "environment": variables_map(&environment(Setting::Default, home, &folder.join("fdb.yaml"), true)),
            "in memory": "FDB_DATA_SYNC_ON_FLUSH=0",
            "flush": format!("after each step, of {FIELDS_PER_STEP} fields"),
        })
    }

    /// Writes or reads in a folder with the processes of a load.
    pub(super) fn run(&self, action: Action, folder: &Path, load: &Load, sync: bool) -> Result<Total> {
        if action == Action::Write {
            prepare(folder, load.size)?;
        }
        let sockets = cpus::sockets();
        let one = |process: usize| -> Result<Done> {
            // Each process inherits the processor of its thread, so that it is bound as those of `bench hammer` are.
            cpus::cpu_of(&sockets, process).into_iter().for_each(cpus::bind);
            self.run_one(action, folder, load, sync, process)
        };
        let done = thread::scope(|scope| {
            let threads: Vec<_> = (0..load.procs).map(|process| scope.spawn(move || one(process))).collect();
            let lost = |_| Err(failed("was lost".to_owned()));
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(lost)).collect::<Result<Vec<_>>>()
        })?;
        let total = total_of(&done);
        if total.bytes != load.bytes() {
            return Err(Error::wrong(
                format!("{} bytes of {PROGRAM}", total.bytes),
                load.bytes().to_string(),
            ));
        }
        Ok(total)
    }

    fn run_one(
        &self,
        action: Action,
        folder: &Path,
        load: &Load,
        sync: bool,
        process: usize,
    ) -> Result<Done> {
        let output = folder.join(format!("output-{process}"));
        let file = File::create(&output).map_err(Error::io("create", &output))?;
        let errors = file.try_clone().map_err(Error::io("create", &output))?;
        let mut command = Command::new(&self.program);
        without_foreign(&mut command);
        command.envs(environment(Setting::Default, &folder.join("home"), &folder.join("fdb.yaml"), sync));
        command
            .args(["--class=rd", "--expver=xxxx"])
            .args(shape(load))
            .arg(format!("--number={}", process + 1));
        if action == Action::Read {
            command.arg("--read");
        }
        command.arg(folder.join(TEMPLATE)).stdin(Stdio::null()).stdout(file).stderr(errors);
        let started = Instant::now();
        let status = command.status().map_err(Error::io("run", &self.program))?;
        let lifetime = (started, Instant::now());
        let output = fs::read(&output).map_err(Error::io("read", &output))?;
        let output = String::from_utf8_lossy(&output);
        figures(action, &output, lifetime).filter(|_| status.success()).ok_or_else(|| {
            let lines: Vec<&str> = output.lines().collect();
            let last = lines[lines.len().saturating_sub(3)..].join("; ");
            failed(format!("ended with {status}: {last}"))
        })
    }
}

fn failed(how: String) -> Error {
    Error::Worker { command: PROGRAM.to_owned(), how }
}

/// The sum of processes, with the longest time that one reports. None reports when it began working, so the overlap is that of
/// their lifetimes.
fn total_of(done: &[Done]) -> Total {
    let seconds = done.iter().map(|one| one.seconds).fold(0.0, f64::max);
    let (starts, ends) = (|| done.iter().map(|one| one.started), || done.iter().map(|one| one.ended));
    let between = |from: Option<Instant>, to: Option<Instant>| {
        from.zip(to).map_or(0.0, |(from, to)| to.saturating_duration_since(from).as_secs_f64())
    };
    let lifetime_s = between(starts().min(), ends().max());
    let together_s = seconds * between(starts().max(), ends().min()) / lifetime_s;
    let (fields, bytes) = (done.iter().map(|one| one.fields).sum(), done.iter().map(|one| one.bytes).sum());
    let total = total(done.len(), [seconds, together_s], fields, bytes);
    Total { lifetime_s: Some(lifetime_s), ..total }
}

/// Creates home, root and template of fdb-hammer.
fn prepare(folder: &Path, size: usize) -> Result<()> {
    let [home, root] = create_folders(folder, ["home", "fdb"])?;
    let write = |path: &Path, bytes: &[u8]| fs::write(path, bytes).map_err(Error::io("write", path));
    write(&home.join("schema"), SCHEMA.as_bytes())?;
    write(&folder.join("fdb.yaml"), configuration(&home, &root).to_string().as_bytes())?;
    write(&folder.join(TEMPLATE), &forecast::message(size)?)
}

/// The version that `fdb-info` beside the program reports.
fn version_beside(program: &Path) -> String {
    let mut command = Command::new(program.with_file_name("fdb-info"));
    let said = without_foreign(&mut command).arg("--version").stderr(Stdio::null()).output();
    let said = said.ok().filter(|output| output.status.success()).map(|output| output.stdout);
    let line = said.and_then(|said| String::from_utf8_lossy(&said).lines().next().map(str::to_owned));
    line.unwrap_or_else(|| "unknown: no fdb-info beside it".to_owned())
}

#[derive(Debug, PartialEq)]
struct Done {
    fields: u64,
    bytes: u64,
    seconds: f64,
    started: Instant,
    ended: Instant,
}

/// The figures in its output. The time of writing excludes setting keys in the template, which is reported separately.
fn figures(action: Action, output: &str, (started, ended): (Instant, Instant)) -> Option<Done> {
    let value =
        |name: &str| output.lines().find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(':')?.trim()));
    let [fields, bytes, seconds] = match action {
        Action::Write => ["Fields written", "Bytes written", "Writing duration"],
        Action::Read => ["Fields read", "Bytes read", "Total duration"],
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
    fn the_figures_are_found_in_the_output_of_fdb_hammer() {
        let said = "Member: 0, step: 0\nFields written: 200\nBytes written: 819200\nTotal duration: 0.523287\n\
            GRIB duration: 0.110567\nWriting duration: 0.41272\nTotal rate: 1.56549e+06 bytes / s\n";
        let life = (Instant::now(), Instant::now());
        let (started, ended) = life;
        let done = Done { fields: 200, bytes: 819_200, seconds: 0.41272, started, ended };
        assert_eq!(figures(Action::Write, said, life), Some(done));
        assert_eq!(figures(Action::Read, said, life), None);
    }

    #[test]
    fn processes_overlap_as_their_lifetimes_do_and_the_longest_time_counts() {
        let begin = Instant::now();
        let one = |seconds: f64, from: u64, to: u64| {
            let [started, ended] = [from, to].map(|at| begin + Duration::from_secs(at));
            Done { fields: 1, bytes: 1, seconds, started, ended }
        };
        let times = total_of(&[one(2.0, 0, 5), one(3.0, 1, 4), one(1.0, 2, 8)]);
        assert_eq!((times.seconds, times.lifetime_s), (3.0, Some(8.0)));
        assert_eq!(times.together_s / times.seconds, 0.25, "from the last start to the first end");
    }

    #[test]
    fn the_template_is_one_message_of_the_given_size() {
        let message = forecast::message(4096).unwrap();
        assert_eq!(
            (message.len(), &message[..4], &message[4092..], message[7]),
            (4096, &b"GRIB"[..], &b"7777"[..], 2)
        );
    }

    #[test]
    fn a_program_that_is_named_must_exist() {
        let error = FdbHammer::find(Some(Path::new("no/such/hammer"))).unwrap_err().to_string();
        assert!(error.contains("no such file"), "{error}");
    }
}
