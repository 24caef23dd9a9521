//! Installed with `cargo cinstall`, the library is found by outside programs as C people expect: by pkg-config and by CMake, shared
//! and static, in a prefix of its own. A tool that is missing is a SKIP line.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::host::{SMALL_BUILD, Scratch, expect_success, root, skip, slider_crank, tool};

/// The prefix, made once; `None` and a SKIP line without cargo-c.
fn prefix() -> Option<&'static Path> {
    static PREFIX: OnceLock<Option<PathBuf>> = OnceLock::new();
    let made = PREFIX.get_or_init(|| {
        if tool("cargo-cinstall").is_none() {
            skip("cargo-c is not installed (cargo install cargo-c): nothing is installed and found again");
            return None;
        }
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
        let prefix = target.join("tmp/prefix");
        let _ = fs::remove_dir_all(&prefix);
        // Not optimised: what is tested is where things are.
        let output = Command::new(env!("CARGO"))
            .args(["cinstall", "--debug", "--locked", "--offline", "--libdir", "lib", "--prefix"])
            .arg(&prefix)
            .arg("--target-dir")
            .arg(target.join("cinstall"))
            .envs(SMALL_BUILD)
            .current_dir(root())
            .output()
            .expect("cargo starts");
        expect_success("cargo cinstall", &output);
        Some(prefix)
    });
    made.as_deref()
}

/// Runs a program with the library directory of the prefix as the system would have it, and with the model.
fn drive(what: &str, program: &Path, prefix: &Path) {
    let output = Command::new(program)
        .arg(slider_crank())
        .env("LD_LIBRARY_PATH", prefix.join("lib"))
        .output()
        .expect("the program starts");
    let printed = expect_success(what, &output);
    assert!(
        printed.lines().count() > 1 || printed.contains("fine"),
        "{what}: {printed}"
    );
}

#[test]
fn headers_libraries_and_package_files_are_where_they_belong() {
    let Some(prefix) = prefix() else { return };
    let version = env!("CARGO_PKG_VERSION");
    for file in [
        "include/biela.h",
        "include/biela.hpp",
        "lib/libbiela.a",
        &format!("lib/libbiela.so.{version}"),
        "lib/pkgconfig/biela.pc",
        "share/biela/cmake/bielaConfig.cmake",
        "share/biela/cmake/bielaConfigVersion.cmake",
    ] {
        assert!(prefix.join(file).is_file(), "{file} is not there");
    }
    for header in ["biela.h", "biela.hpp"] {
        let installed = fs::read(prefix.join("include").join(header)).unwrap();
        assert_eq!(
            installed,
            fs::read(root().join("include").join(header)).unwrap()
        );
    }
    // The name that programs remember has the number that breaks: the minor one before 1.0.
    let link = fs::read_link(prefix.join("lib/libbiela.so")).unwrap();
    assert_eq!(link, Path::new(&format!("libbiela.so.{version}")));
    let minor = version.rsplit_once('.').unwrap().0;
    assert!(prefix.join(format!("lib/libbiela.so.{minor}")).exists());
}

#[test]
fn the_version_of_the_cmake_package_is_that_of_the_crate() {
    let text = fs::read_to_string(root().join("cmake/bielaConfigVersion.cmake")).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    assert!(
        text.contains(&format!("set(PACKAGE_VERSION \"{version}\")")),
        "{text}"
    );
}

