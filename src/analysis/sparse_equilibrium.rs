//! Static equilibrium of a large system without contacts, by Newton's method with the sparse factorisation of the integrator:
//!
//! ```text
//!   M a + Gᵀλ = f,  G a = 0          forces that nothing balances, as accelerations
//!   [ K + σM  Gᵀ ] [ w ]   [ M a ]
//!   [ G       0  ] [ · ] = [ 0   ],  q → q ∘ w, closed
//! ```
//!
//! The shift σ is zero unless the step would go uphill. The length of a step is bounded, and it is shortened if the work of the forces
//! along it changes sign too far, as in the dense search ([`super::equilibrium`]). Directions without stiffness and unstable ones are
//! those of the lowest modes.

use super::coordinates::largest_component;
use super::dense::dot;
use super::equilibrium::{Equilibrium, LARGEST_RADIUS, ROUNDING};
use super::lanczos::lowest_modes;
use super::linearization::OperatingPoint;
use super::sparse_point::{SparseSaddle, redundant_constraints};
use crate::error::{Error, Result};
use crate::formulation::system::{MotionPoint, System};

/// Largest number of steps.
const MAX_STEPS: usize = 500;
/// First length of a step in the error norm.
const FIRST_RADIUS: f64 = 0.2;
/// Length of a step below which the position is exact.
const EXACT: f64 = 1e-14;
/// Decrease of the force along a step over that of the matrix, as which it counts as predicted.
const AS_PREDICTED: std::ops::Range<f64> = 0.9..1.1;
/// Part of its work that a step may lose at its end, with the other sign.
const OVERSHOOT: f64 = 0.5;
/// Residual of a closed constraint, relative to its scale; one that is accepted if it does not decrease; corrections.
const CLOSED: f64 = 1e-14;
const NEARLY_CLOSED: f64 = 1e-11;
const CORRECTIONS: usize = 30;
/// Growth of the shift where a step goes uphill, and its decrease after a step.
const SHIFT_GROWTH: f64 = 4.0;
const SHIFT_DECREASE: f64 = 0.2;
/// Shift over accelerations per length below which it is zero.
const SMALLEST_SHIFT: f64 = 1e-4;
/// Modes that are looked at for stability.
const LOWEST_MODES: usize = 6;

/// A search for an equilibrium.
pub struct SparseEquilibriumSearch<'a> {
    system: &'a dyn System,
    at: OperatingPoint<'a>,
    redundant: Vec<bool>,
    active: Vec<bool>,
    rest: Vec<f64>,
    /// [M Gᵀ; G 0] at the last imbalance.
    mass: SparseSaddle,
    /// [K + σM Gᵀ; G 0]
    stiffness: SparseSaddle,
}

/// The point at rest at q with these multipliers.
fn point<'b>(
    at: OperatingPoint<'b>,
    q: &'b [f64],
    rest: &'b [f64],
    lambda: &'b [f64],
) -> OperatingPoint<'b> {
    let motion = MotionPoint {
        q,
        v: rest,
        a: rest,
        lambda,
    };
    OperatingPoint { motion, ..at }
}

/// Forces at a position that nothing balances.
struct Imbalance {
    /// M a = f − Gᵀλ
    force: Vec<f64>,
    /// a
    acceleration: Vec<f64>,
    /// λ
    lambda: Vec<f64>,
}

impl<'a> SparseEquilibriumSearch<'a> {
    /// A search from a point with its inputs; velocities are ignored. `None` for a system with events, integrals, friction or matrices
    /// in other coordinates.
    pub fn new(system: &'a dyn System, at: OperatingPoint<'a>) -> Option<Self> {
        let (size, properties) = (system.dimensions(), system.properties());
        let other = system.partitioning().is_some() || system.descriptor_form().is_some();
        if other || size.ne > 0 || size.integrals > 0 || properties.has_constraint_friction {
            return None;
        }
        let redundant = redundant_constraints(system, &at)?;
        let mut active = vec![true; size.nc];
        system.active_constraints(at.cx.modes, &mut active);
        Some(Self {
            system,
            at,
            redundant,
            active,
            rest: vec![0.0; size.nv],
            mass: SparseSaddle::empty(system),
            stiffness: SparseSaddle::empty(system),
        })
    }

