//! The functions of MPI that are used, for both binary interfaces.
//!
//! The two differ in handles. MPICH's are numbers, fixed in its `mpi.h` and shared by its descendants (the "MPICH ABI": Intel
//! MPI, MVAPICH, Cray MPICH). Open MPI's are addresses of objects in its library (`ompi_mpi_comm_world` ...). All else is the
//! same, so one macro makes both.
#![expect(unsafe_code, reason = "the foreign-function edge: all calls of MPI are made here")]

use std::{
    ffi::{c_char, c_int, c_void},
    path::Path,
    ptr,
};

use isotach_engine_kit::library::{self, Library};

use crate::{Error, Result};

/// The longest version text: `MPI_MAX_LIBRARY_VERSION_STRING` of MPICH; Open MPI's is shorter.
const VERSION_MAX: usize = 8192;
/// The longest text of an error in either.
const ERROR_MAX: usize = 1024;
const SUCCESS: c_int = 0;
/// The tag of all messages.
const TAG: c_int = 0;

/// All ranks that were started together, for one thread.
pub(super) trait World {
    fn rank(&self) -> Result<u32>;
    fn size(&self) -> Result<u32>;
    fn barrier(&self) -> Result<()>;
    fn send(&self, bytes: &[u8], to: u32) -> Result<()>;
    fn receive(&self, buffer: &mut [u8], from: u32) -> Result<()>;
    /// Sends and receives at the same time.
    fn exchange(&self, bytes: &[u8], buffer: &mut [u8], other: u32) -> Result<()>;
    fn finalize(&self) -> Result<()>;
}

macro_rules! world {
    ($name:ident, $handle:ty) => {
        use std::ffi::{c_char, c_int, c_void};

        use super::{ERROR_MAX, SUCCESS, TAG, World, count, failed};
        use crate::Result;

        isotach_engine_kit::functions! {
            init ["MPI_Init"]: fn(*mut c_int, *mut *mut *mut c_char) -> c_int;
            finalize ["MPI_Finalize"]: fn() -> c_int;
            comm_rank ["MPI_Comm_rank"]: fn($handle, *mut c_int) -> c_int;
            comm_size ["MPI_Comm_size"]: fn($handle, *mut c_int) -> c_int;
            set_errhandler ["MPI_Comm_set_errhandler"]: fn($handle, $handle) -> c_int;
            error_string ["MPI_Error_string"]: fn(c_int, *mut c_char, *mut c_int) -> c_int;
            barrier ["MPI_Barrier"]: fn($handle) -> c_int;
            send ["MPI_Send"]: fn(*const c_void, c_int, $handle, c_int, c_int, $handle) -> c_int;
            recv ["MPI_Recv"]: fn(*mut c_void, c_int, $handle, c_int, c_int, $handle, *mut c_void) -> c_int;
            sendrecv ["MPI_Sendrecv"]: fn(*const c_void, c_int, $handle, c_int, c_int, *mut c_void, c_int, $handle, c_int, c_int, $handle, *mut c_void) -> c_int;
        }

        pub(super) struct $name {
            functions: Functions,
            world: $handle,
            byte: $handle,
            /// `MPI_STATUS_IGNORE`.
            ignore: *mut c_void,
        }

        impl $name {
            /// Initialises MPI. From then on functions return errors instead of ending the process.
            fn start(self, errors_return: $handle) -> Result<Self> {
                // SAFETY: since MPI 2 both pointers may be null. It is called once, by the one thread of this process that
                // uses MPI.
                self.check("MPI_Init", unsafe {
                    (self.functions.init)(std::ptr::null_mut(), std::ptr::null_mut())
                })?;
                // SAFETY: both are predefined handles.
                let set = unsafe { (self.functions.set_errhandler)(self.world, errors_return) };
                self.check("MPI_Comm_set_errhandler", set)?;
                Ok(self)
            }

            fn check(&self, function: &str, code: c_int) -> Result<()> {
                if code == SUCCESS {
                    return Ok(());
                }
                let mut text = [0_u8; ERROR_MAX];
                let mut length = 0;
                // SAFETY: no implementation writes more than its MPI_MAX_ERROR_STRING, at most 1024.
                let found = unsafe {
                    (self.functions.error_string)(code, text.as_mut_ptr().cast(), &raw mut length)
                };
                let text = text.get(..length.max(0) as usize).filter(|_| found == SUCCESS);
                Err(failed(function, code, text))
            }

            fn number(&self, function: &str, code: c_int, number: c_int) -> Result<u32> {
                self.check(function, code).map(|()| number.max(0) as u32)
            }
        }

        impl World for $name {
            fn rank(&self) -> Result<u32> {
                let mut rank = 0;
                // SAFETY: the world is a valid communicator after the start; `rank` is valid for a write.
                let code = unsafe { (self.functions.comm_rank)(self.world, &raw mut rank) };
                self.number("MPI_Comm_rank", code, rank)
            }

            fn size(&self) -> Result<u32> {
                let mut size = 0;
                // SAFETY: as for `rank`.
                let code = unsafe { (self.functions.comm_size)(self.world, &raw mut size) };
                self.number("MPI_Comm_size", code, size)
            }

            fn barrier(&self) -> Result<()> {
                // SAFETY: the world is a valid communicator after the start.
                self.check("MPI_Barrier", unsafe { (self.functions.barrier)(self.world) })
            }

            fn send(&self, bytes: &[u8], to: u32) -> Result<()> {
                let (count, to) = (count(bytes)?, to as c_int);
                // SAFETY: `bytes` holds `count` bytes, and the function has used them when it returns.
                let code = unsafe {
                    (self.functions.send)(bytes.as_ptr().cast(), count, self.byte, to, TAG, self.world)
                };
                self.check("MPI_Send", code)
            }

            fn receive(&self, buffer: &mut [u8], from: u32) -> Result<()> {
                let (count, from) = (count(buffer)?, from as c_int);
                let to = buffer.as_mut_ptr().cast();
                // SAFETY: `buffer` has space for `count` bytes; a longer message is an error and is not written.
                let code = unsafe {
                    (self.functions.recv)(to, count, self.byte, from, TAG, self.world, self.ignore)
                };
                self.check("MPI_Recv", code)
            }

            fn exchange(&self, bytes: &[u8], buffer: &mut [u8], other: u32) -> Result<()> {
                let (sent, received, other) = (count(bytes)?, count(buffer)?, other as c_int);
                let (from, to) = (bytes.as_ptr().cast(), buffer.as_mut_ptr().cast());
                let Self { functions, world, byte, ignore } = self;
                // SAFETY: as for `send` and `receive`; the two slices cannot overlap.
                let code = unsafe {
                    (functions.sendrecv)(
                        from, sent, *byte, other, TAG, to, received, *byte, other, TAG, *world, *ignore,
                    )
                };
                self.check("MPI_Sendrecv", code)
            }

            fn finalize(&self) -> Result<()> {
                // SAFETY: nothing is called after it: the process ends.
                self.check("MPI_Finalize", unsafe { (self.functions.finalize)() })
            }
        }
    };
}

