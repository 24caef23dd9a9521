//! `contact`: a point, ball or disc against a plane, a ball or a curve.

use super::ForceKind;
use super::friction::friction;
use crate::error::Result;
use crate::model::check::Range;
use crate::model::keys::{OUTLINE, PLANE, SPHERE};
use crate::model::read::names::Names;
use crate::model::reader::TableReader;
use crate::model::{
    ContactDefinition, ContactLaw, ForceApplication, RigidImpact, Surface, SurfaceOutline,
};

pub fn contact(table: &TableReader, names: &Names) -> Result<(ForceKind, ForceApplication)> {
    let bodies = names.two_bodies(table)?;
    let given: Vec<&str> = ["plane", "sphere", "curve"]
        .into_iter()
        .filter(|key| table.has(key))
        .collect();
    let (surface, first) = match given[..] {
        ["plane"] => plane(&table.table("plane")?.expect("the key is there"))?,
        ["sphere"] => sphere(&table.table("sphere")?.expect("the key is there"))?,
        // The third of the three keys.
        [_] => (
            curve(&table.table("curve")?.expect("the key is there"))?,
            [0.0; 3],
        ),
        [] => {
            let expected = if table.dimension() == 2 {
                "plane, sphere or curve"
            } else {
                "plane or sphere"
            };
            return Err(table.refuse(format!("what is touched is missing: expected {expected}")));
        }
        [_, second, ..] => {
            return Err(
                table.refuse_key(second, "a contact touches one of plane, sphere and curve")
            );
        }
    };
    let law = if table.has("restitution") {
        for key in ["law", "stiffness", "damping", "exponent"] {
            if table.has(key) {
                let message = format!(
                    "a contact with restitution is rigid and takes no {key}; leave one of the two out"
                );
                return Err(table.refuse_key(key, message));
            }
        }
        ContactLaw::Rigid(rigid(table)?)
    } else {
        compliant(table)?
    };
    let radius = table.number("radius", Range::NonNegative)?.unwrap_or(0.0);
    if let Surface::Sphere(other) = surface
        && other + radius == 0.0
    {
        return Err(table.refuse("two points never touch: give one of them a radius"));
    }
    let kind = ForceKind::Contact(ContactDefinition {
        surface,
        radius,
        law,
        friction: table
            .table("friction")?
            .map(|own| friction(&own))
            .transpose()?,
    });
    let points = [first, table.vector("point")?.unwrap_or_default()];
    Ok((kind, ForceApplication::Points { bodies, points }))
}

/// Blows of a contact or an end stop.
pub fn rigid(table: &TableReader) -> Result<RigidImpact> {
    Ok(RigidImpact {
        restitution: table.needed_number("restitution", Range::Part)?,
        rest_speed: table.number("rest_speed", Range::NonNegative)?,
    })
}

fn compliant(table: &TableReader) -> Result<ContactLaw> {
    if table.has("rest_speed") {
        let message = "rest_speed is that of a rigid contact: it needs \"restitution\"";
        return Err(table.refuse_key("rest_speed", message));
    }
    let laws = [("spring_damper", false), ("hunt_crossley", true)];
    let grows = table.choice("law", &laws)?.unwrap_or(false);
    if !table.has("stiffness") {
        return Err(table.refuse(
            "\"stiffness\" is missing: a contact has stiffness, or restitution if it is rigid",
        ));
    }
    let stiffness = table.needed_number("stiffness", Range::Positive)?;
    let damping = table.number("damping", Range::NonNegative)?.unwrap_or(0.0);
    let exponent = table.number("exponent", Range::Positive)?;
    if grows {
        let exponent = exponent.unwrap_or(1.5);
        if exponent < 1.0 {
            let message = format!(
                "exponent must be at least 1: below it the contact would be infinitely stiff at first; found {exponent}"
            );
            return Err(table.refuse_value("exponent", message));
        }
        Ok(ContactLaw::HuntCrossley {
            stiffness,
            exponent,
            damping,
        })
    } else {
        if exponent.is_some() {
            return Err(
                table.refuse_key("exponent", "an exponent belongs to law = \"hunt_crossley\"")
            );
        }
        Ok(ContactLaw::SpringDamper { stiffness, damping })
    }
}

fn plane(table: &TableReader) -> Result<(Surface, [f64; 3])> {
    table.keys_among(&PLANE)?;
    let normal = table.needed_direction("normal")?;
    Ok((
        Surface::Plane(normal),
        table.vector("point")?.unwrap_or_default(),
    ))
}

fn sphere(table: &TableReader) -> Result<(Surface, [f64; 3])> {
    table.keys_among(&SPHERE)?;
    let radius = table.needed_number("radius", Range::NonNegative)?;
    Ok((
        Surface::Sphere(radius),
        table.vector("point")?.unwrap_or_default(),
    ))
}

fn curve(table: &TableReader) -> Result<Surface> {
    table.keys_among(&OUTLINE)?;
    let flag = |key: &str| Ok::<bool, crate::error::Error>(table.flag(key)?.unwrap_or(false));
    let closed = flag("closed")?;
    let hollow = flag("hollow")?;
    if hollow && !closed {
        return Err(table.refuse_key(
            "hollow",
            "only a closed curve can be hollow; write closed = true",
        ));
    }
    let points = table.vectors("points")?.unwrap_or_default();
    let fewest = if closed { 3 } else { 2 };
    if points.len() < fewest {
        let message = format!("points must be {fewest} or more, found {}", points.len());
        return Err(table.refuse_value("points", message));
    }
    for (i, pair) in points.windows(2).enumerate() {
        if pair[0] == pair[1] {
            let message = format!("points[{}] is the same as the one before", i + 1);
            return Err(table.refuse_value("points", message));
        }
    }
    if closed && points.first() == points.last() {
        return Err(table.refuse_value(
            "points",
            "a closed curve returns by itself: the last point must not be the first again",
        ));
    }
    let points: Vec<[f64; 2]> = points.into_iter().map(|p| [p[0], p[1]]).collect();
    let size = |k: usize| {
        let values = || points.iter().map(move |p| p[k]);
        values().fold(f64::NEG_INFINITY, f64::max) - values().fold(f64::INFINITY, f64::min)
    };
    let depth = table
        .number("depth", Range::Positive)?
        .unwrap_or(0.1 * size(0).max(size(1)));
    Ok(Surface::Curve(SurfaceOutline {
        points,
        closed,
        hollow,
        smooth: flag("smooth")?,
        depth,
    }))
}
