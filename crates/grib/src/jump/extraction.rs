//! Decoding some points: which bytes to read, and what they give.
//!
//! What must stay true: the bytes asked for are those of the points alone, rounded to intervals of the stream and to chunks
//! of the bitmap, and the values are those of the message decoded whole.

use std::ops::Range;

use super::JumpError;
use super::decode::{Run, allocate};
use super::info::JumpInfo;
use super::mask::{Bitmap, CHUNK, Mask};

/// Bytes that lie less than this apart are read at once: a page costs as much as a part of it.
const GAP: u64 = 4096;

/// The work of decoding some points of one message, for callers that read bytes of many messages at once.
///
/// As long as [`wanted`](Self::wanted) names bytes of the message, read them and [`supply`](Self::supply) them: twice if the
/// message has a bitmap, else once.
#[derive(Debug)]
pub struct Extraction<'i> {
    info: &'i JumpInfo,
    selections: Vec<Selection>,
    /// Whether the packed values of the selections are known.
    knows_values: bool,
    /// Whether all values are decoded.
    is_done: bool,
    wanted: Vec<Range<u64>>,
    /// The bits of the bitmap that were read, by the first byte of each part. Points of one chunk share them.
    bitmap: Vec<(u64, Vec<u8>)>,
    values: Vec<f64>,
}

/// A range of points to decode.
#[derive(Debug)]
struct Selection {
    points: Range<u64>,
    /// Where their values go.
    to: Range<usize>,
    /// Which of the packed values they have.
    packed: Range<u64>,
}

impl JumpInfo {
    /// Begins to decode the points of these ranges, which may be in any order and overlap.
    ///
    /// # Errors
    /// [`JumpError::OutOfRange`], and [`JumpError::TooLarge`] if the values do not fit into memory.
    pub fn extraction(&self, ranges: &[Range<u64>]) -> Result<Extraction<'_>, JumpError> {
        let mut selections = Vec::with_capacity(ranges.len());
        let mut length = 0_usize;
        for points in ranges {
            let &Range { start, end } = points;
            if start > end || end > self.points {
                return Err(JumpError::OutOfRange { start, end, points: self.points });
            }
            let count = usize::try_from(end - start).ok().and_then(|count| length.checked_add(count));
            let to = length..count.ok_or(JumpError::TooLarge { values: end - start })?;
            length = to.end;
            let packed = if self.mask.is_none() { start..end } else { 0..0 };
            selections.push(Selection { points: start..end, to, packed });
        }
        let values = allocate(length)?;
        let knows_values = self.mask.is_none();
        let mut work = Extraction {
            info: self,
            selections,
            knows_values,
            is_done: false,
            wanted: Vec::new(),
            bitmap: Vec::new(),
            values,
        };
        work.plan_reads();
        if work.wanted.is_empty() {
            work.supply::<&[u8]>(&[])?;
        }
        Ok(work)
    }

    /// The values of the points of these ranges, one behind the other in the order asked for, NaN where a point has none.
    /// `read` gives bytes of the message.
    ///
    /// # Errors
    /// Those of [`extraction`](Self::extraction), of [`supply`](Extraction::supply) and of `read`.
    pub fn extract<B: AsRef<[u8]>, E: From<JumpError>>(
        &self,
        ranges: &[Range<u64>],
        mut read: impl FnMut(Range<u64>) -> Result<B, E>,
    ) -> Result<Vec<f64>, E> {
        let mut work = self.extraction(ranges)?;
        while !work.wanted().is_empty() {
            let parts = work.wanted().iter().cloned().map(&mut read).collect::<Result<Vec<B>, E>>()?;
            work.supply(&parts)?;
        }
        Ok(work.finish()?)
    }
}

