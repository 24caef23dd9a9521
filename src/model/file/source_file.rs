//! Files of a model: opened in one place, which refuses what is not a file and notes what was opened.

use std::cell::RefCell;
use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};

thread_local! {
    /// Files opened since [`opened_files`] began on this thread; `None` outside it.
    static OPENED: RefCell<Option<Vec<PathBuf>>> = const { RefCell::new(None) };
}

/// Opens a file for reading. A pipe without a writer would wait for ever, a device may never end: only regular files are
/// opened, and what the shell passes as an open descriptor (`/dev/stdin`, `/dev/fd/63`).
pub fn open(path: &Path) -> Result<File> {
    let passed = ["/dev/stdin", "/dev/fd", "/proc/self/fd"];
    if !passed.iter().any(|known| path.starts_with(known)) {
        let kind = std::fs::metadata(path)?.file_type();
        if kind.is_dir() {
            return Err(Error::new(ErrorKind::InvalidInput, "it is a folder"));
        }
        if !kind.is_file() {
            let reason = "it is not a regular file but a pipe, a socket or a device";
            return Err(Error::new(ErrorKind::InvalidInput, reason));
        }
    }
    let file = File::open(path)?;
    OPENED.with(|opened| {
        if let Some(opened) = &mut *opened.borrow_mut() {
            opened.push(path.to_owned());
        }
    });
    Ok(file)
}

/// Runs `read`, which reads a model, and returns the files it has opened as well, in that order.
pub fn opened_files<T>(read: impl FnOnce() -> T) -> (T, Vec<PathBuf>) {
    let outer = OPENED.replace(Some(Vec::new()));
    let result = read();
    let opened = OPENED.replace(outer).unwrap_or_default();
    OPENED.with(|outer| {
        if let Some(outer) = &mut *outer.borrow_mut() {
            outer.extend_from_slice(&opened);
        }
    });
    (result, opened)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_opened_is_known_and_nothing_else() {
        let own = Path::new(file!());
        let (found, opened) = opened_files(|| (open(own).is_ok(), open(Path::new("none")).is_ok()));
        assert_eq!(found, (true, false));
        assert_eq!(opened, [own]);
        let ((), later) = opened_files(|| ());
        assert!(later.is_empty());
    }

    #[test]
    fn a_folder_is_not_opened() {
        let error = open(Path::new("src")).unwrap_err();
        assert_eq!(error.to_string(), "it is a folder");
    }
}
