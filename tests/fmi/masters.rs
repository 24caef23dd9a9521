//! Units in the hands of real importers and masters: FMPy, Ecos, libcosim, HELICS, and C programs written against the
//! standards' own headers. Python and its packages are fetched once; without them these tests say SKIP.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::fmi_host::{
    BOTH, Unpacked, for_this_machine, full, model, models, official_headers, pack, python, script,
};
use crate::host::{Scratch, expect_success, library, root, skip, tool};
use biela::component::{Causality, Instance};
use biela::fmi::FmiStandard;
use serde_json::json;

/// Their motion magnifies a rounding a thousandfold within two seconds, or passes a position where it may go two ways:
/// masters with other clocks need not agree on them.
const SENSITIVE: [&str; 2] = ["double_pendulum", "double_four_bar"];

/// Compared with masters whose clocks round in their own way.
const STEADY: [&str; 5] = [
    "slider_crank",
    "four_bar",
    "oscillator",
    "coupled_crank",
    "coupled_cart",
];

fn biela(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_biela"))
        .args(arguments)
        .current_dir(root())
        .output()
        .expect("biela starts");
    expect_success(&format!("biela {arguments:?}"), &output)
}

#[test]
fn fmpy_finds_nothing_to_complain_about_in_any_model() {
    if python().is_none() {
        return;
    }
    let scratch = Scratch::new("fmi-validate");
    let archives: Vec<PathBuf> = models()
        .iter()
        .flat_map(|model| BOTH.map(|standard| pack(model, standard, &scratch)))
        .collect();
    script("validate.py", &json!(archives));
}

/// A unit whose model says `error_bars = true` when it is packed has the bars as outputs, and FMPy shows them.
#[test]
fn fmpy_shows_the_error_bars_of_a_unit() {
    if python().is_none() {
        return;
    }
    let scratch = Scratch::new("fmi-error-bars");
    let text = fs::read_to_string(root().join("models/double_pendulum.toml")).expect("model");
    let path = scratch.path().join("double_pendulum.toml");
    fs::write(&path, format!("{text}\n[solver]\naccuracy = 1e-4\n")).expect("written");
    let tasks: Vec<_> = BOTH
        .map(|standard| pack(&path, standard, &scratch))
        .into_iter()
        .collect();
    let _ = script("error_bars.py", &json!(tasks));
}

/// A cart on a spring that carries a driven pendulum, with outputs for all states and their derivatives.
const CART: &str = r#"
format = 1
name = "cart"
dimension = 2
gravity = [0.0, -9.81]
[[body]]
name = "cart"
mass = 2.0
inertia = 0.1
velocity = [0.4, 0.0]
[[body]]
name = "rod"
mass = 0.7
inertia = 0.05
position = [0.3, -0.4]
velocity = [0.4, 0.0]
[[joint]]
name = "slide"
type = "prismatic"
bodies = ["ground", "cart"]
point = [0.0, 0.0]
axis = [1.0, 0.0]
[[joint]]
name = "pin"
type = "revolute"
bodies = ["cart", "rod"]
point = [0.0, 0.0]
[[force]]
name = "spring"
type = "spring_damper"
bodies = ["ground", "cart"]
points = [[-1.0, 0.2], [0.0, 0.0]]
stiffness = 50.0
damping = 0.8
length = 0.9
[[force]]
name = "motor"
type = "actuator"
joint = "pin"
[[input]]
name = "torque"
target = "motor.torque"
start = 0.5
"#;

#[test]
fn fmpy_builds_the_linear_model_from_directional_derivatives() {
    if python().is_none() {
        return;
    }
    let (steps, h) = (4, 0.125);
    let names = ["slide.position", "pin.position", "slide.speed", "pin.speed"];
    let more = [
        "slide.acceleration",
        "pin.acceleration",
        "slide.fy",
        "energy.kinetic",
    ];
    let outputs: Vec<String> = (names.iter().chain(&more))
        .map(|n| n.replace('.', "_"))
        .collect();
    let mut text = CART.to_owned();
    for (name, source) in outputs.iter().zip(names.iter().chain(&more)) {
        text += &format!("[[output]]\nname = \"{name}\"\nsource = \"{source}\"\n");
    }
    let scratch = Scratch::new("fmi-linear");
    let path = scratch.path().join("cart.toml");
    fs::write(&path, text).unwrap();
    let mut instance = Instance::from_file(&path).unwrap();
    instance.initialize(0.0, 10.0, 0.0).unwrap();
    for k in 0..steps {
        instance.step(f64::from(k) * h, h).unwrap();
    }
    let linear = instance.linearize().unwrap();
    assert_eq!(
        (&linear.states[..], &linear.outputs),
        (&names.map(String::from)[..], &outputs)
    );
    let rows = |matrix: &[f64], width: usize| -> Vec<Vec<f64>> {
        matrix.chunks(width).map(<[f64]>::to_vec).collect()
    };
    // The derivative of a state: the output two places on.
    let states: Vec<[&String; 2]> = (0..4).map(|i| [&outputs[i], &outputs[i + 2]]).collect();
    let units = BOTH.map(|standard| pack(&path, standard, &scratch));
    script(
        "linear_fmu.py",
        &json!({
            "units": units, "steps": steps, "h": h, "states": states, "inputs": linear.inputs, "outputs": outputs,
            "A": rows(&linear.a, 4), "B": rows(&linear.b, 1), "C": rows(&linear.c, 4), "D": rows(&linear.d, 1),
        }),
    );
}

