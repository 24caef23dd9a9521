//! Units of measure: from text such as `N.s/m` or `kg.m2` to exponents of the SI base units,
//!
//! ```text
//!   unit = factor · kg^a m^b s^c A^d K^e mol^f cd^g rad^h
//! ```
//!
//! Factors are joined by `.` or `*`, a `/` divides by the one factor after it, an integer after a symbol is its exponent.
//! Other text is a unit without base units: legal, but not convertible.

/// Names of the base units, in the order of [`PhysicalUnit::exponents`].
pub const BASE: [&str; 8] = ["kg", "m", "s", "A", "K", "mol", "cd", "rad"];

/// A unit as a product of powers of base units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhysicalUnit {
    /// Exponents of [`BASE`].
    pub exponents: [i32; 8],
    /// One unit in terms of the product of base units.
    pub factor: f64,
    /// Added after the factor: degrees Celsius only.
    pub offset: f64,
}

/// Symbol, exponents, factor.
const SYMBOLS: [(&str, [i32; 8], f64); 30] = [
    ("1", [0; 8], 1.0),
    ("%", [0; 8], 0.01),
    ("kg", [1, 0, 0, 0, 0, 0, 0, 0], 1.0),
    ("g", [1, 0, 0, 0, 0, 0, 0, 0], 1e-3),
    ("t", [1, 0, 0, 0, 0, 0, 0, 0], 1e3),
    ("m", [0, 1, 0, 0, 0, 0, 0, 0], 1.0),
    ("mm", [0, 1, 0, 0, 0, 0, 0, 0], 1e-3),
    ("cm", [0, 1, 0, 0, 0, 0, 0, 0], 1e-2),
    ("km", [0, 1, 0, 0, 0, 0, 0, 0], 1e3),
    ("s", [0, 0, 1, 0, 0, 0, 0, 0], 1.0),
    ("ms", [0, 0, 1, 0, 0, 0, 0, 0], 1e-3),
    ("min", [0, 0, 1, 0, 0, 0, 0, 0], 60.0),
    ("h", [0, 0, 1, 0, 0, 0, 0, 0], 3600.0),
    ("A", [0, 0, 0, 1, 0, 0, 0, 0], 1.0),
    ("K", [0, 0, 0, 0, 1, 0, 0, 0], 1.0),
    ("mol", [0, 0, 0, 0, 0, 1, 0, 0], 1.0),
    ("cd", [0, 0, 0, 0, 0, 0, 1, 0], 1.0),
    ("rad", [0, 0, 0, 0, 0, 0, 0, 1], 1.0),
    (
        "deg",
        [0, 0, 0, 0, 0, 0, 0, 1],
        std::f64::consts::PI / 180.0,
    ),
    ("rev", [0, 0, 0, 0, 0, 0, 0, 1], 2.0 * std::f64::consts::PI),
    ("Hz", [0, 0, -1, 0, 0, 0, 0, 0], 1.0),
    ("N", [1, 1, -2, 0, 0, 0, 0, 0], 1.0),
    ("kN", [1, 1, -2, 0, 0, 0, 0, 0], 1e3),
    ("J", [1, 2, -2, 0, 0, 0, 0, 0], 1.0),
    ("kJ", [1, 2, -2, 0, 0, 0, 0, 0], 1e3),
    ("W", [1, 2, -3, 0, 0, 0, 0, 0], 1.0),
    ("kW", [1, 2, -3, 0, 0, 0, 0, 0], 1e3),
    ("Pa", [1, -1, -2, 0, 0, 0, 0, 0], 1.0),
    ("MPa", [1, -1, -2, 0, 0, 0, 0, 0], 1e6),
    ("bar", [1, -1, -2, 0, 0, 0, 0, 0], 1e5),
];

/// The unit that a text stands for.
pub fn parse(unit: &str) -> Option<PhysicalUnit> {
    let mut parsed = PhysicalUnit {
        exponents: [0; 8],
        factor: 1.0,
        offset: 0.0,
    };
    let mut sign = 1;
    let mut rest = unit.trim();
    loop {
        let end = rest.find(['.', '*', '/']).unwrap_or(rest.len());
        let (exponents, factor, power) = single(&rest[..end])?;
        let power = sign * power;
        for (sum, each) in parsed.exponents.iter_mut().zip(exponents) {
            *sum += power * each;
        }
        parsed.factor *= factor.powi(power);
        let Some(separator) = rest[end..].chars().next() else {
            return Some(parsed);
        };
        sign = if separator == '/' { -1 } else { 1 };
        rest = &rest[end + 1..];
    }
}

