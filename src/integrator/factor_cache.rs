//! Factorisations of a linear system that serve every step of the same size.
//!
//! The factors are workspace: they may be lost, or belong to the history of another instance after a restore. Whether a
//! factorisation is counted follows from the history of the state alone, so that the counters repeat with the motion.

use crate::constraint::factorization::Pivots;
use crate::formulation::System;

/// The factorisations that exist, and those that the history of the state has counted.
#[derive(Default)]
pub(super) struct FactorCache {
    /// The system is linear and has no modes: M, C, K and G depend on parameters at most.
    constant: bool,
    /// Parameters of the factors.
    parameters: Vec<f64>,
    /// Step size of the factor of the step matrix, and whether its position is regular.
    step: Option<(f64, bool)>,
    /// Pivots of the factor of the mass matrix.
    mass: Option<Pivots>,
    /// Step size of the factor of the step matrix in the history of the state; zero for none.
    pub counted_step: f64,
    /// The history of the state has factorised the mass matrix.
    pub counted_mass: bool,
}

impl FactorCache {
    pub fn new(system: &dyn System) -> Self {
        let size = system.dimensions();
        Self {
            constant: system.properties().linear && size.modes == 0,
            parameters: vec![f64::NAN; size.parameters],
            ..Self::default()
        }
    }

    /// Drops the factors and their history: the next step makes and counts them.
    pub fn drop_all(&mut self) {
        self.drop_factors();
        (self.counted_step, self.counted_mass) = (0.0, false);
    }

    /// Drops the factors, not their history: the next step makes them without counting them again.
    pub fn drop_factors(&mut self) {
        (self.step, self.mass) = (None, None);
    }

    /// Drops the factor of the mass matrix, because another matrix takes its memory.
    pub fn drop_mass(&mut self) {
        self.mass = None;
    }

    /// Drops the factors if they were made with other parameters.
    fn check_parameters(&mut self, parameters: &[f64]) {
        if self.parameters != parameters {
            self.parameters.copy_from_slice(parameters);
            self.drop_factors();
        }
    }

    /// Whether the position of the factor for steps of size h is regular, if that factor exists; and whether a factorisation is
    /// counted. From now on the history of the state has this factor.
    pub fn step(&mut self, h: f64, parameters: &[f64]) -> (Option<bool>, bool) {
        if !self.constant {
            return (None, true);
        }
        self.check_parameters(parameters);
        let count = self.counted_step != h;
        self.counted_step = h;
        // A factor of another step size is overwritten by the caller.
        self.step = self.step.filter(|(step, _)| *step == h);
        (self.step.map(|(_, regular)| regular), count)
    }

    /// Notes that the factor for steps of size h has been made.
    pub fn keep_step(&mut self, h: f64, regular: bool) {
        self.step = self.constant.then_some((h, regular));
    }

    /// Pivots of the factor of the mass matrix, if it exists; and whether a factorisation is counted. The caller gives them
    /// back by [`FactorCache::keep_mass`], with a new factor or without.
    pub fn mass(&mut self, parameters: &[f64]) -> (Option<Pivots>, bool) {
        if !self.constant {
            return (None, true);
        }
        self.check_parameters(parameters);
        let count = !self.counted_mass;
        self.counted_mass = true;
        (self.mass.take(), count)
    }

    /// Notes that the mass matrix has been factorised.
    pub fn keep_mass(&mut self, pivots: Pivots) {
        self.mass = self.constant.then_some(pivots);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOUND: Pivots = Pivots {
        smallest_constraint: 0.5,
        corrected: 0,
        used_lu: false,
    };

    fn of_linear_system() -> FactorCache {
        FactorCache {
            constant: true,
            parameters: vec![f64::NAN],
            ..FactorCache::default()
        }
    }

    #[test]
    fn equal_steps_share_a_factor_and_count_it_once() {
        let mut cache = of_linear_system();
        assert_eq!(cache.step(0.1, &[1.0]), (None, true));
        cache.keep_step(0.1, false);
        assert_eq!(cache.step(0.1, &[1.0]), (Some(false), false));
        assert_eq!(cache.step(0.2, &[1.0]), (None, true));
        cache.keep_step(0.2, true);
        assert_eq!(cache.step(0.1, &[1.0]), (None, true));
        assert_eq!(cache.mass(&[1.0]), (None, true));
        cache.keep_mass(FOUND);
        assert_eq!(cache.mass(&[1.0]), (Some(FOUND), false));
    }

    #[test]
    fn a_factor_made_with_other_parameters_is_not_used() {
        let mut cache = of_linear_system();
        cache.step(0.1, &[1.0]);
        cache.keep_step(0.1, true);
        cache.mass(&[1.0]);
        cache.keep_mass(FOUND);
        // As after a restore of a state whose history counts the same step: nothing is counted, everything is made.
        assert_eq!(cache.step(0.1, &[2.0]), (None, false));
        assert_eq!(cache.mass(&[2.0]), (None, false));
    }

    #[test]
    fn a_factorisation_that_failed_leaves_no_factor() {
        let mut cache = of_linear_system();
        cache.mass(&[1.0]);
        cache.step(0.1, &[1.0]);
        assert_eq!(cache.mass(&[1.0]).0, None);
        assert_eq!(cache.step(0.1, &[1.0]).0, None);
    }

    #[test]
    fn factors_of_a_nonlinear_system_are_made_and_counted_every_time() {
        let mut cache = FactorCache::default();
        for _ in 0..2 {
            assert_eq!(cache.step(0.1, &[]), (None, true));
            cache.keep_step(0.1, true);
            assert_eq!(cache.mass(&[]), (None, true));
            cache.keep_mass(FOUND);
        }
    }
}
