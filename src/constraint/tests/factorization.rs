//! Both backends against a dense solver, on chains, loops, stars and random systems.

use super::Random;
use super::samples::{self, Sample};
use crate::constraint::factorization::{Factorization, Pivots, SingularPivot};
use crate::constraint::matrix::SaddleMatrix;
use crate::constraint::refinement::RefinementOptions;
use crate::constraint::sparsity::{Backend, SaddleSparsity, SparseLayout};
use crate::formulation::system::Sparsity;
use nalgebra::{DMatrix, DVector};

const BOTH: [Backend; 2] = [Backend::Dense, Backend::Sparse];

struct Case {
    sparsity: SaddleSparsity,
    m: SaddleMatrix,
    factor: Factorization,
}

fn case(sample: &Sample, backend: Backend) -> Case {
    let pattern = Sparsity {
        tangent: sample.tangent.clone(),
        jacobian: sample.jacobian.clone(),
    };
    let sparsity = SaddleSparsity::new(sample.nv, sample.nc, &pattern, backend);
    let mut m = SaddleMatrix::new(&sparsity);
    m.load_tangent(&sparsity, &sample.s);
    m.load_jacobian(&sparsity, &sample.g);
    let mut mass = vec![0.0; sample.nv];
    m.tangent_diagonal(&sparsity, &mut mass);
    m.regularise(&sparsity, &mass, 1e-10);
    let factor = Factorization::new(&sparsity);
    Case {
        sparsity,
        m,
        factor,
    }
}

fn right_side(n: usize, seed: u64) -> Vec<f64> {
    let mut random = Random::new(seed);
    (0..n).map(|_| random.signed()).collect()
}

/// The matrix as nalgebra sees it, from the sample and not from the structure.
fn full(sample: &Sample, e: &[f64]) -> DMatrix<f64> {
    let n = sample.nv + sample.nc;
    let mut a = DMatrix::zeros(n, n);
    for (&(i, j), v) in sample.tangent.iter().zip(&sample.s) {
        a[(i as usize, j as usize)] += v;
    }
    for (&(k, j), v) in sample.jacobian.iter().zip(&sample.g) {
        a[(sample.nv + k as usize, j as usize)] += v;
        a[(j as usize, sample.nv + k as usize)] += v;
    }
    for (k, e) in e.iter().enumerate() {
        a[(sample.nv + k, sample.nv + k)] -= e;
    }
    a
}

fn largest_difference(x: &[f64], y: &[f64]) -> f64 {
    let size = y.iter().fold(0.0, |m: f64, y| m.max(y.abs()));
    x.iter()
        .zip(y)
        .fold(0.0, |m: f64, (x, y)| m.max((x - y).abs()))
        / size
}

fn agrees_with_nalgebra(sample: &Sample, backend: Backend, what: &str) -> Pivots {
    let mut c = case(sample, backend);
    let pivots = c.factor.factor(&c.sparsity, &c.m).expect(what);
    let b = right_side(sample.nv + sample.nc, 77);
    let exact = full(sample, c.m.regularisation())
        .lu()
        .solve(&DVector::from_column_slice(&b))
        .expect(what);
    let mut y = b.clone();
    let (x, l) = y.split_at_mut(sample.nv);
    let refined = c.factor.solve_refined(
        &c.sparsity,
        &c.m,
        RefinementOptions::regularised(1e-14, 40),
        x,
        l,
    );
    let error = largest_difference(&y, exact.as_slice());
    // Condition numbers here are below 1e5: rounding leaves at most 1e-10.
    assert!(
        error < 1e-10,
        "{what} {backend:?}: error {error:e}, {refined:?}, {pivots:?}"
    );
    assert!(refined.residual < 1e-11, "{what}: {refined:?}");
    pivots
}

#[test]
fn mechanisms_of_every_shape_agree_with_a_dense_solver() {
    for backend in BOTH {
        for n in [1, 2, 3, 5, 10, 40] {
            agrees_with_nalgebra(&samples::planar_chain(n), backend, "planar chain");
            agrees_with_nalgebra(&samples::spatial_chain(n), backend, "spatial chain");
            agrees_with_nalgebra(&samples::sprung_chain(n), backend, "sprung chain");
            agrees_with_nalgebra(&samples::star(2 * n), backend, "star");
            agrees_with_nalgebra(&samples::four_bars(n), backend, "four-bars");
        }
        agrees_with_nalgebra(&samples::spring_net(7), backend, "net");
        agrees_with_nalgebra(&samples::full(12, 5), backend, "full");
    }
}

