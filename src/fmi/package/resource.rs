//! The model in the resources of an FMU. Importers give their location as a file URI with percent escapes (FMI 2) or as a
//! path (FMI 3), with or without a slash at its end; some give the folder of the FMU, some nothing. Without a location the
//! library searches relative to its own file, which is in `binaries/<platform>` of the same FMU.

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::token;
use crate::error::{Error, Result};
use crate::ffi::memory;
use crate::model::{Model, source_file};

/// The manifest, a list of the resources: first the model, then the files it names.
pub const MANIFEST: &str = "biela.txt";
/// First line of the manifest.
pub const MANIFEST_HEAD: &str = "biela unit 1";
/// Largest size of a resource in bytes. A convention: packed models are far smaller.
pub(super) const LARGEST: u64 = 1 << 30;

/// Reads the model of an FMU. Fails if the resources at `location` do not have the token that the importer gives.
pub fn load(standard: &str, location: Option<&str>, token: &str) -> Result<Model> {
    let folder = find(location)?;
    let manifest = text(&folder.join(MANIFEST))?;
    let names = listed(&manifest, &folder)?;
    let mut contents = vec![(MANIFEST, manifest.clone().into_bytes())];
    for name in &names {
        contents.push((name, bytes(&folder.join(name))?));
    }
    let found = token::token(standard, contents.iter().map(|(n, b)| (*n, b.as_slice())));
    if !token::same(&found, token) {
        return Err(Error::Argument {
            name: match standard {
                "2.0" => "fmuGUID".to_owned(),
                _ => "instantiationToken".to_owned(),
            },
            value: format!("\"{token}\""),
            expected: format!(
                "\"{found}\", the token of the files in \"{}\"; either the token belongs to another FMU, or the files \
                 have been changed after packing",
                folder.display()
            ),
        });
    }
    let model = names[0];
    let path = folder.join(model);
    let text = utf8(&contents[1].1, &path)?;
    memory::require_for_text(text.len())?;
    Model::from_text_in(text, model, Some(&folder))
}

/// The names in a manifest.
fn listed<'m>(manifest: &'m str, folder: &Path) -> Result<Vec<&'m str>> {
    let mut lines = manifest.lines();
    let names: Vec<&str> = match lines.next() {
        Some(MANIFEST_HEAD) => lines.collect(),
        _ => Vec::new(),
    };
    let inside = |name: &&str| {
        let path = Path::new(name);
        let plain = |c: std::path::Component| matches!(c, std::path::Component::Normal(_));
        !name.is_empty() && path.components().all(plain)
    };
    if names.is_empty() || !names.iter().all(inside) {
        return Err(Error::File {
            path: folder.join(MANIFEST).display().to_string(),
            reason: "it is not the manifest of an FMU packed by this program".to_owned(),
        });
    }
    Ok(names)
}

/// The folder that contains the manifest.
fn find(location: Option<&str>) -> Result<PathBuf> {
    let location = location.map(str::trim).filter(|l| !l.is_empty());
    let mut tried = Vec::new();
    let given = location.map(path_of).transpose()?;
    let beside_library = library_path().and_then(|library| {
        // <FMU>/binaries/<platform>/<library>
        Some(library.parent()?.parent()?.parent()?.join("resources"))
    });
    for folder in given
        .into_iter()
        .flat_map(|path| [path.join("resources"), path].into_iter().rev())
        .chain(beside_library)
    {
        if folder.join(MANIFEST).is_file() {
            return Ok(folder);
        }
        tried.push(folder.display().to_string());
    }
    Err(Error::File {
        path: tried.first().cloned().unwrap_or_default(),
        reason: match location {
            Some(given) => format!("no resources of an FMU there (the importer gave \"{given}\")"),
            None => {
                "the importer gave no location of the resources, and they are not beside the library"
                    .to_owned()
            }
        },
    })
}

/// The path of a location: a path or a file URI (`file:/x`, `file:///x`, `file://localhost/x`).
fn path_of(location: &str) -> Result<PathBuf> {
    let is_uri = location
        .get(..5)
        .is_some_and(|head| head.eq_ignore_ascii_case("file:"));
    if !is_uri {
        return Ok(PathBuf::from(location));
    }
    let rest = &location[5..];
    let path = match rest.strip_prefix("//") {
        // An authority: empty, or this machine.
        Some(after) => match after.find('/') {
            Some(0) => after,
            Some(end) if after[..end].eq_ignore_ascii_case("localhost") => &after[end..],
            // file://C:/x is not legal, but some importers pass it.
            _ if after.get(1..2) == Some(":") => after,
            _ => {
                return Err(Error::Argument {
                    name: "resource location".to_owned(),
                    value: format!("\"{location}\""),
                    expected: "a file on this machine".to_owned(),
                });
            }
        },
        None => rest,
    };
    let path = unescape(path);
    // /C:/x means C:/x.
    let bytes = path.as_encoded_bytes();
    if cfg!(windows) && bytes.len() > 2 && bytes[0] == b'/' && bytes[2] == b':' {
        let text = path.to_string_lossy();
        return Ok(PathBuf::from(&text[1..]));
    }
    Ok(PathBuf::from(path))
}

