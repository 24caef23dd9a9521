//! Value references of FMI:
//!
//! ```text
//!   0 .. n−1   variables, with the references of the component
//!   n          time (FMI 3 only)
//!   n+1 ..     array variables: vectors all of whose components are variables (FMI 3 only)
//! ```

use std::collections::HashMap;

use crate::component::{Causality, Instance};
use crate::error::{Error, Result};

/// An array variable: a vector of outputs whose components are variables too.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayVariable {
    /// `<element>.<what>`, such as `bob.position`.
    pub name: String,
    /// The component's references, in the order of the axes.
    pub elements: Vec<u32>,
}

/// The variables behind the references.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueReferences {
    /// Number of scalar variables.
    pub scalars: u32,
    /// Array variables in the order of their references, from `scalars + 1` on.
    pub arrays: Vec<ArrayVariable>,
    names: Vec<String>,
}

/// Stands for `time` in a list of scalar references.
pub(super) const TIME: u32 = u32::MAX;

/// Quantities that are components of a vector, in the order of the axes; planar models have the first two.
const VECTORS: [(&str, &[&str]); 8] = [
    ("position", &["x", "y", "z"]),
    ("orientation", &["qw", "qx", "qy", "qz"]),
    ("velocity", &["vx", "vy", "vz"]),
    ("angular_velocity", &["wx", "wy", "wz"]),
    ("acceleration", &["ax", "ay", "az"]),
    ("angular_acceleration", &["alphax", "alphay", "alphaz"]),
    ("force", &["fx", "fy", "fz"]),
    ("moment", &["mx", "my", "mz"]),
];

impl ValueReferences {
    /// The references of an instance, with time and arrays for FMI 3.
    pub fn new(instance: &Instance, three: bool) -> Self {
        let variables = instance.variables();
        Self {
            scalars: variables.len() as u32,
            arrays: if three { arrays(instance) } else { Vec::new() },
            names: variables.iter().map(|v| v.name.clone()).collect(),
        }
    }

    /// The reference of `time`.
    pub fn time(&self) -> u32 {
        self.scalars
    }

    /// The reference of array `i`.
    pub fn array(&self, i: usize) -> u32 {
        self.scalars + 1 + i as u32
    }

    /// Appends the scalar references (or [`TIME`]) behind `reference` to `scalars`.
    pub(super) fn expand(&self, reference: u32, three: bool, scalars: &mut Vec<u32>) -> Result<()> {
        if reference < self.scalars {
            scalars.push(reference);
            return Ok(());
        }
        if three && reference == self.time() {
            scalars.push(TIME);
            return Ok(());
        }
        let array = (reference - self.scalars)
            .checked_sub(1)
            .and_then(|i| self.arrays.get(i as usize));
        match array {
            Some(array) => {
                scalars.extend_from_slice(&array.elements);
                Ok(())
            }
            None => Err(Error::UnknownReference {
                reference,
                count: self.scalars as usize,
            }),
        }
    }

    /// The name behind a reference, if there is one.
    pub fn name(&self, reference: u32) -> Option<&str> {
        if reference == self.time() {
            return Some("time");
        }
        let i = reference as usize;
        let scalars = self.scalars as usize;
        match i < scalars {
            true => Some(&self.names[i]),
            false => self.arrays.get(i - scalars - 1).map(|v| v.name.as_str()),
        }
    }
}

/// All vectors whose components are computed variables.
fn arrays(instance: &Instance) -> Vec<ArrayVariable> {
    let model = instance.model();
    if model.system.is_some() {
        return Vec::new();
    }
    // The description of a computed variable is the dotted name of its quantity.
    let mut references: HashMap<&str, u32> = HashMap::new();
    let mut elements: Vec<&str> = Vec::new();
    for (reference, variable) in (0..).zip(instance.variables()) {
        if matches!(variable.causality, Causality::Output | Causality::Local) {
            references.entry(&variable.source).or_insert(reference);
            if let Some((element, _)) = variable.source.split_once('.')
                && !elements.contains(&element)
            {
                elements.push(element);
            }
        }
    }
    let mut found = Vec::new();
    for element in elements {
        for (what, fields) in VECTORS {
            let fields = if model.dimension == 2 {
                &fields[..2]
            } else {
                fields
            };
            let reference = |field: &&str| {
                references
                    .get(format!("{element}.{field}").as_str())
                    .copied()
            };
            if let Some(elements) = fields.iter().map(reference).collect::<Option<Vec<u32>>>() {
                let name = format!("{element}.{what}");
                if !instance.variables().iter().any(|v| v.name == name) {
                    found.push(ArrayVariable { name, elements });
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: &str = r#"
        format = 1
        name = "slide"
        dimension = 2
        [[body]]
        name = "mass"
        mass = 1.0
        inertia = 1.0
        [[joint]]
        name = "slide"
        type = "prismatic"
        bodies = ["ground", "mass"]
        point = [0.0, 0.0]
        axis = [1.0, 0.0]
        [[output]]
        name = "sideways"
        source = "mass.y"
        [[output]]
        name = "vx"
        source = "mass.vx"
        [[output]]
        name = "along"
        source = "mass.x"
        [[output]]
        name = "twice"
        source = "mass.x"
    "#;

    #[test]
    fn an_array_has_all_components_in_the_order_of_the_axes() {
        let instance = Instance::from_text(MODEL, None).unwrap();
        let references = ValueReferences::new(&instance, true);
        assert_eq!(
            references.arrays,
            [ArrayVariable {
                name: "mass.position".to_owned(),
                elements: vec![2, 0]
            }]
        );
        let expand = |reference| {
            let mut list = Vec::new();
            references.expand(reference, true, &mut list).map(|()| list)
        };
        assert_eq!(expand(1).unwrap(), [1]);
        assert_eq!(expand(4).unwrap(), [TIME]);
        assert_eq!(expand(5).unwrap(), [2, 0]);
        assert!(expand(6).is_err() && expand(u32::MAX).is_err());
        assert_eq!(references.name(0), Some("sideways"));
        assert_eq!(references.name(4), Some("time"));
        assert_eq!(references.name(5), Some("mass.position"));
        assert_eq!(references.name(6), None);
    }

    #[test]
    fn fmi_2_has_scalars_only() {
        let instance = Instance::from_text(MODEL, None).unwrap();
        let references = ValueReferences::new(&instance, false);
        assert!(references.arrays.is_empty());
        assert!(
            references
                .expand(references.time(), false, &mut Vec::new())
                .is_err()
        );
    }
}
