//! The element in the plane, on SE(2). The angle from node to node counts turns, so that it has no singularity.
//!
//! ```text
//!   u = [ a  b; −b  a ] r,      a = (θ/2) cot(θ/2),   b = θ/2,      θ = φ_B + ε − φ_A
//! ```

use super::cotangent::{cotangent_factor, cotangent_factors};
use super::{BeamKinematics, ElasticLaw, SectionState};
use crate::formulation::absolute::planar::PlanarGeometry;
use crate::formulation::absolute::planar::pose::{PlanarPoses, Vec2, twist};
use crate::formulation::force::dual::{Dual, Scalar};
use crate::linalg::elementary::atan2;
use crate::model::Beam;

/// Places of the planar deformation (u₁, u₂, θ) among the six.
const PLANAR: [usize; 3] = [0, 1, 5];

/// An element between two nodes in the plane.
#[derive(Clone, Debug)]
pub struct PlanarBeam {
    nodes: [usize; 2],
    /// ε: the angle of the end of the element in the frame of its node.
    end_angle: f64,
    law: ElasticLaw,
}

/// The end of the element seen from its start.
struct PlanarEnd {
    /// cos and sin of φ_A
    axes: [f64; 2],
    r: [f64; 2],
    theta: f64,
}

/// The motion of the end relative to the start, and what it is made of.
struct PlanarRate {
    /// R_Aᵀ(ẋ_B − ẋ_A)
    dv: [f64; 2],
    w: f64,
    xi: [f64; 3],
}

