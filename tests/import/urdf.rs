//! URDF: small files with known answers.

use std::fs;

use biela::import::{BaseMotion, ImportOptions, Imported, import};
use biela::model::{CouplingLaw, Curve, ForceKind, portable};
use biela::{Instance, Model};

use super::host::Scratch;

/// An arm with a tool that is fixed to it, a slide, and a joint that follows another.
const ARM: &str = r#"<?xml version="1.0"?>
<robot name="small-arm">
  <material name="grey"><color rgba="0.5 0.5 0.5 1"/></material>
  <link name="base"/>
  <link name="upper">
    <inertial>
      <origin xyz="0.5 0 0" rpy="0 0 1.5707963267948966"/>
      <mass value="2"/>
      <inertia ixx="0.1" iyy="0.2" izz="0.25" ixy="0" ixz="0" iyz="0"/>
    </inertial>
    <visual><geometry><mesh filename="package://nowhere/upper.stl"/></geometry></visual>
    <collision><geometry><box size="1 1 1"/></geometry></collision>
  </link>
  <link name="tool">
    <inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <link name="finger-1">
    <inertial><mass value="0.1"/><inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <link name="finger-2">
    <inertial><mass value="0.1"/><inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="upper" type="revolute">
    <parent link="base"/><child link="upper"/>
    <origin xyz="0 0 1"/>
    <axis xyz="0 2 0"/>
    <limit lower="0.5" upper="2" effort="10" velocity="3"/>
    <dynamics damping="0.3" friction="0.2"/>
    <safety_controller k_velocity="10"/>
  </joint>
  <joint name="mount" type="fixed">
    <parent link="upper"/><child link="tool"/>
    <origin xyz="1 0 0"/>
  </joint>
  <joint name="grip" type="prismatic">
    <parent link="tool"/><child link="finger-1"/>
    <origin xyz="0 0.1 0"/>
    <axis xyz="0 1 0"/>
    <limit lower="0" upper="0.1" effort="0" velocity="0"/>
  </joint>
  <joint name="grip_other" type="prismatic">
    <parent link="tool"/><child link="finger-2"/>
    <axis xyz="0 -1 0"/>
    <mimic joint="grip" multiplier="2" offset="0.01"/>
  </joint>
  <gazebo reference="upper"><mu1>0.2</mu1></gazebo>
</robot>
"#;

fn imported(name: &str, text: &str, options: &ImportOptions) -> biela::Result<Imported> {
    let scratch = Scratch::new(&format!("urdf_{name}"));
    let path = scratch.path().join("robot.urdf");
    fs::write(&path, text).unwrap();
    import(&path, options)
}

fn small_arm(test: &str) -> Imported {
    imported(test, ARM, &ImportOptions::default()).unwrap()
}

#[test]
fn the_text_is_the_model_and_the_same_each_time() {
    let (first, second) = (
        small_arm("the_text_is_the_model_and_the_same_each_time"),
        small_arm("the_text_is_the_model_and_the_same_each_time"),
    );
    assert_eq!(first.text, second.text);
    let read = Model::from_text(&first.text, "robot.toml").unwrap();
    assert!(portable::same_meaning(&read, &first.model));
    assert_eq!(first.model.name, "small_arm");
    assert!(
        first.text.contains("# link \"upper\", robot.urdf:5"),
        "{}",
        first.text
    );
    assert!(
        first.model.warnings().is_empty(),
        "{:?}",
        first.model.warnings()
    );
}

#[test]
fn fixed_links_are_merged_and_inertias_turned() {
    let model = small_arm("fixed_links_are_merged_and_inertias_turned").model;
    let names: Vec<&str> = model.bodies.iter().map(|b| b.name.as_str()).collect();
    assert_eq!(names, ["upper", "finger_1", "finger_2"]);
    let upper = &model.bodies[0];
    assert_eq!(upper.mass, 3.0);
    // (2 · 0.5 + 1 · 1) / 3
    assert!((upper.center_of_mass[0] - 2.0 / 3.0).abs() < 1e-15);
    // Turned by a quarter about z, x and y are exchanged; both parts are 2 · (1/6)² + 1 · (1/3)² = 1/6 from the common centre.
    let expected = [0.2 + 0.01, 0.1 + 0.01 + 1.0 / 6.0, 0.25 + 0.01 + 1.0 / 6.0];
    for k in 0..3 {
        assert!(
            (upper.inertia[k] - expected[k]).abs() < 1e-15,
            "{:?}",
            upper.inertia
        );
    }
    assert_eq!(model.sensors[0].name, "tool");
    assert_eq!(model.sensors[0].point, [1.0, 0.0, 0.0]);
}

