//! The companion: a second instance of the same model, a hundred times looser, that runs in tandem.
//!
//! The run never waits for it and never looks at it. After each substep of the run the companion takes substeps until it is as far
//! or further; then the outputs of both, interpolated to a point of its last substep, are compared. Both land on communication points. Where
//! the run ends earlier, or an input changes on the way, the companion goes back to the start of its last substep and lands there too.

use super::super::Instance;
use super::super::instance_state::InstanceState;
use super::super::probe::{Needed, StepProbe};
use super::super::quantity_point::Multipliers;
use super::super::variables::VariableCatalogue;
use super::bars::ErrorBars;
use super::events::Who;
use crate::error::Result;
use crate::integrator::EventMemory;
use crate::model::quantity::Quantity;
use crate::model::{Model, SolverSettings};

/// Tolerance of the companion over that of the run. Where the steps are of sixth order their number falls with the fifth root of the
/// tolerance: a companion ten times looser costs two thirds of the run and errs as much as the run in 2 of 100 random motions; one a
/// hundred times looser costs less than half, and its error was the larger one in all (docs/accuracy.md).
pub const COMPANION_RATIO: f64 = 100.0;

/// Fixed step of the companion over that of the run: with order two its error is four times as large.
const LONGER: f64 = 2.0;

/// Substeps of the companion, for each substep of the run and at the start, after which it is given up: it should take fewer.
const MOST_SUBSTEPS: (u64, u64) = (20, 1000);

/// The runs are compared in every substep of the companion; once it has taken more than this many, in every second, third, ..: an
/// interpolation costs a good part of a step, and a bar that has been growing for so long needs no more points.
const COMPARISONS: u64 = 64;

/// Parts of a substep of the companion at which the runs are compared, in turns: a look costs half a step. Between the ends of a step
/// the quintic through them errs by s³ (1 − s)³ in position and by its derivative in velocity: here by 0.6 and 1.0 of the largest values.
const COMPARED_AT: &[f64] = &[0.3, 0.7];

/// The same in the first substeps, where fast motions decay that later steps do not see.
const COMPARED_AT_START: &[f64] = &[0.02, 0.1, 0.3, 0.5, 0.7];
/// Number of the first substeps.
const START: u64 = 8;

/// Change of a value at an event, over its scale, that counts as a jump.
const JUMP: f64 = 1e-3;

/// The companion of an instance, with the error bars of its outputs.
pub(in crate::component) struct Companion {
    pub instance: Instance,
    pub bars: ErrorBars,
    /// What is compared.
    pub compared: Vec<Compared>,
    /// The companion before its last substep.
    before: InstanceState,
    /// Its last substep: start, and whether an event at its end has not been matched yet.
    substep: (f64, bool),
    quantities: Vec<Quantity>,
    /// Some of them are energies.
    has_energies: bool,
    values: [Vec<f64>; 2],
}

/// A compared output.
#[derive(Clone, Copy, Debug)]
pub(in crate::component) struct Compared {
    /// Value reference of the output.
    pub reference: u32,
    quantity: Quantity,
}

/// A substep of the run.
#[derive(Clone, Copy)]
pub(in crate::component) struct RunSubstep {
    /// s
    pub start: f64,
    /// An event was located at its end.
    pub event: bool,
    /// Communication point of the step (s).
    pub target: f64,
    /// It is part of a step beyond a communication point.
    pub is_part: bool,
}

impl Companion {
    /// A companion for the outputs of `catalogue`, which are those of `model`.
    pub fn new(model: &Model, catalogue: &VariableCatalogue) -> Result<Self> {
        let compared: Vec<Compared> = (catalogue.compared())
            .map(|(reference, quantity)| Compared {
                reference,
                quantity,
            })
            .collect();
        let mut names: Vec<&str> = Vec::new();
        let mut units = Vec::new();
        for output in &compared {
            let unit = &*catalogue.variables[output.reference as usize].unit;
            let known = names.iter().position(|name| *name == unit);
            units.push(known.unwrap_or(names.len()));
            if known.is_none() {
                names.push(unit);
            }
        }
        let instance = Instance::from_model(Model {
            solver: looser(&model.solver),
            ..model.clone()
        })?;
        let events = instance.mechanism.dimensions().ne;
        let quantities: Vec<Quantity> = compared.iter().map(|c| c.quantity).collect();
        let energies = quantities.iter().map(|q| matches!(q, Quantity::Energy(_)));
        let energies: Vec<bool> = energies.collect();
        Ok(Self {
            before: instance.state.clone(),
            has_energies: energies.contains(&true),
            bars: ErrorBars::new(units, energies, events),
            quantities,
            values: [vec![0.0; compared.len()], vec![0.0; compared.len()]],
            compared,
            instance,
            substep: (f64::NAN, false),
        })
    }

