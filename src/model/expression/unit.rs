//! Units of measure and physical dimensions.

use std::f64::consts::TAU;

/// Exponents are counted in twelfths, so that square, cube and fourth roots are exact.
const WHOLE: i32 = 12;

/// A physical dimension: exponents of length, mass, time and angle. An angle has a dimension of its own: 1500 rpm is not
/// 1500 / min.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::model) struct PhysicalDimension([i32; 4]);

/// The base units in the order of the exponents.
const BASE: [&str; 4] = ["m", "kg", "s", "rad"];

impl PhysicalDimension {
    pub const NONE: Self = Self([0; 4]);
    pub const ANGLE: Self = Self::of([0, 0, 0, 1]);
    pub const TIME: Self = Self::of([0, 0, 1, 0]);

    const fn of(whole: [i32; 4]) -> Self {
        let [a, b, c, d] = whole;
        Self([a * WHOLE, b * WHOLE, c * WHOLE, d * WHOLE])
    }

    /// The dimension of a product.
    pub fn times(self, other: Self) -> Self {
        Self(std::array::from_fn(|k| {
            self.0[k].saturating_add(other.0[k])
        }))
    }

    /// The dimension of a quotient.
    pub fn over(self, other: Self) -> Self {
        Self(std::array::from_fn(|k| {
            self.0[k].saturating_sub(other.0[k])
        }))
    }

    /// The dimension of a power; `None` if an exponent would be no twelfth, or absurd.
    pub fn to_the(self, power: f64) -> Option<Self> {
        let mut out = [0; 4];
        for k in 0..4 {
            let exact = f64::from(self.0[k]) * power;
            let near = exact.round();
            if !((exact - near).abs() < 1e-9 && near.abs() < 1e6) {
                return None;
            }
            out[k] = near as i32;
        }
        Some(Self(out))
    }

    /// Whether a value of this dimension can stand where `wanted` is needed. A radian is one in products with lengths and
    /// masses (a torque over an angle, a speed by an angular velocity), but not by itself or with time alone.
    pub fn fits(self, wanted: Self) -> bool {
        let mechanical = wanted.0[0] != 0 || wanted.0[1] != 0;
        self == wanted || (mechanical && self.0[..3] == wanted.0[..3])
    }

    /// The unit in base units, `kg.m/s2`.
    pub fn name(self) -> String {
        let part = |sign: i32| -> Vec<String> {
            (0..4)
                .filter(|k| self.0[*k] * sign > 0)
                .map(|k| match self.0[k].abs() {
                    WHOLE => BASE[k].to_owned(),
                    n if n % WHOLE == 0 => format!("{}{}", BASE[k], n / WHOLE),
                    n => format!("{}^({n}/{WHOLE})", BASE[k]),
                })
                .collect()
        };
        let (above, below) = (part(1), part(-1));
        match (above.is_empty(), below.is_empty()) {
            (true, true) => "1".to_owned(),
            (_, true) => above.join("."),
            (true, false) => format!("1/{}", below.join("/")),
            (false, false) => format!("{}/{}", above.join("."), below.join("/")),
        }
    }

    /// The unit in which the quantities of a mechanism have this dimension; empty if there is none of them.
    pub fn common_unit(self) -> &'static str {
        const COMMON: [&str; 17] = [
            "m",
            "kg",
            "s",
            "rad",
            "m/s",
            "rad/s",
            "m/s2",
            "rad/s2",
            "N",
            "N.m",
            "N/m",
            "N.m/rad",
            "N.s/m",
            "N.m.s/rad",
            "kg.m2",
            "Hz",
            "W",
        ];
        let found = (COMMON.into_iter()).find(|unit| dimension_of(unit) == Some(self));
        found.unwrap_or("")
    }

    /// What it is, for people: `a length (m)`.
    pub fn words(self) -> String {
        let known = [
            ([0, 0, 0, 0], "a number without unit"),
            ([1, 0, 0, 0], "a length (m)"),
            ([0, 1, 0, 0], "a mass (kg)"),
            ([0, 0, 1, 0], "a time (s)"),
            ([0, 0, 0, 1], "an angle (rad)"),
            ([1, 0, -1, 0], "a speed (m/s)"),
            ([0, 0, -1, 1], "an angular velocity (rad/s)"),
            ([1, 1, -2, 0], "a force (N)"),
            ([0, 0, -1, 0], "a frequency (Hz)"),
        ];
        let found = known.iter().find(|(whole, _)| Self::of(*whole) == self);
        match found {
            Some((_, words)) => (*words).to_owned(),
            None => format!("in {}", self.name()),
        }
    }
}

