//! `--gltf` and `--frames`: the run as an animation for other programs.

use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};

use biela::Model;
use biela::report::{Pictures, Recording, glb};

use crate::Failure;
use crate::csv::Number;
use crate::destinations::Destinations;
use crate::output::{self, OutputFile};

/// Pictures for each second of the run, as films have them.
const RATE: f64 = 25.0;
/// A short run has this many, so that it can be watched.
const FEWEST: f64 = 50.0;
/// A long run has this many at most.
const MOST: f64 = 2000.0;
/// Width and height (pixels).
const SIZE: [usize; 2] = [960, 720];
/// Names and times of the pictures.
const LIST: &str = "frames.csv";

/// Files that are written at the end of a run.
pub struct AnimationFiles {
    gltf: Option<(PathBuf, OutputFile)>,
    frames: Option<PathBuf>,
}

impl AnimationFiles {
    /// Opens them before the run, so that a wrong path is an error at once. `None` if none is wanted.
    pub fn open(model: &Model, files: &Destinations) -> Result<Option<Self>, Failure> {
        let (gltf, frames) = (files.gltf.as_deref(), files.frames.as_deref());
        if gltf.is_none() && frames.is_none() {
            return Ok(None);
        }
        if model.bodies.is_empty() {
            return Err(Failure::Input(
                "--gltf and --frames show bodies; the model has none".to_owned(),
            ));
        }
        let gltf = gltf
            .map(|path| output::create(path).map(|file| (path.to_owned(), file)))
            .transpose()?;
        if let Some(folder) = frames {
            std::fs::create_dir_all(folder).map_err(|error| {
                Failure::Input(format!("cannot make \"{}\": {error}", folder.display()))
            })?;
        }
        let frames = frames.map(Path::to_owned);
        Ok(Some(Self { gltf, frames }))
    }

    /// Writes them.
    pub fn write(&mut self, model: &Model, recording: &Recording) -> Result<(), Failure> {
        if let Some((path, file)) = &mut self.gltf {
            file.write_all(&glb(model, recording))
                .and_then(|()| file.complete())
                .map_err(|error| output::failure(path, &error))?;
        }
        if let Some(folder) = &self.frames {
            write_frames(folder, model, recording)?;
        }
        Ok(())
    }
}

fn frame(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("frame_{number:05}.png"))
}

fn write_frames(folder: &Path, model: &Model, recording: &Recording) -> Result<(), Failure> {
    let failed = |path: &Path, error: &std::io::Error| output::failure(path, error);
    let pictures = Pictures::new(model, recording, SIZE);
    let (Some(first), Some(last)) = (recording.times.first(), recording.times.last()) else {
        return Ok(());
    };
    let intervals = (RATE * (last - first)).clamp(FEWEST, MOST).round() as usize;
    let list = folder.join(LIST);
    let again = list.exists();
    let mut text = "file,time\n".to_owned();
    for number in 0..=intervals {
        let t = first + (last - first) * number as f64 / intervals as f64;
        let path = frame(folder, number);
        output::write(&path, &pictures.png(t))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        writeln!(text, "{name},{}", Number(t)).expect("a String takes everything");
    }
    // Frames of an earlier, longer run would be taken for the end of this one.
    let mut number = intervals + 1;
    while again && frame(folder, number).exists() {
        let path = frame(folder, number);
        std::fs::remove_file(&path).map_err(|error| failed(&path, &error))?;
        number += 1;
    }
    output::write(&list, text.as_bytes())
}
