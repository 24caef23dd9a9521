//! A tyre on a road: a force along the road's upward direction at the wheel's centre, while the tyre is pressed together.
//!
//! ```text
//!   s = forward·(p − o) + offset + speed t,      δ = z(s) + height + radius − up·(p − o)
//!   F = max(0, K(δ) + D(δ̇)) up
//! ```
//!
//! with p the wheel's centre and o the road's point. The road is stiff and does not push back along itself: what it does by
//! rising or by passing below the wheel is supplied, F times the rate of z + height. Where the profile jumps the tyre is
//! pressed together or let go at once; what that changes in its energy is supplied too, see `System::fire`.

use super::EventCounts;
use super::ForceQuantities;
use super::body_frame::BodyFrame;
use super::dual::{Scalar, dot, minus, times};
use super::force_law::ForceLaw;
use super::spatial_force::{AppliedWrench, SpatialForce};
use super::spring_damper::SpringLaw;
use super::unilateral;
use crate::formulation::driven_value::DrivenValue;
use crate::formulation::function::Function;
use crate::formulation::{Crossing, EvaluationContext, Power};
use crate::model::Curve;

/// The road's height over the distance.
#[derive(Clone, Debug)]
pub enum RoadProfile {
    /// Level.
    Flat,
    /// Smooth.
    Smooth(Function),
    /// By pieces that meet with kinks or steps: which one is a mode.
    Pieces(Vec<(f64, Vec<f64>)>),
}

impl RoadProfile {
    /// From the model.
    pub fn new(curve: Option<&Curve>) -> Self {
        match curve {
            None => Self::Flat,
            Some(Curve::Pieces(pieces)) => Self::Pieces(
                pieces
                    .iter()
                    .map(|p| (p.below, p.polynomial.clone()))
                    .collect(),
            ),
            Some(curve) => Self::Smooth(Function::new(curve)),
        }
    }

    fn bound_count(&self) -> usize {
        match self {
            Self::Pieces(pieces) => pieces.len() - 1,
            _ => 0,
        }
    }

    /// z, z', z''
    fn evaluate(&self, modes: &[i32], s: f64) -> [f64; 3] {
        match self {
            Self::Flat => [0.0; 3],
            Self::Smooth(function) => function.at(s),
            Self::Pieces(pieces) if pieces.len() == 1 => {
                crate::formulation::function::polynomial(&pieces[0].1, s)
            }
            Self::Pieces(pieces) => {
                crate::formulation::function::polynomial(&pieces[modes[0] as usize].1, s)
            }
        }
    }

    fn piece_at(&self, s: f64) -> i32 {
        match self {
            Self::Pieces(pieces) => {
                pieces[..pieces.len() - 1].partition_point(|(below, _)| *below <= s) as i32
            }
            _ => 0,
        }
    }
}

/// The tyre.
#[derive(Clone, Debug)]
pub struct Tyre {
    /// m
    pub radius: DrivenValue,
    /// K
    pub stiffness: SpringLaw,
    /// D
    pub damping: SpringLaw,
    /// In the road's axes.
    pub up: [f64; 3],
    /// In the road's axes.
    pub forward: [f64; 3],
    /// z
    pub profile: RoadProfile,
    /// m
    pub height: DrivenValue,
    /// m/s
    pub speed: f64,
    /// m
    pub offset: f64,
    /// The road's point and the wheel's centre, seen from the centres of mass.
    pub offsets: [[f64; 3]; 2],
}

/// How the tyre is pressed together.
struct TyreDeflection<T> {
    /// Distance along the road.
    s: T,
    /// δ and δ̇.
    deflection: T,
    rate: T,
    /// Rate of the road's height below the wheel.
    road_rate: T,
    up: [T; 3],
    centre: [T; 3],
}

