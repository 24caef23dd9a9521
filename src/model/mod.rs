//! What the user wrote, checked but without equations: bodies, joints, forces, or matrices; signals, settings. SI units,
//! radians.

mod check;
mod check_force;
mod document;
mod explain;
mod force;
mod keys;
mod linear_system;
pub mod portable;
pub mod quantity;
mod read;
mod reader;
mod schema;
mod settings;
pub mod suggest;
mod target;
mod user_system;
mod warnings;

#[cfg(test)]
mod tests;

pub use explain::explain;
pub use force::{
    Characteristic, ContactDefinition, ContactLaw, ForceApplication, ForceKind, ForceNumber,
    FrictionDefinition, JointLimits, JointNumber, LimitLaw, LoadDefinition, LoadFrame, OneSided,
    RigidImpact, SpringDefinition, Surface, SurfaceOutline, TyreDefinition,
};
pub use linear_system::LinearSystemMatrices;
pub use schema::schema;
pub use user_system::UserSystemNames;

/// Place of something in the model text, for messages. Line and column from 1; zero where there is no text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextPosition {
    /// Line.
    pub line: usize,
    /// Column, in characters.
    pub column: usize,
}

/// A body by its index in [`Model::bodies`]; `None` is the ground.
pub type BodyRef = Option<usize>;

/// A whole model file.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// File name, or what the text was called; used in messages.
    pub origin: String,
    /// The model's name.
    pub name: String,
    /// 2 or 3; without meaning where `system` is given.
    pub dimension: usize,
    /// m/s²; the third component is zero in two dimensions.
    pub gravity: [f64; 3],
    /// Solver settings.
    pub solver: SolverSettings,
    /// Defaults for runs.
    pub experiment: Experiment,
    /// The matrices of a model that is not made of bodies; then there are no bodies, joints, forces and sensors.
    pub system: Option<LinearSystemMatrices>,
    /// The unknowns of a model whose equations are code; then there are neither matrices nor bodies.
    pub own: Option<UserSystemNames>,
    /// Bodies.
    pub bodies: Vec<Body>,
    /// Joints.
    pub joints: Vec<Joint>,
    /// Prescribed joint coordinates and prescribed coordinates of bodies.
    pub motions: Vec<Motion>,
    /// Forces.
    pub forces: Vec<Force>,
    /// Points whose motion is a quantity.
    pub sensors: Vec<Sensor>,
    /// Declared inputs.
    pub inputs: Vec<Input>,
    /// Declared outputs.
    pub outputs: Vec<Output>,
    /// Declared parameters.
    pub parameters: Vec<Parameter>,
    /// Which quantities are variables of the outside.
    pub expose: Expose,
}

/// `expose`: what an instance shows besides the declared inputs, outputs and parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Expose {
    /// Nothing.
    #[default]
    Declared,
    /// Every quantity, by its dotted name.
    All,
}

impl Default for Model {
    /// Nothing, in space, without gravity.
    fn default() -> Self {
        Self {
            origin: String::new(),
            name: String::new(),
            dimension: 3,
            gravity: [0.0; 3],
            solver: SolverSettings::default(),
            experiment: Experiment::default(),
            system: None,
            own: None,
            bodies: vec![],
            joints: vec![],
            motions: vec![],
            forces: vec![],
            sensors: vec![],
            inputs: vec![],
            outputs: vec![],
            parameters: vec![],
            expose: Expose::default(),
        }
    }
}

/// `[experiment]`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Experiment {
    /// s
    pub start: f64,
    /// s
    pub stop: f64,
    /// s; `None`: one row for each accepted step.
    pub interval: Option<f64>,
}

/// `formulation` of `[solver]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FormulationName {
    /// Chosen by topology.
    #[default]
    Auto,
    /// Absolute coordinates, multipliers.
    Absolute,
    /// Natural coordinates, augmented Lagrangian.
    Global,
    /// Relative coordinates, elimination.
    Topological,
    /// Relative coordinates, augmented Lagrangian.
    Hybrid,
    /// Relative coordinates, multipliers: what `auto` means where they are cheaper.
    Relative,
}

