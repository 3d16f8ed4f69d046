//! MPI, as far as the ranks of a file need it: the library that the calling HDF5 is linked with, if it is a parallel one.
//!
//! Handles of MPI (communicators, types of data) are pointers in Open MPI and in the binary interface of MPI 5.0, and numbers in MPICH and its
//! relatives. Everything here is written once for both.
//!
//! What must stay true: after `MPI_Finalize` no function of MPI is called but `MPI_Finalized`.

use std::{
    borrow::Cow,
    ffi::{c_int, c_void},
    fmt, ptr,
};

use isotach_hdf5::Ranks;

use crate::{
    abi::{Herr, Hid},
    error::{Error, Result},
    id::check,
    library::Handle,
};

/// How many bytes a message has at most: counts and places are `int`s.
const ROUND: usize = 1 << 30;
/// What each rank sends before anything else: its length, and the message itself if it is short.
const SLOT: usize = 64;
/// `H5FD_MPIO_COLLECTIVE`.
const COLLECTIVE: c_int = 1;

/// The functions of an MPI library whose handles are `H`.
struct Functions<H> {
    get_params: unsafe extern "C" fn(Hid, *mut H, *mut H) -> Herr,
    finalized: unsafe extern "C" fn(*mut c_int) -> c_int,
    rank: unsafe extern "C" fn(H, *mut c_int) -> c_int,
    size: unsafe extern "C" fn(H, *mut c_int) -> c_int,
    free_communicator: unsafe extern "C" fn(*mut H) -> c_int,
    free_info: unsafe extern "C" fn(*mut H) -> c_int,
    gather: unsafe extern "C" fn(*const c_void, c_int, H, *mut c_void, c_int, H, H) -> c_int,
    gather_many:
        unsafe extern "C" fn(*const c_void, c_int, H, *mut c_void, *const c_int, *const c_int, H, H) -> c_int,
    exchange: unsafe extern "C" fn(*const c_void, c_int, H, *mut c_void, c_int, H, H) -> c_int,
    exchange_many: unsafe extern "C" fn(
        *const c_void,
        *const c_int,
        *const c_int,
        H,
        *mut c_void,
        *const c_int,
        *const c_int,
        H,
        H,
    ) -> c_int,
    /// `MPI_BYTE`.
    byte: H,
    /// `MPI_COMM_NULL` and `MPI_INFO_NULL`.
    no_communicator: H,
    no_info: H,
}

impl<H> Functions<H> {
    fn load(library: &Handle, byte: H, no_communicator: H, no_info: H) -> Result<Self, String> {
        Ok(Self {
            get_params: library.function("H5Pget_mpi_params\0")?,
            finalized: library.function("MPI_Finalized\0")?,
            rank: library.function("MPI_Comm_rank\0")?,
            size: library.function("MPI_Comm_size\0")?,
            free_communicator: library.function("MPI_Comm_free\0")?,
            free_info: library.function("MPI_Info_free\0")?,
            gather: library.function("MPI_Allgather\0")?,
            gather_many: library.function("MPI_Allgatherv\0")?,
            exchange: library.function("MPI_Alltoall\0")?,
            exchange_many: library.function("MPI_Alltoallv\0")?,
            byte,
            no_communicator,
            no_info,
        })
    }
}

enum Kind {
    /// Handles are pointers.
    Pointers(Functions<*mut c_void>),
    /// Handles are numbers.
    Numbers(Functions<c_int>),
    /// What it says of itself.
    Unknown(String),
}

