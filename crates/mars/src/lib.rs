//! The language of fields: keys, key types, schema and requests. No I/O.