impl FormulationName {
    /// The word in the model file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Absolute => "absolute",
            Self::Global => "global",
            Self::Topological => "topological",
            Self::Hybrid => "hybrid",
            Self::Relative => "relative",
        }
    }
}

/// `integrator` of `[solver]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IntegratorName {
    /// Hilber-Hughes-Taylor.
    #[default]
    Hht,
    /// Quadratic scheme with the cubic one as reference.
    Vsa23,
}

/// `vsa23` of `[solver]`: how VSA23 is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Vsa23Settings {
    /// Weights of the two schemes.
    pub parameters: Vsa23Parameters,
    /// Where they are compared.
    pub error_at: ErrorAt,
}

/// `parameters` of `vsa23`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Vsa23Parameters {
    /// Both schemes find their equilibrium at one time: (25) in closed form.
    #[default]
    Common,
    /// At two different times, with one matrix.
    Original,
}

/// `error_at` of `vsa23`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ErrorAt {
    /// At the end of the step: (11). Constraints that are open there are taken for an error which no step is short
    /// enough for.
    End,
    /// At the common equilibrium point; only with [`Vsa23Parameters::Common`].
    #[default]
    Common,
}

/// `estimate` of `[solver]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EstimateName {
    /// With the method's true error constants.
    #[default]
    Calibrated,
    /// (31)-(32) of the paper as printed.
    Seed,
}

/// `controller` of `[solver]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ControllerName {
    /// Exponent of the estimate's order.
    #[default]
    Standard,
    /// (12) of the paper as printed.
    Seed,
}

/// `corrector` of `[solver]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Corrector {
    /// Fourth-order corrector, off by itself where the system is stiff.
    #[default]
    Auto,
    /// Plain HHT.
    Off,
}

/// `[solver]`: every key has a default; ranges are checked in one place, `Solver::validate`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolverSettings {
    /// Coordinates and constraint handling.
    pub formulation: FormulationName,
    /// Method.
    pub integrator: IntegratorName,
    /// Settings of VSA23.
    pub vsa23: Vsa23Settings,
    /// HHT dissipation, 0 .. 1/3.
    pub alpha: f64,
    /// Local error per step (per second with `per_unit_step`).
    pub tolerance: f64,
    /// Error estimate.
    pub estimate: EstimateName,
    /// Step-size rule.
    pub controller: ControllerName,
    /// Fourth-order corrector.
    pub corrector: Corrector,
    /// Tolerance per second instead of per step.
    pub per_unit_step: bool,
    /// Fixed step (s).
    pub step: Option<f64>,
    /// s
    pub min_step: Option<f64>,
    /// s
    pub max_step: Option<f64>,
    /// s
    pub initial_step: Option<f64>,
    /// Characteristic length of the error norm (m).
    pub length: Option<f64>,
    /// Velocity and acceleration projections after each step.
    pub projection: bool,
    /// Weight of the augmented Lagrangian; `None`: chosen from masses and step. Of formulations with penalties only.
    pub penalty: Option<f64>,
    /// Independent coordinates are chosen anew where the old choice becomes bad. Of formulations by elimination only.
    pub rechoose: bool,
    /// Newton increment accepted, in the error norm; default 1e-3 `tolerance`.
    pub newton_tolerance: Option<f64>,
    /// Substeps allowed in one call.
    pub max_substeps: u64,
}

impl Default for SolverSettings {
    fn default() -> Self {
        Self {
            formulation: FormulationName::default(),
            integrator: IntegratorName::default(),
            vsa23: Vsa23Settings::default(),
            alpha: 0.05,
            tolerance: 1e-6,
            estimate: EstimateName::default(),
            controller: ControllerName::default(),
            corrector: Corrector::default(),
            per_unit_step: false,
            step: None,
            min_step: None,
            max_step: None,
            initial_step: None,
            length: None,
            projection: true,
            penalty: None,
            rechoose: true,
            newton_tolerance: None,
            max_substeps: 1_000_000,
        }
    }
}

