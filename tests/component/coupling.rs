//! The component inside a co-simulation: how the communication step matters, and two halves of a mechanism that a host
//! couples converge to the whole.

use crate::common::slider_crank_model;
use biela::component::{Extrapolation, Instance};
use biela::model::Model;

/// Values of some variables.
fn read<const N: usize>(instance: &mut Instance, references: [u32; N]) -> [f64; N] {
    let mut values = [0.0; N];
    instance.get_real(&references, &mut values).unwrap();
    values
}

// --- communication steps --------------------------------------------------------------------------------------------

const STOP: u32 = 3;

/// Crank angle and speed, slider position and speed at t = 1, 2, .. with communication steps of 1 s over `parts`.
fn crank(tolerance: f64, parts: u32) -> Vec<[f64; 4]> {
    let mut model = slider_crank_model();
    model.solver.tolerance = tolerance;
    let mut instance = Instance::from_model(model).unwrap();
    let names = ["crank_angle", "crank_speed", "slider_x", "slider_v"];
    let references = names.map(|name| instance.find(name).unwrap());
    let tau = instance.find("tau").unwrap();
    instance.set_real(&[tau], &[0.3]).unwrap();
    instance.initialize(0.0, f64::INFINITY, 0.0).unwrap();
    let mut rows = vec![];
    for second in 0..STOP {
        for k in 0..parts {
            let t = f64::from(second) + f64::from(k) / f64::from(parts);
            let end = f64::from(second) + f64::from(k + 1) / f64::from(parts);
            instance.step(t, end - t).unwrap();
        }
        rows.push(read(&mut instance, references));
    }
    rows
}

/// Largest difference, each value over the largest of its kind.
fn distance(rows: &[[f64; 4]], reference: &[[f64; 4]]) -> f64 {
    let mut largest: f64 = 0.0;
    for k in 0..4 {
        let size = reference.iter().fold(1.0, |m: f64, r| m.max(r[k].abs()));
        for (a, b) in rows.iter().zip(reference) {
            largest = largest.max((a[k] - b[k]).abs() / size);
        }
    }
    largest
}

#[test]
fn the_communication_step_costs_at_most_a_factor_of_two_in_accuracy() {
    // By the same code at a tolerance far below those compared; how good it is, its own neighbour says.
    let reference = crank(1e-12, 1);
    let doubt = distance(&crank(1e-11, 1), &reference);
    let full = std::env::var("BIELA_TEST_FULL").as_deref() == Ok("1");
    let mut at_one = vec![];
    for tolerance in [1e-4, 1e-5, 1e-6] {
        let error = |parts: u32| distance(&crank(tolerance, parts), &reference);
        let whole = error(1);
        assert!(
            doubt < 0.05 * whole,
            "reference {doubt:.1e}, error {whole:.1e}"
        );
        // The finest steps at the ends of the range, everywhere in the long run.
        let finest = [1e-4, 1e-6].contains(&tolerance) || full;
        let all = [10, 100, 1_000, 10_000];
        for parts in all.into_iter().filter(|&parts| parts < 10_000 || finest) {
            let found = error(parts);
            assert!(
                found <= 2.0 * whole,
                "tolerance {tolerance:.0e}, H = 1/{parts}: {found:.2e}, H = 1: {whole:.2e}"
            );
        }
        at_one.push(whole);
    }
    // Over two decades of tolerance at least two decades of error.
    let fall = at_one[2] / at_one[0];
    assert!(fall <= 1e-2, "{at_one:?}");
}

// --- two halves -----------------------------------------------------------------------------------------------------

/// Spring and damper between the blocks.
const K: f64 = 40.0;
const C: f64 = 0.5;

fn block(name: &str, mass: f64, x: f64, v: f64) -> String {
    format!(
        "[[body]]\nname = \"{name}\"\nmass = {mass}\ninertia = 1.0\nposition = [{x}, 0.0]\nvelocity = [{v}, 0.0]\n\
         [[joint]]\nname = \"{name}_rail\"\ntype = \"prismatic\"\nbodies = [\"ground\", \"{name}\"]\n\
         point = [{x}, 0.0]\naxis = [1.0, 0.0]\nposition = {x}\n\
         [[force]]\nname = \"{name}_spring\"\ntype = \"spring_damper\"\nbodies = [\"ground\", \"{name}\"]\n\
         points = [[-10.0, 0.0], [0.0, 0.0]]\nstiffness = {}\nlength = {}\n",
        30.0 * mass,
        10.0 + x
    )
}

const HEAD: &str = "format = 1\nname = \"blocks\"\ndimension = 2\n[solver]\ntolerance = 1e-10\n";

fn outputs(name: &str) -> String {
    ["position", "speed", "acceleration"]
        .map(|f| format!("[[output]]\nname = \"{name}_{f}\"\nsource = \"{name}_rail.{f}\"\n"))
        .concat()
}

fn instance(text: &str) -> Instance {
    let model = Model::from_text(text, "blocks").unwrap_or_else(|e| panic!("{e}"));
    Instance::from_model(model).unwrap()
}

