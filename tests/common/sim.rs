//! Runs of whole models with every quantity at hand by its dotted name, and an independent integrator to hold them against.

use biela::component::Instance;
use biela::model::{Expose, Model};

/// A running model.
pub struct Sim {
    pub instance: Instance,
}

#[allow(dead_code)]
impl Sim {
    /// Of a text, with a tolerance (zero: the model's own).
    pub fn new(text: &str, tolerance: f64) -> Self {
        let model = Model::from_text(text, "model").unwrap_or_else(|e| panic!("{e}\n{text}"));
        Self::of(model, tolerance)
    }

    /// Of a file of `models`.
    pub fn file(file: &str, tolerance: f64) -> Self {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("models")
            .join(file);
        Self::of(
            Model::from_file(&path).unwrap_or_else(|e| panic!("{e}")),
            tolerance,
        )
    }

    pub fn of(mut model: Model, tolerance: f64) -> Self {
        model.expose = Expose::All;
        let begin = model.experiment.start;
        let mut instance = Instance::from_model(model).unwrap_or_else(|e| panic!("{e}"));
        instance
            .initialize(begin, f64::INFINITY, tolerance)
            .unwrap_or_else(|e| panic!("{e}"));
        Self { instance }
    }

    /// Goes on to a time.
    pub fn to(&mut self, t: f64) -> &mut Self {
        let now = self.instance.time();
        self.instance
            .step(now, t - now)
            .unwrap_or_else(|e| panic!("to {t}: {e}"));
        self
    }

    pub fn get(&mut self, name: &str) -> f64 {
        let reference = self.instance.find(name).unwrap_or_else(|e| panic!("{e}"));
        let mut value = [0.0];
        self.instance
            .get_real(&[reference], &mut value)
            .unwrap_or_else(|e| panic!("{e}"));
        value[0]
    }

    pub fn set(&mut self, name: &str, value: f64) -> &mut Self {
        let reference = self.instance.find(name).unwrap_or_else(|e| panic!("{e}"));
        self.instance
            .set_real(&[reference], &[value])
            .unwrap_or_else(|e| panic!("{e}"));
        self
    }
}

/// y' = f(t, y) by n steps of the classical fourth-order method.
#[allow(dead_code)]
pub fn rk4<const N: usize>(
    f: impl Fn(f64, &[f64; N]) -> [f64; N],
    mut t: f64,
    end: f64,
    mut y: [f64; N],
    n: usize,
) -> [f64; N] {
    let h = (end - t) / n as f64;
    let add = |y: &[f64; N], h: f64, k: &[f64; N]| -> [f64; N] {
        std::array::from_fn(|i| y[i] + h * k[i])
    };
    for _ in 0..n {
        let a = f(t, &y);
        let b = f(t + 0.5 * h, &add(&y, 0.5 * h, &a));
        let c = f(t + 0.5 * h, &add(&y, 0.5 * h, &b));
        let d = f(t + h, &add(&y, h, &c));
        y = std::array::from_fn(|i| y[i] + h / 6.0 * (a[i] + 2.0 * (b[i] + c[i]) + d[i]));
        t += h;
    }
    y
}