/// One C host against the official header of its standard, with an input driven; the path of what it printed.
fn c_host(
    unit: &Unpacked,
    standard: FmiStandard,
    scratch: &Scratch,
    steps: u32,
    h: f64,
) -> Option<PathBuf> {
    let headers = official_headers()?;
    let compiler = ["cc", "gcc", "clang"]
        .into_iter()
        .find_map(tool)
        .or_else(|| {
            skip("no C compiler: the official headers are not tried");
            None
        })?;
    let name = format!("fmi{}", &standard.version()[..1]);
    let program = scratch.path().join(&name);
    let output = Command::new(compiler)
        .args([
            "-std=c11",
            "-O1",
            "-g",
            "-Wall",
            "-Wextra",
            "-Wpedantic",
            "-Werror",
            "-isystem",
        ])
        .arg(headers)
        .arg("-o")
        .arg(&program)
        .arg(root().join(format!("c_tests/{name}.c")))
        .args(["-ldl", "-lm"])
        .output()
        .expect("the compiler starts");
    expect_success(&name, &output);
    let instance = Instance::from_file(&model("slider_crank")).unwrap();
    let [input, output] = ["tau", "slider_x"].map(|name| instance.find(name).unwrap().to_string());
    let ran = Command::new(&program)
        .arg(&library().shared)
        .arg(unit.resources())
        .arg(&unit.contents.token)
        .args([input, output, steps.to_string(), format!("{h:?}")])
        .output()
        .expect("the host starts");
    let printed = expect_success(&name, &ran);
    let path = scratch.path().join(format!("{name}.txt"));
    fs::write(&path, printed).unwrap();
    Some(path)
}

#[test]
fn every_master_gets_the_same_trajectory() {
    if python().is_none() {
        return;
    }
    let scratch = Scratch::new("fmi-masters");
    let constant = 0.25;
    let mut tasks = Vec::new();
    for path in models() {
        let name = path.file_stem().unwrap().to_str().unwrap();
        if path.extension().is_some_and(|e| e == "json") {
            continue;
        }
        let instance = Instance::from_file(&path).unwrap();
        // Two seconds, or as long as the model is meant to run.
        let span = instance.model().experiment.stop.min(2.0);
        let h = if span < 0.5 { span / 20.0 } else { 0.01 };
        let steps = match SENSITIVE.contains(&name) {
            true => 20,
            false => (span / h).round() as u32,
        };
        let stop = format!("{:?}", f64::from(steps) * h);
        let csv = scratch.path().join(format!("{name}.csv"));
        let csv = csv.to_str().unwrap();
        let step = format!("{h:?}");
        let mut arguments = vec![
            "run",
            path.to_str().unwrap(),
            "--stop",
            &stop,
            "--communication",
            &step,
        ];
        arguments.extend(["--interval", &step, "--out", csv]);
        let sets: Vec<String> = (instance.variables().iter())
            .filter(|v| v.causality == Causality::Input)
            .map(|v| format!("{}={constant}", v.name))
            .collect();
        for set in &sets {
            arguments.extend(["--set", set]);
        }
        biela(&arguments);
        let mut task = json!({
            "name": name, "steps": steps, "h": h, "constant": constant, "csv": csv, "output": "slider_x",
            "strict": STEADY.contains(&name),
            "fmi2": pack(&path, FmiStandard::Two, &scratch), "fmi3": pack(&path, FmiStandard::Three, &scratch),
        });
        if name == "slider_crank" {
            for standard in BOTH {
                let unit = Unpacked::new(&path, standard, &scratch);
                let key = format!("c{}", &standard.version()[..1]);
                task[key] = json!(c_host(&unit, standard, &scratch, steps, h));
            }
        }
        tasks.push(task);
    }
    for name in STEADY {
        assert!(
            tasks.iter().any(|task| task["name"] == name),
            "{name} is gone"
        );
    }
    let _ = script("masters.py", &json!(tasks));
}

