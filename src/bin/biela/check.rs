//! `biela check`: says what a model is, how it starts, and what looks odd, without simulating it.

use std::fmt::Write as _;
use std::path::Path;

use biela::component::{Causality, Instance, Variable};
use biela::integrator::StartReport;
use biela::model::{
    BodyRef, ForceKind, ForcePlace, FormulationName, JointKind, Matrices, Model, Solver,
};

use crate::Failure;
use crate::csv::Number;
use crate::output;

/// A start pose that closes better than this (relative to the mechanism) is called consistent as written.
const CLOSED: f64 = 1e-9;

/// Checks.
pub fn check(path: &Path) -> Result<(), Failure> {
    let model = Model::from_file(path).map_err(Failure::input)?;
    let experiment = model.experiment;
    let mut text = String::new();
    describe(&model, &mut text);
    let mut instance = Instance::from_model(model).map_err(Failure::input)?;
    let started = instance.initialize(experiment.start, experiment.stop, 0.0);
    if let Err(error) = started {
        // What is known already may explain the refusal.
        output::print(&text)?;
        return Err(Failure::input(error));
    }
    let report = instance
        .start_report()
        .expect("an initialised instance has a start report");
    start(instance.model(), report, &mut text);
    settings(instance.model(), &mut text);
    variables(instance.variables(), &mut text);
    let warnings = warnings(instance.model(), report);
    for warning in &warnings {
        line(&mut text, "warning", warning);
    }
    if warnings.is_empty() {
        line(&mut text, "warnings", "none");
    }
    output::print(&text)
}

fn describe(model: &Model, text: &mut String) {
    if let Some(system) = &model.system {
        return describe_system(&model.name, system, text);
    }
    writeln!(text, "{} ({} dimensions)", model.name, model.dimension).expect(FITS);
    line(text, "bodies", &model.bodies.len().to_string());
    for body in &model.bodies {
        let inertia = match model.dimension {
            2 => Number(body.inertia[2]).to_string(),
            _ => list(&body.inertia),
        };
        let words = format!("mass {} kg, inertia {inertia} kg.m2", Number(body.mass));
        item(text, &body.name, &words);
    }
    line(text, "joints", &model.joints.len().to_string());
    for joint in &model.joints {
        let kind = match joint.kind {
            JointKind::Revolute => "revolute",
            JointKind::Prismatic => "prismatic",
        };
        let words = format!(
            "{kind}, {} to {}",
            name(model, joint.bodies[0]),
            name(model, joint.bodies[1])
        );
        item(text, &joint.name, &words);
    }
    line(text, "forces", &model.forces.len().to_string());
    for force in &model.forces {
        let kind = match force.kind {
            ForceKind::SpringDamper { .. } => "spring_damper",
            ForceKind::Actuator { .. } => "actuator",
        };
        let place = match &force.on {
            ForcePlace::Points { bodies, .. } => {
                format!("{} to {}", name(model, bodies[0]), name(model, bodies[1]))
            }
            ForcePlace::Joint(joint) => format!("in joint {}", model.joints[*joint].name),
        };
        item(text, &force.name, &format!("{kind}, {place}"));
    }
    let gravity = list(&model.gravity[..model.dimension]);
    line(text, "gravity", &format!("{gravity} m/s2"));
}