/// Handles are numbers. They are those of `mpi.h` of MPICH since 1.3.
mod mpich {
    world! {Mpich, c_int}

    impl Mpich {
        /// # Safety
        /// `library` has the MPICH ABI.
        pub(super) unsafe fn start_in(
            library: &'static isotach_engine_kit::library::Library,
        ) -> Result<Box<dyn World>> {
            // SAFETY: the caller vouches for the library, whose header declares these types.
            let functions = unsafe { Functions::find(library) }.map_err(super::unusable)?;
            let ignore = std::ptr::without_provenance_mut(1);
            let own = Self { functions, world: 0x4400_0000, byte: 0x4c00_010d, ignore };
            Ok(Box::new(own.start(0x5400_0001)?))
        }
    }
}

/// Handles are addresses of objects in the library.
mod open_mpi {
    world! {OpenMpi, *mut c_void}

    impl OpenMpi {
        /// # Safety
        /// `library` is Open MPI.
        pub(super) unsafe fn start_in(
            library: &'static isotach_engine_kit::library::Library,
        ) -> Result<Box<dyn World>> {
            let object = |name| super::object(library, name).ok_or_else(|| super::unusable(name));
            let [world, byte, errors_return] = [super::WORLD, "ompi_mpi_byte", "ompi_mpi_errors_return"];
            let (world, byte, errors_return) = (object(world)?, object(byte)?, object(errors_return)?);
            // SAFETY: the caller vouches for the library, whose header declares these types.
            let functions = unsafe { Functions::find(library) }.map_err(super::unusable)?;
            let own = Self { functions, world, byte, ignore: std::ptr::null_mut() };
            Ok(Box::new(own.start(errors_return)?))
        }
    }
}

/// The communicator of all ranks in Open MPI, by which it is recognised.
const WORLD: &str = "ompi_mpi_comm_world";
/// Words in the version of libraries with the MPICH ABI.
const MPICH_FAMILY: [&str; 3] = ["MPICH", "Intel(R) MPI", "MVAPICH"];

