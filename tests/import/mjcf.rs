//! MJCF: small files with known answers.

use std::fs;

use biela::import::{ImportOptions, Imported, import};
use biela::model::{Characteristic, ForceKind, JointKind, portable};
use biela::{Instance, Model};

use super::host::Scratch;

const WALKER: &str = r#"<mujoco model="walker">
  <compiler angle="degree" inertiafromgeom="true"/>
  <option gravity="0 0 -10" timestep="0.01"/>
  <default>
    <joint damping="0.5" armature="0.02"/>
    <geom density="500"/>
    <default class="foot"><joint damping="0.1" stiffness="3" springref="30"/></default>
    <motor ctrlrange="-1 1" ctrllimited="true"/>
  </default>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <light pos="0 0 3"/>
    <body name="torso" pos="0 0 1">
      <joint name="x" type="slide" axis="1 0 0" armature="0" damping="0"/>
      <joint name="z" type="slide" axis="0 0 1" ref="1" armature="0" damping="0"/>
      <joint name="tilt" type="hinge" axis="0 1 0" armature="0" damping="0"/>
      <geom type="box" size="0.1 0.2 0.3"/>
      <frame pos="0 0 -0.3" euler="0 0 90">
        <body name="thigh" childclass="foot">
          <joint name="hip" axis="0 1 0" range="-90 90"/>
          <geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.05"/>
          <body name="head" pos="0 0 -0.5"><geom type="sphere" size="0.1" mass="2"/></body>
        </body>
      </frame>
    </body>
    <body name="ball" pos="3 0 1"><freejoint/><geom size="0.1"/></body>
  </worldbody>
  <actuator>
    <motor name="hip_motor" joint="hip" gear="20"/>
    <position name="servo" joint="tilt" kp="7" kv="2"/>
  </actuator>
  <sensor><jointpos joint="hip"/></sensor>
</mujoco>
"#;

fn imported(name: &str, text: &str) -> biela::Result<Imported> {
    let scratch = Scratch::new(&format!("mjcf_{name}"));
    let path = scratch.path().join("model.xml");
    fs::write(&path, text).unwrap();
    import(&path, &ImportOptions::default())
}

#[test]
fn bodies_joints_and_classes() {
    let Imported {
        model,
        text,
        report,
    } = imported("walker", WALKER).unwrap();
    let read = Model::from_text(&text, "model.toml").unwrap();
    assert!(portable::same_meaning(&read, &model));
    assert_eq!(model.gravity, [0.0, 0.0, -10.0]);
    let names: Vec<&str> = model.bodies.iter().map(|b| b.name.as_str()).collect();
    // The head has no joint and belongs to the thigh.
    assert_eq!(names, ["torso", "thigh", "ball"]);
    assert_eq!(model.joints[1].armature, [0.02, 0.0, 0.0]);
    // Density 500, volume 8 · 0.1 · 0.2 · 0.3.
    assert!((model.bodies[0].mass - 24.0).abs() < 1e-12);
    assert!((model.bodies[2].mass - 500.0 * 4.0 / 3.0 * std::f64::consts::PI * 1e-3).abs() < 1e-12);
    assert_eq!(model.joints[0].kind, JointKind::Planar);
    assert_eq!(model.joints[1].kind, JointKind::Revolute);
    // The frame turns the axis y of the thigh to −x of the torso.
    let spring = model
        .forces
        .iter()
        .find(|f| f.name == "hip_spring")
        .unwrap();
    let ForceKind::SpringDamper(spring) = &spring.kind else {
        panic!()
    };
    assert_eq!(spring.stiffness, Characteristic::Linear(3.0));
    assert_eq!(spring.damping, Characteristic::Linear(0.1));
    assert!((spring.length - 30f64.to_radians()).abs() < 1e-15);
    assert!(
        report.lost_dynamics().is_empty(),
        "{:?}",
        report.lost_dynamics()
    );
}

