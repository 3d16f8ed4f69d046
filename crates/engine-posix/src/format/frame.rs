//! Frames of the log, and how a reader finds them (FORMAT.md section 4).
//!
//! A frame is a whole transaction. It begins with the container's marker: eight random bytes that occur nowhere else in
//! the log. A body that happens to contain them is stored under another salt. So a marker inside what a header claims
//! as its frame proves that the append was cut short, and every reader comes to the same verdict at any time:
//! - whole and right: the frame counts;
//! - no later marker, and the file ends before the frame does: pending, look again later;
//! - a later marker before the frame's end: torn, never counts;
//! - whole but wrong: damage, which is an error and never skipped.
//!
//! Every byte of a marker has at least two bits set, and every frame ends in eight zero bytes. So neither the end of a
//! frame nor one flipped bit in it can look like the beginning of the next marker.

use isotach_engine_kit::{
    bytes::{Put, Reader},
    checksum::crc32c,
};
use std::borrow::Cow;

use memchr::memmem;

/// Bytes of a frame's header.
pub(crate) const HEADER: usize = 48;
/// Zero bytes at the end of every frame.
pub(crate) const TRAILER: usize = 8;
/// The smallest frame.
pub(crate) const FRAME_MIN: usize = HEADER + TRAILER;
/// The longest frame: its length fits the header with some to spare.
pub(crate) const FRAME_MAX: usize = 1 << 30;
/// As stored, no aligned piece of a body with this many bytes is all zeros. A sector of 512 bytes of one body contains three such pieces.
const FILLED: usize = 128;
/// The part of the header that its checksum covers: all but the marker and the checksum.
const COVERED: std::ops::Range<usize> = 8..44;

/// What a frame is for. Kinds from 0x8000 on are optional: a reader that does not know one skips it.
pub(crate) mod kind {
    /// Preconditions and updates.
    pub(crate) const TRANSACTION: u16 = 1;
    /// Takes up log positions, and with them object ids. The body has no meaning.
    pub(crate) const RESERVE: u16 = 2;
    /// The first frame after a start of the machine. The body is the number of that start. See `lost`.
    pub(crate) const RECOVERY: u16 = 3;
    /// Replaces frames that were lost: nothing that their writers wrote before is missed.
    pub(crate) const GAP: u16 = 4;
    /// The first optional kind.
    pub(crate) const OPTIONAL: u16 = 0x8000;
}

/// The flag of a frame whose writer had synced the log after its previous frame.
const SETTLED: u16 = 1;

/// The writer of a frame: a random number per handle, and the number of the frame among those of the handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) writer: u64,
    pub(crate) sequence: u64,
}

/// A frame that counts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Frame<'a> {
    pub(crate) origin: Origin,
    pub(crate) kind: u16,
    /// Whether its writer had synced the log after its previous frame.
    pub(crate) settled: bool,
    pub(crate) body: Cow<'a, [u8]>,
}

/// Completes a frame, in which the body follows the space for the header. The salt is chosen such that
/// - the marker occurs at the beginning and nowhere else, not even across the end of the header: a reader that sees a
///   part of the frame would take it for the beginning of another;
/// - no sector reads as zeros, at any position of the frame and with any one bit flipped: the damage would be taken for
///   a loss in a power failure.
pub(crate) fn seal(frame: &mut Vec<u8>, marker: u64, kind: u16, origin: Origin, settled: bool) {
    let body = HEADER..frame.len();
    frame.resize(body.end + TRAILER, 0);
    let header = Header { length: frame.len(), salt: 0, origin, kind, settled, body_sum: 0 };
    let mut salt = 0;
    while !(fills_sectors(&frame[body.clone()]) && write_header(frame, marker, &Header { salt, ..header })) {
        let next = salt.wrapping_add(0x9e37_79b9);
        mask(&mut frame[body.clone()], salt ^ next);
        salt = next;
    }
}

/// Writes the header of a frame with its checksums. Returns whether the frame may be stored with this salt.
fn write_header(frame: &mut [u8], marker: u64, header: &Header) -> bool {
    let marker = marker.to_le_bytes();
    let mut bytes = Vec::with_capacity(HEADER);
    bytes.extend_from_slice(&marker);
    // The caller keeps frames below 4 GiB ([`FRAME_MAX`]).
    bytes.put_u32(header.length as u32);
    bytes.put_u32(header.salt);
    bytes.put_u64(header.origin.writer);
    bytes.put_u64(header.origin.sequence);
    bytes.put_u16(header.kind);
    bytes.put_u16(if header.settled { SETTLED } else { 0 });
    bytes.put_u32(crc32c(&frame[HEADER..]));
    bytes.put_u32(0);
    bytes.put_u32(crc32c(&bytes[COVERED]));
    frame[..HEADER].copy_from_slice(&bytes);
    is_filled(frame[HEADER - 1]) && memmem::find(&frame[1..], &marker).is_none()
}

