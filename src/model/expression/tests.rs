//! Expressions and units against an independent evaluation, and their errors by column.

use super::*;
use crate::linalg::random::Random;

fn value(text: &str) -> Result<DimensionedValue<f64>, ExpressionError> {
    let defined = |name: &str| match name {
        "l" => Some(DimensionedValue::new(0.4, PhysicalDimension::NONE)),
        "len" => Some(DimensionedValue::new(0.25, dimension_of("m").unwrap())),
        "k_1" => Some(DimensionedValue::new(-3.0, PhysicalDimension::NONE)),
        _ => None,
    };
    Expression::parse(text, &|name| defined(name).is_some())?.evaluate(&defined)
}

#[test]
fn expressions_have_their_values_and_units() {
    use std::f64::consts::PI;
    for (text, expected, unit) in [
        ("2*l + 0.1", 0.9, ""),
        ("pi/6", PI / 6.0, ""),
        ("30 deg", PI / 6.0, "rad"),
        ("30°", PI / 6.0, "rad"),
        ("12 mm", 0.012, "m"),
        ("12mm", 0.012, "m"),
        ("1500 rpm", 50.0 * PI, "rad/s"),
        ("-2^2", -4.0, ""),
        ("2^-1", 0.5, ""),
        ("2^3^2", 512.0, ""),
        ("2**3", 8.0, ""),
        ("1 - 2 - 3", -4.0, ""),
        ("8/4/2", 1.0, ""),
        ("-(l)", -0.4, ""),
        ("+ + 3", 3.0, ""),
        ("9.81 m/s^2", 9.81, "m/s2"),
        ("9.81 m/s2", 9.81, "m/s2"),
        ("9.81 m·s^-2", 9.81, "m/s2"),
        ("10 N/2 mm", 5000.0, "N/m"),
        ("5 N.m/rad", 5.0, "N.m/rad"),
        ("72 km/h", 20.0, "m/s"),
        ("(1 + 2) cm", 0.03, "m"),
        ("2 m * 3", 6.0, "m"),
        ("2 m^2 / len", 8.0, "m"),
        ("sqrt(len^2 + (300 mm)^2)", 0.25f64.hypot(0.3), "m"),
        ("hypot(len, 300 mm)", 0.25f64.hypot(0.3), "m"),
        ("sin(30 deg)", 0.5, ""),
        ("atan2(1 m, -1 m)", 0.75 * PI, "rad"),
        ("acos(0)", PI / 2.0, "rad"),
        ("max(len, 10 cm)", 0.25, "m"),
        ("min(3, k_1)", -3.0, ""),
        ("abs(k_1)", 3.0, ""),
        ("1e3", 1000.0, ""),
        ("1.5e-3 m", 0.0015, "m"),
        (".5", 0.5, ""),
        ("e^1", std::f64::consts::E, ""),
        ("100 MPa", 1e8, "Pa"),
        ("(1/2) m", 0.5, "m"),
        ("1/(2 s)", 0.5, "Hz"),
        ("3 m²", 3.0, "m2"),
    ] {
        let found = value(text).unwrap_or_else(|e| panic!("{text}: {e:?}"));
        let error = (found.value - expected).abs();
        assert!(
            error <= 4.0 * f64::EPSILON * expected.abs(),
            "{text}: {found:?}"
        );
        assert_eq!(found.dimension, dimension_of(unit).unwrap(), "{text}");
    }
}

#[test]
fn mistakes_are_found_at_their_column() {
    for (text, at, fragment) in [
        ("", 0, "empty"),
        ("2 *", 3, "ends where"),
        ("2 + * 3", 4, "expected a number or name, found \"*\""),
        ("(1 + 2", 0, "never closed"),
        ("1 + 2)", 5, "never opened"),
        ("2 x", 2, "there is no unit \"x\""),
        ("2 l", 2, "expected an operator"),
        ("2 * length", 4, "no definition \"length\""),
        ("2 * mm", 4, "behind a number"),
        ("1 + 2 mm", 2, "joins two kinds"),
        ("30 deg + 1 mm", 7, "an angle (rad), the other a length (m)"),
        ("sinn(1)", 0, "did you mean \"sin\""),
        ("sin(1, 2)", 0, "takes 1 argument"),
        ("sin(1 m)", 0, "takes an angle"),
        ("exp(1 s)", 0, "without unit"),
        ("1 / (l - l)", 2, "divides by zero"),
        ("sqrt(0 - 1)", 0, "does not exist"),
        ("2^(1 m)", 1, "an exponent has no unit"),
        ("(1 m)^0.3", 5, "has no dimension"),
        ("1/2 m", 1, "write parentheses"),
        ("pi/6 rad", 2, "write parentheses"),
        ("3 $ 4", 2, "'$' has no meaning"),
        ("1 2", 2, "expected an operator"),
        ("10 m/s^x", 7, "exponent of a unit"),
        ("(1 m) mm", 0, "already has a unit"),
        ("10^400", 2, "not finite"),
        ("12 mmm", 3, "did you mean \"mm\""),
        ("é + 1", 0, "no definition"),
    ] {
        let error = value(text).expect_err(text);
        assert!(error.message.contains(fragment), "{text}: {error:?}");
        assert_eq!(error.at, at, "{text}: {error:?}");
    }
    for nested in [
        "(".repeat(1000) + "1",
        "-".repeat(100_000) + "1",
        "2^".repeat(1000) + "1",
    ] {
        assert!(value(&nested).is_err());
    }
}

