//! The documents keep their word: every block of the README and the tutorial runs as it stands, every error is in the page
//! on troubles, and the reference of the C interface by doxygen has every function.
//!
//! A `toml` block is saved under the file name in the paragraph before it; a paragraph that begins with "Add" appends. `sh`
//! blocks run in one folder, and each line of a `text` block behind one must be in what was printed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A fenced block with the paragraph before it.
struct Block {
    language: String,
    text: String,
    before: String,
}

fn blocks(document: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut paragraph = String::new();
    let mut lines = document.lines();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            blocks.push(Block {
                language: language.to_owned(),
                text: text.join("\n") + "\n",
                before: std::mem::take(&mut paragraph),
            });
        } else if line.is_empty() {
            // The paragraph directly before a block counts.
            if !paragraph.is_empty() {
                paragraph.push('\n');
            }
        } else {
            if paragraph.ends_with('\n') {
                paragraph.clear();
            }
            paragraph += line;
            paragraph.push(' ');
        }
    }
    blocks
}

/// The last file name with this ending in a paragraph.
fn file_name<'a>(paragraph: &'a str, ending: &str) -> Option<&'a str> {
    paragraph
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|word| word.ends_with(ending) && !word.contains(['/', ' ']))
        .last()
}

fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("documents")
        .join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Runs a script where `biela` is the program under test.
fn shell(script: &str, folder: &Path) -> (bool, String) {
    let program = Path::new(env!("CARGO_BIN_EXE_biela"));
    let places = [program.parent().unwrap().to_owned()].into_iter();
    let known = std::env::var_os("PATH").unwrap_or_default();
    let others = std::env::split_paths(&known);
    let path = std::env::join_paths(places.chain(others.collect::<Vec<_>>())).unwrap();
    let output = Command::new("sh")
        .args(["-ec", script])
        .current_dir(folder)
        .env("PATH", path)
        .env("BIELA_LIBRARY", library())
        .output()
        .expect("sh");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.success(),
        text(&output.stdout) + &text(&output.stderr),
    )
}

/// Writes the files and runs the commands of a document.
fn walk(document: &str, folder: &Path) {
    let mut printed = String::new();
    for block in blocks(&read(document)) {
        let Block {
            language,
            text,
            before,
        } = &block;
        match language.as_str() {
            "toml" => {
                let name = file_name(before, ".toml")
                    .unwrap_or_else(|| panic!("{document}: no file name before\n{text}"));
                let path = folder.join(name);
                let old = match before.contains("Add to") {
                    true => fs::read_to_string(&path).unwrap() + "\n",
                    false => String::new(),
                };
                fs::write(&path, old + text).unwrap();
            }
            "sh" if text.contains("cargo") => {} // .ci/run does those
            "sh" => {
                let (good, said) = shell(text, folder);
                assert!(good, "{document}:\n{text}\n{said}");
                printed = said;
            }
            "text" => {
                for line in text.lines() {
                    assert!(
                        printed.contains(line.trim_end()),
                        "{document}: \"{line}\" is not in\n{printed}"
                    );
                }
            }
            _ => {}
        }
    }
}

#[test]
fn every_block_of_the_tutorial_runs() {
    let folder = scratch("tutorial");
    walk("docs/tutorial.md", &folder);
    for file in [
        "slow.csv",
        "four_bar.svg",
        "four_bar.html",
        "both.svg",
        "torque.png",
        "four_bar.fmu",
    ] {
        assert!(folder.join(file).exists(), "{file}");
    }
}

#[test]
fn every_block_of_the_readme_runs() {
    let folder = scratch("readme");
    // The blocks in other languages use the models of the repository.
    let models = folder.join("models");
    fs::create_dir_all(&models).unwrap();
    fs::copy(
        root().join("models/slider_crank.toml"),
        models.join("slider_crank.toml"),
    )
    .unwrap();
    walk("README.md", &folder);
    let blocks = blocks(&read("README.md"));
    let of = |language: &str| -> Vec<&str> {
        let ours = blocks.iter().filter(|block| block.language == language);
        ours.map(|block| block.text.as_str()).collect()
    };
    // The Rust block is a documentation test of the library.
    assert_eq!(of("rust").len(), 1);
    c_block(&folder, of("c")[0]);
    python_block(&folder, of("python")[0]);
}

