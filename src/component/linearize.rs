//! Linear models of an instance at its present time:
//!
//! ```text
//!   ẋ = A x + B u,   y = C x + D u          x: minimal coordinates and their derivatives, u: inputs, y: outputs
//! ```
//!
//! An input that prescribes a position acts by its first and second derivative too: these are inputs of their own. A position that is
//! the integral of an input (speed or acceleration prescribed) is a state.

use std::cell::RefCell;

use super::Instance;
use super::instance::{InstanceScratch, SignalValues};
use super::instance_state::InstanceState;
use super::log::LogCategory;
use super::model_observables::{CoordinateList, ModelObservables, ReactionDistribution};
use super::variables::{Causality, VariableSource};
use crate::analysis::{DescriptorModel, InputDirection, LinearModel, Linearizer, OperatingPoint};
use crate::error::{Error, Result};
use crate::formulation::{EvaluationContext, FullConstraintSet, Mechanism, MotionPoint};
use crate::integrator::Signals;
use crate::model::{ForceKind, ForceNumber, Model, Target};

/// A linear model with the names of its variables. Matrices are stored by rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StateSpace {
    /// Time of the point (s).
    pub time: f64,
    /// States: minimal coordinates, their derivatives, integrals of controllers, positions prescribed by integrals of inputs.
    pub states: Vec<String>,
    /// Inputs; derivatives of inputs as `der(name)`, `der(der(name))`.
    pub inputs: Vec<String>,
    /// Outputs.
    pub outputs: Vec<String>,
    /// A, `states` x `states`
    pub a: Vec<f64>,
    /// B, `states` x `inputs`
    pub b: Vec<f64>,
    /// C, `outputs` x `states`
    pub c: Vec<f64>,
    /// D, `outputs` x `inputs`
    pub d: Vec<f64>,
}

/// A column of the linear model in (position, speed, acceleration) of the inputs: becomes an input or a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ColumnRole {
    Input,
    /// Prescribed position or speed; its derivative is this column.
    State {
        derivative: usize,
    },
}

/// Workspace of linear models, made at the first one.
pub(super) struct InstanceLinearizer {
    pub list: CoordinateList,
    pub linearizer: Linearizer,
    pub model: LinearModel,
    directions: Vec<InputDirection>,
    roles: Vec<ColumnRole>,
    columns: Vec<String>,
    /// Integrals of controllers that are states.
    integrals: Vec<String>,
    outputs: Vec<String>,
    has_reactions: bool,
    /// Set if the model is linearised in body coordinates.
    pub bodies: Option<BodyPoint>,
}

/// The present point in body coordinates. A linear model does not depend on the coordinates of the motion, so that those are taken in
/// which nothing is eliminated: a partition or a tree of joints that is badly conditioned would cost accuracy.
pub(super) struct BodyPoint {
    pub q: Vec<f64>,
    v: Vec<f64>,
    a: Vec<f64>,
    lambda: Vec<f64>,
    scale: Vec<f64>,
}

impl BodyPoint {
    fn new(system: &dyn Mechanism) -> Self {
        let size = system.dimensions();
        Self {
            q: vec![0.0; size.nq],
            v: vec![0.0; size.nv],
            a: vec![0.0; size.nv],
            lambda: vec![0.0; size.nc],
            scale: (0..size.nv).map(|i| system.weight(i)).collect(),
        }
    }

    /// The point of a state; `None` if its coordinates are those of the bodies.
    pub fn of(mechanism: &dyn Mechanism, state: &InstanceState) -> Option<Self> {
        let (system, full) = bodies_of(mechanism)?;
        let mut point = Self::new(system);
        point.load(full, state);
        Some(point)
    }

    fn load(&mut self, full: &dyn FullConstraintSet, state: &InstanceState) {
        let (q, v) = (&state.motion.q, &state.motion.v);
        full.configuration((q, v), &mut self.q, &mut self.v);
    }
}

