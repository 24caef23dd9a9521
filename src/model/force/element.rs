//! Definitions of the force elements.

use crate::model::{Curve, FrictionDefinition, RigidImpact};

/// A force as a function of one variable: proportional to it, or given by a curve.
#[derive(Clone, Debug, PartialEq)]
pub enum Characteristic {
    /// F = factor x
    Linear(f64),
    /// F = curve(x)
    Law(Curve),
}

impl From<f64> for Characteristic {
    fn from(factor: f64) -> Self {
        Self::Linear(factor)
    }
}

/// `only` of a spring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OneSided {
    /// A rope: F >= 0.
    Tension,
    /// A buffer: F <= 0.
    Compression,
}

/// A spring with a damper: F = preload + stiffness(c − length) + damping(ċ), positive in tension.
#[derive(Clone, Debug, PartialEq)]
pub struct SpringDefinition {
    /// N/m (N m/rad), or F(c − length).
    pub stiffness: Characteristic,
    /// N s/m (N m s/rad), or F(ċ).
    pub damping: Characteristic,
    /// Unloaded length or angle (m or rad).
    pub length: f64,
    /// F at the unloaded length (N or N m).
    pub preload: f64,
    /// Tension or compression only.
    pub only: Option<OneSided>,
}

impl Default for SpringDefinition {
    /// No force.
    fn default() -> Self {
        Self {
            stiffness: Characteristic::Linear(0.0),
            damping: Characteristic::Linear(0.0),
            length: 0.0,
            preload: 0.0,
            only: None,
        }
    }
}

/// A PID controller on a joint coordinate c: proportional e + integral ∫e + derivative ė with e = set point − c; positive
/// increases c.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PidDefinition {
    /// m or rad; driveable.
    pub set_point: f64,
    /// N/m (N m/rad)
    pub proportional: f64,
    /// N/(m s) (N m/(rad s))
    pub integral: f64,
    /// N s/m (N m s/rad)
    pub derivative: f64,
    /// Lower and upper limit of the force (N or N m).
    pub limits: Option<[f64; 2]>,
    /// Time in which the integral part follows the limited output (s).
    pub tracking_time: f64,
    /// Integral part of the force at the start (N or N m).
    pub start: f64,
}

/// An actuator on a joint coordinate c: gain u + bias₀ + bias₁ c + bias₂ ċ with the control u, both limited; positive increases c.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ServoDefinition {
    /// u; driveable.
    pub control: f64,
    /// N or N m for a unit of u.
    pub gain: f64,
    /// N, N/m and N s/m (N m, N m/rad and N m s/rad).
    pub bias: [f64; 3],
    /// Lower and upper limit of u.
    pub control_limits: Option<[f64; 2]>,
    /// Lower and upper limit of the force (N or N m).
    pub limits: Option<[f64; 2]>,
}

/// A force or a torque on one body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadDefinition {
    /// Force at a point.
    Force,
    /// Free torque.
    Torque,
}

/// `frame` of a force or torque on one body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoadFrame {
    /// Components along ground axes: weight, wind.
    #[default]
    Ground,
    /// Components along body axes: a thruster.
    Body,
}

/// A tyre on a road: F = stiffness(δ) + damping(δ̇) along `up` at the wheel centre while the deflection δ is positive.
#[derive(Clone, Debug, PartialEq)]
pub struct TyreDefinition {
    /// Unloaded radius (m).
    pub radius: f64,
    /// N/m, or F of the deflection.
    pub stiffness: Characteristic,
    /// N s/m, or F of the rate of deflection.
    pub damping: Characteristic,
    /// Unit vector in the axes of `bodies[0]`, the road.
    pub up: [f64; 3],
    /// Along the road, unit vector perpendicular to `up`.
    pub forward: [f64; 3],
    /// Height of the road over the distance along `forward`.
    pub profile: Option<Curve>,
    /// Added to the profile (m).
    pub height: f64,
    /// Speed of the road below the wheel: distance = forward·(wheel − road point) + offset + speed t (m/s).
    pub speed: f64,
    /// m
    pub offset: f64,
}

/// Surface of `bodies[0]` of a contact.
#[derive(Clone, Debug, PartialEq)]
pub enum Surface {
    /// A half space below `points[0]`; its normal in body axes, unit vector, points out of the material.
    Plane([f64; 3]),
    /// A ball (a disc in the plane) about `points[0]`, its radius (m); zero is a point.
    Sphere(f64),
    /// A planar curve fixed in the body.
    Curve(SurfaceOutline),
}

/// A planar curve.
#[derive(Clone, Debug, PartialEq)]
pub struct SurfaceOutline {
    /// In the body frame (m).
    pub points: Vec<[f64; 2]>,
    /// The last point is joined to the first and the material lies inside. The material of an open curve lies to the right
    /// of its direction (below a ground drawn from left to right).
    pub closed: bool,
    /// Of a closed curve: the material lies outside.
    pub hollow: bool,
    /// A spline through the points instead of a polyline.
    pub smooth: bool,
    /// Largest penetration (m); a body deeper inside is assigned to another side.
    pub depth: f64,
}

/// Normal force law of a contact, δ the penetration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ContactLaw {
    /// N = stiffness δ + damping δ̇
    SpringDamper {
        /// N/m
        stiffness: f64,
        /// N s/m
        damping: f64,
    },
    /// N = stiffness δⁿ (1 + damping δ̇)
    HuntCrossley {
        /// N/mⁿ
        stiffness: f64,
        /// n
        exponent: f64,
        /// s/m
        damping: f64,
    },
    /// No penetration: impacts and a unilateral constraint.
    Rigid(RigidImpact),
}

/// A contact of a point, ball or disc of `bodies[1]` with a surface of `bodies[0]`.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactDefinition {
    /// Surface of `bodies[0]`.
    pub surface: Surface,
    /// Radius of the ball or disc about `points[1]` of `bodies[1]` (m); zero is a point.
    pub radius: f64,
    /// Normal force.
    pub law: ContactLaw,
    /// Tangential friction.
    pub friction: Option<FrictionDefinition>,
}
