//! The conformance suite: what every engine must do, as tests that an engine enters by one line.