#[test]
fn random_systems_agree_with_a_dense_solver() {
    for backend in BOTH {
        for (nv, nc) in [(1, 0), (1, 1), (2, 1), (7, 0), (12, 5), (60, 20), (150, 60)] {
            for skew in [0.0, 0.02, 0.2] {
                let sample = samples::random(nv, nc, skew, (nv + 13 * nc) as u64);
                let what = format!("{nv} + {nc}, skew {skew}");
                agrees_with_nalgebra(&sample, backend, &what);
            }
        }
    }
}

#[test]
fn large_chains_are_solved_to_rounding() {
    for bodies in [400, 2000] {
        for sample in [samples::planar_chain(bodies), samples::star(bodies)] {
            let mut c = case(&sample, Backend::Auto);
            assert!(c.sparsity.is_sparse());
            let pivots = c.factor.factor(&c.sparsity, &c.m).unwrap();
            assert_eq!((pivots.corrected, pivots.used_lu), (0, false));
            let mut y = right_side(sample.nv + sample.nc, 3);
            let (x, l) = y.split_at_mut(sample.nv);
            let refined =
                c.factor
                    .solve_refined(&c.sparsity, &c.m, RefinementOptions::exact(1e-13, 2), x, l);
            assert!(refined.residual < 1e-13, "{bodies}: {refined:?}");
        }
    }
}

#[test]
fn what_is_known_saves_back_substitutions_and_what_is_no_number_does_no_harm() {
    let sample = samples::planar_chain(50);
    let mut c = case(&sample, Backend::Auto);
    c.factor.factor(&c.sparsity, &c.m).unwrap();
    let rhs = right_side(sample.nv + sample.nc, 3);
    let (b, row) = rhs.split_at(sample.nv);
    let mut cold = rhs.clone();
    let (x, l) = cold.split_at_mut(sample.nv);
    let nothing =
        c.factor
            .solve_refined(&c.sparsity, &c.m, RefinementOptions::exact(1e-12, 8), x, l);
    for (known, most) in [
        (1.0, 0),
        (1.0 + 1e-6, nothing.solves),
        (f64::NAN, nothing.solves),
    ] {
        let mut y: Vec<f64> = cold.iter().map(|y| known * y).collect();
        let (x, l) = y.split_at_mut(sample.nv);
        let done = c.factor.solve_from(
            &c.sparsity,
            &c.m,
            RefinementOptions::exact(1e-12, 8),
            (b, row),
            x,
            l,
        );
        assert!(done.residual <= 1e-12, "{known}: {done:?}");
        assert!(done.solves <= most, "{known}: {done:?}");
    }
}

#[test]
fn a_strongly_unsymmetric_tangent_is_factored_by_lu() {
    let sample = samples::random(60, 20, 1.5, 4);
    let pivots = agrees_with_nalgebra(&sample, Backend::Sparse, "gyroscopic");
    assert!(pivots.used_lu);
    let sample = samples::random(60, 20, 0.02, 4);
    let pivots = agrees_with_nalgebra(&sample, Backend::Sparse, "slow");
    assert!(!pivots.used_lu);
}

