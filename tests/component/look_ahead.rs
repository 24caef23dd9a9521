//! Steps beyond communication points: a host that changes nothing does not pay for asking often, and cannot tell.

use std::path::Path;

use crate::common::{Random, all_models};
use biela::component::{Instance, Observer, StepProbe};
use biela::model::Model;
use biela::{Result, SavedState};

/// Communication steps of the tests over the time of a model.
const PARTS: usize = 400;

fn model(name: &str) -> Model {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("models")
        .join(name);
    Model::from_file(&path).unwrap()
}

/// An instance that runs, and the references of its outputs.
fn started(model: &Model) -> (Instance, Vec<u32>) {
    let mut instance = Instance::from_model(model.clone()).unwrap();
    instance.initialize(0.0, stop(model), 0.0).unwrap();
    let outputs = (model.outputs.iter())
        .filter(|output| !output.name.starts_with("solver"))
        .map(|output| instance.find(&output.name).unwrap())
        .collect();
    (instance, outputs)
}

fn stop(model: &Model) -> f64 {
    model.experiment.stop.min(1.0)
}

fn read(instance: &mut Instance, references: &[u32]) -> Vec<f64> {
    let mut values = vec![0.0; references.len()];
    instance.get_real(references, &mut values).unwrap();
    values
}

/// Reads outputs at given times by interpolation.
struct Rows<'a> {
    times: &'a [f64],
    references: &'a [u32],
    rows: Vec<Vec<f64>>,
}

impl Observer for Rows<'_> {
    fn accepted(&mut self, probe: &mut StepProbe) -> Result<()> {
        while let Some(&t) = self.times.get(self.rows.len())
            && t <= probe.end()
        {
            let mut values = vec![0.0; self.references.len()];
            probe.values(t, self.references, &mut values)?;
            self.rows.push(values);
        }
        Ok(())
    }
}

/// Times of the communication points: every double is that of the host's sum.
fn times(model: &Model, parts: usize) -> Vec<f64> {
    let h = stop(model) / parts as f64;
    (1..=parts).map(|k| k as f64 * h).collect()
}

fn step_to(instance: &mut Instance, t: f64) -> Result<()> {
    instance.step(instance.time(), t - instance.time())
}

#[test]
fn values_at_communication_points_are_the_rows_of_a_free_run() {
    // All of their steps are corrected.
    for name in [
        "slider_crank.toml",
        "double_pendulum.toml",
        "gyroscope.toml",
    ] {
        let model = model(name);
        let times = times(&model, PARTS);
        // Both land on the first communication point: from there on nothing has changed.
        let (mut free, references) = started(&model);
        step_to(&mut free, times[0]).unwrap();
        let mut rows = Rows {
            times: &times[1..],
            references: &references,
            rows: Vec::new(),
        };
        let (t, end) = (free.time(), stop(&model));
        free.step_observed(t, end - t, &mut rows).unwrap();

        let (mut often, _) = started(&model);
        step_to(&mut often, times[0]).unwrap();
        for (t, row) in times[1..].iter().zip(&rows.rows) {
            step_to(&mut often, *t).unwrap();
            let found = read(&mut often, &references);
            for (found, row) in found.iter().zip(row) {
                // Work since the start of the step is added up from other points where the balance of a step is open.
                let close = 1e-12 * (1.0 + row.abs());
                assert!((found - row).abs() <= close, "{name} {t}: {found} {row}");
            }
        }
        let [free, often] = [&free, &often].map(|x| x.statistics().steps);
        assert_eq!(free, often, "{name}: steps");
    }
}

#[test]
fn events_are_met_as_if_the_solver_had_stopped_at_every_point() {
    for model in all_models() {
        let mut landing = model.clone();
        landing.solver.look_ahead = false;
        let (mut ahead, references) = started(&model);
        let (mut landed, _) = started(&landing);
        let scale = 1e3 * model.solver.tolerance;
        for t in times(&model, PARTS) {
            step_to(&mut ahead, t).unwrap();
            step_to(&mut landed, t).unwrap();
            assert_eq!(ahead.time(), t);
        }
        let found = read(&mut ahead, &references);
        let expected = read(&mut landed, &references);
        let sizes = expected.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
        for ((found, expected), output) in found.iter().zip(&expected).zip(&model.outputs) {
            // Both are within some tolerances of the motion; forces of stiff contacts are that much more sensitive.
            let difference = (found - expected).abs();
            assert!(
                difference <= scale * sizes.max(1.0),
                "{} {}: {found} {expected}",
                model.name,
                output.name
            );
        }
        let events = [&ahead, &landed].map(|x| x.statistics().events);
        assert_eq!(events[0], events[1], "{}: events", model.name);
    }
}