impl Tyre {
    /// Modes of the profile, of K, of D, and of the touch.
    fn split_modes<'a>(&self, modes: &'a [i32]) -> (&'a [i32], &'a [i32], &'a [i32], i32) {
        let p = usize::from(self.profile.bound_count() > 0);
        let (k, d) = (
            self.stiffness.event_counts().1,
            self.damping.event_counts().1,
        );
        (
            &modes[..p],
            &modes[p..p + k],
            &modes[p + k..p + k + d],
            modes[p + k + d],
        )
    }

    /// First events of K, of D and of the touch.
    fn first_events(&self) -> [usize; 3] {
        let p = self.profile.bound_count();
        let (k, d) = (
            self.stiffness.event_counts().0,
            self.damping.event_counts().0,
        );
        [p, p + k, p + k + d]
    }

    fn deflection<T: Scalar>(
        &self,
        cx: &EvaluationContext,
        modes: &[i32],
        [road, wheel]: &[BodyFrame<T>; 2],
    ) -> TyreDeflection<T> {
        let (up, forward) = (
            road.fixed_vector(&self.up),
            road.fixed_vector(&self.forward),
        );
        let place = wheel.point_position(&self.offsets[1]);
        let from = minus(&place, &road.point_position(&self.offsets[0]));
        // Seen from the road, which may move: rates of the wheel's centre against the road's material there.
        let rate = minus(&wheel.velocity_at(&place), &road.velocity_at(&place));
        let s =
            dot(&forward, &from) + T::time_dependent(self.offset + self.speed * cx.t, self.speed);
        let s_dot = dot(&forward, &rate) + self.speed;
        let [z, slope, bend] = self.profile.evaluate(modes, s.value());
        let (height, height_dot) = match self.height {
            DrivenValue::Input(i) => (
                T::time_dependent(cx.u[i], cx.u_dot[i]),
                T::time_dependent(cx.u_dot[i], cx.u_ddot[i]),
            ),
            value => (T::constant(value.get(cx)), T::constant(0.0)),
        };
        let rising = s.chain(slope, bend) * s_dot + height_dot;
        TyreDeflection {
            s,
            deflection: s.chain(z, slope) + height - dot(&up, &from) + self.radius.get(cx),
            rate: rising - dot(&up, &rate),
            road_rate: rising,
            up,
            centre: place,
        }
    }

    /// K + D, whatever the mode of the touch.
    fn normal_force<T: Scalar>(
        &self,
        cx: &EvaluationContext,
        modes: &[i32],
        at: &TyreDeflection<T>,
    ) -> T {
        let (_, k, d, _) = self.split_modes(modes);
        let spring = self.stiffness.evaluate(cx, k, at.deflection.value());
        let damper = self.damping.evaluate(cx, d, at.rate.value());
        at.deflection.chain(spring.force, spring.slope) + at.rate.chain(damper.force, damper.slope)
    }
}

impl SpatialForce for Tyre {
    fn depends_on_rate(&self) -> bool {
        !self.damping.always_zero()
    }

    fn does_work(&self) -> bool {
        true
    }

    fn wrench<T: Scalar>(
        &self,
        cx: &EvaluationContext,
        bodies: &[BodyFrame<T>; 2],
    ) -> AppliedWrench<T> {
        let (profile, _, _, touching) = self.split_modes(cx.modes);
        if touching != unilateral::LOADED {
            return AppliedWrench::zero();
        }
        let at = self.deflection(cx, profile, bodies);
        AppliedWrench::at_point(
            times(self.normal_force(cx, cx.modes, &at), &at.up),
            at.centre,
        )
    }

    fn potential(&self, cx: &EvaluationContext, bodies: &[BodyFrame<f64>; 2]) -> f64 {
        let (profile, k, _, touching) = self.split_modes(cx.modes);
        match touching {
            unilateral::SEPARATED => 0.0,
            _ => {
                self.stiffness
                    .evaluate(cx, k, self.deflection(cx, profile, bodies).deflection)
                    .integral
            }
        }
    }

    fn power(&self, cx: &EvaluationContext, bodies: &[BodyFrame<f64>; 2]) -> Power {
        let (profile, k, d, touching) = self.split_modes(cx.modes);
        let at = self.deflection(cx, profile, bodies);
        let spring = self.stiffness.evaluate(cx, k, at.deflection).force;
        match touching {
            unilateral::LOADED => Power {
                dissipated: self.damping.evaluate(cx, d, at.rate).force * at.rate,
                supplied: self.normal_force(cx, cx.modes, &at) * at.road_rate,
            },
            unilateral::RELAXING => Power {
                dissipated: -spring * at.rate,
                supplied: 0.0,
            },
            _ => Power::default(),
        }
    }

    /// The deflection is shown as length, pressing as a positive force.
    fn quantities(&self, cx: &EvaluationContext, bodies: &[BodyFrame<f64>; 2]) -> ForceQuantities {
        let (profile, _, _, touching) = self.split_modes(cx.modes);
        let at = self.deflection(cx, profile, bodies);
        let force = if touching == unilateral::LOADED {
            self.normal_force(cx, cx.modes, &at)
        } else {
            0.0
        };
        ForceQuantities {
            length: at.deflection,
            rate: at.rate,
            force,
            ..ForceQuantities::default()
        }
    }

    fn event_counts(&self) -> EventCounts {
        let bounds = self.profile.bound_count();
        let (k, d) = (self.stiffness.event_counts(), self.damping.event_counts());
        EventCounts {
            events: bounds + k.0 + d.0 + unilateral::EVENTS,
            modes: usize::from(bounds > 0) + k.1 + d.1 + 1,
        }
    }

