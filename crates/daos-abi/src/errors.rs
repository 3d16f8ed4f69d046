//! Error numbers: calls return them negative, or zero.
//!
//! One table holds number, name and description, so that the three cannot drift apart.

use core::ffi::c_int;

macro_rules! errors {
    ($($constant:ident = $number:literal, $text:literal;)*) => {
        $(
            #[doc = $text]
            pub const $constant: c_int = $number;
        )*

        /// Every error: its positive number, its name, its description.
        const TABLE: &[(c_int, &str, &str)] = &[$(($number, stringify!($constant), $text)),*];
    };
}

/// The result of a call that succeeded.
pub const DER_SUCCESS: c_int = 0;

errors! {
    DER_NO_PERM = 1001, "The operation is not permitted";
    DER_NO_HDL = 1002, "The handle is not valid";
    DER_INVAL = 1003, "A parameter is not valid";
    DER_EXIST = 1004, "The entry exists already";
    DER_NONEXIST = 1005, "The entry does not exist";
    DER_UNREACH = 1006, "The server cannot be reached";
    DER_NOSPACE = 1007, "No space is left";
    DER_ALREADY = 1008, "The operation was done already";
    DER_NOMEM = 1009, "No memory is left";
    DER_NOSYS = 1010, "The function is not implemented";
    DER_TIMEDOUT = 1011, "The time ran out";
    DER_BUSY = 1012, "The resource is in use";
    DER_AGAIN = 1013, "The operation should be tried again";
    DER_PROTO = 1014, "The two sides speak different protocols";
    DER_UNINIT = 1015, "The library is not initialised";
    DER_TRUNC = 1016, "The buffer is too small for the answer";
    DER_OVERFLOW = 1017, "A value is too large for its type or limit";
    DER_CANCELED = 1018, "The operation was cancelled";
    DER_OOG = 1019, "The process is not in the group";
    DER_HG = 1020, "The transport failed";
    DER_UNREG = 1021, "The request is not registered";
    DER_ADDRSTR_GEN = 1022, "An address could not be written as text";
    DER_PMIX = 1023, "The process manager failed";
    DER_IVCB_FORWARD = 1024, "The value is to be asked of the parent";
    DER_MISC = 1025, "An error without a number of its own";
    DER_BADPATH = 1026, "The path is not valid";
    DER_NOTDIR = 1027, "A part of the path is not a directory";
    DER_CORPC_INCOMPLETE = 1028, "A collective request did not reach everyone";
    DER_NO_RAS_RANK = 1029, "No server process listens for failures";
    DER_NOTATTACH = 1030, "The service group is not attached";
    DER_MISMATCH = 1031, "Two values that must agree do not";
    DER_EXCLUDED = 1032, "The server process is out of use";
    DER_NOREPLY = 1033, "The request was not answered";
    DER_DOS = 1034, "Too many requests";
    DER_BAD_TARGET = 1035, "The request went to the wrong target";
    DER_GRPVER = 1036, "The versions of the group do not agree";
    DER_HLC_SYNC = 1037, "The clocks do not agree";
    DER_NO_SHMEM = 1038, "No shared memory is left";
    DER_ADD_METRIC_FAILED = 1039, "The metric could not be added";
    DER_DURATION_MISMATCH = 1040, "The end of a duration has no start";
    DER_OP_NOT_PERMITTED = 1041, "The kind of metric does not permit the operation";
    DER_EXCEEDS_PATH_LEN = 1042, "The path is too long";
    DER_METRIC_NOT_FOUND = 1043, "The metric does not exist";
    DER_SHMEM_PERMS = 1044, "The shared memory belongs to another user";
    DER_HG_FATAL = 1045, "The transport failed for good";
    DER_IO = 2001, "Reading or writing storage failed";
    DER_FREE_MEM = 2002, "Memory could not be freed";
    DER_ENOENT = 2003, "The value does not exist";
    DER_NOTYPE = 2004, "The object type is not known";
    DER_NOSCHEMA = 2005, "The object schema is not known";
    DER_NOLOCAL = 2006, "The object is elsewhere";
    DER_STALE = 2007, "The version of the pool map is old";
    DER_NOTLEADER = 2008, "The server process does not lead the service";
    DER_TGT_CREATE = 2009, "The target could not be made";
    DER_EP_RO = 2010, "The epoch cannot be written";
    DER_EP_OLD = 2011, "The epoch is too old and cannot be read";
    DER_KEY2BIG = 2012, "The key is larger than the buffer";
    DER_REC2BIG = 2013, "The record is larger than the buffer";
    DER_IO_INVAL = 2014, "The buffers do not match the extents";
    DER_EQ_BUSY = 2015, "The event queue is in use";
    DER_DOMAIN = 2016, "The failure domains do not agree";
    DER_SHUTDOWN = 2017, "The service shuts down";
    DER_INPROGRESS = 2018, "The operation is in progress";
    DER_NOTAPPLICABLE = 2019, "The operation does not apply";
    DER_NOTREPLICA = 2020, "The server process has no part in the service";
    DER_CSUM = 2021, "The data does not match its checksum";
    DER_DF_INVAL = 2022, "The stored layout is not known";
    DER_DF_INCOMPT = 2023, "The version of the stored layout is not supported";
    DER_REC_SIZE = 2024, "The record sizes do not agree";
    DER_TX_RESTART = 2025, "The transaction must be restarted";
    DER_DATA_LOSS = 2026, "Data is lost or cannot be recovered";
    DER_OP_CANCELED = 2027, "The operation was cancelled before it began";
    DER_TX_BUSY = 2028, "The transaction is not committed yet";
    DER_AGENT_INCOMPAT = 2029, "The agent and the library do not fit together";
    DER_NEED_TX = 2030, "The operation needs a transaction";
    DER_RF = 2031, "More failed than the redundancy allows";
    DER_FETCH_AGAIN = 2032, "The value should be read again";
    DER_TX_UNCERTAIN = 2033, "It is not known whether the transaction took effect";
    DER_AGENT_COMM = 2034, "The agent does not answer";
    DER_ID_MISMATCH = 2035, "The identifiers do not agree";
    DER_TGT_RETRY = 2036, "The operation should be tried on another target";
    DER_NOTSUPPORTED = 2037, "The operation is not supported";
    DER_CONTROL_INCOMPAT = 2038, "The parts of the control plane do not fit together";
    DER_NO_SERVICE = 2039, "The service is not available";
    DER_TX_ID_REUSED = 2040, "The identifier of the transaction was used before";
    DER_UPDATE_AGAIN = 2041, "The value should be written again";
    DER_NVME_IO = 2042, "Reading or writing a block device failed";
    DER_NO_CERT = 2043, "A certificate cannot be read";
    DER_BAD_CERT = 2044, "A certificate is not valid";
    DER_VOS_PARTIAL_UPDATE = 2045, "Storing part of a record is not supported";
    DER_CHKPT_BUSY = 2046, "The page is being written out";
    DER_DIV_BY_ZERO = 2047, "A division by zero";
    DER_OVERLOAD_RETRY = 2048, "The server is overloaded; try again later";
    DER_CONT_NONEXIST = 2050, "The container does not exist";
    DER_CONT_DESTROYING = 2051, "The container is being destroyed";
    DER_UNKNOWN = 501_000, "An error that is not known";
}

