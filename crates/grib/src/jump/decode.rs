//! Decoding packed values, and whole messages.
//!
//! What must stay true: an interval of a stream is decoded once for all runs of values that touch it.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::JumpError;
use super::info::{JumpInfo, Stream};
use super::mask::{Bitmap, CHUNK, Mask};
use super::simple;
use crate::grid::POINTS_MAX;

/// The fewest points for which a thread is worth its start.
const SHARE_MIN: usize = 1 << 16;

/// Packed values that follow each other, and where they go in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) values: Range<u64>,
    pub(super) to: usize,
}

/// The part of a run that lies in one interval. Values are counted from the interval's first.
struct Piece {
    interval: usize,
    values: Range<usize>,
    to: usize,
}

impl JumpInfo {
    /// Decodes all values: one for each point, in the message's order, NaN where it has none. They equal those of ecCodes bit
    /// for bit. Up to `threads` threads share the work of a large field. This thread is one of them.
    ///
    /// # Errors
    /// [`JumpError::TooLarge`], and [`JumpError::CorruptMessage`] if `message` cannot be the one of which this is the index.
    pub fn decode(&self, message: &[u8], threads: usize) -> Result<Vec<f64>, JumpError> {
        let too_large = JumpError::TooLarge { values: self.points };
        let points = usize::try_from(self.points).map_err(|_| too_large)?;
        let mut values = allocate(points)?;
        self.decode_into(message, threads, &mut values)?;
        Ok(values)
    }

    /// As [`decode`](Self::decode), into memory of the caller's.
    ///
    /// # Errors
    /// As [`decode`](Self::decode), and [`JumpError::OutOfRange`] if `values` is not as long as there are points.
    pub fn decode_into(&self, message: &[u8], threads: usize, values: &mut [f64]) -> Result<(), JumpError> {
        if values.len() as u64 != self.points {
            return Err(JumpError::OutOfRange { start: 0, end: values.len() as u64, points: self.points });
        }
        self.decode_shared(message, threads, values, thread::Builder::new)
    }

    /// Decodes shares of the values on this thread, and on those that `builder` can start.
    fn decode_shared(
        &self,
        message: &[u8],
        threads: usize,
        values: &mut [f64],
        builder: impl Fn() -> thread::Builder,
    ) -> Result<(), JumpError> {
        let share = values.len().div_ceil(threads.max(1)).max(SHARE_MIN).next_multiple_of(self.unit());
        let count = values.len().div_ceil(share);
        let shares = Mutex::new((0..).step_by(share).zip(values.chunks_mut(share)));
        let next = || shares.lock().unwrap_or_else(PoisonError::into_inner).next();
        let decode =
            || std::iter::from_fn(next).try_for_each(|(start, part)| self.decode_part(message, start, part));
        thread::scope(|scope| {
            // Where the system gives no thread, those that run decode its share.
            let others: Vec<_> =
                (1..count).map_while(|_| builder().spawn_scoped(scope, decode).ok()).collect();
            let own = decode();
            let results = others
                .into_iter()
                .map(|other| other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            results.fold(own, Result::and)
        })
    }

    /// Points that are best decoded together.
    fn unit(&self) -> usize {
        match (&self.mask, &self.stream) {
            (Some(_), _) => CHUNK as usize,
            (None, Some(stream)) => stream.ccsds.interval() as usize,
            (None, None) => 8,
        }
    }

    /// Decodes the points from `start` on, which begin a chunk of the bitmap.
    fn decode_part(&self, message: &[u8], start: u64, points: &mut [f64]) -> Result<(), JumpError> {
        let end = start + points.len() as u64;
        let data = |range: Range<u64>| part(message, range);
        let Some(mask) = &self.mask else {
            return self.unpack(&[Run { values: start..end, to: 0 }], data, points);
        };
        let first = start / CHUNK * CHUNK;
        let bitmap = Bitmap::new(part(message, mask.bytes(&(start..end)))?, first);
        let values = mask.values(&bitmap, &(start..end));
        let mut present = allocate((values.end - values.start) as usize)?;
        self.unpack(&[Run { values, to: 0 }], data, &mut present)?;
        bitmap.spread(start, &present, points)
    }

    /// The bytes of the message from which packed values are decoded; `None` if none is needed.
    pub(super) fn bytes_of(&self, values: &Range<u64>) -> Option<Range<u64>> {
        if values.is_empty() || self.bits == 0 {
            return None;
        }
        let bits = match &self.stream {
            None => values.start * u64::from(self.bits)..values.end * u64::from(self.bits),
            Some(stream) => {
                let interval = u64::from(stream.ccsds.interval());
                let (first, last) = (values.start / interval, (values.end - 1) / interval);
                self.bits_of(stream, first as usize).start..self.bits_of(stream, last as usize).end
            }
        };
        Some(self.data.start + bits.start / 8..self.data.start + bits.end.div_ceil(8))
    }

    /// The bits of an interval. Where the last ends is not known, so it has all bits to the end.
    fn bits_of(&self, stream: &Stream, interval: usize) -> Range<u64> {
        let end = (self.data.end - self.data.start) * 8;
        let start = |interval| stream.starts.get(interval).copied().unwrap_or(end);
        start(interval)..start(interval + 1)
    }

    /// Decodes packed values to where they go in `list`. `data` gives bytes of the message.
    pub(super) fn unpack<'d>(
        &self,
        runs: &[Run],
        data: impl Fn(Range<u64>) -> Result<&'d [u8], JumpError>,
        list: &mut [f64],
    ) -> Result<(), JumpError> {
        if runs.iter().any(|run| run.values.end > self.values) {
            return Err(JumpError::corrupt("its bitmap has more points than there are values"));
        }
        if let Some(stream) = &self.stream {
            return self.unpack_stream(stream, runs, data, list);
        }
        let factors = self.scaling.factors::<f64>();
        for Run { values, to } in runs {
            let list = destination(list, *to, (values.end - values.start) as usize)?;
            match self.bytes_of(values) {
                // ecCodes applies no decimal scale to a constant.
                None => list.fill(self.scaling.reference),
                Some(bytes) => {
                    let first = values.start * u64::from(self.bits) % 8;
                    simple::unpack(data(bytes)?, first, self.bits, factors, list)?;
                }
            }
        }
        Ok(())
    }

