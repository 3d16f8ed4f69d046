//! Archives the messages of files, or adopts them in place.
//!
//! What must stay true: fields before a bad message are flushed and reported, unless the command is atomic. What is
//! reported is durable.

pub(crate) mod audit;
pub(crate) mod change;
mod content;

use std::{
    borrow::Cow,
    fs::File,
    io::Read,
    mem,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use clap::Args;
use isotach_fields::{Error as FieldsError, FieldStore, Transaction, crc32c};
use isotach_grib::{Eccodes, Message, MessageScanner, ScanError};
use isotach_mars::{Key, Match, Request, RequestError, Schema};
use serde_json::json;

use self::{
    audit::{Audit, OwnKey},
    change::MessageRules,
    content::Content,
};
use crate::{
    failure::{Failure, Outcome, say},
    input::{self, Input, Spooled, name_of, open_failed},
    output::{Bytes, Rate, count, outln, print_json, seconds},
    progress::Progress,
};

/// How messages are archived or adopted.
#[derive(Debug, Args)]
pub(crate) struct IntakeFlags {
    /// Keys that override those of the messages, as class=rd,expver=x001
    ///
    /// With a complete key no message is needed: a FILE that is one GRIB message, or no GRIB, is then archived under it
    /// unchanged, without ecCodes. An empty value removes a key.
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// Refuse, before anything is visible, what would replace a field of the store or of this command
    ///
    /// All keys are checked first, so the input is read twice; a stream is copied to a temporary file. Fields that other
    /// programs archive at the same time are not noticed. With --skip-bad, fields that are in the store already stay, the
    /// others are archived, and of several messages with one key the last one counts.
    #[arg(long)]
    no_replace: bool,
    /// Continue after a message that is broken, cannot be decoded or does not fit the schema
    #[arg(long)]
    skip_bad: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The input of a command, and what to do with it.
#[derive(Debug)]
pub(crate) struct Intake<'f> {
    pub(crate) files: &'f [PathBuf],
    pub(crate) flags: &'f IntakeFlags,
    /// The number of fields after which to flush, besides at the end.
    pub(crate) flush_every: u64,
    /// Whether to adopt the fields, which leaves their bytes in place.
    pub(crate) in_place: bool,
    /// Whether all fields become visible at once, or none after a bad message.
    pub(crate) atomic: bool,
    pub(crate) change: MessageRules,
}

impl Intake<'_> {
    /// The key of `--key`.
    fn overrides(&self) -> Outcome<Key> {
        let key = self.flags.key.as_deref().unwrap_or_default().parse();
        key.map_err(|error| Failure::from(error).about("--key"))
    }

    /// Refuses keys, values and changes that the schema does not have, before any file is opened.
    pub(crate) fn check(&self, schema: &Schema) -> Outcome {
        check_values(&self.overrides()?, schema)?;
        self.change.check(schema)
    }

    /// Refuses files that cannot be opened. Pipes are not checked, because they open only once.
    pub(crate) fn check_files(&self) -> Outcome {
        self.files.iter().try_for_each(|path| {
            let opened = match Input::at(path) {
                Ok(Input::File) => File::open(path).map(drop).map_err(open_failed),
                at => at.map(drop),
            };
            opened.map_err(|failure| failure.about(name_of(path)))
        })
    }

    fn progress(&self) -> Progress {
        let total = self.files.iter().map(|path| path.metadata().map(|metadata| metadata.len()));
        Progress::new(total.sum::<Result<u64, _>>().ok())
    }
}

