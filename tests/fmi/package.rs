//! The archive: the same bytes for the same model, all that the model needs, and nothing that does not fit together.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Cursor, Read};
use std::path::Path;
use std::process::{Command, Output};
use std::ptr::null;

use crate::fmi_host::world::{World, instantiate};
use crate::fmi_host::{BOTH, Unpacked, for_this_machine, model, models};
use crate::host::{Scratch, expect_success, library, root, skip, tool};
use biela::component::{Causality, Instance};
use biela::fmi::{FmiStandard, package};

#[test]
fn the_same_model_gives_the_same_bytes_and_a_plain_zip() {
    for standard in BOTH {
        let contents = package::contents(&model("slider_crank"), standard).unwrap();
        let again = package::contents(&model("slider_crank"), standard).unwrap();
        let library = for_this_machine(b"library");
        let bytes = package::archive(&contents, standard, &library).unwrap();
        assert!(bytes == package::archive(&again, standard, &library).unwrap());

        let mut zip = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
        let names: Vec<String> = (0..zip.len())
            .map(|i| zip.by_index(i).unwrap().name().unwrap().into_owned())
            .collect();
        let folder = match standard {
            FmiStandard::Two => "linux64",
            FmiStandard::Three => "x86_64-linux",
        };
        let library = format!("binaries/{folder}/slider_crank.so");
        if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            let mut expected = vec![
                "modelDescription.xml",
                "documentation/index.html",
                "resources/biela.txt",
                "resources/slider_crank.toml",
            ];
            if standard == FmiStandard::Three {
                expected.push("terminalsAndIcons/terminalsAndIcons.xml");
                expected.push("terminalsAndIcons/icon.png");
            }
            expected.push(&library);
            assert_eq!(names, expected);
        }
        for i in 0..zip.len() {
            let mut file = zip.by_index(i).unwrap();
            let time = file.last_modified().unwrap();
            assert_eq!(
                (time.year(), time.month(), time.day(), time.hour()),
                (1980, 1, 1, 0)
            );
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).unwrap();
            if file.name().unwrap() == library {
                assert_eq!(bytes, b"library");
            }
        }
    }
}

#[test]
fn the_model_goes_in_with_auto_resolved_and_otherwise_as_it_was_written() {
    let contents = package::contents(&model("slider_crank"), FmiStandard::Two).unwrap();
    let packed = String::from_utf8(contents.files[3].1.clone()).unwrap();
    assert!(packed.contains("formulation = \"absolute\""));
    let original = fs::read_to_string(model("slider_crank")).unwrap();
    assert_eq!(packed.replace("formulation = \"absolute\"\n", ""), original);
    let page = String::from_utf8(contents.files[1].1.clone()).unwrap();
    for variable in Instance::from_file(&model("slider_crank"))
        .unwrap()
        .variables()
    {
        assert!(page.contains(&format!("\"{}\"", variable.name)));
    }
    // The twin in JSON is resolved in its own syntax.
    let twin =
        package::contents(&root().join("models/slider_crank.json"), FmiStandard::Two).unwrap();
    assert_eq!(twin.files[3].0, "resources/slider_crank.json");
    assert_ne!(twin.token, contents.token);
    // A system given by its matrices has its own coordinates.
    let system = package::contents(&model("double_oscillator"), FmiStandard::Two).unwrap();
    assert_eq!(
        system.files[3].1,
        fs::read(model("double_oscillator")).unwrap()
    );
}

/// Two bars on pins about axes at right angles.
const PINS: &str = r#"format = 1
name = "pins"
gravity = [0.0, -9.81, 0.0]
[[body]]
name = "upper"
mass = 1.0
inertia = [0.001, 0.1, 0.1]
position = [0.5, 0.0, 0.0]
[[body]]
name = "lower"
mass = 1.0
inertia = [0.001, 0.1, 0.1]
position = [1.5, 0.0, 0.0]
[[joint]]
name = "A"
type = "revolute"
bodies = ["ground", "upper"]
point = [0.0, 0.0, 0.0]
axis = [0.0, 0.0, 1.0]
[[joint]]
name = "B"
type = "revolute"
bodies = ["upper", "lower"]
point = [1.0, 0.0, 0.0]
axis = [0.0, 1.0, 0.0]
[[output]]
name = "height"
source = "lower.y"
"#;

