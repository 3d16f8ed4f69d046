//! Reads by a detour, into memory that the system copies to slowly.
//!
//! AMD's processors copy five times as slowly with `rep movsb`, which is how Linux copies from its cache, if the destination is 1 to 31 bytes further
//! behind the start of a page than the source (`isotach bench alignment`). `malloc` puts large blocks 16 bytes behind a page, so this is how large arrays of
//! callers are: those of NumPy, for one. The detour leads through memory of this thread that fits the cache of the processor, and takes a third of the
//! time that it saves.

use std::cell::RefCell;

use isotach_engine_kit::processor::is_amd;

/// A page of the processor.
const PAGE: usize = 4096;
/// How far behind its source a destination is slow.
const SLOW: usize = 32;
/// With shorter reads little is lost. One of 4 KiB takes 2.7 us there and 1.2 us elsewhere, one of 1 KiB 1.5 and 1.1 us.
const LEAST: usize = 1 << 10;
/// Bytes that are read at once. Several of them fit the second cache.
const SLICE: usize = 128 << 10;

thread_local! {
    static MEMORY: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Whether a read by the system at `position` into this memory is slow.
fn is_slow(buffer: &[u8], position: u64) -> bool {
    let behind = buffer.as_ptr().addr().wrapping_sub(position as usize) % PAGE;
    buffer.len() >= LEAST && (1..SLOW).contains(&behind) && is_amd()
}

/// Reads with `read`, which takes memory and a position and returns how many bytes were there: directly, or by the detour.
pub(super) fn read<E>(
    buffer: &mut [u8],
    position: u64,
    mut read: impl FnMut(&mut [u8], u64) -> Result<usize, E>,
) -> Result<usize, E> {
    if is_slow(buffer, position) { by_detour(buffer, position, read) } else { read(buffer, position) }
}

fn by_detour<E>(
    buffer: &mut [u8],
    position: u64,
    read: impl FnMut(&mut [u8], u64) -> Result<usize, E>,
) -> Result<usize, E> {
    // At the end of a thread, what belongs to it may be gone already.
    let mut memory = MEMORY.try_with(RefCell::take).unwrap_or_default();
    memory.resize(SLICE + PAGE, 0);
    let outcome = through(&mut memory, buffer, position, read);
    let _ = MEMORY.try_with(|kept| kept.replace(memory));
    outcome
}

fn through<E>(
    memory: &mut [u8],
    buffer: &mut [u8],
    position: u64,
    mut read: impl FnMut(&mut [u8], u64) -> Result<usize, E>,
) -> Result<usize, E> {
    // Half a page away from the source. Then the destination is half a page away from it, too.
    let wanted = (position as usize).wrapping_add(PAGE / 2);
    let start = wanted.wrapping_sub(memory.as_ptr().addr()) % PAGE;
    let mut filled = 0;
    // Of an error within, the caller is told when it reads on.
    for part in buffer.chunks_mut(SLICE) {
        let slice = &mut memory[start..start + part.len()];
        let count = match read(slice, position + filled as u64) {
            Err(error) if filled == 0 => return Err(error),
            Err(_) => break,
            Ok(count) => count,
        };
        part[..count].copy_from_slice(&slice[..count]);
        filled += count;
        if count < part.len() {
            break;
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use std::{fs, io, os::unix::fs::FileExt};

    use super::*;

    #[test]
    fn a_detour_reads_what_a_direct_read_does() {
        let path = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        let whole: Vec<u8> =
            (0..3 * SLICE as u32 + 1000).flat_map(u32::to_le_bytes).take(3 * SLICE + 1000).collect();
        fs::write(&path, &whole).unwrap();
        let file = fs::File::open(&path).unwrap();
        for (position, length) in [(0, 2 * SLICE), (17, SLICE + 1), (SLICE, 4 * SLICE), (whole.len(), LEAST)]
        {
            let mut found = vec![0; length];
            let count = by_detour(&mut found, position as u64, |part, at| file.read_at(part, at)).unwrap();
            assert_eq!(count, length.min(whole.len() - position), "{length} at {position}");
            assert!(found[..count] == whole[position..position + count]);
        }
    }

    #[test]
    fn an_error_within_is_told_by_the_next_read() {
        let read =
            |part: &mut [u8], at: u64| if at == 0 { Ok(part.len()) } else { Err(io::ErrorKind::Other) };
        assert_eq!(by_detour(&mut vec![0; 2 * SLICE], 0, read).unwrap(), SLICE);
        assert!(by_detour(&mut vec![0; SLICE], SLICE as u64, read).is_err());
    }

    #[test]
    fn memory_16_bytes_behind_a_page_is_slow_for_a_read_at_one() {
        let memory = vec![0; 2 * PAGE + LEAST];
        let page = memory.as_ptr().addr().wrapping_neg() % PAGE;
        let at = |behind: usize| &memory[page + behind..][..LEAST];
        let slow: Vec<bool> = [0, 16, 31, 32].map(|behind| is_slow(at(behind), 8 * PAGE as u64)).into();
        assert_eq!(slow, [false, is_amd(), is_amd(), false]);
        assert!(!is_slow(at(16), 16) && !is_slow(&at(16)[..LEAST - 1], 0));
    }
}
