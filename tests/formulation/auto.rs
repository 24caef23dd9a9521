//! What `formulation = "auto"` chooses, why, and that it changes the coordinates only.

use crate::rig::{Rig, drawn, rod, world};
use biela::formulation::selection::by_topology;
use biela::formulation::{build, resolved_formulation};
use biela::model::quantity::BodyField;
use biela::model::{FormulationName, IntegratorName, JointKind, JointLimits, LimitLaw, Model};

const RELATIVE: FormulationName = FormulationName::Relative;
const ABSOLUTE: FormulationName = FormulationName::Absolute;

/// Rods of 1 m hanging on each other by pins about axes at right angles in turn.
fn pins(dimension: usize, n: usize) -> Model {
    let mut model = world(dimension, 0.0);
    model.gravity = [0.0, -9.81, 0.0];
    for k in 0..n {
        let [near, far] = [k, k + 1].map(|k| [0.8 * k as f64, -0.6 * k as f64, 0.0]);
        model.bodies.push(rod(&format!("rod{k}"), near, far, 1.0));
        let axis = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]][if dimension == 3 { k % 2 } else { 0 }];
        let bodies = [k.checked_sub(1), Some(k)];
        model.joints.push(drawn(
            &format!("pin{k}"),
            JointKind::Revolute,
            bodies,
            near,
            axis,
        ));
    }
    model
}

fn with(mut model: Model, change: impl FnOnce(&mut Model)) -> Model {
    change(&mut model);
    model
}

fn file(name: &str) -> Model {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    Model::from_file(&folder.join(name)).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn relative_coordinates_are_chosen_for_trees_of_pins_in_space_and_nowhere_else() {
    let pin = |name: &str, bodies, at| {
        let axis = [0.0, 0.0, 1.0];
        drawn(name, JointKind::Revolute, bodies, at, axis)
    };
    for (model, expected, why) in [
        (pins(3, 2), RELATIVE, "a tree of pins in space"),
        (pins(3, 32), RELATIVE, "a tree of pins in space"),
        (pins(3, 33), ABSOLUTE, "more than 32 bodies"),
        (pins(3, 1), ABSOLUTE, "no tree of bodies"),
        (pins(2, 4), ABSOLUTE, "cheaper in the plane"),
        (
            with(pins(3, 4), |m| m.joints[2].kind = JointKind::Spherical),
            ABSOLUTE,
            "not all joints are pins",
        ),
        // A loop, a body that hangs on nothing, and both at once: as many joints as bodies.
        (
            with(pins(3, 4), |m| {
                m.joints
                    .push(pin("loop", [None, Some(3)], [3.2, -2.4, 0.0]))
            }),
            ABSOLUTE,
            "joints do not make a tree",
        ),
        (
            with(pins(3, 4), |m| {
                m.joints.pop();
            }),
            ABSOLUTE,
            "joints do not make a tree",
        ),
        (
            with(pins(3, 4), |m| {
                m.joints.pop();
                m.joints
                    .push(pin("loop", [None, Some(2)], [2.4, -1.8, 0.0]));
            }),
            ABSOLUTE,
            "joints do not make a tree",
        ),
        (
            with(pins(3, 4), |m| m.bodies[1].inertia[0] = 0.0),
            ABSOLUTE,
            "prescribed motions or bodies without inertia",
        ),
        (
            with(pins(3, 4), |m| m.bodies[3].prescribed = true),
            ABSOLUTE,
            "prescribed motions or bodies without inertia",
        ),
        (
            with(pins(3, 4), |m| {
                m.joints[0].limits = vec![Some(JointLimits {
                    range: [-1.0, 1.0],
                    stop: LimitLaw::Compliant {
                        stiffness: 1e3,
                        damping: 1.0,
                    },
                })]
            }),
            ABSOLUTE,
            "contacts, limits or friction",
        ),
        (
            with(pins(3, 4), |m| m.solver.integrator = IntegratorName::Vsa23),
            ABSOLUTE,
            "measured with HHT only",
        ),
        (
            file("double_four_bar.toml"),
            ABSOLUTE,
            "cheaper in the plane",
        ),
        (file("andrews.toml"), ABSOLUTE, "cheaper in the plane"),
        (file("stewart.toml"), ABSOLUTE, "no tree of bodies"),
        (
            file("spatial_slider_crank.toml"),
            ABSOLUTE,
            "not all joints are pins",
        ),
    ] {
        let name = format!("{} with {} bodies", model.name, model.bodies.len());
        let choice = by_topology(&model);
        assert_eq!((choice.formulation, choice.why), (expected, why), "{name}");
        assert_eq!(resolved_formulation(&model), expected, "{name}");
    }
}

#[test]
fn what_is_asked_for_is_not_overruled() {
    let mut model = pins(3, 4);
    for formulation in [ABSOLUTE, FormulationName::Hybrid] {
        model.solver.formulation = formulation;
        assert_eq!(resolved_formulation(&model), formulation);
    }
}

#[test]
fn auto_moves_as_absolute_coordinates_do() {
    let mut auto = pins(3, 4);
    auto.solver.tolerance = 1e-8;
    let mut absolute = auto.clone();
    absolute.solver.formulation = ABSOLUTE;
    // Four pins: four coordinates instead of twenty-four.
    assert_eq!(build(&auto).unwrap().dimensions().nv, 4);
    assert_eq!(build(&absolute).unwrap().dimensions().nv, 24);
    let [mut a, mut b] = [&auto, &absolute].map(Rig::new);
    a.to(1.0);
    b.to(1.0);
    let moved = (a.of_body(3, BodyField::Position)
        - Rig::new(&auto).of_body(3, BodyField::Position))
    .norm();
    assert!(moved > 0.5, "{moved}");
    for body in 0..4 {
        let apart =
            (a.of_body(body, BodyField::Position) - b.of_body(body, BodyField::Position)).norm();
        // Some 300 steps of 1e-8 each at most, and the corrector leaves a small part of it.
        assert!(apart < 3e-6, "{body}: {apart:e}");
    }
}