#[test]
fn coordinates_are_those_of_the_file() {
    let model = imported("coordinates", WALKER).unwrap().model;
    let mut instance = Instance::from_model(model).unwrap();
    instance.initialize(0.0, 1.0, 0.0).unwrap();
    let mut get = |name: &str| {
        let mut x = [0.0];
        let reference = instance.find(name).unwrap();
        instance.get_real(&[reference], &mut x).unwrap();
        x[0]
    };
    // The reference is the coordinate in the pose that is drawn.
    for (name, expected) in [("x", 0.0), ("z", 1.0), ("tilt", 0.0), ("hip", 0.0)] {
        assert!(
            (get(&format!("{name}_position")) - expected).abs() < 1e-12,
            "{name}"
        );
    }
    assert!((get("ball_x") - 3.0).abs() < 1e-12);
}

#[test]
fn equalities_close_loops() {
    let text = WALKER.replace(
        "<sensor>",
        r#"<equality>
            <connect body1="head" body2="ball" anchor="0 0 0"/>
            <joint joint1="x" joint2="hip" polycoef="0.1 2 0 0 0"/>
           </equality><sensor>"#,
    );
    let Imported { model, report, .. } = imported("loops", &text).unwrap();
    let kinds: Vec<JointKind> = model.joints.iter().map(|j| j.kind).collect();
    assert_eq!(
        kinds.iter().filter(|k| **k == JointKind::Spherical).count(),
        1
    );
    assert!(report.text().contains("soft"), "{}", report.text());
}

#[test]
fn includes_stay_in_their_folder_and_do_not_go_in_circles() {
    let scratch = Scratch::new("mjcf_include");
    let path = scratch.path().join("model.xml");
    let part = scratch.path().join("part.xml");
    let include =
        |file: &str| WALKER.replace("<sensor>", &format!("<include file=\"{file}\"/><sensor>"));
    let options = ImportOptions::default();
    fs::write(&part, "<mujoco><option gravity=\"0 0 -5\"/></mujoco>").unwrap();
    fs::write(&path, include("part.xml")).unwrap();
    assert_eq!(
        import(&path, &options).unwrap().model.gravity,
        [0.0, 0.0, -5.0]
    );
    fs::write(&part, "<mujoco><include file=\"model.xml\"/></mujoco>").unwrap();
    let words = import(&path, &options).unwrap_err().to_string();
    assert!(
        words.contains("part.xml:1:9") && words.contains("includes itself"),
        "{words}"
    );
    for file in ["../../../../etc/hostname", "/etc/hostname"] {
        fs::write(&path, include(file)).unwrap();
        let words = import(&path, &options).unwrap_err().to_string();
        assert!(
            words.contains("outside the folder") && words.contains("model.xml:3"),
            "{words}"
        );
    }
}

#[test]
fn mistakes_have_a_place() {
    for (from, to, part) in [
        ("gravity=\"0 0 -10\"", "gravity=\"0 0\"", "expected 3"),
        ("size=\"0.1 0.2 0.3\"", "size=\"0.1 inf 0.3\"", "finite"),
        (
            "childclass=\"foot\"",
            "childclass=\"hand\"",
            "no default class",
        ),
        ("type=\"hinge\"", "type=\"magic\"", "magic"),
        ("angle=\"degree\"", "angle=\"grad\"", "radian or degree"),
        (
            "fromto=\"0 0 0 0 0 -0.5\"",
            "fromto=\"0 0 0 0 0 0\"",
            "same",
        ),
    ] {
        let text = WALKER.replacen(from, to, 1);
        assert_ne!(text, WALKER, "{from}");
        let words = imported("mistake", &text).unwrap_err().to_string();
        assert!(
            words.contains("model.xml:") && words.contains(part),
            "{part}: {words}"
        );
    }
}

