//! From the model's forces, and the friction and end stops of its joints, to elements.

use std::sync::Arc;

use super::actuator::Actuator;
use super::along_coordinate::CoordinateForceElement;
use super::bushing::Bushing;
use super::contact::{Contact, NormalForce, face::ContactSurface, outline};
use super::friction::Friction;
use super::group::ForceGroup;
use super::joint_limit::CompliantLimit;
use super::load::AppliedLoad;
use super::rigid_contact::{UnilateralConstraint, UnilateralLayout};
use super::spatial_force::{SpatialForce, SpatialForceElement};
use super::spring_damper::{SpringDamper, SpringLaw};
use super::tyre::{RoadProfile, Tyre};
use super::{ForceElement, ForceGeometry, ScalarLaw};
use crate::error::{Error, Result};
use crate::formulation::absolute::constraint::ConstraintPart;
use crate::formulation::absolute::geometry::RelativeCoordinate as _;
use crate::formulation::absolute::sparsity::SparsityBuilder;
use crate::formulation::driven_value::{DrivenValue, DrivenValues};
use crate::formulation::joint::{self, JointEquations};
use crate::model::{
    self, BodyRef, ContactLaw, ForceApplication, ForceKind, ForceNumber, JointCoordinate,
    JointNumber, JointPlacement, LimitLaw, Model, Surface, Target,
};

/// The mechanism without its forces.
pub struct ForceBuildContext<'a, W: ForceGeometry<N>, const N: usize> {
    /// As written.
    pub model: &'a Model,
    /// Who sets what.
    pub values: &'a DrivenValues,
    /// Its joints.
    pub joints: &'a [JointEquations<W, N>],
    /// The start pose.
    pub q: &'a [f64],
    /// The characteristic length (m).
    pub length: f64,
    /// Below this distance two points are in one place (m).
    pub tiny: f64,
}

/// Constraint rows, to which rigid contacts and stops add their own.
pub struct UnilateralRows<'a, W: ForceGeometry<N>, const N: usize> {
    parts: &'a mut Vec<(ConstraintPart<W, N>, String)>,
    next: usize,
}

impl<'a, W: ForceGeometry<N>, const N: usize> UnilateralRows<'a, W, N> {
    /// Behind those there are.
    pub fn new(parts: &'a mut Vec<(ConstraintPart<W, N>, String)>) -> Self {
        let next = parts.iter().map(|(part, _)| part.rows()).sum();
        Self { parts, next }
    }

    /// The row c = c₀ of this name.
    fn hold(
        &mut self,
        measure: &W::RelativeCoordinate,
        at: f64,
        name: &str,
        slots: &mut SparsityBuilder,
    ) -> usize {
        let part = ConstraintPart::held(measure.clone(), at, slots);
        self.parts.push((part, name.to_owned()));
        self.next += 1;
        self.next - 1
    }
}

/// A start deeper in than this part of the characteristic length is a mistake of the drawing.
const OVERLAP: f64 = 1e-3;
/// A gap below this part of it is none.
const TOUCHING: f64 = 1e-6;
/// Part of the mechanism's weight that is rounding of a force.
const PULL: f64 = 1e-10;
/// Part of the speed of a fall through the characteristic length below which nothing bounces: hops of half a millionth of it.
const REST: f64 = 1e-3;

impl<W: ForceGeometry<N>, const N: usize> ForceBuildContext<'_, W, N> {
    /// The rest speed of what does not say its own.
    fn rest_speed(&self, rigid: &model::RigidImpact, is_angle: bool) -> f64 {
        let size = if is_angle {
            1.0 / self.length
        } else {
            self.length
        };
        (rigid.rest_speed).unwrap_or(REST * (self.gravity() * size).sqrt())
    }

    /// A pull that is rounding: of a force, or of a moment.
    fn slack(&self, is_angle: bool) -> f64 {
        let mass: f64 = self.model.bodies.iter().map(|body| body.mass).sum();
        let lever = if is_angle { self.length } else { 1.0 };
        PULL * mass * self.gravity() * lever
    }

    fn gravity(&self) -> f64 {
        self.model.gravity.iter().map(|g| g * g).sum::<f64>().sqrt()
    }

    /// A length or an angle as large as this part of the mechanism.
    fn part(&self, part: f64, is_angle: bool) -> f64 {
        part * if is_angle { 1.0 } else { self.length }
    }
}

