//! Force elements, one file for each law. All act along one [`Measure`] c(q) between two bodies:
//!
//! ```text
//!   f = −F(c, ċ) g,      −∂f/∂v = F_ċ g gᵀ,      −∂f/∂q = g (F_c g + F_ċ H v)ᵀ + F H
//! ```
//!
//! with F positive where it pulls together.

pub mod actuator;
pub mod gravity;
pub mod spring_damper;

use super::joint::Joint;
use super::planar::measure::{Line, Measure, times};
use super::planar::pose::{Point, Poses, Vec2};
use super::planar::slots::{Pair, Slots, pick, scatter};
use super::value::Values;
use super::{Context, Energy, Power};
use crate::error::{Error, Result};
use crate::model::{self, ForceKind, ForcePlace, Model, Target};
use actuator::Actuator;
use spring_damper::SpringDamper;

/// The force F of a law and its slopes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pull {
    /// F
    pub force: f64,
    /// ∂F/∂c
    pub by_length: f64,
    /// ∂F/∂ċ
    pub by_rate: f64,
}

/// What a law along a measure gives to the equations.
pub trait Law {
    /// F and its slopes at c and ċ.
    fn pull(&self, cx: &Context, length: f64, rate: f64) -> Pull;

    /// The force a user reads: by default F.
    fn shown(&self, pull: &Pull) -> f64 {
        pull.force
    }

    /// F can depend on ċ.
    fn depends_on_rate(&self) -> bool;

    /// ∂F/∂q at coinciding points, where a line has no direction but the force may still be smooth: the factor of eᵀe.
    fn at_coincidence(&self, _cx: &Context) -> f64 {
        0.0
    }

    /// Energy stored (J).
    fn potential(&self, _cx: &Context, _length: f64) -> f64 {
        0.0
    }

    /// Power.
    fn power(&self, cx: &Context, length: f64, rate: f64) -> Power;
}

/// A law.
#[derive(Clone, Debug)]
enum Kind {
    SpringDamper(SpringDamper),
    Actuator(Actuator),
}

/// A force element: a law along a measure.
#[derive(Clone, Debug)]
pub struct Force {
    measure: Measure,
    kind: Kind,
    pair: Pair,
}

impl Force {
    /// From the model; `tiny` is the distance below which two points are one place.
    pub fn new(
        model: &Model,
        index: usize,
        values: &Values,
        joints: &[Joint],
        tiny: f64,
        slots: &mut Slots,
    ) -> Result<Self> {
        let force = &model.forces[index];
        let measure = match &force.on {
            ForcePlace::Points { bodies, points } => Measure::Line(Line {
                points: [0, 1].map(|k| point(model, bodies[k], points[k])),
                tiny,
            }),
            ForcePlace::Joint(joint) => joints
                .get(*joint)
                .ok_or_else(|| refuse(model, force, "acts in a joint that does not exist"))?
                .get()
                .coordinate()
                .clone(),
        };
        if let Measure::Line(line) = &measure
            && !line
                .points
                .iter()
                .all(|p| p.s.x.is_finite() && p.s.y.is_finite())
        {
            return Err(refuse(model, force, "has a point that is not finite"));
        }
        let kind = match force.kind {
            ForceKind::SpringDamper {
                stiffness,
                damping,
                length,
            } => Kind::SpringDamper(SpringDamper {
                stiffness: values.get(Target::ForceStiffness(index), stiffness),
                damping: values.get(Target::ForceDamping(index), damping),
                length: values.get(Target::ForceLength(index), length),
            }),
            ForceKind::Actuator { effort } => Kind::Actuator(Actuator {
                effort: values.get(Target::ForceEffort(index), effort),
            }),
        };
        let springs = matches!(kind, Kind::SpringDamper(_));
        let turns = matches!(measure, Measure::Turn(_));
        let pair = slots.pair(measure.bodies(), |i, j| {
            measure.curved(i, j) || (springs && (!turns || (i % 3 == 2 && j % 3 == 2)))
        });
        Ok(Self {
            measure,
            kind,
            pair,
        })
    }

