//! Passes the version of the compiler on to the program.

use std::process::Command;

fn main() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = Command::new(rustc).arg("--version").output().expect("rustc --version");
    println!("cargo:rustc-env=RUSTC_VERSION={}", String::from_utf8_lossy(&version.stdout).trim());
    println!("cargo:rerun-if-changed=build.rs");
}