    /// Begins with the run.
    pub fn initialize(&mut self, start: f64, stop: f64, tolerance: f64) {
        self.bars.restart(start);
        self.forget_substep();
        let outcome = self
            .instance
            .initialize(start, stop, COMPANION_RATIO * tolerance);
        self.note(outcome);
        self.before = self.instance.state.clone();
    }

    /// Goes on with the tolerance that belongs to `tolerance` of the run.
    pub fn adopt_tolerance(&mut self, tolerance: f64) {
        self.instance.adopt_tolerance(COMPANION_RATIO * tolerance);
        self.before.tolerance = COMPANION_RATIO * tolerance;
    }

    /// There is no substep to look back on.
    pub fn forget_substep(&mut self) {
        self.substep = (f64::NAN, false);
    }

    /// Stops the companion if it has failed.
    pub fn note(&mut self, outcome: Result<()>) {
        if let Err(error) = outcome {
            self.bars.stopped_at = self.instance.time();
            self.bars.stopped_why = error.to_string();
        }
    }

    /// Compares the runs where they begin, or after a change that both have made.
    pub fn compare_start(&mut self, run: &mut Instance) {
        if self.bars.stopped() {
            return;
        }
        let read = |instance: &mut Instance, quantities: &[Quantity], values: &mut [f64]| {
            instance.apply_pending_inputs()?;
            read_present(instance, quantities, values)
        };
        let [own, other] = &mut self.values;
        let outcome = read(run, &self.quantities, own)
            .and_then(|()| read(&mut self.instance, &self.quantities, other));
        if outcome.is_ok() {
            for i in 0..own.len() {
                self.bars.widen(i, own[i]);
                self.bars.compare(i, own[i], other[i]);
            }
        }
    }

    /// Follows the run over an accepted substep and compares the outputs at its end.
    pub fn follow(&mut self, run: &mut Instance, substep: RunSubstep) {
        if self.bars.stopped() {
            return;
        }
        let now = run.time();
        let outcome = self.catch_up(now, substep.target, run.statistics().steps);
        self.note(outcome);
        if self.bars.stopped() {
            return;
        }
        self.match_events(now);
        if substep.event {
            note_events(&mut self.bars, Who::Run, run);
        }
        self.compare_inside(run, substep);
        if substep.event || now == substep.target {
            self.compare_at(run, substep, now);
        }
        if !substep.is_part && self.substep.0 == substep.start && self.instance.time() == now {
            // Both took the same step: the difference does not show its error.
            let per_second = run.model.solver.per_unit_step;
            let share = if per_second { now - substep.start } else { 1.0 };
            self.bars.unseen += run.statistics().error * run.tolerance() * share;
        }
    }

    /// Compares the outputs inside the last substep of the companion, if that is due, as far as the run has come.
    fn compare_inside(&mut self, run: &mut Instance, substep: RunSubstep) {
        let steps = self.instance.statistics().steps;
        if steps <= self.bars.compared_at + steps / COMPARISONS {
            return;
        }
        let (from, length) = (self.substep.0, self.instance.time() - self.substep.0);
        let parts = match steps <= START {
            true => COMPARED_AT_START,
            false => &COMPARED_AT[(steps % 2) as usize..][..1],
        };
        for part in parts {
            let t = from + part * length;
            if t > substep.start && t <= run.time() {
                self.compare_at(run, substep, t);
            }
        }
        let last = parts[parts.len() - 1];
        if from + last * length <= run.time() {
            self.bars.compared_at = steps;
        }
    }

    /// Takes substeps until the companion is at `now` or beyond.
    fn catch_up(&mut self, now: f64, target: f64, substeps_of_run: u64) -> Result<()> {
        self.instance.apply_pending_inputs()?;
        while self.instance.time() < now {
            self.match_events(now);
            let limit = MOST_SUBSTEPS.0 * substeps_of_run + MOST_SUBSTEPS.1;
            if self.instance.statistics().steps > limit {
                return Err(self.instance.too_many_substeps(limit));
            }
            self.before.copy_from(&self.instance.state);
            self.substep = self.instance.substep_towards(target)?;
        }
        Ok(())
    }

