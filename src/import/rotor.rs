//! Rotor inertia of a joint coordinate (armature): a rotor on the ground, coupled to the coordinate.
//!
//! The kinetic energy ½ J ṡ² of the rotor is that of the armature, and a rotor whose bearing is on the ground feels nothing else: the
//! motion is exactly that of a mass matrix with J added at the coordinate.

use super::draft::{Draft, NamedCoordinate};
use crate::model::{
    Body, Coupling, CouplingLaw, Joint, JointCoordinate, JointFrame, JointKind, JointPlacement,
};

/// Adds a rotor of inertia `armature` (kg m² or kg) to a coordinate.
pub fn add(draft: &mut Draft, of: &NamedCoordinate, armature: f64) {
    let name = draft.element_name("rotor", &format!("{}_rotor", of.name), None);
    let bearing = draft.element_name("joint", &format!("{name}_bearing"), None);
    let gear = draft.element_name("coupling", &format!("{name}_gear"), None);
    draft
        .comments
        .insert(name.clone(), format!("armature of {}", of.name));
    let body = draft.model.bodies.len();
    let (mass, inertia) = match of.is_angle {
        true => (0.0, [armature, armature, armature, 0.0, 0.0, 0.0]),
        false => (armature, [0.0; 6]),
    };
    draft.model.bodies.push(Body {
        name,
        mass,
        inertia,
        ..Body::default()
    });
    // A slide is perpendicular to gravity, so that the rotor has no weight along it.
    let gravity = draft.model.gravity;
    let level = (0..3).find(|k| gravity[*k] == 0.0).unwrap_or(0);
    let axis: [f64; 3] = std::array::from_fn(|k| f64::from(u8::from(k == level)));
    let across: [f64; 3] = std::array::from_fn(|k| f64::from(u8::from(k == (level + 1) % 3)));
    let frame = JointFrame {
        point: [0.0; 3],
        axis,
        reference_direction: across,
    };
    let rotor = draft.model.joints.len();
    draft.model.joints.push(Joint {
        name: bearing,
        kind: match of.is_angle {
            true => JointKind::Revolute,
            false => JointKind::Prismatic,
        },
        bodies: [None, Some(body)],
        frame: JointPlacement::BodyFrames([frame, frame]),
        ..Joint::default()
    });
    draft.model.joints.push(Joint {
        name: gear,
        kind: JointKind::Coupling,
        frame: JointPlacement::None,
        coupling: Some(Coupling {
            coordinates: [
                of.coordinate,
                JointCoordinate {
                    joint: rotor,
                    index: 0,
                },
            ],
            law: CouplingLaw::Ratio(1.0),
        }),
        ..Joint::default()
    });
}
