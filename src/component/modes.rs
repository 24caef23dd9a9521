//! Modes of an instance at its present time, with shapes by the names of bodies and joints.

use nalgebra::{Complex, Matrix3, Quaternion, UnitQuaternion, Vector3};

use super::Instance;
use super::linearize::{BodyPoint, StateSpace, operating_point};
use super::log::LogCategory;
use super::model_observables::{CoordinateList, ModelObservables};
use crate::analysis::{
    DampedMode, Eigenmode, Observables, OperatingPoint, RealMode, lowest_damped_modes,
    lowest_modes, sparse_point,
};
use crate::error::{Error, Result};
use crate::formulation::system::TangentWeights;
use crate::formulation::{EvaluationContext, Mechanism, MotionPoint};
use crate::integrator::Signals;
use crate::linalg::elementary::rotation_about;
use crate::linalg::sorting::sort_by;
use crate::model::quantity::{BodyField, Quantity};

/// Degrees of freedom from which sparse methods are tried, and the part of all modes that it may be asked for: dense methods take
/// the cube of the degrees of freedom.
const LARGE: usize = 120;
const PART_OF_MODES: usize = 4;
/// Acceleration (error norm, 1/s²) of an equilibrium: rounding of gravity over the size of a body.
const RESTING: f64 = 1e-8;

/// A mode of vibration.
#[derive(Clone, Debug, PartialEq)]
pub struct Mode {
    /// s (1/s), real and imaginary part; of a conjugate pair the one with positive imaginary part. Zero for a rigid-body mode.
    pub eigenvalue: [f64; 2],
    /// |s| / 2π (Hz)
    pub frequency: f64,
    /// Damping ratio −Re s / |s|
    pub damping: f64,
    /// Amplitudes of joint coordinates, positions and rotations (rad) of bodies: name, real and imaginary part. The largest is 1.
    pub shape: Vec<(String, [f64; 2])>,
    /// Share of each body in the kinetic energy.
    pub energy: Vec<(String, f64)>,
}

impl Instance {
    /// The modes at the present time, the lowest first, at most `count`. Rigid-body modes have frequency zero. No bit of the results
    /// that follow changes.
    pub fn modes(&mut self, count: usize) -> Result<Vec<Mode>> {
        let outcome = self.compute_modes(count);
        self.log_failure(LogCategory::Step, &outcome);
        outcome
    }

    /// The lowest modes by the methods of Lanczos and Arnoldi, if the model is large and at rest in an equilibrium.
    fn modes_of_large_model(&mut self, count: usize) -> Result<Option<Vec<Mode>>> {
        self.require_running("computing modes")?;
        self.apply_pending_inputs()?;
        let t = self.time();
        let signals = &mut self.scratch.signals;
        let (u, u_dot, u_ddot) = (&mut signals.u, &mut signals.u_dot, &mut signals.u_ddot);
        self.state.applied.sample(t, u, u_dot, u_ddot);
        let bodies = BodyPoint::of(&*self.mechanism, &self.state);
        let (mechanism, at) =
            operating_point(&*self.mechanism, &self.state, signals, bodies.as_ref());
        if !may_be_large(mechanism, &at) {
            return Ok(None);
        }
        let Some(modes) = lowest_eigenmodes(mechanism, &at, count) else {
            return Ok(None);
        };
        let nv = mechanism.dimensions().nv;
        let list = CoordinateList::new(&self.model, nv, Vec::new());
        let observables = ModelObservables {
            mechanism,
            list: &list,
            reactions: None,
        };
        let mut modes: Vec<Mode> = (modes.iter())
            .map(|DampedMode { eigenvalue, shape }| {
                let motion = (&at.cx, &at.motion);
                named_mode(&self.model, &observables, motion, *eigenvalue, shape)
            })
            .collect();
        sort_by(&mut modes, |a, b| a.frequency.total_cmp(&b.frequency));
        modes.truncate(count);
        Ok(Some(modes))
    }

