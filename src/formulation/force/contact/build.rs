//! Builds contacts from the model: one element for each surface of the first body.

use std::sync::Arc;

use super::super::build::ForceBuilder;
use super::super::friction::{Friction, speeds};
use super::super::group::ForceGroup;
use super::super::rigid_contact::UnilateralConstraint;
use super::super::rigid_contact_geometry::RigidContactGeometry;
use super::super::rigid_friction::SetValuedFriction;
use super::super::{ForceElement, ForceGeometry};
use super::slip::{SlipDirection, SlipGeometry};
use super::surface::ContactSurface;
use super::{Contact, NormalForce, outline};
use crate::error::{Error, Result};
use crate::formulation::driven_value::DrivenValue;
use crate::model::{ContactDefinition, ContactLaw, ForceNumber, RigidImpact, Surface};

impl<W: ForceGeometry<N>, const N: usize> ForceBuilder<'_, '_, W, N> {
    pub(in crate::formulation::force) fn contact(
        &mut self,
        contact: &ContactDefinition,
    ) -> Result<Arc<dyn ForceElement<W, N>>> {
        let (bodies, offsets) = self.two_points()?;
        let normal_law = match contact.law {
            ContactLaw::SpringDamper { stiffness, damping } => NormalForce {
                stiffness: self.stiffness(stiffness),
                exponent: 1.0,
                damping: self.damping(damping),
                hunt_crossley: false,
            },
            ContactLaw::HuntCrossley {
                stiffness,
                exponent,
                damping,
            } => NormalForce {
                stiffness: self.stiffness(stiffness),
                exponent,
                damping: self.damping(damping),
                hunt_crossley: true,
            },
            ContactLaw::Rigid(rigid) => return self.rigid_contact(contact, &rigid),
        };
        let friction = self.contact_friction(contact);
        let mut group = ForceGroup::default();
        for surface in self.surfaces(contact)? {
            let compliant = Contact {
                surface,
                center: offsets[1],
                radius: contact.radius,
                normal_law,
                friction,
            };
            let element = self.between_bodies(compliant, bodies);
            group.push(element, &self.force.name);
        }
        Ok(Arc::new(group))
    }

    fn contact_friction(&self, contact: &ContactDefinition) -> Option<Friction> {
        contact.friction.map(|f| {
            let (stiction_velocity, stribeck_velocity) = speeds(&f);
            Friction {
                kinetic: self.number(ForceNumber::Kinetic, f.kinetic),
                r#static: self.number(ForceNumber::Static, f.r#static),
                stiction_velocity,
                stribeck_velocity,
                viscous: DrivenValue::Constant(f.viscous),
            }
        })
    }

    /// Returns the surfaces of the first body.
    fn surfaces(&self, contact: &ContactDefinition) -> Result<Vec<ContactSurface>> {
        let (bodies, offsets) = self.two_points()?;
        Ok(match &contact.surface {
            Surface::Plane(normal) => vec![ContactSurface::Plane {
                point: offsets[0],
                normal: *normal,
            }],
            Surface::Sphere(radius) => vec![ContactSurface::Sphere {
                point: offsets[0],
                radius: *radius,
            }],
            Surface::Curve(outline) => {
                if W::DIMENSION != 2 {
                    return Err(self.curve_in_space());
                }
                let center = self.offset(bodies[0], [0.0; 3]);
                outline::surfaces(outline, [-center[0], -center[1]])
            }
        })
    }

    fn curve_in_space(&self) -> Error {
        self.error("has a curve, which exists in two dimensions only")
    }

