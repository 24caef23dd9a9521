//! The mechanism: bodies by their shape (or as bars between their joints), pins, supports, rails, springs, and the paths
//! of sensors. Body points become pixels by
//!
//! ```text
//!   X = X0 + s x,   Y = Y0 - s y
//! ```

use biela::model::{
    BodyRef, BodyShape, ForceKind, Joint, JointFrame, JointKind, JointPlacement, Model,
};

use super::animation::Show;
use super::svg::{Svg, polyline, px, simplified};

type Point = [f64; 2];

/// Width of a bar, radius of a pin, rim of the drawing, size of a support (px).
const BAR: f64 = 13.0;
const PIN: f64 = 4.2;
const MARGIN: f64 = 34.0;
const SUPPORT: f64 = 13.0;
/// Side of a slider that has no shape, relative to the mechanism.
const SLIDER: f64 = 0.09;
/// Colours for bodies.
const COLOURS: usize = 6;

/// Where to draw (px).
pub struct DrawnFrame {
    /// Upper left.
    pub corner: Point,
    /// Width and height.
    pub size: Point,
}

/// What does not move relative to its body.
pub struct Scene {
    parts: Vec<DrawnPart>,
    /// Points of the ground that hold a pin or a spring.
    supports: Vec<Point>,
    rails: Vec<Rail>,
}

/// A body in its own frame (m).
struct DrawnPart {
    outline: DrawnOutline,
    /// Where a body without extent has all its mass.
    point_mass: Option<Point>,
    pins: Vec<Point>,
    sensors: Vec<Point>,
}

#[derive(Debug, PartialEq)]
enum DrawnOutline {
    /// A chain of points, drawn thick.
    Bar(Vec<Point>),
    /// Corners of a solid.
    Solid(Vec<Point>),
    /// Radius.
    Disc(f64),
}

/// A straight guide fixed in the ground, and which point of which body runs along it.
struct Rail {
    point: Point,
    axis: Point,
    body: usize,
    runner: Point,
    /// How far the body reaches along the guide and across it (m), seen from the runner in the pose as written.
    reach: Point,
}

impl Scene {
    /// From the pose as written: joints given in the ground frame are points of their bodies in that pose.
    pub fn of(model: &Model) -> Self {
        let mut pins: Vec<Vec<Point>> = vec![Vec::new(); model.bodies.len()];
        let mut corners: Vec<Vec<Point>> = vec![Vec::new(); model.bodies.len()];
        let (mut supports, mut rails) = (Vec::new(), Vec::new());
        for joint in &model.joints {
            let places = [0, 1].map(|side| local(model, joint, side));
            for (body, place) in joint.bodies.into_iter().zip(&places) {
                if let Some(i) = body {
                    corners[i].push(flat(place.point));
                }
            }
            match joint.kind {
                JointKind::Revolute => {
                    // In the body drawn last, so that the pin lies above both.
                    if let Some(i) = joint.bodies[0].max(joint.bodies[1]) {
                        let side = usize::from(joint.bodies[1] == Some(i));
                        pins[i].push(flat(places[side].point));
                    }
                    if let Some(side) = joint.bodies.iter().position(Option::is_none) {
                        supports.push(flat(places[side].point));
                    }
                }
                JointKind::Prismatic => {
                    let moving = joint.bodies.iter().position(Option::is_some);
                    if let (Some(moving), true) = (moving, joint.bodies.contains(&None)) {
                        let fixed = &places[1 - moving];
                        rails.push(Rail {
                            point: flat(fixed.point),
                            axis: flat(fixed.axis),
                            body: joint.bodies[moving].expect("found to be a body"),
                            runner: flat(places[moving].point),
                            reach: [0.0; 2],
                        });
                    }
                }
                _ => {}
            }
        }
        for force in &model.forces {
            if let Some((bodies, points)) = ends_of(force) {
                let held = bodies.iter().zip(points).filter(|(body, _)| body.is_none());
                supports.extend(held.map(|(_, point)| flat(point)));
            }
        }
        let size = extent(model, &corners);
        let parts = (0..model.bodies.len())
            .map(|i| DrawnPart {
                outline: outline(model, i, &corners[i], SLIDER * size),
                point_mass: point_mass(&model.bodies[i]),
                pins: pins[i].clone(),
                sensors: model
                    .sensors
                    .iter()
                    .filter(|sensor| sensor.body == Some(i))
                    .map(|sensor| flat(sensor.point))
                    .collect(),
            })
            .collect::<Vec<DrawnPart>>();
        for rail in &mut rails {
            let angle = model.bodies[rail.body].angle;
            rail.measure(&parts[rail.body].outline, angle);
        }
        Self {
            parts,
            supports,
            rails,
        }
    }

