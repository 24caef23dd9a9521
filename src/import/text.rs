//! A model as commented text that a person can edit. It writes what importers make, in the order of the model; numbers have the
//! shortest digits that read back the same, so the same model gives the same bytes.

use std::f64::consts::TAU;
use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

use super::draft::Draft;
use crate::model::{
    Body, BodyRef, BodyShape, Characteristic, ContactDefinition, ContactLaw, CouplingLaw, Curve,
    CurvePiece, Force, ForceApplication, ForceKind, FormulationName, FrictionDefinition, Joint,
    JointCoordinate, JointFrame, JointKind, JointPlacement, LimitLaw, MeshFile, Model, Motion,
    MotionLaw, PrescribedCoordinate, ServoDefinition, Surface,
};

/// A text under construction.
struct TextWriter<'a> {
    draft: &'a Draft,
    model: &'a Model,
    /// Folder that files are relative to.
    folder: &'a Path,
    text: String,
}

/// The text of a draft that is to be written into `folder`.
pub fn text(draft: &Draft, folder: &Path) -> String {
    let mut writer = TextWriter {
        draft,
        model: &draft.model,
        folder,
        text: String::new(),
    };
    writer.head();
    draft.model.bodies.iter().for_each(|body| writer.body(body));
    draft
        .model
        .joints
        .iter()
        .for_each(|joint| writer.joint(joint));
    draft
        .model
        .forces
        .iter()
        .for_each(|force| writer.force(force));
    (draft.model.motions.iter()).for_each(|motion| writer.motion(motion));
    writer.sensors();
    writer.signals();
    writer.text
}

/// The way from a folder to a file, with `/` between the names; the path itself where there is none.
fn relative(file: &Path, folder: &Path) -> String {
    let (Ok(to), Ok(from)) = (file.canonicalize(), folder.canonicalize()) else {
        return file.display().to_string();
    };
    let (to, from): (Vec<Component>, Vec<Component>) =
        (to.components().collect(), from.components().collect());
    let common = to.iter().zip(&from).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n(Component::ParentDir, from.len() - common);
    let way: PathBuf = up.chain(to[common..].iter().copied()).collect();
    way.display().to_string().replace('\\', "/")
}