#[test]
fn joints_start_in_their_limits_and_followers_follow() {
    let Imported { model, report, .. } =
        small_arm("joints_start_in_their_limits_and_followers_follow");
    let joints: Vec<&str> = model.joints.iter().map(|j| j.name.as_str()).collect();
    assert_eq!(
        joints,
        ["upper_joint", "grip", "grip_other", "grip_other_mimic"]
    );
    // The start 0 is moved to the limit 0.5: the tool is below by sin 0.5 (y axis, right hand).
    let mut instance = Instance::from_model(model.clone()).unwrap();
    instance.initialize(0.0, 1.0, 0.0).unwrap();
    let mut get = |name: &str| {
        let mut x = [0.0];
        let reference = instance.find(name).unwrap();
        instance.get_real(&[reference], &mut x).unwrap();
        x[0]
    };
    assert!((get("upper_joint_position") - 0.5).abs() < 1e-12);
    assert!((get("grip_position")).abs() < 1e-12);
    assert!((get("grip_other_position") - 0.01).abs() < 1e-12);
    let law = &model.joints[3].coupling.as_ref().unwrap().law;
    assert_eq!(*law, CouplingLaw::Curve(Curve::Polynomial(vec![0.01, 2.0])));
    let damped = model
        .forces
        .iter()
        .any(|force| matches!(&force.kind, ForceKind::SpringDamper(_)));
    assert!(damped);
    let notes: Vec<&str> = report.notes.iter().map(|note| note.text.as_str()).collect();
    for part in [
        "fixed to the ground",
        "moved to 0.5",
        "\"upper\" is called upper_joint",
        "finger-1",
    ] {
        assert!(
            notes.iter().any(|note| note.contains(part)),
            "{part}: {notes:?}"
        );
    }
}