    /// Builds a rigid contact: for each surface the gap as a relative coordinate, with the constraint that keeps it closed.
    fn rigid_contact(
        &mut self,
        contact: &ContactDefinition,
        rigid: &RigidImpact,
    ) -> Result<Arc<dyn ForceElement<W, N>>> {
        let (bodies, offsets) = self.two_points()?;
        let restitution = self.number(ForceNumber::Restitution, rigid.restitution);
        let friction = self.contact_friction(contact);
        let mut constraints = Vec::new();
        for surface in self.surfaces(contact)? {
            // A point passes a corner on one side or the other.
            if matches!(surface, ContactSurface::Corner { .. }) && contact.radius == 0.0 {
                continue;
            }
            let (coordinate, bound) = self.gap(&surface, contact.radius)?;
            let mut constraint = self.context.unilateral(
                (coordinate, bound, 1.0),
                (rigid, restitution),
                &self.force.name,
                self.constraints,
                self.slots,
            );
            let set_valued = (friction.filter(Friction::is_set_valued)).map(|friction| {
                let geometry = SlipGeometry {
                    bodies,
                    surface: surface.clone(),
                    center: offsets[1],
                    radius: contact.radius,
                    axes: None,
                };
                self.set_valued(geometry, friction, &constraint)
            });
            constraint.contact = Some(RigidContactGeometry {
                surface,
                center: offsets[1],
                radius: contact.radius,
                friction,
                set_valued,
            });
            if friction.is_some() {
                constraint.friction_slots = Some(self.slots.body_pair(bodies, |_, _| true));
            }
            if let Some(depth) = self.context.overlap(&constraint) {
                return Err(self.error(&format!(
                    "is rigid, but its bodies overlap by {depth:.3} m as they are drawn: move them apart"
                )));
            }
            constraints.push(constraint);
        }
        if constraints.len() == 1 {
            return Ok(Arc::new(constraints.remove(0)));
        }
        let mut group = ForceGroup::default();
        for constraint in constraints {
            group.push(Arc::new(constraint), &self.force.name);
        }
        Ok(Arc::new(group))
    }

    /// Returns what set-valued friction needs, with its constraints.
    fn set_valued(
        &mut self,
        geometry: SlipGeometry,
        friction: Friction,
        constraint: &UnilateralConstraint<W, N>,
    ) -> SetValuedFriction {
        let frames = W::frames_at_rest(&mut W::poses(self.context.q), geometry.bodies);
        let geometry = geometry.with_axes(W::DIMENSION, &frames);
        let row = |axis: usize| {
            let geometry = geometry.clone();
            let coordinate = W::slip(SlipDirection { geometry, axis });
            (self.constraints).push(&coordinate, 0.0, &self.force.name, self.slots)
        };
        SetValuedFriction {
            rows: (0..W::DIMENSION - 1).map(row).collect(),
            geometry,
            friction,
            rest_speed: self.context.slip_rest_speed(),
            tolerance: constraint.tensile_tolerance,
        }
    }

    /// Returns the coordinate c between the centre of the sphere on the second body and a surface, and its value at contact.
    fn gap(&self, surface: &ContactSurface, radius: f64) -> Result<(W::RelativeCoordinate, f64)> {
        let (bodies, offsets) = self.two_points()?;
        let center = W::point_at_offset(bodies[1], offsets[1]);
        let points = |offset: &[f64; 3]| [W::point_at_offset(bodies[0], *offset), center];
        let tiny = self.context.coincidence_distance;
        Ok(match surface {
            ContactSurface::Plane { point, normal } => {
                (W::displacement_along(points(point), *normal), radius)
            }
            ContactSurface::Segment { ends, normal, .. } => {
                (W::displacement_along(points(&ends[0]), *normal), radius)
            }
            ContactSurface::Corner { point, .. } => (W::distance(points(point), tiny), radius),
            ContactSurface::Sphere { point, radius: r0 } => {
                (W::distance(points(point), tiny), r0 + radius)
            }
            ContactSurface::Smooth(outline) => {
                match W::height_above_outline(bodies[0], outline, center) {
                    Some(height) => (height, radius),
                    None => return Err(self.curve_in_space()),
                }
            }
        })
    }
}
