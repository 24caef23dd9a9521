//! Dimensions and names of a user-defined system, with their checks.

use super::equations::{Callback, UserEquations, UserProperties};
use crate::error::{Error, Result};
use crate::formulation::{Dimensions, Sparsity};

/// Dimensions, properties and names of a user-defined system.
#[derive(Clone, Debug, Default)]
pub struct UserSystemShape {
    /// Dimensions.
    pub size: Dimensions,
    /// Guaranteed properties.
    pub promises: UserProperties,
    /// Sparsity of the matrices; each entry once.
    pub pattern: Sparsity,
    /// Typical magnitude of each generalised velocity, > 0: for the error norm and for the steps of differences.
    pub weights: Vec<f64>,
    /// Scale of each constraint's residual; empty: Σ |G_ij| max(weight_j, |q_j|) in the initial configuration.
    pub constraint_scales: Vec<f64>,
    /// Initial q.
    pub q: Vec<f64>,
    /// Initial v.
    pub v: Vec<f64>,
    /// Initial u, for the scale of the constraints.
    pub inputs: Vec<f64>,
    /// Initial p.
    pub parameters: Vec<f64>,
    /// Names of the generalised velocities; empty: q1 q2 ..
    pub coordinate_names: Vec<String>,
    /// Names of the constraints; empty: lambda1 lambda2 ..
    pub constraint_names: Vec<String>,
    /// Names of the events; empty: event1 event2 ..
    pub event_names: Vec<String>,
}

impl UserSystemShape {
    /// Checks that the dimensions agree and that the necessary callbacks are given.
    pub(super) fn validate(&self, equations: &impl UserEquations) -> Result<()> {
        let Dimensions { nq, nv, nc, ne, .. } = self.size;
        if nv == 0 {
            return invalid("nv", "0".into(), "at least one coordinate");
        }
        let has_rotations = check_configuration_space(equations)?;
        if nq != nv && !has_rotations {
            let expected = "nv: only with retract may the two differ";
            return invalid("nq", nq.to_string(), expected);
        }
        if !equations.has(Callback::Mass) && !equations.has(Callback::MassTimes) {
            let expected = "one of them: M(q) is needed";
            return invalid("mass, mass_times", "NULL".into(), expected);
        }
        for (callback, needed) in [
            (Callback::Force, true),
            (Callback::Constraint, nc > 0),
            (Callback::Events, ne > 0),
        ] {
            if needed && !equations.has(callback) {
                return invalid(callback.name(), "NULL".into(), "a function: it is needed");
            }
        }
        check_entries("tangent", &self.pattern.tangent, [nv, nv])?;
        check_entries("jacobian", &self.pattern.jacobian, [nc, nv])
    }
}

fn invalid<T>(name: &str, value: String, expected: &str) -> Result<T> {
    Err(Error::Argument {
        name: name.to_owned(),
        value,
        expected: expected.to_owned(),
    })
}

/// Whether the callbacks of the configuration space are given: all or none.
fn check_configuration_space(equations: &impl UserEquations) -> Result<bool> {
    let group = [
        Callback::Retract,
        Callback::Difference,
        Callback::Bracket,
        Callback::TangentInverse,
    ];
    let given = group.map(|callback| equations.has(callback));
    if given.contains(&true) && given.contains(&false) {
        let expected = "all of retract, difference, bracket and tangent_inverse, or none of them";
        let missing: Vec<&str> = (group.iter().zip(given))
            .filter(|(_, given)| !given)
            .map(|(callback, _)| callback.name())
            .collect();
        return invalid(&missing.join(", "), "NULL".into(), expected);
    }
    Ok(given[0])
}

/// Checks that the entries of a matrix are inside it and that each occurs once.
fn check_entries(name: &str, entries: &[(u32, u32)], [rows, columns]: [usize; 2]) -> Result<()> {
    let mut sorted = entries.to_vec();
    sorted.sort_unstable();
    let outside = |&&(i, j): &&(u32, u32)| i as usize >= rows || j as usize >= columns;
    if let Some((i, j)) = sorted.iter().find(outside) {
        let value = format!("row {i}, column {j}");
        let expected = format!("rows below {rows} and columns below {columns}, counted from 0");
        return invalid(&format!("pattern of {name}"), value, &expected);
    }
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        let value = format!("row {}, column {} twice", pair[0].0, pair[0].1);
        return invalid(&format!("pattern of {name}"), value, "each place once");
    }
    Ok(())
}
