//! `biela check`: describes a model, its initial conditions and its warnings, without simulating it. Long lists are shortened
//! unless `--all` is given.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;

use biela::formulation::resolved_formulation;
use biela::formulation::selection::by_topology;
use biela::model::{
    BodyRef, ForceApplication, FormulationName, JointCoordinate, LinearSystemMatrices, MotionLaw,
    PrescribedCoordinate, SolverSettings,
};
use biela::report::mesh_warnings;
use biela::{Causality, Instance, Model, StartReport, Variable};

use crate::Failure;
use crate::contradiction::contradicting_motions;
use crate::csv::{Number, rounded};
use crate::element_positions::ElementPositions;
use crate::model_file;
use crate::moved_bodies::moved_bodies;
use crate::output;

/// Largest closure error, relative to the mechanism, of an initial pose that counts as consistent.
const CLOSED: f64 = 1e-9;

/// Digits of numbers, which people wrote.
const DIGITS: usize = 7;

/// Number of items of a list that are shown without `--all`.
pub const SHOWN: usize = 30;

/// Checks a model. `all`: lists are not shortened.
pub fn check(path: &Path, all: bool) -> Result<(), Failure> {
    let model = model_file::read(path)?;
    let experiment = model.experiment;
    let most = if all { usize::MAX } else { SHOWN };
    let mut text = String::new();
    describe(&model, most, &mut text);
    let positions = ElementPositions::of(&model);
    let mut instance = Instance::from_model(model).map_err(Failure::input)?;
    let started = instance.initialize(experiment.start, experiment.stop, 0.0);
    if let Err(error) = started {
        // The description may explain the error.
        output::print(&text)?;
        return Err(Failure::input(positions.locate(error)));
    }
    let report = instance
        .start_report()
        .expect("an initialised instance has a start report");
    let freedom = Freedom::of(&instance, report);
    start(&freedom, report, most, &mut text);
    if report.moved > CLOSED {
        moved_bodies(instance.model(), most, &mut text);
    }
    if let Some(error) = contradicting_motions(instance.model(), report) {
        output::print(&text)?;
        return Err(Failure::input(error));
    }
    settings(instance.model(), &mut text);
    if instance.model().solver.formulation == FormulationName::Topological {
        let names = instance.coordinate_names();
        let words = match &names[..] {
            [] => "none: the loops leave nothing free".to_owned(),
            _ => counted(&names, most),
        };
        line(&mut text, "independent", &words);
    }
    variables(instance.variables(), most, &mut text);
    let warnings = warnings(instance.model(), &freedom, report, most);
    items(&warnings, most, &mut text, |text, warning| {
        line(text, "warning", warning)
    });
    if warnings.is_empty() {
        line(&mut text, "warnings", "none");
    }
    output::print(&text)
}

/// Shows at most `most` items and the number of the others.
pub fn items<T>(all: &[T], most: usize, text: &mut String, show: impl Fn(&mut String, &T)) {
    for one in all.iter().take(most) {
        show(text, one);
    }
    if all.len() > most {
        let rest = format!("and {} more (--all shows them)", all.len() - most);
        item(text, "..", &rest);
    }
}

