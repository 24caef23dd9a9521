//! Static equilibria and modes against closed forms and published numbers, in all five formulations.

use std::fmt::Write as _;

use biela::model::{FormulationName, Model};
use biela::{EquilibriumReport, Error, Instance, Mode};
use nalgebra::{Complex, DMatrix};

use super::compared::{FORMULATIONS, text};
use super::spatial::{bricard, four_bars};

fn started(model: &Model, formulation: FormulationName) -> Instance {
    let mut model = model.clone();
    model.solver.formulation = formulation;
    let mut instance = Instance::from_model(model).unwrap();
    instance.initialize(0.0, 10.0, 0.0).unwrap();
    instance
}

fn value(instance: &mut Instance, name: &str) -> f64 {
    let mut value = [f64::NAN];
    let reference = instance.find(name).unwrap();
    instance.get_real(&[reference], &mut value).unwrap();
    value[0]
}

fn modes(model: &Model, formulation: FormulationName) -> Vec<Mode> {
    started(model, formulation).modes(usize::MAX).unwrap()
}

/// A planar chain of rods of 0.1 m and 0.1 kg through these points; the last one is pinned too if `closed`.
fn rods(points: &[[f64; 2]], closed: bool) -> String {
    let mut t =
        String::from("format = 1\nname = \"rods\"\ndimension = 2\ngravity = [0.0, -9.81]\n");
    for (i, ends) in points.windows(2).enumerate() {
        let [[x0, y0], [x1, y1]] = [ends[0], ends[1]];
        let (x, y, angle) = (0.5 * (x0 + x1), 0.5 * (y0 + y1), (y1 - y0).atan2(x1 - x0));
        // 0.1 kg (0.1 m)² / 12
        let inertia = 1e-3 / 12.0;
        write!(
            t,
            "[[body]]\nname = \"r{i}\"\nmass = 0.1\ninertia = {inertia:e}\nposition = [{x:?}, {y:?}]\nangle = {angle:?}\n\
             [[joint]]\nname = \"j{i}\"\ntype = \"revolute\"\nbodies = [\"{}\", \"r{i}\"]\npoint = [{x0:?}, {y0:?}]\n",
            if i == 0 { "ground".to_owned() } else { format!("r{}", i - 1) }
        )
        .unwrap();
    }
    if closed {
        let (n, [x, y]) = (points.len() - 2, points[points.len() - 1]);
        write!(
            t,
            "[[joint]]\nname = \"end\"\ntype = \"revolute\"\nbodies = [\"r{n}\", \"ground\"]\npoint = [{x:?}, {y:?}]\n\
             [[sensor]]\nname = \"middle\"\nbody = \"r{}\"\npoint = [0.05, 0.0]\n",
            n / 2
        )
        .unwrap();
    }
    t
}

/// A chain of 20 rods between supports 1.2 m apart, as a V with its tip below (-1) or above (1).
fn catenary(side: f64) -> Model {
    let depth = (1.0_f64 - 0.36).sqrt();
    let point = |i: usize| {
        let part = 1.0 - (i as f64 / 10.0 - 1.0).abs();
        [0.06 * i as f64, side * depth * part]
    };
    let points: Vec<[f64; 2]> = (0..=20).map(point).collect();
    text(&rods(&points, true))
}

#[test]
fn a_chain_between_supports_hangs_as_the_reference_says() {
    for side in [-1.0, 1.0] {
        for formulation in FORMULATIONS {
            let mut instance = started(&catenary(side), formulation);
            let report = instance.equilibrium().unwrap();
            assert!(
                report.free.is_empty() && report.unstable.is_empty(),
                "{report:?}"
            );
            // Reference numbers with 13 digits.
            let (force, sag) = (
                value(&mut instance, "j0.fx"),
                value(&mut instance, "middle.y"),
            );
            assert!(
                (force + 3.200073026056).abs() < 1e-9,
                "{formulation:?} {side}: {force}"
            );
            assert!(
                (sag + 0.726905232131).abs() < 1e-9,
                "{formulation:?} {side}: {sag}"
            );
            // It stays there.
            instance.step(0.0, 0.5).unwrap();
            let moved = (value(&mut instance, "middle.y") - sag).abs();
            assert!(moved < 1e-6, "{formulation:?}: {moved}");
        }
    }
}

