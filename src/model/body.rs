//! `[[body]]` and `[[sensor]]`.

use std::path::PathBuf;

use nalgebra::Matrix3;

use super::validate::{Range, UNIT, list, norm, refused};
use super::{BodyRef, Model, TextPosition};
use crate::error::Result;

/// `[[body]]`
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// Name.
    pub name: String,
    /// kg
    pub mass: f64,
    /// About the centre of mass: Ixx, Iyy, Izz, Ixy, Ixz, Iyz (kg m²); two dimensions use Izz only.
    pub inertia: [f64; 6],
    /// Initial position of the centre of mass (of the frame's origin if `center_of_mass` is given), ground frame (m).
    pub position: [f64; 3],
    /// Initial angle (rad), two dimensions.
    pub angle: f64,
    /// Initial orientation, three dimensions: unit quaternion w, x, y, z from body axes to ground axes.
    pub orientation: [f64; 4],
    /// Initial velocity of the point that `position` locates, ground axes (m/s).
    pub velocity: [f64; 3],
    /// Initial angular velocity, ground axes (rad/s); two dimensions use the third component.
    pub angular_velocity: [f64; 3],
    /// Centre of mass in the body frame (m); zero if the frame's origin is the centre of mass.
    pub center_of_mass: [f64; 3],
    /// The body has no mass: each of its coordinates follows a [`super::Motion`] or is constant.
    pub prescribed: bool,
    /// Shape in pictures only.
    pub shape: Option<BodyShape>,
    /// Position in the text.
    pub text_position: TextPosition,
}

impl Default for Body {
    /// A body without name and mass, at rest in the origin.
    fn default() -> Self {
        Self {
            name: String::new(),
            mass: 0.0,
            inertia: [0.0; 6],
            position: [0.0; 3],
            angle: 0.0,
            orientation: [1.0, 0.0, 0.0, 0.0],
            velocity: [0.0; 3],
            angular_velocity: [0.0; 3],
            center_of_mass: [0.0; 3],
            prescribed: false,
            shape: None,
            text_position: TextPosition::default(),
        }
    }
}

/// Shape of a body in pictures.
#[derive(Clone, Debug, PartialEq)]
pub enum BodyShape {
    /// Edge lengths (m) about the frame's origin.
    Box([f64; 3]),
    /// Radius (m).
    Circle(f64),
    /// Polyline through points of the body frame (m).
    Line(Vec<[f64; 3]>),
    /// Triangles of a file.
    Mesh(MeshFile),
}

/// A file of triangles that is drawn for a body. The equations and units do not need it.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshFile {
    /// As the model names it.
    pub file: String,
    /// Where it is.
    pub path: PathBuf,
    /// Factors of its coordinates, to m.
    pub scale: [f64; 3],
    /// Its origin in the body frame (m).
    pub position: [f64; 3],
    /// Its orientation in the body frame: unit quaternion w, x, y, z.
    pub orientation: [f64; 4],
}

impl MeshFile {
    /// A file in m, in the body frame.
    pub fn new(file: &str) -> Self {
        Self {
            file: file.to_owned(),
            path: PathBuf::from(file),
            scale: [1.0; 3],
            position: [0.0; 3],
            orientation: [1.0, 0.0, 0.0, 0.0],
        }
    }
}

/// `[[sensor]]`
#[derive(Clone, Debug, PartialEq)]
pub struct Sensor {
    /// Name.
    pub name: String,
    /// The body it is fixed to.
    pub body: BodyRef,
    /// In the body frame (m).
    pub point: [f64; 3],
    /// Position in the text.
    pub text_position: TextPosition,
}

/// Verdict on an inertia tensor.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum InertiaDefect {
    Sound,
    /// The largest principal moment exceeds the sum of the others by no more than rounding to few digits explains.
    Rounded,
    Impossible(String),
}