#[test]
fn a_change_restarts_the_motion_at_the_communication_point() {
    let model = model("slider_crank.toml");
    let mut landing = model.clone();
    landing.solver.look_ahead = false;
    let (mut ahead, references) = started(&model);
    let (mut landed, _) = started(&landing);
    let tau = ahead.find("tau").unwrap();
    // Some twenty communication points in a step of the solver.
    for (k, t) in times(&model, 10_000).into_iter().enumerate() {
        // Changed now and then; set to what it is in between, which is no change.
        let torque = 0.5 + 0.1 * (k / 977) as f64;
        for instance in [&mut ahead, &mut landed] {
            instance.set_real(&[tau], &[torque]).unwrap();
            step_to(instance, t).unwrap();
        }
        let found = read(&mut ahead, &references);
        for (found, expected) in found.iter().zip(read(&mut landed, &references)) {
            // The errors of both runs: some tolerances, of values up to a few hundred.
            let close = 1e-4 * (1.0 + expected.abs());
            assert!((found - expected).abs() <= close, "{t}: {found} {expected}");
        }
    }
    let [ahead, landed] = [&ahead, &landed].map(|x| x.statistics().steps);
    assert!(
        2 * ahead < landed + 600,
        "{ahead} steps, {landed} with landings"
    );
}

#[test]
fn reading_saving_and_restoring_do_not_change_the_bits() {
    for model in all_models() {
        let mut random = Random(7);
        let (mut quiet, references) = started(&model);
        let (mut asked, _) = started(&model);
        let (mut other, _) = started(&model);
        let mut slot: SavedState = asked.save().unwrap();
        for t in times(&model, 60) {
            step_to(&mut quiet, t).unwrap();
            if random.below(3) == 0 {
                // The run goes on in another instance, which knows the state as bytes.
                asked.save_into(&mut slot).unwrap();
                let read = other.deserialize(&slot.to_bytes()).unwrap();
                other.restore(&read).unwrap();
                std::mem::swap(&mut asked, &mut other);
            }
            if random.below(2) == 0 {
                read(&mut asked, &references);
            }
            step_to(&mut asked, t).unwrap();
            assert_eq!(
                read(&mut quiet, &references).map_bits(),
                read(&mut asked, &references).map_bits(),
                "{} at {t}",
                model.name
            );
        }
    }
}

/// Numbers as their bits.
trait MapBits {
    fn map_bits(&self) -> Vec<u64>;
}

impl MapBits for Vec<f64> {
    fn map_bits(&self) -> Vec<u64> {
        self.iter().map(|x| x.to_bits()).collect()
    }
}

#[test]
fn a_wheel_that_spins_freely_is_where_its_rate_says_inside_and_after_long_steps() {
    // No error limits the steps: without a limit of their own they would be many turns long.
    for formulation in ["absolute", "relative", "hybrid", "global", "topological"] {
        let text = format!(
            "format = 1\ndimension = 3\n[solver]\nformulation = \"{formulation}\"\n[experiment]\nstop = 50\n\
             [[body]]\nname = \"w\"\nmass = 1\ninertia = [0.1, 0.1, 0.2]\nposition = [0, 0, 0]\nangular_velocity = [0, 0, 5]\n\
             [[joint]]\nname = \"j\"\ntype = \"revolute\"\nbodies = [\"ground\", \"w\"]\npoint = [0, 0, 0]\naxis = [0, 0, 1]\n\
             [[output]]\nname = \"angle\"\nsource = \"j.position\"\n"
        );
        let model = Model::from_text(&text, "wheel").unwrap();
        let mut wheel = Instance::from_model(model).unwrap();
        let angle = wheel.find("angle").unwrap();
        wheel.initialize(0.0, 50.0, 0.0).unwrap();
        let times: Vec<f64> = (1..=49).map(f64::from).collect();
        let mut rows = Rows {
            times: &times,
            references: &[angle],
            rows: Vec::new(),
        };
        wheel.step_observed(0.0, 50.0, &mut rows).unwrap();
        for (t, row) in times.iter().zip(&rows.rows) {
            // Ten tolerances; a turn that is lost is 6.28.
            assert!(
                (row[0] - 5.0 * t).abs() < 1e-5,
                "{formulation} {t}: {}",
                row[0]
            );
        }
    }
}
