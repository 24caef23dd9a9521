//! Makes docs/gallery.md with a picture of every model, and the picture of the report page that opens README.md.
//!
//! ```text
//!   cargo run --release --example gallery
//! ```
//!
//! The picture of the page needs Chromium; without it that picture is left as it is.

#[path = "support/gallery_text.rs"]
mod gallery_text;

use std::path::{Path, PathBuf};
use std::process::Command;

use biela::report::{Measured, Pictures, Recording, Report, curves_png};
use biela::{Instance, Model, Observer, StepProbe};

/// Width and height of a picture (pixels); shown half as wide.
const SIZE: [usize; 2] = [600, 400];
/// Rows of a run.
const ROWS: usize = 600;
/// The model whose page opens the README, the time at which it is shown (s), and width and height of its window.
const PAGE: (&str, f64, [usize; 2]) = ("slider_crank", 1.13, [1360, 860]);

/// Part of the run after which a model is shown: where it says most.
fn moment(name: &str) -> f64 {
    match name {
        "bouncing_linkage" => 0.12,
        "geneva" => 0.06,
        "newton_cradle" => 0.03,
        "iltis" => 0.62,
        "dominoes" => 0.35,
        "quadruped" => 0.12,
        "tumbling_box" | "tumbling_cube" => 0.1,
        "ball_on_stairs" => 0.15,
        "chain" => 0.04,
        "flexible_slider_crank" => 0.965,
        "flying_spaghetti" => 0.33,
        "spin_up" => 0.338,
        _ => 0.3,
    }
}

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pictures = root.join("docs/pictures");
    std::fs::create_dir_all(pictures.join("gallery")).expect("a folder for the pictures");
    for path in gallery_text::models(root) {
        let name = gallery_text::name(&path);
        let run = Run::of(&path);
        let [start, stop] = run.span;
        let picture = match run.instance.model().bodies.is_empty() {
            true => curves_png(&run.recording, SIZE),
            false => Pictures::new(run.instance.model(), &run.recording, SIZE)
                .png(start + moment(&name) * (stop - start)),
        };
        write(&pictures.join(format!("gallery/{name}.png")), &picture);
        if name == PAGE.0 {
            picture_of_page(&run, &pictures.join("page.png"));
        }
    }
    write(
        &root.join("docs/gallery.md"),
        gallery_text::gallery(root).as_bytes(),
    );
}

fn write(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    println!("wrote {}", path.display());
}

/// A model and its run.
struct Run {
    path: PathBuf,
    span: [f64; 2],
    instance: Instance,
    recording: Recording,
}

struct Rows(Recording);

impl Observer for Rows {
    fn accepted(&mut self, probe: &mut StepProbe) -> biela::Result<()> {
        self.0.accepted(probe)
    }
}

impl Run {
    fn of(path: &Path) -> Self {
        let told = |error: biela::Error| -> Recording { panic!("{}: {error}", path.display()) };
        let model = Model::from_file(path).unwrap_or_else(|error| panic!("{error}"));
        let span = [model.experiment.start, model.experiment.stop];
        let outputs = model.outputs.len();
        let mut instance = Instance::from_model(model).unwrap_or_else(|error| panic!("{error}"));
        let times = (0..=ROWS).map(move |i| span[0] + (span[1] - span[0]) * i as f64 / ROWS as f64);
        let mut rows = (instance.initialize(span[0], span[1], 0.0))
            .and_then(|()| Recording::new(&mut instance, outputs, Some(Box::new(times))))
            .unwrap_or_else(told);
        let mut observer = Rows(rows);
        let result = instance.step_observed(span[0], span[1] - span[0], &mut observer);
        rows = observer.0;
        if let Err(error) = result {
            panic!("{}: {error}", path.display());
        }
        Self {
            path: path.to_owned(),
            span,
            instance,
            recording: rows,
        }
    }
}

/// A screenshot of the report page in Chromium.
fn picture_of_page(run: &Run, picture: &Path) {
    let text = std::fs::read_to_string(&run.path).expect("a model can be read");
    let report = Report {
        model: run.instance.model(),
        text: &text,
        file: &run.path.file_name().unwrap_or_default().to_string_lossy(),
        span: run.span,
        formulation: biela::formulation::resolved_formulation(run.instance.model()).name(),
        assignments: &[],
        notes: Vec::new(),
        instance: Some(&run.instance),
        recording: &run.recording,
        failure: None,
    };
    let folder = std::env::temp_dir().join(format!("biela_gallery_{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the browser");
    let page = folder.join("page.html");
    std::fs::write(&page, report.data().page(&Measured::default())).expect("the page is written");
    let (_, t, [width, height]) = PAGE;
    let taken = Command::new("chromium")
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--hide-scrollbars",
        ])
        .args([
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
        ])
        .arg("--virtual-time-budget=4000")
        .arg(format!(
            "--user-data-dir={}",
            folder.join("profile").display()
        ))
        .arg(format!("--window-size={width},{height}"))
        .arg(format!("--screenshot={}", picture.display()))
        .arg(format!("file://{}#t={t}", page.display()))
        .output();
    match taken {
        Ok(output) if output.status.success() => println!("wrote {}", picture.display()),
        Ok(output) => println!(
            "SKIP: no picture of the page: {}",
            String::from_utf8_lossy(&output.stderr)
        ),
        Err(error) => println!("SKIP: no picture of the page, chromium does not start: {error}"),
    }
    let _ = std::fs::remove_dir_all(&folder);
}
