//! The Python package, built and tried in a virtual environment: its tests, its types, its notebooks. Python, maturin and the
//! packages are fetched once; without them these tests say SKIP.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use crate::host::{SMALL_BUILD, Scratch, library, python_environment, root, skip};

/// What builds the package, what it works with, and what tries it.
const PACKAGES: [&str; 14] = [
    "maturin==1.16.0",
    "numpy==2.4.6",
    "pandas==3.1.1",
    "pyarrow==26.0.1",
    "polars==2.1.0",
    "duckdb==2.0.0",
    "distributed==2026.8.0",
    "ray==2.60.0",
    "pytest==9.2.0",
    "mypy==2.4.1",
    "pandas-stubs==3.1.0.261029",
    "nbclient==0.11.0",
    "nbformat==5.11.1",
    "ipykernel==7.4.0",
];

/// What a program says; panics with it if the program fails.
fn said(command: &mut Command) -> String {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().expect("the program starts");
    let text = String::from_utf8_lossy(&stdout).into_owned() + &String::from_utf8_lossy(&stderr);
    assert!(status.success(), "{command:?} ended with {status}\n{text}");
    text
}

/// The interpreter of an environment that has the package of this source; `None` and a SKIP line where there is none. Where there
/// is one, a package that does not build is a failure.
fn python() -> Option<&'static Path> {
    static PYTHON: OnceLock<Option<PathBuf>> = OnceLock::new();
    let find = || match python_environment("package", &PACKAGES) {
        Ok(python) => {
            install(&python);
            Some(python)
        }
        Err(why) => {
            skip(&format!("the Python package is not tried: {why}"));
            None
        }
    };
    PYTHON.get_or_init(find).as_deref()
}

/// `pip install ./python`, little optimised: the crates are compiled for it alone, since those of Python ask for other features of
/// some of them. The bits are those of the command all the same.
fn install(python: &Path) {
    let environment = python.parent().expect("an interpreter is in a folder");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(environment.to_owned()).chain(std::env::split_paths(&path));
    said(
        Command::new(python)
            .args(["-m", "pip", "install", "--quiet"])
            .args(["--disable-pip-version-check"])
            .args(["--no-build-isolation", "--no-deps", "--force-reinstall"])
            .arg(root().join("python"))
            .env("PATH", std::env::join_paths(folders).expect("folders"))
            .env("MATURIN_PEP517_ARGS", "--profile dev")
            .envs(SMALL_BUILD)
            .env("CARGO_PROFILE_DEV_OPT_LEVEL", "1")
            .env("CARGO_PROFILE_DEV_DEBUG_ASSERTIONS", "false")
            .env("CARGO_PROFILE_DEV_OVERFLOW_CHECKS", "false"),
    );
}

/// Python in the folder of the package, with the package that was installed.
fn in_package(python: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(python);
    command
        .args(arguments)
        .current_dir(root().join("python"))
        .env("BIELA_COMMAND", env!("CARGO_BIN_EXE_biela"))
        .env("BIELA_LIBRARY", &library().shared)
        // Not the source beside the tests, which has no compiled part. Python 3.10 does not know it and needs it for `-c` only.
        .env("PYTHONSAFEPATH", "1")
        .env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

#[test]
fn the_python_tests_pass() {
    let Some(python) = python() else { return };
    let arguments = ["-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider"];
    let text = said(in_package(python, &arguments).arg("tests"));
    for line in text.lines().filter(|line| line.starts_with("SKIPPED")) {
        skip(line);
    }
    assert!(text.contains(" passed"), "{text}");
}

#[test]
fn types_are_complete() {
    let Some(python) = python() else { return };
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mypy");
    let checked = |arguments: &[&str]| {
        said(in_package(python, arguments).env("MYPY_CACHE_DIR", &cache));
    };
    checked(&["-m", "mypy", "--strict", "-p", "biela"]);
    checked(&["-m", "mypy", "--strict", "examples", "tests"]);
    checked(&["-m", "mypy.stubtest", "biela"]);
}

#[test]
fn the_notebooks_run() {
    let Some(python) = python() else { return };
    let script = "
import nbformat, nbclient
from pathlib import Path
for path in sorted(Path('notebooks').glob('*.ipynb')):
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, resources={'metadata': {'path': 'notebooks'}}).execute()
    print(path.name)
";
    let text = said(&mut in_package(python, &["-c", script]));
    assert!(text.matches(".ipynb").count() >= 3, "{text}");
}

/// The wheel that `packaging/wheel.sh` has made, if it has.
fn wheel() -> Option<PathBuf> {
    let folder = std::fs::read_dir(root().join("target/wheels")).ok()?;
    folder
        .filter_map(|entry| Some(entry.ok()?.path()))
        // pip leaves a wheel for this machine alone there.
        .find(|path| path.to_string_lossy().contains("manylinux"))
}

#[test]
fn the_wheel_is_small_and_works_without_the_source() {
    let Some(wheel) = wheel() else {
        skip("target/wheels has no wheel: run packaging/wheel.sh to try it");
        return;
    };
    let Some(python) = python() else { return };
    let size = wheel.metadata().expect("a file").len();
    assert!(size <= 6_000_000, "{} has {size} bytes", wheel.display());
    let place = Scratch::new("wheel");
    let options = ["-m", "pip", "install", "--quiet", "--no-deps", "--target"];
    said(
        Command::new(python)
            .args(options)
            .args([place.path(), &wheel]),
    );
    let script = "
import biela, sys
model = biela.Model(sys.argv[1])
assert biela.__file__.startswith(sys.argv[2]), biela.__file__
print(model.run(stop=0.1)['slider_x'][-1])
biela.pack(model, sys.argv[2] + '/crank.fmu')
";
    let model = root().join("models/slider_crank.toml");
    let printed = said(
        Command::new(python)
            .args(["-c", script])
            .args([&model, place.path()])
            .env_remove("BIELA_LIBRARY")
            .env("PYTHONPATH", place.path()),
    );
    assert!(printed.trim().parse::<f64>().is_ok(), "{printed}");
    let by_command = |arguments: &[&str]| {
        let mut command = Command::new(place.path().join("bin/biela"));
        command
            .args(arguments)
            .current_dir(place.path())
            .env_remove("BIELA_LIBRARY")
            .env("PYTHONPATH", place.path());
        command
    };
    let crank = model.to_str().expect("UTF-8");
    let printed = said(&mut by_command(&["run", crank, "--json"]));
    assert!(printed.contains("slider_x"), "{printed}");
    // The library of units is in the wheel, and a program without Python can load it.
    let printed = said(&mut by_command(&["pack", crank, "-o", "by_command.fmu"]));
    assert!(printed.contains("FMI 2.0"), "{printed}");
    let library = place.path().join("biela/_biela.abi3.so");
    let mut without_python = Command::new(env!("CARGO_BIN_EXE_biela"));
    without_python.current_dir(place.path());
    without_python.args(["pack", crank, "-o", "without_python.fmu", "--library"]);
    said(without_python.arg(library));
    let unit = |name: &str| std::fs::read(place.path().join(name)).expect("a unit");
    assert!(unit("by_command.fmu") == unit("without_python.fmu"));
    // Status and streams are those of the program.
    let refused = by_command(&["run", "nothing.toml"]).output();
    let refused = refused.expect("the command starts");
    assert_eq!(refused.status.code(), Some(2));
    assert!(refused.stdout.is_empty());
    let sentence = String::from_utf8_lossy(&refused.stderr);
    assert!(sentence.contains("nothing.toml"), "{sentence}");
}
