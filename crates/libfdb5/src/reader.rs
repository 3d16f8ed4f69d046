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
            size = size.saturating_add(length_of(store, field)?);
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

    /// How many bytes a field has.
    fn length(&self, number: usize) -> u64 {
        self.begins.get(number + 1).unwrap_or(&self.size) - self.begins[number]
    }

    /// The bytes of a field where it was found. What reads ahead looks for the fields anew, so it may come to a newer one.
    fn read(&mut self, number: usize) -> Result<FieldBytes> {
        if number == 0 && self.found.len() > 1 {
            self.ahead = Some((0, self.store.retrieve(&self.request)?));
        }
        let (wanted, length) = (&self.found[number], self.length(number));
        if let Some((next, mut ahead)) = self.ahead.take().filter(|(next, _)| *next == number)
            && let Some(Ok(field)) = ahead.next()
            && (&field.key, &field.location) == (&wanted.key, &wanted.location)
            && field.bytes.len() as u64 == length
        {
            self.ahead = Some((next + 1, ahead));
            return Ok(field.bytes);
        }
        match self.store.read(&wanted.location) {
            Ok(bytes) if bytes.len() as u64 == length => Ok(bytes),
            Ok(_) => Err(replaced(wanted)),
            Err(error) => match self.store.locate(&wanted.key) {
                Ok(Some(found)) if found.location == wanted.location => Err(failed(wanted, error)),
                Ok(_) => Err(replaced(wanted)),
                Err(_) => Err(failed(wanted, error)),
            },
        }
    }
}

fn replaced(field: &Inspected) -> Failure {
    let what = "was replaced or removed since it was found; retrieve again";
    Failure { code: "conflict", text: format!("field {} {what}", field.key) }
}

/// The number of bytes that a field has when it is read. An overlay edits the message, which may change its length.
fn length_of(store: &FieldStore, field: &Inspected) -> Result<u64> {
    if field.location.relabel.is_none() {
        return Ok(field.location.length);
    }
    let read = store.read(&field.location).map_err(|error| failed(field, error))?;
    Ok(read.len() as u64)
}

/// An error of reading a place, which does not know the field.
fn failed(field: &Inspected, error: isotach_fields::Error) -> Failure {
    Failure::from(error).about(&format!("field {}", field.key))
}

#[cfg(test)]
mod tests {
    use isotach_fields::Config;
    use isotach_open::registry;

    use super::*;

    #[test]
    fn the_size_of_a_field_that_an_overlay_edits_is_that_of_the_edited_bytes() {
        let config = Config::single(&"memory:edited".parse().unwrap())
            .with_schema("[ class, expver [ type [ step: Step ]]]");
        let store = FieldStore::create(&config, &registry()).unwrap();
        store.relabel_with(|message, _| Ok([message, b", edited"].concat()));
        for step in ["0", "6"] {
            let key = format!("class=od,expver=1,type=fc,step={step}");
            store.archive(&key.parse().unwrap(), step.as_bytes()).unwrap();
        }
        store.flush().unwrap();
        let [below, shown] = ["class=od,expver=1", "class=rd,expver=1"].map(|key| key.parse().unwrap());
        store.overlay(&below, &shown, &["class"], false).unwrap();
        let mut reader = Reader::default();
        reader.set(Fields::find(&store, &"class=rd,expver=1,type=fc,step=0/6".parse().unwrap()).unwrap());
        assert_eq!(reader.open(), Ok(18));
        let mut buffer = [0; 32];
        assert_eq!(reader.read(&mut buffer), Ok(18));
        assert_eq!(&buffer[..18], b"0, edited6, edited");
        reader.seek(9).unwrap();
        assert_eq!(reader.read(&mut buffer[..4]), Ok(4));
        assert_eq!(&buffer[..4], b"6, e");
    }
}
