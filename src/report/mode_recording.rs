//! Modes as a recording: each moves for a few seconds about the position at which they were computed, one after the other.
//!
//! ```text
//!   x(t) = x₀ + a Re(x̂ e^{iφ}),      R(t) = exp(a Re(θ̂ e^{iφ})) R₀
//! ```

use nalgebra::{Quaternion, UnitQuaternion, Vector3};

use super::recording::{Recording, Watched};
use crate::component::{
    Causality, InitialKind, Instance, Mode, Variability, Variable, VariableKind,
};
use crate::error::Result;
use crate::linalg::elementary::{cos, sin};
use crate::model::Model;

/// Time for which a mode is shown (s), and its periods and rows in that time.
pub const SECONDS_PER_MODE: f64 = 2.0;
const PERIODS: f64 = 2.0;
const ROWS: usize = 60;
/// Largest displacement as part of the mechanism's extent, and largest rotation (rad).
const PART_OF_EXTENT: f64 = 0.1;
const LARGEST_ROTATION: f64 = 0.25;

impl Recording {
    /// The modes of an instance at its present position. Mode k is shown from `SECONDS_PER_MODE` (k − 1) s on.
    pub fn of_modes(instance: &mut Instance, modes: &[Mode]) -> Result<Self> {
        let model = instance.model().clone();
        let poses = Watched::of(&model).poses;
        let mut reference = vec![0.0; poses.len()];
        let quantities: Result<Vec<_>> = poses.iter().map(|name| model.quantity(name)).collect();
        instance.get_quantities(&quantities?, &mut reference)?;
        let mut recording = Self::empty();
        recording.watched.poses = poses;
        recording.outputs = vec![
            shown("mode", "", "number of the mode that is shown"),
            shown("frequency", "Hz", "its frequency"),
            shown("damping", "", "its damping ratio"),
        ];
        for (k, mode) in modes.iter().enumerate() {
            let shape = BodyShapes::of(&model, mode);
            let scale = shape.scale(&model, &reference);
            for row in 0..ROWS {
                let part = row as f64 / ROWS as f64;
                let phase = std::f64::consts::TAU * PERIODS * part;
                recording.times.push(SECONDS_PER_MODE * (k as f64 + part));
                recording
                    .rows
                    .extend([k as f64 + 1.0, mode.frequency, mode.damping]);
                let moved = shape.moved(&model, &reference, scale, phase);
                recording.rows.extend(moved);
            }
        }
        Ok(recording)
    }
}

fn shown(name: &str, unit: &str, description: &str) -> Variable {
    Variable {
        name: name.to_owned(),
        unit: unit.to_owned(),
        causality: Causality::Output,
        variability: Variability::Continuous,
        kind: VariableKind::Real,
        initial: Some(InitialKind::Calculated),
        start: None,
        min: None,
        max: None,
        nominal: None,
        source: name.to_owned(),
        description: description.to_owned(),
    }
}

/// Displacement and rotation of each body, as real and imaginary part.
struct BodyShapes(Vec<[[Vector3<f64>; 2]; 2]>);

impl BodyShapes {
    fn of(model: &Model, mode: &Mode) -> Self {
        let all = model.bodies.iter().map(|body| {
            let amplitude = |field: &str, part: usize| {
                let name = format!("{}.{field}", body.name);
                let found = mode.shape.iter().find(|(other, _)| *other == name);
                found.map_or(0.0, |(_, amplitude)| amplitude[part])
            };
            [0, 1].map(|part| {
                let [x, y, z] = ["x", "y", "z"].map(|axis| amplitude(axis, part));
                let [rx, ry, rz] =
                    ["x", "y", "z"].map(|axis| amplitude(&format!("rotation_{axis}"), part));
                let turn = Vector3::new(rx, ry, rz + amplitude("angle", part));
                [Vector3::new(x, y, z), turn]
            })
        });
        Self(all.collect())
    }

    /// Amplitude that is seen well.
    fn scale(&self, model: &Model, reference: &[f64]) -> f64 {
        let width = reference.len() / model.bodies.len().max(1);
        let dimension = model.dimension.min(3);
        let mut extent: f64 = 0.0;
        for axis in 0..dimension {
            let along = reference.chunks_exact(width.max(1)).map(|pose| pose[axis]);
            let (low, high) = along.fold((0.0, 0.0), |(low, high): (f64, f64), x| {
                (low.min(x), high.max(x))
            });
            extent = extent.max(high - low);
        }
        let (mut shift, mut turn): (f64, f64) = (0.0, 0.0);
        for part in self.0.iter().flatten() {
            shift = shift.max(part[0].norm());
            turn = turn.max(part[1].norm());
        }
        let by_shift = match shift > 0.0 && extent > 0.0 {
            true => PART_OF_EXTENT * extent / shift,
            false => f64::INFINITY,
        };
        let by_turn = match turn > 0.0 {
            true => LARGEST_ROTATION / turn,
            false => f64::INFINITY,
        };
        match by_shift.min(by_turn) {
            scale if scale.is_finite() => scale,
            _ => 1.0,
        }
    }

    /// The poses at a phase of the motion.
    fn moved(&self, model: &Model, reference: &[f64], scale: f64, phase: f64) -> Vec<f64> {
        let mut poses = reference.to_vec();
        let width = reference.len() / model.bodies.len().max(1);
        for (pose, [real, imaginary]) in poses.chunks_exact_mut(width.max(1)).zip(&self.0) {
            let [shift, turn] =
                [0, 1].map(|k| scale * (real[k] * cos(phase) - imaginary[k] * sin(phase)));
            for axis in 0..model.dimension {
                pose[axis] += shift[axis];
            }
            if model.dimension == 2 {
                pose[2] += turn.z;
            } else {
                let now = Quaternion::new(pose[3], pose[4], pose[5], pose[6]);
                let turned = UnitQuaternion::from_scaled_axis(turn).into_inner() * now;
                pose[3..7].copy_from_slice(&[turned.w, turned.i, turned.j, turned.k]);
            }
        }
        poses
    }
}