/// fmusim (of the Reference FMUs, up to 0.0.39) is in no registry: it is taken from the path or from FMUSIM.
#[test]
fn fmusim_takes_the_units_without_a_message() {
    let named = std::env::var_os("FMUSIM").map(PathBuf::from);
    let Some(program) = named.or_else(|| tool("fmusim")) else {
        skip("fmusim is not installed: set FMUSIM to a build of it to try the units there");
        return;
    };
    let scratch = Scratch::new("fmi-fmusim");
    for standard in BOTH {
        for name in STEADY {
            let archive = pack(&model(name), standard, &scratch);
            let output = Command::new(&program)
                .args(["--interface-type", "cs", "--stop-time", "1"])
                .args(["--output-interval", "0.01", "--output-file"])
                .arg(scratch.path().join("rows.csv"))
                .arg(archive)
                .output()
                .expect("fmusim starts");
            let printed = expect_success("fmusim", &output);
            assert_eq!(printed.trim(), "", "{name}");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(said.trim(), "", "{name}");
        }
    }
}

#[test]
fn a_mechanism_cut_in_two_approaches_the_whole_as_the_step_shrinks() {
    if python().is_none() {
        return;
    }
    let scratch = Scratch::new("fmi-coupled");
    let stop = 1.0;
    let mut whole = Instance::from_file(&model("coupled_whole")).unwrap();
    whole.initialize(0.0, stop, 1e-10).unwrap();
    whole.step(0.0, stop).unwrap();
    let names: Vec<(u32, String)> = (0..)
        .zip(whole.variables())
        .map(|(reference, v)| (reference, v.name.clone()))
        .collect();
    let mut values = serde_json::Map::new();
    for (reference, name) in names {
        let mut value = [0.0];
        whole.get_real(&[reference], &mut value).unwrap();
        values.insert(name, json!(value[0]));
    }
    let archive = |name: &str, standard| pack(&model(name), standard, &scratch);
    script(
        "coupled.py",
        &json!({
            "crank2": archive("coupled_crank", FmiStandard::Two), "crank3": archive("coupled_crank", FmiStandard::Three),
            "cart2": archive("coupled_cart", FmiStandard::Two), "cart3": archive("coupled_cart", FmiStandard::Three),
            "whole": values, "stop": stop, "steps": [0.01, 0.005, 0.0025, 0.00125],
        }),
    );
}

#[test]
fn what_follows_a_saved_state_has_the_same_bits_also_in_a_fresh_process() {
    if python().is_none() {
        return;
    }
    let scratch = Scratch::new("fmi-continuation");
    let names = [
        "slider_crank",
        "double_pendulum",
        "double_oscillator",
        "four_bar",
    ];
    let units: Vec<PathBuf> = names
        .iter()
        .flat_map(|name| BOTH.map(|standard| pack(&model(name), standard, &scratch)))
        .collect();
    let points = if full() { 100 } else { 8 };
    script(
        "continuation.py",
        &json!({"units": units, "points": points, "steps": 200, "h": 0.01, "seed": 8}),
    );
}

#[test]
fn the_examples_in_python_run() {
    let Some(python) = python() else { return };
    let scratch = Scratch::new("fmi-examples");
    let archive = |name: &str| pack(&model(name), FmiStandard::Two, &scratch);
    let example = |name: &str, units: &[PathBuf]| {
        let output = Command::new(&python)
            .arg(root().join("examples/python").join(name))
            .args(units)
            .output()
            .expect("python starts");
        expect_success(name, &output)
    };
    let printed = example("fmpy_slider_crank.py", &[archive("slider_crank")]);
    assert_eq!(printed.lines().count(), 41, "{printed}");

    let printed = example(
        "helics_two_units.py",
        &[archive("coupled_crank"), archive("coupled_cart")],
    );
    // The whole mechanism at the same time. Forces are held for 2 ms and heard one step later: errors of a few
    // milliseconds of motion at up to 1 m/s.
    let mut whole = Instance::from_file(&model("coupled_whole")).unwrap();
    whole.initialize(0.0, 1.0, 0.0).unwrap();
    whole.step(0.0, 1.0).unwrap();
    for name in ["slider_x", "cart_x"] {
        let mut exact = [0.0];
        whole
            .get_real(&[whole.find(name).unwrap()], &mut exact)
            .unwrap();
        let line = printed.lines().find(|line| line.starts_with(name)).unwrap();
        let found: f64 = line.rsplit(' ').next().unwrap().parse().unwrap();
        assert!(
            (found - exact[0]).abs() < 5e-3,
            "{name}: {found}, the whole has {}",
            exact[0]
        );
    }
    let mut found: Vec<String> = fs::read_dir(root().join("examples/python"))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("fmpy") || name.starts_with("helics"))
        .collect();
    found.sort();
    assert_eq!(found, ["fmpy_slider_crank.py", "helics_two_units.py"]);
}

