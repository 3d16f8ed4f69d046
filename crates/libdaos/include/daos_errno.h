/*
 * Error numbers. Functions return them negative, and 0 when all went well. Numbers that only servers use are here too,
 * since a server's error reaches the program.
 */
#ifndef ISOTACH_DAOS_ERRNO_H
#define ISOTACH_DAOS_ERRNO_H

#if defined(__cplusplus)
extern "C" {
#endif

enum daos_errno {
	DER_SUCCESS = 0,
	DER_NO_PERM = 1001,
	DER_NO_HDL = 1002,
	DER_INVAL = 1003,
	DER_EXIST = 1004,
	DER_NONEXIST = 1005,
	DER_UNREACH = 1006,
	DER_NOSPACE = 1007,
	DER_ALREADY = 1008,
	DER_NOMEM = 1009,
	DER_NOSYS = 1010,
	DER_TIMEDOUT = 1011,
	DER_BUSY = 1012,
	DER_AGAIN = 1013,
	DER_PROTO = 1014,
	DER_UNINIT = 1015,
	DER_TRUNC = 1016,
	DER_OVERFLOW = 1017,
	DER_CANCELED = 1018,
	DER_OOG = 1019,
	DER_HG = 1020,
	DER_UNREG = 1021,
	DER_ADDRSTR_GEN = 1022,
	DER_PMIX = 1023,
	DER_IVCB_FORWARD = 1024,
	DER_MISC = 1025,
	DER_BADPATH = 1026,
	DER_NOTDIR = 1027,
	DER_CORPC_INCOMPLETE = 1028,
	DER_NO_RAS_RANK = 1029,
	DER_NOTATTACH = 1030,
	DER_MISMATCH = 1031,
	DER_EXCLUDED = 1032,
	DER_NOREPLY = 1033,
	DER_DOS = 1034,
	DER_BAD_TARGET = 1035,
	DER_GRPVER = 1036,
	DER_HLC_SYNC = 1037,
	DER_NO_SHMEM = 1038,
	DER_ADD_METRIC_FAILED = 1039,
	DER_DURATION_MISMATCH = 1040,
	DER_OP_NOT_PERMITTED = 1041,
	DER_EXCEEDS_PATH_LEN = 1042,
	DER_METRIC_NOT_FOUND = 1043,
	DER_SHMEM_PERMS = 1044,
	DER_HG_FATAL = 1045,
	DER_IO = 2001,
	DER_FREE_MEM = 2002,
	DER_ENOENT = 2003,
	DER_NOTYPE = 2004,
	DER_NOSCHEMA = 2005,
	DER_NOLOCAL = 2006,
	DER_STALE = 2007,
	DER_NOTLEADER = 2008,
	DER_TGT_CREATE = 2009,
	DER_EP_RO = 2010,
	DER_EP_OLD = 2011,
	DER_KEY2BIG = 2012,
	DER_REC2BIG = 2013,
	DER_IO_INVAL = 2014,
	DER_EQ_BUSY = 2015,
	DER_DOMAIN = 2016,
	DER_SHUTDOWN = 2017,
	DER_INPROGRESS = 2018,
	DER_NOTAPPLICABLE = 2019,
	DER_NOTREPLICA = 2020,
	DER_CSUM = 2021,
	DER_DF_INVAL = 2022,
	DER_DF_INCOMPT = 2023,
	DER_REC_SIZE = 2024,
	DER_TX_RESTART = 2025,
	DER_DATA_LOSS = 2026,
	DER_OP_CANCELED = 2027,
	DER_TX_BUSY = 2028,
	DER_AGENT_INCOMPAT = 2029,
	DER_NEED_TX = 2030,
	DER_RF = 2031,
	DER_FETCH_AGAIN = 2032,
	DER_TX_UNCERTAIN = 2033,
	DER_AGENT_COMM = 2034,
	DER_ID_MISMATCH = 2035,
	DER_TGT_RETRY = 2036,
	DER_NOTSUPPORTED = 2037,
	DER_CONTROL_INCOMPAT = 2038,
	DER_NO_SERVICE = 2039,
	DER_TX_ID_REUSED = 2040,
	DER_UPDATE_AGAIN = 2041,
	DER_NVME_IO = 2042,
	DER_NO_CERT = 2043,
	DER_BAD_CERT = 2044,
	DER_VOS_PARTIAL_UPDATE = 2045,
	DER_CHKPT_BUSY = 2046,
	DER_DIV_BY_ZERO = 2047,
	DER_OVERLOAD_RETRY = 2048,
	DER_CONT_NONEXIST = 2050,
	DER_CONT_DESTROYING = 2051,
	DER_UNKNOWN = 501000
};

/* Each error with what it means, for programs that make tables of them: those of the lower layers, and the others. */
#define D_FOREACH_GURT_ERR(ACTION)                                                                                     \
	ACTION(DER_NO_PERM, The operation is not permitted)                                                            \
	ACTION(DER_NO_HDL, The handle is not valid)                                                                    \
	ACTION(DER_INVAL, A parameter is not valid)                                                                    \
	ACTION(DER_EXIST, The entry exists already)                                                                    \
	ACTION(DER_NONEXIST, The entry does not exist)                                                                 \
	ACTION(DER_UNREACH, The server cannot be reached)                                                              \
	ACTION(DER_NOSPACE, No space is left)                                                                          \
	ACTION(DER_ALREADY, The operation was done already)                                                            \
	ACTION(DER_NOMEM, No memory is left)                                                                           \
	ACTION(DER_NOSYS, The function is not implemented)                                                             \
	ACTION(DER_TIMEDOUT, The time ran out)                                                                         \
	ACTION(DER_BUSY, The resource is in use)                                                                       \
	ACTION(DER_AGAIN, The operation should be tried again)                                                         \
	ACTION(DER_PROTO, The two sides speak different protocols)                                                     \
	ACTION(DER_UNINIT, The library is not initialised)                                                             \
	ACTION(DER_TRUNC, The buffer is too small for the answer)                                                      \
	ACTION(DER_OVERFLOW, A value is too large for its type or limit)                                               \
	ACTION(DER_CANCELED, The operation was cancelled)                                                              \
	ACTION(DER_OOG, The process is not in the group)                                                               \
	ACTION(DER_HG, The transport failed)                                                                           \
	ACTION(DER_UNREG, The request is not registered)                                                               \
	ACTION(DER_ADDRSTR_GEN, An address could not be written as text)                                               \
	ACTION(DER_PMIX, The process manager failed)                                                                   \
	ACTION(DER_IVCB_FORWARD, The value is to be asked of the parent)                                               \
	ACTION(DER_MISC, An error without a number of its own)                                                         \
	ACTION(DER_BADPATH, The path is not valid)                                                                     \
	ACTION(DER_NOTDIR, A part of the path is not a directory)                                                      \
	ACTION(DER_CORPC_INCOMPLETE, A collective request did not reach everyone)                                      \
	ACTION(DER_NO_RAS_RANK, No server process listens for failures)                                                \
	ACTION(DER_NOTATTACH, The service group is not attached)                                                       \
	ACTION(DER_MISMATCH, Two values that must agree do not)                                                        \
	ACTION(DER_EXCLUDED, The server process is out of use)                                                         \
	ACTION(DER_NOREPLY, The request was not answered)                                                              \
	ACTION(DER_DOS, Too many requests)                                                                             \
	ACTION(DER_BAD_TARGET, The request went to the wrong target)                                                   \
	ACTION(DER_GRPVER, The versions of the group do not agree)                                                     \
	ACTION(DER_HLC_SYNC, The clocks do not agree)                                                                  \
	ACTION(DER_NO_SHMEM, No shared memory is left)                                                                 \
	ACTION(DER_ADD_METRIC_FAILED, The metric could not be added)                                                   \
	ACTION(DER_DURATION_MISMATCH, The end of a duration has no start)                                              \
	ACTION(DER_OP_NOT_PERMITTED, The kind of metric does not permit the operation)                                 \
	ACTION(DER_EXCEEDS_PATH_LEN, The path is too long)                                                             \
	ACTION(DER_METRIC_NOT_FOUND, The metric does not exist)                                                        \
	ACTION(DER_SHMEM_PERMS, The shared memory belongs to another user)                                             \
	ACTION(DER_HG_FATAL, The transport failed for good)
#define D_FOREACH_DAOS_ERR(ACTION)                                                                                     \
	ACTION(DER_IO, Reading or writing storage failed)                                                              \
	ACTION(DER_FREE_MEM, Memory could not be freed)                                                                \
	ACTION(DER_ENOENT, The value does not exist)                                                                   \
	ACTION(DER_NOTYPE, The object type is not known)                                                               \
	ACTION(DER_NOSCHEMA, The object schema is not known)                                                           \
	ACTION(DER_NOLOCAL, The object is elsewhere)                                                                   \
	ACTION(DER_STALE, The version of the pool map is old)                                                          \
	ACTION(DER_NOTLEADER, The server process does not lead the service)                                            \
	ACTION(DER_TGT_CREATE, The target could not be made)                                                           \
	ACTION(DER_EP_RO, The epoch cannot be written)                                                                 \
	ACTION(DER_EP_OLD, The epoch is too old and cannot be read)                                                    \
	ACTION(DER_KEY2BIG, The key is larger than the buffer)                                                         \
	ACTION(DER_REC2BIG, The record is larger than the buffer)                                                      \
	ACTION(DER_IO_INVAL, The buffers do not match the extents)                                                     \
	ACTION(DER_EQ_BUSY, The event queue is in use)                                                                 \
	ACTION(DER_DOMAIN, The failure domains do not agree)                                                           \
	ACTION(DER_SHUTDOWN, The service shuts down)                                                                   \
	ACTION(DER_INPROGRESS, The operation is in progress)                                                           \
	ACTION(DER_NOTAPPLICABLE, The operation does not apply)                                                        \
	ACTION(DER_NOTREPLICA, The server process has no part in the service)                                          \
	ACTION(DER_CSUM, The data does not match its checksum)                                                         \
	ACTION(DER_DF_INVAL, The stored layout is not known)                                                           \
	ACTION(DER_DF_INCOMPT, The version of the stored layout is not supported)                                      \
	ACTION(DER_REC_SIZE, The record sizes do not agree)                                                            \
	ACTION(DER_TX_RESTART, The transaction must be restarted)                                                      \
	ACTION(DER_DATA_LOSS, Data is lost or cannot be recovered)                                                     \
	ACTION(DER_OP_CANCELED, The operation was cancelled before it began)                                           \
	ACTION(DER_TX_BUSY, The transaction is not committed yet)                                                      \
	ACTION(DER_AGENT_INCOMPAT, The agent and the library do not fit together)                                      \
	ACTION(DER_NEED_TX, The operation needs a transaction)                                                         \
	ACTION(DER_RF, More failed than the redundancy allows)                                                         \
	ACTION(DER_FETCH_AGAIN, The value should be read again)                                                        \
	ACTION(DER_TX_UNCERTAIN, It is not known whether the transaction took effect)                                  \
	ACTION(DER_AGENT_COMM, The agent does not answer)                                                              \
	ACTION(DER_ID_MISMATCH, The identifiers do not agree)                                                          \
	ACTION(DER_TGT_RETRY, The operation should be tried on another target)                                         \
	ACTION(DER_NOTSUPPORTED, The operation is not supported)                                                       \
	ACTION(DER_CONTROL_INCOMPAT, The parts of the control plane do not fit together)                               \
	ACTION(DER_NO_SERVICE, The service is not available)                                                           \
	ACTION(DER_TX_ID_REUSED, The identifier of the transaction was used before)                                    \
	ACTION(DER_UPDATE_AGAIN, The value should be written again)                                                    \
	ACTION(DER_NVME_IO, Reading or writing a block device failed)                                                  \
	ACTION(DER_NO_CERT, A certificate cannot be read)                                                              \
	ACTION(DER_BAD_CERT, A certificate is not valid)                                                               \
	ACTION(DER_VOS_PARTIAL_UPDATE, Storing part of a record is not supported)                                      \
	ACTION(DER_CHKPT_BUSY, The page is being written out)                                                          \
	ACTION(DER_DIV_BY_ZERO, A division by zero)                                                                    \
	ACTION(DER_OVERLOAD_RETRY, The server is overloaded; try again later)                                          \
	ACTION(DER_CONT_NONEXIST, The container does not exist)                                                        \
	ACTION(DER_CONT_DESTROYING, The container is being destroyed)

/* The name of a result and what it means; d_errstr and d_errdesc are in gurt/common.h too. */
const char *d_errstr(int rc);
const char *d_errdesc(int rc);

/* For messages: printf("it failed: " DF_RC, DP_RC(rc)). */
#ifndef DF_RC
#define DF_RC "%s(%d): '%s'"
#define DP_RC(rc) d_errstr(rc), rc, d_errdesc(rc)
#endif

#if defined(__cplusplus)
}
#endif

#endif