#[test]
fn a_hanging_chain_has_the_published_frequencies() {
    let published = [
        0.59956986,
        1.38915552,
        2.23539197,
        3.17182645,
        4.22816607,
        5.44671392,
        6.88004495,
        8.59011374,
        10.67857414,
        13.4065453,
    ];
    let points: Vec<[f64; 2]> = (0..=10).map(|i| [0.0, -0.1 * i as f64]).collect();
    let model = text(&rods(&points, false));
    for formulation in FORMULATIONS {
        let found = modes(&model, formulation);
        assert_eq!(found.len(), 10);
        for (mode, expected) in found.iter().zip(published) {
            let off = (mode.frequency - expected).abs();
            // Eight digits are published.
            assert!(off < 1e-8, "{formulation:?}: {} {expected}", mode.frequency);
            assert_eq!(mode.damping, 0.0);
            let energy: f64 = mode.energy.iter().map(|(_, share)| share).sum();
            assert!((energy - 1.0).abs() < 1e-12);
        }
    }
}

#[test]
fn a_long_chain_has_the_frequencies_of_the_hanging_rope() {
    // Rope of length L: J0(4 π f sqrt(L / g)) = 0. A chain of n rods differs by about 1 / n².
    let zeros = [2.404825557695773, 5.520078110286311, 8.653727912911013];
    let points: Vec<[f64; 2]> = (0..=200).map(|i| [0.0, -0.1 * i as f64]).collect();
    let model = text(&rods(&points, false));
    let mut instance = started(&model, FormulationName::Auto);
    let large = instance.modes(12).unwrap();
    assert_eq!(large.len(), 12);
    let dense = instance.modes(200).unwrap();
    for (i, mode) in large.iter().enumerate() {
        let off = (mode.frequency / dense[i].frequency - 1.0).abs();
        // Dense eigenvalues have the rounding of the largest, 1e7 times the first.
        assert!(
            off < 1e-8,
            "mode {i}: {} {}",
            mode.frequency,
            dense[i].frequency
        );
    }
    for (mode, zero) in large.iter().zip(zeros) {
        let rope = zero / (4.0 * std::f64::consts::PI) * (9.81_f64 / 20.0).sqrt();
        assert!(
            (mode.frequency / rope - 1.0).abs() < 1e-3,
            "{} {rope}",
            mode.frequency
        );
    }
}

const TOP: &str = r#"
format = 1
name = "top"
gravity = [0.0, 0.0, -9.81]
[[body]]
name = "rotor"
mass = 2.0
inertia = [0.02, 0.02, 0.03]
position = [0.0, 0.0, 0.3]
angular_velocity = [0.0, 0.0, 200.0]
[[joint]]
name = "tip"
type = "spherical"
bodies = ["ground", "rotor"]
point = [0.0, 0.0, 0.0]
"#;

#[test]
fn a_sleeping_top_has_two_precessions_and_a_free_spin() {
    // I₁ ω² − I₃ Ω ω + m g l = 0 about the tip.
    let (i1, i3, spin, load) = (0.02 + 2.0 * 0.09, 0.03, 200.0, 2.0 * 9.81 * 0.3);
    let root: f64 = f64::sqrt((i3 * spin) * (i3 * spin) - 4.0 * i1 * load);
    let expected = [-1.0, 1.0].map(|sign| (i3 * spin + sign * root) / (2.0 * i1));
    for formulation in FORMULATIONS {
        let found = modes(&text(TOP), formulation);
        let zeros = found.iter().filter(|mode| mode.frequency == 0.0).count();
        assert_eq!((found.len(), zeros), (3, 1), "{formulation:?}: {found:?}");
        for (mode, omega) in found[1..].iter().zip(expected) {
            let off = (std::f64::consts::TAU * mode.frequency / omega - 1.0).abs();
            assert!(off < 1e-9, "{formulation:?}: {off:.1e}");
            assert!(mode.damping.abs() < 1e-9);
        }
    }
}

fn block(rest: &str) -> Model {
    text(&format!(
        "format = 1\nname = \"block\"\ndimension = 2\ngravity = [0.0, -10.0]\n\
         [[body]]\nname = \"b\"\nmass = 2.0\ninertia = 0.1\nposition = [0.3, 1.0]\n{rest}"
    ))
}

