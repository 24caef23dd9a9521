//! Real C and C++ programs (`c_tests/`) against the shared and the static library: the same bits from every host, misuse answered
//! with a status, exact roll-back, no panic across the boundary, nothing leaked.
#![cfg(unix)]

use std::path::Path;
use std::process::{Command, Output};

use crate::host::{
    Compiler, Linked, Scratch, expect_success, library, library_with_faults, parse_hex_float, root,
    slider_crank, valgrind, with_fixed_addresses, without_library_path as command,
};
use biela::component::{Causality, Instance};

fn run(program: &Path, arguments: &[&Path]) -> Output {
    command(program)
        .args(arguments)
        .output()
        .expect("the program starts")
}

/// Runs a program that needs only the model and says nothing but its standard output.
fn drive(program: &Path) -> String {
    let output = run(program, &[&slider_crank()]);
    let text = expect_success(&program.display().to_string(), &output);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(complaint.is_empty(), "{}: {complaint}", program.display());
    text
}

/// The run of `c_tests/linked.c` through the Rust API: the line of variables, then time and values of each row.
fn rust_run() -> (String, Vec<Vec<f64>>) {
    let mut crank = Instance::from_file(&slider_crank()).expect("the model is good");
    let variables: Vec<String> = crank
        .variables()
        .iter()
        .map(|variable| {
            let causality = match variable.causality {
                Causality::Parameter => 1,
                Causality::Input => 2,
                Causality::Output => 3,
                Causality::Local => 4,
            };
            format!("{} [{}] {causality}", variable.name, variable.unit)
        })
        .collect();
    let references: Vec<u32> = (0..variables.len() as u32).collect();
    let tau = crank.find("tau").expect("the torque");
    let row = |crank: &mut Instance| {
        let mut values = vec![0.0; references.len()];
        crank.get_real(&references, &mut values).expect("values");
        values.insert(0, crank.time());
        values
    };
    crank.initialize(0.0, f64::INFINITY, 0.0).expect("start");
    let mut rows = vec![row(&mut crank)];
    for k in 0..100 {
        let torque = 0.5 * (0.1 * f64::from(k)).sin();
        crank.set_real(&[tau], &[torque]).expect("set");
        crank.step(crank.time(), 0.01).expect("step");
        rows.push(row(&mut crank));
    }
    (variables.join(", "), rows)
}

/// Compares a host's print-out with the Rust run, bit by bit.
fn expect_the_rust_run(who: &str, printed: &str) {
    let (variables, rows) = rust_run();
    let mut lines = printed.lines();
    assert_eq!(lines.next(), Some(variables.as_str()), "{who}: variables");
    let mut count = 0;
    for (k, (line, expected)) in lines.by_ref().zip(&rows).enumerate() {
        let mut words = line.split(' ');
        assert_eq!(words.next(), Some(k.to_string().as_str()), "{who}: {line}");
        let got: Vec<f64> = words.map(parse_hex_float).collect();
        let bits = |row: &[f64]| row.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(
            bits(&got),
            bits(expected),
            "{who}, row {k}: {got:?} is not {expected:?}"
        );
        count += 1;
    }
    assert_eq!((count, lines.next()), (rows.len(), None), "{who}: rows");
}

#[test]
fn c_and_cpp_and_dlopen_hosts_get_the_bits_of_the_rust_api() {
    let scratch = Scratch::new("hosts");
    let mut outputs = Vec::new();
    if let Some(c) = Compiler::c() {
        let shared = c.build("c_tests/linked.c", Linked::Shared(library()), &scratch);
        outputs.push(("C, shared library", drive(&shared)));
        let archive = c.build("c_tests/linked.c", Linked::Static(library()), &scratch);
        outputs.push(("C, static library", drive(&archive)));
        let loading = c.build("c_tests/dlopen.c", Linked::Nothing, &scratch);
        let output = run(&loading, &[&slider_crank(), &library().shared]);
        outputs.push(("C, dlopen", expect_success("c_tests/dlopen.c", &output)));
    }
    if let Some(cpp) = Compiler::cpp() {
        let shared = cpp.build("c_tests/linked.cpp", Linked::Shared(library()), &scratch);
        outputs.push(("C++, shared library", drive(&shared)));
        let archive = cpp.build("c_tests/linked.cpp", Linked::Static(library()), &scratch);
        outputs.push(("C++, static library", drive(&archive)));
    }
    for (who, printed) in &outputs {
        expect_the_rust_run(who, printed);
        assert_eq!(
            printed, &outputs[0].1,
            "{who} differs from {}",
            outputs[0].0
        );
    }
}

#[test]
fn misuse_gets_a_status_and_a_sentence_and_changes_nothing() {
    let Some(c) = Compiler::c() else { return };
    let scratch = Scratch::new("misuse");
    drive(&c.build("c_tests/misuse.c", Linked::Shared(library()), &scratch));
    drive(&c.build("c_tests/misuse.c", Linked::Static(library()), &scratch));
}

