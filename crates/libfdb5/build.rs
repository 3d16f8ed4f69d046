//! Gives the library the name that programs linked with FDB's library search for.

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libfdb5.so");
    println!("cargo::rerun-if-changed=build.rs");
}
