//! scratch
#[allow(dead_code)]
mod common;
#[path = "hybrid/mechanisms.rs"]
mod mechanisms;
use biela::component::Instance;
use biela::model::*;
use mechanisms::*;
#[test]
fn scratch() {
    for (name, mut model) in mechanisms() {
        model.solver.formulation = FormulationName::Topological;
        let mut instance = match Instance::from_model(model) {
            Ok(i) => i,
            Err(e) => {
                println!("{name}: {e}");
                continue;
            }
        };
        match instance.initialize(0.0, f64::INFINITY, 0.0) {
            Ok(_) => {}
            Err(e) => {
                println!("{name}: init {e}");
                continue;
            }
        };
        match instance.step(0.0, 0.8) {
            Ok(_) => println!(
                "{name}: ok {:?} drift {:e}",
                instance.statistics(),
                instance.energy_drift()
            ),
            Err(e) => println!("{name}: {e}"),
        };
    }
}
