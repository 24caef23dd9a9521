//! The plan of a study: which values the factors take in which run. A run's values follow from its number alone.

use super::row::RunPlan;
use super::sobol::{MOST_DIMENSIONS, Sobol};
use super::{Factor, SetValue, csv_records};
use crate::error::{Error, Result};
use crate::linalg::random::Random;

/// Most runs of a plan. A convention: more are a mistake.
const MOST_RUNS: u64 = 1_000_000_000;

/// How the values of the factors are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanKind {
    /// Every level with every other. Distributions are drawn again in every run.
    Grid,
    /// Latin hypercube: every factor takes each of `runs` equally likely parts of its values once.
    LatinHypercube,
    /// Sobol' points with a random digital shift: the space is filled evenly, whatever the number of runs.
    Sobol,
}

impl PlanKind {
    /// By its name: grid, lhs or sobol.
    pub fn by_name(name: &str) -> Option<Self> {
        match name {
            "grid" => Some(Self::Grid),
            "lhs" => Some(Self::LatinHypercube),
            "sobol" => Some(Self::Sobol),
            _ => None,
        }
    }
}

/// The values of the factors in every run.
#[derive(Clone, Debug)]
pub struct Plan {
    names: Vec<String>,
    seed: u64,
    runs: u64,
    values: PlanValues,
}

#[derive(Clone, Debug)]
enum PlanValues {
    Grid {
        factors: Vec<Factor>,
        repeats: u64,
    },
    /// For each factor the order in which its parts are taken.
    LatinHypercube {
        factors: Vec<Factor>,
        orders: Vec<Vec<u32>>,
    },
    Sobol {
        factors: Vec<Factor>,
        points: Sobol,
    },
    Given(Vec<Vec<SetValue>>),
}

impl Plan {
    /// `runs` is the number of runs of a Latin hypercube or of Sobol' points; of a grid it is the number of runs at each of
    /// its points, one by default.
    pub fn new(kind: PlanKind, factors: Vec<Factor>, runs: Option<u64>, seed: u64) -> Result<Self> {
        let names: Vec<String> = factors.iter().map(|factor| factor.name.clone()).collect();
        check_names(&names)?;
        if runs.is_some_and(|runs| runs == 0 || runs > MOST_RUNS) {
            let given = runs.map_or_else(String::new, |runs| runs.to_string());
            return Err(refused("runs", &given, &format!("1 to {MOST_RUNS}")));
        }
        let (runs, values) = match kind {
            PlanKind::Grid => grid(factors, runs)?,
            PlanKind::LatinHypercube | PlanKind::Sobol => {
                let expected = "the number of runs: this plan does not follow from the levels";
                let runs = runs.ok_or_else(|| refused("runs", "none", expected))?;
                match kind {
                    PlanKind::Sobol => sobol(factors, runs, seed)?,
                    _ => latin_hypercube(factors, runs, seed)?,
                }
            }
        };
        Ok(Self {
            names,
            seed,
            runs,
            values,
        })
    }

    /// A plan as a table: names in the head line, then a line a run. `origin` names it in messages.
    pub fn from_csv(text: &str, origin: &str, seed: u64) -> Result<Self> {
        let wrong = |line: usize, column: usize, message: &str| Error::Model {
            origin: origin.to_owned(),
            line,
            column,
            message: message.to_owned(),
        };
        let mut records = csv_records(text.trim_start_matches('\u{feff}')).into_iter();
        let (_, names) = records
            .next()
            .ok_or_else(|| wrong(1, 1, "expected names in the head line"))?;
        let names: Vec<String> = names.iter().map(|name| name.trim().to_owned()).collect();
        check_names(&names).map_err(|error| wrong(1, 1, &error.to_string()))?;
        let mut rows = Vec::new();
        for (line, fields) in records {
            if fields.len() != names.len() {
                let message = format!("{} values for {} names", fields.len(), names.len());
                return Err(wrong(line, 1, &message));
            }
            let mut row = Vec::new();
            for (field, name) in fields.iter().zip(&names) {
                let message = || format!("{name} = {field}: expected a finite number or a word");
                row.push(SetValue::parse(field).ok_or_else(|| wrong(line, 1, &message()))?);
            }
            rows.push(row);
        }
        if rows.is_empty() {
            return Err(wrong(2, 1, "expected a line a run"));
        }
        Self::from_rows(names, rows, seed)
    }

