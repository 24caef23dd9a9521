//! Singular positions: the constraints have a smaller rank than beside them, so that neither degrees of freedom nor a linear
//! model are defined. Redundant constraints have the same rank everywhere and are no obstacle.

use nalgebra::{DMatrix, DVector};

use super::linearization::OperatingPoint;
use super::matrices::SystemMatrices;
use super::null_space::NullSpace;
use crate::error::{Error, Result};
use crate::formulation::system::System;
use crate::linalg::random::Random;

/// Number of positions beside this one.
const PROBES: u64 = 3;
/// Their distance in characteristic lengths or radians: gradients change by as much, far above the rounding of a redundant one.
const DISTANCE: f64 = 1e-2;
/// Newton iterations to close the constraints there, and the residual that is accepted.
const ITERATIONS: usize = 12;
const CLOSED: f64 = 1e-11;
/// Conditioning of dependent coordinates below which a position is singular.
const SINGULAR_PARTITION: f64 = 1e-6;

/// An error if the position is singular.
pub(super) fn examine(system: &dyn System, at: &OperatingPoint, here: &NullSpace) -> Result<()> {
    let culprits = |rows: &[usize]| {
        let mut names: Vec<String> = rows.iter().map(|&k| system.constraint_name(k)).collect();
        names.dedup();
        names
    };
    if let Some(partitioning) = system.partitioning()
        && !(partitioning.conditioning(at.motion.q) > SINGULAR_PARTITION)
    {
        let failed = partitioning.dependent_failure();
        return Err(Error::SingularPosition {
            time: at.cx.t,
            culprits: failed.map(|(lost, _)| lost).into_iter().collect(),
        });
    }
    if here.redundant_rows().is_empty() {
        return Ok(());
    }
    let size = system.dimensions();
    let mut matrices = SystemMatrices::new(system);
    let mut there = NullSpace::new(size.nv, size.nc);
    for seed in 1..=PROBES {
        let mut random = Random::new(seed);
        let mut shift = vec![0.0; size.nv];
        for k in 0..here.freedom() {
            let direction = here.direction(k);
            let s = random.signed();
            for (x, n) in shift.iter_mut().zip(direction) {
                *x += s * n;
            }
        }
        let largest = (0..size.nv)
            .map(|i| shift[i].abs() * system.characteristic_length(i))
            .fold(0.0, f64::max);
        if largest == 0.0 {
            return Ok(());
        }
        shift.iter_mut().for_each(|x| *x *= DISTANCE / largest);
        let mut q = vec![0.0; size.nq];
        system.retract(at.motion.q, &shift, &mut q);
        if !close(system, at, &mut matrices, &mut q) {
            continue;
        }
        matrices.load_jacobian(system, &at.cx, &q);
        let length = |i: usize| system.characteristic_length(i);
        there.compute(&matrices.jacobian, &matrices.active, length);
        if there.rank() > here.rank() {
            return Err(Error::SingularPosition {
                time: at.cx.t,
                culprits: culprits(here.redundant_rows()),
            });
        }
    }
    Ok(())
}

/// Closes the constraints by minimum-norm corrections; false if they stay open.
fn close(
    system: &dyn System,
    at: &OperatingPoint,
    matrices: &mut SystemMatrices,
    q: &mut [f64],
) -> bool {
    let size = system.dimensions();
    let mut phi = vec![0.0; size.nc];
    for _ in 0..ITERATIONS {
        matrices.load_jacobian(system, &at.cx, q);
        system.constraint(&at.cx, q, &mut phi);
        for (phi, active) in phi.iter_mut().zip(&matrices.active) {
            if !active {
                *phi = 0.0;
            }
        }
        let open = (0..size.nc).map(|i| phi[i].abs() / system.constraint_scale(i));
        let open = open.fold(0.0, f64::max);
        if open < CLOSED || size.nv == 0 {
            return true;
        }
        let length = |j: usize| system.characteristic_length(j);
        let scaled = DMatrix::from_fn(size.nc, size.nv, |i, j| {
            matrices.jacobian[(i, j)] / (system.constraint_scale(i) * length(j))
        });
        let right = DVector::from_fn(size.nc, |i, _| -phi[i] / system.constraint_scale(i));
        if !scaled.iter().all(|x| x.is_finite()) {
            return false;
        }
        let Ok(x) = scaled.svd(true, true).solve(&right, 1e-6) else {
            return false;
        };
        let shift: Vec<f64> = (0..size.nv).map(|j| x[j] / length(j)).collect();
        let before = q.to_vec();
        system.retract(&before, &shift, q);
    }
    false
}
