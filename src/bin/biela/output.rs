//! Destination of results: a file, or standard output, which its reader may close early.
//!
//! A file is written beside its final name and moved there when it is complete: a reader never sees half of it, and a
//! run that breaks off leaves the file of the run before.

use std::fs::{self, File};
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::Failure;

/// A file of results while it is written.
pub struct OutputFile {
    out: BufWriter<Box<dyn Write>>,
    /// Where it is written, and where it belongs; `None` if it is written in place.
    moved: Option<(PathBuf, PathBuf)>,
}

impl OutputFile {
    /// Ends the file: everything is written, and it has its name.
    pub fn complete(&mut self) -> std::io::Result<()> {
        self.out.flush()?;
        match self.moved.take() {
            None => Ok(()),
            Some((temporary, path)) => fs::rename(&temporary, path).inspect_err(|_| {
                let _ = fs::remove_file(&temporary);
            }),
        }
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if let Some((temporary, _)) = &self.moved {
            let _ = fs::remove_file(temporary);
        }
    }
}

/// Opens a file, or standard output for `-`, before the run, so that a wrong path is an error at once.
pub fn create(path: &Path) -> Result<OutputFile, Failure> {
    if is_standard(path) {
        return Ok(in_place(Box::new(std::io::stdout())));
    }
    let refused = |error: std::io::Error| {
        Failure::Input(format!(
            "cannot write \"{}\": {}",
            path.display(),
            reason(&error)
        ))
    };
    // The file itself, if the path is a link to it.
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    match fs::metadata(&target) {
        Ok(there) if there.is_dir() => {
            let message = format!("cannot write \"{}\": it is a folder", path.display());
            return Err(Failure::Input(message));
        }
        // A device or a pipe cannot be replaced.
        Ok(there) if !there.is_file() => {
            let file = File::options().write(true).open(&target);
            return Ok(in_place(Box::new(file.map_err(refused)?)));
        }
        Ok(there) if there.permissions().readonly() => {
            return Err(refused(ErrorKind::PermissionDenied.into()));
        }
        _ => {}
    }
    let mut name = std::ffi::OsString::from(".");
    name.push(target.file_name().unwrap_or_default());
    name.push(format!(".{}.part", std::process::id()));
    let temporary = target.with_file_name(name);
    match File::create(&temporary) {
        Ok(file) => {
            if let Ok(there) = fs::metadata(&target) {
                let _ = fs::set_permissions(&temporary, there.permissions());
            }
            Ok(OutputFile {
                out: BufWriter::new(Box::new(file)),
                moved: Some((temporary, target)),
            })
        }
        // A folder in which nothing can be created may hold a file that can be written.
        Err(error) if error.kind() == ErrorKind::PermissionDenied && target.exists() => {
            let file = File::create(&target).map_err(refused)?;
            Ok(in_place(Box::new(file)))
        }
        Err(error) => Err(refused(error)),
    }
}

fn in_place(out: Box<dyn Write>) -> OutputFile {
    OutputFile {
        out: BufWriter::new(out),
        moved: None,
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

/// Writes a whole file.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let mut file = create(path)?;
    file.write_all(bytes)
        .and_then(|()| file.complete())
        .map_err(|error| failure(path, &error))
}

/// The system's reason in words that say what to do.
fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::StorageFull => "the disk is full".to_owned(),
        ErrorKind::NotFound => "the folder does not exist".to_owned(),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::ReadOnlyFilesystem => "the disk is read-only".to_owned(),
        ErrorKind::QuotaExceeded => "the disk quota is used up".to_owned(),
        _ => error.to_string(),
    }
}

/// The failure of a write after the run had begun.
pub fn failure(path: &Path, error: &std::io::Error) -> Failure {
    if is_standard(path) {
        if error.kind() == ErrorKind::BrokenPipe {
            return Failure::Closed;
        }
        let reason = reason(error);
        return Failure::Simulation(format!("cannot write to standard output: {reason}"));
    }
    Failure::Simulation(format!(
        "cannot write \"{}\": {}",
        path.display(),
        reason(error)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_left_is_no_error_but_a_full_disk_is() {
        let gone = std::io::Error::from(ErrorKind::BrokenPipe);
        assert_eq!(failure(Path::new("-"), &gone), Failure::Closed);
        let full = std::io::Error::from(ErrorKind::StorageFull);
        assert_eq!(
            failure(Path::new("a.csv"), &full),
            Failure::Simulation("cannot write \"a.csv\": the disk is full".to_owned())
        );
    }

    #[test]
    fn a_file_gets_its_name_when_it_is_complete() {
        let folder = std::env::temp_dir().join(format!("biela_output_{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("a.csv");
        fs::write(&path, "before").unwrap();
        let mut file = create(&path).unwrap();
        file.write_all(b"half").unwrap();
        drop(file);
        assert_eq!(fs::read_to_string(&path).unwrap(), "before");
        write(&path, b"after").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "after");
        assert_eq!(
            fs::read_dir(&folder).unwrap().count(),
            1,
            "no other file is left"
        );
        fs::remove_dir_all(&folder).unwrap();
    }
}