    /// How many bodies there are.
    pub fn bodies(&self) -> usize {
        self.parts.len()
    }

    /// Draws everything; `poses` holds x, y and angle over time for each body.
    pub fn draw(
        &self,
        svg: &mut Svg,
        model: &Model,
        poses: &[[Vec<f64>; 3]],
        show: &Show,
        frame: &DrawnFrame,
    ) {
        let tracks: Vec<Track> = poses.iter().map(Track::new).collect();
        let mut visible = self.visible(&tracks);
        for ends in model
            .forces
            .iter()
            .filter_map(|force| force_ends(force, &tracks))
        {
            visible.extend(ends.into_iter().flatten());
        }
        visible.retain(|p| p[0].is_finite() && p[1].is_finite());
        let view = View::new(&visible, frame);
        svg.group("mechanism", |svg| {
            for rail in &self.rails {
                rail.draw(svg, &view, &tracks[rail.body]);
            }
            for (part, track) in self.parts.iter().zip(&tracks) {
                for sensor in &part.sensors {
                    let path: Vec<Point> = track.path(*sensor).map(|p| view.at(p)).collect();
                    let d = polyline(simplified(&path, 0.15));
                    svg.path(&[("class", "trace".to_owned())], d);
                }
            }
            for support in &self.supports {
                draw_support(svg, view.at(*support));
            }
            for force in &model.forces {
                draw_force(svg, force, &tracks, &view, show);
            }
            for (number, (part, track)) in self.parts.iter().zip(&tracks).enumerate() {
                part.draw(svg, &model.bodies[number].name, number, track, &view, show);
            }
        });
        view.draw_scale(svg, frame);
    }

    /// Everything that must fit into the picture, at all times (m).
    fn visible(&self, tracks: &[Track]) -> Vec<Point> {
        let mut points = self.supports.clone();
        for (part, track) in self.parts.iter().zip(tracks) {
            let marks = part.outline.corners();
            for corner in marks.iter().chain(&part.pins).chain(&part.sensors) {
                points.extend(track.path(*corner));
            }
        }
        for rail in &self.rails {
            points.extend(rail.ends(&tracks[rail.body]));
        }
        points
    }
}

/// The frame of a body over time: `<body>.x` and `.y` speak of the frame's origin.
struct Track {
    origins: Vec<Point>,
    angles: Vec<f64>,
}

impl Track {
    fn new([x, y, angle]: &[Vec<f64>; 3]) -> Self {
        Self {
            origins: x.iter().zip(y).map(|(&x, &y)| [x, y]).collect(),
            angles: angle.clone(),
        }
    }

    /// A point of the body over time, in the ground frame.
    fn path(&self, point: Point) -> impl Iterator<Item = Point> + '_ {
        self.origins
            .iter()
            .zip(&self.angles)
            .map(move |(origin, &angle)| {
                let arm = turned(point, angle);
                [origin[0] + arm[0], origin[1] + arm[1]]
            })
    }
}

impl DrawnPart {
    fn draw(
        &self,
        svg: &mut Svg,
        name: &str,
        number: usize,
        track: &Track,
        view: &View,
        show: &Show,
    ) {
        let places: Vec<Point> = track.origins.iter().map(|o| view.at(*o)).collect();
        // The picture's y axis points down, so turns change their sign.
        let turns: Vec<f64> = track.angles.iter().map(|a| -a.to_degrees()).collect();
        let first = format!(
            "translate({} {}) rotate({})",
            px(places[0][0]),
            px(places[0][1]),
            px(turns[0])
        );
        let attributes = [
            ("class", "body".to_owned()),
            ("id", name.to_owned()),
            ("transform", first),
        ];
        svg.element("g", &attributes, |svg| {
            self.outline.draw(svg, number % COLOURS, view.scale);
            if let Some(centre) = self.point_mass {
                let colour = number % COLOURS;
                svg.circle(
                    &format!("solid e{colour} p{colour}"),
                    view.local(centre),
                    BAR,
                );
            }
            for pin in &self.pins {
                svg.circle("pin", view.local(*pin), PIN);
            }
            for sensor in &self.sensors {
                svg.circle("sensor", view.local(*sensor), 3.2);
            }
            let words = places.iter().map(|p| format!("{} {}", px(p[0]), px(p[1])));
            show.animate(svg, "translate", false, words);
            show.animate(svg, "rotate", true, turns.iter().map(|a| px(*a)));
        });
    }
}