fn describe(model: &Model, most: usize, text: &mut String) {
    if let Some(system) = &model.system {
        return describe_system(&model.name, system, text);
    }
    writeln!(text, "{} ({} dimensions)", model.name, model.dimension).expect(FITS);
    text.push_str(&model.notes.lines());
    line(text, "bodies", &model.bodies.len().to_string());
    items(&model.bodies, most, text, |text, body| {
        let inertia = match (model.dimension, &body.inertia) {
            (2, inertia) => rounded(inertia[2], DIGITS),
            (_, [diagonal @ .., 0.0, 0.0, 0.0]) => list(diagonal),
            (_, inertia) => list(inertia),
        };
        let words = match body.prescribed {
            true => "prescribed".to_owned(),
            false => format!(
                "mass {} kg, inertia {inertia} kg.m2",
                rounded(body.mass, DIGITS)
            ),
        };
        element(model, text, &body.name, &words);
    });
    let total = (model.bodies.iter()).fold(0.0, |total, body| total + body.mass);
    line(
        text,
        "total mass",
        &format!("{} kg", rounded(total, DIGITS)),
    );
    line(text, "joints", &model.joints.len().to_string());
    items(&model.joints, most, text, |text, joint| {
        let words = match &joint.coupling {
            Some(coupling) => {
                let [from, to] = coupling.coordinates.map(|c| coordinate(model, c));
                let more = (coupling.summands.iter())
                    .map(|(c, _)| format!(", {}", coordinate(model, *c)))
                    .collect::<String>();
                format!("coupling, {from}{more} to {to}")
            }
            None => format!(
                "{}, {} to {}",
                joint.kind.name(),
                name(model, joint.bodies[0]),
                name(model, joint.bodies[1])
            ),
        };
        element(model, text, &joint.name, &words);
    });
    if !model.motions.is_empty() {
        line(text, "motions", &model.motions.len().to_string());
        items(&model.motions, most, text, |text, motion| {
            let law = match motion.law {
                MotionLaw::ConstantSpeed { .. } => "constant speed",
                MotionLaw::Polynomial(_) => "polynomial",
                MotionLaw::Harmonic { .. } => "harmonic",
                MotionLaw::Table { .. } => "table",
                MotionLaw::Input { .. } => "input",
            };
            let prescribed = match motion.on {
                PrescribedCoordinate::Joint(on) => coordinate(model, on),
                PrescribedCoordinate::Body(body, _) => format!("body {}", model.bodies[body].name),
            };
            let words = format!("{law}, of {prescribed}");
            element(model, text, &motion.name, &words);
        });
    }
    line(text, "forces", &model.forces.len().to_string());
    items(&model.forces, most, text, |text, force| {
        let application = match (&force.on, force.on.bodies()) {
            (ForceApplication::Joint(of), _) => format!("in {}", coordinate(model, *of)),
            (ForceApplication::Point { body, .. }, _) => format!("on {}", name(model, *body)),
            (_, Some([a, b])) => format!("{} to {}", name(model, a), name(model, b)),
            (_, None) => String::new(),
        };
        let words = format!("{}, {application}", model.force_type(force).name());
        element(model, text, &force.name, &words);
    });
    let gravity = list(&model.gravity[..model.dimension]);
    line(text, "gravity", &format!("{gravity} m/s2"));
}

/// An element of the model, with its description if it has one.
fn element(model: &Model, text: &mut String, name: &str, words: &str) {
    match model.notes.elements.get(name) {
        Some(description) => item(text, name, &format!("{words}; {}", description.trim())),
        None => item(text, name, words),
    }
}

/// Name of a joint coordinate.
fn coordinate(model: &Model, c: JointCoordinate) -> String {
    let joint = &model.joints[c.joint];
    match joint.kind.coordinates(model.dimension) {
        1 => joint.name.clone(),
        _ => format!("{}.position{}", joint.name, c.index + 1),
    }
}

/// Degrees of freedom of a mechanism.
pub struct Freedom {
    /// Coordinates less independent constraints.
    pub true_count: usize,
    /// Coordinates less all constraints; negative if there are more constraints than coordinates.
    counted: i64,
    /// Number of active constraints of contacts and joint limits.
    closed: usize,
}

impl Freedom {
    /// Of an initialised instance.
    pub fn of(instance: &Instance, report: &StartReport) -> Self {
        let coordinates = instance.state().v.len();
        let (constraints, closed) = instance.active_constraint_counts();
        Self {
            true_count: coordinates.saturating_sub(report.rank),
            counted: coordinates as i64 - constraints as i64,
            closed,
        }
    }
}

fn describe_system(name: &str, system: &LinearSystemMatrices, text: &mut String) {
    let n = system.coordinates();
    writeln!(text, "{name} (given by its matrices)").expect(FITS);
    line(text, "coordinates", &n.to_string());
    for (name, matrix) in [
        ("mass", &system.mass),
        ("damping", &system.damping),
        ("stiffness", &system.stiffness),
        ("constraint", &system.constraint),
    ] {
        let words = match matrix.entries() {
            0 => "none".to_owned(),
            entries => format!(
                "{} x {}, {entries} entries",
                matrix.rows(),
                matrix.columns()
            ),
        };
        line(text, name, &words);
    }
    let loaded = system.force.iter().filter(|f| **f != 0.0).count();
    line(text, "force", &format!("{loaded} of {n} not zero"));
}

