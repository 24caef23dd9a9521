//! Spatial tree joints. Joint frames e, f, n in parent and child axes; T is the rotation of the second frame relative to the first.
//!
//! ```text
//!   r_c = r_p + D − S,   D = R_p (s₀ + Σ uᵢ zᵢ),   S = R_c s₁,      R_c = R_p Q,   Q = F₀ T F₁ᵀ
//!   ω_c = Qᵀω_p + Σ wᵢ żᵢ                                            ω and w in body axes
//!   ṙ_c = ṙ_p + Ω_p × (D − S) + Σ (Uᵢ − Wᵢ × S) żᵢ                   capitals: ground axes
//!   b   = [ Ω_p × (Ω_p × D) + 2 Ω_p × Σ Uᵢ żᵢ − Ω_c × (Ω_c × S) − (R_c c) × S ],     c = −(Σ wᵢ żᵢ) × Qᵀω_p + Σ ẇᵢ żᵢ
//!         [ c ]
//! ```
//!
//! | joint | translation | T |
//! |---|---|---|
//! | fixed, prismatic, cylindrical, planar | none, n, n, e and f | 1, 1, about n, about n |
//! | revolute, screw | none, n with the angle | about n |
//! | universal | none | about n, then e; with parent and child exchanged about e, then n |
//! | spherical, free | none, x y z | a quaternion, on the group |

use std::f64::consts::TAU;

use super::jacobian::{BodyMotion, JointAxis};
use super::joint_map::{BodyPair, JointMap};
use crate::error::Result;
use crate::formulation::absolute::geometry::Geometry as _;
use crate::formulation::absolute::spatial::SpatialGeometry;
use crate::formulation::joint::placement;
use crate::linalg::elementary::{atan2, sin_cos};
use crate::linalg::rotation::{self, Mat3, Quaternion, Vec3, cross};
use crate::model::{self, JointKind, Model};

/// Rotation of the second frame relative to the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RotationMap {
    None,
    /// About n.
    Axis,
    /// About n, then about e.
    Cross,
    /// About e, then about n.
    CrossBack,
    /// On the group.
    Ball,
}

/// Translations, then rotations.
#[derive(Clone, Debug)]
pub struct SpatialJointMap {
    /// Joint points of parent and child, relative to the centres of mass.
    points: [Vec3; 2],
    /// Joint frames in parent and child axes.
    frames: [Quaternion; 2],
    /// Directions of translation, fixed in the parent.
    travel: [Vec3; 3],
    travels: usize,
    turn: RotationMap,
    /// Translation along n per angle (m/rad).
    lead: f64,
}

const NO_TURN: Quaternion = [1.0, 0.0, 0.0, 0.0];

/// Returns the rotation by `angle` about axis k.
fn about(k: usize, angle: f64) -> Quaternion {
    let (sin, cos) = sin_cos(0.5 * angle);
    let mut q = [cos, 0.0, 0.0, 0.0];
    q[k + 1] = sin;
    q
}

/// Returns the unit quaternion of three perpendicular directions.
fn frame([e, f, n]: [Vec3; 3]) -> Quaternion {
    let m = nalgebra::Rotation3::from_matrix_unchecked(Mat3::from_columns(&[e, f, n]));
    let q = nalgebra::UnitQuaternion::from_rotation_matrix(&m);
    rotation::normalized(&[q.w, q.i, q.j, q.k])
}

fn quaternion(q: Option<&[f64]>) -> Quaternion {
    q.map_or(NO_TURN, |q| [q[3], q[4], q[5], q[6]])
}

fn center(q: Option<&[f64]>) -> Vec3 {
    q.map_or(Vec3::zeros(), |q| Vec3::new(q[0], q[1], q[2]))
}

fn rotation(v: Option<&[f64]>) -> Vec3 {
    v.map_or(Vec3::zeros(), |v| Vec3::new(v[3], v[4], v[5]))
}

fn put(out: &mut [f64], at: usize, x: &Vec3) {
    out[at..at + 3].copy_from_slice(x.as_slice());
}

impl SpatialJointMap {
    /// Returns s₀ + Σ uᵢ zᵢ, with the translation of a screw.
    fn reach(&self, z: &[f64]) -> Vec3 {
        let mut d = self.points[0];
        for k in 0..self.travels {
            d += z[k] * self.travel[k];
        }
        if self.lead != 0.0 {
            d += self.lead * z[self.travels] * self.axis(0);
        }
        d
    }

    /// Returns n of a frame.
    fn axis(&self, side: usize) -> Vec3 {
        rotation::matrix(&self.frames[side]).column(2).into()
    }

