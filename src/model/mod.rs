//! What the user wrote, checked but without equations: bodies, joints, forces, or matrices; signals, settings. SI units,
//! radians.

mod check;
mod document;
pub mod nearest;
pub mod quantity;
mod read;
mod reader;
mod settings;
mod system;
mod target;

#[cfg(test)]
mod tests;

pub use system::Matrices;

/// Place of something in the model text, for messages. Line and column from 1; zero where there is no text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
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
    pub solver: Solver,
    /// Defaults for runs.
    pub experiment: Experiment,
    /// The matrices of a model that is not made of bodies; then there are no bodies, joints, forces and sensors.
    pub system: Option<Matrices>,
    /// Bodies.
    pub bodies: Vec<Body>,
    /// Joints.
    pub joints: Vec<Joint>,
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
pub struct Vsa23 {
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
pub enum Estimate {
    /// With the method's true error constants.
    #[default]
    Calibrated,
    /// (31)-(32) of the paper as printed.
    Seed,
}

/// `controller` of `[solver]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Controller {
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
pub struct Solver {
    /// Coordinates and constraint handling.
    pub formulation: FormulationName,
    /// Method.
    pub integrator: IntegratorName,
    /// Settings of VSA23.
    pub vsa23: Vsa23,
    /// HHT dissipation, 0 .. 1/3.
    pub alpha: f64,
    /// Local error per step (per second with `per_unit_step`).
    pub tolerance: f64,
    /// Error estimate.
    pub estimate: Estimate,
    /// Step-size rule.
    pub controller: Controller,
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
    /// Newton increment accepted, in the error norm; default 1e-3 `tolerance`.
    pub newton_tolerance: Option<f64>,
    /// Substeps allowed in one call.
    pub max_substeps: u64,
}

impl Default for Solver {
    fn default() -> Self {
        Self {
            formulation: FormulationName::default(),
            integrator: IntegratorName::default(),
            vsa23: Vsa23::default(),
            alpha: 0.05,
            tolerance: 1e-6,
            estimate: Estimate::default(),
            controller: Controller::default(),
            corrector: Corrector::default(),
            per_unit_step: false,
            step: None,
            min_step: None,
            max_step: None,
            initial_step: None,
            length: None,
            projection: true,
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
    /// Of the centre of mass at start (of the frame where `center_of_mass` is given), ground axes (m/s).
    pub velocity: [f64; 3],
    /// Ground axes (rad/s); two dimensions use the third.
    pub angular_velocity: [f64; 3],
    /// In the body frame (m); zero where the frame sits at the centre of mass.
    pub center_of_mass: [f64; 3],
    /// For pictures only.
    pub shape: Option<Shape>,
    /// In the text.
    pub place: Place,
}

/// What a body looks like in pictures.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Full edge lengths (m) about the frame's origin.
    Box([f64; 3]),
    /// Radius (m).
    Circle(f64),
    /// A chain of points in the body frame (m).
    Line(Vec<[f64; 3]>),
}

/// `type` of `[[joint]]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JointKind {
    /// Pin.
    Revolute,
    /// Slide.
    Prismatic,
}

/// A joint frame fixed in a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// m
    pub point: [f64; 3],
    /// Unit vector.
    pub axis: [f64; 3],
}

/// Where a joint sits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JointPlace {
    /// In the ground frame at start: the drawing is the geometry.
    Ground(Frame),
    /// In each body's own frame: the start pose is only a guess.
    Bodies([Frame; 2]),
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
    pub frame: JointPlace,
    /// Start value of the coordinate (rad or m).
    pub position: f64,
    /// In the text.
    pub place: Place,
}

/// `type` of `[[force]]`.
#[derive(Clone, Debug, PartialEq)]
pub enum ForceKind {
    /// Along the line between two points: `stiffness (L − length) + damping L'`, positive pulls together.
    SpringDamper {
        /// N/m
        stiffness: f64,
        /// N s/m
        damping: f64,
        /// Unloaded length (m).
        length: f64,
    },
    /// A driven force (or torque) between two points or in a joint; positive increases the length or the coordinate.
    Actuator {
        /// N or N m at start; driveable.
        effort: f64,
    },
}

/// Where a force acts.
#[derive(Clone, Debug, PartialEq)]
pub enum ForcePlace {
    /// Between a point of each body, each in its own body's frame (m).
    Points {
        /// The bodies.
        bodies: [BodyRef; 2],
        /// The points.
        points: [[f64; 3]; 2],
    },
    /// In a joint, by its index.
    Joint(usize),
}

/// `[[force]]`
#[derive(Clone, Debug, PartialEq)]
pub struct Force {
    /// Its name.
    pub name: String,
    /// Its law.
    pub kind: ForceKind,
    /// Where it acts.
    pub on: ForcePlace,
    /// In the text.
    pub place: Place,
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
    pub place: Place,
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
    /// `gravity.x .y .z` by axis
    Gravity(usize),
    /// `f1 f2 ..` of a model given by its matrices: driveable
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
    pub place: Place,
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
    pub place: Place,
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
    pub place: Place,
}
