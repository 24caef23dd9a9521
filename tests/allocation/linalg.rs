//! Factoring and solving allocate nothing once the factor exists.

use crate::allocator::calls;
use crate::samples;
use biela::constraint::factorization::Factorization;
use biela::constraint::matrix::SaddleMatrix;
use biela::constraint::refinement::RefinementOptions;
use biela::constraint::sparsity::{Backend, SaddleSparsity};
use biela::formulation::Sparsity;

/// Loads, regularises, factors and solves `rounds` times; returns the allocations of the rounds after the first
/// `warm` ones.
fn allocations(sample: &samples::Sample, backend: Backend, warm: usize, rounds: usize) -> u64 {
    let pattern = Sparsity {
        tangent: sample.tangent.clone(),
        jacobian: sample.jacobian.clone(),
    };
    let st = SaddleSparsity::new(sample.nv, sample.nc, &pattern, backend);
    let mut m = SaddleMatrix::new(&st);
    let mut factor = Factorization::new(&st);
    let mut mass = vec![1.0; sample.nv];
    let (mut x, mut l) = (vec![0.0; sample.nv], vec![0.0; sample.nc]);
    let active = vec![true; sample.nc];
    let mut before = calls();
    for round in 0..rounds {
        if round == warm {
            before = calls();
        }
        m.set_active(&active);
        m.load_tangent(&st, &sample.s);
        m.load_jacobian(&st, &sample.g);
        m.tangent_diagonal(&st, &mut mass);
        m.regularise(&st, &mass, 1e-10);
        factor.factor(&st, &m).expect("a regular sample");
        x.fill(1.0);
        l.fill(0.5);
        factor.solve(&st, &mut x, &mut l);
        x.fill(1.0);
        l.fill(0.5);
        let refined =
            factor.solve_refined(&st, &m, RefinementOptions::exact(1e-12, 20), &mut x, &mut l);
        assert!(refined.residual < 1e-9, "{refined:?}");
    }
    calls() - before
}

#[test]
fn the_counter_counts() {
    let before = calls();
    std::hint::black_box(vec![0u8; 100]);
    assert_eq!(calls() - before, 1);
}

#[test]
fn factor_and_solve_allocate_nothing() {
    for backend in [Backend::Dense, Backend::Sparse] {
        for sample in [
            samples::planar_chain(2),
            samples::four_bars(2),
            samples::spatial_chain(20),
            samples::star(60),
            samples::sprung_chain(30),
            samples::random(60, 20, 0.1, 3),
        ] {
            assert_eq!(allocations(&sample, backend, 0, 10), 0, "{backend:?}");
        }
    }
}

#[test]
fn the_sparse_lu_keeps_what_it_has_allocated() {
    let sample = samples::random(60, 20, 1.5, 4);
    assert_eq!(allocations(&sample, Backend::Sparse, 1, 10), 0);
}
