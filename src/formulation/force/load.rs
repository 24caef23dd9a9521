//! A force at a point of one body, or a torque on it, along ground axes or along the body's own:
//!
//! ```text
//!   F = (Fx, Fy, Fz)  or  R (Fx, Fy, Fz),      supplied = F·ṗ + C·ω
//! ```

use super::Shown;
use super::dual::{Number, Three, dot};
use super::frame::Frame;
use super::kernel::{Action, Kernel};
use crate::formulation::value::Value;
use crate::formulation::{Context, Power};
use crate::model::{Load as What, LoadFrame};

/// The load.
#[derive(Clone, Debug)]
pub struct Load {
    /// A force or a torque.
    pub what: What,
    /// N or N m
    pub components: [Value; 3],
    /// Whose axes.
    pub frame: LoadFrame,
    /// Where, seen from the centre of mass.
    pub lever: [f64; 3],
}

impl Load {
    /// In ground axes.
    fn vector<T: Number>(&self, cx: &Context, body: &Frame<T>) -> Three<T> {
        let components = (self.components).map(|x| T::timed(x.get(cx), x.rate(cx)));
        match self.frame {
            LoadFrame::Ground => components,
            LoadFrame::Body => body.turn(&components),
        }
    }
}

impl Kernel for Load {
    fn depends_on_rate(&self) -> bool {
        false
    }

    fn works(&self) -> bool {
        true
    }

    fn act<T: Number>(&self, cx: &Context, [_, body]: &[Frame<T>; 2]) -> Action<T> {
        let vector = self.vector(cx, body);
        match self.what {
            What::Force => Action::force(vector, body.place(&self.lever)),
            What::Torque => Action {
                couple: vector,
                ..Action::none()
            },
        }
    }

    fn power(&self, cx: &Context, [_, body]: &[Frame<f64>; 2]) -> Power {
        let vector = self.vector(cx, body);
        let rate = match self.what {
            What::Force => body.velocity(&body.place(&self.lever)),
            What::Torque => body.w,
        };
        Power {
            dissipated: 0.0,
            supplied: dot(&vector, &rate),
        }
    }

    fn shown(&self, cx: &Context, [_, body]: &[Frame<f64>; 2]) -> Shown {
        let vector = self.vector(cx, body);
        Shown {
            force: dot(&vector, &vector).sqrt(),
            ..Shown::default()
        }
    }
}
