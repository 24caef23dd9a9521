//! What `formulation = "auto"` means for a model: relative coordinates where they were measured to be cheaper at the same accuracy,
//! absolute ones everywhere else (docs/performance.md, "What auto chooses"; `cargo bench --bench auto`).

use super::system::ConstraintHandling;
use crate::model::{
    Body, ForceKind, FormulationName, IntegratorName, JointKind, Model, SolverSettings,
};

/// Bodies up to which relative coordinates have been measured; in longer chains they gain nothing, and beyond some thousand bars
/// rounding of the couples in their joints ends them.
const MOST: usize = 32;

/// Constraint handling of the formulation that is asked for: hybrid and global are augmented Lagrangian formulations.
pub fn constraint_handling(settings: &SolverSettings) -> ConstraintHandling {
    match settings.formulation {
        FormulationName::Hybrid | FormulationName::Global => ConstraintHandling::Augmented {
            penalty: settings.penalty,
        },
        _ => ConstraintHandling::Multipliers,
    }
}

/// What auto chooses for a model, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormulationChoice {
    /// Coordinates.
    pub formulation: FormulationName,
    /// The reason, as a clause.
    pub why: &'static str,
}

/// Relative coordinates for trees of pins in space; absolute ones for everything else. Whatever the model asks for itself is not
/// looked at, nor is a number that can be set later.
pub fn by_topology(model: &Model) -> FormulationChoice {
    let absolute = |why| FormulationChoice {
        formulation: FormulationName::Absolute,
        why,
    };
    if model.dimension == 2 {
        return absolute("cheaper in the plane");
    }
    let count = model.bodies.len();
    if count < 2 || model.own.is_some() {
        return absolute("no tree of bodies");
    }
    if count > MOST {
        return absolute("more than 32 bodies");
    }
    if (model.joints.iter()).any(|joint| joint.kind != JointKind::Revolute) {
        return absolute("not all joints are pins");
    }
    if !is_tree(model) {
        return absolute("joints do not make a tree");
    }
    if model
        .bodies
        .iter()
        .any(|body| body.prescribed || light(body))
        || !model.motions.is_empty()
    {
        return absolute("prescribed motions or bodies without inertia");
    }
    let touches = |kind: &ForceKind| matches!(kind, ForceKind::Contact(_) | ForceKind::Tyre(_));
    let stops = (model.joints.iter()).any(|joint| {
        joint.limits.iter().any(Option::is_some) || joint.friction.iter().any(Option::is_some)
    });
    if stops || model.forces.iter().any(|force| touches(&force.kind)) {
        return absolute("contacts, limits or friction");
    }
    if model.solver.integrator != IntegratorName::Hht {
        return absolute("measured with HHT only");
    }
    FormulationChoice {
        formulation: FormulationName::Relative,
        why: "a tree of pins in space",
    }
}

/// Whether a moment of inertia or the mass is missing.
fn light(body: &Body) -> bool {
    !(body.mass > 0.0 && body.inertia[..3].iter().all(|moment| *moment > 0.0))
}

/// Whether the joints tie every body to the ground in one way only: as many joints as bodies, and all are reached.
fn is_tree(model: &Model) -> bool {
    let count = model.bodies.len();
    if model.joints.len() != count {
        return false;
    }
    let place = |body: Option<usize>| body.unwrap_or(count);
    // Bodies that are tied together carry the same number; few bodies, so numbers are simply rewritten.
    let mut group: Vec<usize> = (0..=count).collect();
    for joint in &model.joints {
        let [a, b] = joint.bodies.map(|body| group[place(body)]);
        if a == b {
            return false;
        }
        for number in &mut group {
            if *number == a {
                *number = b;
            }
        }
    }
    true
}