impl DrawnOutline {
    fn corners(&self) -> Vec<Point> {
        match self {
            Self::Bar(points) | Self::Solid(points) => points.clone(),
            Self::Disc(r) => vec![[*r, 0.0], [0.0, *r], [-r, 0.0], [0.0, -r]],
        }
    }

    fn draw(&self, svg: &mut Svg, colour: usize, scale: f64) {
        let pixels = |points: &[Point]| {
            let points: Vec<Point> = points
                .iter()
                .map(|p| [scale * p[0], -scale * p[1]])
                .collect();
            polyline(points)
        };
        match self {
            Self::Bar(points) => {
                // A dot needs a line of its own to be drawn with round ends.
                let d = match points.as_slice() {
                    [point] => pixels(&[*point, *point]),
                    points => pixels(points),
                };
                for (class, width) in [
                    (format!("bar e{colour}"), BAR),
                    (format!("bar f{colour}"), BAR - 3.0),
                ] {
                    svg.path(&[("class", class), ("stroke-width", px(width))], d.clone());
                }
            }
            Self::Solid(points) => {
                let class = format!("solid e{colour} p{colour}");
                svg.path(
                    &[("class", class), ("stroke-width", "1.5".to_owned())],
                    format!("{}Z", pixels(points)),
                );
            }
            Self::Disc(r) => {
                svg.circle(&format!("solid e{colour} p{colour}"), [0.0, 0.0], r * scale);
                // A radius shows the turning.
                svg.line(&format!("e{colour}"), [0.0, 0.0], [r * scale, 0.0]);
            }
        }
    }
}

impl Rail {
    /// A guided body keeps its angle, so the pose as written serves for all times.
    fn measure(&mut self, outline: &DrawnOutline, angle: f64) {
        for corner in outline.corners() {
            let [x, y] = [corner[0] - self.runner[0], corner[1] - self.runner[1]];
            let arm = turned([x, y], angle);
            let along = arm[0] * self.axis[0] + arm[1] * self.axis[1];
            let across = arm[0] * self.axis[1] - arm[1] * self.axis[0];
            self.reach[0] = self.reach[0].max(along.abs());
            self.reach[1] = self.reach[1].max(across.abs());
        }
    }

    /// Ends of the guide as drawn: the travel and the width of what slides on it.
    fn ends(&self, track: &Track) -> [Point; 2] {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for [x, y] in track.path(self.runner) {
            let along = (x - self.point[0]) * self.axis[0] + (y - self.point[1]) * self.axis[1];
            low = low.min(along);
            high = high.max(along);
        }
        let rim = 1.4 * self.reach[0];
        // The body lies on its guide: on the side that looks up in the picture (or left, of an upright guide).
        let [ax, ay] = self.axis;
        let up = if ax >= 0.0 { 1.0 } else { -1.0 };
        let below = [
            self.point[0] + up * self.reach[1] * ay,
            self.point[1] - up * self.reach[1] * ax,
        ];
        [low - rim, high + rim].map(|s| [below[0] + s * ax, below[1] + s * ay])
    }

    fn draw(&self, svg: &mut Svg, view: &View, track: &Track) {
        let [from, to] = self.ends(track).map(|p| view.at(p));
        let length = (to[0] - from[0]).hypot(to[1] - from[1]);
        if length.is_nan() || length <= 0.0 {
            return;
        }
        let along = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
        svg.group("rail", |svg| {
            svg.line("ground", from, to);
            hatch(svg, from, along, length);
        });
    }
}

