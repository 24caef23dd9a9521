//! Poses of bodies and parts at the rows of a run.

use nalgebra::{Isometry3, Point3, Quaternion, Translation3, UnitQuaternion};

use super::{PartPlacement, V3};
use crate::model::{BodyRef, Model};
use crate::report::recording::Recording;

/// Position, orientation and stretch of a part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartPose {
    /// m
    pub position: V3,
    /// From the part's axes to those of the ground.
    pub orientation: UnitQuaternion<f64>,
    /// Along the part's axes.
    pub scale: V3,
}

impl PartPose {
    /// A point of the part in the ground frame.
    pub fn point(&self, p: &V3) -> V3 {
        self.position + self.orientation * p.component_mul(&self.scale)
    }

    /// A normal of the part in the ground frame; of unit length only where nothing is stretched.
    pub fn normal(&self, n: &V3) -> V3 {
        self.orientation * n.component_div(&self.scale)
    }
}

/// A row, or a place between it and the next one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    row: usize,
    /// Of the way to the next row.
    share: f64,
}

impl From<usize> for Moment {
    fn from(row: usize) -> Self {
        Self { row, share: 0.0 }
    }
}

/// The poses of a recorded run.
pub struct Poses<'a> {
    /// Times of the rows (s).
    pub times: &'a [f64],
    rows: &'a [f64],
    width: usize,
    first: usize,
    planar: bool,
}

impl<'a> Poses<'a> {
    /// Of the bodies of a model.
    pub fn new(model: &Model, recording: &'a Recording) -> Self {
        Self {
            times: &recording.times,
            rows: &recording.rows,
            width: recording.width(),
            first: recording.outputs.len(),
            planar: model.dimension == 2,
        }
    }

    /// Up to `count` rows, evenly spread, the first and the last among them.
    pub fn spread(&self, count: usize) -> impl Iterator<Item = usize> + use<> {
        let last = self.times.len().saturating_sub(1);
        let step = last.div_ceil(count.max(1)).max(1);
        let rows = self.times.len();
        (0..last).step_by(step).chain((rows > 0).then_some(last))
    }

    /// A time of the run; before its start and after its end these.
    pub fn moment(&self, t: f64) -> Moment {
        let after = self.times.partition_point(|x| *x <= t);
        let last = self.times.len().saturating_sub(1);
        if after == 0 || after > last {
            return Moment::from(after.min(last));
        }
        let [before, next] = [self.times[after - 1], self.times[after]];
        Moment {
            row: after - 1,
            share: (t - before) / (next - before),
        }
    }

    /// The frame of a body.
    pub fn of_body(&self, body: BodyRef, at: impl Into<Moment>) -> Isometry3<f64> {
        let Some(body) = body else {
            return Isometry3::identity();
        };
        let Moment { row, share } = at.into();
        let here = self.recorded(body, row);
        if share == 0.0 {
            return here;
        }
        let next = self.recorded(body, row + 1);
        // Half a turn between two rows has no shortest way: then the earlier one is shown.
        here.try_lerp_slerp(&next, share, 1e-9).unwrap_or(here)
    }

    fn recorded(&self, body: usize, row: usize) -> Isometry3<f64> {
        let width = if self.planar { 3 } else { 7 };
        let at = row * self.width + self.first + body * width;
        let p = &self.rows[at..at + width];
        if self.planar {
            let turn = UnitQuaternion::from_axis_angle(&V3::z_axis(), p[2]);
            return Isometry3::from_parts(Translation3::new(p[0], p[1], 0.0), turn);
        }
        let q = Quaternion::new(p[3], p[4], p[5], p[6]);
        Isometry3::from_parts(
            Translation3::new(p[0], p[1], p[2]),
            UnitQuaternion::from_quaternion(q),
        )
    }

    /// A point of a body in the ground frame.
    pub fn point(&self, body: BodyRef, point: &V3, at: impl Into<Moment>) -> V3 {
        (self.of_body(body, at) * Point3::from(*point)).coords
    }

    /// A part.
    pub fn of_part(&self, placement: &PartPlacement, at: impl Into<Moment>) -> PartPose {
        let at = at.into();
        let frame = match placement {
            PartPlacement::Ground => Isometry3::identity(),
            PartPlacement::Body(body) => self.of_body(Some(*body), at),
            PartPlacement::BeamPiece {
                element,
                shares,
                sizes,
            } => return self.of_beam_piece(element, *shares, *sizes, at),
            PartPlacement::Between {
                ends,
                radius,
                share,
            } => {
                let [a, b] = ends.map(|(body, point)| self.point(body, &V3::from(point), at));
                let along = (b - a) * *share;
                // Never quite zero: a matrix without an inverse is no pose.
                let length = along.norm().max(1e-9 * radius.max(1e-9));
                let axis = if along.norm() > 0.0 { along } else { V3::z() };
                return PartPose {
                    position: a,
                    orientation: turn_z_to(&axis),
                    scale: V3::new(*radius, *radius, length),
                };
            }
        };
        PartPose {
            position: frame.translation.vector,
            orientation: frame.rotation,
            scale: V3::repeat(1.0),
        }
    }
}

/// A rotation that takes the z axis to a direction.
pub(super) fn turn_z_to(direction: &V3) -> UnitQuaternion<f64> {
    UnitQuaternion::rotation_between(&V3::z(), direction)
        // Opposite directions: any half turn across z.
        .unwrap_or_else(|| UnitQuaternion::from_axis_angle(&V3::x_axis(), std::f64::consts::PI))
}
