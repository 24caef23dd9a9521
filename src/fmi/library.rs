//! The shared library that goes into an archive: found, opened, asked for its version.

use std::ffi::{CStr, c_char};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// The file's name on this platform, such as `libbiela.so`.
pub fn file_name() -> String {
    use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
    format!("{DLL_PREFIX}biela{DLL_SUFFIX}")
}

/// Where the library is: `given`, else the variable `BIELA_LIBRARY`, else beside the program (also in cargo's `deps`
/// there), else in `../lib`.
pub fn find(given: Option<&Path>) -> Result<PathBuf> {
    let variable = std::env::var_os("BIELA_LIBRARY").filter(|value| !value.is_empty());
    if let Some(path) = given.map(Path::to_owned).or(variable.map(PathBuf::from)) {
        return match path.is_file() {
            true => Ok(path),
            false => Err(missing(&path, "there is no such file")),
        };
    }
    let program = std::env::current_exe().ok();
    let folder = program.as_deref().and_then(Path::parent);
    let name = file_name();
    let places: Vec<PathBuf> = folder
        .map(|folder| {
            ["", "deps", "../lib"]
                .map(|place| folder.join(place).join(&name))
                .to_vec()
        })
        .unwrap_or_default();
    places
        .iter()
        .find(|path| path.is_file())
        .cloned()
        .ok_or_else(|| {
            let looked = places
                .first()
                .cloned()
                .unwrap_or_else(|| PathBuf::from(&name));
            missing(
                &looked,
                "the library is not there, nor in ../lib; name it with --library or BIELA_LIBRARY",
            )
        })
}

fn missing(path: &Path, reason: &str) -> Error {
    Error::File {
        path: path.display().to_string(),
        reason: reason.to_owned(),
    }
}

/// Is it this library, of this version, with both standards inside?
pub fn check(path: &Path) -> Result<()> {
    let refused = |reason: String| Error::File {
        path: path.display().to_string(),
        reason,
    };
    // A bare name would be looked for in the system's folders.
    let absolute = std::path::absolute(path).map_err(|e| refused(e.to_string()))?;
    // SAFETY: opening runs what the file's author wants to be run, as any use of the library would.
    let library = unsafe { libloading::Library::new(&absolute) }
        .map_err(|e| refused(format!("it cannot be opened as a library: {e}")))?;
    type Text = unsafe extern "C" fn() -> *const c_char;
    let ask = |name: &str| {
        // SAFETY: functions of this type under these names, in every version of this library.
        let function = unsafe { library.get::<Text>(name) }.map_err(|_| {
            refused(format!(
                "it has no function {name}: it is not a library of biela"
            ))
        })?;
        // SAFETY: it takes nothing and gives a string that is never freed.
        let text = unsafe { function() };
        match text.is_null() {
            true => Err(refused(format!("{name} gives nothing"))),
            // SAFETY: a C string.
            false => Ok(unsafe { CStr::from_ptr(text) }
                .to_string_lossy()
                .into_owned()),
        }
    };
    let (own, found) = (env!("CARGO_PKG_VERSION"), ask("biela_version")?);
    if found != own {
        return Err(refused(format!(
            "it is version {found}, this program is version {own}; they must be of one build"
        )));
    }
    ask("fmi2GetVersion")?;
    ask("fmi3GetVersion")?;
    Ok(())
}
