//! The README keeps its word: its two commands are those the checks run, and what it links to exists.

use std::fs;
use std::path::Path;

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Lines of the fenced blocks of a language.
fn fenced(text: &str, language: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if let Some(fence) = line.strip_prefix("```") {
            inside = !inside && fence == language;
        } else if inside {
            lines.push(line.to_owned());
        }
    }
    lines
}

#[test]
fn the_readme_opens_with_two_commands_and_the_checks_run_both() {
    let commands = fenced(&read("README.md"), "sh");
    let script = read(".ci/run");
    let opening = &commands[..2];
    assert!(
        opening[0].starts_with("cargo run --release -- run models/"),
        "{}",
        opening[0]
    );
    assert_eq!(opening[1], "cargo test --release");
    for command in opening {
        assert!(
            script.lines().any(|line| line == format!("step {command}")),
            ".ci/run does not run: {command}"
        );
    }
}

#[test]
fn every_file_the_documents_link_to_exists() {
    for document in ["README.md", "CHANGELOG.md"] {
        let text = read(document);
        let mut links = 0;
        for (at, _) in text.match_indices("](") {
            let target = &text[at + 2..];
            let target = &target[..target.find(')').expect("a link ends")];
            let file = target.split('#').next().unwrap();
            if file.is_empty() || file.contains("://") {
                continue;
            }
            links += 1;
            assert!(
                Path::new(env!("CARGO_MANIFEST_DIR")).join(file).exists(),
                "{document} links to {file}, which does not exist"
            );
        }
        assert!(document != "README.md" || links >= 5, "{links} links");
    }
}

#[test]
fn the_model_of_the_readme_is_one_that_runs() {
    let text = fenced(&read("README.md"), "toml").join("\n");
    let mut instance = biela::component::Instance::from_text(&text, None).unwrap();
    instance.initialize(0.0, 0.1, 0.0).unwrap();
    instance.step(0.0, 0.1).unwrap();
    assert_eq!(instance.time(), 0.1);
}
