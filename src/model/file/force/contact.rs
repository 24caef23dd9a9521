//! `contact`: keys and reader. A point, ball or disc against a plane, a ball or a curve.

use super::friction::{FRICTION, REST_SPEED, RESTITUTION, RESTITUTION_LAW, friction};
use super::{BODIES, Element, ForceReader, HEAD, NON_NEGATIVE, POSITIVE, of};
use crate::error::Result;
use crate::model::file::keys::{Key, KeyDimension, KeyGroup, KeyKind, REQUIRED};
use crate::model::file::table::TableReader;
use crate::model::validate::Range;
use crate::model::{
    ContactDefinition, ContactLaw, ForceApplication, ForceKind, ForceType, RestitutionLaw,
    RigidImpact, Surface, SurfaceOutline,
};

#[rustfmt::skip]
pub(super) const PLANE: [Key; 2] = [
    Key::new("point", KeyKind::Vector, "m", "zero", "on it, in the first body's frame"),
    Key::new("normal", KeyKind::Vector, "", REQUIRED, "out of the material, in the first body's frame"),
];

#[rustfmt::skip]
pub(super) const SPHERE: [Key; 2] = [
    Key::new("point", KeyKind::Vector, "m", "zero", "centre, in the first body's frame"),
    Key::new("radius", NON_NEGATIVE, "m", REQUIRED, "zero is a point"),
];

#[rustfmt::skip]
pub(super) const OUTLINE: [Key; 5] = [
    Key::new("points", KeyKind::Vectors(None), "m", REQUIRED,
        "in the first body's frame; the material of an open curve is on its right"),
    Key::new("closed", KeyKind::Flag, "", "false",
        "the last point is joined to the first, the material is inside"),
    Key::new("hollow", KeyKind::Flag, "", "false", "closed curve with the material outside"),
    Key::new("smooth", KeyKind::Flag, "", "false", "a spline through the points instead of straight pieces"),
    Key::new("depth", POSITIVE, "m", "a tenth of its size",
        "largest penetration; a body deeper inside is assigned to another side"),
];

#[rustfmt::skip]
pub(super) const CONTACT: KeyGroup = KeyGroup {
    either: &[&["plane"], &["sphere"], &["curve"]],
    ..of(
        ForceType::Contact,
        "A point, ball or disc of the second body against a plane, ball or curve of the first: compliant with stiffness, rigid with restitution.",
        &[
            &HEAD,
            &[
                Key {
                    default: REQUIRED,
                    ..BODIES
                },
                Key::new("plane", KeyKind::Table(&PLANE), "", "one of these", "{ point = .., normal = .. }"),
                Key::new("sphere", KeyKind::Table(&SPHERE), "", "one of these",
                    "{ point = .., radius = .. }, in the plane a disc"),
                Key::new("curve", KeyKind::Table(&OUTLINE), "", "one of these", "{ points = [..], .. }")
                .only(KeyDimension::Plane),
                Key::new("point", KeyKind::Vector, "m", "zero",
                    "centre of the ball or disc, in the second body's frame"),
                Key::new("radius", NON_NEGATIVE, "m", "0", "of the ball or disc; zero is a point"),
                Key::new("law", KeyKind::Choice(&["spring_damper", "hunt_crossley"]), "", "\"spring_damper\"",
                    "k d + c d' or k d^n (1 + c d') of the penetration d, never negative"),
                Key::new("stiffness", POSITIVE, "N/m, N/m^n", "this or restitution", "k"),
                Key::new("damping", NON_NEGATIVE, "N.s/m, s/m", "0", "c"),
                Key::new("exponent", KeyKind::Number(Range::Positive), "", "1.5", "n >= 1 of hunt_crossley"),
                RESTITUTION,
                REST_SPEED,
                RESTITUTION_LAW,
                Key::new("friction", KeyKind::Table(&FRICTION), "", "none",
                    "{ kinetic = .. }; compliant contacts need stiction_velocity"),
            ],
        ],
    )
};

/// Reads `contact`.
pub(super) fn contact(reader: &ForceReader) -> Result<Element> {
    let ForceReader { table, names, .. } = reader;
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
            .map(|own| friction(&own, matches!(law, ContactLaw::Rigid(_))))
            .transpose()?,
    });
    let points = [first, table.vector("point")?.unwrap_or_default()];
    Ok((kind, ForceApplication::Points { bodies, points }))
}

/// Reads the impact law of a rigid contact or limit.
pub(super) fn rigid(table: &TableReader) -> Result<RigidImpact> {
    Ok(RigidImpact {
        restitution: table.needed_number("restitution", Range::Part)?,
        rest_speed: table.number("rest_speed", Range::NonNegative)?,
        law: table
            .choice("restitution_law", &RestitutionLaw::ALL)?
            .unwrap_or_default(),
    })
}

fn compliant(table: &TableReader) -> Result<ContactLaw> {
    for key in ["rest_speed", "restitution_law"] {
        if table.has(key) {
            let message = format!("{key} is that of a rigid contact: it needs \"restitution\"");
            return Err(table.refuse_key(key, message));
        }
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
                "exponent must be at least 1: with less the contact would be infinitely stiff at d = 0; found {exponent}"
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
    table.keys_among(&PLANE);
    let normal = table.needed_direction("normal")?;
    Ok((
        Surface::Plane(normal),
        table.vector("point")?.unwrap_or_default(),
    ))
}

fn sphere(table: &TableReader) -> Result<(Surface, [f64; 3])> {
    table.keys_among(&SPHERE);
    let radius = table.needed_number("radius", Range::NonNegative)?;
    Ok((
        Surface::Sphere(radius),
        table.vector("point")?.unwrap_or_default(),
    ))
}

fn curve(table: &TableReader) -> Result<Surface> {
    table.keys_among(&OUTLINE);
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
            "a closed curve joins its ends: the last point must differ from the first",
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