    fn compute_modes(&mut self, count: usize) -> Result<Vec<Mode>> {
        if let Some(found) = self.modes_of_large_model(count)? {
            return Ok(found);
        }
        let mut linear = StateSpace::default();
        self.linearize_into(&mut linear)?;
        let time = self.time();
        let Some(tool) = self.linearizer.take() else {
            return Ok(Vec::new());
        };
        let signals = &self.scratch.signals;
        let (mechanism, at) =
            operating_point(&*self.mechanism, &self.state, signals, tool.bodies.as_ref());
        let observables = ModelObservables {
            mechanism,
            list: &tool.list,
            reactions: None,
        };
        let named = |mode: &Eigenmode| {
            let part = |of: fn(&Complex<f64>) -> f64| {
                let y: Vec<f64> = mode.shape.iter().map(of).collect();
                tool.linearizer.displacement(&y)
            };
            let shifts = [part(|x| x.re)?, part(|x| x.im)?];
            let motion = (&at.cx, &at.motion);
            Some(named_mode(
                &self.model,
                &observables,
                motion,
                mode.eigenvalue,
                &shifts,
            ))
        };
        let found = (tool.linearizer)
            .second_order(mechanism, &at, &tool.model)
            .and_then(|system| crate::analysis::modes::modes(&system))
            .and_then(|mut found| {
                found.truncate(count);
                found.iter().map(named).collect::<Option<Vec<Mode>>>()
            });
        self.linearizer = Some(tool);
        found.ok_or_else(|| Error::Evaluation {
            time,
            culprit: "modes".to_string(),
        })
    }
}

/// Whether a system is at rest and may be large.
fn may_be_large(mechanism: &dyn Mechanism, at: &OperatingPoint) -> bool {
    let (size, properties) = (mechanism.dimensions(), mechanism.properties());
    size.nv >= LARGE
        && mechanism.partitioning().is_none()
        && !properties.has_constraint_friction
        && size.integrals == 0
        && at.motion.v.iter().all(|v| *v == 0.0)
}

/// The lowest modes of a large system at rest; `None` if it is not large or not in equilibrium, or where the methods do not converge.
fn lowest_eigenmodes(
    mechanism: &dyn Mechanism,
    at: &OperatingPoint,
    count: usize,
) -> Option<Vec<DampedMode>> {
    let redundant = sparse_point::redundant_constraints(mechanism, at)?;
    let size = mechanism.dimensions();
    let mut active = vec![true; size.nc];
    mechanism.active_constraints(at.cx.modes, &mut active);
    let constraints = active.iter().zip(&redundant).filter(|(a, r)| **a && !**r);
    let freedom = size.nv.saturating_sub(constraints.count());
    if freedom < LARGE || count > freedom / PART_OF_MODES {
        return None;
    }
    let (a, lambda) = sparse_point::balance(mechanism, at, &redundant)?;
    if mechanism.norm(&at.cx, at.motion.q, at.scale, &a) > RESTING {
        return None;
    }
    let still = vec![0.0; a.len()];
    let at = OperatingPoint {
        motion: MotionPoint {
            a: &still,
            lambda: &lambda,
            ..at.motion
        },
        ..*at
    };
    let damping = TangentWeights {
        mass: 0.0,
        damping: 1.0,
        stiffness: 0.0,
        theta: &[],
    };
    let mut values = vec![0.0; mechanism.sparsity().tangent.len()];
    (mechanism.tangent(&at.cx, &at.motion, &damping, &mut values)).ok()?;
    if values.iter().any(|c| *c != 0.0) {
        return lowest_damped_modes(mechanism, &at, &redundant, count);
    }
    let found = lowest_modes(mechanism, &at, &redundant, count)?;
    let mut modes = Vec::new();
    for RealMode { square, shape } in found {
        let eigenvalues = match square.abs().sqrt() {
            omega if square >= 0.0 => vec![Complex::new(0.0, omega)],
            rate => vec![Complex::new(rate, 0.0), Complex::new(-rate, 0.0)],
        };
        for eigenvalue in eigenvalues {
            let shape = [shape.clone(), still.clone()];
            modes.push(DampedMode { eigenvalue, shape });
        }
    }
    Some(modes)
}