    /// Returns Q: the axes of the child in those of the parent.
    fn turned(&self, z: &[f64]) -> Quaternion {
        let z = &z[self.travels..];
        let t = match self.turn {
            RotationMap::None => NO_TURN,
            RotationMap::Axis => about(2, z[0]),
            RotationMap::Cross => rotation::product(&about(2, z[0]), &about(0, z[1])),
            RotationMap::CrossBack => rotation::product(&about(0, z[0]), &about(2, z[1])),
            RotationMap::Ball => return [z[0], z[1], z[2], z[3]],
        };
        let own = rotation::product(&t, &rotation::conjugate(&self.frames[1]));
        rotation::product(&self.frames[0], &own)
    }

    /// Whether the quaternion of the body comes out as −q instead of q: the same rotation.
    fn opposite(&self, z: &[f64], at: BodyPair) -> bool {
        let found = rotation::product(&quaternion(at.parent), &self.turned(z));
        let own = quaternion(Some(at.child));
        (0..4).map(|k| found[k] * own[k]).sum::<f64>() < 0.0
    }

    /// Writes the coordinates of two poses, with angles within half a turn (of a screw from its translation).
    fn read_turn(&self, at: BodyPair, z: &mut [f64]) {
        let (p, c) = (quaternion(at.parent), quaternion(Some(at.child)));
        let joint =
            center(Some(at.child)) + rotation::matrix(&c) * self.points[1] - center(at.parent);
        let d = rotation::matrix(&p).tr_mul(&joint) - self.points[0];
        for k in 0..self.travels {
            z[k] = self.travel[k].dot(&d);
        }
        let q = rotation::product(&rotation::conjugate(&p), &c);
        let own = rotation::product(&q, &self.frames[1]);
        let t = rotation::matrix(&rotation::product(
            &rotation::conjugate(&self.frames[0]),
            &own,
        ));
        let z = &mut z[self.travels..];
        match self.turn {
            RotationMap::None => {}
            RotationMap::Axis => {
                z[0] = atan2(t[(1, 0)], t[(0, 0)]);
                if self.lead != 0.0 {
                    // The translation gives the number of turns.
                    let turns = (self.axis(0).dot(&d) / self.lead - z[0]) / TAU;
                    z[0] += TAU * turns.round();
                }
            }
            RotationMap::Cross => {
                z[0] = atan2(t[(1, 0)], t[(0, 0)]);
                z[1] = atan2(t[(2, 1)], t[(2, 2)]);
            }
            RotationMap::CrossBack => {
                z[0] = atan2(-t[(1, 2)], t[(2, 2)]);
                z[1] = atan2(-t[(0, 1)], t[(0, 0)]);
            }
            RotationMap::Ball => z[..4].copy_from_slice(&q),
        }
    }

    fn turns(&self) -> usize {
        match self.turn {
            RotationMap::None => 0,
            RotationMap::Axis => 1,
            RotationMap::Cross | RotationMap::CrossBack => 2,
            RotationMap::Ball => 3,
        }
    }

    /// Returns wᵢ in body axes.
    fn spins(&self, z: &[f64]) -> [Vec3; 3] {
        let own = rotation::matrix(&self.frames[1]);
        let [e, n]: [Vec3; 2] = [own.column(0).into(), own.column(2).into()];
        let none = Vec3::zeros();
        match self.turn {
            RotationMap::None => [none; 3],
            RotationMap::Axis => [n, none, none],
            RotationMap::Cross => {
                let (s, c) = sin_cos(z[self.travels + 1]);
                [own * Vec3::new(0.0, s, c), e, none]
            }
            RotationMap::CrossBack => {
                let (s, c) = sin_cos(z[self.travels + 1]);
                [own * Vec3::new(c, -s, 0.0), n, none]
            }
            RotationMap::Ball => [Vec3::x(), Vec3::y(), Vec3::z()],
        }
    }

    /// Returns Σ ẇᵢ żᵢ: only the first axis of a universal joint moves in the body.
    fn spin_rate(&self, z: &[f64], z_dot: &[f64]) -> Vec3 {
        let k = self.travels;
        let rate = |x: Vec3| z_dot[k] * z_dot[k + 1] * (rotation::matrix(&self.frames[1]) * x);
        match self.turn {
            RotationMap::Cross => {
                let (s, c) = sin_cos(z[k + 1]);
                rate(Vec3::new(0.0, c, -s))
            }
            RotationMap::CrossBack => {
                let (s, c) = sin_cos(z[k + 1]);
                rate(Vec3::new(-s, -c, 0.0))
            }
            _ => Vec3::zeros(),
        }
    }
}