fn found(model: &Model) -> (Instance, EquilibriumReport) {
    let mut instance = started(model, FormulationName::Auto);
    let report = instance.equilibrium().unwrap();
    (instance, report)
}

#[test]
fn contacts_close_on_the_way_and_hold() {
    for law in ["restitution = 0.4", "stiffness = 1e5\ndamping = 10.0"] {
        let contact = |x: f64| {
            format!(
                "[[force]]\nname = \"floor{}\"\ntype = \"contact\"\nbodies = [\"ground\", \"b\"]\n\
                 plane = {{ normal = [0.0, 1.0] }}\npoint = [{x:?}, -0.2]\nradius = 0.1\n{law}\n",
                if x < 0.0 { 1 } else { 2 }
            )
        };
        let model = block(&(contact(-0.3) + &contact(0.3)));
        let (mut instance, report) = found(&model);
        let y = value(&mut instance, "b.y");
        // Half of 20 N on each spring.
        let depth = if law.starts_with('s') { 1e-4 } else { 0.0 };
        assert!((y - 0.3 + depth).abs() < 1e-10, "{law}: {y}");
        for floor in ["floor1.force", "floor2.force"] {
            let force = value(&mut instance, floor);
            assert!((force - 10.0).abs() < 1e-8, "{law}: {force}");
        }
        // Nothing holds it sideways.
        assert_eq!(report.free.len(), 1, "{report:?}");
        assert!(report.unstable.is_empty(), "{report:?}");
        instance.step(0.0, 0.1).unwrap();
        assert!((value(&mut instance, "b.y") - y).abs() < 1e-7, "{law}");
    }
}

#[test]
fn free_unstable_and_unbalanced_directions_have_names() {
    let slide = "[[joint]]\nname = \"s\"\ntype = \"prismatic\"\nbodies = [\"ground\", \"b\"]\npoint = [0.3, 1.0]\n";
    let (_, report) = found(&block(&format!("{slide}axis = [1.0, 0.0]\n")));
    assert!(report.free[0].starts_with('b'), "{report:?}");
    let upright = "[[joint]]\nname = \"p\"\ntype = \"revolute\"\nbodies = [\"ground\", \"b\"]\npoint = [0.3, 0.0]\n";
    let (_, report) = found(&block(upright));
    assert_eq!(report.unstable.len(), 1, "{report:?}");
    // Beside it the mechanism finds the stable one.
    let beside = upright.replace("point = [0.3, 0.0]", "point = [0.299, 0.0]");
    let (mut instance, report) = found(&block(&beside));
    assert!(report.unstable.is_empty(), "{report:?}");
    assert!((value(&mut instance, "b.x") - 0.299).abs() < 1e-12);
    assert!(value(&mut instance, "b.y") < 0.0);
    let mut falling = started(
        &block(&format!("{slide}axis = [0.0, 1.0]\n")),
        FormulationName::Auto,
    );
    let before = format!("{:?}", falling.save().unwrap());
    let error = falling.equilibrium().unwrap_err();
    assert!(matches!(error, Error::NoEquilibrium { .. }), "{error}");
    assert!(error.to_string().contains("balances"), "{error}");
    assert_eq!(before, format!("{:?}", falling.save().unwrap()));
}

#[test]
fn a_parameter_chooses_where_an_instance_starts() {
    let spring = "[[force]]\nname = \"k\"\ntype = \"spring_damper\"\nbodies = [\"ground\", \"b\"]\n\
                  points = [[0.3, 2.0], [0.0, 0.0]]\nstiffness = 100.0\nlength = 0.5\n\
                  [[parameter]]\nname = \"rest\"\ntarget = \"experiment.equilibrium\"\n";
    for (rest, expected) in [(None, 1.0), (Some(0.0), 1.0), (Some(1.0), 2.0 - 0.5 - 0.2)] {
        let mut instance = Instance::from_model(block(spring)).unwrap();
        if let Some(rest) = rest {
            let reference = instance.find("rest").unwrap();
            instance.set_real(&[reference], &[rest]).unwrap();
        }
        instance.initialize(0.0, 1.0, 0.0).unwrap();
        let y = value(&mut instance, "b.y");
        assert!((y - expected).abs() < 1e-12, "{rest:?}: {y}");
    }
}