#[test]
fn a_row_that_does_not_hold_has_no_multiplier_and_no_effect() {
    for backend in BOTH {
        let mut sample = samples::planar_chain(4);
        let mut c = case(&sample, backend);
        let mut rows = vec![true; sample.nc];
        (rows[3], rows[6]) = (false, false);
        c.m.set_active(&rows);
        let mut mass = vec![0.0; sample.nv];
        c.m.tangent_diagonal(&c.sparsity, &mut mass);
        c.m.regularise(&c.sparsity, &mass, 1e-10);
        c.factor.factor(&c.sparsity, &c.m).unwrap();
        assert_eq!(c.factor.constraint_pivots()[3], f64::INFINITY);
        let mut y = right_side(sample.nv + sample.nc, 5);
        let mut b = y.clone();
        let (x, l) = y.split_at_mut(sample.nv);
        c.factor.solve_refined(
            &c.sparsity,
            &c.m,
            RefinementOptions::regularised(1e-14, 3),
            x,
            l,
        );
        assert_eq!((l[3], l[6]), (0.0, 0.0));
        // The same without these rows: zero Jacobian and a unit diagonal.
        for (at, g) in sample.jacobian.iter().zip(&mut sample.g) {
            if at.0 == 3 || at.0 == 6 {
                *g = 0.0;
            }
        }
        let mut e = c.m.regularisation().to_vec();
        for k in [3, 6] {
            assert_eq!(e[k], 0.0);
            (e[k], b[sample.nv + k]) = (1.0, 0.0);
        }
        let exact = full(&sample, &e)
            .lu()
            .solve(&DVector::from_column_slice(&b))
            .unwrap();
        assert!(largest_difference(&y, exact.as_slice()) < 1e-11);
    }
}

/// Row `k` once more at the end.
fn with_copy_of_row(sample: &Sample, k: u32) -> Sample {
    let mut sample = sample.clone();
    for at in 0..sample.jacobian.len() {
        if sample.jacobian[at].0 == k {
            let (place, g) = ((sample.nc as u32, sample.jacobian[at].1), sample.g[at]);
            sample.jacobian.push(place);
            sample.g.push(g);
        }
    }
    sample.nc += 1;
    sample
}

#[test]
fn the_copies_of_a_repeated_row_share_its_multiplier() {
    for backend in BOTH {
        let single = samples::planar_chain(6);
        let sample = with_copy_of_row(&single, 4);
        let mut c = case(&sample, backend);
        let pivots = c.factor.factor(&c.sparsity, &c.m).unwrap();
        assert!(pivots.smallest_constraint < 1e-9, "{pivots:?}");
        assert!(!pivots.used_lu);
        let (nv, nc) = (sample.nv, sample.nc);
        let mut y = right_side(nv + nc, 6);
        y[nv + nc - 1] = y[nv + 4]; // consistent
        let b = y.clone();
        let (x, l) = y.split_at_mut(nv);
        let refined =
            c.factor
                .solve_refined(&c.sparsity, &c.m, RefinementOptions::exact(1e-12, 3), x, l);
        assert!(refined.residual < 1e-12, "{refined:?}");
        let mut s = case(&single, backend);
        s.factor.factor(&s.sparsity, &s.m).unwrap();
        let mut z = b[..nv + nc - 1].to_vec();
        let (xs, ls) = z.split_at_mut(nv);
        s.factor.solve_refined(
            &s.sparsity,
            &s.m,
            RefinementOptions::exact(1e-13, 3),
            xs,
            ls,
        );
        assert!(largest_difference(x, xs) < 1e-9);
        // Least norm: halves. Rounding over the regularisation, 1e-16 / 1e-10, moves it.
        let size = ls.iter().fold(0.0, |m: f64, l| m.max(l.abs()));
        assert!((l[4] - 0.5 * ls[4]).abs() < 1e-4 * size);
        assert!((l[nc - 1] - 0.5 * ls[4]).abs() < 1e-4 * size);
    }
}

#[test]
fn without_regularisation_a_repeated_row_is_corrected_and_counted() {
    for backend in BOTH {
        let sample = with_copy_of_row(&samples::planar_chain(6), 4);
        let mut c = case(&sample, backend);
        c.m.regularise(&c.sparsity, &vec![1.0; sample.nv], 0.0);
        let pivots = c.factor.factor(&c.sparsity, &c.m).unwrap();
        assert_eq!(pivots.corrected, 1, "{backend:?}");
        let mut y = right_side(sample.nv + sample.nc, 6);
        y[sample.nv + sample.nc - 1] = y[sample.nv + 4];
        let (x, l) = y.split_at_mut(sample.nv);
        let refined =
            c.factor
                .solve_refined(&c.sparsity, &c.m, RefinementOptions::exact(1e-12, 4), x, l);
        assert!(refined.residual < 1e-12, "{refined:?}");
    }
}

