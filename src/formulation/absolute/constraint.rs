//! Constraints. Those of a joint, a motion or a prescribed body are a list of parts:
//!
//! ```text
//!   coincidence   Φ = p₀ − p₁                        two points coincide
//!   prescribed    Φ = c(q) − s(t)                    a relative coordinate is fixed or follows a motion law
//!   coupled       Φ = c_b(q) − F(c_a(q)) − Σ r_k c_k(q)      one relative coordinate is a function of another, or a sum of many
//! ```

use super::geometry::{CoincidentPoints, Geometry, Gradient, RelativeCoordinate, dot};
use super::sparsity::{CompactPairSlots, SparsityBuilder, gather, pick};
use crate::formulation::EvaluationContext;
use crate::formulation::force::rigid_contact;
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
    /// Of a unilateral constraint: the index of its mode. While that says that the constraint is inactive, Φ and G are not
    /// evaluated but zero.
    pub unilateral_mode: Option<usize>,
    /// Indices of the gradient's entries that are not always zero.
    columns: Vec<u8>,
    /// Slots of H.
    entries: CompactPairSlots<N>,
}

/// Φ = c_b − F(c_a) − Σ r_k c_k
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
    /// r_k c_k
    summands: Vec<Summand<W, N>>,
}

/// A coordinate of a sum.
#[derive(Clone, Debug)]
struct Summand<W: Geometry<N>, const N: usize> {
    /// r_k
    ratio: f64,
    /// c_k
    coordinate: W::RelativeCoordinate,
    columns: Vec<u8>,
    entries: CompactPairSlots<N>,
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
            unilateral_mode: None,
        })
    }

    /// The second relative coordinate is a function of the first.
    pub fn coupled(
        coordinates: [W::RelativeCoordinate; 2],
        law: Function,
        slots: &mut SparsityBuilder,
    ) -> Self {
        Self::coupled_sum(coordinates, law, vec![], slots)
    }

    /// The second relative coordinate is a function of the first plus a sum of further ones, each times its ratio.
    pub fn coupled_sum(
        coordinates: [W::RelativeCoordinate; 2],
        law: Function,
        summands: Vec<(f64, W::RelativeCoordinate)>,
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
        let mut summand = |(ratio, coordinate): (f64, W::RelativeCoordinate)| Summand {
            ratio,
            columns: columns::<W, N>(&coordinate),
            entries: (slots.body_pair(coordinate.bodies(), |i, j| coordinate.has_curvature(i, j)))
                .into(),
            coordinate,
        };
        Self::Coupled(Box::new(CoupledPart {
            columns: [columns::<W, N>(a), columns::<W, N>(b)],
            summands: summands.into_iter().map(&mut summand).collect(),
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

    /// Whether it is a constraint of velocities: Φ is zero everywhere.
    pub fn is_velocity(&self) -> bool {
        matches!(self, Self::Prescribed(prescribed) if prescribed.coordinate.slip_axis().is_some())
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
                let two = coupled.coordinates.iter().zip(&coupled.columns);
                let more = coupled.summands.iter().map(|s| (&s.coordinate, &s.columns));
                for (coordinate, columns) in two.chain(more) {
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
            Self::Prescribed(prescribed) if prescribed.is_inactive(cx) => phi[0] = 0.0,
            Self::Prescribed(prescribed) => {
                phi[0] = prescribed.coordinate.value(poses).0 - prescribed.motion.at(cx)[0]
            }
            Self::Coupled(coupled) => {
                let [a, b] = &coupled.coordinates;
                phi[0] = b.value(poses).0 - coupled.law_at(cx, a.value(poses).0)[0];
                for summand in &coupled.summands {
                    phi[0] -= summand.ratio * summand.coordinate.value(poses).0;
                }
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
            Self::Prescribed(prescribed) if prescribed.is_inactive(cx) => {
                write(&prescribed.columns, 0.0, &[0.0; N], out)
            }
            Self::Prescribed(prescribed) => write(
                &prescribed.columns,
                1.0,
                &prescribed.coordinate.value(poses).1,
                out,
            ),
            Self::Coupled(coupled) => {
                let [a, b] = &coupled.coordinates;
                let (c, g) = a.value(poses);
                let mut n = write(&coupled.columns[0], -coupled.law_at(cx, c)[1], &g, out);
                n += write(&coupled.columns[1], 1.0, &b.value(poses).1, &mut out[n..]);
                for summand in &coupled.summands {
                    n += summand.jacobian(poses, &mut out[n..]).1;
                }
                n
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
            Self::Prescribed(prescribed) if prescribed.is_inactive(cx) => {
                phi[0] = 0.0;
                write(&prescribed.columns, 0.0, &[0.0; N], out)
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
                let mut n = write(&coupled.columns[0], -slope, &g_a, out);
                n += write(&coupled.columns[1], 1.0, &g_b, &mut out[n..]);
                for summand in &coupled.summands {
                    let (c, written) = summand.jacobian(poses, &mut out[n..]);
                    phi[0] -= summand.ratio * c;
                    n += written;
                }
                n
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
            Self::Prescribed(prescribed) if prescribed.is_inactive(cx) => gamma[0] = 0.0,
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
                for Summand {
                    ratio, coordinate, ..
                } in &coupled.summands
                {
                    let v = pick(coordinate.bodies(), v);
                    gamma[0] -= ratio * coordinate.curvature(poses, &v);
                }
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
                for summand in &coupled.summands {
                    let h = summand.coordinate.hessian(poses);
                    (summand.entries).add_matrix(-factor * summand.ratio, &h, out);
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
                let more = (coupled.summands.iter())
                    .map(|s| (&s.coordinate, -s.ratio, s.coordinate.value(poses).1));
                for (coordinate, factor, g) in
                    [(a, -slope, g_a), (b, 1.0, g_b)].into_iter().chain(more)
                {
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

impl<W: Geometry<N>, const N: usize> PrescribedPart<W, N> {
    /// Whether it is a unilateral constraint that is inactive in the modes.
    #[inline]
    fn is_inactive(&self, cx: &EvaluationContext) -> bool {
        match self.unilateral_mode.and_then(|mode| cx.modes.get(mode)) {
            Some(&mode) => !rigid_contact::is_active(mode, self.coordinate.slip_axis()),
            None => false,
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

impl<W: Geometry<N>, const N: usize> Summand<W, N> {
    /// Writes the entries of −r g; returns c and their number.
    #[inline]
    fn jacobian(&self, poses: &mut W::Poses<'_>, out: &mut [f64]) -> (f64, usize) {
        let (c, g) = self.coordinate.value(poses);
        (c, write(&self.columns, -self.ratio, &g, out))
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
