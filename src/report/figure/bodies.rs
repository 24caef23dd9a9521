//! Bodies by their shape; without one, by the points that joints and forces hold on to, or by their inertia.

use super::{Figure, PartPlacement, Solid, V3, body_color};
use crate::linalg::elementary::{atan2, cos, hypot, sin};
use crate::model::mesh_file::TriangleMesh;
use crate::model::{
    Body, BodyShape, ForceApplication, ForceKind, JointKind, LoadDefinition, Model, Surface,
};
use crate::report::scene::frame_in;

/// Corners of a circle.
pub(super) const ROUND: usize = 24;
/// Distance of the layers of a planar mechanism, of its size.
pub(super) const LAYER: f64 = 0.016;
/// Thickness of planar bodies, of the size.
const THICKNESS: f64 = 0.012;
/// Radius of bars, of the size.
const BAR: f64 = 0.016;
/// Radius of rods in space, of the size.
const ROD: f64 = 0.012;

impl Figure {
    pub(super) fn add_body(&mut self, model: &Model, index: usize, points: &[V3]) {
        let body = &model.bodies[index];
        let solid = match self.planar {
            true => self.planar_body(body, points, self.layer(Some(index))),
            false => match &self.meshes[index] {
                Some(mesh) => Solid::of_triangles(mesh),
                None => self.spatial_body(body, points),
            },
        };
        self.part(
            &body.name,
            solid,
            body_color(index),
            PartPlacement::Body(index),
        );
    }

    /// Height of the lower side of a planar body; the ground is below all.
    pub(super) fn layer(&self, body: Option<usize>) -> f64 {
        body.map_or(0.0, |i| self.layers[i] as f64 * LAYER * self.size)
    }

    fn planar_body(&self, body: &Body, points: &[V3], low: f64) -> Solid {
        let high = low + THICKNESS * self.size;
        let flat = |p: &V3| [p.x, p.y];
        let center = V3::from(body.center_of_mass);
        let bars = |line: &[[f64; 2]]| {
            let mut solid = Solid::default();
            for pair in line.windows(2) {
                solid = solid.take(&bar(pair[0], pair[1], BAR * self.size, low, high));
            }
            if line.len() > 3 && distance(line[0], line[line.len() - 1]) < 1e-9 * self.size {
                // A closed outline is filled, a little thinner than its rim.
                let mut polygon = line[1..].to_vec();
                if area(&polygon) < 0.0 {
                    polygon.reverse();
                }
                let inset = 0.3 * (high - low);
                solid = solid.take(&Solid::prism(&polygon, low + inset, high - inset));
            }
            solid
        };
        match &body.shape {
            Some(BodyShape::Box([a, b, _])) => {
                let edges = V3::new(*a, *b, high - low);
                return Solid::cuboid(edges, V3::z() * 0.5 * (low + high));
            }
            Some(BodyShape::Circle(r)) => {
                let ends = [V3::z() * low, V3::z() * high];
                // A dimple shows how it turns.
                let mark = bar(
                    [0.15 * r, 0.0],
                    [0.85 * r, 0.0],
                    0.05 * r,
                    high,
                    high + 1e-3 * self.size,
                );
                return Solid::tube(ends, [*r; 2], 2 * ROUND).take(&mark);
            }
            Some(BodyShape::Line(line)) => {
                let line: Vec<[f64; 2]> = line.iter().map(|p| [p[0], p[1]]).collect();
                return bars(&line);
            }
            Some(BodyShape::Mesh(_)) | None => {}
        }
        let mut all = points.to_vec();
        if all.len() < 2 && all.iter().all(|p| (p - center).norm() > 1e-9 * self.size) {
            all.push(center);
        }
        let corners = hull(&all.iter().map(flat).collect::<Vec<_>>());
        match corners.len() {
            0 | 1 => {
                let edges = V3::new(0.09, 0.065, THICKNESS) * self.size;
                Solid::cuboid(edges, center + V3::z() * 0.5 * (low + high))
            }
            2 => bars(&corners),
            _ => Solid::prism(&corners, low, high),
        }
    }

