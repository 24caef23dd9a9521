//! A group of force elements: assigns each its range of modes and events and forwards to all of them.

use std::sync::Arc;

use super::member_run::{Member, Run};
use super::rigid_friction::StickingContact;
use super::unilateral::LOADED;
use super::{EventCounts, ForceElement, ForceQuantities};
use crate::formulation::absolute::geometry::Geometry;
use crate::formulation::{
    ContactFriction, Crossing, Energy, EvaluationContext, EventEffect, IntegralMemory, MotionPoint,
    Power, TangentialFriction,
};

/// Whether an element with so many modes rests while they are zero.
fn rests<W: Geometry<N>, const N: usize>(element: &dyn ForceElement<W, N>, modes: usize) -> bool {
    modes > 0 && element.rests_in_mode_zero()
}

/// Force elements in a fixed order.
#[derive(Clone, Debug)]
pub struct ForceGroup<W: Geometry<N>, const N: usize> {
    members: Vec<Member<W, N>>,
    counts: EventCounts,
    /// Members with forces of their own.
    acting: Vec<Run>,
    /// Members with friction proportional to a constraint force.
    with_friction: Vec<Run>,
    /// Some have set-valued friction.
    set_valued: bool,
}

impl<W: Geometry<N>, const N: usize> Default for ForceGroup<W, N> {
    fn default() -> Self {
        Self {
            members: vec![],
            counts: EventCounts::default(),
            acting: vec![],
            with_friction: vec![],
            set_valued: false,
        }
    }
}

impl<W: Geometry<N>, const N: usize> ForceGroup<W, N> {
    /// Appends an element, with the name of its events.
    pub fn push(&mut self, element: Arc<dyn ForceElement<W, N>>, name: &str) {
        let EventCounts {
            events,
            modes,
            integrals,
        } = element.event_counts();
        let (e, m) = (self.counts.events, self.counts.modes);
        let i = self.counts.integrals;
        let k = self.members.len();
        let mode_range = m..m + modes;
        if element.applies_force() {
            Run::push(&mut self.acting, k, &mode_range, rests(&*element, modes));
        }
        if element.has_constraint_friction() {
            // An open contact has mode zero.
            let rests = element.unilateral_row().is_some();
            Run::push(&mut self.with_friction, k, &mode_range, rests);
        }
        self.set_valued |= element.has_set_valued_friction();
        self.members.push(Member {
            row: element.unilateral_row(),
            rests: rests(&*element, modes),
            element,
            name: name.to_owned(),
            events: e..e + events,
            modes: m..m + modes,
            integrals: i..i + integrals,
        });
        self.counts = EventCounts {
            events: e + events,
            modes: m + modes,
            integrals: i + integrals,
        };
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Returns the output quantities of element `k`.
    pub fn quantities_of(
        &self,
        k: usize,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        at: &MotionPoint,
    ) -> ForceQuantities {
        let member = &self.members[k];
        member.element.quantities(&member.context(cx), poses, at)
    }

    /// Returns the elements with forces of their own, without those at rest.
    fn acting<'a>(&'a self, modes: &'a [i32]) -> impl Iterator<Item = &'a Member<W, N>> {
        let at_rest =
            |m: &Member<W, N>| m.rests && modes[m.modes.clone()].iter().all(|mode| *mode == 0);
        (self.acting.iter().filter(|run| !run.is_at_rest(modes)))
            .flat_map(|run| &self.members[run.members.clone()])
            .filter(move |member| !at_rest(member))
    }

    /// Returns the elements with friction proportional to a constraint force, without those whose constraint is inactive.
    fn with_friction<'a>(&'a self, modes: &'a [i32]) -> impl Iterator<Item = &'a Member<W, N>> {
        (self
            .with_friction
            .iter()
            .filter(|run| !run.is_at_rest(modes)))
        .flat_map(|run| &self.members[run.members.clone()])
        .filter(|member| !member.is_open(modes))
    }

    /// Returns the element of event `i`.
    fn owner(&self, i: usize) -> &Member<W, N> {
        let after = self
            .members
            .partition_point(|member| member.events.end <= i);
        &self.members[after]
    }

    /// Returns the name of the element of event `i`.
    pub fn event_name(&self, i: usize) -> &str {
        &self.owner(i).name
    }

    /// Adds the damping of the elements that depend on velocities.
    pub fn add_damping_tangent(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        v: &[f64],
        damping: f64,
        out: &mut [f64],
    ) {
        for member in self
            .acting(cx.modes)
            .filter(|m| m.element.depends_on_rate())
        {
            member
                .element
                .add_tangent(&member.context(cx), poses, v, damping, 0.0, out);
        }
    }
}

impl<W: Geometry<N>, const N: usize> ForceElement<W, N> for ForceGroup<W, N> {
    fn depends_on_rate(&self) -> bool {
        self.members.iter().any(|m| m.element.depends_on_rate())
    }