fn describe_system(name: &str, system: &Matrices, text: &mut String) {
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

fn start(model: &Model, report: &StartReport, text: &mut String) {
    let freedom = match degrees_of_freedom(model, report) {
        1 => "1 degree of freedom".to_owned(),
        many => format!("{many} degrees of freedom"),
    };
    line(text, "freedom", &freedom);
    let redundant = if report.redundant.is_empty() {
        "none".to_owned()
    } else {
        format!("{}: {}", report.redundant.len(), counted(&report.redundant))
    };
    line(text, "redundant", &redundant);
    let pose = if report.closure_before <= CLOSED {
        format!(
            "consistent as written (closure {:.1e})",
            report.closure_before
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
    let solver: &Solver = &model.solver;
    let formulation = match solver.formulation {
        _ if model.system.is_some() => "the coordinates of the matrices, multipliers",
        // The only one so far, so auto has nothing to weigh.
        FormulationName::Auto => "absolute coordinates, multipliers (chosen by auto)",
        FormulationName::Absolute => "absolute coordinates, multipliers",
        FormulationName::Global => "natural coordinates, augmented Lagrangian",
        FormulationName::Topological => "relative coordinates, elimination",
        FormulationName::Hybrid => "relative coordinates, augmented Lagrangian",
    };
    line(text, "formulation", formulation);
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

fn variables(variables: &[Variable], text: &mut String) {
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
        for variable in chosen {
            let words = match variable.start {
                Some(value) => format!("{} {}", Number(value), variable.unit),
                None => variable.unit.clone(),
            };
            item(text, &variable.name, words.trim_end());
        }
    }
}

/// What is legal but seldom meant.
fn warnings(model: &Model, report: &StartReport) -> Vec<String> {
    let mut warnings = Vec::new();
    if model.gravity == [0.0; 3] && !model.bodies.is_empty() {
        warnings.push("gravity is zero".to_owned());
    }
    for (i, body) in model.bodies.iter().enumerate() {
        let jointed = model.joints.iter().any(|j| j.bodies.contains(&Some(i)));
        if !jointed {
            warnings.push(format!("body \"{}\" is in no joint", body.name));
        }
        if body.mass == 0.0 {
            warnings.push(format!("body \"{}\" has no mass", body.name));
        }
    }
    let held = model.joints.len() + model.system.as_ref().map_or(0, Matrices::constraints);
    if held > 0 && degrees_of_freedom(model, report) == 0 {
        warnings.push("nothing can move: there are no degrees of freedom".to_owned());
    }
    if !report.redundant.is_empty() {
        warnings.push(format!(
            "constraints of {} follow from the others; the reactions in such joints are one choice of many",
            counted(&report.redundant)
        ));
    }
    if report.closure_before > CLOSED {
        warnings.push(format!(
            "the pose as written is open by {:.1e} of the mechanism's size and has been assembled",
            report.closure_before
        ));
    }
    if model.outputs.is_empty() {
        warnings.push("there are no outputs: a run shows only its counters".to_owned());
    }
    warnings
}

fn degrees_of_freedom(model: &Model, report: &StartReport) -> usize {
    if let Some(system) = &model.system {
        return system.coordinates().saturating_sub(report.rank);
    }
    let (free, fixed) = match model.dimension {
        2 => (3, 2),
        _ => (6, 5),
    };
    let rows = fixed * model.joints.len();
    (free * model.bodies.len() + report.redundant.len()).saturating_sub(rows)
}

/// Each name once, with how often it occurs.
fn counted(names: &[String]) -> String {
    let mut words: Vec<String> = Vec::new();
    for (i, name) in names.iter().enumerate() {
        if !names[..i].contains(name) {
            words.push(match names.iter().filter(|n| *n == name).count() {
                1 => format!("\"{name}\""),
                many => format!("\"{name}\" ({many} times)"),
            });
        }
    }
    words.join(", ")
}

fn name(model: &Model, body: BodyRef) -> &str {
    body.map_or("ground", |i| &model.bodies[i].name)
}

fn list(values: &[f64]) -> String {
    let words: Vec<String> = values.iter().map(|&v| Number(v).to_string()).collect();
    format!("[{}]", words.join(", "))
}

const FITS: &str = "a String takes everything";

fn line(text: &mut String, head: &str, words: &str) {
    writeln!(text, "  {head:<12}  {words}").expect(FITS);
}

fn item(text: &mut String, head: &str, words: &str) {
    writeln!(text, "                {head:<16}  {words}").expect(FITS);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_names_are_told_once() {
        let names = ["a", "b", "a"].map(str::to_owned);
        assert_eq!(counted(&names), "\"a\" (2 times), \"b\"");
    }
}
