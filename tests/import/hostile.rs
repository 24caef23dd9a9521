//! Files made to hurt: each ends in a sentence, at once, without much memory.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use biela::import::{ImportOptions, import};

use super::host::Scratch;

/// Address space that the program may use (KiB), and CPU time (s): 200 MB and a second, with the program itself.
const ADDRESS_SPACE: usize = 195_000;
const CPU_TIME: usize = 1;

fn refuse(name: &str, text: &str, part: &str) {
    let scratch = Scratch::new(&format!("hostile_{name}"));
    fs::write(scratch.path().join("robot.urdf"), text).unwrap();
    refuse_in(&scratch, name, part);
}

/// Refuses `robot.urdf` in a folder.
fn refuse_in(scratch: &Scratch, name: &str, part: &str) {
    let program = env!("CARGO_BIN_EXE_biela");
    let began = Instant::now();
    let output = Command::new("sh")
        .arg("-c")
        .arg(format!(
            "ulimit -v {ADDRESS_SPACE} -t {CPU_TIME}; exec {program} import robot.urdf -o out.toml"
        ))
        .current_dir(scratch.path())
        .output()
        .unwrap();
    let took = began.elapsed();
    let words = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{name}: {words}");
    assert!(words.contains(part), "{name}: {words}");
    assert!(words.len() < 1000, "{name}: {} bytes", words.len());
    assert!(!scratch.path().join("out.toml").exists());
    // The tests share their machine; what they may use of it is limited above.
    assert!(took < Duration::from_secs(20), "{name}: {took:?}");
}

#[test]
fn nesting_size_and_numbers_are_bounded() {
    let nested = "<robot>".to_owned() + &"<a>".repeat(1_000_000) + &"</a>".repeat(1_000_000);
    refuse("nested", &nested, "nested deeper");
    let wide = "<robot>".to_owned() + &"<a/>".repeat(1_000_000) + "</robot>";
    refuse("wide", &wide, "more than 400000");
    let attributes: String = (0..100_000).map(|k| format!(" a{k}=\"1\"")).collect();
    refuse("attributes", &format!("<robot{attributes}/>"), "attributes");
    refuse(
        "large",
        &("<robot>".to_owned() + &" ".repeat(100_000_000)),
        "too large",
    );
}

#[test]
fn entities_are_refused() {
    let mut bomb = String::from("<!DOCTYPE robot [<!ENTITY a0 \"ha\">");
    for k in 1..20 {
        bomb += &format!("<!ENTITY a{k} \"{}\">", format!("&a{};", k - 1).repeat(10));
    }
    bomb += "]><robot name=\"&a19;\"/>";
    refuse("bomb", &bomb, "document type");
    let outside = "<!DOCTYPE robot [<!ENTITY x SYSTEM \"/etc/passwd\">]><robot name=\"&x;\"/>";
    refuse("outside", outside, "document type");
}

#[test]
fn what_is_no_robot_is_said_so() {
    refuse("empty", "", "XML");
    refuse("text", "hello", "XML");
    refuse("other", "<html/>", "<html>");
    refuse("no_links", "<robot name=\"x\"/>", "no links");
    refuse(
        "xacro",
        "<robot xmlns:xacro=\"http://www.ros.org/wiki/xacro\"><xacro:arm/></robot>",
        "xacro robot.urdf.xacro",
    );
}

/// The same in MJCF, whose elements are read by another part; the ending of the name does not matter.
#[test]
fn hostile_models_of_mujoco_are_refused() {
    let model = |inner: &str| format!("<mujoco><worldbody>{inner}</worldbody></mujoco>");
    let nested = "<body>".repeat(1_000_000) + &"</body>".repeat(1_000_000);
    refuse("mjcf_nested", &model(&nested), "nested deeper");
    let copies = "<replicate count=\"9999\"><replicate count=\"9999\"><body><geom size=\"1\"/><freejoint/></body></replicate></replicate>";
    refuse("mjcf_copies", &model(copies), "too many");
    let copies = format!(
        "<body><freejoint/>{}</body>",
        copies.replace("<body>", "").replace("</body>", "")
    );
    refuse("mjcf_geoms", &model(&copies), "too many");
    for (name, bad, part) in [
        (
            "nan",
            "<body pos=\"nan 0 0\"><geom size=\"1\"/><freejoint/></body>",
            "finite",
        ),
        (
            "few",
            "<body pos=\"1 0\"><geom size=\"1\"/><freejoint/></body>",
            "expected 3",
        ),
        (
            "word",
            "<body pos=\"1 0 x\"><geom size=\"1\"/><freejoint/></body>",
            "x",
        ),
        (
            "mass",
            "<body><inertial pos=\"0 0 0\"/><freejoint/></body>",
            "mass",
        ),
        ("include", "<include file=\"../../etc/passwd\"/>", "outside"),
        (
            "itself",
            "<include file=\"robot.urdf\"/>",
            "includes itself",
        ),
    ] {
        refuse(&format!("mjcf_{name}"), &model(bad), part);
    }
}