impl TextWriter<'_> {
    fn line(&mut self, words: &str) {
        self.text.push_str(words);
        self.text.push('\n');
    }

    fn key(&mut self, key: &str, value: &str) {
        writeln!(self.text, "{key} = {value}").expect("a String takes everything");
    }

    fn words(&mut self, key: &str, value: &str) {
        self.key(key, &quoted(value));
    }

    /// The heading of a table and the comment of its element.
    fn table(&mut self, table: &str, name: &str) {
        self.line("");
        self.line(&format!("[[{table}]]"));
        let comment = match self.draft.comments.get(name) {
            Some(comment) => format!("  # {}", plain(comment)),
            None => String::new(),
        };
        self.line(&format!("name = {}{comment}", quoted(name)));
    }

    fn head(&mut self) {
        for comment in &self.draft.head {
            self.text.push_str("# ");
            self.text.push_str(&plain(comment));
            self.text.push('\n');
        }
        self.line("format = 1");
        self.words("name", &self.model.name);
        self.key("gravity", &list(&self.model.gravity));
        let formulation = self.model.solver.formulation;
        if formulation != FormulationName::Auto {
            self.line("");
            self.line("[solver]");
            self.words("formulation", formulation.name());
        }
    }

    fn body(&mut self, body: &Body) {
        self.table("body", &body.name);
        if body.prescribed {
            self.line("prescribed = true");
        } else {
            self.key("mass", &number(body.mass));
            let [diagonal @ .., xy, xz, yz] = body.inertia;
            match [xy, xz, yz] {
                [0.0, 0.0, 0.0] => self.key("inertia", &list(&diagonal)),
                _ => self.key("inertia", &list(&body.inertia)),
            }
            if body.center_of_mass != [0.0; 3] {
                self.key("center_of_mass", &list(&body.center_of_mass));
            }
        }
        for (key, value) in [
            ("position", body.position),
            ("velocity", body.velocity),
            ("angular_velocity", body.angular_velocity),
        ] {
            if value != [0.0; 3] {
                self.key(key, &list(&value));
            }
        }
        if body.orientation != [1.0, 0.0, 0.0, 0.0] {
            self.key("orientation", &list(&body.orientation));
        }
        if let Some(BodyShape::Mesh(mesh)) = &body.shape {
            self.mesh(mesh);
        }
    }

    fn mesh(&mut self, mesh: &MeshFile) {
        let mut keys = vec![format!(
            "file = {}",
            quoted(&relative(&mesh.path, self.folder))
        )];
        if mesh.scale != [1.0; 3] {
            keys.push(format!("scale = {}", list(&mesh.scale)));
        }
        if mesh.position != [0.0; 3] {
            keys.push(format!("position = {}", list(&mesh.position)));
        }
        if mesh.orientation != [1.0, 0.0, 0.0, 0.0] {
            keys.push(format!("orientation = {}", list(&mesh.orientation)));
        }
        self.key("shape", &format!("{{ mesh = {{ {} }} }}", keys.join(", ")));
    }

    fn joint(&mut self, joint: &Joint) {
        self.table("joint", &joint.name);
        self.words("type", joint.kind.name());
        if let Some(coupling) = &joint.coupling {
            let [first, last] = coupling.coordinates;
            let between = coupling.summands.iter().map(|(c, _)| *c);
            let names: Vec<String> = (std::iter::once(first).chain(between))
                .chain([last])
                .map(|c| quoted(&self.coordinate(c)))
                .collect();
            self.key("joints", &format!("[{}]", names.join(", ")));
            match &coupling.law {
                CouplingLaw::Ratio(ratio) if !coupling.summands.is_empty() => {
                    let others = coupling.summands.iter().map(|(_, ratio)| *ratio);
                    let ratios: Vec<f64> = std::iter::once(*ratio).chain(others).collect();
                    self.key("ratios", &list(&ratios));
                }
                CouplingLaw::Ratio(ratio) => self.key("ratio", &number(*ratio)),
                CouplingLaw::Curve(curve) => self.key("law", &curve_text(curve)),
            }
            return;
        }
        self.attachment(joint.bodies, &joint.frame, joint.kind, joint.mirrored);
        if joint.armature != [0.0; 3] {
            let value = match joint.kind.coordinates(3) {
                0 | 1 => number(joint.armature[0]),
                many => list(&joint.armature[..many]),
            };
            self.key("armature", &value);
        }
        self.limits(joint);
        self.friction(joint);
    }

    /// Bodies and the frames in them.
    fn attachment(
        &mut self,
        bodies: [BodyRef; 2],
        at: &JointPlacement,
        kind: JointKind,
        mirrored: bool,
    ) {
        let names = bodies.map(|b| quoted(self.body_name(b)));
        self.key("bodies", &format!("[{}]", names.join(", ")));
        if let JointPlacement::BodyFrames(frames) = at {
            let frames = [0, 1].map(|k| {
                let frame = &frames[k];
                let mut keys = vec![format!("point = {}", list(&frame.point))];
                if matches!(kind, JointKind::Universal | JointKind::Gimbal) {
                    let mut axes = vec![frame.axis, frame.reference_direction];
                    if kind == JointKind::Gimbal {
                        axes.push(third_axis(frame, mirrored));
                    }
                    let axes: Vec<String> = axes.iter().map(|a| list(a)).collect();
                    keys.push(format!("axes = [{}]", axes.join(", ")));
                } else {
                    if frame.axis != [0.0; 3] {
                        keys.push(format!("axis = {}", list(&frame.axis)));
                    }
                    if frame.reference_direction != [0.0; 3] {
                        keys.push(format!("across = {}", list(&frame.reference_direction)));
                    }
                }
                format!("{{ {} }}", keys.join(", "))
            });
            self.line(&format!("at = [\n  {},\n  {},\n]", frames[0], frames[1]));
        }
    }

    fn limits(&mut self, joint: &Joint) {
        if joint.limits.iter().flatten().next().is_none() {
            return;
        }
        // With a unit, angles of several turns are not taken for degrees.
        let many_turns = |k: usize, x: &f64| joint.kind.is_angle(k) && x.abs() > TAU;
        let pair = |k: usize| match joint.limits.get(k).copied().flatten() {
            Some(limits) if limits.range.iter().any(|x| many_turns(k, x)) => {
                let [low, high] = limits.range.map(|x| quoted(&format!("{} rad", number(x))));
                format!("[{low}, {high}]")
            }
            Some(limits) => list(&limits.range),
            None => "[]".to_owned(),
        };
        let value = match joint.kind.coordinates(3) {
            1 => pair(0),
            many => format!("[{}]", (0..many).map(pair).collect::<Vec<_>>().join(", ")),
        };
        self.key("limits", &value);
        let stop = joint
            .limits
            .iter()
            .flatten()
            .next()
            .map(|limits| limits.stop);
        match stop {
            Some(LimitLaw::Rigid(rigid)) => self.key("restitution", &number(rigid.restitution)),
            Some(LimitLaw::Compliant { stiffness, damping }) => {
                self.key("stiffness", &number(stiffness));
                self.key("damping", &number(damping));
            }
            None => {}
        }
    }

    fn friction(&mut self, joint: &Joint) {
        if joint.friction.iter().flatten().next().is_none() {
            return;
        }
        let table = |k: usize| match joint.friction.get(k).copied().flatten() {
            Some(friction) => friction_text(friction),
            None => "{}".to_owned(),
        };
        let value = match joint.kind.coordinates(3) {
            0 | 1 => table(0),
            many => format!("[{}]", (0..many).map(table).collect::<Vec<_>>().join(", ")),
        };
        self.key("friction", &value);
    }

    fn force(&mut self, force: &Force) {
        self.table("force", &force.name);
        self.words("type", self.model.force_type(force).name());
        let on = match (&force.on, &force.kind) {
            (ForceApplication::Joint(on), _) => *on,
            (ForceApplication::Points { bodies, points }, ForceKind::Contact(contact)) => {
                return self.contact(contact, *bodies, points);
            }
            (
                ForceApplication::Frames { bodies, at },
                ForceKind::Bushing { stiffness, damping },
            ) => {
                self.attachment(*bodies, at, JointKind::Fixed, false);
                self.key("stiffness", &list(stiffness));
                return self.key("damping", &list(damping));
            }
            (ForceApplication::Point { body, point }, ForceKind::Load { components, .. }) => {
                let body = quoted(self.body_name(*body));
                self.key("body", &body);
                self.key("point", &list(point));
                return self.key("force", &list(components));
            }
            other => unreachable!("importers do not make {other:?}"),
        };
        let coordinate = quoted(&self.coordinate(on));
        self.key("joint", &coordinate);
        let is_angle = self.model.joints[on.joint].kind.is_angle(on.index);
        match &force.kind {
            ForceKind::SpringDamper(spring) => {
                for (key, value) in [
                    ("stiffness", &spring.stiffness),
                    ("damping", &spring.damping),
                ] {
                    match value {
                        Characteristic::Linear(0.0) => {}
                        Characteristic::Linear(value) => self.key(key, &number(*value)),
                        Characteristic::Law(curve) => self.key(key, &curve_text(curve)),
                    }
                }
                if spring.stiffness != Characteristic::Linear(0.0) {
                    let key = if is_angle { "angle" } else { "length" };
                    self.key(key, &number(spring.length));
                }
            }
            ForceKind::Actuator { effort } => {
                let key = if is_angle { "torque" } else { "force" };
                self.key(key, &number(*effort));
            }
            ForceKind::Servo(servo) => self.servo(servo),
            other => unreachable!("importers do not make {other:?}"),
        }
    }

    /// A contact with a plane.
    fn contact(
        &mut self,
        contact: &ContactDefinition,
        bodies: [BodyRef; 2],
        points: &[[f64; 3]; 2],
    ) {
        let names = bodies.map(|b| quoted(self.body_name(b)));
        self.key("bodies", &format!("[{}]", names.join(", ")));
        if let Surface::Plane(normal) = &contact.surface {
            let (point, normal) = (list(&points[0]), list(normal));
            let plane = format!("{{ point = {point}, normal = {normal} }}");
            self.key("plane", &plane);
        }
        self.key("point", &list(&points[1]));
        self.key("radius", &number(contact.radius));
        if let ContactLaw::Rigid(rigid) = contact.law {
            self.key("restitution", &number(rigid.restitution));
        }
        if let Some(friction) = contact.friction {
            self.key("friction", &friction_text(friction));
        }
    }

    fn servo(&mut self, servo: &ServoDefinition) {
        if servo.gain != 1.0 {
            self.key("gain", &number(servo.gain));
        }
        if servo.bias != [0.0; 3] {
            self.key("bias", &list(&servo.bias));
        }
        for (key, limits) in [
            ("control_limits", servo.control_limits),
            ("limits", servo.limits),
        ] {
            if let Some(limits) = limits {
                self.key(key, &list(&limits));
            }
        }
    }

    fn motion(&mut self, motion: &Motion) {
        self.table("motion", &motion.name);
        match motion.on {
            PrescribedCoordinate::Joint(on) => {
                let coordinate = quoted(&self.coordinate(on));
                self.key("joint", &coordinate);
            }
            other => unreachable!("importers do not make {other:?}"),
        }
        match &motion.law {
            MotionLaw::Polynomial(coefficients) => {
                self.words("law", "polynomial");
                self.key("coefficients", &list(coefficients));
            }
            MotionLaw::Input { order: 0, start } => {
                self.words("law", "input");
                self.key("start", &number(*start));
            }
            other => unreachable!("importers do not make {other:?}"),
        }
    }

    fn sensors(&mut self) {
        for sensor in &self.model.sensors {
            self.table("sensor", &sensor.name);
            let body = quoted(self.body_name(sensor.body));
            self.key("body", &body);
            self.key("point", &list(&sensor.point));
        }
    }

    fn signals(&mut self) {
        for input in &self.model.inputs {
            self.table("input", &input.name);
            self.words("target", &self.model.target_name(input.target));
            if input.start != 0.0 {
                self.key("start", &number(input.start));
            }
        }
        for output in &self.model.outputs {
            self.table("output", &output.name);
            self.words("source", &output.source);
        }
    }

    fn body_name(&self, body: BodyRef) -> &str {
        match body {
            Some(b) => &self.model.bodies[b].name,
            None => "ground",
        }
    }

    fn coordinate(&self, of: JointCoordinate) -> String {
        let joint = &self.model.joints[of.joint];
        match joint.kind.coordinates(3) {
            1 => joint.name.clone(),
            _ => format!("{}.position{}", joint.name, of.index + 1),
        }
    }
}

