//! A model, and one run of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use biela::fmi::FmiStandard;
use biela::fmi::package::{self, Platform, PlatformLibrary, library};
use biela::import::{BaseMotion, ImportOptions, import};
use biela::model::{Interpolation, SignalLaw, Target};
use biela::study::SetValue;
use biela::{Causality, Instance, Model};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{Raised, exception_in_text, refused};
use crate::run::{self, Conditions};

/// Name, causality, unit, start value, dotted name and description of a variable.
type VariableRow = (String, &'static str, String, Option<f64>, String, String);

/// An immutable model; shared by all instances and threads.
#[pyclass(name = "NativeModel", module = "biela._biela", frozen, subclass)]
pub struct NativeModel {
    model: Arc<Model>,
    /// Its text, for pickling and the report page.
    text: Arc<str>,
    /// Name in messages.
    origin: String,
    /// Folder of the files it names.
    base_dir: Option<PathBuf>,
    /// Whether `origin` is the file that it was read from.
    is_file: bool,
}

/// What was asked of Python: a name and a number or a word.
#[derive(FromPyObject)]
pub enum GivenValue {
    /// A number.
    Number(f64),
    /// A word.
    Word(String),
}

impl GivenValue {
    /// The value for the model.
    pub fn value(self) -> SetValue {
        match self {
            Self::Number(number) => SetValue::Number(number),
            Self::Word(word) => SetValue::parse(&word).unwrap_or(SetValue::Word(word)),
        }
    }
}

/// The law of an input: points, or text.
#[derive(FromPyObject)]
pub enum GivenLaw {
    /// A law as text.
    Text(String),
    /// Points (t, u) and how to go between them.
    Table(Vec<[f64; 2]>, String),
}

/// Values by name.
pub type Assignments = Vec<(String, GivenValue)>;
/// Laws by the name of their input.
pub type InputLaws = Vec<(String, GivenLaw)>;

#[pymethods]
impl NativeModel {
    #[new]
    #[pyo3(signature = (text, origin, base_dir))]
    fn new(
        py: Python<'_>,
        text: Option<String>,
        origin: String,
        base_dir: Option<PathBuf>,
    ) -> PyResult<Self> {
        let is_file = text.is_none();
        let text = text.map_or_else(|| text_of(&origin), Ok).raised()?;
        let folder = match is_file {
            true => Path::new(&origin).parent(),
            false => base_dir.as_deref(),
        };
        let model = py
            .detach(|| Model::from_text_in(&text, &origin, folder))
            .map_err(|error| exception_in_text(&error, &text))?;
        Ok(Self {
            model: Arc::new(model),
            text: text.into(),
            origin,
            base_dir,
            is_file,
        })
    }

    /// The text of the model file.
    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    /// What pickles the model: text, name, folder.
    fn _parts(&self) -> (String, String, Option<String>) {
        let base_dir = self
            .base_dir
            .as_ref()
            .map(|folder| folder.display().to_string());
        (self.text.to_string(), self.origin.clone(), base_dir)
    }

    /// Name of the model.
    #[getter]
    fn name(&self) -> &str {
        &self.model.name
    }

    /// Names of the inputs.
    #[getter]
    fn _inputs(&self) -> Vec<&str> {
        let inputs = self.model.inputs.iter();
        inputs.map(|input| input.name.as_str()).collect()
    }

    /// Start, stop (s) and interval (s) of the model's own experiment.
    #[getter]
    fn _experiment(&self) -> (f64, f64, Option<f64>) {
        let experiment = &self.model.experiment;
        (experiment.start, experiment.stop, experiment.interval)
    }

    /// A row for every variable.
    fn _variables(&self) -> PyResult<Vec<VariableRow>> {
        let instance = Instance::from_model((*self.model).clone()).raised()?;
        let row = |variable: &biela::Variable| {
            let causality = match variable.causality {
                Causality::Input => "input",
                Causality::Output => "output",
                Causality::Parameter => "parameter",
                _ => "local",
            };
            let variable = variable.clone();
            (
                variable.name,
                causality,
                variable.unit,
                variable.start,
                variable.source,
                variable.description,
            )
        };
        Ok(instance.variables().iter().map(row).collect())
    }

    /// Warnings of `biela check`.
    fn _warnings(&self) -> Vec<String> {
        self.model.warnings()
    }

    /// One run.
    #[pyo3(signature = (stop, interval, tolerance, set, inputs))]
    fn _run<'py>(
        &self,
        py: Python<'py>,
        stop: Option<f64>,
        interval: Option<f64>,
        tolerance: Option<f64>,
        set: Assignments,
        inputs: InputLaws,
    ) -> PyResult<Bound<'py, PyDict>> {
        let conditions = Conditions::new([stop, interval, tolerance], &set);
        let model = self.changed(set, inputs)?;
        run::run(py, &model, &conditions)
    }

    /// The report page of the same run.
    #[pyo3(signature = (stop, interval, tolerance, set, inputs))]
    fn _page(
        &self,
        py: Python<'_>,
        stop: Option<f64>,
        interval: Option<f64>,
        tolerance: Option<f64>,
        set: Assignments,
        inputs: InputLaws,
    ) -> PyResult<String> {
        let conditions = Conditions::new([stop, interval, tolerance], &set);
        let model = self.changed(set, inputs)?;
        let file = Path::new(&self.origin).file_name();
        let file = file.map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        py.detach(|| run::page(&model, (&self.text, &file), &conditions))
            .raised()
    }

    /// The model file of a robot in another format, and the elements that were dropped and change the motion.
    #[staticmethod]
    #[pyo3(signature = (path, free, srdf, package_paths, keyframe, start, no_limits, contact))]
    #[allow(clippy::too_many_arguments)] // one call from Python
    fn _import(
        py: Python<'_>,
        path: PathBuf,
        free: Option<bool>,
        srdf: Option<PathBuf>,
        package_paths: Vec<PathBuf>,
        keyframe: Option<String>,
        start: Vec<(String, f64)>,
        no_limits: bool,
        contact: bool,
    ) -> PyResult<(String, Vec<String>)> {
        let base = free.map(|free| {
            if free {
                BaseMotion::Free
            } else {
                BaseMotion::Fixed
            }
        });
        let options = ImportOptions {
            srdf,
            base,
            package_paths,
            keyframe,
            start,
            no_limits,
            contact,
            folder: None,
        };
        let imported = py.detach(|| import(&path, &options)).raised()?;
        let lost = imported.report.lost_dynamics();
        let lost = lost.iter().map(|group| group.what.clone()).collect();
        Ok((imported.text, lost))
    }

    /// The bytes of an FMU.
    #[pyo3(signature = (fmi, library_path))]
    fn _pack<'py>(
        &self,
        py: Python<'py>,
        fmi: u32,
        library_path: Option<PathBuf>,
    ) -> PyResult<(Bound<'py, pyo3::types::PyBytes>, String)> {
        let standard = match fmi {
            2 => FmiStandard::Two,
            3 => FmiStandard::Three,
            other => return Err(refused("fmi", other, "2 or 3")).raised(),
        };
        let (bytes, identifier) = py
            .detach(|| {
                let origin = match (&self.base_dir, self.is_file) {
                    (Some(folder), false) => folder.join(&self.origin),
                    _ => PathBuf::from(&self.origin),
                };
                let contents = package::contents_of(&self.text, &origin, standard)?;
                let path = library::find(library_path.as_deref())?;
                let platform = Platform::host();
                let bytes = library::read_for(&platform, &path)?;
                let archive =
                    package::archive(&contents, standard, &[PlatformLibrary { platform, bytes }])?;
                Ok((archive, contents.identifier))
            })
            .raised()?;
        Ok((pyo3::types::PyBytes::new(py, &bytes), identifier))
    }
}

