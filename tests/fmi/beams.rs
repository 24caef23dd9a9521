//! Units of models with beams: the rows of `biela run`, and roll-back to the last bit.

use std::path::Path;
use std::process::Command;

use crate::fmi_host::world::World;
use crate::fmi_host::{BOTH, Unpacked, model};
use crate::host::{Scratch, expect_success};
use biela::Instance;
use biela::component::Causality;
use biela::fmi::types::FmiStatus;

/// A power of two: the times of all masters are the same.
const H: f64 = 1.0 / 128.0;
/// Communication steps.
const STEPS: u32 = 16;

/// The last row that `biela run` writes, stopping at the same communication points.
fn last_row(path: &Path, scratch: &Scratch) -> Vec<f64> {
    let table = scratch.path().join("rows.csv");
    let (step, stop) = (format!("{H:?}"), format!("{:?}", f64::from(STEPS) * H));
    let output = Command::new(env!("CARGO_BIN_EXE_biela"))
        .arg("run")
        .arg(path)
        .args([
            "--communication",
            &step,
            "--interval",
            &step,
            "--stop",
            &stop,
            "--out",
        ])
        .arg(&table)
        .output()
        .expect("biela starts");
    expect_success("biela run", &output);
    let text = std::fs::read_to_string(table).unwrap();
    let row = text.lines().last().unwrap().split(',').skip(1);
    row.map(|x| x.parse().unwrap()).collect()
}

fn advance(world: &mut World, steps: std::ops::Range<u32>, outputs: &[u32]) -> Vec<u64> {
    for k in steps {
        let (status, _) = world.step(f64::from(k) * H, H);
        assert_eq!(status, FmiStatus::Ok, "{:?}", world.log);
    }
    outputs.iter().map(|o| world.value(*o).to_bits()).collect()
}

#[test]
fn units_with_beams_give_the_rows_of_a_run_and_are_rolled_back_to_the_last_bit() {
    for name in [
        "flexible_slider_crank",
        "flying_spaghetti",
        "misaligned_four_bar",
        "spin_up",
    ] {
        let path = model(&format!("beams/{name}"));
        let instance = Instance::from_file(&path).unwrap();
        let outputs: Vec<u32> = (0..)
            .zip(instance.variables())
            .filter(|(_, v)| v.causality == Causality::Output)
            .map(|(reference, _)| reference)
            .collect();
        for standard in BOTH {
            let scratch = Scratch::new(&format!("fmi-beams-{}", standard.version()));
            let expected: Vec<u64> = (last_row(&path, &scratch).iter())
                .map(|x| x.to_bits())
                .collect();
            let unit = Unpacked::new(&path, standard, &scratch);
            let mut world = World::bare(&unit, standard, false);
            world.start_up_until(Some(f64::from(STEPS) * H));
            advance(&mut world, 0..STEPS / 2, &outputs);
            let half = world.save();
            let first = advance(&mut world, STEPS / 2..STEPS, &outputs);
            assert_eq!(first, expected, "{name}: unit and run");
            // Back to the middle, on the way there and through bytes in another unit.
            assert_eq!(world.restore(half), FmiStatus::Ok, "{:?}", world.log);
            let again = advance(&mut world, STEPS / 2..STEPS, &outputs);
            assert_eq!(again, expected, "{name}: restored");
            let bytes = world.serialize(half);
            world.free_state(half);
            let mut other = World::bare(&unit, standard, false);
            other.start_up_until(Some(f64::from(STEPS) * H));
            let mut state = std::ptr::null_mut();
            let read = other.deserialize(&bytes, &mut state);
            assert_eq!(read, FmiStatus::Ok, "{:?}", other.log);
            assert_eq!(other.restore(state), FmiStatus::Ok, "{:?}", other.log);
            other.free_state(state);
            let elsewhere = advance(&mut other, STEPS / 2..STEPS, &outputs);
            assert_eq!(elsewhere, expected, "{name}: another unit");
        }
    }
}