#[test]
fn a_mechanism_without_freedom_rests_where_it_is() {
    let model = block(
        "[[joint]]\nname = \"f\"\ntype = \"fixed\"\nbodies = [\"ground\", \"b\"]\npoint = [0.3, 1.0]\n",
    );
    let (mut instance, report) = found(&model);
    assert_eq!((report.steps, report.moved), (0, 0.0));
    assert!(instance.modes(9).unwrap().is_empty());
    assert!(instance.linearize().unwrap().states.is_empty());
}

#[test]
fn the_descriptor_form_has_the_eigenvalues_of_the_minimal_one() {
    for formulation in FORMULATIONS {
        let mut instance = started(&catenary(-1.0), formulation);
        instance.equilibrium().unwrap();
        let descriptor = instance.descriptor_form().unwrap();
        let n = descriptor.names.len();
        let (e, f) = (
            DMatrix::from_row_slice(n, n, &descriptor.e),
            DMatrix::from_row_slice(n, n, &descriptor.f),
        );
        for mode in instance.modes(3).unwrap() {
            let s = Complex::new(mode.eigenvalue[0], mode.eigenvalue[1]);
            let pencil = |s: Complex<f64>| {
                let matrix = DMatrix::from_fn(n, n, |i, j| s * e[(i, j)] - f[(i, j)]);
                matrix.singular_values().min()
            };
            // Singular at the eigenvalue, not beside it.
            assert!(pencil(s) < 1e-8 * pencil(s * 1.01), "{formulation:?} {s}");
        }
    }
}

#[test]
fn redundant_constraints_make_no_modes() {
    // Bricard's mechanism has one degree of freedom with one redundant constraint, planar four-bars in space have three in each loop.
    for (model, freedom) in [(bricard(), 1), (four_bars(1, 3), 1), (four_bars(3, 3), 1)] {
        let found = |formulation, rest: bool| {
            let mut instance = started(&model, formulation);
            if rest {
                instance.equilibrium().unwrap();
            }
            instance.modes(usize::MAX).unwrap()
        };
        for rest in [false, true] {
            let first = found(FormulationName::Absolute, rest);
            // A pair, or a growing and a decaying one.
            let real = first
                .iter()
                .filter(|mode| mode.eigenvalue[1] == 0.0 && mode.frequency > 0.0);
            let count = first.len() - real.count() / 2;
            assert_eq!(count, freedom, "{} {rest}: {first:?}", model.name);
            for formulation in &FORMULATIONS[1..] {
                let other = found(*formulation, rest);
                assert_eq!(other.len(), first.len(), "{} {formulation:?}", model.name);
                for (a, b) in first.iter().zip(&other) {
                    let off = (a.frequency - b.frequency).abs() / a.frequency.max(1.0);
                    assert!(
                        off < 1e-8,
                        "{} {formulation:?} {rest}: {off:.1e}",
                        model.name
                    );
                }
            }
        }
    }
}

/// A rod on a pin, held by a controller.
fn controlled(more: &str) -> Model {
    text(&format!(
        "format = 1\nname = \"controlled\"\ndimension = 2\ngravity = [0.0, -9.81]\n\
         [[body]]\nname = \"rod\"\nmass = 1.0\ninertia = 0.1\nposition = [0.5, 0.0]\n\
         [[joint]]\nname = \"pin\"\ntype = \"revolute\"\nbodies = [\"ground\", \"rod\"]\npoint = [0.0, 0.0]\n\
         [[force]]\nname = \"pid\"\ntype = \"pid\"\njoint = \"pin\"\nproportional = 50.0\nintegral = 40.0\nderivative = 3.0\n\
         set_point = 0.3\n{more}\
         [[input]]\nname = \"wanted\"\ntarget = \"pid.set_point\"\nstart = 0.3\n\
         [[output]]\nname = \"angle\"\nsource = \"pin.position\"\n\
         [[output]]\nname = \"torque\"\nsource = \"pid.force\"\n"
    ))
}

