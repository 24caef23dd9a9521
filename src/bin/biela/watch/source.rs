//! The model file, and the files that it names, as they are saved.

use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often the files are looked at.
const GLANCE: Duration = Duration::from_millis(150);

/// A model file that changes.
pub struct WatchedSource {
    path: PathBuf,
    /// What was read last: the model file first, then files that its text names.
    read: Vec<(PathBuf, Option<Vec<u8>>)>,
}

impl WatchedSource {
    /// Nothing is read yet.
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            read: Vec::new(),
        }
    }

    /// The text of the model file, or the sentence why there is none.
    pub fn read(&mut self) -> Result<String, String> {
        let bytes = std::fs::read(&self.path);
        self.read = vec![(self.path.clone(), bytes.as_ref().ok().cloned())];
        let cannot = |reason: &dyn std::fmt::Display| {
            format!("cannot read \"{}\": {reason}", self.path.display())
        };
        let bytes = bytes.map_err(|error| cannot(&error))?;
        let text = String::from_utf8(bytes).map_err(|_| cannot(&"it is not UTF-8 text"))?;
        let folder = self.path.parent().unwrap_or(Path::new(""));
        for file in named_files(&text, folder) {
            let bytes = std::fs::read(&file).ok();
            self.read.push((file, bytes));
        }
        Ok(text)
    }

    /// Is a file different from what was read?
    pub fn is_changed(&self) -> bool {
        (self.read.iter()).any(|(path, bytes)| std::fs::read(path).ok() != *bytes)
    }

    /// Waits until a file is saved. An editor may write in several parts: they are waited for.
    pub fn wait(&self) {
        while !self.is_changed() {
            std::thread::sleep(GLANCE);
        }
        let contents = || -> Vec<_> {
            self.read
                .iter()
                .map(|(p, _)| std::fs::read(p).ok())
                .collect()
        };
        let mut before = contents();
        // An editor that replaces the file leaves none for a moment; one that is really gone is told.
        for _ in 0..10 {
            std::thread::sleep(GLANCE / 3);
            let now = contents();
            if now == before && now[0].is_some() {
                return;
            }
            before = now;
        }
    }
}

/// Files whose names stand in quotes in a text.
fn named_files(text: &str, folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for line in text.lines() {
        for name in line.split(['"', '\'']).skip(1).step_by(2) {
            let file = folder.join(name);
            if name.contains('.') && file.is_file() && !found.contains(&file) {
                found.push(file);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_and_those_it_names_are_followed() {
        let folder = std::env::temp_dir().join(format!("biela_watched_{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (model, matrix) = (folder.join("m.toml"), folder.join("k.mtx"));
        std::fs::write(&matrix, "1").unwrap();
        std::fs::write(&model, "name = \"x\"\nstiffness = \"k.mtx\"\n").unwrap();
        let mut source = WatchedSource::new(&model);
        assert!(source.read().unwrap().contains("stiffness"));
        assert!(!source.is_changed());
        std::fs::write(&matrix, "2").unwrap();
        assert!(source.is_changed());
        source.read().unwrap();
        assert!(!source.is_changed());
        std::fs::remove_file(&model).unwrap();
        assert!(source.is_changed());
        assert!(source.read().unwrap_err().contains("m.toml"));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
