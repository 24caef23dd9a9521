//! Planar tree joints.
//!
//! ```text
//!   r_c = r_p + D − S,   D = R_p (s₀ + Σ uᵢ zᵢ),   S = R_c s₁,        φ_c = φ_p + turn + θ
//!   ṙ_c = ṙ_p + φ̇_p (D − S)⊥ + Σ Uᵢ żᵢ − S⊥ θ̇,       U = R_p u
//!   b   = −φ̇_p² D + 2 φ̇_p (Σ Uᵢ żᵢ)⊥ + φ̇_c² S
//! ```

use super::jacobian::{BodyMotion, JointAxis};
use super::joint_map::{BodyPair, JointMap};
use crate::error::Result;
use crate::formulation::absolute::planar::PlanarGeometry;
use crate::formulation::absolute::planar::pose::{PlanarPose, Vec2, perp};
use crate::formulation::joint::placement;
use crate::linalg::elementary::atan2;
use crate::linalg::rotation::{Mat3, Vec3};
use crate::model::{self, JointKind, Model};

/// Translations, then a rotation.
#[derive(Clone, Debug)]
pub struct PlanarJointMap {
    /// Joint points of parent and child, relative to the centres of mass.
    points: [Vec2; 2],
    /// Directions of translation, fixed in the parent.
    travel: [Vec2; 2],
    travels: usize,
    turns: bool,
    /// φ_c − φ_p at θ = 0.
    turn: f64,
}

impl PlanarJointMap {
    /// s₀ + Σ uᵢ zᵢ
    fn reach(&self, z: &[f64]) -> Vec2 {
        let mut d = self.points[0];
        for k in 0..self.travels {
            d += z[k] * self.travel[k];
        }
        d
    }

    fn turned(&self, z: &[f64]) -> f64 {
        if self.turns { z[self.travels] } else { 0.0 }
    }
}

fn pose(q: Option<&[f64]>) -> PlanarPose {
    q.map_or(PlanarPose::GROUND, |q| PlanarPose::new(q[0], q[1], q[2]))
}

impl JointMap<6> for PlanarGeometry {
    type Link = PlanarJointMap;
    const ARM: usize = 2;

    fn link(
        model: &Model,
        joint: &model::Joint,
        start: &[f64],
        child: usize,
    ) -> Result<Option<PlanarJointMap>> {
        let (travels, turns) = match joint.kind {
            JointKind::Fixed => (0, false),
            JointKind::Revolute => (0, true),
            JointKind::Prismatic => (1, false),
            // The line is fixed in bodies[0]: with the point as parent its direction would not be fixed in the parent.
            JointKind::PointOnLine if child == 1 => (1, true),
            _ => return Ok(None),
        };
        let at = placement::planar(model, joint, start)?;
        let parent = 1 - child;
        let direction = |k: usize| at.axes[k].normalize();
        let turned = match joint.kind {
            JointKind::Fixed | JointKind::Prismatic => {
                at.fixed_angle([0, 1].map(|k| atan2(at.axes[k].y, at.axes[k].x)))
            }
            _ => 0.0,
        };
        Ok(Some(PlanarJointMap {
            points: [at.points[parent].s, at.points[child].s],
            travel: [
                if travels > 0 {
                    direction(parent)
                } else {
                    Vec2::zeros()
                },
                Vec2::zeros(),
            ],
            travels,
            turns,
            turn: if child == 1 { turned } else { -turned },
        }))
    }

    fn free() -> PlanarJointMap {
        PlanarJointMap {
            points: [Vec2::zeros(); 2],
            travel: [Vec2::new(1.0, 0.0), Vec2::new(0.0, 1.0)],
            travels: 2,
            turns: true,
            turn: 0.0,
        }
    }

    fn stored(link: &PlanarJointMap) -> usize {
        Self::freedom(link)
    }

    fn freedom(link: &PlanarJointMap) -> usize {
        link.travels + usize::from(link.turns)
    }

    fn on_group(_link: &PlanarJointMap) -> bool {
        false
    }

    fn hang(link: &PlanarJointMap, z: &[f64], parent: Option<&[f64]>, out: &mut [f64]) {
        let p = pose(parent);
        let angle = p.angle + link.turn + link.turned(z);
        let c = PlanarPose::new(0.0, 0.0, angle);
        let r = p.r + p.to_ground(link.reach(z)) - c.to_ground(link.points[1]);
        out.copy_from_slice(&[r.x, r.y, angle]);
    }

    fn read(link: &PlanarJointMap, at: BodyPair, z: &mut [f64]) {
        let (p, c) = (pose(at.parent), pose(Some(at.child)));
        let d = p.to_body(c.r + c.to_ground(link.points[1]) - p.r) - link.points[0];
        for k in 0..link.travels {
            z[k] = link.travel[k].dot(&d);
        }
        if link.turns {
            z[link.travels] = c.angle - p.angle - link.turn;
        }
    }

