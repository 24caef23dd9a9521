//! Joints by their kind, springs, actuators, contacts and wheels.

use super::bodies::{LAYER, ROUND, bar};
use super::pose::turn_z_to;
use super::{
    Figure, GROUND, PartPlacement, Poses, RUBBER, SAMPLES, SPRING, STEEL, Solid, V3, body_color,
};
use crate::model::{
    BodyRef, ContactDefinition, Force, ForceApplication, ForceKind, Joint, JointFrame, JointKind,
    Model, Surface, TyreDefinition,
};
use crate::report::scene::frame_in;

/// A unit solid along z.
fn unit_rod() -> Solid {
    Solid::tube([V3::zeros(), V3::z()], [1.0; 2], 12)
}

fn placed(body: BodyRef) -> PartPlacement {
    body.map_or(PartPlacement::Ground, PartPlacement::Body)
}

impl Figure {
    pub(super) fn add_joint(&mut self, model: &Model, poses: &Poses, joint: &Joint) {
        let frames = [0, 1].map(|side| frame_in(model, &joint.frame, joint.bodies[side], side));
        match joint.kind {
            JointKind::Coupling => {}
            JointKind::Distance => {
                let ends = [0, 1].map(|side| (joint.bodies[side], frames[side].point));
                let placement = self.between(ends, 0.006 * self.size, 1.0);
                self.part(&joint.name, unit_rod(), STEEL, placement);
            }
            _ if self.planar => self.add_planar_joint(poses, joint, frames),
            _ => self.add_spatial_joint(poses, joint, frames),
        }
    }

    /// A part of joints, in the frame of the body on one side.
    fn mark(&mut self, joint: &Joint, side: usize, solid: Solid) {
        let body = joint.bodies[side];
        let color = if body.is_none() { GROUND } else { STEEL };
        self.part(&joint.name, solid, color, placed(body));
    }

    fn add_planar_joint(&mut self, poses: &Poses, joint: &Joint, frames: [JointFrame; 2]) {
        let size = self.size;
        let heights = joint.bodies.map(|body| self.layer(body));
        let side = usize::from(joint.bodies[0].is_none() || heights[1] >= heights[0]);
        let point = V3::from(frames[side].point);
        let top = heights[0].max(heights[1]) + LAYER * size;
        if matches!(joint.kind, JointKind::Revolute | JointKind::PointOnLine) {
            let pin = [point, point + V3::z() * top];
            self.mark(joint, side, Solid::tube(pin, [0.0125 * size; 2], ROUND));
        } else if joint.kind != JointKind::Prismatic {
            let edges = V3::new(0.02 * size, 0.02 * size, top);
            let center = point + V3::z() * top / 2.0;
            self.mark(joint, side, Solid::cuboid(edges, center));
        }
        if matches!(joint.kind, JointKind::Prismatic | JointKind::PointOnLine) {
            self.add_rail(poses, joint, frames);
        } else if let Some(held) = joint.bodies.iter().position(Option::is_none) {
            self.add_foot(&joint.name, frames[held].point.into());
        }
    }

    fn add_spatial_joint(&mut self, poses: &Poses, joint: &Joint, frames: [JointFrame; 2]) {
        let size = self.size;
        let axis = |side: usize| V3::from(frames[side].axis).try_normalize(0.0);
        let bar = |side: usize, r: f64, half: f64, along: Option<V3>| {
            let point = V3::from(frames[side].point);
            let half = along.unwrap_or(V3::z()) * half * size;
            Solid::tube([point - half, point + half], [r * size; 2], 16)
        };
        let ball = |r: f64| Solid::ball(frames[1].point.into(), r * size, 16);
        match joint.kind {
            JointKind::Spherical | JointKind::Gimbal => self.mark(joint, 1, ball(0.02)),
            JointKind::Revolute => {
                self.mark(joint, 0, bar(0, 0.018, 0.022, axis(0)));
                self.mark(joint, 1, bar(1, 0.012, 0.034, axis(1)));
            }
            JointKind::Screw | JointKind::Cylindrical => {
                self.mark(joint, 0, bar(0, 0.011, 0.09, axis(0)));
                self.mark(joint, 1, bar(1, 0.019, 0.034, axis(1)));
            }
            JointKind::Universal => {
                let across = V3::from(frames[1].reference_direction).try_normalize(0.0);
                self.mark(joint, 0, bar(0, 0.008, 0.035, axis(0)));
                self.mark(joint, 1, bar(1, 0.008, 0.035, across));
            }
            JointKind::Prismatic | JointKind::PointOnLine => {
                self.add_rail(poses, joint, frames);
                self.mark(joint, 1, ball(0.016));
                return;
            }
            _ => {
                let cube = Solid::cuboid(V3::repeat(0.03 * size), frames[1].point.into());
                self.mark(joint, 1, cube);
            }
        }
        if let Some(held) = joint.bodies.iter().position(Option::is_none) {
            self.add_foot(&joint.name, frames[held].point.into());
        }
    }

