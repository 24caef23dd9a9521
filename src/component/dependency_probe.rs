//! Random points of a mechanism at which its functions are compared, to find their structure.

use super::input::InputPolynomial;
use super::variables::VariableSource;
use crate::formulation::{EvaluationContext, Mechanism, MotionPoint, TangentWeights};
use crate::linalg::random::Random;
use crate::model::Model;
use crate::model::quantity::{EnergyField, Quantity};

/// Levels at which an input or parameter changes a group, or at which an output depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Influence {
    position: bool,
    velocity: bool,
    acceleration: bool,
}

impl Influence {
    pub fn prescribes_motion(self) -> bool {
        self.position || self.velocity
    }

    /// Whether a change at these levels changes a function of these arguments. A change of positions also changes velocities and
    /// accelerations.
    pub fn changes(self, argument: &Influence) -> bool {
        let velocity = self.velocity || self.position;
        let acceleration = self.acceleration || velocity;
        (self.position && argument.position)
            || (velocity && argument.velocity)
            || (acceleration && argument.acceleration)
    }
}

/// A random point of a mechanism at which functions are compared.
pub(super) struct DependencyProbe<'a> {
    mechanism: &'a dyn Mechanism,
    random: Random,
    /// Group of each velocity, then of each constraint.
    group: Vec<usize>,
    groups: usize,
    /// Members of each group.
    members: Vec<Vec<usize>>,
    modes: Vec<i32>,
    /// For each input: which derivative of a prescribed position it is; 0 for other inputs.
    orders: Vec<u8>,
    signals: SignalPoint,
    point: ProbePoint,
}

/// Time, inputs with their derivatives, parameters.
#[derive(Clone)]
struct SignalPoint {
    t: f64,
    u: [Vec<f64>; 3],
    p: Vec<f64>,
}

impl SignalPoint {
    fn context<'a>(&'a self, modes: &'a [i32]) -> EvaluationContext<'a> {
        EvaluationContext {
            t: self.t,
            u: &self.u[0],
            u_dot: &self.u[1],
            u_ddot: &self.u[2],
            p: &self.p,
            modes,
            integrals: &[],
        }
    }
}