/// Whether each sector that contains a byte of this body, or only its last bytes, has at least two bits set.
fn fills_sectors(body: &[u8]) -> bool {
    let is_chunk_filled = |chunk: &[u8]| chunk.iter().any(|byte| *byte != 0);
    body.last().is_none_or(|last| is_filled(*last)) && body.chunks_exact(FILLED).all(is_chunk_filled)
}

/// Whether no single flipped bit makes this byte zero.
fn is_filled(byte: u8) -> bool {
    byte.count_ones() >= 2
}

/// Removes the salt of a sealed frame, so that it can be sealed again. Does nothing to a frame that was never sealed.
pub(crate) fn unseal(frame: &mut [u8]) {
    let salt = frame.get(12..16).and_then(|bytes| Reader(bytes).u32()).unwrap_or(0);
    let body_end = frame.len().saturating_sub(TRAILER);
    if let Some(body) = frame.get_mut(HEADER..body_end).filter(|_| salt != 0) {
        mask(body, salt);
        frame[12..16].fill(0);
    }
}

/// Applies or removes a salt: XORs the body with the four bytes of the salt, repeated. Salt 0 changes nothing.
fn mask(body: &mut [u8], salt: u32) {
    let bytes = salt.to_le_bytes();
    let (whole, rest) = body.as_chunks_mut();
    for chunk in whole {
        *chunk = (u32::from_le_bytes(*chunk) ^ salt).to_le_bytes();
    }
    rest.iter_mut().zip(bytes).for_each(|(byte, key)| *byte ^= key);
}

/// The verdict on what stands at a position of the log.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FrameVerdict<'a> {
    /// A frame that counts, `length` bytes long.
    Frame { frame: Frame<'a>, length: usize },
    /// Nothing that counts. The next verdict is due `length` bytes further.
    Torn { length: usize },
    /// An append that was cut short within its marker, or foreign or lost bytes. A frame may begin `length` bytes further.
    Strange { length: usize },
    /// A frame may still be coming. A verdict needs at least `need` bytes from here.
    Pending { need: usize },
    /// Bytes that were a frame and are damaged. At least the first `reach` of them were written together.
    Damaged { what: &'static str, reach: usize },
}

/// The fields of a header, without the marker.
struct Header {
    length: usize,
    salt: u32,
    origin: Origin,
    kind: u16,
    settled: bool,
    body_sum: u32,
}

/// Reads a header, whether or not the marker before it is right.
fn header(bytes: &[u8]) -> Option<Header> {
    let covered = bytes.get(COVERED)?;
    let mut reader = Reader(covered);
    let length = reader.u32()? as usize;
    let salt = reader.u32()?;
    let origin = Origin { writer: reader.u64()?, sequence: reader.u64()? };
    let (kind, settled) = (reader.u16()?, reader.u16()? & SETTLED != 0);
    let body_sum = reader.u32()?;
    let sum = Reader(bytes.get(COVERED.end..HEADER)?).u32()?;
    (sum == crc32c(covered) && length >= FRAME_MIN).then_some(Header {
        length,
        salt,
        origin,
        kind,
        settled,
        body_sum,
    })
}

/// The verdict on the start of `bytes`, which extend to the end of the log unless `more` is true.
pub(crate) fn find(bytes: &[u8], marker: u64, more: bool) -> FrameVerdict<'_> {
    let marker = marker.to_le_bytes();
    if !bytes.starts_with(&marker) {
        return no_marker(bytes, &marker, more);
    }
    let next_marker = |within: &[u8]| memmem::find(&within[1..], &marker).map(|at| at + 1);
    let torn_or = |within: &[u8], otherwise| match next_marker(within) {
        Some(length) => FrameVerdict::Torn { length },
        None => otherwise,
    };
    if bytes.len() < FRAME_MIN {
        return torn_or(bytes, FrameVerdict::Pending { need: FRAME_MIN });
    }
    let Some(header) = header(bytes) else {
        // The next marker begins before the smallest frame would end, or this was a whole header once.
        let reach = bytes.len().min(FRAME_MIN + marker.len() - 1);
        let begun = reach - prefix_at_end(&bytes[..reach], &marker);
        let otherwise = match begun < FRAME_MIN {
            true => FrameVerdict::Pending { need: FRAME_MIN + marker.len() - 1 },
            false => FrameVerdict::Damaged { what: "a frame whose header fails its checksum", reach: HEADER },
        };
        return torn_or(&bytes[..reach], otherwise);
    };
    let Some(whole) = bytes.get(..header.length) else {
        return torn_or(bytes, FrameVerdict::Pending { need: header.length });
    };
    if crc32c(&whole[HEADER..]) == header.body_sum {
        let mut body = Cow::Borrowed(&whole[HEADER..header.length - TRAILER]);
        if header.salt != 0 {
            mask(body.to_mut(), header.salt);
        }
        let frame = Frame { origin: header.origin, kind: header.kind, settled: header.settled, body };
        return FrameVerdict::Frame { frame, length: header.length };
    }
    // The next marker, or one that was cut short itself, may begin in the last bytes of the claimed frame.
    let otherwise = match prefix_at_end(whole, &marker) {
        0 => FrameVerdict::Damaged {
            what: "a frame whose body fails its checksum",
            reach: header.length - TRAILER,
        },
        begun => FrameVerdict::Torn { length: header.length - begun },
    };
    torn_or(whole, otherwise)
}

