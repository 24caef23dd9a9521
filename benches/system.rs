//! Time per step of a system given by its matrices over its size: `cargo bench --bench system`.
//!
//! A mast of bars in space (nine coordinates for each bay) is written as Matrix Market files, read, and driven by a load.
//! Columns: coordinates, entries of M, C and K together; seconds of reading and set-up; milliseconds of a step with a
//! factorisation (variable step), of a step without (equal steps), and of the latter microseconds for each coordinate.

#[path = "../tests/common/truss.rs"]
#[allow(dead_code)]
mod truss;

use std::time::Instant;

use biela::component::Instance;
use truss::Truss;

/// Milliseconds of a step, and how many factorisations there were for each.
fn per_step(instance: &mut Instance, until: f64) -> (f64, f64) {
    let (from, before) = (instance.time(), instance.statistics());
    let begin = Instant::now();
    instance
        .step(from, until - from)
        .expect("the mast only sways");
    let seconds = begin.elapsed().as_secs_f64();
    let after = instance.statistics();
    let steps = (after.steps - before.steps) as f64;
    (
        1e3 * seconds / steps,
        (after.factorizations - before.factorizations) as f64 / steps,
    )
}

fn main() {
    // `cargo bench` says so; `cargo test --benches` only wants to see it run.
    let quick = !std::env::args().any(|a| a == "--bench");
    let sizes: &[usize] = if quick {
        &[12, 112]
    } else {
        &[112, 1112, 3334, 11_112]
    };
    let folder = std::env::temp_dir().join(format!("biela-bench-{}", std::process::id()));
    println!(
        "{:>12}{:>10} |{:>9}{:>9} |{:>12}{:>8} |{:>12}{:>8}{:>10}",
        "coordinates",
        "entries",
        "read s",
        "start s",
        "variable ms",
        "factors",
        "equal ms",
        "factors",
        "us each"
    );
    for &bays in sizes {
        let truss = Truss::new(bays);
        let n = truss.mass.rows();
        let entries = truss.mass.entries() + truss.damping.entries() + truss.stiffness.entries();
        let run = |settings: &str, until: f64| {
            let path = truss.write(&folder, settings);
            let begin = Instant::now();
            let mut instance = Instance::from_file(&path).expect("the mast is well written");
            let read = begin.elapsed().as_secs_f64();
            let begin = Instant::now();
            instance
                .initialize(0.0, f64::INFINITY, 0.0)
                .expect("the mast can start");
            let start = begin.elapsed().as_secs_f64();
            let (ms, factors) = per_step(&mut instance, until);
            (read, start, ms, factors)
        };
        let (read, start, variable, made) = run("tolerance = 1e-6\ncorrector = \"off\"", 2e-3);
        let (_, _, equal, shared) = run("step = 1e-3\ncorrector = \"off\"", 30e-3);
        println!(
            "{n:>12}{entries:>10} |{read:>9.2}{start:>9.2} |{variable:>12.2}{made:>8.2} |{equal:>12.2}{shared:>8.2}{:>10.3}",
            1e3 * equal / n as f64
        );
    }
    let _ = std::fs::remove_dir_all(&folder);
}
