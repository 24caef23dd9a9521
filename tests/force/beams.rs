//! Beam elements: derivatives against differences, and static benchmarks against exact rods.

use biela::formulation::absolute::{PlanarAbsolute, SpatialAbsolute};
use biela::formulation::derivative_check::{DerivativeCheck, check};
use biela::formulation::{EvaluationContext, Mechanism, MotionPoint, System, TangentWeights};
use biela::linalg::random::Random;
use biela::model::Model;
use biela::model::quantity::Quantity;
use nalgebra::{DMatrix, DVector};

fn model(text: &str) -> Model {
    let text = format!("format = 1\nname = \"beams\"\n{text}");
    Model::from_text(&text, "beams").unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn context(u: &[f64]) -> EvaluationContext<'_> {
    EvaluationContext {
        t: 0.0,
        u,
        u_dot: &[0.0],
        u_ddot: &[0.0],
        p: &[],
        modes: &[],
        integrals: &[],
    }
}

/// Compares every derivative with differences at some configurations near the start.
fn look(name: &str, system: &dyn Mechanism, rounds: usize, seed: u64) {
    let size = system.dimensions();
    let mut random = Random::new(seed);
    let (mut start, mut v0) = (vec![0.0; size.nq], vec![0.0; size.nv]);
    system.initial_state(&mut start, &mut v0);
    for round in 0..rounds {
        let mut q = start.clone();
        system.retract(&start, &random.vector(size.nv, 0.3), &mut q);
        let (v, a) = (random.vector(size.nv, 1.0), random.vector(size.nv, 3.0));
        let lambda = random.vector(size.nc, 3.0);
        let at = MotionPoint {
            q: &q,
            v: &v,
            a: &a,
            lambda: &lambda,
        };
        let cx = context(&[]);
        if let Err(text) = check(system, &cx, &at, &DerivativeCheck::default()) {
            panic!("{name}, round {round}:\n{text}");
        }
    }
}

#[test]
fn every_beam_has_the_derivatives_and_the_energy_it_says() {
    const FULL: &str = "[[9, 1, 0.2, 0.1, 0.3, -0.4], [1, 8, 0.5, -0.3, 0.2, 0.1], [0.2, 0.5, 7, 0.3, 0.1, 0.2], \
                        [0.1, -0.3, 0.3, 2, 0.1, 0.2], [0.3, 0.2, 0.1, 0.1, 3, -0.2], [-0.4, 0.1, 0.2, 0.2, -0.2, 4]]";
    let plane = [
        ("straight", "points = [[0, 0], [1, 0.4]]", ""),
        (
            "corner",
            "points = [[0, 0], [1, 0], [0.7, 0.8]]",
            "damping = 0.3\n",
        ),
        (
            "arc",
            "points = [[1, 0]]\narc = { center = [0, 0], angle = 4 }",
            "damping = 0.1\n",
        ),
        (
            "clamped",
            "points = [[0, 0], [1, 0.4]]",
            "start = \"ground\"\n",
        ),
    ];
    for (k, (name, shape, more)) in plane.iter().enumerate() {
        let text = format!(
            "dimension = 2\ngravity = [1, -9]\n[[beam]]\nname = \"rod\"\n{shape}\nelements = 2\n{more}\
             section = {{ stiffness = [[9, 1, -0.4], [1, 8, 0.1], [-0.4, 0.1, 4]], mass_per_length = 2, inertia_per_length = 0.3 }}\n"
        );
        look(
            name,
            &PlanarAbsolute::new(&model(&text)).unwrap(),
            4,
            11 + k as u64,
        );
    }
    let space = [
        ("straight", "points = [[0, 0, 0], [1, 0.4, 0.2]]", ""),
        (
            "corner",
            "points = [[0, 0, 0], [1, 0, 0], [0.7, 0.8, 0.5]]",
            "damping = 0.3\n",
        ),
        (
            "arc",
            "points = [[1, 0, 0]]\narc = { center = [0, 0, 0], angle = 3 }",
            "twist = 1\ndamping = 0.1\n",
        ),
        (
            "clamped",
            "points = [[0, 0, 0], [0, 0, 2]]",
            "twist = -2\nend = \"ground\"\n",
        ),
    ];
    for (k, (name, shape, more)) in space.iter().enumerate() {
        let text = format!(
            "gravity = [1, -9, 2]\n[[beam]]\nname = \"rod\"\n{shape}\nelements = 2\n{more}\
             section = {{ stiffness = {FULL}, mass_per_length = 2, inertia_per_length = [0.5, 0.3, 0.4] }}\n"
        );
        look(
            name,
            &SpatialAbsolute::new(&model(&text)).unwrap(),
            4,
            21 + k as u64,
        );
    }
}

