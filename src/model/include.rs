//! A model as a part of another: its elements under other names, moved to where it is mounted.
//!
//! ```text
//!   x' = R x + p      a point of the part's ground frame, in the ground frame of the whole
//! ```
//!
//! What the part fixes to its ground is fixed to the body it is mounted on.

use super::quantity::element_and_field;
use super::{
    Body, BodyRef, ForceApplication, ForceKind, JointCoordinate, JointFrame, JointPlacement,
    LoadFrame, Model, PrescribedCoordinate, Surface, Target,
};

/// A rotation and a displacement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Placement {
    /// Rows of R.
    pub rotation: [[f64; 3]; 3],
    /// p (m)
    pub position: [f64; 3],
}

impl Placement {
    pub const IDENTITY: Self = Self {
        rotation: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        position: [0.0; 3],
    };

    /// By a position and a unit quaternion w, x, y, z.
    pub fn new(position: [f64; 3], [w, x, y, z]: [f64; 4]) -> Self {
        Self {
            rotation: [
                [
                    1.0 - 2.0 * (y * y + z * z),
                    2.0 * (x * y - w * z),
                    2.0 * (x * z + w * y),
                ],
                [
                    2.0 * (x * y + w * z),
                    1.0 - 2.0 * (x * x + z * z),
                    2.0 * (y * z - w * x),
                ],
                [
                    2.0 * (x * z - w * y),
                    2.0 * (y * z + w * x),
                    1.0 - 2.0 * (x * x + y * y),
                ],
            ],
            position,
        }
    }

    fn turn(&self, v: [f64; 3]) -> [f64; 3] {
        std::array::from_fn(|i| (0..3).map(|j| self.rotation[i][j] * v[j]).sum())
    }

    fn point(&self, x: [f64; 3]) -> [f64; 3] {
        let turned = self.turn(x);
        std::array::from_fn(|i| turned[i] + self.position[i])
    }

    /// This one after another: x' = self(other(x)).
    pub fn after(&self, other: &Self) -> Self {
        let column = |j: usize| self.turn(std::array::from_fn(|i| other.rotation[i][j]));
        let columns = [column(0), column(1), column(2)];
        Self {
            rotation: std::array::from_fn(|i| std::array::from_fn(|j| columns[j][i])),
            position: self.point(other.position),
        }
    }

    fn turns(&self) -> bool {
        self.rotation != Self::IDENTITY.rotation
    }

    fn frame(&self, frame: &JointFrame) -> JointFrame {
        JointFrame {
            point: self.point(frame.point),
            axis: self.turn(frame.axis),
            reference_direction: self.turn(frame.reference_direction),
        }
    }
}

/// Where and under which names a part is included.
#[derive(Clone, Debug)]
pub(super) struct Mount {
    /// Before the names of the part.
    pub prefix: String,
    /// The body of the whole that takes the place of the part's ground, with its quaternion; `None`: the ground.
    pub body: Option<(usize, Body, [f64; 4])>,
    /// Of the part's ground frame in the frame of that body.
    pub placement: Placement,
    /// The same as an angle about z (rad) in two dimensions, and as a quaternion.
    pub angle: f64,
    pub quaternion: [f64; 4],
}

/// Numbers of elements that the whole has before the part.
#[derive(Clone, Copy, Debug, Default)]
struct Offsets {
    bodies: usize,
    joints: usize,
    motions: usize,
    forces: usize,
    inputs: usize,
}

