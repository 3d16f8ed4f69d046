//! Writing on a thread of its own, while the caller obtains the next bytes.
//!
//! What must stay true: bytes reach the file in the order in which they come, and by one thread at a time. A failed write fails that call
//! or a later one. From then on every call fails, and nothing more is written.

use std::{
    fs::File,
    io::{self, Write},
    mem,
    sync::mpsc::{Receiver, Sender, channel},
    thread,
};

use rustix::pipe::{fcntl_getpipe_size, fcntl_setpipe_size};

/// The bytes that are gathered for one write.
const BUFFER_BYTES: usize = 1 << 20;
/// Longer pieces are written at once, without a copy. The retrieval already reads such fields on other threads.
const DIRECT_BYTES_MIN: usize = 256 << 10;
/// What a pipe should hold: the most that the system allows every user. With less, writer and reader wait for each other more often.
const PIPE_BYTES_MIN: usize = 1 << 20;
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
    pending: usize,
}

impl WriteBehind {
    /// Writes at the present position of the file.
    pub(crate) fn new(file: File) -> Self {
        if fcntl_getpipe_size(&file).is_ok_and(|size| size < PIPE_BYTES_MIN) {
            // A user with many pipes may be refused, and then this one stays as it is.
            let _ = fcntl_setpipe_size(&file, PIPE_BYTES_MIN);
        }
        Self { file, gathered: Vec::new(), writer: None, has_failed: false }
    }

    /// Appends bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.attempt(|out| out.try_write(bytes))
    }

    /// Writes what is gathered, and waits until everything is written.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.attempt(Self::write_gathered)
    }

    /// Refuses whatever comes after a failed write: the output would have a hole.
    fn attempt(&mut self, write: impl FnOnce(&mut Self) -> io::Result<()>) -> io::Result<()> {
        if self.has_failed {
            return Err(io::Error::other("an earlier write failed"));
        }
        let written = write(self);
        self.has_failed = written.is_err();
        written
    }

    fn try_write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.len() >= DIRECT_BYTES_MIN {
            self.write_gathered()?;
            return self.file.write_all(bytes);
        }
        if self.gathered.len() + bytes.len() > BUFFER_BYTES {
            self.hand_over()?;
        }
        self.gathered.extend_from_slice(bytes);
        Ok(())
    }

    fn write_gathered(&mut self) -> io::Result<()> {
        assert!(!self.has_failed, "nothing is written after a failed write");
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
            None => match has_second_processor().then(|| Writer::start(&self.file)).flatten() {
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
    /// `None` where no thread can be started.
    fn start(file: &File) -> Option<Self> {
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
        Some(Self { full, written, pending: 0 })
    }

    fn write(&mut self, bytes: Vec<u8>) -> io::Result<()> {
        if self.full.send(bytes).is_err() {
            // The error that ended the thread is among the outcomes.
            return self.wait_for_all().and(Err(ended()));
        }
        self.pending += 1;
        Ok(())
    }

    /// An empty buffer, which may have to be written first.
    fn next_buffer(&mut self) -> io::Result<Vec<u8>> {
        if self.pending + 1 < BUFFERS {
            return Ok(Vec::with_capacity(BUFFER_BYTES));
        }
        let mut buffer = self.wait_for_one()?;
        buffer.clear();
        Ok(buffer)
    }

    fn wait_for_all(&mut self) -> io::Result<()> {
        while self.pending > 0 {
            self.wait_for_one()?;
        }
        Ok(())
    }

    fn wait_for_one(&mut self) -> io::Result<Vec<u8>> {
        let written = self.written.recv().map_err(|_| ended())?;
        self.pending -= 1;
        written
    }
}

fn has_second_processor() -> bool {
    thread::available_parallelism().is_ok_and(|count| count.get() > 1)
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

    use rustix::pipe::{PipeFlags, pipe_with};

    use super::*;

    /// Pieces whose lengths are around the limits. Each has bytes of its own.
    fn pieces() -> impl Iterator<Item = Vec<u8>> {
        let (direct, buffer) = (DIRECT_BYTES_MIN, BUFFER_BYTES);
        let lengths = [0, 1, 4096, direct - 1, direct, direct + 1, 70_000, buffer - 1, buffer + 1, 300];
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
        for length in [1, 4096, DIRECT_BYTES_MIN] {
            let mut out = WriteBehind::new(File::options().write(true).open("/dev/full").unwrap());
            let piece = vec![0; length];
            let failed = (0..8 * BUFFER_BYTES / length).find_map(|_| out.write(&piece).err());
            assert_eq!(failed.unwrap().kind(), io::ErrorKind::StorageFull, "{length} bytes");
        }
        let mut out = WriteBehind::new(File::options().write(true).open("/dev/full").unwrap());
        out.write(b"a few bytes").unwrap();
        assert_eq!(out.finish().unwrap_err().kind(), io::ErrorKind::StorageFull);
    }

    /// The reader of a pipe, and its writer with a thread, which there is on one processor, too.
    fn pipe(flags: PipeFlags) -> (File, WriteBehind) {
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC | flags).unwrap();
        let mut out = WriteBehind::new(writer.into());
        out.writer = Writer::start(&out.file);
        (reader.into(), out)
    }

    fn write_until_it_fails(out: &mut WriteBehind) -> io::ErrorKind {
        (0..2048).find_map(|_| out.write(&[7; 4096]).err()).unwrap().kind()
    }

    fn assert_every_call_fails(out: &mut WriteBehind) {
        assert!(out.write(b"a few bytes").is_err());
        assert!(out.write(&[0; DIRECT_BYTES_MIN]).is_err());
        assert!(out.finish().is_err());
    }

    #[test]
    fn every_call_fails_after_the_reader_of_a_pipe_has_closed_it() {
        for read in [0, 1 << 20] {
            let (mut reader, mut out) = pipe(PipeFlags::empty());
            // With this byte the pipe cannot hold a buffer: the first is being written, and two wait.
            out.file.write_all(b"x").unwrap();
            (0..3 * BUFFER_BYTES / 4096).for_each(|_| out.write(&[7; 4096]).unwrap());
            let pending = out.writer.as_ref().unwrap().pending;
            assert_eq!((pending, out.gathered.len()), (2, BUFFER_BYTES));
            reader.read_exact(&mut vec![0; read]).unwrap();
            drop(reader);
            assert_eq!(write_until_it_fails(&mut out), io::ErrorKind::BrokenPipe, "{read} bytes read");
            assert_every_call_fails(&mut out);
        }
    }

    #[test]
    fn nothing_is_written_after_a_failure_even_if_it_could_be() {
        let (mut reader, mut out) = pipe(PipeFlags::NONBLOCK);
        let mut bytes_in_pipe = || {
            let mut found = Vec::new();
            let _ = reader.read_to_end(&mut found);
            found.len()
        };
        assert_eq!(write_until_it_fails(&mut out), io::ErrorKind::WouldBlock);
        assert!(bytes_in_pipe() > 0, "there is space again");
        assert_every_call_fails(&mut out);
        drop(out);
        assert_eq!(bytes_in_pipe(), 0);
    }
}