/// Static equilibrium under the input u = `load`, in `steps` load steps by Newton's method.
fn equilibrium(system: &dyn Mechanism, load: f64, steps: usize) -> Vec<f64> {
    let size = system.dimensions();
    let (mut q, mut v) = (vec![0.0; size.nq], vec![0.0; size.nv]);
    system.initial_state(&mut q, &mut v);
    v.fill(0.0);
    let (n, m) = (size.nv, size.nc);
    let mut lambda = vec![0.0; m];
    let sparsity = system.sparsity();
    let zeros = vec![0.0; n];
    for step in 1..=steps {
        let u = [load * step as f64 / steps as f64];
        let cx = context(&u);
        let mut converged = false;
        for _ in 0..30 {
            let at = MotionPoint {
                q: &q,
                v: &v,
                a: &zeros,
                lambda: &lambda,
            };
            let (mut force, mut phi) = (vec![0.0; n], vec![0.0; m]);
            system.force(&cx, &q, &v, &mut force).unwrap();
            system.constraint(&cx, &q, &mut phi);
            let (mut k, mut g) = (
                vec![0.0; sparsity.tangent.len()],
                vec![0.0; sparsity.jacobian.len()],
            );
            let weights = TangentWeights {
                mass: 0.0,
                damping: 0.0,
                stiffness: 1.0,
                theta: &[],
            };
            system.tangent(&cx, &at, &weights, &mut k).unwrap();
            system.jacobian(&cx, &q, &mut g);
            let mut matrix = DMatrix::zeros(n + m, n + m);
            let mut rest = DVector::zeros(n + m);
            for ((i, j), x) in sparsity.tangent.iter().zip(&k) {
                matrix[(*i as usize, *j as usize)] += x;
            }
            for ((i, j), x) in sparsity.jacobian.iter().zip(&g) {
                let (i, j) = (*i as usize, *j as usize);
                matrix[(n + i, j)] += x;
                matrix[(j, n + i)] += x;
                rest[j] -= x * lambda[i];
            }
            for i in 0..n {
                rest[i] += force[i];
            }
            for i in 0..m {
                rest[n + i] = -phi[i];
            }
            let change = matrix.lu().solve(&rest).expect("a regular stiffness");
            let (before, w) = (q.clone(), &change.as_slice()[..n]);
            system.retract(&before, w, &mut q);
            for i in 0..m {
                lambda[i] += change[n + i];
            }
            if w.iter().all(|x| x.abs() < 1e-11) {
                converged = true;
                break;
            }
        }
        assert!(converged, "load step {step} of {steps}");
    }
    q
}

fn value(model: &Model, system: &dyn Mechanism, q: &[f64], name: &str) -> f64 {
    let quantity: Quantity = model.quantity(name).unwrap_or_else(|e| panic!("{e}"));
    let size = system.dimensions();
    let (zeros, lambda) = (vec![0.0; size.nv], vec![0.0; size.nc]);
    let at = MotionPoint {
        q,
        v: &zeros,
        a: &zeros,
        lambda: &lambda,
    };
    system.evaluate(&context(&[1.0]), quantity, &at)
}