    fn spatial_body(&self, body: &Body, points: &[V3]) -> Solid {
        let rod = ROD * self.size;
        let center = V3::from(body.center_of_mass);
        let rods = |links: &[[V3; 2]]| {
            links.iter().fold(Solid::default(), |solid, ends| {
                solid.take(&Solid::tube(*ends, [rod; 2], 12))
            })
        };
        match &body.shape {
            Some(BodyShape::Box(edges)) => return Solid::cuboid(V3::from(*edges), V3::zeros()),
            Some(BodyShape::Circle(r)) => return Solid::ball(V3::zeros(), *r, ROUND),
            Some(BodyShape::Line(line)) => {
                let links: Vec<[V3; 2]> = (line.windows(2))
                    .map(|pair| [pair[0], pair[1]].map(V3::from))
                    .collect();
                return rods(&links);
            }
            Some(BodyShape::Mesh(_)) | None => {}
        }
        let mark = |by: f64| Solid::ball(center, 0.018 * self.size * by, 16);
        if points.len() >= 3 {
            return plate_through(points, 0.02 * self.size)
                .unwrap_or_else(|| rods(&spanning_tree(points)).take(&mark(1.0)));
        }
        if let [a, b] = points {
            let axis = (b - a).normalize();
            let away = (center - a).cross(&axis).norm() > 0.02 * self.size;
            let middle = (a + b) / 2.0;
            return match away {
                true => rods(&[[*a, *b], [middle, center]]),
                false => rods(&[[*a, *b]]),
            };
        }
        let solid = same_inertia(body, points).unwrap_or_else(|| mark(2.2));
        let arms: Vec<[V3; 2]> = (points.iter())
            .filter(|p| (*p - center).norm() > 1e-6 * self.size)
            .map(|p| [*p, center])
            .collect();
        rods(&arms).take(&solid)
    }
}

/// Of each body, the points of it that joints, forces and sensors hold on to.
pub(super) fn attached_points(model: &Model) -> Vec<Vec<V3>> {
    let mut points: Vec<Vec<V3>> = vec![Vec::new(); model.bodies.len()];
    let mut put = |body: Option<usize>, point: V3| {
        if let Some(list) = body.map(|i| &mut points[i])
            && list
                .iter()
                .all(|p| (p - point).norm() >= 1e-9 * (1.0 + point.norm()))
        {
            list.push(point);
        }
    };
    for joint in model
        .joints
        .iter()
        .filter(|j| j.kind != JointKind::Coupling)
    {
        for side in 0..2 {
            let body = joint.bodies[side];
            put(body, frame_in(model, &joint.frame, body, side).point.into());
        }
    }
    for force in &model.forces {
        let torque =
            matches!(&force.kind, ForceKind::Load { load, .. } if *load == LoadDefinition::Torque);
        if torque || matches!(force.kind, ForceKind::Contact(_) | ForceKind::Tyre(_)) {
            continue;
        }
        match &force.on {
            ForceApplication::Points { bodies, points }
            | ForceApplication::Axis { bodies, points, .. } => {
                for side in 0..2 {
                    put(bodies[side], points[side].into());
                }
            }
            ForceApplication::Point { body, point } => put(*body, (*point).into()),
            ForceApplication::Frames { bodies, at } => {
                for side in 0..2 {
                    let body = bodies[side];
                    put(body, frame_in(model, at, body, side).point.into());
                }
            }
            ForceApplication::Joint(_) => {}
        }
    }
    for sensor in &model.sensors {
        put(sensor.body, sensor.point.into());
    }
    points
}

