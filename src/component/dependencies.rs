//! Which output depends directly on which input: what a co-simulation master needs to find algebraic loops.
//!
//! ```text
//!   M a + Gᵀ λ = f(q, v, u, p)      an input that enters f acts on a and λ of everything M and G tie together
//!   Φ(q, u) = 0                     an input that enters Φ acts on q and v too
//!   y = y(q, v, a, λ, u, p)         an output depends on what acts on one of its arguments, or enters it itself
//! ```
//!
//! The structure is found by asking: at a few random points one argument is changed and the function is asked whether it
//! notices. That is the same for every formulation, joint and force, and costs a few evaluations. Coordinates and rows
//! are taken together in groups, tied by the entries of M and G: what is in one group is coupled, whatever the numbers.

use super::Instance;
use super::derivatives::follows_at_once;
use super::variables::{Causality, VariableSource};
use crate::formulation::{EvaluationContext, Mechanism, MotionPoint, TangentWeights};
use crate::model::Model;
use crate::model::quantity::{EnergyField, Quantity};

/// Random points: one would do but for points where something is zero by chance.
const POINTS: u64 = 3;

/// Direct dependencies of each variable, by value references in rising order.
#[derive(Debug)]
pub(super) struct Dependencies {
    /// On inputs.
    during: Vec<Vec<u32>>,
    /// On inputs and parameters, at the start.
    initial: Vec<Vec<u32>>,
    /// Does this variable enter Φ or its rate?
    places: Vec<bool>,
}

impl Dependencies {
    /// Does this input or parameter prescribe positions or velocities?
    pub fn places(&self, reference: u32) -> bool {
        self.places.get(reference as usize).is_some_and(|p| *p)
    }
}

impl Instance {
    /// The inputs on which an output depends directly: reading it right after setting one of them shows another value.
    /// In rising order; empty for what is not computed. Structural: whatever the present position and parameters.
    pub fn dependencies(&self, reference: u32) -> &[u32] {
        let all = &self.found().during;
        all.get(reference as usize).map_or(&[], Vec::as_slice)
    }

    /// The inputs and parameters on which an output depends right after `initialize`.
    pub fn initial_dependencies(&self, reference: u32) -> &[u32] {
        let all = &self.found().initial;
        all.get(reference as usize).map_or(&[], Vec::as_slice)
    }

    pub(super) fn found(&self) -> &Dependencies {
        self.dependencies.get_or_init(|| self.find_dependencies())
    }

    fn find_dependencies(&self) -> Dependencies {
        if self.model.own.is_some() {
            return self.assume_dependencies();
        }
        let count = self.catalogue.variables.len() as u32;
        let source = |reference: u32| {
            let source = self.catalogue.source(reference);
            source.expect("references below the count exist")
        };
        let mut during = vec![vec![]; count as usize];
        let mut initial = during.clone();
        let mut places = vec![false; count as usize];
        for seed in 0..POINTS {
            let mut probe = DependencyProbe::new(&self.model, &*self.mechanism, seed);
            // What each known acts on, for all groups.
            let mut acts: Vec<Vec<Influence>> = Vec::with_capacity(count as usize);
            for known in 0..count {
                acts.push(probe.acts(source(known)));
                places[known as usize] |= acts[known as usize].iter().any(|r| r.places());
            }
            let matter: Vec<usize> = (0..probe.groups)
                .filter(|&g| acts.iter().any(|reach| reach[g] != Influence::default()))
                .collect();
            for unknown in 0..count {
                let VariableSource::Output(quantity) = source(unknown) else {
                    continue;
                };
                let i = unknown as usize;
                let Some(seen) = follows_at_once(quantity) else {
                    continue;
                };
                let needs = probe.needs(seen, &matter);
                for known in 0..count {
                    let depends = (acts[known as usize].iter().zip(&needs))
                        .any(|(reach, need)| reach.meets(need))
                        || probe.enters(seen, source(known));
                    if !depends {
                        continue;
                    }
                    if let VariableSource::Input(_) = source(known) {
                        insert(&mut during[i], known);
                    }
                    // Nothing has been supplied yet.
                    if quantity != Quantity::Energy(EnergyField::Supplied) {
                        insert(&mut initial[i], known);
                    }
                }
            }
        }
        Dependencies {
            during,
            initial,
            places,
        }
    }
}

