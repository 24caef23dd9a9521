//! After set-up nothing allocates: setting, stepping, reading, saving into a slot, restoring.

use crate::allocator::calls;
use crate::common::{Random, references, slider_crank};
use biela::component::{Causality, Observer, StepProbe};

fn allocations(work: impl FnOnce()) -> u64 {
    let before = calls();
    work();
    calls() - before
}

/// Reads in the middle of every substep.
struct Middle {
    references: Vec<u32>,
    values: Vec<f64>,
}

impl Observer for Middle {
    fn accepted(&mut self, probe: &mut StepProbe) -> biela::Result<()> {
        let t = 0.5 * (probe.start() + probe.end());
        probe.values(t, &self.references, &mut self.values)
    }
}

#[test]
fn the_counter_counts() {
    assert!(allocations(|| drop(Vec::<f64>::with_capacity(100))) > 0);
}

#[test]
fn a_communication_step_allocates_nothing() {
    let mut instance = slider_crank();
    let tau = references(&instance, Causality::Input)[0];
    let all: Vec<u32> = (0..instance.variables().len() as u32).collect();
    let mut values = vec![0.0; all.len()];
    let mut middle = Middle {
        references: all.clone(),
        values: values.clone(),
    };
    let mut random = Random(4);
    instance.initialize(0.0, f64::INFINITY, 0.0).unwrap();
    let mut slot = instance.save().unwrap();
    let count = allocations(|| {
        for k in 0..100 {
            let t = f64::from(k) * 0.01;
            instance.set_real(&[tau], &[random.unit()]).unwrap();
            let slope = random.unit();
            instance
                .set_input_derivatives(&[tau], &[1], &[slope])
                .unwrap();
            instance.save_into(&mut slot).unwrap();
            instance.step(t, 0.01).unwrap();
            instance.get_real(&all, &mut values).unwrap();
            instance.restore(&slot).unwrap();
            instance.step_observed(t, 0.01, &mut middle).unwrap();
            instance.get_real(&all, &mut values).unwrap();
        }
    });
    assert_eq!(count, 0, "allocations in 100 communication steps");
}

#[test]
fn a_communication_step_with_error_bars_allocates_nothing() {
    let mut instance = slider_crank();
    instance.use_error_bars().unwrap();
    let tau = references(&instance, Causality::Input)[0];
    let all: Vec<u32> = (0..instance.variables().len() as u32).collect();
    let mut values = vec![0.0; all.len()];
    instance.initialize(0.0, f64::INFINITY, 0.0).unwrap();
    let mut slot = instance.save().unwrap();
    let count = allocations(|| {
        for k in 0..100 {
            let t = f64::from(k) * 0.05;
            instance.set_real(&[tau], &[f64::from(k % 3)]).unwrap();
            instance.save_into(&mut slot).unwrap();
            instance.step(t, 0.05).unwrap();
            instance.restore(&slot).unwrap();
            instance.step(t, 0.05).unwrap();
            instance.get_real(&all, &mut values).unwrap();
        }
    });
    assert_eq!(count, 0, "allocations in 100 communication steps");
}

#[test]
fn a_linear_model_allocates_nothing_after_the_first() {
    let mut instance = slider_crank();
    instance.initialize(0.0, f64::INFINITY, 0.0).unwrap();
    let mut linear = instance.linearize().unwrap();
    instance.step(0.0, 0.05).unwrap();
    let before = format!("{:?}", instance.save().unwrap());
    let count = allocations(|| instance.linearize_into(&mut linear).unwrap());
    assert_eq!(count, 0, "allocations of a linear model");
    assert_eq!(before, format!("{:?}", instance.save().unwrap()));
}
