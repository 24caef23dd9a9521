//! `<include file="..">`: the elements of another file in place of this one.

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::import::resource::{Resource, Resources};
use crate::import::xml::{XmlFiles, XmlNode, file_text};

/// Files that one file may include in all.
const MOST_FILES: usize = 64;

/// Replaces all `<include>` below an element by what they include.
pub fn expand(xml: &mut XmlFiles, root: XmlNode, path: &Path, resources: &Resources) -> Result<()> {
    let mut opened = vec![path.canonicalize().unwrap_or_else(|_| path.to_owned())];
    expand_in(xml, root, resources, &mut opened)
}

fn expand_in(
    xml: &mut XmlFiles,
    node: XmlNode,
    resources: &Resources,
    opened: &mut Vec<PathBuf>,
) -> Result<()> {
    let mut children = vec![];
    for child in xml.children(node) {
        if xml.tag(child) == "include" {
            let file = open(xml, child, resources, opened)?;
            expand_in(xml, file, resources, opened)?;
            // What the root of the file has stands here.
            children.append(&mut xml.elements[file].children);
        } else {
            expand_in(xml, child, resources, opened)?;
            children.push(child);
        }
    }
    xml.elements[node].children = children;
    Ok(())
}

/// Reads the file that an `<include>` names and returns its root.
fn open(
    xml: &mut XmlFiles,
    node: XmlNode,
    resources: &Resources,
    opened: &mut Vec<PathBuf>,
) -> Result<XmlNode> {
    xml.keep(node);
    let file = xml.required(node, "file")?.to_owned();
    let found = match resources.find(&file) {
        Resource::Found(found) => found,
        Resource::Missing => {
            return Err(xml.error(node, format!("<include>: there is no file \"{file}\"")));
        }
        Resource::Outside => {
            let message = format!("<include>: \"{file}\" is outside the folder of the file");
            return Err(xml.error(node, message));
        }
    };
    let real = found.canonicalize().unwrap_or_else(|_| found.clone());
    if opened.contains(&real) {
        let message = format!("<include>: \"{file}\" is included twice, or includes itself");
        return Err(xml.error(node, message));
    }
    if opened.len() >= MOST_FILES {
        return Err(xml.error(node, format!("<include>: more than {MOST_FILES} files")));
    }
    opened.push(real);
    let text = file_text(&found)?;
    let root = xml.add(&found.display().to_string(), &text)?;
    xml.keep(root);
    xml.value(root, "model");
    Ok(root)
}
