//! Initialisation: assembly of the positions (Φ = 0), consistent velocities and accelerations, first step size. The integrator does
//! the work; here arguments are checked and the results stored.

use std::sync::Arc;

use super::Instance;
use super::error_bars::first_tolerance;
use super::input::InputState;
use super::instance_state::InstancePhase;
use super::log::{LogCategory, LogLevel};
use super::look_ahead::LookAhead;
use super::quantity_point::environment;
use crate::error::{Error, Result};
use crate::formulation::{EvaluationContext, FullConstraintSet, Mechanism, MotionPoint};
use crate::integrator::start::assemble;
use crate::integrator::{Environment, Sample, StartReport, State};
use crate::model::quantity::{MotionField, Quantity};
use crate::model::{InitialPosition, JointKind, Model, SolverSettings, Target};

/// Change by the assembly, in the error norm, above which the user is warned: more than rounding to three digits.
const NOTICEABLE_CHANGE: f64 = 1e-3;

impl Instance {
    /// Assembles the mechanism and computes consistent initial values. `start` is any finite time, `stop` is not before it and may be
    /// infinite; `tolerance` <= 0 means that of the model. On failure the instance is unchanged.
    pub fn initialize(&mut self, start: f64, stop: f64, tolerance: f64) -> Result<()> {
        let outcome = self.start(start, stop, tolerance);
        self.log_failure(LogCategory::Start, &outcome);
        outcome?;
        if self.initial_position() == InitialPosition::Equilibrium
            && let Err(error) = self.equilibrium()
        {
            // As before the call.
            self.state.phase = InstancePhase::Created;
            self.state.start_report = None;
            return Err(error);
        }
        self.start_companion(start, stop, self.state.tolerance);
        self.log_start();
        Ok(())
    }

    /// Where to start: as the parameter says, if there is one, or the model.
    fn initial_position(&self) -> InitialPosition {
        let parameters = self
            .model
            .parameters
            .iter()
            .zip(&self.state.pending.parameters);
        let mut chosen = parameters.filter(|(p, _)| p.target == Target::Equilibrium);
        match chosen.next() {
            Some((_, value)) => InitialPosition::from_number(*value),
            None => self.model.experiment.initial,
        }
    }

    /// Logs what assembly and consistent initialisation have changed.
    fn log_start(&mut self) {
        let Some(report) = self.state.start_report.clone() else {
            return;
        };
        if !self.is_logged(LogLevel::Warning, LogCategory::Start) {
            return;
        }
        let StartReport {
            closure_before,
            moved,
            velocity_changed,
            ref redundant,
            ref immovable,
            ..
        } = *report;
        let first = self.state.motion.next_h;
        self.log(
            LogLevel::Info,
            LogCategory::Start,
            format_args!(
                "started: closure as written {closure_before:.1e}, assembly moved {moved:.1e} and changed velocities by \
                 {velocity_changed:.1e} 1/s (error norm); first substep {first:.3e} s"
            ),
        );
        // Initial positions that are off by more than their digits are probably a mistake.
        if moved > NOTICEABLE_CHANGE || velocity_changed > NOTICEABLE_CHANGE {
            self.log(
                LogLevel::Warning,
                LogCategory::Start,
                format_args!(
                    "the start as written does not fit the joints: positions moved by {moved:.1e}, velocities by \
                     {velocity_changed:.1e} 1/s (error norm)"
                ),
            );
        }
        if !redundant.is_empty() {
            let names = redundant.join(", ");
            self.log(
                LogLevel::Info,
                LogCategory::Start,
                format_args!("redundant constraints: {names}"),
            );
        }
        if !redundant.is_empty() && !immovable.is_empty() {
            let names = immovable.join(", ");
            self.log(
                LogLevel::Warning,
                LogCategory::Start,
                format_args!("these bodies are fully constrained by redundant joints: {names}"),
            );
        }
    }