/// Checks a tensor Ixx, Iyy, Izz, Ixy, Ixz, Iyz: principal moments are not negative and satisfy the triangle inequality
/// (each is an integral of the squares of two distances).
pub(super) fn check_inertia(inertia: &[f64; 6]) -> InertiaDefect {
    /// Relative rounding error of the eigenvalues.
    const ROUNDING: f64 = 1e-12;
    /// Relative excess that rounding to three significant digits explains.
    const DIGITS: f64 = 1e-2;
    let [xx, yy, zz, xy, xz, yz] = *inertia;
    let size = inertia.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    if size == 0.0 {
        return InertiaDefect::Sound;
    }
    let tensor = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz) / size;
    let moments = tensor.symmetric_eigenvalues();
    let mut moments = [moments[0], moments[1], moments[2]];
    moments.sort_by(f64::total_cmp);
    let [a, b, c] = moments;
    if !(a >= -ROUNDING) {
        let least = a * size;
        return InertiaDefect::Impossible(format!(
            "its smallest principal moment is {least:.6e} kg.m2, which is negative"
        ));
    }
    let excess = (c - (a + b)) / c;
    if excess <= ROUNDING {
        InertiaDefect::Sound
    } else if excess <= DIGITS {
        InertiaDefect::Rounded
    } else {
        let [a, b, c] = moments.map(|m| m * size);
        InertiaDefect::Impossible(format!(
            "the principal moments {a:.6e}, {b:.6e}, {c:.6e} kg.m2 break the triangle inequality: \
             none may exceed the sum of the others"
        ))
    }
}

impl Body {
    /// Checks mass properties, initial pose and shape.
    pub(super) fn validate(&self, dimension: usize) -> Result<()> {
        let name = |field: &'static str| move || format!("{}.{field}", self.name);
        Range::NonNegative.check(name("mass"), self.mass)?;
        for (field, values) in [
            ("inertia", &self.inertia[..]),
            ("position", &self.position),
            ("orientation", &self.orientation),
            ("velocity", &self.velocity),
            ("angular_velocity", &self.angular_velocity),
            ("center_of_mass", &self.center_of_mass),
            ("angle", &[self.angle]),
        ] {
            for value in values {
                Range::Finite.check(name(field), *value)?;
            }
        }
        if dimension == 2 {
            Range::NonNegative.check(name("inertia"), self.inertia[2])?;
        } else {
            if let InertiaDefect::Impossible(why) = check_inertia(&self.inertia) {
                return Err(refused(&name("inertia")(), &list(&self.inertia), &why));
            }
            if (norm(&self.orientation) - 1.0).abs() > UNIT {
                let value = list(&self.orientation);
                return Err(refused(&name("orientation")(), &value, "a unit quaternion"));
            }
        }
        if self.prescribed && (self.mass != 0.0 || self.inertia != [0.0; 6]) {
            return Err(refused(
                &name("mass")(),
                &self.mass,
                "none: the body is prescribed",
            ));
        }
        match &self.shape {
            None => Ok(()),
            Some(BodyShape::Circle(radius)) => Range::Positive.check(name("shape"), *radius),
            Some(BodyShape::Box(edges)) => {
                (edges.iter()).try_for_each(|edge| Range::NonNegative.check(name("shape"), *edge))
            }
            Some(BodyShape::Line(points)) => (points.iter().flatten())
                .try_for_each(|value| Range::Finite.check(name("shape"), *value)),
            Some(BodyShape::Mesh(mesh)) => (mesh.scale.iter())
                .chain(&mesh.position)
                .chain(&mesh.orientation)
                .try_for_each(|value| Range::Finite.check(name("shape"), *value)),
        }
    }
}

impl Sensor {
    /// Checks the body and the point.
    pub(super) fn validate(&self, model: &Model) -> Result<()> {
        model.validate_body_index(&self.name, self.body)?;
        (self.point.iter())
            .try_for_each(|value| Range::Finite.check(|| format!("{}.point", self.name), *value))
    }
}
