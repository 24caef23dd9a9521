//! What the tests of FMI share: units packed and unpacked, and a Python environment with masters.
#![allow(dead_code)] // each test binary uses its own part

pub mod world;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use biela::fmi::FmiStandard;
use biela::fmi::package::{self, PackageContents, Platform, PlatformLibrary};

use crate::host::{Scratch, library, python_environment, root, skip};

/// Both standards.
pub const BOTH: [FmiStandard; 2] = [FmiStandard::Two, FmiStandard::Three];

/// Runs with the counts of the issue instead of the small ones.
pub fn full() -> bool {
    std::env::var_os("BIELA_TEST_FULL").is_some_and(|value| value != "0")
}

/// All model files, in the order of their names; the JSON twin of a TOML file is the same model.
pub fn models() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(root().join("models"))
        .expect("models")
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "toml" || e == "json"))
        .collect();
    found.sort();
    assert!(found.len() >= 10, "{found:?}");
    found
}

/// A model of the folder by its name.
pub fn model(name: &str) -> PathBuf {
    root().join("models").join(format!("{name}.toml"))
}

/// Everything but the library, unpacked.
pub struct Unpacked {
    pub contents: PackageContents,
    pub folder: PathBuf,
}

impl Unpacked {
    pub fn new(model: &Path, standard: FmiStandard, scratch: &Scratch) -> Self {
        let contents = package::contents(model, standard).unwrap_or_else(|e| panic!("{e}"));
        let name = format!("{}-{}", contents.identifier, standard.version());
        let folder = scratch.path().join(name);
        for (name, bytes) in &contents.files {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        Self { contents, folder }
    }

    pub fn resources(&self) -> PathBuf {
        self.folder.join("resources")
    }

    pub fn description(&self) -> String {
        let (_, bytes) = &self.contents.files[0];
        String::from_utf8(bytes.clone()).unwrap()
    }
}

/// The library of this build, read once.
pub fn library_bytes() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| fs::read(&library().shared).expect("the library"))
}

/// A library for the machine that runs the tests.
pub fn for_this_machine(bytes: &[u8]) -> [PlatformLibrary; 1] {
    [PlatformLibrary {
        platform: Platform::host(),
        bytes: bytes.to_vec(),
    }]
}

/// A whole archive.
pub fn pack(model: &Path, standard: FmiStandard, scratch: &Scratch) -> PathBuf {
    let contents = package::contents(model, standard).unwrap_or_else(|e| panic!("{e}"));
    let bytes = package::archive(&contents, standard, &for_this_machine(library_bytes())).unwrap();
    let ending = model.extension().unwrap().to_str().unwrap();
    let name = format!(
        "{}_{ending}_{}.fmu",
        contents.identifier,
        standard.version()
    );
    let path = scratch.path().join(name);
    fs::write(&path, bytes).unwrap();
    path
}

// --- Python ---------------------------------------------------------------------------------------------------------

const PACKAGES: [&str; 9] = [
    "fmpy==0.3.32",
    "ecospy==0.7.2",
    "tbb==2023.2.0",
    "libcosimpy==0.0.6",
    "helics==3.6.1",
    "numpy==2.4.6",
    "lxml==6.1.3",
    "lark==1.3.1",
    "attrs==26.1.0",
];

/// The interpreter of an environment with the masters, made once and kept below `target`; `None` and a SKIP line where
/// that is not possible.
pub fn python() -> Option<PathBuf> {
    static PYTHON: OnceLock<Option<PathBuf>> = OnceLock::new();
    PYTHON
        .get_or_init(|| match python_environment("fmi", &PACKAGES) {
            Ok(python) => Some(python),
            Err(why) => {
                skip(&format!(
                    "no Python environment with FMPy, Ecos, libcosim and HELICS, so no master has seen the units: {why}"
                ));
                None
            }
        })
        .clone()
}

/// The folder of the standards' own headers, which FMPy brings.
pub fn official_headers() -> Option<PathBuf> {
    let python = python()?;
    let output = Command::new(python)
        .args([
            "-c",
            "import fmpy, os; print(os.path.join(os.path.dirname(fmpy.__file__), 'c-code'))",
        ])
        .output()
        .expect("python starts");
    Some(PathBuf::from(
        String::from_utf8(output.stdout).unwrap().trim(),
    ))
}

/// Runs a script of `tests/python` with JSON as its argument; gives what it printed.
pub fn script(name: &str, argument: &serde_json::Value) -> Option<String> {
    let python = python()?;
    let output = Command::new(python)
        .arg(root().join("tests/python").join(name))
        .arg(argument.to_string())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .expect("python starts");
    let printed = crate::host::expect_success(name, &output);
    assert!(
        printed.lines().last().is_some(),
        "{name} has printed nothing"
    );
    Some(printed)
}