/// Three hinges at a point, two slides, actuators with ranges, a tendon, a floor.
const DOLL: &str = r#"<mujoco model="doll">
  <compiler angle="degree"/>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1" friction="0.7"/>
    <body name="torso" pos="0 0 1">
      <joint name="x" type="slide" axis="1 0 0"/>
      <joint name="z" type="slide" axis="0 0 1"/>
      <geom type="box" size="0.1 0.2 0.3"/>
      <body name="leg" pos="0 0.2 -0.3">
        <joint name="hip_x" axis="1 0 0" range="-25 5" armature="0.01"/>
        <joint name="hip_z" axis="0 0 1" range="-60 35" armature="0.01"/>
        <joint name="hip_y" axis="0 1 0" range="-110 20" armature="0.01"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.05"/>
        <body name="foot" pos="0 0 -0.3">
          <joint name="ankle" axis="0 1 0" range="-50 50"/>
          <geom type="sphere" size="0.06"/>
        </body>
      </body>
    </body>
  </worldbody>
  <tendon>
    <fixed name="cord" stiffness="20" damping="1" springlength="0.1">
      <joint joint="hip_y" coef="0.5"/>
      <joint joint="ankle" coef="-2"/>
    </fixed>
    <fixed name="idle"><joint joint="ankle" coef="1"/></fixed>
  </tendon>
  <actuator>
    <motor name="push" joint="x" gear="-20" ctrlrange="-1 1" forcerange="-0.5 0.8"/>
    <position name="bend" joint="ankle" kp="7" kv="2" gear="3"/>
    <motor name="pull" tendon="cord"/>
  </actuator>
</mujoco>
"#;

fn get(instance: &mut Instance, name: &str) -> f64 {
    let mut x = [0.0];
    let reference = instance.find(name).unwrap();
    instance.get_real(&[reference], &mut x).unwrap();
    x[0]
}

#[test]
fn several_joints_of_a_body_need_no_bodies_between_them() {
    let Imported {
        model,
        text,
        report,
    } = imported("doll", DOLL).unwrap();
    let read = Model::from_text(&text, "model.toml").unwrap();
    assert!(portable::same_meaning(&read, &model), "{text}");
    assert!(report.lost_dynamics().is_empty(), "{}", report.text());
    let kinds: Vec<JointKind> = model.joints.iter().map(|j| j.kind).collect();
    use JointKind::{Coupling, Gimbal, Planar, Prismatic, Revolute};
    assert_eq!(kinds, [Planar, Gimbal, Revolute, Prismatic, Coupling]);
    // x, z, y are left-handed.
    assert!(model.joints[1].mirrored);
    assert_eq!(model.joints[1].armature, [0.01; 3]);
    assert_eq!(model.motions.len(), 1, "the third coordinate of the plane");
    // The length of the tendon is the sum of the joint coordinates.
    let coupling = model.joints[4].coupling.as_ref().unwrap();
    assert_eq!(coupling.summands.len(), 1);
    assert_eq!(coupling.summands[0].1, -2.0);
    // A middle hinge without limits may go through the singular position: a chain of hinges.
    let free = DOLL.replace(" range=\"-60 35\"", "");
    let model = imported("doll_free", &free).unwrap().model;
    assert!(model.joints.iter().all(|joint| joint.kind != Gimbal));
}

#[test]
fn actuators_have_gain_bias_and_ranges() {
    let model = imported("doll_actuators", DOLL).unwrap().model;
    let servo = |name: &str| {
        let force = model.forces.iter().find(|f| f.name == name).unwrap();
        match force.kind {
            ForceKind::Servo(servo) => servo,
            _ => panic!("{name}"),
        }
    };
    let push = servo("push");
    assert_eq!((push.gain, push.bias), (-20.0, [0.0; 3]));
    assert_eq!(push.control_limits, Some([-1.0, 1.0]));
    // The range is that of the force before the gear.
    assert_eq!(push.limits, Some([-16.0, 10.0]));
    let bend = servo("bend");
    assert_eq!((bend.gain, bend.bias), (21.0, [0.0, -63.0, -18.0]));
    assert_eq!((bend.control_limits, bend.limits), (None, None));
    let names: Vec<&str> = model
        .inputs
        .iter()
        .map(|input| input.name.as_str())
        .collect();
    assert_eq!(names, ["push", "bend", "pull"]);
}

