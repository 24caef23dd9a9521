//! Factor and solve times and fill of the saddle-point layer: `cargo bench --bench linalg`.
//!
//! Times are the smallest over repeats, in microseconds. `docs/linear-algebra.md` explains the tables and keeps a run.

#[allow(dead_code)]
#[path = "../src/constraint/tests/samples.rs"]
mod samples;

use biela::constraint::factorization::Factorization;
use biela::constraint::matrix::SaddleMatrix;
use biela::constraint::sparsity::{Backend, SaddleSparsity};
use biela::formulation::Sparsity;
use biela::linalg::random::Random;
use biela::linalg::{ordering, symbolic_ldl};
use samples::Sample;
use std::hint::black_box;
use std::time::Instant;

fn load(sample: &Sample, backend: Backend) -> (SaddleSparsity, SaddleMatrix) {
    let pattern = Sparsity {
        tangent: sample.tangent.clone(),
        jacobian: sample.jacobian.clone(),
    };
    let st = SaddleSparsity::new(sample.nv, sample.nc, &pattern, backend);
    let mut m = SaddleMatrix::new(&st);
    m.load_tangent(&st, &sample.s);
    m.load_jacobian(&st, &sample.g);
    let mut mass = vec![0.0; sample.nv];
    m.tangent_diagonal(&st, &mut mass);
    m.regularise(&st, &mass, 1e-10);
    (st, m)
}

/// Smallest time of one call in microseconds.
fn smallest(budget: f64, mut call: impl FnMut()) -> f64 {
    let begin = Instant::now();
    call();
    let first = begin.elapsed().as_secs_f64().max(1e-8);
    let inner = ((2e-5 / first) as usize).clamp(1, 1000);
    let mut best = first;
    let begin = Instant::now();
    while begin.elapsed().as_secs_f64() < budget {
        let start = Instant::now();
        for _ in 0..inner {
            call();
        }
        best = best.min(start.elapsed().as_secs_f64() / inner as f64);
    }
    best * 1e6
}

fn times(sample: &Sample, backend: Backend, budget: f64) -> (f64, f64, f64, SaddleSparsity) {
    let (st, m) = load(sample, backend);
    let mut factor = Factorization::new(&st);
    let f = smallest(budget, || {
        black_box(factor.factor(&st, black_box(&m)).is_ok());
    });
    let mut x = vec![1.0; sample.nv];
    let mut l = vec![0.0; sample.nc];
    let s = smallest(budget, || {
        x.fill(1.0);
        l.fill(0.0);
        factor.solve(&st, black_box(&mut x), black_box(&mut l));
    });
    let p = smallest(budget, || {
        black_box(factor.factor_pivoted(&st, black_box(&m)).is_ok());
    });
    (f, s, p, st)
}

fn main() {
    // `cargo bench` says so; `cargo test --benches` only wants to see it run.
    let quick = !std::env::args().any(|a| a == "--bench");
    let budget = if quick { 0.002 } else { 0.1 };

    println!(
        "Dense against sparse (us): factor, solve, factor with pivoting over all rows; entries of the factor"
    );
    println!(
        "{:<20}{:>8} |{:>9}{:>9}{:>9} |{:>9}{:>9}{:>9}{:>9}",
        "case", "unknowns", "dense f", "s", "p", "sparse f", "s", "p", "fill"
    );
    let small: Vec<(String, Sample)> = (1..=6)
        .map(|n| (format!("planar chain {n}"), samples::planar_chain(n)))
        .chain((1..=3).map(|n| (format!("spatial chain {n}"), samples::spatial_chain(n))))
        .chain((1..=3).map(|n| (format!("four-bars {n}"), samples::four_bars(n))))
        .chain(
            [(3, 1), (7, 2), (7, 6), (12, 8), (30, 10)]
                .map(|(v, c)| (format!("full {v} + {c}"), samples::full(v, c))),
        )
        .collect();
    for (name, sample) in &small {
        let (df, ds, dp, _) = times(sample, Backend::Dense, budget);
        let (sf, ss, sp, st) = times(sample, Backend::Sparse, budget);
        println!(
            "{name:<20}{:>8} |{df:>9.2}{ds:>9.2}{dp:>9.2} |{sf:>9.2}{ss:>9.2}{sp:>9.2}{:>9}",
            sample.nv + sample.nc,
            st.fill()
        );
    }

    println!();
    println!("Sparse over size (us)");
    println!(
        "{:<20}{:>8} |{:>10}{:>10}{:>11}{:>9} |{:>11}",
        "case", "unknowns", "factor", "solve", "pivoted", "fill", "ns/unknown"
    );
    let mut large: Vec<(String, Sample)> = Vec::new();
    let sizes: &[usize] = if quick {
        &[2, 20]
    } else {
        &[2, 20, 200, 2000, 20000]
    };
    for &n in sizes {
        large.push((format!("planar chain {n}"), samples::planar_chain(n)));
    }
    for &n in &sizes[..sizes.len() - 1] {
        large.push((
            format!("spatial chain {}", n / 2),
            samples::spatial_chain(n / 2),
        ));
        large.push((format!("four-bars {}", n / 2), samples::four_bars(n / 2)));
        large.push((format!("star {n}"), samples::star(n)));
        large.push((format!("sprung chain {n}"), samples::sprung_chain(n)));
    }
    if !quick {
        large.push(("spring net 30 x 30".into(), samples::spring_net(30)));
    }
    for (name, sample) in &large {
        let n = sample.nv + sample.nc;
        let (f, s, p, st) = times(sample, Backend::Sparse, budget);
        println!(
            "{name:<20}{n:>8} |{f:>10.2}{s:>10.2}{p:>11.2}{:>9} |{:>11.1}",
            st.fill(),
            1e3 * (f + s) / n as f64
        );
    }

    println!();
    println!("Orders: entries of L and multiplications (thousands), set-up (ms)");
    println!(
        "{:<20}{:>8} |{:>11}{:>11} |{:>11}{:>11} |{:>9}",
        "case", "unknowns", "plain fill", "mult", "ours fill", "mult", "set-up"
    );
    for (name, sample) in &large {
        let n = sample.nv + sample.nc;
        let couplings = sample.tangent.iter().copied().chain(
            sample
                .jacobian
                .iter()
                .map(|&(k, j)| (sample.nv as u32 + k, j)),
        );
        let graph = ordering::AdjacencyGraph::new(n, couplings);
        let plain = graph.minimum_degree();
        let begin = Instant::now();
        let ours = ordering::saddle_point_order(&graph, sample.nv, &vec![false; sample.nv], &[]);
        let setup = begin.elapsed().as_secs_f64() * 1e3;
        println!(
            "{name:<20}{n:>8} |{:>11}{:>11.1} |{:>11}{:>11.1} |{setup:>9.2}",
            symbolic_ldl::factor_fill(&graph, &plain),
            symbolic_ldl::factorization_cost(&graph, &plain) / 1e3,
            symbolic_ldl::factor_fill(&graph, &ours),
            symbolic_ldl::factorization_cost(&graph, &ours) / 1e3,
        );
    }
}
