//! Bodies that are moved from outside, and loops that equalities close.

use std::fs;

use biela::import::{ImportOptions, import};
use biela::model::{JointKind, JointPlacement, Output, Sensor, portable};
use biela::{Instance, Model};
use nalgebra::{Rotation3, Vector3};

use super::host::Scratch;
use super::oracle::{FORMULATIONS, value};

fn imported(name: &str, text: &str, keyframe: Option<&str>) -> Model {
    let scratch = Scratch::new(&format!("driven_{name}"));
    let path = scratch.path().join("model.xml");
    fs::write(&path, text).unwrap();
    let options = ImportOptions {
        keyframe: keyframe.map(str::to_owned),
        ..ImportOptions::default()
    };
    let imported = import(&path, &options).unwrap_or_else(|e| panic!("{e}"));
    let lost = imported.report.lost_dynamics();
    assert!(lost.is_empty(), "{lost:#?}");
    let read = Model::from_text(&imported.text, "model.toml").unwrap();
    assert!(
        portable::same_meaning(&read, &imported.model),
        "{}",
        imported.text
    );
    imported.model
}

/// A hand from outside that carries a box, with a rod on a pin in the box, and a mark that nothing hangs on.
const HAND: &str = r#"<mujoco>
  <worldbody>
    <body name="hand" mocap="true" pos="0.1 0.2 1" euler="0 0 30"><geom size="0.05"/></body>
    <body name="mark" mocap="true" pos="3 0 0"><geom size="0.01"/></body>
    <body name="box" pos="0.1 0.2 1" euler="0 0 30">
      <freejoint/>
      <geom type="box" size="0.1 0.2 0.05" pos="0 0 -0.05"/>
      <body name="rod" pos="0.1 0 -0.1"><joint name="pin" axis="0 1 0" damping="0.1"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.02"/></body>
    </body>
  </worldbody>
  <equality><weld body1="hand" body2="box"/></equality>
  <keyframe><key name="other" qpos="0.5 0 1 1 0 0 0 0.2" mpos="0.5 0 1 3 0 0" mquat="1 0 0 0 1 0 0 0"/></keyframe>
</mujoco>
"#;

#[test]
fn a_mocap_body_moves_what_hangs_on_it() {
    let model = imported("hand", HAND, None);
    let names: Vec<&str> = model.inputs.iter().map(|i| i.name.as_str()).collect();
    let wanted = ["x", "y", "z", "yaw", "pitch", "roll"].map(|name| format!("hand_{name}"));
    assert_eq!(names, wanted);
    let starts: Vec<f64> = model.inputs.iter().map(|input| input.start).collect();
    assert_eq!(starts, [0.1, 0.2, 1.0, 0.0, 0.0, 0.0]);
    let mut rods = vec![];
    for formulation in FORMULATIONS {
        let mut model = model.clone();
        model.solver.formulation = formulation;
        let mut instance =
            Instance::from_model(model).unwrap_or_else(|e| panic!("{formulation:?}: {e}"));
        instance.initialize(0.0, 1.0, 0.0).unwrap();
        let references: Vec<u32> = wanted.iter().map(|n| instance.find(n).unwrap()).collect();
        let at = |t: f64| {
            let s = t * t;
            [
                0.1 + s,
                0.2 - 0.5 * s,
                1.0 + 0.2 * s,
                0.8 * s,
                -0.4 * s,
                0.6 * s,
            ]
        };
        for k in 0..50 {
            let t = 0.01 * f64::from(k);
            instance.set_real(&references, &at(t + 0.01)).unwrap();
            instance
                .step(t, 0.01)
                .unwrap_or_else(|e| panic!("{formulation:?}: {e}"));
        }
        // The box is where the hand is: R = Rz(yaw) Ry(pitch) Rx(roll) Rz(30°).
        let [x, y, z, yaw, pitch, roll] = at(0.5);
        let about = |axis, angle| Rotation3::from_axis_angle(&axis, angle);
        let turn = about(Vector3::z_axis(), yaw)
            * about(Vector3::y_axis(), pitch)
            * about(Vector3::x_axis(), roll)
            * about(Vector3::z_axis(), 30f64.to_radians());
        for (name, expected) in [("box_x", x), ("box_y", y), ("box_z", z)] {
            let found = value(&mut instance, name);
            assert!(
                (found - expected).abs() < 1e-10,
                "{formulation:?} {name}: {found} {expected}"
            );
        }
        let q = nalgebra::UnitQuaternion::from_rotation_matrix(&turn);
        let found = ["box_qw", "box_qx", "box_qy", "box_qz"].map(|n| value(&mut instance, n));
        let product = q.w * found[0] + q.i * found[1] + q.j * found[2] + q.k * found[3];
        // 1 − |q·p| is an eighth of the square of the angle between them; in double precision an angle of 3e-8 is not seen.
        assert!(
            (product.abs() - 1.0).abs() < 1e-15,
            "{formulation:?}: {product}"
        );
        rods.push(value(&mut instance, "pin_position"));
    }
    // The rod has been set swinging, in all formulations nearly alike: the hand jumps by up to 1 cm at each communication point, and where a
    // jump leaves the rod hangs on the metric in which the equations are closed (masses, or joint coordinates).
    assert!(rods[0].abs() > 0.01, "{rods:?}");
    assert!(
        rods.iter().all(|rod| (rod - rods[0]).abs() < 2e-3),
        "{rods:?}"
    );
}

