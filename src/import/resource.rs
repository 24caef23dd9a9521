//! Files that a file names: relative paths, `package://` and `file://`. Nothing outside the folder of the file, its package and the
//! folders given is opened.

use std::path::{Component, Path, PathBuf};

/// Where files are sought.
pub struct Resources {
    /// Folder of the file.
    folder: PathBuf,
    /// Folders given for packages.
    given: Vec<PathBuf>,
    /// The folders above the file.
    above: Vec<PathBuf>,
}

/// What a reference leads to.
#[derive(Debug, PartialEq)]
pub enum Resource {
    /// A file that is there and allowed.
    Found(PathBuf),
    /// No such file.
    Missing,
    /// It leads out of the folders that may be read.
    Outside,
}

impl Resources {
    /// For the file `path`; `given` are the folders of `--package-path`.
    pub fn new(path: &Path, given: &[PathBuf]) -> Self {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => PathBuf::from("."),
        };
        let above = match folder.canonicalize() {
            Ok(real) => real.ancestors().map(Path::to_owned).collect(),
            Err(_) => vec![],
        };
        Self {
            folder,
            given: given.to_vec(),
            above,
        }
    }

    /// The file that a reference names.
    pub fn find(&self, reference: &str) -> Resource {
        if let Some(rest) = reference
            .strip_prefix("package://")
            .or_else(|| reference.strip_prefix("model://"))
        {
            return self.in_packages(Path::new(rest));
        }
        let plain = reference.strip_prefix("file://").unwrap_or(reference);
        let path = Path::new(plain);
        if path.is_absolute() {
            let roots = [
                &self.given[..],
                std::slice::from_ref(&self.folder),
                &self.package_root(),
            ]
            .concat();
            return self.allowed(path, &roots);
        }
        let here = std::slice::from_ref(&self.folder);
        match self.allowed(&self.folder.join(path), here) {
            // A file of the same package or of the folders given, beside the folder of this one.
            Resource::Outside => {
                let roots = [&self.given[..], &self.package_root()].concat();
                self.allowed(&self.folder.join(path), &roots)
            }
            other => other,
        }
    }

    /// The folder of the package: the nearest one above that has a `package.xml`.
    fn package_root(&self) -> Vec<PathBuf> {
        let found = self.above.iter().find(|f| f.join("package.xml").is_file());
        found.cloned().into_iter().collect()
    }

    /// `rest` is the name of the package and the path in it.
    fn in_packages(&self, rest: &Path) -> Resource {
        let mut parts = rest.components();
        let Some(Component::Normal(package)) = parts.next() else {
            return Resource::Outside;
        };
        let inner = parts.as_path();
        if inner
            .components()
            .any(|c| !matches!(c, Component::Normal(_)))
        {
            return Resource::Outside;
        }
        let of_given = self.given.iter().flat_map(|folder| {
            let itself = (folder.file_name() == Some(package)).then(|| folder.clone());
            itself.into_iter().chain([folder.join(package)])
        });
        // Above the file: a folder that has the file in it, or one that says that it is a package.
        let of_above = (self.above.iter().map(|folder| folder.join(package)))
            .filter(|root| self.above.contains(root) || root.join("package.xml").is_file());
        for root in of_given.chain(of_above) {
            if root.join(inner).is_file() {
                return self.allowed(&root.join(inner), &[root]);
            }
        }
        Resource::Missing
    }

    /// The file if it is there and really in one of the folders.
    fn allowed(&self, path: &Path, roots: &[PathBuf]) -> Resource {
        let Ok(real) = path.canonicalize() else {
            let leaves = path.components().any(|c| c == Component::ParentDir);
            return match leaves && !roots.iter().any(|root| stays_in(path, root)) {
                true => Resource::Outside,
                false => Resource::Missing,
            };
        };
        let within = |root: &PathBuf| root.canonicalize().is_ok_and(|root| real.starts_with(root));
        match roots.iter().any(within) {
            true if real.is_file() => Resource::Found(path.to_owned()),
            true => Resource::Missing,
            false => Resource::Outside,
        }
    }
}

/// Whether a path that does not exist stays in a folder if `..` are resolved by name.
fn stays_in(path: &Path, root: &Path) -> bool {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                if !plain.pop() {
                    return false;
                }
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    let root: PathBuf = (root.components())
        .filter(|c| *c != Component::CurDir)
        .collect();
    plain.starts_with(root)
}