#[test]
fn a_tendon_follows_its_joints_and_pulls_on_them() {
    let text = DOLL.replace(" range=\"-50 50\"", "");
    let mut instance = Instance::from_model(imported("doll_tendon", &text).unwrap().model).unwrap();
    instance.initialize(0.0, 1.0, 0.0).unwrap();
    let pull = instance.find("pull").unwrap();
    instance.set_real(&[pull], &[3.0]).unwrap();
    instance.step(0.0, 0.05).unwrap();
    let length = get(&mut instance, "cord_position");
    let sum =
        0.5 * get(&mut instance, "hip_y_position") - 2.0 * get(&mut instance, "ankle_position");
    assert!((length - sum).abs() < 1e-10, "{length} {sum}");
    assert!(length.abs() > 1e-3);
}

#[test]
fn contacts_with_the_floor_are_made_on_request() {
    let scratch = Scratch::new("mjcf_contact");
    let path = scratch.path().join("model.xml");
    let (before, rest) = DOLL.split_once("<tendon>").unwrap();
    let (_, after) = rest.split_once("</tendon>").unwrap();
    let text = format!("{before}{after}").replace("<motor name=\"pull\" tendon=\"cord\"/>", "");
    fs::write(&path, text).unwrap();
    let options = ImportOptions {
        contact: true,
        ..ImportOptions::default()
    };
    let Imported { model, text, .. } = import(&path, &options).unwrap();
    let read = Model::from_text(&text, "model.toml").unwrap();
    assert!(portable::same_meaning(&read, &model), "{text}");
    // Eight corners, two ends, a ball.
    let is_contact = |kind: &ForceKind| matches!(kind, ForceKind::Contact(_));
    let contacts: Vec<&str> = (model.forces.iter())
        .filter(|f| is_contact(&f.kind))
        .map(|f| f.name.as_str())
        .collect();
    assert_eq!(contacts.len(), 11, "{contacts:?}");
    let mut instance = Instance::from_model(model).unwrap();
    instance.initialize(0.0, 1.0, 0.0).unwrap();
    instance.step(0.0, 0.6).unwrap();
    // It falls until the foot, 0.4 m high with a radius of 0.06 m, stands on the floor.
    let z = get(&mut instance, "z_position");
    assert!((z + 0.34).abs() < 1e-6, "{z}");
    assert!(
        imported("doll_free_fall", DOLL)
            .unwrap()
            .model
            .forces
            .iter()
            .all(|f| !is_contact(&f.kind))
    );
}

