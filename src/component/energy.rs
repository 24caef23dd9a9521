//! The energy account:
//!
//! ```text
//!   balance = kinetic + potential + dissipated − supplied − (kinetic + potential) at start,   numerical = −balance
//! ```
//!
//! The balance of an exact solution is zero; otherwise it is the numerical loss or gain of the method.

use super::Instance;
use super::quantity_point::Multipliers;
use crate::formulation::Energy;
use crate::model::quantity::EnergyField;

/// The energy account at one point of the motion (J).
#[derive(Clone, Copy, Debug)]
pub(super) struct EnergyAccount {
    pub energy: Energy,
    pub dissipated: f64,
    pub supplied: f64,
    pub total_at_start: f64,
}

impl EnergyAccount {
    pub fn total(&self) -> f64 {
        self.energy.kinetic + self.energy.potential
    }

    pub fn balance(&self) -> f64 {
        self.total() + self.dissipated - self.supplied - self.total_at_start
    }

    pub fn field(&self, field: EnergyField) -> f64 {
        match field {
            EnergyField::Kinetic => self.energy.kinetic,
            EnergyField::Potential => self.energy.potential,
            EnergyField::Total => self.total(),
            EnergyField::Dissipated => self.dissipated,
            EnergyField::Supplied => self.supplied,
            EnergyField::Balance => self.balance(),
            EnergyField::Numerical => -self.balance(),
        }
    }
}

impl Instance {
    /// Updates the balance of largest magnitude after an accepted substep.
    pub(super) fn track_energy_drift(&mut self) {
        let (point, mechanism) = self.present_point(Multipliers::OfState);
        let balance = point.energy_account(mechanism).balance();
        if balance.abs() > self.state.energy_drift.abs() {
            self.state.energy_drift = balance;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_energy_account_is_consistent() {
        let account = EnergyAccount {
            energy: Energy {
                kinetic: 3.0,
                potential: -1.0,
            },
            dissipated: 0.5,
            supplied: 0.25,
            total_at_start: 2.0,
        };
        assert_eq!(account.field(EnergyField::Total), 2.0);
        assert_eq!(account.field(EnergyField::Balance), 0.25);
        assert_eq!(account.field(EnergyField::Numerical), -0.25);
        assert_eq!(account.field(EnergyField::Kinetic), 3.0);
        assert_eq!(account.field(EnergyField::Potential), -1.0);
        assert_eq!(account.field(EnergyField::Dissipated), 0.5);
        assert_eq!(account.field(EnergyField::Supplied), 0.25);
    }
}
