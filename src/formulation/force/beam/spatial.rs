//! The element in space, on SE(3).
//!
//! ```text
//!   θ = log R,    u = V⁻¹ r,    V⁻¹ = I − ½ θ~ + c θ~²,      θ̇ = V⁻¹ ψ̇,    u̇ = V⁻¹ ṙ + (∂u/∂θ) θ̇
//! ```
//!
//! with R, r the end of the element seen from its start and ṙ, ψ̇ its motion in the axes there. The rotation between the ends must
//! stay below half a turn.

use super::cotangent::cotangent_factors;
use super::{BeamKinematics, ElasticLaw, SectionState};
use crate::formulation::absolute::spatial::SpatialGeometry;
use crate::formulation::absolute::spatial::pose::{SpatialPoses, twist};
use crate::formulation::force::dual::{Dual, Scalar, Vector3Of, cross, dot, minus, plus, times};
use crate::linalg::elementary::atan2;
use crate::linalg::rotation::{self, Mat3, Vec3};
use crate::model::Beam;

/// An element between two nodes in space.
#[derive(Clone, Debug)]
pub struct SpatialBeam {
    nodes: [usize; 2],
    /// Orientation of the end of the element in the frame of its node.
    end: Mat3,
    law: ElasticLaw,
}

/// The end of the element seen from its start.
struct SpatialEnd {
    /// R_A
    axes: Mat3,
    /// R_Aᵀ R_B
    node: Mat3,
    /// R_Aᵀ R_B E with the orientation E of the end in its node.
    rotation: Mat3,
    r: Vec3,
}

/// The motion of the end relative to the start, and what it is made of.
struct SpatialRate {
    /// R_Aᵀ(ẋ_B − ẋ_A)
    dv: Vec3,
    /// ω_A
    w: Vec3,
    /// R_Aᵀ R_B ω_B
    end_w: Vec3,
    xi: [f64; 6],
}

/// Deformation, and what its derivative is made of.
struct Deformation<T> {
    u: Vector3Of<T>,
    theta: Vector3Of<T>,
    /// c and c'
    c: T,
    slope: T,
    /// θ × r, θ × (θ × r)
    once: Vector3Of<T>,
    twice: Vector3Of<T>,
}

/// a / sin a as a function of cos a; `sine` is |sin a|, by which it is exact for small angles too.
fn rotation_vector_factor<T: Scalar>(cosine: T, sine: f64) -> T {
    let c = cosine.value();
    let square = sine * sine;
    if c > 0.0 && square < 1e-2 {
        // In u = 1 − cos a = sin² a / (1 + cos a) ≤ 5e-3; the next terms are below 1e-16.
        let u = square / (1.0 + c);
        const SERIES: [f64; 8] = [
            1.0,
            1.0 / 3.0,
            2.0 / 15.0,
            2.0 / 35.0,
            8.0 / 315.0,
            8.0 / 693.0,
            16.0 / 3003.0,
            16.0 / 6435.0,
        ];
        let (mut y, mut slope) = (0.0, 0.0);
        for coefficient in SERIES.iter().rev() {
            slope = slope * u + y;
            y = y * u + coefficient;
        }
        return cosine.chain(y, -slope);
    }
    let y = atan2(sine, c) / sine;
    cosine.chain(y, (c * y - 1.0) / square)
}

/// log R by the rows of R.
fn rotation_vector<T: Scalar>(rows: &[Vector3Of<T>; 3]) -> Vector3Of<T> {
    let cosine = (rows[0][0] + rows[1][1] + rows[2][2] + (-1.0)) * 0.5;
    let sine = [
        (rows[2][1] - rows[1][2]) * 0.5,
        (rows[0][2] - rows[2][0]) * 0.5,
        (rows[1][0] - rows[0][1]) * 0.5,
    ];
    let size = (0..3).map(|k| sine[k].value().powi(2)).sum::<f64>().sqrt();
    times(rotation_vector_factor(cosine, size), &sine)
}