/// Takes mass and stiffness of some coordinates away.
fn without_mass(sample: &Sample, coordinates: &[u32]) -> Sample {
    let mut sample = sample.clone();
    for (at, s) in sample.tangent.iter().zip(&mut sample.s) {
        if coordinates.contains(&at.0) || coordinates.contains(&at.1) {
            *s = 0.0;
        }
    }
    sample
}

#[test]
fn a_massless_coordinate_held_by_a_constraint_is_solved() {
    for backend in BOTH {
        // Alone on its constraint, and inside a chain where both its neighbours have mass.
        let alone = Sample {
            nv: 2,
            nc: 1,
            tangent: vec![(0, 0), (1, 1)],
            s: vec![0.0, 2.0],
            jacobian: vec![(0, 0)],
            g: vec![3.0],
        };
        agrees_with_nalgebra(&alone, backend, "massless alone");
        let chain = without_mass(&samples::planar_chain(5), &[6, 7]);
        let pivots = agrees_with_nalgebra(&chain, backend, "massless in a chain");
        assert!(pivots.used_lu);
        // The same without any place in the pattern: the order knows, and LDLᵀ does.
        let mut bare = chain.clone();
        let keep: Vec<bool> = chain
            .tangent
            .iter()
            .map(|at| ![6, 7].contains(&at.0) && ![6, 7].contains(&at.1))
            .collect();
        let mut flags = keep.iter();
        bare.tangent.retain(|_| *flags.next().unwrap());
        let mut flags = keep.iter();
        bare.s.retain(|_| *flags.next().unwrap());
        let pivots = agrees_with_nalgebra(&bare, backend, "massless without a place");
        assert_eq!(pivots.used_lu, backend == Backend::Dense);
    }
}

#[test]
fn constraints_on_a_light_coordinate_hide_no_others() {
    // x0 + x1 = 1, x0 + 2 x2 = 1 with masses m, 1, 3 and the force 1 on x1: for m → 0 the constraints are parallel in W.
    for light in [1e-34, 1e-25, 1e-19, 1e-17, 1e-14, 1e-11, 1e-8] {
        for backend in BOTH {
            let sample = Sample {
                nv: 3,
                nc: 2,
                tangent: vec![(0, 0), (1, 1), (2, 2)],
                s: vec![light, 1.0, 3.0],
                jacobian: vec![(0, 0), (0, 1), (1, 0), (1, 2)],
                g: vec![1.0, 1.0, 1.0, 2.0],
            };
            let mut c = case(&sample, backend);
            // E that sees the light coordinate with a small mass.
            let seen = [1e-3, 1.0, 3.0];
            c.m.regularise(&c.sparsity, &seen, 1e-10);
            c.factor.factor(&c.sparsity, &c.m).unwrap();
            let mut y = [0.0, 1.0, 0.0, 1.0, 1.0];
            let (x, l) = y.split_at_mut(3);
            let options = RefinementOptions::exact(1e-13, 12);
            c.factor.solve_refined(&c.sparsity, &c.m, options, x, l);
            // Least ½ m (1 − x1)² + ½ x1² + ½ 3 (x1 / 2)² − x1, as x0 = 1 − x1 and x2 = x1 / 2.
            let x1 = (1.0 + light) / (1.0 + 0.75 + light);
            let exact = [1.0 - x1, x1, 0.5 * x1];
            let error = largest_difference(x, &exact);
            assert!(error < 1e-10, "{backend:?} {light:e}: {x:?} {exact:?}");
        }
    }
}

#[test]
fn a_free_coordinate_without_mass_is_named() {
    for backend in BOTH {
        for bodies in [2, 5, 30] {
            // The angle of the last link is held by its pin; a coordinate of its own is not.
            let mut sample = samples::planar_chain(bodies);
            sample.tangent.push((sample.nv as u32, sample.nv as u32));
            sample.s.push(0.0);
            sample.nv += 1;
            let mut c = case(&sample, backend);
            let found = c.factor.factor(&c.sparsity, &c.m);
            let unknown = sample.nv - 1;
            assert_eq!(found, Err(SingularPivot { unknown }), "{backend:?}");
        }
    }
}

