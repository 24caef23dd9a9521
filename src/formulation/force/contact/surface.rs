//! What can be touched: a plane, a ball, a piece of an outline. Each says where a ball with a given centre meets it.
//!
//! ```text
//!   plane    δ = r − n·(c − p)             ball   δ = r₀ + r − |c − p|,   n = (c − p)/|c − p|
//!   segment  a plane between its ends      corner a ball of radius zero between two segments
//!   spline   δ = r − n(s)·(c − γ(s)),   (c − γ(s))·γ'(s) = 0
//! ```

use super::super::body_frame::BodyFrame;
use super::super::dual::{Scalar, Vector3Of, dot, minus, plus, times};
use super::outline::SmoothCurve;

/// Where a ball meets a face.
#[derive(Clone, Copy, Debug)]
pub struct Proximity<T> {
    /// δ, positive where they overlap.
    pub depth: T,
    /// n, ground axes.
    pub normal: Vector3Of<T>,
    /// Ground frame.
    pub point: Vector3Of<T>,
    /// Of a piece of an outline: how far inside its two ends, positive inside (m).
    pub margins: [T; 2],
}

/// What can be touched, in the axes of its body, seen from the centre of mass.
#[derive(Clone, Debug)]
pub enum ContactSurface {
    /// A half space.
    Plane {
        /// On it.
        point: [f64; 3],
        /// Unit vector out of it.
        normal: [f64; 3],
    },
    /// A ball.
    Sphere {
        /// Centre.
        point: [f64; 3],
        /// m
        radius: f64,
    },
    /// A straight piece of an outline.
    Segment {
        /// Where it begins and ends.
        ends: [[f64; 3]; 2],
        /// Unit vector along it.
        along: [f64; 3],
        /// Unit vector out of the material.
        normal: [f64; 3],
        /// m
        max_depth: f64,
    },
    /// A corner that sticks out between two segments.
    Corner {
        /// m
        point: [f64; 3],
        /// Unit vectors along the segment before and the one behind.
        along: [[f64; 3]; 2],
        /// m
        max_depth: f64,
    },
    /// A smooth outline.
    Smooth(Box<SmoothCurve>),
}

impl ContactSurface {
    /// It ends somewhere.
    pub fn is_bounded(&self) -> bool {
        match self {
            Self::Plane { .. } | Self::Sphere { .. } => false,
            Self::Segment { .. } | Self::Corner { .. } => true,
            Self::Smooth(curve) => !curve.is_closed(),
        }
    }

    /// Depth beyond which a ball is on another side.
    pub fn max_depth(&self) -> f64 {
        match self {
            Self::Plane { .. } | Self::Sphere { .. } => f64::INFINITY,
            Self::Segment {
                max_depth: deepest, ..
            }
            | Self::Corner {
                max_depth: deepest, ..
            } => *deepest,
            Self::Smooth(curve) => curve.max_depth(),
        }
    }

    /// Where a ball about `center` meets it.
    pub fn proximity<T: Scalar>(
        &self,
        body: &BodyFrame<T>,
        center: &Vector3Of<T>,
        radius: f64,
    ) -> Proximity<T> {
        let free = [T::constant(1.0); 2];
        match self {
            Self::Plane { point, normal } => {
                let n = body.fixed_vector(normal);
                let height = dot(&n, &minus(center, &body.point_position(point)));
                Proximity {
                    depth: -height + radius,
                    normal: n,
                    point: minus(center, &n.map(|x| x * radius)),
                    margins: free,
                }
            }
            Self::Sphere { point, radius: own } => {
                sphere_proximity(body, point, *own, center, radius, free)
            }
            Self::Segment {
                ends,
                along,
                normal,
                ..
            } => {
                let [begin, end] = ends.map(|p| minus(center, &body.point_position(&p)));
                let (n, t) = (body.fixed_vector(normal), body.fixed_vector(along));
                Proximity {
                    depth: -dot(&n, &begin) + radius,
                    normal: n,
                    point: minus(center, &n.map(|x| x * radius)),
                    margins: [dot(&t, &begin), -dot(&t, &end)],
                }
            }
            Self::Corner { point, along, .. } => {
                let e = minus(center, &body.point_position(point));
                let [before, behind] = along.map(|t| dot(&body.fixed_vector(&t), &e));
                sphere_proximity(body, point, 0.0, center, radius, [before, -behind])
            }
            Self::Smooth(curve) => {
                let seen = body.to_body(&minus(center, &body.r));
                let found = curve.nearest(&[seen[0], seen[1]]);
                let zero = T::constant(0.0);
                let n = body.to_ground(&[found.normal[0], found.normal[1], zero]);
                let on = body.to_ground(&[found.point[0], found.point[1], zero]);
                Proximity {
                    depth: -found.height + radius,
                    normal: n,
                    point: plus(&body.r, &on),
                    margins: found.margins,
                }
            }
        }
    }
}

fn sphere_proximity<T: Scalar>(
    body: &BodyFrame<T>,
    point: &[f64; 3],
    own: f64,
    center: &Vector3Of<T>,
    radius: f64,
    margins: [T; 2],
) -> Proximity<T> {
    let middle = body.point_position(point);
    let e = minus(center, &middle);
    let squared = dot(&e, &e);
    // Centres in one place have no direction between them: up, without derivatives.
    if !(squared.value() > f64::MIN_POSITIVE) {
        let up = [T::constant(0.0), T::constant(1.0), T::constant(0.0)];
        return Proximity {
            depth: T::constant(own + radius),
            normal: up,
            point: middle,
            margins,
        };
    }
    let distance = squared.sqrt();
    let normal = times(T::constant(1.0) / distance, &e);
    Proximity {
        depth: -distance + (own + radius),
        normal,
        point: plus(&middle, &normal.map(|x| x * own)),
        margins,
    }
}
