//! Layout of natural coordinates: the points and vectors, the basis of each body, and the rigidity constraints.

use std::collections::HashSet;

use super::body_map::{BodyBasis, BodyMap, MapEntry, height};
use super::rigidity::{
    Collinearity, NaturalDirection, NaturalPoint, RigidityConstraints, RigidityEquation,
    ScalarProduct,
};
use super::shared_points::{BodyItem, ItemKind, SharedItem, SharedItems};
use crate::formulation::absolute::Absolute;
use crate::formulation::absolute::constraint::ConstraintPart;
use crate::formulation::absolute::geometry::CoincidentPoints as _;
use crate::linalg::elementary::powf;

/// Distance, relative to the characteristic length, below which two points are too close to define a direction.
const MIN_DISTANCE: f64 = 1e-3;

/// A body as a linear function of the coordinates.
#[derive(Clone, Debug)]
pub struct NaturalBody {
    /// Indices of its coordinates.
    pub own: Vec<u32>,
    /// L over them.
    pub entries: Vec<MapEntry>,
    /// y₀: the contribution of fixed items.
    pub constant: Vec<f64>,
}

/// An item among the coordinates, with one of its bodies and the position there.
#[derive(Clone, Debug)]
pub struct PlacedItem {
    pub first: usize,
    pub body: usize,
    pub sort: ItemKind,
    pub spot: [f64; 3],
}

/// The layout of a mechanism.
#[derive(Debug)]
pub struct NaturalLayout {
    pub bodies: Vec<NaturalBody>,
    pub items: Vec<PlacedItem>,
    pub rigid: Vec<RigidityConstraints>,
    /// Whether each part of the constraints is satisfied because items are shared.
    pub shared: Vec<bool>,
    /// Names of the coordinates, and whether they belong to a vector.
    pub names: Vec<String>,
    pub vectors: Vec<bool>,
}

/// Shares the points and axes of the joints. Also returns which parts of the constraints are then satisfied.
fn share<W: BodyMap<N>, const N: usize>(inner: &Absolute<W, N>) -> (SharedItems, Vec<bool>) {
    let mut sharing = SharedItems::new(inner.length);
    let mut shared = vec![false; inner.constraints.len()];
    for joint in &inner.joints {
        let mut k = joint.constraints.start;
        while k < joint.constraints.end {
            let owned = &inner.constraints[k];
            if let ConstraintPart::Coincidence(meet) = &owned.part {
                let bodies = meet.bodies();
                let points = meet.points().map(|p| W::local(&p));
                let spots = [0, 1].map(|i| BodyItem {
                    body: bodies[i],
                    sort: ItemKind::Point,
                    at: points[i],
                });
                shared[k] = sharing.share(spots, &owned.name);
            } else if k + 1 < joint.constraints.end
                && let Some(spots) = W::axis([&owned.part, &inner.constraints[k + 1].part])
            {
                let one = sharing.share(spots, &owned.name);
                shared[k..k + 2].fill(one);
                k += 1;
            }
            k += 1;
        }
    }
    (sharing, shared)
}

/// Assigns coordinates to items.
struct LayoutBuilder {
    dimension: usize,
    place: Vec<NaturalPoint>,
    items: Vec<SharedItem>,
    layout: NaturalLayout,
}

impl LayoutBuilder {
    fn add(&mut self, item: SharedItem) -> usize {
        let place = match item.fixed {
            Some(at) => NaturalPoint::Fixed(at),
            None => {
                let first = self.layout.names.len();
                let fields = &["x", "y", "z"][..self.dimension];
                for field in fields {
                    let name = match item.sort {
                        ItemKind::Point => format!("{}.{field}", item.name),
                        ItemKind::Vector => format!("{}.axis.{field}", item.name),
                    };
                    self.layout.names.push(name);
                    self.layout.vectors.push(item.sort == ItemKind::Vector);
                }
                let (body, spot) = item.on[0];
                self.layout.items.push(PlacedItem {
                    first,
                    body,
                    sort: item.sort,
                    spot,
                });
                NaturalPoint::At(first as u32)
            }
        };
        self.place.push(place);
        self.items.push(item);
        self.items.len() - 1
    }
}