/// Both blocks in one model.
fn whole() -> Instance {
    let coupling = format!(
        "[[force]]\nname = \"between\"\ntype = \"spring_damper\"\nbodies = [\"left\", \"right\"]\n\
         points = [[0.0, 0.0], [0.0, 0.0]]\nstiffness = {K}\ndamping = {C}\nlength = 1.0\n"
    );
    let (left, right) = (block("left", 1.0, 0.0, 0.0), block("right", 2.0, 1.0, 1.0));
    instance(&format!(
        "{HEAD}{left}{right}{coupling}{}{}",
        outputs("left"),
        outputs("right")
    ))
}

/// One block with an actuator for the other's force.
fn half(name: &str, mass: f64, x: f64, v: f64) -> Instance {
    let drive = format!(
        "[[force]]\nname = \"other\"\ntype = \"actuator\"\njoint = \"{name}_rail\"\n\
         [[input]]\nname = \"force\"\ntarget = \"other.force\"\n"
    );
    instance(&format!(
        "{HEAD}{}{drive}{}",
        block(name, mass, x, v),
        outputs(name)
    ))
}

#[derive(Clone, Copy, Debug)]
enum Host {
    /// Tells values only, once there are enough of them; until then also derivatives.
    Values(Extrapolation),
    /// Tells derivatives up to this order, from the halves' own outputs.
    Derivatives(u32),
}

const END: f64 = 2.0;

/// Positions and speeds of the coupled halves at the end.
fn coupled(host: Host, steps: u32) -> [f64; 4] {
    let mut halves = [half("left", 1.0, 0.0, 0.0), half("right", 2.0, 1.0, 1.0)];
    let (input, motion) = (0, [1, 2, 3]);
    // Derivatives that are told at step k. A held first step would spoil the order: its error stays.
    let told = |k: u32| match host {
        Host::Values(extrapolation) if k < extrapolation.order() => extrapolation.order(),
        Host::Values(_) => 0,
        Host::Derivatives(order) => order,
    };
    let rates = |halves: &mut [Instance; 2], order: u32| {
        let [left, right] = halves.each_mut().map(|half| {
            let [x, v, a] = read(half, motion);
            // The jerk is a derivative of an output.
            let mut jerk = [0.0];
            if order >= 2 {
                half.output_derivatives(&[3], &[1], &mut jerk).unwrap();
            }
            [x, v, a, jerk[0]]
        });
        // F = k (x₂ − x₁ − 1) + c (v₂ − v₁) and its derivatives
        let d: [f64; 4] = std::array::from_fn(|i| right[i] - left[i]);
        [
            K * (d[0] - 1.0) + C * d[1],
            K * d[1] + C * d[2],
            K * d[2] + C * d[3],
        ]
    };
    for half in &mut halves {
        if let Host::Values(extrapolation) = host {
            half.set_extrapolation(extrapolation);
        }
        half.initialize(0.0, f64::INFINITY, 0.0).unwrap();
    }
    let h = END / f64::from(steps);
    for k in 0..steps {
        let t = END * f64::from(k) / f64::from(steps);
        // The force depends on accelerations and they on the force: a few rounds settle it.
        let order = told(k);
        let rounds = if order > 0 { 4 } else { 1 };
        for _ in 0..rounds {
            let force = rates(&mut halves, order);
            for (half, sign) in halves.iter_mut().zip([1.0, -1.0]) {
                half.set_real(&[input], &[sign * force[0]]).unwrap();
                for i in 1..=order {
                    let rate = [sign * force[i as usize]];
                    half.set_input_derivatives(&[input], &[i], &rate).unwrap();
                }
            }
        }
        for half in &mut halves {
            half.step(half.time(), h.max(t + h - half.time())).unwrap();
        }
    }
    let [left, right] = halves.each_mut().map(|half| read(half, [1, 2]));
    [left[0], left[1], right[0], right[1]]
}

#[test]
fn coupled_halves_converge_to_the_whole_faster_with_derivatives() {
    let mut one = whole();
    one.initialize(0.0, f64::INFINITY, 0.0).unwrap();
    one.step(0.0, END).unwrap();
    let references = [
        "left_position",
        "left_speed",
        "right_position",
        "right_speed",
    ];
    let references = references.map(|name| one.find(name).unwrap());
    let exact = read(&mut one, references);
    let error = |host: Host, steps: u32| {
        let found = coupled(host, steps);
        let squares = found.iter().zip(&exact).map(|(a, b)| (a - b) * (a - b));
        squares.sum::<f64>().sqrt()
    };
    // Explicit exchange of what is continued with an error of H^(n+1) converges with order n + 1.
    for (host, order) in [
        (Host::Values(Extrapolation::Hold), 1.0),
        (Host::Values(Extrapolation::Linear), 2.0),
        (Host::Values(Extrapolation::Quadratic), 3.0),
        (Host::Derivatives(1), 2.0),
        (Host::Derivatives(2), 3.0),
    ] {
        let errors = [200, 400, 800].map(|steps| error(host, steps));
        let slopes = [errors[0] / errors[1], errors[1] / errors[2]].map(f64::log2);
        println!("{host:?}: errors {errors:?}, orders {slopes:.2?}");
        for slope in slopes {
            assert!(
                (slope - order).abs() < 0.25,
                "{host:?}: {errors:?} {slopes:?}"
            );
        }
    }
}
