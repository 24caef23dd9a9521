//! `[[joint]]`: types, placement, couplings and their checks.

use super::choice::choice;
use super::validate::{Range, UNIT, list, norm, refused};
use super::{BodyRef, Curve, FrictionDefinition, JointLimits, LimitLaw, Model, TextPosition};
use crate::error::Result;

choice! {
    /// `type` of `[[joint]]`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum JointKind {
        /// No relative motion.
        Fixed = "fixed",
        /// Rotation about an axis.
        Revolute = "revolute",
        /// Translation along an axis.
        Prismatic = "prismatic",
        /// Rotation about an axis and translation along it (space).
        Cylindrical = "cylindrical",
        /// Rotation about a point (space).
        Spherical = "spherical",
        /// Rotation about an axis of each body, the two perpendicular (space).
        Universal = "universal",
        /// Rotation about three axes in turn, each perpendicular to the next, at a point (space).
        Gimbal = "gimbal",
        /// Translation in a plane and rotation about its normal, the axis (space).
        Planar = "planar",
        /// Translation along three perpendicular axes, without rotation (space).
        Cartesian = "cartesian",
        /// Rotation about an axis with proportional translation along it (space).
        Screw = "screw",
        /// Two points at a fixed distance.
        Distance = "distance",
        /// A point of `bodies[1]` on a line of `bodies[0]`.
        PointOnLine = "point_on_line",
        /// Relation between the coordinates of two other joints: gear, rack, cam.
        Coupling = "coupling",
    }
}

/// A joint frame fixed in a body.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointFrame {
    /// m
    pub point: [f64; 3],
    /// Unit vector; zero if the joint has none.
    pub axis: [f64; 3],
    /// Unit vector perpendicular to the axis at angle zero; of a universal joint the axis fixed in `bodies[1]` (in the frame
    /// of `bodies[1]`, `reference_direction` is that axis and `axis` the direction at angle zero); of a gimbal joint the second
    /// axis, as `axis` is the first, where all angles are zero. Zero if not given: then
    /// the component of the x axis perpendicular to `axis` (of the y axis if x is parallel to it).
    pub reference_direction: [f64; 3],
}

/// How the location of a joint is given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JointPlacement {
    /// In the ground frame, in the initial pose of the bodies.
    InitialPose(JointFrame),
    /// In the frame of each body; the initial pose is then only a guess for the assembly.
    BodyFrames([JointFrame; 2]),
    /// A coupling has no location.
    None,
}

/// `[[joint]]`
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// Name.
    pub name: String,
    /// Type.
    pub kind: JointKind,
    /// `bodies[1]` moves relative to `bodies[0]`.
    pub bodies: [BodyRef; 2],
    /// Location.
    pub frame: JointPlacement,
    /// Values of the joint coordinates in the initial pose (rad or m); [`JointKind::coordinates`] gives their number.
    pub position: [f64; 3],
    /// Of a screw: translation per revolution (m).
    pub pitch: f64,
    /// Of a gimbal joint: its third axis is opposite to the vector product of the first two.
    pub mirrored: bool,
    /// Of a distance joint (m); `None`: the distance in the initial pose.
    pub length: Option<f64>,
    /// Of a coupling.
    pub coupling: Option<Coupling>,
    /// Dry friction in each coordinate; none in those beyond the end of the list. Of a spherical joint one, the same about all axes.
    pub friction: Vec<Option<FrictionDefinition>>,
    /// Limits of each coordinate; none in those beyond the end of the list.
    pub limits: Vec<Option<JointLimits>>,
    /// Inertia of each coordinate besides that of the bodies (kg m² or kg): rotors that turn with it. Of a spherical joint the first, the
    /// same about all axes.
    pub armature: [f64; 3],
    /// Position in the text.
    pub text_position: TextPosition,
}

impl Default for Joint {
    /// A revolute joint at the origin, without name and bodies.
    fn default() -> Self {
        Self {
            name: String::new(),
            kind: JointKind::Revolute,
            bodies: [None, None],
            frame: JointPlacement::InitialPose(JointFrame::default()),
            position: [0.0; 3],
            pitch: 0.0,
            mirrored: false,
            length: None,
            coupling: None,
            friction: vec![],
            limits: vec![],
            armature: [0.0; 3],
            text_position: TextPosition::default(),
        }
    }
}

impl JointKind {
    /// Whether it exists in two dimensions.
    pub fn exists_in_plane(self) -> bool {
        !matches!(
            self,
            Self::Cylindrical
                | Self::Spherical
                | Self::Universal
                | Self::Gimbal
                | Self::Planar
                | Self::Cartesian
                | Self::Screw
        )
    }