/// Units by name: factor to base units, and the dimension. The inch and the pound are exact by definition.
const UNITS: [(&str, f64, [i32; 4]); 56] = [
    ("m", 1.0, [1, 0, 0, 0]),
    ("km", 1e3, [1, 0, 0, 0]),
    ("dm", 0.1, [1, 0, 0, 0]),
    ("cm", 0.01, [1, 0, 0, 0]),
    ("mm", 1e-3, [1, 0, 0, 0]),
    ("um", 1e-6, [1, 0, 0, 0]),
    ("µm", 1e-6, [1, 0, 0, 0]),
    ("nm", 1e-9, [1, 0, 0, 0]),
    ("in", 0.0254, [1, 0, 0, 0]),
    ("ft", 0.3048, [1, 0, 0, 0]),
    ("kg", 1.0, [0, 1, 0, 0]),
    ("g", 1e-3, [0, 1, 0, 0]),
    ("mg", 1e-6, [0, 1, 0, 0]),
    ("t", 1e3, [0, 1, 0, 0]),
    ("lb", 0.453_592_37, [0, 1, 0, 0]),
    ("s", 1.0, [0, 0, 1, 0]),
    ("ms", 1e-3, [0, 0, 1, 0]),
    ("us", 1e-6, [0, 0, 1, 0]),
    ("µs", 1e-6, [0, 0, 1, 0]),
    ("min", 60.0, [0, 0, 1, 0]),
    ("h", 3600.0, [0, 0, 1, 0]),
    ("rad", 1.0, [0, 0, 0, 1]),
    ("mrad", 1e-3, [0, 0, 0, 1]),
    ("deg", TAU / 360.0, [0, 0, 0, 1]),
    ("°", TAU / 360.0, [0, 0, 0, 1]),
    ("rev", TAU, [0, 0, 0, 1]),
    ("rpm", TAU / 60.0, [0, 0, -1, 1]),
    ("Hz", 1.0, [0, 0, -1, 0]),
    ("kHz", 1e3, [0, 0, -1, 0]),
    ("N", 1.0, [1, 1, -2, 0]),
    ("mN", 1e-3, [1, 1, -2, 0]),
    ("kN", 1e3, [1, 1, -2, 0]),
    ("MN", 1e6, [1, 1, -2, 0]),
    ("lbf", 4.448_221_615_260_5, [1, 1, -2, 0]),
    ("Nm", 1.0, [2, 1, -2, 0]),
    ("kNm", 1e3, [2, 1, -2, 0]),
    ("J", 1.0, [2, 1, -2, 0]),
    ("mJ", 1e-3, [2, 1, -2, 0]),
    ("kJ", 1e3, [2, 1, -2, 0]),
    ("MJ", 1e6, [2, 1, -2, 0]),
    ("W", 1.0, [2, 1, -3, 0]),
    ("mW", 1e-3, [2, 1, -3, 0]),
    ("kW", 1e3, [2, 1, -3, 0]),
    ("MW", 1e6, [2, 1, -3, 0]),
    ("Pa", 1.0, [-1, 1, -2, 0]),
    ("hPa", 1e2, [-1, 1, -2, 0]),
    ("kPa", 1e3, [-1, 1, -2, 0]),
    ("MPa", 1e6, [-1, 1, -2, 0]),
    ("GPa", 1e9, [-1, 1, -2, 0]),
    ("bar", 1e5, [-1, 1, -2, 0]),
    ("mbar", 1e2, [-1, 1, -2, 0]),
    ("kmh", 1.0 / 3.6, [1, 0, -1, 0]),
    ("mph", 0.447_04, [1, 0, -1, 0]),
    ("L", 1e-3, [3, 0, 0, 0]),
    ("mL", 1e-6, [3, 0, 0, 0]),
    ("percent", 0.01, [0, 0, 0, 0]),
];

/// Names of all units.
pub(in crate::model) fn unit_names() -> impl Iterator<Item = &'static str> {
    UNITS.iter().map(|(name, _, _)| *name)
}

/// Factor to base units and dimension of a unit. A whole exponent may follow the name, as in `s2`.
pub(in crate::model) fn unit_by_name(name: &str) -> Option<(f64, PhysicalDimension)> {
    let plain = |name: &str| {
        let found = UNITS.iter().find(|(other, _, _)| *other == name);
        found.map(|(_, factor, whole)| (*factor, PhysicalDimension::of(*whole)))
    };
    plain(name).or_else(|| {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let power: i32 = name[stem.len()..].parse().ok().filter(|n| *n <= 9)?;
        let (factor, dimension) = plain(stem)?;
        Some((factor.powi(power), dimension.to_the(f64::from(power))?))
    })
}

/// The dimension of a unit as keys and targets have it: `kg.m2`, `N.s/m`, `m/s2`; empty or `1` for none.
pub(in crate::model) fn dimension_of(unit: &str) -> Option<PhysicalDimension> {
    if unit.is_empty() || unit == "1" {
        return Some(PhysicalDimension::NONE);
    }
    let mut dimension = PhysicalDimension::NONE;
    for (i, quotient) in unit.split('/').enumerate() {
        for name in quotient.split('.') {
            let (_, part) = unit_by_name(name)?;
            dimension = match i {
                0 => dimension.times(part),
                _ => dimension.over(part),
            };
        }
    }
    Some(dimension)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_keys_are_understood_and_written_back() {
        for (unit, base) in [
            ("", "1"),
            ("m/s2", "m/s2"),
            ("kg.m2", "m2.kg"),
            ("N", "m.kg/s2"),
            ("N.s/m", "kg/s"),
            ("N.m.s/rad", "m2.kg/s/rad"),
            ("rad/s", "rad/s"),
            ("Hz", "1/s"),
        ] {
            let dimension = dimension_of(unit).unwrap_or_else(|| panic!("{unit}"));
            assert_eq!(dimension.name(), base, "{unit}");
        }
        assert_eq!(dimension_of("furlong"), None);
    }

    #[test]
    fn no_name_stands_twice() {
        for (i, name) in unit_names().enumerate() {
            assert!(!unit_names().take(i).any(|other| other == name), "{name}");
        }
    }

    #[test]
    fn a_radian_is_one_only_beside_lengths_and_masses() {
        let of = |unit: &str| dimension_of(unit).unwrap();
        assert!(of("N.m").fits(of("N.m/rad")));
        assert!(of("rad.m/s").fits(of("m/s")));
        assert!(!of("rad/s").fits(of("Hz")));
        assert!(!of("rad").fits(of("")));
        assert!(!of("rad").fits(of("m")));
    }
}