/// Short strokes on the ground's side of a line.
fn hatch(svg: &mut Svg, from: Point, along: Point, length: f64) {
    let count = (length / 7.0).floor().max(1.0);
    // Of the two sides, the one that looks down in the picture (or right, where the line is upright).
    let side = if along[0] >= 0.0 { 1.0 } else { -1.0 };
    let normal = [-side * along[1], side * along[0]];
    let d: String = (1..=count as usize)
        .map(|i| {
            let s = i as f64 * length / count;
            let start = [from[0] + s * along[0], from[1] + s * along[1]];
            let end = [
                start[0] - 5.0 * along[0] * side + 5.0 * normal[0],
                start[1] - 5.0 * along[1] * side + 5.0 * normal[1],
            ];
            polyline([start, end])
        })
        .collect();
    svg.path(&[("class", "hatch".to_owned())], d);
}

/// A pin held by the ground: a triangle on a hatched line.
fn draw_support(svg: &mut Svg, [x, y]: Point) {
    svg.group("fixed", |svg| {
        let (half, foot) = (0.75 * SUPPORT, y + 1.45 * SUPPORT);
        let triangle = polyline([[x, y], [x + half, foot], [x - half, foot]]);
        svg.path(&[("class", "support".to_owned())], format!("{triangle}Z"));
        svg.line("ground", [x - 1.4 * half, foot], [x + 1.4 * half, foot]);
        hatch(svg, [x - 1.4 * half, foot], [1.0, 0.0], 2.8 * half);
    });
}

/// A spring as a zigzag, an actuator between points as a dashed rod; their ends move with the bodies.
fn draw_force(
    svg: &mut Svg,
    force: &biela::model::Force,
    tracks: &[Track],
    view: &View,
    show: &Show,
) {
    let Some(ends) = force_ends(force, tracks) else {
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
        show.animate_outline(svg, frames.iter().cloned());
    });
}

/// Enough for lines that move, and shorter in the file.
fn tenths(p: Point) -> Point {
    p.map(|c| (10.0 * c).round() / 10.0)
}

/// Both ends of a force between points over time, ground frame; `None` for forces in joints.
fn force_ends(force: &biela::model::Force, tracks: &[Track]) -> Option<[Vec<Point>; 2]> {
    let (bodies, points) = ends_of(force)?;
    let frames = tracks.first()?.angles.len();
    Some([0, 1].map(|side| {
        let point = flat(points[side]);
        match bodies[side] {
            Some(i) => tracks[i].path(point).collect(),
            None => vec![point; frames],
        }
    }))
}

