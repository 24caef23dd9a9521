//! Modes in a search for an equilibrium: contacts that close and open on the way, pieces of force laws, and loads that are applied in
//! steps.
//!
//! ```text
//!   f(q) − (1 − s) f(q₀) = Gᵀλ,    s = 0 at the start, which is in equilibrium, s = 1 with the complete load
//! ```

use super::equilibrium::{Equilibrium, EquilibriumSolver, subtract};
use crate::error::Result;
use crate::formulation::system::{
    ContactFriction, Crossing, EventEffect, HybridSystem, MotionPoint, System,
};

/// Value of an event function that has crossed zero: above the rounding of a closed contact.
const CROSSED: f64 = 1e-11;
/// Depth of a contact, or another event function, that a result may not have.
const VIOLATED: f64 = 1e-8;
/// Mode changes of one search.
const MOST_CHANGES: usize = 200;
/// Bisections to the place where a contact closes.
const BISECTIONS: usize = 60;
/// First part of the load, growth of the parts, and the smallest one.
const FIRST_PART: f64 = 0.125;
const GROWTH: f64 = 1.5;
const SMALLEST_PART: f64 = 1e-3;

/// These modes at rest: closed contacts stick. Whether friction holds them is asked of the result.
pub(super) fn modes_at_rest(system: &dyn System, modes: &[i32]) -> Vec<i32> {
    let mut resting = modes.to_vec();
    for i in 0..system.dimensions().ne {
        system.set_contact_friction(i, ContactFriction::Stick([true; 2]), &mut resting);
    }
    resting
}