    /// Number of joint coordinates in this dimension; zero for a spherical joint, whose coordinate is a quaternion.
    pub fn coordinates(self, dimension: usize) -> usize {
        match self {
            Self::Fixed | Self::Spherical | Self::Distance | Self::Coupling => 0,
            Self::Revolute | Self::Prismatic | Self::Screw => 1,
            Self::Cylindrical | Self::Universal => 2,
            Self::Planar | Self::Cartesian | Self::Gimbal => 3,
            Self::PointOnLine => {
                if dimension == 2 {
                    2
                } else {
                    1
                }
            }
        }
    }

    /// Whether coordinate `index` is an angle (rad) and not a length (m). Order: cylindrical angle, translation; universal
    /// about the axis of `bodies[0]`, of `bodies[1]`; gimbal from `bodies[0]` outwards; planar along the reference direction r, along axis × r, angle;
    /// cartesian along r, along axis × r, along the axis; point on line translation, and in the plane the angle; screw the angle.
    pub fn is_angle(self, index: usize) -> bool {
        match self {
            Self::Revolute | Self::Screw | Self::Universal | Self::Gimbal | Self::Spherical => true,
            Self::Cylindrical => index == 0,
            Self::Planar => index == 2,
            Self::PointOnLine => index == 1,
            Self::Prismatic | Self::Cartesian | Self::Distance | Self::Fixed | Self::Coupling => {
                false
            }
        }
    }
}

/// A coordinate of a joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct JointCoordinate {
    /// Index of the joint.
    pub joint: usize,
    /// Index of the coordinate in the joint, from 0.
    pub index: usize,
}

/// A relation in which the second coordinate is a function of the first, or a sum of several.
#[derive(Clone, Debug, PartialEq)]
pub struct Coupling {
    /// From, to.
    pub coordinates: [JointCoordinate; 2],
    /// The function.
    pub law: CouplingLaw,
    /// Further coordinates and their ratios: with a ratio s₂ − s₂(0) is the sum of ratio (s − s(0)) of the first and of these.
    pub summands: Vec<(JointCoordinate, f64)>,
}

/// The law of a coupling.
#[derive(Clone, Debug, PartialEq)]
pub enum CouplingLaw {
    /// s₂ − s₂(0) = ratio (s₁ − s₁(0)): gear, rack.
    Ratio(f64),
    /// s₂ = curve(s₁): cam.
    Curve(Curve),
}

impl Joint {
    /// Checks friction and limits: at most one of each for each coordinate.
    fn validate_friction_and_limits(&self, model: &Model) -> Result<()> {
        let count = match self.kind {
            JointKind::Distance => 0,
            // The same about all axes.
            JointKind::Spherical => 1,
            kind => kind.coordinates(model.dimension),
        };
        let with_limits = self.kind.coordinates(model.dimension);
        for (field, given, count) in [
            ("friction", self.friction.len(), count),
            ("limits", self.limits.len(), with_limits),
        ] {
            if given > count {
                let name = format!("{}.{field}", self.name);
                return Err(refused(
                    &name,
                    &given,
                    &format!("at most {count}, one for each coordinate"),
                ));
            }
        }
        for (k, armature) in self.armature.iter().enumerate() {
            Range::NonNegative.check(|| format!("{}.armature", self.name), *armature)?;
            if k >= count && *armature != 0.0 {
                let name = format!("{}.armature", self.name);
                let expected = format!("at most {count}, one for each coordinate");
                return Err(refused(&name, armature, &expected));
            }
        }
        for friction in self.friction.iter().flatten() {
            if let Some((key, expected)) = friction.defect() {
                return Err(refused(
                    &format!("{}.friction.{key}", self.name),
                    &"?",
                    expected,
                ));
            }
        }
        for limits in self.limits.iter().flatten() {
            let [low, high] = limits.range;
            if !(low < high) {
                let expected = "two numbers, the first less than the second";
                return Err(refused(
                    &format!("{}.limits", self.name),
                    &list(&limits.range),
                    expected,
                ));
            }
            match limits.stop {
                LimitLaw::Compliant { stiffness, damping } => {
                    Range::Positive.check(|| format!("{}.stiffness", self.name), stiffness)?;
                    Range::NonNegative.check(|| format!("{}.damping", self.name), damping)?;
                }
                LimitLaw::Rigid(rigid) => rigid.validate(&self.name)?,
            }
        }
        Ok(())
    }