    fn does_work(&self) -> bool {
        self.members.iter().any(|m| m.element.does_work())
    }

    fn add_force(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        v: &[f64],
        out: &mut [f64],
    ) {
        for member in self.acting(cx.modes) {
            member.element.add_force(&member.context(cx), poses, v, out);
        }
    }

    fn add_tangent(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        v: &[f64],
        damping: f64,
        stiffness: f64,
        out: &mut [f64],
    ) {
        for member in self.acting(cx.modes) {
            if stiffness != 0.0 || (damping != 0.0 && member.element.depends_on_rate()) {
                member
                    .element
                    .add_tangent(&member.context(cx), poses, v, damping, stiffness, out);
            }
        }
    }

    fn has_constraint_friction(&self) -> bool {
        !self.with_friction.is_empty()
    }

    fn add_constraint_friction(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        v: &[f64],
        lambda: &[f64],
        out: &mut [f64],
    ) {
        for member in self.with_friction(cx.modes) {
            member
                .element
                .add_constraint_friction(&member.context(cx), poses, v, lambda, out);
        }
    }

    fn add_constraint_friction_tangent(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        at: (&[f64], &[f64]),
        damping: f64,
        stiffness: f64,
        out: &mut [f64],
    ) {
        for member in self.with_friction(cx.modes) {
            member.element.add_constraint_friction_tangent(
                &member.context(cx),
                poses,
                at,
                damping,
                stiffness,
                out,
            );
        }
    }

    fn add_energy(&self, cx: &EvaluationContext, poses: &mut W::Poses<'_>, energy: &mut Energy) {
        for member in self.acting(cx.modes) {
            member
                .element
                .add_energy(&member.context(cx), poses, energy);
        }
    }

    fn add_power(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        v: &[f64],
        power: &mut Power,
    ) {
        for member in self.acting(cx.modes) {
            member
                .element
                .add_power(&member.context(cx), poses, v, power);
        }
    }

    /// Sums the forces; length and rate are those of the loaded element with the largest length.
    fn quantities(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        at: &MotionPoint,
    ) -> ForceQuantities {
        let mut all = ForceQuantities {
            length: f64::NEG_INFINITY,
            ..ForceQuantities::default()
        };
        for k in 0..self.members.len() {
            let one = self.quantities_of(k, cx, poses, at);
            // If none is loaded, those of the first.
            if (one.force != 0.0 && one.length > all.length) || all.length == f64::NEG_INFINITY {
                (all.length, all.rate) = (one.length, one.rate);
            }
            all.force += one.force;
            // Pressed if one is, else touching if one is.
            all.mode = match (all.mode, one.mode) {
                (LOADED, _) | (_, LOADED) => LOADED,
                (a, b) => a.max(b),
            };
            for k in 0..3 {
                all.force_vector[k] += one.force_vector[k];
                all.moment[k] += one.moment[k];
            }
        }
        all
    }

    fn integrals(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        v: &[f64],
        out: &mut [IntegralMemory],
    ) {
        for member in self.members.iter().filter(|m| !m.integrals.is_empty()) {
            let out = &mut out[member.integrals.clone()];
            (member.element).integrals(&member.context(cx), poses, v, out);
        }
    }

    fn integral_rates(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        v: &[f64],
        out: &mut [f64],
    ) {
        for member in self.members.iter().filter(|m| !m.integrals.is_empty()) {
            let out = &mut out[member.integrals.clone()];
            (member.element).integral_rates(&member.context(cx), poses, v, out);
        }
    }

    fn active_constraints(&self, modes: &[i32], active: &mut [bool]) {
        for member in &self.members {
            if let (Some(row), 1) = (member.row, member.modes.len()) {
                active[row] = !member.is_open(modes);
                continue;
            }
            member
                .element
                .active_constraints(&modes[member.modes.clone()], active);
        }
    }

