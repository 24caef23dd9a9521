//! A step that needs substeps by the ten thousand: which body is fastest, and which input drives it.

use super::Instance;
use super::log::{LogCategory, LogLevel};
use super::quantity_point::Multipliers;
use crate::error::{Error, Result};
use crate::linalg::elementary::hypot;
use crate::linalg::sorting::sort_by;
use crate::model::quantity::{BodyField, Quantity};
use crate::model::{BodyRef, ForceApplication, PrescribedCoordinate, Target};

/// Substeps of one call after which the logger is told, again and again.
pub(super) const MANY_SUBSTEPS: u64 = 10_000;

/// Speed (m/s) or angular speed (rad/s) that no mechanism has: a rifle bullet has 1e3 m/s, a turbocharger 3e4 rad/s.
const ABSURD: f64 = 1e6;

/// The fastest body and what drives it.
struct Fastest {
    body: String,
    speed: f64,
    unit: &'static str,
    driven_by: Option<String>,
}

impl Fastest {
    fn sentence(&self) -> String {
        let driven = match &self.driven_by {
            Some(input) => format!(", driven by input {input}"),
            None => String::new(),
        };
        let Self {
            body, speed, unit, ..
        } = self;
        format!("the fastest body is \"{body}\" with {speed:.3e} {unit}{driven}")
    }
}

impl Instance {
    /// Tells the logger of very many substeps in one call. A body with an absurd speed is an error: the step will not end.
    pub(super) fn watch_substeps(&mut self, substeps: u64) -> Result<()> {
        if !substeps.is_multiple_of(MANY_SUBSTEPS) {
            return Ok(());
        }
        let Some(fastest) = self.fastest() else {
            return Ok(());
        };
        let time = self.time();
        if !(fastest.speed < ABSURD) {
            return Err(Error::RunAway {
                time,
                substeps,
                body: fastest.body,
                speed: format!("{:.3e} {}", fastest.speed, fastest.unit),
                input: fastest.driven_by,
            });
        }
        let sentence = fastest.sentence();
        let text = format_args!("{substeps} substeps in one call up to t = {time} s; {sentence}");
        self.log(LogLevel::Warning, LogCategory::Step, text);
        Ok(())
    }

    /// The error of a call that needs more substeps than the limit.
    pub(super) fn too_many_substeps(&mut self, limit: u64) -> Error {
        Error::TooManySubsteps {
            time: self.time(),
            limit,
            fastest: self.fastest().map(|fastest| fastest.sentence()),
        }
    }

    /// The body with the largest speed or angular speed.
    fn fastest(&mut self) -> Option<Fastest> {
        let bodies = self.model.bodies.len();
        let (point, mechanism) = self.present_point(Multipliers::OfState);
        let size = |body: usize, field: fn(usize) -> BodyField| {
            let part = |axis| point.value(mechanism, Quantity::Body(body, field(axis)));
            let v = [0, 1, 2]
                .map(part)
                .map(|x| if x.is_nan() { 0.0 } else { x });
            hypot(hypot(v[0], v[1]), v[2])
        };
        let speeds = (0..bodies).flat_map(|body| {
            [
                (body, size(body, BodyField::Velocity), "m/s"),
                (body, size(body, BodyField::AngularVelocity), "rad/s"),
            ]
        });
        let (body, speed, unit) = speeds.max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(Fastest {
            body: self.model.bodies[body].name.clone(),
            speed,
            unit,
            driven_by: self.input_on(body),
        })
    }

    /// The largest of the inputs that act on a body, or of all if none does; as `"tau" = 5 N.m`.
    fn input_on(&self, body: usize) -> Option<String> {
        let t = self.time();
        let mut inputs: Vec<(bool, f64, usize)> = (self.model.inputs.iter().enumerate())
            .map(|(i, input)| {
                let value = self.state.applied.at(i, t)[0];
                (self.acts_on(input.target, body), value, i)
            })
            .collect();
        sort_by(&mut inputs, |a, b| {
            a.0.cmp(&b.0).then(a.1.abs().total_cmp(&b.1.abs()))
        });
        let (_, value, i) = *inputs.last()?;
        let input = &self.model.inputs[i];
        let unit = self.model.unit_of_target(input.target);
        Some(format!("\"{}\" = {value:.3e} {unit}", input.name))
    }

    /// Whether what a target sets acts on a body.
    fn acts_on(&self, target: Target, body: usize) -> bool {
        let holds = |bodies: [BodyRef; 2]| bodies.contains(&Some(body));
        let joint = |joint: usize| holds(self.model.joints[joint].bodies);
        match target {
            Target::ForceEffort(i) | Target::Force(i, _) => match &self.model.forces[i].on {
                ForceApplication::Joint(coordinate) => joint(coordinate.joint),
                on => on.bodies().is_some_and(holds),
            },
            Target::Motion(i) => match self.model.motions[i].on {
                PrescribedCoordinate::Joint(coordinate) => joint(coordinate.joint),
                PrescribedCoordinate::Body(other, _) => other == body,
            },
            _ => false,
        }
    }
}