/// The name of a result, positive or negative: `"DER_NONEXIST"`. Zero is `"DER_SUCCESS"`, a strange number
/// `"DER_UNKNOWN"`.
#[must_use]
pub fn name(rc: i32) -> &'static str {
    entry(rc).map_or("DER_UNKNOWN", |(name, _)| name)
}

/// A short description of a result, positive or negative.
#[must_use]
pub fn text(rc: i32) -> &'static str {
    entry(rc).map_or("An error that is not known", |(_, text)| text)
}

fn entry(rc: i32) -> Option<(&'static str, &'static str)> {
    if rc == DER_SUCCESS {
        return Some(("DER_SUCCESS", "Success"));
    }
    TABLE
        .iter()
        .find(|(number, ..)| number.unsigned_abs() == rc.unsigned_abs())
        .map(|&(_, name, text)| (name, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_signs_have_the_same_name() {
        assert_eq!(name(-DER_NONEXIST), "DER_NONEXIST");
        assert_eq!(name(DER_REC2BIG), "DER_REC2BIG");
        assert_eq!(name(0), "DER_SUCCESS");
        assert_eq!(name(i32::MIN), "DER_UNKNOWN");
        assert_eq!(text(-DER_EXIST), "The entry exists already");
    }

    #[test]
    fn the_header_has_the_same_numbers() {
        let header = include_str!("../../libdaos/include/daos_errno.h");
        let lines: Vec<&str> = header.lines().map(|line| line.trim().trim_end_matches(',')).collect();
        for (number, name, _) in TABLE {
            assert!(lines.contains(&format!("{name} = {number}").as_str()), "{name}");
        }
        assert_eq!(header.matches("\tDER_").count(), TABLE.len() + 1, "one more is DER_SUCCESS");
    }

    #[test]
    fn numbers_rise_so_none_is_there_twice() {
        assert!(TABLE.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
