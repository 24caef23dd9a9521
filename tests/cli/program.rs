//! The program `biela` as the tests start it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_biela"));
    command
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::null());
    command
}

pub fn biela(arguments: &[&str]) -> Output {
    command(arguments).output().expect("the program starts")
}

/// Status, standard output and standard error.
pub fn outcome(arguments: &[&str]) -> (i32, String, String) {
    of(&biela(arguments))
}

pub fn of(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let status = output.status.code().expect("the program ends by itself");
    (status, text(&output.stdout), text(&output.stderr))
}

pub fn fine(arguments: &[&str]) -> String {
    let (status, said, error) = outcome(arguments);
    assert_eq!(status, 0, "{arguments:?}: {error}");
    said
}

/// A folder of this test alone.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

pub fn word(path: &Path) -> &str {
    path.to_str().expect("the test folder has a plain name")
}
