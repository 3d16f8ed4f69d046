//! Taking in the messages of files: archiving them, or adopting them where they are.
//!
//! What must stay true: what was taken in before something bad is flushed and reported, unless all is to be taken in at
//! once; and what is reported is durable.

pub(crate) mod audit;
pub(crate) mod change;
mod content;

use std::{
    borrow::Cow,
    fs::File,
    io::{Read, stdin},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use clap::Args;
use isotach_fields::{Error as FieldsError, FieldStore, Transaction, crc32c};
use isotach_grib::{Eccodes, Message, MessageScanner, ScanError};
use isotach_mars::{Key, Match, Request, RequestError, Schema};
use serde_json::json;

use self::{
    audit::{Noticed, OwnKey},
    change::Change,
    content::Whole,
};
use crate::{
    failure::{Failure, Outcome, say},
    input::{Input, Spooled, open_failed},
    input::{is_standard, name_of},
    output::{Bytes, Rate, count, outln, print_json, seconds},
    progress::Progress,
};

/// How messages are taken in.
#[derive(Debug, Args)]
pub(crate) struct IntakeFlags {
    /// Keys laid over those that the messages carry, as class=rd,expver=x001
    ///
    /// A key that names a field whole needs no message at all: a FILE that is one GRIB message, or no GRIB, is then
    /// taken under it as it is, without ecCodes. An empty value takes a key away.
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
    /// Refuse, before anything is visible, what would replace a field of the store or of this command
    ///
    /// All keys are looked at first, so the input is read twice; a stream is kept in a temporary file. Fields that other
    /// programs archive meanwhile are not known. With --skip-bad, fields that were in the store before stay, the others are taken
    /// in, and of several messages with one key the last counts.
    #[arg(long)]
    pub(crate) no_replace: bool,
    /// Go on after a message that is broken, cannot be decoded or does not fit the schema
    #[arg(long)]
    pub(crate) skip_bad: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

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
    /// What is changed in messages, and which are left out.
    pub(crate) change: Change,
}

impl Intake<'_> {
    /// The keys that are given for messages.
    fn overlay(&self) -> Outcome<Key> {
        let overlay = self.how.key.as_deref().unwrap_or_default().parse();
        overlay.map_err(|error| Failure::from(error).about("--key"))
    }

    /// Refuses keys, values and changes that the schema does not have, before any file is opened.
    pub(crate) fn check(&self, schema: &Schema) -> Outcome {
        check_values(&self.overlay()?, schema)?;
        self.change.check(schema)
    }

    /// Refuses files that are not there or cannot be opened. Pipes are not looked at: they open once.
    pub(crate) fn check_files(&self) -> Outcome {
        self.files.iter().try_for_each(|path| {
            let opened = match Input::at(path) {
                Ok(Input::File) => File::open(path).map(drop).map_err(open_failed),
                at => at.map(drop),
            };
            opened.map_err(|failure| failure.about(name_of(path)))
        })
    }
}

/// Takes in all files in turn, flushes and reports.
pub(crate) fn run(open: impl FnOnce() -> Outcome<FieldStore>, intake: &Intake<'_>) -> Outcome {
    let overlay = intake.overlay()?;
    let store = open()?;
    intake.check(store.schema())?;
    let mut session = Session::new(store, overlay, intake);
    if intake.how.no_replace && !intake.how.skip_bad {
        session.check_unreplaced()?;
    }
    let taken = intake.files.iter().try_for_each(|path| session.file(path));
    let flushed = match intake.atomic && taken.is_err() {
        true => Ok(()),
        false => session.flush(),
    };
    session.progress.finish();
    // Of what is not visible nothing was replaced.
    if flushed.is_ok() && session.pending.fields == 0 {
        session.noticed.lines().iter().for_each(say);
    }
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
    let request = Request::from(overlay);
    let about = |error: RequestError| Failure::from(error).about("--key");
    let idle = schema.without_effect(&request, Match::Partial).map_err(about)?;
    let refuse = |name: &&str| Err(about(RequestError::NoEffect { name: (*name).to_owned() }));
    idle.first().filter(|name| !schema.knows(name)).map_or(Ok(()), refuse)
}