    fn event_functions<T: Scalar>(
        &self,
        cx: &EvaluationContext,
        bodies: &[BodyFrame<T>; 2],
        put: &mut dyn FnMut(usize, T),
    ) {
        let (profile, k, d, _) = self.split_modes(cx.modes);
        let at = self.deflection(cx, profile, bodies);
        if let RoadProfile::Pieces(pieces) = &self.profile {
            for (i, (below, _)) in pieces[..pieces.len() - 1].iter().enumerate() {
                put(i, at.s + (-below));
            }
        }
        let [first_k, first_d, first_touch] = self.first_events();
        for (shape, modes, x, first) in [
            (&self.stiffness, k, at.deflection, first_k),
            (&self.damping, d, at.rate, first_d),
        ] {
            if let Some(graph) = shape.law() {
                graph.event_functions_with_derivatives(modes, x, first, put);
            }
        }
        put(first_touch, at.deflection);
        put(first_touch + 1, self.normal_force(cx, cx.modes, &at));
    }

    fn initial_modes(
        &self,
        cx: &EvaluationContext,
        bodies: &[BodyFrame<f64>; 2],
        modes: &mut [i32],
    ) {
        let p = usize::from(self.profile.bound_count() > 0);
        if p > 0 {
            modes[0] = 0;
            let s = self.deflection(cx, modes, bodies).s;
            modes[0] = self.profile.piece_at(s);
        }
        let at = self.deflection(cx, modes, bodies);
        let (k, d) = (
            self.stiffness.event_counts().1,
            self.damping.event_counts().1,
        );
        if let Some(graph) = self.stiffness.law() {
            graph.initial_mode(at.deflection, &mut modes[p..p + k]);
        }
        if let Some(graph) = self.damping.law() {
            graph.initial_mode(at.rate, &mut modes[p + k..p + k + d]);
        }
        modes[p + k + d] =
            unilateral::initial_mode(at.deflection, self.normal_force(cx, modes, &at));
    }

    fn crossing(&self, modes: &[i32], i: usize) -> Crossing {
        let (profile, k, d, touching) = self.split_modes(modes);
        let [first_k, first_d, first_touch] = self.first_events();
        if i < first_k {
            return crossing_of_bound(profile[0], i);
        }
        match (self.stiffness.law(), self.damping.law()) {
            (Some(graph), _) if i < first_d => graph.crossing(k, i - first_k),
            (_, Some(graph)) if i < first_touch => graph.crossing(d, i - first_d),
            _ => unilateral::crossing(touching, i - first_touch),
        }
    }

    fn handle_event(
        &self,
        cx: &EvaluationContext,
        bodies: &[BodyFrame<f64>; 2],
        i: usize,
        modes: &mut [i32],
    ) {
        let [first_k, first_d, first_touch] = self.first_events();
        let p = usize::from(self.profile.bound_count() > 0);
        let (k, d) = (
            self.stiffness.event_counts().1,
            self.damping.event_counts().1,
        );
        if i < first_k {
            modes[0] = if modes[0] == i as i32 {
                i as i32 + 1
            } else {
                i as i32
            };
            // A step of the road may press the tyre together or let it go.
            let at = self.deflection(cx, &modes[..p], bodies);
            if let Some(graph) = self.stiffness.law() {
                graph.initial_mode(at.deflection, &mut modes[p..p + k]);
            }
            if let Some(graph) = self.damping.law() {
                graph.initial_mode(at.rate, &mut modes[p + k..p + k + d]);
            }
            modes[p + k + d] =
                unilateral::initial_mode(at.deflection, self.normal_force(cx, modes, &at));
        } else if i < first_d {
            law_of(&self.stiffness).handle_event(i - first_k, &mut modes[p..p + k]);
        } else if i < first_touch {
            law_of(&self.damping).handle_event(i - first_d, &mut modes[p + k..p + k + d]);
        } else {
            let depth = self.deflection(cx, &modes[..p], bodies).deflection;
            modes[p + k + d] = unilateral::mode_after(modes[p + k + d], i - first_touch, depth);
        }
    }
}

fn law_of(shape: &SpringLaw) -> &ForceLaw {
    shape.law().expect("only a law has events")
}

/// The crossings of bound `i` that leave piece `mode`.
fn crossing_of_bound(mode: i32, i: usize) -> Crossing {
    match mode - i as i32 {
        0 => Crossing::Rising,
        1 => Crossing::Falling,
        _ => Crossing::Off,
    }
}
