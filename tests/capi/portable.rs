//! The library that goes into units and wheels: which versions of the C library it needs, and its size.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::host::{Scratch, expect_success, library, root, skip, tool};

/// Newest version of glibc that the portable library may need: that of the oldest systems still in use (CentOS 7).
const OLDEST_GLIBC: &str = "2.17";
/// Largest size of the stripped library (bytes).
const LARGEST: u64 = 5_000_000;

/// The portable library: the one that is named, or built by the script if its tools are there and all tests are wanted.
fn portable_library(scratch: &Scratch) -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("BIELA_PORTABLE_LIBRARY") {
        return Some(PathBuf::from(named));
    }
    let built = root().join("target/portable/libbiela.so");
    if built.is_file() {
        return Some(built);
    }
    if std::env::var_os("BIELA_TEST_FULL").is_none() {
        skip(
            "target/portable/libbiela.so is not there: run packaging/portable_library.sh to test its symbol versions",
        );
        return None;
    }
    let output = Command::new(root().join("packaging/portable_library.sh"))
        .arg(scratch.path())
        .output()
        .expect("the script starts");
    if output.status.code() == Some(77) {
        skip(String::from_utf8_lossy(&output.stderr).trim());
        return None;
    }
    expect_success("packaging/portable_library.sh", &output);
    Some(scratch.path().join("libbiela.so"))
}

/// What the script says about a library; `None` if there is no Python.
fn versions(library: &Path, newest: &str) -> Option<std::process::Output> {
    let Some(python) = tool("python3") else {
        skip("python3 is not installed: symbol versions are not read");
        return None;
    };
    let output = Command::new(python)
        .arg(root().join("packaging/symbol_versions.py"))
        .arg(library)
        .arg(newest)
        .output();
    Some(output.expect("python starts"))
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn the_portable_library_needs_no_symbol_newer_than_glibc_2_17_and_is_small() {
    let scratch = Scratch::new("portable");
    let Some(portable) = portable_library(&scratch) else {
        return;
    };
    let size = std::fs::metadata(&portable).unwrap().len();
    assert!(size <= LARGEST, "{size} bytes");
    if let Some(output) = versions(&portable, OLDEST_GLIBC) {
        let printed = expect_success("symbol_versions.py", &output);
        assert!(printed.contains("newest: GLIBC_2."), "{printed}");
    }
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn symbol_versions_are_read_and_newer_ones_are_refused() {
    let own = &library().shared;
    let Some(output) = versions(own, "2.999") else {
        return;
    };
    let printed = expect_success("symbol_versions.py", &output);
    assert!(printed.contains("libc.so.6 GLIBC_2."), "{printed}");
    // No library of this machine is content with glibc 2.1.
    let refused = versions(own, "2.1").unwrap();
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("newer than 2.1"));
}

#[test]
#[cfg(target_os = "linux")]
fn the_release_library_is_stripped() {
    let shared = &library().shared;
    if !shared
        .components()
        .any(|part| part.as_os_str() == "release")
    {
        return;
    }
    let size = std::fs::metadata(shared).unwrap().len();
    assert!(size <= LARGEST, "{size} bytes");
}
