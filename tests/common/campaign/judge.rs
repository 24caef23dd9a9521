//! The judge of the campaign: is a run that ended well also right?
//!
//! The reference is a run in absolute coordinates at a tight tolerance. A second one in relative coordinates has to agree with
//! it; their difference is the *spread*, which bounds what the reference knows. How badly posed a motion is says its *growth*:
//! the response to small changes of the data. A solver whose steps solve a neighbouring problem, changed by the tolerance, is off
//! by growth times the tolerance, and no solver can do better.

use serde_json::{Value, json};

use super::simulate::{Ending, Run, simulate};

/// Errors above so many tolerances (times growth) are wrong; energy balances above so many tolerances of the turnover too.
pub const LIMIT: f64 = 100.0;
/// A motion that magnifies small changes more than this is not judged.
pub const LARGEST_GROWTH: f64 = 1e4;
/// Relative change of the data whose response is the growth.
const CHANGE: f64 = 1e-6;
/// Where references do not agree, tolerances down to this one are tried.
const TIGHTEST: f64 = 1e-12;

/// Judgement on a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Error below [`LIMIT`] tolerances times growth, balance below [`LIMIT`] tolerances of the energy turned over.
    Right,
    /// Ended well with a larger error.
    Wrong,
    /// Ended well with a larger energy balance.
    Energy,
    /// Stopped with an error although the reference goes on.
    Stopped,
    /// Refused although absolute coordinates start.
    Refused,
    /// Did not end.
    Hang,
    /// Panicked.
    Panic,
    /// Not judged: the references differ, or the motion is too badly posed.
    Unknown,
    /// Stopped, and so do the references: the motion cannot go on.
    StoppedByAll,
    /// Refused, and so does the reference.
    RefusedByAll,
}

impl Verdict {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Right,
        Self::Wrong,
        Self::Energy,
        Self::Stopped,
        Self::Refused,
        Self::Hang,
        Self::Panic,
        Self::Unknown,
        Self::StoppedByAll,
        Self::RefusedByAll,
    ];

    /// Name in logs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Right => "ok",
            Self::Wrong => "WRONG",
            Self::Energy => "ENERGY",
            Self::Stopped => "STOPPED",
            Self::Refused => "REFUSED",
            Self::Hang => "HANG",
            Self::Panic => "PANIC",
            Self::Unknown => "unknown",
            Self::StoppedByAll => "stopped by all",
            Self::RefusedByAll => "refused by all",
        }
    }

    /// Whether it is a defect of the solver.
    pub fn is_bad(self) -> bool {
        !matches!(
            self,
            Self::Right | Self::Unknown | Self::StoppedByAll | Self::RefusedByAll
        )
    }
}

/// Largest difference of two runs over rows and bodies: displacement (m) or rotation (rad), whichever is larger.
pub fn gap(a: &Run, b: &Run) -> f64 {
    if a.rows.len() != b.rows.len() {
        return f64::INFINITY;
    }
    let mut worst: f64 = 0.0;
    for (x, y) in a.rows.iter().zip(&b.rows) {
        for (p, q) in x.poses.iter().zip(&y.poses) {
            let displacement = distance(&p.position, &q.position, 1.0);
            let rotation = if a.planar {
                (p.rotation[0] - q.rotation[0]).abs()
            } else {
                // Quaternions of both signs are the same rotation.
                let same = distance(&p.rotation, &q.rotation, 1.0);
                2.0 * same.min(distance(&p.rotation, &q.rotation, -1.0))
            };
            let difference = displacement.max(rotation);
            // NaN is the worst.
            if !(difference <= worst) {
                worst = difference;
            }
        }
    }
    worst
}

fn distance<const N: usize>(a: &[f64; N], b: &[f64; N], sign: f64) -> f64 {
    let squares = a.iter().zip(b).map(|(x, y)| (x - sign * y).powi(2));
    squares.sum::<f64>().sqrt()
}

/// Part of the potential energy below which nothing is turned over: a mechanism that cannot move.
const SMALLEST_PART: f64 = 1e-9;
/// Rounding of an energy balance over the potential energy: it is the sum of some ten products.
const ROUNDING: f64 = 1e-13;

/// Energy turned over in a run (J): kinetic, dissipated and supplied, or the range of the potential.
pub fn turnover(run: &Run) -> f64 {
    let [low, high] = run.turnover.potential;
    let smallest = SMALLEST_PART * low.abs().max(high.abs()).max(1.0);
    run.turnover.kinetic_and_work.max(high - low).max(smallest)
}

/// The references of a mechanism.
pub struct Reference {
    /// The run to compare with; `None` if none ended well.
    pub run: Option<Run>,
    /// How the reference in absolute coordinates ended.
    pub absolute: Ending,
    /// Difference of the two references; infinite if one of them did not end well.
    pub spread: f64,
    /// Tolerance of the references.
    pub tight: f64,
    /// CPU time of the references (s).
    pub cpu: f64,
    growth: Option<f64>,
}

impl Reference {
    /// Runs the references at `tight`, and tighter while they differ by more than `wanted`.
    pub fn new(model: &Value, tight: f64, wanted: f64) -> Self {
        let mut reference = Self::at(model, tight);
        let mut tight = 0.1 * tight;
        while reference.spread.is_finite() && reference.spread > wanted && tight >= TIGHTEST {
            let tighter = Self::at(model, tight);
            reference.cpu += tighter.cpu;
            if !(tighter.spread < reference.spread) {
                break;
            }
            let cpu = reference.cpu;
            reference = Self { cpu, ..tighter };
            tight *= 0.1;
        }
        reference
    }