#[test]
fn a_tree_of_pins_in_space_is_packed_in_relative_coordinates() {
    let path = std::env::temp_dir().join(format!("biela_pins_{}.toml", std::process::id()));
    fs::write(&path, PINS).unwrap();
    let contents = package::contents(&path, FmiStandard::Three);
    fs::remove_file(&path).unwrap();
    let packed = String::from_utf8(contents.unwrap().files[3].1.clone()).unwrap();
    assert!(packed.contains("formulation = \"relative\""), "{packed}");
    // A model that asks for coordinates of its own goes in as it is.
    let asked = format!("{PINS}[solver]\nformulation = \"absolute\"\n");
    fs::write(&path, &asked).unwrap();
    let contents = package::contents(&path, FmiStandard::Three);
    fs::remove_file(&path).unwrap();
    assert_eq!(contents.unwrap().files[3].1, asked.as_bytes());
}

const MATRICES: &str = "format = 1\nname = \"matrices\"\n[system]\nmass = \"sub/mass.mtx\"\nstiffness = [[4.0]]\n\
                        position = [1.0]\nvelocity = [0.0]\n[[output]]\nname = \"q\"\nsource = \"q1\"\n";
const MASS: &str = "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2.0\n";

#[test]
fn files_that_the_model_names_go_along() {
    for standard in BOTH {
        let scratch = Scratch::new(&format!("fmi-files-{}", standard.version()));
        let home = scratch.path().join("home");
        fs::create_dir_all(home.join("sub")).unwrap();
        fs::write(home.join("sub/mass.mtx"), MASS).unwrap();
        fs::write(home.join("matrices.toml"), MATRICES).unwrap();
        let unit = Unpacked::new(&home.join("matrices.toml"), standard, &scratch);
        fs::remove_dir_all(&home).unwrap();
        let mut world = World::bare(&unit, standard, false);
        world.start_up();
        // q'' + 2 q = 0
        let (status, _) = world.step(0.0, 0.5);
        assert_eq!(status as i32, 0);
        let (q, exact) = (world.value(0), f64::cos(0.5 * f64::sqrt(2.0)));
        // Local error 1e-6 a step, some tens of steps.
        assert!((q - exact).abs() < 1e-4, "{q} {exact}");
    }
    let scratch = Scratch::new("fmi-files-outside");
    let home = scratch.path().join("home");
    fs::create_dir_all(&home).unwrap();
    fs::write(scratch.path().join("mass.mtx"), MASS).unwrap();
    fs::write(home.join("m.toml"), MATRICES.replace("sub/mass", "../mass")).unwrap();
    let refusal = package::contents(&home.join("m.toml"), FmiStandard::Two).unwrap_err();
    assert!(refusal.to_string().contains("mass.mtx"), "{refusal}");
}

#[test]
fn the_reader_says_which_files_go_along_whatever_their_names() {
    for (standard, name) in BOTH
        .into_iter()
        .flat_map(|s| [(s, "mass"), (s, "sub/a b-é.c.mtx")])
    {
        let scratch = Scratch::new(&format!("fmi-dotless-{}", standard.version()));
        let home = scratch.path().join("home");
        fs::create_dir_all(home.join("sub")).unwrap();
        fs::write(home.join(name), MASS).unwrap();
        // Beside it, and named by a text that is not a file name.
        fs::write(home.join("q1"), "not wanted").unwrap();
        fs::write(home.join("m.toml"), MATRICES.replace("sub/mass.mtx", name)).unwrap();
        let unit = Unpacked::new(&home.join("m.toml"), standard, &scratch);
        let packed: Vec<&str> = unit
            .contents
            .files
            .iter()
            .map(|(n, _)| n.as_str())
            .collect();
        assert!(
            packed.contains(&format!("resources/{name}").as_str()),
            "{packed:?}"
        );
        assert!(!packed.contains(&"resources/q1"), "{packed:?}");
        fs::remove_dir_all(&home).unwrap();
        World::bare(&unit, standard, false).start_up();
    }
}

