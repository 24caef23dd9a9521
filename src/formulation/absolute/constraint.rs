//! Constraints. Those of a joint, a motion or a prescribed body are a list of parts:
//!
//! ```text
//!   coincidence   Φ = p₀ − p₁                        two points coincide
//!   prescribed    Φ = c(q) − s(t)                    a relative coordinate is fixed or follows a motion law
//!   coupled       Φ = c_b(q) − F(c_a(q))             one relative coordinate is a function of another
//! ```

use super::geometry::{CoincidentPoints, Geometry, Gradient, RelativeCoordinate, dot};
use super::sparsity::{CompactPairSlots, SparsityBuilder, gather, pick};
use crate::formulation::EvaluationContext;
use crate::formulation::function::{Function, Jet};
use crate::formulation::prescribed_motion::PrescribedMotion;
use crate::model::BodyRef;

/// Constraints of one kind between bodies.
#[derive(Clone, Debug)]
pub enum ConstraintPart<W: Geometry<N>, const N: usize> {
    /// Coincident points.
    Coincidence(W::CoincidentPoints),
    /// A fixed or prescribed relative coordinate.
    Prescribed(PrescribedPart<W, N>),
    /// A relative coordinate as a function of another.
    Coupled(Box<CoupledPart<W, N>>),
}

/// Φ = c − s(t)
#[derive(Clone, Debug)]
pub struct PrescribedPart<W: Geometry<N>, const N: usize> {
    /// c
    pub coordinate: W::RelativeCoordinate,
    /// s
    pub motion: PrescribedMotion,
    /// Indices of the gradient's entries that are not always zero.
    columns: Vec<u8>,
    /// Slots of H.
    entries: CompactPairSlots<N>,
}

/// Φ = c_b − F(c_a)
#[derive(Clone, Debug)]
pub struct CoupledPart<W: Geometry<N>, const N: usize> {
    /// c_a, c_b
    pub coordinates: [W::RelativeCoordinate; 2],
    /// F
    pub law: Function,
    /// Index of the mode that says which piece of F applies; see [`crate::formulation::force::knot::CouplingKnots`].
    pub mode: Option<usize>,
    columns: [Vec<u8>; 2],
    entries: [CompactPairSlots<N>; 2],
}

/// Indices of the gradient's entries that are not always zero, without those of the ground.
fn columns<W: Geometry<N>, const N: usize>(coordinate: &W::RelativeCoordinate) -> Vec<u8> {
    let bodies = coordinate.bodies();
    (0..N)
        .filter(|&k| bodies[k / (N / 2)].is_some() && coordinate.depends_on(k))
        .map(|k| k as u8)
        .collect()
}

/// Column in the whole matrix of entry k of a gradient.
fn global<const N: usize>(bodies: [BodyRef; 2], k: usize) -> usize {
    let width = N / 2;
    let body = bodies[k / width].expect("the ground has no columns");
    width * body + k % width
}

impl<W: Geometry<N>, const N: usize> ConstraintPart<W, N> {
    /// Two points coincide.
    pub fn coincidence(points: [W::BodyPoint; 2], slots: &mut SparsityBuilder) -> Self {
        Self::Coincidence(W::CoincidentPoints::new(points, slots))
    }

    /// A relative coordinate is fixed at `value`.
    pub fn fixed(
        coordinate: W::RelativeCoordinate,
        value: f64,
        slots: &mut SparsityBuilder,
    ) -> Self {
        Self::prescribed(coordinate, PrescribedMotion::Fixed(value), slots)
    }

    /// A relative coordinate follows a motion law.
    pub fn prescribed(
        coordinate: W::RelativeCoordinate,
        law: PrescribedMotion,
        slots: &mut SparsityBuilder,
    ) -> Self {
        Self::Prescribed(PrescribedPart {
            columns: columns::<W, N>(&coordinate),
            entries: (slots.body_pair(coordinate.bodies(), |i, j| coordinate.has_curvature(i, j)))
                .into(),
            coordinate,
            motion: law,
        })
    }

    /// The second relative coordinate is a function of the first.
    pub fn coupled(
        coordinates: [W::RelativeCoordinate; 2],
        law: Function,
        slots: &mut SparsityBuilder,
    ) -> Self {
        let has_curvature = !matches!(&law, Function::Polynomial(c) if c.len() <= 2);
        let [a, b] = &coordinates;
        let entries = [
            slots
                .body_pair(a.bodies(), |i, j| {
                    a.has_curvature(i, j) || (has_curvature && a.depends_on(i) && a.depends_on(j))
                })
                .into(),
            slots
                .body_pair(b.bodies(), |i, j| b.has_curvature(i, j))
                .into(),
        ];
        Self::Coupled(Box::new(CoupledPart {
            columns: [columns::<W, N>(a), columns::<W, N>(b)],
            entries,
            coordinates,
            law,
            mode: None,
        }))
    }

