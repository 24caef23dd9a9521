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

        self.scratch.trial = state.clone();
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