    fn start(&mut self, start: f64, stop: f64, tolerance: f64) -> Result<()> {
        if self.state.phase == InstancePhase::Running {
            return Err(Error::CallOrder {
                call: "initialize",
                reason: "it has been done; reset first",
            });
        }
        if !start.is_finite() {
            return Err(invalid_argument("start_time", start, "a finite time"));
        }
        if stop.is_nan() || stop < start {
            let expected = format!("start_time ({start}) or later, or infinity");
            return Err(invalid_argument("stop_time", stop, &expected));
        }
        if tolerance.is_nan() || tolerance == f64::INFINITY {
            let expected = "a positive number, or zero for the model's";
            return Err(invalid_argument("tolerance", tolerance, expected));
        }
        let tolerance = match (self.model.solver.accuracy.map(first_tolerance), tolerance) {
            (Some(first), given) if given > 0.0 => given.min(first),
            (Some(first), _) => first,
            (None, given) if given > 0.0 => given,
            (None, _) => self.model.solver.tolerance,
        };
        self.apply_definitions()?;
        self.use_tolerance(tolerance)?;

        let mut inputs = self.state.pending.clone();
        inputs.start_at(start);
        inputs.refuse_infinite_laws(&self.model, start)?;
        let Sample { q, v, .. } = &mut self.scratch.sample;
        self.mechanism.initial_state(q, v);
        self.start_prescribed_motions(start, &mut inputs);
        let mut motion = State::default();
        let env = environment(&inputs);
        let Sample { q, v, .. } = &mut self.scratch.sample;
        let mechanism = &*self.mechanism;
        let bodies = assemble_bodies(mechanism, &self.model.solver, &env, start, q, v)
            .map_err(|error| in_metres(error, &self.model))?;
        let mut report = self
            .integrator
            .start(mechanism, &env, start, q, v, &mut motion)
            .map_err(|error| in_metres(error, &self.model))?;
        if let Some(bodies) = bodies {
            report = merge_reports(mechanism, bodies, report);
        }

        self.scratch.cache.invalidate();
        let looks_ahead = self.looks_ahead();
        let state = &mut self.state;
        state.phase = InstancePhase::Running;
        state.start = start;
        state.stop = stop;
        state.tolerance = tolerance;
        state.applied.copy_from(&inputs);
        state.pending = inputs;
        state.start_histories(start);
        state.start_report = Some(Arc::new(report));
        state.ahead = match looks_ahead {
            true => LookAhead::from(&motion),
            false => LookAhead::default(),
        };
        state.motion = motion;
        state.energy_drift = 0.0;
        state.total_at_start = 0.0;
        self.state.total_at_start = self.total_energy();
        Ok(())
    }

    /// Sets the initial position and speed of prescribed motions whose speed or acceleration is an input, from the initial pose
    /// and velocities in the scratch.
    fn start_prescribed_motions(&mut self, start: f64, inputs: &mut InputState) {
        let sample = &mut self.scratch.sample;
        sample.acc.fill(0.0);
        sample.lambda.fill(0.0);
        let at = MotionPoint {
            q: &sample.q,
            v: &sample.v,
            a: &sample.acc,
            lambda: &sample.lambda,
        };
        let none = vec![0.0; self.model.inputs.len()];
        let cx = EvaluationContext {
            t: start,
            u: &none,
            u_dot: &none,
            u_ddot: &none,
            p: &self.state.pending.parameters,
            modes: &[],
            integrals: &[],
        };
        for (input, polynomial) in self.model.inputs.iter().zip(&mut inputs.inputs) {
            if let (Target::Motion(k), 1..) = (input.target, polynomial.order) {
                polynomial.position_and_speed = [MotionField::Position, MotionField::Speed]
                    .map(|field| (self.mechanism).evaluate(&cx, Quantity::Motion(k, field), &at));
            }
        }
    }
}

/// An error of the assembly with the unit of its gap and, where lengths alone tell, the length that is short.
fn in_metres(error: Error, model: &Model) -> Error {
    let Error::Assembly {
        closure,
        culprits,
        gap,
        ..
    } = error
    else {
        return error;
    };
    // Joints whose constraints are displacements only.
    let meets = |kind: JointKind| match kind {
        JointKind::Spherical | JointKind::Gimbal | JointKind::Distance | JointKind::PointOnLine => {
            true
        }
        JointKind::Revolute => model.dimension == 2,
        _ => false,
    };
    let joints = model.joints.iter();
    let plain = (joints.filter(|joint| culprits.contains(&joint.name))).all(|j| meets(j.kind));
    let named = |name: &String| model.joints.iter().any(|joint| joint.name == *name);
    Error::Assembly {
        closure,
        // The length of a linear system has no unit that is known here.
        gap: gap.filter(|_| culprits.iter().any(named)),
        unit: if plain { "m" } else { "m or rad" },
        short: model.short_loop(&culprits),
        culprits,
    }
}

/// Assembles the bodies of a mechanism whose coordinates are computed from body poses. `q` and `v` become those of the assembled
/// bodies. `None`, with `q` and `v` unchanged, for other mechanisms.
fn assemble_bodies(
    mechanism: &dyn Mechanism,
    settings: &SolverSettings,
    env: &Environment,
    t: f64,
    q: &mut [f64],
    v: &mut [f64],
) -> Result<Option<StartReport>> {
    let Some(assembly) = mechanism.body_assembly() else {
        return Ok(None);
    };
    let bodies = assembly.bodies();
    let size = bodies.dimensions();
    let (mut poses, mut velocities) = (vec![0.0; size.nq], vec![0.0; size.nv]);
    bodies.initial_state(&mut poses, &mut velocities);
    let report = assemble(bodies, settings, env, t, &mut poses, &mut velocities)?;
    match assembly.coordinates_from_bodies(&poses, &velocities, q, v) {
        None => Ok(Some(report)),
        Some(joint) => Err(Error::Assembly {
            closure: report.closure_before,
            culprits: vec![joint],
            gap: None,
            unit: "m",
            short: None,
        }),
    }
}