    /// Number of constraints.
    #[inline]
    pub fn count(&self) -> usize {
        match self {
            Self::Coincidence(_) => W::DIMENSION,
            Self::Prescribed(_) | Self::Coupled(_) => 1,
        }
    }

    /// Whether Φ is an angle and not a length.
    pub fn is_angle(&self) -> bool {
        match self {
            Self::Coincidence(_) => false,
            Self::Prescribed(prescribed) => prescribed.coordinate.is_angle(),
            Self::Coupled(coupled) => coupled.coordinates[1].is_angle(),
        }
    }

    /// Whether Φ depends on time.
    pub fn is_moving(&self) -> bool {
        matches!(self, Self::Prescribed(prescribed) if prescribed.motion.is_moving())
    }

    /// First coordinate of a coupling whose law has pieces, their bounds, and the index of its mode, to be set.
    #[allow(clippy::type_complexity)] // used in one place
    pub fn coupling_with_knots(
        &mut self,
    ) -> Option<(W::RelativeCoordinate, Vec<f64>, &mut Option<usize>)> {
        let Self::Coupled(coupled) = self else {
            return None;
        };
        let bounds = coupled.law.bounds();
        if bounds.is_empty() {
            return None;
        }
        Some((coupled.coordinates[0].clone(), bounds, &mut coupled.mode))
    }

    /// Whether Φ depends on modes.
    pub fn has_modes(&self) -> bool {
        matches!(self, Self::Coupled(coupled) if coupled.mode.is_some())
    }

    /// Entries of the Jacobian, rows counted from the first constraint of the part.
    pub fn sparsity(&self, push: &mut dyn FnMut(usize, usize)) {
        match self {
            Self::Coincidence(coincidence) => coincidence.sparsity(push),
            Self::Prescribed(prescribed) => {
                for &k in &prescribed.columns {
                    push(0, global::<N>(prescribed.coordinate.bodies(), k as usize));
                }
            }
            Self::Coupled(coupled) => {
                for (coordinate, columns) in coupled.coordinates.iter().zip(&coupled.columns) {
                    for &k in columns {
                        push(0, global::<N>(coordinate.bodies(), k as usize));
                    }
                }
            }
        }
    }

    /// Φ
    #[inline]
    pub fn constraint(&self, cx: &EvaluationContext, poses: &mut W::Poses<'_>, phi: &mut [f64]) {
        match self {
            Self::Coincidence(coincidence) => coincidence.constraint(poses, phi),
            Self::Prescribed(prescribed) => {
                phi[0] = prescribed.coordinate.value(poses).0 - prescribed.motion.at(cx)[0]
            }
            Self::Coupled(coupled) => {
                let [a, b] = &coupled.coordinates;
                phi[0] = b.value(poses).0 - coupled.law_at(cx, a.value(poses).0)[0];
            }
        }
    }

    /// Values of G in the order of `sparsity`; returns their number.
    #[inline]
    pub fn jacobian(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        out: &mut [f64],
    ) -> usize {
        match self {
            Self::Coincidence(coincidence) => coincidence.jacobian(poses, out),
            Self::Prescribed(prescribed) => write(
                &prescribed.columns,
                1.0,
                &prescribed.coordinate.value(poses).1,
                out,
            ),
            Self::Coupled(coupled) => {
                let [a, b] = &coupled.coordinates;
                let (c, g) = a.value(poses);
                let n = write(&coupled.columns[0], -coupled.law_at(cx, c)[1], &g, out);
                n + write(&coupled.columns[1], 1.0, &b.value(poses).1, &mut out[n..])
            }
        }
    }

    /// Φ, and G as in [`ConstraintPart::jacobian`], with one evaluation of each relative coordinate.
    #[inline]
    pub fn constraint_and_jacobian(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        phi: &mut [f64],
        out: &mut [f64],
    ) -> usize {
        match self {
            Self::Coincidence(coincidence) => {
                coincidence.constraint(poses, phi);
                coincidence.jacobian(poses, out)
            }
            Self::Prescribed(prescribed) => {
                let (c, g) = prescribed.coordinate.value(poses);
                phi[0] = c - prescribed.motion.at(cx)[0];
                write(&prescribed.columns, 1.0, &g, out)
            }
            Self::Coupled(coupled) => {
                let [a, b] = &coupled.coordinates;
                let ((c_a, g_a), (c_b, g_b)) = (a.value(poses), b.value(poses));
                let [law, slope, _] = coupled.law_at(cx, c_a);
                phi[0] = c_b - law;
                let n = write(&coupled.columns[0], -slope, &g_a, out);
                n + write(&coupled.columns[1], 1.0, &g_b, &mut out[n..])
            }
        }
    }

