//! The mechanism as the page draws it: bodies with their shapes, joints and forces with their places in each body's frame.
//! The page has the drawing; this file has the geometry.

use serde_json::{Value, json};

use crate::linalg::elementary::sin_cos;
use crate::model::mesh_file::{TriangleMesh, meshes};
use crate::model::{
    Beam, Body, BodyRef, BodyShape, ContactDefinition, Curve, Force, ForceApplication, ForceKind,
    Joint, JointFrame, JointKind, JointPlacement, LoadDefinition, Model, PrescribedCoordinate,
    SectionOutline, Surface, TyreDefinition,
};

/// Points of a road profile that are drawn.
const ROAD_POINTS: usize = 600;

/// Everything that is drawn and does not change during the run.
pub fn scene(model: &Model, start: f64, stop: f64) -> Value {
    json!({
        "dimension": model.dimension,
        "gravity": model.gravity,
        "beams": model.beams.iter().map(beam).collect::<Vec<_>>(),
        "bodies": model.bodies.iter().zip(meshes(model)).map(|(b, m)| body(model, b, m)).collect::<Vec<_>>(),
        "joints": model.joints.iter().map(|j| joint(model, j)).collect::<Vec<_>>(),
        "forces": model.forces.iter().map(|f| force(model, f, start, stop)).collect::<Vec<_>>(),
        "sensors": model.sensors.iter().map(|s| json!({
            "name": s.name, "body": s.body, "point": s.point,
        })).collect::<Vec<_>>(),
        "driven": model.motions.iter().filter_map(|m| match m.on {
            PrescribedCoordinate::Joint(c) => Some(c.joint),
            PrescribedCoordinate::Body(..) => None,
        }).collect::<Vec<_>>(),
    })
}

/// A beam: its first node among the bodies, the orientations of element ends in corners, and its section (m).
fn beam(beam: &Beam) -> Value {
    let corners: serde_json::Map<String, Value> = (beam.corners.iter())
        .map(|(element, orientation)| (element.to_string(), json!(orientation)))
        .collect();
    json!({
        "name": beam.name,
        "first": beam.first_node,
        "elements": beam.elements,
        "corners": corners,
        "section": match beam.section.drawn_outline() {
            SectionOutline::Rectangle(sizes) => json!({ "rectangle": sizes }),
            SectionOutline::Circle(diameter) => json!({ "circle": diameter }),
            SectionOutline::Tube([diameter, _]) => json!({ "circle": diameter }),
        },
    })
}

/// Digits of the corners of a mesh, of a micrometre: more than a picture shows.
fn micrometres(x: f64) -> f64 {
    (x * 1e6).round() / 1e6
}

fn body(model: &Model, body: &Body, mesh: Option<TriangleMesh>) -> Value {
    let mut inertia = body.inertia;
    if model.dimension == 2 {
        inertia = [0.0, 0.0, body.inertia[2], 0.0, 0.0, 0.0];
    }
    json!({
        "name": body.name,
        "line": body.text_position.line,
        "mass": body.mass,
        "inertia": inertia,
        "center": body.center_of_mass,
        "prescribed": body.prescribed,
        "shape": match &body.shape {
            None => Value::Null,
            Some(BodyShape::Box(edges)) => json!({ "box": edges }),
            Some(BodyShape::Circle(radius)) => json!({ "circle": radius }),
            Some(BodyShape::Line(points)) => json!({ "line": points }),
            Some(BodyShape::Mesh(_)) => mesh.map_or(Value::Null, |mesh| json!({ "mesh": {
                "points": mesh.points.iter().map(|p| p.map(micrometres)).collect::<Vec<_>>(),
                "triangles": mesh.triangles,
            }})),
        },
    })
}

fn joint(model: &Model, joint: &Joint) -> Value {
    let axis = |frame: JointFrame| match joint.kind {
        JointKind::Revolute if model.dimension == 2 => [0.0, 0.0, 1.0],
        _ => frame.axis,
    };
    let frames = [0, 1].map(|side| {
        let frame = frame_in(model, &joint.frame, joint.bodies[side], side);
        json!({ "point": frame.point, "axis": axis(frame), "across": frame.reference_direction })
    });
    json!({
        "name": joint.name,
        "line": joint.text_position.line,
        "kind": joint.kind.name(),
        "bodies": joint.bodies,
        "frames": frames,
    })
}

/// The frame in the body on one side; ground: the ground frame.
pub(super) fn frame_in(
    model: &Model,
    place: &JointPlacement,
    body: BodyRef,
    side: usize,
) -> JointFrame {
    match (place, body) {
        (JointPlacement::BodyFrames(frames), _) => frames[side],
        (JointPlacement::InitialPose(frame), None) => *frame,
        (JointPlacement::InitialPose(frame), Some(i)) => {
            let body = &model.bodies[i];
            let arm = std::array::from_fn(|k| frame.point[k] - body.position[k]);
            JointFrame {
                point: into_body(model, body, arm),
                axis: into_body(model, body, frame.axis),
                reference_direction: into_body(model, body, frame.reference_direction),
            }
        }
        (JointPlacement::None, _) => JointFrame::default(),
    }
}

