//! `include`: other model files as parts of this one; keys and reader.

use std::path::{Component, Path, PathBuf};

use super::body::{ROTATION, orientation};
use super::document::{Node, NodeValue};
use super::keys::{Key, KeyDimension, KeyGroup, KeyKind, REQUIRED};
use super::names::Names;
use super::read_part;
use super::table::TableReader;
use crate::error::{Error, Result};
use crate::linalg::elementary::sin_cos;
use crate::model::include::{Mount, Placement};
use crate::model::quantity::NamedElement;
use crate::model::suggest::{did_you_mean, shorten};
use crate::model::validate::{Range, is_identifier};
use crate::model::{Body, Model};

/// Deepest nesting of included files.
const DEEPEST: usize = 8;
/// Most files that one file includes.
const MOST: usize = 1000;

#[rustfmt::skip]
pub(super) const MOUNT: [Key; 5] = [
    Key::new("body", KeyKind::Text, "", "\"ground\"", "the body that takes the place of the part's ground"),
    Key::new("position", KeyKind::Vector, "m", "zero", "origin of the part's ground frame, in the frame of that body"),
    Key::new("angle", KeyKind::Number(Range::Finite), "rad", "0", "of the part's ground frame, counter-clockwise")
    .only(KeyDimension::Plane),
    Key::new("orientation", KeyKind::Numbers(4, 4), "", "[1, 0, 0, 0]",
        "of the part's ground frame: quaternion [w, x, y, z]")
    .only(KeyDimension::Space),
    Key::new("rotation", KeyKind::Table(&ROTATION), "", "none", "the same by an axis and an angle")
    .only(KeyDimension::Space),
];

#[rustfmt::skip]
pub(super) const INCLUDE: KeyGroup = KeyGroup::new(
    "include",
    "Another model file as a part: its elements and variables, under names with a prefix, moved to where it is mounted. Its solver, \
     experiment and gravity are not used.",
    &[&[
        Key::new("file", KeyKind::File, "", REQUIRED, "name of the file, in the folder of this one or below"),
        Key::new("prefix", KeyKind::Text, "", "none", "before every name of the part, such as left_"),
        Key::new("mount", KeyKind::Table(&MOUNT), "", "as it is", "where the part is: { body = \"chassis\", position = [..] }"),
        Key::new("define", KeyKind::Definitions, "", "those of the part", "values for definitions of the part"),
    ]],
);

/// A part as read, not yet mounted.
pub(super) struct Part<'a> {
    /// Its model.
    pub model: Model,
    /// Names of its elements in the whole, with the element.
    pub names: Vec<(String, NamedElement)>,
    /// The table, if it is one, and the byte of the entry.
    table: Option<TableReader<'a>>,
    root: TableReader<'a>,
    offset: usize,
    prefix: String,
}

impl Part<'_> {
    /// The byte of the entry that includes the part.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// An error at the entry that includes the part.
    pub fn refuse(&self, message: impl AsRef<str>) -> Error {
        self.root.refuse_at(self.offset, message)
    }

    /// The mount, with the body found among those of the whole.
    pub fn mount(&self, names: &Names, bodies: &dyn Fn(usize) -> Option<Body>) -> Result<Mount> {
        let plane = self.root.dimension() == 2;
        let about_z = |angle: f64| {
            let (sin, cos) = sin_cos(0.5 * angle);
            [cos, 0.0, 0.0, sin]
        };
        let mut mount = Mount {
            prefix: self.prefix.clone(),
            body: None,
            placement: Placement::IDENTITY,
            angle: 0.0,
            quaternion: [1.0, 0.0, 0.0, 0.0],
        };
        let mounted = match &self.table {
            Some(table) => table.table("mount")?,
            None => None,
        };
        let Some(table) = mounted else {
            return Ok(mount);
        };
        table.keys_among(&MOUNT);
        let position = table.vector("position")?.unwrap_or_default();
        if plane {
            mount.angle = table.number("angle", Range::Finite)?.unwrap_or(0.0);
            mount.quaternion = about_z(mount.angle);
        } else {
            mount.quaternion = orientation(&table)?;
        }
        mount.placement = Placement::new(position, mount.quaternion);
        if let Some(name) = table.text("body")? {
            let found = names.body(&table, name, table.offset_of("body"))?;
            mount.body = match found {
                None => None,
                Some(index) => {
                    let body = bodies(index).ok_or_else(|| {
                        let message = "a part is mounted on a body of this file, or on one of a part before it";
                        table.refuse_value("body", message)
                    })?;
                    let quaternion = if plane {
                        about_z(body.angle)
                    } else {
                        body.orientation
                    };
                    Some((index, body, quaternion))
                }
            };
        }
        Ok(mount)
    }
}

