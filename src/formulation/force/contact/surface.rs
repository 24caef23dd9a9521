//! Contact surfaces: a plane, a sphere, a piece of an outline. Each computes its proximity to a sphere with a given centre c.
//!
//! ```text
//!   plane    δ = r − n·(c − p)             sphere  δ = r₀ + r − |c − p|,   n = (c − p)/|c − p|
//!   segment  a plane between its ends      corner  a sphere of radius zero between two segments
//!   spline   δ = r − n(s)·(c − γ(s)),   (c − γ(s))·γ'(s) = 0
//! ```

use super::super::body_frame::BodyFrame;
use super::super::dual::{Scalar, Vector3Of, cross, dot, minus, plus, times};
use super::outline::SmoothCurve;

/// Position of a sphere relative to a surface.
#[derive(Clone, Copy, Debug)]
pub struct Proximity<T> {
    /// δ, positive if they overlap.
    pub depth: T,
    /// n, ground axes.
    pub normal: Vector3Of<T>,
    /// Contact point, ground frame.
    pub point: Vector3Of<T>,
    /// Distances inside the two ends of a bounded surface, positive inside (m).
    pub margins: [T; 2],
}

/// A contact surface in body axes, relative to the centre of mass.
#[derive(Clone, Debug)]
pub enum ContactSurface {
    /// A half space.
    Plane {
        /// A point on the plane.
        point: [f64; 3],
        /// Outward unit normal.
        normal: [f64; 3],
    },
    /// A sphere.
    Sphere {
        /// Centre.
        point: [f64; 3],
        /// m
        radius: f64,
    },
    /// A straight piece of an outline.
    Segment {
        /// Start and end.
        ends: [[f64; 3]; 2],
        /// Unit vector along it.
        along: [f64; 3],
        /// Unit vector out of the material.
        normal: [f64; 3],
        /// m
        max_depth: f64,
    },
    /// A convex corner between two segments.
    Corner {
        /// m
        point: [f64; 3],
        /// Unit vectors along the segments before and after it.
        along: [[f64; 3]; 2],
        /// m
        max_depth: f64,
    },
    /// A smooth outline.
    Smooth(Box<SmoothCurve>),
}

impl ContactSurface {
    /// Whether the surface has ends.
    pub fn is_bounded(&self) -> bool {
        match self {
            Self::Plane { .. } | Self::Sphere { .. } => false,
            Self::Segment { .. } | Self::Corner { .. } => true,
            Self::Smooth(curve) => !curve.is_closed(),
        }
    }

    /// Returns the depth beyond which a sphere is behind the surface.
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

    /// Returns the proximity of a sphere about `center`.
    pub fn proximity<T: Scalar>(
        &self,
        body: &BodyFrame<T>,
        center: &Vector3Of<T>,
        radius: f64,
    ) -> Proximity<T> {
        let unbounded = [T::constant(1.0); 2];
        match self {
            Self::Plane { point, normal } => {
                let n = body.fixed_vector(normal);
                let height = dot(&n, &minus(center, &body.point_position(point)));
                Proximity {
                    depth: -height + radius,
                    normal: n,
                    point: minus(center, &n.map(|x| x * radius)),
                    margins: unbounded,
                }
            }
            Self::Sphere { point, radius: r0 } => sphere_proximity(
                (body.point_position(point), *r0),
                (center, radius),
                unbounded,
            ),
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
                let [before, after] = along.map(|t| dot(&body.fixed_vector(&t), &e));
                sphere_proximity(
                    (body.point_position(point), 0.0),
                    (center, radius),
                    [before, -after],
                )
            }
            Self::Smooth(curve) => {
                let local = body.to_body(&minus(center, &body.r));
                let nearest = curve.nearest(&[local[0], local[1]]);
                let zero = T::constant(0.0);
                let n = body.to_ground(&[nearest.normal[0], nearest.normal[1], zero]);
                let on = body.to_ground(&[nearest.point[0], nearest.point[1], zero]);
                Proximity {
                    depth: -nearest.height + radius,
                    normal: n,
                    point: plus(&body.r, &on),
                    margins: nearest.margins,
                }
            }
        }
    }
}

/// Returns the proximity of two spheres, each given by its centre and radius.
fn sphere_proximity<T: Scalar>(
    (first, r0): (Vector3Of<T>, f64),
    (second, r1): (&Vector3Of<T>, f64),
    margins: [T; 2],
) -> Proximity<T> {
    let e = minus(second, &first);
    let squared = dot(&e, &e);
    // Coinciding centres have no direction between them: y, without derivatives.
    if !(squared.value() > f64::MIN_POSITIVE) {
        let up = [T::constant(0.0), T::constant(1.0), T::constant(0.0)];
        return Proximity {
            depth: T::constant(r0 + r1),
            normal: up,
            point: first,
            margins,
        };
    }
    let distance = squared.sqrt();
    let normal = times(T::constant(1.0) / distance, &e);
    Proximity {
        depth: -distance + (r0 + r1),
        normal,
        point: plus(&first, &normal.map(|x| x * r0)),
        margins,
    }
}

/// Returns a unit vector tangential to the surface: along the slip for direction 0, normal to it for direction 1 (in space only).
pub fn tangential_unit_vector(normal: &[f64; 3], u: &[f64; 3], direction: usize) -> [f64; 3] {
    let sliding = minus(u, &times(dot(u, normal), normal));
    // Without slip any tangential direction serves: that of x or y, whichever is further from the normal.
    let other = if normal[0].abs() < normal[1].abs() {
        [1.0, 0.0, 0.0]
    } else {
        [0.0, 1.0, 0.0]
    };
    let other = minus(&other, &times(dot(&other, normal), normal));
    let speed = dot(&sliding, &sliding).sqrt();
    let slides = speed > 1e-12 * dot(u, u).sqrt();
    let first = if slides { sliding } else { other };
    let first = times(1.0 / dot(&first, &first).sqrt(), &first);
    [first, cross(normal, &first)][direction.min(1)]
}
