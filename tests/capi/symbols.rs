//! The binary interface is what it was: exported names, enum numbers, struct layouts, each against a committed list.
//! After an intended change: `BIELA_BLESS=1 cargo test --test capi symbols::` rewrites the lists.

use std::fmt::Write;
use std::mem::offset_of;
use std::process::Command;

use crate::host::{
    Compiler, Library, Linked, Scratch, expect_committed, expect_success, root, skip, tool,
};
use biela::capi::analysis::biela_linear_part;
use biela::capi::derivative::BIELA_HIGHEST_OUTPUT_DERIVATIVE;
use biela::capi::instance::BIELA_ABI_VERSION;
use biela::capi::logger::biela_log_level;
use biela::capi::statistics::biela_counters;
use biela::capi::status::{biela_status, biela_status_name};
use biela::capi::system::*;
use biela::capi::value::BIELA_HIGHEST_INPUT_DERIVATIVE;
use biela::capi::variable::{biela_causality, biela_initial, biela_variability, biela_variable};

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
    if let Some(names) = exported(crate::host::library()) {
        expect_committed(&root().join("tests/abi/symbols.txt"), &names);
        assert!(!names.contains("inject"));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn the_test_only_feature_adds_its_two_names() {
    let with_faults = exported(crate::host::library_with_faults());
    if let (Some(plain), Some(with_faults)) = (exported(crate::host::library()), with_faults) {
        let added: Vec<&str> = with_faults
            .lines()
            .filter(|name| !plain.lines().any(|known| known == *name))
            .collect();
        assert_eq!(added, ["biela_fmi_inject_panic", "biela_inject_panic"]);
    }
}

/// Functions of libm whose last bit differs between C libraries, but `hypot`: nalgebra's complex numbers take it, in the modes of an
/// analysis and nowhere in a step (tests/house/elementary.rs). Those that are exact (`fma`, `floor`, `fmod` ..) may be taken from it.
const INEXACT: [&str; 23] = [
    "sin", "cos", "tan", "sincos", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh",
    "asinh", "acosh", "atanh", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "pow",
    "cbrt",
];

#[test]
#[cfg(target_os = "linux")]
fn the_shared_library_takes_no_inexact_function_from_the_c_library() {
    let Some(readelf) = tool("readelf") else {
        skip("readelf is not installed: the names that the library needs are not read");
        return;
    };
    // Relocations: some linkers leave names in the table of symbols that nothing uses.
    let output = Command::new(readelf)
        .arg("-rW")
        .arg(&crate::host::library().shared)
        .output()
        .expect("readelf starts");
    let listing = expect_success("readelf", &output);
    let needed = |line: &str| {
        let name = line
            .split_whitespace()
            .nth(4)?
            .split('@')
            .next()?
            .to_owned();
        let wide = name.trim_end_matches('f').to_owned();
        (INEXACT.contains(&name.as_str()) || INEXACT.contains(&wide.as_str())).then_some(name)
    };
    let found: Vec<String> = listing.lines().filter_map(needed).collect();
    assert!(
        listing.contains("malloc"),
        "the names are not found any more"
    );
    assert!(found.is_empty(), "results depend on the machine: {found:?}");
}

#[test]
fn every_exported_name_is_declared_in_the_header() {
    let header = std::fs::read_to_string(root().join("include/biela.h")).unwrap();
    let names = std::fs::read_to_string(root().join("tests/abi/symbols.txt")).unwrap();
    // FMI has headers of its own, see tests/fmi/masters.rs.
    for name in names.lines().filter(|name| !name.starts_with("fmi")) {
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
    macro_rules! numbers {
        ($type:ident: $($name:literal $variant:ident)*) => {
            $(line(format_args!("{} = {}", $name, $type::$variant as i32));)*
            line(format_args!("{}: size {}", stringify!($type), size_of::<$type>()));
        };
    }
    numbers!(biela_causality: "BIELA_CAUSALITY_PARAMETER" Parameter "BIELA_CAUSALITY_INPUT" Input
        "BIELA_CAUSALITY_OUTPUT" Output "BIELA_CAUSALITY_LOCAL" Local);
    numbers!(biela_variability: "BIELA_VARIABILITY_CONSTANT" Constant "BIELA_VARIABILITY_FIXED" Fixed
        "BIELA_VARIABILITY_TUNABLE" Tunable "BIELA_VARIABILITY_DISCRETE" Discrete
        "BIELA_VARIABILITY_CONTINUOUS" Continuous);
    numbers!(biela_initial: "BIELA_INITIAL_NONE" None "BIELA_INITIAL_EXACT" Exact
        "BIELA_INITIAL_CALCULATED" Calculated);
    numbers!(biela_log_level: "BIELA_LOG_LEVEL_ERROR" Error "BIELA_LOG_LEVEL_WARNING" Warning
        "BIELA_LOG_LEVEL_INFO" Info "BIELA_LOG_LEVEL_DEBUG" Debug);
    numbers!(biela_linear_part: "BIELA_LINEAR_PART_STATE" State "BIELA_LINEAR_PART_INPUT" Input
        "BIELA_LINEAR_PART_OUTPUT" Output);
    line(format_args!(
        "BIELA_HIGHEST_INPUT_DERIVATIVE = {BIELA_HIGHEST_INPUT_DERIVATIVE}"
    ));
    line(format_args!(
        "BIELA_HIGHEST_OUTPUT_DERIVATIVE = {BIELA_HIGHEST_OUTPUT_DERIVATIVE}"
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
    structure!(biela_variable: struct_size name unit causality has_start start description variability initial has_min
        has_max min max dependencies dependency_count initial_dependencies initial_dependency_count);
    structure!(biela_counters: struct_size steps rejected newton_failures newton_iterations residuals evaluations
        factorizations solves events smallest_step largest_step step_size error worst_error energy_drift
        steps_smooth steps_corrected steps_plain time_stepping);
    line(format_args!(
        "BIELA_SYSTEM_CONSTANT_MASS = {BIELA_SYSTEM_CONSTANT_MASS}"
    ));
    line(format_args!(
        "BIELA_SYSTEM_NO_VELOCITY_FORCES = {BIELA_SYSTEM_NO_VELOCITY_FORCES}"
    ));
    line(format_args!(
        "BIELA_SYSTEM_FIXED_CONSTRAINTS = {BIELA_SYSTEM_FIXED_CONSTRAINTS}"
    ));
    line(format_args!("BIELA_SYSTEM_LINEAR = {BIELA_SYSTEM_LINEAR}"));
    line(format_args!("BIELA_REACTION_MODE = {BIELA_REACTION_MODE}"));
    line(format_args!(
        "BIELA_REACTION_IMPULSE = {BIELA_REACTION_IMPULSE}"
    ));
    line(format_args!("BIELA_CROSSING_OFF = {BIELA_CROSSING_OFF}"));
    line(format_args!(
        "BIELA_CROSSING_RISING = {BIELA_CROSSING_RISING}"
    ));
    line(format_args!(
        "BIELA_CROSSING_FALLING = {BIELA_CROSSING_FALLING}"
    ));
    line(format_args!(
        "BIELA_CROSSING_EITHER = {BIELA_CROSSING_EITHER}"
    ));
    structure!(biela_system_point: struct_size time q v a lambda u u_dot u_ddot p modes);
    structure!(biela_system_reaction: struct_size kind restitution slowest gradient);
    structure!(biela_system_definition: struct_size user release name solver flags nq nv nc ne modes inputs parameters q v weights constraint_scales input_starts parameter_starts input_names parameter_names coordinate_names constraint_names event_names tangent_count tangent_rows tangent_columns jacobian_count jacobian_rows jacobian_columns mass mass_times force force_by_q force_by_v inertia_by_q reaction_by_q constraint jacobian constraint_rate convective energy power retract difference bracket tangent_inverse events crossing fire hold active start_modes);
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