/// What building a force needs.
struct ForceBuilder<'a, 'b, W: ForceGeometry<N>, const N: usize> {
    scene: &'a ForceBuildContext<'a, W, N>,
    model: &'a Model,
    force: &'a model::Force,
    index: usize,
    values: &'a DrivenValues,
    rows: &'a mut UnilateralRows<'b, W, N>,
    slots: &'a mut SparsityBuilder,
}

/// Force `index` of the model.
pub fn build<W: ForceGeometry<N>, const N: usize>(
    scene: &ForceBuildContext<W, N>,
    index: usize,
    rows: &mut UnilateralRows<W, N>,
    slots: &mut SparsityBuilder,
) -> Result<Arc<dyn ForceElement<W, N>>> {
    ForceBuilder {
        scene,
        model: scene.model,
        force: &scene.model.forces[index],
        index,
        values: scene.values,
        rows,
        slots,
    }
    .element()
}

impl<W: ForceGeometry<N>, const N: usize> ForceBuilder<'_, '_, W, N> {
    fn refuse(&self, why: &str) -> Error {
        Error::Model {
            origin: self.model.origin.clone(),
            line: self.force.place.line,
            column: self.force.place.column,
            message: format!("force \"{}\" {why}", self.force.name),
        }
    }

    fn number(&self, number: ForceNumber, written: f64) -> DrivenValue {
        self.values.get(Target::Force(self.index, number), written)
    }

    fn stiffness(&self, written: f64) -> DrivenValue {
        self.values.get(Target::ForceStiffness(self.index), written)
    }

    fn damping(&self, written: f64) -> DrivenValue {
        self.values.get(Target::ForceDamping(self.index), written)
    }

    fn along(
        &mut self,
        measure: W::RelativeCoordinate,
        law: impl ScalarLaw + 'static,
    ) -> Arc<dyn ForceElement<W, N>> {
        Arc::new(CoordinateForceElement::<W, N>::new(
            measure,
            Arc::new(law),
            self.slots,
        ))
    }

    fn acting(
        &mut self,
        kernel: impl SpatialForce + 'static,
        bodies: [BodyRef; 2],
    ) -> Arc<dyn ForceElement<W, N>> {
        Arc::new(SpatialForceElement::<_, N>::new(kernel, bodies, self.slots))
    }

    fn element(&mut self) -> Result<Arc<dyn ForceElement<W, N>>> {
        let force = self.force;
        if !numbers(&force.on).all(f64::is_finite) {
            return Err(self.refuse("has a point that is not finite"));
        }
        if let Some([a, b]) = force.on.bodies()
            && a == b
            && !matches!(force.on, ForceApplication::Point { .. })
        {
            return Err(self.refuse("acts between a body and itself"));
        }
        match &force.kind {
            ForceKind::SpringDamper(spring) => {
                let law = SpringDamper {
                    stiffness: SpringLaw::new(&spring.stiffness, |k| self.stiffness(k)),
                    damping: SpringLaw::new(&spring.damping, |d| self.damping(d)),
                    length: self
                        .values
                        .get(Target::ForceLength(self.index), spring.length),
                    preload: self.number(ForceNumber::Preload, spring.preload),
                    only: spring.only,
                };
                let measure = self.measure()?;
                Ok(self.along(measure, law))
            }
            ForceKind::Actuator { effort } => {
                let effort = self.values.get(Target::ForceEffort(self.index), *effort);
                let measure = self.measure()?;
                Ok(self.along(measure, Actuator { effort }))
            }
            ForceKind::Load {
                load,
                components,
                frame,
            } => {
                let ForceApplication::Point { body, point } = &force.on else {
                    return Err(self.refuse("acts at a point of one body"));
                };
                if body.is_none() {
                    return Err(self.refuse("acts on the ground, which does not move"));
                }
                let kernel = AppliedLoad {
                    what: *load,
                    components: std::array::from_fn(|k| {
                        self.number(ForceNumber::Component(k), components[k])
                    }),
                    frame: *frame,
                    lever: W::lever(&W::point(self.model, *body, *point)),
                };
                Ok(self.acting(kernel, [None, *body]))
            }
            ForceKind::Bushing { stiffness, damping } => self.bushing(stiffness, damping),
            ForceKind::Tyre(tyre) => {
                let (bodies, levers) = self.two_points()?;
                let kernel = Tyre {
                    radius: self.number(ForceNumber::Radius, tyre.radius),
                    stiffness: SpringLaw::new(&tyre.stiffness, |k| self.stiffness(k)),
                    damping: SpringLaw::new(&tyre.damping, |d| self.damping(d)),
                    up: tyre.up,
                    forward: tyre.forward,
                    profile: RoadProfile::new(tyre.profile.as_ref()),
                    height: self.number(ForceNumber::Height, tyre.height),
                    speed: tyre.speed,
                    offset: tyre.offset,
                    levers,
                };
                Ok(self.acting(kernel, bodies))
            }
            ForceKind::Contact(contact) => self.contact(contact),
        }
    }