/// Where the end of a cantilever of 10 m comes to be under the moment that rolls it up by so many turns.
fn roll_up(plane: bool, elements: usize, turns: f64) -> [f64; 3] {
    let moment = turns * 2.0 * std::f64::consts::PI * 500.0 / 10.0;
    let (head, stiffness, inertia, shape) = match plane {
        true => (
            "dimension = 2",
            "[1e4, 1e4, 500]",
            "1",
            "points = [[0, 0], [10, 0]]",
        ),
        // Turned in space: nothing may depend on the axes of the ground.
        false => (
            "",
            "[1e4, 1e4, 1e4, 500, 500, 500]",
            "[2, 1, 1]",
            "points = [[0, 0, 0], [6, 0, 8]]\norientation = [0, 1, 0]",
        ),
    };
    let target = if plane { "bend.z" } else { "bend.y" };
    let model = model(&format!(
        "{head}\n[[beam]]\nname = \"rod\"\n{shape}\nelements = {elements}\nstart = \"ground\"\n\
         section = {{ stiffness = {stiffness}, mass_per_length = 1, inertia_per_length = {inertia} }}\n\
         [[force]]\nname = \"bend\"\ntype = \"torque\"\nbody = \"rod.{elements}\"\n\
         [[input]]\nname = \"moment\"\ntarget = \"{target}\"\n"
    ));
    let system: Box<dyn Mechanism> = match plane {
        true => Box::new(PlanarAbsolute::new(&model).unwrap()),
        false => Box::new(SpatialAbsolute::new(&model).unwrap()),
    };
    let q = equilibrium(&*system, moment, 20);
    let get = |name: &str| value(&model, &*system, &q, &format!("rod.{elements}.{name}"));
    let carried = value(&model, &*system, &q, "rod.1.m3");
    assert!(
        (carried / moment - 1.0).abs() < 1e-9,
        "{carried} of {moment}"
    );
    [get("x"), get("y"), if plane { 0.0 } else { get("z") }]
}

#[test]
fn an_end_moment_rolls_a_beam_up_to_circles() {
    for plane in [true, false] {
        for (elements, turns) in [(4, 1.0), (5, 1.0), (8, 1.0), (8, 2.0)] {
            let end = roll_up(plane, elements, turns);
            let away = end.iter().map(|x| x * x).sum::<f64>().sqrt();
            assert!(away < 1e-9, "{elements} elements, {turns} turns: {end:?}");
        }
    }
}

/// Displacement of the end of the 45-degree bend under a force along z.
fn bend(elements: usize, force: f64, steps: usize) -> [f64; 3] {
    let model = model(&format!(
        "[[beam]]\nname = \"bend\"\npoints = [[0, 0, 0]]\narc = {{ center = [0, 100, 0], angle = 0.7853981633974483 }}\n\
         elements = {elements}\nstart = \"ground\"\n\
         section = {{ stiffness = [1e7, \"25e6/6\", \"25e6/6\", \"5e6/6\", \"1e7/12\", \"1e7/12\"], mass_per_length = 1 }}\n\
         [[force]]\nname = \"tip\"\ntype = \"force\"\nbody = \"bend.{elements}\"\n\
         [[input]]\nname = \"load\"\ntarget = \"tip.z\"\n"
    ));
    let system = SpatialAbsolute::new(&model).unwrap();
    let q = equilibrium(&system, force, steps);
    let node = &model.bodies[elements];
    ["x", "y", "z"].map(|axis| {
        let k = ["x", "y", "z"].iter().position(|a| *a == axis).unwrap();
        value(&model, &system, &q, &format!("bend.{elements}.{axis}")) - node.position[k]
    })
}