#[test]
fn numbers_that_are_none_have_a_place() {
    let robot = |inner: &str| {
        format!(
            "<robot name=\"r\"><link name=\"a\"/><link name=\"b\">{inner}</link><joint name=\"j\" type=\"revolute\"><parent link=\"a\"/><child link=\"b\"/></joint></robot>"
        )
    };
    let inertial = |mass: &str, ixx: &str| {
        format!(
            "<inertial>{mass}<inertia {ixx} ixy=\"0\" ixz=\"0\" iyy=\"1\" iyz=\"0\" izz=\"1\"/></inertial>"
        )
    };
    for (name, mass, ixx, part) in [
        ("nan", "<mass value=\"nan\"/>", "ixx=\"1\"", "robot.urdf:1:"),
        (
            "infinite",
            "<mass value=\"1e999\"/>",
            "ixx=\"1\"",
            "robot.urdf:1:",
        ),
        ("missing", "<mass/>", "ixx=\"1\"", "robot.urdf:1:"),
        (
            "tensor",
            "<mass value=\"1\"/>",
            "ixx=\"inf\"",
            "robot.urdf:1:",
        ),
        (
            "negative",
            "<mass value=\"-1\"/>",
            "ixx=\"1\"",
            "robot.urdf:1:",
        ),
    ] {
        refuse(
            &format!("number_{name}"),
            &robot(&inertial(mass, ixx)),
            part,
        );
    }
}

/// A link of the file system that leads out of the folder is not followed.
#[test]
#[cfg(unix)]
fn symbolic_links_do_not_lead_out() {
    let scratch = Scratch::new("hostile_symbolic");
    std::os::unix::fs::symlink("/etc/hostname", scratch.path().join("part.xml")).unwrap();
    let text = "<mujoco><include file=\"part.xml\"/><worldbody/></mujoco>";
    fs::write(scratch.path().join("robot.urdf"), text).unwrap();
    refuse_in(&scratch, "symbolic", "outside");
}

/// Chains of links without mass, and springs that need the inertia of many joints: time grows with the file, not with its square.
#[test]
fn long_chains_are_imported_at_once() {
    let mut slides = "<robot name=\"slides\"><link name=\"l0\"/>".to_owned();
    for i in 1..5000 {
        let mass = match i {
            4999 => {
                "<inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial>"
            }
            _ => "",
        };
        slides += &format!(
            "<link name=\"l{i}\">{mass}</link><joint name=\"j{i}\" type=\"prismatic\"><parent link=\"l{}\"/><child link=\"l{i}\"/>\
             <axis xyz=\"1 {} {}\"/></joint>",
            i - 1,
            i % 7,
            i % 3
        );
    }
    let body =
        "<body pos=\"0.1 0 0\"><joint springdamper=\"1 1\"/><geom size=\"0.1\" pos=\"0.2 0 0\"/>";
    let springs = format!(
        "<mujoco><worldbody>{}{}{}</worldbody></mujoco>",
        (body.to_owned() + "</body>").repeat(5000),
        body.repeat(190),
        "</body>".repeat(190)
    );
    for (name, text) in [
        ("slides.urdf", slides + "</robot>"),
        ("springs.xml", springs),
    ] {
        let scratch = Scratch::new(&format!("hostile_long_{name}"));
        let path = scratch.path().join(name);
        fs::write(&path, text).unwrap();
        let began = Instant::now();
        import(&path, &ImportOptions::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
        // Half a second on a quiet machine; with the square of the length it were minutes.
        assert!(began.elapsed() < Duration::from_secs(20), "{name}");
    }
}
