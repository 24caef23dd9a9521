//! Definitions of a model text, and the text itself, so that a definition can be changed: the model is then read again.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::expression::{DimensionedValue, PhysicalDimension, dimension_of};
use super::file::read_defined;
use super::{Model, TextPosition};
use crate::error::{Error, Result};

/// A definition of `[define]`.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelDefinition {
    /// Name.
    pub name: String,
    /// Value in base units.
    pub value: f64,
    /// Its unit as far as it has a name, else empty.
    pub unit: &'static str,
    /// Position in the text.
    pub text_position: TextPosition,
}

/// The text from which a model with definitions was read. Two models are equal whatever their texts.
#[derive(Clone)]
pub struct ModelSource {
    text: Arc<str>,
    origin: String,
    base_dir: Option<PathBuf>,
    /// Definitions that have been set, in base units.
    set: Vec<(String, f64)>,
}

impl std::fmt::Debug for ModelSource {
    /// Nothing of the text: the hash of a model is that of its meaning.
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("ModelSource")
    }
}

impl PartialEq for ModelSource {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl ModelSource {
    pub(super) fn new(text: &str, origin: &str, base_dir: Option<&Path>) -> Self {
        Self {
            text: text.into(),
            origin: origin.to_owned(),
            base_dir: base_dir.map(Path::to_owned),
            set: vec![],
        }
    }

    fn read(&self) -> Result<Model> {
        let mut model = read_defined(
            &self.text,
            &self.origin,
            self.base_dir.as_deref(),
            &self.set,
        )?;
        model.source = Some(self.clone());
        Ok(model)
    }
}

impl Model {
    /// The value of a definition, with its dimension.
    pub(in crate::model) fn definition_value(&self, name: &str) -> Option<DimensionedValue<f64>> {
        let found = self.definitions.iter().find(|d| d.name == name)?;
        let dimension = dimension_of(found.unit).unwrap_or(PhysicalDimension::NONE);
        Some(DimensionedValue::new(found.value, dimension))
    }

    /// The model with other values of definitions, by index and in base units: its text is read again. What was changed in code
    /// since it was read stays, unless it depends on a definition that changes.
    pub fn with_definitions(&self, values: &[(usize, f64)]) -> Result<Self> {
        let refused = |name: String, reason: &str| Error::NotSettable {
            name,
            reason: reason.to_owned(),
        };
        let Some(source) = &self.source else {
            let reason = "the model was not read from a text with definitions";
            return Err(refused("define".to_owned(), reason));
        };
        let mut changed = source.clone();
        for (index, value) in values {
            let Some(definition) = self.definitions.get(*index) else {
                return Err(refused("define".to_owned(), "there is no such definition"));
            };
            if !value.is_finite() {
                return Err(Error::NotFinite {
                    name: format!("define.{}", definition.name),
                    value: value.to_string(),
                });
            }
            changed.set.retain(|(name, _)| *name != definition.name);
            changed.set.push((definition.name.clone(), *value));
        }
        let (before, after) = (source.read()?, changed.read()?);
        merge(self, &before, after).map_err(|name| {
            refused(
                name,
                "it was changed in code and depends on a definition that is set",
            )
        })
    }
}

/// Carries what differs between `before` and `mine` over to `after`. The name of what both have changed is an error.
fn merge(mine: &Model, before: &Model, mut after: Model) -> std::result::Result<Model, String> {
    fn one<T: PartialEq + Clone>(mine: &T, before: &T, after: &mut T) -> bool {
        if mine == before {
            return true;
        }
        let free = after == before || after == mine;
        after.clone_from(mine);
        free
    }
    fn each<T: PartialEq + Clone>(
        mine: &[T],
        before: &[T],
        after: &mut [T],
        name: impl Fn(&T) -> String,
    ) -> std::result::Result<(), String> {
        if mine.len() != before.len() || mine.len() != after.len() {
            return Err("the number of elements".to_owned());
        }
        for ((mine, before), after) in mine.iter().zip(before).zip(after) {
            if !one(mine, before, after) {
                return Err(name(mine));
            }
        }
        Ok(())
    }
    let named = |free: bool, name: &str| free.then_some(()).ok_or_else(|| name.to_owned());
    named(
        one(&mine.solver, &before.solver, &mut after.solver),
        "solver",
    )?;
    named(
        one(&mine.experiment, &before.experiment, &mut after.experiment),
        "experiment",
    )?;
    named(
        one(&mine.gravity, &before.gravity, &mut after.gravity),
        "gravity",
    )?;
    named(
        one(&mine.system, &before.system, &mut after.system),
        "system",
    )?;
    one(&mine.name, &before.name, &mut after.name);
    one(&mine.expose, &before.expose, &mut after.expose);
    each(&mine.bodies, &before.bodies, &mut after.bodies, |x| {
        x.name.clone()
    })?;
    each(&mine.joints, &before.joints, &mut after.joints, |x| {
        x.name.clone()
    })?;
    each(&mine.motions, &before.motions, &mut after.motions, |x| {
        x.name.clone()
    })?;
    each(&mine.forces, &before.forces, &mut after.forces, |x| {
        x.name.clone()
    })?;
    each(&mine.sensors, &before.sensors, &mut after.sensors, |x| {
        x.name.clone()
    })?;
    each(&mine.inputs, &before.inputs, &mut after.inputs, |x| {
        x.name.clone()
    })?;
    each(&mine.outputs, &before.outputs, &mut after.outputs, |x| {
        x.name.clone()
    })?;
    each(&mine.signals, &before.signals, &mut after.signals, |x| {
        format!("the law of input {}", x.input + 1)
    })?;
    each(
        &mine.parameters,
        &before.parameters,
        &mut after.parameters,
        |x| x.name.clone(),
    )?;
    Ok(after)
}