fn start(freedom: &Freedom, report: &StartReport, most: usize, text: &mut String) {
    let mut words = match freedom.true_count {
        1 => "1 degree of freedom".to_owned(),
        many => format!("{many} degrees of freedom"),
    };
    let dependent = freedom.true_count as i64 - freedom.counted;
    if dependent != 0 {
        write!(
            words,
            " (counted {}: coordinates less constraints, {dependent} of which are redundant)",
            freedom.counted
        )
        .expect(FITS);
    }
    match freedom.closed {
        0 => {}
        1 => words += "; a contact or joint limit is closed at the start",
        many => write!(
            words,
            "; {many} contacts or joint limits are closed at the start"
        )
        .expect(FITS),
    }
    line(text, "freedom", &words);
    let redundant = if report.redundant.is_empty() {
        "none".to_owned()
    } else if dependent == 0 {
        // Constraints that the coordinates eliminate are not counted.
        counted(&report.redundant, most)
    } else {
        format!("{dependent}: {}", counted(&report.redundant, most))
    };
    line(text, "redundant", &redundant);
    let pose = if report.closure_before <= CLOSED {
        format!(
            "consistent as written (loops closed to {} of the mechanism's size)",
            rounded(report.closure_before, 2)
        )
    } else {
        format!(
            "assembled: loops were open by {:.1e} of the mechanism's size, bodies moved by {:.1e}",
            report.closure_before, report.moved
        )
    };
    line(text, "start pose", &pose);
    let rates = if report.velocity_changed <= CLOSED {
        "consistent as written".to_owned()
    } else {
        format!(
            "made consistent: changed by {:.1e} of the mechanism's size per second",
            report.velocity_changed
        )
    };
    line(text, "start rates", &rates);
}

fn settings(model: &Model, text: &mut String) {
    let solver: &SolverSettings = &model.solver;
    let words = match resolved_formulation(model) {
        _ if model.system.is_some() => "the coordinates of the matrices, multipliers",
        FormulationName::Auto | FormulationName::Absolute => "absolute coordinates, multipliers",
        FormulationName::Global => "natural coordinates, augmented Lagrangian",
        FormulationName::Topological => {
            "independent ones of the relative coordinates, loops eliminated"
        }
        FormulationName::Hybrid => "relative coordinates, augmented Lagrangian",
        FormulationName::Relative => "relative coordinates, multipliers",
    };
    let mut formulation = words.to_owned();
    if solver.formulation == FormulationName::Auto && model.system.is_none() {
        formulation += &format!(" (chosen by auto: {})", by_topology(model).why);
    }
    line(text, "formulation", &formulation);
    let integrator = format!("{:?}", solver.integrator).to_lowercase();
    let corrector = format!("{:?}", solver.corrector).to_lowercase();
    let step = match solver.step {
        Some(step) => format!("fixed step {} s", Number(step)),
        None => format!("variable step, tolerance {}", Number(solver.tolerance)),
    };
    line(
        text,
        "solver",
        &format!(
            "{integrator}, alpha {}, {step}, corrector {corrector}",
            Number(solver.alpha)
        ),
    );
    let e = &model.experiment;
    let rows = match e.interval {
        Some(interval) => format!("a row every {} s", Number(interval)),
        None => "a row for each step".to_owned(),
    };
    line(
        text,
        "experiment",
        &format!("{} s to {} s, {rows}", Number(e.start), Number(e.stop)),
    );
}

fn variables(variables: &[Variable], most: usize, text: &mut String) {
    for (head, causality) in [
        ("inputs", Causality::Input),
        ("outputs", Causality::Output),
        ("parameters", Causality::Parameter),
    ] {
        let chosen: Vec<&Variable> = variables
            .iter()
            .filter(|v| v.causality == causality)
            .collect();
        line(text, head, &chosen.len().to_string());
        items(&chosen, most, text, |text, variable| {
            let words = match variable.start {
                Some(value) => format!("{} {}", rounded(value, DIGITS), variable.unit),
                None => variable.unit.clone(),
            };
            let said = Some(&variable.description).filter(|words| **words != variable.source);
            let said = said.map_or(String::new(), |words| format!("  {words}"));
            let words = format!("{words}{}{said}", bounds(variable));
            item(text, &variable.name, words.trim_end());
        });
    }
}

