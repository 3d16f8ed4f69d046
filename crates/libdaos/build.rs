//! Gives the library the name that programs linked with DAOS's library search for.

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libdaos.so.2");
    println!("cargo::rerun-if-changed=build.rs");
}
