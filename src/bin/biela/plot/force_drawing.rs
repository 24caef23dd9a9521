//! Springs and actuators between two points.

use biela::linalg::elementary::hypot;
use biela::model::{BodyRef, Force, ForceKind};

use super::animation::Playback;
use super::body_trajectory::BodyTrajectory;
use super::geometry::{Point, planar};
use super::svg::{Svg, polyline};
use super::view::View;

/// Draws a spring as a zigzag and an actuator as a dashed rod; their ends move with the bodies.
pub fn draw_force(
    svg: &mut Svg,
    force: &Force,
    motions: &[BodyTrajectory],
    view: &View,
    playback: &Playback,
) {
    let Some(ends) = force_ends(force, motions) else {
        return;
    };
    let (class, shape): (_, fn(Point, Point) -> Vec<Point>) = match force.kind {
        ForceKind::SpringDamper(_) => ("force spring", zigzag),
        _ => ("force rod", |a, b| vec![a, b]),
    };
    let frames: Vec<String> = (ends[0].iter().zip(&ends[1]))
        .map(|(a, b)| polyline(shape(view.at(*a), view.at(*b)).iter().map(|p| tenths(*p))))
        .collect();
    let attributes = [
        ("class", class.to_owned()),
        ("id", force.name.clone()),
        ("d", frames[0].clone()),
    ];
    svg.element("path", &attributes, |svg| {
        playback.animate_outline(svg, frames.iter().cloned());
    });
}

/// Rounded to tenths of a pixel: enough for moving lines, and shorter in the file.
fn tenths(p: Point) -> Point {
    p.map(|c| (10.0 * c).round() / 10.0)
}

/// Both ends of a force between points over time, in the ground frame; `None` for other forces.
pub fn force_ends(force: &Force, motions: &[BodyTrajectory]) -> Option<[Vec<Point>; 2]> {
    let (bodies, points) = ends_of(force)?;
    let frames = motions.first()?.angles.len();
    Some([0, 1].map(|side| {
        let point = planar(points[side]);
        match bodies[side] {
            Some(i) => motions[i].path(point).collect(),
            None => vec![point; frames],
        }
    }))
}

/// A zigzag from `a` to `b` with straight ends of equal length.
fn zigzag(a: Point, b: Point) -> Vec<Point> {
    const TURNS: usize = 12;
    let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
    let length = hypot(dx, dy).max(f64::MIN_POSITIVE);
    let side = [-dy / length * 7.0, dx / length * 7.0];
    let at = |s: f64, out: f64| [a[0] + s * dx + out * side[0], a[1] + s * dy + out * side[1]];
    let turns = (0..TURNS).map(|i| {
        let s = 0.18 + 0.64 * (i as f64 + 0.5) / TURNS as f64;
        at(s, if i % 2 == 0 { 1.0 } else { -1.0 })
    });
    let mut points = vec![a, at(0.18, 0.0)];
    points.extend(turns);
    points.extend([at(0.82, 0.0), b]);
    points
}

/// The ends of a force that are points of a body.
pub fn ends_on(force: &Force, number: usize) -> Vec<Point> {
    match ends_of(force) {
        None => Vec::new(),
        Some((bodies, points)) => (bodies.into_iter().zip(points))
            .filter(|(body, _)| *body == Some(number))
            .map(|(_, point)| planar(point))
            .collect(),
    }
}

/// Bodies and points of a force that is drawn: springs and actuators between two points.
pub fn ends_of(force: &Force) -> Option<([BodyRef; 2], [[f64; 3]; 2])> {
    match force.kind {
        ForceKind::SpringDamper(_) | ForceKind::Actuator { .. } => force.on.points(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zigzag_connects_its_ends() {
        let points = zigzag([1.0, 2.0], [31.0, 42.0]);
        assert_eq!(points[0], [1.0, 2.0]);
        assert_eq!(points.last(), Some(&[31.0, 42.0]));
        assert_eq!(points.len(), 16);
        assert!(
            zigzag([1.0, 1.0], [1.0, 1.0])
                .iter()
                .flatten()
                .all(|c| c.is_finite())
        );
    }
}
