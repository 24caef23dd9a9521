//! Set-valued Coulomb friction of a closed rigid contact. With N the normal force, u the slip velocity and F the friction force:
//!
//! ```text
//!   sticks        u = 0 as constraints of velocity, F their multipliers     until |F| = μ_s N
//!   begins        F = −μ(0) N d                                             until |u| = 2 ε (in space)
//!   slips         F = −μ(|u|) N u/|u|, in the plane −μ N d                  until |u| = ε, in the plane u·d = −ε
//! ```
//!
//! Each of these ends is an event, at which all closed contacts are decided together. ε is a velocity far below all that is measured.

use super::body_frame::{BodyFrame, BodyView};
use super::contact::friction_mode;
use super::contact::slip::SlipGeometry;
use super::dual::{Dual, Scalar, plus, times};
use super::friction::Friction;
use super::spatial_force::AppliedWrench;
use crate::formulation::absolute::sparsity::pick;
use crate::formulation::{ContactFriction, Crossing, EvaluationContext, MotionPoint, StickLimit};
use crate::linalg::elementary::hypot;
use crate::model::BodyRef;

/// Set-valued friction of a contact.
#[derive(Clone, Debug)]
pub struct SetValuedFriction {
    /// Its tangential axes.
    pub geometry: SlipGeometry,
    /// Rows of the constraints that make it stick; one in the plane.
    pub rows: Vec<usize>,
    /// Levels.
    pub friction: Friction,
    /// ε (m/s).
    pub rest_speed: f64,
    /// Excess of force that is rounding (N).
    pub tolerance: f64,
}

/// A contact that sticks.
#[derive(Clone, Copy, Debug)]
pub struct StickingContact<const N: usize> {
    /// Bodies.
    pub bodies: [BodyRef; 2],
    /// Its event of friction.
    pub event: usize,
    /// Gradients of its slip.
    pub gradients: [[f64; N]; 2],
    /// Friction along its axes.
    pub forces: [f64; 2],
    /// μ_s N
    pub capacity: f64,
    /// Excess of force that is rounding (N).
    pub tolerance: f64,
}

impl SetValuedFriction {
    fn is_planar(&self) -> bool {
        self.rows.len() == 1
    }

    /// The friction on body 1 for a normal force `normal` in a mode of slip; zero where the contact sticks.
    pub fn slip_wrench<T: Scalar>(
        &self,
        cx: &EvaluationContext,
        mode: i32,
        normal: f64,
        frames: &[BodyFrame<T>; 2],
    ) -> AppliedWrench<T> {
        let Some((d, moves)) = friction_mode::slip(mode) else {
            return AppliedWrench::zero();
        };
        let (point, axes) = self.geometry.axes_at(frames);
        let u = self.geometry.velocity(frames);
        let level = |speed: T| {
            let (level, slope) = self.friction.slip_level(cx, speed.value().max(0.0));
            speed.chain(level, slope)
        };
        let force = if self.is_planar() {
            times(level(u[0] * d[0]) * (-normal * d[0]), &axes[0])
        } else if moves {
            let speed = (u[0] * u[0] + u[1] * u[1]).sqrt();
            let drag = level(speed) / speed * -normal;
            plus(&times(drag * u[0], &axes[0]), &times(drag * u[1], &axes[1]))
        } else {
            let drag = -normal * self.friction.slip_level(cx, 0.0).0;
            let [x, y] = d.map(|d| T::constant(drag * d));
            plus(&times(x, &axes[0]), &times(y, &axes[1]))
        };
        AppliedWrench::at_point(force, point)
    }

    /// The friction on body 1, ground axes, whether it sticks or slips.
    pub fn force(
        &self,
        cx: &EvaluationContext,
        normal: f64,
        frames: &[BodyFrame<f64>; 2],
        lambda: &[f64],
    ) -> [f64; 3] {
        let mode = cx.modes[1];
        if !friction_mode::sticks(mode) {
            return self.slip_wrench(cx, mode, normal, frames).force;
        }
        let (_, axes) = self.geometry.axes_at(frames);
        let reported = friction_mode::reported_force(cx.modes, normal);
        let shares = self.along_axes(reported, lambda);
        plus(&times(shares[0], &axes[0]), &times(shares[1], &axes[1]))
    }

