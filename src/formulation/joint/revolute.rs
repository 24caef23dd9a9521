//! The pin: two points stay in one place.
//!
//! ```text
//!   Φ = p₀ − p₁,      γ = −d₀ φ̇₀² + d₁ φ̇₁²,      ∂²(λ·Φ)/∂φ₀² = −λ·d₀,   ∂²(λ·Φ)/∂φ₁² = λ·d₁
//! ```
//!
//! so λ is the force on `bodies[1]`. The coordinate is the angle φ₁ − φ₀. Drawn in the ground frame it starts at the
//! joint's `position`; given in each body's own frame it is the angle between the two frames' axes (x axes of the bodies
//! where no axis lies in the plane) plus `position`.

use std::f64::consts::TAU;

use super::place::Located;
use super::{Load, PlanarJoint, columns};
use crate::formulation::planar::measure::{Measure, Turn};
use crate::formulation::planar::pose::{Point, Poses, Vec2, perp, twist};
use crate::formulation::planar::slots::Slots;

/// A pin.
#[derive(Clone, Debug)]
pub struct Revolute {
    points: [Point; 2],
    coordinate: Measure,
    /// Slots of (φ, φ) of each body.
    slots: [Option<u32>; 2],
}

impl Revolute {
    pub(super) fn new(place: &Located, position: f64, slots: &mut Slots) -> Self {
        let bodies = place.points.map(|p| p.body);
        let offset = if place.drawn {
            position - place.turned
        } else {
            let [reference0, reference1] = place.axes.map(|a| a.y.atan2(a.x));
            let difference = reference1 - reference0;
            position + difference - TAU * (difference / TAU).round()
        };
        Self {
            points: place.points,
            coordinate: Measure::Turn(Turn { bodies, offset }),
            slots: bodies.map(|body| body.map(|b| slots.slot(3 * b + 2, 3 * b + 2))),
        }
    }
}

/// Sign of each side in Φ = p₀ − p₁.
const SIGN: [f64; 2] = [1.0, -1.0];

impl PlanarJoint for Revolute {
    fn rows(&self) -> usize {
        2
    }

    fn pattern(&self, push: &mut dyn FnMut(usize, usize)) {
        for (_, x) in columns(self.points.map(|p| p.body)) {
            push(0, x);
            push(0, x + 2);
            push(1, x + 1);
            push(1, x + 2);
        }
    }

    fn constraint(&self, poses: &mut Poses, phi: &mut [f64]) {
        let mut place = |p: &Point| {
            let pose = poses.get(p.body);
            pose.r + pose.turn(p.s)
        };
        let (p0, p1) = (place(&self.points[0]), place(&self.points[1]));
        phi[0] = p0.x - p1.x;
        phi[1] = p0.y - p1.y;
    }

    fn jacobian(&self, poses: &mut Poses, out: &mut [f64]) -> usize {
        let mut n = 0;
        for (point, sign) in self.points.iter().zip(SIGN) {
            if point.body.is_some() {
                let lever = sign * perp(poses.get(point.body).turn(point.s));
                out[n..n + 4].copy_from_slice(&[sign, lever.x, sign, lever.y]);
                n += 4;
            }
        }
        n
    }

    fn convective(&self, poses: &mut Poses, v: &[f64], gamma: &mut [f64]) {
        let mut inward = |p: &Point| {
            let w = twist(v, p.body).w;
            -w * w * poses.get(p.body).turn(p.s)
        };
        let (g0, g1) = (inward(&self.points[0]), inward(&self.points[1]));
        gamma[0] = g0.x - g1.x;
        gamma[1] = g0.y - g1.y;
    }

    fn stiffness(&self, poses: &mut Poses, lambda: &[f64], factor: f64, out: &mut [f64]) {
        let lambda = Vec2::new(lambda[0], lambda[1]);
        for k in 0..2 {
            if let Some(slot) = self.slots[k] {
                let d = poses.get(self.points[k].body).turn(self.points[k].s);
                out[slot as usize] -= factor * SIGN[k] * lambda.dot(&d);
            }
        }
    }

    fn is_angle(&self, _row: usize) -> bool {
        false
    }

    fn coordinate(&self) -> &Measure {
        &self.coordinate
    }

    fn load(&self, _poses: &mut Poses, lambda: &[f64]) -> Load {
        Load {
            force: Vec2::new(lambda[0], lambda[1]),
            moment: 0.0,
        }
    }
}
