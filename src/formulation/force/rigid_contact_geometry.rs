//! Geometry and friction of a rigid contact.

use super::body_frame::{BodyFrame, BodyView};
use super::contact::curvature::{BodySpeeds, distance};
use super::contact::surface::{ContactSurface, tangential_unit_vector};
use super::dual::{Dual, Scalar, dot, minus, times};
use super::friction::Friction;
use super::rigid_contact::{
    ACTIVE, BEHIND, FORCE_EVENT, GAP_EVENT, IDLE, OUTSIDE_FIRST, OUTSIDE_SECOND, SEPARATED,
    UnilateralConstraint,
};
use super::rigid_friction::SetValuedFriction;
use super::spatial_force::AppliedWrench;
use crate::formulation::absolute::geometry::RelativeCoordinate as _;
use crate::formulation::{EvaluationContext, MotionPoint};

/// A surface of body 0 and a sphere of body 1.
#[derive(Clone, Debug)]
pub struct RigidContactGeometry {
    /// Surface of body 0.
    pub surface: ContactSurface,
    /// Centre of the sphere of body 1, relative to the centre of mass.
    pub center: [f64; 3],
    /// Radius of the sphere; zero for a point.
    pub radius: f64,
    /// Tangential friction.
    pub friction: Option<Friction>,
    /// What it needs if it is set-valued.
    pub set_valued: Option<SetValuedFriction>,
}

impl RigidContactGeometry {
    /// Returns the friction on body 1 for a normal force `normal`; without that of a contact that sticks.
    pub fn friction_wrench<T: Scalar>(
        &self,
        cx: &EvaluationContext,
        normal: f64,
        frames: &[BodyFrame<T>; 2],
    ) -> AppliedWrench<T> {
        if let Some(friction) = &self.set_valued {
            return friction.slip_wrench(cx, cx.modes[1], normal, frames);
        }
        let [a, b] = frames;
        let Some(friction) = &self.friction else {
            return AppliedWrench::zero();
        };
        let proximity = self
            .surface
            .proximity(a, &b.point_position(&self.center), self.radius);
        let u = minus(
            &b.velocity_at(&proximity.point),
            &a.velocity_at(&proximity.point),
        );
        let along = minus(&u, &times(dot(&proximity.normal, &u), &proximity.normal));
        let drag = friction.over_speed(cx, dot(&along, &along)) * normal;
        AppliedWrench::at_point(times(-drag, &along), proximity.point)
    }

    /// Returns the gradient of the slip along a tangential direction: 0 along the slip, 1 normal to it.
    pub fn slip_gradient<const N: usize>(
        &self,
        [a, b]: &[BodyFrame<Dual<N>>; 2],
        direction: usize,
    ) -> [f64; N] {
        let center = b.point_position(&self.center);
        let proximity = self.surface.proximity(a, &center, self.radius);
        let u = minus(
            &b.velocity_at(&proximity.point),
            &a.velocity_at(&proximity.point),
        );
        let normal = proximity.normal.map(|x| x.x);
        let along = tangential_unit_vector(&normal, &u.map(|x| x.x), direction);
        // The slip along a fixed direction is linear in the velocities.
        std::array::from_fn(|k| (0..3).map(|i| along[i] * u[i].v[k]).sum())
    }
}

/// Returns the distances inside the two ends of a bounded surface.
pub fn margins<T: Scalar>(contact: &RigidContactGeometry, [a, b]: &[BodyFrame<T>; 2]) -> [T; 2] {
    (contact.surface)
        .proximity(a, &b.point_position(&contact.center), contact.radius)
        .margins
}

impl<W: BodyView<N>, const N: usize> UnilateralConstraint<W, N> {
    /// Writes bounds of the second derivatives of the gap and of the distances inside the ends of the surface.
    pub(super) fn gap_curvature(
        &self,
        modes: &[i32],
        poses: &mut W::Poses<'_>,
        at: &MotionPoint,
        bound: &mut [f64],
    ) {
        bound.fill(f64::NAN);
        let speeds = BodySpeeds::of::<N>(self.bodies(), at);
        let Some(contact) = &self.contact else {
            let acceleration = self.coordinate.acceleration_bound(poses, &speeds);
            bound[GAP_EVENT] = acceleration;
            if modes[0] == IDLE {
                bound[FORCE_EVENT] = acceleration;
            }
            return;
        };
        let apart = if self.bodies()[0].is_some() {
            let [a, b] = W::frames_at_rest(poses, self.bodies());
            distance(&b.point_position(&contact.center), &a.r)
        } else {
            0.0
        };
        let sphere = (&contact.center, contact.radius);
        let [gap, margin] = contact.surface.depth_curvature(&speeds, sphere, apart);
        bound[GAP_EVENT] = gap;
        if modes[0] == IDLE {
            bound[FORCE_EVENT] = gap;
        }
        if self.bounded_contact().is_some() {
            bound[2..4].fill(margin);
        }
    }

    /// Returns the overlap of the bodies at q if it is larger than `allowed`, and the sphere is neither outside the ends of the surface nor
    /// behind it.
    pub fn overlap(&self, q: &[f64], allowed: f64) -> Option<f64> {
        let poses = &mut W::poses(q);
        let outside = self.end_outside(poses, None).is_some();
        let depth = -self.sign * (self.coordinate.value(poses).0 - self.bound);
        (!outside && depth > allowed && depth <= self.max_depth()).then_some(depth)
    }

    /// Returns the end of a bounded surface outside which the sphere is, without regard to the end `within`: it is rounding.
    pub(super) fn end_outside(
        &self,
        poses: &mut W::Poses<'_>,
        within: Option<usize>,
    ) -> Option<usize> {
        let contact = self.bounded_contact()?;
        let margins = margins(contact, &W::frames_at_rest(poses, self.bodies()));
        (0..2).find(|&end| within != Some(end) && margins[end] < 0.0)
    }

    /// Returns the depth beyond which the sphere is behind the surface.
    pub(super) fn max_depth(&self) -> f64 {
        (self.contact.as_ref()).map_or(f64::INFINITY, |contact| contact.surface.max_depth())
    }

    /// Returns the mode of a sphere, without regard to the end `within`.
    pub(super) fn mode_at(
        &self,
        poses: &mut W::Poses<'_>,
        v: &[f64],
        within: Option<usize>,
    ) -> i32 {
        match self.end_outside(poses, within) {
            Some(0) => return OUTSIDE_FIRST,
            Some(_) => return OUTSIDE_SECOND,
            None => {}
        }
        let (gap, rate) = self.gap(poses, v);
        if gap < -self.max_depth() {
            BEHIND
        } else if gap <= self.touching_gap && rate.abs() <= self.rest_speed {
            ACTIVE
        } else {
            SEPARATED
        }
    }
}