impl Instance {
    /// Somebody's own code is not asked at points it may not know: what can depend on something is taken to do so.
    fn assume_dependencies(&self) -> Dependencies {
        let variables = &self.catalogue.variables;
        let of = |wanted: Causality| {
            let all = variables.iter().enumerate();
            let all = all.filter(move |(_, v)| v.causality == wanted);
            all.map(|(i, _)| i as u32).collect::<Vec<u32>>()
        };
        let (inputs, parameters) = (of(Causality::Input), of(Causality::Parameter));
        let both: Vec<u32> = inputs.iter().chain(&parameters).copied().collect();
        let moving = self.mechanism.properties().moving_constraints;
        let held = self.mechanism.dimensions().nc > 0;
        let mut during = vec![vec![]; variables.len()];
        let mut initial = during.clone();
        for i in 0..variables.len() {
            let Ok(VariableSource::Output(quantity)) = self.catalogue.source(i as u32) else {
                continue;
            };
            let (by_inputs, by_parameters) = match follows_at_once(quantity) {
                None => (false, false),
                // Positions and velocities: only by way of the constraints.
                Some(Quantity::Coordinate(_) | Quantity::Rate(_)) => (moving, held),
                Some(_) => (true, true),
            };
            if by_inputs {
                during[i].clone_from(&inputs);
            }
            if quantity != Quantity::Energy(EnergyField::Supplied) {
                initial[i] = match (by_inputs, by_parameters) {
                    (true, true) => both.clone(),
                    (true, false) => inputs.clone(),
                    (false, true) => parameters.clone(),
                    (false, false) => vec![],
                };
            }
        }
        let places = (variables.iter())
            .map(|v| match v.causality {
                Causality::Input => moving,
                Causality::Parameter => held,
                _ => false,
            })
            .collect();
        Dependencies {
            during,
            initial,
            places,
        }
    }
}

fn insert(sorted: &mut Vec<u32>, x: u32) {
    if let Err(place) = sorted.binary_search(&x) {
        sorted.insert(place, x);
    }
}

/// How an input or parameter acts on a group, or which arguments in a group an output has.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Influence {
    position: bool,
    velocity: bool,
    acceleration: bool,
}

impl Influence {
    fn places(self) -> bool {
        self.position || self.velocity
    }

    /// What acts on positions also changes velocities and accelerations, and so on down.
    fn meets(self, need: &Influence) -> bool {
        let velocity = self.velocity || self.position;
        let acceleration = self.acceleration || velocity;
        (self.position && need.position)
            || (velocity && need.velocity)
            || (acceleration && need.acceleration)
    }
}

/// A random point of a mechanism and what it takes to ask there.
struct DependencyProbe<'a> {
    mechanism: &'a dyn Mechanism,
    random: Random,
    /// Group of each tangent coordinate, then of each constraint row.
    group: Vec<usize>,
    groups: usize,
    /// The same the other way round.
    members: Vec<Vec<usize>>,
    modes: Vec<i32>,
    outside: ExternalValues,
    at: ProbePoint,
}

#[derive(Clone)]
struct ExternalValues {
    t: f64,
    u: [Vec<f64>; 3],
    p: Vec<f64>,
}

impl ExternalValues {
    fn context<'a>(&'a self, modes: &'a [i32]) -> EvaluationContext<'a> {
        EvaluationContext {
            t: self.t,
            u: &self.u[0],
            u_dot: &self.u[1],
            u_ddot: &self.u[2],
            p: &self.p,
            modes,
        }
    }
}

#[derive(Clone)]
struct ProbePoint {
    q: Vec<f64>,
    v: Vec<f64>,
    a: Vec<f64>,
    lambda: Vec<f64>,
}

impl ProbePoint {
    fn motion(&self) -> MotionPoint<'_> {
        MotionPoint {
            q: &self.q,
            v: &self.v,
            a: &self.a,
            lambda: &self.lambda,
        }
    }
}

impl<'a> DependencyProbe<'a> {
    fn new(model: &Model, mechanism: &'a dyn Mechanism, seed: u64) -> Self {
        let size = mechanism.dimensions();
        let mut random = Random(seed);
        let (mut start, mut v) = (vec![0.0; size.nq], vec![0.0; size.nv]);
        mechanism.initial_state(&mut start, &mut v);
        // Near the start, where the mechanism is what it is meant to be, but nowhere in particular.
        let scale = start.iter().fold(1e-3, |m: f64, x| m.max(x.abs()));
        let shift: Vec<f64> = (0..size.nv)
            .map(|_| 0.03 * scale * random.signed())
            .collect();
        let mut q = start.clone();
        mechanism.retract(&start, &shift, &mut q);
        if q.iter().any(|x| !x.is_finite()) {
            // No way from there to here.
            q.copy_from_slice(&start);
        }
        let mut numbers = |n: usize| (0..n).map(|_| random.signed()).collect::<Vec<f64>>();
        let at = ProbePoint {
            q,
            v: numbers(size.nv),
            a: numbers(size.nv),
            lambda: numbers(size.nc),
        };
        let inputs = model.inputs.len();
        let (mut u, u_dot, u_ddot) = (numbers(inputs), numbers(inputs), numbers(inputs));
        for (u, input) in u.iter_mut().zip(&model.inputs) {
            *u = input.start + 0.1 * *u * input.start.abs().max(1.0);
        }
        let outside = ExternalValues {
            t: model.experiment.start,
            u: [u, u_dot, u_ddot],
            p: model.parameters.iter().map(|p| p.start).collect(),
        };
        let mut modes = vec![0; size.modes];
        let before = modes.clone();
        mechanism.initial_modes(&outside.context(&before), &at.q, &at.v, &mut modes);
        let mut probe = Self {
            mechanism,
            random,
            group: (0..size.nv + size.nc).collect(),
            groups: 0,
            members: vec![],
            modes,
            outside,
            at,
        };
        probe.tie();
        probe
    }