/// Integrals of controllers that are states, by index and name. An integral without a gain never changes.
fn integral_states(model: &Model) -> Vec<(usize, String)> {
    let controllers =
        (model.forces.iter().enumerate()).filter_map(|(i, force)| match &force.kind {
            ForceKind::Pid(pid) => Some((i, force, pid)),
            _ => None,
        });
    let mut states = Vec::new();
    for (index, (i, force, pid)) in controllers.enumerate() {
        let gain = Target::Force(i, ForceNumber::Integral);
        let inputs = model.inputs.iter().map(|input| input.target);
        let driven = (inputs.chain(model.parameters.iter().map(|p| p.target))).any(|t| t == gain);
        if driven || pid.integral != 0.0 {
            states.push((index, format!("{}.integral", force.name)));
        }
    }
    states
}

/// The bodies of a mechanism whose coordinates are not those of its bodies.
pub(super) fn bodies_of(
    mechanism: &dyn Mechanism,
) -> Option<(&dyn Mechanism, &dyn FullConstraintSet)> {
    Some((
        mechanism.body_assembly()?.bodies(),
        mechanism.full_constraints()?,
    ))
}

impl InstanceLinearizer {
    fn new(instance: &Instance) -> Result<Self> {
        let (mut outputs, mut names) = (Vec::new(), Vec::new());
        for (reference, variable) in instance.catalogue.variables.iter().enumerate() {
            if let (Causality::Output, VariableSource::Output(quantity)) = (
                variable.causality,
                instance.catalogue.source(reference as u32)?,
            ) {
                outputs.push(quantity);
                names.push(variable.name.clone());
            }
        }
        let has_reactions = outputs.iter().any(|quantity| quantity.is_reaction());
        let mut mechanism = &*instance.mechanism;
        let mut bodies = None;
        let distributed = has_reactions && instance.state.motion.redundant.iter().any(|r| *r);
        if let (Some((system, _)), false) = (bodies_of(mechanism), distributed) {
            mechanism = system;
            bodies = Some(BodyPoint::new(system));
        }
        let list = CoordinateList::new(&instance.model, mechanism.dimensions().nv, outputs);
        let observables = ModelObservables {
            mechanism,
            list: &list,
            reactions: None,
        };
        let integrals = integral_states(&instance.model);
        let numbers = integrals.iter().map(|(index, _)| *index).collect();
        let linearizer = Linearizer::new(mechanism, &observables, numbers);
        let (mut directions, mut roles, mut columns) = (Vec::new(), Vec::new(), Vec::new());
        for (input, definition) in instance.model.inputs.iter().enumerate() {
            let name = &definition.name;
            let order = instance.state.applied.inputs[input].order as usize;
            let reference = instance.find(name)?;
            let moves = instance.dependency_table().prescribes_motion(reference);
            let count: usize = match (moves, definition.target.rate_acts()) {
                (true, _) => 3,
                (false, true) => 2,
                (false, false) => 1,
            };
            for derivative in 0..count {
                let (role, column) = match derivative.checked_sub(order) {
                    None => (
                        ColumnRole::State {
                            derivative: directions.len() + 1,
                        },
                        match order - derivative {
                            1 => format!("integral({name})"),
                            _ => format!("integral(integral({name}))"),
                        },
                    ),
                    Some(0) => (ColumnRole::Input, name.clone()),
                    Some(1) => (ColumnRole::Input, format!("der({name})")),
                    Some(_) => (ColumnRole::Input, format!("der(der({name}))")),
                };
                directions.push(InputDirection { input, derivative });
                roles.push(role);
                columns.push(column);
            }
        }
        Ok(Self {
            linearizer,
            list,
            model: LinearModel::default(),
            directions,
            roles,
            columns,
            integrals: integrals.into_iter().map(|(_, name)| name).collect(),
            outputs: names,
            has_reactions,
            bodies,
        })
    }

    /// Copies the names into `out` if they differ.
    fn copy_names(&self, out: &mut StateSpace) {
        let coordinates = &self.model.coordinates;
        let positions = coordinates.iter().map(|&i| &self.list.names[i].position);
        let speeds = coordinates.iter().map(|&i| &self.list.names[i].speed);
        // Without a list: nothing may be allocated here.
        let columns = |input: bool| {
            let pairs = self.roles.iter().zip(&self.columns);
            let fits = move |role: &ColumnRole| (*role == ColumnRole::Input) == input;
            pairs
                .filter(move |(role, _)| fits(role))
                .map(|(_, name)| name)
        };
        let prescribed = columns(false);
        let states = (positions.chain(speeds))
            .chain(&self.integrals)
            .chain(prescribed);
        if !out.states.iter().eq(states.clone()) {
            out.states = states.cloned().collect();
        }
        let inputs = columns(true);
        if !out.inputs.iter().eq(inputs.clone()) {
            out.inputs = inputs.cloned().collect();
        }
        out.outputs.clone_from(&self.outputs);
    }

