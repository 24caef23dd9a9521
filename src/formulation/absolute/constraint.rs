//! Constraint rows. A joint, a motion, a prescribed body is a list of parts:
//!
//! ```text
//!   meet      Φ = p₀ − p₁                            two points in one place
//!   held      Φ = c(q) − s(t)                        a measure that stays, or follows a course
//!   coupled   Φ = c_b(q) − F(c_a(q))                 one measure that follows another
//! ```

use super::geometry::{CoincidentPoints, Geometry, Gradient, RelativeCoordinate, dot};
use super::sparsity::{CompactPairSlots, SparsityBuilder, gather, pick};
use crate::formulation::EvaluationContext;
use crate::formulation::function::Function;
use crate::formulation::prescribed_motion::PrescribedMotion;
use crate::model::BodyRef;

/// Some rows.
#[derive(Clone, Debug)]
pub enum ConstraintPart<W: Geometry<N>, const N: usize> {
    /// Points in one place.
    Coincidence(W::CoincidentPoints),
    /// A measure held.
    Prescribed(PrescribedPart<W, N>),
    /// A measure that follows another.
    Coupled(Box<CoupledPart<W, N>>),
}

/// Φ = c − s(t)
#[derive(Clone, Debug)]
pub struct PrescribedPart<W: Geometry<N>, const N: usize> {
    /// c
    pub coordinate: W::RelativeCoordinate,
    /// s
    pub motion: PrescribedMotion,
    /// The coordinates of the two bodies it touches.
    columns: Vec<u8>,
    entries: CompactPairSlots<N>,
}

/// Φ = c_b − F(c_a)
#[derive(Clone, Debug)]
pub struct CoupledPart<W: Geometry<N>, const N: usize> {
    /// c_a, c_b
    pub coordinates: [W::RelativeCoordinate; 2],
    /// F
    pub law: Function,
    columns: [Vec<u8>; 2],
    entries: [CompactPairSlots<N>; 2],
}

/// The coordinates of two bodies that a measure touches, the ground's left out.
fn columns<W: Geometry<N>, const N: usize>(measure: &W::RelativeCoordinate) -> Vec<u8> {
    let bodies = measure.bodies();
    (0..N)
        .filter(|&k| bodies[k / (N / 2)].is_some() && measure.depends_on(k))
        .map(|k| k as u8)
        .collect()
}

/// The column in the whole matrix of coordinate k of two bodies.
fn global<const N: usize>(bodies: [BodyRef; 2], k: usize) -> usize {
    let width = N / 2;
    let body = bodies[k / width].expect("columns of the ground are left out");
    width * body + k % width
}

impl<W: Geometry<N>, const N: usize> ConstraintPart<W, N> {
    /// Two points in one place.
    pub fn coincidence(points: [W::BodyPoint; 2], slots: &mut SparsityBuilder) -> Self {
        Self::Coincidence(W::CoincidentPoints::new(points, slots))
    }

    /// A measure that stays at `value`.
    pub fn fixed(measure: W::RelativeCoordinate, value: f64, slots: &mut SparsityBuilder) -> Self {
        Self::prescribed(measure, PrescribedMotion::Fixed(value), slots)
    }

    /// A measure that follows a course.
    pub fn prescribed(
        measure: W::RelativeCoordinate,
        course: PrescribedMotion,
        slots: &mut SparsityBuilder,
    ) -> Self {
        Self::Prescribed(PrescribedPart {
            columns: columns::<W, N>(&measure),
            entries: (slots.body_pair(measure.bodies(), |i, j| measure.has_curvature(i, j))).into(),
            coordinate: measure,
            motion: course,
        })
    }

    /// The second measure follows the first.
    pub fn coupled(
        measures: [W::RelativeCoordinate; 2],
        law: Function,
        slots: &mut SparsityBuilder,
    ) -> Self {
        let bent = !matches!(&law, Function::Polynomial(c) if c.len() <= 2);
        let [a, b] = &measures;
        let entries = [
            slots
                .body_pair(a.bodies(), |i, j| {
                    a.has_curvature(i, j) || (bent && a.depends_on(i) && a.depends_on(j))
                })
                .into(),
            slots
                .body_pair(b.bodies(), |i, j| b.has_curvature(i, j))
                .into(),
        ];
        Self::Coupled(Box::new(CoupledPart {
            columns: [columns::<W, N>(a), columns::<W, N>(b)],
            entries,
            coordinates: measures,
            law,
        }))
    }