#[test]
fn the_overhead_in_ecos_is_that_of_a_unit_written_by_hand() {
    let (Some(_), Some(compiler)) = (python(), tool("cc")) else {
        return;
    };
    let scratch = Scratch::new("fmi-overhead");
    let library = scratch.path().join("trivial.so");
    let built = Command::new(compiler)
        .args(["-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-o"])
        .arg(&library)
        .arg(root().join("c_tests/trivial_unit.c"))
        .output()
        .unwrap();
    expect_success("trivial_unit.c", &built);
    let trivial = scratch.path().join("trivial.fmu");
    write_trivial(&trivial, &fs::read(library).unwrap());

    // The cheapest steps there are, so that what is beside them can be seen.
    let small = scratch.path().join("small.toml");
    let text = "format = 1\nname = \"small\"\n[solver]\nstep = 1e-3\ncorrector = \"off\"\n[system]\nmass = [[1.0]]\n\
                stiffness = [[4.0]]\nposition = [1.0]\nvelocity = [0.0]\n[[input]]\nname = \"u\"\ntarget = \"f1\"\n\
                [[output]]\nname = \"q\"\nsource = \"q1\"\n";
    fs::write(&small, text).unwrap();
    let (rounds, steps, h) = (30, 2000, 1e-3);
    let mut alone = f64::INFINITY;
    for _ in 0..rounds {
        let mut instance = Instance::from_file(&small).unwrap();
        instance.initialize(0.0, f64::INFINITY, 0.0).unwrap();
        let step = |instance: &mut Instance, k: u32| instance.step(f64::from(k) * h, h).unwrap();
        (0..10).for_each(|k| step(&mut instance, k));
        let began = std::time::Instant::now();
        (10..10 + steps).for_each(|k| step(&mut instance, k));
        alone = alone.min(began.elapsed().as_secs_f64() / f64::from(steps));
    }
    let task = json!({
        "trivial": trivial, "unit": pack(&small, FmiStandard::Two, &scratch),
        "alone_ns": alone * 1e9, "steps": steps, "rounds": rounds, "h": h,
    });
    let Some(printed) = script("overhead.py", &task) else {
        return;
    };
    let number = |after: &str| {
        let rest = printed.split(after).nth(1).unwrap().trim_start();
        rest.split(' ').next().unwrap().parse::<f64>().unwrap()
    };
    let (trivial, overhead) = (number("trivial"), number("overhead"));
    let said = printed.trim();
    println!("{said}");
    if full() {
        assert!(overhead < 2.0 * trivial, "{said}");
    } else {
        // A machine that is busy with other tests measures those too.
        assert!(overhead < 10.0 * trivial + alone * 1e9, "{said}");
    }
}

/// The smallest archive for `c_tests/trivial_unit.c`.
fn write_trivial(path: &Path, library: &[u8]) {
    use biela::fmi::package::{PackageContents, archive};
    let description = r#"<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="trivial" guid="trivial">
  <CoSimulation modelIdentifier="trivial" canHandleVariableCommunicationStepSize="true"/>
  <ModelVariables>
    <ScalarVariable name="u" valueReference="0" causality="input"><Real start="0"/></ScalarVariable>
    <ScalarVariable name="y" valueReference="1" causality="output" initial="calculated"><Real/></ScalarVariable>
    <ScalarVariable name="k" valueReference="2" causality="parameter" variability="tunable"><Real start="1"/></ScalarVariable>
  </ModelVariables>
  <ModelStructure>
    <Outputs><Unknown index="2"/></Outputs>
    <InitialUnknowns><Unknown index="2"/></InitialUnknowns>
  </ModelStructure>
</fmiModelDescription>
"#;
    let contents = PackageContents {
        identifier: "trivial".to_owned(),
        token: "trivial".to_owned(),
        files: vec![(
            "modelDescription.xml".to_owned(),
            description.as_bytes().to_vec(),
        )],
    };
    fs::write(
        path,
        archive(&contents, FmiStandard::Two, &for_this_machine(library)).unwrap(),
    )
    .unwrap();
}
