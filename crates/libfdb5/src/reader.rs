//! A reader: the bytes of the fields of a request, one after the other.
//!
//! What must stay true: the bytes are those of the fields that were found when the request was asked. A field that others replaced since is an
//! error, never other bytes at its place.

use isotach_capi_kit::{Failure, Result};
use isotach_fields::{FieldBytes, FieldStore, Inspected, Retrieval};
use isotach_mars::Request;

/// What `fdb_datareader_t` is.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    fields: Option<Fields>,
    /// Where it stands, if it is open.
    position: Option<u64>,
}

impl Reader {
    /// Replaces what it had before.
    pub(crate) fn set(&mut self, fields: Fields) {
        *self = Self { fields: Some(fields), position: None };
    }

    /// Begins at the first byte, and returns how many there are.
    pub(crate) fn open(&mut self) -> Result<u64> {
        let size = self.size()?;
        if self.position.is_some() {
            return Err(Failure::invalid("the reader is open: expected it to be closed first"));
        }
        self.position = Some(0);
        Ok(size)
    }

    pub(crate) fn close(&mut self) -> Result<()> {
        if let Some(fields) = &mut self.fields {
            (fields.current, fields.ahead) = (None, None);
        }
        self.position = None;
        self.size().map(drop)
    }

    pub(crate) fn size(&self) -> Result<u64> {
        let fields = self.fields.as_ref();
        fields
            .map(|fields| fields.size)
            .ok_or_else(|| Failure::invalid("the reader has nothing: expected fdb_retrieve before"))
    }

    pub(crate) fn position(&self) -> Result<u64> {
        self.size()?;
        self.position
            .ok_or_else(|| Failure::invalid("the reader is not open: expected fdb_datareader_open before"))
    }

    /// Moves to a byte, or to the end.
    pub(crate) fn seek(&mut self, position: i64) -> Result<()> {
        self.position()?;
        let size = self.size()?;
        match u64::try_from(position) {
            Ok(position) if position <= size => self.position = Some(position),
            _ => return Err(Failure::invalid(format!("position {position}: expected one from 0 to {size}"))),
        }
        Ok(())
    }

    /// Moves on, or back, by so many bytes.
    pub(crate) fn skip(&mut self, count: i64) -> Result<()> {
        let position = i64::try_from(self.position()?).unwrap_or(i64::MAX);
        self.seek(position.saturating_add(count))
    }

    /// Fills a buffer, as far as there are bytes, and returns how many came.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let begin = self.position()?;
        let Some(fields) = &mut self.fields else { return Ok(0) };
        let mut filled = 0;
        while filled < buffer.len() {
            let copied = fields.copy(begin + filled as u64, &mut buffer[filled..])?;
            if copied == 0 {
                break;
            }
            filled += copied;
        }
        self.position = Some(begin + filled as u64);
        Ok(filled)
    }
}

/// The fields of a request that were found.
#[derive(Debug)]
pub(crate) struct Fields {
    store: FieldStore,
    request: Request,
    found: Vec<Inspected>,
    /// Where each begins.
    begins: Vec<u64>,
    size: u64,
    /// The field that was read last, by its number.
    current: Option<(usize, FieldBytes)>,
    /// What reads ahead while the fields are read in their order, and the number of its next one.
    ahead: Option<(usize, Retrieval)>,
}

impl Fields {
    pub(crate) fn find(store: &FieldStore, request: &Request) -> Result<Self> {
        let found = store.inspect(request)?.collect::<isotach_fields::Result<Vec<_>>>()?;
        let mut size = 0_u64;
        let mut begins = Vec::with_capacity(found.len());
        for field in &found {
            begins.push(size);
            size = size.saturating_add(field.location.length);
        }
        let (store, request) = (store.clone(), request.clone());
        Ok(Self { store, request, found, begins, size, current: None, ahead: None })
    }

    /// Copies bytes from a position on, at most to the end of a field. None at the end of all.
    fn copy(&mut self, position: u64, buffer: &mut [u8]) -> Result<usize> {
        if position >= self.size {
            return Ok(0);
        }
        // The last that begins there: those before it without a byte have none to give.
        let number = self.begins.partition_point(|begin| *begin <= position) - 1;
        let within = (position - self.begins[number]) as usize;
        let rest = &self.field(number)?[within..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn field(&mut self, number: usize) -> Result<&FieldBytes> {
        let kept = self.current.take().filter(|(kept, _)| *kept == number);
        let current = match kept {
            Some(kept) => kept,
            None => (number, self.read(number)?),
        };
        Ok(&self.current.insert(current).1)
    }

    fn read(&mut self, number: usize) -> Result<FieldBytes> {
        if number == 0 && self.found.len() > 1 {
            self.ahead = Some((0, self.store.retrieve(&self.request)?));
        }
        let wanted = &self.found[number];
        let bytes = match &mut self.ahead {
            Some((next, retrieval)) if *next == number => {
                *next += 1;
                let field = retrieval.next().transpose()?;
                field.filter(|field| field.key == wanted.key).map(|field| field.bytes)
            }
            _ => {
                self.ahead = None;
                Some(self.store.read(&wanted.location)?)
            }
        };
        bytes.filter(|bytes| bytes.len() as u64 == wanted.location.length).ok_or_else(|| Failure {
            code: "conflict",
            text: format!("field {} was replaced or removed since it was found; retrieve again", wanted.key),
        })
    }
}
