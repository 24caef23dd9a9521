//! The trajectory of a body: its frame over time.

use super::geometry::{Point, rotated};

/// Origin and angle of a body's frame at each sample; `<body>.x` and `.y` are those of the origin.
pub struct BodyTrajectory {
    /// Origin in the ground frame (m).
    pub origins: Vec<Point>,
    /// Angle (rad).
    pub angles: Vec<f64>,
}

impl BodyTrajectory {
    /// From x, y and angle over time.
    pub fn new([x, y, angle]: &[Vec<f64>; 3]) -> Self {
        Self {
            origins: x.iter().zip(y).map(|(&x, &y)| [x, y]).collect(),
            angles: angle.clone(),
        }
    }

    /// A point of the body over time, in the ground frame.
    pub fn path(&self, point: Point) -> impl Iterator<Item = Point> + '_ {
        self.origins
            .iter()
            .zip(&self.angles)
            .map(move |(origin, &angle)| {
                let arm = rotated(point, angle);
                [origin[0] + arm[0], origin[1] + arm[1]]
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_of_a_body_move_with_its_frame() {
        // Frame at (1, 2), rotated by 90 degrees: x points up.
        let motion =
            BodyTrajectory::new(&[vec![1.0], vec![2.0], vec![std::f64::consts::FRAC_PI_2]]);
        let point = motion.path([3.0, 0.0]).next().unwrap();
        assert!((point[0] - 1.0).abs() < 1e-15 && (point[1] - 5.0).abs() < 1e-15);
    }
}