    fn at(model: &Value, tight: f64) -> Self {
        let runs = ["absolute", "relative"].map(|form| simulate(model, form, tight));
        let absolute = runs[0].ending;
        let cpu = runs.iter().map(|run| run.cpu).sum();
        let spread = match runs.iter().all(|run| run.ending == Ending::Done) {
            true => gap(&runs[0], &runs[1]),
            false => f64::INFINITY,
        };
        Self {
            run: (runs.into_iter()).find(|run| run.ending == Ending::Done),
            absolute,
            spread,
            tight,
            cpu,
            growth: None,
        }
    }

    /// How badly posed the motion is, at least 1; measured when first asked for.
    pub fn growth(&mut self, model: &Value) -> f64 {
        if let Some(growth) = self.growth {
            return growth;
        }
        let growth = match &self.run {
            Some(run) => measure_growth(model, run, self.tight),
            None => 1.0,
        };
        self.growth = Some(growth);
        growth
    }

    /// The growth if it was asked for.
    pub fn measured_growth(&self) -> Option<f64> {
        self.growth
    }
}

/// The larger of two responses: (a) to a side force of 10⁻⁶ of gravity, over the path of a free body under it; (b) to 10⁻⁶ more
/// stiffness, damping and gravity, over ten times that.
pub fn measure_growth(model: &Value, reference: &Run, tight: f64) -> f64 {
    let gravity: Vec<f64> = match model["gravity"].as_array() {
        Some(list) => list.iter().filter_map(Value::as_f64).collect(),
        None => vec![0.0; if reference.planar { 2 } else { 3 }],
    };
    let side: &[f64] = match gravity.len() {
        2 => &[0.6, 0.8],
        _ => &[0.48, 0.64, 0.6],
    };
    let time = model["experiment"]["stop"].as_f64().unwrap_or(1.0)
        - model["experiment"]["start"].as_f64().unwrap_or(0.0);
    let mut pushed = model.clone();
    let push = gravity.iter().zip(side).map(|(g, d)| g + 9.81 * CHANGE * d);
    pushed["gravity"] = json!(push.collect::<Vec<f64>>());
    let mut stiffened = model.clone();
    let more = gravity.iter().map(|g| g * (1.0 + CHANGE));
    stiffened["gravity"] = json!(more.collect::<Vec<f64>>());
    for force in stiffened["force"].as_array_mut().into_iter().flatten() {
        for key in ["stiffness", "damping"] {
            if let Some(value) = force[key].as_f64() {
                force[key] = json!(value * (1.0 + CHANGE));
            }
        }
    }
    let response = |changed: &Value, unit: f64| {
        let run = simulate(changed, "absolute", tight);
        match run.ending {
            Ending::Done => gap(&run, reference) / unit,
            _ => 1.0,
        }
    };
    let pushed = response(&pushed, 0.5 * 9.81 * CHANGE * time * time);
    let stiffened = response(&stiffened, 10.0 * CHANGE);
    pushed.max(stiffened).max(1.0)
}

/// A judged run.
#[derive(Clone, Copy, Debug)]
pub struct Judgement {
    /// The class.
    pub verdict: Verdict,
    /// Error over tolerance, growth not taken off; NaN if there is none.
    pub error: f64,
    /// Largest |balance| over the turnover, over tolerance; NaN if there is none.
    pub balance: f64,
}

/// Judges a run at a tolerance.
pub fn judge(run: &Run, tolerance: f64, model: &Value, reference: &mut Reference) -> Judgement {
    let plain = |verdict| Judgement {
        verdict,
        error: f64::NAN,
        balance: f64::NAN,
    };
    match run.ending {
        Ending::Hang => return plain(Verdict::Hang),
        Ending::Panic => return plain(Verdict::Panic),
        Ending::Refused if reference.absolute == Ending::Refused => {
            return plain(Verdict::RefusedByAll);
        }
        Ending::Refused => return plain(Verdict::Refused),
        Ending::Stopped if reference.run.is_none() => return plain(Verdict::StoppedByAll),
        Ending::Stopped => return plain(Verdict::Stopped),
        Ending::Done => {}
    }
    let energies = turnover(reference.run.as_ref().unwrap_or(run));
    let balances = run.rows.iter().map(|row| row.balance.abs());
    let [low, high] = run.turnover.potential;
    let rounding = ROUNDING * low.abs().max(high.abs());
    let balance = (balances.fold(0.0, f64::max) - rounding).max(0.0) / energies / tolerance;
    let error = (reference.run.as_ref()).map_or(f64::NAN, |right| gap(run, right) / tolerance);
    let mut verdict = Verdict::Right;
    if !(balance <= LIMIT) {
        verdict = Verdict::Energy;
    }
    if reference.run.is_none() {
        verdict = verdict.max_bad(Verdict::Unknown);
    } else if !(error <= LIMIT) && !(error <= LIMIT * reference.growth(model)) {
        let known = LIMIT * tolerance >= 10.0 * reference.spread
            && reference.growth(model) <= LARGEST_GROWTH;
        verdict = if known {
            Verdict::Wrong
        } else {
            Verdict::Unknown
        };
    }
    Judgement {
        verdict,
        error,
        balance,
    }
}

impl Verdict {
    /// This one if it is a defect, else the other.
    fn max_bad(self, other: Self) -> Self {
        if self.is_bad() { self } else { other }
    }
}
