//! Tyre on a road: a force at the wheel centre along the upward direction of the road while the tyre is deflected.
//!
//! ```text
//!   s = forward·(p − o) + offset + speed t,      δ = z(s) + height + radius − up·(p − o)
//!   F = max(0, K(δ) + D(δ̇)) up
//! ```
//!
//! with p the wheel centre and o the reference point of the road. The road is rigid and has no longitudinal force: the power of a road
//! that rises or passes below the wheel is supplied, F times the rate of z + height. A jump of the profile changes the deflection at
//! once; the change of its energy is supplied too, see `HybridSystem::handle_event`.

use super::EventCounts;
use super::ForceQuantities;
use super::body_frame::BodyFrame;
use super::contact::curvature::{BodySpeeds, distance};
use super::dual::{Scalar, dot, minus, times};
use super::force_law::ForceLaw;
use super::spatial_force::{AppliedWrench, SpatialForce};
use super::spring_damper::SpringLaw;
use super::unilateral;
use crate::formulation::driven_value::DrivenValue;
use crate::formulation::function::{Function, polynomial};
use crate::formulation::{Crossing, EvaluationContext, Power};
use crate::linalg::interpolation::{PiecewiseCubic, TableEnds};
use crate::model::{Curve, Interpolation};

/// Height z(s) of the road over the distance.
#[derive(Clone, Debug)]
pub enum RoadProfile {
    /// Level.
    Flat,
    /// A smooth function.
    Smooth(Function),
    /// Pieces that join with kinks or jumps; the current piece is a mode.
    Pieces(Vec<RoadPiece>),
}

/// A piece of a road: Σ c_k (s − origin)ᵏ below a bound.
#[derive(Clone, Debug)]
pub struct RoadPiece {
    below: f64,
    origin: f64,
    c: Vec<f64>,
}

impl RoadPiece {
    /// Returns z, z', z''.
    fn at(&self, s: f64) -> [f64; 3] {
        polynomial(&self.c, s - self.origin)
    }
}

