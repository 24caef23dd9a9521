//! The binary interface is what it was: exported names, enum numbers, struct layouts, each against a committed list.
//! After an intended change: `BIELA_BLESS=1 cargo test --test symbols` rewrites the lists.

mod host;

use std::fmt::Write;
use std::mem::offset_of;
use std::process::Command;

use biela::capi::instance::BIELA_ABI_VERSION;
use biela::capi::statistics::biela_counters;
use biela::capi::status::{biela_status, biela_status_name};
use biela::capi::variable::{biela_causality, biela_variable};
use host::{
    Compiler, Library, Linked, Scratch, expect_committed, expect_success, root, skip, tool,
};

/// Names that the shared library defines for the outside; `None` without `nm`.
#[cfg(target_os = "linux")]
fn exported(library: &Library) -> Option<String> {
    let Some(nm) = tool("nm") else {
        skip("nm is not installed: the exported names are not compared");
        return None;
    };
    let output = Command::new(nm)
        .args(["-D", "--defined-only", "--format=posix"])
        .arg(&library.shared)
        .output()
        .expect("nm starts");
    let listing = expect_success("nm", &output);
    let mut names: Vec<&str> = listing
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    names.sort_unstable();
    Some(names.join("\n") + "\n")
}

#[test]
#[cfg(target_os = "linux")]
fn the_shared_library_exports_the_committed_names_and_no_other() {
    if let Some(names) = exported(host::library()) {
        expect_committed(&root().join("tests/abi/symbols.txt"), &names);
        assert!(!names.contains("inject"));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn the_test_only_feature_adds_its_one_name() {
    let with_faults = exported(host::library_with_faults());
    if let (Some(plain), Some(with_faults)) = (exported(host::library()), with_faults) {
        let added: Vec<&str> = with_faults
            .lines()
            .filter(|name| !plain.lines().any(|known| known == *name))
            .collect();
        assert_eq!(added, ["biela_inject_panic"]);
    }
}

#[test]
fn every_exported_name_is_declared_in_the_header() {
    let header = std::fs::read_to_string(root().join("include/biela.h")).unwrap();
    let names = std::fs::read_to_string(root().join("tests/abi/symbols.txt")).unwrap();
    for name in names.lines() {
        assert!(
            header.contains(&format!("{name}(")),
            "{name} is not in the header"
        );
    }
}

/// As `c_tests/layout.c` prints it.
fn layout() -> String {
    let mut text = String::new();
    let mut line = |arguments: std::fmt::Arguments| writeln!(text, "{arguments}").unwrap();
    line(format_args!("BIELA_ABI_VERSION = {BIELA_ABI_VERSION}"));
    for number in 0.. {
        // SAFETY: a literal of the library.
        let name = unsafe { std::ffi::CStr::from_ptr(biela_status_name(number)) };
        match name.to_str().unwrap() {
            "BIELA_STATUS_UNKNOWN" => break,
            name => line(format_args!("{name} = {number}")),
        }
    }
    line(format_args!(
        "biela_status: size {}",
        size_of::<biela_status>()
    ));
    for (name, causality) in [
        ("PARAMETER", biela_causality::Parameter),
        ("INPUT", biela_causality::Input),
        ("OUTPUT", biela_causality::Output),
    ] {
        line(format_args!(
            "BIELA_CAUSALITY_{name} = {}",
            causality as i32
        ));
    }
    line(format_args!(
        "biela_causality: size {}",
        size_of::<biela_causality>()
    ));

    /// Size of a field, by a function that would read it.
    fn size_of_field<S, F>(_read: fn(&S) -> F) -> usize {
        size_of::<F>()
    }
    macro_rules! structure {
        ($type:ident: $($field:ident)*) => {
            line(format_args!("{}: size {}", stringify!($type), size_of::<$type>()));
            $(line(format_args!(
                "{}.{}: offset {}, size {}",
                stringify!($type),
                stringify!($field),
                offset_of!($type, $field),
                size_of_field(|s: &$type| s.$field),
            ));)*
        };
    }
    structure!(biela_variable: struct_size name unit causality has_start start);
    structure!(biela_counters: struct_size steps rejected newton_failures newton_iterations residuals evaluations
        factorizations solves events smallest_step largest_step step_size error worst_error energy_drift);
    text
}

#[test]
fn enum_numbers_and_struct_layouts_are_the_committed_ones_in_rust() {
    if cfg!(target_pointer_width = "64") {
        expect_committed(&root().join("tests/abi/layout.txt"), &layout());
    } else {
        skip("the committed layout is that of 64-bit machines");
    }
}

#[test]
fn enum_numbers_and_struct_layouts_are_the_same_in_c() {
    let Some(c) = Compiler::c() else { return };
    let scratch = Scratch::new("layout");
    let program = c.build("c_tests/layout.c", Linked::Nothing, &scratch);
    let output = Command::new(program).output().expect("the program starts");
    assert_eq!(expect_success("c_tests/layout.c", &output), layout());
}