#[test]
fn the_bend_of_45_degrees_ends_where_the_exact_rod_does_with_order_two() {
    // Exact rods by shooting at 1e-12; dead force along z (N), displacement of the tip (m).
    const EXACT: [(f64, [f64; 3]); 3] = [
        (300.0, [-11.931781, -7.044642, 40.192392]),
        (450.0, [-18.472416, -10.781257, 48.503492]),
        (600.0, [-23.560582, -13.604632, 53.475478]),
    ];
    let error = |elements: usize, force: f64, exact: &[f64; 3]| {
        let found = bend(elements, force, 30);
        (0..3)
            .map(|k| (found[k] - exact[k]).powi(2))
            .sum::<f64>()
            .sqrt()
    };
    for (force, exact) in &EXACT {
        let size = exact.iter().map(|x| x * x).sum::<f64>().sqrt();
        let errors = [4, 8, 16].map(|n| error(n, *force, exact));
        assert!(errors[2] < 1e-3 * size, "{force}: {errors:?}");
        let order = (errors[1] / errors[2]).log2();
        assert!(
            (order - 2.0).abs() < 0.1,
            "{force}: order {order}, {errors:?}"
        );
    }
}

#[test]
fn a_column_buckles_at_eulers_load_and_a_truss_stretches_as_hooke_says() {
    // A pinned column of 2 m with EI = 3: critical load π² EI/L² = 7.4022; 16 elements err by order (1/16)².
    let text = "dimension = 2\n[[beam]]\nname = \"rod\"\npoints = [[0, 0], [2, 0]]\nelements = 16\n\
        section = { stiffness = [1e6, 1e6, 3], mass_per_length = 1 }\n\
        [[joint]]\nname = \"pin\"\ntype = \"revolute\"\nbodies = [\"ground\", \"rod.0\"]\npoint = [0, 0]\n\
        [[joint]]\nname = \"rail\"\ntype = \"point_on_line\"\nbodies = [\"ground\", \"rod.16\"]\npoint = [2, 0]\naxis = [1, 0]\n\
        [[force]]\nname = \"press\"\ntype = \"force\"\nbody = \"rod.16\"\n\
        [[force]]\nname = \"nudge\"\ntype = \"force\"\nbody = \"rod.8\"\nforce = [0, 1e-3]\n\
        [[input]]\nname = \"load\"\ntarget = \"press.x\"\n";
    let model = model(text);
    let system = PlanarAbsolute::new(&model).unwrap();
    // A column under a small lateral force deflects by 1/(1 − P/P_c) of what it does without load (Timoshenko & Gere).
    let deflection = |load: f64| {
        let q = equilibrium(&system, -load, 4);
        value(&model, &system, &q, "rod.8.y")
    };
    let (free, half) = (deflection(1e-6), deflection(3.7));
    let critical = 3.7 / (1.0 - free / half);
    let euler = (std::f64::consts::PI / 2.0).powi(2) * 3.0;
    // The factor 1/(1 − P/P_c) is itself good to 2 %.
    assert!(
        (critical / euler - 1.0).abs() < 0.03,
        "{critical} for {euler}"
    );
    let q = equilibrium(&system, 1000.0, 4);
    let stretch = value(&model, &system, &q, "rod.16.x") - 2.0;
    assert!((stretch - 2e-3).abs() < 1e-8, "{stretch}");
    assert!((value(&model, &system, &q, "rod.3.n1") - 1000.0).abs() < 1e-3);
    assert!((value(&model, &system, &q, "rod.3.e1") - 1e-3).abs() < 1e-8);
}

