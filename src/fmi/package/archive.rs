//! The archive: a zip file whose bytes depend on its contents only.
//!
//! ```text
//!   modelDescription.xml
//!   documentation/index.html
//!   resources/biela.txt            the manifest: names of the resources
//!   resources/<name>.toml          the model with `auto` resolved
//!   resources/...                  the files it names
//!   terminalsAndIcons/...          frames as terminals, icon (FMI 3)
//!   binaries/<platform>/<name>.so  this library, one for each platform
//! ```

use std::ffi::OsStr;
use std::io::{Cursor, Read, Write};
use std::path::{Component, Path, PathBuf};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::description;
use super::documentation;
use super::platform::Platform;
use super::resource::{LARGEST, MANIFEST, MANIFEST_HEAD};
use super::terminals;
use super::token;
use crate::component::Instance;
use crate::error::{Error, Result};
use crate::fmi::types::FmiStandard;
use crate::formulation::resolved_formulation;
use crate::model::source_file::{self, opened_files};
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
    let (original, opened) = opened_files(|| Model::from_file(model));
    let original = original?;
    let bytes = read(model)?;
    let text = String::from_utf8(bytes).map_err(|e| unreadable(model, e.to_string()))?;
    of_model(&original, &opened, &text, model, standard)
}

/// The same for a text that is not in a file: that of a robot, imported from `origin`.
pub fn contents_of(text: &str, origin: &Path, standard: FmiStandard) -> Result<PackageContents> {
    let shown = origin.display().to_string();
    let read = || Model::from_text_in(text, &shown, origin.parent());
    let (original, opened) = opened_files(read);
    of_model(&original?, &opened, text, origin, standard)
}

/// The files of the archive of a model that was read from `text`; `opened` are the files that it names.
fn of_model(
    original: &Model,
    opened: &[PathBuf],
    text: &str,
    model: &Path,
    standard: FmiStandard,
) -> Result<PackageContents> {
    let origin = model.display().to_string();
    let folder = model.parent();
    let resolved = resolve(original, text, &origin, folder)?;

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
    for path in opened.iter().filter(|path| *path != model) {
        resources.push(travelling_file(path, folder.unwrap_or(Path::new("")))?);
    }
    resources[1..].sort();
    resources.dedup_by(|a, b| a == b);
    refuse_clashes(&resources)?;
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
    if standard == FmiStandard::Three {
        let terminals = terminals::terminals_and_icons(&instance);
        files.push((
            "terminalsAndIcons/terminalsAndIcons.xml".to_owned(),
            terminals.into_bytes(),
        ));
        files.push((
            "terminalsAndIcons/icon.png".to_owned(),
            terminals::ICON.to_vec(),
        ));
    }
    Ok(PackageContents {
        identifier,
        token,
        files,
    })
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

/// Name in the archive and bytes of a file that the model names; an error if it is not in the folder of the model or below, or
/// if its name is not legal on every system.
fn travelling_file(path: &Path, folder: &Path) -> Result<(String, Vec<u8>)> {
    let outside = || {
        unreadable(
            path,
            "an FMU contains only files from the folder of the model and below; copy it there"
                .to_owned(),
        )
    };
    let mut parts = Vec::new();
    for component in path
        .strip_prefix(folder)
        .map_err(|_| outside())?
        .components()
    {
        match component {
            Component::Normal(part) => parts.push(travelling_name(part, path)?),
            Component::CurDir => {}
            _ => return Err(outside()),
        }
    }
    // A link may lead out of the folder.
    let real = |path: &Path| {
        path.canonicalize()
            .map_err(|e| unreadable(path, e.to_string()))
    };
    let folder = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    if !real(path)?.starts_with(real(folder)?) {
        return Err(outside());
    }
    Ok((parts.join("/"), read(path)?))
}

/// A part of a path, if it is legal on Linux, Windows and macOS and in a zip archive.
fn travelling_name(part: &OsStr, path: &Path) -> Result<String> {
    const DEVICES: [&str; 6] = ["CON", "PRN", "AUX", "NUL", "COM", "LPT"];
    let refused = |reason: &str| {
        let reason = format!("an FMU cannot contain it: {reason}; rename it");
        Err(unreadable(path, reason))
    };
    let Some(name) = part.to_str() else {
        return refused("its name is not UTF-8");
    };
    if let Some(c) = name
        .chars()
        .find(|c| c.is_control() || r#"\<>:"|?*"#.contains(*c))
    {
        return refused(&format!("{c:?} in its name is not legal on every system"));
    }
    if name.ends_with(['.', ' ']) || name.starts_with(' ') {
        return refused("its name begins or ends with a space or ends with a dot");
    }
    let stem = name
        .split('.')
        .next()
        .unwrap_or("")
        .trim_end_matches(|c: char| c.is_ascii_digit());
    if DEVICES
        .iter()
        .any(|device| stem.eq_ignore_ascii_case(device))
    {
        return refused("its name means a device on Windows");
    }
    Ok(name.to_owned())
}

/// Refuses two resources of one name: of a file and the packed model, or of names that differ in case only.
fn refuse_clashes(resources: &[(String, Vec<u8>)]) -> Result<()> {
    let mut names = vec![MANIFEST.to_lowercase()];
    for (name, _) in resources {
        let lower = name.to_lowercase();
        if names.contains(&lower) {
            return Err(unreadable(
                Path::new(name),
                "an FMU has another file of this name; rename it".to_owned(),
            ));
        }
        names.push(lower);
    }
    Ok(())
}

/// A library and the platform it is for.
#[derive(Clone, Debug)]
pub struct PlatformLibrary {
    /// The platform.
    pub platform: Platform,
    /// The bytes of the file.
    pub bytes: Vec<u8>,
}

/// Makes the archive.
pub fn archive(
    contents: &PackageContents,
    standard: FmiStandard,
    libraries: &[PlatformLibrary],
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
    for library in libraries {
        let folder = library.platform.folder(standard)?;
        let ending = library.platform.ending();
        let name = format!("binaries/{folder}/{}{ending}", contents.identifier);
        put(&name, &library.bytes, plain.unix_permissions(0o755))?;
    }
    Ok(zip.finish().map_err(failure)?.into_inner())
}

fn read(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source_file::open(path)
        .and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes))
        .map_err(|e| unreadable(path, e.to_string()))?;
    match bytes.len() as u64 <= LARGEST {
        true => Ok(bytes),
        false => Err(unreadable(
            path,
            format!("it is larger than {LARGEST} bytes"),
        )),
    }
}

fn unreadable(path: &Path, reason: String) -> Error {
    Error::File {
        path: path.display().to_string(),
        reason,
    }
}
