//! Destination of results: a file, or standard output, which its reader may close early.

use std::fs::File;
use std::io::{BufWriter, ErrorKind, Write};
use std::path::Path;

use crate::Failure;

/// Opens a file, or standard output for `-`, before the run, so that a wrong path is an error at once.
pub fn create(path: &Path) -> Result<Box<dyn Write>, Failure> {
    if is_standard(path) {
        return Ok(Box::new(BufWriter::new(std::io::stdout())));
    }
    match File::create(path) {
        Ok(file) => Ok(Box::new(BufWriter::new(file))),
        Err(error) => Err(Failure::Input(format!(
            "cannot write \"{}\": {error}",
            path.display()
        ))),
    }
}

/// Does `path` stand for standard output?
pub fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Prints a text on standard output.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| failure(Path::new("-"), &error))
}

/// The failure of a write after the run had begun.
pub fn failure(path: &Path, error: &std::io::Error) -> Failure {
    if is_standard(path) {
        if error.kind() == ErrorKind::BrokenPipe {
            return Failure::Closed;
        }
        return Failure::Simulation(format!("cannot write to standard output: {error}"));
    }
    Failure::Simulation(format!("cannot write \"{}\": {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_left_is_no_error_but_a_full_disk_is() {
        let gone = std::io::Error::from(ErrorKind::BrokenPipe);
        assert_eq!(failure(Path::new("-"), &gone), Failure::Closed);
        let full = std::io::Error::from(ErrorKind::StorageFull);
        assert!(matches!(
            failure(Path::new("a.csv"), &full),
            Failure::Simulation(sentence) if sentence.starts_with("cannot write \"a.csv\"")
        ));
    }
}