/// The library that Cargo built for these tests, or the one that BIELA_LIBRARY names.
fn library() -> PathBuf {
    match std::env::var_os("BIELA_LIBRARY") {
        Some(path) => path.into(),
        None => crate::host::library().shared.clone(),
    }
}

fn c_block(folder: &Path, block: &str) {
    let (includes, body): (Vec<&str>, Vec<&str>) =
        block.lines().partition(|line| line.starts_with("#include"));
    let program = format!(
        "#include <stdint.h>\n#include <stdio.h>\n{}\nint main(void) {{\n{}\nprintf(\"%g %g\\n\", reached, x);\nreturn 0;\n}}\n",
        includes.join("\n"),
        body.join("\n")
    );
    fs::write(folder.join("readme.c"), program).unwrap();
    let script = format!(
        "cc -std=c99 -Wall -Wextra -I \"{}/include\" readme.c \"{}\" -o readme -Wl,-rpath,\"{}\" && ./readme",
        root().display(),
        library().display(),
        library().parent().unwrap().display()
    );
    let (good, said) = shell(&script, folder);
    if !good && said.contains("cc: not found") {
        eprintln!("SKIP: there is no C compiler, the C block is not run");
        return;
    }
    assert!(good, "{said}");
    assert!(said.starts_with("2 "), "{said}");
}

fn python_block(folder: &Path, block: &str) {
    fs::write(folder.join("readme.py"), block).unwrap();
    let output = Command::new("python3")
        .arg("readme.py")
        .current_dir(folder)
        .env("PYTHONPATH", root().join("examples/python"))
        .env("BIELA_LIBRARY", library())
        .output();
    let Ok(output) = output else {
        eprintln!("SKIP: there is no python3, the Python block is not run");
        return;
    };
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(!said.trim().is_empty());
}

#[test]
fn every_error_is_in_the_page_on_troubles() {
    let page = read("docs/troubleshooting.md");
    let source = read("src/error.rs");
    let body = source.split("pub enum Error {").nth(1).unwrap();
    let body = &body[..body.find("\n}").unwrap()];
    let variants: Vec<&str> = body
        .lines()
        .filter_map(|line| line.strip_prefix("    ")?.strip_suffix(" {"))
        .filter(|word| word.chars().all(char::is_alphanumeric))
        .collect();
    assert!(variants.len() > 15, "{variants:?}");
    for variant in variants {
        assert!(
            page.contains(&format!("`{variant}`")),
            "{variant} is not in docs/troubleshooting.md"
        );
    }
}

#[test]
fn the_reference_by_doxygen_has_every_function() {
    let folder = scratch("doxygen");
    let settings = read("docs/Doxyfile");
    let header = root().join("include/biela.h");
    let settings = format!(
        "{settings}\nINPUT = \"{}\"\nOUTPUT_DIRECTORY = \"{}\"\n",
        header.display(),
        folder.display()
    );
    fs::write(folder.join("Doxyfile"), settings).unwrap();
    let run = Command::new("doxygen")
        .arg("Doxyfile")
        .current_dir(&folder)
        .output();
    let Ok(run) = run else {
        eprintln!("SKIP: doxygen is not installed, the reference of the C interface is not made");
        return;
    };
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    let pages: String = fs::read_dir(folder.join("html"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "html"))
        .map(|path| fs::read_to_string(path).unwrap_or_default())
        .collect();
    let header = fs::read_to_string(header).unwrap();
    let mut functions: Vec<&str> = Vec::new();
    for (at, _) in header.match_indices("biela_") {
        let name = &header[at..];
        let end = name
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(name.len());
        let declared = name[end..].starts_with('(') && !header[..at].ends_with(['`', '"', '.']);
        let line_start = header[..at].rfind('\n').map_or(0, |n| n + 1);
        let comment = header[line_start..at].trim_start().starts_with(['*', '/']);
        if declared && !comment && !functions.contains(&&name[..end]) {
            functions.push(&name[..end]);
        }
    }
    assert!(functions.len() > 20, "{functions:?}");
    for function in functions {
        let listed = ["a", "b"].map(|tag| format!("{function}</{tag}> ("));
        assert!(
            listed.iter().any(|entry| pages.contains(entry)),
            "{function} is not in the reference"
        );
    }
}