impl EquilibriumSolver<'_> {
    /// Event functions at rest at q with the present multipliers.
    fn event_functions(&self, modes: &[i32], q: &[f64]) -> Vec<f64> {
        let rest = &self.zero[..self.size.nv];
        let at = MotionPoint {
            q,
            v: rest,
            a: rest,
            lambda: &self.lambda,
        };
        let cx = self.context(modes);
        let (mut phi, mut rate) = (vec![0.0; self.size.ne], vec![0.0; self.size.ne]);
        self.system.event_functions(&cx, &at, &mut phi, &mut rate);
        phi
    }

    /// Modes after event `i` at q, and whether it closes a rigid contact.
    fn after_event(&self, modes: &[i32], q: &[f64], i: usize) -> (Vec<i32>, bool) {
        let rest = &self.zero[..self.size.nv];
        let at = MotionPoint {
            q,
            v: rest,
            a: rest,
            lambda: &self.lambda,
        };
        let cx = self.context(modes);
        let (mut changed, mut gradient) = (modes.to_vec(), vec![0.0; self.size.nv]);
        let effect = (self.system).handle_event(&cx, &at, i, &mut changed, &mut gradient);
        let closes = matches!(effect, EventEffect::Impulse { .. });
        if closes {
            self.system.activate_unilateral(i, &mut changed);
            let sticks = ContactFriction::Stick([true; 2]);
            self.system.set_contact_friction(i, sticks, &mut changed);
        }
        (changed, closes)
    }

    /// The first event that these values trigger, beyond `slack`; only those that change their sign from `before`, if given.
    fn triggered(
        &self,
        modes: &[i32],
        phi: &[f64],
        before: Option<&[f64]>,
        slack: f64,
    ) -> Option<usize> {
        let crosses = |i: usize, sign: f64| {
            sign * phi[i] > slack && before.is_none_or(|before| sign * before[i] <= slack)
        };
        (0..phi.len()).find(|&i| match self.system.crossing(modes, i) {
            Crossing::Off => false,
            Crossing::Rising => crosses(i, 1.0),
            Crossing::Falling => crosses(i, -1.0),
            Crossing::Either => before.is_some() && (crosses(i, 1.0) || crosses(i, -1.0)),
        })
    }

    /// Where on the way from q by `shift` to `moved` the first rigid contacts close; they are active from there on.
    pub(super) fn closing_contact(
        &mut self,
        q: &[f64],
        moved: &[f64],
        shift: &[f64],
    ) -> Option<Vec<f64>> {
        let first = self.event_functions(&self.modes, q);
        // Modes with every contact closed that closes up to a position: two corners may land at once.
        let closing = |solver: &Self, at: &[f64]| {
            let mut phi = solver.event_functions(&solver.modes, at);
            let mut closed = None;
            while let Some(i) = solver.triggered(&solver.modes, &phi, Some(&first), CROSSED) {
                let before = closed.as_ref().unwrap_or(&solver.modes);
                if let (modes, true) = solver.after_event(before, at, i) {
                    closed = Some(modes);
                }
                phi[i] = first[i];
            }
            closed
        };
        let mut modes = closing(self, moved)?;
        if self.mode_changes > MOST_CHANGES {
            return None;
        }
        let (mut low, mut high, mut found) = (0.0, 1.0, moved.to_vec());
        for _ in 0..BISECTIONS {
            let part: f64 = 0.5 * (low + high);
            let w: Vec<f64> = shift.iter().map(|w| part * w).collect();
            let Some(middle) = self.moved(q, &w) else {
                break;
            };
            match closing(self, &middle) {
                Some(after) => (high, found, modes) = (part, middle, after),
                None => low = part,
            }
        }
        self.mode_changes += 1;
        self.modes = modes;
        Some(found)
    }

    /// Modes at `moved`, a step from q: other pieces of force laws.
    pub(super) fn modes_at(&self, q: &[f64], moved: &[f64]) -> Vec<i32> {
        let mut modes = self.modes.clone();
        let before = self.event_functions(&modes, q);
        for _ in 0..MOST_CHANGES {
            let phi = self.event_functions(&modes, moved);
            let Some(i) = self.triggered(&modes, &phi, Some(&before), 0.0) else {
                break;
            };
            let (after, closes) = self.after_event(&modes, moved, i);
            if closes || after == modes {
                break;
            }
            modes = after;
        }
        modes
    }

    /// Deactivates a contact whose force is tensile, or changes another mode that does not fit; false if all fit.
    pub(super) fn open_contacts(&mut self, q: &[f64]) -> bool {
        if self.size.ne == 0 || self.mode_changes > MOST_CHANGES {
            return false;
        }
        let phi = self.event_functions(&self.modes, q);
        let mut masked = phi.clone();
        while let Some(i) = self.triggered(&self.modes, &masked, None, CROSSED) {
            let (after, closes) = self.after_event(&self.modes, q, i);
            if !closes && after != self.modes {
                self.modes = after;
                self.mode_changes += 1;
                return true;
            }
            masked[i] = 0.0;
        }
        false
    }

    /// An error if an event function of the result has the wrong sign: a contact that is open and would have to be closed.
    pub(super) fn refuse_violation(&self, q: &[f64]) -> Result<()> {
        let mut phi = self.event_functions(&self.modes, q);
        // Not what the start has as well; friction must hold there too.
        let start = self.event_functions(self.at.cx.modes, self.at.motion.q);
        let friction = self.friction_events(q);
        for (i, start) in start.into_iter().enumerate() {
            if phi[i] * start > 0.0 && !friction[i] {
                phi[i] = 0.0;
            }
        }
        match self.triggered(&self.modes, &phi, None, VIOLATED) {
            None => Ok(()),
            Some(i) => {
                let name = HybridSystem::event_name(self.system, i);
                Err(self.no_equilibrium(format!("\"{name}\" does not stay in its mode")))
            }
        }
    }

    /// The events of set-valued friction.
    fn friction_events(&self, q: &[f64]) -> Vec<bool> {
        let rest = &self.zero[..self.size.nv];
        let at = MotionPoint {
            q,
            v: rest,
            a: rest,
            lambda: &self.lambda,
        };
        let cx = self.context(&self.modes);
        let (mut found, mut gradient) = (vec![false; self.size.ne], vec![0.0; self.size.nv]);
        for i in 0..self.size.ne {
            let friction = (self.system).tangential_direction(&cx, &at, i, 2, &mut gradient);
            if let Some(limit) = friction.and_then(|friction| friction.stick) {
                found[i + limit.event] = true;
            }
        }
        found
    }

    /// Forces at rest at q in these modes, with the support; `None` where they are not defined.
    pub(super) fn force_in(&self, modes: &[i32], q: &[f64]) -> Option<Vec<f64>> {
        let cx = self.context(modes);
        let mut force = vec![0.0; self.size.nv];
        let rest = &self.zero[..self.size.nv];
        self.system.force(&cx, q, rest, &mut force).ok()?;
        subtract(&mut force, self.support.as_deref());
        force.iter().all(|f| f.is_finite()).then_some(force)
    }

    /// The equilibrium with the complete load, which is applied in steps: downhill in each, or by `following` the equilibria.
    pub(super) fn load_steps(&mut self, start: &[f64], following: bool) -> Result<Equilibrium> {
        self.following = following;
        let found = self.loaded_in_steps(start);
        (self.following, self.support) = (false, None);
        found
    }

    fn loaded_in_steps(&mut self, start: &[f64]) -> Result<Equilibrium> {
        self.modes = modes_at_rest(self.system, self.at.cx.modes);
        let modes = self.modes.clone();
        let load = self.force_in(&modes, start);
        let load = load.ok_or_else(|| self.no_equilibrium("forces are not defined".to_owned()))?;
        let (mut s, mut part, mut q) = (0.0, FIRST_PART, start.to_vec());
        let mut steps = 0;
        loop {
            let next = f64::min(s + part, 1.0);
            self.support = (next < 1.0).then(|| load.iter().map(|f| (1.0 - next) * f).collect());
            let before = self.modes.clone();
            self.mode_changes = 0;
            match self.newton(q.clone()) {
                Ok(found) if next == 1.0 => {
                    let steps = steps + found.steps;
                    return Ok(Equilibrium { steps, ..found });
                }
                Ok(found) => {
                    steps += found.steps;
                    (s, q, part) = (next, found.q, GROWTH * part);
                }
                Err(error) => {
                    self.support = None;
                    self.modes = before;
                    part *= 0.25;
                    if part < SMALLEST_PART {
                        return Err(error);
                    }
                }
            }
        }
    }
}