    /// A plan with the values of each run.
    pub fn from_rows(names: Vec<String>, rows: Vec<Vec<SetValue>>, seed: u64) -> Result<Self> {
        check_names(&names)?;
        if let Some(row) = rows.iter().find(|row| row.len() != names.len()) {
            let given = format!("{} values", row.len());
            return Err(refused(
                "plan",
                &given,
                &format!("{} in every run", names.len()),
            ));
        }
        Ok(Self {
            names,
            seed,
            runs: rows.len() as u64,
            values: PlanValues::Given(rows),
        })
    }

    /// The plan as text that differs if a value of a run does.
    pub(super) fn fingerprint(&self) -> String {
        let (kind, values) = match &self.values {
            PlanValues::Grid { factors, repeats } => ("grid", format!("{factors:?} {repeats}")),
            // Orders and shifts follow from the seed.
            PlanValues::LatinHypercube { factors, .. } => ("lhs", format!("{factors:?}")),
            PlanValues::Sobol { factors, .. } => ("sobol", format!("{factors:?}")),
            PlanValues::Given(rows) => ("given", format!("{rows:?}")),
        };
        let Self {
            names, seed, runs, ..
        } = self;
        format!("{kind} {names:?} {seed} {runs} {values}")
    }

    /// Names of the factors.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Number of runs.
    pub fn runs(&self) -> u64 {
        self.runs
    }

    /// Values that a check tries on the model, by the position of their factor.
    pub fn examples(&self) -> Vec<(usize, SetValue)> {
        match &self.values {
            PlanValues::Grid { factors, .. }
            | PlanValues::LatinHypercube { factors, .. }
            | PlanValues::Sobol { factors, .. } => (factors.iter().enumerate())
                .flat_map(|(i, factor)| factor.examples().into_iter().map(move |value| (i, value)))
                .collect(),
            PlanValues::Given(rows) => rows
                .iter()
                .take(1)
                .flat_map(|row| row.iter().cloned().enumerate())
                .collect(),
        }
    }

    /// Whether the values of a factor are words.
    pub fn has_words(&self, factor: usize) -> bool {
        let word = |value: &SetValue| matches!(value, SetValue::Word(_));
        match &self.values {
            PlanValues::Grid { factors, .. }
            | PlanValues::LatinHypercube { factors, .. }
            | PlanValues::Sobol { factors, .. } => factors[factor].has_words(),
            PlanValues::Given(rows) => rows.iter().any(|row| word(&row[factor])),
        }
    }

    /// Run number `run`, from 1.
    pub fn run(&self, run: u64) -> RunPlan {
        let index = run - 1;
        let seed = run_seed(self.seed, run);
        let mut random = Random::new(seed);
        let values = match &self.values {
            PlanValues::Grid { factors, repeats } => {
                let mut point = index / repeats;
                let mut values: Vec<SetValue> = (factors.iter().rev())
                    .map(|factor| match factor.levels() {
                        None => factor.quantile(0.5),
                        Some(levels) => {
                            let level = point % levels;
                            point /= levels;
                            factor.level(level)
                        }
                    })
                    .collect();
                values.reverse();
                for (value, factor) in values.iter_mut().zip(factors) {
                    if factor.is_random() {
                        *value = factor.quantile(open_unit(&mut random));
                    }
                }
                values
            }
            PlanValues::LatinHypercube { factors, orders } => (factors.iter().zip(orders))
                .map(|(factor, order)| {
                    let part = f64::from(order[index as usize]);
                    factor.quantile((part + open_unit(&mut random)) / self.runs as f64)
                })
                .collect(),
            PlanValues::Sobol { factors, points } => (factors.iter().enumerate())
                .map(|(dimension, factor)| factor.quantile(points.coordinate(index, dimension)))
                .collect(),
            PlanValues::Given(rows) => rows[index as usize].clone(),
        };
        RunPlan { run, seed, values }
    }
}

