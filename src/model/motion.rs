//! `[[motion]]`: coordinates prescribed as functions of time.

use super::curve::is_periodic;
use super::validate::{Range, UNIT, norm, refused};
use super::{Curve, Interpolation, JointCoordinate, Model, TextPosition};
use crate::error::Result;

/// The coordinate that a motion prescribes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PrescribedCoordinate {
    /// A coordinate of a joint.
    Joint(JointCoordinate),
    /// A coordinate of a prescribed body.
    Body(usize, BodyCoordinate),
}

/// A coordinate of a prescribed body: x, y, z of its frame in the ground frame (m), or an angle (rad): in the plane the
/// body's angle, in space the rotation from the initial pose about an axis fixed in the ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BodyCoordinate {
    /// 0, 1, 2 = x, y, z.
    Position(usize),
    /// About [`Motion::axis`]; about z in two dimensions.
    Angle,
}

/// `[[motion]]`: a coordinate as a function of absolute time.
#[derive(Clone, Debug, PartialEq)]
pub struct Motion {
    /// Name.
    pub name: String,
    /// The coordinate.
    pub on: PrescribedCoordinate,
    /// Axis of a body's rotation in space, unit vector, ground axes.
    pub axis: [f64; 3],
    /// The motion law.
    pub law: MotionLaw,
    /// Position in the text.
    pub text_position: TextPosition,
}

/// `law` of `[[motion]]`; s is the coordinate, t the time.
#[derive(Clone, Debug, PartialEq)]
pub enum MotionLaw {
    /// s = s₀ + speed (t − t₀); s₀ is the coordinate in the initial pose, t₀ the start of the experiment.
    ConstantSpeed {
        /// rad/s or m/s
        speed: f64,
    },
    /// s = c0 + c1 t + c2 t² ..
    Polynomial(Vec<f64>),
    /// s = offset + amplitude sin(2 π frequency t + phase)
    Harmonic {
        /// rad or m
        amplitude: f64,
        /// Hz
        frequency: f64,
        /// rad
        phase: f64,
        /// rad or m
        offset: f64,
    },
    /// Points (t, s); constant beyond both ends, or periodic.
    Table {
        /// (t, s), t increasing.
        points: Vec<[f64; 2]>,
        /// The table is periodic; first and last s are equal.
        periodic: bool,
        /// How it goes between the points.
        interpolation: Interpolation,
    },
    /// Driven by an input: the position, or a speed or acceleration that is integrated.
    Input {
        /// Derivative of s that the input gives: 0, 1, 2.
        order: usize,
        /// Value until the input is set.
        start: f64,
    },
}

impl Motion {
    /// Checks the coordinate and the law.
    pub(super) fn validate(&self, model: &Model) -> Result<()> {
        match self.on {
            PrescribedCoordinate::Joint(coordinate) => {
                model.validate_coordinate(&self.name, coordinate)?
            }
            PrescribedCoordinate::Body(body, coordinate) => {
                let prescribed = (model.bodies.get(body)).is_some_and(|b| b.prescribed);
                let exists = match coordinate {
                    BodyCoordinate::Position(k) => k < model.dimension,
                    BodyCoordinate::Angle => (norm(&self.axis) - 1.0).abs() <= UNIT,
                };
                if !(prescribed && exists) {
                    return Err(refused(
                        &self.name,
                        &format!("{:?}", self.on),
                        "a coordinate of a prescribed body, an angle with a unit axis",
                    ));
                }
            }
        }
        let finite = |value: &f64| Range::Finite.check(|| self.name.clone(), *value);
        match &self.law {
            MotionLaw::ConstantSpeed { speed } => finite(speed),
            MotionLaw::Polynomial(coefficients) => {
                Curve::Polynomial(coefficients.clone()).validate(&self.name)
            }
            MotionLaw::Harmonic {
                amplitude,
                frequency,
                phase,
                offset,
            } => [amplitude, frequency, phase, offset]
                .into_iter()
                .try_for_each(finite),
            MotionLaw::Table {
                points,
                periodic,
                interpolation,
            } => {
                let curve = Curve::Table {
                    points: points.clone(),
                    interpolation: *interpolation,
                };
                curve.validate(&self.name)?;
                if *periodic && !is_periodic(points) {
                    let expected = "first and last value equal";
                    return Err(refused(&self.name, &"a periodic table", expected));
                }
                Ok(())
            }
            MotionLaw::Input { order, start } => {
                finite(start)?;
                if *order > 2 {
                    return Err(refused(&self.name, order, "an order of 0, 1 or 2"));
                }
                Ok(())
            }
        }
    }
}
