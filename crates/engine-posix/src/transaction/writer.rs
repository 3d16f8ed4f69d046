//! The writing half of a handle: gathering updates into a frame, and the order in which files are synced.
//!
//! Invariants:
//! - A frame is appended only after the bytes it refers to are durable, so they survive a power failure if the frame does.
//! - The first frame after a start of the machine is a recovery frame.
//! - A frame that could not be appended for want of space is kept and tried again.
//! - After a failed sync, or an append with an unknown outcome, the handle writes no more.

use std::{process, sync::Arc};

use isotach_engine_kit::bytes::Put;
use isotach_object::{Cell, Error, IdRange, Result, Transaction, Update};

use crate::{
    capability::SCHEME,
    format::{
        extent::{self, Extent},
        frame::{self, FRAME_MAX, FRAME_MIN, Origin},
        record::{self, CellChange, INLINE_MAX, Stored},
    },
    io::{
        boot,
        data::{DataWriter, Mark, Region, Unsynced},
        directory::Directory,
        disk::may_open_no_more,
        flush_notes::{self, NoteWriter},
        log::Log,
        storage::Storage,
        unsynced::Unsettled,
    },
};

/// A gathered frame is published when it has this many bytes.
const PUBLISH_AT: usize = 1 << 20;
/// A batch is cut into frames of this many bytes.
const SPLIT_AT: usize = 64 << 20;
/// Object ids for each log position: a frame owns the ids of the positions it takes up.
const IDS_PER_BYTE: u64 = 1 << 20;
/// Log positions whose ids fit 64 bits.
const EPOCH_MAX: u64 = u64::MAX / IDS_PER_BYTE;

#[derive(Debug)]
pub(crate) struct Writer {
    own: u64,
    marker: u64,
    directory: Arc<Directory>,
    /// Whether flushing waits for the device.
    sync: bool,
    /// Whether the log is known to contain the recovery frame of this start of the machine.
    announced: bool,
    /// The process that owns the handle.
    process: u32,
    /// The number of the next frame.
    sequence: u64,
    /// Space for a header, and the gathered records.
    frame: Vec<u8>,
    /// How many such frames were appended.
    frames: u64,
    /// The buffer for the records of a stage, while no stage uses it.
    spare: Vec<u8>,
    data: DataWriter,
    /// Whether frames were appended that are not synced.
    unsynced: bool,
    /// The end of the last appended frame in the log.
    end: u64,
    /// Whether that is further than the last note of a flush.
    unnoted: bool,
    notes: NoteWriter,
    uuid: [u8; 16],
    written: bool,
    failed: bool,
}

/// A flush that has begun.
#[derive(Debug)]
pub(crate) struct Flush {
    data: Unsynced,
    sync: bool,
    /// The number of frames that were appended before it.
    frames: u64,
    /// The end of the gathered records that it includes.
    end: usize,
}

impl Flush {
    /// Makes its data durable, unless the handle does not wait for the device.
    pub(crate) fn sync_data(&self) -> Result<()> {
        if self.sync { self.data.sync() } else { Ok(()) }
    }
}

/// The end of a writer's frames in the log when a flush had appended its own.
#[derive(Debug)]
pub(crate) struct FlushedTo {
    end: u64,
    sequence: u64,
    /// Whether the log is to be synced.
    pub(crate) needs_sync: bool,
}

impl Writer {
    pub(crate) fn new(storage: &Storage, own: u64) -> Self {
        Self {
            own,
            marker: storage.marker,
            directory: Arc::clone(&storage.directory),
            sync: storage.options.sync,
            announced: false,
            process: process::id(),
            sequence: 0,
            frame: vec![0; frame::HEADER],
            frames: 0,
            spare: Vec::new(),
            data: DataWriter::new(storage.data.folder(), storage.options.sync),
            unsynced: false,
            end: 0,
            unnoted: false,
            notes: NoteWriter::new(own, storage.options.sync),
            uuid: storage.uuid,
            written: false,
            failed: false,
        }
    }