fn grid(factors: Vec<Factor>, runs: Option<u64>) -> Result<(u64, PlanValues)> {
    let mut total: u64 = runs.unwrap_or(1);
    for factor in &factors {
        match factor.levels() {
            Some(levels) => total = total.saturating_mul(levels),
            None if factor.is_random() => {}
            None => {
                let expected = "the number of values, a:b:n, in a grid";
                return Err(refused(&factor.name, "a:b", expected));
            }
        }
    }
    if runs.is_none() && !factors.is_empty() && factors.iter().all(Factor::is_random) {
        let expected = "the number of runs, because all factors are distributions";
        return Err(refused("runs", "none", expected));
    }
    if total > MOST_RUNS {
        let expected = format!("at most {MOST_RUNS} runs");
        return Err(refused("plan", &format!("{total} runs"), &expected));
    }
    Ok((
        total,
        PlanValues::Grid {
            factors,
            repeats: runs.unwrap_or(1),
        },
    ))
}

fn latin_hypercube(factors: Vec<Factor>, runs: u64, seed: u64) -> Result<(u64, PlanValues)> {
    let Ok(count) = u32::try_from(runs) else {
        return Err(refused(
            "runs",
            &runs.to_string(),
            "at most 4294967295 in a Latin hypercube",
        ));
    };
    let orders = (0..factors.len() as u64)
        .map(|dimension| {
            let mut random = Random::new(mixed(seed ^ mixed(dimension + 1)));
            let mut order: Vec<u32> = (0..count).collect();
            for last in (1..order.len()).rev() {
                order.swap(last, random.below(last as u64 + 1) as usize);
            }
            order
        })
        .collect();
    Ok((runs, PlanValues::LatinHypercube { factors, orders }))
}

fn sobol(factors: Vec<Factor>, runs: u64, seed: u64) -> Result<(u64, PlanValues)> {
    if factors.len() > MOST_DIMENSIONS {
        let expected =
            format!("at most {MOST_DIMENSIONS} factors of a Sobol' plan; lhs takes any number");
        return Err(refused(
            "plan",
            &format!("{} factors", factors.len()),
            &expected,
        ));
    }
    let shifts = (0..factors.len() as u64).map(|dimension| mixed(seed ^ mixed(dimension + 1)));
    let points = Sobol::new(factors.len(), shifts.collect());
    Ok((runs, PlanValues::Sobol { factors, points }))
}

/// The seed of a run. 53 bits, so that every reader of tables keeps it.
fn run_seed(seed: u64, run: u64) -> u64 {
    mixed(mixed(seed).wrapping_add(run)) >> 11
}

