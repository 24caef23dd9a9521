//! A linear system given by constant matrices:
//!
//! ```text
//!   M q'' + C q' + K q + Bᵀ λ = F,      B q = 0
//! ```
//!
//! Kinetic energy ½ vᵀM v, potential energy ½ qᵀK q − Fᵀq. Only the symmetric part of K has a potential; the power of its
//! skew-symmetric part counts as supplied, as does that of a force driven by an input. Damping dissipates vᵀC v.

use std::sync::Arc;

use super::driven_value::{DrivenValue, DrivenValues};
use super::{
    ConfigurationSpace, Dimensions, Energy, Evaluated, EvaluationContext, HybridSystem, Mechanism,
    MotionPoint, Power, Properties, Sparsity, System, TangentWeights,
};
use crate::error::Result;
use crate::linalg::csr::Csr;
use crate::linalg::sorting::sort_by_key;
use crate::model::quantity::Quantity;
use crate::model::{Model, Target};

/// A linear system of second order. The matrices are those of the model, shared.
#[derive(Clone, Debug)]
pub struct LinearSystem {
    mass: Arc<Csr>,
    damping: Arc<Csr>,
    stiffness: Arc<Csr>,
    constraint: Arc<Csr>,
    /// F as written; `driven_forces` overrides some components.
    force: Arc<Vec<f64>>,
    /// Components of F set by inputs or parameters, ascending.
    driven_forces: Vec<(u32, DrivenValue)>,
    weight: Arc<Vec<f64>>,
    initial: (Arc<Vec<f64>>, Arc<Vec<f64>>),
    inputs: usize,
    parameters: usize,
    /// K is not symmetric.
    unsymmetric_stiffness: bool,
    /// Entries (j, i) that M, C and K do not have although one of them has (i, j): the sparsity has both.
    transposed: Vec<(u32, u32)>,
}

impl LinearSystem {
    /// The equations of `[system]` in a model.
    pub fn new(model: &Model, system: &crate::model::LinearSystemMatrices) -> Result<Self> {
        model.validate()?;
        // Two sources of one target are an error.
        DrivenValues::new(model)?;
        let component = |target: Target| match target {
            Target::SystemForce(i) => i as u32,
            _ => unreachable!("a validated model without bodies sets forces only"),
        };
        let inputs = (model.inputs.iter().enumerate())
            .map(|(k, input)| (component(input.target), DrivenValue::Input(k)));
        let parameters = (model.parameters.iter().enumerate())
            .filter(|(_, parameter)| parameter.target != Target::Equilibrium)
            .map(|(k, parameter)| (component(parameter.target), DrivenValue::Parameter(k)));
        let mut driven_forces: Vec<(u32, DrivenValue)> = inputs.chain(parameters).collect();
        sort_by_key(&mut driven_forces, |(i, _)| *i);
        let mut equations = Self {
            unsymmetric_stiffness: system.stiffness.first_asymmetry(0.0).is_some(),
            mass: Arc::clone(&system.mass),
            damping: Arc::clone(&system.damping),
            stiffness: Arc::clone(&system.stiffness),
            constraint: Arc::clone(&system.constraint),
            force: Arc::clone(&system.force),
            driven_forces,
            weight: Arc::clone(&system.weight),
            initial: (Arc::clone(&system.position), Arc::clone(&system.velocity)),
            inputs: model.inputs.len(),
            parameters: model.parameters.len(),
            transposed: Vec::new(),
        };
        let mut transposed = Vec::new();
        equations.union(|i, j, _| {
            let matrices = [&equations.mass, &equations.damping, &equations.stiffness];
            let has_transposed = |a: &&Arc<Csr>| a.get(j as usize, i) != 0.0;
            if !matrices.iter().any(has_transposed) {
                transposed.push((j, i as u32));
            }
        });
        equations.transposed = transposed;
        Ok(equations)
    }