impl Model {
    /// Appends a part. Fails with a sentence if it cannot be mounted there.
    pub(super) fn include(&mut self, mut part: Self, mount: &Mount) -> Result<(), String> {
        let offsets = Offsets {
            bodies: self.bodies.len(),
            joints: self.joints.len(),
            motions: self.motions.len(),
            forces: self.forces.len(),
            inputs: self.inputs.len(),
        };
        let ground = mount.body.as_ref().map(|(index, _, _)| *index);
        let whole = match &mount.body {
            None => mount.placement,
            Some((_, body, quaternion)) => {
                Placement::new(body.position, *quaternion).after(&mount.placement)
            }
        };
        check(&part, mount, &whole)?;
        for body in &mut part.bodies {
            place_body(body, mount, &whole);
        }
        let body_of = |body: &mut BodyRef| {
            *body = match body {
                Some(index) => Some(*index + offsets.bodies),
                None => ground,
            };
        };
        for joint in &mut part.joints {
            joint.frame = place_frames(&joint.frame, joint.bodies, mount, &whole);
            joint.bodies.iter_mut().for_each(body_of);
            if let Some(coupling) = &mut joint.coupling {
                let more = coupling.summands.iter_mut().map(|(c, _)| c);
                for c in coupling.coordinates.iter_mut().chain(more) {
                    c.joint += offsets.joints;
                }
            }
        }
        for motion in &mut part.motions {
            match &mut motion.on {
                PrescribedCoordinate::Joint(c) => c.joint += offsets.joints,
                PrescribedCoordinate::Body(body, _) => *body += offsets.bodies,
            }
        }
        for force in &mut part.forces {
            place_force(&mut force.kind, &mut force.on, mount, &whole);
            match &mut force.on {
                ForceApplication::Points { bodies, .. }
                | ForceApplication::Axis { bodies, .. }
                | ForceApplication::Frames { bodies, .. } => bodies.iter_mut().for_each(body_of),
                ForceApplication::Point { body, .. } => body_of(body),
                ForceApplication::Joint(JointCoordinate { joint, .. }) => *joint += offsets.joints,
            }
        }
        for beam in &mut part.beams {
            beam.first_node += offsets.bodies;
        }
        for sensor in &mut part.sensors {
            if sensor.body.is_none() {
                sensor.point = mount.placement.point(sensor.point);
            }
            body_of(&mut sensor.body);
        }
        self.append_variables(&mut part, mount, offsets);
        rename(&mut part, &mount.prefix);
        self.bodies.append(&mut part.bodies);
        self.joints.append(&mut part.joints);
        self.motions.append(&mut part.motions);
        self.forces.append(&mut part.forces);
        self.beams.append(&mut part.beams);
        self.sensors.append(&mut part.sensors);
        Ok(())
    }

    /// Inputs, outputs and parameters of a part, with their laws and descriptions. Parameters that set definitions of the part
    /// are left out: the whole sets these where it includes the part.
    fn append_variables(&mut self, part: &mut Self, mount: &Mount, offsets: Offsets) {
        let prefix = &mount.prefix;
        let named = |name: &str| format!("{prefix}{name}");
        for mut input in std::mem::take(&mut part.inputs) {
            (input.name, input.target) = (named(&input.name), shifted(input.target, offsets));
            self.inputs.push(input);
        }
        for mut signal in std::mem::take(&mut part.signals) {
            signal.input += offsets.inputs;
            self.signals.push(signal);
        }
        for mut parameter in std::mem::take(&mut part.parameters) {
            if !matches!(parameter.target, Target::Definition(_)) {
                parameter.name = named(&parameter.name);
                parameter.target = shifted(parameter.target, offsets);
                self.parameters.push(parameter);
            }
        }
        for mut output in std::mem::take(&mut part.outputs) {
            let element = element_and_field(&output.source).map_or("", |(element, _)| element);
            if part.element(element).is_some() {
                output.source = named(&output.source);
            }
            output.name = named(&output.name);
            self.outputs.push(output);
        }
        let notes = std::mem::take(&mut part.notes);
        let elements = notes.elements.into_iter();
        (self.notes.elements).extend(elements.map(|(name, words)| (named(&name), words)));
        let variables = notes.variables.into_iter();
        (self.notes.variables).extend(variables.map(|(name, notes)| (named(&name), notes)));
    }
}

fn rename(part: &mut Model, prefix: &str) {
    let names = (part.bodies.iter_mut().map(|x| &mut x.name))
        .chain(part.joints.iter_mut().map(|x| &mut x.name))
        .chain(part.motions.iter_mut().map(|x| &mut x.name))
        .chain(part.forces.iter_mut().map(|x| &mut x.name))
        .chain(part.beams.iter_mut().map(|x| &mut x.name))
        .chain(part.sensors.iter_mut().map(|x| &mut x.name));
    names.for_each(|name| name.insert_str(0, prefix));
}

/// Refuses what has no meaning where the part is mounted.
fn check(part: &Model, mount: &Mount, whole: &Placement) -> Result<(), String> {
    if part.system.is_some() {
        return Err("a linear system cannot be included".to_owned());
    }
    let moved = mount.body.is_some() || *whole != Placement::IDENTITY;
    for motion in &part.motions {
        if moved && matches!(motion.on, PrescribedCoordinate::Body(..)) {
            return Err(format!(
                "motion \"{}\" prescribes a coordinate of a body in the ground frame: such a part cannot be moved",
                motion.name
            ));
        }
    }
    for body in part.bodies.iter().filter(|body| body.prescribed) {
        if mount.body.is_some() {
            return Err(format!(
                "body \"{}\" is prescribed in the ground frame: such a part cannot be mounted on a body",
                body.name
            ));
        }
    }
    for force in &part.forces {
        if let ForceKind::Load {
            frame: LoadFrame::Ground,
            ..
        } = force.kind
            && (whole.turns() || mount.body.is_some())
        {
            return Err(format!(
                "force \"{}\" has components along ground axes: write frame = \"body\", or mount the part without turning it",
                force.name
            ));
        }
    }
    let sets_gravity = |target: Target| matches!(target, Target::Gravity(_));
    let targets = (part.inputs.iter().map(|x| (&x.name, x.target)))
        .chain(part.parameters.iter().map(|x| (&x.name, x.target)));
    for (name, target) in targets {
        if sets_gravity(target) {
            return Err(format!(
                "\"{name}\" sets gravity, which belongs to the whole"
            ));
        }
    }
    Ok(())
}

