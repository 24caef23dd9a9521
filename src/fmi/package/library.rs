//! The shared library that goes into an archive: found, opened, its version checked.

use std::ffi::{CStr, c_char};
use std::path::{Path, PathBuf};

use super::platform::Platform;
use crate::error::{Error, Result};

/// File name on this platform, such as `libbiela.so`.
pub fn file_name() -> String {
    use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
    format!("{DLL_PREFIX}biela{DLL_SUFFIX}")
}

/// Path of the library: `given`, else the variable `BIELA_LIBRARY`, else beside the program (also in cargo's `deps`
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
    let candidates: Vec<PathBuf> = folder
        .map(|folder| {
            ["", "deps", "../lib"]
                .map(|below| folder.join(below).join(&name))
                .to_vec()
        })
        .unwrap_or_default();
    candidates
        .iter()
        .find(|path| path.is_file())
        .cloned()
        .ok_or_else(|| {
            let first = candidates
                .first()
                .cloned()
                .unwrap_or_else(|| PathBuf::from(&name));
            missing(
                &first,
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

/// In every build of this library: which version it is, for a file that cannot be opened on this machine.
#[used]
static MARK: [u8; MARK_TEXT.len()] = *MARK_TEXT;
const MARK_TEXT: &[u8; MARK_LENGTH] = &mark();
const MARK_HEAD: &str = "biela library of version ";
const MARK_LENGTH: usize = MARK_HEAD.len() + env!("CARGO_PKG_VERSION").len() + 1;

const fn mark() -> [u8; MARK_LENGTH] {
    let (head, version) = (MARK_HEAD.as_bytes(), env!("CARGO_PKG_VERSION").as_bytes());
    let mut text = [0; MARK_LENGTH];
    let mut i = 0;
    while i < MARK_LENGTH - 1 {
        text[i] = match i < head.len() {
            true => head[i],
            false => version[i - head.len()],
        };
        i += 1;
    }
    text
}

/// Reads a library for `platform` and checks that it is this library in this version: by asking it if it is for this machine, else
/// by its format and the mark in it.
pub fn read_for(platform: &Platform, path: &Path) -> Result<Vec<u8>> {
    let wrong = |reason: String| Error::File {
        path: path.display().to_string(),
        reason,
    };
    let bytes = std::fs::read(path).map_err(|e| wrong(e.to_string()))?;
    if *platform == Platform::host() {
        check(path)?;
        return Ok(bytes);
    }
    let found = Platform::of_library(&bytes)
        .ok_or_else(|| wrong("it is not a shared library of a known platform".to_owned()))?;
    if found != *platform {
        return Err(wrong(format!(
            "it is a library for {} on {}, not for {} on {}",
            found.system, found.architecture, platform.system, platform.architecture
        )));
    }
    if !bytes.windows(MARK_LENGTH).any(|part| part == MARK_TEXT) {
        let own = env!("CARGO_PKG_VERSION");
        return Err(wrong(format!(
            "it is not a library of biela {own}, the version of this program"
        )));
    }
    Ok(bytes)
}

/// Checks that the file is this library, has this version and exports both standards.
pub fn check(path: &Path) -> Result<()> {
    let wrong = |reason: String| Error::File {
        path: path.display().to_string(),
        reason,
    };
    // A name without a folder would be searched for in the folders of the system.
    let absolute = std::path::absolute(path).map_err(|e| wrong(e.to_string()))?;
    // SAFETY: opening runs the initialisers of the file, as any use of the library would.
    let library = unsafe { libloading::Library::new(&absolute) }
        .map_err(|e| wrong(format!("it cannot be opened as a library: {e}")))?;
    type Text = unsafe extern "C" fn() -> *const c_char;
    let ask = |name: &str| {
        // SAFETY: every version of this library has functions of this type under these names.
        let function = unsafe { library.get::<Text>(name) }.map_err(|_| {
            wrong(format!(
                "it has no function {name}: it is not a library of biela"
            ))
        })?;
        // SAFETY: it takes no argument and returns a string that is never freed.
        let text = unsafe { function() };
        match text.is_null() {
            true => Err(wrong(format!("{name} returns NULL"))),
            // SAFETY: a C string.
            false => Ok(unsafe { CStr::from_ptr(text) }
                .to_string_lossy()
                .into_owned()),
        }
    };
    let (own, found) = (env!("CARGO_PKG_VERSION"), ask("biela_version")?);
    if found != own {
        return Err(wrong(format!(
            "it is version {found}, this program is version {own}; they must have the same version"
        )));
    }
    ask("fmi2GetVersion")?;
    ask("fmi3GetVersion")?;
    Ok(())
}
