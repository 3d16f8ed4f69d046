//! Taking in the messages of files: archiving them, or adopting them where they are.
//!
//! What must stay true: what was taken in before something bad is flushed and reported, unless all is to be taken in at
//! once; and what is reported is durable.

use std::{
    fs::File,
    io::{Read, stdin},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use isotach_fields::{Error as FieldsError, FieldStore, Transaction, crc32c};
use isotach_grib::{Eccodes, Message, MessageScanner, ScanError};
use isotach_mars::{Key, Match, Request, Schema};
use serde_json::json;

use super::{
    input::{Input, open_failed},
    requests::{is_standard, name_of},
    whole::{self, Whole},
};
use crate::{
    context,
    failure::{Failure, Outcome, say},
    flags::{IntakeFlags, PlaceFlags},
    output::{Bytes, Rate, count, outln, print_json, seconds},
    progress::Progress,
};

/// What is to be taken in, and how.
#[derive(Debug)]
pub(crate) struct Intake<'f> {
    /// The files.
    pub(crate) files: &'f [PathBuf],
    /// Keys, and what becomes of bad messages.
    pub(crate) how: &'f IntakeFlags,
    /// After how many fields to flush, beside the end.
    pub(crate) flush_every: u64,
    /// Whether the bytes stay where they are.
    pub(crate) in_place: bool,
    /// Whether all becomes visible together, or nothing after something bad.
    pub(crate) atomic: bool,
}

/// Takes in all files in turn, flushes and reports.
pub(crate) fn run(place: &PlaceFlags, intake: &Intake<'_>) -> Outcome {
    let overlay = intake.how.key.as_deref().unwrap_or_default().parse::<Key>();
    let overlay = overlay.map_err(|error| Failure::from(error).about("--key"))?;
    let store = context::open(place)?;
    check_values(&overlay, store.schema())?;
    let mut session = Session::new(store, overlay, intake);
    let taken = intake.files.iter().try_for_each(|path| session.file(path));
    let flushed = match intake.atomic && taken.is_err() {
        true => Ok(()),
        false => session.flush(),
    };
    session.progress.finish();
    let told = session.print();
    match (taken, flushed) {
        (Err(first), Err(second)) => {
            first.report();
            Err(second)
        }
        (taken, flushed) => taken.and(flushed).and(told),
    }
}

/// Refuses what no message could put right: a name that the schema does not know, a value that is not of its type.
fn check_values(overlay: &Key, schema: &Schema) -> Outcome {
    let checked = schema.plans(&Request::from(overlay), Match::Partial);
    checked.map(|_| ()).map_err(|error| Failure::from(error).about("--key"))
}

/// How many fields, and their bytes.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    fields: u64,
    bytes: u64,
}

struct Session<'f> {
    store: FieldStore,
    /// Where all goes that is to become visible together.
    transaction: Option<Transaction>,
    intake: &'f Intake<'f>,
    overlay: Key,
    /// Taken in since the last flush.
    pending: Tally,
    /// Durable and visible.
    flushed: Tally,
    skipped: u64,
    begin: Instant,
    /// Time spent in the store: archiving and flushing.
    storing: Duration,
    progress: Progress,
}

/// What is wrong with one message.
enum Wrong {
    /// It is the message: others may be good.
    Message(Failure),
    /// It is the store, or something that no other message would mend.
    Store(Failure),
}

impl<'f> Session<'f> {
    fn new(store: FieldStore, overlay: Key, intake: &'f Intake<'f>) -> Self {
        let total = intake.files.iter().map(|path| path.metadata().map(|there| there.len()));
        Self {
            transaction: intake.atomic.then(|| store.transaction()),
            store,
            intake,
            overlay,
            pending: Tally::default(),
            flushed: Tally::default(),
            skipped: 0,
            begin: Instant::now(),
            storing: Duration::ZERO,
            progress: Progress::new(total.sum::<Result<u64, _>>().ok()),
        }
    }

    fn file(&mut self, path: &Path) -> Outcome {
        let name = name_of(path);
        self.open(path).map_err(|failure| failure.about(&name))
    }

    fn open(&mut self, path: &Path) -> Outcome {
        if self.intake.in_place {
            Input::check_adoptable(path)?;
        }
        let input = Input::at(path)?;
        if !self.overlay.is_empty() && self.store.schema().split(&self.overlay).is_ok() {
            self.whole_key(path, input)
        } else if is_standard(path) {
            self.messages(stdin().lock(), path)
        } else {
            self.messages(File::open(path).map_err(open_failed)?, path)
        }
    }

    /// The key names a field whole: the file is that field, unless it holds several messages, which still need keys of
    /// their own.
    fn whole_key(&mut self, path: &Path, input: Input) -> Outcome {
        match whole::read(path, input, self.intake.how.skip_bad)? {
            Whole::Field { offset, bytes } => {
                let key = self.overlay.clone();
                self.take(&key, path, offset, &bytes).map_err(|wrong| match wrong {
                    Wrong::Message(failure) | Wrong::Store(failure) => failure,
                })
            }
            Whole::Messages(bytes) => self.messages(bytes.as_slice(), path),
            Whole::MessagesOf(file) => self.messages(file, path),
        }
    }

