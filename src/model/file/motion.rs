//! `[[motion]]`: keys and reader. The law decides which keys the table has.

use super::curve::{INTERPOLATION, interpolation, polynomial};
use super::keys::{DESCRIPTION, Key, KeyDimension, KeyGroup, KeyKind, REQUIRED};
use super::names::Names;
use super::table::TableReader;
use crate::error::Result;
use crate::model::curve::is_periodic;
use crate::model::quantity::NamedElement;
use crate::model::validate::{RESERVED_ELEMENTS, Range};
use crate::model::{BodyCoordinate, Model, Motion, MotionLaw, PrescribedCoordinate};

const FINITE: KeyKind = KeyKind::Number(Range::Finite);

/// Words of the laws.
pub(super) const LAWS: [&str; 5] = ["constant_speed", "polynomial", "harmonic", "table", "input"];

#[rustfmt::skip]
const HEAD: [Key; 7] = [
    Key::new("name", KeyKind::Name, "", REQUIRED, "name of the element"),
    Key::new("joint", KeyKind::Text, "", "this, or body and coordinate",
        "the driven joint; one of several coordinates as \"name.position2\""),
    Key::new("body", KeyKind::Text, "", "this or joint", "the driven body; it has prescribed = true"),
    Key::new("coordinate", KeyKind::Choice(&["x", "y", "z", "angle"]), "", "required with body",
        "which coordinate of the body: x, y, z of its frame's origin in the ground frame, or its angle (space: rotation from the initial pose about axis)"),
    Key::new("axis", KeyKind::Vector, "", "required for a body's angle", "ground axes, any length but zero")
    .only(KeyDimension::Space),
    Key::new("law", KeyKind::Choice(&LAWS), "", REQUIRED, "motion law"),
    DESCRIPTION,
];

const fn of(
    law: &'static str,
    meaning: &'static str,
    parts: &'static [&'static [Key]],
) -> KeyGroup {
    KeyGroup {
        variant: Some(("law", law)),
        either: &[&["joint"], &["body", "coordinate"]],
        ..KeyGroup::new("motion", meaning, parts)
    }
}

#[rustfmt::skip]
pub(super) const MOTIONS: [KeyGroup; 5] = [
    of(
        "constant_speed",
        "s = s0 + speed (t - t0), s0 in the initial pose, t0 the start of the experiment.",
        &[
            &HEAD,
            &[Key::new("speed", FINITE, "rad/s or m/s", REQUIRED, "of the coordinate")],
        ],
    ),
    of(
        "polynomial",
        "s = c0 + c1 t + c2 t^2 .., t the absolute time.",
        &[
            &HEAD,
            &[Key::new("coefficients", KeyKind::Numbers(1, 64), "rad or m, s", REQUIRED, "[c0, c1, ..]")],
        ],
    ),
    of(
        "harmonic",
        "s = offset + amplitude sin(2 pi frequency t + phase), t the absolute time.",
        &[
            &HEAD,
            &[
                Key::new("amplitude", FINITE, "rad or m", REQUIRED, "amplitude of the oscillation"),
                Key::new("frequency", FINITE, "Hz", REQUIRED, "frequency of the oscillation"),
                Key::new("phase", FINITE, "rad", "0", "phase at t = 0"),
                Key::new("offset", FINITE, "rad or m", "0", "mean value"),
            ],
        ],
    ),
    of(
        "table",
        "Through points; constant beyond both ends, or periodic.",
        &[
            &HEAD,
            &[
                Key::new("points", KeyKind::Pairs, "s, rad or m", REQUIRED, "[[t, s], ..], t increasing"),
                Key::new("periodic", KeyKind::Flag, "", "false",
                    "the table is periodic; its first and last s are equal"),
                INTERPOLATION,
            ],
        ],
    ),
    of(
        "input",
        "Driven from outside: an [[input]] with the target <motion>.position, .speed or .acceleration.",
        &[
            &HEAD,
            &[
                Key::new("of", KeyKind::Choice(&["position", "speed", "acceleration"]), "", "\"position\"",
                    "meaning of the input; a speed or acceleration is integrated"),
                Key::new("start", FINITE, "rad or m ..", "the coordinate in the initial pose; 0 for speed and acceleration",
                    "value until the input is set"),
            ],
        ],
    ),
];

pub(super) fn motion_keys(table: &TableReader) -> Result<()> {
    if !table.has("law") {
        // A misspelt `law` gives a better message than a missing one.
        table.keys_of_any(&MOTIONS);
    }
    let choices: Vec<(&str, usize)> = LAWS.into_iter().zip(0..).collect();
    let law = table.needed_choice("law", &choices)?;
    table.keys_of(&MOTIONS[law]);
    Ok(())
}