/// Smallest, largest and typical value, as far as they are known.
fn bounds(variable: &Variable) -> String {
    let number = |x: f64| rounded(x, DIGITS);
    let range = match (variable.min, variable.max) {
        (Some(min), Some(max)) => format!(", {} .. {}", number(min), number(max)),
        (Some(min), None) => format!(", >= {}", number(min)),
        (None, Some(max)) => format!(", <= {}", number(max)),
        (None, None) => String::new(),
    };
    let nominal = variable
        .nominal
        .map_or(String::new(), |x| format!(", about {}", number(x)));
    range + &nominal
}

/// Legal, but probably not intended: in the text and at the start.
pub fn warnings(
    model: &Model,
    freedom: &Freedom,
    report: &StartReport,
    most: usize,
) -> Vec<String> {
    let mut warnings = model.warnings();
    warnings.extend(mesh_warnings(model));
    let constraints = model.joints.len()
        + model
            .system
            .as_ref()
            .map_or(0, LinearSystemMatrices::constraints);
    if constraints > 0 && freedom.true_count == 0 && model.motions.is_empty() {
        warnings.push("nothing can move: there are no degrees of freedom".to_owned());
    }
    if let Some(words) = fully_constrained(model, report, most) {
        warnings.push(words);
    }
    if !report.redundant.is_empty() {
        warnings.push(format!(
            "constraints of {} are redundant; the reactions in these joints are not unique",
            counted(&report.redundant, most)
        ));
    }
    if report.closure_before > CLOSED {
        warnings.push(format!(
            "the initial pose is open by {:.1e} of the mechanism's size and has been assembled",
            report.closure_before
        ));
    }
    warnings
}

/// A warning for bodies that are fully constrained by redundant joints: such a loop was probably meant to move.
fn fully_constrained(model: &Model, report: &StartReport, most: usize) -> Option<String> {
    let immovable =
        |body: &BodyRef| body.is_some_and(|b| report.immovable.contains(&model.bodies[b].name));
    let joints = model.joints.iter().filter(|joint| {
        joint.bodies.iter().any(immovable)
            && joint.bodies.iter().all(|b| b.is_none() || immovable(b))
    });
    let joints: Vec<String> = joints.map(|joint| joint.name.clone()).collect();
    if !(joints.iter()).any(|name| report.redundant.contains(name)) {
        return None;
    }
    let they_are = match report.immovable.len() {
        1 => "it is",
        _ => "they are",
    };
    Some(format!(
        "{} cannot move: {they_are} fully constrained by redundant joints: {}",
        counted(&report.immovable, most),
        counted(&joints, most)
    ))
}

/// Each name once, with the number of its occurrences.
fn counted(names: &[String], most: usize) -> String {
    let mut times: HashMap<&str, usize> = HashMap::new();
    let mut order: Vec<&str> = Vec::new();
    for name in names {
        let count = times.entry(name).or_insert(0);
        if *count == 0 {
            order.push(name);
        }
        *count += 1;
    }
    let mut words: Vec<String> = (order.iter().take(most))
        .map(|name| match times[name] {
            1 => format!("\"{name}\""),
            many => format!("\"{name}\" ({many} times)"),
        })
        .collect();
    if order.len() > most {
        words.push(format!("and {} more", order.len() - most));
    }
    words.join(", ")
}

fn name(model: &Model, body: BodyRef) -> &str {
    body.map_or("ground", |i| &model.bodies[i].name)
}

fn list(values: &[f64]) -> String {
    let words: Vec<String> = values.iter().map(|&v| rounded(v, DIGITS)).collect();
    format!("[{}]", words.join(", "))
}

const FITS: &str = "a String takes everything";

fn line(text: &mut String, head: &str, words: &str) {
    writeln!(text, "  {head:<12}  {words}").expect(FITS);
}

pub fn item(text: &mut String, head: &str, words: &str) {
    writeln!(text, "                {head:<16}  {words}").expect(FITS);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_names_are_counted() {
        let names = ["a", "b", "a"].map(str::to_owned);
        assert_eq!(counted(&names, 9), "\"a\" (2 times), \"b\"");
        assert_eq!(counted(&names, 1), "\"a\" (2 times), and 1 more");
    }
}
