//! Robots from other formats: a file becomes a [`crate::model::Model`] and its commented text, and a report says what became of
//! every element and attribute. `docs/import.md` is the manual.
//!
//! | file | what |
//! |---|---|
//! | `xml` | elements with positions, their fates |
//! | `report` | the fidelity report |
//! | `axis_mass` | mass at the joints of links that have none |
//! | `combined_joint` | several joints of a link as one joint of the model |
//! | `draft` | the model under construction: names, notes |
//! | `frame` | placements, sums of inertias |
//! | `link_rate` | velocities at the start |
//! | `massless_link` | links without mass between joints |
//! | `moved_inertia` | joints that move no inertia |
//! | `tree` | links joined by joints: fixed ones merged, start pose |
//! | `text` | the model as text |
//! | `resource` | files that a file names |
//! | `urdf` | URDF and SRDF |
//! | `mjcf` | MJCF |

mod axis_mass;
mod combined_joint;
mod draft;
mod frame;
mod link_rate;
mod massless_link;
mod mjcf;
mod moved_inertia;
mod report;
mod resource;
mod text;
mod tree;
mod urdf;
mod xml;

use std::path::{Path, PathBuf};

pub use report::{FidelityCount, FidelityGroup, FidelityReport, ImportNote};
pub use xml::Concern;

use crate::error::{Error, Result};
use crate::model::Model;
use crate::model::suggest::nearest;

/// `--base`: whether the root moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BaseMotion {
    /// Fixed to the ground.
    Fixed,
    /// Free in space.
    Free,
}

/// What an import may be told.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// The SRDF file that belongs to a URDF file.
    pub srdf: Option<PathBuf>,
    /// Whether the root moves; `None`: as the files say, else fixed.
    pub base: Option<BaseMotion>,
    /// Folders in which `package://` is sought first.
    pub package_paths: Vec<PathBuf>,
    /// Start pose by name: a keyframe, or a group state of the SRDF file.
    pub keyframe: Option<String>,
    /// Values of joint coordinates at the start, by the joint's name in the file; they count more than those of a keyframe.
    pub start: Vec<(String, f64)>,
    /// Without limits of joint coordinates.
    pub no_limits: bool,
    /// With contacts of geoms against planes of the world (MJCF).
    pub contact: bool,
    /// Folder that the model file is for: names of meshes are relative to it; `None`: that of the robot.
    pub folder: Option<PathBuf>,
}

/// An imported model.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The model file.
    pub text: String,
    /// The model that the text describes.
    pub model: Model,
    /// What became of the file.
    pub report: FidelityReport,
}

/// Whether a file is one that [`import`] reads, by the ending of its name.
pub fn is_foreign(path: &Path) -> bool {
    let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    matches!(ending.as_deref(), Some("urdf" | "xml" | "mjcf" | "xacro"))
}

/// Imports a robot from a URDF or MJCF file.
pub fn import(path: &Path, options: &ImportOptions) -> Result<Imported> {
    let shown = path.display().to_string();
    if shown.ends_with(".xacro") {
        return Err(Error::File {
            path: shown,
            reason: format!("it is written in xacro; {}", xml::XACRO),
        });
    }
    let text = xml::file_text(path)?;
    let mut xml = xml::XmlFiles::default();
    let root = xml.add(&shown, &text)?;
    let (draft, format) = match xml.tag(root) {
        "robot" => (urdf::read(&mut xml, root, path, options)?, "URDF"),
        "mujoco" | "mujocoinclude" => (mjcf::read(&mut xml, root, path, options)?, "MJCF"),
        other => {
            let message =
                format!("the root is <{other}>; expected <robot> (URDF) or <mujoco> (MJCF)");
            return Err(xml.error(root, message));
        }
    };
    let beside = || {
        path.parent()
            .filter(|folder| !folder.as_os_str().is_empty())
    };
    let folder = (options.folder.as_deref())
        .or_else(beside)
        .unwrap_or(Path::new("."));
    let text = text::text(&draft, folder);
    let model = Model::from_text_in(&text, &shown, Some(folder)).map_err(|error| Error::File {
        path: shown,
        reason: format!("the imported model is not accepted: {error}"),
    })?;
    let report = FidelityReport::new(format, &xml, draft.notes);
    Ok(Imported {
        text,
        model,
        report,
    })
}

/// Refuses a start value of a joint that is not among `names`, those of coordinates.
fn require_joints(options: &ImportOptions, names: &[&str]) -> Result<()> {
    for (name, value) in &options.start {
        if names.contains(&name.as_str()) {
            continue;
        }
        let near = nearest(name, names).map(|near| format!("; did you mean \"{near}\"?"));
        return Err(Error::Argument {
            name: format!("start of \"{name}\""),
            value: value.to_string(),
            expected: format!(
                "the name of a joint with one coordinate{}",
                near.unwrap_or_default()
            ),
        });
    }
    Ok(())
}

/// A name of a model, which is also that of files and FMUs.
fn model_name(name: &str) -> String {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut plain: String = (name.chars())
        .map(|c| if legal(c) { c } else { '_' })
        .collect();
    if !plain.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        plain.insert_str(0, "robot_");
    }
    plain
}
