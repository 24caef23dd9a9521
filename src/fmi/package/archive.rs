//! The archive: a zip file whose bytes depend on its contents only.
//!
//! ```text
//!   modelDescription.xml
//!   documentation/index.html
//!   resources/biela.txt            the manifest: names of the resources
//!   resources/<name>.toml          the model with `auto` resolved
//!   resources/...                  the files it names
//!   binaries/<platform>/<name>.so  this library
//! ```

use std::io::{Cursor, Write};
use std::path::{Component, Path};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::description;
use super::documentation;
use super::resource::{MANIFEST, MANIFEST_HEAD};
use super::token;
use crate::component::Instance;
use crate::error::{Error, Result};
use crate::fmi::types::FmiStandard;
use crate::formulation::resolved_formulation;
use crate::model::{Model, portable};

/// The files of an archive without the library.
#[derive(Clone, Debug)]
pub struct PackageContents {
    /// Name of the model and of the library in the archive.
    pub identifier: String,
    /// Token of the contents.
    pub token: String,
    /// Names (with slashes) and bytes, in the order of the archive.
    pub files: Vec<(String, Vec<u8>)>,
}

/// Reads a model and makes all files of the archive but the library.
pub fn contents(model: &Path, standard: FmiStandard) -> Result<PackageContents> {
    let original = Model::from_file(model)?;
    let bytes = read(model)?;
    let text = String::from_utf8(bytes).map_err(|e| unreadable(model, e.to_string()))?;
    let origin = model.display().to_string();
    let folder = model.parent();
    let resolved = resolve(&original, &text, &origin, folder)?;

    let instance = Instance::from_model(Model::from_text_in(&resolved, &origin, folder)?)?;
    if instance.variables().is_empty() {
        return Err(Error::Argument {
            name: "variables".to_owned(),
            value: "none".to_owned(),
            expected:
                "at least one input, output or parameter: an FMU without variables is of no use"
                    .to_owned(),
        });
    }
    let identifier = original.name.clone();
    let ending = if portable::is_json(&resolved, &origin) {
        "json"
    } else {
        "toml"
    };
    let mut resources = vec![(format!("{identifier}.{ending}"), resolved.into_bytes())];
    add_named_files(&text, &origin, "", folder, &mut resources)?;
    resources[1..].sort();
    resources.dedup_by(|a, b| a.0 == b.0);
    let names: String = resources
        .iter()
        .map(|(name, _)| format!("{name}\n"))
        .collect();
    let manifest = format!("{MANIFEST_HEAD}\n{names}");
    resources.insert(0, (MANIFEST.to_owned(), manifest.into_bytes()));

    let token = token::token(
        standard.version(),
        resources
            .iter()
            .map(|(name, bytes)| (name.as_str(), bytes.as_slice())),
    );
    let described = description::description(&instance, standard, &token);
    let (file, packed) = &resources[1];
    let packed = String::from_utf8_lossy(packed);
    let page = documentation::page(instance.model().clone(), &packed, file, standard);
    let mut files = vec![
        ("modelDescription.xml".to_owned(), described.into_bytes()),
        ("documentation/index.html".to_owned(), page.into_bytes()),
    ];
    for (name, bytes) in resources {
        files.push((format!("resources/{name}"), bytes));
    }
    Ok(PackageContents {
        identifier,
        token,
        files,
    })
}

/// Adds the files that a model text in the folder `below` names, and those that included model files name.
fn add_named_files(
    text: &str,
    origin: &str,
    below: &str,
    folder: Option<&Path>,
    resources: &mut Vec<(String, Vec<u8>)>,
) -> Result<()> {
    for name in portable::files(text, origin)? {
        let Some((name, bytes)) = named_file(&format!("{below}{name}"), folder)? else {
            continue;
        };
        // The model itself, whose name may differ from its file's, is the first.
        if resources[1..].iter().any(|(other, _)| *other == name) {
            continue;
        }
        let is_model = name.ends_with(".toml") || name.ends_with(".json");
        let inner = (is_model.then(|| String::from_utf8(bytes.clone()).ok())).flatten();
        resources.push((name.clone(), bytes));
        if let Some(inner) = inner {
            let below = name.rfind('/').map_or("", |slash| &name[..=slash]);
            add_named_files(&inner, &name, below, folder, resources)?;
        }
    }
    Ok(())
}

