//! Between two steps: on the constraints, as accurate as the steps, and without any influence on them.

use crate::common::measure::{ALONE, Reference, Run, distance, prescribed, slope};
use crate::common::systems::STILL;
use crate::common::systems::chain::Chain;
use biela::formulation::System;
use biela::integrator::Sample;
use biela::model::{Corrector, SolverSettings};

fn start() -> (Vec<f64>, Vec<f64>) {
    Chain::from_angles(&[1.2, 0.4], &[0.5, -1.0])
}

#[test]
fn points_between_steps_are_on_the_constraints_and_their_rates() {
    let system = Chain(2);
    let (q, v) = start();
    for corrector in [Corrector::Off, Corrector::Auto] {
        let settings = SolverSettings {
            tolerance: 1e-4,
            corrector,
            ..SolverSettings::default()
        };
        let mut run = Run::new(&system, &settings, &q, &v);
        let mut sample = Sample::default();
        while run.state.t < 2.0 {
            let t0 = run.state.t;
            run.advance(2.0);
            for s in [0.1, 0.5, 0.77] {
                let t = t0 + s * (run.state.t - t0);
                run.integrator
                    .interpolate(&system, &ALONE, t, &mut sample)
                    .unwrap();
                let (mut phi, mut gamma) = ([0.0; 2], [0.0; 2]);
                let mut g = vec![0.0; system.sparsity().jacobian.len()];
                system.constraint(&STILL, &sample.q, &mut phi);
                system.jacobian(&STILL, &sample.q, &mut g);
                system.constraint_acceleration_bias(&STILL, &sample.q, &sample.v, &mut gamma);
                let (mut gv, mut ga) = ([0.0; 2], gamma);
                for (&(row, column), g) in system.sparsity().jacobian.iter().zip(&g) {
                    gv[row as usize] += g * sample.v[column as usize];
                    ga[row as usize] += g * sample.acc[column as usize];
                }
                // Closure is aimed at 1e-13 of a length of 1 m, the projections at 1e-12 of speeds and accelerations of 1e1, 1e2.
                for (what, x, bound) in [
                    ("closure", phi, 1e-13),
                    ("speed", gv, 1e-11),
                    ("acceleration", ga, 1e-10),
                ] {
                    assert!(x.iter().all(|x| x.abs() <= bound), "{what} {x:?} at {t}");
                }
            }
        }
    }
}

/// Quintic on the ends of a step: the error between the steps falls with the order of the steps.
#[test]
fn points_between_steps_are_as_accurate_as_the_steps() {
    let system = Chain(2);
    let (q, v) = start();
    let reference = Reference::new(&system, &q, &v, 1.0, 8000);
    for (corrector, order, band) in [(Corrector::Off, 2.0, 0.1), (Corrector::Auto, 4.0, 0.2)] {
        let counts = [100, 200, 400];
        let mut errors = Vec::new();
        for count in counts {
            let mut run = Run::new(&system, &prescribed(0.05, corrector), &q, &v);
            let mut sample = Sample::default();
            let mut worst = 0.0f64;
            for k in 0..count {
                let h = 1.0 / count as f64;
                run.advance(h * (k + 1) as f64);
                let t = h * (k as f64 + 0.37);
                run.integrator
                    .interpolate(&system, &ALONE, t, &mut sample)
                    .unwrap();
                worst = worst.max(distance(&sample.q, &reference.at(t)[0]));
            }
            errors.push(worst);
        }
        let h: Vec<f64> = counts.iter().map(|&n| 1.0 / n as f64).collect();
        let found = slope(&h, &errors);
        assert!(
            (found - order).abs() <= band,
            "{corrector:?}: order {found}, errors {errors:?}"
        );
    }
}

#[test]
fn interpolating_between_the_steps_changes_nothing() {
    let system = Chain(2);
    let (q, v) = start();
    let mut looked = Run::new(&system, &SolverSettings::default(), &q, &v);
    let mut blind = Run::new(&system, &SolverSettings::default(), &q, &v);
    let mut sample = Sample::default();
    while blind.state.t < 1.0 {
        blind.advance(1.0);
        let t0 = looked.state.t;
        looked.advance(1.0);
        let t = 0.5 * (t0 + looked.state.t);
        looked
            .integrator
            .interpolate(&system, &ALONE, t, &mut sample)
            .unwrap();
        assert_eq!(looked.state, blind.state);
    }
    // Outside the last step there is nothing to look at.
    assert!(
        looked
            .integrator
            .interpolate(&system, &ALONE, 0.0, &mut sample)
            .is_err()
    );
    assert!(
        looked
            .integrator
            .interpolate(&system, &ALONE, f64::NAN, &mut sample)
            .is_err()
    );
}
