//! `include/biela.h` is what cbindgen makes of `src/capi`, and every C and C++ that hosts use can read it.
//! After a change of the interface: `BIELA_BLESS=1 cargo test --test capi header::` rewrites the file.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::host::{Scratch, compilers, expect_success, root};

/// In the order in which the header is best read.
const SOURCES: [&str; 12] = [
    "status.rs",
    "instance.rs",
    "variable.rs",
    "step.rs",
    "value.rs",
    "derivative.rs",
    "analysis.rs",
    "state.rs",
    "statistics.rs",
    "error_bars.rs",
    "logger.rs",
    "system.rs",
];
/// Nothing that C sees, or only in test builds.
const NOT_FOR_C: [&str; 4] = ["mod.rs", "gate.rs", "versioned_struct.rs", "fault.rs"];

/// The header as `c_tests/header` makes it with cbindgen.
fn generated() -> String {
    let output = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--package", "biela-header", "--"])
        .args(SOURCES)
        .current_dir(root())
        .output()
        .expect("cargo starts");
    expect_success("cbindgen on src/capi", &output)
}

#[test]
fn the_committed_header_is_the_generated_one() {
    let path = root().join("include/biela.h");
    let fresh = generated();
    if std::env::var_os("BIELA_BLESS").is_some() {
        fs::write(&path, &fresh).expect("include/biela.h can be written");
    }
    let committed = fs::read_to_string(&path).expect("include/biela.h is there");
    let differing = committed
        .lines()
        .zip(fresh.lines())
        .enumerate()
        .find(|(_, (old, new))| old != new);
    assert!(
        committed == fresh,
        "include/biela.h is stale: {differing:?} (committed {} bytes, generated {}); \
         run BIELA_BLESS=1 cargo test --test capi header:: and review the difference",
        committed.len(),
        fresh.len()
    );
}

#[test]
fn no_file_of_the_boundary_is_forgotten_by_the_header() {
    let mut found: Vec<String> = fs::read_dir(root().join("src/capi"))
        .expect("src/capi")
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".rs"))
        .collect();
    found.sort();
    let mut listed: Vec<&str> = SOURCES.into_iter().chain(NOT_FOR_C).collect();
    listed.sort_unstable();
    assert_eq!(found, listed);
}

#[test]
fn the_header_knows_nothing_of_the_test_only_feature() {
    let header = fs::read_to_string(root().join("include/biela.h")).unwrap();
    assert!(!header.contains("inject"));
    assert!(!header.contains("FAULT"));
}

/// Compiles one translation unit that reads the header twice, and one more, into one program.
fn reads(compiler: &Path, standard: &str, extension: &str) {
    let scratch = Scratch::new(&format!(
        "header-{}-{standard}",
        compiler.file_name().unwrap().to_string_lossy()
    ));
    let first = scratch.path().join(format!("first.{extension}"));
    let second = scratch.path().join(format!("second.{extension}"));
    fs::write(
        &first,
        "#include <biela.h>\n#include <biela.h>\n\
         int other(biela_status status);\n\
         int main(void) { return other(BIELA_STATUS_OK) + (BIELA_ABI_VERSION - 1); }\n",
    )
    .unwrap();
    fs::write(
        &second,
        "#include <biela.h>\nint other(biela_status status);\n\
         int other(biela_status status) { return status == BIELA_STATUS_OK ? 0 : 1; }\n",
    )
    .unwrap();
    let output = Command::new(compiler)
        .arg(format!("-std={standard}"))
        .args([
            "-Wall",
            "-Wextra",
            "-Wpedantic",
            "-Wconversion",
            "-Wshadow",
            "-Werror",
        ])
        .args(match compiler.to_string_lossy().contains("clang") {
            // Everything clang knows, but for what complains about C++ as such and about old standards.
            true => &[
                "-Weverything",
                "-Wno-c++98-compat",
                "-Wno-c++98-compat-pedantic",
                "-Wno-padded",
            ][..],
            false => &[],
        })
        .arg("-I")
        .arg(root().join("include"))
        .args([&first, &second])
        .arg("-o")
        .arg(scratch.path().join("program"))
        .output()
        .expect("the compiler starts");
    assert!(
        output.status.success(),
        "{} -std={standard} does not read the header:\n{}",
        compiler.display(),
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn every_compiler_reads_the_header_as_c99_c11_c17_and_cpp17_twice_in_one_program() {
    for compiler in compilers(&["gcc", "clang"]) {
        reads(&compiler, "c99", "c");
        reads(&compiler, "c11", "c");
        reads(&compiler, "c17", "c");
    }
    for compiler in compilers(&["g++", "clang++"]) {
        reads(&compiler, "c++17", "cpp");
    }
}