/// `[[body]]`
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// Its name.
    pub name: String,
    /// kg
    pub mass: f64,
    /// About the centre of mass: Ixx, Iyy, Izz, Ixy, Ixz, Iyz (kg m²); two dimensions use Izz only.
    pub inertia: [f64; 6],
    /// Of the centre of mass at start (of the frame where `center_of_mass` is given), ground frame (m).
    pub position: [f64; 3],
    /// At start (rad), two dimensions.
    pub angle: f64,
    /// At start, three dimensions: unit quaternion w, x, y, z, body axes to ground axes.
    pub orientation: [f64; 4],
    /// Of the centre of mass at start (of the frame where `center_of_mass` is given), ground axes (m/s).
    pub velocity: [f64; 3],
    /// Ground axes (rad/s); two dimensions use the third.
    pub angular_velocity: [f64; 3],
    /// In the body frame (m); zero where the frame sits at the centre of mass.
    pub center_of_mass: [f64; 3],
    /// No mass of its own: every coordinate follows a [`Motion`] or stays where it starts.
    pub prescribed: bool,
    /// For pictures only.
    pub shape: Option<BodyShape>,
    /// In the text.
    pub place: TextPosition,
}

impl Default for Body {
    /// Without name and mass, at rest in the origin.
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
            place: TextPosition::default(),
        }
    }
}

/// What a body looks like in pictures.
#[derive(Clone, Debug, PartialEq)]
pub enum BodyShape {
    /// Full edge lengths (m) about the frame's origin.
    Box([f64; 3]),
    /// Radius (m).
    Circle(f64),
    /// A chain of points in the body frame (m).
    Line(Vec<[f64; 3]>),
}

/// `type` of `[[joint]]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JointKind {
    /// No relative motion.
    Fixed,
    /// Pin: turns about an axis.
    Revolute,
    /// Slide: travels along an axis.
    Prismatic,
    /// Turns about an axis and travels along it (space).
    Cylindrical,
    /// Ball (space; in the plane it would be a pin).
    Spherical,
    /// Cross: turns about an axis of each body, the two at right angles (space).
    Universal,
    /// Two surfaces on each other, the axis their normal (space).
    Planar,
    /// Turns about an axis and travels along it in proportion (space).
    Screw,
    /// Two points at a fixed distance.
    Distance,
    /// A point of `bodies[1]` on a line of `bodies[0]`.
    PointOnLine,
    /// Relates the coordinates of two other joints: gear, rack, cam.
    Coupling,
}

/// A joint frame fixed in a body.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointFrame {
    /// m
    pub point: [f64; 3],
    /// Unit vector; zero where the joint has none.
    pub axis: [f64; 3],
    /// Across the axis, a unit vector: where angles are counted from; of a universal joint the axis fixed in `bodies[1]` (in
    /// the frame of `bodies[1]` `across` is that axis and `axis` the direction it is counted from).
    /// Zero: not given, then the x axis made perpendicular (the y axis where x is along the axis).
    pub reference_direction: [f64; 3],
}

/// Where a joint sits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JointPlacement {
    /// In the ground frame at start: the drawing is the geometry.
    InitialPose(JointFrame),
    /// In each body's own frame: the start pose is only a guess.
    BodyFrames([JointFrame; 2]),
    /// Of a coupling: nowhere of its own.
    None,
}

/// `[[joint]]`
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: JointKind,
    /// `bodies[1]` moves relative to `bodies[0]`.
    pub bodies: [BodyRef; 2],
    /// Where.
    pub frame: JointPlacement,
    /// Start values of the coordinates (rad or m), as many as [`JointKind::coordinates`] says; the rest is zero.
    pub position: [f64; 3],
    /// Of a screw: travel for a whole turn (m).
    pub pitch: f64,
    /// Of a distance joint (m); `None`: that of the start pose.
    pub length: Option<f64>,
    /// Of a coupling.
    pub coupling: Option<Coupling>,
    /// Dry friction in each of its coordinates; empty or shorter: none in the rest.
    pub friction: Vec<Option<FrictionDefinition>>,
    /// End stops of each of its coordinates; empty or shorter: none in the rest.
    pub limits: Vec<Option<JointLimits>>,
    /// In the text.
    pub place: TextPosition,
}

