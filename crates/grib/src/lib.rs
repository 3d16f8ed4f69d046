//! GRIB messages: scanning files, and keys through ecCodes loaded at run time.
