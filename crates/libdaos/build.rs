//! Gives the library the name that programs which were linked with DAOS's look for.

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libdaos.so.2");
    println!("cargo::rerun-if-changed=build.rs");
}
