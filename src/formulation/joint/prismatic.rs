//! The slide: no turning, and no travel across an axis t fixed in `bodies[0]`.
//!
//! ```text
//!   Φ₁ = φ₁ − φ₀ − turned,      Φ₂ = n·(p₁ − p₀),      n = t⊥
//! ```
//!
//! so the force on `bodies[1]` at its joint point is −n λ₂ and the moment there −λ₁. The coordinate is t·(p₁ − p₀), plus the
//! joint's `position`.

use std::f64::consts::TAU;

use super::place::{Located, refuse};
use super::{Load, PlanarJoint, columns};
use crate::error::Result;
use crate::formulation::planar::measure::{Measure, Slide};
use crate::formulation::planar::pose::{Poses, Vec2, perp};
use crate::formulation::planar::slots::{Pair, Slots};
use crate::model::{self, BodyRef, Model};

/// A slide.
#[derive(Clone, Debug)]
pub struct Prismatic {
    bodies: [BodyRef; 2],
    /// φ₁ − φ₀, held.
    turned: f64,
    /// Across the axis, held at zero.
    across: Slide,
    /// Along the axis.
    coordinate: Measure,
    pair: Pair,
}

/// Below this length an axis has no direction in the plane; axes are unit vectors.
const NO_AXIS: f64 = 1e-9;

impl Prismatic {
    pub(super) fn new(
        model: &Model,
        joint: &model::Joint,
        place: &Located,
        slots: &mut Slots,
    ) -> Result<Self> {
        let mut axes = place.axes;
        for axis in &mut axes {
            let size = axis.norm();
            if size < NO_AXIS {
                return Err(refuse(
                    model,
                    joint,
                    "is prismatic but its axis has no direction in the plane",
                ));
            }
            *axis /= size;
        }
        // Drawn in the ground frame the two axes are one; in body frames they fix the angle up to whole turns, and the turn
        // nearest to the start pose is meant.
        let turned = if place.drawn {
            place.turned
        } else {
            let [reference0, reference1] = axes.map(|a| a.y.atan2(a.x));
            let turned = reference0 - reference1;
            turned + TAU * ((place.turned - turned) / TAU).round()
        };
        let [p0, p1] = place.points;
        let bodies = [p0.body, p1.body];
        let slide = |direction: Vec2, position: f64| Slide {
            body: p0.body,
            direction,
            point: p1,
            offset: position - direction.dot(&p0.s),
        };
        Ok(Self {
            bodies,
            turned,
            across: slide(perp(axes[0]), 0.0),
            coordinate: Measure::Slide(slide(axes[0], joint.position)),
            pair: slots.pair(bodies, Slide::curved),
        })
    }
}

impl PlanarJoint for Prismatic {
    fn rows(&self) -> usize {
        2
    }

    fn pattern(&self, push: &mut dyn FnMut(usize, usize)) {
        for (_, x) in columns(self.bodies) {
            push(0, x + 2);
            push(1, x);
            push(1, x + 1);
            push(1, x + 2);
        }
    }

    fn constraint(&self, poses: &mut Poses, phi: &mut [f64]) {
        let [angle0, angle1] = self.bodies.map(|b| poses.get(b).angle);
        phi[0] = angle1 - angle0 - self.turned;
        phi[1] = self.across.travel(poses);
    }

    fn jacobian(&self, poses: &mut Poses, out: &mut [f64]) -> usize {
        let (_, g) = self.across.value(poses);
        let mut n = 0;
        for (side, _) in columns(self.bodies) {
            out[n] = if side == 0 { -1.0 } else { 1.0 };
            out[n + 1..n + 4].copy_from_slice(&g[3 * side..3 * side + 3]);
            n += 4;
        }
        n
    }

    fn convective(&self, poses: &mut Poses, v: &[f64], gamma: &mut [f64]) {
        gamma[0] = 0.0;
        gamma[1] = self.across.curvature(poses, v);
    }

    fn stiffness(&self, poses: &mut Poses, lambda: &[f64], factor: f64, out: &mut [f64]) {
        let h = self.across.hessian(poses);
        let factor = factor * lambda[1];
        for i in 0..6 {
            for j in 0..6 {
                self.pair.add(i, j, factor * h[i][j], out);
            }
        }
    }

    fn is_angle(&self, row: usize) -> bool {
        row == 0
    }

    fn coordinate(&self) -> &Measure {
        &self.coordinate
    }

    fn load(&self, poses: &mut Poses, lambda: &[f64]) -> Load {
        let n = poses.get(self.bodies[0]).turn(self.across.direction);
        Load {
            force: -lambda[1] * n,
            moment: -lambda[0],
        }
    }
}
