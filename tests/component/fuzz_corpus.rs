//! The corpus of the fuzz targets (`fuzz/`), replayed, and changed at random: no input leads to a panic. The same bodies run under
//! cargo-fuzz.

use std::path::PathBuf;

use crate::common::Random;
use crate::host::root;

#[path = "../../fuzz/bodies/fmi_calls.rs"]
mod fmi_calls;
#[path = "../../fuzz/bodies/matrix_market.rs"]
mod matrix_market;
#[path = "../../fuzz/bodies/model_text.rs"]
mod model_text;
#[path = "../../fuzz/bodies/saved_state.rs"]
mod saved_state;

/// Inputs of a target, in the order of their names.
fn corpus(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = root().join("fuzz/corpus").join(target);
    let mut found: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .collect();
    found.sort();
    let read = |path: PathBuf| {
        let bytes = std::fs::read(&path).unwrap();
        (path, bytes)
    };
    found.into_iter().map(read).collect()
}

/// Replays the corpus, then `changed` inputs made of it by changing, removing, repeating and mixing bytes.
fn replay(target: &str, run: fn(&[u8]), changed: u64) {
    let corpus = corpus(target);
    assert!(corpus.len() >= 5, "{target}");
    for (path, bytes) in &corpus {
        println!("{}", path.display());
        run(bytes);
    }
    let count = match std::env::var_os("BIELA_TEST_FULL").is_some() {
        true => 100 * changed,
        false => changed,
    };
    let mut random = Random(20_261_117);
    for k in 0..count {
        let pick = |random: &mut Random| {
            let i = random.below(corpus.len() as u64) as usize;
            corpus[i].1.clone()
        };
        let mut bytes = pick(&mut random);
        for _ in 0..=random.below(6) {
            change(&mut bytes, &mut random, &pick);
        }
        // A failure says which input it was: the number makes it again.
        println!("{target}: changed input {k}");
        run(&bytes);
    }
}

fn change(bytes: &mut Vec<u8>, random: &mut Random, pick: &dyn Fn(&mut Random) -> Vec<u8>) {
    const WORDS: [&[u8]; 10] = [
        b"-1",
        b"1e308",
        b"nan",
        b"0",
        b"[[",
        b"\"",
        b"\n[[body]]\n",
        b"=",
        b"\xff",
        b"1e-308",
    ];
    let at = random.below(bytes.len() as u64 + 1) as usize;
    match random.below(5) {
        0 if at < bytes.len() => bytes[at] = random.bits() as u8,
        1 if at < bytes.len() => {
            let end = (at + 1 + random.below(8) as usize).min(bytes.len());
            bytes.drain(at..end);
        }
        2 => {
            let word = WORDS[random.below(WORDS.len() as u64) as usize];
            bytes.splice(at..at, word.iter().copied());
        }
        3 => {
            let other = pick(random);
            let from = random.below(other.len() as u64 + 1) as usize;
            bytes.truncate(at);
            bytes.extend(&other[from..]);
        }
        _ => {
            let end = (at + random.below(16) as usize).min(bytes.len());
            let part = bytes[at..end].to_vec();
            bytes.splice(at..at, part);
        }
    }
}

#[test]
fn model_texts_of_the_corpus_and_their_changes_never_panic() {
    replay("model_text", model_text::run, 300);
}

#[test]
fn matrix_market_files_of_the_corpus_and_their_changes_never_panic() {
    replay("matrix_market", matrix_market::run, 2000);
}

#[test]
fn saved_states_of_the_corpus_and_their_changes_never_panic() {
    replay("saved_state", saved_state::run, 300);
}

#[test]
fn random_fmi_calls_of_the_corpus_and_their_changes_always_have_a_status() {
    replay("fmi_calls", fmi_calls::run, 100);
}
