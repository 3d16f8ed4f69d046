//! The answer to a request: its fields in their order, read ahead with bounded memory.
//!
//! What must stay true: fields come in the order in which they were found. Of those that are ahead, the ones that were read come
//! before the ones that are under way or only found, so whoever throws these away loses nothing that was read.

use std::{collections::VecDeque, sync::Arc};

use isotach_mars::Request;
use isotach_object::PendingRead;

use crate::{
    Error, FieldStore, Result,
    retrieve::{
        Field,
        buffers::Buffers,
        inspect::{Inspected, Inspection, Missing},
    },
};

/// Fields that are read together at most, where reads are waited for. More would leave a processor's own cache before anybody
/// looks at it, and the next batch would take its buffers from memory again.
const TOGETHER: usize = 8;
/// The same in bytes; a field that has more is read alone.
const BYTES_TOGETHER: u64 = 1 << 20;
/// Bytes that are under way at most, but for one field that has more, where reads need not be waited for.
const BYTES_UNDER_WAY: u64 = 64 << 20;
/// How often a retrieval begins again before it has yielded anything.
const RESTARTS_MAX: u32 = 100;

/// The answer to [`FieldStore::retrieve`], read as it is iterated.
#[derive(Debug)]
pub struct Retrieval {
    inspection: Inspection,
    request: Request,
    /// How often it began again.
    restarts: u32,
    has_yielded: bool,
    store: FieldStore,
    ahead: VecDeque<Coming>,
    /// A field that was found and is not ahead yet, with the number of reads that may be under way where it is; or why there is
    /// none.
    next: Option<Result<(Inspected, usize)>>,
    buffers: Buffers,
}

/// What comes next.
#[derive(Debug)]
enum Coming {
    Read(Result<Field>),
    /// A field that is under way, or why it is not.
    UnderWay(Inspected, Result<Box<dyn PendingRead>>),
    /// A field whose read is to be waited for.
    Found(Inspected),
}

/// What came of reading a field alone.
enum Alone {
    Field(Result<Field>),
    /// It is not there any more.
    Gone,
    /// It is of another state than those before it: the retrieval has begun again.
    BeganAgain,
}

impl Retrieval {
    pub(crate) fn new(store: FieldStore, request: Request) -> Result<Self> {
        Ok(Self {
            inspection: store.inspect(&request)?,
            request,
            restarts: 0,
            has_yielded: false,
            store,
            ahead: VecDeque::new(),
            next: None,
            buffers: Buffers::default(),
        })
    }

    /// Which of the fields that the request names are not there; see [`Inspection::missing`].
    pub fn missing(&self) -> Option<Missing> {
        self.inspection.missing()
    }

    /// Takes the next field that is found, if there is room for it ahead.
    fn next_that_fits(&mut self) -> Option<(Inspected, usize)> {
        if self.next.is_none() {
            let inner = &self.store.inner;
            let next = self.inspection.next()?;
            self.next = Some(next.map(|field| {
                let at_once = inner.reads_ahead(&field.location);
                (field, at_once)
            }));
        }
        let Some(Ok((field, at_once))) = &self.next else { return None };
        let bytes: u64 = self.ahead.iter().map(Coming::bytes).sum();
        let fits = match at_once {
            0 => self.ahead.len() < TOGETHER,
            _ => {
                self.ahead.len() < *at_once && bytes.saturating_add(field.location.length) <= BYTES_UNDER_WAY
            }
        };
        match fits || self.ahead.is_empty() {
            true => self.next.take().and_then(Result::ok),
            false => None,
        }
    }

    /// Finds fields as long as there is room ahead, and begins to read those that need not be waited for.
    fn look_ahead(&mut self) {
        while let Some((field, at_once)) = self.next_that_fits() {
            self.ahead.push_back(match at_once {
                0 => Coming::Found(field),
                _ => {
                    let read = self.store.inner.begin_read(&field, &self.buffers);
                    Coming::UnderWay(field, read)
                }
            });
        }
    }

    /// Reads a field whose read is to be waited for, and those behind it.
    fn read_together(&mut self, first: Inspected) {
        let mut bytes = first.location.length;
        let mut batch = vec![first];
        while batch.len() < TOGETHER
            && let Some(Coming::Found(field)) = self.ahead.front()
            && bytes.saturating_add(field.location.length) <= BYTES_TOGETHER
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

    /// Reads fields of which one is damaged, or not there any more: the others are delivered all the same.
    fn read_singly(&mut self, batch: Vec<Inspected>) -> Vec<Coming> {
        let mut read = Vec::with_capacity(batch.len());
        for field in batch {
            match self.read_alone(field) {
                Alone::Field(field) => read.push(Coming::Read(field)),
                Alone::Gone => {}
                // What was read before it is handed out only where the end is to follow.
                Alone::BeganAgain if self.ahead.is_empty() => return Vec::new(),
                Alone::BeganAgain => break,
            }
        }
        read
    }

    fn read_alone(&mut self, field: Inspected) -> Alone {
        let (key, place) = (field.key.clone(), field.location.clone());
        let read = self.store.read_again(field);
        let is_elsewhere = match &read {
            Ok(Some((field, _))) => field.location != place,
            Ok(None) => true,
            Err(_) => false,
        };
        // Looked at after the field was: what is found before a transaction is none of its fields.
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

    /// Begins again, if nobody has seen anything yet; else ends with the error, after what was read.
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
    /// Bytes that it takes.
    fn bytes(&self) -> u64 {
        match self {
            Self::Read(Ok(field)) => field.location.length,
            Self::UnderWay(field, _) => field.location.length,
            Self::Read(Err(_)) | Self::Found(_) => 0,
        }
    }
}

impl Buffers {
    /// A field with its bytes, in a buffer of these.
    fn field(&self, Inspected { key, location }: Inspected, bytes: Vec<u8>) -> Field {
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
                Some(Coming::UnderWay(field, read)) => match self.store.inner.end_read(&field, read) {
                    Ok(bytes) => break Ok(self.buffers.field(field, bytes)),
                    Err(_) => match self.read_alone(field) {
                        Alone::Field(field) => break field,
                        Alone::Gone | Alone::BeganAgain => {}
                    },
                },
                // What was found before a failure was delivered before it.
                None => break Err(self.next.take()?.err()?),
            }
        };
        self.has_yielded = true;
        Some(next)
    }
}
