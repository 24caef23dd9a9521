//! Members of a group of force elements, and runs of consecutive ones that rest together.

use std::ops::Range;
use std::sync::Arc;

use super::ForceElement;
use super::rigid_contact::ACTIVE;
use crate::formulation::absolute::geometry::Geometry;
use crate::formulation::{EvaluationContext, IntegralMemory};

/// An element of a group, with its ranges of events, modes and integrals.
#[derive(Clone, Debug)]
pub(super) struct Member<W: Geometry<N>, const N: usize> {
    pub element: Arc<dyn ForceElement<W, N>>,
    pub name: String,
    pub events: Range<usize>,
    pub modes: Range<usize>,
    pub integrals: Range<usize>,
    /// Row of a unilateral constraint.
    pub row: Option<usize>,
    /// It rests while all its modes are zero.
    pub rests: bool,
}

impl<W: Geometry<N>, const N: usize> Member<W, N> {
    /// Returns the context with the modes and integrals of this element.
    #[inline]
    pub fn context<'a>(&self, cx: &EvaluationContext<'a>) -> EvaluationContext<'a> {
        EvaluationContext {
            modes: if self.modes.is_empty() {
                &[]
            } else {
                &cx.modes[self.modes.clone()]
            },
            integrals: self.integrals(cx),
            ..*cx
        }
    }

    /// Whether it is a unilateral constraint that is inactive.
    #[inline]
    pub fn is_open(&self, modes: &[i32]) -> bool {
        self.row.is_some() && modes[self.modes.start] != ACTIVE
    }

    /// Returns the integrals of this element; none before the start of a run.
    #[inline]
    pub fn integrals<'a>(&self, cx: &EvaluationContext<'a>) -> &'a [IntegralMemory] {
        cx.integrals.get(self.integrals.clone()).unwrap_or(&[])
    }
}

/// Consecutive members that rest together or never: open contacts are passed over without a look at each.
#[derive(Clone, Debug)]
pub struct Run {
    /// Their indices.
    pub members: Range<usize>,
    /// All their modes.
    pub modes: Range<usize>,
    /// They rest while all their modes are zero.
    pub rests: bool,
}

/// Members of a run at most: one closed contact wakes as many others.
const RUN: usize = 64;

impl Run {
    /// Appends a member to the last run, or begins a new one.
    pub fn push(runs: &mut Vec<Self>, k: usize, modes: &Range<usize>, rests: bool) {
        match runs.last_mut() {
            Some(run) if run.members.end == k && run.rests == rests && run.members.len() < RUN => {
                run.members.end = k + 1;
                run.modes.end = modes.end;
            }
            _ => runs.push(Self {
                members: k..k + 1,
                modes: modes.clone(),
                rests,
            }),
        }
    }

    /// Whether no member of the run does anything in these modes.
    #[inline]
    pub fn is_at_rest(&self, modes: &[i32]) -> bool {
        self.rests
            && modes[self.modes.clone()]
                .iter()
                .fold(0, |all, mode| all | mode)
                == 0
    }
}