#[test]
fn names_that_cannot_travel_and_links_that_lead_out_are_refused() {
    let scratch = Scratch::new("fmi-travel");
    let home = scratch.path().join("home");
    fs::create_dir_all(&home).unwrap();
    fs::write(scratch.path().join("outside.mtx"), MASS).unwrap();
    let refusal = |name: &str| {
        let text = MATRICES.replace("\"sub/mass.mtx\"", &format!("{name:?}"));
        fs::write(home.join("m.toml"), text).unwrap();
        package::contents(&home.join("m.toml"), FmiStandard::Three)
            .map(|_| ())
            .unwrap_err()
            .to_string()
    };
    for name in [
        "back\\slash.mtx",
        "line\nend.mtx",
        "tab\tulator",
        "colon:mass",
        "question?",
        "ends.",
        " begins",
        "nul.mtx",
        "COM1",
        // Files that an FMU has of its own.
        "biela.txt",
        "Matrices.toml",
    ] {
        fs::write(home.join(name), MASS).unwrap();
        let sentence = refusal(name);
        assert!(sentence.contains("rename it"), "{name:?}: {sentence}");
    }
    std::os::unix::fs::symlink(scratch.path().join("outside.mtx"), home.join("link.mtx")).unwrap();
    let sentence = refusal("link.mtx");
    assert!(
        sentence.contains("link.mtx") && sentence.contains("copy it there"),
        "{sentence}"
    );
    // A link to a file of the same folder is that file.
    fs::write(home.join("plain.mtx"), MASS).unwrap();
    fs::remove_file(home.join("link.mtx")).unwrap();
    std::os::unix::fs::symlink("plain.mtx", home.join("link.mtx")).unwrap();
    let text = MATRICES.replace("sub/mass.mtx", "link.mtx");
    fs::write(home.join("m.toml"), text).unwrap();
    package::contents(&home.join("m.toml"), FmiStandard::Three).unwrap();
}

#[test]
fn endless_files_and_pipes_are_refused_at_once() {
    let scratch = Scratch::new("fmi-endless");
    let unit = crate::fmi_host::world::block(FmiStandard::Three, &scratch);
    let token = std::ffi::CString::new(unit.contents.token.as_str()).unwrap();
    let place = std::ffi::CString::new(unit.resources().to_str().unwrap()).unwrap();
    let model = unit.resources().join("block.toml");
    let pipe = scratch.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    for endless in [std::path::Path::new("/dev/zero"), &pipe] {
        fs::remove_file(&model).unwrap();
        std::os::unix::fs::symlink(endless, &model).unwrap();
        let mut log: Vec<String> = Vec::new();
        let environment = (&raw mut log).cast();
        let made = instantiate(FmiStandard::Three, &token, place.as_ptr(), environment);
        assert!(made.is_null());
        assert!(log[0].contains("not a regular file"), "{log:?}");
        let error = Instance::from_file(&model).err().unwrap().to_string();
        assert!(error.contains("not a regular file"), "{error}");
    }
}

