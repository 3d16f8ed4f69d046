//! Notes of how far the log was flushed (FORMAT.md section 8.7).
//!
//! A log that was cut short looks the same as one that was never longer. So a writer notes the end of its last frame in the file `flushed` after
//! each flush that the device has acknowledged. A log that ends before the furthest note has lost durable bytes.
//!
//! What must stay true: a note is written after its sync, so no crash leaves a note of bytes that the log does not have. A handle that does
//! not wait for the device leaves notes that count until the next start of the machine. A lost note costs only the protection of one flush,
//! so a failure to write one never fails a flush. A handle that can never leave a note is refused before its first frame: none of its
//! flushes would be protected.

use std::{io, sync::Arc};

use isotach_engine_kit::{bytes::Put, random};
use isotach_object::{Error, Result};

use crate::{
    format,
    io::{
        directory::Directory,
        disk::{File, if_there},
        log::{self, Log},
        storage::Storage,
    },
};

/// The file with the notes of a container.
pub(crate) const FILE: &str = "flushed";
const MAGIC: &[u8; 8] = b"ISOTFLU1";
/// Bytes of a slot. Slot 0 is the header. No slot lies in two sectors.
const SLOT: usize = 32;
const SLOTS: usize = 128;
const SIZE: usize = SLOT * SLOTS;
/// The first slot for handles that do not wait for the device.
const UNSYNCED: usize = SLOTS / 2;
/// How often a slot that fails its checksum is read again: its writer may be writing it.
const READ_TRIES: usize = 5;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Note {
    /// The end of the last frame that was flushed.
    epoch: u64,
    /// The start of the machine for which the note is valid; 0 if the device has acknowledged the flush.
    boot: u64,
    /// The handle that flushed.
    writer: u64,
}

/// A file without notes.
pub(crate) fn empty(uuid: [u8; 16]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&uuid);
    bytes = format::checked(bytes, SLOT);
    bytes.resize(SIZE, 0);
    bytes
}

impl Note {
    fn encode(&self) -> Vec<u8> {
        let mut slot = Vec::with_capacity(SLOT);
        for number in [self.epoch, self.boot, self.writer] {
            slot.put_u64(number);
        }
        format::checked(slot, SLOT)
    }

    /// The note in a slot; `None` if the slot was never used, and an error if it fails its checksum.
    fn decode(slot: &[u8]) -> std::result::Result<Option<Self>, ()> {
        if slot.iter().all(|byte| *byte == 0) {
            return Ok(None);
        }
        let mut reader = format::check(slot).ok_or(())?;
        let mut number = || reader.u64().ok_or(());
        let note = Self { epoch: number()?, boot: number()?, writer: number()? };
        (reader.u32() == Some(0)).then_some(Some(note)).ok_or(())
    }
}

/// The contents of a file of notes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct FlushNotes {
    /// The furthest epoch that was flushed; 0 if there is no note.
    pub(crate) epoch: u64,
    /// The first damage of the file, and its byte if it has one.
    pub(crate) damage: Option<(&'static str, Option<u64>)>,
}

/// Reads the notes. A container is created with the file, so a missing file was lost.
pub(crate) fn read_in(directory: &Directory, uuid: [u8; 16]) -> Result<FlushNotes> {
    let mut tries = READ_TRIES;
    loop {
        let bytes = if_there(directory.read_all(FILE, SIZE + 1));
        let Some(bytes) = bytes.map_err(|error| directory.failed("read", FILE, error))? else {
            return Ok(FlushNotes { epoch: 0, damage: Some(("the notes of flushes are missing", None)) });
        };
        let notes = parse(&bytes, uuid, directory.boot().unwrap_or_default());
        tries -= 1;
        if notes.damage.is_none() || tries == 0 {
            return Ok(notes);
        }
    }
}

fn parse(bytes: &[u8], uuid: [u8; 16], boot: Option<u64>) -> FlushNotes {
    let mut notes = FlushNotes::default();
    if bytes.get(..SLOT) != empty(uuid).get(..SLOT) {
        // The notes of another container do not count.
        notes.damage = Some(("the header of the notes of flushes", Some(0)));
        return notes;
    }
    if bytes.len() != SIZE {
        let what = "the notes of flushes have another length than 4096 bytes";
        notes.damage = Some((what, Some(bytes.len() as u64)));
    }
    for (number, slot) in bytes.chunks_exact(SLOT).enumerate().skip(1).take(SLOTS - 1) {
        match Note::decode(slot) {
            Ok(Some(note)) if note.boot == 0 || Some(note.boot) == boot => {
                notes.epoch = notes.epoch.max(note.epoch);
            }
            Ok(_) => {}
            Err(()) => {
                let damage = ("a note of a flush fails its checksum", Some((number * SLOT) as u64));
                notes.damage.get_or_insert(damage);
            }
        }
    }
    notes
}

/// How many flushed bytes the log has lost.
pub(crate) fn lost(storage: &Storage) -> Result<u64> {
    let notes = read_in(&storage.directory, storage.uuid)?;
    // The log is measured after the notes are read: it only grows.
    Ok(notes.epoch.saturating_sub(storage.log.epoch_at(storage.log.whole_length()?)))
}

