//! A Python environment with Pinocchio, MuJoCo and the robots that come with them.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

use super::host::{mechanics_environment, root, skip};

/// The interpreter; `None` with a SKIP line if the environment cannot be made.
pub fn interpreter() -> Option<PathBuf> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let find = || match mechanics_environment() {
        Ok(python) => Some(python),
        Err(why) => {
            skip(&format!(
                "no Python environment with Pinocchio and MuJoCo, so no robot was compared with them: {why}"
            ));
            None
        }
    };
    FOUND.get_or_init(find).clone()
}

/// The files of installed packages below `site-packages` with an ending, sorted.
pub fn robots(ending: &str, folders: &[&str]) -> Vec<PathBuf> {
    let Some(python) = interpreter() else {
        return vec![];
    };
    let library = python.parent().unwrap().parent().unwrap().join("lib");
    let packages = fs::read_dir(library).unwrap().next().unwrap().unwrap();
    let packages = packages.path().join("site-packages");
    let mut found = vec![];
    let mut waiting: Vec<PathBuf> = folders.iter().map(|f| packages.join(f)).collect();
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|e| e == ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Asks the oracle.
pub fn ask(requests: &Value) -> Vec<Value> {
    let python = interpreter().expect("callers have asked whether it is there");
    let mut child = Command::new(python)
        .arg(root().join("tests/import/oracle.py"))
        .env("OMP_NUM_THREADS", "1")
        // MuJoCo writes a log where it runs.
        .current_dir(env!("CARGO_TARGET_TMPDIR"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python starts");
    let text = requests.to_string();
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().expect("python ends");
    writer.join().unwrap().expect("it reads the requests");
    assert!(output.status.success(), "the oracle fails");
    let answers: Value = serde_json::from_slice(&output.stdout).expect("it answers in JSON");
    answers.as_array().unwrap().clone()
}