/// Archives or adopts all files in turn, flushes and reports.
pub(crate) fn run(open: impl FnOnce() -> Outcome<FieldStore>, intake: &Intake<'_>) -> Outcome {
    let overrides = intake.overrides()?;
    let store = open()?;
    intake.check(store.schema())?;
    let mut session = Session::new(store, overrides, intake);
    if intake.flags.no_replace && !intake.flags.skip_bad {
        session.check_replacements()?;
    }
    let stored = intake.files.iter().try_for_each(|path| session.file(path));
    let flushed = match intake.atomic && stored.is_err() {
        true => Ok(()),
        false => session.flush(),
    };
    session.progress.finish();
    // Fields that are not visible have replaced nothing.
    if flushed.is_ok() && session.pending.fields == 0 {
        session.audit.warnings().iter().for_each(say);
    }
    let printed = session.print();
    match (stored, flushed) {
        (Err(first), Err(second)) => {
            first.report();
            Err(second)
        }
        (stored, flushed) => stored.and(flushed).and(printed),
    }
}

/// Refuses what no message could correct: a name that the schema does not know, or a value of the wrong type.
fn check_values(overrides: &Key, schema: &Schema) -> Outcome {
    let about = |error: RequestError| Failure::from(error).about("--key");
    let request = Request::from(overrides);
    let without_effect = schema.without_effect(&request, Match::Partial).map_err(about)?;
    let refuse = |name: &&str| Err(about(RequestError::NoEffect { name: (*name).to_owned() }));
    without_effect.first().filter(|name| !schema.knows(name)).map_or(Ok(()), refuse)
}

/// A number of fields, and their bytes.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    fields: u64,
    bytes: u64,
}

struct Session<'f> {
    store: FieldStore,
    /// The transaction of an atomic command.
    transaction: Option<Transaction>,
    intake: &'f Intake<'f>,
    /// The key of `--key`.
    overrides: Key,
    /// Fields since the last flush.
    pending: Tally,
    /// Durable and visible fields.
    flushed: Tally,
    /// Bad messages that were skipped.
    skipped: u64,
    /// Messages that a filter excluded.
    filtered: u64,
    /// Fields that were skipped because they are in the store already.
    kept: u64,
    audit: Audit,
    /// Whether keys are only checked, and nothing is stored yet.
    is_checking: bool,
    /// Copies of streams that are read twice.
    spooled: Spooled,
    begin: Instant,
    /// The time spent in the store: archiving and flushing.
    storing: Duration,
    progress: Progress,
}

/// The error of one message.
enum MessageError {
    /// The message is bad. Others may be good.
    Message(Failure),
    /// The store failed, or something else that every other message would meet, too.
    Store(Failure),
}

impl MessageError {
    /// An error of the store while it handles this key.
    fn from_store(error: FieldsError) -> Self {
        match error {
            FieldsError::Key(error) => Self::Message(Failure::failed(error)),
            error => Self::Store(Failure::from(error).into_failed()),
        }
    }
}

impl<'f> Session<'f> {
    fn new(store: FieldStore, overrides: Key, intake: &'f Intake<'f>) -> Self {
        Self {
            transaction: intake.atomic.then(|| store.transaction()),
            store,
            intake,
            overrides,
            pending: Tally::default(),
            flushed: Tally::default(),
            skipped: 0,
            filtered: 0,
            kept: 0,
            audit: Audit::default(),
            is_checking: false,
            spooled: Spooled::default(),
            begin: Instant::now(),
            storing: Duration::ZERO,
            progress: intake.progress(),
        }
    }

    /// Checks all keys, and refuses the input if it would replace a field.
    fn check_replacements(&mut self) -> Outcome {
        for path in self.intake.files {
            self.spooled.add(path).map_err(|failure| failure.about(name_of(path)))?;
        }
        self.is_checking = true;
        self.intake.files.iter().try_for_each(|path| self.file(path))?;
        self.is_checking = false;
        self.filtered = 0;
        self.progress = self.intake.progress();
        mem::take(&mut self.audit).refusal().map_or(Ok(()), |refusal| Err(Failure::failed(refusal)))
    }

    fn file(&mut self, path: &Path) -> Outcome {
        self.open(path).map_err(|failure| failure.about(name_of(path)))
    }

