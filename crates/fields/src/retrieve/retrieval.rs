//! A retrieval: the fields of a request in their order, read ahead with bounded memory.
//!
//! What must stay true: fields are returned in the order in which they were found. In `ahead`, fields that were read
//! precede fields that are pending or only found, so discarding the latter loses nothing that was read.

use std::{collections::VecDeque, sync::Arc};

use isotach_engine_kit::aligned::AlignedBuffer;
use isotach_mars::Request;
use isotach_object::PendingRead;

use crate::{
    Error, FieldStore, Result,
    retrieve::{
        Field,
        ahead::{AheadRead, ReadAhead},
        buffers::Buffers,
        inspect::{Inspected, Inspection, Missing},
    },
};

/// The most fields that are read in one batch, where reads are blocking. Larger batches would leave the processor's
/// cache before the caller uses them, and the next batch would take its buffers from memory again.
const BATCH_MAX: usize = 32;
/// The same in bytes. A larger field is read alone.
const BATCH_BYTES_MAX: u64 = 1 << 20;
/// The most bytes of pending reads. A larger field is read alone.
const PENDING_BYTES_MAX: u64 = 64 << 20;
/// How often a retrieval restarts before it has returned a field.
const RESTARTS_MAX: u32 = 100;

/// The answer to [`FieldStore::retrieve`], read as it is iterated.
#[derive(Debug)]
pub struct Retrieval {
    inspection: Inspection,
    request: Request,
    /// The number of restarts.
    restarts: u32,
    has_yielded: bool,
    store: FieldStore,
    ahead: VecDeque<Coming>,
    /// A field that was found and is not ahead yet, and how it is read; or the error in its place.
    next: Option<Result<(Inspected, Way)>>,
    buffers: Buffers,
    threads: ReadAhead,
}

/// How a field is read, with the number of such reads that are begun ahead.
#[derive(Debug, Clone, Copy)]
enum Way {
    /// By the engine, while the caller does something else.
    Pending(usize),
    /// On another thread.
    OnThread(usize),
    /// When it is needed, together with those behind it.
    Blocking,
}

/// An item of `ahead`.
#[derive(Debug)]
enum Coming {
    Read(Result<Field>),
    /// A field whose read is pending, or the error of starting it.
    UnderWay(Inspected, Result<Box<dyn PendingRead>>),
    /// A field that a thread reads.
    OnThread(Arc<AheadRead>),
    /// A field to be read by a blocking read.
    Found(Inspected),
}

/// The outcome of reading a field alone.
enum Alone {
    Field(Result<Field>),
    /// It does not exist any more.
    Gone,
    /// It is of another state than the fields before it: the retrieval has restarted.
    BeganAgain,
}

impl Retrieval {
    pub(crate) fn new(store: FieldStore, request: Request) -> Result<Self> {
        let buffers = Buffers::default();
        Ok(Self {
            threads: ReadAhead::new(&store.inner, &buffers),
            inspection: store.inspect(&request)?,
            request,
            restarts: 0,
            has_yielded: false,
            store,
            ahead: VecDeque::new(),
            next: None,
            buffers,
        })
    }

    /// The fields that the request names and that do not exist; see [`Inspection::missing`].
    pub fn missing(&self) -> Option<Missing> {
        self.inspection.missing()
    }

    fn way_of(&self, field: &Inspected) -> Way {
        match (self.store.inner.reads_ahead(&field.location), self.threads.depth(field)) {
            (0, 0) => Way::Blocking,
            (0, depth) => Way::OnThread(depth),
            (depth, _) => Way::Pending(depth),
        }
    }

    /// Takes the next found field, if `ahead` has space for it.
    fn next_that_fits(&mut self) -> Option<(Inspected, Way)> {
        if self.next.is_none() {
            let next = self.inspection.next()?;
            self.next = Some(next.map(|field| {
                let way = self.way_of(&field);
                (field, way)
            }));
        }
        let Some(Ok((field, way))) = &self.next else { return None };
        let bytes: u64 = self.ahead.iter().map(Coming::bytes).sum();
        let fits = match *way {
            Way::Blocking => self.ahead.len() < BATCH_MAX,
            Way::Pending(depth) | Way::OnThread(depth) => {
                self.ahead.len() < depth && bytes.saturating_add(field.location.length) <= PENDING_BYTES_MAX
            }
        };
        match fits || self.ahead.is_empty() {
            true => self.next.take().and_then(Result::ok),
            false => None,
        }
    }

    /// Finds fields while `ahead` has space, and starts the reads that need not block.
    fn look_ahead(&mut self) {
        while let Some((field, way)) = self.next_that_fits() {
            self.ahead.push_back(match way {
                Way::Blocking => Coming::Found(field),
                // The caller needs it now.
                Way::OnThread(_) if self.ahead.is_empty() => Coming::Found(field),
                Way::OnThread(_) => Coming::OnThread(self.threads.begin(field)),
                Way::Pending(_) => {
                    let read = self.store.inner.begin_read(&field, &self.buffers);
                    Coming::UnderWay(field, read)
                }
            });
        }
    }