    /// ∂Φ/∂t
    pub fn constraint_rate(&self, cx: &EvaluationContext, phi_t: &mut [f64]) {
        match self {
            Self::Prescribed(prescribed) => phi_t[0] = -prescribed.motion.at(cx)[1],
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
            Self::Coincidence(coincidence) => coincidence.acceleration_bias(poses, v, gamma),
            Self::Prescribed(prescribed) => {
                let v = pick(prescribed.coordinate.bodies(), v);
                gamma[0] = prescribed.coordinate.curvature(poses, &v) - prescribed.motion.at(cx)[2];
            }
            Self::Coupled(coupled) => {
                let [a, b] = &coupled.coordinates;
                let (c, g) = a.value(poses);
                let [_, slope, second] = coupled.law_at(cx, c);
                let (va, vb): (Gradient<N>, Gradient<N>) =
                    (pick(a.bodies(), v), pick(b.bodies(), v));
                let rate = dot(&g, &va);
                gamma[0] = b.curvature(poses, &vb)
                    - slope * a.curvature(poses, &va)
                    - second * rate * rate;
            }
        }
    }

    /// out += factor ∂(Gᵀλ)/∂q in the values of the tangent matrix.
    #[inline]
    pub fn add_stiffness(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        lambda: &[f64],
        factor: f64,
        out: &mut [f64],
    ) {
        match self {
            Self::Coincidence(coincidence) => coincidence.add_stiffness(poses, lambda, factor, out),
            Self::Prescribed(prescribed) => {
                let factor = factor * lambda[0];
                if factor != 0.0 && !prescribed.entries.is_empty() {
                    prescribed.entries.add_matrix(
                        factor,
                        &prescribed.coordinate.hessian(poses),
                        out,
                    );
                }
            }
            Self::Coupled(coupled) => {
                let factor = factor * lambda[0];
                let [a, b] = &coupled.coordinates;
                let [entries_a, entries_b] = &coupled.entries;
                let (c, g) = a.value(poses);
                let [_, slope, second] = coupled.law_at(cx, c);
                entries_b.add_matrix(factor, &b.hessian(poses), out);
                entries_a.add_matrix(-factor * slope, &a.hessian(poses), out);
                if second != 0.0 {
                    entries_a.add_outer(&g.map(|x| -factor * second * x), &g, out);
                }
            }
        }
    }

    /// out += Gᵀ λ over the given two bodies.
    pub fn add_constraint_force(
        &self,
        poses: &mut W::Poses<'_>,
        bodies: [BodyRef; 2],
        lambda: &[f64],
        out: &mut Gradient<N>,
    ) {
        match self {
            Self::Coincidence(coincidence) => coincidence.add_constraint_force(poses, lambda, out),
            Self::Prescribed(prescribed) => {
                let (_, g) = prescribed.coordinate.value(poses);
                for k in 0..N {
                    out[k] += lambda[0] * g[k];
                }
            }
            Self::Coupled(coupled) => {
                let [a, b] = &coupled.coordinates;
                let (c, g_a) = a.value(poses);
                let (_, g_b) = b.value(poses);
                let slope = coupled.law.at(c)[1];
                for (coordinate, factor, g) in [(a, -slope, g_a), (b, 1.0, g_b)] {
                    if coordinate.bodies() == bodies {
                        for k in 0..N {
                            out[k] += factor * lambda[0] * g[k];
                        }
                    }
                }
            }
        }
    }
}

impl<W: Geometry<N>, const N: usize> CoupledPart<W, N> {
    /// F, F', F'' at c_a, by the piece of the mode.
    #[inline]
    fn law_at(&self, cx: &EvaluationContext, c: f64) -> Jet {
        match self.mode.and_then(|mode| cx.modes.get(mode)) {
            Some(&mode) => self.law.in_mode(mode, c),
            None => self.law.at(c),
        }
    }
}

/// Writes the given entries of a gradient; returns their number.
#[inline]
fn write<const N: usize>(columns: &[u8], factor: f64, g: &[f64; N], out: &mut [f64]) -> usize {
    for (out, &k) in out.iter_mut().zip(columns) {
        *out = factor * g[k as usize];
    }
    columns.len()
}

/// c, ċ and c̈ of a relative coordinate along a motion.
pub fn relative_motion<W: Geometry<N>, const N: usize>(
    coordinate: &W::RelativeCoordinate,
    poses: &mut W::Poses<'_>,
    v: &[f64],
    a: &[f64],
) -> [f64; 3] {
    let bodies = coordinate.bodies();
    let (c, g) = coordinate.value(poses);
    let rates = pick(bodies, v);
    let curvature = coordinate.curvature(poses, &rates);
    [c, dot(&g, &rates), gather(bodies, &g, a) + curvature]
}
