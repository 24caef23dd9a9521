//! Small hand-written systems, one for each feature of the `System` interface: vector coordinates, constraints, M(q), closed loops in
//! relative coordinates, moving constraints, rotations, modes and events, impacts and unilateral constraints. All have exact
//! derivatives and known solutions.

pub mod andrews;
pub mod bounce;
pub mod chain;
pub mod contacts;
pub mod driven_oscillator;
pub mod driven_pendulum;
pub mod first_paper;
pub mod fragile;
pub mod heavy_top;
pub mod impact;
pub mod natural_double_pendulum;
pub mod oscillator;
pub mod parting;
pub mod pendulum;
pub mod relative;
pub mod stick_slip;
pub mod wall_pendulum;
pub mod watched;

use biela::formulation::{EvaluationContext, MotionPoint, System, TangentWeights};
use nalgebra::{DMatrix, DVector};

/// No inputs, parameters or modes.
pub const STILL: EvaluationContext = EvaluationContext {
    t: 0.0,
    u: &[],
    u_dot: &[],
    u_ddot: &[],
    p: &[],
    modes: &[],
    integrals: &[],
};

/// All entries of an n x m matrix, by rows.
pub fn full(n: usize, m: usize) -> Vec<(u32, u32)> {
    (0..n as u32)
        .flat_map(|i| (0..m as u32).map(move |j| (i, j)))
        .collect()
}

/// Accelerations and multipliers of a state, by dense solution of the saddle-point equations with the active constraints.
pub fn accelerations(
    system: &dyn System,
    cx: &EvaluationContext,
    q: &[f64],
    v: &[f64],
) -> (Vec<f64>, Vec<f64>) {
    let size = system.dimensions();
    let (n, nc) = (size.nv, size.nc);
    let pattern = system.sparsity();
    let mut matrix = DMatrix::zeros(n + nc, n + nc);
    let mut values = vec![0.0; pattern.tangent.len()];
    system
        .tangent(
            cx,
            &MotionPoint {
                q,
                v,
                a: &vec![0.0; n],
                lambda: &vec![0.0; nc],
            },
            &TangentWeights::MASS,
            &mut values,
        )
        .expect("the mass matrix exists");
    for (&(i, j), x) in pattern.tangent.iter().zip(&values) {
        matrix[(i as usize, j as usize)] += x;
    }
    let mut values = vec![0.0; pattern.jacobian.len()];
    system.jacobian(cx, q, &mut values);
    let mut active = vec![true; nc];
    system.active_constraints(cx.modes, &mut active);
    for (&(i, j), x) in pattern.jacobian.iter().zip(&values) {
        if active[i as usize] {
            matrix[(n + i as usize, j as usize)] += x;
            matrix[(j as usize, n + i as usize)] += x;
        }
    }
    let mut right = DVector::zeros(n + nc);
    let (force, gamma) = right.as_mut_slice().split_at_mut(n);
    system.force(cx, q, v, force).expect("the force exists");
    system.constraint_acceleration_bias(cx, q, v, gamma);
    for i in 0..nc {
        if active[i] {
            gamma[i] = -gamma[i];
        } else {
            gamma[i] = 0.0;
            matrix[(n + i, n + i)] = 1.0;
        }
    }
    let x = matrix
        .lu()
        .solve(&right)
        .expect("the saddle-point matrix is regular");
    (x.as_slice()[..n].to_vec(), x.as_slice()[n..].to_vec())
}

/// A point of a motion.
pub fn motion<'a>(q: &'a [f64], v: &'a [f64], a: &'a [f64], lambda: &'a [f64]) -> MotionPoint<'a> {
    MotionPoint { q, v, a, lambda }
}