    /// Reads a field by a blocking read, together with those behind it.
    fn read_together(&mut self, first: Inspected) {
        let mut bytes = first.location.length;
        let mut batch = vec![first];
        while batch.len() < BATCH_MAX
            && let Some(Coming::Found(field)) = self.ahead.front()
            && bytes.saturating_add(field.location.length) <= BATCH_BYTES_MAX
        {
            bytes = bytes.saturating_add(field.location.length);
            let Some(Coming::Found(field)) = self.ahead.pop_front() else { break };
            batch.push(field);
        }
        let inner = Arc::clone(&self.store.inner);
        let read: Vec<Coming> = match inner.read_fields(&batch, &self.buffers) {
            Ok(read) => {
                let fields = batch.into_iter().zip(read);
                fields.map(|(field, bytes)| Coming::Read(Ok(self.buffers.field(field, bytes)))).collect()
            }
            Err(_) => self.read_singly(batch),
        };
        read.into_iter().rev().for_each(|read| self.ahead.push_front(read));
    }

    /// Reads the fields of a failed batch one by one: one damaged or missing field does not affect the others.
    fn read_singly(&mut self, batch: Vec<Inspected>) -> Vec<Coming> {
        let mut read = Vec::with_capacity(batch.len());
        for field in batch {
            match self.read_alone(field) {
                Alone::Field(field) => read.push(Coming::Read(field)),
                Alone::Gone => {}
                // Fields that were read before it are returned only if the end follows.
                Alone::BeganAgain if self.ahead.is_empty() => return Vec::new(),
                Alone::BeganAgain => break,
            }
        }
        read
    }

    /// The field of a read that was begun ahead. A failed read is repeated, because the field may be elsewhere now. None if it is gone, or
    /// if the retrieval has restarted.
    fn finish(&mut self, field: Inspected, read: Result<AlignedBuffer>) -> Option<Result<Field>> {
        match read {
            Ok(bytes) => Some(Ok(self.buffers.field(field, bytes))),
            Err(_) => match self.read_alone(field) {
                Alone::Field(field) => Some(field),
                Alone::Gone | Alone::BeganAgain => None,
            },
        }
    }

    fn read_alone(&mut self, field: Inspected) -> Alone {
        let (key, place) = (field.key.clone(), field.location.clone());
        let read = self.store.read_again(field);
        let is_elsewhere = match &read {
            Ok(Some((field, _))) => field.location != place,
            Ok(None) => true,
            Err(_) => false,
        };
        // Checked after the field was read: what is found before a transaction is none of its fields.
        match is_elsewhere.then(|| self.inspection.outdated(&key)).transpose() {
            Err(error) => return Alone::Field(Err(error)),
            Ok(Some(Some(state))) => {
                self.begin_again(state.outdated());
                return Alone::BeganAgain;
            }
            Ok(None | Some(None)) => {}
        }
        let field = read.transpose().map(|read| read.map(|(field, bytes)| self.buffers.field(field, bytes)));
        field.map_or(Alone::Gone, Alone::Field)
    }

    /// Restarts if no field was returned yet. Else ends with the error, after the fields that were read.
    fn begin_again(&mut self, error: Error) {
        self.ahead.clear();
        self.next = None;
        let again = match self.has_yielded || self.restarts >= RESTARTS_MAX {
            true => Err(error),
            false => self.store.inspect(&self.request),
        };
        match again {
            Ok(inspection) => {
                self.restarts += 1;
                self.inspection = inspection;
            }
            Err(error) => {
                self.inspection.end();
                self.ahead.push_back(Coming::Read(Err(error)));
            }
        }
    }
}

impl Coming {
    /// The bytes of its buffer.
    fn bytes(&self) -> u64 {
        match self {
            Self::Read(Ok(field)) => field.location.length,
            Self::UnderWay(field, _) => field.location.length,
            Self::OnThread(read) => read.field.location.length,
            Self::Read(Err(_)) | Self::Found(_) => 0,
        }
    }
}

impl Buffers {
    /// A field with its bytes, in a buffer of this pool.
    fn field(&self, Inspected { key, location }: Inspected, bytes: AlignedBuffer) -> Field {
        Field { key, location, bytes: self.lend(bytes) }
    }
}

impl Iterator for Retrieval {
    type Item = Result<Field>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = loop {
            self.look_ahead();
            match self.ahead.pop_front() {
                Some(Coming::Read(field)) => break field,
                Some(Coming::Found(field)) => self.read_together(field),
                Some(Coming::UnderWay(field, read)) => {
                    let read = self.store.inner.end_read(&field, read);
                    if let Some(field) = self.finish(field, read) {
                        break field;
                    }
                }
                Some(Coming::OnThread(read)) => {
                    let bytes = self.threads.end(&read);
                    if let Some(field) = self.finish(read.field.clone(), bytes) {
                        break field;
                    }
                }
                // Fields that were found before a failure were returned before it.
                None => break Err(self.next.take()?.err()?),
            }
        };
        self.has_yielded = true;
        Some(next)
    }
}
