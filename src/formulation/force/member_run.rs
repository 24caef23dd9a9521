//! Runs of consecutive force elements that rest together.

use std::ops::Range;

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