#[test]
fn the_report_counts_everything_once() {
    let report = small_arm("the_report_counts_everything_once").report;
    let sum = |f: fn(&biela::import::FidelityCount) -> usize| {
        f(&report.kept) + f(&report.approximated) + f(&report.dropped)
    };
    assert_eq!(sum(|c| c.elements), report.total.elements);
    assert_eq!(sum(|c| c.attributes), report.total.attributes);
    // By hand: `<` that begin elements, and `="`.
    let begins = ARM.matches('<').count() - ARM.matches("</").count() - 1;
    assert_eq!(report.total.elements, begins);
    assert_eq!(report.total.attributes, ARM.matches("=\"").count() - 1);
    assert!(report.lost_dynamics().is_empty());
    let text = report.text();
    assert!(text.lines().count() < 30, "{text}");
    for part in ["gazebo", "contact", "mesh is not found", "regularised"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json = report.json();
    let listed: usize = (json["groups"].as_array().unwrap().iter())
        .map(|group| group["at"].as_array().unwrap().len())
        .sum();
    assert_eq!(listed, report.total.elements + report.total.attributes);
}

#[test]
fn a_free_base_moves_and_a_start_pose_is_read() {
    let scratch = Scratch::new("urdf_free");
    let (urdf, srdf) = (scratch.path().join("r.urdf"), scratch.path().join("r.srdf"));
    let text = ARM.replace("<link name=\"base\"/>", "<link name=\"base\"><inertial><mass value=\"5\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial></link>");
    fs::write(&urdf, text).unwrap();
    fs::write(
        &srdf,
        r#"<robot name="r"><virtual_joint name="root" type="floating" parent_frame="world" child_link="base"/>
        <group_state name="home" group="all"><joint name="upper" value="1"/></group_state>
        <group_state name="other" group="all"><joint name="upper" value="5"/><joint name="root" value="0 0 2 0 0 0 1"/></group_state>
        <disable_collisions link1="base" link2="upper"/></robot>"#,
    )
    .unwrap();
    let mut options = ImportOptions {
        srdf: Some(srdf),
        ..ImportOptions::default()
    };
    let first = import(&urdf, &options).unwrap().model;
    assert_eq!(first.bodies[0].name, "base");
    assert!(first.bodies[1].position == [0.0, 0.0, 1.0]);
    options.keyframe = Some("other".to_owned());
    let second = import(&urdf, &options).unwrap();
    assert_eq!(second.model.bodies[0].position, [0.0, 0.0, 2.0]);
    assert!(
        second
            .report
            .notes
            .iter()
            .any(|n| n.text.contains("moved to 2"))
    );
    options.keyframe = Some("none".to_owned());
    assert!(
        import(&urdf, &options)
            .unwrap_err()
            .to_string()
            .contains("none")
    );
    options = ImportOptions {
        base: Some(BaseMotion::Fixed),
        ..ImportOptions::default()
    };
    assert_eq!(
        import(&urdf, &options).unwrap().model.bodies[0].name,
        "upper"
    );
}

#[test]
fn starts_of_joints_that_are_not_there_are_refused() {
    let started = |name: &str| ImportOptions {
        start: vec![(name.to_owned(), 0.05)],
        ..ImportOptions::default()
    };
    assert!(imported("started", ARM, &started("grip")).is_ok());
    // Unknown, and fixed: it has no coordinate.
    for (name, hint) in [
        ("gripp", "did you mean \"grip\"?"),
        ("mount", "one coordinate"),
    ] {
        let refused = imported("started", ARM, &started(name)).unwrap_err();
        assert!(refused.to_string().contains(hint), "{refused}");
    }
    let posed = ImportOptions {
        keyframe: Some("home".to_owned()),
        ..ImportOptions::default()
    };
    let refused = imported("posed", ARM, &posed).unwrap_err();
    assert!(
        refused.to_string().contains("no group state \"home\""),
        "{refused}"
    );
}

#[test]
fn losses_of_dynamics_are_known() {
    let text = ARM.replace("joint=\"grip\" multiplier", "joint=\"lost\" multiplier");
    let report = imported("lost", &text, &ImportOptions::default())
        .unwrap()
        .report;
    let lost: Vec<&str> = report
        .lost_dynamics()
        .iter()
        .map(|g| g.what.as_str())
        .collect();
    assert!(lost.contains(&"mimic"), "{lost:?}");
}

#[test]
fn mistakes_have_a_place() {
    for (from, to, part) in [
        (
            "link=\"tool\"/>\n    <origin xyz=\"1 0 0\"/>",
            "link=\"tol\"/>",
            "there is no link \"tol\"",
        ),
        ("mass value=\"2\"", "mass value=\"nan\"", "finite numbers"),
        ("mass value=\"2\"", "mass value=\"-2\"", ">= 0"),
        ("mass value=\"2\"", "mass value=\"\"", "expected a number"),
        ("origin xyz=\"0 0 1\"", "origin xyz=\"0 0\"", "expected 3"),
        ("origin xyz=\"0 0 1\"", "origin xyz=\"0 0 ${h}\"", "xacro"),
        ("axis xyz=\"0 2 0\"", "axis xyz=\"0 0 0\"", "axis is zero"),
        ("type=\"prismatic\"", "type=\"magic\"", "magic"),
        ("parent link=\"base\"", "parent link=\"tool\"", "loop"),
        (
            "<link name=\"base\"/>",
            "<link name=\"base\"/><link name=\"base\"/>",
            "two links",
        ),
        (
            "<link name=\"base\"/>",
            "<link name=\"base\"/><link name=\"lone\"/>",
            "one root",
        ),
        ("<robot", "<xacro:robot xmlns:xacro=\"http://x\"", "XML"),
        ("</robot>", "", "XML"),
    ] {
        let text = ARM.replacen(from, to, 1);
        assert_ne!(text, ARM, "{from}");
        let error = imported("mistake", &text, &ImportOptions::default()).unwrap_err();
        let words = error.to_string();
        assert!(words.contains("robot.urdf:"), "{words}");
        assert!(words.contains(part), "{part}: {words}");
    }
}

/// A hip of three hinges with links without mass between them, a gantry, and a wrist whose first two hinges are apart.
const VIRTUAL: &str = include_str!("../data/urdf/virtual.urdf");

#[test]
fn links_without_mass_do_not_become_bodies_without_mass() {
    use biela::model::JointKind::{Cartesian, Gimbal, Revolute};
    let Imported {
        model,
        text,
        report,
    } = imported("virtual", VIRTUAL, &ImportOptions::default()).unwrap();
    let kinds: Vec<_> = model.joints.iter().map(|joint| joint.kind).collect();
    assert_eq!(kinds, [Cartesian, Gimbal, Revolute, Revolute]);
    let names: Vec<&str> = model.bodies.iter().map(|b| b.name.as_str()).collect();
    assert_eq!(names, ["trolley", "leg", "wrist", "hand"]);
    assert!(model.bodies.iter().all(|body| body.mass > 0.0), "{text}");
    let sum: f64 = model.bodies.iter().map(|body| body.mass).sum();
    assert!((sum - 5.5).abs() < 1e-14);
    assert_eq!(
        report.total.elements,
        report.kept.elements + report.dropped.elements
    );
    let inputs: Vec<&str> = model.inputs.iter().map(|i| i.name.as_str()).collect();
    assert_eq!(inputs[..3], ["along_force", "lift_force", "over_force"]);
    assert_eq!(inputs[3], "hip_z_torque");
}

#[test]
fn a_body_without_mass_that_stays_is_told() {
    let apart = VIRTUAL
        .replace(
            "name=\"hip_x\" type=\"revolute\"",
            "name=\"hip_x\" type=\"prismatic\"",
        )
        .replace(
            "name=\"hip_z\" type=\"revolute\"",
            "name=\"hip_z\" type=\"prismatic\"",
        )
        .replace(
            "<axis xyz=\"1 0 0\"/><limit lower=\"-1\"",
            "<axis xyz=\"0.5 0 0.5\"/><limit lower=\"-1\"",
        )
        .replace(
            "name=\"hip_y\" type=\"revolute\"",
            "name=\"hip_y\" type=\"prismatic\"",
        );
    let Imported { model, report, .. } =
        imported("virtual_slides", &apart, &ImportOptions::default()).unwrap();
    let empty = model.bodies.iter().filter(|body| body.mass == 0.0);
    let told = (report.notes.iter()).filter(|note| note.text.contains("stays in the equations"));
    let empty = empty.count();
    assert_eq!(empty, told.count());
    let relative = model.solver.formulation == biela::model::FormulationName::Relative;
    assert_eq!(relative, empty > 0);
    assert!(empty > 0);
}
