//! `servo`: keys and reader.

use super::pid::limits;
use super::{Element, FINITE, ForceReader, HEAD, JOINT, of};
use crate::error::Result;
use crate::model::file::keys::{Key, KeyGroup, KeyKind, REQUIRED};
use crate::model::validate::Range;
use crate::model::{ForceApplication, ForceKind, ForceType, ServoDefinition};

#[rustfmt::skip]
pub(super) const SERVO: KeyGroup = of(
    ForceType::Servo,
    "An actuator on a joint coordinate: gain times the control + bias[0] + bias[1] times the coordinate + bias[2] times its \
     rate, limited; positive increases the coordinate.",
    &[
        &HEAD,
        &[
            Key {
                default: REQUIRED,
                ..JOINT
            },
            Key::new("control", FINITE, "", "0", "can be driven by an input; its unit is that of force over gain"),
            Key::new("gain", FINITE, "N or N.m", "1", "force or torque for a unit of the control"),
            Key::new("bias", KeyKind::Numbers(3, 3), "", "zero",
                "[constant, factor of the coordinate, factor of its rate], in SI units"),
            Key::new("control_limits", KeyKind::Numbers(2, 2), "", "none",
                "[lower, upper]: the control counts no further"),
            Key::new("limits", KeyKind::Numbers(2, 2), "N or N.m", "none",
                "[lower, upper]: limits of the force or torque"),
        ],
    ],
);

/// Reads `servo`.
pub(super) fn servo(reader: &ForceReader) -> Result<Element> {
    let ForceReader { table, names, .. } = reader;
    let joint = table.needed_text("joint", "the joint it acts in")?;
    let (coordinate, _) = names.coordinate(table, joint, table.offset_of("joint"))?;
    let expected = "three numbers: constant, factor of the coordinate, factor of its rate";
    let bias = match table.numbers("bias", expected, 3)?.as_deref() {
        None => [0.0; 3],
        Some(&[constant, of_coordinate, of_rate]) => [constant, of_coordinate, of_rate],
        Some(_) => return Err(table.refuse_value("bias", format!("bias must be {expected}"))),
    };
    let kind = ForceKind::Servo(ServoDefinition {
        control: table.number("control", Range::Finite)?.unwrap_or(0.0),
        gain: table.number("gain", Range::Finite)?.unwrap_or(1.0),
        bias,
        control_limits: limits(table, "control_limits")?,
        limits: limits(table, "limits")?,
    });
    Ok((kind, ForceApplication::Joint(coordinate)))
}
