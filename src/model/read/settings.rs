//! `[solver]` and `[experiment]`. Their ranges are judged by `validate`; here its errors are put where the key stands.

use super::TOP;
use crate::error::{Error, Result};
use crate::model::reader::Table;
use crate::model::{
    Controller, Corrector, ErrorAt, Estimate, Experiment, FormulationName, IntegratorName, Solver,
    Vsa23, Vsa23Parameters,
};

pub fn solver(table: &Table) -> Result<Solver> {
    table.keys(
        &[
            "formulation",
            "integrator",
            "vsa23",
            "alpha",
            "tolerance",
            "estimate",
            "controller",
            "corrector",
            "per_unit_step",
            "step",
            "min_step",
            "max_step",
            "initial_step",
            "length",
            "projection",
            "newton_tolerance",
            "max_substeps",
        ],
        &["penalty"],
        &TOP,
    )?;
    let d = Solver::default();
    let solver = Solver {
        formulation: table
            .choice(
                "formulation",
                &[
                    ("auto", FormulationName::Auto),
                    ("absolute", FormulationName::Absolute),
                ],
                &["global", "topological", "hybrid"],
            )?
            .unwrap_or(d.formulation),
        integrator: table
            .choice(
                "integrator",
                &[
                    ("hht", IntegratorName::Hht),
                    ("vsa23", IntegratorName::Vsa23),
                ],
                &[],
            )?
            .unwrap_or(d.integrator),
        vsa23: match table.table("vsa23")? {
            Some(table) => vsa23(&table)?,
            None => d.vsa23,
        },
        alpha: table.any_number("alpha")?.unwrap_or(d.alpha),
        tolerance: table.any_number("tolerance")?.unwrap_or(d.tolerance),
        estimate: table
            .choice(
                "estimate",
                &[
                    ("calibrated", Estimate::Calibrated),
                    ("seed", Estimate::Seed),
                ],
                &[],
            )?
            .unwrap_or(d.estimate),
        controller: table
            .choice(
                "controller",
                &[
                    ("standard", Controller::Standard),
                    ("seed", Controller::Seed),
                ],
                &[],
            )?
            .unwrap_or(d.controller),
        corrector: table
            .choice(
                "corrector",
                &[("auto", Corrector::Auto), ("off", Corrector::Off)],
                &[],
            )?
            .unwrap_or(d.corrector),
        per_unit_step: table.flag("per_unit_step")?.unwrap_or(d.per_unit_step),
        step: table.any_number("step")?,
        min_step: table.any_number("min_step")?,
        max_step: table.any_number("max_step")?,
        initial_step: table.any_number("initial_step")?,
        length: table.any_number("length")?,
        projection: table.flag("projection")?.unwrap_or(d.projection),
        newton_tolerance: table.any_number("newton_tolerance")?,
        max_substeps: table
            .whole_number("max_substeps")?
            .unwrap_or(d.max_substeps),
    };
    solver.validate().map_err(|e| at_its_key(table, e))?;
    Ok(solver)
}

fn vsa23(table: &Table) -> Result<Vsa23> {
    table.keys(&["parameters", "error_at"], &[], &TOP)?;
    let parameters = table
        .choice(
            "parameters",
            &[
                ("common", Vsa23Parameters::Common),
                ("original", Vsa23Parameters::Original),
            ],
            &[],
        )?
        .unwrap_or_default();
    let error_at = table.choice(
        "error_at",
        &[("end", ErrorAt::End), ("common", ErrorAt::Common)],
        &[],
    )?;
    Ok(Vsa23 {
        parameters,
        error_at: error_at.unwrap_or(match parameters {
            Vsa23Parameters::Common => ErrorAt::Common,
            Vsa23Parameters::Original => ErrorAt::End,
        }),
    })
}

pub fn experiment(table: &Table) -> Result<Experiment> {
    table.keys(&["start", "stop", "interval"], &[], &TOP)?;
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
fn at_its_key(table: &Table, error: Error) -> Error {
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
