//! What the tests of the C boundary share: where things are, which tools there are, the library as hosts get it.
#![allow(dead_code)] // each test binary uses its own part

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Says loudly that something was not tested, also where the test runner swallows output of passing tests.
pub fn skip(what: &str) {
    use std::io::Write;
    // The macro's output is captured; the stream itself is not.
    let _ = writeln!(std::io::stderr().lock(), "SKIP: {what}");
}

/// A tool on the search path.
pub fn tool(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|directory| directory.join(name))
        .find(|file| file.is_file())
}

/// Those compilers that exist; a SKIP line for each that does not.
pub fn compilers(names: &[&str]) -> Vec<PathBuf> {
    let found = names.iter().filter_map(|name| {
        tool(name).or_else(|| {
            skip(&format!(
                "{name} is not installed: what it would compile is not tested with it"
            ));
            None
        })
    });
    found.collect()
}

/// A directory of the test's own below the target directory.
pub struct Scratch(PathBuf);

impl Scratch {
    /// Empty, named after its purpose.
    pub fn new(purpose: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(purpose);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a directory below target/tmp");
        Self(path)
    }

    /// Where.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

/// The built library.
pub struct Library {
    /// Shared.
    pub shared: PathBuf,
    /// Static.
    pub archive: PathBuf,
}

/// The library with the features of a release.
pub fn library() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| build(&[], &target_dir()))
}

/// The library with the panic on demand, in a target directory of its own: it must never lie where the real one is found.
pub fn library_with_faults() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        build(
            &["--features", "fault-injection"],
            &target_dir().join("fault-injection"),
        )
    })
}

/// Where cargo has put this test: `<target>[/<triple>]/<profile>/deps/<test>`.
fn profile_dir() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own file");
    test.ancestors()
        .nth(2)
        .expect("cargo puts tests in <profile>/deps")
        .to_owned()
}

fn target_dir() -> PathBuf {
    // CARGO_TARGET_TMPDIR is <target>/tmp whatever the profile and the triple are.
    Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .expect("it is below the target directory")
        .to_owned()
}

/// Builds with the profile this test was built with, so that all hosts run the same code. Cargo holds no lock while tests run.
fn build(features: &[&str], target_dir: &Path) -> Library {
    let profile = match profile_dir().file_name().and_then(OsStr::to_str) {
        Some("release") => "release",
        _ => "test",
    };
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args([
            "build",
            "--lib",
            "--profile",
            profile,
            "--message-format",
            "json",
        ])
        .args(features)
        .arg("--target-dir")
        .arg(target_dir)
        .current_dir(root());
    let output = cargo.output().expect("cargo starts");
    assert!(
        output.status.success(),
        "the library does not build:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let files: Vec<PathBuf> = String::from_utf8(output.stdout)
        .expect("cargo writes text")
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|message| {
            message["reason"] == "compiler-artifact" && message["target"]["name"] == "biela"
        })
        .flat_map(|message| message["filenames"].as_array().cloned().unwrap_or_default())
        .filter_map(|file| file.as_str().map(PathBuf::from))
        .collect();
    let with = |extensions: &[&str]| {
        files
            .iter()
            .find(|file| {
                let extension = file.extension().and_then(OsStr::to_str);
                extension.is_some_and(|e| extensions.contains(&e))
            })
            .unwrap_or_else(|| panic!("cargo has made no {extensions:?} but {files:?}"))
            .clone()
    };
    Library {
        shared: with(&["so", "dylib", "dll"]),
        archive: with(&["a", "lib"]),
    }
}

/// Panics with everything a program said unless it ended with 0; its standard output otherwise.
pub fn expect_success(what: &str, output: &Output) -> String {
    assert!(
        output.status.success(),
        "{what} ended with {}\n--- standard output\n{}\n--- standard error\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout.clone()).expect("programs write text")
}

/// Compares with a committed list; `BIELA_BLESS=1` rewrites it.
pub fn expect_committed(path: &Path, fresh: &str) {
    if std::env::var_os("BIELA_BLESS").is_some() {
        fs::write(path, fresh).expect("the list can be written");
    }
    let committed = fs::read_to_string(path).expect("the list is committed");
    assert!(
        committed == fresh,
        "{} no longer holds: the interface has changed.\n--- committed\n{committed}\n--- now\n{fresh}\n\
         If that is meant, run again with BIELA_BLESS=1 and say so in the change log.",
        path.display()
    );
}

/// A number printed by C's `%a`, exactly.
pub fn parse_hex_float(text: &str) -> f64 {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let magnitude = match digits {
        "inf" => f64::INFINITY,
        "nan" => f64::NAN,
        _ => {
            let digits = digits.strip_prefix("0x").expect("%a begins with 0x");
            let (mantissa, exponent) = digits.split_once('p').expect("%a has an exponent");
            let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
            let bits = u64::from_str_radix(&format!("{whole}{fraction}"), 16).expect("hex digits");
            let exponent: i32 = exponent.parse().expect("a decimal exponent");
            // At most 53 significant bits: the conversion and both products are exact, also for subnormal results.
            let scale = exponent - 4 * fraction.len() as i32;
            let half = scale / 2;
            bits as f64 * 2f64.powi(half) * 2f64.powi(scale - half)
        }
    };
    if negative { -magnitude } else { magnitude }
}
