//! Reading elements of datasets.
//!
//! Pieces of chunks without filters go from the store into the caller's buffer. Where pieces are many and small, the part of the chunk
//! that they span is read once and spread. Chunks are read in batches, one request each.

use std::{
    mem,
    ops::Range,
    slice,
    sync::{Arc, Mutex, PoisonError},
};

use isotach_object::{ArrayRead, Cell, Container, Error as ObjectError};

use crate::{
    Data, Error, Object, Result, Run,
    chunk::{Key, State, Target, key_of, place_of},
    grid::{Grid, Piece},
    layout::{array, in_place_cell},
    parallel,
    ranges::Patches,
    records::{Chunk, Form},
};

/// Pieces from this length on are read one by one.
const DIRECT: usize = 16 << 10;
/// A chunk with at most so many pieces has them read one by one.
const FEW: usize = 4;
/// How many bytes are read at once into memory of ours.
const BATCH_BYTES: usize = 32 << 20;
/// How many reads are in a batch.
const BATCH_READS: usize = 4096;

/// Where the bytes of a chunk come from.
enum Source {
    /// They are known.
    Whole(Arc<Vec<u8>>),
    /// An array or a chunk in place, without filters, and what was written over it.
    Plain { is_own: bool, form: Form, patches: Option<Arc<Patches>> },
    /// An array whose bytes are filtered.
    Filtered { is_own: bool, chunk: Arc<Chunk> },
    /// It is not stored.
    Fill,
}

/// A chunk of which pieces are read.
struct Job {
    key: Key,
    /// In the sorted pieces.
    pieces: Range<usize>,
    source: Source,
}

/// The dataset that is read, with handles on what is stored.
struct Reader<'r> {
    target: Target<'r>,
    base: Arc<dyn Container>,
    own: Arc<dyn Container>,
    store: &'r crate::store::Store,
}

/// A read of a batch: into the caller's buffer, or into one of ours.
struct Wanted {
    job: usize,
    is_own: bool,
    offset: u64,
    into: Into,
}

enum Into {
    Packed(Range<usize>),
    /// The pieces that it is spread over.
    Buffer(Vec<u8>, Range<usize>),
}

impl Object {
    /// Reads elements of a dataset: packed, in the order of the runs. Those that were never written read as the fill value.
    ///
    /// # Errors
    /// `InvalidInput` for a run outside of the extent or a buffer of another length; `Unsupported` for a filter that is not known;
    /// `Corrupt`, `Object`.
    pub fn read(&self, runs: &[Run], packed: &mut [u8]) -> Result<()> {
        let _shared = self.file().shared();
        let header = self.header()?;
        let data = self.data_of(&header)?;
        let grid = Grid::of(data)?;
        grid.check(runs, packed.len())?;
        let target = Target::new(self.number(), data, &grid);
        grid.pieces(runs, |mut pieces| {
            // Stable, so that of pieces that are one and the same the order stays.
            pieces.sort_by_key(|piece| piece.chunk);
            self.file().read_again(|| self.read_pieces(target, &grid, &pieces, packed))
        })
    }