/// A random expression as text with all parentheses, and its value by an evaluation that shares nothing with the parser.
fn random_expression(random: &mut Random, depth: usize) -> (String, f64) {
    if depth == 0 || random.below(5) == 0 {
        let x = (random.between(0.1, 9.0) * 100.0).round() / 100.0;
        return match random.below(4) {
            0 => ("l".to_owned(), 0.4),
            1 => (format!("({} cm / (1 m))", x), x / 100.0),
            _ => (format!("{x}"), x),
        };
    }
    let (a, x) = random_expression(random, depth - 1);
    let (b, y) = random_expression(random, depth - 1);
    match random.below(8) {
        0 => (format!("({a}+{b})"), x + y),
        1 => (format!("({a} - {b})"), x - y),
        2 => (format!("({a} * {b})"), x * y),
        3 if y.abs() > 1e-3 => (format!("({a} /({b}))"), x / y),
        4 => (format!("(-{a})"), -x),
        5 => (format!("sin({a})"), x.sin()),
        6 => (format!("max({a}, {b})"), x.max(y)),
        _ => (format!("(atan2({a}, {b}) / (1 rad))"), x.atan2(y)),
    }
}

#[test]
fn random_expressions_have_the_values_of_an_independent_evaluation() {
    let mut random = Random::new(1919);
    for _ in 0..2000 {
        let (text, expected) = random_expression(&mut random, 5);
        if !expected.is_finite() {
            continue;
        }
        let found = value(&text).unwrap_or_else(|e| panic!("{text}: {e:?}"));
        // Sums may cancel: the sides differ only by the rounding of units.
        let slack = 1e-9 * expected.abs().max(1.0);
        assert!(
            (found.value - expected).abs() <= slack,
            "{text}: {found:?} {expected}"
        );
        assert_eq!(found.dimension, PhysicalDimension::NONE);
    }
}

#[test]
fn precedence_is_that_of_mathematics() {
    // Without parentheses: products before sums, left to right; powers before signs, right to left.
    let mut random = Random::new(7);
    for _ in 0..500 {
        let n: Vec<f64> = (0..6).map(|_| random.between(1.0, 9.0).round()).collect();
        let [a, b, c, d, e, f] = n[..] else {
            unreachable!()
        };
        let text = format!("{a} - {b}*{c}/{d} - -{e}^2 + {f}");
        let expected = a - b * c / d + e * e + f;
        assert!(
            (value(&text).unwrap().value - expected).abs() < 1e-12,
            "{text}"
        );
    }
}

#[test]
fn units_convert_both_ways_and_random_products_have_the_product_of_their_dimensions() {
    let names: Vec<&str> = unit_names().collect();
    let mut random = Random::new(5);
    for _ in 0..2000 {
        let [a, b] = [0, 1].map(|_| names[random.below(names.len() as u64) as usize]);
        let ((fa, da), (fb, db)) = (unit_by_name(a).unwrap(), unit_by_name(b).unwrap());
        for (text, factor, dimension) in [
            (format!("3 {a}*{b}"), 3.0 * fa * fb, da.times(db)),
            (format!("3 {a}/{b}"), 3.0 * fa / fb, da.over(db)),
            (
                format!("(3 {a})/(1 {b}^2)"),
                3.0 * fa / (fb * fb),
                da.over(db).over(db),
            ),
            (format!("(3 {a})/(1 {a})"), 3.0, PhysicalDimension::NONE),
        ] {
            let found = value(&text).unwrap_or_else(|e| panic!("{text}: {e:?}"));
            assert!(
                (found.value - factor).abs() <= 1e-14 * factor,
                "{text}: {found:?}"
            );
            assert_eq!(found.dimension, dimension, "{text}");
        }
    }
}

#[test]
fn derivatives_by_time_agree_with_differences() {
    for text in [
        "3*sin(2*t) + t^3",
        "exp(-t/2)*cos(t)^2",
        "sqrt(1 + t^2)/(2 + t)",
        "atan2(sin(t), 2 + cos(t))",
        "hypot(t, 2)",
        "log(1 + t)^2 + log10(t)",
        "t^t + 2^t + (asin(t/9) + 2*acos(t/9) + atan(t))/(1 rad) + tan(t/9)",
    ] {
        let expression = Expression::parse(text, &|_| false).unwrap();
        let at = |t: f64| {
            let time = |name: &str| {
                let jet = TimeJet([t, 1.0, 0.0]);
                (name == "t").then_some(DimensionedValue::new(jet, PhysicalDimension::NONE))
            };
            let plain = |name: &str| {
                (name == "t").then_some(DimensionedValue::new(t, PhysicalDimension::NONE))
            };
            let jet = expression.evaluate(&time).unwrap().value.0;
            let value = expression.evaluate(&plain).unwrap().value;
            assert!((jet[0] - value).abs() <= 1e-14 * value.abs(), "{text}");
            jet
        };
        // Central differences with 1e-4: truncation 1e-8 times derivatives of order one to a hundred.
        for t in [0.7, 1.9, 2.6] {
            let (a, b, here) = (at(t - 1e-4), at(t + 1e-4), at(t));
            for k in 0..2 {
                let difference = (b[k] - a[k]) / 2e-4;
                assert!(
                    (difference - here[k + 1]).abs() < 1e-5,
                    "{text} at {t}: {here:?}"
                );
            }
        }
    }
}