    /// Magnitude of coordinate `i`: its weight, or its initial value if that is larger.
    fn initial_magnitude(&self, i: usize) -> f64 {
        self.weight[i].max(self.initial.0[i].abs())
    }

    /// Calls `entry` for each entry of the union of M, C and K, by rows, columns ascending, with the three values.
    fn union(&self, mut entry: impl FnMut(usize, u32, [f64; 3])) {
        for i in 0..self.weight.len() {
            let rows = [&self.mass, &self.damping, &self.stiffness].map(|a| a.row(i));
            let mut next = [0usize; 3];
            loop {
                let mut column = u32::MAX;
                for k in 0..3 {
                    if let Some(&j) = rows[k].0.get(next[k]) {
                        column = column.min(j);
                    }
                }
                if column == u32::MAX {
                    break;
                }
                let mut values = [0.0; 3];
                for k in 0..3 {
                    if rows[k].0.get(next[k]) == Some(&column) {
                        values[k] = rows[k].1[next[k]];
                        next[k] += 1;
                    }
                }
                entry(i, column, values);
            }
        }
    }
}

impl System for LinearSystem {
    fn dimensions(&self) -> Dimensions {
        let n = self.weight.len();
        Dimensions {
            nq: n,
            nv: n,
            nc: self.constraint.rows(),
            inputs: self.inputs,
            parameters: self.parameters,
            ..Dimensions::default()
        }
    }

    fn properties(&self) -> Properties {
        let driven = self
            .driven_forces
            .iter()
            .any(|(_, value)| value.is_driven());
        Properties {
            has_constraint_friction: false,
            rotations: false,
            // An unsymmetric K needs the same solver as velocity-dependent forces.
            velocity_forces: self.damping.entries() > 0 || self.unsymmetric_stiffness,
            moving_constraints: false,
            does_work: self.damping.entries() > 0 || self.unsymmetric_stiffness || driven,
            linear: true,
            constraint_handling: Default::default(),
        }
    }

    fn sparsity(&self) -> Sparsity {
        let mut tangent = Vec::with_capacity(self.stiffness.entries().max(self.mass.entries()));
        self.union(|i, j, _| tangent.push((i as u32, j)));
        tangent.extend_from_slice(&self.transposed);
        let mut jacobian = Vec::with_capacity(self.constraint.entries());
        for i in 0..self.constraint.rows() {
            jacobian.extend(self.constraint.row(i).0.iter().map(|&j| (i as u32, j)));
        }
        Sparsity { tangent, jacobian }
    }

    fn mass_times(&self, _cx: &EvaluationContext, _q: &[f64], a: &[f64], out: &mut [f64]) {
        self.mass.times(a, out);
    }

    fn force(&self, cx: &EvaluationContext, q: &[f64], v: &[f64], out: &mut [f64]) -> Evaluated {
        out.copy_from_slice(&self.force);
        for (i, value) in &self.driven_forces {
            out[*i as usize] = value.get(cx);
        }
        for (i, out) in out.iter_mut().enumerate() {
            *out -= self.damping.row_times(i, v) + self.stiffness.row_times(i, q);
        }
        Ok(())
    }

    fn tangent(
        &self,
        _cx: &EvaluationContext,
        _at: &MotionPoint,
        weights: &TangentWeights,
        out: &mut [f64],
    ) -> Evaluated {
        let w = [weights.mass, weights.damping, weights.stiffness];
        let mut out = out.iter_mut();
        self.union(|_, _, [m, c, k]| {
            if let Some(out) = out.next() {
                *out = w[0] * m + w[1] * c + w[2] * k;
            }
        });
        out.for_each(|transposed| *transposed = 0.0);
        Ok(())
    }

    fn constraint(&self, _cx: &EvaluationContext, q: &[f64], phi: &mut [f64]) {
        self.constraint.times(q, phi);
    }

    fn jacobian(&self, _cx: &EvaluationContext, _q: &[f64], out: &mut [f64]) {
        out.copy_from_slice(self.constraint.values());
    }