    /// How the elements of a dataset are stored.
    pub(crate) fn data_of<'h>(&self, header: &'h crate::Header) -> Result<&'h Data> {
        let wrong = || Error::invalid(format!("elements of a {:?}", self.kind()), "a dataset");
        header.data.as_ref().ok_or_else(wrong)
    }

    pub(crate) fn read_pieces(
        &self,
        target: Target<'_>,
        grid: &Grid,
        pieces: &[Piece],
        packed: &mut [u8],
    ) -> Result<()> {
        let (jobs, reader) = self.jobs(target, grid, pieces)?;
        reader.run(&jobs, pieces, packed)
    }

    /// The chunks of sorted pieces, and where their bytes come from.
    fn jobs<'r>(
        &'r self,
        target: Target<'r>,
        grid: &Grid,
        pieces: &[Piece],
    ) -> Result<(Vec<Job>, Reader<'r>)> {
        let groups: Vec<(Key, Range<usize>)> = groups(pieces)
            .map(|range| (key_of(&grid.coordinates(pieces[range.start].chunk)), range))
            .collect();
        let number = self.number();
        let mut session = self.file().session();
        let keys: Vec<&Key> = groups.iter().map(|(key, _)| key).collect();
        let stored = session.base_chunks(number, &keys)?;
        let is_any_stored = stored.iter().any(Option::is_some);
        let own = self.file().store.container.clone();
        let base = if is_any_stored { session.base()? } else { own.clone() };
        let reader = Reader { target, base, own, store: &self.file().store };
        let jobs = groups.into_iter().zip(stored).map(|((key, pieces), stored)| {
            let dirty = session.chunks.get(&(number, key.clone()));
            let source = match dirty.map(|dirty| &dirty.state) {
                Some(State::Whole(whole)) => Source::Whole(whole.clone()),
                Some(State::Stored(chunk)) => reader.source(true, Some(chunk), None),
                Some(State::Patches(patches)) => reader.source(false, stored.as_ref(), Some(patches)),
                Some(State::Removed) => Source::Fill,
                None => reader.source(false, stored.as_ref(), None),
            };
            Job { key, pieces, source }
        });
        Ok((jobs.collect(), reader))
    }
}

/// The ranges of sorted pieces of one chunk each.
pub(crate) fn groups(pieces: &[Piece]) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    pieces.chunk_by(|one, other| one.chunk == other.chunk).map(move |group| {
        let range = start..start + group.len();
        start = range.end;
        range
    })
}