    fn arm(
        link: &PlanarJointMap,
        _z: &[f64],
        at: BodyPair,
        arm: &mut [f64],
        columns: &mut [f64],
        duals: &mut [f64],
    ) {
        let from = at.parent.map_or(Vec2::zeros(), |q| Vec2::new(q[0], q[1]));
        let offset = Vec2::new(at.child[0], at.child[1]) - from;
        arm.copy_from_slice(&[offset.x, offset.y]);
        let m = match link.turns {
            true => -pose(Some(at.child)).to_ground(link.points[1]),
            false => Vec2::zeros(),
        };
        for k in 0..link.travels {
            let u = pose(at.parent).to_ground(link.travel[k]);
            columns[3 * k..3 * k + 3].copy_from_slice(&[u.x, u.y, 0.0]);
            // A rotation also displaces the centre of mass, which is no translation of the joint.
            let turning = if link.turns { -perp(m).dot(&u) } else { 0.0 };
            duals[3 * k..3 * k + 3].copy_from_slice(&[u.x, u.y, turning]);
        }
        if link.turns {
            let k = 3 * link.travels;
            let side = perp(m);
            columns[k..k + 3].copy_from_slice(&[side.x, side.y, 1.0]);
            duals[k..k + 3].copy_from_slice(&[0.0, 0.0, 1.0]);
        }
    }

    #[inline]
    fn carry(arm: &[f64], parent: &[f64], out: &mut [f64]) {
        out[0] = parent[0] - arm[1] * parent[2];
        out[1] = parent[1] + arm[0] * parent[2];
        out[2] = parent[2];
    }

    #[inline]
    fn carry_back(arm: &[f64], child: &[f64], parent: &mut [f64]) {
        parent[0] += child[0];
        parent[1] += child[1];
        parent[2] += child[2] - arm[1] * child[0] + arm[0] * child[1];
    }

    fn bias(
        link: &PlanarJointMap,
        _z: &[f64],
        z_dot: &[f64],
        (at, arm, columns): (BodyPair, &[f64], &[f64]),
        parent: Option<&[f64]>,
        child: &[f64],
        out: &mut [f64],
    ) {
        let (wp, wc) = (parent.map_or(0.0, |v| v[2]), child[2]);
        let mut travelling = Vec2::zeros();
        for k in 0..link.travels {
            travelling += z_dot[k] * Vec2::new(columns[3 * k], columns[3 * k + 1]);
        }
        // The column of the rotation is −S⊥, and the arm is D − S: no sines needed.
        let s = if link.turns {
            let k = 3 * link.travels;
            perp(Vec2::new(columns[k], columns[k + 1]))
        } else {
            pose(Some(at.child)).to_ground(link.points[1])
        };
        let d = Vec2::new(arm[0], arm[1]) + s;
        let b = -wp * wp * d + 2.0 * wp * perp(travelling) + wc * wc * s;
        out.copy_from_slice(&[b.x, b.y, 0.0]);
    }

    fn moving(q: Option<&[f64]>, v: Option<&[f64]>, a: Option<&[f64]>) -> BodyMotion {
        let pose = pose(q);
        let flat = |x: Option<&[f64]>| x.map_or(Vec3::zeros(), |x| Vec3::new(x[0], x[1], 0.0));
        let spin = |x: Option<&[f64]>| x.map_or(Vec3::zeros(), |x| Vec3::new(0.0, 0.0, x[2]));
        BodyMotion {
            r: [Vec3::new(pose.r.x, pose.r.y, 0.0), flat(v), flat(a)],
            rotation: Mat3::new(
                pose.cos, -pose.sin, 0.0, pose.sin, pose.cos, 0.0, 0.0, 0.0, 1.0,
            ),
            w: [spin(v), spin(a)],
        }
    }

    fn write(velocity: &Vec3, spin: &Vec3, out: &mut [f64]) {
        out.copy_from_slice(&[velocity.x, velocity.y, spin.z]);
    }

    fn axis(
        link: &PlanarJointMap,
        _z: &[f64],
        i: usize,
        parent: &BodyMotion,
        _child: &BodyMotion,
    ) -> JointAxis {
        let travel = |u: &Vec2| parent.rotation * Vec3::new(u.x, u.y, 0.0);
        if i < link.travels {
            JointAxis {
                u: travel(&link.travel[i]),
                w: Vec3::zeros(),
                in_body: false,
            }
        } else {
            JointAxis {
                u: Vec3::zeros(),
                w: Vec3::z(),
                in_body: true,
            }
        }
    }

    fn pivot(link: &PlanarJointMap) -> Vec3 {
        Vec3::new(link.points[1].x, link.points[1].y, 0.0)
    }
}