impl Extraction<'_> {
    /// The bytes of the message that are needed next, in ascending order; none if the work is done.
    #[must_use]
    pub fn wanted(&self) -> &[Range<u64>] {
        &self.wanted
    }

    /// Takes the bytes of each range of [`wanted`](Self::wanted). After an error the same bytes are wanted again.
    ///
    /// # Errors
    /// [`JumpError::ShortRead`] if a part is not as long as its range, [`JumpError::CorruptMessage`] if the bytes cannot be
    /// those of the message of which this is the index.
    pub fn supply<B: AsRef<[u8]>>(&mut self, parts: &[B]) -> Result<(), JumpError> {
        if self.is_done {
            return Ok(());
        }
        let wanted = std::mem::take(&mut self.wanted);
        let outcome = Parts::new(&wanted, parts).and_then(|parts| self.advance(&parts));
        if outcome.is_err() {
            self.wanted = wanted;
        }
        outcome
    }

    /// The values of all ranges, one behind the other in the order asked for, NaN where a point has none.
    ///
    /// # Errors
    /// [`JumpError::Unfinished`] as long as bytes are wanted.
    pub fn finish(self) -> Result<Vec<f64>, JumpError> {
        if self.is_done { Ok(self.values) } else { Err(JumpError::Unfinished) }
    }

    fn advance(&mut self, parts: &Parts<'_>) -> Result<(), JumpError> {
        if !self.knows_values {
            self.look_up(parts)?;
            self.plan_reads();
            if !self.wanted.is_empty() {
                return Ok(());
            }
        }
        self.decode(parts)?;
        self.is_done = true;
        Ok(())
    }

    /// Finds out which bytes are needed next.
    fn plan_reads(&mut self) {
        let info = self.info;
        let bytes = |selection: &Selection| match &info.mask {
            Some(mask) if !self.knows_values => {
                (!selection.points.is_empty()).then(|| mask.bytes(&selection.points))
            }
            _ => info.bytes_of(&selection.packed),
        };
        self.wanted = merged(self.selections.iter().filter_map(bytes).collect());
    }

    /// Finds the packed values of the points.
    fn look_up(&mut self, parts: &Parts<'_>) -> Result<(), JumpError> {
        let Some(mask) = &self.info.mask else { return Ok(()) };
        for selection in self.selections.iter_mut().filter(|selection| !selection.points.is_empty()) {
            selection.packed = mask.values(&parts.bits(mask, &selection.points)?, &selection.points);
        }
        self.bitmap = parts.parts.iter().map(|(start, bytes)| (*start, bytes.to_vec())).collect();
        self.knows_values = true;
        Ok(())
    }

    fn decode(&mut self, parts: &Parts<'_>) -> Result<(), JumpError> {
        let data = |range| parts.find(range);
        let Some(mask) = &self.info.mask else {
            let run =
                |selection: &Selection| Run { values: selection.packed.clone(), to: selection.to.start };
            let runs: Vec<Run> = self.selections.iter().map(run).collect();
            return self.info.unpack(&runs, data, &mut self.values);
        };
        let mut runs = Vec::with_capacity(self.selections.len());
        let mut length = 0;
        for selection in &self.selections {
            runs.push(Run { values: selection.packed.clone(), to: length });
            length += (selection.packed.end - selection.packed.start) as usize;
        }
        let mut packed = allocate(length)?;
        self.info.unpack(&runs, data, &mut packed)?;
        let bitmap = Parts { parts: self.bitmap.iter().map(|(start, bytes)| (*start, &bytes[..])).collect() };
        for (selection, run) in
            self.selections.iter().zip(&runs).filter(|(selection, _)| !selection.points.is_empty())
        {
            let bits = bitmap.bits(mask, &selection.points)?;
            let points = self.values.get_mut(selection.to.clone()).unwrap_or_default();
            bits.spread(selection.points.start, packed.get(run.to..).unwrap_or_default(), points)?;
        }
        Ok(())
    }
}

/// Bytes of the message that were read.
struct Parts<'p> {
    /// The first byte of each part, ascending, and its bytes.
    parts: Vec<(u64, &'p [u8])>,
}

impl<'p> Parts<'p> {
    fn new<B: AsRef<[u8]>>(wanted: &[Range<u64>], parts: &'p [B]) -> Result<Self, JumpError> {
        let mut parts = parts.iter().map(AsRef::as_ref);
        let pair = |range: &Range<u64>| {
            let bytes: &[u8] = parts.next().unwrap_or_default();
            let &Range { start, end } = range;
            let found = bytes.len() as u64;
            if found == end - start {
                Ok((start, bytes))
            } else {
                Err(JumpError::ShortRead { start, end, found })
            }
        };
        Ok(Self { parts: wanted.iter().map(pair).collect::<Result<_, _>>()? })
    }

    fn find(&self, range: Range<u64>) -> Result<&'p [u8], JumpError> {
        let behind = self.parts.partition_point(|(start, _)| *start <= range.start);
        let part = behind.checked_sub(1).and_then(|place| self.parts.get(place));
        let found = part.and_then(|(start, bytes)| {
            bytes.get(usize::try_from(range.start - start).ok()?..usize::try_from(range.end - start).ok()?)
        });
        found.ok_or(JumpError::ShortRead { start: range.start, end: range.end, found: 0 })
    }

    /// The bits of the bitmap from the chunk of these points on.
    fn bits(&self, mask: &Mask, points: &Range<u64>) -> Result<Bitmap<'p>, JumpError> {
        Ok(Bitmap::new(self.find(mask.bytes(points))?, points.start / CHUNK * CHUNK))
    }
}

