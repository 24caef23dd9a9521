//! Couplings whose law has points at which its curvature jumps.

use std::f64::consts::PI;

use crate::forces::follows;
use crate::sim::rk4;

/// Slope of a monotone table at its inner point k: the weighted harmonic mean of the neighbouring chords, or zero.
fn monotone_slope(points: &[[f64; 2]], k: usize) -> f64 {
    let h = |k: usize| points[k + 1][0] - points[k][0];
    let chord = |k: usize| (points[k + 1][1] - points[k][1]) / h(k);
    let (a, b) = (chord(k - 1), chord(k));
    if a * b <= 0.0 {
        return 0.0;
    }
    let (wa, wb) = (h(k - 1) + 2.0 * h(k), 2.0 * h(k - 1) + h(k));
    (wa + wb) / (wa / a + wb / b)
}

/// A crank with the moment of inertia J drives a slider of mass m by a table x = F(θ). Without forces the energy E is constant:
/// dt/dθ = √((J + m F'²) / 2E), integrated from point to point. The acceleration jumps at the points of the table.
#[test]
fn a_coupling_by_a_monotone_table_keeps_its_energy_through_its_points() {
    let (inertia, mass, speed) = (0.02, 2.0, 3.0);
    let points: Vec<[f64; 2]> = (-20..=20)
        .map(|i| f64::from(i) * PI / 6.0)
        .map(|x| [x, 0.05 * (1.0 - (x + 0.2).cos())])
        .collect();
    let slope = |theta: f64| {
        let k = points.iter().rposition(|p| p[0] <= theta).unwrap();
        let h = points[k + 1][0] - points[k][0];
        let (m0, m1) = (monotone_slope(&points, k), monotone_slope(&points, k + 1));
        let (chord, s) = (
            (points[k + 1][1] - points[k][1]) / h,
            (theta - points[k][0]) / h,
        );
        m0 + 2.0 * s * (3.0 * chord - 2.0 * m0 - m1) + 3.0 * s * s * (m0 + m1 - 2.0 * chord)
    };
    let metric = |theta: f64| (inertia + mass * slope(theta).powi(2)).sqrt();
    let root_of_energy = metric(1e-12) * speed;
    // Simpson's rule on 400 parts of each interval: an error of 1e-13.
    let time_over = |a: f64, b: f64| {
        let n = 400;
        let h = (b - a) / f64::from(n);
        // Just inside the interval: F'' differs on both sides of its ends, F' does not.
        let sum: f64 = (0..=n)
            .map(|k| {
                let weight = if k == 0 || k == n {
                    1.0
                } else if k % 2 == 1 {
                    4.0
                } else {
                    2.0
                };
                weight * metric(a + f64::from(k) * h)
            })
            .sum();
        sum * h / 3.0 / root_of_energy
    };
    let angle_at = |t: f64, sign: f64| {
        let (mut theta, mut left) = (0.0, t);
        loop {
            let next = theta + sign * PI / 6.0;
            let whole = time_over(theta.min(next), theta.max(next));
            if whole < left {
                (theta, left) = (next, left - whole);
                continue;
            }
            let (mut low, mut high) = (0.0, PI / 6.0);
            for _ in 0..60 {
                let mid = 0.5 * (low + high);
                let end = theta + sign * mid;
                if time_over(theta.min(end), theta.max(end)) < left {
                    low = mid;
                } else {
                    high = mid;
                }
            }
            return theta + sign * low;
        }
    };
    let table: Vec<String> = points
        .iter()
        .map(|p| format!("[{}, {}]", p[0], p[1]))
        .collect();
    for formulation in ["absolute", "relative", "hybrid", "global", "topological"] {
        for sign in [1.0, -1.0] {
            let text = format!(
                "format = 1\ndimension = 2\n[solver]\nlength = 1.0\nformulation = \"{formulation}\"\n\
                 [[body]]\nname = \"crank\"\nmass = 1\ninertia = {inertia}\nangular_velocity = {}\n\
                 [[body]]\nname = \"slider\"\nmass = {mass}\ninertia = 0.1\nposition = [{}, 0]\n\
                 [[joint]]\nname = \"pin\"\ntype = \"revolute\"\nbodies = [\"ground\", \"crank\"]\npoint = [0, 0]\n\
                 [[joint]]\nname = \"guide\"\ntype = \"prismatic\"\nbodies = [\"ground\", \"slider\"]\npoint = [0, 0]\n\
                 axis = [1, 0]\nposition = {}\n\
                 [[joint]]\nname = \"cam\"\ntype = \"coupling\"\njoints = [\"pin\", \"guide\"]\nlaw = {{ table = [{}] }}\n",
                sign * speed,
                points[20][1],
                points[20][1],
                table.join(", ")
            );
            // As for other laws: the error of a run is below a hundred tolerances. Without events it was five hundred.
            follows(&text, "pin.position", 100.0, &[0.5, 1.3, 2.4], |t| {
                angle_at(t, sign)
            });
        }
    }
}