#[test]
fn rollback_in_c_repeats_every_bit() {
    let Some(c) = Compiler::c() else { return };
    let scratch = Scratch::new("rollback");
    drive(&c.build("c_tests/rollback.c", Linked::Shared(library()), &scratch));
    drive(&c.build("c_tests/rollback.c", Linked::Static(library()), &scratch));
}

#[test]
fn variables_derivatives_analyses_and_the_logger_work_from_c() {
    let Some(c) = Compiler::c() else { return };
    let scratch = Scratch::new("families");
    for linked in [Linked::Shared(library()), Linked::Static(library())] {
        drive(&c.build("c_tests/logger.c", linked, &scratch));
        for source in ALONE {
            let output = run(&c.build(source, linked, &scratch), &[]);
            assert_eq!(expect_success(source, &output), "fine\n");
        }
    }
}

/// `bytes.c` as a process that runs and writes, and one that reads and goes on.
fn through_a_file(program: &Path, scratch: &Scratch, runner: &dyn Fn(&Path) -> Command) {
    let file = scratch.path().join("state.bin");
    for action in ["write", "read"] {
        let output = runner(program)
            .arg(slider_crank())
            .arg(action)
            .arg(&file)
            .output()
            .expect("the program starts");
        expect_success(&format!("{} {action}", program.display()), &output);
    }
}

#[test]
fn a_state_written_to_a_file_goes_on_in_a_process_that_never_ran_the_model() {
    let Some(c) = Compiler::c() else { return };
    let scratch = Scratch::new("bytes");
    for linked in [Linked::Shared(library()), Linked::Static(library())] {
        through_a_file(
            &c.build("c_tests/bytes.c", linked, &scratch),
            &scratch,
            &command,
        );
    }
}

#[test]
fn every_exported_function_answers_every_misuse_and_every_panic_with_a_status() {
    let Some(c) = Compiler::c() else { return };
    let scratch = Scratch::new("every");
    let program = c.build("c_tests/every.c", Linked::Shared(library()), &scratch);
    let output = run(&program, &[Path::new("names")]);
    let printed = expect_success("c_tests/every.c", &output);
    let mut names: Vec<&str> = printed.lines().collect();
    names.sort_unstable();
    let exported = std::fs::read_to_string(root().join("tests/abi/symbols.txt")).unwrap();
    let exported: Vec<&str> = exported
        .lines()
        .filter(|name| name.starts_with("biela_"))
        .collect();
    assert_eq!(
        names, exported,
        "c_tests/every.c knows all that is exported"
    );
    drive(&program);
    let c = c.with("-DFAULTS");
    let faults = Linked::Shared(library_with_faults());
    drive(&c.build("c_tests/every.c", faults, &scratch));
}

#[test]
fn a_panic_becomes_a_status_prints_nothing_and_is_mended_by_a_reset() {
    let Some(c) = Compiler::c() else { return };
    let scratch = Scratch::new("fault");
    drive(&c.build(
        "c_tests/fault.c",
        Linked::Shared(library_with_faults()),
        &scratch,
    ));
}

#[test]
fn the_example_host_runs() {
    let Some(c) = Compiler::c() else { return };
    let scratch = Scratch::new("example");
    let program = c.build("examples/c/host.c", Linked::Shared(library()), &scratch);
    let printed = drive(&program);
    let rows = printed
        .lines()
        .filter(|line| !line.starts_with('#'))
        .count();
    assert_eq!(rows, 1 + 21, "a heading and 21 rows:\n{printed}");
}

#[test]
fn valgrind_finds_no_wrong_access_and_no_leak_in_the_c_programs() {
    let Some(c) = Compiler::c() else { return };
    if valgrind().is_none() {
        return;
    }
    let scratch = Scratch::new("valgrind");
    let watched = |program: &Path| {
        let mut command = valgrind().expect("it works");
        command.arg(program);
        command
    };
    for source in WITH_A_MODEL {
        let program = c.build(source, Linked::Shared(library()), &scratch);
        let output = watched(&program)
            .arg(slider_crank())
            .output()
            .expect("valgrind starts");
        expect_success(&format!("{source} under valgrind"), &output);
    }
    for source in ALONE {
        let program = c.build(source, Linked::Shared(library()), &scratch);
        let output = watched(&program).output().expect("valgrind starts");
        expect_success(&format!("{source} under valgrind"), &output);
    }
    let bytes = c.build("c_tests/bytes.c", Linked::Shared(library()), &scratch);
    through_a_file(&bytes, &scratch, &watched);
}

/// Programs that take a model, and those that bring their own.
const WITH_A_MODEL: [&str; 4] = [
    "c_tests/linked.c",
    "c_tests/rollback.c",
    "c_tests/misuse.c",
    "c_tests/logger.c",
];
const ALONE: [&str; 3] = [
    "c_tests/analysis.c",
    "c_tests/variables.c",
    "c_tests/derivatives.c",
];