fn friction_text(friction: FrictionDefinition) -> String {
    let kinetic = number(friction.kinetic);
    match friction.stiction_velocity {
        Some(speed) => format!(
            "{{ kinetic = {kinetic}, stiction_velocity = {} }}",
            number(speed)
        ),
        None => format!("{{ kinetic = {kinetic} }}"),
    }
}

/// The third axis of a gimbal joint.
fn third_axis(frame: &JointFrame, mirrored: bool) -> [f64; 3] {
    let (a, b) = (frame.axis, frame.reference_direction);
    let sign = if mirrored { -1.0 } else { 1.0 };
    [0, 1, 2].map(|k| {
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        sign * (a[i] * b[j] - a[j] * b[i])
    })
}

fn curve_text(curve: &Curve) -> String {
    match curve {
        Curve::Polynomial(coefficients) => format!("{{ polynomial = {} }}", list(coefficients)),
        Curve::Pieces(pieces) => {
            let text = |piece: &CurvePiece| {
                let below = match piece.below.is_finite() {
                    true => format!("below = {}, ", number(piece.below)),
                    false => String::new(),
                };
                format!("{{ {below}polynomial = {} }}", list(&piece.polynomial))
            };
            let pieces: Vec<String> = pieces.iter().map(text).collect();
            format!("{{ pieces = [{}] }}", pieces.join(", "))
        }
        other => unreachable!("importers do not make {other:?}"),
    }
}

fn number(value: f64) -> String {
    format!("{:?}", value + 0.0)
}

fn list(values: &[f64]) -> String {
    let words: Vec<String> = values.iter().map(|value| number(*value)).collect();
    format!("[{}]", words.join(", "))
}

/// A basic string of TOML.
fn quoted(words: &str) -> String {
    let mut text = String::from("\"");
    for c in words.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            c if c.is_control() => {
                write!(text, "\\u{:04X}", c as u32).expect("a String takes everything");
            }
            c => text.push(c),
        }
    }
    text.push('"');
    text
}

/// Words that may stand in a comment.
fn plain(words: &str) -> String {
    let safe = |c: char| if c.is_control() { ' ' } else { c };
    words.chars().map(safe).collect()
}
