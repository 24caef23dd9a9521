//! The energy account:
//!
//! ```text
//!   balance = kinetic + potential + dissipated − supplied − (kinetic + potential) at start,   numerical = −balance
//! ```
//!
//! An exact solution has balance zero; what is left is the method's own loss or gain.

use super::Instance;
use crate::formulation::Energy;
use crate::model::quantity::EnergyField;

/// The account at one point of the motion (J).
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
    /// After an accepted substep: the largest balance so far, with its sign.
    pub(super) fn track_drift(&mut self) {
        let (point, mechanism) = self.here();
        let balance = point.account(mechanism).balance();
        if balance.abs() > self.life.drift.abs() {
            self.life.drift = balance;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_account_adds_up() {
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