/// Exponents, factor and power of one symbol with its power.
fn single(text: &str) -> Option<([i32; 8], f64, i32)> {
    let find = |symbol: &str| SYMBOLS.iter().find(|(known, _, _)| *known == symbol);
    if let Some((_, exponents, factor)) = find(text) {
        return Some((*exponents, *factor, 1));
    }
    let split = text.find(|c: char| c.is_ascii_digit() || c == '-' || c == '^')?;
    let (_, exponents, factor) = find(&text[..split])?;
    let power: i32 = text[split..].trim_start_matches('^').parse().ok()?;
    (-9..=9)
        .contains(&power)
        .then_some((*exponents, *factor, power))
}

/// Type of a variable: name of the quantity and display units (value in display unit = factor · value in unit).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VariableType {
    /// The unit it belongs to.
    pub unit: &'static str,
    /// Name of the quantity, such as `Angle`.
    pub name: &'static str,
    /// Display units and their factors; the first is the usual one.
    pub display_units: &'static [(&'static str, f64)],
}

const DEG: f64 = 180.0 / std::f64::consts::PI;
const RPM: f64 = 30.0 / std::f64::consts::PI;

/// The types of the quantities of a mechanism.
const TYPES: [VariableType; 19] = [
    variable_type("s", "Time", &[("ms", 1e3)]),
    variable_type("m", "Length", &[("mm", 1e3)]),
    variable_type("rad", "Angle", &[("deg", DEG)]),
    variable_type("m/s", "Velocity", &[("mm/s", 1e3)]),
    variable_type(
        "rad/s",
        "AngularVelocity",
        &[("deg/s", DEG), ("rev/min", RPM)],
    ),
    variable_type("m/s2", "Acceleration", &[]),
    variable_type("rad/s2", "AngularAcceleration", &[("deg/s2", DEG)]),
    variable_type("N", "Force", &[("kN", 1e-3)]),
    variable_type("N.m", "Torque", &[("kN.m", 1e-3)]),
    variable_type("J", "Energy", &[("kJ", 1e-3)]),
    variable_type("W", "Power", &[("kW", 1e-3)]),
    variable_type("kg", "Mass", &[]),
    variable_type("kg.m2", "MomentOfInertia", &[]),
    variable_type("N/m", "TranslationalSpringConstant", &[("N/mm", 1e-3)]),
    variable_type("N.s/m", "TranslationalDampingConstant", &[]),
    variable_type(
        "N.m/rad",
        "RotationalSpringConstant",
        &[("N.m/deg", 1.0 / DEG)],
    ),
    variable_type("N.m.s/rad", "RotationalDampingConstant", &[]),
    variable_type("Pa", "Pressure", &[("bar", 1e-5)]),
    variable_type("Hz", "Frequency", &[]),
];

const fn variable_type(
    unit: &'static str,
    name: &'static str,
    display_units: &'static [(&'static str, f64)],
) -> VariableType {
    VariableType {
        unit,
        name,
        display_units,
    }
}

/// The type of variables in this unit, if it is one of the table.
pub fn type_of(unit: &str) -> Option<&'static VariableType> {
    TYPES.iter().find(|kind| kind.unit == unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_products_of_powers() {
        let check = |unit: &str, exponents: [i32; 8], factor: f64| {
            let found = parse(unit).unwrap();
            assert_eq!(found.exponents, exponents, "{unit}");
            assert!(
                (found.factor - factor).abs() <= 1e-15 * factor,
                "{unit}: {}",
                found.factor
            );
        };
        check("N.m", [1, 2, -2, 0, 0, 0, 0, 0], 1.0);
        check("kg.m2", [1, 2, 0, 0, 0, 0, 0, 0], 1.0);
        check("N.s/m", [1, 0, -1, 0, 0, 0, 0, 0], 1.0);
        check("rad/s2", [0, 0, -2, 0, 0, 0, 0, 1], 1.0);
        check("N.m.s/rad", [1, 2, -1, 0, 0, 0, 0, -1], 1.0);
        check(
            "rev/min",
            [0, 0, -1, 0, 0, 0, 0, 1],
            std::f64::consts::PI / 30.0,
        );
        check("m.s-2", [0, 1, -2, 0, 0, 0, 0, 0], 1.0);
        check("mm^2", [0, 2, 0, 0, 0, 0, 0, 0], 1e-6);
        check("km/h", [0, 1, -1, 0, 0, 0, 0, 0], 1.0 / 3.6);
        check("1", [0; 8], 1.0);
    }

    #[test]
    fn other_texts_are_not_parsed() {
        for text in ["", "furlong", "m//s", "m/", "m2x", "m99", ".", "2"] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn display_units_agree_with_their_units() {
        for kind in TYPES {
            let unit = parse(kind.unit).unwrap();
            for (shown, factor) in kind.display_units {
                let other = parse(shown).unwrap();
                assert_eq!(unit.exponents, other.exponents, "{shown}");
                // Value in display unit = factor · value in unit.
                let expected = unit.factor / other.factor;
                assert!(
                    (factor / expected - 1.0).abs() < 1e-14,
                    "{shown}: {factor} {expected}"
                );
            }
        }
    }
}
