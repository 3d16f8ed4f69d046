//! An HDF5 VOL connector: h5py, netCDF4 and C programs read and write Isotach's object stores as HDF5 files, unmodified.
//!
//! One shared library serves HDF5 1.14.2 to 2.2, several of them in one process. HDF5 finds it in `HDF5_PLUGIN_PATH`, by
//! `HDF5_VOL_CONNECTOR=isotach`. The model of a file is in `isotach-hdf5`; here is what HDF5's library needs around it, a file for each of
//! its classes of objects.
//!
//! What must stay true: no symbol of HDF5 is linked (`library.rs`). No panic and no Rust error reaches HDF5 (`guard.rs`). No lock is held
//! while HDF5 is called, since it calls back.

#![expect(unsafe_code, reason = "the boundary with HDF5's library; every block says what makes it sound")]

mod abi;
mod apart;
mod attribute;
mod background;
mod beside;
mod blob;
mod callbacks;
mod calls;
mod connector;
mod create;
mod crossing;
mod dataset;
mod datatype;
mod ending;
mod error;
mod external;
mod file;
mod forward;
mod group;
mod guard;
mod handle;
mod hyperslab;
mod id;
mod interface;
mod introspect;
mod iterate;
mod layout;
mod library;
mod link;
mod magic;
mod map;
mod mapping;
mod mpi;
mod native;
mod native_dataset;
mod object;
mod open_ids;
mod out;
mod page_buffer;
mod pairs;
mod past;
mod pipeline;
mod place;
mod plain;
mod plist;
mod plugin;
mod queries;
mod request;
mod search;
mod selected;
mod shadow;
mod site;
mod space;
mod tables;
mod through;
mod token;
mod transfer;
mod types;
mod values;
mod view;
mod virtual_data;
