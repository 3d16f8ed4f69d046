//! The default engine: a container is an append-only log on a POSIX file system.