#[test]
fn a_controller_with_an_integral_rests_on_its_set_point_and_has_a_state() {
    let (inertia, weight) = (0.1 + 0.25, 9.81 * 0.5);
    for formulation in FORMULATIONS {
        let mut instance = started(&controlled(""), formulation);
        let report = instance.equilibrium().unwrap();
        assert!(
            report.free.is_empty() && report.unstable.is_empty(),
            "{report:?}"
        );
        let torque = weight * 0.3_f64.cos();
        assert!(
            (value(&mut instance, "angle") - 0.3).abs() < 1e-12,
            "{formulation:?}"
        );
        assert!(
            (value(&mut instance, "torque") - torque).abs() < 1e-9,
            "{formulation:?}"
        );
        let linear = instance.linearize().unwrap();
        assert_eq!(linear.states, ["pin.position", "pin.speed", "pid.integral"]);
        assert_eq!(linear.inputs, ["wanted", "der(wanted)"]);
        let stiffness = (50.0 - weight * 0.3_f64.sin()) / inertia;
        let a = [
            0.0,
            1.0,
            0.0,
            -stiffness,
            -3.0 / inertia,
            1.0 / inertia,
            -40.0,
            0.0,
            0.0,
        ];
        let b = [0.0, 0.0, 50.0 / inertia, 3.0 / inertia, 40.0, 0.0];
        for (found, expected) in linear.a.iter().zip(a).chain(linear.b.iter().zip(b)) {
            assert!(
                (found - expected).abs() < 1e-8,
                "{formulation:?}: {linear:?}"
            );
        }
        let modes = instance.modes(9).unwrap();
        assert_eq!(modes.len(), 2, "{modes:?}");
        for mode in &modes {
            let s = Complex::new(mode.eigenvalue[0], mode.eigenvalue[1]);
            // J s³ + D s² + (P − m g l sin) s + K = 0
            let left = ((s * inertia + 3.0) * s + stiffness * inertia) * s + 40.0;
            assert!(
                left.norm() < 1e-8 * s.norm().powi(3).max(1.0),
                "{s}: {left}"
            );
        }
        // It stays there.
        instance.step(0.0, 1.0).unwrap();
        assert!(
            (value(&mut instance, "angle") - 0.3).abs() < 1e-9,
            "{formulation:?}"
        );
    }
}

#[test]
fn a_controller_at_its_limit_rests_below_its_set_point() {
    for formulation in FORMULATIONS {
        let mut instance = started(&controlled("limits = [-2.0, 2.0]\n"), formulation);
        instance.equilibrium().unwrap();
        // 2 N m hold the rod where m g l cos(angle) = 2, below the horizontal.
        let angle = -(2.0_f64 / (9.81 * 0.5)).acos();
        let found = value(&mut instance, "angle");
        assert!(
            (found - angle).abs() < 1e-10,
            "{formulation:?}: {found} {angle}"
        );
        assert!((value(&mut instance, "torque") - 2.0).abs() < 1e-10);
    }
}

#[test]
fn a_long_chain_with_damping_has_the_modes_of_the_dense_solver() {
    let points: Vec<[f64; 2]> = (0..=130).map(|i| [0.0, -0.1 * i as f64]).collect();
    let mut model = rods(&points, false);
    for i in 0..130 {
        // Strong at the top: some modes do not vibrate.
        let damping = if i < 3 { 30.0 } else { 1e-3 };
        write!(
            model,
            "[[force]]\nname = \"d{i}\"\ntype = \"torsion_spring\"\njoint = \"j{i}\"\nstiffness = 0.0\ndamping = {damping:?}\n"
        )
        .unwrap();
    }
    let model = text(&model);
    let mut instance = started(&model, FormulationName::Auto);
    let few = instance.modes(12).unwrap();
    let all = instance.modes(usize::MAX).unwrap();
    assert_eq!(few.len(), 12);
    for (a, b) in few.iter().zip(&all) {
        let off = (0..2)
            .map(|k| (a.eigenvalue[k] - b.eigenvalue[k]).abs())
            .fold(0.0, f64::max);
        // The dense eigenvalues have the rounding of the largest, some 1e7, for each of 260 unknowns.
        assert!(off < 1e-6, "{:?} {:?}", a.eigenvalue, b.eigenvalue);
        for ((name, x), (_, y)) in a.shape.iter().zip(&b.shape) {
            let off = (x[0] - y[0]).hypot(x[1] - y[1]);
            assert!(off < 1e-5, "{:?} {name}: {x:?} {y:?}", a.eigenvalue);
        }
    }
}

