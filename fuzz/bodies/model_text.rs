//! Model texts: reader, construction, start and a short step. Whatever the bytes, the outcome is a model or an error.

use biela::component::Instance;
use biela::model::Model;

/// Substeps that a model gets: a fuzzer looks for faults, not for results.
const SUBSTEPS: u64 = 5;
/// Texts beyond this are left to other tests.
const LONGEST: usize = 1 << 14;

/// One execution.
pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(&data[..data.len().min(LONGEST)]) else {
        return;
    };
    let Ok(mut model) = Model::from_text(text, "fuzz") else {
        return;
    };
    model.solver.max_substeps = SUBSTEPS;
    let Ok(mut instance) = Instance::from_model(model) else {
        return;
    };
    let start = instance.model().experiment.start;
    if instance.initialize(start, f64::INFINITY, 0.0).is_ok() {
        let _ = instance.step(start, 1e-3);
    }
}
