//! Gives the library the name that programs linked with it search for. Its number changes with the interface.

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libisotach.so.0");
    println!("cargo::rerun-if-changed=build.rs");
}