/// The text with the formulation that `auto` stands for; otherwise the model is the same.
fn resolve(original: &Model, text: &str, origin: &str, folder: Option<&Path>) -> Result<String> {
    let chosen = resolved_formulation(original);
    if chosen == original.solver.formulation {
        return Ok(text.to_owned());
    }
    let resolved = portable::with_formulation(text, origin, chosen.name())?;
    let mut expected = original.clone();
    expected.solver.formulation = chosen;
    let found = Model::from_text_in(&resolved, origin, folder)?;
    match portable::same_meaning(&expected, &found) {
        true => Ok(resolved),
        false => Err(Error::Argument {
            name: "solver.formulation".to_owned(),
            value: "auto".to_owned(),
            expected: format!(
                "\"{}\" written in the [solver] table: it cannot be inserted automatically",
                chosen.name()
            ),
        }),
    }
}

/// The file with this name, if there is one; an error if it is not in the folder of the model or below.
fn named_file(name: &str, folder: Option<&Path>) -> Result<Option<(String, Vec<u8>)>> {
    let path = folder.unwrap_or(Path::new("")).join(name);
    if !path.is_file() {
        return Ok(None);
    }
    let mut parts = Vec::new();
    for component in Path::new(name).components() {
        match component {
            Component::Normal(part) => parts.push(part.to_string_lossy().into_owned()),
            Component::CurDir => {}
            _ => {
                return Err(unreadable(
                    &path,
                    "an FMU contains only files from the folder of the model and below; copy it there"
                        .to_owned(),
                ));
            }
        }
    }
    Ok(Some((parts.join("/"), read(&path)?)))
}

/// Makes the archive.
pub fn archive(
    contents: &PackageContents,
    standard: FmiStandard,
    library: &[u8],
) -> Result<Vec<u8>> {
    let failure = |e: zip::result::ZipError| Error::File {
        path: format!("{}.fmu", contents.identifier),
        reason: e.to_string(),
    };
    let plain = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .compression_level(Some(6))
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644);
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let mut put = |name: &str, bytes: &[u8], options: SimpleFileOptions| -> Result<()> {
        zip.start_file(name, options).map_err(failure)?;
        zip.write_all(bytes).map_err(|e| failure(e.into()))
    };
    for (name, bytes) in &contents.files {
        put(name, bytes, plain)?;
    }
    let library_name = format!(
        "binaries/{}/{}{}",
        platform(standard)?,
        contents.identifier,
        std::env::consts::DLL_SUFFIX
    );
    put(&library_name, library, plain.unix_permissions(0o755))?;
    Ok(zip.finish().map_err(failure)?.into_inner())
}

/// Name of the folder of binaries for the machine that runs this program.
pub fn platform(standard: FmiStandard) -> Result<String> {
    use std::env::consts::{ARCH, OS};
    let system = match OS {
        "macos" => "darwin",
        other => other,
    };
    let known = match standard {
        FmiStandard::Three => Some(format!("{ARCH}-{system}")),
        FmiStandard::Two => match (system, ARCH) {
            ("linux", "x86_64") => Some("linux64".to_owned()),
            ("linux", "x86") => Some("linux32".to_owned()),
            ("windows", "x86_64") => Some("win64".to_owned()),
            ("windows", "x86") => Some("win32".to_owned()),
            ("darwin", "x86_64") => Some("darwin64".to_owned()),
            _ => None,
        },
    };
    known.ok_or_else(|| Error::Argument {
        name: "platform".to_owned(),
        value: format!("{OS} on {ARCH}"),
        expected: "a platform that FMI 2.0 has a name for; FMI 3.0 has names for all".to_owned(),
    })
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|e| unreadable(path, e.to_string()))
}

fn unreadable(path: &Path, reason: String) -> Error {
    Error::File {
        path: path.display().to_string(),
        reason,
    }
}