    /// The equilibrium next to the position of the point.
    pub fn find(mut self) -> Result<Equilibrium> {
        let mut q = self.at.motion.q.to_vec();
        let (mut radius, mut shift, mut shortest) = (FIRST_RADIUS, 0.0, f64::INFINITY);
        let mut here = self.imbalance(&q)?;
        for step in 0..MAX_STEPS {
            let accelerations = self.norm(&q, &here.acceleration);
            let w = (self.newton_step(&q, &here, shift))
                .filter(|w| dot(w, &here.force) > 0.0 || self.norm(&q, w) < ROUNDING);
            let Some(mut w) = w else {
                shift = (SHIFT_GROWTH * shift).max(SMALLEST_SHIFT * accelerations / radius);
                if !shift.is_finite() || shift > 1e12 * accelerations {
                    return Err(self.failure("no direction leads downhill"));
                }
                continue;
            };
            let length = self.norm(&q, &w);
            let stalled = length < ROUNDING && length > 0.5 * shortest;
            if shift == 0.0 && (length <= EXACT || stalled) {
                return Ok(self.finished(q, here, step));
            }
            shortest = shortest.min(length);
            let part = (radius / length).min(1.0);
            w.iter_mut().for_each(|w| *w *= part);
            radius = self.take_step(&mut q, &mut here, &w, (part, radius))?;
            shift *= SHIFT_DECREASE;
            if shift < SMALLEST_SHIFT * accelerations {
                shift = 0.0;
            }
        }
        Err(self.failure("no convergence"))
    }

    fn failure(&self, reason: &str) -> Error {
        Error::NoEquilibrium {
            time: self.at.cx.t,
            reason: reason.to_owned(),
        }
    }

    fn norm(&self, q: &[f64], w: &[f64]) -> f64 {
        self.system.norm(&self.at.cx, q, self.at.scale, w)
    }

    fn force(&self, q: &[f64]) -> Option<Vec<f64>> {
        let mut force = self.rest.clone();
        (self.system.force(&self.at.cx, q, &self.rest, &mut force)).ok()?;
        force.iter().all(|f| f.is_finite()).then_some(force)
    }

    fn imbalance(&mut self, q: &[f64]) -> Result<Imbalance> {
        let undefined = self.failure("forces are not defined on the way");
        let Some(mut acceleration) = self.force(q) else {
            return Err(undefined);
        };
        let mut lambda = vec![0.0; self.active.len()];
        let (none, weights) = (lambda.clone(), [1.0, 0.0, 0.0]);
        let at = point(self.at, q, &self.rest, &none);
        if (self.mass)
            .factor(self.system, &at, &self.redundant, weights)
            .is_none()
        {
            return Err(undefined);
        }
        self.mass.solve(&mut acceleration, &mut lambda);
        let mut force = self.rest.clone();
        (self.system).mass_times(&self.at.cx, q, &acceleration, &mut force);
        Ok(Imbalance {
            force,
            acceleration,
            lambda,
        })
    }

    /// w; `None` where the matrix is singular.
    fn newton_step(&mut self, q: &[f64], here: &Imbalance, shift: f64) -> Option<Vec<f64>> {
        let mut w = here.force.clone();
        let mut mu = vec![0.0; self.active.len()];
        let at = point(self.at, q, &self.rest, &here.lambda);
        let weights = [shift, 0.0, 1.0];
        (self.stiffness).factor(self.system, &at, &self.redundant, weights)?;
        self.stiffness.solve(&mut w, &mut mu);
        w.iter().all(|w| w.is_finite()).then_some(w)
    }