/// Coordinates, velocities, accelerations, multipliers.
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
    pub fn new(model: &Model, mechanism: &'a dyn Mechanism, seed: u64) -> Self {
        let size = mechanism.dimensions();
        let mut random = Random::new(seed);
        let (mut start, mut v) = (vec![0.0; size.nq], vec![0.0; size.nv]);
        mechanism.initial_state(&mut start, &mut v);
        // Near the initial pose, where the mechanism can be assembled, but not at a special position.
        let scale = start.iter().fold(1e-3, |m: f64, x| m.max(x.abs()));
        let shift: Vec<f64> = (0..size.nv)
            .map(|_| 0.03 * scale * random.signed())
            .collect();
        let mut q = start.clone();
        mechanism.retract(&start, &shift, &mut q);
        if q.iter().any(|x| !x.is_finite()) {
            // The dependent coordinates do not exist there.
            q.copy_from_slice(&start);
        }
        let mut numbers = |n: usize| random.vector(n, 1.0);
        let point = ProbePoint {
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
        let signals = SignalPoint {
            t: model.experiment.start,
            u: [u, u_dot, u_ddot],
            p: model.parameters.iter().map(|p| p.start).collect(),
        };
        let mut modes = vec![0; size.modes];
        let before = modes.clone();
        mechanism.initial_modes(&signals.context(&before), &point.q, &point.v, &mut modes);
        let mut probe = Self {
            mechanism,
            random,
            group: (0..size.nv + size.nc).collect(),
            groups: 0,
            members: vec![],
            modes,
            orders: (model.inputs.iter())
                .map(|input| InputPolynomial::of(model, input).order)
                .collect(),
            signals,
            point,
        };
        probe.find_groups();
        probe
    }

    /// Number of groups.
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// Finds the groups coupled by the entries of M and G.
    fn find_groups(&mut self) {
        if self.mechanism.descriptor_form().is_some() {
            // A large tree in joint coordinates: M couples everything along a path.
            let count = self.group.len();
            (self.groups, self.group) = (1, vec![0; count]);
            self.members = vec![(0..count).collect()];
            return;
        }
        let pattern = self.mechanism.sparsity();
        let nv = self.point.v.len();
        let mut mass = vec![0.0; pattern.tangent.len()];
        let cx = self.signals.context(&self.modes);
        let ProbePoint { q, v, a, lambda } = &self.point;
        let evaluated = (self.mechanism).tangent(
            &cx,
            &MotionPoint { q, v, a, lambda },
            &TangentWeights::MASS,
            &mut mass,
        );
        if evaluated.is_err() {
            mass.fill(1.0); // every entry may be nonzero
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
        let of_jacobian = (pattern.jacobian.iter()).map(|&(i, j)| (nv + i as usize, j as usize));
        for (i, j) in of_mass.chain(of_jacobian) {
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

    /// The signals with one input (with its derivatives) or parameter changed. An input that is a speed leaves the prescribed
    /// position as it is when it is set, one that is an acceleration also the speed.
    fn changed(&mut self, known: VariableSource) -> SignalPoint {
        let mut signals = self.signals.clone();
        match known {
            VariableSource::Input(i) => {
                for u in &mut signals.u[usize::from(self.orders[i])..] {
                    u[i] += (0.5 + 0.3 * self.random.signed()) * u[i].abs().max(1.0);
                }
            }
            // Larger only: a mass must not become negative.
            VariableSource::Parameter(i) => match signals.p[i] {
                0.0 => signals.p[i] = 0.5,
                p => signals.p[i] = p * (1.3 + 0.1 * self.random.signed()),
            },
            _ => {}
        }
        signals
    }

    /// Levels at which an input or parameter changes each group.
    pub fn influence(&mut self, known: VariableSource) -> Vec<Influence> {
        let mut influence = vec![Influence::default(); self.groups];
        if !known.is_set_by_host() {
            return influence;
        }
        let signals = self.changed(known);
        let [here, changed] = [&self.signals, &signals].map(|o| o.context(&self.modes));
        let (nv, nc) = (self.point.v.len(), self.point.lambda.len());
        let ProbePoint { q, v, a, .. } = &self.point;
        let mut mark = |n: usize,
                        first: usize,
                        set: fn(&mut Influence),
                        evaluate: &dyn Fn(&EvaluationContext, &mut [f64])| {
            let (mut x, mut y) = (vec![0.0; n], vec![0.0; n]);
            evaluate(&here, &mut x);
            evaluate(&changed, &mut y);
            for i in (0..n).filter(|&i| differ(x[i], y[i])) {
                set(&mut influence[self.group[first + i]]);
            }
        };
        let m = self.mechanism;
        mark(nv, 0, |r| r.acceleration = true, &|cx, out| {
            // A failed evaluation differs from every other.
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
        influence
    }

    /// Levels at which a quantity depends on each of these groups.
    pub fn arguments(&mut self, quantity: Quantity, groups: &[usize]) -> Vec<Influence> {
        let mut arguments = vec![Influence::default(); self.groups];
        let here = self.value(quantity, &self.signals, &self.point);
        self.bisect(quantity, here, groups, &mut arguments);
        arguments
    }

    /// Changes all groups at once; if the quantity depends on them, each half separately.
    fn bisect(
        &mut self,
        quantity: Quantity,
        here: f64,
        groups: &[usize],
        arguments: &mut [Influence],
    ) {
        let nv = self.point.v.len();
        let (mut faster, mut accelerated, mut moved) =
            (self.point.clone(), self.point.clone(), self.point.clone());
        let mut shift = vec![0.0; nv];
        for &i in groups.iter().flat_map(|&g| &self.members[g]) {
            let amount = 0.1 + 0.05 * self.random.signed();
            if i < nv {
                faster.v[i] += amount;
                accelerated.a[i] += amount;
                shift[i] += amount;
            } else {
                accelerated.lambda[i - nv] += amount;
            }
        }
        self.mechanism.retract(&self.point.q, &shift, &mut moved.q);
        let depends = |point: &ProbePoint| differ(here, self.value(quantity, &self.signals, point));
        let found = Influence {
            position: depends(&moved),
            velocity: depends(&faster),
            acceleration: depends(&accelerated),
        };
        match groups {
            _ if found == Influence::default() => {}
            [] => {}
            [one] => arguments[*one] = found,
            many => {
                let (left, right) = many.split_at(many.len() / 2);
                self.bisect(quantity, here, left, arguments);
                self.bisect(quantity, here, right, arguments);
            }
        }
    }

    /// Whether an input or parameter is itself an argument of a quantity.
    pub fn enters(&mut self, quantity: Quantity, known: VariableSource) -> bool {
        if !known.is_set_by_host() {
            return false;
        }
        let signals = self.changed(known);
        let here = self.value(quantity, &self.signals, &self.point);
        differ(here, self.value(quantity, &signals, &self.point))
    }

    fn value(&self, quantity: Quantity, signals: &SignalPoint, point: &ProbePoint) -> f64 {
        let cx = signals.context(&self.modes);
        match quantity {
            Quantity::Energy(field) => {
                let energy = self.mechanism.energy(&cx, &point.q, &point.v);
                match field {
                    EnergyField::Kinetic => energy.kinetic,
                    EnergyField::Potential => energy.potential,
                    _ => energy.kinetic + energy.potential,
                }
            }
            _ => self.mechanism.evaluate(&cx, quantity, &point.motion()),
        }
    }
}

/// Whether two values differ; NaN counts as different, since a dependency too many does no harm.
fn differ(x: f64, y: f64) -> bool {
    x != y || !x.is_finite()
}