impl JointMap<12> for SpatialGeometry {
    type Link = SpatialJointMap;
    /// Number of values of −(D − S)~ R_p and Qᵀ, by rows.
    const ARM: usize = 18;

    fn link(
        model: &Model,
        joint: &model::Joint,
        start: &[f64],
        child: usize,
    ) -> Result<Option<SpatialJointMap>> {
        let back = child == 0;
        let turn = match joint.kind {
            JointKind::Fixed | JointKind::Prismatic | JointKind::Cartesian => RotationMap::None,
            JointKind::Revolute | JointKind::Cylindrical | JointKind::Planar | JointKind::Screw => {
                RotationMap::Axis
            }
            JointKind::Universal if back => RotationMap::CrossBack,
            JointKind::Universal => RotationMap::Cross,
            JointKind::Spherical | JointKind::Gimbal => RotationMap::Ball,
            _ => return Ok(None),
        };
        let at = placement::spatial(model, joint, start)?;
        let parent = 1 - child;
        let [e, f, n] = at.frames[parent];
        let (travels, travel) = match joint.kind {
            JointKind::Prismatic | JointKind::Cylindrical => (1, [n, f, e]),
            JointKind::Planar => (2, [e, f, n]),
            JointKind::Cartesian => (3, [e, f, n]),
            _ => (0, [e, f, n]),
        };
        let mut link = SpatialJointMap {
            points: [at.points[parent].s, at.points[child].s],
            frames: [frame(at.frames[parent]), frame(at.frames[child])],
            travel,
            travels,
            turn,
            lead: if joint.kind == JointKind::Screw {
                joint.pitch / TAU
            } else {
                0.0
            },
        };
        // Quaternions have the sign they have in absolute coordinates.
        let pose = |b: usize| &start[Self::STORED * b..Self::STORED * (b + 1)];
        if let Some(body) = joint.bodies[child] {
            let at = BodyPair {
                parent: joint.bodies[parent].map(pose),
                child: pose(body),
            };
            let mut z = [0.0; 7];
            link.read_turn(at, &mut z);
            if link.opposite(&z, at) {
                link.frames[0] = link.frames[0].map(|x| -x);
            }
        }
        Ok(Some(link))
    }

    fn free() -> SpatialJointMap {
        SpatialJointMap {
            points: [Vec3::zeros(); 2],
            frames: [NO_TURN; 2],
            travel: [Vec3::x(), Vec3::y(), Vec3::z()],
            travels: 3,
            turn: RotationMap::Ball,
            lead: 0.0,
        }
    }

    fn stored(link: &SpatialJointMap) -> usize {
        Self::freedom(link) + usize::from(Self::on_group(link))
    }

    fn freedom(link: &SpatialJointMap) -> usize {
        link.travels + link.turns()
    }

    fn on_group(link: &SpatialJointMap) -> bool {
        link.turn == RotationMap::Ball
    }

    fn hang(link: &SpatialJointMap, z: &[f64], parent: Option<&[f64]>, out: &mut [f64]) {
        let p = quaternion(parent);
        let c = rotation::normalized(&rotation::product(&p, &link.turned(z)));
        let r = center(parent) + rotation::matrix(&p) * link.reach(z)
            - rotation::matrix(&c) * link.points[1];
        put(out, 0, &r);
        out[3..7].copy_from_slice(&c);
    }

    fn read(link: &SpatialJointMap, at: BodyPair, z: &mut [f64]) {
        link.read_turn(at, z);
        // After assembly an angle may be read off on the other side of ±π.
        if matches!(
            link.turn,
            RotationMap::Axis | RotationMap::Cross | RotationMap::CrossBack
        ) && link.lead == 0.0
            && link.opposite(z, at)
        {
            z[link.travels] += TAU;
        }
    }

