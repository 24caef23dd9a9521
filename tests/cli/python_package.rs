//! The Python package, built and tried in a virtual environment: its tests, its types, its notebooks. Python, maturin and the
//! packages are fetched once; without them these tests say SKIP.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use crate::host::{library, python_environment, root, skip};

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

/// `pip install ./python` in the profile of these tests: what they have compiled is used again.
fn install(python: &Path) {
    let program = Path::new(env!("CARGO_BIN_EXE_biela"));
    let is_release = program
        .parent()
        .is_some_and(|folder| folder.ends_with("release"));
    let profile = if is_release { "release" } else { "dev" };
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
            .env("MATURIN_PEP517_ARGS", format!("--profile {profile}")),
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