    fn measure(&self) -> Result<W::RelativeCoordinate> {
        let at = |bodies: &[BodyRef; 2], points: &[[f64; 3]; 2]| {
            [0, 1].map(|k| W::point(self.model, bodies[k], points[k]))
        };
        match &self.force.on {
            ForceApplication::Points { bodies, points } => {
                Ok(W::line(at(bodies, points), self.scene.tiny))
            }
            ForceApplication::Axis {
                bodies,
                points,
                direction,
            } => Ok(W::slide(at(bodies, points), *direction)),
            ForceApplication::Joint(of) => {
                joint::coordinate(self.model, self.scene.joints, *of, &self.force.name)
                    .map_err(|_| self.refuse("acts in a joint that has no such coordinate"))
            }
            ForceApplication::Point { .. } | ForceApplication::Frames { .. } => {
                Err(self.refuse("acts between two points or in a joint"))
            }
        }
    }

    /// Bodies and points seen from their centres of mass.
    fn two_points(&self) -> Result<([BodyRef; 2], [[f64; 3]; 2])> {
        match &self.force.on {
            ForceApplication::Points { bodies, points } => {
                let lever = |k: usize| W::lever(&W::point(self.model, bodies[k], points[k]));
                Ok((*bodies, [lever(0), lever(1)]))
            }
            _ => Err(self.refuse("acts between a point of each body")),
        }
    }

    fn bushing(
        &mut self,
        stiffness: &[f64; 6],
        damping: &[f64; 6],
    ) -> Result<Arc<dyn ForceElement<W, N>>> {
        let ForceApplication::Frames { bodies, at } = &self.force.on else {
            return Err(self.refuse("acts between two frames"));
        };
        let frames = W::at_rest(&mut W::poses(self.scene.q), *bodies);
        let (mut levers, mut axes) = ([[0.0; 3]; 2], [[[0.0; 3]; 3]; 2]);
        for k in 0..2 {
            match at {
                JointPlacement::InitialPose(frame) => {
                    let from: [f64; 3] = std::array::from_fn(|i| frame.point[i] - frames[k].r[i]);
                    levers[k] = frames[k].turn_back(&from);
                    axes[k] = triad(frame).map(|x| frames[k].turn_back(&x));
                }
                JointPlacement::BodyFrames(given) => {
                    levers[k] = W::lever(&W::point(self.model, bodies[k], given[k].point));
                    axes[k] = triad(&given[k]);
                }
                JointPlacement::None => return Err(self.refuse("has no place")),
            }
        }
        let flat = (W::DIMENSION == 2).then(|| match at {
            JointPlacement::InitialPose(_) => frames[1].angle - frames[0].angle,
            _ => {
                let angle = |k: usize| axes[k][0][1].atan2(axes[k][0][0]);
                angle(0) - angle(1)
            }
        });
        let kernel = Bushing {
            stiffness: std::array::from_fn(|k| {
                self.number(ForceNumber::Stiffness(k), stiffness[k])
            }),
            damping: std::array::from_fn(|k| self.number(ForceNumber::Damping(k), damping[k])),
            levers,
            axes,
            flat,
        };
        let bodies = *bodies;
        Ok(self.acting(kernel, bodies))
    }

    fn contact(
        &mut self,
        contact: &model::ContactDefinition,
    ) -> Result<Arc<dyn ForceElement<W, N>>> {
        let (bodies, levers) = self.two_points()?;
        let press = match contact.law {
            ContactLaw::SpringDamper { stiffness, damping } => NormalForce {
                stiffness: self.stiffness(stiffness),
                exponent: 1.0,
                damping: self.damping(damping),
                grows: false,
            },
            ContactLaw::HuntCrossley {
                stiffness,
                exponent,
                damping,
            } => NormalForce {
                stiffness: self.stiffness(stiffness),
                exponent,
                damping: self.damping(damping),
                grows: true,
            },
            ContactLaw::Rigid(rigid) => return self.rigid(contact, &rigid),
        };
        let friction = self.friction(contact);
        let mut group = ForceGroup::default();
        for face in self.faces(contact)? {
            let kernel = Contact {
                face,
                center: levers[1],
                radius: contact.radius,
                press,
                friction,
            };
            let element = self.acting(kernel, bodies);
            group.push(element, &self.force.name);
        }
        Ok(Arc::new(group))
    }