#[test]
fn an_active_row_without_entries_is_named_unless_regularised() {
    for backend in BOTH {
        let mut sample = samples::planar_chain(5);
        for (at, g) in sample.jacobian.iter().zip(&mut sample.g) {
            if at.0 == 3 {
                *g = 0.0;
            }
        }
        let mut c = case(&sample, backend);
        assert!(c.factor.factor(&c.sparsity, &c.m).is_ok());
        c.m.regularise(&c.sparsity, &vec![1.0; sample.nv], 0.0);
        let unknown = sample.nv + 3;
        assert_eq!(
            c.factor.factor(&c.sparsity, &c.m),
            Err(SingularPivot { unknown }),
            "{backend:?}"
        );
    }
}

#[test]
fn what_is_not_a_number_is_an_error_that_names_its_row() {
    for backend in BOTH {
        for bad in [f64::NAN, f64::INFINITY] {
            let sample = samples::planar_chain(8);
            for at in [0, 10, sample.s.len() - 1] {
                let mut spoilt = sample.clone();
                spoilt.s[at] = bad;
                let mut c = case(&spoilt, backend);
                let unknown = sample.tangent[at].0 as usize;
                assert_eq!(
                    c.factor.factor(&c.sparsity, &c.m),
                    Err(SingularPivot { unknown })
                );
            }
            for at in [0, 10, sample.g.len() - 1] {
                let mut spoilt = sample.clone();
                spoilt.g[at] = bad;
                let mut c = case(&spoilt, backend);
                let unknown = sample.nv + sample.jacobian[at].0 as usize;
                assert_eq!(
                    c.factor.factor(&c.sparsity, &c.m),
                    Err(SingularPivot { unknown })
                );
            }
            // A good matrix afterwards is not spoilt by the bad one, and a bad right-hand side is reported.
            let mut c = case(&sample, backend);
            let mut spoilt = c.m.clone();
            spoilt.load_tangent(&c.sparsity, &vec![bad; sample.s.len()]);
            assert!(c.factor.factor(&c.sparsity, &spoilt).is_err());
            c.factor.factor(&c.sparsity, &c.m).unwrap();
            let mut y = right_side(sample.nv + sample.nc, 1);
            let (x, l) = y.split_at_mut(sample.nv);
            let refined = c.factor.solve_refined(
                &c.sparsity,
                &c.m,
                RefinementOptions::regularised(1e-13, 2),
                x,
                l,
            );
            assert!(refined.residual < 1e-13);
            x[2] = bad;
            let refined = c.factor.solve_refined(
                &c.sparsity,
                &c.m,
                RefinementOptions::regularised(1e-13, 2),
                x,
                l,
            );
            assert!(!refined.residual.is_finite());
        }
    }
}

#[test]
fn an_older_factor_solves_a_newer_matrix() {
    for backend in BOTH {
        let sample = samples::four_bars(8);
        let mut c = case(&sample, backend);
        c.factor.factor(&c.sparsity, &c.m).unwrap();
        let mut random = Random::new(8);
        let moved: Vec<f64> = sample
            .g
            .iter()
            .map(|g| g * (1.0 + 1e-3 * random.signed()))
            .collect();
        c.m.load_jacobian(&c.sparsity, &moved);
        let newer = Sample {
            g: moved,
            ..sample.clone()
        };
        let b = right_side(sample.nv + sample.nc, 9);
        let mut y = b.clone();
        let (x, l) = y.split_at_mut(sample.nv);
        let refined = c.factor.solve_refined(
            &c.sparsity,
            &c.m,
            RefinementOptions::regularised(1e-13, 20),
            x,
            l,
        );
        assert!(refined.residual < 1e-13, "{refined:?}");
        assert!(refined.solves > 2 && refined.solves < 20);
        let exact = full(&newer, c.m.regularisation())
            .lu()
            .solve(&DVector::from_column_slice(&b))
            .unwrap();
        assert!(largest_difference(&y, exact.as_slice()) < 1e-9);
    }
}