/// Of each body, points that bound the wheels, balls and curves that tyres and contacts draw on it.
pub(super) fn contact_bounds(model: &Model) -> Vec<Vec<V3>> {
    let mut bounds: Vec<Vec<V3>> = vec![Vec::new(); model.bodies.len()];
    let mut round = |body: Option<usize>, centre: [f64; 3], radius: f64| {
        let Some(list) = body.map(|i| &mut bounds[i]) else {
            return;
        };
        for axis in 0..model.dimension {
            let mut arm = V3::zeros();
            arm[axis] = radius;
            let centre = V3::from(centre);
            list.extend([centre - arm, centre + arm]);
        }
    };
    for force in &model.forces {
        let ForceApplication::Points { bodies, points } = &force.on else {
            continue;
        };
        match &force.kind {
            ForceKind::Tyre(tyre) => round(bodies[1], points[1], tyre.radius),
            ForceKind::Contact(contact) => {
                round(bodies[1], points[1], contact.radius);
                match &contact.surface {
                    Surface::Sphere(radius) => round(bodies[0], points[0], *radius),
                    Surface::Curve(curve) => {
                        for [x, y] in &curve.points {
                            round(bodies[0], [*x, *y, 0.0], 0.0);
                        }
                    }
                    Surface::Plane(_) => {}
                }
            }
            _ => {}
        }
    }
    bounds
}

/// Points that must be in the picture, in the body's frame.
pub(super) fn corners(
    model: &Model,
    body: &Body,
    points: &[V3],
    mesh: Option<&TriangleMesh>,
) -> Vec<V3> {
    let mut all = points.to_vec();
    match &body.shape {
        Some(BodyShape::Mesh(_)) if mesh.is_some() => {
            all.extend(mesh.iter().flat_map(|m| &m.points).map(|p| V3::from(*p)));
        }
        Some(BodyShape::Box([a, b, c])) => {
            for i in 0..8 {
                let sign = |k: usize| if i >> k & 1 == 1 { 0.5 } else { -0.5 };
                all.push(V3::new(sign(0) * a, sign(1) * b, sign(2) * c));
            }
        }
        Some(BodyShape::Circle(r)) => {
            for axis in 0..model.dimension {
                let mut p = V3::zeros();
                p[axis] = *r;
                all.extend([p, -p]);
            }
        }
        Some(BodyShape::Line(line)) => all.extend(line.iter().map(|p| V3::from(*p))),
        Some(BodyShape::Mesh(_)) | None => {
            all.push(body.center_of_mass.into());
            if model.dimension == 3 && points.len() < 2 {
                all.extend(same_inertia(body, points).map_or(Vec::new(), |solid| solid.points));
            }
        }
    }
    all
}

/// A bar with round ends.
pub(super) fn bar(a: [f64; 2], b: [f64; 2], r: f64, low: f64, high: f64) -> Solid {
    let angle = atan2(b[1] - a[1], b[0] - a[0]);
    let n = ROUND / 2;
    let arc = |center: [f64; 2], from: f64| {
        (0..=n).map(move |i| {
            let s = from + std::f64::consts::PI * i as f64 / n as f64;
            [center[0] + r * cos(s), center[1] + r * sin(s)]
        })
    };
    let quarter = std::f64::consts::FRAC_PI_2;
    let outline: Vec<[f64; 2]> = arc(b, angle - quarter)
        .chain(arc(a, angle + quarter))
        .collect();
    Solid::prism(&outline, low, high)
}

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    hypot(a[0] - b[0], a[1] - b[1])
}

fn area(polygon: &[[f64; 2]]) -> f64 {
    let next = polygon.iter().cycle().skip(1);
    let cross = polygon
        .iter()
        .zip(next)
        .map(|([x, y], [u, v])| x * v - u * y);
    0.5 * cross.sum::<f64>()
}

/// Corners of the convex hull, counter-clockwise (monotone chain).
fn hull(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    if sorted.len() < 3 {
        return sorted;
    }
    let half = |list: &mut dyn Iterator<Item = [f64; 2]>| {
        let mut chain: Vec<[f64; 2]> = Vec::new();
        for p in list {
            while let [.., a, b] = chain[..]
                && (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) <= 1e-12
            {
                chain.pop();
            }
            chain.push(p);
        }
        chain.pop();
        chain
    };
    let mut corners = half(&mut sorted.iter().copied());
    corners.extend(half(&mut sorted.iter().rev().copied()));
    corners
}

