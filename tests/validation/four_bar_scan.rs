//! The four-bar of equal bars passes positions in which all bars are in line: there the mechanism could go on in two ways. Scanned
//! over start rates, tolerances and formulations: how it meets these positions must not decide whether the answer is right.

use serde_json::{Value, json};

use crate::campaign::FORMULATIONS;
use crate::campaign::judge::{gap, measure_growth};
use crate::campaign::simulate::{Ending, Run, simulate};

/// Three bars of 1 m and 1 kg, upright; the upper one moves sideways at `rate` m/s.
fn four_bar(rate: f64) -> Value {
    let bar = |name: &str, position: [f64; 2], angle: f64, velocity: f64, turning: f64| {
        json!({
            "name": name, "mass": 1.0, "inertia": 1.0 / 12.0, "position": position, "angle": angle,
            "velocity": [velocity, 0.0], "angular_velocity": turning,
        })
    };
    let pin = |name: &str, bodies: [&str; 2], point: [f64; 2]| json!({"name": name, "type": "revolute", "bodies": bodies, "point": point});
    let upright = std::f64::consts::FRAC_PI_2;
    json!({
        "format": 1, "name": "four_bar", "dimension": 2, "gravity": [0.0, -9.81], "experiment": {"stop": 3.0},
        "body": [
            bar("left", [0.0, 0.5], upright, 0.5 * rate, -rate),
            bar("upper", [0.5, 1.0], 0.0, rate, 0.0),
            bar("right", [1.0, 0.5], upright, 0.5 * rate, -rate),
        ],
        "joint": [
            pin("A", ["ground", "left"], [0.0, 0.0]), pin("B", ["left", "upper"], [0.0, 1.0]),
            pin("C", ["upper", "right"], [1.0, 1.0]), pin("D", ["ground", "right"], [1.0, 0.0]),
        ],
    })
}

#[test]
fn start_rates_do_not_decide_whether_the_four_bar_is_right() {
    let full = std::env::var("BIELA_TEST_FULL").is_ok_and(|x| x == "1");
    let (every, tolerances): (usize, &[f64]) = match full {
        true => (1, &[1e-4, 1e-5, 1e-6, 1e-7]),
        false => (5, &[1e-4, 1e-6, 1e-7]),
    };
    let (mut runs, mut off) = (0, Vec::new());
    for k in (0..50).step_by(every) {
        let rate = 0.6 + 0.02 * k as f64;
        let model = four_bar(rate);
        // Two runs that ended have to agree.
        let ended: Vec<Run> = [("absolute", 1e-9), ("relative", 1e-9), ("global", 1e-9)]
            .into_iter()
            .map(|(formulation, tight)| simulate(&model, formulation, tight))
            .filter(|run| run.ending == Ending::Done)
            .collect();
        let [right, second, ..] = &ended[..] else {
            panic!("rate {rate}: {} references ended", ended.len());
        };
        let spread = gap(right, second);
        assert!(
            spread < 1e-7,
            "rate {rate}: references differ by {spread:e}"
        );
        let mut growth = None;
        for formulation in FORMULATIONS {
            for &tolerance in tolerances {
                let run = simulate(&model, formulation, tolerance);
                let mut error = gap(&run, right) / tolerance;
                runs += 1;
                if error > 10.0 && error.is_finite() {
                    error /= *growth.get_or_insert_with(|| measure_growth(&model, right, 1e-9));
                }
                if !(error <= 10.0) {
                    off.push(format!(
                        "rate {rate} {formulation} {tolerance:e}: {error:.1} tolerances x growth {}",
                        run.text
                    ));
                }
            }
        }
    }
    println!(
        "{} of {runs} above ten tolerances\n{}",
        off.len(),
        off.join("\n")
    );
    assert!(off.is_empty(), "{} of {runs}", off.len());
}
