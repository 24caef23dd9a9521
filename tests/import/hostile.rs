//! Files made to hurt: each ends in a sentence, at once, without much memory.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use super::host::Scratch;

/// Address space that the program may use (KiB): under the 200 MB of the requirement with the program itself.
const ADDRESS_SPACE: usize = 200_000;

fn refuse(name: &str, text: &str, part: &str) {
    let scratch = Scratch::new(&format!("hostile_{name}"));
    let path = scratch.path().join("robot.urdf");
    fs::write(&path, text).unwrap();
    let program = env!("CARGO_BIN_EXE_biela");
    let began = Instant::now();
    let output = Command::new("sh")
        .arg("-c")
        .arg(format!(
            "ulimit -v {ADDRESS_SPACE}; exec {program} import robot.urdf -o out.toml"
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
    // A second on a machine that does nothing else; the tests share theirs.
    assert!(took < Duration::from_secs(10), "{name}: {took:?}");
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