fn place_body(body: &mut Body, mount: &Mount, whole: &Placement) {
    body.position = whole.point(body.position);
    body.velocity = whole.turn(body.velocity);
    body.angular_velocity = whole.turn(body.angular_velocity);
    body.angle += mount.angle;
    body.orientation = product(mount.quaternion, body.orientation);
    if let Some((_, carrier, quaternion)) = &mount.body {
        body.angle += carrier.angle;
        body.orientation = product(*quaternion, body.orientation);
        // The part moves with the body that carries it: v' = v + ω × r.
        let w = carrier.angular_velocity;
        let r: [f64; 3] = std::array::from_fn(|k| body.position[k] - carrier.position[k]);
        let cross = [
            w[1] * r[2] - w[2] * r[1],
            w[2] * r[0] - w[0] * r[2],
            w[0] * r[1] - w[1] * r[0],
        ];
        for k in 0..3 {
            body.velocity[k] += carrier.velocity[k] + cross[k];
            body.angular_velocity[k] += w[k];
        }
    }
    let length = body.orientation.iter().map(|x| x * x).sum::<f64>().sqrt();
    body.orientation = body.orientation.map(|x| x / length);
}

/// Product of two quaternions.
fn product(a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
    [
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    ]
}

/// Frames in the initial pose move with the part; frames in bodies stay, except in the ground.
fn place_frames(
    frames: &JointPlacement,
    bodies: [BodyRef; 2],
    mount: &Mount,
    whole: &Placement,
) -> JointPlacement {
    match frames {
        JointPlacement::None => JointPlacement::None,
        JointPlacement::InitialPose(frame) => JointPlacement::InitialPose(whole.frame(frame)),
        JointPlacement::BodyFrames(frames) => {
            JointPlacement::BodyFrames([0, 1].map(|k| match bodies[k] {
                None => mount.placement.frame(&frames[k]),
                Some(_) => frames[k],
            }))
        }
    }
}

fn place_force(kind: &mut ForceKind, on: &mut ForceApplication, mount: &Mount, whole: &Placement) {
    let local = &mount.placement;
    let first_is_ground = on.bodies().is_some_and(|bodies| bodies[0].is_none());
    match on {
        ForceApplication::Points { bodies, points }
        | ForceApplication::Axis { bodies, points, .. } => {
            for k in 0..2 {
                if bodies[k].is_none() {
                    points[k] = local.point(points[k]);
                }
            }
        }
        ForceApplication::Frames { bodies, at } => *at = place_frames(at, *bodies, mount, whole),
        ForceApplication::Joint(_) | ForceApplication::Point { .. } => {}
    }
    if !first_is_ground {
        return;
    }
    if let ForceApplication::Axis { direction, .. } = on {
        *direction = local.turn(*direction);
    }
    match kind {
        ForceKind::Tyre(tyre) => {
            tyre.up = local.turn(tyre.up);
            tyre.forward = local.turn(tyre.forward);
        }
        ForceKind::Contact(contact) => match &mut contact.surface {
            Surface::Plane(normal) => *normal = local.turn(*normal),
            Surface::Sphere(_) => {}
            Surface::Curve(outline) => {
                for point in &mut outline.points {
                    let [x, y, _] = local.point([point[0], point[1], 0.0]);
                    *point = [x, y];
                }
            }
        },
        _ => {}
    }
}

/// A target of a part as one of the whole.
fn shifted(target: Target, by: Offsets) -> Target {
    match target {
        Target::BodyMass(i) => Target::BodyMass(i + by.bodies),
        Target::BodyInertia(i) => Target::BodyInertia(i + by.bodies),
        Target::ForceStiffness(i) => Target::ForceStiffness(i + by.forces),
        Target::ForceDamping(i) => Target::ForceDamping(i + by.forces),
        Target::ForceLength(i) => Target::ForceLength(i + by.forces),
        Target::ForceEffort(i) => Target::ForceEffort(i + by.forces),
        Target::Force(i, number) => Target::Force(i + by.forces, number),
        Target::Joint(i, k, number) => Target::Joint(i + by.joints, k, number),
        Target::Motion(i) => Target::Motion(i + by.motions),
        Target::MotionSpeed(i) => Target::MotionSpeed(i + by.motions),
        Target::Gravity(_)
        | Target::Definition(_)
        | Target::Equilibrium
        | Target::SystemForce(_) => target,
    }
}