    /// Groups by the entries of M and G.
    fn tie(&mut self) {
        if self.mechanism.descriptor_form().is_some() {
            // Large trees in joint coordinates: M couples everything along a path.
            (self.groups, self.group) = (1, vec![0; self.group.len()]);
            return;
        }
        let pattern = self.mechanism.sparsity();
        let nv = self.at.v.len();
        let mut mass = vec![0.0; pattern.tangent.len()];
        let cx = self.outside.context(&self.modes);
        let ProbePoint { q, v, a, lambda } = &self.at;
        let made = (self.mechanism).tangent(
            &cx,
            &MotionPoint { q, v, a, lambda },
            &TangentWeights::MASS,
            &mut mass,
        );
        if made.is_err() {
            mass.fill(1.0); // take every place for an entry
        }
        let mut parent: Vec<usize> = (0..self.group.len()).collect();
        fn root(parent: &mut [usize], mut i: usize) -> usize {
            while parent[i] != i {
                parent[i] = parent[parent[i]];
                i = parent[i];
            }
            i
        }
        let of_mass = pattern
            .tangent
            .iter()
            .zip(&mass)
            .filter(|(_, m)| **m != 0.0);
        let of_mass = of_mass.map(|(&(i, j), _)| (i as usize, j as usize));
        let of_rows = (pattern.jacobian.iter()).map(|&(i, j)| (nv + i as usize, j as usize));
        for (i, j) in of_mass.chain(of_rows) {
            let (i, j) = (root(&mut parent, i), root(&mut parent, j));
            parent[i.max(j)] = i.min(j);
        }
        let mut number = vec![usize::MAX; parent.len()];
        for i in 0..parent.len() {
            let r = root(&mut parent, i);
            if number[r] == usize::MAX {
                number[r] = self.groups;
                self.groups += 1;
                self.members.push(vec![]);
            }
            self.group[i] = number[r];
            self.members[number[r]].push(i);
        }
    }

    /// The surroundings with one input (with its rates) or parameter changed.
    fn changed(&mut self, known: VariableSource) -> ExternalValues {
        let mut outside = self.outside.clone();
        match known {
            VariableSource::Input(i) => {
                for u in &mut outside.u {
                    u[i] += (0.5 + 0.3 * self.random.signed()) * u[i].abs().max(1.0);
                }
            }
            // Only larger: a mass must not become negative.
            VariableSource::Parameter(i) => match outside.p[i] {
                0.0 => outside.p[i] = 0.5,
                p => outside.p[i] = p * (1.3 + 0.1 * self.random.signed()),
            },
            VariableSource::Output(_) => {}
        }
        outside
    }

    /// On which groups an input or parameter acts, and how.
    fn acts(&mut self, known: VariableSource) -> Vec<Influence> {
        let mut reach = vec![Influence::default(); self.groups];
        if let VariableSource::Output(_) = known {
            return reach;
        }
        let outside = self.changed(known);
        let [here, there] = [&self.outside, &outside].map(|o| o.context(&self.modes));
        let (nv, nc) = (self.at.v.len(), self.at.lambda.len());
        let ProbePoint { q, v, a, .. } = &self.at;
        let mut mark = |n: usize,
                        first: usize,
                        set: fn(&mut Influence),
                        ask: &dyn Fn(&EvaluationContext, &mut [f64])| {
            let (mut x, mut y) = (vec![0.0; n], vec![0.0; n]);
            ask(&here, &mut x);
            ask(&there, &mut y);
            for i in (0..n).filter(|&i| differ(x[i], y[i])) {
                set(&mut reach[self.group[first + i]]);
            }
        };
        let m = self.mechanism;
        mark(nv, 0, |r| r.acceleration = true, &|cx, out| {
            // An evaluation that cannot be done differs from every other.
            if m.force(cx, q, v, out).is_err() {
                out.fill(f64::NAN);
            }
        });
        mark(nv, 0, |r| r.acceleration = true, &|cx, out| {
            m.mass_times(cx, q, a, out)
        });
        mark(nc, nv, |r| r.position = true, &|cx, out| {
            m.constraint(cx, q, out)
        });
        mark(nc, nv, |r| r.velocity = true, &|cx, out| {
            m.constraint_rate(cx, q, out)
        });
        mark(nc, nv, |r| r.acceleration = true, &|cx, out| {
            m.constraint_acceleration_bias(cx, q, v, out)
        });
        reach
    }