#[test]
fn libraries_of_several_platforms_go_into_one_archive() {
    let scratch = Scratch::new("fmi-platforms");
    let write = |name: &str, bytes: &[u8]| {
        let path = scratch.path().join(name);
        fs::write(&path, bytes).unwrap();
        path.display().to_string()
    };
    // The head of a library of Windows, with the mark that every build of this library has.
    let mut windows = vec![0; 128];
    windows[..2].copy_from_slice(b"MZ");
    windows[60] = 64;
    windows[64..70].copy_from_slice(b"PE\0\0\x64\x86");
    let foreign = write("other.dll", &windows);
    windows.extend(b"biela library of version ");
    windows.extend(env!("CARGO_PKG_VERSION").as_bytes());
    windows.push(0);
    let dll = write("biela.dll", &windows);
    let own = library().shared.display().to_string();
    let out = scratch.path().join("two.fmu").display().to_string();
    let pack = |options: &[&str]| {
        let mut arguments = vec!["pack", "models/slider_crank.toml", "-o", &out];
        arguments.extend(options);
        std::process::Command::new(env!("CARGO_BIN_EXE_biela"))
            .args(arguments)
            .current_dir(root())
            .output()
            .unwrap()
    };
    for (fmi, folders) in [
        (
            "2",
            [
                "binaries/linux64/slider_crank.so",
                "binaries/win64/slider_crank.dll",
            ],
        ),
        (
            "3",
            [
                "binaries/x86_64-linux/slider_crank.so",
                "binaries/x86_64-windows/slider_crank.dll",
            ],
        ),
    ] {
        let [linux, win] = [format!("linux64={own}"), format!("win64={dll}")];
        let output = pack(&["--fmi", fmi, "--library", &linux, "--library", &win]);
        expect_success("biela pack", &output);
        let zip = zip::ZipArchive::new(fs::File::open(&out).unwrap()).unwrap();
        let names: Vec<String> = zip.file_names().map(|n| n.unwrap().into_owned()).collect();
        for folder in folders {
            assert!(names.iter().any(|name| name == folder), "{names:?}");
        }
    }
    let linux = format!("linux64={own}");
    for (option, word) in [
        (format!("win64={own}"), "library for linux"),
        (format!("win64={foreign}"), "not a library of biela"),
        (format!("amiga={dll}"), "\"amiga\""),
        (format!("x86_64-linux={own}"), "second library"),
        (format!("aarch64-linux={dll}"), "FMI 2.0 has a name"),
        ("win64=/nowhere/x.dll".to_owned(), "no such file"),
    ] {
        let output = pack(&["--library", &linux, "--library", &option]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{option}: {said}");
        assert!(said.contains(word), "{option}: {said}");
    }
}

#[test]
fn a_changed_or_incomplete_unit_is_refused_with_a_sentence() {
    for standard in BOTH {
        let scratch = Scratch::new(&format!("fmi-damage-{}", standard.version()));
        let unit = crate::fmi_host::world::block(standard, &scratch);
        let folder = unit.resources();
        let token = std::ffi::CString::new(unit.contents.token.as_str()).unwrap();
        let place = std::ffi::CString::new(folder.to_str().unwrap()).unwrap();
        let refused = |why: &str| {
            let mut log: Vec<String> = Vec::new();
            let made = instantiate(standard, &token, place.as_ptr(), (&raw mut log).cast());
            assert!(made.is_null(), "{why}");
            assert!(log.len() == 1 && !log[0].is_empty(), "{why}: {log:?}");
            log.remove(0)
        };
        for name in ["biela.txt", "block.toml"] {
            let path = folder.join(name);
            let good = fs::read(&path).unwrap();
            for i in (0..good.len()).step_by(7) {
                let mut bytes = good.clone();
                bytes[i] ^= 0x15;
                fs::write(&path, &bytes).unwrap();
                refused(&format!("{name}, byte {i}"));
            }
            fs::write(&path, &good[..good.len() / 2]).unwrap();
            refused(&format!("half of {name}"));
            fs::remove_file(&path).unwrap();
            refused(&format!("no {name}"));
            fs::write(&path, good).unwrap();
        }
        // A model that has the token of its contents but is none.
        let made = instantiate(standard, &token, null(), std::ptr::null_mut());
        assert!(made.is_null(), "without a place and without a logger");
        let world = World::bare(&unit, standard, false);
        drop(world);
    }
}

/// What the description says: for each output the variables it depends on, by names, at communication points and at the
/// start.
fn declared(description: &str) -> [BTreeMap<String, Vec<String>>; 2] {
    let attribute = |line: &str, key: &str| {
        let start = line
            .find(&format!(" {key}=\""))
            .map(|i| i + key.len() + 3)?;
        Some(line[start..start + line[start..].find('"')?].to_owned())
    };
    let names: Vec<String> = description
        .lines()
        .filter(|line| line.trim_start().starts_with("<ScalarVariable"))
        .map(|line| attribute(line, "name").unwrap())
        .collect();
    let name = |index: &str| names[index.parse::<usize>().unwrap() - 1].clone();
    let part = |tag: &str| {
        let start = description.find(&format!("<{tag}>")).unwrap();
        let end = description.find(&format!("</{tag}>")).unwrap();
        description[start..end]
            .lines()
            .filter(|line| line.contains("<Unknown"))
            .map(|line| {
                let knowns = attribute(line, "dependencies").unwrap();
                let kinds = attribute(line, "dependenciesKind").unwrap();
                assert_eq!(
                    knowns.split_whitespace().count(),
                    kinds.split_whitespace().count()
                );
                let knowns = knowns.split_whitespace().map(name).collect();
                (name(&attribute(line, "index").unwrap()), knowns)
            })
            .collect()
    };
    [part("Outputs"), part("InitialUnknowns")]
}

#[test]
fn declared_dependencies_are_those_of_the_numbers() {
    let mut found_any = [0; 2];
    for path in models() {
        let contents = package::contents(&path, FmiStandard::Two).unwrap();
        let text = String::from_utf8(contents.files[0].1.clone()).unwrap();
        if !text.contains("<Outputs>") {
            continue;
        }
        let [during, initially] = declared(&text);
        let fresh = || Instance::from_file(&path).unwrap();
        let instance = fresh();
        let of = |causality: Causality| -> Vec<(u32, String)> {
            (0..)
                .zip(instance.variables())
                .filter(|(_, v)| v.causality == causality)
                .map(|(r, v)| (r, v.name.clone()))
                .collect()
        };
        let outputs = of(Causality::Output);
        let references: Vec<u32> = outputs.iter().map(|(r, _)| *r).collect();
        let read = |instance: &mut Instance| {
            let mut values = vec![0.0; references.len()];
            instance.get_real(&references, &mut values).unwrap();
            values
        };
        let moved = |a: &[f64], b: &[f64]| -> Vec<bool> {
            // The numbers themselves carry roundings of 1e-12; a real dependence is far above.
            let far = |(x, y): (&f64, &f64)| (x - y).abs() > 1e-9 * (1.0 + x.abs());
            a.iter().zip(b).map(far).collect()
        };
        let name = path.display();

        // At communication points: inputs that feed through.
        let h = (instance.model().experiment.stop / 20.0).min(0.05);
        let mut instance = fresh();
        instance.initialize(0.0, f64::INFINITY, 0.0).unwrap();
        for (input, input_name) in of(Causality::Input) {
            let mut seen = vec![false; outputs.len()];
            for k in 0..8 {
                let t = instance.time();
                instance.step(t, h).unwrap();
                let state = instance.save().unwrap();
                let before = read(&mut instance);
                let old = {
                    let mut v = [0.0];
                    instance.get_real(&[input], &mut v).unwrap();
                    v[0]
                };
                instance
                    .set_real(&[input], &[old + 1.0 + f64::from(k)])
                    .unwrap();
                for (seen, moved) in seen.iter_mut().zip(moved(&before, &read(&mut instance))) {
                    *seen |= moved;
                }
                instance.restore(&state).unwrap();
            }
            for ((_, output), seen) in outputs.iter().zip(seen) {
                let said = during[output].contains(&input_name);
                assert_eq!(said, seen, "{name}: does {output} depend on {input_name}?");
                found_any[0] += usize::from(seen);
            }
        }

        // At the start: inputs and parameters.
        let plain = {
            let mut instance = fresh();
            instance.initialize(0.0, f64::INFINITY, 0.0).unwrap();
            read(&mut instance)
        };
        for (known, known_name) in of(Causality::Input)
            .into_iter()
            .chain(of(Causality::Parameter))
        {
            let mut instance = fresh();
            let mut value = [0.0];
            instance.get_real(&[known], &mut value).unwrap();
            instance
                .set_real(&[known], &[1.25 * value[0] + 0.5])
                .unwrap();
            instance.initialize(0.0, f64::INFINITY, 0.0).unwrap();
            let after = read(&mut instance);
            for ((_, output), seen) in outputs.iter().zip(moved(&plain, &after)) {
                // One way only: what is multiplied by zero at the start (a damper at rest) is declared all the same.
                let said = initially[output].contains(&known_name);
                assert!(
                    said || !seen,
                    "{name}: at the start {output} depends on {known_name}"
                );
                found_any[1] += usize::from(seen);
            }
        }
    }
    assert!(found_any.iter().all(|n| *n > 5), "{found_any:?}");
}

fn biela(arguments: &[&str], variable: Option<&Path>, folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_biela"));
    command
        .args(arguments)
        .current_dir(folder)
        .env_remove("BIELA_LIBRARY");
    if let Some(path) = variable {
        command.env("BIELA_LIBRARY", path);
    }
    command.output().expect("biela starts")
}

#[test]
fn the_command_packs_and_checks_the_library() {
    let scratch = Scratch::new("fmi-command");
    let here = scratch.path();
    let crank = model("slider_crank");
    let crank = crank.to_str().unwrap();
    let shared = library().shared.to_str().unwrap();

    let said = expect_success(
        "pack",
        &biela(&["pack", crank, "--library", shared], None, here),
    );
    assert!(
        said.contains("slider_crank.fmu") && said.contains("FMI 2.0"),
        "{said}"
    );
    let first = fs::read(here.join("slider_crank.fmu")).unwrap();
    let again = ["pack", crank, "-o", "again.fmu", "--fmi", "2"];
    expect_success("pack", &biela(&again, Some(Path::new(shared)), here));
    assert!(
        first == fs::read(here.join("again.fmu")).unwrap(),
        "not the same bytes"
    );
    expect_success(
        "pack",
        &biela(
            &[
                "pack",
                crank,
                "--fmi",
                "3",
                "--out",
                "three.fmu",
                "--library",
                shared,
            ],
            None,
            here,
        ),
    );
    assert!(fs::read(here.join("three.fmu")).unwrap() != first);

    let refused = |arguments: &[&str], variable: Option<&Path>, named: &str| {
        let output = biela(arguments, variable, here);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(named), "{said}");
        assert!(!here.join("x.fmu").exists());
    };
    refused(
        &["pack", crank, "-o", "x.fmu", "--library", "nowhere.so"],
        None,
        "nowhere.so",
    );
    refused(
        &["pack", crank, "-o", "x.fmu"],
        Some(Path::new("nowhere.so")),
        "nowhere.so",
    );
    refused(
        &["pack", crank, "-o", "x.fmu", "--library", crank],
        None,
        "cannot be opened as a library",
    );
    refused(
        &["pack", "nothing.toml", "-o", "x.fmu"],
        None,
        "nothing.toml",
    );
    refused(&["pack", crank, "-o", "x.fmu", "--fmi", "1"], None, "--fmi");
    if let Some(compiler) = tool("cc") {
        fs::write(
            here.join("old.c"),
            "const char *biela_version(void) { return \"0.0.1\"; }\n",
        )
        .unwrap();
        let built = Command::new(compiler)
            .args(["-shared", "-fPIC", "-o", "old.so", "old.c"])
            .current_dir(here)
            .output()
            .unwrap();
        expect_success("cc", &built);
        refused(
            &["pack", crank, "-o", "x.fmu", "--library", "old.so"],
            None,
            "version 0.0.1",
        );
    }
    fs::write(
        here.join("empty.toml"),
        "format = 1\nname = \"empty\"\n[system]\nmass = [[1.0]]\n",
    )
    .unwrap();
    refused(&["pack", "empty.toml", "-o", "x.fmu"], None, "at least one");
    let copy = here.join("model.toml");
    fs::copy(crank, &copy).unwrap();
    refused(
        &[
            "pack",
            "model.toml",
            "-o",
            "model.toml",
            "--library",
            shared,
        ],
        None,
        "overwrite",
    );
}

