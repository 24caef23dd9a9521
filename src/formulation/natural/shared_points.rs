//! Points and unit vectors, shared between the bodies whose joints make them one: a pin is one point of two bodies, a hinge of
//! space one point and one axis. What the ground shares does not move and is no coordinate.
//!
//! A joint whose points or axes cannot be made one (it would put two points of one body in one place) keeps its rows.

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

/// A point or direction as a body has it, seen from its centre of mass in its own axes.
#[derive(Clone, Copy, Debug)]
pub struct BodyItem {
    /// Whose.
    pub body: BodyRef,
    /// Which.
    pub sort: ItemKind,
    /// Where.
    pub at: [f64; 3],
}

/// What several bodies share.
#[derive(Clone, Debug)]
pub struct SharedItem {
    /// Point or vector.
    pub sort: ItemKind,
    /// What a user calls it.
    pub name: String,
    /// Where it stays, if the ground has it.
    pub fixed: Option<[f64; 3]>,
    /// The bodies that have it, each with the spot in its own axes.
    pub on: Vec<(usize, [f64; 3])>,
}

/// Part of the mechanism's size, and part of 1 for directions, within which spots of a body are the same.
const SAME: f64 = 1e-9;

/// Joins spots.
pub struct SharedItems {
    length: f64,
    spots: Vec<(BodyItem, String)>,
    known: HashMap<(BodyRef, ItemKind, [i64; 3]), usize>,
    /// The spot under which each is found, at the root itself.
    leader: Vec<usize>,
    /// Of each leader: all spots that are one with it.
    members: Vec<Vec<usize>>,
}

impl SharedItems {
    /// Nothing yet, in a mechanism of this size.
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
            ItemKind::Point => SAME * self.length,
            ItemKind::Vector => SAME,
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

    /// Makes two spots one, if no body would then have two of its spots in one place. True if they are one now.
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
        let meets = |&k: &usize| {
            let body = self.spots[k].0.body;
            (self.members[many].iter()).any(|&other| self.spots[other].0.body == body)
        };
        if self.members[few].iter().any(meets) {
            return false;
        }
        let moved = std::mem::take(&mut self.members[few]);
        self.members[many].extend(moved);
        self.leader[few] = many;
        true
    }

    /// What is shared, in the order in which it was met.
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
    fn pins_at_one_place_are_one_point_of_all_their_bodies() {
        let mut sharing = SharedItems::new(1.0);
        assert!(sharing.share([point(Some(0), 0.5), point(Some(1), -0.5)], "left"));
        assert!(sharing.share([point(Some(1), -0.5 + 1e-13), point(Some(2), 0.1)], "right"));
        // The third side of the triangle says nothing new.
        assert!(sharing.share([point(Some(0), 0.5), point(Some(2), 0.1)], "again"));
        let items = sharing.items();
        assert_eq!(items.len(), 1);
        assert_eq!((items[0].on.len(), items[0].name.as_str()), (3, "left"));
        assert_eq!(items[0].fixed, None);
    }

    #[test]
    fn two_points_of_a_body_never_become_one() {
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