    fn arm(
        link: &SpatialJointMap,
        z: &[f64],
        at: BodyPair,
        arm: &mut [f64],
        columns: &mut [f64],
        duals: &mut [f64],
    ) {
        let (p, c) = (
            rotation::matrix(&quaternion(at.parent)),
            rotation::matrix(&quaternion(Some(at.child))),
        );
        let offset = -cross(&(center(Some(at.child)) - center(at.parent))) * p;
        let back = c.tr_mul(&p);
        for i in 0..3 {
            for j in 0..3 {
                arm[3 * i + j] = offset[(i, j)];
                arm[9 + 3 * i + j] = back[(i, j)];
            }
        }
        let m = -(c * link.points[1]);
        for k in 0..link.travels {
            let u = p * link.travel[k];
            put(columns, 6 * k, &u);
            put(columns, 6 * k + 3, &Vec3::zeros());
            // A rotation also displaces the centre of mass, which is no translation of the joint.
            put(duals, 6 * k, &u);
            put(duals, 6 * k + 3, &-c.tr_mul(&m.cross(&u)));
        }
        let spins = link.spins(z);
        for (k, w) in spins.iter().enumerate().take(link.turns()) {
            let at = 6 * (link.travels + k);
            let mut u = (c * w).cross(&m);
            if link.lead != 0.0 {
                u += link.lead * (p * link.axis(0));
            }
            put(columns, at, &u);
            put(columns, at + 3, w);
            put(duals, at, &Vec3::zeros());
            put(duals, at + 3, w);
        }
    }

    #[inline]
    fn carry(arm: &[f64], parent: &[f64], out: &mut [f64]) {
        for i in 0..3 {
            let (offset, back) = (&arm[3 * i..3 * i + 3], &arm[9 + 3 * i..12 + 3 * i]);
            let w = &parent[3..6];
            out[i] = parent[i] + offset[0] * w[0] + offset[1] * w[1] + offset[2] * w[2];
            out[3 + i] = back[0] * w[0] + back[1] * w[1] + back[2] * w[2];
        }
    }

    #[inline]
    fn carry_back(arm: &[f64], child: &[f64], parent: &mut [f64]) {
        for i in 0..3 {
            parent[i] += child[i];
            for j in 0..3 {
                parent[3 + j] += arm[3 * i + j] * child[i] + arm[9 + 3 * i + j] * child[3 + i];
            }
        }
    }

    fn bias(
        link: &SpatialJointMap,
        z: &[f64],
        z_dot: &[f64],
        (at, ..): (BodyPair, &[f64], &[f64]),
        parent: Option<&[f64]>,
        child: &[f64],
        out: &mut [f64],
    ) {
        let (p, c) = (
            rotation::matrix(&quaternion(at.parent)),
            rotation::matrix(&quaternion(Some(at.child))),
        );
        let (wp, wc) = (p * rotation(parent), c * rotation(Some(child)));
        let mut travelling = Vec3::zeros();
        for k in 0..link.travels {
            travelling += z_dot[k] * link.travel[k];
        }
        if link.lead != 0.0 {
            travelling += link.lead * z_dot[link.travels] * link.axis(0);
        }
        // Σ wᵢ żᵢ in body axes is the angular velocity relative to the parent.
        let carried = c.tr_mul(&wp);
        let spin = rotation(Some(child)) - carried;
        let turning = link.spin_rate(z, z_dot) - spin.cross(&carried);
        let (d, s) = (p * link.reach(z), c * link.points[1]);
        let b = wp.cross(&wp.cross(&d)) + 2.0 * wp.cross(&(p * travelling))
            - wc.cross(&wc.cross(&s))
            - (c * turning).cross(&s);
        put(out, 0, &b);
        put(out, 3, &turning);
    }

    fn moving(q: Option<&[f64]>, v: Option<&[f64]>, a: Option<&[f64]>) -> BodyMotion {
        let turned = rotation::matrix(&quaternion(q));
        BodyMotion {
            r: [center(q), center(v), center(a)],
            rotation: turned,
            w: [turned * rotation(v), turned * rotation(a)],
        }
    }

    fn write(velocity: &Vec3, spin: &Vec3, out: &mut [f64]) {
        put(out, 0, velocity);
        put(out, 3, spin);
    }

    fn axis(
        link: &SpatialJointMap,
        z: &[f64],
        i: usize,
        parent: &BodyMotion,
        child: &BodyMotion,
    ) -> JointAxis {
        if i < link.travels {
            return JointAxis {
                u: parent.rotation * link.travel[i],
                w: Vec3::zeros(),
                in_body: false,
            };
        }
        let i = i - link.travels;
        let u = if link.lead != 0.0 {
            link.lead * (parent.rotation * link.axis(0))
        } else {
            Vec3::zeros()
        };
        let cross = matches!(link.turn, RotationMap::Cross | RotationMap::CrossBack);
        JointAxis {
            u,
            w: child.rotation * link.spins(z)[i],
            // The first axis of a universal joint is fixed in the parent.
            in_body: !(cross && i == 0),
        }
    }

    fn pivot(link: &SpatialJointMap) -> Vec3 {
        link.points[1]
    }
}
