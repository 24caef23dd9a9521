//! Frames and mass properties: placement of one frame in another, sums of inertias.

use nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector3};

use crate::linalg::elementary::rotation_about;

/// FramePlacement of a frame in another: x ↦ position + rotation x.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FramePlacement {
    /// Origin (m).
    pub position: Vector3<f64>,
    /// Axes.
    pub rotation: UnitQuaternion<f64>,
}

impl Default for FramePlacement {
    fn default() -> Self {
        Self {
            position: Vector3::zeros(),
            rotation: UnitQuaternion::identity(),
        }
    }
}

impl FramePlacement {
    /// A displacement.
    pub fn translation(position: [f64; 3]) -> Self {
        Self {
            position: position.into(),
            ..Self::default()
        }
    }

    /// A rotation about the origin.
    pub fn rotation(rotation: UnitQuaternion<f64>) -> Self {
        Self {
            rotation,
            ..Self::default()
        }
    }

    /// By position and roll, pitch, yaw about fixed axes x, y, z.
    pub fn from_rpy(position: [f64; 3], [roll, pitch, yaw]: [f64; 3]) -> Self {
        Self {
            position: position.into(),
            rotation: rotation_about(&Vector3::z_axis(), yaw)
                * rotation_about(&Vector3::y_axis(), pitch)
                * rotation_about(&Vector3::x_axis(), roll),
        }
    }

    /// The placement of what `inner` places in this frame.
    pub fn then(&self, inner: &Self) -> Self {
        Self {
            position: self.point(inner.position),
            rotation: self.rotation * inner.rotation,
        }
    }

    /// The placement of the outer frame in this one.
    pub fn inverse(&self) -> Self {
        let rotation = self.rotation.inverse();
        Self {
            position: rotation * -self.position,
            rotation,
        }
    }

    /// A point of this frame in the outer one.
    pub fn point(&self, point: Vector3<f64>) -> Vector3<f64> {
        self.position + self.rotation * point
    }

    /// Quaternion w, x, y, z with w >= 0.
    pub fn quaternion(&self) -> [f64; 4] {
        let q = self.rotation.quaternion();
        let sign = if q.w < 0.0 { -1.0 } else { 1.0 };
        [q.w, q.i, q.j, q.k].map(|x| sign * x + 0.0)
    }
}

/// Mass, centre of mass and inertia tensor about it, in the axes of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MassProperties {
    /// kg
    pub mass: f64,
    /// m
    pub center: Vector3<f64>,
    /// kg m²
    pub inertia: Matrix3<f64>,
}

impl MassProperties {
    /// The same seen from the frame in which `placement` places this one.
    pub fn placed(&self, placement: &FramePlacement) -> Self {
        let axes: Rotation3<f64> = placement.rotation.to_rotation_matrix();
        Self {
            mass: self.mass,
            center: placement.point(self.center),
            inertia: axes.matrix() * self.inertia * axes.matrix().transpose(),
        }
    }

    /// Both together, about the common centre of mass.
    pub fn with(&self, other: &Self) -> Self {
        let mass = self.mass + other.mass;
        let center = match mass {
            0.0 => self.center,
            _ => (self.center * self.mass + other.center * other.mass) / mass,
        };
        let about = |part: &Self| {
            let d = part.center - center;
            part.inertia + (Matrix3::identity() * d.norm_squared() - d * d.transpose()) * part.mass
        };
        Self {
            mass,
            center,
            inertia: about(self) + about(other),
        }
    }

    /// Ixx, Iyy, Izz, Ixy, Ixz, Iyz.
    pub fn tensor(&self) -> [f64; 6] {
        let i = (self.inertia + self.inertia.transpose()) * 0.5;
        // Of a rod a rotation leaves a moment of zero on either side of it.
        let [xx, yy, zz] = [i.m11, i.m22, i.m33].map(|x| x.max(0.0));
        [xx, yy, zz, i.m12, i.m13, i.m23].map(|x| x + 0.0)
    }

    /// Raises principal moments until none is negative and none exceeds the sum of the others by more than `slack` of it;
    /// the largest change if there was one.
    pub fn repair(&mut self, slack: f64) -> Option<f64> {
        let symmetric = (self.inertia + self.inertia.transpose()) * 0.5;
        let eigen = symmetric.symmetric_eigen();
        let mut order = [0, 1, 2];
        order.sort_by(|a, b| eigen.eigenvalues[*a].total_cmp(&eigen.eigenvalues[*b]));
        let [a, b, c] = order.map(|k| eigen.eigenvalues[k]);
        let size = c.abs().max(a.abs());
        let rounding = 1e-12 * size;
        if a >= -rounding && c - (a + b) <= slack * c {
            return None;
        }
        let (b, c) = (b.max(0.0), c.max(0.0));
        let a_new = a.max(0.0).max(c - b);
        let mut moments = eigen.eigenvalues;
        moments[order[0]] = a_new;
        moments[order[1]] = b;
        moments[order[2]] = c;
        let change = (moments - eigen.eigenvalues).amax();
        let axes = eigen.eigenvectors;
        self.inertia = axes * Matrix3::from_diagonal(&moments) * axes.transpose();
        Some(change)
    }
}

/// A unit vector perpendicular to a unit vector, the same for the same axis.
pub fn perpendicular(axis: &Vector3<f64>) -> Vector3<f64> {
    let along = if axis.x.abs() < 0.7 {
        Vector3::x()
    } else {
        Vector3::y()
    };
    (along - axis * axis.dot(&along)).normalize()
}
