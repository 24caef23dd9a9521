//! Loops of links that cannot close because one link is longer than all others together. Needs no equations: only the
//! distances between the joints on each body.

use super::{Body, BodyRef, Joint, JointKind, JointPlacement, Model};
use crate::linalg::elementary::{cos, sin};

/// Part of the longest link by which the others must be short to be reported: less is rounding.
const SHORT: f64 = 1e-6;

impl Model {
    /// Why the loop through one of these joints cannot close, in metres: the link that is too long, or those that are
    /// too short. `None` if lengths alone do not tell.
    pub fn short_loop(&self, joints: &[String]) -> Option<String> {
        let named = |name: &String| self.joints.iter().position(|joint| joint.name == *name);
        (joints.iter().filter_map(named)).find_map(|joint| self.shortfall(joint))
    }

    fn shortfall(&self, closing: usize) -> Option<String> {
        let loop_joints = self.loop_through(closing)?;
        // The links in their order: the body, its joints before and after, and the distance between them.
        let n = loop_joints.len();
        let mut links: Vec<(String, f64)> = Vec::with_capacity(2 * n);
        for (k, &(joint, enters)) in loop_joints.iter().enumerate() {
            let (next, _) = loop_joints[(k + 1) % n];
            let a = self.point_on(&self.joints[joint], enters)?;
            let b = self.point_on(&self.joints[next], enters)?;
            let length = (0..3).map(|i| (a[i] - b[i]).powi(2)).sum::<f64>().sqrt();
            let body = enters.map_or("ground", |i| &self.bodies[i].name);
            let [from, to] = [joint, next].map(|j| &self.joints[j].name);
            let what = format!("from \"{from}\" to \"{to}\" on \"{body}\"");
            links.push((what, length));
            let joint = &self.joints[joint];
            if let (JointKind::Distance, Some(length)) = (joint.kind, joint.length) {
                links.push((format!("of distance joint \"{}\"", joint.name), length));
            }
        }
        let total: f64 = links.iter().map(|(_, length)| length).sum();
        let (what, longest) = links.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let others = total - longest;
        let missing = longest - others;
        (missing > SHORT * longest).then(|| {
            let names: Vec<String> = (loop_joints.iter())
                .map(|(joint, _)| format!("\"{}\"", self.joints[*joint].name))
                .collect();
            format!(
                "the loop of {} cannot close: the length {what} is {longest:.4} m, the others reach {others:.4} m, \
                 {missing:.4} m short",
                names.join(", ")
            )
        })
    }

    /// The shortest loop through a joint: each joint with the body that follows it. `None` if there is none, or if one of
    /// its joints lets its points separate.
    fn loop_through(&self, closing: usize) -> Option<Vec<(usize, BodyRef)>> {
        let meets = |joint: &Joint| match joint.kind {
            JointKind::Revolute
            | JointKind::Spherical
            | JointKind::Universal
            | JointKind::Gimbal => true,
            JointKind::Distance => joint.length.is_some(),
            _ => false,
        };
        let [from, to] = self.joints[closing].bodies;
        if !meets(&self.joints[closing]) {
            return None;
        }
        // Breadth first from the second body to the first, without the closing joint.
        let slot = |body: BodyRef| body.map_or(self.bodies.len(), |i| i);
        let mut reached: Vec<Option<(usize, BodyRef)>> = vec![None; self.bodies.len() + 1];
        let mut queue = std::collections::VecDeque::from([to]);
        while let Some(body) = queue.pop_front() {
            for (i, joint) in self.joints.iter().enumerate() {
                if i == closing || !meets(joint) {
                    continue;
                }
                let other = match joint.bodies {
                    [a, b] if a == body => b,
                    [a, b] if b == body => a,
                    _ => continue,
                };
                if other != to && reached[slot(other)].is_none() {
                    reached[slot(other)] = Some((i, body));
                    queue.push_back(other);
                }
            }
        }
        let mut path = Vec::new();
        let mut body = from;
        while body != to {
            let (joint, before) = reached[slot(body)]?;
            path.push((joint, body));
            body = before;
        }
        path.reverse();
        path.insert(0, (closing, to));
        // Each entry has the body behind its joint: the closing joint leads to `to`.
        Some(path)
    }

    /// The point of a joint in the frame of one of its bodies.
    pub(super) fn point_on(&self, joint: &Joint, body: BodyRef) -> Option<[f64; 3]> {
        let side = joint.bodies.iter().position(|other| *other == body)?;
        match &joint.frame {
            JointPlacement::BodyFrames(frames) => Some(frames[side].point),
            // Distances within a body are the same in every frame.
            JointPlacement::InitialPose(frame) => {
                let Some(body) = body else {
                    return Some(frame.point);
                };
                Some(in_frame(&self.bodies[body], self.dimension, frame.point))
            }
            JointPlacement::None => None,
        }
    }
}