/// The text with its percent escapes decoded; other percent signs stay.
fn unescape(text: &str) -> OsString {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let digit = |i: usize| after.get(i).and_then(|b| (*b as char).to_digit(16));
        match (first, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push((16 * high + low) as u8);
                rest = &after[2..];
            }
            _ => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    os_string(bytes)
}

#[cfg(unix)]
fn os_string(bytes: Vec<u8>) -> OsString {
    use std::os::unix::ffi::OsStringExt;
    OsString::from_vec(bytes)
}

#[cfg(not(unix))]
fn os_string(bytes: Vec<u8>) -> OsString {
    String::from_utf8_lossy(&bytes).into_owned().into()
}

fn bytes(path: &Path) -> Result<Vec<u8>> {
    let failure = |reason: String| Error::File {
        path: path.display().to_string(),
        reason,
    };
    let mut bytes = Vec::new();
    // One byte more than is allowed: an endless file is not read further.
    source_file::open(path)
        .and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes))
        .map_err(|e| failure(e.to_string()))?;
    if bytes.len() as u64 > LARGEST {
        return Err(failure(format!(
            "it is too large: at most {LARGEST} bytes are read"
        )));
    }
    Ok(bytes)
}

fn text(path: &Path) -> Result<String> {
    let bytes = bytes(path)?;
    Ok(utf8(&bytes, path)?.to_owned())
}

fn utf8<'b>(bytes: &'b [u8], path: &Path) -> Result<&'b str> {
    std::str::from_utf8(bytes).map_err(|_| Error::File {
        path: path.display().to_string(),
        reason: "it is not UTF-8 text".to_owned(),
    })
}

/// The file this code was loaded from.
#[cfg(unix)]
fn library_path() -> Option<PathBuf> {
    use std::ffi::{CStr, OsStr, c_void};
    use std::mem::MaybeUninit;
    use std::os::unix::ffi::OsStrExt;

    let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: the address of a function of this library and a local struct; zero is a value of each of its fields.
    let info = unsafe {
        let found = libc::dladdr(library_path as *const c_void, info.as_mut_ptr());
        (found != 0).then(|| info.assume_init())?
    };
    if info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: a string of the loader, which lives as long as the library.
    let file = unsafe { CStr::from_ptr(info.dli_fname) };
    Some(PathBuf::from(OsStr::from_bytes(file.to_bytes())))
}

#[cfg(not(unix))]
fn library_path() -> Option<PathBuf> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(location: &str) -> String {
        path_of(location).unwrap().display().to_string()
    }

    #[test]
    fn uris_and_paths_give_the_same_folder() {
        assert_eq!(path("/a/b c/ü"), "/a/b c/ü");
        assert_eq!(path("file:///a/b%20c/%C3%BC"), "/a/b c/ü");
        assert_eq!(path("file:///a/b c/ü"), "/a/b c/ü");
        assert_eq!(path("file:/a/b"), "/a/b");
        assert_eq!(path("FILE://localhost/a/b/"), "/a/b/");
        assert_eq!(path("/a/100%/b%2"), "/a/100%/b%2");
        assert_eq!(path("file:///a/100%/b%2"), "/a/100%/b%2");
        assert_eq!(path("relative/x"), "relative/x");
        assert_eq!(path("f"), "f");
        assert!(path_of("file://elsewhere/a").is_err());
    }

    #[test]
    #[cfg(unix)]
    fn the_library_finds_its_own_file() {
        assert!(library_path().unwrap().is_file());
    }

    #[test]
    fn a_location_without_resources_is_an_error_that_names_it() {
        let sentence = |l| load("2.0", l, "").unwrap_err().to_string();
        assert!(sentence(Some("/nowhere/x")).contains("/nowhere/x"));
        assert!(sentence(None).contains("gave no location"));
        assert!(sentence(Some("  ")).contains("gave no location"));
    }

    #[test]
    fn a_manifest_names_files_below_its_folder_only() {
        let read = |text: &str| listed(text, Path::new("r")).map(|n| n.join("|"));
        assert_eq!(
            read("biela unit 1\nm.toml\na/b.mtx\n").unwrap(),
            "m.toml|a/b.mtx"
        );
        for bad in [
            "",
            "biela unit 2\nm.toml\n",
            "biela unit 1\n",
            "biela unit 1\n../m\n",
            "biela unit 1\n/m\n",
        ] {
            assert!(read(bad).is_err(), "{bad:?}");
        }
    }
}