    /// Friction of a contact that sticks, along its axes.
    fn shares(&self, modes: &[i32], lambda: &[f64]) -> [f64; 2] {
        self.along_axes(friction_mode::shared_force(modes), lambda)
    }

    fn along_axes(&self, shared: [f64; 3], lambda: &[f64]) -> [f64; 2] {
        let along = |k: usize| {
            let row = self.rows.get(k);
            row.map_or(0.0, |&row| shared[k + 1] - lambda[row])
        };
        [along(0), along(1)]
    }

    /// Excess of friction over its limit that is rounding.
    fn rounding(&self, modes: &[i32]) -> f64 {
        let sum: f64 = friction_mode::shared_force(modes)
            .iter()
            .map(|f| f.abs())
            .sum();
        self.tolerance + friction_mode::SHARE_ROUNDING * sum
    }

    /// The event function of friction and its rate, in the modes of the context.
    pub fn event<W: BodyView<N>, const N: usize>(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        at: &MotionPoint,
        normal: f64,
    ) -> (f64, f64) {
        let mode = cx.modes[1];
        if friction_mode::sticks(mode) {
            let capacity = self.friction.r#static.get(cx) * normal.max(0.0);
            let [x, y] = self.shares(cx.modes, at.lambda);
            let left = capacity - hypot(x, y) + self.rounding(cx.modes);
            return (left, f64::NAN);
        }
        let Some((d, moves)) = friction_mode::slip(mode) else {
            return (1.0, 0.0);
        };
        let bodies = self.geometry.bodies;
        let frames = W::frames_with_derivatives(poses, bodies, at.v);
        let (v, a) = (pick(bodies, at.v), pick(bodies, at.a));
        let u: [Dual<N>; 2] = self.geometry.velocity(&frames);
        let rate = u.map(|u| u.rate_along(&v, &a));
        if self.is_planar() {
            return (u[0].x * d[0] + self.rest_speed, rate[0] * d[0]);
        }
        let speed = hypot(u[0].x, u[1].x);
        let slope = (u[0].x * rate[0] + u[1].x * rate[1]) / speed;
        let bound = if moves { 1.0 } else { 2.0 } * self.rest_speed;
        (speed - bound, slope)
    }

    /// Which zero crossings of the event count in a mode.
    pub fn crossing(&self, mode: i32) -> Crossing {
        match friction_mode::slip(mode) {
            Some((_, moves)) if !moves && !self.is_planar() => Crossing::Rising,
            None if !friction_mode::sticks(mode) => Crossing::Off,
            _ => Crossing::Falling,
        }
    }

    /// The initial mode of a closed contact.
    pub fn initial_mode(&self, frames: &[BodyFrame<f64>; 2]) -> i32 {
        let u = self.geometry.velocity(frames);
        let speed = hypot(u[0], u[1]);
        friction_mode::mode_of(if speed <= self.rest_speed {
            ContactFriction::Stick([true; 2])
        } else {
            ContactFriction::Slip {
                direction: u.map(|u| u / speed),
                moves: true,
            }
        })
    }

    /// What decides whether the contact sticks.
    pub fn limit(&self, cx: &EvaluationContext, event: usize) -> StickLimit {
        StickLimit {
            r#static: self.friction.r#static.get(cx),
            kinetic: self.friction.slip_level(cx, 0.0).0,
            rest_speed: self.rest_speed,
            event,
        }
    }

    /// The contact, if it sticks in the modes of the context.
    pub fn sticking<W: BodyView<N>, const N: usize>(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        at: &MotionPoint,
        (normal, event): (f64, usize),
    ) -> Option<StickingContact<N>> {
        if !friction_mode::sticks(cx.modes[1]) {
            return None;
        }
        let frames = W::frames_at_rest(poses, self.geometry.bodies);
        let mut contact = StickingContact {
            bodies: self.geometry.bodies,
            event,
            gradients: [[0.0; N]; 2],
            forces: self.shares(cx.modes, at.lambda),
            capacity: self.friction.r#static.get(cx) * normal.max(0.0),
            tolerance: self.rounding(cx.modes),
        };
        for k in 0..self.rows.len() {
            contact.gradients[k] = self.geometry.gradient::<W, f64, N>(&frames, k);
        }
        Some(contact)
    }
}

/// Pivot of a symmetric elimination that is rounding, relative to its diagonal entry.
const DEPENDENT: f64 = 1e-9;

