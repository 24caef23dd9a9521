//! Free masses q'' = a, one for each coordinate, with event functions given as plain functions: for tests of events alone. Mode i
//! counts how often event i occurred.

use biela::formulation::{
    ConfigurationSpace, Crossing, Dimensions, Energy, Evaluated, EvaluationContext, EventEffect,
    HybridSystem, MotionPoint, Properties, Sparsity, System, TangentWeights,
};

/// φ and its time derivative.
pub type Function = Box<dyn Fn(&EvaluationContext, &MotionPoint) -> (f64, f64) + Send + Sync>;

/// Acceleration of a mass from the modes and its index.
pub type Push = Box<dyn Fn(&[i32], usize) -> f64 + Send + Sync>;

/// An event of [`Watched`].
pub struct Event {
    pub function: Function,
    pub crossing: Crossing,
}

/// The masses (1 kg each) and the events.
pub struct Watched {
    /// Acceleration of each mass from the numbers of events so far (m/s²).
    pub push: Push,
    pub masses: usize,
    pub events: Vec<Event>,
    /// Some(e): event i is an impact with this restitution along `normals`, or of mass i without normals.
    pub restitution: Option<f64>,
    pub normals: Vec<Vec<f64>>,
    /// Whether a plastic impact switches its event off: its mode becomes [`HELD`].
    pub holds: bool,
}

/// See [`Watched::holds`].
pub const HELD: i32 = -1;

impl Watched {
    /// One mass at rest with these events.
    pub fn still(events: Vec<Event>) -> Self {
        Self {
            push: Box::new(|_, _| 0.0),
            masses: 1,
            events,
            restitution: None,
            normals: vec![],
            holds: false,
        }
    }
}

/// An event function of time alone.
pub fn of_time(crossing: Crossing, f: impl Fn(f64) -> (f64, f64) + Send + Sync + 'static) -> Event {
    Event {
        function: Box::new(move |cx, _| f(cx.t)),
        crossing,
    }
}

impl System for Watched {
    fn dimensions(&self) -> Dimensions {
        Dimensions {
            nq: self.masses,
            nv: self.masses,
            ne: self.events.len(),
            modes: self.events.len(),
            ..Dimensions::default()
        }
    }

    fn properties(&self) -> Properties {
        Properties::default()
    }

    fn sparsity(&self) -> Sparsity {
        Sparsity {
            tangent: (0..self.masses as u32).map(|i| (i, i)).collect(),
            jacobian: vec![],
        }
    }

    fn mass_times(&self, _cx: &EvaluationContext, _q: &[f64], a: &[f64], out: &mut [f64]) {
        out.copy_from_slice(a);
    }

    fn force(&self, cx: &EvaluationContext, _q: &[f64], _v: &[f64], out: &mut [f64]) -> Evaluated {
        for (i, out) in out.iter_mut().enumerate() {
            *out = (self.push)(cx.modes, i);
        }
        Ok(())
    }

    fn tangent(
        &self,
        _cx: &EvaluationContext,
        _at: &MotionPoint,
        weights: &TangentWeights,
        out: &mut [f64],
    ) -> Evaluated {
        out.fill(weights.mass);
        Ok(())
    }

    fn energy(&self, _cx: &EvaluationContext, _q: &[f64], v: &[f64]) -> Energy {
        Energy {
            kinetic: 0.5 * v.iter().map(|v| v * v).sum::<f64>(),
            potential: 0.0,
        }
    }
}

impl ConfigurationSpace for Watched {}

impl HybridSystem for Watched {
    fn event_functions(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        phi: &mut [f64],
        rate: &mut [f64],
    ) {
        for (i, event) in self.events.iter().enumerate() {
            (phi[i], rate[i]) = (event.function)(cx, at);
        }
    }

    fn crossing(&self, modes: &[i32], i: usize) -> Crossing {
        if modes[i] == HELD {
            Crossing::Off
        } else {
            self.events[i].crossing
        }
    }

    fn activate_unilateral(&self, i: usize, modes: &mut [i32]) {
        if self.holds {
            modes[i] = HELD;
        }
    }

    fn handle_event(
        &self,
        _cx: &EvaluationContext,
        _at: &MotionPoint,
        i: usize,
        modes: &mut [i32],
        n: &mut [f64],
    ) -> EventEffect {
        modes[i] += 1;
        let Some(restitution) = self.restitution else {
            return EventEffect::Mode;
        };
        match self.normals.get(i) {
            Some(normal) => n.copy_from_slice(normal),
            None => {
                n.fill(0.0);
                n[i] = 1.0;
            }
        }
        EventEffect::Impulse {
            restitution,
            slowest: 0.0,
            poisson: false,
        }
    }
}