#[test]
fn a_rigid_body_motion_stores_no_energy_and_makes_no_force() {
    let text = "[[beam]]\nname = \"rod\"\npoints = [[0, 0, 0], [1, 0, 0], [1, 2, 0.5]]\nelements = 5\ntwist = 0.7\n\
        section = { stiffness = [5e7, 2e7, 2e7, 700, 1100, 900], mass_per_length = 2 }\n";
    let here = model(text);
    let system = SpatialAbsolute::new(&here).unwrap();
    let size = system.dimensions();
    let (mut q, mut v) = (vec![0.0; size.nq], vec![0.0; size.nv]);
    system.initial_state(&mut q, &mut v);
    let mut random = Random::new(3);
    for _ in 0..20 {
        // Every node turned by the same rotation about the origin, and displaced.
        let axis = random.vector(3, 1.0);
        let shift = random.vector(3, 100.0);
        let turn = nalgebra::UnitQuaternion::from_scaled_axis(
            3.0 * nalgebra::Vector3::from_row_slice(&axis),
        );
        let mut moved = q.clone();
        for node in moved.chunks_exact_mut(7) {
            let r = turn * nalgebra::Vector3::new(node[0], node[1], node[2]);
            let own = nalgebra::Quaternion::new(node[3], node[4], node[5], node[6]);
            let own = turn.quaternion() * own;
            for k in 0..3 {
                node[k] = r[k] + shift[k];
            }
            node[3..7].copy_from_slice(&[own.w, own.i, own.j, own.k]);
        }
        let energy = value(&here, &system, &moved, "rod.strain_energy");
        assert!(energy < 1e-12, "{energy:e} J");
        let mut force = vec![0.0; size.nv];
        system.force(&context(&[]), &moved, &v, &mut force).unwrap();
        // EA/L ε |r| with EA/L = 2e8, |r| = 200.
        let largest = force.iter().fold(0.0f64, |m: f64, f: &f64| m.max(f.abs()));
        assert!(largest < 2e8 * 200.0 * 1e-15, "{largest:e} N");
    }
}

/// Frequencies (rad/s) of the small vibrations of a slender cantilever with EI = ρA = L = 1, ascending.
fn frequencies(elements: usize) -> Vec<f64> {
    let model = model(&format!(
        "dimension = 2\n[[beam]]\nname = \"rod\"\npoints = [[0, 0], [1, 0]]\nelements = {elements}\n\
         section = {{ stiffness = [1e6, 1e6, 1], mass_per_length = 1, inertia_per_length = 1e-7 }}\n"
    ));
    let system = PlanarAbsolute::new(&model).unwrap();
    let n = system.dimensions().nv;
    let (mut q, mut v) = (vec![0.0; n], vec![0.0; n]);
    system.initial_state(&mut q, &mut v);
    let sparsity = system.sparsity();
    let matrix = |mass: f64, stiffness: f64| {
        let at = MotionPoint {
            q: &q,
            v: &v,
            a: &v,
            lambda: &[],
        };
        let weights = TangentWeights {
            mass,
            damping: 0.0,
            stiffness,
            theta: &[],
        };
        let mut values = vec![0.0; sparsity.tangent.len()];
        system
            .tangent(&context(&[]), &at, &weights, &mut values)
            .unwrap();
        let mut dense = DMatrix::zeros(n, n);
        for ((i, j), x) in sparsity.tangent.iter().zip(&values) {
            dense[(*i as usize, *j as usize)] += x;
        }
        // Clamped: node 0 does not move.
        dense.remove_rows(0, 3).remove_columns(0, 3)
    };
    let (mass, stiffness) = (matrix(1.0, 0.0), matrix(0.0, 1.0));
    let lower = mass.cholesky().expect("a positive definite mass").l();
    let once = lower.solve_lower_triangular(&stiffness).unwrap();
    let twice = lower.solve_lower_triangular(&once.transpose()).unwrap();
    let symmetric = (&twice + twice.transpose()) * 0.5;
    let mut squares: Vec<f64> = symmetric.symmetric_eigenvalues().iter().copied().collect();
    squares.sort_by(f64::total_cmp);
    squares.into_iter().map(f64::sqrt).collect()
}

#[test]
fn a_cantilever_has_the_frequencies_of_euler_and_bernoulli_with_order_two() {
    let (coarse, fine) = (frequencies(16), frequencies(32));
    for (mode, (b, bound)) in [
        (1.8751040687f64, 1e-3),
        (4.6940911330, 1.1e-2),
        (7.8547574382, 3e-2),
    ]
    .into_iter()
    .enumerate()
    {
        let [first, second] = [&coarse, &fine].map(|all| all[mode] / (b * b) - 1.0);
        assert!(first.abs() < bound, "mode {}: {first}", mode + 1);
        let order = (first / second).log2();
        assert!(
            (order - 2.0).abs() < 0.1,
            "mode {}: order {order}",
            mode + 1
        );
    }
}
