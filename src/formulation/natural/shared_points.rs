//! Points and unit vectors shared between the bodies of a joint: a planar revolute joint shares one point of two bodies, a spatial one a
//! point and an axis. An item shared with the ground is fixed and no coordinate.
//!
//! A joint whose points or axes cannot be shared (two points of one body would coincide) keeps its constraints.

use std::collections::HashMap;

use crate::model::BodyRef;

/// A point or a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ItemKind {
    /// A point of a body (m).
    Point,
    /// A unit vector fixed in a body.
    Vector,
}

/// A point or direction of a body, in body axes relative to the centre of mass.
#[derive(Clone, Copy, Debug)]
pub struct BodyItem {
    /// The body.
    pub body: BodyRef,
    /// Point or vector.
    pub sort: ItemKind,
    /// Position or direction.
    pub at: [f64; 3],
}

/// An item shared by several bodies.
#[derive(Clone, Debug)]
pub struct SharedItem {
    /// Point or vector.
    pub sort: ItemKind,
    /// Name of the joint.
    pub name: String,
    /// Its fixed position or direction, if shared with the ground.
    pub fixed: Option<[f64; 3]>,
    /// Its bodies, each with its position in body axes.
    pub on: Vec<(usize, [f64; 3])>,
}

/// Distance below which two items of a body are the same: relative to the characteristic length for points, absolute for directions.
const SAME_ITEM: f64 = 1e-9;

/// Merges items of bodies into shared items (union-find).
pub struct SharedItems {
    length: f64,
    spots: Vec<(BodyItem, String)>,
    known: HashMap<(BodyRef, ItemKind, [i64; 3]), usize>,
    /// Parent of each item in the union-find forest; a leader is its own parent.
    leader: Vec<usize>,
    /// All items merged with each leader.
    members: Vec<Vec<usize>>,
}

impl SharedItems {
    /// Starts without items; `length` is the characteristic length.
    pub fn new(length: f64) -> Self {
        Self {
            length,
            spots: vec![],
            known: HashMap::new(),
            leader: vec![],
            members: vec![],
        }
    }

    fn find(&mut self, spot: BodyItem, name: &str) -> usize {
        let grid = match spot.sort {
            ItemKind::Point => SAME_ITEM * self.length,
            ItemKind::Vector => SAME_ITEM,
        };
        let key = spot.at.map(|x| (x / grid).round() as i64);
        *(self.known.entry((spot.body, spot.sort, key))).or_insert_with(|| {
            let k = self.spots.len();
            self.spots.push((spot, name.to_owned()));
            self.leader.push(k);
            self.members.push(vec![k]);
            k
        })
    }

    fn leader(&self, mut k: usize) -> usize {
        while self.leader[k] != k {
            k = self.leader[k];
        }
        k
    }

    /// Merges two items unless two different items of one body would coincide. Returns whether they are merged.
    pub fn share(&mut self, spots: [BodyItem; 2], name: &str) -> bool {
        let [a, b] = spots.map(|spot| self.find(spot, name));
        let (a, b) = (self.leader(a), self.leader(b));
        if a == b {
            return true;
        }
        let (few, many) = if self.members[a].len() < self.members[b].len() {
            (a, b)
        } else {
            (b, a)
        };
        let same_body = |&k: &usize| {
            let body = self.spots[k].0.body;
            (self.members[many].iter()).any(|&other| self.spots[other].0.body == body)
        };
        if self.members[few].iter().any(same_body) {
            return false;
        }
        let moved = std::mem::take(&mut self.members[few]);
        self.members[many].extend(moved);
        self.leader[few] = many;
        true
    }

    /// Returns the shared items in the order in which they were found.
    pub fn items(self) -> Vec<SharedItem> {
        let mut items = Vec::new();
        for mut members in self.members {
            if members.len() < 2 {
                continue;
            }
            members.sort_unstable();
            let (first, name) = &self.spots[members[0]];
            let mut item = SharedItem {
                sort: first.sort,
                name: name.clone(),
                fixed: None,
                on: Vec::with_capacity(members.len()),
            };
            for k in members {
                let spot = &self.spots[k].0;
                match spot.body {
                    Some(b) => item.on.push((b, spot.at)),
                    None => item.fixed = Some(spot.at),
                }
            }
            items.push(item);
        }
        items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(body: Option<usize>, x: f64) -> BodyItem {
        BodyItem {
            body,
            sort: ItemKind::Point,
            at: [x, 0.0, 0.0],
        }
    }

    #[test]
    fn coincident_joints_share_one_point_of_all_their_bodies() {
        let mut sharing = SharedItems::new(1.0);
        assert!(sharing.share([point(Some(0), 0.5), point(Some(1), -0.5)], "left"));
        assert!(sharing.share([point(Some(1), -0.5 + 1e-13), point(Some(2), 0.1)], "right"));
        // The third side of the triangle adds nothing.
        assert!(sharing.share([point(Some(0), 0.5), point(Some(2), 0.1)], "again"));
        let items = sharing.items();
        assert_eq!(items.len(), 1);
        assert_eq!((items[0].on.len(), items[0].name.as_str()), (3, "left"));
        assert_eq!(items[0].fixed, None);
    }

    #[test]
    fn two_points_of_one_body_are_never_merged() {
        let mut sharing = SharedItems::new(1.0);
        assert!(sharing.share([point(Some(0), 0.5), point(Some(1), -0.5)], "a"));
        assert!(!sharing.share([point(Some(0), 0.7), point(Some(1), -0.5)], "b"));
        assert!(sharing.share([point(None, 3.0), point(Some(1), -0.5)], "c"));
        assert!(!sharing.share([point(None, 4.0), point(Some(0), 0.5)], "d"));
        let items = sharing.items();
        assert_eq!(items.len(), 1);
        assert_eq!(items[0].fixed, Some([3.0, 0.0, 0.0]));
    }
}