/// A mode with the names of its shape, whose displacements of the system are given by real and imaginary part.
fn named_mode(
    model: &crate::model::Model,
    observables: &ModelObservables,
    (cx, at): (&EvaluationContext, &MotionPoint),
    eigenvalue: Complex<f64>,
    shifts: &[Vec<f64>; 2],
) -> Mode {
    let names = &observables.list.names;
    let all: Vec<usize> = (0..names.len()).collect();
    let zero = vec![0.0; at.v.len()];
    let rates = |v: &[f64]| {
        let motion = MotionPoint { v, a: &zero, ..*at };
        let (mut rate, mut acceleration) = (vec![0.0; all.len()], vec![0.0; all.len()]);
        observables.coordinate_motion(cx, &motion, &all, (&mut rate, &mut acceleration));
        rate
    };
    let drift = rates(&zero);
    let amplitude = shifts.each_ref().map(|shift| {
        let moved = rates(shift).into_iter().zip(&drift);
        moved.map(|(x, drift)| x - drift).collect::<Vec<f64>>()
    });
    let complex = |i: usize| Complex::new(amplitude[0][i], amplitude[1][i]);
    // The largest amplitude becomes 1; coordinates that are not defined here are left out.
    let defined = all.iter().copied().filter(|&i| complex(i).is_finite());
    let mut largest = Complex::new(0.0, 0.0);
    for i in defined.clone() {
        if complex(i).norm() > largest.norm() * (1.0 + 1e-9) {
            largest = complex(i);
        }
    }
    if largest.norm() == 0.0 {
        largest = Complex::new(1.0, 0.0);
    }
    let clean = |x: f64| if x.abs() < 1e-12 { 0.0 } else { x };
    let shape = defined.map(|i| {
        let x = complex(i) / largest;
        (names[i].position.clone(), [clean(x.re), clean(x.im)])
    });
    let mode = Eigenmode {
        eigenvalue,
        shape: Vec::new(),
    };
    Mode {
        eigenvalue: [eigenvalue.re, eigenvalue.im],
        frequency: mode.frequency(),
        damping: mode.damping(),
        shape: shape.collect(),
        energy: energy_shares(model, observables.mechanism, (cx, at), shifts),
    }
}

/// Share of each body in the kinetic energy of the velocities given by real and imaginary part.
fn energy_shares(
    model: &crate::model::Model,
    mechanism: &dyn Mechanism,
    (cx, at): (&EvaluationContext, &MotionPoint),
    shifts: &[Vec<f64>; 2],
) -> Vec<(String, f64)> {
    let mut shares: Vec<(String, f64)> = Vec::new();
    for (i, body) in model.bodies.iter().enumerate() {
        let value = |field: BodyField, motion: &MotionPoint| {
            mechanism.evaluate(cx, Quantity::Body(i, field), motion)
        };
        let axes = if model.dimension == 2 {
            let angle = value(BodyField::Angle, at);
            rotation_about(&Vector3::z_axis(), angle)
        } else {
            let [w, x, y, z] = [0, 1, 2, 3].map(|k| value(BodyField::Quaternion(k), at));
            UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z))
        };
        let [xx, yy, zz, xy, xz, yz] = body.inertia;
        let inertia = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
        let mut energy = 0.0;
        for shift in shifts {
            let motion = MotionPoint { v: shift, ..*at };
            let vector = |field: fn(usize) -> BodyField| {
                Vector3::from_fn(|k, _| {
                    let planar = model.dimension == 2;
                    // In the plane only x, y and the rotation about z exist.
                    let exists = !planar || (k < 2) == matches!(field(k), BodyField::Velocity(_));
                    if exists {
                        value(field(k), &motion)
                    } else {
                        0.0
                    }
                })
            };
            let omega = vector(BodyField::AngularVelocity);
            let arm = axes * Vector3::from(body.center_of_mass);
            let velocity = vector(BodyField::Velocity) + omega.cross(&arm);
            let turning = axes.inverse_transform_vector(&omega);
            energy += body.mass * velocity.norm_squared() + turning.dot(&(inertia * turning));
        }
        shares.push((body.name.clone(), energy));
    }
    let total: f64 = shares.iter().map(|(_, energy)| energy).sum();
    if total > 0.0 {
        shares.iter_mut().for_each(|(_, energy)| *energy /= total);
    }
    shares
}
