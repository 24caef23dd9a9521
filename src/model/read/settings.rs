//! `[solver]` and `[experiment]`. Their ranges are judged by `validate`; here its errors are put where the key stands.

use crate::error::{Error, Result};
use crate::model::keys::{
    CONTROLLERS, CORRECTORS, ERROR_AT, ESTIMATES, EXPERIMENT, FORMULATIONS, INTEGRATORS, SOLVER,
    VSA23, VSA23_PARAMETERS,
};
use crate::model::reader::TableReader;
use crate::model::{ErrorAt, Experiment, SolverSettings, Vsa23Parameters, Vsa23Settings};

pub fn solver(table: &TableReader) -> Result<SolverSettings> {
    table.keys_of(&SOLVER)?;
    let d = SolverSettings::default();
    let solver = SolverSettings {
        formulation: table
            .choice("formulation", &FORMULATIONS)?
            .unwrap_or(d.formulation),
        integrator: table
            .choice("integrator", &INTEGRATORS)?
            .unwrap_or(d.integrator),
        vsa23: match table.table("vsa23")? {
            Some(table) => vsa23(&table)?,
            None => d.vsa23,
        },
        alpha: table.any_number("alpha")?.unwrap_or(d.alpha),
        tolerance: table.any_number("tolerance")?.unwrap_or(d.tolerance),
        estimate: table.choice("estimate", &ESTIMATES)?.unwrap_or(d.estimate),
        controller: table
            .choice("controller", &CONTROLLERS)?
            .unwrap_or(d.controller),
        corrector: table
            .choice("corrector", &CORRECTORS)?
            .unwrap_or(d.corrector),
        per_unit_step: table.flag("per_unit_step")?.unwrap_or(d.per_unit_step),
        step: table.any_number("step")?,
        min_step: table.any_number("min_step")?,
        max_step: table.any_number("max_step")?,
        initial_step: table.any_number("initial_step")?,
        length: table.any_number("length")?,
        projection: table.flag("projection")?.unwrap_or(d.projection),
        penalty: table.any_number("penalty")?,
        rechoose: table.flag("rechoose")?.unwrap_or(d.rechoose),
        newton_tolerance: table.any_number("newton_tolerance")?,
        max_substeps: table
            .whole_number("max_substeps")?
            .unwrap_or(d.max_substeps),
    };
    solver.validate().map_err(|e| at_its_key(table, e))?;
    Ok(solver)
}

fn vsa23(table: &TableReader) -> Result<Vsa23Settings> {
    table.keys_among(&VSA23)?;
    let parameters = table
        .choice("parameters", &VSA23_PARAMETERS)?
        .unwrap_or_default();
    let error_at = table.choice("error_at", &ERROR_AT)?;
    Ok(Vsa23Settings {
        parameters,
        error_at: error_at.unwrap_or(match parameters {
            Vsa23Parameters::Common => ErrorAt::Common,
            Vsa23Parameters::Original => ErrorAt::End,
        }),
    })
}

pub fn experiment(table: &TableReader) -> Result<Experiment> {
    table.keys_of(&EXPERIMENT)?;
    let start = table.any_number("start")?.unwrap_or(0.0);
    let experiment = Experiment {
        start,
        stop: table
            .any_number("stop")?
            .unwrap_or(start + Experiment::default().stop),
        interval: table.any_number("interval")?,
    };
    experiment.validate().map_err(|e| at_its_key(table, e))?;
    Ok(experiment)
}

/// An error of `validate`, put where the key stands.
fn at_its_key(table: &TableReader, error: Error) -> Error {
    match error {
        Error::Argument {
            name,
            value,
            expected,
        } => {
            let key = name.split_once('.').map_or(name.as_str(), |(_, key)| key);
            table.refuse_value(key, format!("{key} must be {expected}, found {value}"))
        }
        other => other,
    }
}
