//! `type = "coupling"`: reader, and the check that couplings and motions are not redundant: no coordinate may be determined
//! twice.

use std::collections::HashMap;

use crate::error::Result;
use crate::model::file::curve::curve;
use crate::model::file::names::Names;
use crate::model::file::table::TableReader;
use crate::model::validate::Range;
use crate::model::{Coupling, CouplingLaw, Joint, JointCoordinate, Model, PrescribedCoordinate};

pub(super) fn coupling(table: &TableReader, names: &Names) -> Result<Coupling> {
    if table.has("ratios") {
        return sum(table, names);
    }
    let [(from, from_at), (to, to_at)] =
        table.two_texts("joints", "the names of two joints [from, to]")?;
    let (first, _) = names.coordinate(table, from, from_at)?;
    let (second, _) = names.coordinate(table, to, to_at)?;
    if first == second {
        let message = format!("a coupling needs two coordinates, found \"{from}\" twice");
        return Err(table.refuse_at(to_at, message));
    }
    let law = match (table.has("ratio"), table.has("law")) {
        (true, true) => {
            return Err(table.refuse_key("law", "give either \"ratio\" or \"law\", not both"));
        }
        (false, false) => {
            return Err(table.refuse(
                "\"ratio\" is missing: expected ratio = .. (gear, rack) or law = { .. } (cam)",
            ));
        }
        (true, false) => {
            let ratio = table.needed_number("ratio", Range::Finite)?;
            if ratio == 0.0 {
                let message = "ratio must not be zero: the second coordinate would be constant";
                return Err(table.refuse_value("ratio", message));
            }
            CouplingLaw::Ratio(ratio)
        }
        (false, true) => {
            let law = table.table("law")?.expect("the key is there");
            let curve = curve(&law)?;
            if let Some(x) = curve.discontinuity() {
                let (key, what) = match law.has("pieces") {
                    true => ("pieces", "the pieces"),
                    false => ("interpolation", "the lines"),
                };
                let message = format!(
                    "{what} of a coupling must meet in value and slope; at {x} they do not, which would cause an impact"
                );
                return Err(law.refuse_value(key, message));
            }
            CouplingLaw::Curve(curve)
        }
    };
    Ok(Coupling {
        coordinates: [first, second],
        law,
        summands: vec![],
    })
}

/// A coupling with ratios: the last coordinate is a sum of the others.
fn sum(table: &TableReader, names: &Names) -> Result<Coupling> {
    for key in ["ratio", "law"] {
        if table.has(key) {
            let message =
                format!("give one of \"ratio\", \"ratios\" and \"law\", not also \"{key}\"");
            return Err(table.refuse_key(key, message));
        }
    }
    let given = table.texts(
        "joints",
        "the names of the joints, last the one that follows",
    )?;
    let ratios = table.needed_numbers("ratios", "one number for each joint but the last", 1)?;
    if given.len() != ratios.len() + 1 {
        let message = format!(
            "ratios must be one number for each joint but the last: {} for {} joints, found {}",
            given.len().saturating_sub(1),
            given.len(),
            ratios.len()
        );
        return Err(table.refuse_value("ratios", message));
    }
    if ratios.contains(&0.0) {
        let message = "ratios must not be zero: leave out the joint that does not count";
        return Err(table.refuse_value("ratios", message));
    }
    let mut coordinates = vec![];
    for (name, at) in given {
        let (coordinate, _) = names.coordinate(table, name, at)?;
        if coordinates.contains(&coordinate) {
            let message = format!("a coupling needs different coordinates, found \"{name}\" twice");
            return Err(table.refuse_at(at, message));
        }
        coordinates.push(coordinate);
    }
    let last = coordinates.pop().expect("there is one more than ratios");
    let mut others = coordinates.into_iter().zip(ratios);
    let (first, ratio) = others.next().expect("there is a ratio");
    Ok(Coupling {
        coordinates: [first, last],
        law: CouplingLaw::Ratio(ratio),
        summands: others.collect(),
    })
}

/// Sets of coordinates related by couplings (union-find).
#[derive(Default)]
struct Sets {
    index: HashMap<JointCoordinate, usize>,
    parent: Vec<usize>,
}

impl Sets {
    fn of(&mut self, coordinate: JointCoordinate) -> usize {
        let fresh = self.parent.len();
        let mut i = *self.index.entry(coordinate).or_insert(fresh);
        if i == fresh {
            self.parent.push(fresh);
        }
        while self.parent[i] != i {
            self.parent[i] = self.parent[self.parent[i]];
            i = self.parent[i];
        }
        i
    }
}

/// Reports closed chains of couplings, and coordinates driven twice directly or through couplings.
pub(in crate::model::file) fn check_couplings(
    joints: &[TableReader],
    motions: &[TableReader],
    model: &Model,
) {
    let mut sets = Sets::default();
    // Those of parts come first; each part is consistent in itself.
    let (of_parts, own) = model.joints.split_at(model.joints.len() - joints.len());
    // A sum ties no two of its coordinates to each other.
    let of_two = |joint: &&Joint| (joint.coupling.as_ref()).is_some_and(|c| c.summands.is_empty());
    for coupling in (of_parts.iter().filter(of_two)).filter_map(|joint| joint.coupling.as_ref()) {
        let [a, b] = coupling.coordinates.map(|c| sets.of(c));
        sets.parent[b] = a;
    }
    for (table, joint) in joints.iter().zip(own) {
        let Some(coupling) = joint.coupling.as_ref().filter(|_| of_two(&joint)) else {
            continue;
        };
        let [a, b] = coupling.coordinates.map(|c| sets.of(c));
        if a == b {
            let [from, to] = coupling.coordinates.map(|c| &model.joints[c.joint].name);
            let message = format!(
                "a circle: \"{from}\" and \"{to}\" are tied together already by other couplings"
            );
            table.report_value(table.refuse_value("joints", message));
            continue;
        }
        sets.parent[b] = a;
    }
    let mut driven: HashMap<usize, (&str, JointCoordinate)> = HashMap::new();
    let mut moved: HashMap<PrescribedCoordinate, &str> = HashMap::new();
    let (of_parts, own) = model.motions.split_at(model.motions.len() - motions.len());
    for motion in of_parts {
        moved.insert(motion.on, &motion.name);
        if let PrescribedCoordinate::Joint(coordinate) = motion.on {
            driven.insert(sets.of(coordinate), (&motion.name, coordinate));
        }
    }
    for (table, motion) in motions.iter().zip(own) {
        let key = if table.has("joint") {
            "joint"
        } else {
            "coordinate"
        };
        if let Some(other) = moved.insert(motion.on, &motion.name) {
            let message = format!("this coordinate is already driven by motion \"{other}\"");
            table.report_value(table.refuse_value(key, message));
            continue;
        }
        if let PrescribedCoordinate::Joint(coordinate) = motion.on
            && let Some((other, through)) =
                driven.insert(sets.of(coordinate), (&motion.name, coordinate))
        {
            let message = format!(
                "couplings tie this coordinate to joint \"{}\", which motion \"{other}\" drives already",
                model.joints[through.joint].name
            );
            table.report_value(table.refuse_value(key, message));
        }
    }
}
