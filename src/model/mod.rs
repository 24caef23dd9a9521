//! The model as the user described it, without equations: bodies, joints, forces, or matrices; signals, settings. SI units,
//! radians. One file for each table; [`file`] reads and describes the model file.

mod beam;
mod body;
mod choice;
pub mod counters;
mod curve;
mod definition;
mod expression;
pub mod file;
mod force;
mod include;
mod joint;
mod joint_force;
mod linear_system;
mod loop_length;
pub mod mesh_file;
mod motion;
mod notes;
pub mod quantity;
mod settings;
mod signal;
mod signal_law;
pub mod suggest;
mod target;
#[cfg(test)]
mod tests;
mod user_system;
mod validate;
mod warnings;

pub use beam::{Beam, BeamSection, SectionOutline};
pub use body::{Body, BodyShape, MeshFile, Sensor};
pub use curve::{Curve, CurvePiece, Interpolation};
pub use definition::{ModelDefinition, ModelSource};
pub use file::{ModelWords, explain, portable, schema, source_file};
pub use force::{
    Characteristic, ContactDefinition, ContactLaw, Force, ForceApplication, ForceKind, ForceNumber,
    ForceType, LoadDefinition, LoadFrame, OneSided, PidDefinition, ServoDefinition,
    SpringDefinition, Surface, SurfaceOutline, TyreDefinition,
};
pub use joint::{
    Coupling, CouplingLaw, Joint, JointCoordinate, JointFrame, JointKind, JointPlacement,
};
pub use joint_force::{
    FrictionDefinition, JointLimits, JointNumber, LimitLaw, RestitutionLaw, RigidImpact,
};
pub use linear_system::LinearSystemMatrices;
pub use motion::{BodyCoordinate, Motion, MotionLaw, PrescribedCoordinate};
pub use notes::{ModelNotes, VariableNotes};
pub use settings::{
    ControllerName, Corrector, ErrorAt, EstimateName, Experiment, FormulationName, InitialPosition,
    IntegratorName, SolverSettings, Vsa23Parameters, Vsa23Settings,
};
pub use signal::{Expose, Input, Output, Parameter};
pub use signal_law::{InputSignal, SignalLaw, TimeExpression};
pub use target::Target;
pub use user_system::UserSystemNames;

/// Position in the model text, for messages. Line and column from 1; zero if there is no text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextPosition {
    /// Line.
    pub line: usize,
    /// Column, in characters.
    pub column: usize,
}

impl Model {
    /// The same model without origin and positions in the text.
    pub fn without_text_positions(&self) -> Self {
        let mut model = self.clone();
        model.origin.clear();
        model.words = None;
        model.source = None;
        model.suspicions.clear();
        model.set_text_positions(TextPosition::default());
        model
    }

    /// `file:line:column: ` of a position in the text; empty if there is none.
    pub(crate) fn text_place(&self, TextPosition { line, column }: TextPosition) -> String {
        match line {
            0 => String::new(),
            _ => format!("{}:{line}:{column}: ", self.origin),
        }
    }

    /// Sets the position of every element.
    fn set_text_positions(&mut self, position: TextPosition) {
        let positions = (self.bodies.iter_mut().map(|x| &mut x.text_position))
            .chain(self.joints.iter_mut().map(|x| &mut x.text_position))
            .chain(self.motions.iter_mut().map(|x| &mut x.text_position))
            .chain(self.forces.iter_mut().map(|x| &mut x.text_position))
            .chain(self.beams.iter_mut().map(|x| &mut x.text_position))
            .chain(self.sensors.iter_mut().map(|x| &mut x.text_position))
            .chain(self.inputs.iter_mut().map(|x| &mut x.text_position))
            .chain(self.outputs.iter_mut().map(|x| &mut x.text_position))
            .chain(self.parameters.iter_mut().map(|x| &mut x.text_position))
            .chain(self.signals.iter_mut().map(|x| &mut x.text_position))
            .chain(self.definitions.iter_mut().map(|x| &mut x.text_position))
            .chain(self.system.iter_mut().map(|x| &mut x.text_position));
        positions.for_each(|other| *other = position);
    }
}

/// A body by its index in [`Model::bodies`]; `None` is the ground.
pub type BodyRef = Option<usize>;

/// A model: the contents of a model file.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// File name, or the name given to the text; used in messages.
    pub origin: String,
    /// Name of the model.
    pub name: String,
    /// 2 or 3; without meaning if `system` is given.
    pub dimension: usize,
    /// m/s²; the third component is zero in two dimensions.
    pub gravity: [f64; 3],
    /// Solver settings.
    pub solver: SolverSettings,
    /// Defaults for runs.
    pub experiment: Experiment,
    /// Matrices of a linear system; then there are no bodies, joints, motions, forces and sensors.
    pub system: Option<LinearSystemMatrices>,
    /// Dimensions of a user-defined system; then there are neither matrices nor bodies.
    pub user_system: Option<UserSystemNames>,
    /// Bodies.
    pub bodies: Vec<Body>,
    /// Joints.
    pub joints: Vec<Joint>,
    /// Prescribed coordinates of joints and bodies.
    pub motions: Vec<Motion>,
    /// Forces.
    pub forces: Vec<Force>,
    /// Beams; their nodes are among the bodies.
    pub beams: Vec<Beam>,
    /// Points whose motion is a quantity.
    pub sensors: Vec<Sensor>,
    /// Declared inputs.
    pub inputs: Vec<Input>,
    /// Declared outputs.
    pub outputs: Vec<Output>,
    /// Declared parameters.
    pub parameters: Vec<Parameter>,
    /// Laws of inputs.
    pub signals: Vec<InputSignal>,
    /// Quantities that are variables of an instance.
    pub expose: Expose,
    /// Fingerprint of the text it was read from; see [`Model::words`].
    pub words: Option<ModelWords>,
    /// Descriptions, author, version, licence.
    pub notes: ModelNotes,
    /// Definitions of the text.
    pub definitions: Vec<ModelDefinition>,
    /// The text, if it has definitions.
    pub source: Option<ModelSource>,
    /// Values of the text that are legal but probably not meant, each with its position; among the warnings.
    pub suspicions: Vec<String>,
}

impl Default for Model {
    /// An empty spatial model without gravity.
    fn default() -> Self {
        Self {
            origin: String::new(),
            name: String::new(),
            dimension: 3,
            gravity: [0.0; 3],
            solver: SolverSettings::default(),
            experiment: Experiment::default(),
            system: None,
            user_system: None,
            bodies: vec![],
            joints: vec![],
            motions: vec![],
            forces: vec![],
            beams: vec![],
            sensors: vec![],
            inputs: vec![],
            outputs: vec![],
            parameters: vec![],
            signals: vec![],
            expose: Expose::default(),
            words: None,
            notes: ModelNotes::default(),
            definitions: vec![],
            source: None,
            suspicions: vec![],
        }
    }
}