/// log of (R, r).
fn deformation<T: Scalar>(rows: &[Vector3Of<T>; 3], r: &Vector3Of<T>) -> Deformation<T> {
    let theta = rotation_vector(rows);
    let [c, slope] = cotangent_factors(dot(&theta, &theta));
    let once = cross(&theta, r);
    let twice = cross(&theta, &once);
    let u = [0, 1, 2].map(|k| r[k] - once[k] * 0.5 + c * twice[k]);
    Deformation {
        u,
        theta,
        c,
        slope,
        once,
        twice,
    }
}

impl<T: Scalar> Deformation<T> {
    /// V⁻¹ x for `sign` = −1, V⁻ᵀ x for +1.
    fn inverse(&self, x: &Vector3Of<T>, sign: f64) -> Vector3Of<T> {
        let once = cross(&self.theta, x);
        let twice = cross(&self.theta, &once);
        [0, 1, 2].map(|k| x[k] + once[k] * (0.5 * sign) + self.c * twice[k])
    }

    /// ḋ = D ξ
    fn rate(&self, r: &Vector3Of<T>, xi: &[T; 6]) -> [T; 6] {
        let [x, y, z, a, b, c] = *xi;
        let theta = self.inverse(&[a, b, c], -1.0);
        let straight = self.inverse(&[x, y, z], -1.0);
        let turned = cross(&theta, r);
        let bent = plus(&cross(&theta, &self.once), &cross(&self.theta, &turned));
        let stretch = self.slope * dot(&self.theta, &theta) * 2.0;
        let u = [0, 1, 2]
            .map(|k| straight[k] - turned[k] * 0.5 + self.c * bent[k] + stretch * self.twice[k]);
        [u[0], u[1], u[2], theta[0], theta[1], theta[2]]
    }

    /// F = Dᵀ n
    fn force(&self, r: &Vector3Of<T>, n: &[T; 6]) -> [T; 6] {
        let (along, about) = ([n[0], n[1], n[2]], [n[3], n[4], n[5]]);
        let half = cross(r, &along).map(|x| x * 0.5);
        let bent = plus(
            &cross(&self.once, &along),
            &cross(r, &cross(&along, &self.theta)),
        );
        let stretch = self.slope * dot(&along, &self.twice) * 2.0;
        let moment = plus(
            &minus(&about, &half),
            &plus(&times(self.c, &bent), &times(stretch, &self.theta)),
        );
        let [f, m] = [along, moment].map(|x| self.inverse(&x, 1.0));
        [f[0], f[1], f[2], m[0], m[1], m[2]]
    }

    fn vector(&self) -> [T; 6] {
        let (u, t) = (&self.u, &self.theta);
        [u[0], u[1], u[2], t[0], t[1], t[2]]
    }
}

fn rows_of(m: &Mat3) -> [[f64; 3]; 3] {
    [0, 1, 2].map(|i| [0, 1, 2].map(|j| m[(i, j)]))
}

