//! Reading an instance at any time of the substep that it has just taken.

use super::Instance;
use super::quantity_point::environment;
use super::values::same_length;
use super::variables::VariableSource;
use crate::error::{Error, Result};
use crate::integrator::{EventMemory, RejectedStep, SampleLevel};
use crate::model::quantity::Quantity;

/// Observer of a run, called after each accepted substep.
pub trait Observer {
    /// Called after an accepted substep. `probe` reads the instance at any time of that substep. An error ends the step; the
    /// instance stays at the end of this substep.
    fn accepted(&mut self, probe: &mut StepProbe) -> Result<()>;

    /// Called before each substep, which is planned to end at `end`. Inputs set here with
    /// [`Instance::set_input_polynomial`] act from the present time on.
    fn before_substep(&mut self, instance: &mut Instance, end: f64) -> Result<()> {
        let _ = (instance, end);
        Ok(())
    }
}

/// Reads variables at a time within the last accepted substep.
pub struct StepProbe<'a> {
    pub(super) instance: &'a mut Instance,
    start: f64,
    /// An event was located at the end of the substep.
    event: bool,
    /// The communication step ends here.
    pub(super) stop: bool,
    /// What `scratch.sample` holds.
    sampled: Option<(f64, Needed)>,
}

/// What quantities need of an interpolated point.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Needed {
    /// Positions and velocities.
    Motion,
    /// Accelerations and multipliers too.
    Accelerations,
    /// Multipliers distributed over redundant constraints.
    Reactions,
}

impl Needed {
    /// By one quantity.
    pub(super) fn by(quantity: Quantity) -> Self {
        match quantity {
            _ if quantity.is_reaction() => Self::Reactions,
            _ if quantity.is_of_motion() => Self::Motion,
            _ => Self::Accelerations,
        }
    }
}

impl<'a> StepProbe<'a> {
    /// A probe of the last substep, which began at `start` and ended at an event or not.
    pub(super) fn new(instance: &'a mut Instance, start: f64, event: bool) -> Self {
        Self {
            instance,
            start,
            event,
            sampled: None,
            stop: false,
        }
    }
}

impl StepProbe<'_> {
    /// Start of the substep (s).
    pub fn start(&self) -> f64 {
        self.start
    }

    /// End of the substep (s).
    pub fn end(&self) -> f64 {
        self.instance.time()
    }

    /// The instance at the end of the substep.
    pub fn instance(&self) -> &Instance {
        self.instance
    }

    /// The same, to be read.
    pub fn instance_mut(&mut self) -> &mut Instance {
        // A read may use the workspace of the sample.
        self.sampled = None;
        self.instance
    }

    /// Whether an event was located at the end of the substep: an impact, a contact that closes or separates, a change between
    /// stiction and slip, a jump of a law. It has been handled; [`StepProbe::left_limits`] are the values before it.
    pub fn at_event(&self) -> bool {
        self.event
    }

    /// Ends the communication step here, before its communication point, without an error.
    pub fn stop(&mut self) {
        self.stop = true;
    }

    /// Reads variables at the end of the substep before the event there was handled; without an event the values of
    /// `get_real`. On failure `values` is unchanged.
    pub fn left_limits(&mut self, references: &[u32], values: &mut [f64]) -> Result<()> {
        match self.event {
            true => self.sampled_values(self.end(), references, values),
            false => self.instance.get_real(references, values),
        }
    }

    /// The trial steps rejected since the last call; see [`Instance::record_rejected_steps`].
    pub fn take_rejected_steps(&mut self) -> Vec<RejectedStep> {
        self.instance.take_rejected_steps()
    }

    /// Names of the events at the substep's end: contacts that close or separate, joint limits, switching forces.
    pub fn events(&self) -> Vec<String> {
        let handled = self.instance.state.motion.event_memory.iter().enumerate();
        handled
            .filter(|(_, what)| **what != EventMemory::Nothing)
            .map(|(i, _)| self.instance.mechanism.event_name(i))
            .collect()
    }

    /// Refuses a time outside the substep.
    pub(super) fn require_inside(&self, t: f64) -> Result<()> {
        let (start, end) = (self.start, self.end());
        if start <= t && t <= end {
            return Ok(());
        }
        Err(Error::Argument {
            name: "t".to_string(),
            value: t.to_string(),
            expected: format!("a time of the last substep, {start} to {end}"),
        })
    }

    /// Interpolates to `t` unless that was done already.
    pub(super) fn sample(&mut self, t: f64, needed: Needed) -> Result<()> {
        // Distributed multipliers are not those of the state: they are no substitute where friction is read.
        let reused = |(at, held)| at == t && (held == needed || needed == Needed::Motion);
        if self.sampled.is_some_and(reused) {
            return Ok(());
        }
        self.sampled = None;
        let instance = &mut *self.instance;
        let env = environment(&instance.state.applied);
        let sample = &mut instance.scratch.sample;
        let (integrator, mechanism) = (&mut instance.integrator, &*instance.mechanism);
        let level = match needed {
            Needed::Motion => SampleLevel::Velocities,
            _ => SampleLevel::Accelerations,
        };
        integrator.interpolate_to(mechanism, &env, t, level, sample)?;
        if needed == Needed::Reactions {
            integrator.sample_reactions(mechanism, &env, sample)?;
        }
        self.sampled = Some((t, needed));
        Ok(())
    }

    /// Reads variables at `t`, start <= t <= end, interpolated and projected onto the constraints; at the end the values of
    /// `get_real`. Counters (`solver.*`) are those at the end. On failure `values` is unchanged.
    pub fn values(&mut self, t: f64, references: &[u32], values: &mut [f64]) -> Result<()> {
        if t == self.end() {
            return self.instance.get_real(references, values);
        }
        self.require_inside(t)?;
        self.sampled_values(t, references, values)
    }

    /// Reads variables at a time of the substep, in the modes of the substep.
    fn sampled_values(&mut self, t: f64, references: &[u32], values: &mut [f64]) -> Result<()> {
        same_length(references.len(), values.len())?;
        let mut needed = Needed::Motion;
        let Instance {
            catalogue, scratch, ..
        } = &mut *self.instance;
        scratch.outputs.quantities.clear();
        for &reference in references {
            if let VariableSource::Output(quantity) = catalogue.source(reference)? {
                needed = needed.max(Needed::by(quantity));
                scratch.outputs.quantities.push(quantity);
            }
        }
        self.sample(t, needed)?;
        let instance = &mut *self.instance;
        let mut computed = std::mem::take(&mut instance.scratch.outputs);
        if !computed.quantities.is_empty() {
            let (point, mechanism) = instance.sampled_in_step();
            computed.evaluate(&point, mechanism);
        }
        let mut computed_values = computed.values.iter();
        instance.scratch.values.clear();
        for &reference in references {
            let value = match instance.catalogue.source(reference)? {
                VariableSource::Input(i) => instance.state.applied.at(i, t)[0],
                VariableSource::Parameter(i) => instance.state.applied.parameters[i],
                VariableSource::Output(_) => *computed_values.next().expect("one for each"),
                // Of the whole substep.
                VariableSource::ErrorBar(i) => instance.stated_error(i),
                VariableSource::AccuracyKept => instance.accuracy_kept(),
            };
            instance.scratch.values.push(value);
        }
        instance.scratch.outputs = computed;
        instance.copy_finite_values(references, t, values)
    }
}