fn imported_with(name: &str, text: &str, options: &ImportOptions) -> Imported {
    let scratch = Scratch::new(&format!("mjcf_{name}"));
    let path = scratch.path().join("model.xml");
    fs::write(&path, text).unwrap();
    import(&path, options).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn a_keyframe_has_rates_and_controls() {
    let text = WALKER.replace(
        "<sensor>",
        r#"<keyframe><key name="run" qpos="0.1 1.2 0.3 0.4 3 0 2 1 0 0 0" qvel="1 -2 0.5 0.7 0 0 1 0.1 0.2 0.3"
             ctrl="0.6 -0.2"/></keyframe><sensor>"#,
    );
    let options = ImportOptions {
        keyframe: Some("run".to_owned()),
        ..ImportOptions::default()
    };
    let model = imported_with("keyframe", &text, &options).model;
    let starts: Vec<f64> = model.inputs.iter().map(|input| input.start).collect();
    assert_eq!(starts, [0.6, -0.2]);
    let mut instance = Instance::from_model(model).unwrap();
    instance.initialize(0.0, 1.0, 0.0).unwrap();
    for (name, expected) in [
        ("x_position", 0.1),
        ("z_position", 1.2),
        ("tilt_position", 0.3),
        ("hip_position", 0.4),
        ("x_speed", 1.0),
        ("z_speed", -2.0),
        ("tilt_speed", 0.5),
        ("hip_speed", 0.7),
        ("ball_z", 2.0),
    ] {
        let found = get(&mut instance, name);
        // The start is closed to this.
        assert!((found - expected).abs() < 1e-10, "{name} {found}");
    }
    let ball = instance.model().bodies.iter().find(|b| b.name == "ball");
    assert_eq!(ball.unwrap().velocity, [0.0, 0.0, 1.0]);
}

#[test]
fn equalities_of_one_joint_and_of_sites() {
    let text = WALKER.replace(
        "<sensor>",
        r#"<equality>
            <joint joint1="z" polycoef="0.2 0 0 0 0"/>
            <connect site1="tip" site2="mark"/>
           </equality><sensor>"#,
    );
    let text = text.replace(
        "<geom type=\"sphere\" size=\"0.1\" mass=\"2\"/>",
        "<geom type=\"sphere\" size=\"0.1\" mass=\"2\"/><site name=\"tip\" pos=\"0 0 -0.1\"/>",
    );
    let text = text.replace(
        "<freejoint/>",
        "<freejoint/><site name=\"mark\" pos=\"0 0 0.1\"/>",
    );
    let Imported { model, report, .. } = imported("sites", &text).unwrap();
    assert!(report.lost_dynamics().is_empty(), "{}", report.text());
    // The coordinate of the drawn pose is 1.
    assert_eq!(model.motions.len(), 1);
    let connect = (model.joints.iter()).find(|j| j.kind == JointKind::Spherical);
    let biela::model::JointPlacement::BodyFrames(frames) = &connect.unwrap().frame else {
        panic!()
    };
    // The head is merged with the thigh, half a metre below its frame.
    assert_eq!(frames[0].point, [0.0, 0.0, -0.6]);
    assert_eq!(frames[1].point, [0.0, 0.0, 0.1]);
}

#[test]
fn what_changes_the_motion_is_told_as_such() {
    for (from, to) in [
        ("<sensor>", "<option density=\"1.2\"/><sensor>"),
        ("<freejoint/>", "<joint type=\"free\" frictionloss=\"1\"/>"),
        (
            "<geom size=\"0.1\"/>",
            "<geom size=\"0.1\"/><attach model=\"other\"/>",
        ),
        (
            "armature=\"0.02\"",
            "armature=\"0.02\" actuatorfrcrange=\"-1 1\"",
        ),
    ] {
        let text = WALKER.replacen(from, to, 1).replace(
            "<position name=\"servo\" joint=\"tilt\" kp=\"7\" kv=\"2\"/>",
            "<position name=\"servo\" joint=\"hip\" kp=\"7\" kv=\"2\"/>",
        );
        assert!(text.contains(to), "{to}");
        let report = imported("told", &text).unwrap().report;
        assert_eq!(
            report.lost_dynamics().len(),
            1 + usize::from(to.contains("attach")),
            "{to}: {}",
            report.text()
        );
    }
    let text = WALKER.replace("joint=\"hip\" gear", "class=\"none\" joint=\"hip\" gear");
    let words = imported("no_class", &text).unwrap_err().to_string();
    assert!(words.contains("no default class"), "{words}");
}

/// Two oblique hinges apart from each other, and three of them.
#[test]
fn no_body_between_joints_is_without_mass() {
    let path = super::host::root().join("tests/data/mjcf/several_joints.xml");
    let Imported { model, text, .. } = import(&path, &ImportOptions::default()).unwrap();
    assert!(text.contains("between the joints"), "{text}");
    for body in &model.bodies {
        assert!(body.mass > 0.0, "{}", body.name);
    }
}