impl Kind {
    fn of(library: &Handle) -> Result<Self, String> {
        if is_standard(library) {
            // `MPI_BYTE`, `MPI_COMM_NULL` and `MPI_INFO_NULL` of MPI 5.0, chapter 20 and annex A.
            let [byte, no_communicator, no_info] = [0x247, 0x100, 0x130].map(ptr::without_provenance_mut);
            return Ok(Self::Pointers(Functions::load(library, byte, no_communicator, no_info)?));
        }
        // A program that is linked with MPI may hold copies of its variables.
        if let Ok(byte) = library.variable("ompi_mpi_byte\0") {
            let no_communicator = library.variable("ompi_mpi_comm_null\0")?;
            let no_info = library.variable("ompi_mpi_info_null\0")?;
            return Ok(Self::Pointers(Functions::load(library, byte, no_communicator, no_info)?));
        }
        match version_of(library) {
            // `MPI_BYTE`, `MPI_COMM_NULL` and `MPI_INFO_NULL` of MPICH's binary interface.
            version if is_mpich(&version) => {
                Ok(Self::Numbers(Functions::load(library, 0x4c00_010d, 0x0400_0000, 0x1c00_0000)?))
            }
            version => Ok(Self::Unknown(version)),
        }
    }
}

/// Whether the MPI library has the binary interface that MPI 5.0 defines. Others have no version of it, or -1 (MPI 5.0, section 20.2).
fn is_standard(library: &Handle) -> bool {
    type Version = unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int;
    let Ok(ask) = library.function::<Version>("MPI_Abi_get_version\0") else { return false };
    let (mut major, mut minor) = (-1, -1);
    // SAFETY: the library sets two numbers; this may be called at any time.
    let status = unsafe { ask(&raw mut major, &raw mut minor) };
    status == 0 && major >= 1
}

/// What relatives of MPICH that have its binary interface say of themselves.
const MPICH: [&str; 4] = ["MPICH", "Intel(R) MPI", "MVAPICH", "CRAY MPI"];
/// `MPI_MAX_LIBRARY_VERSION_STRING` is 8192 at most.
const VERSION_MAX: usize = 8192;

/// What an MPI library says of itself, in a line.
fn version_of(library: &Handle) -> String {
    type Version = unsafe extern "C" fn(*mut u8, *mut c_int) -> c_int;
    let Ok(ask) = library.function::<Version>("MPI_Get_library_version\0") else {
        return "a library without MPI_Get_library_version".to_owned();
    };
    let (mut text, mut length) = (vec![0_u8; VERSION_MAX + 1], 0);
    // SAFETY: the library writes a text of at most so many bytes, and its length; this may be called at any time.
    let status = unsafe { ask(text.as_mut_ptr(), &raw mut length) };
    let end = text.iter().position(|byte| matches!(byte, 0 | b'\n')).unwrap_or(0);
    let line = String::from_utf8_lossy(&text[..end]).trim().to_owned();
    if status != 0 || line.is_empty() { "a library without a name".to_owned() } else { line }
}

fn is_mpich(version: &str) -> bool {
    let version = version.to_uppercase();
    MPICH.iter().any(|name| version.contains(&name.to_uppercase()))
}

/// The MPI library that a parallel HDF5 is linked with.
pub(crate) struct Mpi {
    kind: Kind,
    get_transfer_mode: unsafe extern "C" fn(Hid, *mut c_int) -> Herr,
}

impl Mpi {
    /// That of an HDF5 library; `None` if it is not a parallel one.
    pub(crate) fn of(library: &Handle) -> Option<Self> {
        let get_transfer_mode = library.function("H5Pget_dxpl_mpio\0").ok()?;
        Some(Self { kind: Kind::of(library).ok()?, get_transfer_mode })
    }

    /// The ranks of a file access property list, if it has a communicator of several. Every rank calls this, since the library duplicates
    /// the communicator.
    pub(crate) fn ranks(
        &'static self,
        fapl: Hid,
        is_parallel: impl FnOnce() -> Result<bool>,
    ) -> Result<Option<Box<dyn Ranks>>> {
        match &self.kind {
            Kind::Pointers(functions) => functions.ranks(fapl),
            Kind::Numbers(functions) => functions.ranks(fapl),
            Kind::Unknown(version) if is_parallel()? => Err(Error::unsupported(format!(
                "the MPI library {version:?}: expected Open MPI, MPICH, Intel MPI, MVAPICH, Cray MPI, or one with the binary interface of MPI 5.0"
            ))),
            Kind::Unknown(_) => Ok(None),
        }
    }

