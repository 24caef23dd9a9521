//! Dry friction of joints and contacts, limits of joints: keys and reader.

use super::contact::rigid;
use super::{NON_NEGATIVE, POSITIVE};
use crate::error::Result;
use crate::model::file::document::NodeValue;
use crate::model::file::keys::{Key, KeyKind, REQUIRED};
use crate::model::file::table::TableReader;
use crate::model::validate::Range;
use crate::model::{FrictionDefinition, JointKind, JointLimits, LimitLaw, RestitutionLaw};

/// Of rigid contacts and limits.
#[rustfmt::skip]
pub(in crate::model::file) const RESTITUTION: Key = Key::new("restitution", KeyKind::Number(Range::Part), "", "none: compliant",
    "rigid, instead of stiffness: coefficient of restitution, 0 to 1");

#[rustfmt::skip]
pub(in crate::model::file) const REST_SPEED: Key = Key::new("rest_speed", NON_NEGATIVE, "m/s or rad/s", "1e-3 of the speed of a fall through the mechanism's size",
    "with restitution: closing velocity below which the contact does not bounce");

#[rustfmt::skip]
pub(in crate::model::file) const RESTITUTION_LAW: Key = Key::new("restitution_law", KeyKind::Choice(&RestitutionLaw::NAMES), "", "newton",
    "restitution is a ratio of velocities (newton) or of impulses (poisson)");

/// Of contacts and joints.
#[rustfmt::skip]
pub(in crate::model::file) const FRICTION: [Key; 5] = [
    Key::new("kinetic", NON_NEGATIVE, "N or N.m, contacts 1", REQUIRED,
        "kinetic level; in contacts the coefficient of friction"),
    Key::new("static", NON_NEGATIVE, "N or N.m, contacts 1", "kinetic", "static level"),
    Key::new("stiction_velocity", POSITIVE, "m/s or rad/s", "none in rigid contacts: set-valued",
        "regularised: below this speed the bodies creep instead of sticking"),
    Key::new("stribeck_velocity", POSITIVE, "m/s or rad/s", "10 stiction_velocity; 0 without it",
        "speed of the transition from the static to the kinetic level"),
    Key::new("viscous", NON_NEGATIVE, "N.s/m or N.m.s/rad, contacts s/m", "0", "viscous coefficient"),
];

/// `{ kinetic = .., static = .., stiction_velocity = .., stribeck_velocity = .., viscous = .. }`
///
/// Without a stiction velocity the bodies stick, if they `may_stick`.
pub(super) fn friction(table: &TableReader, may_stick: bool) -> Result<FrictionDefinition> {
    table.keys_among(&FRICTION);
    let kinetic = table.needed_number("kinetic", Range::NonNegative)?;
    let r#static = table
        .number("static", Range::NonNegative)?
        .unwrap_or(kinetic);
    if r#static < kinetic {
        let message = format!(
            "static must be at least the kinetic level {kinetic}, found {}",
            r#static
        );
        return Err(table.refuse_value("static", message));
    }
    Ok(FrictionDefinition {
        kinetic,
        r#static,
        stiction_velocity: if may_stick {
            table.number("stiction_velocity", Range::Positive)?
        } else {
            Some(table.needed_number("stiction_velocity", Range::Positive)?)
        },
        stribeck_velocity: table.number("stribeck_velocity", Range::Positive)?,
        viscous: table.number("viscous", Range::NonNegative)?.unwrap_or(0.0),
    })
}

/// Reads the friction of each coordinate of a joint.
pub(in crate::model::file) fn frictions(
    table: &TableReader,
    kind: JointKind,
) -> Result<Vec<Option<FrictionDefinition>>> {
    if !table.has("friction") {
        return Ok(vec![]);
    }
    let count = match kind {
        JointKind::Spherical => 1,
        kind => kind.coordinates(table.dimension()),
    };
    if count == 0 {
        return Err(table.refuse_key(
            "friction",
            "this joint has no coordinate that is a number: it takes no friction",
        ));
    }
    if count == 1 {
        let own = table.table("friction")?.expect("the key is there");
        return Ok(vec![Some(friction(&own, false)?)]);
    }
    let single =
        (table.get("friction")).is_some_and(|e| matches!(e.node.value, NodeValue::Table(_)));
    if single || table.tables("friction")?.len() != count {
        let message = format!(
            "friction must be a list of {count} tables, one for each coordinate, {{}} where there is none"
        );
        return Err(table.refuse_value("friction", message));
    }
    (table.tables("friction")?.iter())
        .map(|own| {
            if own.is_empty() {
                Ok(None)
            } else {
                friction(own, false).map(Some)
            }
        })
        .collect()
}

/// Reads the limits of each coordinate of a joint.
pub(in crate::model::file) fn limits(
    table: &TableReader,
    kind: JointKind,
) -> Result<Vec<Option<JointLimits>>> {
    if !table.has("limits") {
        for key in [
            "stiffness",
            "damping",
            "restitution",
            "rest_speed",
            "restitution_law",
        ] {
            if table.has(key) {
                let message = format!("{key} belongs to the limits: it needs \"limits\"");
                return Err(table.refuse_key(key, message));
            }
        }
        return Ok(vec![]);
    }
    let count = kind.coordinates(table.dimension());
    let pairs = if count == 1 {
        vec![table.needed_numbers("limits", "two numbers [lowest, highest]", 2)?]
    } else {
        let expected = format!(
            "a list of {count} pairs [lowest, highest], one for each coordinate, [] where it is free"
        );
        let pairs = table.lists("limits", &expected)?;
        if pairs.len() != count {
            return Err(table.refuse_value("limits", format!("limits must be {expected}")));
        }
        pairs
    };
    let stop = limit_law(table)?;
    (pairs.into_iter())
        .map(|pair| match pair[..] {
            [] if count > 1 => Ok(None),
            [low, high] if low < high => Ok(Some(JointLimits {
                range: [low, high],
                stop,
            })),
            [low, high] => {
                let message =
                    format!("the lowest value must be below the highest, found [{low}, {high}]");
                Err(table.refuse_value("limits", message))
            }
            _ => Err(table.refuse_value("limits", "limits are two numbers [lowest, highest]")),
        })
        .collect()
}

/// Reads the law of the limits: compliant or rigid.
fn limit_law(table: &TableReader) -> Result<LimitLaw> {
    if table.has("restitution") {
        for key in ["stiffness", "damping"] {
            if table.has(key) {
                let message = format!(
                    "limits with restitution are rigid and take no {key}; leave one of the two out"
                );
                return Err(table.refuse_key(key, message));
            }
        }
        return Ok(LimitLaw::Rigid(rigid(table)?));
    }
    for key in ["rest_speed", "restitution_law"] {
        if table.has(key) {
            let message = format!("{key} belongs to rigid limits: it needs \"restitution\"");
            return Err(table.refuse_key(key, message));
        }
    }
    if !table.has("stiffness") {
        return Err(table.refuse(
            "\"stiffness\" is missing: limits have stiffness, or restitution if they are rigid",
        ));
    }
    Ok(LimitLaw::Compliant {
        stiffness: table.needed_number("stiffness", Range::Positive)?,
        damping: table.number("damping", Range::NonNegative)?.unwrap_or(0.0),
    })
}
