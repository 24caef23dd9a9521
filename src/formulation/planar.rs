//! Absolute coordinates in the plane: (x, y, angle) of each body's centre of mass, joints as constraints.
//!
//! ```text
//!   M = diag(m, m, I),      M a + Gᵀ λ = f,      Φ(q) = 0
//! ```
//!
//! Coordinates of body b are 3b, 3b + 1, 3b + 2; constraint rows follow the joints in their order. Points written in a body
//! frame are kept as seen from the centre of mass.

#[cfg(test)]
pub(crate) mod example;
pub mod length;
pub mod measure;
pub mod pose;
mod quantity;
pub mod slots;

use super::force::{self, Force, gravity::Gravity};
use super::joint::Joint;
use super::value::{Value, Values};
use super::{Character, Context, Energy, Evaluated, Pattern, Power, Size, System, Weights};
use crate::error::{Error, Result};
use crate::model::{BodyRef, ForcePlace, JointPlace, Model, Target};
use pose::{Point, Pose, Poses, Vec2, perp};
use slots::Slots;

/// Part of the characteristic length below which two points are in one place.
const COINCIDENT: f64 = 1e-12;

/// A body's numbers.
#[derive(Clone, Debug)]
struct Body {
    name: String,
    mass: Value,
    inertia: Value,
    /// The frame's origin, whose motion is the body's as a user sees it.
    origin: Point,
}

/// A joint and the first of its rows.
#[derive(Clone, Debug)]
struct Row {
    name: String,
    joint: Joint,
    first: usize,
}

/// A mechanism of the plane in absolute coordinates.
#[derive(Clone, Debug)]
pub struct Planar {
    bodies: Vec<Body>,
    joints: Vec<Row>,
    forces: Vec<Force>,
    sensors: Vec<Point>,
    gravity: Gravity,
    length: f64,
    rows: usize,
    inputs: usize,
    parameters: usize,
    pattern: Pattern,
    start: (Vec<f64>, Vec<f64>),
}

impl Planar {
    /// The equations of a model of dimension 2.
    pub fn new(model: &Model) -> Result<Self> {
        if model.dimension != 2 {
            return Err(Error::Argument {
                name: "dimension".into(),
                value: model.dimension.to_string(),
                expected: "2 for absolute coordinates in the plane".into(),
            });
        }
        let values = Values::new(model)?;
        let (q, v) = start(model)?;
        let poses: Vec<Pose> = q.chunks(3).map(|q| Pose::new(q[0], q[1], q[2])).collect();
        let length = match model.solver.length {
            Some(length) if length > 0.0 && length.is_finite() => length,
            Some(length) => {
                return Err(Error::Argument {
                    name: "solver.length".into(),
                    value: length.to_string(),
                    expected: "a positive length in metres".into(),
                });
            }
            None => size(model, &poses),
        };

        let mut slots = Slots::default();
        for i in 0..q.len() {
            slots.slot(i, i);
        }
        let bodies = model
            .bodies
            .iter()
            .enumerate()
            .map(|(b, body)| Body {
                name: body.name.clone(),
                mass: values.get(Target::BodyMass(b), body.mass),
                inertia: values.get(Target::BodyInertia(b), body.inertia[2]),
                origin: force::point(model, Some(b), [0.0; 3]),
            })
            .collect();
        let joints = model
            .joints
            .iter()
            .map(|joint| Joint::new(model, joint, &poses, &mut slots))
            .collect::<Result<Vec<_>>>()?;
        let forces = (0..model.forces.len())
            .map(|k| {
                let tiny = COINCIDENT * length;
                Force::new(model, k, &values, &joints, tiny, &mut slots)
            })
            .collect::<Result<Vec<_>>>()?;

        let mut rows = 0;
        let mut jacobian = Vec::new();
        let joints = joints
            .into_iter()
            .zip(&model.joints)
            .map(|(joint, written)| {
                let first = rows;
                joint
                    .get()
                    .pattern(&mut |i, j| jacobian.push(((first + i) as u32, j as u32)));
                rows += joint.get().rows();
                let name = written.name.clone();
                Row { name, joint, first }
            })
            .collect();
        Ok(Self {
            bodies,
            joints,
            forces,
            sensors: model
                .sensors
                .iter()
                .map(|s| force::point(model, s.body, s.point))
                .collect(),
            gravity: Gravity::new(model, &values),
            length,
            rows,
            inputs: model.inputs.len(),
            parameters: model.parameters.len(),
            pattern: Pattern {
                tangent: slots.places(),
                jacobian,
            },
            start: (q, v),
        })
    }

    /// The characteristic length L of the error norm (m).
    pub fn length(&self) -> f64 {
        self.length
    }
}

fn plane(x: [f64; 3]) -> Vec2 {
    Vec2::new(x[0], x[1])
}

