//! Terminals and icon of an FMI 3 FMU: `terminalsAndIcons/`.
//!
//! A terminal is a frame on a body: pose and twist go out, force and torque come in. It collects variables that the model has
//! anyway: those of a body or sensor, and the inputs that drive loads there.

use super::xml::Xml;
use crate::component::{Causality, Instance, Variable};
use crate::model::{ForceApplication, ForceKind, LoadDefinition};

/// The icon: a connecting rod.
pub(super) const ICON: &[u8] = include_bytes!("icon.png");

/// Pose and twist of a frame, in the order in which a terminal has them.
const POSE_AND_TWIST: [&str; 14] = [
    "x", "y", "z", "angle", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz",
];

/// A frame: a sensor, or the frame of a body.
struct TerminalFrame<'m> {
    name: &'m str,
    body: usize,
    /// In the body frame (m).
    point: [f64; 3],
}

/// The text of `terminalsAndIcons.xml`.
pub(super) fn terminals_and_icons(instance: &Instance) -> String {
    let mut xml = Xml::new();
    let version = [("fmiVersion", "3.0".to_owned())];
    xml.element("fmiTerminalsAndIcons", &version, |xml| {
        xml.element("GraphicalRepresentation", &[], |xml| {
            let mut square = [("x1", "-100"), ("y1", "-100"), ("x2", "100"), ("y2", "100")]
                .map(|(key, value)| (key, value.to_owned()))
                .to_vec();
            let icon = square.clone();
            square.push(("suggestedScalingFactorTo_mm", "0.1".to_owned()));
            xml.leaf("CoordinateSystem", &square);
            xml.leaf("Icon", &icon);
        });
        let frames: Vec<(TerminalFrame, Vec<Member>)> = (frames(instance).into_iter())
            .map(|frame| {
                let members = members(instance, &frame);
                (frame, members)
            })
            .filter(|(_, members)| members.len() > 1)
            .collect();
        if frames.is_empty() {
            return;
        }
        xml.element("Terminals", &[], |xml| {
            for (frame, members) in frames {
                terminal(xml, &frame, &members);
            }
        });
    });
    xml.finish()
}

/// Member name and variable name.
type Member = (String, String);

fn terminal(xml: &mut Xml, frame: &TerminalFrame, members: &[Member]) {
    let attributes = [
        ("name", frame.name.to_owned()),
        ("matchingRule", "plug".to_owned()),
        ("terminalKind", "biela.frame".to_owned()),
        (
            "description",
            format!(
                "Frame \"{}\": pose and twist out, force and torque in, ground axes",
                frame.name
            ),
        ),
    ];
    xml.element("Terminal", &attributes, |xml| {
        for (member, variable) in members {
            let attributes = [
                ("variableKind", "signal".to_owned()),
                ("memberName", member.clone()),
                ("variableName", variable.clone()),
            ];
            xml.leaf("TerminalMemberVariable", &attributes);
        }
    });
}

/// Sensors and bodies of the model.
fn frames(instance: &Instance) -> Vec<TerminalFrame<'_>> {
    let model = instance.model();
    let bodies = model.bodies.iter().enumerate();
    let bodies = bodies.map(|(body, b)| TerminalFrame {
        name: &b.name,
        body,
        point: [0.0; 3],
    });
    let sensors = model.sensors.iter().filter_map(|s| {
        Some(TerminalFrame {
            name: &s.name,
            body: s.body?,
            point: s.point,
        })
    });
    bodies.chain(sensors).collect()
}

/// The variables of a frame; none if its position is not among them.
fn members(instance: &Instance, frame: &TerminalFrame) -> Vec<Member> {
    let variables = instance.variables();
    let computed = |v: &&Variable| matches!(v.causality, Causality::Output | Causality::Local);
    let mut members: Vec<Member> = Vec::new();
    for field in POSE_AND_TWIST {
        let quantity = format!("{}.{field}", frame.name);
        let found = variables.iter().filter(computed);
        if let Some(variable) = found.into_iter().find(|v| v.description == quantity) {
            members.push((field.to_owned(), variable.name.clone()));
        }
    }
    let has = |field: &str| members.iter().any(|(member, _)| member == field);
    if !(has("x") && has("y")) {
        return Vec::new();
    }
    for force in &instance.model().forces {
        let ForceKind::Load { load, .. } = &force.kind else {
            continue;
        };
        let acts_here = match &force.on {
            ForceApplication::Point { body, point } => {
                let anywhere = matches!(load, LoadDefinition::Torque);
                *body == Some(frame.body) && (anywhere || *point == frame.point)
            }
            _ => false,
        };
        if !acts_here {
            continue;
        }
        let prefix = format!("{}.", force.name);
        let inputs = variables.iter().filter(|v| v.causality == Causality::Input);
        for input in inputs {
            if let Some(field) = input.description.strip_prefix(&prefix) {
                // Two loads at one frame: their members differ by the name of the load.
                let taken = members.iter().any(|(member, _)| member == field);
                let member = if taken { &input.description } else { field };
                members.push((member.to_owned(), input.name.clone()));
            }
        }
    }
    members
}