/// The basis of a body: items by index, with their positions in the body.
type Basis = Vec<(usize, ItemKind, [f64; 3])>;

/// Returns the layout for a mechanism given in absolute coordinates.
pub fn layout<W: BodyMap<N>, const N: usize>(inner: &Absolute<W, N>) -> NaturalLayout {
    let (sharing, shared) = share(inner);
    let count = inner.bodies.len();
    let mut places = LayoutBuilder {
        dimension: W::DIMENSION,
        place: vec![],
        items: vec![],
        layout: NaturalLayout {
            bodies: Vec::with_capacity(count),
            items: vec![],
            rigid: vec![],
            shared,
            names: vec![],
            vectors: vec![],
        },
    };
    let mut had: Vec<Vec<(usize, ItemKind, [f64; 3])>> = vec![Vec::new(); count];
    for item in sharing.items() {
        let (on, sort) = (item.on.clone(), item.sort);
        let k = places.add(item);
        for (b, at) in on {
            had[b].push((k, sort, at));
        }
    }
    let mut known = HashSet::new();
    for (b, had) in had.iter().enumerate() {
        let basis = basis::<W, N>(&mut places, b, &inner.bodies[b].name, had, inner.length);
        let body = assemble::<W, N>(&places, &basis);
        keep_basis(&mut places, b, &basis, &mut known);
        for &(item, sort, at) in had {
            if !basis.iter().any(|(k, ..)| *k == item) {
                keep_item::<W, N>(&mut places, b, &basis, (item, sort, at));
            }
        }
        places.layout.bodies.push(body);
    }
    places.layout
}

fn basis<W: BodyMap<N>, const N: usize>(
    places: &mut LayoutBuilder,
    b: usize,
    name: &str,
    had: &[(usize, ItemKind, [f64; 3])],
    length: f64,
) -> Basis {
    let spots: Vec<(ItemKind, [f64; 3])> = had.iter().map(|(_, sort, at)| (*sort, *at)).collect();
    let mut chosen = W::choose(&spots, MIN_DISTANCE * length);
    let fixed =
        |c: &BodyBasis| matches!(c, BodyBasis::Had(k) if places.items[had[*k].0].fixed.is_some());
    if chosen.iter().all(fixed) {
        // All items fixed: the body gets coordinates of its own, so that its constraints have unknowns.
        chosen = W::choose(&[], MIN_DISTANCE * length);
    }
    let mut own = 0;
    (chosen.into_iter())
        .map(|c| match c {
            BodyBasis::Had(k) => had[k],
            BodyBasis::Own(sort, at) => {
                own += 1;
                let name = match sort {
                    ItemKind::Point => name.to_owned(),
                    ItemKind::Vector => format!("{name}.{own}"),
                };
                let item = SharedItem {
                    sort,
                    name,
                    fixed: None,
                    on: vec![(b, at)],
                };
                (places.add(item), sort, at)
            }
        })
        .collect()
}

/// Returns L of a basis over the components of its items.
fn frame<W: BodyMap<N>, const N: usize>(basis: &Basis) -> Vec<MapEntry> {
    let chosen: Vec<(ItemKind, [f64; 3])> =
        basis.iter().map(|(_, sort, at)| (*sort, *at)).collect();
    W::frame(&chosen)
}

fn assemble<W: BodyMap<N>, const N: usize>(places: &LayoutBuilder, basis: &Basis) -> NaturalBody {
    let dimension = W::DIMENSION;
    let mut body = NaturalBody {
        own: vec![],
        entries: vec![],
        constant: vec![0.0; height::<W, N>()],
    };
    // Index of the first coordinate of each item of the basis.
    let firsts: Vec<Option<usize>> = (basis.iter())
        .map(|(k, ..)| match places.place[*k] {
            NaturalPoint::At(first) => {
                let at = body.own.len();
                body.own.extend(first..first + dimension as u32);
                Some(at)
            }
            NaturalPoint::Fixed(_) => None,
        })
        .collect();
    for (m, column, value) in frame::<W, N>(basis) {
        let (k, c) = (column as usize / dimension, column as usize % dimension);
        match (firsts[k], places.place[basis[k].0]) {
            (Some(first), _) => body.entries.push((m, (first + c) as u8, value)),
            (None, NaturalPoint::Fixed(at)) => body.constant[m as usize] += value * at[c],
            (None, NaturalPoint::At(_)) => {}
        }
    }
    body
}