    /// Which arguments a quantity has in each of the groups that `matter`.
    fn needs(&mut self, quantity: Quantity, matter: &[usize]) -> Vec<Influence> {
        let mut needs = vec![Influence::default(); self.groups];
        let here = self.value(quantity, &self.outside, &self.at);
        self.search(quantity, here, matter, &mut needs);
        needs
    }

    /// All of them at once; where the quantity notices, each half by itself.
    fn search(&mut self, quantity: Quantity, here: f64, groups: &[usize], needs: &mut [Influence]) {
        let nv = self.at.v.len();
        let (mut faster, mut pushed, mut moved) =
            (self.at.clone(), self.at.clone(), self.at.clone());
        let mut shift = vec![0.0; nv];
        for &i in groups.iter().flat_map(|&g| &self.members[g]) {
            let amount = 0.1 + 0.05 * self.random.signed();
            if i < nv {
                faster.v[i] += amount;
                pushed.a[i] += amount;
                shift[i] += amount;
            } else {
                pushed.lambda[i - nv] += amount;
            }
        }
        self.mechanism.retract(&self.at.q, &shift, &mut moved.q);
        let asks = |at: &ProbePoint| differ(here, self.value(quantity, &self.outside, at));
        let found = Influence {
            position: asks(&moved),
            velocity: asks(&faster),
            acceleration: asks(&pushed),
        };
        match groups {
            _ if found == Influence::default() => {}
            [] => {}
            [one] => needs[*one] = found,
            many => {
                let (left, right) = many.split_at(many.len() / 2);
                self.search(quantity, here, left, needs);
                self.search(quantity, here, right, needs);
            }
        }
    }

    /// Does an input or parameter enter a quantity by itself?
    fn enters(&mut self, quantity: Quantity, known: VariableSource) -> bool {
        if let VariableSource::Output(_) = known {
            return false;
        }
        let outside = self.changed(known);
        let here = self.value(quantity, &self.outside, &self.at);
        differ(here, self.value(quantity, &outside, &self.at))
    }

    fn value(&self, quantity: Quantity, outside: &ExternalValues, at: &ProbePoint) -> f64 {
        let cx = outside.context(&self.modes);
        match quantity {
            Quantity::Energy(field) => {
                let energy = self.mechanism.energy(&cx, &at.q, &at.v);
                match field {
                    EnergyField::Kinetic => energy.kinetic,
                    EnergyField::Potential => energy.potential,
                    _ => energy.kinetic + energy.potential,
                }
            }
            _ => self.mechanism.evaluate(&cx, quantity, &at.motion()),
        }
    }
}

/// What is no number is taken for different: rather one dependency too many.
fn differ(x: f64, y: f64) -> bool {
    x != y || !x.is_finite()
}

/// SplitMix64 (Steele, Lea, Flood): the same everywhere.
struct Random(u64);

impl Random {
    /// In [−1, 1).
    fn signed(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        (z >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;

    #[test]
    fn the_oscillator_depends_as_its_equation_says() {
        let instance = oscillator();
        for (reference, during, initial) in [
            (X, &[][..], &[][..]),
            (V, &[], &[]),
            (A, &[PUSH], &[PUSH, STIFFNESS, MASS]),
            (BALANCE, &[], &[]),
            // A parameter that is changed later supplies energy, an input force does not.
            (SUPPLIED, &[], &[]),
            (TIME, &[], &[]),
            (STEPS, &[], &[]),
            (PUSH, &[], &[]),
            (MASS, &[], &[]),
            (COUNT, &[], &[]),
        ] {
            assert_eq!(instance.dependencies(reference), during, "{reference}");
            assert_eq!(
                instance.initial_dependencies(reference),
                initial,
                "{reference}"
            );
        }
    }

    #[test]
    fn what_is_no_number_is_taken_to_depend_on_everything() {
        let instance = oscillator();
        assert_eq!(instance.dependencies(NAN), [PUSH]);
        assert_eq!(instance.initial_dependencies(NAN), [PUSH, STIFFNESS, MASS]);
    }
}
