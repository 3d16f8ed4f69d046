//! Writing on a thread of its own, while the caller obtains the next bytes.
//!
//! What must stay true: bytes reach the file in the order in which they come, and by one thread at a time. A failed write fails a later
//! call, and nothing is written after it.

use std::{
    fs::File,
    io::{self, Write},
    mem,
    sync::mpsc::{Receiver, Sender, channel},
    thread,
};

use rustix::pipe::{fcntl_getpipe_size, fcntl_setpipe_size};

/// The bytes that are gathered for one write.
const GATHERED: usize = 1 << 20;
/// Longer pieces are written at once, without a copy. Who reads such fields reads the next one on another thread already.
const DIRECT: usize = 256 << 10;
/// What a pipe should hold: the most that the system allows every user. With less, writer and reader wait for each other more often.
const PIPE: usize = 1 << 20;
/// The buffers: one is filled, one waits, and one is written.
const BUFFERS: usize = 3;

/// A file that is written while the caller goes on. Dropping it writes what is gathered.
#[derive(Debug)]
pub(crate) struct WriteBehind {
    file: File,
    gathered: Vec<u8>,
    writer: Option<Writer>,
    has_failed: bool,
}

/// The thread that writes. It ends after its first failed write.
#[derive(Debug)]
struct Writer {
    full: Sender<Vec<u8>>,
    /// Each buffer comes back with the outcome of its write.
    written: Receiver<io::Result<Vec<u8>>>,
    /// The buffers that have not come back.
    under_way: usize,
}

impl WriteBehind {
    /// Writes at the present position of the file.
    pub(crate) fn new(file: File) -> Self {
        if fcntl_getpipe_size(&file).is_ok_and(|size| size < PIPE) {
            // A user with many pipes may be refused, and then this one stays as it is.
            let _ = fcntl_setpipe_size(&file, PIPE);
        }
        Self { file, gathered: Vec::new(), writer: None, has_failed: false }
    }

    /// Appends bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let written = self.try_write(bytes);
        self.has_failed |= written.is_err();
        written
    }

    /// Writes what is gathered, and waits until everything is written.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        let written = self.write_gathered();
        self.has_failed |= written.is_err();
        written
    }

    fn try_write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.len() >= DIRECT {
            self.write_gathered()?;
            return self.file.write_all(bytes);
        }
        if self.gathered.len() + bytes.len() > GATHERED {
            self.hand_over()?;
        }
        self.gathered.extend_from_slice(bytes);
        Ok(())
    }

    fn write_gathered(&mut self) -> io::Result<()> {
        if let Some(writer) = &mut self.writer {
            writer.wait_for_all()?;
        }
        self.file.write_all(&self.gathered)?;
        self.gathered.clear();
        Ok(())
    }

    /// Lets the thread write what is gathered.
    fn hand_over(&mut self) -> io::Result<()> {
        let writer = match &mut self.writer {
            Some(writer) => writer,
            None => match Writer::start(&self.file) {
                Some(started) => self.writer.insert(started),
                None => return self.write_gathered(),
            },
        };
        let next = writer.next_buffer()?;
        writer.write(mem::replace(&mut self.gathered, next))
    }
}

impl Drop for WriteBehind {
    fn drop(&mut self) {
        // As after a failure of what the caller reads: the output has everything before it.
        if !self.has_failed {
            let _ = self.write_gathered();
        }
    }
}

impl Writer {
    /// `None` where there is no second processor, or no thread.
    fn start(file: &File) -> Option<Self> {
        if thread::available_parallelism().map_or(1, usize::from) < 2 {
            return None;
        }
        let mut file = file.try_clone().ok()?;
        let ((full, to_write), (done, written)) = (channel::<Vec<u8>>(), channel());
        let work = move || {
            for bytes in to_write {
                let outcome = file.write_all(&bytes);
                let is_last = outcome.is_err();
                if done.send(outcome.map(|()| bytes)).is_err() || is_last {
                    return;
                }
            }
        };
        thread::Builder::new().name("isotach-write".to_owned()).spawn(work).ok()?;
        Some(Self { full, written, under_way: 0 })
    }

    fn write(&mut self, bytes: Vec<u8>) -> io::Result<()> {
        if self.full.send(bytes).is_err() {
            // The error that ended the thread is among the outcomes.
            return self.wait_for_all().and(Err(ended()));
        }
        self.under_way += 1;
        Ok(())
    }

    /// An empty buffer, which may have to be written first.
    fn next_buffer(&mut self) -> io::Result<Vec<u8>> {
        if self.under_way + 1 < BUFFERS {
            return Ok(Vec::with_capacity(GATHERED));
        }
        let mut buffer = self.wait_for_one()?;
        buffer.clear();
        Ok(buffer)
    }

    fn wait_for_all(&mut self) -> io::Result<()> {
        while self.under_way > 0 {
            self.wait_for_one()?;
        }
        Ok(())
    }

    fn wait_for_one(&mut self) -> io::Result<Vec<u8>> {
        let written = self.written.recv().map_err(|_| ended())?;
        self.under_way -= 1;
        written
    }
}

/// The thread ends without an outcome only if it panics.
fn ended() -> io::Error {
    io::Error::other("the thread that writes has ended")
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read, Seek},
        iter,
    };

    use super::*;

    /// Pieces whose lengths are around the limits. Each has bytes of its own.
    fn pieces() -> impl Iterator<Item = Vec<u8>> {
        let lengths = [0, 1, 4096, DIRECT - 1, DIRECT, DIRECT + 1, 70_000, GATHERED - 1, GATHERED + 1, 300];
        (0..10_u8)
            .zip(lengths.into_iter().cycle())
            .chain((10..90).zip(iter::repeat(70_000)))
            .map(|(byte, length)| vec![byte; length])
    }

    #[test]
    fn pieces_of_all_lengths_arrive_in_their_order() {
        for is_finished in [true, false] {
            let mut file = tempfile::tempfile().unwrap();
            let mut out = WriteBehind::new(file.try_clone().unwrap());
            pieces().for_each(|piece| out.write(&piece).unwrap());
            if is_finished {
                out.finish().unwrap();
            }
            drop(out);
            file.rewind().unwrap();
            let mut found = Vec::new();
            file.read_to_end(&mut found).unwrap();
            assert!(found == pieces().flatten().collect::<Vec<_>>(), "finished: {is_finished}");
        }
    }

    #[test]
    fn a_full_device_fails_a_later_call_whatever_the_length_of_the_pieces() {
        for length in [1, 4096, DIRECT] {
            let mut out = WriteBehind::new(File::options().write(true).open("/dev/full").unwrap());
            let piece = vec![0; length];
            let failed = (0..8 * GATHERED / length).find_map(|_| out.write(&piece).err());
            assert_eq!(failed.unwrap().kind(), io::ErrorKind::StorageFull, "{length} bytes");
        }
        let mut out = WriteBehind::new(File::options().write(true).open("/dev/full").unwrap());
        out.write(b"a few bytes").unwrap();
        assert_eq!(out.finish().unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
}
