//! Elementary functions come from one place, whose bits do not depend on the C library of the machine.

use super::source::{files, line};

/// Methods of `f64` whose last bit is the C library's.
const METHODS: [&str; 26] = [
    "sin",
    "cos",
    "tan",
    "sin_cos",
    "asin",
    "acos",
    "atan",
    "atan2",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "exp",
    "exp2",
    "exp_m1",
    "ln",
    "ln_1p",
    "log",
    "log2",
    "log10",
    "powf",
    "cbrt",
    "hypot",
    "rem_euclid",
];
/// `rem_euclid` is exact, `log` is also the name of what writes a line of a log: only their paths are looked for.
const PATHS_ONLY: [&str; 2] = ["log", "rem_euclid"];
/// Parts of nalgebra that compute an angle or a root of squares.
const NALGEBRA: [&str; 9] = [
    "svd",
    "from_axis_angle",
    "from_euler_angles",
    "euler_angles",
    "from_scaled_axis",
    "scaled_axis",
    "slerp",
    "powf_n",
    "polar",
];
/// The place, and types of our own with a method of such a name.
const ALLOWED: [(&str, &str); 2] = [
    ("src/linalg/elementary.rs", ""),
    ("src/model/expression/evaluate.rs", "self.powf("),
];

#[test]
fn elementary_functions_come_from_one_place() {
    let mut found = Vec::new();
    for file in files() {
        let code = &file.production;
        let mut patterns = Vec::new();
        for name in METHODS {
            patterns.push(format!("f64::{name}"));
            if !PATHS_ONLY.contains(&name) {
                patterns.push(format!(".{name}("));
            }
        }
        patterns.extend(NALGEBRA.iter().map(|name| format!(".{name}(")));
        patterns.push("libm::".to_owned());
        for pattern in patterns {
            for (at, _) in code.match_indices(&pattern) {
                let end = at + pattern.len();
                let goes_on = code[end..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
                let whole = pattern.ends_with(['(', ':']) || !goes_on;
                let allowed = ALLOWED.iter().any(|(path, text)| {
                    file.path == *path && (text.is_empty() || code[..end].ends_with(text))
                });
                if whole && !allowed {
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