    /// Moves the columns of integrated inputs from B and D to A and C.
    fn copy_matrices(&self, out: &mut StateSpace) {
        let m = &self.model;
        let held = self
            .roles
            .iter()
            .filter(|r| **r != ColumnRole::Input)
            .count();
        let (n, columns) = (m.states + held, m.inputs);
        let inputs = columns - held;
        for (matrix, len) in [
            (&mut out.a, n * n),
            (&mut out.b, n * inputs),
            (&mut out.c, m.outputs * n),
            (&mut out.d, m.outputs * inputs),
        ] {
            matrix.clear();
            matrix.resize(len, 0.0);
        }
        for i in 0..m.states {
            out.a[i * n..i * n + m.states].copy_from_slice(&m.a[i * m.states..(i + 1) * m.states]);
        }
        for i in 0..m.outputs {
            out.c[i * n..i * n + m.states].copy_from_slice(&m.c[i * m.states..(i + 1) * m.states]);
        }
        let index_of = |k: usize| {
            let same = |other: &&ColumnRole| {
                (**other == ColumnRole::Input) == (self.roles[k] == ColumnRole::Input)
            };
            self.roles[..k].iter().filter(same).count()
        };
        for k in 0..columns {
            let at = index_of(k);
            match self.roles[k] {
                ColumnRole::Input => {
                    for i in 0..m.states {
                        out.b[i * inputs + at] = m.b[i * columns + k];
                    }
                    for i in 0..m.outputs {
                        out.d[i * inputs + at] = m.d[i * columns + k];
                    }
                }
                ColumnRole::State { derivative } => {
                    let state = m.states + at;
                    for i in 0..m.states {
                        out.a[i * n + state] = m.b[i * columns + k];
                    }
                    for i in 0..m.outputs {
                        out.c[i * n + state] = m.d[i * columns + k];
                    }
                    let follows = index_of(derivative);
                    match self.roles[derivative] {
                        ColumnRole::Input => out.b[state * inputs + follows] = 1.0,
                        ColumnRole::State { .. } => out.a[state * n + m.states + follows] = 1.0,
                    }
                }
            }
        }
    }
}

impl Instance {
    /// The linear model at the present time. No bit of the results that follow changes.
    pub fn linearize(&mut self) -> Result<StateSpace> {
        let mut out = StateSpace::default();
        self.linearize_into(&mut out)?;
        Ok(out)
    }

    /// [`Instance::linearize`] into an existing model. Allocates nothing if that is one of the same size, after the first call.
    pub fn linearize_into(&mut self, out: &mut StateSpace) -> Result<()> {
        let outcome = self.compute_linear_model(out);
        self.log_failure(LogCategory::Step, &outcome);
        outcome
    }

    /// The descriptor form E ż = F z at the present time, in the coordinates of the formulation (of the bodies, if independent
    /// coordinates are chosen). No bit of the results that follow changes.
    pub fn descriptor_form(&mut self) -> Result<DescriptorModel> {
        self.require_running("linearising")?;
        self.apply_pending_inputs()?;
        let mut tool = match self.linearizer.take() {
            Some(tool) => tool,
            None => Box::new(InstanceLinearizer::new(self)?),
        };
        self.load_point(&mut tool);
        let signals = &self.scratch.signals;
        let (mechanism, at) =
            operating_point(&*self.mechanism, &self.state, signals, tool.bodies.as_ref());
        let outcome = tool.linearizer.descriptor_form(mechanism, &at);
        self.linearizer = Some(tool);
        self.log_failure(LogCategory::Step, &outcome);
        outcome
    }