impl Default for Joint {
    /// A pin without name between the ground and itself, at the origin: to be filled in.
    fn default() -> Self {
        Self {
            name: String::new(),
            kind: JointKind::Revolute,
            bodies: [None, None],
            frame: JointPlacement::InitialPose(JointFrame::default()),
            position: [0.0; 3],
            pitch: 0.0,
            length: None,
            coupling: None,
            friction: vec![],
            limits: vec![],
            place: TextPosition::default(),
        }
    }
}

impl JointKind {
    /// All of them with the names of the model file.
    pub const ALL: [(&'static str, Self); 11] = [
        ("fixed", Self::Fixed),
        ("revolute", Self::Revolute),
        ("prismatic", Self::Prismatic),
        ("cylindrical", Self::Cylindrical),
        ("spherical", Self::Spherical),
        ("universal", Self::Universal),
        ("planar", Self::Planar),
        ("screw", Self::Screw),
        ("distance", Self::Distance),
        ("point_on_line", Self::PointOnLine),
        ("coupling", Self::Coupling),
    ];

    /// Its name in the model file.
    pub fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(_, kind)| *kind == self)
            .map_or("", |(name, _)| name)
    }

    /// Whether it exists in two dimensions.
    pub fn exists_in_plane(self) -> bool {
        !matches!(
            self,
            Self::Cylindrical | Self::Spherical | Self::Universal | Self::Planar | Self::Screw
        )
    }

    /// How many coordinates it has as numbers, in this dimension (a ball has a quaternion instead).
    pub fn coordinates(self, dimension: usize) -> usize {
        match self {
            Self::Fixed | Self::Spherical | Self::Distance | Self::Coupling => 0,
            Self::Revolute | Self::Prismatic | Self::Screw => 1,
            Self::Cylindrical | Self::Universal => 2,
            Self::Planar => 3,
            Self::PointOnLine => {
                if dimension == 2 {
                    2
                } else {
                    1
                }
            }
        }
    }

    /// Whether coordinate `index` is an angle (rad) and not a length (m). Order: cylindrical angle, travel; universal
    /// about the axis of `bodies[0]`, of `bodies[1]`; planar along `across`, along axis x across, angle; point on line
    /// travel, and in the plane the angle; screw its angle.
    pub fn is_angle(self, index: usize) -> bool {
        match self {
            Self::Revolute | Self::Screw | Self::Universal => true,
            Self::Cylindrical => index == 0,
            Self::Planar => index == 2,
            Self::PointOnLine => index == 1,
            Self::Prismatic | Self::Distance | Self::Fixed | Self::Spherical | Self::Coupling => {
                false
            }
        }
    }
}

/// A coordinate of a joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct JointCoordinate {
    /// The joint's index.
    pub joint: usize,
    /// Which of its coordinates, from 0.
    pub index: usize,
}

/// What a coupling relates: the second coordinate follows from the first.
#[derive(Clone, Debug, PartialEq)]
pub struct Coupling {
    /// From, to.
    pub coordinates: [JointCoordinate; 2],
    /// How.
    pub law: CouplingLaw,
}

/// The law of a coupling.
#[derive(Clone, Debug, PartialEq)]
pub enum CouplingLaw {
    /// Second − its start = ratio (first − its start): gear, rack.
    Ratio(f64),
    /// Second = curve(first): cam.
    Curve(Curve),
}

/// A function of one number, from the text.
#[derive(Clone, Debug, PartialEq)]
pub enum Curve {
    /// c0 + c1 x + c2 x² ..
    Polynomial(Vec<f64>),
    /// Through the points (x, y), x rising; how they are joined belongs to the user of the curve.
    Table(Vec<[f64; 2]>),
    /// Polynomials, each up to its bound.
    Pieces(Vec<CurvePiece>),
}

/// A piece of a [`Curve`].
#[derive(Clone, Debug, PartialEq)]
pub struct CurvePiece {
    /// It holds for x below this; infinite for the last.
    pub below: f64,
    /// Coefficients.
    pub polynomial: Vec<f64>,
}

/// What a motion prescribes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PrescribedCoordinate {
    /// A coordinate of a joint.
    Joint(JointCoordinate),
    /// A coordinate of a prescribed body.
    Body(usize, BodyCoordinate),
}