#[test]
fn a_keyframe_places_mocap_bodies() {
    let model = imported("hand_keyframe", HAND, Some("other"));
    let starts: Vec<f64> = model.inputs.iter().map(|input| input.start).collect();
    let expected = [0.5, 0.0, 1.0, -30f64.to_radians(), 0.0, 0.0];
    for (found, expected) in starts.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-14, "{starts:?}");
    }
    let mut instance = Instance::from_model(model).unwrap();
    instance.initialize(0.0, 1.0, 0.0).unwrap();
    assert!((value(&mut instance, "box_x") - 0.5).abs() < 1e-10);
    assert!((value(&mut instance, "box_qw") - 1.0).abs() < 1e-10);
}

/// A four-bar in space and a second loop through the ground.
const LOOPS: &str = r#"<mujoco>
  <compiler angle="radian"/>
  <option gravity="2 0 -9"/>
  <worldbody>
    <body name="crank"><joint name="a" axis="0 1 0" damping="0.01"/><geom type="capsule" fromto="0 0 0 0 0 0.2" size="0.02"/>
      <body name="coupler" pos="0 0 0.2"><joint name="b" type="ball"/><geom type="capsule" fromto="0 0 0 0.5 0.1 0.1" size="0.02"/></body>
    </body>
    <body name="rocker" pos="0.5 0.1 0"><joint name="c" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 0.3" size="0.02"/>
      <body name="tip" pos="0 0 0.3"><geom size="0.03"/></body></body>
    <body name="swing" pos="0 1 1"><freejoint/><geom type="box" size="0.2 0.05 0.02"/></body>
  </worldbody>
  <equality>
    <connect body1="coupler" body2="tip" anchor="0.5 0.1 0.1"/>
    <connect body1="swing" anchor="0.2 0 0"/>
  </equality>
</mujoco>
"#;

#[test]
fn connected_loops_stay_shut() {
    let mut model = imported("loops", LOOPS, None);
    // A sensor at both ends of each connection.
    let ends: Vec<_> = (model.joints.iter())
        .filter(|joint| joint.kind == JointKind::Spherical && joint.name.starts_with("connect"))
        .map(|joint| match &joint.frame {
            JointPlacement::BodyFrames(frames) => (joint.bodies, *frames),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(ends.len(), 2);
    for (k, (bodies, frames)) in ends.iter().enumerate() {
        for side in 0..2 {
            let name = format!("end{k}{side}");
            for axis in ["x", "y", "z"] {
                model.outputs.push(Output {
                    name: format!("{name}_{axis}"),
                    source: format!("{name}.{axis}"),
                    unit: None,
                    text_position: Default::default(),
                });
            }
            model.sensors.push(Sensor {
                name,
                body: bodies[side],
                point: frames[side].point,
                text_position: Default::default(),
            });
        }
    }
    for formulation in FORMULATIONS {
        let mut model = model.clone();
        model.solver.formulation = formulation;
        let mut instance =
            Instance::from_model(model).unwrap_or_else(|e| panic!("{formulation:?}: {e}"));
        instance.initialize(0.0, 1.0, 0.0).unwrap();
        let start = value(&mut instance, "a_position");
        for step in 0..10 {
            let t = 0.1 * f64::from(step);
            instance
                .step(t, 0.1)
                .unwrap_or_else(|e| panic!("{formulation:?}: {e}"));
            for k in 0..2 {
                for axis in ["x", "y", "z"] {
                    let [a, b] =
                        [0, 1].map(|side| value(&mut instance, &format!("end{k}{side}_{axis}")));
                    assert!(
                        (a - b).abs() <= 1e-10,
                        "{formulation:?} {k} {axis}: {:.1e}",
                        a - b
                    );
                }
            }
        }
        let moved = (value(&mut instance, "a_position") - start).abs();
        assert!(moved > 0.1, "{formulation:?}: {moved}");
    }
}