    /// Whether a transfer property list asks for a collective transfer.
    pub(crate) fn is_collective(&self, dxpl: Hid) -> Result<bool> {
        let mut mode = 0;
        // SAFETY: the library checks the id and sets one number.
        check(unsafe { (self.get_transfer_mode)(dxpl, &raw mut mode) }, "H5Pget_dxpl_mpio")?;
        Ok(mode == COLLECTIVE)
    }
}

impl<H: Copy + PartialEq + 'static> Functions<H> {
    fn is_finalized(&self) -> bool {
        let mut is_finalized = 1;
        // SAFETY: MPI sets one number; this function may be called at any time.
        let status = unsafe { (self.finalized)(&raw mut is_finalized) };
        status != 0 || is_finalized != 0
    }

    fn ranks(&'static self, fapl: Hid) -> Result<Option<Box<dyn Ranks>>> {
        let (mut handle, mut info) = (self.no_communicator, self.no_info);
        // SAFETY: the library sets both to duplicates, which are ours to free, or to what stands for none.
        check(unsafe { (self.get_params)(fapl, &raw mut handle, &raw mut info) }, "H5Pget_mpi_params")?;
        if handle == self.no_communicator {
            return Ok(None);
        }
        if info != self.no_info {
            // SAFETY: a duplicate that nobody else knows.
            unsafe { (self.free_info)(&raw mut info) };
        }
        let ask = |about: unsafe extern "C" fn(H, *mut c_int) -> c_int| {
            let mut number = -1;
            // SAFETY: the communicator is open; MPI sets one number.
            unsafe { about(handle, &raw mut number) };
            usize::try_from(number).unwrap_or(0)
        };
        let (rank, size) = (ask(self.rank), ask(self.size));
        let communicator = Communicator { functions: self, handle, rank, size };
        match size {
            0 => Err(Error::argument("the communicator of the file cannot be used")),
            1 => Ok(None),
            _ => Ok(Some(Box::new(communicator))),
        }
    }
}

/// A communicator of its own for one file.
struct Communicator<H: Copy + PartialEq + 'static> {
    functions: &'static Functions<H>,
    handle: H,
    rank: usize,
    size: usize,
}

// SAFETY: the handle is a number, or a pointer that only MPI looks behind. MPI is called by the threads that call HDF5, as many at once as
// the program has told MPI.
unsafe impl<H: Copy + PartialEq + 'static> Send for Communicator<H> {}
// SAFETY: as above.
unsafe impl<H: Copy + PartialEq + 'static> Sync for Communicator<H> {}

impl<H: Copy + PartialEq + 'static> fmt::Debug for Communicator<H> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "rank {} of {}", self.rank, self.size)
    }
}

impl<H: Copy + PartialEq + 'static> Drop for Communicator<H> {
    fn drop(&mut self) {
        if !self.functions.is_finalized() {
            // SAFETY: nobody else uses this communicator.
            unsafe { (self.functions.free_communicator)(&raw mut self.handle) };
        }
    }
}