/// Refuses a container whose log has lost its end.
pub(crate) fn check(storage: &Storage) -> Result<()> {
    match lost(storage)? {
        0 => Ok(()),
        bytes => Err(cut_short(&storage.log, bytes)),
    }
}

/// The error for a log that ends this many bytes too early.
pub(crate) fn cut_short(log: &Log, bytes: u64) -> Error {
    Error::corrupt(what_is_lost(bytes), log.path().display().to_string())
}

/// The message for a log that ends this many bytes too early.
pub(crate) fn what_is_lost(bytes: u64) -> String {
    format!(
        "the log has lost its last {bytes} bytes, which were flushed, or was copied while others wrote (`isotach repair` \
         restores what other files prove)"
    )
}

/// Writes the notes of one handle.
#[derive(Debug)]
pub(crate) struct NoteWriter {
    writer: u64,
    /// Whether the handle waits for the device.
    sync: bool,
    file: Option<Opened>,
}

/// The open file, and its identity: another file may have its name since.
#[derive(Debug)]
struct Opened {
    file: Arc<dyn File>,
    identity: (u64, u64),
}

impl NoteWriter {
    pub(crate) fn new(writer: u64, sync: bool) -> Self {
        Self { writer, sync, file: None }
    }

    /// The furthest note in the open file; 0 before the first flush.
    pub(crate) fn furthest(&self, directory: &Directory, uuid: [u8; 16]) -> u64 {
        let Some(opened) = &self.file else { return 0 };
        let mut bytes = [0; SIZE];
        // Unreadable notes do not count.
        match (&*opened.file as &dyn File).read_exact_at(&mut bytes, 0) {
            Ok(()) => parse(&bytes, uuid, directory.boot().unwrap_or_default()).epoch,
            Err(_) => 0,
        }
    }

    /// Refuses a handle that may not write notes.
    pub(crate) fn check_writable(&mut self, directory: &Directory, uuid: [u8; 16]) -> Result<()> {
        match self.current(directory, uuid) {
            Err(error) if log::is_refusal(&error) => {
                let file = directory.path_of(FILE);
                let what = format!(
                    "write {}, where every writer notes how far the log was flushed: give it the permissions of the \
                     log beside it",
                    file.display()
                );
                Err(Error::PermissionDenied { what, source: Some(error) })
            }
            // Another failure may pass.
            _ => Ok(()),
        }
    }

    /// Notes that everything up to `epoch` was flushed. A failure leaves no note.
    pub(crate) fn note(&mut self, directory: &Directory, uuid: [u8; 16], epoch: u64) {
        // The next flush opens the file again.
        if self.try_note(directory, uuid, epoch).is_err() {
            self.file = None;
        }
    }

    /// As [`note`](Self::note), but durable, and with an error on failure.
    pub(crate) fn note_durably(&mut self, directory: &Directory, uuid: [u8; 16], epoch: u64) -> Result<()> {
        let left = self.try_note(directory, uuid, epoch);
        let left = left.and_then(|()| self.file.as_ref().map_or(Ok(()), |opened| opened.file.sync()));
        left.map_err(|error| directory.failed("write", FILE, error))
    }

    /// Replaces the file, which must be damaged, by one with this durable note only.
    pub(crate) fn replace(&self, directory: &Directory, uuid: [u8; 16], epoch: u64) -> Result<()> {
        let mut bytes = empty(uuid);
        let note = Note { epoch, boot: 0, writer: self.writer }.encode();
        bytes[self.slot() * SLOT..][..SLOT].copy_from_slice(&note);
        replace(directory, &bytes).map_err(|error| directory.failed("write", FILE, error))
    }

    fn try_note(&mut self, directory: &Directory, uuid: [u8; 16], epoch: u64) -> io::Result<()> {
        let boot = match self.sync {
            true => 0,
            // Where starts of the machine cannot be distinguished, only acknowledged flushes are noted.
            false => match directory.boot()? {
                Some(boot) => boot,
                None => return Ok(()),
            },
        };
        let file = self.current(directory, uuid)?;
        let position = (self.slot() * SLOT) as u64;
        let mut slot = [0; SLOT];
        (&*file as &dyn File).read_exact_at(&mut slot, position)?;
        let is_newer = |there: Note| there.epoch >= epoch && there.boot == boot;
        if Note::decode(&slot).is_ok_and(|there| there.is_some_and(is_newer)) {
            // Another handle has the same slot.
            return Ok(());
        }
        file.write_all_at(&Note { epoch, boot, writer: self.writer }.encode(), position)
    }

    /// The file that has the name now: another process may have replaced a damaged one.
    fn current(&mut self, directory: &Directory, uuid: [u8; 16]) -> io::Result<Arc<dyn File>> {
        if let Some(opened) = &self.file
            && directory.stat(FILE).is_ok_and(|stat| stat.identity == opened.identity)
        {
            return Ok(Arc::clone(&opened.file));
        }
        let file = open(directory, uuid)?;
        let identity = file.stat()?.identity;
        Ok(Arc::clone(&self.file.insert(Opened { file, identity }).file))
    }