impl PlanarBeam {
    pub(super) fn new(beam: &Beam, k: usize, q: &[f64]) -> Self {
        let [w, _, _, z] = beam.end_orientation(k);
        let mut element = Self {
            nodes: beam.element_nodes(k),
            end_angle: 2.0 * atan2(z, w),
            law: ElasticLaw::new(beam, [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        };
        let end = element.end(&mut PlanarPoses::new(q));
        element.law = ElasticLaw::new(beam, deformation(&end).0);
        element
    }

    fn end(&self, poses: &mut PlanarPoses) -> PlanarEnd {
        let [a, b] = self.nodes.map(|node| poses.get(Some(node)));
        let r = a.to_body(b.r - a.r);
        PlanarEnd {
            axes: [a.cos, a.sin],
            r: [r.x, r.y],
            theta: b.angle + self.end_angle - a.angle,
        }
    }

    fn rate(&self, end: &PlanarEnd, v: &[f64]) -> PlanarRate {
        let [a, b] = self.nodes.map(|node| twist(v, Some(node)));
        let dv = to_body(&end.axes, b.v - a.v);
        PlanarRate {
            dv,
            w: a.w,
            xi: [dv[0] + a.w * end.r[1], dv[1] - a.w * end.r[0], b.w - a.w],
        }
    }

    /// F = Dᵀ n for the relative pose (r, θ) and its rate ξ.
    fn relative_force<T: Scalar>(&self, r: &[T; 2], theta: T, xi: Option<&[T; 3]>) -> [T; 3] {
        let s = theta * theta;
        let [c, slope] = cotangent_factors(s);
        // a = 1 − s c, da/dθ = −2 θ (c + s c')
        let (a, b) = (-(s * c) + 1.0, theta * 0.5);
        let da = -(theta * (c + s * slope)) * 2.0;
        let u = [a * r[0] + b * r[1], a * r[1] - b * r[0]];
        let by_theta = [da * r[0] + r[1] * 0.5, da * r[1] - r[0] * 0.5];
        let rest = PLANAR.map(|k| self.law.rest[k]);
        let mut d = [u[0] + (-rest[0]), u[1] + (-rest[1]), theta + (-rest[2])];
        if let Some([x, y, w]) = xi {
            let rate = [
                a * *x + b * *y + by_theta[0] * *w,
                a * *y - b * *x + by_theta[1] * *w,
                *w,
            ];
            for k in 0..3 {
                d[k] = d[k] + rate[k] * self.law.damping;
            }
        }
        let n = PLANAR.map(|i| {
            let row = PLANAR.map(|j| self.law.stiffness[i][j]);
            d[0] * row[0] + d[1] * row[1] + d[2] * row[2]
        });
        [
            a * n[0] - b * n[1],
            b * n[0] + a * n[1],
            n[2] + n[0] * by_theta[0] + n[1] * by_theta[1],
        ]
    }
}

/// Rᵀ x with the cosine and sine of R.
fn to_body([cos, sin]: &[f64; 2], x: Vec2) -> [f64; 2] {
    [cos * x.x + sin * x.y, cos * x.y - sin * x.x]
}

/// d of the relative pose, and ∂u/∂θ.
fn deformation(end: &PlanarEnd) -> ([f64; 6], [f64; 2]) {
    let ([x, y], theta) = (end.r, end.theta);
    let s = theta * theta;
    let [c, slope, _] = cotangent_factor(s);
    let (a, b) = (1.0 - s * c, 0.5 * theta);
    let da = -2.0 * theta * (c + s * slope);
    let d = [a * x + b * y, a * y - b * x, 0.0, 0.0, 0.0, theta];
    (d, [da * x + 0.5 * y, da * y - 0.5 * x])
}

/// B: the motion of the end relative to the start, by that of the two nodes.
fn relative_motion(end: &PlanarEnd) -> [[f64; 6]; 3] {
    let ([c, s], [x, y]) = (end.axes, end.r);
    [
        [-c, -s, y, c, s, 0.0],
        [s, -c, -x, -s, c, 0.0],
        [0.0, 0.0, -1.0, 0.0, 0.0, 1.0],
    ]
}

impl BeamKinematics<6> for PlanarBeam {
    type World = PlanarGeometry;

    fn damping(&self) -> f64 {
        self.law.damping
    }

    fn length(&self) -> f64 {
        self.law.length
    }

    fn section(&self, poses: &mut PlanarPoses, v: Option<&[f64]>) -> SectionState {
        let end = self.end(poses);
        let (d, by_theta) = deformation(&end);
        let Some(v) = v.filter(|_| self.law.damping != 0.0) else {
            return self.law.state(&d, &[0.0; 6]);
        };
        let [x, y, w] = self.rate(&end, v).xi;
        let (a, b) = (
            1.0 - end.theta * end.theta * cotangent_factor(end.theta * end.theta)[0],
            0.5 * end.theta,
        );
        let rate = [
            a * x + b * y + by_theta[0] * w,
            a * y - b * x + by_theta[1] * w,
            0.0,
            0.0,
            0.0,
            w,
        ];
        self.law.state(&d, &rate)
    }

    fn add_force(&self, poses: &mut PlanarPoses, v: &[f64], out: &mut [f64]) {
        let end = self.end(poses);
        let xi = (self.law.damping != 0.0).then(|| self.rate(&end, v).xi);
        let [f1, f2, m] = self.relative_force(&end.r, end.theta, xi.as_ref());
        let [c, s] = end.axes;
        let (x, y) = (c * f1 - s * f2, s * f1 + c * f2);
        let [a, b] = self.nodes.map(|node| 3 * node);
        out[a] += x;
        out[a + 1] += y;
        out[a + 2] += m + end.r[0] * f2 - end.r[1] * f1;
        out[b] -= x;
        out[b + 1] -= y;
        out[b + 2] -= m;
    }

    fn tangent(
        &self,
        poses: &mut PlanarPoses,
        v: &[f64],
        damping: f64,
        stiffness: f64,
    ) -> [[f64; 6]; 6] {
        let end = self.end(poses);
        let rate = self.rate(&end, v);
        let pose = |x: f64, k: usize| {
            let mut dual = Dual::<3>::constant(x);
            dual.q[k] = 1.0;
            dual
        };
        let r = [pose(end.r[0], 0), pose(end.r[1], 1)];
        let mut xi = rate.xi.map(Dual::<3>::constant);
        for k in 0..3 {
            xi[k].v[k] = 1.0;
        }
        let xi = (self.law.damping != 0.0).then_some(xi);
        let force = self.relative_force(&r, pose(end.theta, 2), xi.as_ref());
        let b = relative_motion(&end);
        // ∂ξ/∂q: R_Aᵀ(ẋ_B − ẋ_A) turns with node A, and ω_A × r changes with r.
        let mut dxi = [[0.0; 6]; 3];
        dxi[0][2] = rate.dv[1];
        dxi[1][2] = -rate.dv[0];
        for j in 0..6 {
            dxi[0][j] += rate.w * b[1][j];
            dxi[1][j] -= rate.w * b[0][j];
        }
        let mut by_motion = [[0.0; 6]; 3];
        for i in 0..3 {
            for j in 0..6 {
                for k in 0..3 {
                    by_motion[i][j] += stiffness
                        * (force[i].q[k] * b[k][j] + force[i].v[k] * dxi[k][j])
                        + damping * force[i].v[k] * b[k][j];
                }
            }
        }
        let mut out = [[0.0; 6]; 6];
        for i in 0..6 {
            for j in 0..6 {
                for k in 0..3 {
                    out[i][j] += b[k][i] * by_motion[k][j];
                }
            }
        }
        // (∂Bᵀ/∂q) F
        let ([c, s], [f1, f2]) = (end.axes, [force[0].x, force[1].x]);
        let turned = [-c * f2 - s * f1, c * f1 - s * f2];
        for k in 0..2 {
            out[3 + k][2] += stiffness * turned[k];
            out[k][2] -= stiffness * turned[k];
        }
        for j in 0..6 {
            out[2][j] += stiffness * (f1 * b[1][j] - f2 * b[0][j]);
        }
        out
    }
}
