//! Files of results. The ending of a name says what is written; an ending that says nothing is refused.

use std::path::{Path, PathBuf};

use crate::Failure;
use crate::output;

/// The files of a run.
#[derive(Debug, Default, PartialEq)]
pub struct Destinations {
    /// The table.
    pub table: Option<PathBuf>,
    /// The picture.
    pub plot: Option<PathBuf>,
    /// The page.
    pub report: Option<PathBuf>,
    /// The animated mechanism.
    pub gltf: Option<PathBuf>,
    /// The folder of pictures.
    pub frames: Option<PathBuf>,
}

/// A kind of results.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ResultKind {
    Table,
    Picture,
    Page,
    Animation,
}

/// Endings and what they say.
const ENDINGS: [(&str, ResultKind); 7] = [
    ("csv", ResultKind::Table),
    ("txt", ResultKind::Table),
    ("svg", ResultKind::Picture),
    ("png", ResultKind::Picture),
    ("html", ResultKind::Page),
    ("htm", ResultKind::Page),
    ("glb", ResultKind::Animation),
];

impl ResultKind {
    fn words(self) -> &'static str {
        match self {
            Self::Table => ".csv (table)",
            Self::Picture => ".svg or .png (picture)",
            Self::Page => ".html (page)",
            Self::Animation => ".glb (binary glTF)",
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Picture => "picture",
            Self::Page => "page",
            Self::Animation => "animation",
        }
    }
}

impl Destinations {
    /// Sorts the files of `--out` by their endings and adds those of `--plot` and `--report`.
    pub fn new(
        out: &[PathBuf],
        plot: Option<&PathBuf>,
        report: Option<&PathBuf>,
    ) -> Result<Self, Failure> {
        let mut destinations = Self::default();
        for path in out {
            let kind = kind_of("--out", path, None)?;
            destinations.set(kind, path)?;
        }
        let plot = plot.map(|path| ("--plot", path, ResultKind::Picture));
        let report = report.map(|path| ("--report", path, ResultKind::Page));
        for (option, path, kind) in plot.into_iter().chain(report) {
            kind_of(option, path, Some(kind))?;
            destinations.set(kind, path)?;
        }
        destinations.refuse_twice()?;
        Ok(destinations)
    }

    fn set(&mut self, kind: ResultKind, path: &Path) -> Result<(), Failure> {
        let place = match kind {
            ResultKind::Table => &mut self.table,
            ResultKind::Picture => &mut self.plot,
            ResultKind::Page => &mut self.report,
            ResultKind::Animation => &mut self.gltf,
        };
        if let Some(other) = place.replace(path.to_owned()) {
            return Err(Failure::Input(format!(
                "two files for one {}: \"{}\" and \"{}\"",
                kind.noun(),
                other.display(),
                path.display()
            )));
        }
        Ok(())
    }

    /// Adds the file of `--gltf` and the folder of `--frames`.
    pub fn animate(
        &mut self,
        gltf: Option<&PathBuf>,
        frames: Option<&PathBuf>,
    ) -> Result<(), Failure> {
        if let Some(path) = gltf {
            let kind = kind_of("--gltf", path, Some(ResultKind::Animation))?;
            self.set(kind, path)?;
        }
        self.frames = frames.cloned();
        self.refuse_twice()
    }

    /// Whether a result needs more of the run than its outputs.
    pub fn need_recording(&self) -> bool {
        self.report.is_some() || self.gltf.is_some() || self.frames.is_some()
    }

    /// All files.
    pub fn all(&self) -> impl Iterator<Item = &PathBuf> {
        [
            &self.table,
            &self.plot,
            &self.report,
            &self.gltf,
            &self.frames,
        ]
        .into_iter()
        .flatten()
    }

    /// Whether standard output is taken by results.
    pub fn uses_standard_output(&self) -> bool {
        self.all().any(|path| output::is_standard(path))
    }

