//! The isotach program.
fn main() {}