#[test]
#[cfg(target_os = "linux")]
fn the_library_needs_nothing_but_the_c_library() {
    let Some(objdump) = tool("objdump") else {
        skip("objdump is not installed: what the library needs is not looked at");
        return;
    };
    let output = Command::new(objdump)
        .arg("-p")
        .arg(&library().shared)
        .output()
        .unwrap();
    let listing = expect_success("objdump", &output);
    let needed: Vec<&str> = listing
        .lines()
        .filter_map(|line| line.trim().strip_prefix("NEEDED"))
        .map(str::trim)
        .collect();
    assert!(!needed.is_empty());
    for name in needed {
        let usual = ["libc.so", "libm.so", "libgcc_s.so", "ld-linux"];
        assert!(usual.iter().any(|u| name.starts_with(u)), "{name}");
    }
}

#[test]
fn a_packed_unit_is_small() {
    if !library()
        .shared
        .components()
        .any(|part| part.as_os_str() == "release")
    {
        return;
    }
    let scratch = Scratch::new("fmi-size");
    for standard in BOTH {
        let archive = crate::fmi_host::pack(&model("slider_crank"), standard, &scratch);
        let size = fs::metadata(archive).unwrap().len();
        assert!(size <= 2_500_000, "{size} bytes");
    }
}

#[test]
fn descriptions_definitions_and_parts_go_into_the_archive() {
    let scratch = Scratch::new("described");
    let part = "format = 1\ndimension = 2\n[[body]]\nname = \"arm\"\nmass = 1\ninertia = 0.1\nposition = [0.5, 0]\n\
                [[joint]]\nname = \"pin\"\ntype = \"revolute\"\nbodies = [\"ground\", \"arm\"]\npoint = [0, 0]\n\
                [[output]]\nname = \"angle\"\nsource = \"pin.position\"\ndescription = \"of the arm\"\nmax = \"180 deg\"\n";
    let whole = "format = 1\nname = \"whole\"\ndimension = 2\ndescription = \"Two arms & a weight\"\nauthor = \"A. Author\"\n\
                 version = \"1.2\"\nlicense = \"MIT\"\n[define]\nm = \"250 g\"\n[[include]]\nfile = \"parts/arm.toml\"\n\
                 prefix = \"a_\"\n[[body]]\nname = \"weight\"\nmass = \"4*m\"\ninertia = 1\nposition = [2, 0]\n\
                 [[parameter]]\nname = \"quarter\"\ntarget = \"define.m\"\nnominal = \"1 kg\"\nmin = 0\n";
    fs::create_dir_all(scratch.path().join("parts")).unwrap();
    fs::write(scratch.path().join("parts/arm.toml"), part).unwrap();
    let file = scratch.path().join("whole.toml");
    fs::write(&file, whole).unwrap();
    for standard in BOTH {
        let contents = package::contents(&file, standard).unwrap_or_else(|e| panic!("{e}"));
        let text = |name: &str| {
            let found = contents.files.iter().find(|(other, _)| other == name);
            let (_, bytes) = found.unwrap_or_else(|| panic!("no {name}"));
            String::from_utf8(bytes.clone()).unwrap()
        };
        assert_eq!(text("resources/parts/arm.toml"), part);
        let xml = text("modelDescription.xml");
        for fragment in [
            "description=\"Two arms &amp; a weight\"",
            "author=\"A. Author\"",
            "version=\"1.2\"",
            "license=\"MIT\"",
            "name=\"a_angle\"",
            "description=\"of the arm\"",
            "max=\"3.141592653589793\"",
            "variability=\"fixed\"",
            "nominal=\"1.0\"",
            "start=\"0.25\"",
        ] {
            assert!(xml.contains(fragment), "{fragment}\n{xml}");
        }
    }
}

