//! Armature for natural coordinates, whose mass matrix is constant: a rotor on the ground for each coordinate that has one, coupled to
//! it. Its kinetic energy ½ J ċ² is that of the armature, and on the ground it feels nothing else.

use super::absolute::geometry::RelativeCoordinate as _;
use super::absolute::sparsity::gather;
use super::absolute::{Absolute, MechanismGeometry};
use crate::error::{Error, Result};
use crate::model::{
    Body, Coupling, CouplingLaw, Joint, JointCoordinate, JointFrame, JointKind, JointPlacement,
    Model,
};

/// The same mechanism with rotors instead of armatures, after all other bodies and joints.
pub fn with_rotors<W: MechanismGeometry<N>, const N: usize>(model: &Model) -> Result<Model> {
    let mut expanded = model.clone();
    if model.joints.iter().all(|joint| joint.armature == [0.0; 3]) {
        return Ok(expanded);
    }
    let spherical = |joint: &&Joint| joint.kind == JointKind::Spherical && joint.armature[0] != 0.0;
    if let Some(joint) = model.joints.iter().find(spherical) {
        return Err(Error::Argument {
            name: "solver.formulation".into(),
            value: "\"global\"".into(),
            expected: format!(
                "another one: the armature of the spherical joint \"{}\" has no constant mass matrix in natural coordinates",
                joint.name
            ),
        });
    }
    let inner = Absolute::<W, N>::new(model)?;
    let (q, v) = &inner.initial;
    for (index, joint) in model.joints.iter().enumerate() {
        expanded.joints[index].armature = [0.0; 3];
        for (k, &inertia) in joint.armature.iter().enumerate() {
            if inertia == 0.0 {
                continue;
            }
            let coordinate = &inner.joints[index].coordinates[k];
            let (_, g) = coordinate.value(&mut W::poses(q));
            let rate = gather(coordinate.bodies(), &g, v);
            let of = JointCoordinate {
                joint: index,
                index: k,
            };
            add(&mut expanded, of, inertia, rate);
        }
    }
    Ok(expanded)
}

fn add(model: &mut Model, of: JointCoordinate, inertia: f64, rate: f64) {
    let name = format!("{}.armature{}", model.joints[of.joint].name, of.index + 1);
    let (body, rotor) = (model.bodies.len(), model.joints.len());
    model.bodies.push(Body {
        name: name.clone(),
        inertia: [inertia, inertia, inertia, 0.0, 0.0, 0.0],
        angular_velocity: [0.0, 0.0, rate],
        ..Body::default()
    });
    let frame = JointFrame {
        point: [0.0; 3],
        axis: [0.0, 0.0, 1.0],
        reference_direction: [0.0; 3],
    };
    model.joints.push(Joint {
        name: name.clone(),
        kind: JointKind::Revolute,
        bodies: [None, Some(body)],
        frame: JointPlacement::BodyFrames([frame, frame]),
        ..Joint::default()
    });
    let turning = JointCoordinate {
        joint: rotor,
        index: 0,
    };
    model.joints.push(Joint {
        name,
        kind: JointKind::Coupling,
        frame: JointPlacement::None,
        coupling: Some(Coupling {
            coordinates: [of, turning],
            law: CouplingLaw::Ratio(1.0),
            summands: vec![],
        }),
        ..Joint::default()
    });
}
