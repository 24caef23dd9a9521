//! The drawing of a mechanism: bodies, pins, supports, rails, springs, and the paths of sensors.

use biela::linalg::elementary::hypot;
use biela::model::{Joint, JointFrame, JointKind, JointPlacement, Model};

use super::animation::Playback;
use super::beam_drawing::DrawnBeam;
use super::body_trajectory::BodyTrajectory;
use super::force_drawing::{draw_force, ends_of, force_ends};
use super::geometry::{Point, planar, rotated};
use super::ground::{Rail, draw_support};
use super::outline::{BAR, DrawnOutline, outline};
use super::svg::{Svg, polyline, px, simplified};
use super::view::{DrawnFrame, View};

/// Radius of a pin (px).
const PIN: f64 = 4.2;
/// Radius of a sensor (px).
const SENSOR: f64 = 3.2;
/// Edge of a body that has no shape and no extent, relative to the mechanism.
const BLOCK: f64 = 0.09;
/// Number of colours for bodies.
const COLOURS: usize = 6;

/// The parts of a drawing, each fixed to its body or to the ground.
pub struct Scene {
    parts: Vec<DrawnPart>,
    beams: Vec<DrawnBeam>,
    /// Points of the ground that support a pin or a spring.
    supports: Vec<Point>,
    rails: Vec<Rail>,
}

/// A body in its frame (m).
struct DrawnPart {
    outline: DrawnOutline,
    /// Centre of mass of a body without inertia.
    point_mass: Option<Point>,
    pins: Vec<Point>,
    sensors: Vec<Point>,
}

/// Points at which joints and forces are attached to the bodies and to the ground.
struct Attachments {
    /// Points of each body, in its frame.
    corners: Vec<Vec<Point>>,
    /// Those of them that are drawn as pins.
    pins: Vec<Vec<Point>>,
    supports: Vec<Point>,
    rails: Vec<Rail>,
}

impl Attachments {
    fn of(model: &Model) -> Self {
        let mut attachments = Self {
            corners: vec![Vec::new(); model.bodies.len()],
            pins: vec![Vec::new(); model.bodies.len()],
            supports: Vec::new(),
            rails: Vec::new(),
        };
        for joint in &model.joints {
            attachments.add_joint(model, joint);
        }
        for force in &model.forces {
            if let Some((bodies, points)) = ends_of(force) {
                let on_ground = bodies.iter().zip(points).filter(|(body, _)| body.is_none());
                let points = on_ground.map(|(_, point)| planar(point));
                attachments.supports.extend(points);
            }
        }
        attachments
    }

    fn add_joint(&mut self, model: &Model, joint: &Joint) {
        let frames = [0, 1].map(|side| local(model, joint, side));
        for (body, frame) in joint.bodies.into_iter().zip(&frames) {
            if let Some(i) = body {
                self.corners[i].push(planar(frame.point));
            }
        }
        match joint.kind {
            JointKind::Revolute => {
                // The pin belongs to the body drawn last, so that it is above both.
                if let Some(i) = joint.bodies[0].max(joint.bodies[1]) {
                    let side = usize::from(joint.bodies[1] == Some(i));
                    self.pins[i].push(planar(frames[side].point));
                }
                if let Some(side) = joint.bodies.iter().position(Option::is_none) {
                    self.supports.push(planar(frames[side].point));
                }
            }
            JointKind::Prismatic => {
                let moving = joint.bodies.iter().position(Option::is_some);
                if let (Some(moving), true) = (moving, joint.bodies.contains(&None)) {
                    let fixed = &frames[1 - moving];
                    self.rails.push(Rail {
                        point: planar(fixed.point),
                        axis: planar(fixed.axis),
                        body: joint.bodies[moving].expect("found to be a body"),
                        slider: planar(frames[moving].point),
                        half_size: [0.0; 2],
                    });
                }
            }
            _ => {}
        }
    }
}

impl Scene {
    /// The scene of a model. Joints given in the ground frame are points of their bodies in the initial pose.
    pub fn of(model: &Model) -> Self {
        let Attachments {
            corners,
            pins,
            supports,
            mut rails,
        } = Attachments::of(model);
        let block = BLOCK * extent(model, &corners);
        let parts: Vec<DrawnPart> = pins
            .into_iter()
            .enumerate()
            .map(|(i, pins)| DrawnPart {
                outline: outline(model, i, &corners[i], block),
                point_mass: point_mass(model, i),
                pins,
                sensors: model
                    .sensors
                    .iter()
                    .filter(|sensor| sensor.body == Some(i))
                    .map(|sensor| planar(sensor.point))
                    .collect(),
            })
            .collect();
        for rail in &mut rails {
            let angle = model.bodies[rail.body].angle;
            rail.measure(&parts[rail.body].outline, angle);
        }
        Self {
            parts,
            beams: model.beams.iter().map(DrawnBeam::of).collect(),
            supports,
            rails,
        }
    }

    /// The number of bodies.
    pub fn bodies(&self) -> usize {
        self.parts.len()
    }