/// How many bytes of a marker that continues past the end of `bytes` stand at that end.
fn prefix_at_end(bytes: &[u8], marker: &[u8; 8]) -> usize {
    (1..marker.len()).rev().find(|begun| bytes.ends_with(&marker[..*begun])).unwrap_or(0)
}

/// No frame begins here: an append that was cut short, foreign bytes, or a damaged marker.
fn no_marker<'a>(bytes: &'a [u8], marker: &[u8; 8], more: bool) -> FrameVerdict<'a> {
    if let Some(Header { length, .. }) = header(bytes) {
        return FrameVerdict::Damaged { what: "a frame whose marker is damaged", reach: length - TRAILER };
    }
    if let Some(length) = memmem::find(bytes, marker) {
        return FrameVerdict::Strange { length };
    }
    if more || bytes.len() < FRAME_MIN {
        return FrameVerdict::Pending { need: bytes.len().max(FRAME_MIN) + 1 };
    }
    // A marker may have begun in the last seven bytes.
    FrameVerdict::Strange { length: bytes.len() - 7 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARKER: u64 = 0x3377_5599_bbdd_eeff;
    const ORIGIN: Origin = Origin { writer: 0x1111_2222_3333_4444, sequence: 7 };

    fn sealed(body: &[u8]) -> Vec<u8> {
        let mut frame = vec![0; HEADER];
        frame.extend_from_slice(body);
        seal(&mut frame, MARKER, kind::TRANSACTION, ORIGIN, false);
        frame
    }

    fn good(body: &[u8]) -> FrameVerdict<'_> {
        let frame =
            Frame { origin: ORIGIN, kind: kind::TRANSACTION, settled: false, body: Cow::Borrowed(body) };
        FrameVerdict::Frame { frame, length: FRAME_MIN + body.len() }
    }

    #[test]
    fn a_body_that_holds_the_marker_is_stored_without_it_and_reads_back() {
        let mut body = b"before".to_vec();
        body.extend_from_slice(&MARKER.to_le_bytes());
        let frame = sealed(&body);
        assert_eq!(memmem::find(&frame[1..], &MARKER.to_le_bytes()), None);
        assert_eq!(find(&frame, MARKER, false), good(&body));
    }

    #[test]
    fn no_marker_is_written_across_the_end_of_the_header() {
        let marker = MARKER.to_le_bytes();
        // The last byte of the header is one of a checksum, so a few bodies are needed until it is the marker's first.
        let straddles = |number: u32| {
            let body = [&marker[1..], &number.wrapping_mul(0x9e37_79b9).to_le_bytes(), b"end"].concat();
            let frame = sealed(&body);
            assert_eq!(memmem::find(&frame[1..], &marker), None, "{number}");
            assert_eq!(find(&frame, MARKER, false), good(&body), "{number}");
            let mut unsalted = [&[0; HEADER], &*body, &[0; TRAILER]].concat();
            let (length, body_sum) = (unsalted.len(), 0);
            let (kind, settled) = (kind::TRANSACTION, false);
            let header = Header { length, salt: 0, origin: ORIGIN, kind, settled, body_sum };
            write_header(&mut unsalted, MARKER, &header);
            memmem::find(&unsalted[1..], &marker).is_some()
        };
        assert!((0..3000).filter(|number| straddles(*number)).count() > 0);
    }

    #[test]
    fn a_cut_frame_is_pending_and_torn_once_another_follows() {
        let (frame, next) = (sealed(b"the first body"), sealed(b"the next"));
        for cut in 0..frame.len() {
            assert!(
                matches!(find(&frame[..cut], MARKER, false), FrameVerdict::Pending { .. }),
                "cut at {cut}"
            );
            let log = [&frame[..cut], &next].concat();
            // However much of the next frame is seen, the first is never taken for good or for damaged.
            for seen in cut..log.len() {
                match find(&log[..seen], MARKER, false) {
                    FrameVerdict::Pending { .. } => {}
                    FrameVerdict::Torn { length } | FrameVerdict::Strange { length } => {
                        assert_eq!(length, cut);
                    }
                    found => assert!(cut == 0 && seen == log.len(), "cut {cut}, seen {seen}: {found:?}"),
                }
            }
            if cut > 0 {
                let found = find(&log, MARKER, false);
                let is_cut = match found {
                    FrameVerdict::Strange { length } => length == cut && cut < 8,
                    found => found == FrameVerdict::Torn { length: cut },
                };
                assert!(is_cut, "cut at {cut}");
            }
        }
    }

    #[test]
    fn two_consecutive_torn_frames_hide_no_whole_one() {
        let (first, second, good_one) = (sealed(b"the first body"), sealed(b"second"), sealed(b"good"));
        for cut in 1..first.len() {
            for second_cut in 1..second.len() {
                let log = [&first[..cut], &second[..second_cut], &good_one].concat();
                let mut at = 0;
                let found = loop {
                    match find(&log[at..], MARKER, false) {
                        FrameVerdict::Torn { length } | FrameVerdict::Strange { length } => at += length,
                        found => break found,
                    }
                };
                assert_eq!((at, found), (cut + second_cut, good(b"good")), "cut at {cut} and {second_cut}");
            }
        }
    }

    #[test]
    fn any_flipped_bit_of_a_whole_frame_is_damage() {
        let frame = sealed(b"a body of some length");
        for after in [Vec::new(), sealed(b"next"), vec![0; 3]] {
            for bit in 0..frame.len() * 8 {
                let mut log = frame.clone();
                log[bit / 8] ^= 1 << (bit % 8);
                log.extend_from_slice(&after);
                let found = find(&log, MARKER, false);
                assert!(matches!(found, FrameVerdict::Damaged { .. }), "bit {bit}: {found:?}");
            }
        }
    }

    #[test]
    fn no_sector_of_a_frame_reads_as_zeros_even_with_a_flipped_bit() {
        let zeros = |length: usize| vec![0; length];
        let pattern = 0x9e37_79b9_u32.to_le_bytes().repeat(300);
        let bodies = [
            zeros(0),
            zeros(1),
            zeros(3),
            zeros(700),
            zeros(1500),
            [pattern, zeros(600)].concat(),
            vec![1; 9],
        ];
        for body in bodies {
            let frame = sealed(&body);
            assert_eq!(find(&frame, MARKER, false), good(&body));
            let written = frame.len() - TRAILER;
            for start in 0..512 {
                let ends = (512 - start..written).step_by(512).chain([written]);
                let mut from = 0;
                for to in ends.filter(|to| *to > 0) {
                    let bits: u32 = frame[from..to].iter().map(|byte| byte.count_ones()).sum();
                    assert!(bits >= 2, "{} bytes at {start}: {from} to {to}", body.len());
                    from = to;
                }
            }
        }
    }

    #[test]
    fn a_damaged_header_is_damage_however_much_log_follows() {
        let mut log = sealed(b"");
        log[20] ^= 1;
        log.extend_from_slice(&sealed(b"next"));
        for length in FRAME_MIN..log.len() {
            let found = find(&log[..length], MARKER, false);
            assert!(matches!(found, FrameVerdict::Damaged { .. }), "{length} bytes: {found:?}");
        }
    }

    #[test]
    fn garbage_is_skipped_up_to_the_next_frame() {
        let log = [&[0xaa; 100][..], &sealed(b"good")].concat();
        assert_eq!(find(&log, MARKER, false), FrameVerdict::Strange { length: 100 });
        assert_eq!(find(&[0xaa; 100], MARKER, false), FrameVerdict::Strange { length: 93 });
    }
}
