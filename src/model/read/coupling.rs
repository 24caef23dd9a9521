//! `type = "coupling"`, and whether couplings and motions together ask for more than there is to give: a coordinate that
//! follows from two others is one condition too many.

use std::collections::HashMap;

use super::curve::{curve, kink};
use super::names::Names;
use crate::error::Result;
use crate::model::check::Range;
use crate::model::reader::TableReader;
use crate::model::{Coupling, CouplingLaw, JointCoordinate, Model, PrescribedCoordinate};

pub fn coupling(table: &TableReader, names: &Names) -> Result<Coupling> {
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
                let message = "ratio must not be zero: the second coordinate would not move at all";
                return Err(table.refuse_value("ratio", message));
            }
            CouplingLaw::Ratio(ratio)
        }
        (false, true) => {
            let law = table.table("law")?.expect("the key is there");
            let curve = curve(&law)?;
            if let Some(x) = kink(&curve) {
                let message = format!(
                    "the pieces of a coupling must meet in value and slope; at {x} they do not, which would be a blow"
                );
                return Err(law.refuse_value("pieces", message));
            }
            CouplingLaw::Curve(curve)
        }
    };
    Ok(Coupling {
        coordinates: [first, second],
        law,
    })
}

/// Coordinates tied together by couplings: each set by one of its members.
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

/// Refuses circles of couplings and coordinates that are driven twice, also by way of couplings.
pub fn tied_together(joints: &[TableReader], motions: &[TableReader], model: &Model) -> Result<()> {
    let mut sets = Sets::default();
    for (table, joint) in joints.iter().zip(&model.joints) {
        let Some(coupling) = &joint.coupling else {
            continue;
        };
        let [a, b] = coupling.coordinates.map(|c| sets.of(c));
        if a == b {
            let [from, to] = coupling.coordinates.map(|c| &model.joints[c.joint].name);
            let message = format!(
                "a circle: \"{from}\" and \"{to}\" are tied together already by other couplings"
            );
            return Err(table.refuse_value("joints", message));
        }
        sets.parent[b] = a;
    }
    let mut driven: HashMap<usize, (&str, JointCoordinate)> = HashMap::new();
    let mut moved: HashMap<PrescribedCoordinate, &str> = HashMap::new();
    for (table, motion) in motions.iter().zip(&model.motions) {
        let key = if table.has("joint") {
            "joint"
        } else {
            "coordinate"
        };
        if let Some(other) = moved.insert(motion.on, &motion.name) {
            let message = format!("this coordinate is already driven by motion \"{other}\"");
            return Err(table.refuse_value(key, message));
        }
        if let PrescribedCoordinate::Joint(coordinate) = motion.on
            && let Some((other, through)) =
                driven.insert(sets.of(coordinate), (&motion.name, coordinate))
        {
            let message = format!(
                "couplings tie this coordinate to joint \"{}\", which motion \"{other}\" drives already",
                model.joints[through.joint].name
            );
            return Err(table.refuse_value(key, message));
        }
    }
    Ok(())
}