/// Reads the parts of a file, and whether all could be read: mistakes are reported. `chain` has the files that lead to this one.
pub(super) fn parts<'a>(
    root: &TableReader<'a>,
    base_dir: Option<&Path>,
    chain: &[PathBuf],
) -> (Vec<Part<'a>>, bool) {
    let (mut parts, mut all) = (vec![], true);
    let items = root.settle(items(root)).unwrap_or_default();
    for (item, table) in items {
        match part(root, item, table, base_dir, chain) {
            Ok(part) => parts.push(part),
            Err(error) => {
                root.source().document.mistakes.report(error);
                all = false;
            }
        }
    }
    (parts, all)
}

/// An entry of `include`, and its table if it is one.
type IncludeEntry<'a> = (&'a Node, Option<TableReader<'a>>);

/// The entries of `include`.
fn items<'a>(root: &TableReader<'a>) -> Result<Vec<IncludeEntry<'a>>> {
    let Some(entry) = root.get("include") else {
        return Ok(vec![]);
    };
    let NodeValue::Array(items) = &entry.node.value else {
        return Err(root.wrong(
            "include",
            "an array of files, or [[include]] tables",
            &entry.node,
        ));
    };
    if items.len() > MOST {
        let message = format!(
            "include has {} entries; at most {MOST} are read",
            items.len()
        );
        return Err(root.refuse_key("include", message));
    }
    let mut tables = match items
        .iter()
        .any(|item| matches!(item.value, NodeValue::Table(_)))
    {
        true => root.tables("include")?.into_iter(),
        false => vec![].into_iter(),
    };
    let each = items.iter().map(|item| {
        let table = match &item.value {
            NodeValue::Table(_) => tables.next(),
            _ => None,
        };
        (item, table)
    });
    Ok(each.collect())
}

/// Reads the part of an entry, a name or a table.
fn part<'a>(
    root: &TableReader<'a>,
    item: &Node,
    table: Option<TableReader<'a>>,
    base_dir: Option<&Path>,
    chain: &[PathBuf],
) -> Result<Part<'a>> {
    let offset = item.span.start;
    let refuse = |message: String| root.refuse_at(offset, message);
    let (file, prefix, set) = match (&item.value, &table) {
        (NodeValue::Text(file), _) => (file.as_str(), String::new(), vec![]),
        (_, Some(table)) => {
            table.keys_of(&INCLUDE);
            let file = table.needed_text("file", "the name of a model file")?;
            // Its type is checked before the file is read.
            table.table("mount")?;
            (file, prefix(table)?, definitions(table)?)
        }
        _ => return Err(root.wrong("include", "names of files, or tables", item)),
    };
    let path = guarded(file, base_dir, chain).map_err(refuse)?;
    let mut chain = chain.to_vec();
    chain.push(path.canonicalize().unwrap_or_else(|_| path.clone()));
    let model = read_part(&path, &set, &chain).map_err(|error| match error {
        Error::File { .. } => refuse(error.to_string()),
        other => other,
    })?;
    if model.dimension != root.dimension() {
        return Err(refuse(format!(
            "\"{}\" has {} dimensions, this file has {}",
            shorten(file),
            model.dimension,
            root.dimension()
        )));
    }
    let has = |name: &str| model.definitions.iter().any(|d| d.name == name);
    if let Some((name, _)) = set.iter().find(|(name, _)| !has(name)) {
        let near = did_you_mean(name, model.definitions.iter().map(|d| &d.name));
        return Err(refuse(format!(
            "\"{}\" has no definition \"{}\"{near}",
            shorten(file),
            shorten(name)
        )));
    }
    let named = |e: NamedElement| (format!("{prefix}{}", model.name_of(e)), e);
    Ok(Part {
        names: model.elements().map(named).collect(),
        model,
        table,
        root: root.clone(),
        offset,
        prefix,
    })
}

/// The path of a part: below the folder of the file, and not one that leads to this file.
fn guarded(
    file: &str,
    base_dir: Option<&Path>,
    chain: &[PathBuf],
) -> std::result::Result<PathBuf, String> {
    let below = Path::new(file)
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !below || file.is_empty() {
        return Err(format!(
            "\"{}\" is not in the folder of this file or below: only such files are included",
            shorten(file)
        ));
    }
    let path = base_dir.map_or_else(|| PathBuf::from(file), |dir| dir.join(file));
    let real = path.canonicalize().unwrap_or_else(|_| path.clone());
    if chain.contains(&real) {
        return Err(format!(
            "\"{}\" includes itself, directly or through others",
            shorten(file)
        ));
    }
    if chain.len() >= DEEPEST {
        return Err(format!("files are included deeper than {DEEPEST} levels"));
    }
    Ok(path)
}