    fn unpack_stream<'d>(
        &self,
        stream: &Stream,
        runs: &[Run],
        data: impl Fn(Range<u64>) -> Result<&'d [u8], JumpError>,
        list: &mut [f64],
    ) -> Result<(), JumpError> {
        let factors = self.scaling.factors::<f64>();
        let mut pieces = pieces(runs, u64::from(stream.ccsds.interval()));
        pieces.sort_unstable_by_key(|piece| piece.interval);
        let mut numbers = Vec::new();
        for pieces in pieces.chunk_by(|one, other| one.interval == other.interval) {
            let Some(interval) = pieces.first().map(|piece| piece.interval) else { continue };
            let wanted = pieces.iter().map(|piece| piece.values.end).max().unwrap_or(0);
            let bits = self.bits_of(stream, interval);
            let bytes = self.data.start + bits.start / 8..self.data.start + bits.end.div_ceil(8);
            stream.ccsds.decode(data(bytes)?, bits.start % 8, &mut numbers, wanted)?;
            for Piece { values, to, .. } in pieces {
                let list = destination(list, *to, values.len())?;
                for (value, number) in list.iter_mut().zip(numbers.get(values.clone()).unwrap_or_default()) {
                    *value = factors.value(*number);
                }
            }
        }
        Ok(())
    }
}

impl Mask {
    /// The bytes of the message with the bits of these points, from the start of their chunk.
    pub(super) fn bytes(&self, points: &Range<u64>) -> Range<u64> {
        let start = points.start / CHUNK * CHUNK / 8;
        self.offset + start..self.offset + start.max(points.end.div_ceil(8))
    }

    /// Which of the packed values these points have, by a bitmap that begins with their chunk.
    pub(super) fn values(&self, bitmap: &Bitmap<'_>, points: &Range<u64>) -> Range<u64> {
        let chunk = points.start / CHUNK;
        let known = usize::try_from(chunk).ok().and_then(|chunk| self.before.get(chunk)).copied();
        let start = known.unwrap_or(0) + bitmap.count(chunk * CHUNK, points.start);
        start..start + bitmap.count(points.start, points.end)
    }
}

/// Cuts runs where intervals end.
fn pieces(runs: &[Run], interval: u64) -> Vec<Piece> {
    let mut pieces = Vec::with_capacity(runs.len());
    for Run { values, to } in runs {
        let mut start = values.start;
        while start < values.end {
            let base = start / interval * interval;
            let end = values.end.min(base + interval);
            pieces.push(Piece {
                interval: (start / interval) as usize,
                values: (start - base) as usize..(end - base) as usize,
                to: to + (start - values.start) as usize,
            });
            start = end;
        }
    }
    pieces
}

fn destination(list: &mut [f64], start: usize, length: usize) -> Result<&mut [f64], JumpError> {
    let end = start.checked_add(length);
    let found = end.and_then(|end| list.get_mut(start..end));
    found.ok_or(JumpError::TooLarge { values: length as u64 })
}

fn part(message: &[u8], range: Range<u64>) -> Result<&[u8], JumpError> {
    let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
    let found = message.get(place(range.start)..place(range.end));
    found.ok_or_else(|| JumpError::ShortRead {
        start: range.start,
        end: range.end,
        found: (message.len() as u64).saturating_sub(range.start),
    })
}

/// Space for values. A constant field claims any number of them in a few bytes, so there is a limit.
pub(super) fn allocate(length: usize) -> Result<Vec<f64>, JumpError> {
    let too_large = || JumpError::TooLarge { values: length as u64 };
    if length > POINTS_MAX {
        return Err(too_large());
    }
    // `vec!` takes memory that is zero already, which costs nothing before it is written. But it ends the process where there is too
    // little memory, so that much is reserved first.
    Vec::<f64>::new().try_reserve_exact(length).map_err(|_| too_large())?;
    Ok(vec![0.0; length])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jump::scaling::Scaling;

    #[test]
    fn a_field_is_decoded_where_the_system_starts_no_thread() {
        let points = 5 * SHARE_MIN as u64 / 2;
        let info = JumpInfo {
            grid: 0..0,
            grid_md5: [0; 16],
            points,
            scaling: Scaling { reference: 0.0, binary: 0, decimal: 0 },
            bits: 8,
            values: points,
            data: 0..points,
            stream: None,
            mask: None,
        };
        let message: Vec<u8> = (0..points).map(|point| (point % 251) as u8).collect();
        // No address space has such a stack.
        let builder = || thread::Builder::new().stack_size(1 << 60);
        assert!(builder().spawn(|| ()).is_err());
        let mut values = vec![f64::NAN; points as usize];
        info.decode_shared(&message, 3, &mut values, builder).unwrap();
        assert!(values.iter().zip(&message).all(|(value, byte)| *value == f64::from(*byte)));
        assert_eq!(info.decode(&message, 3).unwrap(), values);
        assert!(info.decode(&message[1..], 3).is_err());
    }
}
