//! The Python package, built and tried in a virtual environment: its tests, its types, its notebooks. Python, maturin and the
//! packages are fetched once; without them these tests say SKIP.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use crate::host::{library, root, skip, tool};

/// Pinned, so that a test does not change because the world does.
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

/// Runs a program; the error has what it said.
fn run(command: &mut Command) -> Result<String, String> {
    let Output {
        status,
        stdout,
        stderr,
    } = command
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    let said = String::from_utf8_lossy(&stdout).into_owned() + &String::from_utf8_lossy(&stderr);
    match status.success() {
        true => Ok(said),
        false => Err(format!("{command:?}:\n{said}")),
    }
}

/// The interpreter of an environment that has the package of this source; `None` and a SKIP line where that is not possible.
fn python() -> Option<PathBuf> {
    static PYTHON: OnceLock<Option<PathBuf>> = OnceLock::new();
    PYTHON
        .get_or_init(|| match environment() {
            Ok(python) => {
                // Everything is there: a package that does not build is a failure, not a reason to skip.
                install(&python).unwrap_or_else(|why| panic!("the Python package cannot be built: {why}"));
                Some(python)
            }
            Err(why) => {
                skip(&format!("no Python environment with maturin, pytest and mypy, so the package is not tried: {why}"));
                None
            }
        })
        .clone()
}

fn environment() -> Result<PathBuf, String> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let folder = target.join("package-python");
    let interpreter = folder.join("bin/python");
    let stamp = folder.join("packages");
    let wanted = PACKAGES.join(" ");
    let lock =
        File::create(target.join("package-python.lock")).map_err(|error| error.to_string())?;
    lock.lock().map_err(|error| error.to_string())?;
    if interpreter.is_file() && fs::read_to_string(&stamp).is_ok_and(|text| text == wanted) {
        return Ok(interpreter);
    }
    let python3 = tool("python3").ok_or("python3 is not installed")?;
    let _ = fs::remove_dir_all(&folder);
    run(Command::new(python3).args(["-m", "venv"]).arg(&folder))?;
    run(Command::new(&interpreter)
        .args(["-m", "pip", "install", "--quiet"])
        .args(PACKAGES))?;
    fs::write(stamp, wanted).map_err(|error| error.to_string())?;
    Ok(interpreter)
}

/// `pip install ./python`, in the profile of these tests, so that the compiled crates are used again.
fn install(python: &Path) -> Result<String, String> {
    let profile = match Path::new(env!("CARGO_BIN_EXE_biela"))
        .parent()
        .and_then(|p| p.file_name())
    {
        Some(name) if name == "release" => "release",
        _ => "dev",
    };
    let bin = python.parent().expect("bin");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = [bin.to_owned()]
        .into_iter()
        .chain(std::env::split_paths(&path));
    run(Command::new(python)
        .args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-build-isolation",
            "--no-deps",
            "--force-reinstall",
        ])
        .arg(root().join("python"))
        .env(
            "PATH",
            std::env::join_paths(places).map_err(|error| error.to_string())?,
        )
        .env("MATURIN_PEP517_ARGS", format!("--profile {profile}")))
}

fn in_package(python: &Path) -> Command {
    let mut command = Command::new(python);
    command
        .current_dir(root().join("python"))
        .env("BIELA_COMMAND", env!("CARGO_BIN_EXE_biela"))
        .env("BIELA_LIBRARY", &library().shared)
        .env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

#[test]
fn the_python_tests_pass() {
    let Some(python) = python() else { return };
    let said = run(in_package(&python).args([
        "-m",
        "pytest",
        "-q",
        "-rs",
        "-p",
        "no:cacheprovider",
        "tests",
    ]));
    let said = said.unwrap_or_else(|why| panic!("{why}"));
    for line in said.lines().filter(|line| line.starts_with("SKIPPED")) {
        skip(line);
    }
    assert!(said.contains(" passed"), "{said}");
}

#[test]
fn types_are_complete() {
    let Some(python) = python() else { return };
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mypy");
    let checked = |arguments: &[&str]| {
        let mut command = in_package(&python);
        command
            .args(["-m"])
            .args(arguments)
            .env("MYPY_CACHE_DIR", &cache);
        run(&mut command).unwrap_or_else(|why| panic!("{why}"))
    };
    checked(&["mypy", "--strict", "-p", "biela"]);
    checked(&["mypy", "--strict", "examples", "tests"]);
    checked(&[
        "mypy.stubtest",
        "biela._biela",
        "biela",
        "--ignore-missing-stub",
    ]);
}

#[test]
fn the_notebooks_run() {
    let Some(python) = python() else { return };
    let script = "
import sys, nbformat, nbclient
from pathlib import Path
for path in sorted(Path('notebooks').glob('*.ipynb')):
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, resources={'metadata': {'path': 'notebooks'}}).execute()
    print(path.name)
";
    let said = run(in_package(&python).args(["-c", script])).unwrap_or_else(|why| panic!("{why}"));
    assert!(said.matches(".ipynb").count() >= 3, "{said}");
}