/// The address of an object in a library; none if it has no such object.
fn object(library: &'static Library, name: &str) -> Option<*mut c_void> {
    // SAFETY: a symbol read as a pointer is its address, which is not followed here.
    unsafe { library::function::<*mut c_void>(library, name, &[]) }.ok()
}

fn unusable(why: impl std::fmt::Display) -> Error {
    Error::invalid(
        format!("the MPI library cannot be used: {why}"),
        "Open MPI, or a library with the MPICH ABI",
    )
}

fn count(bytes: &[u8]) -> Result<c_int> {
    c_int::try_from(bytes.len())
        .map_err(|_| Error::invalid(format!("a message of {} bytes", bytes.len()), "less than 2 GiB"))
}

fn failed(function: &str, code: c_int, text: Option<&[u8]>) -> Error {
    let text = text.map_or_else(|| "no reason given".into(), String::from_utf8_lossy);
    Error::pipe(format!("call {function}"))(std::io::Error::other(format!("code {code}: {text}")))
}

/// Loads an MPI library: the given one, or the first that the loader finds. Returns it with its version.
pub(super) fn load(given: Option<&Path>, names: &[&str]) -> Result<(&'static Library, String)> {
    let names: Vec<&std::ffi::OsStr> = match given {
        Some(path) => vec![path.as_os_str()],
        None => names.iter().map(AsRef::as_ref).collect(),
    };
    // SAFETY: loading an MPI library runs initialisers without preconditions; MPI itself is initialised by MPI_Init.
    let library = unsafe { library::load(names) }.map_err(|why| {
        let remedy =
            "libmpi.so of the site, by --mpi-library or LD_LIBRARY_PATH (Debian: libopenmpi3 or libmpich12)";
        Error::invalid(format!("no MPI library can be loaded: {why}"), remedy)
    })?;
    version(library).map(|version| (library, version))
}

/// The version, which may be asked for before the start of MPI.
fn version(library: &'static Library) -> Result<String> {
    type Get = unsafe extern "C" fn(*mut c_char, *mut c_int) -> c_int;
    // SAFETY: this is its declaration in the MPI standard since version 3, which has no handles.
    let get =
        unsafe { library::function::<Get>(library, "MPI_Get_library_version", &[]) }.map_err(unusable)?;
    let (mut text, mut length) = (vec![0_u8; VERSION_MAX], 0);
    // SAFETY: no implementation writes more than its MPI_MAX_LIBRARY_VERSION_STRING, at most 8192.
    let code = unsafe { get(text.as_mut_ptr().cast(), &raw mut length) };
    let text = text.get(..length.max(0) as usize).filter(|_| code == SUCCESS).unwrap_or_default();
    let text = String::from_utf8_lossy(text);
    // Some have their whole configuration here, and a NUL at the end.
    let line = text.lines().next().unwrap_or_default().trim_end_matches('\0');
    Ok(line.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Starts MPI in this process.
pub(super) fn start(library: &'static Library, version: &str) -> Result<Box<dyn World>> {
    if object(library, WORLD).is_some_and(|world| !ptr::eq(world, ptr::null_mut())) {
        // SAFETY: only Open MPI has this object.
        return unsafe { open_mpi::OpenMpi::start_in(library) };
    }
    match MPICH_FAMILY.iter().any(|name| version.to_uppercase().contains(&name.to_uppercase())) {
        // SAFETY: it says that it is MPICH or one of its descendants, which have this ABI.
        true => unsafe { mpich::Mpich::start_in(library) },
        false => Err(unusable(format!("its version is {version:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_fails_names_the_function_and_the_reason() {
        let error = failed("MPI_Send", 5, Some(b"no route"));
        assert_eq!(error.to_string(), "call MPI_Send: code 5: no route");
        assert!(matches!(error, Error::Io { .. }), "it is no usage");
    }

    #[test]
    fn a_library_that_is_no_mpi_is_refused_with_a_remedy() {
        let missing = load(Some(Path::new("libisotach-missing.so")), &[]).map(drop).unwrap_err();
        assert!(missing.to_string().contains("--mpi-library"), "{missing}");
        let other = load(Some(Path::new("libc.so.6")), &[]).map(drop).unwrap_err();
        assert!(other.to_string().contains("MPI_Get_library_version"), "{other}");
        // SAFETY: the C library has no initialisers with preconditions.
        let library = unsafe { library::load(["libc.so.6"]) }.unwrap();
        let unknown = start(library, "Some MPI 1.0").map(drop).unwrap_err();
        assert!(unknown.to_string().contains("\"Some MPI 1.0\"; expected Open MPI"), "{unknown}");
    }
}
