//! The integration methods, as far as the step loop depends on them. A further method is a file with an `impl Method`, one
//! line in [`build`] and one in [`step_size_law`].

use super::controller::StepSizeLaw;
use super::hht::HhtMethod;
use super::state::{State, Statistics};
use super::trial::{StepFailure, Trial, TrialOptions};
use super::vsa23::{self, Vsa23};
use super::workspace::{Problem, Workspace};
use crate::constraint::sparsity::Backend;
use crate::error::Result;
use crate::formulation::system::System;
use crate::model::{Corrector, IntegratorName, SolverSettings};

/// A one-step method with an error estimate. Holds nothing the future of a run depends on: that is [`State`].
pub(super) trait Method: Send + Sync {
    /// Computes a trial step of size `y.h` from `s`, which ends at `y.t`. Returns the estimated error over the tolerance.
    fn trial_step(
        &mut self,
        work: &mut Workspace,
        p: &Problem,
        s: &State,
        options: TrialOptions,
        y: &mut Trial,
        stats: &mut Statistics,
    ) -> std::result::Result<f64, StepFailure>;

    /// Coordinate with the largest part of the estimated error.
    fn worst_coordinate(&self, y: &Trial) -> usize;

    /// Its steps must not end near singular positions of the constraints.
    fn avoids_singularities(&self) -> bool {
        false
    }

    /// It can repeat a step with another set of redundant constraints.
    fn updates_redundancy(&self) -> bool {
        false
    }

    /// Adds to an accepted trial what only the next step needs.
    fn complete_accepted(
        &mut self,
        _work: &mut Workspace,
        _p: &Problem,
        _s: &State,
        _y: &mut Trial,
        _stats: &mut Statistics,
    ) {
    }

    /// Notes in the state how the accepted trial was obtained.
    fn note_accepted(&self, _s: &mut State, _y: &Trial) {}

    /// Adapts to a state that was not reached by a step: the start, or one after an input jump.
    fn restart(
        &mut self,
        _work: &mut Workspace,
        _p: &Problem,
        _s: &mut State,
    ) -> std::result::Result<(), StepFailure> {
        Ok(())
    }
}

/// The method chosen in the settings, with its workspace.
pub(super) fn build(
    system: &dyn System,
    settings: &SolverSettings,
    backend: Backend,
) -> Result<(Workspace, Box<dyn Method>)> {
    let mut settings = *settings;
    if settings.integrator == IntegratorName::Vsa23 {
        settings.corrector = Corrector::Off; // part of HHT
    }
    let work = Workspace::new(system, &settings, backend);
    let method: Box<dyn Method> = match settings.integrator {
        IntegratorName::Auto | IntegratorName::Hht => Box::new(HhtMethod::new(system, &settings)),
        IntegratorName::Vsa23 => Box::new(Vsa23::new(system, &work, &settings.vsa23)?),
    };
    Ok((work, method))
}

/// The step-size law of the method chosen in the settings.
pub(super) fn step_size_law(settings: &SolverSettings) -> StepSizeLaw {
    match settings.integrator {
        IntegratorName::Auto | IntegratorName::Hht => StepSizeLaw::hht(settings),
        IntegratorName::Vsa23 => vsa23::STEP_SIZE_LAW,
    }
}