/// Adds the constraints of constant lengths and angles of the basis, each once.
fn keep_basis(
    places: &mut LayoutBuilder,
    b: usize,
    basis: &Basis,
    known: &mut HashSet<[(usize, Option<usize>); 2]>,
) {
    let origin = basis[0];
    let direction = |(item, sort, at): (usize, ItemKind, [f64; 3])| {
        let is_point = sort == ItemKind::Point;
        let place = NaturalDirection {
            to: places.place[item],
            from: is_point.then(|| places.place[origin.0]),
        };
        let d: [f64; 3] = std::array::from_fn(|c| at[c] - if is_point { origin.2[c] } else { 0.0 });
        let mut key = (item, is_point.then_some(origin.0));
        if let (item, Some(from)) = key {
            key = (item.max(from), Some(item.min(from)));
        }
        (place, d, key, is_point)
    };
    let directions: Vec<_> = basis[1..].iter().map(|item| direction(*item)).collect();
    let mut rows = Vec::new();
    for (i, (place_i, d_i, key_i, length_i)) in directions.iter().enumerate() {
        for (place_j, d_j, key_j, length_j) in &directions[..=i] {
            if place_i.is_fixed() && place_j.is_fixed() {
                continue;
            }
            let mut key = [*key_i, *key_j];
            key.sort_unstable();
            if !known.insert(key) {
                continue;
            }
            let dot = |x: &[f64; 3], y: &[f64; 3]| x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
            let mut factor = if key_i == key_j { 0.5 } else { 1.0 };
            if *length_i && *length_j {
                factor /= powf(dot(d_i, d_i) * dot(d_j, d_j), 0.25);
            }
            rows.push(RigidityConstraints {
                row: RigidityEquation::Product(ScalarProduct {
                    directions: [*place_i, *place_j],
                    value: dot(d_i, d_j),
                    factor,
                }),
                body: b,
                is_length: *length_i || *length_j,
            });
        }
    }
    places.layout.rigid.extend(rows);
}

/// Adds the constraints of an item outside the basis.
fn keep_item<W: BodyMap<N>, const N: usize>(
    places: &mut LayoutBuilder,
    b: usize,
    basis: &Basis,
    (item, sort, at): (usize, ItemKind, [f64; 3]),
) {
    let dimension = W::DIMENSION;
    let l = frame::<W, N>(basis);
    for c in 0..dimension {
        let mut line = Collinearity {
            terms: vec![],
            value: 0.0,
        };
        let mut add = |place: NaturalPoint, c: usize, factor: f64| match place {
            NaturalPoint::At(first) => line.terms.push((first + c as u32, factor)),
            NaturalPoint::Fixed(at) => line.value -= factor * at[c],
        };
        add(places.place[item], c, 1.0);
        // The item over y, and y over the items of the basis.
        let mut over = vec![0.0; dimension * basis.len()];
        for (row, m, factor) in W::on_y(sort, at) {
            if row as usize == c {
                for (_, column, value) in l.iter().filter(|(row, ..)| *row == m) {
                    over[*column as usize] += factor * value;
                }
            }
        }
        for (column, factor) in over.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            let (k, c) = (column / dimension, column % dimension);
            add(places.place[basis[k].0], c, -factor);
        }
        if !line.terms.is_empty() {
            places.layout.rigid.push(RigidityConstraints {
                row: RigidityEquation::Line(line),
                body: b,
                is_length: sort == ItemKind::Point,
            });
        }
    }
}
