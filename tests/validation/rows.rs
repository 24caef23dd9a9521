//! A row at t is what a communication point at t would have shown: its modes, its laws, its multipliers, its energies.
//!
//! Rows inside a step are interpolated. For each step that is looked at, a second instance starts where the step started and
//! communicates at the time of the row; all quantities of the mechanism have to agree.

use std::collections::BTreeMap;
use std::path::Path;

use biela::model::Expose;
use biela::{Instance, Model, Observer, SavedState, StepProbe, Variability};

use crate::campaign::events::random_mechanism_with_events;
use crate::common::{Random, all_models};

/// Steps that end in an event, and others, that are looked at in a run.
const WITH_EVENT: usize = 12;
const WITHOUT_EVENT: usize = 8;
/// Tolerance of the runs. The rows of a step are as good as the step, so the tighter it is the smaller a defect can be seen.
const TOLERANCE: f64 = 1e-8;
/// Largest difference allowed, over the largest value of the quantity in the run. Both sides have an error of the order of the
/// tolerance in positions; accelerations of stiff elements magnify it by (frequency times time)², 10⁴ and more. A row in wrong
/// modes differs by the size of the quantity itself.
const ALLOWED: f64 = 2e-3;
/// Quantities that are nearly zero all the time are compared with this part of the largest one of the same unit.
const NEARLY_ZERO: f64 = 1e-4;

/// A row and what a communication point shows.
struct Compared {
    time: f64,
    after_event: bool,
    row: Vec<f64>,
    point: Vec<f64>,
}

/// Reads a row in the middle of some steps, and communicates there in a second instance.
struct Comparison {
    twin: Instance,
    before: SavedState,
    references: Vec<u32>,
    random: Random,
    events: u64,
    left: [usize; 2],
    seen: usize,
    all: Vec<Compared>,
}

impl Observer for Comparison {
    fn accepted(&mut self, probe: &mut StepProbe) -> biela::Result<()> {
        let now = probe.instance().statistics().events;
        let event = now > self.events;
        self.events = now;
        self.seen += 1;
        // Steps without an event: now and then, over the whole run.
        let wanted = event || self.seen.is_power_of_two() || self.seen.is_multiple_of(97);
        if wanted && self.left[usize::from(event)] > 0 {
            self.left[usize::from(event)] -= 1;
            let (start, end) = (probe.start(), probe.end());
            let time = start + (end - start) * self.random.between(0.05, 0.95);
            let mut row = vec![0.0; self.references.len()];
            probe.values(time, &self.references, &mut row)?;
            self.twin.restore(&self.before)?;
            self.twin.step(start, time - start)?;
            // The same time, except for its last bit.
            let mut point = vec![0.0; self.references.len()];
            self.twin.get_real(&self.references, &mut point)?;
            self.all.push(Compared {
                time,
                after_event: event,
                row,
                point,
            });
        }
        self.before = probe.instance().save()?;
        Ok(())
    }
}

/// Runs a model and compares; nothing if it does not start. What stops on the way is compared up to there.
fn compare(mut model: Model, seed: u64) -> Option<Comparison> {
    model.expose = Expose::All;
    let experiment = model.experiment;
    let mut instances = [0; 2].map(|_| Instance::from_model(model.clone()));
    for instance in &mut instances {
        let started = match instance {
            Ok(instance) => instance.initialize(experiment.start, experiment.stop, TOLERANCE),
            Err(_) => return None,
        };
        started.ok()?;
    }
    let [Ok(mut instance), Ok(twin)] = instances else {
        return None;
    };
    let references: Vec<u32> = (0..)
        .zip(instance.variables())
        .filter(|(_, variable)| variable.variability == Variability::Continuous)
        .filter(|(_, variable)| !variable.name.starts_with("solver."))
        .map(|(reference, _)| reference)
        .collect();
    let mut comparison = Comparison {
        twin,
        before: instance.save().unwrap(),
        references,
        random: Random(seed),
        events: instance.statistics().events,
        left: [WITHOUT_EVENT, WITH_EVENT],
        seen: 0,
        all: Vec::new(),
    };
    let _ = instance.step_observed(
        experiment.start,
        experiment.stop - experiment.start,
        &mut comparison,
    );
    Some(comparison)
}