    /// How many rows.
    #[inline]
    pub fn count(&self) -> usize {
        match self {
            Self::Coincidence(_) => W::DIMENSION,
            Self::Prescribed(_) | Self::Coupled(_) => 1,
        }
    }

    /// Whether its rows are closed to an angle rather than to a length.
    pub fn is_angle(&self) -> bool {
        match self {
            Self::Coincidence(_) => false,
            Self::Prescribed(held) => held.coordinate.is_angle(),
            Self::Coupled(coupled) => coupled.coordinates[1].is_angle(),
        }
    }

    /// Φ depends on time.
    pub fn is_moving(&self) -> bool {
        matches!(self, Self::Prescribed(held) if held.motion.is_moving())
    }

    /// Places of the Jacobian, rows counted from the part's first.
    pub fn sparsity(&self, push: &mut dyn FnMut(usize, usize)) {
        match self {
            Self::Coincidence(meet) => meet.sparsity(push),
            Self::Prescribed(held) => {
                for &k in &held.columns {
                    push(0, global::<N>(held.coordinate.bodies(), k as usize));
                }
            }
            Self::Coupled(coupled) => {
                for (measure, columns) in coupled.coordinates.iter().zip(&coupled.columns) {
                    for &k in columns {
                        push(0, global::<N>(measure.bodies(), k as usize));
                    }
                }
            }
        }
    }

    /// Φ
    #[inline]
    pub fn constraint(&self, cx: &EvaluationContext, poses: &mut W::Poses<'_>, phi: &mut [f64]) {
        match self {
            Self::Coincidence(meet) => meet.constraint(poses, phi),
            Self::Prescribed(held) => {
                phi[0] = held.coordinate.value(poses).0 - held.motion.at(cx)[0]
            }
            Self::Coupled(coupled) => {
                let [a, b] = &coupled.coordinates;
                phi[0] = b.value(poses).0 - coupled.law.at(a.value(poses).0)[0];
            }
        }
    }

    /// Values of G in the order of `pattern`; returns how many.
    #[inline]
    pub fn jacobian(&self, poses: &mut W::Poses<'_>, out: &mut [f64]) -> usize {
        match self {
            Self::Coincidence(meet) => meet.jacobian(poses, out),
            Self::Prescribed(held) => {
                write(&held.columns, 1.0, &held.coordinate.value(poses).1, out)
            }
            Self::Coupled(coupled) => {
                let [a, b] = &coupled.coordinates;
                let (c, g) = a.value(poses);
                let n = write(&coupled.columns[0], -coupled.law.at(c)[1], &g, out);
                n + write(&coupled.columns[1], 1.0, &b.value(poses).1, &mut out[n..])
            }
        }
    }

    /// Φ, and G as in [`Part::jacobian`], with one look at each measure.
    #[inline]
    pub fn constraint_and_jacobian(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        phi: &mut [f64],
        out: &mut [f64],
    ) -> usize {
        match self {
            Self::Coincidence(meet) => {
                meet.constraint(poses, phi);
                meet.jacobian(poses, out)
            }
            Self::Prescribed(held) => {
                let (c, g) = held.coordinate.value(poses);
                phi[0] = c - held.motion.at(cx)[0];
                write(&held.columns, 1.0, &g, out)
            }
            Self::Coupled(coupled) => {
                let [a, b] = &coupled.coordinates;
                let ((c_a, g_a), (c_b, g_b)) = (a.value(poses), b.value(poses));
                let [law, first, _] = coupled.law.at(c_a);
                phi[0] = c_b - law;
                let n = write(&coupled.columns[0], -first, &g_a, out);
                n + write(&coupled.columns[1], 1.0, &g_b, &mut out[n..])
            }
        }
    }

    /// ∂Φ/∂t
    pub fn constraint_rate(&self, cx: &EvaluationContext, phi_t: &mut [f64]) {
        match self {
            Self::Prescribed(held) => phi_t[0] = -held.motion.at(cx)[1],
            _ => phi_t[..self.count()].fill(0.0),
        }
    }