/// Rigid boxes of 1 m and 1 kg above each other, with gaps between them; each has contacts at its lower corners.
fn boxes(count: usize, gap: f64) -> Model {
    let mut t =
        String::from("format = 1\nname = \"boxes\"\ndimension = 2\ngravity = [0.0, -9.81]\n");
    for k in 0..count {
        let y = 0.5 + gap + k as f64 * (1.0 + gap);
        write!(
            t,
            "[[body]]\nname = \"b{k}\"\nmass = 1.0\ninertia = 0.1\nposition = [0.0, {y:?}]\n"
        )
        .unwrap();
        let (below, plane) = match k.checked_sub(1) {
            None => ("ground".to_owned(), "{ normal = [0, 1] }"),
            Some(k) => (format!("b{k}"), "{ point = [0, 0.5], normal = [0, 1] }"),
        };
        for (side, x) in [("left", -0.5), ("right", 0.5)] {
            write!(
                t,
                "[[force]]\nname = \"{side}{k}\"\ntype = \"contact\"\nbodies = [\"{below}\", \"b{k}\"]\nplane = {plane}\n\
                 point = [{x:?}, -0.5]\nrestitution = 0.1\n"
            )
            .unwrap();
        }
    }
    text(&t)
}

#[test]
fn boxes_land_on_two_corners_at_once_and_from_any_height() {
    for (count, gap) in [(1, 0.3), (1, 20.0), (3, 0.1), (3, 5.0)] {
        for formulation in FORMULATIONS {
            let mut instance = started(&boxes(count, gap), formulation);
            let report = (instance.equilibrium())
                .unwrap_or_else(|e| panic!("{count} {gap} {formulation:?}: {e}"));
            assert!(!report.relaxed, "{count} {gap} {formulation:?}: {report:?}");
            for k in 0..count {
                let y = value(&mut instance, &format!("b{k}.y"));
                assert!((y - 0.5 - k as f64).abs() < 1e-10, "{k}: {y}");
                // Half of the weight above on each corner.
                let weight = 9.81 * (count - k) as f64;
                for side in ["left", "right"] {
                    let force = value(&mut instance, &format!("{side}{k}.force"));
                    assert!((force - 0.5 * weight).abs() < 1e-8, "{side}{k}: {force}");
                }
            }
        }
    }
}

#[test]
fn a_cube_on_four_corners_slides_and_spins_and_has_no_other_modes() {
    // Dropped with a tilt; four normal forces for three directions are redundant, not singular.
    let mut cube = String::from(
        "format = 1\nname = \"cube\"\ngravity = [0, 0, -9.81]\n[[body]]\nname = \"b\"\nmass = 1.0\n\
         inertia = [0.1, 0.1, 0.1]\nposition = [0, 0, 1.5]\nrotation = { axis = [1, 0.3, 0.2], angle = 0.4 }\n",
    );
    for corner in 0..8 {
        let [x, y, z] = [4, 2, 1].map(|bit| if corner & bit == 0 { -0.5 } else { 0.5 });
        write!(
            cube,
            "[[force]]\nname = \"c{corner}\"\ntype = \"contact\"\nbodies = [\"ground\", \"b\"]\n\
             plane = {{ normal = [0, 0, 1] }}\npoint = [{x:?}, {y:?}, {z:?}]\nrestitution = 0.3\n"
        )
        .unwrap();
    }
    for formulation in FORMULATIONS {
        let mut instance = started(&text(&cube), formulation);
        let report = instance.equilibrium().unwrap();
        assert_eq!(report.free.len(), 3, "{report:?}");
        assert!((value(&mut instance, "b.z") - 0.5).abs() < 1e-10);
        let modes = (instance.modes(9)).unwrap_or_else(|e| panic!("{formulation:?}: {e}"));
        let frequencies: Vec<f64> = modes.iter().map(|mode| mode.frequency).collect();
        assert_eq!(frequencies, [0.0; 3], "{formulation:?}");
    }
}

