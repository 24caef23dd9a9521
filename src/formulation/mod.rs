//! The equations of a model in chosen coordinates. Solvers see only the traits of [`system`]; [`build`] chooses the formulation.

pub mod absolute;
pub mod cache;
#[doc(hidden)]
pub mod derivative_check;
pub mod driven_value;
pub mod force;
pub mod function;
pub mod joint;
pub mod linear_system;
pub mod mechanism;
pub mod natural;
pub mod prescribed_motion;
pub mod relative;
mod rotor;
pub mod selection;
pub mod system;
pub mod topological;
pub mod transformed;
pub mod user_system;

pub use mechanism::{BodyAssembly, Mechanism};
pub use system::{
    ConfigurationSpace, ConstraintHandling, ContactFriction, CoordinatePartitioning, Crossing,
    DescriptorForm, Dimensions, Energy, Evaluated, EvaluationContext, EvaluationFailure,
    EventEffect, FullConstraintSet, HybridSystem, IntegralMemory, MotionPoint, Power, Properties,
    Sparsity, StickLimit, System, TangentWeights, TangentialFriction,
};

use crate::error::{Error, Result};
use crate::model::{FormulationName, Model};

/// Formulation of a model, with `auto` replaced by the one it stands for. A linear system has its own coordinates and stays `auto`.
pub fn resolved_formulation(model: &Model) -> FormulationName {
    match model.solver.formulation {
        FormulationName::Auto if model.system.is_none() => {
            selection::by_topology(model).formulation
        }
        other => other,
    }
}

/// Builds the equations of a model in the formulation of its settings.
pub fn build(model: &Model) -> Result<Box<dyn Mechanism>> {
    if let Some(system) = &model.system {
        return match model.solver.formulation {
            FormulationName::Auto => Ok(Box::new(linear_system::LinearSystem::new(model, system)?)),
            other => Err(Error::Argument {
                name: "solver.formulation".into(),
                value: format!("\"{}\"", other.name()),
                expected: "\"auto\": a system given by its matrices has its own coordinates".into(),
            }),
        };
    }
    let formulation = resolved_formulation(model);
    if let (Some(beam), false) = (
        model.beams.first(),
        formulation == FormulationName::Absolute,
    ) {
        return Err(Error::Argument {
            name: "solver.formulation".into(),
            value: format!("\"{}\"", formulation.name()),
            expected: format!(
                "\"auto\" or \"absolute\": beam \"{}\" has absolute coordinates",
                beam.name
            ),
        });
    }
    match (formulation, model.dimension) {
        (FormulationName::Auto | FormulationName::Absolute, 2) => {
            Ok(Box::new(absolute::PlanarAbsolute::new(model)?))
        }
        (FormulationName::Auto | FormulationName::Absolute, _) => {
            Ok(Box::new(absolute::SpatialAbsolute::new(model)?))
        }
        (FormulationName::Relative | FormulationName::Hybrid, 2) => {
            Ok(Box::new(relative::PlanarRelative::new(model)?))
        }
        (FormulationName::Relative | FormulationName::Hybrid, _) => {
            Ok(Box::new(relative::SpatialRelative::new(model)?))
        }
        (FormulationName::Global, 2) => {
            let model = rotor::with_rotors::<absolute::planar::PlanarGeometry, 6>(model)?;
            Ok(Box::new(natural::PlanarNatural::new(&model)?))
        }
        (FormulationName::Global, _) => {
            let model = rotor::with_rotors::<absolute::spatial::SpatialGeometry, 12>(model)?;
            Ok(Box::new(natural::SpatialNatural::new(&model)?))
        }
        (FormulationName::Topological, _) => topological::build(model),
    }
}