    fn friction(&self, contact: &model::ContactDefinition) -> Option<Friction> {
        contact.friction.map(|f| Friction {
            kinetic: self.number(ForceNumber::Kinetic, f.kinetic),
            r#static: self.number(ForceNumber::Static, f.r#static),
            stiction_velocity: f.stiction_velocity,
            stribeck_velocity: f.stribeck_velocity,
            viscous: DrivenValue::Constant(f.viscous),
        })
    }

    /// What can be touched on the first body.
    fn faces(&self, contact: &model::ContactDefinition) -> Result<Vec<ContactSurface>> {
        let (bodies, levers) = self.two_points()?;
        Ok(match &contact.surface {
            Surface::Plane(normal) => vec![ContactSurface::Plane {
                point: levers[0],
                normal: *normal,
            }],
            Surface::Sphere(radius) => vec![ContactSurface::Ball {
                point: levers[0],
                radius: *radius,
            }],
            Surface::Curve(outline) => {
                if W::DIMENSION != 2 {
                    return Err(self.refuse("has a curve, which exists in two dimensions only"));
                }
                let center = W::lever(&W::point(self.model, bodies[0], [0.0; 3]));
                outline::faces(outline, [-center[0], -center[1]])
            }
        })
    }

    /// A rigid contact: for each face the gap as a measure, with a row that holds it closed.
    fn rigid(
        &mut self,
        contact: &model::ContactDefinition,
        rigid: &model::RigidImpact,
    ) -> Result<Arc<dyn ForceElement<W, N>>> {
        let (bodies, levers) = self.two_points()?;
        let restitution = self.number(ForceNumber::Restitution, rigid.restitution);
        let friction = self.friction(contact);
        let center = W::at_lever(bodies[1], levers[1]);
        let mut group = ForceGroup::default();
        for face in self.faces(contact)? {
            let on = |lever: &[f64; 3]| [W::at_lever(bodies[0], *lever), center];
            let (measure, at) = match &face {
                ContactSurface::Plane { point, normal } => {
                    (W::slide(on(point), *normal), contact.radius)
                }
                ContactSurface::Segment { ends, normal, .. } => {
                    (W::slide(on(&ends[0]), *normal), contact.radius)
                }
                // A point passes a corner on one side or the other.
                ContactSurface::Corner { .. } if contact.radius == 0.0 => continue,
                ContactSurface::Corner { point, .. } => {
                    (W::line(on(point), self.scene.tiny), contact.radius)
                }
                ContactSurface::Ball { point, radius } => {
                    (W::line(on(point), self.scene.tiny), radius + contact.radius)
                }
                ContactSurface::Smooth(outline) => match W::height(bodies[0], outline, center) {
                    Some(measure) => (measure, contact.radius),
                    None => {
                        return Err(self.refuse("has a curve, which exists in two dimensions only"));
                    }
                },
            };
            let row = (self.rows).hold(&measure, at, &self.force.name, self.slots);
            let one = UnilateralConstraint::<W, N> {
                measure,
                at,
                sign: 1.0,
                row,
                restitution,
                rest_speed: self.scene.rest_speed(rigid, false),
                near: self.scene.part(TOUCHING, false),
                slack: self.scene.slack(false),
                place: Some(UnilateralLayout {
                    face,
                    center: levers[1],
                    radius: contact.radius,
                    friction,
                }),
                pair: (friction.is_some()).then(|| self.slots.pair(bodies, |_, _| true)),
            };
            if let Some(depth) = one.overlap(self.scene.q, self.scene.part(OVERLAP, false)) {
                return Err(self.refuse(&format!(
                    "is rigid, but its bodies overlap by {depth:.3} m as they are drawn: move them apart"
                )));
            }
            group.push(Arc::new(one), &self.force.name);
        }
        Ok(Arc::new(group))
    }
}

/// Numbers of a place.
fn numbers(on: &ForceApplication) -> impl Iterator<Item = f64> {
    let mut all: Vec<f64> = Vec::new();
    match on {
        ForceApplication::Points { points, .. } => all.extend(points.iter().flatten()),
        ForceApplication::Axis {
            points, direction, ..
        } => {
            all.extend(points.iter().flatten());
            all.extend(direction);
        }
        ForceApplication::Point { point, .. } => all.extend(point),
        ForceApplication::Joint(_) | ForceApplication::Frames { .. } => {}
    }
    all.into_iter()
}

