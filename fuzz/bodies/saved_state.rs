//! Saved states whose bytes were changed and whose checksum is right: refused, or restored and stepped without a panic.
//!
//! The first byte chooses the model; then each three bytes are a position and a value.

use std::cell::RefCell;

use biela::component::Instance;

const MODELS: [&str; 3] = [
    include_str!("../../models/quarter_car.toml"),
    include_str!("../../models/bouncing_linkage.toml"),
    include_str!("../../models/slider_crank.toml"),
];

thread_local! {
    /// An instance of each model and a state of it as bytes.
    static PREPARED: RefCell<Vec<(Instance, Vec<u8>)>> = RefCell::new(MODELS.iter().map(|m| prepare(m)).collect());
}

fn prepare(text: &str) -> (Instance, Vec<u8>) {
    let mut model = biela::model::Model::from_text(text, "fuzz").expect("a good model");
    model.solver.max_substeps = 20;
    let mut instance = Instance::from_model(model).expect("a good model");
    instance
        .initialize(0.0, f64::INFINITY, 0.0)
        .expect("a start");
    let _ = instance.step(0.0, 0.02);
    let bytes = instance.save().expect("a state").to_bytes();
    (instance, bytes)
}

/// One execution.
pub fn run(data: &[u8]) {
    let Some((choice, changes)) = data.split_first() else {
        return;
    };
    PREPARED.with_borrow_mut(|prepared| {
        let (instance, good) = &mut prepared[usize::from(*choice) % MODELS.len()];
        let mut bytes = good.clone();
        let end = bytes.len() - 8;
        for change in changes.chunks_exact(3) {
            let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % end;
            bytes[at] = change[2];
        }
        let sum = bytes[..end]
            .iter()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
            });
        bytes[end..].copy_from_slice(&sum.to_le_bytes());
        let Ok(state) = instance.deserialize(&bytes) else {
            return;
        };
        if instance.restore(&state).is_ok() {
            let _ = instance.step(instance.time(), 1e-4);
        }
        instance.reset();
    });
}