impl RoadProfile {
    /// Builds the profile from the model.
    pub fn new(curve: Option<&Curve>) -> Self {
        match curve {
            None => Self::Flat,
            Some(Curve::Pieces(pieces)) => Self::Pieces(
                pieces
                    .iter()
                    .map(|p| RoadPiece {
                        below: p.below,
                        origin: 0.0,
                        c: p.polynomial.clone(),
                    })
                    .collect(),
            ),
            Some(Curve::Table {
                points,
                interpolation: Interpolation::Linear,
            }) => Self::Pieces(
                PiecewiseCubic::linear(points, TableEnds::Straight)
                    .pieces()
                    .map(|(below, origin, c)| RoadPiece {
                        below,
                        origin,
                        c: c[..2].to_vec(),
                    })
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

    /// Returns z, z', z''.
    fn evaluate(&self, modes: &[i32], s: f64) -> [f64; 3] {
        match self {
            Self::Flat => [0.0; 3],
            Self::Smooth(function) => function.at(s),
            Self::Pieces(pieces) if pieces.len() == 1 => pieces[0].at(s),
            Self::Pieces(pieces) => pieces[modes[0] as usize].at(s),
        }
    }

    fn piece_at(&self, s: f64) -> i32 {
        match self {
            Self::Pieces(pieces) => {
                pieces[..pieces.len() - 1].partition_point(|p| p.below <= s) as i32
            }
            _ => 0,
        }
    }
}

/// A tyre.
#[derive(Clone, Debug)]
pub struct Tyre {
    /// m
    pub radius: DrivenValue,
    /// K
    pub stiffness: SpringLaw,
    /// D
    pub damping: SpringLaw,
    /// Upward direction in body axes of the road.
    pub up: [f64; 3],
    /// Forward direction in body axes of the road.
    pub forward: [f64; 3],
    /// z
    pub profile: RoadProfile,
    /// m
    pub height: DrivenValue,
    /// m/s
    pub speed: f64,
    /// m
    pub offset: f64,
    /// Reference point of the road and wheel centre, relative to the centres of mass.
    pub offsets: [[f64; 3]; 2],
}

/// Deflection of the tyre.
struct TyreDeflection<T> {
    /// Distance s along the road.
    s: T,
    /// δ and δ̇.
    deflection: T,
    rate: T,
    /// Rate of the road height below the wheel.
    road_rate: T,
    up: [T; 3],
    centre: [T; 3],
}

impl Tyre {
    /// Splits the modes into those of the profile, of K, of D, and of the one-sided law.
    fn split_modes<'a>(&self, modes: &'a [i32]) -> (&'a [i32], &'a [i32], &'a [i32], i32) {
        let p = usize::from(self.profile.bound_count() > 0);
        let (k, d) = (
            self.stiffness.event_counts().modes,
            self.damping.event_counts().modes,
        );
        (
            &modes[..p],
            &modes[p..p + k],
            &modes[p + k..p + k + d],
            modes[p + k + d],
        )
    }

    /// Returns the first events of K, of D and of the one-sided law.
    fn first_events(&self) -> [usize; 3] {
        let p = self.profile.bound_count();
        let (k, d) = (
            self.stiffness.event_counts().events,
            self.damping.event_counts().events,
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
        let centre = wheel.point_position(&self.offsets[1]);
        let from = minus(&centre, &road.point_position(&self.offsets[0]));
        // Velocity of the wheel centre relative to the road, which may move.
        let rate = minus(&wheel.velocity_at(&centre), &road.velocity_at(&centre));
        let s =
            dot(&forward, &from) + T::time_dependent(self.offset + self.speed * cx.t, self.speed);
        let s_dot = dot(&forward, &rate) + self.speed;
        let [z, slope, curvature] = self.profile.evaluate(modes, s.value());
        let (height, height_dot) = match self.height {
            DrivenValue::Input(i) => (
                T::time_dependent(cx.u[i], cx.u_dot[i]),
                T::time_dependent(cx.u_dot[i], cx.u_ddot[i]),
            ),
            value => (T::constant(value.get(cx)), T::constant(0.0)),
        };
        let road_rate = s.chain(slope, curvature) * s_dot + height_dot;
        TyreDeflection {
            s,
            deflection: s.chain(z, slope) + height - dot(&up, &from) + self.radius.get(cx),
            rate: road_rate - dot(&up, &rate),
            road_rate,
            up,
            centre,
        }
    }

    /// Returns K + D in any mode of the one-sided law.
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

    /// Sets the modes of K, of D and of the one-sided law for the mode of the profile.
    fn set_law_modes(
        &self,
        cx: &EvaluationContext,
        bodies: &[BodyFrame<f64>; 2],
        modes: &mut [i32],
    ) {
        let p = usize::from(self.profile.bound_count() > 0);
        let (k, d) = (
            self.stiffness.event_counts().modes,
            self.damping.event_counts().modes,
        );
        let at = self.deflection(cx, &modes[..p], bodies);
        if let Some(law) = self.stiffness.law() {
            law.initial_mode(at.deflection, &mut modes[p..p + k]);
        }
        if let Some(law) = self.damping.law() {
            law.initial_mode(at.rate, &mut modes[p + k..p + k + d]);
        }
        modes[p + k + d] =
            unilateral::initial_mode(at.deflection, self.normal_force(cx, modes, &at));
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
        let (profile, _, _, contact) = self.split_modes(cx.modes);
        if contact != unilateral::LOADED {
            return AppliedWrench::zero();
        }
        let at = self.deflection(cx, profile, bodies);
        AppliedWrench::at_point(
            times(self.normal_force(cx, cx.modes, &at), &at.up),
            at.centre,
        )
    }

    fn potential(&self, cx: &EvaluationContext, bodies: &[BodyFrame<f64>; 2]) -> f64 {
        let (profile, k, _, contact) = self.split_modes(cx.modes);
        match contact {
            unilateral::SEPARATED => 0.0,
            _ => {
                self.stiffness
                    .evaluate(cx, k, self.deflection(cx, profile, bodies).deflection)
                    .integral
            }
        }
    }

    fn power(&self, cx: &EvaluationContext, bodies: &[BodyFrame<f64>; 2]) -> Power {
        let (profile, k, d, contact) = self.split_modes(cx.modes);
        let at = self.deflection(cx, profile, bodies);
        let spring = self.stiffness.evaluate(cx, k, at.deflection).force;
        match contact {
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

    /// Deflection as length, and the normal force, positive in compression.
    fn quantities(&self, cx: &EvaluationContext, bodies: &[BodyFrame<f64>; 2]) -> ForceQuantities {
        let (profile, _, _, contact) = self.split_modes(cx.modes);
        let at = self.deflection(cx, profile, bodies);
        let force = if contact == unilateral::LOADED {
            self.normal_force(cx, cx.modes, &at)
        } else {
            0.0
        };
        ForceQuantities {
            length: at.deflection,
            rate: at.rate,
            force,
            mode: contact,
            ..ForceQuantities::default()
        }
    }

    fn event_counts(&self) -> EventCounts {
        let bounds = self.profile.bound_count();
        let (k, d) = (self.stiffness.event_counts(), self.damping.event_counts());
        EventCounts {
            events: bounds + k.events + d.events + unilateral::EVENTS,
            modes: usize::from(bounds > 0) + k.modes + d.modes + 1,
            ..EventCounts::default()
        }
    }

    fn modes_exist(&self, modes: &[i32]) -> bool {
        let (profile, k, d, contact) = self.split_modes(modes);
        let bounds = self.profile.bound_count() as i32;
        profile.iter().all(|mode| (0..=bounds).contains(mode))
            && self.stiffness.mode_exists(k)
            && self.damping.mode_exists(d)
            && unilateral::mode_exists(contact)
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
            for (i, piece) in pieces[..pieces.len() - 1].iter().enumerate() {
                put(i, at.s + (-piece.below));
            }
        }
        let [first_k, first_d, first_contact] = self.first_events();
        for (spring_law, modes, x, first) in [
            (&self.stiffness, k, at.deflection, first_k),
            (&self.damping, d, at.rate, first_d),
        ] {
            if let Some(law) = spring_law.law() {
                law.event_functions_with_derivatives(modes, x, first, put);
            }
        }
        put(first_contact, at.deflection);
        put(first_contact + 1, self.normal_force(cx, cx.modes, &at));
    }

    /// Of a level road: the deflection is that of a point above a plane.
    fn event_curvature(
        &self,
        speeds: &[BodySpeeds; 2],
        [road, wheel]: &[BodyFrame<f64>; 2],
        bound: &mut [f64],
    ) {
        bound.fill(f64::NAN);
        let level = matches!(self.profile, RoadProfile::Flat);
        if !level || self.height.is_driven() || self.radius.is_driven() {
            return;
        }
        let rho = dot(&self.offsets[1], &self.offsets[1]).sqrt();
        let apart = distance(&wheel.point_position(&self.offsets[1]), &road.r);
        let [_, _, first_contact] = self.first_events();
        bound[first_contact] = BodySpeeds::slide_bound(speeds, rho, apart);
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
        self.set_law_modes(cx, bodies, modes);
    }

    fn crossing(&self, modes: &[i32], i: usize) -> Crossing {
        let (profile, k, d, contact) = self.split_modes(modes);
        let [first_k, first_d, first_contact] = self.first_events();
        if i < first_k {
            return crossing_of_bound(profile[0], i);
        }
        match (self.stiffness.law(), self.damping.law()) {
            (Some(law), _) if i < first_d => law.crossing(k, i - first_k),
            (_, Some(law)) if i < first_contact => law.crossing(d, i - first_d),
            _ => unilateral::crossing(contact, i - first_contact),
        }
    }

    fn handle_event(
        &self,
        cx: &EvaluationContext,
        bodies: &[BodyFrame<f64>; 2],
        i: usize,
        modes: &mut [i32],
    ) {
        let [first_k, first_d, first_contact] = self.first_events();
        let p = usize::from(self.profile.bound_count() > 0);
        let (k, d) = (
            self.stiffness.event_counts().modes,
            self.damping.event_counts().modes,
        );
        if i < first_k {
            modes[0] = if modes[0] == i as i32 {
                i as i32 + 1
            } else {
                i as i32
            };
            // A jump of the road may load or separate the tyre.
            self.set_law_modes(cx, bodies, modes);
        } else if i < first_d {
            law_of(&self.stiffness).handle_event(i - first_k, &mut modes[p..p + k]);
        } else if i < first_contact {
            law_of(&self.damping).handle_event(i - first_d, &mut modes[p + k..p + k + d]);
        } else {
            let deflection = self.deflection(cx, &modes[..p], bodies).deflection;
            modes[p + k + d] =
                unilateral::mode_after(modes[p + k + d], i - first_contact, deflection);
        }
    }
}

fn law_of(spring_law: &SpringLaw) -> &ForceLaw {
    spring_law.law().expect("only a law has events")
}

/// Returns the crossings of bound `i` that leave piece `mode`.
fn crossing_of_bound(mode: i32, i: usize) -> Crossing {
    match mode - i as i32 {
        0 => Crossing::Rising,
        1 => Crossing::Falling,
        _ => Crossing::Off,
    }
}
