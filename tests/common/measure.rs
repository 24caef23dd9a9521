//! Measuring the integrator: runs with a prescribed pattern of steps, an independent solution to compare with, slopes.

use biela::formulation::{EvaluationContext, System};
use biela::integrator::{Environment, Integrator, State};
use biela::model::{Corrector, IntegratorName, SolverSettings};

use super::Random;
use super::systems::accelerations;

/// No inputs, no parameters.
pub const ALONE: Environment = Environment {
    signals: &(),
    parameters: &[],
};

/// Settings that let the test prescribe every step: the fixed step is longer than any of them and is cut to land.
pub fn prescribed(alpha: f64, corrector: Corrector) -> SolverSettings {
    SolverSettings {
        alpha,
        integrator: IntegratorName::Hht,
        corrector,
        step: Some(1.0),
        newton_tolerance: Some(1e-13),
        ..SolverSettings::default()
    }
}

/// A started integrator and its state.
pub struct Run<'a> {
    pub system: &'a dyn System,
    pub integrator: Integrator,
    pub state: State,
}

impl<'a> Run<'a> {
    pub fn new(system: &'a dyn System, settings: &SolverSettings, q: &[f64], v: &[f64]) -> Self {
        let mut integrator = Integrator::new(system, settings).unwrap_or_else(|e| panic!("{e}"));
        let mut state = State::default();
        integrator
            .start(system, &ALONE, 0.0, q, v, &mut state)
            .unwrap_or_else(|e| panic!("{e}"));
        Self {
            system,
            integrator,
            state,
        }
    }

    /// One substep towards `t`.
    pub fn advance(&mut self, t: f64) {
        self.integrator
            .advance(self.system, &ALONE, &mut self.state, t)
            .unwrap_or_else(|e| panic!("{e}"));
    }

    /// As many substeps as it takes.
    pub fn until(&mut self, t: f64) -> &mut Self {
        while self.state.t < t {
            self.advance(t);
        }
        self
    }
}

/// How the steps are laid.
#[derive(Clone, Copy, Debug)]
pub enum Steps {
    Constant,
    /// 2/3 h and 4/3 h in turn.
    Alternating,
    /// Uniform in h/2 .. 3h/2, by seed.
    Random(u64),
}

impl Steps {
    /// Times of the steps' ends, about `count` of them, the last exactly `stop`.
    pub fn times(self, count: usize, stop: f64) -> Vec<f64> {
        let mut random = Random(if let Self::Random(seed) = self {
            seed
        } else {
            0
        });
        let lengths: Vec<f64> = (0..count)
            .map(|k| match self {
                Self::Constant => 1.0,
                Self::Alternating => [2.0, 4.0][k % 2] / 3.0,
                Self::Random(_) => 0.5 + random.unit(),
            })
            .collect();
        let total: f64 = lengths.iter().sum();
        let mut t = 0.0;
        let mut times: Vec<f64> = lengths
            .iter()
            .map(|l| {
                t += l * stop / total;
                t
            })
            .collect();
        times[count - 1] = stop;
        times
    }
}

/// An independent solution: classical Runge-Kutta on the accelerations of the saddle-point equations, solved densely,
/// with steps so short that its error is rounding. Vector coordinates only.
pub struct Reference<'a> {
    system: &'a dyn System,
    h: f64,
    points: Vec<[Vec<f64>; 3]>,
}

fn at(t: f64) -> EvaluationContext<'static> {
    EvaluationContext {
        t,
        ..super::systems::STILL
    }
}

fn plus(x: &[f64], h: f64, d: &[f64]) -> Vec<f64> {
    x.iter().zip(d).map(|(x, d)| x + h * d).collect()
}

impl<'a> Reference<'a> {
    /// From (q, v) at zero to `stop` in `count` steps.
    pub fn new(system: &'a dyn System, q: &[f64], v: &[f64], stop: f64, count: usize) -> Self {
        let h = stop / count as f64;
        let (mut q, mut v) = (q.to_vec(), v.to_vec());
        let mut points = Vec::new();
        for k in 0..=count {
            let t = h * k as f64;
            let a1 = accelerations(system, &at(t), &q, &v).0;
            points.push([q.clone(), v.clone(), a1.clone()]);
            let v2 = plus(&v, 0.5 * h, &a1);
            let a2 = accelerations(system, &at(t + 0.5 * h), &plus(&q, 0.5 * h, &v), &v2).0;
            let v3 = plus(&v, 0.5 * h, &a2);
            let a3 = accelerations(system, &at(t + 0.5 * h), &plus(&q, 0.5 * h, &v2), &v3).0;
            let v4 = plus(&v, h, &a3);
            let a4 = accelerations(system, &at(t + h), &plus(&q, h, &v3), &v4).0;
            for i in 0..q.len() {
                q[i] += h / 6.0 * (v[i] + 2.0 * (v2[i] + v3[i]) + v4[i]);
            }
            for i in 0..v.len() {
                v[i] += h / 6.0 * (a1[i] + 2.0 * (a2[i] + a3[i]) + a4[i]);
            }
        }
        Self { system, h, points }
    }

    /// q, v and λ at `t`: Hermite between the points.
    pub fn at(&self, t: f64) -> [Vec<f64>; 3] {
        let k = ((t / self.h) as usize).min(self.points.len() - 2);
        let s = (t - self.h * k as f64) / self.h;
        let hermite = |x0: f64, d0: f64, x1: f64, d1: f64| {
            let r = 1.0 - s;
            x0 * r * r * (1.0 + 2.0 * s)
                + x1 * s * s * (3.0 - 2.0 * s)
                + self.h * s * r * (d0 * r - d1 * s)
        };
        let [a, b] = [&self.points[k], &self.points[k + 1]];
        let blend = |x: usize| -> Vec<f64> {
            (0..a[x].len())
                .map(|i| hermite(a[x][i], a[x + 1][i], b[x][i], b[x + 1][i]))
                .collect()
        };
        let (q, v) = (blend(0), blend(1));
        let lambda = accelerations(self.system, &at(t), &q, &v).1;
        [q, v, lambda]
    }
}

/// Largest difference of two vectors.
pub fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |m, (a, b)| (a - b).abs().max(m))
}

/// Slope of log y over log x by least squares.
pub fn slope(x: &[f64], y: &[f64]) -> f64 {
    let n = x.len() as f64;
    let (lx, ly): (Vec<f64>, Vec<f64>) = (
        x.iter().map(|x| x.ln()).collect(),
        y.iter().map(|y| y.ln()).collect(),
    );
    let (mx, my) = (lx.iter().sum::<f64>() / n, ly.iter().sum::<f64>() / n);
    let (mut a, mut b) = (0.0, 0.0);
    for i in 0..lx.len() {
        a += (lx[i] - mx) * (ly[i] - my);
        b += (lx[i] - mx) * (lx[i] - mx);
    }
    a / b
}

/// The middle one.
pub fn median(mut x: Vec<f64>) -> f64 {
    x.sort_by(f64::total_cmp);
    x[x.len() / 2]
}