/// Start pose and rates of the centres of mass.
fn start(model: &Model) -> Result<(Vec<f64>, Vec<f64>)> {
    let (mut q, mut v) = (Vec::new(), Vec::new());
    for body in &model.bodies {
        let (angle, w) = (body.angle, body.angular_velocity[2]);
        let d = Pose::new(0.0, 0.0, angle).turn(plane(body.center_of_mass));
        let r = plane(body.position) + d;
        let r_dot = plane(body.velocity) + w * perp(d);
        let own = [
            r.x,
            r.y,
            angle,
            r_dot.x,
            r_dot.y,
            w,
            body.mass,
            body.inertia[2],
        ];
        if !own.iter().all(|x| x.is_finite()) || body.mass < 0.0 || body.inertia[2] < 0.0 {
            return Err(Error::Model {
                origin: model.origin.clone(),
                line: body.place.line,
                column: body.place.column,
                message: format!(
                    "body \"{}\" needs a finite pose and a mass and inertia that are not negative",
                    body.name
                ),
            });
        }
        q.extend_from_slice(&own[..3]);
        v.extend_from_slice(&own[3..6]);
    }
    Ok((q, v))
}

/// The characteristic length of the start pose.
fn size(model: &Model, poses: &[Pose]) -> f64 {
    let on = |body: BodyRef, at: [f64; 3]| {
        let pose = body.map_or(Pose::GROUND, |b| poses[b]);
        pose.r + pose.turn(force::point(model, body, at).s)
    };
    let mut joints = Vec::new();
    for joint in &model.joints {
        match &joint.frame {
            JointPlace::Ground(frame) => joints.push(plane(frame.point)),
            JointPlace::Bodies(frames) => {
                joints.extend([0, 1].map(|k| on(joint.bodies[k], frames[k].point)));
            }
        }
    }
    let centers: Vec<Vec2> = poses.iter().map(|p| p.r).collect();
    let mut forces = Vec::new();
    for force in &model.forces {
        if let ForcePlace::Points { bodies, points } = &force.on {
            forces.extend([0, 1].map(|k| on(bodies[k], points[k])));
        }
    }
    length::characteristic(&joints, &centers, &forces)
}

impl System for Planar {
    fn size(&self) -> Size {
        Size {
            nq: 3 * self.bodies.len(),
            nv: 3 * self.bodies.len(),
            nc: self.rows,
            ne: 0,
            modes: 0,
            inputs: self.inputs,
            parameters: self.parameters,
        }
    }

    fn character(&self) -> Character {
        Character {
            rotations: false,
            velocity_forces: self.forces.iter().any(Force::depends_on_rate),
            moving_constraints: false,
            works: self.forces.iter().any(Force::works),
            linear: false,
        }
    }

    fn pattern(&self) -> Pattern {
        self.pattern.clone()
    }

    fn mass_times(&self, cx: &Context, _q: &[f64], a: &[f64], out: &mut [f64]) {
        for (b, body) in self.bodies.iter().enumerate() {
            let m = body.mass.get(cx);
            out[3 * b] = m * a[3 * b];
            out[3 * b + 1] = m * a[3 * b + 1];
            out[3 * b + 2] = body.inertia.get(cx) * a[3 * b + 2];
        }
    }

    fn force(&self, cx: &Context, q: &[f64], v: &[f64], out: &mut [f64]) -> Evaluated {
        let g = self.gravity.get(cx);
        for (b, body) in self.bodies.iter().enumerate() {
            let m = body.mass.get(cx);
            out[3 * b] = m * g.x;
            out[3 * b + 1] = m * g.y;
            out[3 * b + 2] = 0.0;
        }
        let poses = &mut Poses::new(q);
        for force in &self.forces {
            force.apply(cx, poses, v, out);
        }
        Ok(())
    }

    fn tangent(
        &self,
        cx: &Context,
        q: &[f64],
        v: &[f64],
        _a: &[f64],
        lambda: &[f64],
        weights: &Weights,
        out: &mut [f64],
    ) -> Evaluated {
        // The diagonal was asked for first: its slots are the first 3 n.
        for (b, body) in self.bodies.iter().enumerate() {
            let m = weights.mass * body.mass.get(cx);
            out[3 * b] = m;
            out[3 * b + 1] = m;
            out[3 * b + 2] = weights.mass * body.inertia.get(cx);
        }
        out[3 * self.bodies.len()..].fill(0.0);
        let poses = &mut Poses::new(q);
        if weights.stiffness != 0.0 {
            for Row { joint, first, .. } in &self.joints {
                let lambda = &lambda[*first..];
                joint.get().stiffness(poses, lambda, weights.stiffness, out);
            }
        }
        for force in &self.forces {
            if weights.stiffness != 0.0 || (weights.damping != 0.0 && force.depends_on_rate()) {
                force.tangent(cx, poses, v, weights.damping, weights.stiffness, out);
            }
        }
        Ok(())
    }

    fn constraint(&self, _cx: &Context, q: &[f64], phi: &mut [f64]) {
        let poses = &mut Poses::new(q);
        for Row { joint, first, .. } in &self.joints {
            joint.get().constraint(poses, &mut phi[*first..]);
        }
    }

