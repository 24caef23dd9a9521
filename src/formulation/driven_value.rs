//! Values in the equations that may change: constant, parameter or input.

use super::EvaluationContext;
use crate::error::{Error, Result};
use crate::model::{Model, Target};

/// A value and its source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DrivenValue {
    /// As written in the model.
    Constant(f64),
    /// `EvaluationContext::p` at this index: `model.parameters[i]`.
    Parameter(usize),
    /// `EvaluationContext::u` at this index: `model.inputs[i]`.
    Input(usize),
}

impl DrivenValue {
    /// The present value.
    #[inline]
    pub fn get(&self, cx: &EvaluationContext) -> f64 {
        match *self {
            Self::Constant(x) => x,
            Self::Parameter(i) => cx.p[i],
            Self::Input(i) => cx.u[i],
        }
    }

    /// Its time derivative (1/s): only inputs change in time.
    #[inline]
    pub fn rate(&self, cx: &EvaluationContext) -> f64 {
        match *self {
            Self::Input(i) => cx.u_dot[i],
            _ => 0.0,
        }
    }

    /// Its second time derivative (1/s²).
    #[inline]
    pub fn second_rate(&self, cx: &EvaluationContext) -> f64 {
        match *self {
            Self::Input(i) => cx.u_ddot[i],
            _ => 0.0,
        }
    }

    /// Whether it is zero at all times.
    pub fn always_zero(&self) -> bool {
        *self == Self::Constant(0.0)
    }

    /// Whether it is an input.
    pub fn is_driven(&self) -> bool {
        matches!(self, Self::Input(_))
    }
}

/// Sources of the targets of a model. A target with two sources is an error.
#[derive(Debug)]
pub struct DrivenValues {
    set: std::collections::HashMap<Target, DrivenValue>,
}

impl DrivenValues {
    /// Collects the inputs and parameters of the model.
    pub fn new(model: &Model) -> Result<Self> {
        let mut set = std::collections::HashMap::new();
        let inputs = model.inputs.iter().enumerate();
        let parameters = model.parameters.iter().enumerate();
        let all = inputs
            .map(|(i, x)| (&x.name, x.text_position, x.target, DrivenValue::Input(i)))
            .chain(parameters.map(|(i, x)| {
                (
                    &x.name,
                    x.text_position,
                    x.target,
                    DrivenValue::Parameter(i),
                )
            }));
        for (name, place, target, value) in all {
            if set.insert(target, value).is_some() {
                return Err(Error::Model {
                    origin: model.origin.clone(),
                    line: place.line,
                    column: place.column,
                    message: format!(
                        "\"{name}\" sets a number that another input or parameter sets already"
                    ),
                });
            }
        }
        Ok(Self { set })
    }

    /// The value of a target; `written` in the model if no input or parameter sets it.
    pub fn get(&self, target: Target, written: f64) -> DrivenValue {
        self.set
            .get(&target)
            .copied()
            .unwrap_or(DrivenValue::Constant(written))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_reads_its_source() {
        let cx = EvaluationContext {
            t: 0.0,
            u: &[3.0],
            u_dot: &[0.5],
            u_ddot: &[0.0],
            p: &[7.0, 8.0],
            modes: &[],
            integrals: &[],
        };
        assert_eq!(DrivenValue::Constant(2.0).get(&cx), 2.0);
        assert_eq!(DrivenValue::Parameter(1).get(&cx), 8.0);
        assert_eq!(DrivenValue::Input(0).get(&cx), 3.0);
        assert_eq!(DrivenValue::Input(0).rate(&cx), 0.5);
        assert_eq!(DrivenValue::Parameter(1).rate(&cx), 0.0);
        assert!(
            DrivenValue::Constant(0.0).always_zero() && !DrivenValue::Parameter(0).always_zero()
        );
    }
}
