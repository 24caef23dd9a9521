//! Selection of the formulation for `formulation = "auto"`: relative coordinates where measurements show that they are cheaper at the
//! same accuracy, else absolute ones (docs/performance.md, "What auto chooses"; `cargo bench --bench auto`).

use super::system::ConstraintHandling;
use crate::model::{
    Body, ForceKind, FormulationName, IntegratorName, JointKind, Model, SolverSettings,
};

/// Largest number of bodies for relative coordinates (`cargo bench --bench auto`): in longer chains they are not cheaper, and beyond
/// some thousand bodies rounding errors of the moments in the joints prevent convergence.
const MAX_RELATIVE_BODIES: usize = 32;

/// Constraint handling of the formulation that is asked for: hybrid and global are augmented Lagrangian formulations.
pub fn constraint_handling(settings: &SolverSettings) -> ConstraintHandling {
    match settings.formulation {
        FormulationName::Hybrid | FormulationName::Global => ConstraintHandling::Augmented {
            penalty: settings.penalty,
        },
        _ => ConstraintHandling::Multipliers,
    }
}

/// The selected formulation and the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormulationChoice {
    /// The formulation.
    pub formulation: FormulationName,
    /// The reason, as a clause.
    pub why: &'static str,
}

/// Selects relative coordinates for spatial trees of revolute joints, absolute ones for all other models. Neither the formulation in
/// the model nor values of parameters matter.
pub fn by_topology(model: &Model) -> FormulationChoice {
    let absolute = |why| FormulationChoice {
        formulation: FormulationName::Absolute,
        why,
    };
    if !model.beams.is_empty() {
        return absolute("nodes of beams have absolute coordinates");
    }
    if model.dimension == 2 {
        return absolute("cheaper in the plane");
    }
    let count = model.bodies.len();
    if count < 2 || model.user_system.is_some() {
        return absolute("no tree of bodies");
    }
    if count > MAX_RELATIVE_BODIES {
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
        .any(|body| body.prescribed || lacks_inertia(body))
        || !model.motions.is_empty()
    {
        return absolute("prescribed motions or bodies without inertia");
    }
    let is_contact = |kind: &ForceKind| matches!(kind, ForceKind::Contact(_) | ForceKind::Tyre(_));
    let has_limits_or_friction = (model.joints.iter()).any(|joint| {
        joint.limits.iter().any(Option::is_some) || joint.friction.iter().any(Option::is_some)
    });
    if has_limits_or_friction || model.forces.iter().any(|force| is_contact(&force.kind)) {
        return absolute("contacts, limits or friction");
    }
    if model.joints.iter().any(|joint| joint.armature != [0.0; 3]) {
        return absolute("armatures are not measured");
    }
    if model.solver.integrator == IntegratorName::Vsa23 {
        return absolute("measured with HHT only");
    }
    FormulationChoice {
        formulation: FormulationName::Relative,
        why: "a tree of pins in space",
    }
}

/// Whether the mass or a moment of inertia is zero.
fn lacks_inertia(body: &Body) -> bool {
    !(body.mass > 0.0 && body.inertia[..3].iter().all(|moment| *moment > 0.0))
}

/// Whether the joints form a tree with the ground as root: as many joints as bodies, and no loop.
fn is_tree(model: &Model) -> bool {
    let count = model.bodies.len();
    if model.joints.len() != count {
        return false;
    }
    let node = |body: Option<usize>| body.unwrap_or(count);
    // Connected bodies have the same group number.
    let mut group: Vec<usize> = (0..=count).collect();
    for joint in &model.joints {
        let [a, b] = joint.bodies.map(|body| group[node(body)]);
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