    #[inline]
    fn law(&self) -> &dyn Law {
        match &self.kind {
            Kind::SpringDamper(law) => law,
            Kind::Actuator(law) => law,
        }
    }

    /// Dampers and drives do work; springs only store it.
    pub fn works(&self) -> bool {
        matches!(self.kind, Kind::Actuator(_)) || self.depends_on_rate()
    }

    /// f can depend on v.
    pub fn depends_on_rate(&self) -> bool {
        self.law().depends_on_rate()
    }

    /// out += f
    #[inline]
    pub fn apply(&self, cx: &Context, poses: &mut Poses, v: &[f64], out: &mut [f64]) {
        let (length, g) = self.measure.value(poses);
        let rate = self.measure.rate(&g, v);
        let pull = self.law().pull(cx, length, rate);
        scatter(self.measure.bodies(), -pull.force, &g, out);
    }

    /// out += damping (−∂f/∂v) + stiffness (−∂f/∂q)
    pub fn tangent(
        &self,
        cx: &Context,
        poses: &mut Poses,
        v: &[f64],
        damping: f64,
        stiffness: f64,
        out: &mut [f64],
    ) {
        let (length, g) = self.measure.value(poses);
        let pull = self.law().pull(cx, length, self.measure.rate(&g, v));
        let mut row = [0.0; 6];
        for k in 0..6 {
            row[k] = (damping * pull.by_rate + stiffness * pull.by_length) * g[k];
        }
        if stiffness != 0.0 {
            let h = self.measure.hessian(poses);
            if pull.by_rate != 0.0 {
                let hv = times(&h, &pick(self.measure.bodies(), v));
                for k in 0..6 {
                    row[k] += stiffness * pull.by_rate * hv[k];
                }
            }
            for i in 0..6 {
                for j in 0..6 {
                    let value = stiffness * pull.force * h[i][j];
                    self.pair.add(i, j, value, out);
                }
            }
            if let Measure::Line(line) = &self.measure
                && let Some(e) = line.coincident(poses)
            {
                let k = stiffness * self.law().at_coincidence(cx);
                for e in e {
                    self.pair.add_outer(&e.map(|x| k * x), &e, out);
                }
            }
        }
        self.pair.add_outer(&g, &row, out);
    }

    /// Adds the energy stored.
    pub fn add_energy(&self, cx: &Context, poses: &mut Poses, energy: &mut Energy) {
        let (length, _) = self.measure.value(poses);
        energy.potential += self.law().potential(cx, length);
    }

    /// Adds the power.
    pub fn add_power(&self, cx: &Context, poses: &mut Poses, v: &[f64], power: &mut Power) {
        let (length, g) = self.measure.value(poses);
        let own = self.law().power(cx, length, self.measure.rate(&g, v));
        power.dissipated += own.dissipated;
        power.supplied += own.supplied;
    }

    /// Length (or joint coordinate), its rate, and the force as a user reads it.
    pub fn shown(&self, cx: &Context, poses: &mut Poses, v: &[f64]) -> (f64, f64, f64) {
        let (length, g) = self.measure.value(poses);
        let rate = self.measure.rate(&g, v);
        let law = self.law();
        (length, rate, law.shown(&law.pull(cx, length, rate)))
    }
}

/// A point given in a body's own frame, seen from the centre of mass.
pub(super) fn point(model: &Model, body: model::BodyRef, at: [f64; 3]) -> Point {
    let center = body.map_or([0.0; 3], |b| model.bodies[b].center_of_mass);
    Point {
        body,
        s: Vec2::new(at[0] - center[0], at[1] - center[1]),
    }
}

fn refuse(model: &Model, force: &model::Force, why: &str) -> Error {
    Error::Model {
        origin: model.origin.clone(),
        line: force.place.line,
        column: force.place.column,
        message: format!("force \"{}\" {why}", force.name),
    }
}