    /// Matches the events at the end of the last substep, if it is not beyond `now`.
    fn match_events(&mut self, now: f64) {
        if self.substep.1 && self.instance.time() <= now {
            self.substep.1 = false;
            note_events(&mut self.bars, Who::Companion, &self.instance);
        }
    }

    /// Compares the outputs at `t` of a substep of the run.
    fn compare_at(&mut self, run: &mut Instance, substep: RunSubstep, t: f64) {
        let quantities = &self.quantities;
        let [own, other] = &mut self.values;
        // An event at the end has changed what follows; the values before it are compared.
        let event = self.instance.time() == t && substep_had_event(&self.instance);
        let event_of_run = substep.event && run.time() == t;
        let read_other = read_at(
            &mut StepProbe::new(&mut self.instance, self.substep.0, event),
            t,
            quantities,
            other,
        );
        let mut probe = StepProbe::new(run, substep.start, substep.event);
        let read_own = read_at(&mut probe, t, quantities, own);
        if read_own.is_err() || read_other.is_err() {
            return;
        }
        let jumping = event_of_run || event || self.bars.events.one_sided(run.time());
        for i in 0..own.len() {
            self.bars.widen(i, own[i]);
            if !jumping || quantities[i].is_of_position() {
                self.bars.compare(i, own[i], other[i]);
            }
        }
        if self.has_energies {
            self.bars.widen_energy(run.kinetic_energy());
        }
        self.bars.judge(t);
        if event_of_run && read_present(run, quantities, other).is_ok() {
            for i in 0..own.len() {
                self.bars.widen(i, other[i]);
                let jump = (other[i] - own[i]).abs();
                self.bars.outputs[i].jumps |= jump > JUMP * self.bars.scale(i);
            }
        }
    }

    /// Lands on `now`, which the companion may have passed.
    pub fn land(&mut self, now: f64) {
        if self.bars.stopped() || self.instance.time() == now {
            return;
        }
        if self.instance.time() > now {
            self.instance.state.copy_from(&self.before);
            self.instance.integrator.forget();
            self.instance.scratch.cache.invalidate();
        }
        let mut outcome = Ok(());
        while outcome.is_ok() && self.instance.time() < now {
            outcome = self.instance.substep_towards(now).map(|substep| {
                if substep.1 {
                    note_events(&mut self.bars, Who::Companion, &self.instance);
                }
            });
        }
        self.forget_substep();
        self.note(outcome);
    }
}

/// The settings of the companion.
fn looser(solver: &SolverSettings) -> SolverSettings {
    SolverSettings {
        tolerance: COMPANION_RATIO * solver.tolerance,
        newton_tolerance: solver
            .newton_tolerance
            .map(|tolerance| COMPANION_RATIO * tolerance),
        step: solver.step.map(|step| LONGER * step),
        // A limit that both obey would make them take the same steps.
        max_step: None,
        error_bars: false,
        accuracy: None,
        ..*solver
    }
}

/// Whether the last substep of an instance ended at an event.
fn substep_had_event(instance: &Instance) -> bool {
    let memory = &instance.state.motion.event_memory;
    memory.iter().any(|effect| *effect != EventMemory::Nothing)
}

/// Takes note of the events at the present time of an instance.
fn note_events(bars: &mut ErrorBars, who: Who, instance: &Instance) {
    let memory = instance.state.motion.event_memory.iter().enumerate();
    for (i, _) in memory.filter(|(_, effect)| **effect != EventMemory::Nothing) {
        bars.events.happened(who, i, instance.time());
    }
}

/// Reads quantities at the present time of an instance.
fn read_present(
    instance: &mut Instance,
    quantities: &[Quantity],
    values: &mut [f64],
) -> Result<()> {
    let multipliers = match quantities.iter().any(|quantity| quantity.is_reaction()) {
        true => {
            instance.compute_reactions()?;
            Multipliers::MinimumNorm
        }
        false => Multipliers::OfState,
    };
    let (point, mechanism) = instance.present_point(multipliers);
    point.values(mechanism, quantities, values);
    Ok(())
}

/// Reads quantities at `t` of the last substep, before an event at its end is handled.
fn read_at(
    probe: &mut StepProbe,
    t: f64,
    quantities: &[Quantity],
    values: &mut [f64],
) -> Result<()> {
    if t == probe.end() && !probe.at_event() {
        return read_present(probe.instance, quantities, values);
    }
    let needed = quantities.iter().copied().map(Needed::by);
    probe.sample(t, needed.max().unwrap_or(Needed::Motion))?;
    let (point, mechanism) = probe.instance.sampled_in_step();
    point.values(mechanism, quantities, values);
    Ok(())
}