#[test]
fn sanitizers_find_nothing_in_the_c_programs() {
    let Some(c) = Compiler::c().and_then(Compiler::with_sanitizers) else {
        return;
    };
    let scratch = Scratch::new("sanitizers");
    let shared = Linked::Shared(library());
    for source in WITH_A_MODEL.into_iter().chain(["c_tests/every.c"]) {
        drive(&c.build(source, shared, &scratch));
    }
    for source in ALONE {
        let output = run(&c.build(source, shared, &scratch), &[]);
        expect_success(&format!("{source} with sanitizers"), &output);
    }
    let bytes = c.build("c_tests/bytes.c", shared, &scratch);
    through_a_file(&bytes, &scratch, &command);
    let faults = Linked::Shared(library_with_faults());
    drive(&c.build("c_tests/fault.c", faults, &scratch));
}

/// Hosts in C++; c_tests/wrapper.cpp has its sanitizers in examples.rs.
const IN_CPP: [&str; 2] = ["c_tests/linked.cpp", "c_tests/cancel.cpp"];

#[test]
fn sanitizers_find_nothing_in_the_cpp_programs() {
    let Some(cpp) = Compiler::cpp().and_then(Compiler::with_sanitizers) else {
        return;
    };
    let scratch = Scratch::new("sanitizers-cpp");
    for source in IN_CPP {
        let program = cpp.build(source, Linked::Shared(library()), &scratch);
        let output = run(&program, &[&slider_crank()]);
        expect_success(&format!("{source} with sanitizers"), &output);
    }
}

#[test]
fn the_sanitizer_of_threads_finds_nothing_in_the_c_and_cpp_programs() {
    let shared = Linked::Shared(library());
    let check = |compiler: &Compiler, source: &str, scratch: &Scratch| {
        let program = compiler.build(source, shared, scratch);
        let output = with_fixed_addresses(&program)
            .arg(slider_crank())
            .output()
            .expect("the program starts");
        expect_success(&format!("{source} with ThreadSanitizer"), &output);
    };
    let scratch = Scratch::new("threads");
    if let Some(c) = Compiler::c().and_then(Compiler::with_thread_sanitizer) {
        for source in WITH_A_MODEL {
            check(&c, source, &scratch);
        }
    }
    if let Some(cpp) = Compiler::cpp().and_then(Compiler::with_thread_sanitizer) {
        for source in IN_CPP.into_iter().chain(["c_tests/wrapper.cpp"]) {
            check(&cpp, source, &scratch);
        }
    }
}

#[test]
fn traps_and_roundings_of_the_host_neither_fire_nor_change_a_bit() {
    let Some(c) = Compiler::c() else { return };
    let scratch = Scratch::new("environment");
    let program = c.build("c_tests/environment.c", Linked::Shared(library()), &scratch);
    let models = [
        "slider_crank",
        "pendulum",
        "iltis",
        "newton_cradle",
        "quarter_car",
    ]
    .map(|name| root().join(format!("models/{name}.toml")));
    let models: Vec<&Path> = models.iter().map(|path| path.as_path()).collect();
    expect_success("c_tests/environment.c", &run(&program, &models));
}

#[test]
#[cfg(target_os = "linux")]
fn too_little_memory_is_a_status() {
    let Some(c) = Compiler::c() else { return };
    let scratch = Scratch::new("memory");
    let program = c.build("c_tests/memory.c", Linked::Shared(library()), &scratch);
    // A program and its libraries need some 10 MB themselves; at the limit itself the loader may fail.
    let limits: Vec<f64> = match std::env::var_os("BIELA_TEST_FULL").is_some() {
        true => (0..40).map(|k| 32.0 + 1.37 * f64::from(k)).collect(),
        false => vec![32.0, 37.3, 44.1],
    };
    for model in ["slider_crank", "iltis", "spatial_slider_crank"] {
        for limit in &limits {
            let output = command(&program)
                .arg(root().join(format!("models/{model}.toml")))
                .arg(limit.to_string())
                .output()
                .expect("the program starts");
            let what = format!("c_tests/memory.c with {model} and {limit} MB");
            let printed = expect_success(&what, &output);
            assert!(
                printed.contains("BIELA_STATUS_ERROR_MEMORY"),
                "{what}: {printed}"
            );
        }
    }
}

#[test]
fn cancel_from_another_thread_takes_no_exception_away() {
    let Some(cpp) = Compiler::cpp() else { return };
    let scratch = Scratch::new("cancel");
    let shared = Linked::Shared(library());
    let program = cpp.build("c_tests/cancel.cpp", shared, &scratch);
    expect_success("c_tests/cancel.cpp", &run(&program, &[]));
}

#[test]
fn every_test_program_is_used() {
    let mut found: Vec<String> = std::fs::read_dir(root().join("c_tests"))
        .expect("c_tests")
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    found.sort();
    let used = [
        "analysis.c",
        "bytes.c",
        "cancel.cpp",
        "check.h",
        "derivatives.c",
        "dlopen.c",
        "environment.c",
        "every.c",
        "fault.c",
        "fmi2.c", // these three by tests/fmi/masters.rs
        "fmi3.c",
        "header", // the package that makes the header, used by header.rs
        "layout.c",
        "linked.c",
        "linked.cpp",
        "logger.c",
        "memory.c",
        "misuse.c",
        "module.py",
        "rollback.c",
        "system_callbacks.c",
        "trivial_unit.c",
        "variables.c",
        "wrapper.cpp",
    ];
    assert_eq!(found, used);
}