#[test]
fn constraint_pivots_multiply_to_the_determinant_of_w() {
    // Whatever the order of the rows: Π pivots = det W. The relative ones lack Π W_kk.
    for backend in BOTH {
        let sample = samples::four_bars(3);
        let mut c = case(&sample, backend);
        c.factor.factor(&c.sparsity, &c.m).unwrap();
        let a = full(&sample, c.m.regularisation());
        let (nv, nc) = (sample.nv, sample.nc);
        let s = a.view((0, 0), (nv, nv)).into_owned();
        let g = a.view((nv, 0), (nc, nv)).into_owned();
        let w =
            &g * s.try_inverse().unwrap() * g.transpose() - a.view((nv, nv), (nc, nc)).into_owned();
        let diagonal: f64 = (0..nc).map(|k| w[(k, k)]).product();
        let exact = w.determinant() / diagonal;
        let product: f64 = c.factor.constraint_pivots().iter().product();
        assert!(
            (product - exact).abs() < 1e-8 * exact,
            "{backend:?}: {product:e} is not {exact:e}"
        );
    }
}

#[test]
fn an_indefinite_tangent_is_solved_with_pivoting() {
    // A long step over a falling force: S has negative and zero entries on the diagonal, K still has an inverse.
    for backend in BOTH {
        for bodies in [2, 12] {
            let mut sample = samples::planar_chain(bodies);
            for (at, s) in sample.tangent.iter().zip(&mut sample.s) {
                if at.0 == at.1 {
                    *s *= [1.0, -0.7, 1.3, 0.0][at.0 as usize % 4];
                }
            }
            let pivots = agrees_with_nalgebra(&sample, backend, "indefinite");
            assert!(pivots.used_lu);
        }
    }
}

#[test]
fn a_structure_is_shared_between_threads() {
    let sample = samples::four_bars(5);
    let c = case(&sample, Backend::Sparse);
    let run = || {
        let mut factor = Factorization::new(&c.sparsity);
        factor.factor(&c.sparsity, &c.m).unwrap();
        let mut y = right_side(sample.nv + sample.nc, 15);
        let (x, l) = y.split_at_mut(sample.nv);
        factor.solve(&c.sparsity, x, l);
        y
    };
    let (a, b) = std::thread::scope(|s| {
        let (a, b) = (s.spawn(run), s.spawn(run));
        (a.join().unwrap(), b.join().unwrap())
    });
    assert_eq!(a, b);
}

#[test]
fn units_do_not_matter() {
    // Coordinates and rows measured in other units: S -> D S D, G -> F G D, solution D⁻¹ x and F⁻¹ λ.
    for backend in BOTH {
        let sample = samples::four_bars(6);
        let (nv, nc) = (sample.nv, sample.nc);
        let unit = |i: usize| [1e-5, 1.0, 1e4, 1e-2][i % 4];
        let mut other = sample.clone();
        for (at, s) in sample.tangent.iter().zip(&mut other.s) {
            *s *= unit(at.0 as usize) * unit(at.1 as usize);
        }
        for (at, g) in sample.jacobian.iter().zip(&mut other.g) {
            *g *= unit(at.0 as usize + 1) * unit(at.1 as usize);
        }
        let b = right_side(nv + nc, 12);
        let solve = |sample: &Sample, mut y: Vec<f64>| {
            let mut c = case(sample, backend);
            // Without E: its floor is the one thing that compares rows of different units.
            c.m.regularise(&c.sparsity, &vec![1.0; nv], 0.0);
            let pivots = c.factor.factor(&c.sparsity, &c.m).unwrap();
            let (x, l) = y.split_at_mut(nv);
            let refined = c.factor.solve_refined(
                &c.sparsity,
                &c.m,
                RefinementOptions::regularised(1e-13, 4),
                x,
                l,
            );
            assert!(refined.residual < 1e-13, "{refined:?}");
            (y, pivots)
        };
        let (exact, pivots) = solve(&sample, b.clone());
        let scaled = (0..nv + nc).map(|i| b[i] * if i < nv { unit(i) } else { unit(i - nv + 1) });
        let (mut y, scaled_pivots) = solve(&other, scaled.collect());
        for i in 0..nv + nc {
            y[i] *= if i < nv { unit(i) } else { unit(i - nv + 1) };
        }
        let error = largest_difference(&y, &exact);
        assert!(error < 1e-10, "{backend:?}: {error:e}");
        let (a, b) = (
            pivots.smallest_constraint,
            scaled_pivots.smallest_constraint,
        );
        assert!((a - b).abs() < 1e-10 * a, "{backend:?}: {a} and {b}");
    }
}