/// A unit with radians as metres: where nothing turns, the noise of an angle is that of a displacement on a lever of 1 m.
fn as_lengths(unit: &str) -> String {
    unit.replace("rad", "m")
}

/// The largest difference over the size of the quantity, and a sentence on it.
fn worst(comparison: &Comparison) -> (f64, String) {
    let variables: Vec<_> = (comparison.references.iter())
        .map(|&r| &comparison.twin.variables()[r as usize])
        .collect();
    let mut sizes = vec![0f64; variables.len()];
    let mut by_unit: BTreeMap<String, f64> = BTreeMap::new();
    for (k, variable) in variables.iter().enumerate() {
        for compared in &comparison.all {
            sizes[k] = sizes[k].max(compared.row[k].abs().min(compared.point[k].abs()));
        }
        let unit = by_unit.entry(as_lengths(&variable.unit)).or_default();
        *unit = unit.max(sizes[k]);
    }
    let mut worst = (0.0, String::new());
    for compared in &comparison.all {
        for (k, variable) in variables.iter().enumerate() {
            let (row, point) = (compared.row[k], compared.point[k]);
            let size = sizes[k].max(NEARLY_ZERO * by_unit[&as_lengths(&variable.unit)]) + TOLERANCE;
            let difference = (row - point).abs() / size;
            if !(difference <= worst.0) {
                let text = format!(
                    "{} at t = {}: row {row}, communication point {point}{}",
                    variable.name,
                    compared.time,
                    if compared.after_event {
                        ", in a step that ends in an event"
                    } else {
                        ""
                    }
                );
                worst = (difference, text);
            }
        }
    }
    worst
}

#[test]
fn rows_of_every_shipped_model_are_those_of_communication_points() {
    let mut events = 0;
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/mechanisms");
    let once_wrong = [
        "rows_before_a_jump_of_force.toml",
        "rows_of_a_quarter_car.toml",
    ]
    .map(|file| Model::from_file(&data.join(file)).unwrap_or_else(|e| panic!("{e}")));
    for (seed, model) in (1..).zip(all_models().into_iter().chain(once_wrong)) {
        let name = model.name.clone();
        let compared = compare(model, seed).unwrap_or_else(|| panic!("{name} does not start"));
        events += compared.all.iter().filter(|c| c.after_event).count();
        let (difference, text) = worst(&compared);
        println!(
            "{name}: {} rows, {difference:.1e}, {text}",
            compared.all.len()
        );
        assert!(compared.all.len() > 3, "{name}: too few rows");
        assert!(difference <= ALLOWED, "{name}: {difference:.1e}: {text}");
    }
    assert!(events > 40, "{events} rows in steps that end in an event");
}

#[test]
fn rows_of_random_mechanisms_with_events_are_those_of_communication_points() {
    let full = std::env::var("BIELA_TEST_FULL").is_ok_and(|x| x == "1");
    let (mut compared_models, mut events, mut seed) = (0, 0, 0);
    while compared_models < if full { 1000 } else { 100 } {
        seed += 1;
        let model = random_mechanism_with_events(seed);
        let model = Model::from_text(&model.to_string(), "random")
            .unwrap_or_else(|e| panic!("{seed}: {e}"));
        let Some(compared) = compare(model, seed) else {
            continue;
        };
        let with_event = compared.all.iter().filter(|c| c.after_event).count();
        if with_event == 0 {
            continue;
        }
        compared_models += 1;
        events += with_event;
        let (difference, text) = worst(&compared);
        if difference > 0.1 * ALLOWED {
            println!("seed {seed}: {difference:.1e}, {text}");
        }
        assert!(
            difference <= ALLOWED,
            "seed {seed}: {difference:.1e}: {text}"
        );
    }
    println!("{events} rows in steps that end in an event, {seed} seeds");
}