    /// Refuses a file that has two uses.
    fn refuse_twice(&self) -> Result<(), Failure> {
        let files: Vec<&PathBuf> = self
            .all()
            .filter(|path| !output::is_standard(path))
            .collect();
        for (i, path) in files.iter().enumerate() {
            if files[..i].iter().any(|other| same_file(path, other)) {
                return Err(Failure::Input(format!(
                    "\"{}\" is named twice: each result needs its own file",
                    path.display()
                )));
            }
        }
        Ok(())
    }
}

/// What a file is for. An option of one kind takes only its own endings; standard output and devices have no ending.
fn kind_of(option: &str, path: &Path, expected: Option<ResultKind>) -> Result<ResultKind, Failure> {
    let default = expected.unwrap_or(ResultKind::Table);
    let device = std::fs::metadata(path).is_ok_and(|file| !file.is_file() && !file.is_dir());
    if output::is_standard(path) || device {
        return Ok(default);
    }
    let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    let known = ENDINGS
        .iter()
        .find(|(known, _)| ending.as_deref() == Some(*known));
    match known {
        Some((_, kind)) if expected.is_none_or(|expected| expected == *kind) => Ok(*kind),
        _ => {
            let kinds = [
                ResultKind::Table,
                ResultKind::Picture,
                ResultKind::Page,
                ResultKind::Animation,
            ];
            let words: Vec<&str> = (kinds.into_iter())
                .filter(|kind| expected.is_none_or(|expected| expected == *kind))
                .map(ResultKind::words)
                .collect();
            Err(Failure::Input(format!(
                "{option} {}: the ending says what is written, expected {}",
                path.display(),
                words.join(", ")
            )))
        }
    }
}

/// Whether two paths are the same file, which may not exist yet.
pub fn same_file(a: &Path, b: &Path) -> bool {
    let place = |path: &Path| {
        path.canonicalize().ok().or_else(|| {
            let folder = match path.parent() {
                Some(folder) if !folder.as_os_str().is_empty() => folder,
                _ => Path::new("."),
            };
            Some(folder.canonicalize().ok()?.join(path.file_name()?))
        })
    };
    a == b || matches!((place(a), place(b)), (Some(a), Some(b)) if a == b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(out: &[&str], plot: Option<&str>, report: Option<&str>) -> Result<Destinations, String> {
        let out: Vec<PathBuf> = out.iter().map(PathBuf::from).collect();
        let plot = plot.map(PathBuf::from);
        let report = report.map(PathBuf::from);
        Destinations::new(&out, plot.as_ref(), report.as_ref()).map_err(|failure| match failure {
            Failure::Input(sentence) => sentence,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn the_ending_says_what_is_written() {
        let all = of(&["a.csv", "b.PNG", "c.html", "d.glb"], None, None).unwrap();
        assert_eq!(all.gltf, Some("d.glb".into()));
        assert_eq!(all.table, Some("a.csv".into()));
        assert_eq!(all.plot, Some("b.PNG".into()));
        assert_eq!(all.report, Some("c.html".into()));
        assert_eq!(of(&["-"], None, None).unwrap().table, Some("-".into()));
    }

    #[test]
    fn unknown_endings_second_files_and_the_same_file_are_refused() {
        for (out, plot, report, fragment) in [
            (&["a.xlsx"][..], None, None, "--out a.xlsx: the ending says"),
            (&["results"], None, None, "expected .csv (table), .svg"),
            (
                &[],
                Some("a.pdf"),
                None,
                "--plot a.pdf: the ending says what is written, expected .svg or .png (picture)",
            ),
            (&[], None, Some("a.svg"), "--report a.svg"),
            (
                &["a.csv", "b.csv"],
                None,
                None,
                "two files for one table: \"a.csv\" and \"b.csv\"",
            ),
            (&["b.svg"], Some("a.svg"), None, "two files for one picture"),
        ] {
            let sentence = of(out, plot, report).unwrap_err();
            assert!(sentence.contains(fragment), "{sentence}");
        }
        assert!(same_file(Path::new("./x.csv"), Path::new("x.csv")));
    }
}