/// A ladder of 2 m and 8 kg between a rough floor and a smooth wall, at an angle to the floor.
fn ladder(angle: f64) -> Model {
    let (s, c) = angle.sin_cos();
    text(&format!(
        "format = 1\nname = \"ladder\"\ndimension = 2\ngravity = [0.0, -10.0]\n\
         [[body]]\nname = \"ladder\"\nmass = 8.0\ninertia = 2.6666666666666665\nposition = [{c:?}, {s:?}]\nangle = {angle:?}\n\
         [[force]]\nname = \"floor\"\ntype = \"contact\"\nbodies = [\"ground\", \"ladder\"]\nplane = {{ normal = [0.0, 1.0] }}\n\
         point = [-1.0, 0.0]\nrestitution = 0.0\nfriction = {{ kinetic = 0.3 }}\n\
         [[force]]\nname = \"wall\"\ntype = \"contact\"\nbodies = [\"ground\", \"ladder\"]\n\
         plane = {{ point = [{:?}, 0.0], normal = [-1.0, 0.0] }}\npoint = [1.0, 0.0]\nrestitution = 0.0\n",
        2.0 * c
    ))
}

#[test]
fn a_ladder_stands_as_steep_as_friction_holds_it() {
    // It stands where tan θ >= 1/(2 μ) = 1.667: θ >= 1.0304.
    for formulation in FORMULATIONS {
        let model = ladder(1.04);
        let mut instance = started(&model, formulation);
        let report = instance.equilibrium().unwrap();
        assert!(report.moved < 1e-12, "{formulation:?}: {}", report.moved);
        // N = m g, F = m g/(2 tan θ) from the wall.
        let push = 80.0 / (2.0 * 1.04_f64.tan());
        for (name, expected) in [
            ("floor.force", 80.0),
            ("floor.fx", push),
            ("wall.force", push),
        ] {
            let found = value(&mut instance, name);
            let error = (found - expected).abs();
            assert!(
                error < 1e-8,
                "{formulation:?}: {name} {found}, not {expected}"
            );
        }
        instance.step(0.0, 1.0).unwrap();
        assert!((value(&mut instance, "ladder.angle") - 1.04).abs() < 1e-10);
        // Less steep it slides: down to where it lies, if the search follows it there.
        match started(&ladder(1.02), formulation).equilibrium() {
            Ok(report) => assert!(report.moved > 0.1, "{formulation:?}: {}", report.moved),
            Err(error) => assert!(matches!(error, Error::NoEquilibrium { .. }), "{error}"),
        }
    }
}

#[test]
fn a_cube_that_slides_on_a_slope_would_rest_where_friction_holds_it() {
    // Gravity is tilted by the slope, in a direction across the corners; the search ignores the velocity.
    let cube = |slope: f64| {
        let (s, c) = slope.sin_cos();
        let mut t = format!(
            "format = 1\nname = \"cube\"\ngravity = [{:?}, {:?}, {:?}]\n[[body]]\nname = \"cube\"\nmass = 1.5\n\
             inertia = [0.01, 0.01, 0.01]\nposition = [0.0, 0.0, 0.1]\nvelocity = [0.3, 0.1, 0.0]\n",
            8.0 * s,
            6.0 * s,
            -10.0 * c
        );
        for (k, (x, y)) in [(-0.1, -0.1), (0.1, -0.1), (0.1, 0.1), (-0.1, 0.1)]
            .into_iter()
            .enumerate()
        {
            write!(
                t,
                "[[force]]\nname = \"corner{k}\"\ntype = \"contact\"\nbodies = [\"ground\", \"cube\"]\n\
                 plane = {{ normal = [0.0, 0.0, 1.0] }}\npoint = [{x}, {y}, -0.1]\nrestitution = 0.0\nfriction = {{ kinetic = 0.4 }}\n"
            )
            .unwrap();
        }
        text(&t)
    };
    for formulation in FORMULATIONS {
        let slope = 0.95 * 0.4_f64.atan();
        let mut instance = started(&cube(slope), formulation);
        let report = instance.equilibrium().unwrap();
        assert!(report.moved < 1e-12, "{formulation:?}: {}", report.moved);
        let (s, c) = slope.sin_cos();
        for (name, expected) in [("fx", -12.0 * s), ("fy", -9.0 * s), ("fz", 15.0 * c)] {
            let found: f64 = (0..4)
                .map(|k| value(&mut instance, &format!("corner{k}.{name}")))
                .sum();
            assert!(
                (found - expected).abs() < 1e-8,
                "{formulation:?}: {name} {found}, not {expected}"
            );
        }
        let error = started(&cube(1.05 * 0.4_f64.atan()), formulation)
            .equilibrium()
            .unwrap_err();
        assert!(matches!(error, Error::NoEquilibrium { .. }), "{error}");
    }
}
