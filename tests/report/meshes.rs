//! Bodies drawn by the triangles of a file: in the page with and without WebGL, and in glTF files.

use std::process::Command;

use serde_json::Value;

use super::driver::{Browser, Graphics};
use super::support::{run, scratch, summary, written};

/// A pendulum whose bob is a wedge from a file in millimetres, 0.4 m long, and one whose file is missing.
fn pendulum() -> std::path::PathBuf {
    let wedge = "v 0 -50 -50\nv 0 50 -50\nv 0 50 50\nv 0 -50 50\nv 400 0 -50\nv 400 0 50\n\
                 f 1 4 3 2\nf 1 2 5\nf 4 6 3\nf 2 3 6 5\nf 1 5 6 4\n";
    std::fs::write(scratch("wedge.obj"), wedge).unwrap();
    let body = |name: &str, shape: &str, y: f64| {
        format!(
            "[[body]]\nname = \"{name}\"\nmass = 1\ninertia = [0.001, 0.02, 0.02]\nposition = [0, {y}, 0]\n\
             center_of_mass = [0.2, 0, 0]\nshape = {{ mesh = {{ {shape} }} }}\n\
             [[joint]]\nname = \"{name}_pin\"\ntype = \"revolute\"\nbodies = [\"ground\", \"{name}\"]\n\
             point = [0, {y}, 0]\naxis = [0, 1, 0]\n"
        )
    };
    let text = format!(
        "format = 1\nname = \"wedges\"\ngravity = [0, 0, -9.81]\n[experiment]\nstop = 1\n{}{}[[output]]\nname = \"x\"\n\
         source = \"bob.x\"\n",
        body(
            "bob",
            "file = \"wedge.obj\", scale = [0.001, 0.001, 0.001]",
            0.0
        ),
        body("lost", "file = \"nothing.stl\"", 0.3),
    );
    written("wedges.toml", &text)
}

#[test]
fn a_body_is_drawn_by_its_mesh() {
    let (model, page) = (pendulum(), scratch("wedges.html"));
    let output = run(&model, &page, &[]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = std::fs::read_to_string(&page).unwrap();
    let bodies = &summary(&text)["scene"]["bodies"];
    let mesh = &bodies[0]["shape"]["mesh"];
    assert_eq!(mesh["points"].as_array().unwrap().len(), 6, "{bodies}");
    // Quadrilaterals are two triangles each.
    assert_eq!(mesh["triangles"].as_array().unwrap().len(), 8);
    assert_eq!(mesh["points"][4], serde_json::json!([0.4, 0.0, -0.05]));
    assert_eq!(bodies[1]["shape"], Value::Null);

    // Without its file the same model is drawn through its joints: another picture.
    let text = std::fs::read_to_string(&model).unwrap();
    let plain = written("wedges_plain.toml", &text.replace("wedge.obj", "gone.obj"));
    let plain_page = scratch("wedges_plain.html");
    assert!(run(&plain, &plain_page, &[]).status.success());
    for (graphics, fragment) in [(Graphics::None, ""), (Graphics::SoftwareWebgl, "#webgl")] {
        let Some(browser) = Browser::start(graphics, 1000, 700) else {
            return;
        };
        // Reading pixels back makes WebGL warn of its slowness.
        let picture = |page| {
            browser.open(page, fragment);
            browser.wait("requestAnimationFrame(() => requestAnimationFrame(() => done(true)))");
            let said = browser.messages();
            assert!(said.is_empty() || !fragment.is_empty(), "{said:?}");
            browser.run("biela.seek(0.5); return document.getElementById('scene').toDataURL()")
        };
        assert_ne!(picture(&page), picture(&plain_page), "{graphics:?}");
    }
}

#[test]
fn a_mesh_goes_into_the_animation_and_a_missing_one_is_told() {
    let (model, file) = (pendulum(), scratch("wedges.glb"));
    let biela = |arguments: &[&std::ffi::OsStr]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_biela"));
        command.args(arguments).output().unwrap()
    };
    let output = biela(&[
        "run".as_ref(),
        model.as_ref(),
        "--gltf".as_ref(),
        file.as_ref(),
    ]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let bytes = std::fs::read(&file).unwrap();
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let json: Value = serde_json::from_slice(&bytes[20..20 + length]).unwrap();
    // The 8 triangles of the wedge have 24 corners, each with its normal.
    let counts: Vec<u64> = (json["accessors"].as_array().unwrap().iter())
        .filter_map(|a| a["count"].as_u64())
        .collect();
    assert!(counts.contains(&24), "{counts:?}");

    let output = biela(&["check".as_ref(), model.as_ref()]);
    let said = String::from_utf8(output.stdout).unwrap();
    let warning =
        "wedges.toml:19:1: body \"lost\": the mesh \"nothing.stl\" is not drawn: cannot read it: ";
    assert!(said.contains(warning), "{said}");
    assert_eq!(said.matches("is not drawn").count(), 1, "{said}");
}