    /// (G v)_q v + 2 G_t v + Φ_tt; G does not depend on time.
    #[inline]
    pub fn acceleration_bias(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        v: &[f64],
        gamma: &mut [f64],
    ) {
        match self {
            Self::Coincidence(meet) => meet.acceleration_bias(poses, v, gamma),
            Self::Prescribed(held) => {
                let v = pick(held.coordinate.bodies(), v);
                gamma[0] = held.coordinate.curvature(poses, &v) - held.motion.at(cx)[2];
            }
            Self::Coupled(coupled) => {
                let [a, b] = &coupled.coordinates;
                let (c, g) = a.value(poses);
                let [_, first, second] = coupled.law.at(c);
                let (va, vb): (Gradient<N>, Gradient<N>) =
                    (pick(a.bodies(), v), pick(b.bodies(), v));
                let rate = dot(&g, &va);
                gamma[0] = b.curvature(poses, &vb)
                    - first * a.curvature(poses, &va)
                    - second * rate * rate;
            }
        }
    }

    /// out += factor ∂(Gᵀλ)/∂q in the whole tangent matrix.
    #[inline]
    pub fn add_stiffness(
        &self,
        poses: &mut W::Poses<'_>,
        lambda: &[f64],
        factor: f64,
        out: &mut [f64],
    ) {
        match self {
            Self::Coincidence(meet) => meet.add_stiffness(poses, lambda, factor, out),
            Self::Prescribed(held) => {
                let factor = factor * lambda[0];
                if factor != 0.0 && !held.entries.is_empty() {
                    held.entries
                        .add_matrix(factor, &held.coordinate.hessian(poses), out);
                }
            }
            Self::Coupled(coupled) => {
                let factor = factor * lambda[0];
                let [a, b] = &coupled.coordinates;
                let [entries_a, entries_b] = &coupled.entries;
                let (c, g) = a.value(poses);
                let [_, first, second] = coupled.law.at(c);
                entries_b.add_matrix(factor, &b.hessian(poses), out);
                entries_a.add_matrix(-factor * first, &a.hessian(poses), out);
                if second != 0.0 {
                    entries_a.add_outer(&g.map(|x| -factor * second * x), &g, out);
                }
            }
        }
    }

    /// out += Gᵀ λ over the given two bodies: what of the part's pull acts on them.
    pub fn add_constraint_force(
        &self,
        poses: &mut W::Poses<'_>,
        bodies: [BodyRef; 2],
        lambda: &[f64],
        out: &mut Gradient<N>,
    ) {
        match self {
            Self::Coincidence(meet) => meet.add_constraint_force(poses, lambda, out),
            Self::Prescribed(held) => {
                let (_, g) = held.coordinate.value(poses);
                for k in 0..N {
                    out[k] += lambda[0] * g[k];
                }
            }
            Self::Coupled(coupled) => {
                let [a, b] = &coupled.coordinates;
                let (c, g_a) = a.value(poses);
                let (_, g_b) = b.value(poses);
                let first = coupled.law.at(c)[1];
                for (measure, factor, g) in [(a, -first, g_a), (b, 1.0, g_b)] {
                    if measure.bodies() == bodies {
                        for k in 0..N {
                            out[k] += factor * lambda[0] * g[k];
                        }
                    }
                }
            }
        }
    }
}

/// Writes the entries of a gradient that are not always zero.
#[inline]
fn write<const N: usize>(columns: &[u8], factor: f64, g: &[f64; N], out: &mut [f64]) -> usize {
    for (out, &k) in out.iter_mut().zip(columns) {
        *out = factor * g[k as usize];
    }
    columns.len()
}

/// c, ċ and c̈ of a measure along a motion.
pub fn relative_motion<W: Geometry<N>, const N: usize>(
    measure: &W::RelativeCoordinate,
    poses: &mut W::Poses<'_>,
    v: &[f64],
    a: &[f64],
) -> [f64; 3] {
    let bodies = measure.bodies();
    let (c, g) = measure.value(poses);
    let rates = pick(bodies, v);
    let bend = measure.curvature(poses, &rates);
    [c, dot(&g, &rates), gather(bodies, &g, a) + bend]
}
