//! Elementary functions come from one place, whose bits do not depend on the C library of the machine.

use super::source::{files, line};

/// Methods of `f64` whose last bit is the C library's.
const METHODS: [&str; 25] = [
    "sin", "cos", "tan", "sin_cos", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh",
    "asinh", "acosh", "atanh", "exp", "exp2", "exp_m1", "ln", "ln_1p", "log", "log2", "log10",
    "powf", "cbrt", "hypot",
];
/// Also the name of what writes a line of a log: only the path is looked for.
const PATH_ONLY: &str = "log";
/// Parts of nalgebra that compute an angle or a root of squares.
const NALGEBRA: [&str; 8] = [
    "svd",
    "from_axis_angle",
    "from_euler_angles",
    "euler_angles",
    "from_scaled_axis",
    "scaled_axis",
    "slerp",
    "polar",
];
/// Pictures may differ in a bit that nobody sees; the modes of an analysis come from nalgebra's complex numbers. Neither is part of
/// a step.
const BESIDE_STEPS: [&str; 2] = ["src/report/", "src/analysis/"];
/// The place.
const PLACE: &str = "src/linalg/elementary.rs";

#[test]
fn elementary_functions_come_from_one_place() {
    let mut found = Vec::new();
    for file in files().iter().filter(|file| file.path != PLACE) {
        let code = &file.production;
        let mut patterns = Vec::new();
        for name in METHODS {
            patterns.push(format!("f64::{name}"));
            if name != PATH_ONLY {
                patterns.push(format!(".{name}("));
            }
        }
        let of_nalgebra = match BESIDE_STEPS
            .iter()
            .any(|folder| file.path.starts_with(folder))
        {
            true => &[],
            false => &NALGEBRA[..],
        };
        for name in of_nalgebra {
            patterns.extend([format!(".{name}("), format!("::{name}(")]);
        }
        patterns.push("libm::".to_owned());
        for pattern in patterns {
            for (at, _) in code.match_indices(&pattern) {
                let end = at + pattern.len();
                let goes_on = code[end..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
                let whole = pattern.ends_with(['(', ':']) || !goes_on;
                if whole {
                    found.push(format!("{}:{}: {pattern}", file.path, line(code, at)));
                }
            }
        }
    }
    assert!(
        found.is_empty(),
        "take linalg::elementary instead:\n{}",
        found.join("\n")
    );
}