#[test]
fn stiff_springs_do_not_spoil_the_solution() {
    for backend in BOTH {
        for stiffness in [1e4, 1e8] {
            let mut sample = samples::planar_chain(20);
            for b in 1..20u32 {
                let (i, j) = (3 * b - 1, 3 * b + 2);
                sample.tangent.extend([(i, i), (j, j), (i, j), (j, i)]);
                sample
                    .s
                    .extend([stiffness, stiffness, -stiffness, -stiffness]);
            }
            let mut c = case(&sample, backend);
            c.factor.factor(&c.sparsity, &c.m).unwrap();
            let mut y = right_side(sample.nv + sample.nc, 13);
            let (x, l) = y.split_at_mut(sample.nv);
            let refined = c.factor.solve_refined(
                &c.sparsity,
                &c.m,
                RefinementOptions::regularised(1e-10, 3),
                x,
                l,
            );
            assert!(
                refined.residual < 1e-10,
                "{backend:?} {stiffness:e}: {refined:?}"
            );
        }
    }
}

#[test]
fn holding_constraints_back_keeps_the_digits_plain_minimum_degree_loses() {
    for sample in [samples::four_bars(40), samples::planar_chain(200)] {
        let raw = |plain: bool| {
            let mut c = case(&sample, Backend::Sparse);
            if plain {
                let graph = c.sparsity.graph();
                let order = graph.minimum_degree();
                c.sparsity.sparse = Some(SparseLayout::new(&c.sparsity, &graph, order, &[]));
                c.factor = Factorization::new(&c.sparsity);
            }
            c.factor.factor(&c.sparsity, &c.m).unwrap();
            let mut y = right_side(sample.nv + sample.nc, 14);
            let (x, l) = y.split_at_mut(sample.nv);
            c.factor
                .solve_refined(
                    &c.sparsity,
                    &c.m,
                    RefinementOptions::regularised(1.0, 0),
                    x,
                    l,
                )
                .residual
        };
        let (ours, plain) = (raw(false), raw(true));
        assert!(ours < 1e-11, "{ours:e}");
        assert!(plain > 100.0 * ours, "{plain:e} is as good as {ours:e}");
    }
}

#[test]
fn the_same_calls_give_the_same_bits() {
    for backend in BOTH {
        for skew in [0.0, 1.5] {
            let sample = samples::random(40, 15, skew, 6);
            let run = |warm: bool| {
                let mut c = case(&sample, backend);
                if warm {
                    let mut other = c.m.clone();
                    other.load_tangent(&c.sparsity, &vec![0.7; sample.s.len()]);
                    let _ = c.factor.factor(&c.sparsity, &other);
                }
                c.factor.factor(&c.sparsity, &c.m).unwrap();
                let mut y = right_side(55, 2);
                let (x, l) = y.split_at_mut(40);
                c.factor.solve_refined(
                    &c.sparsity,
                    &c.m,
                    RefinementOptions::regularised(1e-14, 3),
                    x,
                    l,
                );
                y.iter().map(|y| y.to_bits()).collect::<Vec<_>>()
            };
            assert_eq!(run(false), run(false));
            assert_eq!(run(false), run(true), "an earlier matrix left a trace");
        }
    }
}

#[test]
fn nothing_at_all_is_solved_too() {
    for backend in BOTH {
        let mut c = case(&Sample::default(), backend);
        let pivots = c.factor.factor(&c.sparsity, &c.m).unwrap();
        assert_eq!(pivots.smallest_constraint, f64::INFINITY);
        let refined = c.factor.solve_refined(
            &c.sparsity,
            &c.m,
            RefinementOptions::regularised(1e-14, 3),
            &mut [],
            &mut [],
        );
        assert_eq!((refined.solves, refined.residual), (0, 0.0));
    }
}