    /// Takes in every message of a stream.
    fn messages(&mut self, input: impl Read, path: &Path) -> Outcome {
        for message in MessageScanner::new(input).skip_bad(self.intake.how.skip_bad) {
            match message {
                Ok(message) => self.message(&message, path)?,
                Err(error @ ScanError::BadMessage { .. }) => self.bad(Failure::failed(error), path)?,
                Err(error @ ScanError::NoMessage { .. }) => {
                    return Err(Failure::failed(format!(
                        "{error}; expected GRIB, or {}",
                        self.why_not_whole()
                    )));
                }
                Err(error) => return Err(Failure::failed(error)),
            }
        }
        Ok(())
    }

    /// What a key would have had to be for a file without messages, and why the one given is not.
    fn why_not_whole(&self) -> String {
        let cure = "with --key a key that names the field whole";
        if self.overlay.is_empty() {
            return cure.to_owned();
        }
        match self.store.schema().split(&self.overlay) {
            Ok(_) => cure.to_owned(),
            Err(error) => format!("{cure}; the key given does not: {error}"),
        }
    }

    fn message(&mut self, message: &Message, path: &Path) -> Outcome {
        let taken =
            self.key_of(message).and_then(|key| self.take(&key, path, message.offset, &message.bytes));
        let place = || format!("message {} at byte {}", message.number, message.offset);
        match taken {
            Ok(()) => Ok(()),
            Err(Wrong::Store(failure)) => Err(failure.about(place())),
            Err(Wrong::Message(failure)) => self.bad(failure.about(place()), path),
        }
    }

    /// Ends the command, or goes on after saying why a message is left out.
    fn bad(&mut self, failure: Failure, path: &Path) -> Outcome {
        let message = match failure.message() {
            Some(message) if self.intake.how.skip_bad => message,
            _ => return Err(failure),
        };
        self.progress.finish();
        say(format!("{}: {message}; skipped", name_of(path)));
        self.skipped += 1;
        Ok(())
    }

    /// The key that a message carries, with what was given laid over it.
    fn key_of(&self, message: &Message) -> Result<Key, Wrong> {
        // Without ecCodes no message has a key, so going on is no use.
        let eccodes = Eccodes::load().map_err(|error| Wrong::Store(error.into()))?;
        let pairs = eccodes.message_key(&message.bytes).map_err(|error| Wrong::Message(error.into()))?;
        let mut key = Key::from(pairs);
        key.extend_from(&self.overlay);
        Ok(key)
    }

    /// Takes in one field, whose bytes stand at `offset` of the file.
    fn take(&mut self, key: &Key, path: &Path, offset: u64, bytes: &[u8]) -> Result<(), Wrong> {
        let begin = Instant::now();
        let length = bytes.len() as u64;
        let taken = match &self.transaction {
            Some(transaction) => transaction.archive(key, bytes),
            None if self.intake.in_place => {
                self.store.adopt(key, path, offset, length, Some(crc32c(bytes))).map(|_| ())
            }
            None => self.store.archive(key, bytes),
        };
        taken.map_err(|error| match error {
            FieldsError::Key(error) => Wrong::Message(Failure::failed(error)),
            error => Wrong::Store(Failure::from(error).not_typed()),
        })?;
        self.storing += begin.elapsed();
        self.pending.fields += 1;
        self.pending.bytes += length;
        self.progress.field(length);
        if self.pending.fields >= self.intake.flush_every {
            self.flush().map_err(Wrong::Store)?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Outcome {
        let begin = Instant::now();
        let flushed = match &self.transaction {
            Some(transaction) => transaction.commit(),
            None => self.store.flush(),
        };
        flushed.map_err(|error| Failure::from(error).not_typed())?;
        self.storing += begin.elapsed();
        let pending = std::mem::take(&mut self.pending);
        self.flushed.fields += pending.fields;
        self.flushed.bytes += pending.bytes;
        Ok(())
    }

    fn print(&self) -> Outcome {
        let Tally { fields, bytes } = self.flushed;
        let elapsed = self.begin.elapsed();
        if self.intake.how.json {
            return print_json(&json!({
                "fields": fields,
                "bytes": bytes,
                "skipped": self.skipped,
                "seconds": elapsed.as_secs_f64(),
                "storing_seconds": self.storing.as_secs_f64(),
            }));
        }
        let done = if self.intake.in_place { "adopted" } else { "archived" };
        let skipped = match self.skipped {
            0 => String::new(),
            skipped => format!(", skipped {}", count(skipped, "bad message")),
        };
        let (fields, rate, time) = (count(fields, "field"), Rate(bytes, elapsed), seconds(elapsed));
        outln!("{done} {fields}, {} in {time} ({rate}){skipped}", Bytes(bytes))
    }
}
