//! The values of a batch of fields: by their jump indexes where these can be used, and else from all their bytes.
//!
//! What must stay true: a field that cannot be read where it was found is looked up again, because it may have been replaced
//! and purged, or wiped. An error remains only if it is still there.

use std::ops::Range;

use isotach_fields::Inspected;
use isotach_grib::{Extraction, JumpInfo};

use crate::{
    Error, Result, Row,
    message::{decode, decode_by, grid_of_section},
    stored::Stored,
    work::Work,
};

/// A field whose values are being read.
struct Reading<'r> {
    /// Its place in the batch.
    at: usize,
    field: &'r Inspected,
    grid: [u8; 16],
    extraction: Extraction<'r>,
    failure: Option<Error>,
}

impl Work<'_> {
    /// The values of some fields, in their order; `None` for one that was wiped meanwhile.
    pub(crate) fn read(&self, fields: &[Inspected]) -> Result<Vec<Option<Row>>> {
        let mut rows: Vec<Option<Row>> = fields.iter().map(|_| None).collect();
        let mut known = Vec::with_capacity(fields.len());
        for (at, index) in self.store.jump_indexes(fields)?.into_iter().enumerate() {
            let field = &fields[at];
            match Stored::of(index)? {
                Stored::Index(info) if field.location.is_adopted() => {
                    rows[at] = self.unless_moved(field, self.read_adopted(field, &info))?;
                }
                Stored::Index(info) => known.push((at, info)),
                Stored::Lacking => rows[at] = self.unless_moved(field, self.read_whole(field, true))?,
                Stored::OtherVersion => rows[at] = self.unless_moved(field, self.read_whole(field, false))?,
            }
        }
        let mut readings = Vec::with_capacity(known.len());
        for (at, info) in &known {
            match self.begin(*at, &fields[*at], info) {
                Ok(reading) => readings.push(reading),
                Err(error) => rows[*at] = self.unless_moved(&fields[*at], Err(error))?,
            }
        }
        while self.advance(&mut readings) {}
        for Reading { at, field, grid, extraction, failure } in readings {
            let row = match failure {
                Some(error) => Err(error),
                None => extraction
                    .finish()
                    .map(|values| Row { key: field.key.clone(), grid, values })
                    .map_err(|error| Error::of_field(field, error)),
            };
            rows[at] = self.unless_moved(field, row)?;
        }
        Ok(rows)
    }

    /// What was read of a field. If it failed, the field is looked up again, and read where it is now.
    fn unless_moved(&self, field: &Inspected, read: Result<Row>) -> Result<Option<Row>> {
        let error = match read {
            Err(error @ Error::Fields(_)) => error,
            read => return read.map(Some),
        };
        match self.store.locate(&field.key)? {
            None => Ok(None),
            Some(found) if found.location != field.location => Ok(self.read(&[found])?.pop().flatten()),
            Some(_) => Err(error),
        }
    }

    fn begin<'r>(&self, at: usize, field: &'r Inspected, info: &'r JumpInfo) -> Result<Reading<'r>> {
        let grid = info.grid_md5();
        self.check_grid(field, grid)?;
        let chosen = self.choice.of_grid(grid, || {
            let section = self.bytes(field, info.grid())?;
            grid_of_section(field, &section, || self.bytes(field, 0..field.location.length))
        })?;
        let extraction = info.extraction(&chosen.ranges).map_err(|error| Error::of_field(field, error))?;
        Ok(Reading { at, field, grid, extraction, failure: None })
    }

    /// Reads the bytes that are wanted next, of all fields at once. False if none are.
    fn advance(&self, readings: &mut [Reading<'_>]) -> bool {
        let waits =
            |reading: &&mut Reading<'_>| reading.failure.is_none() && !reading.extraction.wanted().is_empty();
        let mut waiting: Vec<_> = readings.iter_mut().filter(waits).collect();
        let wanted: Vec<(&Inspected, &[Range<u64>])> =
            waiting.iter().map(|reading| (reading.field, reading.extraction.wanted())).collect();
        let parts = self.store.read_parts(&wanted);
        for (reading, parts) in waiting.iter_mut().zip(parts) {
            let supplied = parts.map_err(Error::from).and_then(|parts| {
                reading.extraction.supply(&parts).map_err(|error| Error::of_field(reading.field, error))
            });
            reading.failure = supplied.err();
        }
        !waiting.is_empty()
    }

    /// Bytes of a field.
    fn bytes(&self, field: &Inspected, range: Range<u64>) -> Result<Vec<u8>> {
        let parts = self.store.read_parts(&[(field, &[range])]).pop().transpose()?;
        Ok(parts.into_iter().flatten().next().unwrap_or_default())
    }

    /// The values of an adopted field by its jump index. Each part of it would be read and verified as a whole.
    fn read_adopted(&self, field: &Inspected, info: &JumpInfo) -> Result<Row> {
        let message = self.bytes(field, 0..field.location.length)?;
        let check = |grid| self.check_grid(field, grid);
        let (grid, values) = decode_by(info, field, &message, &self.choice, check)?;
        Ok(Row { key: field.key.clone(), grid, values })
    }

    /// The values of a field whose jump index cannot be used. One is made if its packing has one, and kept if it `is_lacking`.
    fn read_whole(&self, field: &Inspected, is_lacking: bool) -> Result<Row> {
        let message = self.bytes(field, 0..field.location.length)?;
        let decoded = decode(field, &message, &self.choice, |grid| self.check_grid(field, grid))?;
        match decoded.index {
            Some(info) => {
                self.count_indexed();
                if is_lacking {
                    self.keep(field, info.to_bytes());
                }
            }
            None => self.count_whole(),
        }
        Ok(Row { key: field.key.clone(), grid: decoded.grid, values: decoded.values })
    }
}
