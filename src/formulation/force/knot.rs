//! The points of a table that a motion follows, as events in time.
//!
//! ```text
//!   φ = t − t_k,   t_k the end of the present interval of the table
//! ```
//!
//! At a point of a table s̈ jumps (monotone cubics) or ṡ jumps (straight lines). A step ends there, and within a step the motion is
//! one polynomial. The element has no force.

use std::sync::Arc;

use super::{EventCounts, ForceElement, ForceQuantities};
use crate::formulation::absolute::geometry::Geometry;
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

    fn add_force(
        &self,
        _cx: &EvaluationContext,
        _poses: &mut W::Poses<'_>,
        _v: &[f64],
        _out: &mut [f64],
    ) {
    }

    fn add_tangent(
        &self,
        _cx: &EvaluationContext,
        _poses: &mut W::Poses<'_>,
        _v: &[f64],
        _damping: f64,
        _stiffness: f64,
        _out: &mut [f64],
    ) {
    }

    fn quantities(
        &self,
        _cx: &EvaluationContext,
        _poses: &mut W::Poses<'_>,
        _at: &MotionPoint,
    ) -> ForceQuantities {
        ForceQuantities::default()
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