/// x, y, z of a frame whose `axis` is x and `across` is y; body axes where none is given.
fn triad(frame: &model::JointFrame) -> [[f64; 3]; 3] {
    use crate::linalg::rotation::Vec3;
    let (x, y) = (
        Vec3::from(frame.axis),
        Vec3::from(frame.reference_direction),
    );
    let x = if x.norm() > 0.0 {
        x.normalize()
    } else {
        Vec3::x()
    };
    let from = |y: Vec3| y - x * x.dot(&y);
    let y = [y, Vec3::y(), Vec3::z()]
        .map(from)
        .into_iter()
        .find(|y| y.norm() > 1e-6);
    let y = y.unwrap_or(Vec3::y()).normalize();
    [x, y, x.cross(&y)].map(|v| [v.x, v.y, v.z])
}

/// An element in a joint: its coordinate, whether it is friction, and the element.
pub type JointForce<W, const N: usize> = (usize, bool, Arc<dyn ForceElement<W, N>>);

/// The friction and the end stops in the coordinates of a joint.
pub fn in_joint<W: ForceGeometry<N>, const N: usize>(
    scene: &ForceBuildContext<W, N>,
    index: usize,
    rows: &mut UnilateralRows<W, N>,
    slots: &mut SparsityBuilder,
) -> Result<Vec<JointForce<W, N>>> {
    let (model, values, joints) = (scene.model, scene.values, scene.joints);
    let written = &model.joints[index];
    let mut all: Vec<JointForce<W, N>> = Vec::new();
    let number =
        |k: usize, number: JointNumber, x: f64| values.get(Target::Joint(index, k, number), x);
    for (k, friction) in written.friction.iter().enumerate() {
        let Some(friction) = friction else { continue };
        let of = JointCoordinate {
            joint: index,
            index: k,
        };
        let measure = joint::coordinate(model, joints, of, &written.name)?;
        let law = Friction {
            kinetic: number(k, JointNumber::Kinetic, friction.kinetic),
            r#static: number(k, JointNumber::Static, friction.r#static),
            stiction_velocity: friction.stiction_velocity,
            stribeck_velocity: friction.stribeck_velocity,
            viscous: number(k, JointNumber::Viscous, friction.viscous),
        };
        all.push((
            k,
            true,
            Arc::new(CoordinateForceElement::<W, N>::new(
                measure,
                Arc::new(law),
                slots,
            )),
        ));
    }
    for (k, limits) in written.limits.iter().enumerate() {
        let Some(limits) = limits else { continue };
        let of = JointCoordinate {
            joint: index,
            index: k,
        };
        let measure = joint::coordinate(model, joints, of, &written.name)?;
        let element: Arc<dyn ForceElement<W, N>> = match limits.stop {
            LimitLaw::Compliant { stiffness, damping } => {
                let law = CompliantLimit {
                    range: limits.range,
                    stiffness: number(k, JointNumber::Stiffness, stiffness),
                    damping: number(k, JointNumber::Damping, damping),
                };
                Arc::new(CoordinateForceElement::<W, N>::new(
                    measure,
                    Arc::new(law),
                    slots,
                ))
            }
            LimitLaw::Rigid(rigid) => {
                let restitution = number(k, JointNumber::Restitution, rigid.restitution);
                let angle = measure.is_angle();
                let mut group = ForceGroup::default();
                for (at, sign) in [(limits.range[0], 1.0), (limits.range[1], -1.0)] {
                    if !at.is_finite() {
                        continue;
                    }
                    let stop = UnilateralConstraint::<W, N> {
                        row: rows.hold(&measure, at, &written.name, slots),
                        measure: measure.clone(),
                        at,
                        sign,
                        restitution,
                        rest_speed: scene.rest_speed(&rigid, angle),
                        near: scene.part(TOUCHING, angle),
                        slack: scene.slack(angle),
                        place: None,
                        pair: None,
                    };
                    if let Some(depth) = stop.overlap(scene.q, scene.part(OVERLAP, angle)) {
                        let unit = if angle { "rad" } else { "m" };
                        return Err(Error::Model {
                            origin: model.origin.clone(),
                            line: written.place.line,
                            column: written.place.column,
                            message: format!(
                                "joint \"{}\" begins {depth:.3} {unit} beyond its limits, whose stops are rigid",
                                written.name
                            ),
                        });
                    }
                    group.push(Arc::new(stop), &written.name);
                }
                Arc::new(group)
            }
        };
        all.push((k, false, element));
    }
    Ok(all)
}