/// Components along the axes of the body in its pose as written.
fn into_body(model: &Model, body: &Body, v: [f64; 3]) -> [f64; 3] {
    if model.dimension == 2 {
        let (sin, cos) = sin_cos(body.angle);
        return [cos * v[0] + sin * v[1], cos * v[1] - sin * v[0], 0.0];
    }
    // v' = v + 2 w (u × v) + 2 u × (u × v) with the conjugate quaternion (w, u).
    let [w, x, y, z] = body.orientation;
    let u = [-x, -y, -z];
    let once = cross(u, v);
    let twice = cross(u, once);
    std::array::from_fn(|k| v[k] + 2.0 * (w * once[k] + twice[k]))
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

fn force(model: &Model, force: &Force, start: f64, stop: f64) -> Value {
    let mut value = json!({
        "name": force.name,
        "line": force.text_position.line,
        "kind": model.force_type(force).name(),
    });
    match &force.on {
        ForceApplication::Points { bodies, points } => {
            (value["bodies"], value["points"]) = (json!(bodies), json!(points));
        }
        ForceApplication::Axis {
            bodies,
            points,
            direction,
        } => {
            (value["bodies"], value["points"]) = (json!(bodies), json!(points));
            value["direction"] = json!(direction);
        }
        ForceApplication::Joint(coordinate) => {
            value["joint"] = json!(coordinate.joint);
            value["turns"] = json!(
                model.joints[coordinate.joint]
                    .kind
                    .is_angle(coordinate.index)
            );
        }
        ForceApplication::Point { body, point } => {
            value["bodies"] = json!([Value::Null, body]);
            value["points"] = json!([[0.0, 0.0, 0.0], point]);
        }
        ForceApplication::Frames { bodies, at } => {
            let points = [0, 1].map(|side| frame_in(model, at, bodies[side], side).point);
            (value["bodies"], value["points"]) = (json!(bodies), json!(points));
        }
    }
    match &force.kind {
        ForceKind::Contact(contact) => value["contact"] = self::contact(contact),
        ForceKind::Tyre(tyre) => value["tyre"] = self::tyre(tyre, start, stop),
        ForceKind::Load { load, .. } => value["torque"] = json!(*load == LoadDefinition::Torque),
        _ => {}
    }
    value
}

fn contact(contact: &ContactDefinition) -> Value {
    let mut value = json!({ "radius": contact.radius });
    match &contact.surface {
        Surface::Plane(normal) => value["plane"] = json!(normal),
        Surface::Sphere(radius) => value["sphere"] = json!(radius),
        Surface::Curve(outline) => {
            value["curve"] = json!({
                "points": outline.points,
                "closed": outline.closed,
                "smooth": outline.smooth,
            });
        }
    }
    value
}

fn tyre(tyre: &TyreDefinition, start: f64, stop: f64) -> Value {
    // The stretch of road that passes below the wheel, and a wheel more on both sides.
    let ends = [start, stop].map(|t| tyre.offset + tyre.speed * t);
    let margin = 4.0 * tyre.radius;
    let low = ends[0].min(ends[1]) - margin;
    let high = ends[0].max(ends[1]) + margin;
    let profile: Vec<[f64; 2]> = match &tyre.profile {
        None => vec![[low, 0.0], [high, 0.0]],
        Some(curve) => (0..=ROAD_POINTS)
            .map(|i| low + (high - low) * i as f64 / ROAD_POINTS as f64)
            .map(|s| [s, height(curve, s)])
            .collect(),
    };
    json!({
        "radius": tyre.radius, "up": tyre.up, "forward": tyre.forward, "height": tyre.height,
        "speed": tyre.speed, "offset": tyre.offset, "profile": profile,
    })
}

/// For drawing: points of a table are joined by straight lines.
fn height(curve: &Curve, x: f64) -> f64 {
    let polynomial = |c: &[f64]| c.iter().rev().fold(0.0, |sum, c| sum * x + c);
    match curve {
        Curve::Polynomial(c) => polynomial(c),
        Curve::Pieces(pieces) => {
            let piece = pieces.iter().find(|p| x < p.below).or(pieces.last());
            piece.map_or(0.0, |p| polynomial(&p.polynomial))
        }
        Curve::Table { points, .. } => {
            let (Some(first), Some(last)) = (points.first(), points.last()) else {
                return 0.0;
            };
            let between = points.windows(2).find(|w| w[0][0] <= x && x < w[1][0]);
            match between {
                Some(w) => w[0][1] + (w[1][1] - w[0][1]) * (x - w[0][0]) / (w[1][0] - w[0][0]),
                None if x < first[0] => first[1],
                None => last[1],
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joints_of_the_initial_pose_are_given_in_the_frame_of_each_body() {
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let model = Model {
            bodies: vec![Body {
                position: [1.0, 2.0, 3.0],
                orientation: [half, 0.0, 0.0, half], // x of the body is y of the ground
                ..Body::default()
            }],
            ..Model::default()
        };
        let place = JointPlacement::InitialPose(JointFrame {
            point: [1.0, 4.0, 3.5],
            axis: [0.0, 1.0, 0.0],
            ..JointFrame::default()
        });
        let frame = frame_in(&model, &place, Some(0), 1);
        for (found, expected) in [
            (frame.point, [2.0, 0.0, 0.5]),
            (frame.axis, [1.0, 0.0, 0.0]),
        ] {
            for k in 0..3 {
                assert!((found[k] - expected[k]).abs() < 1e-15, "{found:?}");
            }
        }
    }

    #[test]
    fn roads_are_sampled_piece_by_piece() {
        let pieces = Curve::Pieces(vec![
            crate::model::CurvePiece {
                below: 0.0,
                polynomial: vec![0.0],
            },
            crate::model::CurvePiece {
                below: f64::INFINITY,
                polynomial: vec![1.0, 2.0],
            },
        ]);
        assert_eq!(height(&pieces, -1.0), 0.0);
        assert_eq!(height(&pieces, 2.0), 5.0);
        let table = Curve::Table {
            points: vec![[0.0, 1.0], [2.0, 3.0]],
            interpolation: Default::default(),
        };
        assert_eq!([-1.0, 0.5, 9.0].map(|x| height(&table, x)), [1.0, 1.5, 3.0]);
    }
}