impl SpatialBeam {
    pub(super) fn new(beam: &Beam, k: usize, q: &[f64]) -> Self {
        let mut element = Self {
            nodes: beam.element_nodes(k),
            end: rotation::matrix(&beam.end_orientation(k)),
            law: ElasticLaw::new(beam, [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        };
        let end = element.end_of(&mut SpatialPoses::new(q));
        element.law = ElasticLaw::new(beam, end.deformation().vector());
        element
    }

    fn end_of(&self, poses: &mut SpatialPoses) -> SpatialEnd {
        let [a, b] = self.nodes.map(|node| poses.get(Some(node)));
        let node = a.rotation.transpose() * b.rotation;
        SpatialEnd {
            axes: a.rotation,
            node,
            rotation: node * self.end,
            r: a.rotation.transpose() * (b.r - a.r),
        }
    }

    fn rate(&self, end: &SpatialEnd, v: &[f64]) -> SpatialRate {
        let [a, b] = self.nodes.map(|node| twist(v, Some(node)));
        let dv = end.axes.transpose() * (b.v - a.v);
        let end_w = end.node * b.w;
        let (x, psi) = (dv - a.w.cross(&end.r), end_w - a.w);
        SpatialRate {
            dv,
            w: a.w,
            end_w,
            xi: [x.x, x.y, x.z, psi.x, psi.y, psi.z],
        }
    }

    /// F for the relative pose (R, r) and its motion ξ.
    fn relative_force<T: Scalar>(
        &self,
        rows: &[Vector3Of<T>; 3],
        r: &Vector3Of<T>,
        xi: Option<&[T; 6]>,
    ) -> [T; 6] {
        let deformation = deformation(rows, r);
        let d = deformation.vector();
        let mut change: [T; 6] = std::array::from_fn(|k| d[k] + (-self.law.rest[k]));
        if let Some(xi) = xi {
            let rate = deformation.rate(r, xi);
            for k in 0..6 {
                change[k] = change[k] + rate[k] * self.law.damping;
            }
        }
        let n = std::array::from_fn(|i| {
            let row = &self.law.stiffness[i];
            let mut sum = change[i] * row[i];
            for j in (0..6).filter(|j| *j != i && row[*j] != 0.0) {
                sum = sum + change[j] * row[j];
            }
            sum
        });
        deformation.force(r, &n)
    }

    /// F with its derivatives by the displacement (q) and the motion (v) of the end relative to the start.
    fn force_with_derivatives(&self, end: &SpatialEnd, rate: &SpatialRate) -> [Dual<6>; 6] {
        let mut r = [end.r.x, end.r.y, end.r.z].map(Dual::<6>::constant);
        let mut rows = rows_of(&end.rotation).map(|row| row.map(Dual::<6>::constant));
        for k in 0..3 {
            r[k].q[k] = 1.0;
            // δR = δψ~ R: row k + 1 falls by row k + 2, and row k + 2 grows by row k + 1.
            let (after, before) = ((k + 1) % 3, (k + 2) % 3);
            for j in 0..3 {
                rows[after][j].q[3 + k] = -end.rotation[(before, j)];
                rows[before][j].q[3 + k] = end.rotation[(after, j)];
            }
        }
        let mut xi = rate.xi.map(Dual::<6>::constant);
        for k in 0..6 {
            xi[k].v[k] = 1.0;
        }
        let xi = (self.law.damping != 0.0).then_some(xi);
        self.relative_force(&rows, &r, xi.as_ref())
    }
}

impl SpatialEnd {
    fn deformation(&self) -> Deformation<f64> {
        deformation(&rows_of(&self.rotation), &self.r.into())
    }

    /// B: the motion of the end relative to the start, by that of the two nodes.
    fn relative_motion(&self) -> [[f64; 12]; 6] {
        let mut b = [[0.0; 12]; 6];
        let turn = rotation::cross(&self.r);
        for i in 0..3 {
            for j in 0..3 {
                // δr = R_Aᵀ(δx_B − δx_A) + r × φ_A,   δψ = R_Aᵀ R_B φ_B − φ_A
                b[i][j] = -self.axes[(j, i)];
                b[i][6 + j] = self.axes[(j, i)];
                b[i][3 + j] = turn[(i, j)];
                b[3 + i][9 + j] = self.node[(i, j)];
            }
            b[3 + i][3 + i] = -1.0;
        }
        b
    }
}

impl BeamKinematics<12> for SpatialBeam {
    type World = SpatialGeometry;

    fn damping(&self) -> f64 {
        self.law.damping
    }

    fn length(&self) -> f64 {
        self.law.length
    }

    fn section(&self, poses: &mut SpatialPoses, v: Option<&[f64]>) -> SectionState {
        let end = self.end_of(poses);
        let deformation = end.deformation();
        let rate = match v.filter(|_| self.law.damping != 0.0) {
            Some(v) => deformation.rate(&end.r.into(), &self.rate(&end, v).xi),
            None => [0.0; 6],
        };
        self.law.state(&deformation.vector(), &rate)
    }

    fn add_force(&self, poses: &mut SpatialPoses, v: &[f64], out: &mut [f64]) {
        let end = self.end_of(poses);
        let xi = (self.law.damping != 0.0).then(|| self.rate(&end, v).xi);
        let force = self.relative_force(&rows_of(&end.rotation), &end.r.into(), xi.as_ref());
        let f = Vec3::new(force[0], force[1], force[2]);
        let m = Vec3::new(force[3], force[4], force[5]);
        let ground = end.axes * f;
        let start = m + end.r.cross(&f);
        let stop = end.node.transpose() * m;
        let [a, b] = self.nodes.map(|node| 6 * node);
        for k in 0..3 {
            out[a + k] += ground[k];
            out[b + k] -= ground[k];
            out[a + 3 + k] += start[k];
            out[b + 3 + k] -= stop[k];
        }
    }

    fn tangent(
        &self,
        poses: &mut SpatialPoses,
        v: &[f64],
        damping: f64,
        stiffness: f64,
    ) -> [[f64; 12]; 12] {
        let end = self.end_of(poses);
        let rate = self.rate(&end, v);
        let force = self.force_with_derivatives(&end, &rate);
        let b = end.relative_motion();
        let mut by_motion = [[0.0; 12]; 6];
        for i in 0..6 {
            for k in 0..6 {
                let by_pose = stiffness * force[i].q[k] + damping * force[i].v[k];
                for j in 0..12 {
                    by_motion[i][j] += by_pose * b[k][j];
                }
            }
        }
        if self.law.damping != 0.0 && stiffness != 0.0 {
            let dxi = motion_derivative(&b, &rate);
            for i in 0..6 {
                for k in 0..6 {
                    for j in 0..12 {
                        by_motion[i][j] += stiffness * force[i].v[k] * dxi[k][j];
                    }
                }
            }
        }
        let mut out = [[0.0; 12]; 12];
        for k in 0..6 {
            for i in 0..12 {
                for j in 0..12 {
                    out[i][j] += b[k][i] * by_motion[k][j];
                }
            }
        }
        add_geometric(&end, &b, force.map(|x| x.x), stiffness, &mut out);
        out
    }
}

/// ∂ξ/∂q: R_Aᵀ(ẋ_B − ẋ_A) turns with node A, ω_A × r changes with r, and R_Aᵀ R_B ω_B with the rotation.
fn motion_derivative(b: &[[f64; 12]; 6], rate: &SpatialRate) -> [[f64; 12]; 6] {
    let [dv, w, end_w] = [&rate.dv, &rate.w, &rate.end_w].map(rotation::cross);
    let mut out = [[0.0; 12]; 6];
    for i in 0..3 {
        for j in 0..12 {
            for k in 0..3 {
                out[i][j] -= w[(i, k)] * b[k][j];
                out[3 + i][j] -= end_w[(i, k)] * b[3 + k][j];
            }
        }
        for j in 0..3 {
            out[i][3 + j] += dv[(i, j)];
        }
    }
    out
}

/// out += factor (∂Bᵀ/∂q) F
fn add_geometric(
    end: &SpatialEnd,
    b: &[[f64; 12]; 6],
    force: [f64; 6],
    factor: f64,
    out: &mut [[f64; 12]; 12],
) {
    let f = rotation::cross(&Vec3::new(force[0], force[1], force[2]));
    let m = rotation::cross(&Vec3::new(force[3], force[4], force[5]));
    let ground = factor * (end.axes * f);
    let stop = factor * (end.node.transpose() * m);
    for i in 0..3 {
        for j in 0..3 {
            out[6 + i][3 + j] -= ground[(i, j)];
            out[i][3 + j] += ground[(i, j)];
        }
        for j in 0..12 {
            for k in 0..3 {
                out[9 + i][j] += stop[(i, k)] * b[3 + k][j];
                out[3 + i][j] += factor * f[(i, k)] * b[k][j];
            }
        }
    }
}