    fn constraint_acceleration_bias(
        &self,
        _cx: &EvaluationContext,
        _q: &[f64],
        _v: &[f64],
        gamma: &mut [f64],
    ) {
        gamma.fill(0.0);
    }

    fn constraint_scale(&self, i: usize) -> f64 {
        let (columns, values) = self.constraint.row(i);
        let scale: f64 = columns
            .iter()
            .zip(values)
            .map(|(&j, b)| b.abs() * self.initial_magnitude(j as usize))
            .sum();
        // A constraint without entries is always satisfied.
        if scale > 0.0 { scale } else { 1.0 }
    }

    /// Largest |q_i| relative to its initial magnitude, by which constraints are scaled.
    fn coordinate_magnitude(&self, q: &[f64]) -> f64 {
        let growth = q
            .iter()
            .enumerate()
            .map(|(i, q)| q.abs() / self.initial_magnitude(i));
        growth.fold(1.0, f64::max)
    }

    fn weight(&self, i: usize) -> f64 {
        self.weight[i]
    }

    fn energy(&self, cx: &EvaluationContext, q: &[f64], v: &[f64]) -> Energy {
        let mut work: f64 = self.force.iter().zip(q).map(|(f, q)| f * q).sum();
        for (i, value) in &self.driven_forces {
            let i = *i as usize;
            let conservative = if value.is_driven() {
                0.0
            } else {
                value.get(cx)
            };
            work += (conservative - self.force[i]) * q[i];
        }
        Energy {
            kinetic: 0.5 * self.mass.bilinear_form(v, v),
            potential: 0.5 * self.stiffness.bilinear_form(q, q) - work,
        }
    }

    fn power(&self, cx: &EvaluationContext, q: &[f64], v: &[f64]) -> Power {
        let driven = self
            .driven_forces
            .iter()
            .filter(|(_, value)| value.is_driven());
        let mut supplied: f64 = driven.map(|(i, u)| u.get(cx) * v[*i as usize]).sum();
        if self.unsymmetric_stiffness {
            supplied -=
                0.5 * (self.stiffness.bilinear_form(v, q) - self.stiffness.bilinear_form(q, v));
        }
        Power {
            dissipated: self.damping.bilinear_form(v, v),
            supplied,
        }
    }
}

impl ConfigurationSpace for LinearSystem {}

impl HybridSystem for LinearSystem {}

impl Mechanism for LinearSystem {
    fn initial_state(&self, q: &mut [f64], v: &mut [f64]) {
        q.copy_from_slice(&self.initial.0);
        v.copy_from_slice(&self.initial.1);
    }