    /// A buffer for the records of a stage. Reusing memory is cheaper than returning it to the system.
    pub(crate) fn lend_buffer(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.spare)
    }

    /// Returns such a buffer.
    pub(crate) fn return_buffer(&mut self, mut room: Vec<u8>) {
        room.clear();
        room.shrink_to(PUBLISH_AT);
        self.spare = room;
    }

    /// Discards what is gathered, on a handle that will never write it.
    pub(crate) fn abandon(&mut self) {
        self.frame.truncate(frame::HEADER);
    }

    fn name(&self) -> String {
        self.directory.path().display().to_string()
    }

    /// Whether this handle ever wrote anything.
    pub(crate) fn has_written(&self) -> bool {
        self.written
    }

    fn check_usable(&self) -> Result<()> {
        if self.failed {
            return Err(Error::Poisoned { what: self.name() });
        }
        if self.process != process::id() {
            // Parent and child would both write this handle's next frame, and only one would count.
            let name = self.name();
            let what = format!("a handle on {name} in a process forked after it was opened; open a new one");
            return Err(Error::Unsupported { engine: SCHEME, what });
        }
        Ok(())
    }

    /// Takes a copy of blind updates.
    pub(crate) fn gather(&mut self, updates: &[Update<'_>], log: &Log) -> Result<()> {
        self.begin(log)?;
        let mut before = (self.frame.len(), self.data.mark());
        self.gather_after(&mut before, updates, log).inspect_err(|_| {
            self.frame.truncate(before.0);
            self.data.rewind(before.1);
        })
    }

    fn begin(&mut self, log: &Log) -> Result<()> {
        self.check_usable()?;
        log.check_writable()?;
        self.written = true;
        Ok(())
    }

    /// Takes a copy of a new array of less than [`DIRECT`](crate::io::data::DIRECT) bytes, and returns its checksum.
    pub(crate) fn gather_new(&mut self, cell: &Cell<'_>, data: &[u8], log: &Log) -> Result<u32> {
        self.begin(log)?;
        let before = (self.frame.len(), self.data.mark());
        let gathered = self.data.append(data).and_then(|extent| {
            let sum = extent.sum();
            record::encode_change(&mut self.frame, cell, &CellChange::Write { offset: 0, extent });
            self.publish_if_full(log).map(|()| sum)
        });
        gathered.inspect_err(|_| {
            self.frame.truncate(before.0);
            self.data.rewind(before.1);
        })
    }

    /// A region for the bytes of an array, which the caller fills without this writer; see [`gather_filled`](Self::gather_filled).
    pub(crate) fn reserve(&mut self, length: u64, log: &Log) -> Result<Region> {
        self.begin(log)?;
        self.data.reserve(length)
    }

    /// Gathers the bytes of a new array that the caller has written to `region`. Returns what the device should start on.
    pub(crate) fn gather_filled(
        &mut self,
        cell: &Cell<'_>,
        region: &Region,
        extent: Extent,
        log: &Log,
    ) -> Result<Option<Region>> {
        // An earlier failure of another thread may have ended this handle.
        self.check_usable()?;
        let before = self.frame.len();
        record::encode_change(&mut self.frame, cell, &CellChange::Write { offset: 0, extent });
        let begun = self.data.filled(region);
        self.publish_if_full(log).inspect_err(|_| self.frame.truncate(before))?;
        Ok(begun)
    }

    /// Gives a region back that could not be filled. After a failure a frame in the log may refer to what was placed behind it.
    pub(crate) fn free(&mut self, region: &Region) {
        if !self.failed {
            self.data.free(region);
        }
    }

    /// Gathers updates. `before` stays the end of the frame and of the data to which a failure goes back.
    fn gather_after(&mut self, before: &mut (usize, Mark), updates: &[Update<'_>], log: &Log) -> Result<()> {
        for update in updates {
            if self.frame.len() >= SPLIT_AT {
                // Updates are atomic one by one, so a batch that is too long for a frame goes into several.
                self.publish(log)?;
                *before = (self.frame.len(), self.data.mark());
            }
            encode(update, &mut self.frame, &mut self.data)?;
        }
        self.publish_if_full(log)
    }

    fn publish_if_full(&mut self, log: &Log) -> Result<()> {
        if self.frame.len() < PUBLISH_AT {
            return Ok(());
        }
        match self.publish(log) {
            // The copy is taken, so a full disk is not this call's failure: `flush` tries again.
            Err(Error::NoSpace { .. }) if self.frame.len() < FRAME_MAX / 2 => Ok(()),
            outcome => outcome,
        }
    }

    /// Appends what is gathered.
    pub(crate) fn publish(&mut self, log: &Log) -> Result<()> {
        if !self.has_gathered() {
            return Ok(());
        }
        self.check_usable()?;
        self.hand_over()?;
        self.append_gathered(log)?;
        self.data.release(&self.data.unsynced());
        Ok(())
    }

    /// Whether something is not in the log yet.
    pub(crate) fn has_gathered(&self) -> bool {
        self.frame.len() > frame::HEADER
    }

    /// Appends the gathered frame. After a failure it is kept as it was gathered. After success it is emptied, and its memory kept.
    fn append_gathered(&mut self, log: &Log) -> Result<()> {
        let mut frame = std::mem::take(&mut self.frame);
        let body = frame.len();
        let outcome = self.append(&mut frame, frame::kind::TRANSACTION, log);
        match &outcome {
            Ok(_) => {
                empty(&mut frame);
                self.frames += 1;
            }
            Err(_) => {
                frame::unseal(&mut frame);
                frame.truncate(body);
            }
        }
        self.frame = frame;
        outcome.map(drop)
    }

    /// Makes everything durable that later frames refer to, unless this handle does not wait for the device.
    fn hand_over(&mut self) -> Result<()> {
        self.data.write_out()?;
        match self.sync {
            true => self.data.sync().inspect_err(|_| self.failed = true),
            false => {
                self.data.leave_unsynced();
                Ok(())
            }
        }
    }

    /// Appends the recovery frame of this start of the machine if the log may not contain it.
    fn announce(&mut self, log: &Log) -> Result<()> {
        // If that is unknown, a second recovery frame does no harm.
        let boot = match boot::unrecorded(&self.directory).or_else(|_| self.directory.boot()) {
            // The name can be read when other files are closed, and nothing was appended.
            Err(error) if may_open_no_more(&error) => {
                return Err(self.directory.failed("write to", "log", error));
            }
            boot => boot.ok().flatten(),
        };
        if let Some(boot) = boot {
            let mut frame = vec![0; frame::HEADER];
            frame.put_u64(boot);
            self.put(&mut frame, frame::kind::RECOVERY, log)?;
            let _ = boot::record(&self.directory, boot);
        }
        self.announced = true;
        Ok(())
    }

    /// Appends a frame. Returns its number and the position of its end.
    fn append(&mut self, frame: &mut Vec<u8>, kind: u16, log: &Log) -> Result<(u64, u64)> {
        self.check_usable()?;
        if frame.len() + frame::TRAILER > FRAME_MAX {
            let most = format!("at most {FRAME_MAX} bytes besides large values and arrays");
            return Err(Error::invalid(format!("a transaction of {} bytes", frame.len()), most));
        }
        if !self.announced {
            self.notes.check_writable(&self.directory, self.uuid)?;
            if let Some(unsettled) = Unsettled::of(log.disk(), &self.directory, self.sync)? {
                unsettled.settle().inspect_err(|_| self.failed = true)?;
            }
            self.announce(log)?;
        }
        self.put(frame, kind, log)
    }

    fn put(&mut self, frame: &mut Vec<u8>, kind: u16, log: &Log) -> Result<(u64, u64)> {
        let sequence = self.sequence;
        let settled = sequence > 0 && !self.unsynced;
        self.check_end(log).inspect_err(|error| self.failed |= matches!(error, Error::Corrupt { .. }))?;
        frame::seal(frame, self.marker, kind, Origin { writer: self.own, sequence }, settled);
        match log.append(frame) {
            Ok(end) => {
                self.sequence += 1;
                self.unsynced = true;
                self.unnoted = true;
                self.written = true;
                self.end = end;
                Ok((sequence, end))
            }
            Err(error) => {
                // A full disk takes no whole frame. After any other failure the outcome is unknown.
                self.failed |= !matches!(error, Error::NoSpace { .. } | Error::PermissionDenied { .. });
                Err(error)
            }
        }
    }

    /// Refuses to append to a log that was truncated under its writers: readers that have passed this position would not read it again.
    fn check_end(&self, log: &Log) -> Result<()> {
        let reached = match self.sequence {
            // The notes of others show what was lost before this handle wrote.
            0 => log.position_of(flush_notes::read_in(&self.directory, self.uuid)?.epoch).unwrap_or(0),
            // What others flushed since this handle did may be lost, too.
            _ if !self.unnoted => {
                let flushed = self.notes.furthest(&self.directory, self.uuid);
                self.end.max(log.position_of(flushed).unwrap_or(0))
            }
            _ => self.end,
        };
        match reached.saturating_sub(log.length()?) {
            0 => Ok(()),
            lost => Err(flush_notes::cut_short(log, lost)),
        }
    }

    /// Appends a transaction immediately, after what is gathered. The records in `staged` come before its updates. Their bulk bytes are in
    /// files of their own.
    pub(crate) fn commit(
        &mut self,
        transaction: &Transaction<'_>,
        staged: &[u8],
        log: &Log,
    ) -> Result<(u64, u64)> {
        self.check_usable()?;
        self.publish(log)?;
        // Nothing is gathered now, so its buffer is free.
        let mut frame = std::mem::take(&mut self.frame);
        for precondition in &transaction.preconditions {
            record::encode_condition(&mut frame, precondition);
        }
        frame.extend_from_slice(staged);
        let mark = self.data.mark();
        let encoded =
            transaction.updates.iter().try_for_each(|update| encode(update, &mut frame, &mut self.data));
        let appended = encoded
            .and_then(|()| self.hand_over())
            .and_then(|()| self.append(&mut frame, frame::kind::TRANSACTION, log));
        match &appended {
            Ok(_) => self.data.release(&self.data.unsynced()),
            Err(_) => self.data.rewind(mark),
        }
        empty(&mut frame);
        self.frame = frame;
        appended
    }

    /// Begins to make everything that is gathered durable and visible: the data, then the frame, then the log. The caller syncs what this
    /// returns, and then the log, without this writer, with which other threads go on gathering.
    ///
    /// After a failed sync ([`fail`](Self::fail)) the system may have dropped what it could not write, so another attempt would prove
    /// nothing.
    pub(crate) fn begin_flush(&mut self) -> Result<Flush> {
        self.check_usable()?;
        self.data.write_out()?;
        Ok(Flush { data: self.data.unsynced(), sync: self.sync, frames: self.frames, end: self.frame.len() })
    }

    /// Appends what was gathered when the flush began, whose data is synced. Returns the end of this writer's frames in the log.
    pub(crate) fn append_flushed(&mut self, flush: &Flush, log: &Log) -> Result<FlushedTo> {
        self.check_usable()?;
        match self.sync {
            true => self.data.synced(&flush.data),
            false => self.data.leave_unsynced(),
        }
        // Another thread may have appended it meanwhile.
        if self.frames == flush.frames && flush.end > frame::HEADER {
            let later = self.frame.split_off(flush.end);
            let appended = self.append_gathered(log);
            self.frame.extend_from_slice(&later);
            appended?;
        }
        self.data.release(&flush.data);
        Ok(FlushedTo { end: self.end, sequence: self.sequence, needs_sync: self.sync && self.unsynced })
    }

    /// Notes that the log is durable up to the end of a flush.
    pub(crate) fn end_flush(&mut self, to: &FlushedTo, log: &Log) {
        if self.sequence == to.sequence {
            self.unsynced &= !self.sync;
        }
        if self.unnoted && to.end > 0 {
            self.unnoted = self.end != to.end;
            self.notes.note(&self.directory, self.uuid, log.epoch_at(to.end));
        }
    }

    /// Ends this writer after a failed sync.
    pub(crate) fn fail(&mut self) {
        self.failed = true;
    }

    /// Takes up log positions, and with them their object ids. Nothing is read: the kernel hands out each position once.
    pub(crate) fn allocate_ids(&mut self, log: &Log, count: u64) -> Result<IdRange> {
        let bytes = count.div_ceil(IDS_PER_BYTE).max(FRAME_MIN as u64);
        if count == 0 || bytes > FRAME_MAX as u64 {
            let most = FRAME_MAX as u64 * IDS_PER_BYTE;
            return Err(Error::invalid(format!("{count} object ids"), format!("1 to {most}")));
        }
        let mut frame = vec![0; bytes as usize - frame::TRAILER];
        let (_, end) = self.append(&mut frame, frame::kind::RESERVE, log)?;
        let first = log.epoch_at(end - bytes);
        if first + bytes > EPOCH_MAX {
            return Err(Error::NoSpace { what: format!("{}: all object ids are handed out", self.name()) });
        }
        let start = first * IDS_PER_BYTE;
        Ok(IdRange { start, end: start + count })
    }
}

/// Removes the records of a frame, and keeps its memory up to a limit.
fn empty(frame: &mut Vec<u8>) {
    frame.clear();
    frame.shrink_to(2 * PUBLISH_AT);
    frame.resize(frame::HEADER, 0);
}

/// Appends an update to a frame, and its bulk bytes to the data file.
pub(crate) fn encode(update: &Update<'_>, frame: &mut Vec<u8>, data: &mut DataWriter) -> Result<()> {
    let mut record = |cell: &Cell<'_>, change: CellChange<'_>| {
        record::encode_change(frame, cell, &change);
        Ok(())
    };
    match update {
        Update::Put { cell, value } if value.len() <= INLINE_MAX => {
            record(cell, CellChange::Put(Stored::Inline(value)))
        }
        Update::Put { cell, value } => {
            record(cell, CellChange::Put(Stored::Extent(data.append(value)?, extent::digest(value))))
        }
        Update::Remove { cell } => record(cell, CellChange::Remove),
        Update::Write { cell, offset, data: bytes } => {
            record(cell, CellChange::Write { offset: *offset, extent: data.append(bytes)? })
        }
        Update::SetSize { cell, size } => record(cell, CellChange::SetSize(*size)),
        Update::Punch { cell, offset, length } => {
            record(cell, CellChange::Punch { offset: *offset, length: *length })
        }
        Update::RemoveDkey { .. } => record(&update.scope(), CellChange::RemoveDkey),
        Update::Destroy { .. } => record(&update.scope(), CellChange::Destroy),
    }
}
