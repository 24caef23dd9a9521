//! Free masses q'' = a, one for each coordinate, with event functions given as plain functions: for tests of events alone. What
//! fires is noted in the modes: mode i counts the firings of event i.

use biela::formulation::{
    Character, Context, Crossing, Energy, Evaluated, Motion, Pattern, Reaction, Size, System,
    Weights,
};

/// φ and its rate.
pub type Function = Box<dyn Fn(&Context, &Motion) -> (f64, f64) + Send + Sync>;

/// Acceleration of a mass, by the modes and its number.
pub type Push = Box<dyn Fn(&[i32], usize) -> f64 + Send + Sync>;

/// An event of [`Watched`].
pub struct Event {
    pub function: Function,
    pub crossing: Crossing,
}

/// The masses (1 kg each) and the events.
pub struct Watched {
    /// Acceleration of each mass by the firings counted so far (m/s²).
    pub push: Push,
    pub masses: usize,
    pub events: Vec<Event>,
    /// Some(e): event i throws back with this restitution, along `normals`, or mass i where there are none.
    pub restitution: Option<f64>,
    pub normals: Vec<Vec<f64>>,
    /// An event that chatters is held: its mode becomes [`HELD`] and it is not watched any more.
    pub holds: bool,
}

/// See [`Watched::holds`].
pub const HELD: i32 = -1;

impl Watched {
    /// One mass at rest and these events.
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
    fn size(&self) -> Size {
        Size {
            nq: self.masses,
            nv: self.masses,
            ne: self.events.len(),
            modes: self.events.len(),
            ..Size::default()
        }
    }

    fn character(&self) -> Character {
        Character::default()
    }

    fn pattern(&self) -> Pattern {
        Pattern {
            tangent: (0..self.masses as u32).map(|i| (i, i)).collect(),
            jacobian: vec![],
        }
    }

    fn mass_times(&self, _cx: &Context, _q: &[f64], a: &[f64], out: &mut [f64]) {
        out.copy_from_slice(a);
    }

    fn force(&self, cx: &Context, _q: &[f64], _v: &[f64], out: &mut [f64]) -> Evaluated {
        for (i, out) in out.iter_mut().enumerate() {
            *out = (self.push)(cx.modes, i);
        }
        Ok(())
    }

    fn tangent(
        &self,
        _cx: &Context,
        _q: &[f64],
        _v: &[f64],
        _a: &[f64],
        _lambda: &[f64],
        weights: &Weights,
        out: &mut [f64],
    ) -> Evaluated {
        out.fill(weights.mass);
        Ok(())
    }

    fn energy(&self, _cx: &Context, _q: &[f64], v: &[f64]) -> Energy {
        Energy {
            kinetic: 0.5 * v.iter().map(|v| v * v).sum::<f64>(),
            potential: 0.0,
        }
    }

    fn events(&self, cx: &Context, at: &Motion, phi: &mut [f64], rate: &mut [f64]) {
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

    fn hold(&self, i: usize, modes: &mut [i32]) {
        if self.holds {
            modes[i] = HELD;
        }
    }

    fn fire(
        &self,
        _cx: &Context,
        _at: &Motion,
        i: usize,
        modes: &mut [i32],
        n: &mut [f64],
    ) -> Reaction {
        modes[i] += 1;
        let Some(restitution) = self.restitution else {
            return Reaction::Mode;
        };
        match self.normals.get(i) {
            Some(normal) => n.copy_from_slice(normal),
            None => {
                n.fill(0.0);
                n[i] = 1.0;
            }
        }
        Reaction::Impulse {
            restitution,
            slowest: 0.0,
        }
    }
}