/// Shares the friction of contacts that stick between the same two bodies, and rewrites their event functions. The constraints of some
/// follow from those of the others; what they carry together is distributed in proportion to what each can carry:
///
/// ```text
///   minimise Σ |F_i|²/(μ_s N_i),      Σ g_iᵀ F_i as found       =>  F_i = μ_s N_i g_i·η,    (Σ μ_s N_i g_i g_iᵀ) η = Σ g_i F_i
/// ```
///
/// The share in which they have more left is taken: that, or the one found.
pub fn share<const N: usize>(contacts: &[StickingContact<N>], phi: &mut [f64]) {
    for (i, first) in contacts.iter().enumerate() {
        let same = |other: &&StickingContact<N>| other.bodies == first.bodies;
        if contacts[..i].iter().any(|other| same(&other))
            || contacts.iter().filter(same).count() < 2
        {
            continue;
        }
        let mut matrix = [[0.0; N]; N];
        let mut y = [0.0; N];
        for contact in contacts.iter().filter(same) {
            for (g, force) in contact.gradients.iter().zip(contact.forces) {
                for r in 0..N {
                    y[r] += g[r] * force;
                    for c in 0..N {
                        matrix[r][c] += contact.capacity * g[r] * g[c];
                    }
                }
            }
        }
        let eta = solve_singular(matrix, y);
        let left = |contact: &StickingContact<N>| {
            let f = contact.gradients.map(|g| {
                let sum: f64 = (0..N).map(|k| g[k] * eta[k]).sum();
                contact.capacity * sum
            });
            contact.capacity - hypot(f[0], f[1]) + contact.tolerance
        };
        let least = |m: f64, x: f64| m.min(x);
        let group = || contacts.iter().filter(same);
        let found = group().map(|c| phi[c.event]).fold(f64::INFINITY, least);
        if group().map(left).fold(f64::INFINITY, least) > found {
            group().for_each(|contact| phi[contact.event] = left(contact));
        }
    }
}

/// A solution of a consistent system with a positive semidefinite matrix.
fn solve_singular<const N: usize>(mut a: [[f64; N]; N], mut b: [f64; N]) -> [f64; N] {
    let diagonal: [f64; N] = std::array::from_fn(|k| a[k][k]);
    let mut used = [false; N];
    let mut pivots = [usize::MAX; N];
    let mut count = 0;
    while let Some(k) = (0..N)
        .filter(|&k| !used[k] && a[k][k] > DEPENDENT * diagonal[k])
        .max_by(|&i, &j| (a[i][i] * diagonal[j]).total_cmp(&(a[j][j] * diagonal[i])))
    {
        used[k] = true;
        pivots[count] = k;
        count += 1;
        for r in 0..N {
            if used[r] {
                continue;
            }
            let factor = a[r][k] / a[k][k];
            for c in 0..N {
                a[r][c] -= factor * a[k][c];
            }
            b[r] -= factor * b[k];
        }
    }
    let mut x = [0.0; N];
    for &k in pivots[..count].iter().rev() {
        let sum: f64 = (0..N).filter(|&c| c != k).map(|c| a[k][c] * x[c]).sum();
        x[k] = (b[k] - sum) / a[k][k];
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_contacts_share_in_proportion_to_what_they_can_carry() {
        let contact = |event, x: f64, force, capacity| StickingContact::<6> {
            bodies: [None, Some(0)],
            event,
            gradients: [[0.0, 0.0, 0.0, 1.0, 0.0, x], [0.0; 6]],
            forces: [force, 0.0],
            capacity,
            tolerance: 0.0,
        };
        // Both act along one line: their gradients are equal.
        let mut phi = [-2.0, 6.0];
        share(
            &[contact(0, 0.5, 4.0, 2.0), contact(1, 0.5, 0.0, 6.0)],
            &mut phi,
        );
        assert!(
            (phi[0] - 1.0).abs() < 1e-12 && (phi[1] - 3.0).abs() < 1e-12,
            "{phi:?}"
        );
        // They do not: each keeps its own.
        let mut phi = [0.5, 5.5];
        share(
            &[contact(0, 0.5, 1.5, 2.0), contact(1, -0.5, 0.5, 6.0)],
            &mut phi,
        );
        assert!(
            (phi[0] - 0.5).abs() < 1e-12 && (phi[1] - 5.5).abs() < 1e-12,
            "{phi:?}"
        );
    }
}
