//! The points of a table that a motion or a coupling follows, as events. The elements have no force.
//!
//! Of a motion, in time:
//!
//! ```text
//!   φ = t − t_k,   t_k the end of the present interval of the table
//! ```
//!
//! At a point of a table s̈ jumps (monotone cubics) or ṡ jumps (straight lines). A step ends there, and within a step the motion is
//! one polynomial.

use std::sync::Arc;

use super::contact::curvature::BodySpeeds;
use super::{EventCounts, ForceElement};
use crate::formulation::absolute::geometry::{Geometry, RelativeCoordinate};
use crate::formulation::absolute::sparsity::gather;
use crate::formulation::prescribed_motion::{mode_of_piece, piece_in_mode};
use crate::formulation::{Crossing, EvaluationContext, EventEffect, MotionPoint};
use crate::linalg::interpolation::PiecewiseCubic;

/// The points of a table. The mode is the interval; see [`piece_in_mode`].
#[derive(Clone, Debug)]
pub struct TableKnots {
    /// s(t)
    pub table: Arc<PiecewiseCubic>,
}

impl TableKnots {
    fn piece(&self, cx: &EvaluationContext) -> i64 {
        piece_in_mode(&self.table, cx.modes.first(), cx.t)
    }
}

impl<W: Geometry<N>, const N: usize> ForceElement<W, N> for TableKnots {
    fn depends_on_rate(&self) -> bool {
        false
    }

    fn does_work(&self) -> bool {
        false
    }

    fn event_counts(&self) -> EventCounts {
        EventCounts {
            events: 1,
            modes: 1,
            ..EventCounts::default()
        }
    }

    fn initial_modes(
        &self,
        cx: &EvaluationContext,
        _poses: &mut W::Poses<'_>,
        _v: &[f64],
        modes: &mut [i32],
    ) {
        modes[0] = mode_of_piece(self.table.piece_at(cx.t));
    }

    fn event_functions(
        &self,
        cx: &EvaluationContext,
        _poses: &mut W::Poses<'_>,
        _at: &MotionPoint,
        phi: &mut [f64],
        rate: &mut [f64],
    ) {
        let bound = self.table.upper_bound(self.piece(cx));
        phi[0] = if bound.is_finite() {
            cx.t - bound
        } else {
            -1.0
        };
        rate[0] = 1.0;
    }

    fn crossing(&self, modes: &[i32], _i: usize) -> Crossing {
        match self
            .table
            .upper_bound(piece_in_mode(&self.table, modes.first(), f64::MAX))
        {
            bound if bound.is_finite() => Crossing::Rising,
            _ => Crossing::Off,
        }
    }

    fn handle_event(
        &self,
        cx: &EvaluationContext,
        _poses: &mut W::Poses<'_>,
        _at: &MotionPoint,
        _i: usize,
        modes: &mut [i32],
        _n: &mut [f64],
    ) -> EventEffect {
        // Points closer than the accuracy of the location are passed together.
        let next = (self.piece(cx) + 1).max(self.table.piece_at(cx.t));
        modes[0] = mode_of_piece(next);
        EventEffect::MotionLaw
    }
}

/// The bounds of the pieces of a coupling's law F, as events of its first coordinate.
///
/// ```text
///   φ_k = c − x_k,   x_k the bound behind piece k
/// ```
///
/// F'' jumps there, and with it the acceleration. The mode is the number of the piece, counted from 1.
#[derive(Clone, Debug)]
pub struct CouplingKnots<C> {
    /// c
    pub coordinate: C,
    /// x_k, ascending.
    pub bounds: Vec<f64>,
}

impl<C> CouplingKnots<C> {
    /// The mode of the piece that contains c.
    fn mode_at(&self, c: f64) -> i32 {
        1 + self.bounds.partition_point(|bound| *bound <= c) as i32
    }
}

impl<W: Geometry<N>, const N: usize> ForceElement<W, N> for CouplingKnots<W::RelativeCoordinate> {
    fn depends_on_rate(&self) -> bool {
        false
    }

    fn does_work(&self) -> bool {
        false
    }

    fn event_counts(&self) -> EventCounts {
        EventCounts {
            events: self.bounds.len(),
            modes: 1,
            ..EventCounts::default()
        }
    }

    fn modes_exist(&self, modes: &[i32]) -> bool {
        (modes.iter()).all(|mode| (0..=1 + self.bounds.len() as i32).contains(mode))
    }

    fn initial_modes(
        &self,
        _cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        _v: &[f64],
        modes: &mut [i32],
    ) {
        modes[0] = self.mode_at(self.coordinate.value(poses).0);
    }

    fn event_functions(
        &self,
        _cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        at: &MotionPoint,
        phi: &mut [f64],
        rate: &mut [f64],
    ) {
        let (c, g) = self.coordinate.value(poses);
        for (phi, bound) in phi.iter_mut().zip(&self.bounds) {
            *phi = c - bound;
        }
        rate.fill(gather(self.coordinate.bodies(), &g, at.v));
    }

    fn event_curvature(
        &self,
        _cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        at: &MotionPoint,
        bound: &mut [f64],
    ) {
        let speeds = BodySpeeds::of::<N>(self.coordinate.bodies(), at);
        bound.fill(self.coordinate.acceleration_bound(poses, &speeds));
    }

    fn crossing(&self, modes: &[i32], i: usize) -> Crossing {
        match modes[0] - 1 - i as i32 {
            0 => Crossing::Rising,
            1 => Crossing::Falling,
            _ => Crossing::Off,
        }
    }

    fn handle_event(
        &self,
        _cx: &EvaluationContext,
        _poses: &mut W::Poses<'_>,
        _at: &MotionPoint,
        i: usize,
        modes: &mut [i32],
        _n: &mut [f64],
    ) -> EventEffect {
        let below = 1 + i as i32;
        modes[0] = if modes[0] == below { below + 1 } else { below };
        EventEffect::Mode
    }
}
