//! `[solver]` and `[experiment]`, and the words their choices have.

use super::{Key, KeyGroup, KeyKind};
use crate::model::check::Range;
use crate::model::{
    ControllerName, Corrector, ErrorAt, EstimateName, FormulationName, IntegratorName,
    Vsa23Parameters,
};

pub(in crate::model) const FORMULATIONS: [(&str, FormulationName); 6] = [
    ("auto", FormulationName::Auto),
    ("absolute", FormulationName::Absolute),
    ("relative", FormulationName::Relative),
    ("global", FormulationName::Global),
    ("hybrid", FormulationName::Hybrid),
    ("topological", FormulationName::Topological),
];
pub(in crate::model) const INTEGRATORS: [(&str, IntegratorName); 2] = [
    ("hht", IntegratorName::Hht),
    ("vsa23", IntegratorName::Vsa23),
];
pub(in crate::model) const ESTIMATES: [(&str, EstimateName); 2] = [
    ("calibrated", EstimateName::Calibrated),
    ("seed", EstimateName::Seed),
];
pub(in crate::model) const CONTROLLERS: [(&str, ControllerName); 2] = [
    ("standard", ControllerName::Standard),
    ("seed", ControllerName::Seed),
];
pub(in crate::model) const CORRECTORS: [(&str, Corrector); 2] =
    [("auto", Corrector::Auto), ("off", Corrector::Off)];
pub(in crate::model) const VSA23_PARAMETERS: [(&str, Vsa23Parameters); 2] = [
    ("common", Vsa23Parameters::Common),
    ("original", Vsa23Parameters::Original),
];
pub(in crate::model) const ERROR_AT: [(&str, ErrorAt); 2] =
    [("end", ErrorAt::End), ("common", ErrorAt::Common)];

const fn words<T: Copy, const N: usize>(choices: &[(&'static str, T); N]) -> [&'static str; N] {
    let mut words = [""; N];
    let mut k = 0;
    while k < N {
        words[k] = choices[k].0;
        k += 1;
    }
    words
}

const STEP: KeyKind = KeyKind::Number(Range::Positive);

pub(in crate::model) const VSA23: [Key; 2] = [
    Key::new(
        "parameters",
        KeyKind::Choice(&words(&VSA23_PARAMETERS)),
        "",
        "\"common\"",
        "\"common\": both schemes find their equilibrium at one time; \"original\": at two times, with one matrix",
    ),
    Key::new(
        "error_at",
        KeyKind::Choice(&words(&ERROR_AT)),
        "",
        "\"common\"; \"end\" with original parameters",
        "where the schemes are compared: at their common point, or at the end of the step as first published",
    ),
];

pub(in crate::model) const SOLVER: KeyGroup = KeyGroup {
    later: &[],
    ..KeyGroup::new(
        "solver",
        "How the equations are solved. Every key has a default; values outside their range are refused, never changed.",
        &[&[
            Key::new(
                "formulation",
                KeyKind::Choice(&words(&FORMULATIONS)),
                "",
                "\"auto\"",
                "coordinates and how constraints are held",
            ),
            Key::new(
                "integrator",
                KeyKind::Choice(&words(&INTEGRATORS)),
                "",
                "\"hht\"",
                "method; \"vsa23\" is there to compare with",
            ),
            Key::new(
                "vsa23",
                KeyKind::Table(&VSA23),
                "",
                "{ parameters = \"common\", error_at = \"common\" }",
                "settings of VSA23",
            ),
            Key::new(
                "alpha",
                KeyKind::Alpha,
                "",
                "0.05",
                "numerical damping of HHT, 0 .. 1/3; 0 is the trapezoidal rule",
            ),
            Key::new(
                "tolerance",
                KeyKind::Number(Range::Positive),
                "",
                "1e-6",
                "local error allowed in each step, relative to the mechanism's size",
            ),
            Key::new(
                "per_unit_step",
                KeyKind::Flag,
                "",
                "false",
                "tolerance for each second instead of each step",
            ),
            Key::new(
                "estimate",
                KeyKind::Choice(&words(&ESTIMATES)),
                "",
                "\"calibrated\"",
                "error estimate; \"seed\" as first published",
            ),
            Key::new(
                "controller",
                KeyKind::Choice(&words(&CONTROLLERS)),
                "",
                "\"standard\"",
                "step-size rule; \"seed\" as first published",
            ),
            Key::new(
                "corrector",
                KeyKind::Choice(&words(&CORRECTORS)),
                "",
                "\"auto\"",
                "fourth-order corrector, off by itself where the mechanism is stiff",
            ),
            Key::new(
                "step",
                STEP,
                "s",
                "none",
                "present: every step has this length",
            ),
            Key::new("min_step", STEP, "s", "none", "no step is shorter"),
            Key::new("max_step", STEP, "s", "none", "no step is longer"),
            Key::new(
                "initial_step",
                STEP,
                "s",
                "chosen",
                "first step that is tried",
            ),
            Key::new(
                "length",
                KeyKind::Number(Range::Positive),
                "m",
                "largest distance between joints",
                "the mechanism's size, to which errors are relative",
            ),
            Key::new(
                "projection",
                KeyKind::Flag,
                "",
                "true",
                "velocities and accelerations put back onto the constraints after each step",
            ),
            Key::new(
                "penalty",
                KeyKind::Number(Range::Positive),
                "",
                "chosen from masses and step",
                "weight of the augmented Lagrangian; without meaning in formulations that use multipliers",
            ),
            Key::new(
                "rechoose",
                KeyKind::Flag,
                "",
                "true",
                "independent coordinates are chosen anew where the old choice becomes bad; only in formulations by elimination",
            ),
            Key::new(
                "newton_tolerance",
                KeyKind::Number(Range::Positive),
                "",
                "1e-3 tolerance",
                "increment at which Newton's iteration ends",
            ),
            Key::new(
                "max_substeps",
                KeyKind::Count,
                "",
                "1000000",
                "steps allowed in one call",
            ),
        ]],
    )
};

pub(in crate::model) const EXPERIMENT: KeyGroup = KeyGroup::new(
    "experiment",
    "Defaults for a run.",
    &[&[
        Key::new(
            "start",
            KeyKind::Number(Range::Finite),
            "s",
            "0",
            "time at start",
        ),
        Key::new(
            "stop",
            KeyKind::Number(Range::Finite),
            "s",
            "start + 10",
            "time at the end, later than start",
        ),
        Key::new(
            "interval",
            KeyKind::Number(Range::Positive),
            "s",
            "none: one row for each accepted step",
            "between rows of the result",
        ),
    ]],
);
