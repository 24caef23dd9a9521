//! The start of a life: the pose is assembled (Φ = 0), velocities and accelerations are made consistent with it, and
//! the first step size is chosen. The work is the integrator's; here its arguments are checked and its result is taken.

use std::sync::Arc;

use super::Instance;
use super::state::Phase;
use super::value::environment;
use crate::error::{Error, Result};
use crate::integrator::State;

impl Instance {
    /// Assembly and consistent start. `start` is any finite time, `stop` is not before it and may be infinite;
    /// `tolerance` <= 0 means the model's. On failure the instance is as before.
    pub fn initialize(&mut self, start: f64, stop: f64, tolerance: f64) -> Result<()> {
        if self.life.phase == Phase::Running {
            return Err(Error::CallOrder {
                call: "initialize",
                reason: "it has been done; reset first",
            });
        }
        if !start.is_finite() {
            return Err(refused("start_time", start, "a finite time"));
        }
        if stop.is_nan() || stop < start {
            let expected = format!("start_time ({start}) or later, or infinity");
            return Err(refused("stop_time", stop, &expected));
        }
        if tolerance.is_nan() || tolerance == f64::INFINITY {
            let expected = "a positive number, or zero for the model's";
            return Err(refused("tolerance", tolerance, expected));
        }
        let tolerance = if tolerance > 0.0 {
            tolerance
        } else {
            self.model.solver.tolerance
        };
        self.use_tolerance(tolerance)?;

        let size = self.mechanism.size();
        let (mut q, mut v) = (vec![0.0; size.nq], vec![0.0; size.nv]);
        self.mechanism.start(&mut q, &mut v);
        let mut drive = self.life.wanted.clone();
        drive.begin(start);
        let mut state = State::default();
        let env = environment(&drive);
        let report = self
            .integrator
            .start(&*self.mechanism, &env, start, &q, &v, &mut state)?;

        let life = &mut self.life;
        life.phase = Phase::Running;
        life.start = start;
        life.stop = stop;
        life.tolerance = tolerance;
        life.seen.copy_from(&drive);
        life.wanted = drive;
        life.report = Some(Arc::new(report));
        life.state = state;
        life.drift = 0.0;
        life.total_at_start = 0.0;
        self.life.total_at_start = self.total_energy();
        Ok(())
    }
}

fn refused(name: &str, value: f64, expected: &str) -> Error {
    Error::Argument {
        name: name.to_string(),
        value: value.to_string(),
        expected: expected.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    #[test]
    fn the_arguments_are_checked_and_a_refusal_changes_nothing() {
        const INF: f64 = f64::INFINITY;
        const NO: f64 = f64::NAN;
        let mut instance = oscillator();
        let before = format!("{:?}", instance.save().unwrap());
        let refusals = [
            (NO, 1.0, 0.0, "start_time"),
            (INF, INF, 0.0, "start_time"),
            (-INF, 1.0, 0.0, "start_time"),
            (1.0, 0.5, 0.0, "stop_time"),
            (1.0, NO, 0.0, "stop_time"),
            (1.0, -INF, 0.0, "stop_time"),
            (0.0, 1.0, NO, "tolerance"),
            (0.0, 1.0, INF, "tolerance"),
        ];
        for (start, stop, tolerance, culprit) in refusals {
            let error = instance.initialize(start, stop, tolerance).unwrap_err();
            assert!(
                matches!(&error, Error::Argument { name, .. } if name == culprit),
                "{error}"
            );
            assert_eq!(before, format!("{:?}", instance.save().unwrap()));
        }
    }

    #[test]
    fn a_start_that_fails_leaves_the_instance_created() {
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
    fn a_tolerance_of_zero_or_less_means_the_models() {
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