impl<H: Copy + PartialEq + 'static> Ranks for Communicator<H> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, String> {
        self.check_open()?;
        let slots = self.slots(bytes)?;
        let lengths: Vec<usize> = slots.iter().map(|slot| length_in(slot)).collect();
        let longest = lengths.iter().copied().max().unwrap_or(0);
        if longest <= SLOT - 8 {
            return Ok(slots
                .iter()
                .zip(lengths)
                .map(|(slot, length)| slot[8..8 + length].to_vec())
                .collect());
        }
        let mut all: Vec<Vec<u8>> = lengths.iter().map(|length| Vec::with_capacity(*length)).collect();
        let most = ROUND / self.size;
        for done in (0..longest).step_by(most) {
            let parts: Vec<usize> =
                lengths.iter().map(|length| length.saturating_sub(done).min(most)).collect();
            let (counts, places, total) = laid_out(&parts);
            let own = bytes.get(done..done + parts[self.rank]).unwrap_or_default();
            let mut received = vec![0_u8; total.max(1)];
            let functions = self.functions;
            // SAFETY: the buffers have the lengths that are said, and all ranks say the same of them.
            let status = unsafe {
                (functions.gather_many)(
                    start(own),
                    own.len() as c_int,
                    functions.byte,
                    received.as_mut_ptr().cast(),
                    counts.as_ptr(),
                    places.as_ptr(),
                    functions.byte,
                    self.handle,
                )
            };
            succeeded(status, "MPI_Allgatherv")?;
            deal(received, &parts, &mut all);
        }
        Ok(all)
    }

    fn exchange(&self, bytes: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, String> {
        self.check_open()?;
        let to: Vec<usize> = (0..self.size).map(|rank| bytes.get(rank).map_or(0, Vec::len)).collect();
        let from = self.exchanged_lengths(&to)?;
        let longest = to.iter().copied().max().unwrap_or(0) as u64;
        let longest = self.slots(&longest.to_le_bytes())?;
        let longest = longest.iter().map(|slot| length_in(&slot[8..])).max().unwrap_or(0);
        let mut all: Vec<Vec<u8>> = from.iter().map(|length| Vec::with_capacity(*length)).collect();
        let most = ROUND / self.size;
        for done in (0..longest).step_by(most) {
            let part = |length: &usize| length.saturating_sub(done).min(most);
            let (given, taken): (Vec<usize>, Vec<usize>) =
                (to.iter().map(part).collect(), from.iter().map(part).collect());
            let own =
                joined(bytes.iter().zip(&given).filter_map(|(bytes, part)| bytes.get(done..done + part)));
            let (given_counts, given_places, _) = laid_out(&given);
            let (counts, places, total) = laid_out(&taken);
            let mut received = vec![0_u8; total.max(1)];
            let functions = self.functions;
            // SAFETY: the buffers have the lengths that are said: each rank takes what the others have said that they give.
            let status = unsafe {
                (functions.exchange_many)(
                    start(&own),
                    given_counts.as_ptr(),
                    given_places.as_ptr(),
                    functions.byte,
                    received.as_mut_ptr().cast(),
                    counts.as_ptr(),
                    places.as_ptr(),
                    functions.byte,
                    self.handle,
                )
            };
            succeeded(status, "MPI_Alltoallv")?;
            deal(received, &taken, &mut all);
        }
        Ok(all)
    }
}

impl<H: Copy + PartialEq + 'static> Communicator<H> {
    fn check_open(&self) -> Result<(), String> {
        if self.functions.is_finalized() {
            return Err(
                "MPI_Finalize was called before the file was closed, so its changes are not committed"
                    .to_owned(),
            );
        }
        Ok(())
    }

    /// The slots of all ranks: the length of each one's message and, if it is short, the message.
    fn slots(&self, bytes: &[u8]) -> Result<Vec<[u8; SLOT]>, String> {
        let mut own = [0; SLOT];
        own[..8].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
        if let Some(room) = own.get_mut(8..8 + bytes.len()) {
            room.copy_from_slice(bytes);
        }
        let mut all = vec![[0; SLOT]; self.size];
        let functions = self.functions;
        // SAFETY: each rank gives a slot, and there is one for each.
        let status = unsafe {
            (functions.gather)(
                own.as_ptr().cast(),
                SLOT as c_int,
                functions.byte,
                all.as_mut_ptr().cast(),
                SLOT as c_int,
                functions.byte,
                self.handle,
            )
        };
        succeeded(status, "MPI_Allgather")?;
        Ok(all)
    }

    /// How much each rank gives to this one.
    fn exchanged_lengths(&self, to: &[usize]) -> Result<Vec<usize>, String> {
        let own: Vec<u64> = to.iter().map(|length| *length as u64).collect();
        let mut from = vec![0_u64; self.size];
        let functions = self.functions;
        // SAFETY: a number of 8 bytes for each rank, on both sides.
        let status = unsafe {
            (functions.exchange)(
                own.as_ptr().cast(),
                8,
                functions.byte,
                from.as_mut_ptr().cast(),
                8,
                functions.byte,
                self.handle,
            )
        };
        succeeded(status, "MPI_Alltoall")?;
        Ok(from.into_iter().map(|length| length as usize).collect())
    }
}