    /// Checks type, location, coupling, friction and limits.
    pub(super) fn validate(&self, model: &Model) -> Result<()> {
        if model.dimension == 2 && !self.kind.exists_in_plane() {
            let expected = "a joint that exists in two dimensions";
            return self.refuse("type", self.kind.name(), expected);
        }
        for position in self.position {
            Range::Finite.check(|| format!("{}.position", self.name), position)?;
        }
        if (self.kind == JointKind::Coupling) != self.coupling.is_some() {
            return self.refuse("coupling", "?", "given for a coupling, and only there");
        }
        if let Some(coupling) = &self.coupling {
            return self.validate_coupling(coupling, model);
        }
        model.validate_pair(&self.name, self.bodies)?;
        self.validate_friction_and_limits(model)?;
        if self.kind == JointKind::Screw && (self.pitch == 0.0 || !self.pitch.is_finite()) {
            return self.refuse(
                "pitch",
                &self.pitch.to_string(),
                "a finite number, not zero",
            );
        }
        if let Some(length) = self.length {
            Range::Positive.check(|| format!("{}.length", self.name), length)?;
        }
        let frames = match &self.frame {
            JointPlacement::InitialPose(frame) => std::slice::from_ref(frame),
            JointPlacement::BodyFrames(frames) => &frames[..],
            JointPlacement::None => {
                return self.refuse("point", "none", "a location: only couplings have none");
            }
        };
        (0..frames.len()).try_for_each(|k| self.validate_frame(frames, k, model.dimension == 2))
    }

    fn refuse(&self, field: &str, value: &str, expected: &str) -> Result<()> {
        Err(refused(&format!("{}.{field}", self.name), &value, expected))
    }

    fn validate_coupling(&self, coupling: &Coupling, model: &Model) -> Result<()> {
        let mut seen = vec![];
        let more = coupling.summands.iter().map(|(coordinate, _)| *coordinate);
        for coordinate in coupling.coordinates.into_iter().chain(more) {
            model.validate_coordinate(&self.name, coordinate)?;
            if seen.contains(&coordinate) {
                let value = format!("{coordinate:?}");
                return self.refuse("joints", &value, "different coordinates");
            }
            seen.push(coordinate);
        }
        for (_, ratio) in &coupling.summands {
            Range::Finite.check(|| format!("{}.ratios", self.name), *ratio)?;
        }
        if !coupling.summands.is_empty() && matches!(coupling.law, CouplingLaw::Curve(_)) {
            return self.refuse("law", "a curve", "ratios for more than two coordinates");
        }
        match &coupling.law {
            CouplingLaw::Ratio(ratio) if *ratio == 0.0 || !ratio.is_finite() => {
                self.refuse("ratio", &ratio.to_string(), "a finite number, not zero")
            }
            CouplingLaw::Ratio(_) => Ok(()),
            CouplingLaw::Curve(curve) => curve.validate(&format!("{}.law", self.name)),
        }
    }

    /// Checks frame `k` of one in the ground or two in the bodies.
    fn validate_frame(&self, frames: &[JointFrame], k: usize, plane: bool) -> Result<()> {
        let JointFrame {
            point,
            axis,
            reference_direction,
        } = &frames[k];
        for value in point {
            Range::Finite.check(|| format!("{}.point", self.name), *value)?;
        }
        let length = norm(axis);
        let is_unit = (length - 1.0).abs() <= UNIT;
        // A fixed joint given in the initial pose has no axis, and a line has none in its second body.
        let required = match self.kind {
            JointKind::Distance | JointKind::Spherical | JointKind::Coupling => false,
            JointKind::Fixed => frames.len() == 2,
            JointKind::PointOnLine => k == 0,
            _ => true,
        };
        let in_plane = match self.kind {
            _ if !plane => true,
            JointKind::Revolute => axis[0] == 0.0 && axis[1] == 0.0,
            _ => axis[2] == 0.0,
        };
        if !(is_unit || !required && length == 0.0) || !in_plane {
            let expected =
                "a unit vector; in two dimensions along z for a revolute joint, else in the plane";
            return self.refuse("axis", &list(axis), expected);
        }
        let length = norm(reference_direction);
        let cosine: f64 = (0..3).map(|i| axis[i] * reference_direction[i]).sum();
        let given = (length - 1.0).abs() <= UNIT && cosine.abs() <= UNIT;
        let needed = matches!(self.kind, JointKind::Universal | JointKind::Gimbal);
        if !(given || length == 0.0 && !needed) {
            let expected = "a unit vector perpendicular to the axis";
            return self.refuse("across", &list(reference_direction), expected);
        }
        Ok(())
    }
}