/// Ranges in order, with those made one that overlap or lie near each other.
fn merged(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut merged: Vec<Range<u64>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end.saturating_add(GAP) => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::*;
    use crate::jump::scaling::Scaling;

    /// 80 points, of which every other has a value: the bitmap from byte 0 on, the values from byte 10 on.
    fn masked() -> (JumpInfo, Vec<u8>) {
        let info = JumpInfo {
            grid: 0..0,
            grid_md5: [0; 16],
            points: 80,
            scaling: Scaling { reference: 1.0, binary: 0, decimal: 0 },
            bits: 8,
            values: 40,
            data: 10..50,
            stream: None,
            mask: Some(Mask { offset: 0, before: vec![0] }),
        };
        (info, [vec![0b1010_1010; 10], (0..40).collect()].concat())
    }

    fn read<'m>(work: &Extraction<'_>, message: &'m [u8]) -> Vec<&'m [u8]> {
        let part = |range: &Range<u64>| &message[range.start as usize..range.end as usize];
        work.wanted().iter().map(part).collect()
    }

    #[test]
    fn bytes_that_were_refused_are_wanted_again() {
        let (info, message) = masked();
        let mut work = info.extraction(&[4..5, 78..80]).unwrap();
        for _ in 0..2 {
            let wanted = work.wanted().to_vec();
            let short = read(&work, &message).iter().map(|part| &part[1..]).collect::<Vec<_>>();
            assert!(matches!(work.supply(&short), Err(JumpError::ShortRead { .. })));
            assert!(work.supply::<&[u8]>(&[]).is_err());
            assert_eq!(work.wanted(), wanted);
            work.supply(&read(&work, &message)).unwrap();
        }
        assert!(work.wanted().is_empty());
        let values = work.finish().unwrap();
        assert!(values[..2] == [3.0, 40.0] && values[2].is_nan(), "{values:?}");
    }

    #[test]
    fn points_of_one_chunk_share_one_copy_of_its_bitmap() {
        let (info, message) = masked();
        let points: Vec<Range<u64>> = (0..80).map(|point| point..point + 1).collect();
        let mut work = info.extraction(&points).unwrap();
        work.supply(&read(&work, &message)).unwrap();
        assert_eq!(work.bitmap.iter().map(|(_, bytes)| bytes.len()).sum::<usize>(), 10);
        work.supply(&read(&work, &message)).unwrap();
        let values = work.finish().unwrap();
        let known = (0..40).flat_map(|number| [f64::from(number) + 1.0, f64::NAN]);
        assert!(
            values.len() == 80
                && values.iter().zip(known).all(|(value, known)| value.total_cmp(&known).is_eq())
        );
    }

    #[test]
    fn values_are_not_given_before_all_bytes_were_supplied() {
        let (info, message) = masked();
        let mut work = info.extraction(from_ref(&(4..5))).unwrap();
        work.supply(&read(&work, &message)).unwrap();
        for work in [work, info.extraction(from_ref(&(4..5))).unwrap()] {
            assert_eq!(work.finish(), Err(JumpError::Unfinished));
        }
        assert_eq!(info.extraction(from_ref(&(7..7))).unwrap().finish(), Ok(Vec::new()));
    }

    #[test]
    fn ranges_near_each_other_are_read_as_one() {
        let ranges = vec![90_000..90_010, 10..20, 4000..4050, 15..18];
        assert_eq!(merged(ranges), [10..4050, 90_000..90_010]);
    }

    #[test]
    fn bytes_are_found_in_the_part_that_has_them() {
        let read = [vec![1, 2, 3], vec![4, 5]];
        let parts = Parts::new(&[10..13, 100..102], &read).unwrap();
        assert_eq!(parts.find(11..13).unwrap(), [2, 3]);
        assert_eq!(parts.find(100..101).unwrap(), [4]);
        assert!(parts.find(9..11).is_err() && parts.find(12..14).is_err() && parts.find(102..103).is_err());
        assert!(matches!(
            Parts::new(from_ref(&(10..14)), &read),
            Err(JumpError::ShortRead { start: 10, end: 14, found: 3 })
        ));
    }
}