    fn applies_force(&self) -> bool {
        !self.acting.is_empty()
    }

    fn rests_in_mode_zero(&self) -> bool {
        self.acting.iter().all(|run| run.rests)
    }

    fn unilateral_rows(&self, first_mode: usize, push: &mut dyn FnMut(usize, usize)) {
        for member in &self.members {
            (member.element).unilateral_rows(first_mode + member.modes.start, push);
        }
    }

    fn event_counts(&self) -> EventCounts {
        self.counts
    }

    fn modes_exist(&self, modes: &[i32]) -> bool {
        (self.members.iter())
            .all(|member| (member.element).modes_exist(&modes[member.modes.clone()]))
    }

    fn initial_modes(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        v: &[f64],
        modes: &mut [i32],
    ) {
        for member in &self.members {
            // The modes are not known yet.
            let own = EvaluationContext {
                integrals: member.integrals(cx),
                ..*cx
            };
            member
                .element
                .initial_modes(&own, poses, v, &mut modes[member.modes.clone()]);
        }
    }

    fn event_functions(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        at: &MotionPoint,
        phi: &mut [f64],
        rate: &mut [f64],
    ) {
        for member in self.members.iter().filter(|m| !m.events.is_empty()) {
            let events = member.events.clone();
            let (phi, rate) = (&mut phi[events.clone()], &mut rate[events]);
            member
                .element
                .event_functions(&member.context(cx), poses, at, phi, rate);
        }
    }

    fn event_curvature(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        at: &MotionPoint,
        bound: &mut [f64],
    ) {
        for member in self.members.iter().filter(|m| !m.events.is_empty()) {
            let bound = &mut bound[member.events.clone()];
            (member.element).event_curvature(&member.context(cx), poses, at, bound);
        }
    }

    fn crossing(&self, modes: &[i32], i: usize) -> Crossing {
        let member = self.owner(i);
        member
            .element
            .crossing(&modes[member.modes.clone()], i - member.events.start)
    }

    fn handle_event(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        at: &MotionPoint,
        i: usize,
        modes: &mut [i32],
        n: &mut [f64],
    ) -> EventEffect {
        let member = self.owner(i);
        let (first, own_modes) = (member.events.start, &mut modes[member.modes.clone()]);
        member
            .element
            .handle_event(&member.context(cx), poses, at, i - first, own_modes, n)
    }

    fn tangential_direction(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        at: &MotionPoint,
        i: usize,
        direction: usize,
        t: &mut [f64],
    ) -> Option<TangentialFriction> {
        let member = self.owner(i);
        let first = member.events.start;
        member
            .element
            .tangential_direction(&member.context(cx), poses, at, i - first, direction, t)
    }

    fn set_contact_friction(&self, i: usize, friction: ContactFriction, modes: &mut [i32]) {
        let member = self.owner(i);
        let own = &mut modes[member.modes.clone()];
        (member.element).set_contact_friction(i - member.events.start, friction, own);
    }

    fn share_contact_force(&self, i: usize, force: &[f64; 3], lambda: &[f64], modes: &mut [i32]) {
        let member = self.owner(i);
        let own = &mut modes[member.modes.clone()];
        (member.element).share_contact_force(i - member.events.start, force, lambda, own);
    }

    fn has_set_valued_friction(&self) -> bool {
        self.set_valued
    }

    fn sticking_contacts(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        at: &MotionPoint,
        first_event: usize,
        push: &mut dyn FnMut(StickingContact<N>),
    ) {
        for member in self.with_friction(cx.modes) {
            let (own, first) = (member.context(cx), first_event + member.events.start);
            (member.element).sticking_contacts(&own, poses, at, first, push);
        }
    }

    fn deactivate_unilateral(&self, modes: &mut [i32], gaps: &mut [bool]) {
        for member in &self.members {
            member.element.deactivate_unilateral(
                &mut modes[member.modes.clone()],
                &mut gaps[member.events.clone()],
            );
        }
    }

    fn activate_unilateral(&self, i: usize, modes: &mut [i32]) {
        let member = self.owner(i);
        member
            .element
            .activate_unilateral(i - member.events.start, &mut modes[member.modes.clone()]);
    }

    fn idle_unilateral(&self, i: usize, modes: &mut [i32]) {
        let member = self.owner(i);
        member
            .element
            .idle_unilateral(i - member.events.start, &mut modes[member.modes.clone()]);
    }
}