/// Reads a motion; bodies and joints have been read before.
pub(super) fn motion(table: &TableReader, names: &Names, model: &Model) -> Result<Motion> {
    let (name, _) = table.name(&RESERVED_ELEMENTS)?;
    let (on, axis) = match (table.text("joint")?, table.text("body")?) {
        (Some(_), Some(_)) => {
            return Err(table.refuse_key(
                "body",
                "a motion drives a \"joint\" or a \"body\", not both",
            ));
        }
        (Some(joint), None) => {
            for key in ["coordinate", "axis"] {
                if table.has(key) {
                    let message = format!(
                        "\"{key}\" is for bodies; a coordinate of a joint is named as \"joint.position2\""
                    );
                    return Err(table.refuse_key(key, message));
                }
            }
            let (coordinate, _) = names.coordinate(table, joint, table.offset_of("joint"))?;
            (PrescribedCoordinate::Joint(coordinate), [0.0; 3])
        }
        (None, Some(body)) => of_body(table, names, model, body)?,
        (None, None) => {
            return Err(table.refuse(
                "\"joint\" is missing: expected the joint that is driven, or \"body\" and \"coordinate\" of a prescribed body",
            ));
        }
    };
    let at_start = match on {
        PrescribedCoordinate::Joint(c) => model.joints[c.joint].position[c.index],
        PrescribedCoordinate::Body(..) => 0.0,
    };
    Ok(Motion {
        name: name.to_owned(),
        on,
        axis,
        law: law(table, at_start)?,
        text_position: table.text_position(),
    })
}

fn of_body(
    table: &TableReader,
    names: &Names,
    model: &Model,
    name: &str,
) -> Result<(PrescribedCoordinate, [f64; 3])> {
    let offset = table.offset_of("body");
    let body = match names.find(name) {
        Some(NamedElement::Body(body)) => body,
        _ if name == "ground" => {
            return Err(table.refuse_at(
                offset,
                "the ground does not move; use a body with prescribed = true",
            ));
        }
        other => return Err(names.not_a(table, name, offset, "body", other)),
    };
    names.must_be_read(NamedElement::Body(body))?;
    if !model.bodies[body].prescribed {
        let message = format!(
            "body \"{name}\" moves by its forces: write prescribed = true in it, or drive one of its joints"
        );
        return Err(table.refuse_at(offset, message));
    }
    const COORDINATES: [(&str, BodyCoordinate); 4] = [
        ("x", BodyCoordinate::Position(0)),
        ("y", BodyCoordinate::Position(1)),
        ("angle", BodyCoordinate::Angle),
        ("z", BodyCoordinate::Position(2)),
    ];
    let plane = table.dimension() == 2;
    let known = if plane {
        &COORDINATES[..3]
    } else {
        &COORDINATES[..]
    };
    let coordinate = table.needed_choice("coordinate", known)?;
    let axis = match (coordinate, plane) {
        (BodyCoordinate::Angle, true) => [0.0, 0.0, 1.0],
        (BodyCoordinate::Angle, false) => table.needed_direction("axis")?,
        (BodyCoordinate::Position(_), _) if table.has("axis") => {
            return Err(table.refuse_key(
                "axis",
                "\"axis\" is for an angle: x, y and z are directions already",
            ));
        }
        (BodyCoordinate::Position(_), _) => [0.0; 3],
    };
    Ok((PrescribedCoordinate::Body(body, coordinate), axis))
}

fn law(table: &TableReader, at_start: f64) -> Result<MotionLaw> {
    let finite = |key: &str| table.needed_number(key, Range::Finite);
    let or = |key: &str, default: f64| {
        table
            .number(key, Range::Finite)
            .map(|x| x.unwrap_or(default))
    };
    Ok(match table.needed_text("law", "a law")? {
        "constant_speed" => MotionLaw::ConstantSpeed {
            speed: finite("speed")?,
        },
        "polynomial" => MotionLaw::Polynomial(polynomial(table, "coefficients")?),
        "harmonic" => MotionLaw::Harmonic {
            amplitude: finite("amplitude")?,
            frequency: finite("frequency")?,
            phase: or("phase", 0.0)?,
            offset: or("offset", 0.0)?,
        },
        "table" => {
            let points = table.needed_rising_pairs("points")?;
            let periodic = table.flag("periodic")?.unwrap_or(false);
            if periodic && !is_periodic(&points) {
                let ends = [points[0][1], points[points.len() - 1][1]];
                let message = format!(
                    "a periodic table must end where it begins: first {}, last {}",
                    ends[0], ends[1]
                );
                return Err(table.refuse_value("points", message));
            }
            MotionLaw::Table {
                points,
                periodic,
                interpolation: interpolation(table)?,
            }
        }
        _ => {
            const OF: [(&str, usize); 3] = [("position", 0), ("speed", 1), ("acceleration", 2)];
            let order = table.choice("of", &OF)?.unwrap_or(0);
            let default = if order == 0 { at_start } else { 0.0 };
            MotionLaw::Input {
                order,
                start: or("start", default)?,
            }
        }
    })
}
