//! The examples of every language run and end well; the C++ wrapper does all it says. What has no tool here is a SKIP line.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::host::{
    Compiler, Linked, Scratch, expect_success, library, root, skip, slider_crank, tool, valgrind,
    without_library_path as command,
};

fn run(program: &Path, arguments: &[&Path]) -> Output {
    (command(program).args(arguments).output()).expect("the program starts")
}

#[test]
fn the_fekete_points_in_c_are_the_published_ones() {
    let Some(c) = Compiler::c() else { return };
    let scratch = Scratch::new("fekete");
    let program = c.build("examples/c/fekete.c", Linked::Shared(library()), &scratch);
    // Its exit status says that points are within 1e-3 (where the test set's solvers end) and multipliers within 1e-6.
    let printed = expect_success("examples/c/fekete.c", &run(&program, &[]));
    assert!(
        printed.contains("largest error of the first five points"),
        "{printed}"
    );
}

#[test]
fn the_coupled_carts_in_c_converge_to_the_whole() {
    let Some(c) = Compiler::c() else { return };
    let scratch = Scratch::new("coupled");
    let program = c.build("examples/c/coupled.c", Linked::Shared(library()), &scratch);
    let printed = expect_success("examples/c/coupled.c", &run(&program, &[]));
    let errors: Vec<Vec<f64>> = (printed.lines().skip(2))
        .map(|line| {
            let columns = line.split_whitespace().skip(1);
            columns.map(|x| x.parse().unwrap()).collect()
        })
        .collect();
    assert_eq!(errors.len(), 4, "{printed}");
    // A force continued with n derivatives is off by the order n + 1 of the communication step. The finest pair counts: on
    // the coarsest the next term of the error is still seen.
    for n in 0..3 {
        let order = (errors[2][n] / errors[3][n]).log2();
        println!("{n} derivatives: order {order:.2}");
        assert!(
            (order - (n as f64 + 1.0)).abs() < 0.25,
            "{order}\n{printed}"
        );
    }
}

#[test]
fn the_controller_in_cpp_holds_the_speed() {
    let Some(cpp) = Compiler::cpp() else { return };
    let scratch = Scratch::new("control");
    let source = "examples/cpp/control.cpp";
    let program = cpp.build(source, Linked::Shared(library()), &scratch);
    expect_success(source, &run(&program, &[&slider_crank()]));
}

#[test]
fn the_cpp_wrapper_does_all_it_says_under_every_compiler_and_leaks_nothing() {
    let source = "c_tests/wrapper.cpp";
    let model = slider_crank();
    for name in ["g++", "clang++"] {
        let Some(cpp) = Compiler::named(name, "-std=c++17") else {
            continue;
        };
        let scratch = Scratch::new(&format!("wrapper-{name}"));
        let shared = cpp.build(source, Linked::Shared(library()), &scratch);
        expect_success(name, &run(&shared, &[&model]));
        if name != "g++" {
            continue;
        }
        let archive = cpp.build(source, Linked::Static(library()), &scratch);
        expect_success("static", &run(&archive, &[&model]));
        if let Some(mut valgrind) = valgrind() {
            let output = valgrind
                .args([&shared, &model])
                .output()
                .expect("valgrind starts");
            expect_success("the wrapper under valgrind", &output);
        }
        if let Some(cpp) = cpp.with_sanitizers() {
            let checked = cpp.build(source, Linked::Shared(library()), &scratch);
            expect_success("the wrapper under sanitizers", &run(&checked, &[&model]));
        }
    }
}

#[test]
fn the_python_module_drives_a_model_and_a_user_defined_system() {
    let Some(python) = tool("python3") else {
        skip("python3 is not installed: examples/python is not run");
        return;
    };
    let scratch = Scratch::new("python");
    let output = Command::new(&python)
        .arg(root().join("examples/python/example.py"))
        .arg(slider_crank())
        .env("BIELA_LIBRARY", &library().shared)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .current_dir(scratch.path())
        .output()
        .expect("python3 starts");
    let printed = expect_success("examples/python/example.py", &output);
    assert!(printed.contains("did you mean \"tau\""), "{printed}");
    let output = Command::new(&python)
        .arg(root().join("c_tests/module.py"))
        .arg(slider_crank())
        .env("BIELA_LIBRARY", &library().shared)
        .env("PYTHONPATH", root().join("examples/python"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .expect("python3 starts");
    expect_success("c_tests/module.py", &output);
}

#[test]
fn the_rust_example_drives_and_goes_back() {
    let output = run(&rust_example("drive"), &[&slider_crank()]);
    let printed = expect_success("examples/drive.rs", &output);
    assert_eq!(printed.lines().count(), 1 + 40, "{printed}");
}

/// Builds an example as the tests are built, so that in a release run nothing is compiled again.
fn rust_example(name: &str) -> PathBuf {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args([
        "build",
        "--example",
        name,
        "--message-format",
        "json",
        "--target-dir",
    ]);
    cargo.arg(Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap());
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    let output = cargo.current_dir(root()).output().expect("cargo starts");
    let messages = expect_success("building the example", &output);
    let executable = (messages.lines())
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|message| message["target"]["name"] == name)
        .find_map(|message| message["executable"].as_str().map(PathBuf::from));
    executable.expect("cargo says where it is")
}