/// A plate through points that lie in one plane; `None` where they do not.
fn plate_through(points: &[V3], thickness: f64) -> Option<Solid> {
    let middle = points.iter().sum::<V3>() / points.len() as f64;
    let arms: Vec<V3> = points.iter().map(|p| p - middle).collect();
    let longest = |list: &[V3]| {
        list.iter()
            .copied()
            .reduce(|a, b| if b.norm() > a.norm() { b } else { a })
    };
    let long = longest(&arms)?;
    let x = long.normalize();
    let sides: Vec<V3> = arms.iter().map(|a| a - x * a.dot(&x)).collect();
    let wide = longest(&sides)?;
    if wide.norm() < 0.15 * long.norm() {
        return None;
    }
    let y = wide.normalize();
    let z = x.cross(&y);
    if arms.iter().any(|a| a.dot(&z).abs() > 0.02 * long.norm()) {
        return None;
    }
    let flat: Vec<[f64; 2]> = arms.iter().map(|a| [a.dot(&x), a.dot(&y)]).collect();
    let mut plate = Solid::prism(&hull(&flat), -thickness / 2.0, thickness / 2.0);
    for p in &mut plate.points {
        *p = middle + x * p.x + y * p.y + z * p.z;
    }
    for n in &mut plate.normals {
        *n = x * n.x + y * n.y + z * n.z;
    }
    Some(plate)
}

/// Shortest links that join all points (Prim).
fn spanning_tree(points: &[V3]) -> Vec<[V3; 2]> {
    let (mut inside, mut outside) = (vec![points[0]], points[1..].to_vec());
    let mut links = Vec::new();
    while !outside.is_empty() {
        let pairs =
            (inside.iter()).flat_map(|a| outside.iter().enumerate().map(move |(k, b)| (*a, *b, k)));
        let (a, b, k) = pairs
            .min_by(|p, q| (p.0 - p.1).norm().total_cmp(&(q.0 - q.1).norm()))
            .expect("both lists have points");
        links.push([a, b]);
        inside.push(outside.swap_remove(k));
    }
    links
}

/// A cylinder or box of homogeneous material with the body's mass and principal moments, if it is not much larger than the
/// distance at which the body is held: then its inertia is not that of its shape.
fn same_inertia(body: &Body, points: &[V3]) -> Option<Solid> {
    let [ixx, iyy, izz, ixy, ixz, iyz] = body.inertia;
    if !(body.mass > 0.0) || ixy != 0.0 || ixz != 0.0 || iyz != 0.0 {
        return None;
    }
    let center = V3::from(body.center_of_mass);
    let reach = points
        .iter()
        .map(|p| (p - center).norm())
        .fold(0.0, f64::max);
    let most = if reach > 0.0 {
        3.0 * reach
    } else {
        f64::INFINITY
    };
    let moments = [ixx, iyy, izz];
    let equal = |a: f64, b: f64| (a - b).abs() < 1e-3 * a.max(b);
    for k in 0..3 {
        let (axial, b, c) = (moments[k], moments[(k + 1) % 3], moments[(k + 2) % 3]);
        let r = (2.0 * axial / body.mass).sqrt();
        let h = (12.0 * b / body.mass - 3.0 * r * r).max(0.0).sqrt();
        if equal(b, c) && !equal(axial, b) && r > 0.0 && 2.0 * r < most && h < most {
            let mut half = V3::zeros();
            half[k] = h.max(0.06 * r) / 2.0;
            return Some(Solid::tube(
                [center - half, center + half],
                [r; 2],
                2 * ROUND,
            ));
        }
    }
    let edge = |k: usize| {
        let sum = moments[(k + 1) % 3] + moments[(k + 2) % 3] - moments[k];
        (6.0 * sum / body.mass).max(0.0).sqrt()
    };
    let edges = V3::new(edge(0), edge(1), edge(2));
    let fits = edges.iter().all(|e| *e > 0.002 * edges.max() && *e < most);
    fits.then(|| Solid::cuboid(edges, center))
}