/// Every capability flag of co-simulation in the schema of a standard.
fn flags(standard: FmiStandard) -> &'static [&'static str] {
    match standard {
        FmiStandard::Two => &[
            "needsExecutionTool",
            "canHandleVariableCommunicationStepSize",
            "canInterpolateInputs",
            "maxOutputDerivativeOrder",
            "canRunAsynchronuously",
            "canBeInstantiatedOnlyOncePerProcess",
            "canNotUseMemoryManagementFunctions",
            "canGetAndSetFMUstate",
            "canSerializeFMUstate",
            "providesDirectionalDerivative",
        ],
        FmiStandard::Three => &[
            "needsExecutionTool",
            "canBeInstantiatedOnlyOncePerProcess",
            "canGetAndSetFMUState",
            "canSerializeFMUState",
            "providesDirectionalDerivatives",
            "providesAdjointDerivatives",
            "providesPerElementDependencies",
            "canHandleVariableCommunicationStepSize",
            "fixedInternalStepSize",
            "maxOutputDerivativeOrder",
            "recommendedIntermediateInputSmoothness",
            "providesIntermediateUpdate",
            "mightReturnEarlyFromDoStep",
            "canReturnEarlyAfterIntermediateUpdate",
            "hasEventMode",
            "providesEvaluateDiscreteStates",
        ],
    }
}

