//! Drives a model from Rust: every output at every communication point, a torque that follows a sine, and a step taken back.
//!
//!     cargo run --release --example drive -- models/slider_crank.toml

use std::path::Path;

use biela::{Causality, Instance};

fn main() -> biela::Result<()> {
    let model = std::env::args().nth(1);
    let model = model.unwrap_or_else(|| "models/slider_crank.toml".to_owned());
    let mut crank = Instance::from_file(Path::new(&model))?;

    // Names once, references from then on.
    let outputs: Vec<u32> = (0..)
        .zip(crank.variables())
        .filter(|(_, variable)| variable.causality == Causality::Output)
        .map(|(reference, _)| reference)
        .collect();
    let names: Vec<&str> = (outputs.iter())
        .map(|&reference| crank.variables()[reference as usize].name.as_str())
        .collect();
    println!("time {}", names.join(" "));
    let tau = crank.find("tau")?;

    crank.initialize(0.0, 2.0, 0.0)?;
    let mut values = vec![0.0; outputs.len()];
    for k in 0..40 {
        let t = crank.time();
        // The torque and its slope: between the points it goes on along the tangent.
        crank.set_real(&[tau], &[0.5 * (3.0 * t).sin()])?;
        crank.set_input_derivatives(&[tau], &[1], &[1.5 * (3.0 * t).cos()])?;
        let here = crank.save()?;
        crank.step(t, 0.05)?;
        if k % 10 == 9 {
            // Once more from the same state: the same bits.
            crank.get_real(&outputs, &mut values)?;
            let first = values.clone();
            crank.restore(&here)?;
            crank.step(t, 0.05)?;
            crank.get_real(&outputs, &mut values)?;
            assert_eq!(first, values);
        }
        crank.get_real(&outputs, &mut values)?;
        let row: Vec<String> = values.iter().map(|value| format!("{value:.6}")).collect();
        println!("{:.2} {}", crank.time(), row.join(" "));
    }
    eprintln!("{} steps", crank.statistics().steps);
    Ok(())
}
