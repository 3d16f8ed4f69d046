//! `isotach write`: archives the messages of files.
//!
//! What must stay true: what was archived before something bad is flushed and reported, and what is reported is durable.

use std::{
    fs::File,
    io::{Read, stdin},
    path::Path,
    time::{Duration, Instant},
};

use isotach_fields::{Error as FieldsError, FieldStore};
use isotach_grib::{Eccodes, Message, MessageScanner, ScanError};
use isotach_mars::Key;
use serde_json::json;

use super::{
    requests::{is_standard, name_of},
    whole::{self, Whole},
};
use crate::{
    context,
    failure::{Failure, Outcome, say},
    flags::{PlaceFlags, WriteFlags},
    output::{Bytes, Rate, count, print_json, seconds},
    progress::Progress,
};

/// Archives all files in turn and flushes.
pub(crate) fn run(place: &PlaceFlags, flags: &WriteFlags) -> Outcome {
    let overlay = flags.key.as_deref().unwrap_or_default().parse::<Key>();
    let overlay = overlay.map_err(|error| Failure::from(error).about("--key"))?;
    let store = context::open(place)?;
    let mut session = Session::new(store, overlay, flags);
    let archived = flags.files.iter().try_for_each(|path| session.file(path));
    let flushed = session.flush();
    session.progress.finish();
    session.print(flags.json)?;
    match (archived, flushed) {
        (Err(first), Err(second)) => {
            first.report();
            Err(second)
        }
        (archived, flushed) => archived.and(flushed),
    }
}

/// How many fields, and their bytes.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    fields: u64,
    bytes: u64,
}

#[derive(Debug)]
struct Session {
    store: FieldStore,
    overlay: Key,
    skip_bad: bool,
    flush_every: u64,
    /// Archived since the last flush.
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
    /// It is the store.
    Store(Failure),
}

impl Session {
    fn new(store: FieldStore, overlay: Key, flags: &WriteFlags) -> Self {
        let total = flags.files.iter().map(|path| path.metadata().map(|there| there.len()));
        Self {
            store,
            overlay,
            skip_bad: flags.skip_bad,
            flush_every: flags.flush_every.unwrap_or(u64::MAX),
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
        let archived = if !self.overlay.is_empty() && self.store.schema().split(&self.overlay).is_ok() {
            self.whole_key(path)
        } else if is_standard(path) {
            self.messages(stdin().lock(), &name)
        } else {
            self.messages(File::open(path).map_err(Failure::file("open", path))?, &name)
        };
        archived.map_err(|failure| failure.about(&name))
    }

    /// The key names a field whole: the file is that field, unless it holds several messages, which still need keys of
    /// their own.
    fn whole_key(&mut self, path: &Path) -> Outcome {
        let name = name_of(path);
        match whole::read(path, self.skip_bad)? {
            Whole::Field(bytes) => {
                let key = self.overlay.clone();
                self.archive(&key, &bytes).map_err(|wrong| match wrong {
                    Wrong::Message(failure) | Wrong::Store(failure) => failure,
                })
            }
            Whole::Messages(bytes) => self.messages(bytes.as_slice(), &name),
            Whole::MessagesOf(file) => self.messages(file, &name),
        }
    }

    /// Archives every message of a stream.
    fn messages(&mut self, input: impl Read, name: &str) -> Outcome {
        for message in MessageScanner::new(input).skip_bad(self.skip_bad) {
            match message {
                Ok(message) => self.message(&message, name)?,
                Err(error @ ScanError::BadMessage { .. }) => self.bad(Failure::failed(error), name)?,
                Err(error @ ScanError::NoMessage { .. }) => {
                    let cure = "expected GRIB, or with --key a key that names the field whole";
                    return Err(Failure::failed(format!("{error}; {cure}")));
                }
                Err(error) => return Err(Failure::failed(error)),
            }
        }
        Ok(())
    }

    fn message(&mut self, message: &Message, name: &str) -> Outcome {
        let archived = self.key_of(message).and_then(|key| self.archive(&key, &message.bytes));
        let place = || format!("message {} at byte {}", message.number, message.offset);
        match archived {
            Ok(()) => Ok(()),
            Err(Wrong::Store(failure)) => Err(failure.about(place())),
            Err(Wrong::Message(failure)) => self.bad(failure.about(place()), name),
        }
    }

    /// Ends the command, or goes on after saying why a message is left out.
    fn bad(&mut self, failure: Failure, name: &str) -> Outcome {
        let message = match failure.message() {
            Some(message) if self.skip_bad => message,
            _ => return Err(failure),
        };
        self.progress.finish();
        say(format!("{name}: {message}; skipped"));
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

    fn archive(&mut self, key: &Key, bytes: &[u8]) -> Result<(), Wrong> {
        let begin = Instant::now();
        self.store.archive(key, bytes).map_err(|error| match error {
            FieldsError::Key(error) => Wrong::Message(Failure::failed(error)),
            error => Wrong::Store(Failure::from(error).not_typed()),
        })?;
        self.storing += begin.elapsed();
        self.pending.fields += 1;
        self.pending.bytes += bytes.len() as u64;
        self.progress.field(bytes.len() as u64);
        if self.pending.fields >= self.flush_every {
            self.flush().map_err(Wrong::Store)?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Outcome {
        let begin = Instant::now();
        self.store.flush()?;
        self.storing += begin.elapsed();
        let pending = std::mem::take(&mut self.pending);
        self.flushed.fields += pending.fields;
        self.flushed.bytes += pending.bytes;
        Ok(())
    }

    fn print(&self, as_json: bool) -> Outcome {
        let Tally { fields, bytes } = self.flushed;
        let elapsed = self.begin.elapsed();
        if as_json {
            return print_json(&json!({
                "fields": fields,
                "bytes": bytes,
                "skipped": self.skipped,
                "seconds": elapsed.as_secs_f64(),
                "storing_seconds": self.storing.as_secs_f64(),
            }));
        }
        let skipped = match self.skipped {
            0 => String::new(),
            skipped => format!(", skipped {}", count(skipped, "bad message")),
        };
        let time = seconds(elapsed);
        println!(
            "archived {}, {} in {time} ({}){skipped}",
            count(fields, "field"),
            Bytes(bytes),
            Rate(bytes, elapsed)
        );
        Ok(())
    }
}
