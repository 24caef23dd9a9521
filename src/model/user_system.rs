//! The model of a user-defined system: its dimensions and the names of its variables.

use super::{Input, Model, Output, Parameter, SolverSettings, Target, TextPosition};
use crate::error::{Error, Result};

/// Dimensions of a user-defined system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserSystemNames {
    /// Coordinates `q1 q2 ..`.
    pub nq: usize,
    /// Generalised velocities `v1 v2 ..` and accelerations `a1 a2 ..`.
    pub nv: usize,
    /// Multipliers `lambda1 lambda2 ..`.
    pub nc: usize,
}

impl Model {
    /// The model of a user-defined system. All unknowns are outputs, and the energies if `energy` says that the system
    /// computes them. Inputs and parameters are given by name and start value.
    pub fn from_code(
        name: &str,
        own: UserSystemNames,
        solver: SolverSettings,
        inputs: &[(String, f64)],
        parameters: &[(String, f64)],
        energy: bool,
    ) -> Result<Self> {
        let mut model = Self {
            origin: name.to_owned(),
            name: name.to_owned(),
            own: Some(own),
            solver,
            ..Self::default()
        };
        let place = TextPosition::default();
        model.inputs = (inputs.iter().enumerate())
            .map(|(i, (name, start))| Input {
                name: name.clone(),
                target: Target::SystemForce(i),
                unit: None,
                start: *start,
                place,
            })
            .collect();
        model.parameters = (parameters.iter().enumerate())
            .map(|(i, (name, start))| Parameter {
                name: name.clone(),
                target: Target::SystemForce(i),
                unit: None,
                start: *start,
                place,
            })
            .collect();
        let shown = |name: &str| {
            let unknown = !name.contains('.') && name != "time";
            unknown || (energy && name.starts_with("energy."))
        };
        model.outputs = (model.quantities().into_iter())
            .filter(|(name, _)| shown(name))
            .map(|(name, _)| Output {
                source: name.clone(),
                name,
                unit: None,
                place,
            })
            .collect();
        model.validate()?;
        Ok(model)
    }

    /// Refuses a variable name that occurs twice, is empty, or is `time`.
    pub(super) fn validate_variable_names(&self) -> Result<()> {
        let mut sorted: Vec<&str> = self.variable_names().collect();
        sorted.sort_unstable();
        let twice = sorted.windows(2).find(|pair| pair[0] == pair[1]);
        let wrong = twice.map(|pair| pair[0]).or_else(|| {
            let empty = |name: &&&str| name.is_empty() || **name == "time";
            sorted.iter().find(empty).copied()
        });
        match wrong {
            None => Ok(()),
            Some(name) => Err(Error::Argument {
                name: "name of a variable".to_owned(),
                value: format!("\"{name}\""),
                expected: "a name that no other variable has, neither empty nor \"time\""
                    .to_owned(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::quantity::Quantity;

    fn model(inputs: &[(&str, f64)], energy: bool) -> Result<Model> {
        let own = UserSystemNames {
            nq: 4,
            nv: 3,
            nc: 1,
        };
        let inputs: Vec<(String, f64)> = (inputs.iter())
            .map(|(name, start)| ((*name).to_owned(), *start))
            .collect();
        let parameters = [("k".to_owned(), 2.0)];
        Model::from_code(
            "code",
            own,
            SolverSettings::default(),
            &inputs,
            &parameters,
            energy,
        )
    }

    #[test]
    fn every_unknown_is_an_output_with_its_own_count() {
        let names = |energy: bool| -> Vec<String> {
            let outputs = model(&[], energy).unwrap().outputs;
            outputs.into_iter().map(|output| output.name).collect()
        };
        let unknowns = "q1 q2 q3 q4 v1 v2 v3 a1 a2 a3 lambda1";
        assert_eq!(names(false).join(" "), unknowns);
        assert!(
            names(true)
                .join(" ")
                .starts_with(&format!("{unknowns} energy.kinetic "))
        );
        let model = model(&[], false).unwrap();
        assert_eq!(model.quantity("q4").unwrap(), Quantity::Coordinate(3));
        assert!(model.quantity("v4").is_err());
    }

    #[test]
    fn names_must_differ_and_not_be_time() {
        for bad in ["k", "q1", "", "time"] {
            let error = model(&[(bad, 0.0)], false).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("name of a variable = \"{bad}\"")),
                "{error}"
            );
        }
        assert!(model(&[("u1", 0.0)], false).is_ok());
    }

    #[test]
    fn settings_are_read_from_their_keys_and_errors_say_where() {
        let solver = SolverSettings::from_text("tolerance = 1e-8\nalpha = 0.1", "solver").unwrap();
        assert_eq!((solver.tolerance, solver.alpha), (1e-8, 0.1));
        assert_eq!(
            SolverSettings::from_text("", "solver").unwrap(),
            SolverSettings::default()
        );
        let json = SolverSettings::from_text("{\"step\": 0.01}", "solver").unwrap();
        assert_eq!(json.step, Some(0.01));
        let error =
            SolverSettings::from_text("alpha = 0.1\ntolerence = 1e-8", "solver").unwrap_err();
        let sentence = error.to_string();
        assert!(sentence.starts_with("solver:2:1: "), "{sentence}");
        assert!(sentence.contains("\"tolerance\""), "{sentence}");
    }
}