/// How many fields, and their bytes.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    fields: u64,
    bytes: u64,
}

fn progress_of(intake: &Intake<'_>) -> Progress {
    let total = intake.files.iter().map(|path| path.metadata().map(|there| there.len()));
    Progress::new(total.sum::<Result<u64, _>>().ok())
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
    /// Messages that a filter left out.
    filtered: u64,
    noticed: Noticed,
    /// Fields that were left out because they are in the store already.
    there: u64,
    /// Whether keys are only looked at, and nothing is taken in yet.
    is_looking: bool,
    /// Streams that are read twice.
    spooled: Spooled,
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
        Self {
            transaction: intake.atomic.then(|| store.transaction()),
            store,
            intake,
            overlay,
            pending: Tally::default(),
            flushed: Tally::default(),
            skipped: 0,
            filtered: 0,
            noticed: Noticed::default(),
            there: 0,
            is_looking: false,
            spooled: Spooled::default(),
            begin: Instant::now(),
            storing: Duration::ZERO,
            progress: progress_of(intake),
        }
    }

    /// Looks at the keys of all that is to be taken in, and refuses what would replace a field.
    fn check_unreplaced(&mut self) -> Outcome {
        for path in self.intake.files {
            self.spooled.keep(path).map_err(|failure| failure.about(name_of(path)))?;
        }
        self.is_looking = true;
        self.intake.files.iter().try_for_each(|path| self.file(path))?;
        self.is_looking = false;
        self.filtered = 0;
        self.progress = progress_of(self.intake);
        match std::mem::take(&mut self.noticed).refusal() {
            Some(refusal) => Err(Failure::failed(refusal)),
            None => Ok(()),
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
        let kept = self.spooled.path_of(path).map(Path::to_owned);
        let (name, path) = (path, kept.as_deref().unwrap_or(path));
        let input = Input::at(path)?;
        if !self.overlay.is_empty() && self.store.schema().split(&self.overlay).is_ok() {
            self.whole_key(path, input, name)
        } else if is_standard(path) {
            self.messages(stdin().lock(), name)
        } else {
            self.messages(File::open(path).map_err(open_failed)?, name)
        }
    }

    /// The key names a field whole: the file is that field, unless it holds several messages, which still need keys of
    /// their own.
    fn whole_key(&mut self, path: &Path, input: Input, name: &Path) -> Outcome {
        match Whole::read(path, input, self.intake.how.skip_bad)? {
            Whole::Field { offset, bytes } => {
                let key = self.overlay.clone();
                let taken = match self.changed(&key, &bytes) {
                    Ok(None) => Ok(()),
                    Ok(Some(bytes)) => self.take(&key, name, offset, &bytes, None),
                    Err(wrong) => Err(wrong),
                };
                taken.map_err(|wrong| match wrong {
                    Wrong::Message(failure) | Wrong::Store(failure) => failure,
                })
            }
            Whole::Messages(bytes) => self.messages(bytes.as_slice(), name),
            Whole::MessagesOf(file) => self.messages(file, name),
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
        let taken = self.take_message(message, path);
        let place = || format!("message {} at byte {}", message.number, message.offset);
        match taken {
            Ok(()) => Ok(()),
            Err(Wrong::Store(failure)) => Err(failure.about(place())),
            Err(Wrong::Message(failure)) => self.bad(failure.about(place()), path),
        }
    }

    fn take_message(&mut self, message: &Message, path: &Path) -> Result<(), Wrong> {
        let (key, own) = self.key_of(&message.bytes)?;
        let (key, bytes) = match self.changed(&key, &message.bytes)? {
            None => return Ok(()),
            Some(Cow::Borrowed(bytes)) => (key, Cow::Borrowed(bytes)),
            Some(Cow::Owned(bytes)) => (self.key_of(&bytes)?.0, Cow::Owned(bytes)),
        };
        self.take(&key, path, message.offset, &bytes, Some(own))
    }

    /// A field's bytes as they are to be archived; nothing if a filter leaves it out.
    fn changed<'m>(&mut self, key: &Key, bytes: &'m [u8]) -> Result<Option<Cow<'m, [u8]>>, Wrong> {
        let change = &self.intake.change;
        if !change.takes(key, self.store.schema()).map_err(Wrong::Store)? {
            self.filtered += 1;
            return Ok(None);
        }
        change.edit(bytes).map(Some).map_err(Wrong::Message)
    }

    /// Ends the command, or goes on after saying why a message is left out.
    fn bad(&mut self, failure: Failure, path: &Path) -> Outcome {
        let message = match failure.message() {
            Some(message) if self.intake.how.skip_bad => message,
            _ => return Err(failure),
        };
        if self.is_looking {
            return Ok(());
        }
        self.progress.finish();
        say(format!("{}: {message}; skipped", name_of(path)));
        self.skipped += 1;
        Ok(())
    }

    /// The key that a message carries, with what was given laid over it.
    fn key_of(&self, message: &[u8]) -> Result<(Key, OwnKey), Wrong> {
        // Without ecCodes no message has a key, so going on is no use.
        let eccodes = Eccodes::load().map_err(|error| Wrong::Store(error.into()))?;
        let pairs = eccodes.message_key(message).map_err(|error| Wrong::Message(error.into()))?;
        let mut key = Key::from(pairs);
        let own = OwnKey::of(&key);
        key.extend_from(&self.overlay);
        Ok((key, own))
    }

    /// Looks at one field that is to be taken in.
    fn look(&mut self, key: &Key, bytes: &[u8], own: Option<OwnKey>) -> Result<(), Wrong> {
        let there = self.store.locate(key).map_err(|error| Wrong::Store(Failure::from(error).not_typed()))?;
        if there.is_some() {
            self.noticed.is_there(self.store.schema(), key);
        }
        self.noticed.field(self.store.schema(), key, bytes, own);
        self.progress.field(bytes.len() as u64);
        Ok(())
    }

    /// Whether a field is to be left out, because one was there before this command.
    fn stays(&self, key: &Key) -> Result<bool, Wrong> {
        let how = self.intake.how;
        let is_asked = how.no_replace && how.skip_bad && !self.noticed.has(self.store.schema(), key);
        let locate = || match self.store.locate(key) {
            Ok(there) => Ok(there.is_some()),
            // It is no key of this schema: the same is told when it is archived.
            Err(FieldsError::Key(error)) => Err(Wrong::Message(Failure::failed(error))),
            Err(error) => Err(Wrong::Store(Failure::from(error).not_typed())),
        };
        if is_asked { locate() } else { Ok(false) }
    }

    /// Takes in one field, whose bytes stand at `offset` of the file. `own` is of the message's own key, if it is a message.
    fn take(
        &mut self,
        key: &Key,
        path: &Path,
        offset: u64,
        bytes: &[u8],
        own: Option<OwnKey>,
    ) -> Result<(), Wrong> {
        if self.is_looking {
            return self.look(key, bytes, own);
        }
        if self.stays(key)? {
            self.there += 1;
            return Ok(());
        }
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
        self.noticed.field(self.store.schema(), key, bytes, own);
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
                "filtered": self.filtered,
                "there": self.there,
                "replaced": self.noticed.again,
                "unlabelled": self.noticed.unlabelled,
                "seconds": elapsed.as_secs_f64(),
                "storing_seconds": self.storing.as_secs_f64(),
            }));
        }
        let done = if self.intake.in_place { "adopted" } else { "archived" };
        let told = |done: &str, number, what| match number {
            0 => String::new(),
            number => format!(", {done} {}", count(number, what)),
        };
        let skipped = told("skipped", self.skipped, "bad message");
        let filtered = told("left out", self.filtered, "message");
        let there = match self.there {
            0 => String::new(),
            there => format!(
                ", left {} as {} in the store",
                count(there, "field"),
                if there == 1 { "it is" } else { "they are" }
            ),
        };
        let (fields, rate, time) = (count(fields, "field"), Rate(bytes, elapsed), seconds(elapsed));
        outln!("{done} {fields}, {} in {time} ({rate}){skipped}{filtered}{there}", Bytes(bytes))
    }
}