/// The report of a start whose bodies were assembled first.
fn merge_reports(
    mechanism: &dyn Mechanism,
    bodies: StartReport,
    start: StartReport,
) -> StartReport {
    let hidden = mechanism
        .full_constraints()
        .is_some_and(FullConstraintSet::multipliers_hidden);
    let (mut rank, mut redundant) = (start.rank, start.redundant);
    if let (true, Some(assembly)) = (hidden, mechanism.body_assembly()) {
        // The redundant joints are those of the bodies, where all joints are constraints. The degrees of freedom are the same.
        let free = (assembly.bodies().dimensions().nv).saturating_sub(bodies.rank);
        rank = mechanism.dimensions().nv.saturating_sub(free);
        redundant.clone_from(&bodies.redundant);
    }
    if redundant.is_empty() {
        // Constraints that are eliminated by coordinates may be redundant too.
        redundant = bodies.redundant.clone();
    }
    StartReport {
        rank,
        redundant,
        ..bodies
    }
}

fn invalid_argument(name: &str, value: f64, expected: &str) -> Error {
    Error::Argument {
        name: name.to_string(),
        value: value.to_string(),
        expected: expected.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::*;
    use super::*;

    #[test]
    fn invalid_arguments_are_errors_and_change_nothing() {
        const INF: f64 = f64::INFINITY;
        const NO: f64 = f64::NAN;
        let mut instance = oscillator();
        let before = format!("{:?}", instance.save().unwrap());
        let invalid = [
            (NO, 1.0, 0.0, "start_time"),
            (INF, INF, 0.0, "start_time"),
            (-INF, 1.0, 0.0, "start_time"),
            (1.0, 0.5, 0.0, "stop_time"),
            (1.0, NO, 0.0, "stop_time"),
            (1.0, -INF, 0.0, "stop_time"),
            (0.0, 1.0, NO, "tolerance"),
            (0.0, 1.0, INF, "tolerance"),
        ];
        for (start, stop, tolerance, culprit) in invalid {
            let error = instance.initialize(start, stop, tolerance).unwrap_err();
            assert!(
                matches!(&error, Error::Argument { name, .. } if name == culprit),
                "{error}"
            );
            assert_eq!(before, format!("{:?}", instance.save().unwrap()));
        }
    }

    #[test]
    fn a_failed_initialisation_leaves_the_instance_created() {
        let mut instance = oscillator();
        instance.set_real(&[STIFFNESS], &[BROKEN]).unwrap();
        let before = format!("{:?}", instance.save().unwrap());
        let error = instance.initialize(0.0, 1.0, 0.0).unwrap_err();
        assert!(
            matches!(error, Error::Callback { code: 7, .. }),
            "{error:?}"
        );
        assert_eq!(before, format!("{:?}", instance.save().unwrap()));
        instance.set_real(&[STIFFNESS], &[4.0]).unwrap();
        instance.initialize(0.0, 1.0, 0.0).unwrap();
    }

    #[test]
    fn any_start_time_gives_the_same_motion() {
        let run = |start: f64| {
            let mut instance = oscillator();
            instance
                .set_input_derivatives(&[PUSH], &[1], &[1.0])
                .unwrap();
            instance.initialize(start, start + 2.0, 0.0).unwrap();
            assert_eq!(instance.time(), start);
            instance.step(start, 2.0).unwrap();
            assert_eq!(instance.time(), start + 2.0);
            get(&mut instance, X)
        };
        let x = run(0.0);
        for start in [-1.0, 64.0, -1024.0] {
            // Times are rounded to 1e-13 of the step sequence at t = 1024; x moves by a few units per second.
            assert!(
                (run(start) - x).abs() < 1e-11,
                "start {start}: {} {x}",
                run(start)
            );
        }
    }

    #[test]
    fn a_tolerance_of_zero_or_less_means_that_of_the_model() {
        let mut instance = oscillator();
        for tolerance in [0.0, -1.0, f64::NEG_INFINITY] {
            instance.initialize(0.0, 1.0, tolerance).unwrap();
            assert_eq!(instance.tolerance(), instance.model().solver.tolerance);
            instance.reset();
        }
        instance.initialize(0.0, 1.0, 1e-3).unwrap();
        assert_eq!(instance.tolerance(), 1e-3);
    }

    #[test]
    fn a_tighter_tolerance_takes_more_steps() {
        let steps = |tolerance: f64| {
            let mut instance = oscillator();
            instance.initialize(0.0, 4.0, tolerance).unwrap();
            instance.step(0.0, 4.0).unwrap();
            get(&mut instance, STEPS)
        };
        assert!(steps(1e-8) > 2.0 * steps(1e-4));
    }
}
