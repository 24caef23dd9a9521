//! Shared by the tests: systems written by hand, and the slider-crank with its torque input and a host that does random
//! things.
#![allow(dead_code)] // Each test program uses its own part.

pub mod drive;
pub mod measure;
pub mod mutant;
pub mod systems;

use std::path::Path;

use biela::component::{Causality, Instance, SavedState};
use biela::model::Model;

/// The slider-crank of `models`.
pub fn slider_crank_model() -> Model {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/slider_crank.toml");
    Model::from_file(&path).unwrap_or_else(|e| panic!("{e}"))
}

/// Every model of `models` that is written in TOML, in the order of their names: what is added there is tested here.
pub fn all_models() -> Vec<Model> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let mut files: Vec<_> = std::fs::read_dir(directory)
        .expect("models")
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect();
    files.sort();
    let read = |path: &std::path::PathBuf| Model::from_file(path).unwrap_or_else(|e| panic!("{e}"));
    files.iter().map(read).collect()
}

/// Created from it.
pub fn slider_crank() -> Instance {
    Instance::from_model(slider_crank_model()).unwrap_or_else(|e| panic!("{e}"))
}

/// Value references of one causality.
pub fn references(instance: &Instance, causality: Causality) -> Vec<u32> {
    let variables = instance.variables().iter().enumerate();
    variables
        .filter(|(_, v)| v.causality == causality)
        .map(|(i, _)| i as u32)
        .collect()
}

/// The bits of all variables.
pub fn bits(instance: &mut Instance) -> Vec<u64> {
    let all: Vec<u32> = (0..instance.variables().len() as u32).collect();
    let mut values = vec![0.0; all.len()];
    instance
        .get_real(&all, &mut values)
        .unwrap_or_else(|e| panic!("t = {}: {e}", instance.time()));
    values.iter().map(|v| v.to_bits()).collect()
}

/// All of a state as text: equal texts are equal bits (`Debug` of a double is exact), and NaN is equal to itself.
pub fn text(state: &SavedState) -> String {
    format!("{state:?}")
}

/// The present state as text.
pub fn now(instance: &Instance) -> String {
    text(&instance.save().unwrap())
}

/// Random numbers that are the same everywhere (Steele, Lea, Flood: SplitMix64).
#[derive(Clone)]
pub struct Random(pub u64);

impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// In [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// In [low, high).
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// 0 .. n
    pub fn below(&mut self, n: u64) -> u64 {
        self.bits() % n
    }
}

/// One communication step of a host: perhaps sets an input, its slope or a parameter, perhaps reads, and steps.
pub fn act(instance: &mut Instance, random: &mut Random) {
    let inputs = references(instance, Causality::Input);
    let parameters = references(instance, Causality::Parameter);
    if random.below(2) == 0 {
        // On a smooth course: random values a few microseconds apart would be extrapolated to forces that tear it up.
        let t = instance.time();
        for &input in &inputs {
            let value = 2.0 * (5.0 * t + input as f64).sin();
            instance.set_real(&[input], &[value]).unwrap();
        }
    }
    if random.below(4) == 0 {
        for &input in &inputs {
            let order = 1 + random.below(2) as u32;
            let value = random.between(-3.0, 3.0);
            instance
                .set_input_derivatives(&[input], &[order], &[value])
                .unwrap();
        }
    }
    if random.below(8) == 0 {
        for &parameter in &parameters {
            let start = instance.variables()[parameter as usize].start.unwrap();
            let value = start * random.between(0.8, 1.25);
            instance.set_real(&[parameter], &[value]).unwrap();
        }
    }
    if random.below(4) == 0 {
        bits(instance);
    }
    if random.below(16) == 0 {
        instance.step(instance.time(), 0.0).unwrap();
    }
    // From far below the natural step to several of them; mechanisms that are over in no time go in shorter ones.
    let longest = 0.05f64.min(0.03 * instance.model().experiment.stop);
    let h = longest * 10f64.powf(-random.between(0.0, 3.7));
    let t = instance.time();
    instance
        .step(t, h)
        .unwrap_or_else(|e| panic!("{}: t = {t}, h = {h}: {e}", instance.model().name));
    assert_eq!(instance.time(), t + h);
}
