//! Where the model of a unit is. An importer says so in many ways: a file URI with percent escapes (FMI 2), a plain path
//! (FMI 3), with or without a slash at its end, the unit's folder instead of its resources, nothing at all. In the last
//! case the library looks beside itself: it lies in `binaries/<platform>` of the same unit.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::token;
use crate::error::{Error, Result};
use crate::model::Model;

/// The list of a unit's resources: first the model, then the files it names.
pub const MANIFEST: &str = "biela.txt";
/// First line of the list.
pub const MANIFEST_HEAD: &str = "biela unit 1";
/// A list or a file larger than this is none of ours.
const LARGEST: u64 = 1 << 30;

/// Reads and checks the model of a unit. `location` is what the importer said, `token` what it wants the unit to be.
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
                "\"{found}\", the token of what is in \"{}\"; either the token is that of another unit, or the files \
                 have been changed after packing",
                folder.display()
            ),
        });
    }
    let model = names[0];
    let path = folder.join(model);
    let written = pointer_text(&contents[1].1, &path)?;
    Model::from_text_in(written, model, Some(&folder))
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
            reason: "it is not the list of a unit packed by this program".to_owned(),
        });
    }
    Ok(names)
}

/// The folder that has the list.
fn find(location: Option<&str>) -> Result<PathBuf> {
    let location = location.map(str::trim).filter(|l| !l.is_empty());
    let mut tried = Vec::new();
    let said = location.map(path_of).transpose()?;
    let own = own_path().and_then(|library| {
        // <unit>/binaries/<platform>/<library>
        Some(library.parent()?.parent()?.parent()?.join("resources"))
    });
    for folder in said
        .into_iter()
        .flat_map(|path| [path.join("resources"), path].into_iter().rev())
        .chain(own)
    {
        if folder.join(MANIFEST).is_file() {
            return Ok(folder);
        }
        tried.push(folder.display().to_string());
    }
    Err(Error::File {
        path: tried.first().cloned().unwrap_or_default(),
        reason: match location {
            Some(given) => format!("no unit's resources there (the importer said \"{given}\")"),
            None => {
                "the importer gave no place for the resources, and they are not beside the library"
                    .to_owned()
            }
        },
    })
}

/// A plain path, or the path of a file URI: `file:/x`, `file:///x`, `file://localhost/x`.
fn path_of(location: &str) -> Result<PathBuf> {
    let is_uri = location
        .get(..5)
        .is_some_and(|head| head.eq_ignore_ascii_case("file:"));
    if !is_uri {
        return Ok(PathBuf::from(location));
    }
    let rest = &location[5..];
    let path = match rest.strip_prefix("//") {
        // An authority: nobody, or this machine.
        Some(after) => match after.find('/') {
            Some(0) => after,
            Some(end) if after[..end].eq_ignore_ascii_case("localhost") => &after[end..],
            // file://C:/x and the like, seen in the wild.
            _ if after.get(1..2) == Some(":") => after,
            _ => {
                return Err(Error::Argument {
                    name: "resource location".to_owned(),
                    value: format!("\"{location}\""),
                    expected: "a file of this machine".to_owned(),
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

/// Percent escapes resolved; a percent sign that begins none is left as it is.
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
    let size = std::fs::metadata(path)
        .map_err(|e| failure(e.to_string()))?
        .len();
    if size > LARGEST {
        return Err(failure(format!("it is too large: {size} bytes")));
    }
    std::fs::read(path).map_err(|e| failure(e.to_string()))
}

fn text(path: &Path) -> Result<String> {
    let bytes = bytes(path)?;
    Ok(pointer_text(&bytes, path)?.to_owned())
}

fn pointer_text<'b>(bytes: &'b [u8], path: &Path) -> Result<&'b str> {
    std::str::from_utf8(bytes).map_err(|_| Error::File {
        path: path.display().to_string(),
        reason: "it is not UTF-8 text".to_owned(),
    })
}

/// The file this code was loaded from.
#[cfg(unix)]
fn own_path() -> Option<PathBuf> {
    use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
    use std::os::unix::ffi::OsStrExt;

    /// `Dl_info` of dlfcn.h.
    #[repr(C)]
    struct DlInfo {
        file: *const c_char,
        base: *mut c_void,
        symbol: *const c_char,
        address: *mut c_void,
    }
    unsafe extern "C" {
        fn dladdr(address: *const c_void, info: *mut DlInfo) -> c_int;
    }

    let mut info = DlInfo {
        file: std::ptr::null(),
        base: std::ptr::null_mut(),
        symbol: std::ptr::null(),
        address: std::ptr::null_mut(),
    };
    // SAFETY: the address of a function of this library and a struct of ours.
    let found = unsafe { dladdr(own_path as *const c_void, &raw mut info) };
    if found == 0 || info.file.is_null() {
        return None;
    }
    // SAFETY: the loader's own string, which lives as long as the library.
    let file = unsafe { CStr::from_ptr(info.file) };
    Some(PathBuf::from(OsStr::from_bytes(file.to_bytes())))
}

#[cfg(not(unix))]
fn own_path() -> Option<PathBuf> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(location: &str) -> String {
        path_of(location).unwrap().display().to_string()
    }

    #[test]
    fn uris_and_plain_paths_give_the_same_place() {
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
    fn the_library_knows_its_own_file() {
        assert!(own_path().unwrap().is_file());
    }

    #[test]
    fn a_place_without_resources_is_refused_by_name() {
        let sentence = |l| load("2.0", l, "").unwrap_err().to_string();
        assert!(sentence(Some("/nowhere/x")).contains("/nowhere/x"));
        assert!(sentence(None).contains("gave no place"));
        assert!(sentence(Some("  ")).contains("gave no place"));
    }

    #[test]
    fn a_list_names_files_below_its_folder_only() {
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