/// Two parabolas that meet with the same slope: F'' jumps where they meet, and only there.
#[test]
fn a_coupling_by_pieces_turns_back_through_its_bound() {
    // x = θ + θ² for θ > 0 and x = θ below; a spring on the slider turns the motion back.
    let text = "format = 1\ndimension = 2\n[solver]\nlength = 1.0\n\
                [[body]]\nname = \"crank\"\nmass = 1\ninertia = 0.5\nangular_velocity = 1.0\n\
                [[body]]\nname = \"slider\"\nmass = 0.7\ninertia = 0.1\nvelocity = [1, 0]\n\
                [[joint]]\nname = \"pin\"\ntype = \"revolute\"\nbodies = [\"ground\", \"crank\"]\npoint = [0, 0]\n\
                [[joint]]\nname = \"guide\"\ntype = \"prismatic\"\nbodies = [\"ground\", \"slider\"]\npoint = [0, 0]\naxis = [1, 0]\n\
                [[joint]]\nname = \"cam\"\ntype = \"coupling\"\njoints = [\"pin\", \"guide\"]\n\
                law = { pieces = [{ below = 0.0, polynomial = [0, 1] }, { polynomial = [0, 1, 1] }] }\n\
                [[force]]\nname = \"spring\"\ntype = \"spring_damper\"\njoint = \"guide\"\nstiffness = 8.0\nlength = 0.0\n";
    // The fourth-order method crosses the bound inside a step: steps of 1e-4 s leave an error of about 1e-9.
    let exact = |t: f64| {
        let f = |_: f64, y: &[f64; 2]| {
            let (x, d, second) = if y[0] > 0.0 {
                (y[0] + y[0] * y[0], 1.0 + 2.0 * y[0], 2.0)
            } else {
                (y[0], 1.0, 0.0)
            };
            let bias = 0.7 * d * second * y[1] * y[1];
            [y[1], -(bias + 8.0 * x * d) / (0.5 + 0.7 * d * d)]
        };
        rk4(f, 0.0, t, [0.0, 1.0], (t * 4e5) as usize)[0]
    };
    follows(text, "pin.position", 100.0, &[0.4, 1.2, 2.1], exact);
}

/// Three blocks on rails along x; the third moves by 2 x₁ − 0.5 x₂.
fn differential(formulation: &str, ratios: &str) -> String {
    let mut text = format!(
        "format = 1\nname = \"differential\"\ndimension = 2\n[solver]\nformulation = \"{formulation}\"\n"
    );
    for (name, mass) in [("a", 1.0), ("b", 2.0), ("c", 3.0)] {
        text += &format!(
            "[[body]]\nname = \"{name}\"\nmass = {mass:?}\ninertia = 1.0\nposition = [0.0, {mass:?}]\n\
             [[joint]]\nname = \"rail_{name}\"\ntype = \"prismatic\"\nbodies = [\"ground\", \"{name}\"]\n\
             point = [0.0, {mass:?}]\naxis = [1, 0]\n\
             [[force]]\nname = \"pull_{name}\"\ntype = \"actuator\"\njoint = \"rail_{name}\"\nforce = {mass:?}\n"
        );
    }
    text + "[[joint]]\nname = \"sum\"\ntype = \"coupling\"\n\
            joints = [\"rail_a\", \"rail_b\", \"rail_c\"]\nratios = "
        + ratios
        + "\n"
}

/// (M + m₃ r rᵀ) ẍ = f + f₃ r with r = (2, −0.5): constant accelerations.
#[test]
fn a_coordinate_is_the_sum_of_others_in_every_formulation() {
    let r = [2.0, -0.5];
    let mass = [
        [1.0 + 3.0 * r[0] * r[0], 3.0 * r[0] * r[1]],
        [3.0 * r[0] * r[1], 2.0 + 3.0 * r[1] * r[1]],
    ];
    let force = [1.0 + 3.0 * r[0], 2.0 + 3.0 * r[1]];
    let determinant = mass[0][0] * mass[1][1] - mass[0][1] * mass[1][0];
    let a = [
        (force[0] * mass[1][1] - mass[0][1] * force[1]) / determinant,
        (mass[0][0] * force[1] - force[0] * mass[1][0]) / determinant,
    ];
    let expected = [a[0], a[1], r[0] * a[0] + r[1] * a[1]];
    for formulation in ["absolute", "relative", "global", "topological", "hybrid"] {
        let mut sim = crate::sim::Sim::new(&differential(formulation, "[2.0, -0.5]"), 1e-8);
        sim.to(1.0);
        for (name, expected) in ["rail_a", "rail_b", "rail_c"].iter().zip(expected) {
            let found = sim.get(&format!("{name}.acceleration"));
            assert!(
                (found - expected).abs() < 1e-9,
                "{formulation} {name}: {found} {expected}"
            );
            let way = sim.get(&format!("{name}.position"));
            assert!((way - 0.5 * expected).abs() < 1e-7, "{formulation} {name}");
        }
        assert!(sim.get("energy.balance").abs() < 1e-7, "{formulation}");
    }
}

#[test]
fn bad_sums_are_refused_with_their_place() {
    for (ratios, part) in [
        ("[2.0]", "2 for 3 joints, found 1"),
        ("[2.0, 0.0]", "zero"),
        ("[2.0, 1.0]\nratio = 1.0", "ratio"),
        ("2.0", "ratios"),
    ] {
        let words = biela::Model::from_text(&differential("auto", ratios), "c.toml").unwrap_err();
        let words = words.to_string();
        assert!(words.contains(part) && words.contains("c.toml:"), "{words}");
    }
    let twice = differential("auto", "[2.0, 1.0]")
        .replace("\"rail_b\", \"rail_c\"", "\"rail_a\", \"rail_c\"");
    let words = biela::Model::from_text(&twice, "c.toml")
        .unwrap_err()
        .to_string();
    assert!(words.contains("twice"), "{words}");
}