/// The address of bytes. An empty slice may have one that means something else to MPI.
fn start(bytes: &[u8]) -> *const c_void {
    if bytes.is_empty() { (&raw const NOTHING).cast() } else { bytes.as_ptr().cast() }
}

static NOTHING: u8 = 0;

fn succeeded(status: c_int, function: &str) -> Result<(), String> {
    if status == 0 { Ok(()) } else { Err(format!("{function} failed with {status}")) }
}

/// The length at the beginning of a slot.
fn length_in(slot: &[u8]) -> usize {
    slot.first_chunk().map_or(0, |length| u64::from_le_bytes(*length) as usize)
}

/// The counts and places of parts that follow each other, and their whole length. A round has less than 2 GiB.
fn laid_out(parts: &[usize]) -> (Vec<c_int>, Vec<c_int>, usize) {
    let counts = parts.iter().map(|part| *part as c_int).collect();
    let mut total = 0;
    let places = parts
        .iter()
        .map(|part| {
            let place = total as c_int;
            total += part;
            place
        })
        .collect();
    (counts, places, total)
}

/// Parts one behind the other. One that is alone is not copied.
fn joined<'b>(parts: impl Iterator<Item = &'b [u8]>) -> Cow<'b, [u8]> {
    let parts: Vec<&[u8]> = parts.filter(|part| !part.is_empty()).collect();
    match parts.as_slice() {
        [part] => Cow::Borrowed(part),
        parts => Cow::Owned(parts.concat()),
    }
}

/// Appends the parts of a buffer to the messages that they belong to. A buffer that is all of a message is not copied.
fn deal(received: Vec<u8>, parts: &[usize], all: &mut [Vec<u8>]) {
    let whole = parts.iter().position(|part| *part == received.len() && *part > 0);
    if let Some(message) = whole.and_then(|rank| all.get_mut(rank)).filter(|message| message.is_empty()) {
        *message = received;
        return;
    }
    let mut rest = received.as_slice();
    for (part, message) in parts.iter().zip(all) {
        let (head, tail) = rest.split_at(*part);
        message.extend_from_slice(head);
        rest = tail;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_relatives_of_mpich_have_its_binary_interface() {
        for version in [
            "MPICH Version:\t4.0.2",
            "Intel(R) MPI Library 2021.11 for Linux* OS",
            "MVAPICH2 Version      :\t2.3.7",
            "MPI VERSION    : CRAY MPICH version 8.1.27.26 (ANL base 3.4a2)",
        ] {
            assert!(is_mpich(version), "{version}");
        }
        for version in ["Fujitsu MPI Library 4.0.0", "HPE MPT 2.28", "a library without a name"] {
            assert!(!is_mpich(version), "{version}");
        }
    }

    #[test]
    fn parts_are_joined_and_dealt_out_again_whether_or_not_one_is_alone() {
        for parts in [[&b"ab"[..], b"", b"cde"], [b"", b"fgh", b""], [b"", b"", b""]] {
            let whole = joined(parts.into_iter());
            let lengths = parts.map(<[u8]>::len);
            for before in [&b""[..], b"begun "] {
                let mut all = vec![before.to_vec(); parts.len()];
                deal(whole.to_vec(), &lengths, &mut all);
                assert_eq!(all, parts.map(|part| [before, part].concat()));
            }
        }
    }
}