    /// A rail in the body on side 0 (in the ground, if one of them is that), as long as the travel.
    fn add_rail(&mut self, poses: &Poses, joint: &Joint, frames: [JointFrame; 2]) {
        let fixed = usize::from(joint.bodies[1].is_none());
        let Some(axis) = V3::from(frames[fixed].axis).try_normalize(0.0) else {
            return;
        };
        let [from, to] = [fixed, 1 - fixed].map(|side| (joint.bodies[side], frames[side].point));
        let mut travel = [f64::INFINITY, f64::NEG_INFINITY];
        for row in poses.spread(SAMPLES) {
            let frame = poses.of_body(from.0, row);
            let moved =
                frame.inverse() * nalgebra::Point3::from(poses.point(to.0, &to.1.into(), row));
            let s = (moved.coords - V3::from(from.1)).dot(&axis);
            travel = [travel[0].min(s), travel[1].max(s)];
        }
        let margin = 0.07 * self.size;
        let ends = [travel[0] - margin, travel[1] + margin].map(|s| V3::from(from.1) + axis * s);
        let rail = Solid::tube(ends, [0.007 * self.size; 2], 12);
        self.mark(joint, fixed, rail);
    }

    /// Below a point that the ground holds.
    fn add_foot(&mut self, name: &str, point: V3) {
        let size = self.size;
        let foot = match self.planar {
            true => {
                let corner =
                    |x: f64, y: f64| [point.x + x * 0.03 * size, point.y + y * 0.03 * size];
                let outline = [
                    corner(-0.62, -1.3),
                    corner(0.62, -1.3),
                    corner(0.2, 0.0),
                    corner(-0.2, 0.0),
                ];
                let base = [
                    corner(-1.0, -1.55),
                    corner(1.0, -1.55),
                    corner(1.0, -1.3),
                    corner(-1.0, -1.3),
                ];
                let (low, high) = (-0.012 * size, -0.001 * size);
                Solid::prism(&outline, low, high).take(&Solid::prism(&base, low, high))
            }
            false => {
                let low = point - self.up * 0.055 * size;
                Solid::tube([low, point], [0.035 * size, 0.012 * size], ROUND)
            }
        };
        self.part(name, foot, GROUND, PartPlacement::Ground);
    }

    /// A planar mechanism has its springs and rods above the bodies.
    fn between(&self, ends: [(BodyRef, [f64; 3]); 2], radius: f64, share: f64) -> PartPlacement {
        let lift = if self.planar { 0.04 * self.size } else { 0.0 };
        PartPlacement::Between {
            ends: ends.map(|(body, [x, y, z])| (body, [x, y, z + lift])),
            radius,
            share,
        }
    }

    pub(super) fn add_force(&mut self, model: &Model, force: &Force) {
        let ends = match &force.on {
            ForceApplication::Points { bodies, points }
            | ForceApplication::Axis { bodies, points, .. } => {
                [0, 1].map(|side| (bodies[side], points[side]))
            }
            ForceApplication::Frames { bodies, at } => {
                [0, 1].map(|side| (bodies[side], frame_in(model, at, bodies[side], side).point))
            }
            _ => return,
        };
        let size = self.size;
        match &force.kind {
            ForceKind::Contact(contact) => return self.add_contact(model, force, contact, ends),
            ForceKind::Tyre(tyre) => return self.add_tyre(force, tyre, ends),
            ForceKind::Actuator { .. } => {
                let rod = self.between(ends, 0.006 * size, 1.0);
                let sleeve = self.between(ends, 0.012 * size, 0.55);
                self.part(&force.name, unit_rod(), SPRING, rod);
                self.part(&force.name, unit_rod(), STEEL, sleeve);
            }
            ForceKind::SpringDamper(_) | ForceKind::Bushing { .. } => {
                let placement = self.between(ends, 0.022 * size, 1.0);
                self.part(&force.name, Solid::coil(7), SPRING, placement);
            }
            _ => return,
        }
        for (body, point) in ends {
            if body.is_none() {
                self.add_foot(&force.name, point.into());
            }
        }
    }