    /// The slot of a handle. Few handles write at the same time, so few share a slot.
    fn slot(&self) -> usize {
        match self.sync {
            true => 1 + (self.writer % (UNSYNCED as u64 - 1)) as usize,
            false => UNSYNCED + (self.writer % (SLOTS - UNSYNCED) as u64) as usize,
        }
    }
}

/// Replaces the file by one with its sound notes.
pub(crate) fn mend(directory: &Directory, uuid: [u8; 16]) -> Result<()> {
    replace(directory, &with_sound_notes(directory, uuid))
        .map_err(|error| directory.failed("write", FILE, error))
}

/// Opens the file for writing. A file with another length or header, or one that may not be written, is replaced by one with its sound
/// notes.
fn open(directory: &Directory, uuid: [u8; 16]) -> io::Result<Arc<dyn File>> {
    match directory.change(FILE) {
        Ok(file) if is_whole(&*file, uuid)? => return Ok(file),
        Ok(_) => replace(directory, &with_sound_notes(directory, uuid))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => make(directory, &empty(uuid))?,
        Err(error) if log::is_refusal(&error) => {
            replace(directory, &with_sound_notes(directory, uuid)).map_err(|_| error)?;
        }
        Err(error) => return Err(error),
    }
    directory.change(FILE)
}

fn is_whole(file: &dyn File, uuid: [u8; 16]) -> io::Result<bool> {
    let mut header = [0; SLOT];
    let filled = file.read_full_at(&mut header, 0)?;
    Ok(filled == SLOT && empty(uuid).starts_with(&header) && file.stat()?.length == SIZE as u64)
}

/// A file with the sound notes of the present one, if that belongs to this container.
fn with_sound_notes(directory: &Directory, uuid: [u8; 16]) -> Vec<u8> {
    let mut bytes = empty(uuid);
    let there = directory.read_all(FILE, SIZE).unwrap_or_default();
    if there.get(..SLOT) == bytes.get(..SLOT) {
        for (new, old) in bytes.chunks_exact_mut(SLOT).zip(there.chunks_exact(SLOT)).skip(1) {
            if Note::decode(old).is_ok() {
                new.copy_from_slice(old);
            }
        }
    }
    bytes
}

/// Creates the file, atomically, unless it exists.
fn make(directory: &Directory, bytes: &[u8]) -> io::Result<()> {
    create_temporary(directory, bytes, |temporary| match directory.link(temporary, FILE) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        outcome => outcome,
    })
}

/// Replaces the file, atomically and durably.
fn replace(directory: &Directory, bytes: &[u8]) -> io::Result<()> {
    create_temporary(directory, bytes, |temporary| directory.rename(temporary, FILE))?;
    directory.sync()
}

/// Writes such a file under a temporary name, and calls `put` to give it its name.
fn create_temporary(
    directory: &Directory,
    bytes: &[u8],
    put: impl FnOnce(&str) -> io::Result<()>,
) -> io::Result<()> {
    let number = random::number().map_err(io::Error::other)?;
    let temporary = format!("{FILE}.{number:016x}");
    let file = directory.create(&temporary)?;
    let made = file.write_all_at(bytes, 0).and_then(|()| file.sync()).and_then(|()| put(&temporary));
    let _ = directory.remove(&temporary);
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    const UUID: [u8; 16] = [3; 16];

    fn with(number: usize, note: Note) -> Vec<u8> {
        let mut bytes = empty(UUID);
        bytes[number * SLOT..(number + 1) * SLOT].copy_from_slice(&note.encode());
        bytes
    }

    #[test]
    fn the_furthest_note_counts_and_an_unsynced_one_until_a_restart() {
        let mut bytes = with(1, Note { epoch: 100, boot: 0, writer: 7 });
        let unsynced = Note { epoch: 900, boot: 5, writer: 8 }.encode();
        bytes[UNSYNCED * SLOT..][..SLOT].copy_from_slice(&unsynced);
        for (boot, epoch) in [(Some(5), 900), (Some(6), 100), (None, 100)] {
            assert_eq!(parse(&bytes, UUID, boot), FlushNotes { epoch, damage: None }, "{boot:?}");
        }
        assert_eq!(parse(&empty(UUID), UUID, None), FlushNotes::default());
    }

    #[test]
    fn any_flipped_bit_of_the_notes_is_noticed() {
        let good = with(9, Note { epoch: 100, boot: 0, writer: 7 });
        for bit in 0..SIZE * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(parse(&bad, UUID, None).damage.is_some(), "bit {bit}");
        }
        for length in [0, 31, 32, 4095] {
            assert!(parse(&good[..length], UUID, None).damage.is_some(), "{length} bytes");
        }
    }

    #[test]
    fn notes_of_another_container_do_not_count() {
        let bytes = with(9, Note { epoch: 100, boot: 0, writer: 7 });
        let notes = parse(&bytes, [4; 16], None);
        assert_eq!((notes.epoch, notes.damage.is_some()), (0, true));
    }
}
