//! `pid`: keys and reader.

use super::{Element, FINITE, ForceReader, HEAD, JOINT, NON_NEGATIVE, POSITIVE, of};
use crate::error::Result;
use crate::model::file::keys::{Key, KeyGroup, KeyKind, REQUIRED};
use crate::model::file::table::TableReader;
use crate::model::validate::Range;
use crate::model::{ForceApplication, ForceKind, ForceType, PidDefinition};

#[rustfmt::skip]
pub(super) const PID: KeyGroup = of(
    ForceType::Pid,
    "A PID controller on a joint coordinate: proportional e + integral times the integral of e + derivative de/dt, \
     with e = set_point - coordinate; positive increases the coordinate. Its integral part belongs to the state.",
    &[
        &HEAD,
        &[
            Key {
                default: REQUIRED,
                ..JOINT
            },
            Key::new("set_point", FINITE, "rad or m", "0", "value that the coordinate is to have; can be driven by an input"),
            Key::new("proportional", NON_NEGATIVE, "N/m or N.m/rad", "0", "gain of the error"),
            Key::new("integral", NON_NEGATIVE, "N/m/s or N.m/rad/s", "0", "gain of the integral of the error"),
            Key::new("derivative", NON_NEGATIVE, "N.s/m or N.m.s/rad", "0", "gain of the rate of the error"),
            Key::new("limits", KeyKind::Numbers(2, 2), "N or N.m", "none",
                "[lower, upper]: limits of the force or torque"),
            Key::new("tracking_time", POSITIVE, "s", "sqrt(derivative/integral), without derivative proportional/integral",
                "at a limit the integral part follows in this time, so that it does not wind up"),
            Key::new("integral_start", FINITE, "N or N.m", "0", "integral part of the force or torque at the start"),
        ],
    ],
);

/// Reads `pid`.
pub(super) fn pid(reader: &ForceReader) -> Result<Element> {
    let ForceReader { table, names, .. } = reader;
    let joint = table.needed_text("joint", "the joint it acts in")?;
    let (coordinate, _) = names.coordinate(table, joint, table.offset_of("joint"))?;
    let gain = |key| Ok(table.number(key, Range::NonNegative)?.unwrap_or(0.0));
    let pid = PidDefinition {
        set_point: table.number("set_point", Range::Finite)?.unwrap_or(0.0),
        proportional: gain("proportional")?,
        integral: gain("integral")?,
        derivative: gain("derivative")?,
        limits: limits(table, "limits")?,
        tracking_time: 1.0,
        start: table
            .number("integral_start", Range::Finite)?
            .unwrap_or(0.0),
    };
    if !["proportional", "integral", "derivative"]
        .iter()
        .any(|key| table.has(key))
    {
        return Err(table.refuse(
            "\"proportional\" is missing: expected at least one of the gains proportional, integral and derivative",
        ));
    }
    let tracking_time = tracking_time(table, &pid)?;
    let kind = ForceKind::Pid(PidDefinition {
        tracking_time,
        ..pid
    });
    Ok((kind, ForceApplication::Joint(coordinate)))
}

/// Lower and upper limit.
pub(super) fn limits(table: &TableReader, key: &str) -> Result<Option<[f64; 2]>> {
    let expected = "[lower, upper] with lower < upper";
    match table.numbers(key, expected, 2)?.as_deref() {
        None => Ok(None),
        Some(&[lower, upper]) if lower < upper => Ok(Some([lower, upper])),
        Some(other) => {
            let message = format!("expected {expected}, found {other:?}");
            Err(table.refuse_value(key, message))
        }
    }
}

/// The given tracking time, or the usual one: the mean of the integral time P/K and the derivative time D/P.
fn tracking_time(table: &TableReader, pid: &PidDefinition) -> Result<f64> {
    if let Some(time) = table.number("tracking_time", Range::Positive)? {
        if pid.limits.is_none() {
            let message = "a \"tracking_time\" belongs to \"limits\", which are missing";
            return Err(table.refuse_key("tracking_time", message));
        }
        return Ok(time);
    }
    let usual = if pid.derivative > 0.0 {
        (pid.derivative / pid.integral).sqrt()
    } else {
        pid.proportional / pid.integral
    };
    if pid.integral == 0.0 || pid.limits.is_none() {
        // Nothing is integrated, or nothing is limited: any time will do.
        Ok(1.0)
    } else if usual > 0.0 && usual.is_finite() {
        Ok(usual)
    } else {
        Err(table.refuse(
            "\"tracking_time\" is missing: a controller with limits and integral gain alone has no usual one, expected a \
             finite number > 0 (s)",
        ))
    }
}