/// A point of the ground frame in the frame of a body, in its initial pose: Rᵀ (p − r).
fn in_frame(body: &Body, dimension: usize, point: [f64; 3]) -> [f64; 3] {
    let d: [f64; 3] = std::array::from_fn(|i| point[i] - body.position[i]);
    let [w, x, y, z] = match dimension {
        2 => [cos(0.5 * body.angle), 0.0, 0.0, sin(0.5 * body.angle)],
        _ => body.orientation,
    };
    // Rotation by the conjugate quaternion: d + 2 w (d × u) + 2 u × (u × d).
    let u = [x, y, z];
    let cross = |a: [f64; 3], b: [f64; 3]| {
        [
            a[1] * b[2] - a[2] * b[1],
            a[2] * b[0] - a[0] * b[2],
            a[0] * b[1] - a[1] * b[0],
        ]
    };
    let c = cross(u, d);
    let cc = cross(u, c);
    std::array::from_fn(|i| d[i] - 2.0 * w * c[i] + 2.0 * cc[i])
}

#[cfg(test)]
mod tests {
    use crate::model::Model;

    /// A four-bar with links 0.1, 0.35, 0.25 and the ground as long as is asked.
    fn four_bar(ground: f64) -> Model {
        let body = |name: &str| format!("[[body]]\nname = \"{name}\"\nmass = 1\ninertia = 1\n");
        let joint = |name: &str, a: &str, b: &str, at: [f64; 2]| {
            format!(
                "[[joint]]\nname = \"{name}\"\ntype = \"revolute\"\nbodies = [\"{a}\", \"{b}\"]\n\
                 at = [{{ point = [{}, 0] }}, {{ point = [{}, 0] }}]\n",
                at[0], at[1]
            )
        };
        let text = [
            "format = 1\ndimension = 2\n".to_owned(),
            body("crank"),
            body("coupler"),
            body("rocker"),
            joint("A", "ground", "crank", [0.0, 0.0]),
            joint("B", "crank", "coupler", [0.1, 0.0]),
            joint("C", "coupler", "rocker", [0.35, 0.25]),
            joint("D", "rocker", "ground", [0.0, ground]),
        ]
        .concat();
        Model::from_text(&text, "four_bar.toml").unwrap()
    }

    #[test]
    fn a_loop_with_one_link_too_long_says_by_how_much() {
        for joint in ["A", "B", "C", "D"] {
            let words = four_bar(1.3).short_loop(&[joint.to_owned()]).unwrap();
            assert!(words.contains("on \"ground\" is 1.3000 m"), "{words}");
            assert!(words.contains("reach 0.7000 m, 0.6000 m short"), "{words}");
        }
        let words = four_bar(0.01).short_loop(&["B".to_owned()]);
        assert_eq!(words, None, "0.35 < 0.01 + 0.1 + 0.25 is the limit");
        assert_eq!(four_bar(0.3).short_loop(&["C".to_owned()]), None);
    }

    #[test]
    fn a_point_turns_with_its_body() {
        let body = crate::model::Body {
            position: [1.0, 2.0, 0.0],
            angle: std::f64::consts::FRAC_PI_2,
            ..Default::default()
        };
        let local = super::in_frame(&body, 2, [1.0, 5.0, 0.0]);
        assert!(
            (local[0] - 3.0).abs() < 1e-12 && local[1].abs() < 1e-12,
            "{local:?}"
        );
    }

    #[test]
    fn a_distance_joint_is_a_link() {
        let text = "format = 1\ndimension = 2\n[[body]]\nname = \"arm\"\nmass = 1\ninertia = 1\n\
                    [[joint]]\nname = \"pin\"\ntype = \"revolute\"\nbodies = [\"ground\", \"arm\"]\nat = [{ point = [0, 0] }, { point = [0, 0] }]\n\
                    [[joint]]\nname = \"rope\"\ntype = \"distance\"\nbodies = [\"ground\", \"arm\"]\npoints = [[3, 0], [1, 0]]\nlength = 0.5\n";
        let model = Model::from_text(text, "rope.toml").unwrap();
        let words = model.short_loop(&["rope".to_owned()]).unwrap();
        assert!(
            words.contains("is 3.0000 m, the others reach 1.5000 m, 1.5000 m short"),
            "{words}"
        );
    }
}