/// From `a` to `b` with straight ends of equal length and turns between them.
fn zigzag(a: Point, b: Point) -> Vec<Point> {
    const TURNS: usize = 12;
    let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
    let length = dx.hypot(dy).max(f64::MIN_POSITIVE);
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

/// From metres to pixels.
struct View {
    scale: f64,
    origin: Point,
}

impl View {
    /// The largest scale at which all `points` fit into the frame.
    fn new(points: &[Point], frame: &DrawnFrame) -> Self {
        let bound = |axis: usize| {
            let values = points.iter().map(|p| p[axis]);
            let low = values.clone().fold(f64::INFINITY, f64::min);
            (low, values.fold(f64::NEG_INFINITY, f64::max).max(low))
        };
        let ((left, right), (low, high)) = (bound(0), bound(1));
        let room = [frame.size[0] - 2.0 * MARGIN, frame.size[1] - 2.0 * MARGIN];
        let scale = (room[0] / (right - left)).min(room[1] / (high - low));
        let scale = if scale.is_finite() { scale } else { 1.0 };
        let middle = [(left + right) / 2.0, (low + high) / 2.0];
        Self {
            scale,
            origin: [
                frame.corner[0] + frame.size[0] / 2.0 - scale * middle[0],
                frame.corner[1] + frame.size[1] / 2.0 + scale * middle[1],
            ],
        }
    }

    /// A point of the ground frame.
    fn at(&self, p: Point) -> Point {
        [
            self.origin[0] + self.scale * p[0],
            self.origin[1] - self.scale * p[1],
        ]
    }

    /// A point of a body, in the body's own group.
    fn local(&self, p: Point) -> Point {
        [self.scale * p[0], -self.scale * p[1]]
    }

    /// A round length in the lower left corner.
    fn draw_scale(&self, svg: &mut Svg, frame: &DrawnFrame) {
        let metres = round_below(70.0 / self.scale);
        let (x, y) = (
            frame.corner[0] + 2.0,
            frame.corner[1] + frame.size[1] - 24.0,
        );
        let end = x + metres * self.scale;
        svg.group("measure", |svg| {
            let d = polyline([[x, y - 4.0], [x, y], [end, y], [end, y - 4.0]]);
            svg.path(&[("class", "scale".to_owned())], d);
            svg.label("tick", end + 6.0, y + 1.0, &format!("{metres} m"));
        });
    }
}

/// The largest of 1, 2, 5 times a power of ten that is not above `value`.
fn round_below(value: f64) -> f64 {
    let exponent = value.log10().floor();
    let mantissa = value / 10f64.powf(exponent);
    let digit = [5.0, 2.0, 1.0]
        .into_iter()
        .find(|d| *d <= mantissa)
        .unwrap_or(1.0);
    // Through text, so that 0.2 is the number 0.2 and prints so.
    format!("{digit}e{exponent}").parse().unwrap_or(1.0)
}

/// The joint's frame in the body on one side (ground: the ground frame).
fn local(model: &Model, joint: &Joint, side: usize) -> JointFrame {
    match (&joint.frame, joint.bodies[side]) {
        (JointPlacement::BodyFrames(frames), _) => frames[side],
        (JointPlacement::InitialPose(frame), None) => *frame,
        (JointPlacement::InitialPose(frame), Some(i)) => {
            let body = &model.bodies[i];
            let [x, y] = flat(frame.point);
            let arm = turned([x - body.position[0], y - body.position[1]], -body.angle);
            let axis = turned(flat(frame.axis), -body.angle);
            JointFrame {
                point: [arm[0], arm[1], 0.0],
                axis: [axis[0], axis[1], 0.0],
                ..JointFrame::default()
            }
        }
        (JointPlacement::None, _) => JointFrame::default(),
    }
}

/// By its shape; without one by its joints: a bar through two points, a solid through more, a block where all is one
/// point.
fn outline(model: &Model, number: usize, corners: &[Point], block: f64) -> DrawnOutline {
    let body = &model.bodies[number];
    match &body.shape {
        Some(BodyShape::Box(edges)) => return rectangle(edges[0] / 2.0, edges[1] / 2.0),
        Some(BodyShape::Circle(r)) => return DrawnOutline::Disc(*r),
        Some(BodyShape::Line(points)) => {
            return DrawnOutline::Bar(points.iter().map(|p| flat(*p)).collect());
        }
        None => {}
    }
    let mut points = corners.to_vec();
    let reach: Vec<Point> = model
        .sensors
        .iter()
        .filter(|sensor| sensor.body == Some(number))
        .map(|sensor| flat(sensor.point))
        .chain(model.forces.iter().flat_map(|force| ends_on(force, number)))
        .collect();
    points.extend(reach);
    if corners.len() < 2 {
        // One joint says nothing about how far the body goes; its centre of mass does.
        points.push(flat(body.center_of_mass));
    }
    let hull = hull(points, 1e-6 * block);
    match hull.len() {
        0 | 1 => rectangle(block / 2.0, block / 2.8),
        2 => DrawnOutline::Bar(hull),
        _ => DrawnOutline::Solid(hull),
    }
}

fn point_mass(body: &biela::model::Body) -> Option<Point> {
    (body.mass > 0.0 && body.inertia[2] == 0.0).then(|| flat(body.center_of_mass))
}

fn ends_on(force: &biela::model::Force, number: usize) -> Vec<Point> {
    match ends_of(force) {
        None => Vec::new(),
        Some((bodies, points)) => (bodies.into_iter().zip(points))
            .filter(|(body, _)| *body == Some(number))
            .map(|(_, point)| flat(point))
            .collect(),
    }
}

/// What is drawn between two points: springs and actuators. Tyres and contacts are seen by the bodies they touch.
fn ends_of(force: &biela::model::Force) -> Option<([BodyRef; 2], [[f64; 3]; 2])> {
    match force.kind {
        ForceKind::SpringDamper(_) | ForceKind::Actuator { .. } => force.on.points(),
        _ => None,
    }
}

fn rectangle(a: f64, b: f64) -> DrawnOutline {
    DrawnOutline::Solid(vec![[a, b], [-a, b], [-a, -b], [a, -b]])
}

/// Largest distance between points of the mechanism as written (m).
fn extent(model: &Model, corners: &[Vec<Point>]) -> f64 {
    let mut points: Vec<Point> = Vec::new();
    for (body, corners) in model.bodies.iter().zip(corners) {
        for corner in corners.iter().chain([&[0.0, 0.0]]) {
            let arm = turned(*corner, body.angle);
            points.push([body.position[0] + arm[0], body.position[1] + arm[1]]);
        }
    }
    let far = points
        .iter()
        .flat_map(|a| points.iter().map(|b| (a[0] - b[0]).hypot(a[1] - b[1])))
        .fold(0.0, f64::max);
    if far > 0.0 { far } else { 1.0 }
}

/// Corners of the convex hull, counter-clockwise (Andrew's monotone chain); points closer than `near` to a corner or to
/// an edge do not count.
fn hull(mut points: Vec<Point>, near: f64) -> Vec<Point> {
    points.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    points.dedup_by(|a, b| (a[0] - b[0]).hypot(a[1] - b[1]) <= near);
    if points.len() < 3 {
        return points;
    }
    let half = |points: &mut dyn Iterator<Item = Point>| {
        let mut chain: Vec<Point> = Vec::new();
        for p in points {
            while chain.len() >= 2 {
                let (a, b) = (chain[chain.len() - 2], chain[chain.len() - 1]);
                let (ab, ap) = ([b[0] - a[0], b[1] - a[1]], [p[0] - a[0], p[1] - a[1]]);
                let height = (ab[0] * ap[1] - ab[1] * ap[0]) / ap[0].hypot(ap[1]);
                if height > near {
                    break;
                }
                chain.pop();
            }
            chain.push(p);
        }
        chain.pop();
        chain
    };
    let mut lower = half(&mut points.iter().copied());
    let upper = half(&mut points.iter().rev().copied());
    lower.extend(upper);
    lower
}

fn flat(p: [f64; 3]) -> Point {
    [p[0], p[1]]
}

fn turned([x, y]: Point, angle: f64) -> Point {
    let (sin, cos) = angle.sin_cos();
    [cos * x - sin * y, sin * x + cos * y]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hull_of_points_on_a_line_is_a_bar_and_of_others_a_solid() {
        let on_line = vec![[0.0, 0.0], [0.5, 0.5], [1.0, 1.0], [0.5, 0.5]];
        assert_eq!(hull(on_line, 1e-9), [[0.0, 0.0], [1.0, 1.0]]);
        let square = vec![[0.0, 0.0], [1.0, 1.0], [0.4, 0.5], [1.0, 0.0], [0.0, 1.0]];
        assert_eq!(
            hull(square, 1e-9),
            [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]
        );
        assert_eq!(hull(vec![[1.0, 1.0], [1.0, 1.0]], 1e-9).len(), 1);
        assert!(hull(Vec::new(), 1e-9).is_empty());
    }

    #[test]
    fn everything_fits_into_the_frame_and_up_is_up() {
        let frame = DrawnFrame {
            corner: [10.0, 20.0],
            size: [400.0, 300.0],
        };
        let points = [[-1.0, 0.0], [3.0, 0.5], [0.0, -0.5]];
        let view = View::new(&points, &frame);
        for point in points {
            let [x, y] = view.at(point);
            assert!((10.0..=410.0).contains(&x) && (20.0..=320.0).contains(&y));
        }
        assert!(view.at([0.0, 1.0])[1] < view.at([0.0, 0.0])[1]);
        let alone = View::new(&[[2.0, 2.0]], &frame);
        assert_eq!(alone.at([2.0, 2.0]), [210.0, 170.0]);
    }

    #[test]
    fn points_of_a_body_move_with_its_frame() {
        // Frame at (1, 2), turned by 90 degrees: what was to the right is above.
        let track = Track::new(&[vec![1.0], vec![2.0], vec![std::f64::consts::FRAC_PI_2]]);
        let point = track.path([3.0, 0.0]).next().unwrap();
        assert!((point[0] - 1.0).abs() < 1e-15 && (point[1] - 5.0).abs() < 1e-15);
    }

    #[test]
    fn a_zigzag_joins_its_ends() {
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

    #[test]
    fn the_scale_is_a_round_length() {
        assert_eq!(round_below(0.37), 0.2);
        assert_eq!(round_below(5.1), 5.0);
        assert_eq!(round_below(1.0), 1.0);
    }
}