/// Bits that have nothing to do with each other for neighbouring arguments (the finaliser of splitmix64).
fn mixed(x: u64) -> u64 {
    let x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// A number between 0 and 1 that is neither.
fn open_unit(random: &mut Random) -> f64 {
    ((random.bits() >> 12) as f64 + 0.5) / (1u64 << 52) as f64
}

fn check_names(names: &[String]) -> Result<()> {
    if let Some(empty) = names.iter().position(String::is_empty) {
        let place = format!("of column {}", empty + 1);
        return Err(refused("name", &place, "a name that can be set"));
    }
    for (i, name) in names.iter().enumerate() {
        if names[..i].contains(name) {
            return Err(refused(name, "varied twice", "each name once"));
        }
    }
    Ok(())
}

fn refused(name: &str, value: &str, expected: &str) -> Error {
    Error::Argument {
        name: name.to_owned(),
        value: value.to_owned(),
        expected: expected.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factors(texts: &[&str]) -> Vec<Factor> {
        texts
            .iter()
            .map(|text| Factor::parse(text).unwrap())
            .collect()
    }

    fn numbers(plan: &Plan, factor: usize) -> Vec<f64> {
        (1..=plan.runs())
            .map(|run| match &plan.run(run).values[factor] {
                SetValue::Number(x) => *x,
                SetValue::Word(word) => panic!("{word}"),
            })
            .collect()
    }

    #[test]
    fn a_grid_takes_every_level_with_every_other() {
        let plan = Plan::new(
            PlanKind::Grid,
            factors(&["a=1:2:2", "b=list:5,6,7"]),
            None,
            0,
        )
        .unwrap();
        assert_eq!(numbers(&plan, 0), [1.0, 1.0, 1.0, 2.0, 2.0, 2.0]);
        assert_eq!(numbers(&plan, 1), [5.0, 6.0, 7.0, 5.0, 6.0, 7.0]);
    }

    #[test]
    fn distributions_of_a_grid_are_drawn_in_every_run() {
        let plan = Plan::new(
            PlanKind::Grid,
            factors(&["a=1:2:2", "b=uniform(0,1)"]),
            Some(500),
            7,
        )
        .unwrap();
        assert_eq!(plan.runs(), 1000);
        let b = numbers(&plan, 1);
        let mean = b.iter().sum::<f64>() / 1000.0;
        // Four standard deviations of the mean: 4 / √(12·1000).
        assert!((mean - 0.5).abs() < 0.037, "{mean}");
        let mut sorted = b.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.dedup();
        assert_eq!(sorted.len(), 1000);
        // Another seed, other values.
        let other = Plan::new(
            PlanKind::Grid,
            factors(&["a=1:2:2", "b=uniform(0,1)"]),
            Some(500),
            8,
        )
        .unwrap();
        assert!(numbers(&other, 1).iter().zip(&b).all(|(x, y)| x != y));
    }

    #[test]
    fn a_latin_hypercube_and_sobol_points_take_every_part_once() {
        for kind in [PlanKind::LatinHypercube, PlanKind::Sobol] {
            let plan = Plan::new(
                kind,
                factors(&["a=0:64", "b=uniform(0,64)", "c=normal(3,2)"]),
                Some(64),
                3,
            )
            .unwrap();
            for factor in 0..2 {
                let mut parts: Vec<u64> =
                    numbers(&plan, factor).iter().map(|x| *x as u64).collect();
                parts.sort_unstable();
                assert_eq!(parts, (0..64).collect::<Vec<_>>(), "{kind:?} {factor}");
            }
            let normal = numbers(&plan, 2);
            let mean = normal.iter().sum::<f64>() / 64.0;
            let square = normal.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 64.0;
            // One value in each of 64 parts. Sobol' points share their shift: the mean is off by up to half a part, 1/128 of
            // the range between the outer parts, 10.
            assert!(
                (mean - 3.0).abs() < 0.1 && (square.sqrt() - 2.0).abs() < 0.2,
                "{mean} {square}"
            );
        }
    }

    #[test]
    fn a_table_is_a_plan() {
        let plan = Plan::from_csv(
            "k, solver.formulation\n1.5,relative\n\n-2,absolute\n",
            "p.csv",
            0,
        )
        .unwrap();
        assert_eq!(plan.names(), ["k", "solver.formulation"]);
        assert_eq!(plan.runs(), 2);
        assert_eq!(
            plan.run(2).values,
            [
                SetValue::Number(-2.0),
                SetValue::Word("absolute".to_owned())
            ]
        );
        assert!(plan.has_words(1) && !plan.has_words(0));
        for (text, place) in [
            ("", "1:1"),
            ("k\n", "2:1"),
            ("k,k\n1,2\n", "1:1"),
            ("k\n1\n2,3\n", "3:1"),
            ("k\n\n\n1 2\n", "4:1"),
        ] {
            let error = Plan::from_csv(text, "p.csv", 0).unwrap_err().to_string();
            assert!(error.starts_with(&format!("p.csv:{place}: ")), "{error}");
        }
    }

    #[test]
    fn plans_that_do_not_say_how_many_runs_are_refused() {
        for (kind, texts, runs) in [
            (PlanKind::Grid, vec!["a=uniform(0,1)"], None),
            (PlanKind::Grid, vec!["a=0:1"], None),
            (PlanKind::Sobol, vec!["a=0:1:3"], None),
            (PlanKind::LatinHypercube, vec!["a=0:1:3"], Some(0)),
            (PlanKind::Grid, vec!["a=0:1:100000", "b=0:1:100000"], None),
            (PlanKind::Grid, vec!["a=0:1:2", "a=0:1:3"], None),
        ] {
            let error = Plan::new(kind, factors(&texts), runs, 0).unwrap_err();
            assert!(matches!(error, Error::Argument { .. }), "{error}");
        }
    }
}
