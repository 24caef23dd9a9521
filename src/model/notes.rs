//! What the text says to people: descriptions, author, version, licence; and how variables are shown to other programs.

use std::collections::BTreeMap;

/// Words about a model. The equations do not depend on them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelNotes {
    /// What the model is.
    pub description: String,
    /// Who made it.
    pub author: String,
    /// Its version.
    pub version: String,
    /// Under which licence it may be used.
    pub license: String,
    /// Descriptions of bodies, joints, motions, forces and sensors, by name.
    pub elements: BTreeMap<String, String>,
    /// Of inputs, outputs and parameters, by name.
    pub variables: BTreeMap<String, VariableNotes>,
}

/// Words and numbers about a variable, for other programs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VariableNotes {
    /// What it is.
    pub description: String,
    /// Smallest value that makes sense.
    pub min: Option<f64>,
    /// Largest value that makes sense.
    pub max: Option<f64>,
    /// Typical size.
    pub nominal: Option<f64>,
}

impl ModelNotes {
    /// What it says of the model as a whole, a line for each.
    pub fn lines(&self) -> String {
        let said = [
            ("description", &self.description),
            ("author", &self.author),
            ("version", &self.version),
            ("license", &self.license),
        ];
        let said = said.iter().filter(|(_, words)| !words.is_empty());
        said.map(|(key, words)| format!("  {key}: {}\n", words.trim()))
            .collect()
    }
}
