//! Tells the extension with which profile of Cargo it is compiled.
//!
//! Cargo names the profile to build scripts only as "debug" or "release", but the directory of the
//! build has the profile's own name: `target/PROFILE/build/penstock-py-HASH/out`.

use std::path::PathBuf;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    let profile = out.ancestors().nth(3).and_then(|place| place.file_name()).unwrap_or_default();
    println!("cargo::rustc-env=PENSTOCK_PROFILE={}", profile.to_string_lossy());
}
