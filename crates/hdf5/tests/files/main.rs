//! HDF5's model on the memory engine and on posix.

mod common;
mod damage;
mod datasets;
mod isolation;
mod objects;
mod whole_files;