    fn add_contact(
        &mut self,
        model: &Model,
        force: &Force,
        contact: &ContactDefinition,
        ends: [(BodyRef, [f64; 3]); 2],
    ) {
        let ball = |figure: &mut Self, side: usize, r: f64| {
            let (body, point) = ends[side];
            let point = V3::from(point);
            let z = V3::z() * figure.layer(body);
            let solid = match figure.planar {
                true => {
                    let high = z + V3::z() * 0.013 * figure.size;
                    Solid::tube([point + z, point + high], [r; 2], 2 * ROUND)
                }
                false => Solid::ball(point, r, ROUND),
            };
            let color = body.map_or(GROUND, body_color);
            figure.part(&force.name, solid, color, placed(body));
        };
        if contact.radius > 0.0 {
            ball(self, 1, contact.radius);
        }
        let (body, point) = ends[0];
        let color = if body.is_none() { GROUND } else { SPRING };
        match &contact.surface {
            Surface::Sphere(r) if *r > 0.0 => ball(self, 0, *r),
            Surface::Curve(outline) => {
                let mut line = outline.points.clone();
                if outline.closed {
                    line.extend(outline.points.first());
                }
                let low = self.layer(body) + 0.012 * self.size;
                // No thinner than a line of the picture.
                let r = (0.003 * self.size).max(0.0012 * (self.extent[1] - self.extent[0]).norm());
                let solid = line.windows(2).fold(Solid::default(), |solid, pair| {
                    solid.take(&bar(pair[0], pair[1], r, low, low + 0.004 * self.size))
                });
                self.part(&force.name, solid, color, placed(body));
            }
            // A face of a body that is drawn by its shape is drawn already.
            Surface::Plane(_) if body.is_some_and(|k| model.bodies[k].shape.is_some()) => {}
            Surface::Plane(normal) => self.add_plane(force, (body, point), (*normal).into()),
            _ => {}
        }
    }

    /// A slab below a plane, as wide as the mechanism.
    fn add_plane(&mut self, force: &Force, (body, point): (BodyRef, [f64; 3]), normal: V3) {
        let [low, high] = self.extent;
        let width = 1.1 * (high - low).norm();
        let point = V3::from(point);
        let middle = if body.is_none() {
            (low + high) / 2.0
        } else {
            point
        };
        let center = middle - normal * (middle - point).dot(&normal);
        let thickness = 0.012 * self.size;
        let x = match self.planar {
            true => V3::new(normal.y, -normal.x, 0.0),
            false => turn_z_to(&normal) * V3::x(),
        };
        let y = normal.cross(&x);
        let depth = if self.planar { 0.04 * self.size } else { width };
        let mut slab = Solid::cuboid(V3::new(width, depth, thickness), V3::zeros());
        for p in &mut slab.points {
            *p = center + x * p.x + y * p.y + normal * (p.z - thickness / 2.0);
        }
        for n in &mut slab.normals {
            *n = x * n.x + y * n.y + normal * n.z;
        }
        let color = if body.is_none() { GROUND } else { SPRING };
        self.part(&force.name, slab, color, placed(body));
    }

    fn add_tyre(&mut self, force: &Force, tyre: &TyreDefinition, ends: [(BodyRef, [f64; 3]); 2]) {
        let (body, point) = ends[1];
        let axle = V3::from(tyre.up).cross(&V3::from(tyre.forward));
        let width = 0.16 * tyre.radius;
        let center = V3::from(point) - V3::z() * if self.planar { width } else { 0.0 };
        let ring = Solid::ring(center, axle, tyre.radius - width, width, 2 * ROUND);
        self.part(&force.name, ring, RUBBER, placed(body));
    }
}
