//! Compares the layout of this module's structs with HDF5's headers.