    fn open(&mut self, path: &Path) -> Outcome {
        if self.intake.in_place {
            Input::check_adoptable(path)?;
        }
        let copy = self.spooled.path_of(path).map(Path::to_owned);
        let (name, path) = (path, copy.as_deref().unwrap_or(path));
        let input = Input::at(path)?;
        if !self.overrides.is_empty() && self.store.schema().split(&self.overrides).is_ok() {
            self.complete_key(path, input, name)
        } else {
            self.messages(input::open(path).map_err(open_failed)?, name)
        }
    }

    /// Archives a file under a complete key. The file is one field, unless it has several messages: these need keys of
    /// their own.
    fn complete_key(&mut self, path: &Path, input: Input, name: &Path) -> Outcome {
        match Content::read(path, input, self.intake.flags.skip_bad)? {
            Content::Field { offset, bytes } => {
                let key = self.overrides.clone();
                let stored = match self.changed(&key, &bytes) {
                    Ok(None) => Ok(()),
                    Ok(Some(bytes)) => self.store(&key, name, offset, &bytes, None),
                    Err(error) => Err(error),
                };
                stored.map_err(|error| match error {
                    MessageError::Message(failure) | MessageError::Store(failure) => failure,
                })
            }
            Content::Messages(bytes) => self.messages(bytes.as_slice(), name),
            Content::MessageFile(file) => self.messages(file, name),
        }
    }

    /// Archives every message of a stream.
    fn messages(&mut self, input: impl Read, path: &Path) -> Outcome {
        for message in MessageScanner::new(input).skip_bad(self.intake.flags.skip_bad) {
            match message {
                Ok(message) => self.message(&message, path)?,
                Err(error @ ScanError::BadMessage { .. }) => self.bad(Failure::failed(error), path)?,
                Err(error @ ScanError::NoMessage { .. }) => {
                    let expected = self.expected_key();
                    return Err(Failure::failed(format!("{error}; expected GRIB, or {expected}")));
                }
                Err(error) => return Err(Failure::failed(error)),
            }
        }
        Ok(())
    }

    /// The key that a file without messages needs, and why the present one is not enough.
    fn expected_key(&self) -> String {
        let expected = "a complete key with --key";
        match self.store.schema().split(&self.overrides) {
            Err(error) if !self.overrides.is_empty() => {
                format!("{expected}; the present key is not complete: {error}")
            }
            _ => expected.to_owned(),
        }
    }

    fn message(&mut self, message: &Message, path: &Path) -> Outcome {
        let place = || format!("message {} at byte {}", message.number, message.offset);
        match self.store_message(message, path) {
            Ok(()) => Ok(()),
            Err(MessageError::Store(failure)) => Err(failure.about(place())),
            Err(MessageError::Message(failure)) => self.bad(failure.about(place()), path),
        }
    }

    fn store_message(&mut self, message: &Message, path: &Path) -> Result<(), MessageError> {
        let (key, own) = self.key_of(&message.bytes)?;
        let (key, bytes) = match self.changed(&key, &message.bytes)? {
            None => return Ok(()),
            Some(Cow::Borrowed(bytes)) => (key, Cow::Borrowed(bytes)),
            Some(Cow::Owned(bytes)) => (self.key_of(&bytes)?.0, Cow::Owned(bytes)),
        };
        self.store(&key, path, message.offset, &bytes, Some(own))
    }