#[test]
fn an_outside_c_program_is_built_with_pkg_config_shared_and_static() {
    let Some(prefix) = prefix() else { return };
    let (Some(pkg_config), Some(cc)) = (tool("pkg-config"), tool("cc")) else {
        skip("pkg-config or cc is not installed: no program is built with the installed biela.pc");
        return;
    };
    let ask = |options: &[&str]| -> Vec<String> {
        let output = Command::new(&pkg_config)
            .args(options)
            .arg("biela")
            .env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"))
            .output()
            .expect("pkg-config starts");
        let words = expect_success("pkg-config", &output);
        words.split_whitespace().map(str::to_owned).collect()
    };
    assert_eq!(ask(&["--modversion"]), [env!("CARGO_PKG_VERSION")]);
    let scratch = Scratch::new("pkg-config");
    let build = |name: &str, arguments: &[String]| {
        let program = scratch.path().join(name);
        let output = Command::new(&cc)
            .args(["-std=c11", "-Wall", "-Wextra", "-Werror"])
            .args(ask(&["--cflags"]))
            .arg(root().join("c_tests/linked.c"))
            .args(arguments)
            .args(["-lm", "-o"])
            .arg(&program)
            .output()
            .expect("cc starts");
        expect_success(&format!("building {name}"), &output);
        drive(name, &program, prefix);
        program
    };
    let shared = build("shared", &ask(&["--libs"]));
    let needed = fs::read(&shared).unwrap();
    let soname = format!(
        "libbiela.so.{}",
        env!("CARGO_PKG_VERSION").rsplit_once('.').unwrap().0
    );
    let mut windows = needed.windows(soname.len());
    assert!(
        windows.any(|w| w == soname.as_bytes()),
        "it asks for {soname}"
    );
    // The archive by its name, and what pkg-config says it needs.
    let libraries = ask(&["--static", "--libs"]).into_iter();
    let mut arguments = vec![prefix.join("lib/libbiela.a").display().to_string()];
    arguments.extend(libraries.filter(|word| word != "-lbiela"));
    build("static", &arguments);
}

#[test]
fn an_outside_project_finds_it_with_cmake_shared_and_static_and_not_in_a_wrong_version() {
    let Some(prefix) = prefix() else { return };
    let Some(cmake) = tool("cmake") else {
        skip("cmake is not installed: find_package(biela) is not tried");
        return;
    };
    let scratch = Scratch::new("cmake");
    let source = scratch.path().join("source");
    fs::create_dir_all(&source).unwrap();
    let project = |version: &str| {
        let tests = root().join("c_tests");
        format!(
            "cmake_minimum_required(VERSION 3.10)\nproject(outside C CXX)\n\
             set(CMAKE_CXX_STANDARD 17)\nset(CMAKE_CXX_STANDARD_REQUIRED ON)\n\
             find_package(Threads REQUIRED)\nfind_package(biela {version} REQUIRED CONFIG)\n\
             add_executable(with_shared {0}/linked.c)\ntarget_link_libraries(with_shared biela::shared m)\n\
             add_executable(with_static {0}/linked.c)\ntarget_link_libraries(with_static biela::static m)\n\
             add_executable(with_any {0}/wrapper.cpp)\ntarget_link_libraries(with_any biela::biela Threads::Threads)\n",
            tests.display()
        )
    };
    let configure = |version: &str, build: &Path| {
        fs::write(source.join("CMakeLists.txt"), project(version)).unwrap();
        Command::new(&cmake)
            .arg("-S")
            .arg(&source)
            .arg("-B")
            .arg(build)
            .arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display()))
            .output()
            .expect("cmake starts")
    };
    for wrong in ["99.0", "0.0.1"] {
        let refused = configure(wrong, &scratch.path().join(format!("wrong-{wrong}")));
        assert!(!refused.status.success(), "version {wrong} was found");
        let text = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(text.contains("bielaConfig.cmake"), "{text}");
    }
    let build = scratch.path().join("build");
    let (major_minor, _) = env!("CARGO_PKG_VERSION").rsplit_once('.').unwrap();
    expect_success("cmake configures", &configure(major_minor, &build));
    let output = Command::new(&cmake)
        .arg("--build")
        .arg(&build)
        .output()
        .expect("cmake starts");
    expect_success("cmake builds", &output);
    for program in ["with_shared", "with_static", "with_any"] {
        drive(program, &build.join(program), prefix);
    }
}