    /// Draws the mechanism; `poses` holds x, y and angle over time for each body.
    pub fn draw(
        &self,
        svg: &mut Svg,
        model: &Model,
        poses: &[[Vec<f64>; 3]],
        playback: &Playback,
        frame: &DrawnFrame,
    ) {
        let motions: Vec<BodyTrajectory> = poses.iter().map(BodyTrajectory::new).collect();
        let mut visible = self.visible(&motions);
        for ends in model
            .forces
            .iter()
            .filter_map(|force| force_ends(force, &motions))
        {
            visible.extend(ends.into_iter().flatten());
        }
        visible.retain(|p| p[0].is_finite() && p[1].is_finite());
        let view = View::new(&visible, frame);
        svg.group("mechanism", |svg| {
            for rail in &self.rails {
                rail.draw(svg, &view, &motions[rail.body]);
            }
            for (part, motion) in self.parts.iter().zip(&motions) {
                for sensor in &part.sensors {
                    let path: Vec<Point> = motion.path(*sensor).map(|p| view.at(p)).collect();
                    let d = polyline(simplified(&path, 0.15));
                    svg.path(&[("class", "trace".to_owned())], d);
                }
            }
            for support in &self.supports {
                draw_support(svg, view.at(*support));
            }
            for force in &model.forces {
                draw_force(svg, force, &motions, &view, playback);
            }
            for (number, (part, motion)) in self.parts.iter().zip(&motions).enumerate() {
                // Below the pins of its nodes.
                for beam in self.beams.iter().filter(|beam| beam.nodes.start == number) {
                    beam.draw(svg, number % COLOURS, &motions, &view, playback);
                }
                part.draw(
                    svg,
                    &model.bodies[number].name,
                    number,
                    motion,
                    &view,
                    playback,
                );
            }
        });
        view.draw_scale(svg, frame);
    }

    /// All points at all times, in the ground frame (m): the view must contain them.
    fn visible(&self, motions: &[BodyTrajectory]) -> Vec<Point> {
        let mut points = self.supports.clone();
        for (part, motion) in self.parts.iter().zip(motions) {
            let corners = part.outline.corners();
            for corner in corners.iter().chain(&part.pins).chain(&part.sensors) {
                points.extend(motion.path(*corner));
            }
        }
        for rail in &self.rails {
            points.extend(rail.ends(&motions[rail.body]));
        }
        points
    }
}

impl DrawnPart {
    fn draw(
        &self,
        svg: &mut Svg,
        name: &str,
        number: usize,
        motion: &BodyTrajectory,
        view: &View,
        playback: &Playback,
    ) {
        let origins: Vec<Point> = motion.origins.iter().map(|o| view.at(*o)).collect();
        // The y axis of SVG points down, so angles change their sign.
        let angles: Vec<f64> = motion.angles.iter().map(|a| -a.to_degrees()).collect();
        let first = format!(
            "translate({} {}) rotate({})",
            px(origins[0][0]),
            px(origins[0][1]),
            px(angles[0])
        );
        let attributes = [
            ("class", "body".to_owned()),
            ("id", name.to_owned()),
            ("transform", first),
        ];
        svg.element("g", &attributes, |svg| {
            self.outline.draw(svg, number % COLOURS, view.scale);
            if let Some(centre) = self.point_mass {
                let colour = number % COLOURS;
                svg.circle(
                    &format!("solid e{colour} p{colour}"),
                    view.local(centre),
                    BAR,
                );
            }
            for pin in &self.pins {
                svg.circle("pin", view.local(*pin), PIN);
            }
            for sensor in &self.sensors {
                svg.circle("sensor", view.local(*sensor), SENSOR);
            }
            let positions = origins.iter().map(|p| format!("{} {}", px(p[0]), px(p[1])));
            playback.animate(svg, "translate", false, positions);
            playback.animate(svg, "rotate", true, angles.iter().map(|a| px(*a)));
        });
    }
}

/// The frame of a joint in the frame of the body on one side.
fn local(model: &Model, joint: &Joint, side: usize) -> JointFrame {
    match (&joint.frame, joint.bodies[side]) {
        (JointPlacement::BodyFrames(frames), _) => frames[side],
        (JointPlacement::InitialPose(frame), None) => *frame,
        (JointPlacement::InitialPose(frame), Some(i)) => {
            let body = &model.bodies[i];
            let [x, y] = planar(frame.point);
            let r = rotated([x - body.position[0], y - body.position[1]], -body.angle);
            let axis = rotated(planar(frame.axis), -body.angle);
            JointFrame {
                point: [r[0], r[1], 0.0],
                axis: [axis[0], axis[1], 0.0],
                ..JointFrame::default()
            }
        }
        (JointPlacement::None, _) => JointFrame::default(),
    }
}

/// Centre of mass of a body that has mass but no inertia; nodes of beams are not drawn.
fn point_mass(model: &Model, number: usize) -> Option<Point> {
    if model.beam_of_node(number).is_some() {
        return None;
    }
    let body = &model.bodies[number];
    (body.mass > 0.0 && body.inertia[2] == 0.0).then(|| planar(body.center_of_mass))
}

/// Largest distance between points of the mechanism in the initial pose (m).
fn extent(model: &Model, corners: &[Vec<Point>]) -> f64 {
    let mut points: Vec<Point> = Vec::new();
    for (body, corners) in model.bodies.iter().zip(corners) {
        for corner in corners.iter().chain([&[0.0, 0.0]]) {
            let r = rotated(*corner, body.angle);
            points.push([body.position[0] + r[0], body.position[1] + r[1]]);
        }
    }
    let far = points
        .iter()
        .flat_map(|a| points.iter().map(|b| hypot(a[0] - b[0], a[1] - b[1])))
        .fold(0.0, f64::max);
    if far > 0.0 { far } else { 1.0 }
}