    fn evaluate(&self, _cx: &EvaluationContext, quantity: Quantity, at: &MotionPoint) -> f64 {
        match quantity {
            Quantity::Coordinate(i) => at.q[i],
            Quantity::Rate(i) => at.v[i],
            Quantity::Acceleration(i) => at.a[i],
            Quantity::Multiplier(i) => at.lambda[i],
            Quantity::Body(..)
            | Quantity::Motion(..)
            | Quantity::Beam(..)
            | Quantity::Sensor(..)
            | Quantity::Joint(..)
            | Quantity::Force(..)
            | Quantity::Energy(_)
            | Quantity::Solver(_)
            | Quantity::Time => f64::NAN,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formulation::derivative_check::{DerivativeCheck, check};
    use crate::linalg::random::Random;

    const FULL: &str = r#"
        format = 1
        [system]
        mass = [[2, 0.5, 0], [0.5, 1, 0], [0, 0, 3]]
        damping = [[0.3, 0.1, 0], [-0.2, 0.4, 0], [0, 0, 0]]
        stiffness = [[5, -1, 0], [-1, 4, -2], [0.5, -2, 6]]
        constraint = [[1, -1, 0], [0, 2, 1]]
        force = [1, 2, 3]
        weight = [1, 0.5, 2]
        [[input]]
        name = "push"
        target = "f2"
        [[parameter]]
        name = "load"
        target = "f3"
    "#;

    fn system(text: &str) -> LinearSystem {
        let model = Model::from_text(text, "test").unwrap_or_else(|e| panic!("{e}"));
        LinearSystem::new(&model, model.system.as_ref().unwrap()).unwrap()
    }

    #[test]
    fn derivatives_energy_and_power_are_consistent() {
        let system = system(FULL);
        let mut random = Random::new(5);
        for _ in 0..5 {
            let [q, v, a] = [0, 1, 2].map(|_| random.vector(3, 2.0));
            let (lambda, u, p) = (
                random.vector(2, 1.0),
                random.vector(1, 1.0),
                random.vector(1, 1.0),
            );
            let cx = EvaluationContext {
                t: 0.5,
                u: &u,
                u_dot: &[0.0],
                u_ddot: &[0.0],
                p: &p,
                modes: &[],
                integrals: &[],
            };
            let at = MotionPoint {
                q: &q,
                v: &v,
                a: &a,
                lambda: &lambda,
            };
            check(&system, &cx, &at, &DerivativeCheck::default()).unwrap_or_else(|e| panic!("{e}"));
        }
    }

    #[test]
    fn the_equations_are_those_of_the_matrices() {
        let system = system(FULL);
        let cx = EvaluationContext {
            t: 0.0,
            u: &[20.0],
            u_dot: &[0.0],
            u_ddot: &[0.0],
            p: &[30.0],
            modes: &[],
            integrals: &[],
        };
        let (q, v) = ([1.0, 2.0, 3.0], [1.0, -1.0, 0.5]);
        let mut f = [0.0; 3];
        system.force(&cx, &q, &v, &mut f).unwrap();
        let expected = [
            1.0 - (0.3 - 0.1) - (5.0 - 2.0),
            20.0 - (-0.2 - 0.4) - (-1.0 + 8.0 - 6.0),
            30.0 - (0.5 - 4.0 + 18.0),
        ];
        for i in 0..3 {
            assert!((f[i] - expected[i]).abs() < 1e-14, "{f:?} {expected:?}");
        }
        let mut phi = [0.0; 2];
        system.constraint(&cx, &q, &mut phi);
        assert_eq!(phi, [-1.0, 7.0]);
        // The driven f2 has no potential, f3 has the parameter's.
        let energy = system.energy(&cx, &q, &v);
        let stretch = 0.5 * (1.0 * 3.0 + 2.0 * 1.0 + 3.0 * 14.5);
        assert!(
            (energy.potential - (stretch - 1.0 - 90.0)).abs() < 1e-13,
            "{energy:?}"
        );
        assert!((energy.kinetic - 0.5 * (2.0 - 1.0 + 1.0 + 0.75)).abs() < 1e-14);
        let properties = system.properties();
        assert!(properties.linear && properties.velocity_forces && properties.does_work);
    }

    #[test]
    fn the_sparsity_has_each_entry_once_then_missing_transposed_ones() {
        let sparsity = system(FULL).sparsity();
        let (entries, transposed) = sparsity.tangent.split_at(8);
        assert!(entries.is_sorted());
        assert!(!entries.contains(&(0, 2)));
        assert_eq!(transposed, [(0, 2)]);
        assert_eq!(sparsity.jacobian, [(0, 0), (0, 1), (1, 1), (1, 2)]);
    }

    #[test]
    fn only_damped_or_driven_systems_do_work() {
        let plain = "format = 1\n[system]\nmass = [[1]]\nstiffness = [[4]]\n";
        let properties = system(plain).properties();
        assert!(!properties.does_work && !properties.velocity_forces);
        let driven = format!("{plain}[[input]]\nname = \"u\"\ntarget = \"f1\"\n");
        assert!(system(&driven).properties().does_work);
        let damped = format!("{plain}damping = [[1]]\n");
        assert!(system(&damped).properties().does_work);
    }
}