    /// Moves q by w, which is the part `of_newton` of Newton's step, or by a part of it. Returns the bound of the next step. Steps
    /// longer than [`LARGEST_RADIUS`] have to decrease the forces as the matrix says, which they do not where bodies turn far.
    fn take_step(
        &mut self,
        q: &mut Vec<f64>,
        here: &mut Imbalance,
        w: &[f64],
        (of_newton, radius): (f64, f64),
    ) -> Result<f64> {
        let before = dot(&here.force, w);
        let mut part = 1.0;
        for _ in 0..60 {
            let shift: Vec<f64> = w.iter().map(|w| part * w).collect();
            if let Some(moved) = self.moved(q, &shift)
                && let Ok(there) = self.imbalance(&moved)
            {
                let after = dot(&there.force, w);
                let length = self.norm(q, &shift);
                let decrease = (before - after) / (before * of_newton * part);
                let predicted = AS_PREDICTED.contains(&decrease);
                if after >= -OVERSHOOT * before.abs() && (length <= LARGEST_RADIUS || predicted) {
                    let largest = match predicted {
                        true => f64::INFINITY,
                        false => LARGEST_RADIUS,
                    };
                    (*here, *q) = (there, moved);
                    let grown = if part == 1.0 { radius } else { length };
                    return Ok((2.0 * grown).clamp(ROUNDING, largest));
                }
                // The matrix of the start closes the shorter step.
                self.imbalance(q)?;
            }
            part *= 0.4;
        }
        Err(self.failure("no step decreases the forces"))
    }

    /// q ∘ w with closed constraints.
    fn moved(&mut self, q: &[f64], w: &[f64]) -> Option<Vec<f64>> {
        let (system, size) = (self.system, self.system.dimensions());
        let mut moved = vec![0.0; size.nq];
        system.retract(q, w, &mut moved);
        let (mut phi, mut last) = (vec![0.0; size.nc], f64::INFINITY);
        for _ in 0..CORRECTIONS {
            if !moved.iter().all(|x| x.is_finite()) {
                return None;
            }
            system.constraint(&self.at.cx, &moved, &mut phi);
            let counts = |row: usize| self.active[row] && !self.redundant[row];
            let open = (0..size.nc).filter(|&row| counts(row));
            let open = open.map(|row| phi[row].abs() / system.constraint_scale(row));
            let worst = open.fold(0.0, f64::max);
            if worst <= CLOSED || (worst <= NEARLY_CLOSED && worst > 0.5 * last) {
                return Some(moved);
            }
            if !(worst < 2.0 * last) {
                return None;
            }
            last = worst;
            let mut mu: Vec<f64> = (0..size.nc)
                .map(|row| if counts(row) { -phi[row] } else { 0.0 })
                .collect();
            let mut dx = self.rest.clone();
            self.mass.solve(&mut dx, &mut mu);
            let from = moved.clone();
            system.retract(&from, &dx, &mut moved);
        }
        None
    }

    fn finished(&self, q: Vec<f64>, here: Imbalance, steps: usize) -> Equilibrium {
        let mut w = self.rest.clone();
        self.system.difference(self.at.motion.q, &q, &mut w);
        let moved = self.norm(&q, &w);
        let at = point(self.at, &q, &self.rest, &here.lambda);
        let lowest = lowest_modes(self.system, &at, &self.redundant, LOWEST_MODES);
        let lowest = lowest.unwrap_or_default();
        let named = |chosen: fn(f64) -> bool| {
            let mut names: Vec<String> = (lowest.iter())
                .filter(|mode| chosen(mode.square))
                .map(|mode| largest_component(self.system, &mode.shape))
                .collect();
            names.dedup();
            names
        };
        Equilibrium {
            modes: self.at.cx.modes.to_vec(),
            steps,
            moved,
            integrals: Vec::new(),
            free: named(|square| square == 0.0),
            unstable: named(|square| square < 0.0),
            lambda: here.lambda,
            q,
        }
    }
}
