//! `--gltf` and `--frames`: valid files that show the run.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::support::{repository, scratch, table, written};

fn biela(arguments: &[&str]) -> std::process::Output {
    Command::new(env!("CARGO_BIN_EXE_biela"))
        .args(arguments)
        .output()
        .unwrap()
}

/// The glTF file of a model.
fn glb_of(model: &Path, name: &str, more: &[&str]) -> PathBuf {
    let file = scratch(&format!("{name}.glb"));
    let mut arguments = vec![
        "run",
        model.to_str().unwrap(),
        "--gltf",
        file.to_str().unwrap(),
    ];
    arguments.extend(more);
    let output = biela(&arguments);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    file
}

/// JSON and binary chunk.
fn chunks(file: &Path) -> (Value, Vec<u8>) {
    let bytes = std::fs::read(file).unwrap();
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    assert_eq!(&bytes[..4], b"glTF");
    assert_eq!((word(4), word(8)), (2, bytes.len()));
    let length = word(12);
    assert_eq!(&bytes[16..20], b"JSON");
    let json = serde_json::from_slice(&bytes[20..20 + length]).unwrap();
    let binary = 20 + length;
    assert_eq!(&bytes[binary + 4..binary + 8], b"BIN\0");
    assert_eq!(binary + 8 + word(binary), bytes.len());
    (json, bytes[binary + 8..].to_vec())
}

/// Numbers of an accessor, a list for each element.
fn numbers(json: &Value, binary: &[u8], accessor: &Value) -> Vec<Vec<f64>> {
    let accessor = &json["accessors"][accessor.as_u64().unwrap() as usize];
    let view = &json["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
    let at = view["byteOffset"].as_u64().unwrap() as usize;
    let width = match accessor["type"].as_str().unwrap() {
        "SCALAR" => 1,
        "VEC3" => 3,
        _ => 4,
    };
    let count = accessor["count"].as_u64().unwrap() as usize;
    assert_eq!(view["byteLength"], 4 * width * count);
    (0..count)
        .map(|i| {
            (0..width)
                .map(|k| at + 4 * (i * width + k))
                .map(|at| f64::from(f32::from_le_bytes(binary[at..at + 4].try_into().unwrap())))
                .collect()
        })
        .collect()
}

/// Times and values of one animated property of a node.
fn animated(json: &Value, binary: &[u8], node: &str, path: &str) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
    let animation = &json["animations"][0];
    let channel = animation["channels"]
        .as_array()
        .unwrap()
        .iter()
        .find(|channel| {
            let target = channel["target"]["node"].as_u64().unwrap() as usize;
            json["nodes"][target]["name"] == node && channel["target"]["path"] == path
        });
    let sampler = channel.unwrap()["sampler"].as_u64().unwrap() as usize;
    let sampler = &animation["samplers"][sampler];
    (
        numbers(json, binary, &sampler["input"]),
        numbers(json, binary, &sampler["output"]),
    )
}

#[test]
fn the_animation_is_the_table() {
    let planar = ["x", "y", "angle"];
    let spatial = ["x", "y", "z", "qw", "qx", "qy", "qz"];
    for (model, body, fields) in [
        ("slider_crank", "rod", &planar[..]),
        ("spatial_slider_crank", "rod", &spatial[..]),
    ] {
        let mut text =
            std::fs::read_to_string(repository(&format!("models/{model}.toml"))).unwrap();
        for field in fields {
            text +=
                &format!("\n[[output]]\nname = \"pose_{field}\"\nsource = \"{body}.{field}\"\n");
        }
        let path = written(&format!("gltf_{model}.toml"), &text);
        let csv = scratch(&format!("gltf_{model}.csv"));
        let file = glb_of(
            &path,
            &format!("table_{model}"),
            &["--out", csv.to_str().unwrap()],
        );
        let (names, rows) = table(&csv);
        let (json, binary) = chunks(&file);
        let (times, positions) = animated(&json, &binary, body, "translation");
        let (_, rotations) = animated(&json, &binary, body, "rotation");
        assert_eq!(times.len(), rows.len());
        for (i, row) in rows.iter().enumerate() {
            let value = |name: &str| row[names.iter().position(|n| n == name).unwrap()];
            let half = if fields.len() == 3 {
                value("pose_angle") / 2.0
            } else {
                0.0
            };
            let expected: [f64; 8] = match fields.len() {
                3 => [
                    row[0],
                    value("pose_x"),
                    value("pose_y"),
                    0.0,
                    0.0,
                    0.0,
                    half.sin(),
                    half.cos(),
                ],
                _ => ["", "x", "y", "z", "qx", "qy", "qz", "qw"].map(|f| {
                    if f.is_empty() {
                        row[0]
                    } else {
                        value(&format!("pose_{f}"))
                    }
                }),
            };
            let found = [&times[i][..], &positions[i], &rotations[i]].concat();
            // The two quaternions q and -q are one rotation.
            let sign = (4..8).map(|k| found[k] * expected[k]).sum::<f64>().signum();
            for k in 0..8 {
                let expected = if k < 4 {
                    expected[k]
                } else {
                    sign * expected[k]
                };
                // Single precision.
                assert!(
                    (found[k] - expected).abs() <= 1e-6 * expected.abs().max(1.0),
                    "{model} row {i}: {found:?} {expected:?}"
                );
            }
        }
    }
}

