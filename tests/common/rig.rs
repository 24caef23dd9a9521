//! Mechanisms built in code and driven without a component: what the tests of joints, motions and assembly share.
#![allow(dead_code)] // Each test program uses its own part.

use biela::formulation::{EvaluationContext, FullConstraintSet, Mechanism, MotionPoint, build};
use biela::integrator::{Accepted, Environment, Integrator, StartReport, State};
use biela::linalg::rotation::{self, Mat3, Vec3};
use biela::model::quantity::{BodyField, JointField, Quantity};
use biela::model::{
    Body, BodyRef, Joint, JointFrame, JointKind, JointPlacement, Model, Sensor, SolverSettings,
};

/// Whether the counts the requirements state are run.
pub fn full() -> bool {
    std::env::var("BIELA_TEST_FULL").is_ok_and(|x| x == "1")
}

/// A mechanism under way.
pub struct Rig {
    pub model: Model,
    pub mechanism: Box<dyn Mechanism>,
    pub integrator: Integrator,
    pub state: State,
    pub report: StartReport,
    pub parameters: Vec<f64>,
    /// What the joints carry where the state does not have all of it.
    hidden: Option<Vec<f64>>,
    total_at_start: f64,
}

impl Rig {
    /// Assembled and ready, or why not.
    pub fn start(model: &Model) -> biela::Result<Self> {
        let mechanism = build(model)?;
        let size = mechanism.dimensions();
        let (mut q, mut v) = (vec![0.0; size.nq], vec![0.0; size.nv]);
        mechanism.initial_state(&mut q, &mut v);
        Self::start_at(model, &q, &v)
    }

    /// The same from a pose of one's own.
    pub fn start_at(model: &Model, q: &[f64], v: &[f64]) -> biela::Result<Self> {
        let mechanism = build(model)?;
        let mut integrator = Integrator::new(&*mechanism, &model.solver)?;
        let parameters: Vec<f64> = model.parameters.iter().map(|p| p.start).collect();
        let env = Environment {
            signals: &(),
            parameters: &parameters,
        };
        let (t, mut state) = (model.experiment.start, State::default());
        let report = integrator.start(&*mechanism, &env, t, q, v, &mut state)?;
        let mut rig = Self {
            model: model.clone(),
            mechanism,
            integrator,
            state,
            report,
            parameters,
            hidden: None,
            total_at_start: 0.0,
        };
        rig.look_at_hidden();
        rig.total_at_start = rig.energy();
        Ok(rig)
    }

    /// Assembled and ready.
    pub fn new(model: &Model) -> Self {
        Self::start(model).unwrap_or_else(|e| panic!("{}: {e}", model.name))
    }

    /// One accepted substep.
    pub fn advance(&mut self, t_end: f64) -> Accepted {
        let env = Environment {
            signals: &(),
            parameters: &self.parameters,
        };
        let t = self.state.t;
        let accepted = self
            .integrator
            .advance(&*self.mechanism, &env, &mut self.state, t_end)
            .unwrap_or_else(|e| panic!("{} at t = {t}: {e}", self.model.name));
        self.look_at_hidden();
        accepted
    }

    fn look_at_hidden(&mut self) {
        if self
            .mechanism
            .full_constraints()
            .is_some_and(FullConstraintSet::multipliers_hidden)
        {
            let env = Environment {
                signals: &(),
                parameters: &self.parameters,
            };
            let mut lambda = vec![0.0; self.state.lambda.len()];
            self.integrator
                .reactions(&*self.mechanism, &env, &self.state, &mut lambda)
                .unwrap();
            self.hidden = Some(lambda);
        }
    }

    /// Substeps up to `t_end`.
    pub fn to(&mut self, t_end: f64) {
        while self.state.t < t_end {
            self.advance(t_end);
        }
    }

