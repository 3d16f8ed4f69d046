/* What HDF5's public headers need to know of the library that a program is linked with: 64-bit Linux without MPI. HDF5 makes this file when it is
   configured; the headers use no more of it. */
#define H5_HAVE_STDBOOL_H 1
#define H5_SIZEOF_SIZE_T 8
#define H5_SIZEOF_LONG 8
#define H5_SIZEOF_LONG_LONG 8
#define H5_SIZEOF_INT 4
#define H5_SIZEOF_OFF_T 8
#define H5_SIZEOF_DOUBLE 8
#define H5_SIZEOF_LONG_DOUBLE 16
#define H5_HAVE_VISIBILITY 1
#define H5_USE_200_API 1