    /// Samples the inputs and computes the point in body coordinates.
    fn load_point(&mut self, tool: &mut InstanceLinearizer) {
        let (state, signals) = (&self.state, &mut self.scratch.signals);
        let (u, u_dot, u_ddot) = (&mut signals.u, &mut signals.u_dot, &mut signals.u_ddot);
        state.applied.sample(state.motion.t, u, u_dot, u_ddot);
        let bodies = bodies_of(&*self.mechanism);
        if let (Some(point), Some((_, full))) = (&mut tool.bodies, bodies) {
            point.load(full, state);
        }
    }

    fn compute_linear_model(&mut self, out: &mut StateSpace) -> Result<()> {
        self.require_running("linearising")?;
        self.apply_pending_inputs()?;
        let mut tool = match self.linearizer.take() {
            Some(tool) => tool,
            None => Box::new(InstanceLinearizer::new(self)?),
        };
        let outcome = self.linearize_with(&mut tool, out);
        self.linearizer = Some(tool);
        outcome
    }

    /// An error if the integrator takes more constraints for redundant than the linear model: the position is too close to a
    /// singular one.
    fn check_redundancy(&self, tool: &InstanceLinearizer) -> Result<()> {
        let state = &self.state.motion;
        // A contact that touches without a force may have been redundant while it was active.
        let counts = |k: &usize| state.redundant[*k] && tool.linearizer.is_active(*k);
        let rows = (0..state.redundant.len()).filter(counts);
        if tool.bodies.is_some() || rows.clone().count() <= tool.linearizer.redundant_count() {
            return Ok(());
        }
        let mut culprits: Vec<String> = rows.map(|k| self.mechanism.constraint_name(k)).collect();
        culprits.dedup();
        Err(Error::SingularPosition {
            time: state.t,
            culprits,
        })
    }

    fn linearize_with(
        &mut self,
        tool: &mut InstanceLinearizer,
        out: &mut StateSpace,
    ) -> Result<()> {
        self.load_point(tool);
        let Self {
            state,
            scratch,
            mechanism,
            integrator,
            ..
        } = self;
        let InstanceScratch {
            signals, sample, ..
        } = scratch;
        let (mechanism, at) = operating_point(&**mechanism, state, signals, tool.bodies.as_ref());
        let hidden =
            (mechanism.full_constraints()).is_some_and(FullConstraintSet::multipliers_hidden);
        let distributed = hidden || state.motion.redundant.iter().any(|r| *r);
        let reactions = ReactionDistribution {
            integrator,
            state: &state.motion,
            sample,
        };
        let observables = ModelObservables {
            mechanism,
            list: &tool.list,
            reactions: (tool.has_reactions && distributed).then(|| RefCell::new(reactions)),
        };
        let (directions, model) = (&tool.directions, &mut tool.model);
        tool.linearizer
            .linearize(mechanism, &observables, &at, directions, model)?;
        self.check_redundancy(tool)?;
        out.time = self.time();
        tool.copy_matrices(out);
        tool.copy_names(out);
        Ok(())
    }
}

/// The system that is linearised and its operating point, the present one.
pub(super) fn operating_point<'a>(
    mechanism: &'a dyn Mechanism,
    state: &'a InstanceState,
    signals: &'a SignalValues,
    bodies: Option<&'a BodyPoint>,
) -> (&'a dyn Mechanism, OperatingPoint<'a>) {
    let motion = &state.motion;
    let cx = EvaluationContext {
        t: motion.t,
        u: &signals.u,
        u_dot: &signals.u_dot,
        u_ddot: &signals.u_ddot,
        p: &state.applied.parameters,
        modes: &motion.modes,
        integrals: &motion.integrals,
    };
    if let (Some(point), Some((system, _))) = (bodies, bodies_of(mechanism)) {
        let motion = MotionPoint {
            q: &point.q,
            v: &point.v,
            a: &point.a,
            lambda: &point.lambda,
        };
        let scale = &point.scale[..];
        return (system, OperatingPoint { cx, motion, scale });
    }
    let point = MotionPoint {
        q: &motion.q,
        v: &motion.v,
        a: &motion.acc,
        lambda: &motion.lambda,
    };
    let at = OperatingPoint {
        cx,
        motion: point,
        scale: &motion.scale,
    };
    (mechanism, at)
}