impl Reader<'_> {
    fn source(&self, is_own: bool, chunk: Option<&Arc<Chunk>>, patches: Option<&Arc<Patches>>) -> Source {
        let Some(chunk) = chunk else { return Source::Fill };
        let is_plain = self.target.data.filters.is_empty() && !matches!(chunk.form, Form::Inline(_));
        match chunk.form {
            _ if is_plain => Source::Plain { is_own, form: chunk.form.clone(), patches: patches.cloned() },
            Form::Array(number) => match self.store.decoded(number) {
                Some(whole) => Source::Whole(whole),
                None => Source::Filtered { is_own, chunk: chunk.clone() },
            },
            Form::Inline(_) | Form::InPlace => Source::Filtered { is_own, chunk: chunk.clone() },
        }
    }

    /// The error of reading a chunk, which names the chunk by its first element.
    fn in_chunk(&self, job: &Job, error: Error) -> Error {
        let (Error::Object(ObjectError::Corrupt { what, place }) | Error::Corrupt { what, place }) = error
        else {
            return error;
        };
        let sizes = &self.target.data.chunk;
        let first: Vec<u64> = match place_of(&job.key, sizes.len()) {
            Some(places) => {
                places.iter().zip(sizes).map(|(place, size)| place.saturating_mul(*size)).collect()
            }
            None => Vec::new(),
        };
        Error::corrupt(format!("the chunk at {first:?}: {what}"), place)
    }

    fn damaged(&self, what: &str) -> Error {
        Error::corrupt(what, format!("a chunk of dataset {}", self.target.number))
    }

    /// Reads the pieces of all chunks, batch by batch.
    fn run(&self, jobs: &[Job], pieces: &[Piece], packed: &mut [u8]) -> Result<()> {
        let (mut wanted, mut bytes) = (Vec::new(), 0);
        for (at, job) in jobs.iter().enumerate() {
            let of_job = &pieces[job.pieces.clone()];
            match &job.source {
                Source::Fill => self.fill(of_job, packed),
                Source::Whole(whole) => spread(whole, 0, of_job, packed),
                Source::Plain { is_own, .. } => self.plain(at, *is_own, job, of_job, &mut wanted, &mut bytes),
                Source::Filtered { is_own, chunk } => match &chunk.form {
                    Form::Inline(stored) => spread(&self.decoded(chunk, stored.clone())?, 0, of_job, packed),
                    Form::Array(_) | Form::InPlace => {
                        let buffer = vec![0; self.length_to_read(job, chunk)?];
                        bytes += buffer.len();
                        let into = Into::Buffer(buffer, job.pieces.clone());
                        wanted.push(Wanted { job: at, is_own: *is_own, offset: 0, into });
                    }
                },
            }
            if bytes > BATCH_BYTES || wanted.len() > BATCH_READS {
                self.read(jobs, mem::take(&mut wanted), pieces, packed)?;
                bytes = 0;
            }
        }
        self.read(jobs, wanted, pieces, packed)
    }

    /// The length of a chunk as stored. A record that is far from what a chunk has after filters is not trusted.
    fn length_to_read(&self, job: &Job, chunk: &Chunk) -> Result<usize> {
        let length = chunk.stored_length;
        if length / 2 > self.target.length as u64 + (1 << 20) {
            let is_own = matches!(job.source, Source::Filtered { is_own: true, .. });
            let container = if is_own { &self.own } else { &self.base };
            if container.size_many(&[self.cell(job)])?.pop().flatten().is_none_or(|size| size < length) {
                return Err(self.in_chunk(job, self.damaged("it is missing or short")));
            }
        }
        Ok(length as usize)
    }

    /// The reads of a chunk without filters.
    fn plain(
        &self,
        at: usize,
        is_own: bool,
        job: &Job,
        pieces: &[Piece],
        wanted: &mut Vec<Wanted>,
        bytes: &mut usize,
    ) {
        let total: usize = pieces.iter().map(|piece| piece.length).sum();
        if pieces.len() <= FEW || total / pieces.len().max(1) >= DIRECT {
            wanted.extend(pieces.iter().map(|piece| {
                let into = Into::Packed(piece.packed..piece.packed + piece.length);
                Wanted { job: at, is_own, offset: piece.offset, into }
            }));
            return;
        }
        let start = pieces.iter().map(|piece| piece.offset).min().unwrap_or(0);
        let end = pieces.iter().map(Piece::end).max().unwrap_or(start);
        *bytes += (end - start) as usize;
        let into = Into::Buffer(vec![0; (end - start) as usize], job.pieces.clone());
        wanted.push(Wanted { job: at, is_own, offset: start, into });
    }

    /// Reads a batch: what goes into the caller's buffer goes there at once.
    fn read(&self, jobs: &[Job], mut wanted: Vec<Wanted>, pieces: &[Piece], packed: &mut [u8]) -> Result<()> {
        for is_own in [false, true] {
            let container = if is_own { &self.own } else { &self.base };
            let mut some: Vec<&mut Wanted> = wanted.iter_mut().filter(|read| read.is_own == is_own).collect();
            // In the order of the caller's buffer, which is taken apart from its beginning.
            some.sort_by_key(|read| match &read.into {
                Into::Packed(range) => range.start,
                Into::Buffer(..) => 0,
            });
            let (mut left, mut taken) = (&mut *packed, 0);
            let mut reads = Vec::with_capacity(some.len());
            let of: Vec<&Job> = some.iter().map(|read| &jobs[read.job]).collect();
            for read in some {
                let buffer = match &mut read.into {
                    Into::Buffer(buffer, _) => buffer.as_mut_slice(),
                    Into::Packed(range) => {
                        let (_, behind) = mem::take(&mut left).split_at_mut(range.start - taken);
                        let (buffer, behind) = behind.split_at_mut(range.len());
                        (left, taken) = (behind, range.end);
                        buffer
                    }
                };
                let cell = self.cell(&jobs[read.job]);
                reads.push(ArrayRead { cell, offset: read.offset, buffer, filled: 0 });
            }
            if reads.is_empty() {
                continue;
            }
            if container.read_many(&mut reads).is_err() {
                // One by one, to name the chunk.
                for (read, job) in reads.iter_mut().zip(&of) {
                    container
                        .read_many(slice::from_mut(read))
                        .map_err(|error| self.in_chunk(job, error.into()))?;
                }
            }
            if let Some(at) = reads.iter().position(|read| read.filled != read.buffer.len()) {
                return Err(self.in_chunk(of[at], self.damaged("it is missing or short")));
            }
        }
        let decoded = self.decode(jobs, &mut wanted)?;
        for (read, whole) in wanted.into_iter().zip(decoded) {
            self.finish(&jobs[read.job], read, whole, pieces, packed);
        }
        Ok(())
    }

    /// Of each read of filtered bytes, the chunk.
    fn decode(&self, jobs: &[Job], wanted: &mut [Wanted]) -> Result<Vec<Option<Arc<Vec<u8>>>>> {
        let stored: Vec<_> = wanted
            .iter_mut()
            .map(|read| match (&jobs[read.job].source, &mut read.into) {
                (Source::Filtered { chunk, .. }, Into::Buffer(buffer, _)) => {
                    Some((chunk.clone(), Mutex::new(mem::take(buffer))))
                }
                _ => None,
            })
            .collect();
        let bytes = stored.iter().flatten().count() * self.target.length;
        parallel::map(stored.len(), bytes, |at, _| {
            let Some((chunk, stored)) = &stored[at] else { return Ok(None) };
            let stored = mem::take(&mut *stored.lock().unwrap_or_else(PoisonError::into_inner));
            let decoded =
                self.decoded(chunk, stored).map_err(|error| self.in_chunk(&jobs[wanted[at].job], error));
            decoded.map(Arc::new).map(Some)
        })
    }

    fn cell<'j>(&self, job: &'j Job) -> Cell<'j> {
        let form = match &job.source {
            Source::Plain { form, .. } => form,
            Source::Filtered { chunk, .. } => &chunk.form,
            Source::Whole(_) | Source::Fill => &Form::InPlace,
        };
        match form {
            Form::Array(number) => Cell::array(array(*number)),
            Form::Inline(_) | Form::InPlace => in_place_cell(self.target.number, &job.key),
        }
    }

    /// What remains to be done with bytes that were read.
    fn finish(
        &self,
        job: &Job,
        read: Wanted,
        whole: Option<Arc<Vec<u8>>>,
        pieces: &[Piece],
        packed: &mut [u8],
    ) {
        match (&job.source, read.into) {
            (Source::Plain { patches: Some(patches), .. }, Into::Packed(range)) => {
                patches.apply(read.offset, &mut packed[range]);
            }
            (Source::Plain { patches, .. }, Into::Buffer(mut buffer, of_job)) => {
                patches.iter().for_each(|patches| patches.apply(read.offset, &mut buffer));
                spread(&buffer, read.offset, &pieces[of_job], packed);
            }
            (Source::Filtered { chunk, .. }, Into::Buffer(_, of_job)) => {
                let (Some(whole), of_job) = (whole, &pieces[of_job]) else { return };
                spread(&whole, 0, of_job, packed);
                let total: usize = of_job.iter().map(|piece| piece.length).sum();
                // Who reads a chunk in parts comes back for the rest.
                if let (Form::Array(number), true) = (&chunk.form, total < self.target.length) {
                    self.store.keep_decoded(*number, &whole);
                }
            }
            _ => {}
        }
    }

    fn decoded(&self, chunk: &Chunk, stored: Vec<u8>) -> Result<Vec<u8>> {
        let place = || format!("a chunk of dataset {}", self.target.number);
        crate::filters::decode(&self.target.data.filters, chunk.mask, stored, self.target.length, &place)
    }

    fn fill(&self, pieces: &[Piece], packed: &mut [u8]) {
        for piece in pieces {
            let there = &mut packed[piece.packed..piece.packed + piece.length];
            match &self.target.data.fill {
                None => there.fill(0),
                Some(fill) => {
                    there
                        .chunks_mut(fill.len())
                        .for_each(|element| element.copy_from_slice(&fill[..element.len()]));
                }
            }
        }
    }
}

/// Copies pieces of a chunk out of its bytes from `start` on.
fn spread(bytes: &[u8], start: u64, pieces: &[Piece], packed: &mut [u8]) {
    for piece in pieces {
        let from = (piece.offset - start) as usize;
        packed[piece.packed..piece.packed + piece.length].copy_from_slice(&bytes[from..from + piece.length]);
    }
}
