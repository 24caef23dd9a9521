//! Quantities of the motion by themselves, without being declared as outputs: for reports and other observers.

use super::probe::Needed;
use super::quantity_point::Multipliers;
use super::values::same_length;
use super::{Instance, StepProbe};
use crate::error::{Error, Result};
use crate::model::quantity::Quantity;

impl Instance {
    /// Reads quantities at the present time, as [`Instance::get_real`] reads outputs. On failure `values` is partly written.
    pub fn get_quantities(&mut self, quantities: &[Quantity], values: &mut [f64]) -> Result<()> {
        same_length(quantities.len(), values.len())?;
        self.require_running("reading a quantity")?;
        self.apply_pending_inputs()?;
        let reactions = quantities.iter().any(|quantity| quantity.is_reaction());
        if reactions {
            self.compute_reactions()?;
        }
        let multipliers = match reactions {
            true => Multipliers::MinimumNorm,
            false => Multipliers::OfState,
        };
        let (point, mechanism) = self.present_point(multipliers);
        point.values(mechanism, quantities, values);
        self.require_finite(quantities, self.time(), values)
    }

    fn require_finite(&self, quantities: &[Quantity], time: f64, values: &[f64]) -> Result<()> {
        let Some(at) = values.iter().position(|value| !value.is_finite()) else {
            return Ok(());
        };
        let named = self.model.quantities().into_iter();
        let culprit = named.filter(|(_, quantity)| *quantity == quantities[at]);
        Err(Error::Evaluation {
            time,
            culprit: culprit.map(|(name, _)| name).next().unwrap_or_default(),
        })
    }
}

impl StepProbe<'_> {
    /// Quantities at `t`, start <= t <= end, as [`StepProbe::values`] gives variables. On failure `values` is partly
    /// written.
    pub fn quantities(
        &mut self,
        t: f64,
        quantities: &[Quantity],
        values: &mut [f64],
    ) -> Result<()> {
        if t == self.end() {
            return self.instance.get_quantities(quantities, values);
        }
        same_length(quantities.len(), values.len())?;
        self.require_inside(t)?;
        let needed = quantities.iter().copied().map(Needed::by);
        self.sample(t, needed.max().unwrap_or(Needed::Motion))?;
        let instance = &mut *self.instance;
        let (point, mechanism) = instance.sampled_in_step();
        point.values(mechanism, quantities, values);
        instance.require_finite(quantities, t, values)
    }
}