    /// The bytes of a field after its changes, or none if a filter excludes it.
    fn changed<'m>(&mut self, key: &Key, bytes: &'m [u8]) -> Result<Option<Cow<'m, [u8]>>, MessageError> {
        let change = &self.intake.change;
        if !change.accepts(key, self.store.schema()).map_err(MessageError::Store)? {
            self.filtered += 1;
            return Ok(None);
        }
        change.edit(bytes).map(Some).map_err(MessageError::Message)
    }

    /// Reports a bad message. Fails unless bad messages are skipped.
    fn bad(&mut self, failure: Failure, path: &Path) -> Outcome {
        let message = match failure.message() {
            Some(message) if self.intake.flags.skip_bad => message,
            _ => return Err(failure),
        };
        if self.is_checking {
            return Ok(());
        }
        self.progress.finish();
        say(format!("{}: {message}; skipped", name_of(path)));
        self.skipped += 1;
        Ok(())
    }

    /// The key of a message with the overrides of `--key`, and the message's own key.
    fn key_of(&self, message: &[u8]) -> Result<(Key, OwnKey), MessageError> {
        // Without ecCodes every other message would fail, too.
        let eccodes = Eccodes::load().map_err(|error| MessageError::Store(error.into()))?;
        let pairs = eccodes.message_key(message).map_err(|error| MessageError::Message(error.into()))?;
        let mut key = Key::from(pairs);
        let own = OwnKey::of(&key);
        key.extend_from(&self.overrides);
        Ok((key, own))
    }

    /// Archives or adopts one field, whose bytes begin at `offset` of the file. `own` is the message's own key, if the field
    /// is a message.
    fn store(
        &mut self,
        key: &Key,
        path: &Path,
        offset: u64,
        bytes: &[u8],
        own: Option<OwnKey>,
    ) -> Result<(), MessageError> {
        let length = bytes.len() as u64;
        if self.is_checking {
            let stored = self.store.locate(key);
            let failed = |error| MessageError::Store(Failure::from(error).into_failed());
            if stored.map_err(failed)?.is_some() {
                self.audit.add_stored(self.store.schema(), key);
            }
            self.audit.add(self.store.schema(), key, bytes, own);
            self.progress.add_field(length);
            return Ok(());
        }
        // With both flags, fields that were in the store before this command stay.
        let flags = self.intake.flags;
        let may_stay = flags.no_replace && flags.skip_bad && !self.audit.contains(self.store.schema(), key);
        if may_stay && self.store.locate(key).map_err(MessageError::from_store)?.is_some() {
            self.kept += 1;
            return Ok(());
        }
        let begin = Instant::now();
        let stored = match &self.transaction {
            Some(transaction) => transaction.archive(key, bytes),
            None if self.intake.in_place => {
                self.store.adopt(key, path, offset, length, Some(crc32c(bytes))).map(|_| ())
            }
            None => self.store.archive(key, bytes),
        };
        stored.map_err(MessageError::from_store)?;
        self.storing += begin.elapsed();
        self.audit.add(self.store.schema(), key, bytes, own);
        self.pending.fields += 1;
        self.pending.bytes += length;
        self.progress.add_field(length);
        if self.pending.fields >= self.intake.flush_every {
            self.flush().map_err(MessageError::Store)?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Outcome {
        let begin = Instant::now();
        let flushed = match &self.transaction {
            Some(transaction) => transaction.commit(),
            None => self.store.flush(),
        };
        flushed.map_err(|error| Failure::from(error).into_failed())?;
        self.storing += begin.elapsed();
        let pending = mem::take(&mut self.pending);
        self.flushed.fields += pending.fields;
        self.flushed.bytes += pending.bytes;
        Ok(())
    }

    fn print(&self) -> Outcome {
        let Tally { fields, bytes } = self.flushed;
        let elapsed = self.begin.elapsed();
        if self.intake.flags.json {
            return print_json(&json!({
                "fields": fields,
                "bytes": bytes,
                "skipped": self.skipped,
                "filtered": self.filtered,
                "there": self.kept,
                "replaced": self.audit.repeated,
                "unlabelled": self.audit.unlabelled,
                "seconds": elapsed.as_secs_f64(),
                "storing_seconds": self.storing.as_secs_f64(),
            }));
        }
        let mut line = format!(
            "{} {}, {} in {} ({})",
            if self.intake.in_place { "adopted" } else { "archived" },
            count(fields, "field"),
            Bytes(bytes),
            seconds(elapsed),
            Rate(bytes, elapsed)
        );
        for (number, verb, noun, place) in [
            (self.skipped, "skipped", "bad message", ""),
            (self.filtered, "left out", "message", ""),
            (self.kept, "kept", "field", " of the store"),
        ] {
            if number > 0 {
                line += &format!(", {verb} {}{place}", count(number, noun));
            }
        }
        outln!("{line}")
    }
}
