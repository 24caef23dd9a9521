//! Bodies that the assembly moved.

use biela::linalg::elementary::{acos, hypot};
use biela::model::Output;
use biela::{Instance, Model};

use crate::check::{SHOWN, item, items};

/// Lists the bodies that the assembly moved, the farthest first, from an instance with the poses of all bodies as outputs.
pub fn moved_bodies(model: &Model, most: usize, text: &mut String) {
    let mut shown = model.clone();
    let fields: &[&str] = match model.dimension {
        2 => &["x", "y", "angle"],
        _ => &["x", "y", "z", "qw", "qx", "qy", "qz"],
    };
    shown.inputs.clear();
    shown.parameters.clear();
    shown.outputs.clear();
    for (i, body) in model.bodies.iter().enumerate() {
        for field in fields {
            shown.outputs.push(Output {
                name: format!("moved_{i}_{field}"),
                source: format!("{}.{field}", body.name),
                unit: None,
                text_position: body.text_position,
            });
        }
    }
    let experiment = model.experiment;
    let read = || -> biela::Result<Vec<f64>> {
        let mut instance = Instance::from_model(shown)?;
        instance.initialize(experiment.start, experiment.stop, 0.0)?;
        let names = instance.model().outputs.iter();
        let references = names
            .map(|output| instance.find(&output.name))
            .collect::<biela::Result<Vec<u32>>>()?;
        let mut values = vec![0.0; references.len()];
        instance.get_real(&references, &mut values)?;
        Ok(values)
    };
    let Ok(values) = read() else {
        return; // It has been assembled before; if it fails now, this part is left out.
    };
    let mut all: Vec<(f64, f64, &str)> = (model.bodies.iter())
        .zip(values.chunks(fields.len()))
        .map(|(body, now)| {
            let d = |k: usize| now[k] - body.position[k];
            match model.dimension {
                2 => (
                    hypot(d(0), d(1)),
                    (now[2] - body.angle).abs(),
                    &body.name[..],
                ),
                _ => {
                    let distance = hypot(hypot(d(0), d(1)), d(2));
                    let cosine: f64 = (0..4).map(|k| now[3 + k] * body.orientation[k]).sum();
                    (distance, 2.0 * acos(cosine.abs().min(1.0)), &body.name[..])
                }
            }
        })
        .filter(|(distance, rotation, _)| *distance > 1e-9 || *rotation > 1e-7)
        .collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    items(
        &all,
        most.min(SHOWN),
        text,
        |text, (distance, rotation, name)| {
            item(
                text,
                name,
                &format!("moved by {distance:.1e} m, rotated by {rotation:.1e} rad"),
            );
        },
    );
}