impl NativeModel {
    /// The model with other numbers, words and laws.
    pub(crate) fn changed(&self, set: Assignments, inputs: InputLaws) -> PyResult<Model> {
        let mut model = (*self.model).clone();
        for (name, value) in set {
            value.value().assign(&mut model, &name).raised()?;
        }
        for (name, law) in inputs {
            match law {
                GivenLaw::Text(text) => model
                    .set_signal_text(&name, &text, self.base_dir.as_deref())
                    .raised()?,
                GivenLaw::Table(points, words) => set_table(&mut model, &name, points, &words)?,
            }
        }
        Ok(model)
    }
}

/// The text of a model file.
fn text_of(path: &str) -> biela::Result<String> {
    let unreadable = |reason: String| biela::Error::File {
        path: path.to_owned(),
        reason,
    };
    let bytes = std::fs::read(path).map_err(|error| unreadable(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| unreadable(error.to_string()))
}

fn set_table(model: &mut Model, name: &str, points: Vec<[f64; 2]>, words: &str) -> PyResult<()> {
    let Some(input) = model.inputs.iter().position(|input| input.name == name) else {
        let names: Vec<&str> = model
            .inputs
            .iter()
            .map(|input| input.name.as_str())
            .collect();
        let nearest = biela::model::suggest::nearest(name, names).map(str::to_owned);
        return Err(biela::Error::UnknownVariable {
            name: name.to_owned(),
            nearest,
        })
        .raised();
    };
    let interpolation = match words {
        "linear" => Interpolation::Linear,
        // The integral of a spline is not known, and a speed or an acceleration needs it.
        "spline" if !matches!(model.inputs[input].target, Target::Motion(_)) => {
            Interpolation::Spline
        }
        _ => Interpolation::Monotone,
    };
    model
        .set_signal(
            input,
            SignalLaw::Table {
                points,
                interpolation,
                periodic: false,
            },
        )
        .raised()
}
