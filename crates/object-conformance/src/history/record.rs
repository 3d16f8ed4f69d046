//! Recording what a process does, in a file that outlives it, and reading all files of a history.
//!
//! What must stay true: the line of a call is handed to the system before the operation begins, so a process that is killed
//! leaves no operation that took effect and that nobody knows of. Nothing is buffered.

use std::{
    fs::{self, File},
    io::Write,
    path::Path,
};

use super::operation::{Clause, Key, Operation, Outcome, Value};

/// What absent is called in a file.
const NOTHING: &str = "-";

/// Nanoseconds of the monotonic clock that all processes of this machine share.
pub fn now() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Writes down the operations of one process, or of one thread.
///
/// ```
/// use isotach_object_conformance::history::{self, Clause, Recorder};
/// let folder = tempfile::tempdir()?;
/// let mut recorder = Recorder::new(folder.path(), 1);
/// let put = recorder.call("put", &[Clause::Sets(6, Some(42))]);
/// // Here it is done.
/// recorder.done(put, &[], None);
/// let get = recorder.call("get", &[]);
/// recorder.done(get, &[(6, Some(42))], None);
/// assert_eq!(history::operations(folder.path()).len(), 2);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Recorder {
    file: File,
    calls: u64,
}

/// An operation that was called and has not returned yet.
#[derive(Debug, Clone, Copy)]
#[must_use = "say what came of it"]
pub struct Call(u64);

impl Recorder {
    /// Begins the file of a process. No two processes of a history have one number.
    pub fn new(folder: &Path, process: u64) -> Self {
        Self { file: File::create_new(folder.join(process.to_string())).unwrap(), calls: 0 }
    }

    fn write(&mut self, line: &str) {
        self.file.write_all(line.as_bytes()).unwrap();
    }

    /// To be called right before an operation.
    pub fn call(&mut self, name: &str, clauses: &[Clause]) -> Call {
        let called = now();
        let number = self.calls;
        self.calls += 1;
        let clauses = clauses.iter().map(|part| match part {
            Clause::Requires(key, value) => token('?', *key, *value),
            Clause::Unchanged(key, value) => token('~', *key, *value),
            Clause::Sets(key, value) => token('!', *key, *value),
        });
        let clauses: String = clauses.collect();
        let name = name.replace(' ', "-");
        self.write(&format!("call {number} {called} {name}{clauses}\n"));
        Call(number)
    }

    /// To be called right after an operation took effect, with what it saw of keys.
    pub fn done(&mut self, call: Call, saw: &[(Key, Value)], epoch: Option<u64>) {
        let returned = now();
        let saw: String = saw.iter().map(|(key, value)| token('<', *key, *value)).collect();
        let epoch = epoch.map_or(String::new(), |epoch| format!(" @{epoch}"));
        self.write(&format!("done {} {returned}{epoch}{saw}\n", call.0));
    }

    /// To be called right after an operation was refused.
    pub fn refused(&mut self, call: Call) {
        let returned = now();
        self.write(&format!("refused {} {returned}\n", call.0));
    }
}

fn token(kind: char, key: Key, value: Value) -> String {
    match value {
        Some(value) => format!(" {kind}{key}={value}"),
        None => format!(" {kind}{key}={NOTHING}"),
    }
}

/// All operations of all processes that have a file in this folder.
pub fn operations(folder: &Path) -> Vec<Operation> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let process = entry.file_name().to_str().unwrap().parse().unwrap();
        all.extend(of_process(process, &fs::read_to_string(entry.path()).unwrap()));
    }
    all
}

fn of_process(process: u64, text: &str) -> Vec<Operation> {
    let mut operations: Vec<Operation> = Vec::new();
    // The last line of a process that was killed may have no end: then the operation had not begun, or had no return.
    for line in text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')) {
        let words: Vec<&str> = line.split(' ').collect();
        let (number, time) = (words[1].parse::<usize>().unwrap(), words[2].parse::<u64>().unwrap());
        match words[0] {
            "call" => {
                assert_eq!(number, operations.len(), "{line:?} in the record of process {process}");
                let clauses = words[4..].iter().map(|word| part(word)).collect();
                operations.push(called(process, words[3], time, clauses));
            }
            kind => returned(&mut operations[number], kind, time, &words[3..]),
        }
    }
    operations
}

fn called(process: u64, name: &str, called: u64, clauses: Vec<Clause>) -> Operation {
    let (returned, saw, outcome, epoch) = (None, Vec::new(), Outcome::Unknown, None);
    Operation { process, name: name.replace('-', " "), called, returned, clauses, saw, outcome, epoch }
}

fn returned(operation: &mut Operation, kind: &str, time: u64, words: &[&str]) {
    operation.returned = Some(time);
    operation.outcome = if kind == "done" { Outcome::Done } else { Outcome::Refused };
    for word in words {
        match word.strip_prefix('@') {
            Some(epoch) => operation.epoch = Some(epoch.parse().unwrap()),
            None => operation.saw.push(split(&word[1..])),
        }
    }
}

fn part(word: &str) -> Clause {
    let (key, value) = split(&word[1..]);
    match &word[..1] {
        "?" => Clause::Requires(key, value),
        "~" => Clause::Unchanged(key, value),
        "!" => Clause::Sets(key, value),
        _ => panic!("{word:?} in a record"),
    }
}

fn split(word: &str) -> (Key, Value) {
    let (key, value) = word.split_once('=').unwrap();
    (key.parse().unwrap(), (value != NOTHING).then(|| value.parse().unwrap()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_and_an_unfinished_line_is_not() {
        let text = "call 0 10 put !3=7\ncall 1 11 move ?3=7 ~4=- !4=7 !3=-\ndone 1 15 @99 <5=1 <6=-\nrefused 0 16\n\
                    call 2 17 look-at\ndone 2 1";
        let read = of_process(4, text);
        let told: Vec<_> = read.iter().map(|one| (one.called, one.returned, one.epoch)).collect();
        assert_eq!(told, [(10, Some(16), None), (11, Some(15), Some(99)), (17, None, None)]);
        let text: Vec<_> = read.iter().map(Operation::to_string).collect();
        assert_eq!(text[0], "put, k3 = 7: refused");
        let moved =
            "move, if k3 is 7, if k4 is still nothing, k4 = 7, k3 = nothing, k5 was 1, k6 was nothing";
        assert_eq!(text[1], moved);
        assert_eq!(text[2], "look at: no answer");
    }
}