#[test]
fn the_tables_of_the_manual_have_every_capability_flag_as_the_description_says_it() {
    let manual = fs::read_to_string(root().join("docs/fmi.md")).unwrap();
    for standard in BOTH {
        let contents = package::contents(&model("slider_crank"), standard).unwrap();
        let text = String::from_utf8(contents.files[0].1.clone()).unwrap();
        let start = text.find("<CoSimulation ").unwrap();
        let element = &text[start..start + text[start..].find("/>").unwrap()];
        let attributes: BTreeMap<&str, &str> = element
            .split_whitespace()
            .skip(1)
            .map(|word| word.split_once('=').unwrap())
            .map(|(name, value)| (name, value.trim_matches('"')))
            .collect();
        let heading = format!("| flag of FMI {} Co-Simulation", standard.version());
        let rows: Vec<[&str; 2]> = manual
            .lines()
            .skip_while(|line| !line.starts_with(&heading))
            .take_while(|line| line.starts_with('|'))
            .map(|line| {
                let mut cells = line.split('|').skip(1).map(str::trim);
                [cells.next().unwrap(), cells.next().unwrap()]
            })
            .collect();
        for flag in flags(standard) {
            let quoted = format!("`{flag}`");
            let row = rows.iter().find(|[names, _]| names.contains(&quoted));
            let Some([_, here]) = row else {
                panic!("{flag} is not in the table of FMI {}", standard.version());
            };
            let said = match *here {
                "yes" => Some("true"),
                "no" => None,
                other => Some(other),
            };
            assert_eq!(attributes.get(flag).copied(), said, "{flag}");
        }
        for name in attributes.keys().filter(|name| **name != "modelIdentifier") {
            assert!(flags(standard).contains(name), "{name} is no flag");
        }
    }
}
