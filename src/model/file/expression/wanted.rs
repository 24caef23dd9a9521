//! The dimensions that a number may have, by the unit of its key and the table in which it stands.

use crate::model::JointKind;
use crate::model::expression::{PhysicalDimension, dimension_of};

/// Dimensions that a number may have; `None`: any.
pub(super) type Wanted = Option<Vec<PhysicalDimension>>;

/// What is known of the table in which a number stands.
#[derive(Clone, Copy, Default)]
pub(super) struct Place {
    /// The joint whose coordinates the numbers belong to, one for each.
    pub joint: Option<JointKind>,
    /// Whether they belong to an angle, if that is known.
    pub angle: Option<bool>,
    /// Whether they belong to a contact.
    pub contact: bool,
    /// Whether the two coordinates of a coupling are angles.
    pub coupled: Option<[bool; 2]>,
}

pub(super) fn time() -> Wanted {
    Some(vec![PhysicalDimension::TIME])
}

/// y over the k-th power of x, where x has one dimension.
pub(super) fn over_power(y: &Wanted, x: &Wanted, k: usize) -> Wanted {
    let [x] = x.as_ref()?[..] else {
        return None;
    };
    let power = x.to_the(k as f64)?;
    Some(y.as_ref()?.iter().map(|y| y.over(power)).collect())
}

/// The dimensions that the unit of a key allows: `N/m or N.m/rad`; in contacts what is behind "contacts".
pub(super) fn wanted(unit: &str, place: Place) -> Wanted {
    let parts = unit.split(" or ").flat_map(|part| part.split(", "));
    let (mut all, mut of_contacts, mut chosen) = (vec![], vec![], vec![]);
    for part in parts {
        let part = part.trim_end_matches(" ..");
        let (part, only_contacts) = match part.strip_prefix("contacts ") {
            Some(part) => (part, true),
            None => (part, false),
        };
        let dimension = dimension_of(part)?;
        if only_contacts {
            of_contacts.push(dimension);
            continue;
        }
        all.push(dimension);
        let turns = part.contains("rad") || part == "N.m";
        if place.angle == Some(turns) {
            chosen.push(dimension);
        }
    }
    if place.contact && !of_contacts.is_empty() {
        return Some(of_contacts);
    }
    Some(if chosen.is_empty() { all } else { chosen })
}

/// The dimensions of the values of pairs, whose unit is `s, rad or m`.
pub(super) fn wanted_after_comma(unit: &str, place: Place) -> Wanted {
    wanted(
        unit.split_once(", ").map_or(unit, |(_, value)| value),
        place,
    )
}