fn prefix(table: &TableReader) -> Result<String> {
    let prefix = table.text("prefix")?.unwrap_or_default();
    match prefix.is_empty() || is_identifier(prefix) {
        true => Ok(prefix.to_owned()),
        false => Err(table.refuse_value(
            "prefix",
            format!(
                "prefix must be letters, digits and _, not starting with a digit; found \"{}\"",
                shorten(prefix)
            ),
        )),
    }
}

/// Values for definitions of a part, in base units, by expressions of this file.
fn definitions(table: &TableReader) -> Result<Vec<(String, f64)>> {
    let Some(defined) = table.table("define")? else {
        return Ok(vec![]);
    };
    defined.each_expression()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::component::Instance;

    /// A folder of files that is removed at the end.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str, files: &[(&str, &str)]) -> Self {
            let folder = std::env::temp_dir().join(format!("biela_{name}_{}", std::process::id()));
            for (file, text) in files {
                let path = folder.join(file);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            }
            Self(folder)
        }

        fn read(&self, file: &str) -> Result<Model> {
            Model::from_file(&self.0.join(file))
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    /// A leg on a hip at the origin, hanging along -y, with a spring to the ground and a drive.
    const LEG: &str = r#"format = 1
dimension = 2
gravity = [0, -9.81]
[define]
l = "400 mm"
[[body]]
name = "leg"
description = "the thigh"
mass = 2
inertia = 0.05
position = [0, "-l/2"]
[[joint]]
name = "hip"
type = "revolute"
bodies = ["ground", "leg"]
point = [0, 0]
[[body]]
name = "foot"
mass = 0.5
inertia = 0.01
position = ["0.1 m", "-l"]
[[joint]]
name = "ankle"
type = "revolute"
bodies = ["leg", "foot"]
at = [{ point = [0, "-l/2"] }, { point = [-0.1, 0] }]
[[force]]
name = "spring"
type = "spring_damper"
bodies = ["ground", "leg"]
points = [[0.2, 0.1], [0, 0]]
stiffness = 200
damping = 2
length = 0.2
[[force]]
name = "motor"
type = "actuator"
joint = "hip"
[[sensor]]
name = "tip"
body = "foot"
point = [0.05, 0]
[[input]]
name = "tau"
target = "motor.torque"
[[signal]]
input = "tau"
law = "sine"
amplitude = 1
frequency = 2
[[output]]
name = "angle"
source = "hip.position"
[[output]]
name = "foot_angle"
source = "ankle.position"
[[parameter]]
name = "mass"
target = "leg.mass"
[[parameter]]
name = "length"
target = "define.l"
"#;

    #[test]
    fn a_part_moves_as_it_does_alone_wherever_it_is_mounted() {
        // Turned by 0.7 rad, with gravity turned alike: the angles of its joints are the same.
        let (sin, cos) = 0.7f64.sin_cos();
        let whole = format!(
            "format = 1\ndimension = 2\ngravity = [{}, {}]\n[[include]]\nfile = \"parts/leg.toml\"\nprefix = \"left_\"\n\
             mount = {{ position = [3, -2], angle = 0.7 }}\n",
            9.81 * sin,
            -9.81 * cos
        );
        let folder = Folder::new(
            "mounted",
            &[("parts/leg.toml", LEG), ("whole.toml", &whole)],
        );
        let run = |model: Model, prefix: &str| {
            let mut instance = Instance::from_model(model).unwrap();
            instance.initialize(0.0, 2.0, 1e-9).unwrap();
            let names = ["angle", "foot_angle"].map(|name| format!("{prefix}{name}"));
            let references = names.map(|name| instance.find(&name).unwrap());
            let mut found = [0.0; 2];
            instance.step(0.0, 1.0).unwrap();
            instance.get_real(&references, &mut found).unwrap();
            found
        };
        let alone = run(folder.read("parts/leg.toml").unwrap(), "");
        let model = folder.read("whole.toml").unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(model.notes.elements["left_leg"], "the thigh");
        assert!(model.parameters.iter().all(|p| p.name == "left_mass"));
        let turned = run(model, "left_");
        for k in 0..2 {
            // A thousand tolerances over a second of swinging.
            assert!((alone[k] - turned[k]).abs() < 1e-6, "{alone:?} {turned:?}");
            assert!(alone[k].abs() > 0.01, "it moves");
        }
    }

    #[test]
    fn parts_are_mounted_on_bodies_with_their_own_definitions() {
        let whole = r#"format = 1
dimension = 2
gravity = [0, -9.81]
[define]
side = "30 cm"
[[body]]
name = "chassis"
mass = 10
inertia = 1
position = [1, 2]
angle = "90 deg"
velocity = [0.5, 0]
angular_velocity = 2
[[include]]
file = "leg.toml"
prefix = "left_"
mount = { body = "chassis", position = ["side", 0] }
[[include]]
file = "leg.toml"
prefix = "right_"
mount = { body = "chassis", position = ["-side", 0], angle = "180 deg" }
define = { l = "2*side" }
[[joint]]
name = "brace"
type = "distance"
bodies = ["left_leg", "right_foot"]
points = [[0, 0], [0, 0]]
"#;
        let folder = Folder::new("carried", &[("leg.toml", LEG), ("whole.toml", whole)]);
        let model = folder.read("whole.toml").unwrap_or_else(|e| panic!("{e}"));
        let body = |name: &str| model.bodies.iter().find(|b| b.name == name).unwrap();
        let close = |a: [f64; 3], b: [f64; 3]| (0..3).all(|k| (a[k] - b[k]).abs() < 1e-12);
        // The chassis is turned by 90 degrees: its x is up. The left hip is at (1, 2.3), its leg along +x.
        assert!(
            close(body("left_leg").position, [1.2, 2.3, 0.0]),
            "{:?}",
            body("left_leg")
        );
        // v = v_c + ω × r with r = (0.2, 0.3).
        assert!(close(body("left_leg").velocity, [0.5 - 0.6, 0.4, 0.0]));
        // The right hip is at (1, 1.7), its leg of 0.6 m along -x.
        assert!(close(body("right_leg").position, [0.7, 1.7, 0.0]));
        let hip = model.joints.iter().find(|j| j.name == "right_hip").unwrap();
        let chassis = model.bodies.iter().position(|b| b.name == "chassis");
        assert_eq!(hip.bodies[0], chassis);
        let mut instance = Instance::from_model(model).unwrap();
        instance.initialize(0.0, 1.0, 0.0).unwrap();
        assert!(
            instance.start_report().unwrap().moved < 1e-9,
            "the part fits where it is"
        );
        instance.step(0.0, 0.1).unwrap();
    }

    #[test]
    fn circles_depth_paths_and_names_are_guarded() {
        let include = |file: &str| format!("format = 1\ndimension = 2\ninclude = [\"{file}\"]\n");
        let mut files: Vec<(String, String)> = vec![
            ("itself.toml".to_owned(), include("itself.toml")),
            ("a.toml".to_owned(), include("b.toml")),
            ("b.toml".to_owned(), include("a.toml")),
            ("up.toml".to_owned(), include("../leg.toml")),
            ("absolute.toml".to_owned(), include("/etc/passwd")),
            ("missing.toml".to_owned(), include("nothing.toml")),
            (
                "twice.toml".to_owned(),
                "format = 1\ndimension = 2\ninclude = [\"leg.toml\", \"leg.toml\"]\n".to_owned(),
            ),
            (
                "space.toml".to_owned(),
                "format = 1\ninclude = [\"leg.toml\"]\n".to_owned(),
            ),
            ("leg.toml".to_owned(), LEG.to_owned()),
            ("broken.toml".to_owned(), include("wrong.toml")),
            (
                "wrong.toml".to_owned(),
                "format = 1\ndimension = 2\n[[body]]\nname = \"b\"\nmass = \"1 m\"\ninertia = 1\n"
                    .to_owned(),
            ),
            (
                "undefined.toml".to_owned(),
                "format = 1\ndimension = 2\n[[include]]\nfile = \"leg.toml\"\ndefine = { k = 1 }\n"
                    .to_owned(),
            ),
        ];
        files.extend((0..12).map(|k| {
            (
                format!("deep{k}.toml"),
                include(&format!("deep{}.toml", k + 1)),
            )
        }));
        let listed: Vec<(&str, &str)> = files
            .iter()
            .map(|(a, b)| (a.as_str(), b.as_str()))
            .collect();
        let folder = Folder::new("guarded", &listed);
        for (file, fragment) in [
            ("itself.toml", "includes itself"),
            ("a.toml", "includes itself"),
            ("deep0.toml", "deeper than 8"),
            ("up.toml", "not in the folder"),
            ("absolute.toml", "not in the folder"),
            ("missing.toml", "nothing.toml"),
            ("twice.toml", "the name \"leg\" is taken"),
            ("space.toml", "has 2 dimensions, this file has 3"),
            ("broken.toml", "wrong.toml:5:8: body \"b\": mass is in kg"),
            ("undefined.toml", "has no definition \"k\""),
        ] {
            let error = folder.read(file).expect_err(file).to_string();
            assert!(error.contains(fragment), "{file}: {error}");
        }
    }
}
