//! The examples of the manual of the model file run as they stand.

use std::path::Path;

use biela::component::Instance;
use biela::model::Model;

/// Fenced blocks of a language.
fn examples(manual: &str, language: &str) -> Vec<String> {
    manual
        .split(&format!("```{language}\n"))
        .skip(1)
        .map(|part| part.split("```").next().unwrap().to_owned())
        .collect()
}

#[test]
fn every_example_of_the_manual_runs() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/model-file.md");
    let manual = std::fs::read_to_string(path).unwrap();
    let all = [examples(&manual, "toml"), examples(&manual, "json")].concat();
    let mut spatial = 0;
    for text in &all {
        let model =
            Model::from_text(text, "docs/model-file.md").unwrap_or_else(|e| panic!("{e}\n{text}"));
        let start = model.experiment.start;
        spatial += usize::from(model.dimension == 3 && model.system.is_none());
        let mut instance = Instance::from_model(model).unwrap_or_else(|e| panic!("{e}\n{text}"));
        instance
            .initialize(start, f64::INFINITY, 0.0)
            .and_then(|()| instance.step(start, 0.2))
            .unwrap_or_else(|e| panic!("{e}\n{text}"));
        let references: Vec<u32> = (0..instance.variables().len() as u32).collect();
        let mut values = vec![0.0; references.len()];
        instance.get_real(&references, &mut values).unwrap();
        for (value, variable) in values.iter().zip(instance.variables()) {
            assert!(value.is_finite(), "{} = {value}\n{text}", variable.name);
        }
    }
    assert!(all.len() >= 7, "{} examples", all.len());
    assert!(spatial >= 1, "one of them in space");
}

#[test]
fn the_gears_of_the_manual_turn_as_their_teeth_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/model-file.md");
    let manual = std::fs::read_to_string(path).unwrap();
    let gears = examples(&manual, "toml")
        .into_iter()
        .find(|text| text.contains("name = \"gears\""))
        .unwrap();
    let mut instance = Instance::from_text(&gears, None).unwrap();
    instance.initialize(0.0, 1.0, 0.0).unwrap();
    instance.step(0.0, 1.0).unwrap();
    let reference = instance.find("travel").unwrap();
    let mut travel = [0.0];
    instance.get_real(&[reference], &mut travel).unwrap();
    // 10 rad of the pinion, -5 of the wheel, 0.2 m of the bar; closure is held to 1e-10 of the mechanism's size.
    assert!((travel[0] - 0.2).abs() < 1e-10, "{}", travel[0]);
}