/// Where `.ci/run` puts the validator of the Khronos group.
fn validator() -> Option<PathBuf> {
    let place = repository("target/npm/node_modules/gltf-validator");
    let node = Command::new("node").arg("--version").output();
    if place.exists() && node.is_ok_and(|output| output.status.success()) {
        return Some(place);
    }
    eprintln!(
        "SKIP: glTF files are not validated; `npm install --prefix target/npm gltf-validator` and node are missing"
    );
    None
}

#[test]
fn files_are_valid_by_the_khronos_validator() {
    let Some(validator) = validator() else {
        return;
    };
    let mut files = Vec::new();
    let folders = ["models", "models/beams", "models/contact"]
        .map(|folder| std::fs::read_dir(repository(folder)));
    for entry in folders.into_iter().flat_map(Result::unwrap) {
        let path = entry.unwrap().path();
        if path.is_dir() {
            continue;
        }
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name != "double_oscillator.toml" {
            files.push(glb_of(&path, &format!("valid_{name}"), &["--stop", "0.2"]));
        }
    }
    // One row, and times before zero.
    let text = "format = 1\nname = \"still\"\n[experiment]\nstart = -1.0\nstop = -0.5\n[[body]]\nname = \"b\"\nmass = 1.0\n\
                inertia = [1.0, 1.0, 1.0]\nposition = [0.0, 0.0, 0.0]\n";
    let still = written("still.toml", text);
    files.push(glb_of(&still, "still", &[]));
    files.push(glb_of(&still, "one_row", &["--interval", "10"]));
    let script = format!(
        "const v = require({:?}), fs = require('fs'); (async () => {{ for (const f of process.argv.slice(1)) {{ \
         const r = await v.validateBytes(new Uint8Array(fs.readFileSync(f))); \
         if (r.issues.numErrors + r.issues.numWarnings) {{ console.log(f, JSON.stringify(r.issues.messages.slice(0, 3))); process.exitCode = 1; }} }} }})();",
        validator.to_str().unwrap()
    );
    let output = Command::new("node")
        .arg("-e")
        .arg(script)
        .args(&files)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn the_same_run_gives_the_same_file() {
    let files = ["a", "b"].map(|name| {
        let file = glb_of(
            &repository("models/stewart.toml"),
            &format!("same_{name}"),
            &[],
        );
        std::fs::read(file).unwrap()
    });
    assert!(files[0] == files[1]);
}

/// Pixels of a PNG file as `--frames` writes them: RGB, rows as differences to the row above.
fn pixels(file: &Path) -> (usize, Vec<u8>) {
    let bytes = std::fs::read(file).unwrap();
    let word = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let width = word(16);
    let mut rows = Vec::new();
    let packed = &bytes[41..41 + word(33)];
    flate2::read::ZlibDecoder::new(packed)
        .read_to_end(&mut rows)
        .unwrap();
    let mut above = vec![0u8; 3 * width];
    let mut all = Vec::new();
    for line in rows.chunks(3 * width + 1) {
        assert_eq!(line[0], 2);
        for (x, d) in above.iter_mut().zip(&line[1..]) {
            *x = x.wrapping_add(*d);
        }
        all.extend(&above);
    }
    (width, all)
}

#[test]
fn frames_move_and_those_of_a_longer_run_are_gone() {
    let folder = scratch("frames");
    let _ = std::fs::remove_dir_all(&folder);
    for (model, stop, count) in [("slider_crank", "2.2", 56), ("stewart", "0.1", 51)] {
        let path = repository(&format!("models/{model}.toml"));
        let output = biela(&[
            "run",
            path.to_str().unwrap(),
            "--stop",
            stop,
            "--frames",
            folder.to_str().unwrap(),
        ]);
        assert!(output.status.success(), "{output:?}");
        let mut names: Vec<String> = (std::fs::read_dir(&folder).unwrap())
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        assert_eq!(names.len(), count + 1, "{names:?}");
        assert_eq!(
            (names[0].as_str(), names[count].as_str()),
            ("frame_00000.png", "frames.csv")
        );
        let list = std::fs::read_to_string(folder.join("frames.csv")).unwrap();
        assert!(list.starts_with("file,time\nframe_00000.png,0\n"), "{list}");
        assert!(
            list.trim_end()
                .ends_with(&format!("frame_{:05}.png,{stop}", count - 1)),
            "{list}"
        );
        let (width, first) = pixels(&folder.join("frame_00000.png"));
        let (_, last) = pixels(&folder.join(format!("frame_{:05}.png", count - 1)));
        assert_eq!((width, first.len()), (960, 960 * 720 * 3));
        let changed = first.iter().zip(&last).filter(|(a, b)| a != b).count();
        assert!(changed > 500, "{model}: {changed}");
        // Something other than paper and lines of the grid.
        let coloured = first
            .chunks(3)
            .filter(|p| p.iter().max().unwrap() - p.iter().min().unwrap() > 40);
        assert!(coloured.count() > 3000, "{model}");
    }
}

#[test]
fn without_bodies_there_is_nothing_to_animate() {
    let path = repository("models/double_oscillator.toml");
    let file = scratch("nothing.glb");
    let output = biela(&[
        "run",
        path.to_str().unwrap(),
        "--gltf",
        file.to_str().unwrap(),
    ]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("the model has none"));
}