    pub fn context(&self) -> EvaluationContext<'_> {
        EvaluationContext {
            t: self.state.t,
            u: &[],
            u_dot: &[],
            u_ddot: &[],
            p: &self.parameters,
            modes: &self.state.modes,
            integrals: &[],
        }
    }

    pub fn motion(&self) -> MotionPoint<'_> {
        MotionPoint {
            q: &self.state.q,
            v: &self.state.v,
            a: &self.state.acc,
            lambda: self.hidden.as_ref().unwrap_or(&self.state.lambda),
        }
    }

    /// A quantity now.
    pub fn get(&self, quantity: Quantity) -> f64 {
        (self.mechanism).evaluate(&self.context(), quantity, &self.motion())
    }

    fn three(&self, quantity: impl Fn(usize) -> Quantity) -> Vec3 {
        Vec3::from([0, 1, 2].map(|k| self.get(quantity(k))))
    }

    pub fn of_body(&self, b: usize, field: fn(usize) -> BodyField) -> Vec3 {
        self.three(|k| Quantity::Body(b, field(k)))
    }

    pub fn of_sensor(&self, s: usize, field: fn(usize) -> BodyField) -> Vec3 {
        self.three(|k| Quantity::Sensor(s, field(k)))
    }

    /// Force or moment of a joint.
    pub fn of_joint(&self, j: usize, field: fn(usize) -> JointField) -> Vec3 {
        self.three(|k| Quantity::Joint(j, field(k)))
    }

    /// Position, speed and acceleration of a joint's coordinate.
    pub fn coordinate(&self, j: usize, k: usize) -> [f64; 3] {
        [
            JointField::Position(k),
            JointField::Speed(k),
            JointField::Acceleration(k),
        ]
        .map(|field| self.get(Quantity::Joint(j, field)))
    }

    /// Body axes to ground axes, as reported.
    pub fn rotation(&self, b: usize) -> Mat3 {
        if self.model.dimension == 2 {
            let angle = self.get(Quantity::Body(b, BodyField::Angle));
            return rotation::matrix(&rotation::exp(&Vec3::new(0.0, 0.0, angle)));
        }
        let q = [0, 1, 2, 3].map(|k| self.get(Quantity::Body(b, BodyField::Quaternion(k))));
        rotation::matrix(&q)
    }

    /// Kinetic + potential.
    pub fn energy(&self) -> f64 {
        let e = (self.mechanism).energy(&self.context(), &self.state.q, &self.state.v);
        e.kinetic + e.potential
    }

    /// total + dissipated − supplied − total at start
    pub fn balance(&self) -> f64 {
        self.energy() + self.state.dissipated - self.state.supplied - self.total_at_start
    }

    /// Largest closure error of all rows, over its scale.
    pub fn closure(&self) -> f64 {
        let mut phi = vec![0.0; self.mechanism.dimensions().nc];
        (self.mechanism).constraint(&self.context(), &self.state.q, &mut phi);
        (phi.iter().enumerate())
            .map(|(i, phi)| phi.abs() / self.mechanism.constraint_scale(i))
            .fold(0.0, f64::max)
    }

    /// Distance of another run's pose in the error norm.
    pub fn distance(&self, other: &Self) -> f64 {
        let mut w = vec![0.0; self.mechanism.dimensions().nv];
        (self.mechanism).difference(&self.state.q, &other.state.q, &mut w);
        let cx = self.context();
        (self.mechanism).norm(&cx, &self.state.q, &self.state.scale, &w)
    }

    /// The pose moved by a tangent vector.
    pub fn moved(&self, w: &[f64]) -> Vec<f64> {
        let mut q = self.state.q.clone();
        self.mechanism.retract(&self.state.q, w, &mut q);
        q
    }
}

/// A model of space with this gravity along z, or of the plane with it along y.
pub fn world(dimension: usize, gravity: f64) -> Model {
    let down = if dimension == 2 {
        [0.0, -gravity, 0.0]
    } else {
        [0.0, 0.0, -gravity]
    };
    Model {
        name: "rig".into(),
        dimension,
        gravity: down,
        ..Model::default()
    }
}

