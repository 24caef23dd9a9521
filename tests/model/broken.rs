//! Broken models: each is refused at its place with its sentence, through the library and through the command line, and
//! nothing crashes, hangs or eats memory. The first line of a file in `tests/broken` says where and what: `# line:column: ..`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Instant;

use biela::model::Model;

fn broken() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/broken");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
}

/// Place and fragment that the first line announces.
fn announced(file: &Path) -> (String, String) {
    let text = std::fs::read_to_string(file).unwrap();
    let first = text.lines().next().unwrap().strip_prefix("# ").unwrap();
    let (place, fragment) = first.split_once(": ").unwrap();
    (place.to_owned(), fragment.to_owned())
}

fn check(file: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_biela"))
        .arg("check")
        .arg(file)
        .output()
        .unwrap()
}

#[test]
fn each_broken_model_is_refused_at_its_place_with_its_sentence() {
    let files = broken();
    assert!(files.len() >= 80, "{} broken models", files.len());
    let mut failures = vec![];
    for file in &files {
        let (place, fragment) = announced(file);
        let found = match Model::from_file(file) {
            Ok(_) => "accepted".to_owned(),
            Err(error) => error.to_string(),
        };
        let begins = format!("{}:{place}: ", file.display());
        let lines = found.lines().count();
        if !(found.starts_with(&begins) && found.contains(&fragment) && lines == 1) {
            failures.push(format!("expected {begins}.. {fragment}\nfound    {found}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn the_command_line_says_the_same_with_status_2() {
    for file in &broken() {
        let (place, fragment) = announced(file);
        let output = check(file);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{}: {said}", file.display());
        assert!(
            said.contains(&format!("{place}: ")),
            "{}: {said}",
            file.display()
        );
        assert!(said.contains(&fragment), "{}: {said}", file.display());
        assert!(output.stdout.is_empty(), "{}", file.display());
    }
}

#[test]
fn each_suspicious_model_is_checked_with_its_sentence() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suspicious");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let file = entry.unwrap().path();
        let text = std::fs::read_to_string(&file).unwrap();
        let fragment = text.lines().next().unwrap().strip_prefix("# ").unwrap();
        let output = check(&file);
        let said =
            String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(fragment), "{}: {said}", file.display());
        assert!(!said.contains("panicked"), "{}: {said}", file.display());
        count += 1;
    }
    assert!(count >= 12, "{count} suspicious models");
}

/// Monstrous texts: name, bytes, what is said of them.
fn monsters() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let garbage = |count: usize, seed: u64| -> Vec<u8> {
        let mut x = seed;
        (0..count)
            .map(|_| {
                x ^= x << 13;
                x ^= x >> 7;
                x ^= x << 17;
                x as u8
            })
            .collect()
    };
    let printable =
        |count: usize| -> Vec<u8> { garbage(count, 7).iter().map(|b| b' ' + b % 95).collect() };
    let with_head = |rest: Vec<u8>| [b"format = 1\n".to_vec(), rest].concat();
    vec![
        (
            "brackets.toml",
            with_head([b"a = ".to_vec(), vec![b'['; 1_000_000]].concat()),
            "nested deeper than 64",
        ),
        (
            "braces.json",
            b"{\"a\":".repeat(1_000_000),
            "nested deeper than 64",
        ),
        (
            "closing.toml",
            with_head(vec![b']'; 1_000_000]),
            "not valid TOML",
        ),
        ("binary.toml", garbage(1_000_000, 99), "not UTF-8 text"),
        ("binary_100_mb.toml", garbage(100_000_000, 99), "too large"),
        ("printable_100_mb.toml", printable(100_000_000), "too large"),
        ("printable.toml", printable(20_000_000), "not valid TOML"),
        ("zeros.toml", vec![0; 10_000_000], "not valid TOML"),
        (
            "long_line.toml",
            with_head([b"name = \"".to_vec(), vec![b'x'; 30_000_000]].concat()),
            "not valid TOML",
        ),
        (
            "long_name.toml",
            with_head(
                [
                    b"name = \"".to_vec(),
                    vec![b'-'; 10_000_000],
                    b"\"".to_vec(),
                ]
                .concat(),
            ),
            "letters, digits and _",
        ),
        (
            "long_key.toml",
            with_head([vec![b'k'; 10_000_000], b" = 1".to_vec()].concat()),
            "unknown key",
        ),
        (
            "many_keys.toml",
            with_head(
                (0..300_000)
                    .map(|i| format!("k{i} = 1\n"))
                    .collect::<String>()
                    .into_bytes(),
            ),
            "unknown key \"k0\"",
        ),
        (
            "dots.toml",
            with_head([b"a.".repeat(1_000_000), b"a = 1".to_vec()].concat()),
            "",
        ),
        (
            "many_bodies.toml",
            with_head(b"[[body]]\n".repeat(200_000)),
            "\"name\" is missing",
        ),
        (
            "digits.toml",
            with_head(
                [
                    b"[[body]]\nname = \"a\"\nmass = ".to_vec(),
                    vec![b'9'; 5_000_000],
                ]
                .concat(),
            ),
            "",
        ),
        (
            "array.toml",
            with_head(
                [
                    b"gravity = [".to_vec(),
                    b"1,".repeat(3_000_000),
                    b"]".to_vec(),
                ]
                .concat(),
            ),
            "an array of 3 numbers",
        ),
        ("empty.toml", vec![], "\"format\" is missing"),
        ("empty.json", vec![], "the text is empty"),
    ]
}

/// The largest memory of a process (KiB), where the system tells: the last line of `/usr/bin/time -f %M`.
#[cfg(target_os = "linux")]
fn peak_of(file: &Path) -> Option<(Output, u64)> {
    let output = Command::new("/usr/bin/time")
        .args(["-f", "%M", env!("CARGO_BIN_EXE_biela"), "check"])
        .arg(file)
        .output()
        .ok()?;
    let said = String::from_utf8_lossy(&output.stderr);
    let peak = said.lines().last()?.trim().parse().ok()?;
    Some((output, peak))
}

#[test]
fn monstrous_files_are_refused_in_bounded_time_and_memory() {
    let folder = std::env::temp_dir().join(format!("biela_monsters_{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut measured = false;
    for (name, bytes, fragment) in monsters() {
        let file = folder.join(name);
        let size = bytes.len();
        std::fs::write(&file, bytes).unwrap();
        let begun = Instant::now();
        let refused = Model::from_file(&file).map(|_| ()).unwrap_err().to_string();
        let seconds = begun.elapsed().as_secs_f64();
        assert!(refused.contains(fragment), "{name}: {refused}");
        let sentences: Vec<&str> = refused.lines().collect();
        assert!(
            sentences.len() <= 21 && sentences.iter().all(|line| line.len() < 1000),
            "{name}: {refused}"
        );
        // Hundreds of times what a quiet machine needs; an endless loop would still be found.
        assert!(seconds < 60.0, "{name}: {seconds} s");
        #[cfg(target_os = "linux")]
        if let Some((output, peak)) = peak_of(&file) {
            // A tree of nodes costs tens of bytes for each character of the worst text; never gigabytes.
            let bound = 1024 * 1024;
            assert_eq!(output.status.code(), Some(2), "{name}");
            assert!(peak < bound, "{name}: {peak} KiB for {size} bytes");
            measured = true;
        }
        if !measured {
            assert_eq!(check(&file).status.code(), Some(2), "{name} ({size} bytes)");
        }
        std::fs::remove_file(&file).unwrap();
    }
    if !measured {
        eprintln!("SKIP: memory is not measured, /usr/bin/time is not there");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