    fn jacobian(&self, _cx: &Context, q: &[f64], out: &mut [f64]) {
        let poses = &mut Poses::new(q);
        let mut at = 0;
        for Row { joint, .. } in &self.joints {
            at += joint.get().jacobian(poses, &mut out[at..]);
        }
    }

    fn constraint_and_jacobian(&self, _cx: &Context, q: &[f64], phi: &mut [f64], out: &mut [f64]) {
        let poses = &mut Poses::new(q);
        let mut at = 0;
        for Row { joint, first, .. } in &self.joints {
            let joint = joint.get();
            joint.constraint(poses, &mut phi[*first..]);
            at += joint.jacobian(poses, &mut out[at..]);
        }
    }

    fn convective(&self, _cx: &Context, q: &[f64], v: &[f64], gamma: &mut [f64]) {
        let poses = &mut Poses::new(q);
        for Row { joint, first, .. } in &self.joints {
            joint.get().convective(poses, v, &mut gamma[*first..]);
        }
    }

    fn constraint_scale(&self, row: usize) -> f64 {
        let joint = self.owner(row);
        if joint.joint.get().is_angle(row - joint.first) {
            1.0
        } else {
            self.length
        }
    }

    /// sqrt of the mean over bodies with mass of (e_x² + e_y² + I/m e_φ²) / L². Where no body has mass (flywheels on
    /// pins), all bodies count and L stands for the radius of gyration.
    fn norm(&self, cx: &Context, _q: &[f64], _scale: &[f64], e: &[f64]) -> f64 {
        let (mut sum, mut count) = (0.0, 0u32);
        for (b, body) in self.bodies.iter().enumerate() {
            let m = body.mass.get(cx);
            if m > 0.0 {
                let (x, y, angle) = (e[3 * b], e[3 * b + 1], e[3 * b + 2]);
                sum += x * x + y * y + body.inertia.get(cx) / m * angle * angle;
                count += 1;
            }
        }
        if count == 0 {
            let squared = self.length * self.length;
            for e in e.chunks_exact(3) {
                sum += e[0] * e[0] + e[1] * e[1] + squared * e[2] * e[2];
                count += 1;
            }
        }
        (sum / f64::from(count.max(1))).sqrt() / self.length
    }

    /// Positions far from the origin are rounded by their distance. An angle of many turns is rounded by its size, and with it
    /// the positions of the body's points: a fiftieth of it brings the rounding aimed at by the integrator, some 20 ε, down to
    /// the half ε of the angle times a lever below L.
    fn magnitude(&self, q: &[f64]) -> f64 {
        let (mut far, mut turned) = (0.0_f64, 0.0_f64);
        for q in q.chunks_exact(3) {
            far = far.max(q[0].abs()).max(q[1].abs());
            turned = turned.max(q[2].abs());
        }
        (far / self.length).max(turned / 50.0).max(1.0)
    }

    fn energy(&self, cx: &Context, q: &[f64], v: &[f64]) -> Energy {
        let g = self.gravity.get(cx);
        let mut energy = Energy::default();
        for (b, body) in self.bodies.iter().enumerate() {
            let m = body.mass.get(cx);
            let (r, rate) = (&q[3 * b..], pose::twist(v, Some(b)));
            let rotation = body.inertia.get(cx) * rate.w * rate.w;
            energy.kinetic += 0.5 * (m * rate.v.norm_squared() + rotation);
            energy.potential -= m * (g.x * r[0] + g.y * r[1]);
        }
        let poses = &mut Poses::new(q);
        for force in &self.forces {
            force.add_energy(cx, poses, &mut energy);
        }
        energy
    }

    /// Dampers and actuators; a mass, inertia or gravity that is driven in time also brings energy in.
    fn power(&self, cx: &Context, q: &[f64], v: &[f64]) -> Power {
        let (g, g_dot) = (self.gravity.get(cx), self.gravity.rate(cx));
        let mut power = Power::default();
        for (b, body) in self.bodies.iter().enumerate() {
            let (m, m_dot) = (body.mass.get(cx), body.mass.rate(cx));
            let (r, rate) = (&q[3 * b..], pose::twist(v, Some(b)));
            let rotation = body.inertia.rate(cx) * rate.w * rate.w;
            power.supplied += 0.5 * (m_dot * rate.v.norm_squared() + rotation);
            power.supplied -=
                (m_dot * g.x + m * g_dot.x) * r[0] + (m_dot * g.y + m * g_dot.y) * r[1];
        }
        let poses = &mut Poses::new(q);
        for force in &self.forces {
            force.add_power(cx, poses, v, &mut power);
        }
        power
    }

    fn coordinate_name(&self, i: usize) -> String {
        let field = ["x", "y", "angle"][i % 3];
        format!("{}.{field}", self.bodies[i / 3].name)
    }

    fn constraint_name(&self, i: usize) -> String {
        self.owner(i).name.clone()
    }
}

impl Planar {
    /// The joint a constraint row belongs to.
    fn owner(&self, row: usize) -> &Row {
        let after = self.joints.partition_point(|joint| joint.first <= row);
        &self.joints[after - 1]
    }
}

#[cfg(test)]
mod tests;