/// A coordinate of a prescribed body: x, y, z of its frame in the ground frame (m), or its angle (rad): in the plane the
/// body's own, in space the one turned since the start about an axis fixed in the ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BodyCoordinate {
    /// 0, 1, 2 = x, y, z.
    Position(usize),
    /// About [`Motion::axis`]; about z in two dimensions.
    Angle,
}

/// `[[motion]]`: a coordinate as a function of time, absolute time.
#[derive(Clone, Debug, PartialEq)]
pub struct Motion {
    /// Its name.
    pub name: String,
    /// What moves.
    pub on: PrescribedCoordinate,
    /// Axis of a body's rotation in space, unit vector, ground axes.
    pub axis: [f64; 3],
    /// How.
    pub law: MotionLaw,
    /// In the text.
    pub place: TextPosition,
}

/// `law` of `[[motion]]`; s is the coordinate, t the time.
#[derive(Clone, Debug, PartialEq)]
pub enum MotionLaw {
    /// s = start + speed (t − experiment start); start = the coordinate's start value.
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
    /// Through points (t, s), twice continuously differentiable; held at both ends, or repeated.
    Table {
        /// (t, s), t rising.
        points: Vec<[f64; 2]>,
        /// The table repeats itself; first and last s are equal.
        periodic: bool,
    },
    /// Driven from outside by an input on the motion: its position, or the rate or acceleration that is integrated.
    Input {
        /// Which derivative of s the input is: 0, 1, 2.
        order: usize,
        /// Its value until set.
        start: f64,
    },
}

/// `[[force]]`
#[derive(Clone, Debug, PartialEq)]
pub struct Force {
    /// Its name.
    pub name: String,
    /// Its law.
    pub kind: ForceKind,
    /// Where it acts.
    pub on: ForceApplication,
    /// In the text.
    pub place: TextPosition,
}

/// `[[sensor]]`
#[derive(Clone, Debug, PartialEq)]
pub struct Sensor {
    /// Its name.
    pub name: String,
    /// On which body.
    pub body: BodyRef,
    /// In the body frame (m).
    pub point: [f64; 3],
    /// In the text.
    pub place: TextPosition,
}

/// A number of the model that can be set from outside, by element index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// `<body>.mass`
    BodyMass(usize),
    /// `<body>.inertia` (two dimensions)
    BodyInertia(usize),
    /// `<force>.stiffness`
    ForceStiffness(usize),
    /// `<force>.damping`
    ForceDamping(usize),
    /// `<force>.length`, the unloaded one
    ForceLength(usize),
    /// `<force>.force` or `.torque` of an actuator: driveable
    ForceEffort(usize),
    /// Any other number of a force
    Force(usize, ForceNumber),
    /// A number of the friction or the end stops of a joint's coordinate: joint, coordinate, which
    Joint(usize, usize, JointNumber),
    /// `gravity.x .y .z` by axis
    Gravity(usize),
    /// `<motion>.position .speed .acceleration` of a motion with `law = "input"`: driveable
    Motion(usize),
    /// `<motion>.speed` of a motion of constant speed
    MotionSpeed(usize),
    /// `f1 f2 ..` of a model given by its matrices: driveable. Of a model whose equations are code: the input or parameter
    /// of this index.
    SystemForce(usize),
}

/// `[[input]]`: driveable while the simulation runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// What it drives.
    pub target: Target,
    /// As written; `None`: that of the target.
    pub unit: Option<String>,
    /// Value until set.
    pub start: f64,
    /// In the text.
    pub place: TextPosition,
}

/// `[[output]]`
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Its name.
    pub name: String,
    /// A quantity by its dotted name.
    pub source: String,
    /// As written; `None`: that of the quantity.
    pub unit: Option<String>,
    /// In the text.
    pub place: TextPosition,
}

/// `[[parameter]]`
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// What it sets.
    pub target: Target,
    /// As written; `None`: that of the target.
    pub unit: Option<String>,
    /// Value until set: the one written in the element, unless the parameter gives its own.
    pub start: f64,
    /// In the text.
    pub place: TextPosition,
}
