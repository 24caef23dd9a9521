//! Dry friction of joints and contacts, end stops of joints.

use super::contact::rigid;
use crate::error::Result;
use crate::model::check::Range;
use crate::model::document::NodeValue;
use crate::model::keys::FRICTION;
use crate::model::reader::TableReader;
use crate::model::{FrictionDefinition, JointKind, JointLimits, LimitLaw};

/// Where the static level has turned into the kinetic one, unless said, in stiction velocities.
const STRIBECK: f64 = 10.0;

/// `{ kinetic = .., static = .., stiction_velocity = .., stribeck_velocity = .., viscous = .. }`
pub fn friction(table: &TableReader) -> Result<FrictionDefinition> {
    table.keys_among(&FRICTION)?;
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
    let stiction_velocity = table.needed_number("stiction_velocity", Range::Positive)?;
    Ok(FrictionDefinition {
        kinetic,
        r#static,
        stiction_velocity,
        stribeck_velocity: (table.number("stribeck_velocity", Range::Positive)?)
            .unwrap_or(STRIBECK * stiction_velocity),
        viscous: table.number("viscous", Range::NonNegative)?.unwrap_or(0.0),
    })
}

/// One for each coordinate of a joint.
pub fn frictions(table: &TableReader, kind: JointKind) -> Result<Vec<Option<FrictionDefinition>>> {
    if !table.has("friction") {
        return Ok(vec![]);
    }
    let count = kind.coordinates(table.dimension());
    if count == 0 {
        return Err(table.refuse_key(
            "friction",
            "this joint has no coordinate that is a number: it takes no friction",
        ));
    }
    if count == 1 {
        let own = table.table("friction")?.expect("the key is there");
        return Ok(vec![Some(friction(&own)?)]);
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
                friction(own).map(Some)
            }
        })
        .collect()
}

/// End stops, one pair for each coordinate of a joint.
pub fn limits(table: &TableReader, kind: JointKind) -> Result<Vec<Option<JointLimits>>> {
    if !table.has("limits") {
        for key in ["stiffness", "damping", "restitution", "rest_speed"] {
            if table.has(key) {
                let message = format!("{key} is that of the end stops: it needs \"limits\"");
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
    let stop = stop(table)?;
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

/// What the end stops of a joint are: compliant or rigid.
fn stop(table: &TableReader) -> Result<LimitLaw> {
    if table.has("restitution") {
        for key in ["stiffness", "damping"] {
            if table.has(key) {
                let message = format!(
                    "end stops with restitution are rigid and take no {key}; leave one of the two out"
                );
                return Err(table.refuse_key(key, message));
            }
        }
        return Ok(LimitLaw::Rigid(rigid(table)?));
    }
    if table.has("rest_speed") {
        let message = "rest_speed is that of rigid end stops: it needs \"restitution\"";
        return Err(table.refuse_key("rest_speed", message));
    }
    if !table.has("stiffness") {
        return Err(table.refuse(
            "\"stiffness\" is missing: end stops have stiffness, or restitution if they are rigid",
        ));
    }
    Ok(LimitLaw::Compliant {
        stiffness: table.needed_number("stiffness", Range::Positive)?,
        damping: table.number("damping", Range::NonNegative)?.unwrap_or(0.0),
    })
}