/// A slender rod between two points, its x axis along it; about its own axis it has the inertia of a cylinder whose diameter is a
/// tenth of its length.
pub fn rod(name: &str, from: [f64; 3], to: [f64; 3], mass: f64) -> Body {
    let (from, to) = (Vec3::from(from), Vec3::from(to));
    let (along, length) = ((to - from).normalize(), (to - from).norm());
    let thin = mass * (length * length / 12.0 + 0.05 * length * 0.05 * length / 4.0);
    let spin = 0.5 * mass * 0.05 * length * 0.05 * length;
    Body {
        name: name.into(),
        mass,
        inertia: [spin, thin, mass * length * length / 12.0, 0.0, 0.0, 0.0],
        position: (0.5 * (from + to)).into(),
        angle: along.y.atan2(along.x),
        orientation: towards(&along),
        ..Body::default()
    }
}

/// A rotation that takes x to a unit vector.
pub fn towards(along: &Vec3) -> rotation::Quaternion {
    let axis = Vec3::x().cross(along);
    if axis.norm() < 1e-12 {
        return if along.x > 0.0 {
            [1.0, 0.0, 0.0, 0.0]
        } else {
            [0.0, 0.0, 0.0, 1.0]
        };
    }
    let angle = axis.norm().atan2(along.x);
    rotation::exp(&(axis.normalize() * angle))
}

/// A joint drawn in the ground frame.
pub fn drawn(
    name: &str,
    kind: JointKind,
    bodies: [BodyRef; 2],
    point: [f64; 3],
    axis: [f64; 3],
) -> Joint {
    Joint {
        name: name.into(),
        kind,
        bodies,
        frame: JointPlacement::InitialPose(JointFrame {
            point,
            axis,
            reference_direction: [0.0; 3],
        }),
        ..Joint::default()
    }
}

/// Body axes to ground axes at the start, and the frame's origin.
fn start_pose(model: &Model, body: BodyRef) -> (Mat3, Vec3) {
    let Some(b) = body else {
        return (Mat3::identity(), Vec3::zeros());
    };
    let body = &model.bodies[b];
    let turned = if model.dimension == 2 {
        rotation::exp(&Vec3::new(0.0, 0.0, body.angle))
    } else {
        rotation::normalized(&body.orientation)
    };
    (rotation::matrix(&turned), Vec3::from(body.position))
}

/// A point of the ground frame at start as seen from a body's frame.
pub fn seen(model: &Model, body: BodyRef, point: [f64; 3]) -> [f64; 3] {
    let (r, origin) = start_pose(model, body);
    (r.transpose() * (Vec3::from(point) - origin)).into()
}

/// The same joint written in each body's own frame.
pub fn given(model: &Model, joint: &Joint) -> Joint {
    let mut joint = joint.clone();
    if let JointPlacement::InitialPose(frame) = joint.frame {
        let frames = joint.bodies.map(|body| {
            let (r, _) = start_pose(model, body);
            let turned = |x: [f64; 3]| -> [f64; 3] { (r.transpose() * Vec3::from(x)).into() };
            JointFrame {
                point: seen(model, body, frame.point),
                axis: turned(frame.axis),
                reference_direction: turned(frame.reference_direction),
            }
        });
        joint.frame = JointPlacement::BodyFrames(frames);
    }
    joint
}

/// A point of a body whose motion is asked for.
pub fn sensor(body: BodyRef, point: [f64; 3]) -> Sensor {
    Sensor {
        name: "sensor".into(),
        body,
        point,
        text_position: Default::default(),
    }
}

/// Fixed steps.
pub fn fixed(h: f64, corrector: biela::model::Corrector) -> SolverSettings {
    SolverSettings {
        step: Some(h),
        integrator: biela::model::IntegratorName::Hht,
        corrector,
        ..SolverSettings::default()
    }
}

/// Slope of log error over log h.
pub fn slope(h: &[f64], error: &[f64]) -> f64 {
    let n = h.len() as f64;
    let x: Vec<f64> = h.iter().map(|x| x.ln()).collect();
    let y: Vec<f64> = error.iter().map(|x| x.ln()).collect();
    let (mx, my) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    let top: f64 = x.iter().zip(&y).map(|(x, y)| (x - mx) * (y - my)).sum();
    let below: f64 = x.iter().map(|x| (x - mx) * (x - mx)).sum();
    top / below
}
