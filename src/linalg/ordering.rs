//! The order in which a sparse saddle-point matrix is eliminated.
//!
//! ```text
//!   [ S   Gᵀ ]     bodies:       pivots of S, positive
//!   [ G  −E  ]     constraints:  pivots of −(G S⁻¹ Gᵀ + E), negative
//! ```
//!
//! A constraint must not come before the coordinates it acts on, or its pivot is the tiny −E. Two orders that respect
//! this are tried and the cheaper is kept: minimum degree on the whole matrix with constraints held back until their
//! coordinates are gone; and all coordinates first, then minimum degree on what couples the constraints. A hub, a body
//! with very many constraints, is an exception: eliminated early it would couple all of them, so they do not wait for it.

use super::sparse_ldl::factorization_cost;

/// Rows on a body beyond which it is a hub. The first is kept unless it is costly and the second (which makes hubs of
/// bodies with more than four spherical joints) much cheaper: pivots of constraints that do not wait for all their bodies
/// say nothing about singular positions.
const HUBS: [usize; 2] = [40, 12];
const MUCH_CHEAPER: f64 = 0.7;
/// Operations of a factorisation that are worth it: a fraction of a millisecond.
const COSTLY: f64 = 1e6;

/// Neighbours of each of `n` unknowns, itself left out: `neighbour[start[i]..start[i + 1]]`.
#[derive(Clone, Debug, Default)]
pub struct AdjacencyGraph {
    start: Vec<usize>,
    neighbour: Vec<u32>,
}

impl AdjacencyGraph {
    /// From couplings given once or more, in either direction.
    pub fn new(n: usize, couplings: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut start = vec![0; n + 1];
        for (i, j) in couplings.clone().filter(|(i, j)| i != j) {
            start[i as usize + 1] += 1;
            start[j as usize + 1] += 1;
        }
        for i in 0..n {
            start[i + 1] += start[i];
        }
        let mut next = start.clone();
        let mut raw = vec![0; start[n]];
        for (i, j) in couplings.filter(|(i, j)| i != j) {
            for (a, b) in [(i, j), (j, i)] {
                raw[next[a as usize]] = b;
                next[a as usize] += 1;
            }
        }
        let mut graph = Self {
            start: Vec::with_capacity(n + 1),
            neighbour: Vec::with_capacity(raw.len()),
        };
        graph.start.push(0);
        for i in 0..n {
            let list = &mut raw[start[i]..start[i + 1]];
            list.sort_unstable();
            for k in 0..list.len() {
                if k == 0 || list[k] != list[k - 1] {
                    graph.neighbour.push(list[k]);
                }
            }
            graph.start.push(graph.neighbour.len());
        }
        graph
    }

    /// Number of unknowns.
    pub fn len(&self) -> usize {
        self.start.len() - 1
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Neighbours of one unknown, rising.
    pub fn neighbours(&self, i: usize) -> &[u32] {
        &self.neighbour[self.start[i]..self.start[i + 1]]
    }

    /// Couplings, each twice.
    pub fn couplings(&self) -> usize {
        self.neighbour.len()
    }

    /// Approximate minimum degree.
    pub fn minimum_degree(&self) -> Vec<u32> {
        let n = self.len();
        if self.neighbour.is_empty() {
            return (0..n as u32).collect();
        }
        // The crate counts on an entry on every diagonal.
        let start: Vec<isize> = self
            .start
            .iter()
            .zip(0..)
            .map(|(&s, i)| s as isize + i)
            .collect();
        let mut row = Vec::with_capacity(self.neighbour.len() + n);
        for i in 0..n {
            let list = self.neighbours(i);
            let (before, after) = list.split_at(list.partition_point(|&j| (j as usize) < i));
            row.extend(before.iter().map(|&j| j as isize));
            row.push(i as isize);
            row.extend(after.iter().map(|&j| j as isize));
        }
        match amd::order(n as isize, &start, &row, &amd::Control::default()) {
            Ok((order, _, _)) => order.into_iter().map(|i| i as u32).collect(),
            // Only an invalid graph is refused, and the lists above are sorted and in range.
            Err(_) => (0..n as u32).collect(),
        }
    }
}

/// The elimination order (position to unknown) of a saddle-point matrix whose first `nv` unknowns are coordinates.
/// `light` marks coordinates that have no entry of their own on the diagonal: they wait for their constraints.
pub fn saddle_point_order(graph: &AdjacencyGraph, nv: usize, light: &[bool]) -> Vec<u32> {
    let bodies = Bodies::new(graph, nv);
    let degree = graph.minimum_degree();
    let mut best: Option<(f64, Vec<u32>)> = None;
    let mut tried: Option<Vec<bool>> = None;
    for limit in HUBS {
        let hub = bodies.hubs(graph, nv, limit);
        let cheap = matches!(&best, Some((cost, _)) if *cost < COSTLY);
        if cheap || tried.as_ref() == Some(&hub) {
            continue;
        }
        let waits = DeferredUnknowns::new(graph, nv, light, &bodies, &hub);
        let whole = waits.hold_back(&degree);
        let mut found = (factorization_cost(graph, &whole), whole);
        if let Some(order) = coordinates_first(graph, nv, light, &hub) {
            let order = waits.hold_back(&order);
            let cost = factorization_cost(graph, &order);
            if cost < found.0 {
                found = (cost, order);
            }
        }
        match &best {
            Some(before) if found.0 > MUCH_CHEAPER * before.0 => {}
            _ => best = Some(found),
        }
        tried = Some(hub);
    }
    best.map(|(_, order)| order).unwrap_or_default()
}

/// Plain minimum degree for comparison.
pub fn plain(graph: &AdjacencyGraph) -> Vec<u32> {
    graph.minimum_degree()
}

/// Who has to wait for whom.
struct DeferredUnknowns {
    /// For each unknown the number it waits for and those that wait for it.
    before: Vec<u32>,
    after: Vec<Vec<u32>>,
}

impl DeferredUnknowns {
    fn new(
        graph: &AdjacencyGraph,
        nv: usize,
        light: &[bool],
        bodies: &Bodies,
        hub: &[bool],
    ) -> Self {
        let n = graph.len();
        let mut waits = Self {
            before: vec![0; n],
            after: vec![Vec::new(); n],
        };
        for k in nv..n {
            let heavy = |j: &&u32| (**j as usize) < nv && !light[**j as usize];
            let plain = |j: &&u32| heavy(j) && !hub[**j as usize];
            let mut awaited: Vec<u32> = graph.neighbours(k).iter().filter(plain).copied().collect();
            if awaited.is_empty() {
                awaited = graph.neighbours(k).iter().filter(heavy).copied().collect();
            }
            // With a coordinate its whole body: then the pivots of the constraints are those of G S⁻¹ Gᵀ.
            for at in 0..awaited.len() {
                let body = bodies.of(awaited[at] as usize);
                awaited.extend(body.iter().filter(plain));
            }
            awaited.sort_unstable();
            awaited.dedup();
            for j in awaited {
                waits.before[k] += 1;
                waits.after[j as usize].push(k as u32);
            }
        }
        for i in (0..nv).filter(|&i| light[i]) {
            for &k in graph.neighbours(i).iter().filter(|&&k| k as usize >= nv) {
                waits.before[i] += 1;
                waits.after[k as usize].push(i as u32);
            }
        }
        waits
    }

    /// The same order, with everybody moved back until all he waits for are placed.
    fn hold_back(&self, order: &[u32]) -> Vec<u32> {
        let mut before = self.before.clone();
        let mut asked = vec![false; order.len()];
        let mut placed = Vec::with_capacity(order.len());
        let mut ready = Vec::new();
        for &i in order {
            asked[i as usize] = true;
            if before[i as usize] == 0 {
                ready.push(i);
            }
            while let Some(i) = ready.pop() {
                placed.push(i);
                for &k in &self.after[i as usize] {
                    before[k as usize] -= 1;
                    if before[k as usize] == 0 && asked[k as usize] {
                        ready.push(k);
                    }
                }
            }
        }
        placed
    }
}

/// Coordinates that S couples with each other, as long as they are few enough for one body.
struct Bodies {
    body: Vec<u32>,
    members: Vec<Vec<u32>>,
}

impl Bodies {
    /// Two rigid bodies, or a body with a few flexible coordinates.
    const LARGEST: usize = 12;

    fn new(graph: &AdjacencyGraph, nv: usize) -> Self {
        const NONE: u32 = u32::MAX;
        let mut bodies = Self {
            body: vec![NONE; nv],
            members: Vec::new(),
        };
        for root in 0..nv {
            if bodies.body[root] != NONE {
                continue;
            }
            let name = bodies.members.len() as u32;
            bodies.body[root] = name;
            let mut members = vec![root as u32];
            let mut at = 0;
            while at < members.len() {
                for &j in graph.neighbours(members[at] as usize) {
                    if (j as usize) < nv && bodies.body[j as usize] == NONE {
                        bodies.body[j as usize] = name;
                        members.push(j);
                    }
                }
                at += 1;
            }
            if members.len() > Self::LARGEST {
                members.clear();
            }
            bodies.members.push(members);
        }
        bodies
    }

    /// Which coordinates belong to bodies with more than `limit` rows.
    fn hubs(&self, graph: &AdjacencyGraph, nv: usize, limit: usize) -> Vec<bool> {
        let mut hub = vec![false; nv];
        let mut rows: Vec<u32> = Vec::new();
        for i in 0..nv {
            let own = [i as u32];
            let body = match self.of(i) {
                [] => &own[..],
                members if members[0] == i as u32 => members,
                _ => continue, // done with the first member
            };
            rows.clear();
            for &j in body {
                rows.extend(
                    graph
                        .neighbours(j as usize)
                        .iter()
                        .filter(|&&k| k as usize >= nv),
                );
            }
            rows.sort_unstable();
            rows.dedup();
            for &j in body {
                hub[j as usize] = rows.len() > limit;
            }
        }
        hub
    }

    /// The whole body of a coordinate; nothing if S couples too many.
    fn of(&self, i: usize) -> &[u32] {
        &self.members[self.body[i] as usize]
    }
}

/// All coordinates but hubs and light ones, then the rest by minimum degree of what is left after their elimination.
/// `None` if that would couple too much.
fn coordinates_first(
    graph: &AdjacencyGraph,
    nv: usize,
    light: &[bool],
    hub: &[bool],
) -> Option<Vec<u32>> {
    let n = graph.len();
    let first = |i: usize| i < nv && !light[i] && !hub[i];
    let inner: Vec<u32> = (0..nv as u32).filter(|&i| first(i as usize)).collect();
    let rest: Vec<u32> = (0..n as u32).filter(|&i| !first(i as usize)).collect();
    let mut local = vec![0u32; n];
    for list in [&inner, &rest] {
        for (k, &i) in list.iter().enumerate() {
            local[i as usize] = k as u32;
        }
    }
    // Connected coordinates (a body, or bodies joined by springs) leave all their neighbours coupled with each other.
    let mut couplings: Vec<(u32, u32)> = Vec::new();
    let allowed = 40 * (graph.couplings() + n);
    let mut seen = vec![false; n];
    let mut marked = vec![u32::MAX; n];
    for &root in &inner {
        if seen[root as usize] {
            continue;
        }
        seen[root as usize] = true;
        let mut members = vec![root];
        let mut around = Vec::new();
        while let Some(i) = members.pop() {
            for &j in graph.neighbours(i as usize) {
                if first(j as usize) {
                    if !seen[j as usize] {
                        seen[j as usize] = true;
                        members.push(j);
                    }
                } else if marked[j as usize] != root {
                    marked[j as usize] = root;
                    around.push(local[j as usize]);
                }
            }
        }
        if couplings.len() + around.len() * around.len() / 2 > allowed {
            return None;
        }
        for (k, &a) in around.iter().enumerate() {
            couplings.extend(around[..k].iter().map(|&b| (a, b)));
        }
    }
    for &i in &rest {
        let outside = graph
            .neighbours(i as usize)
            .iter()
            .filter(|&&j| !first(j as usize));
        couplings.extend(outside.map(|&j| (local[i as usize], local[j as usize])));
    }
    let inside = inner.iter().flat_map(|&i| {
        let local = &local;
        graph
            .neighbours(i as usize)
            .iter()
            .filter(move |&&j| first(j as usize))
            .map(move |&j| (local[i as usize], local[j as usize]))
    });
    let head = AdjacencyGraph::new(inner.len(), inside).minimum_degree();
    let tail = AdjacencyGraph::new(rest.len(), couplings.iter().copied()).minimum_degree();
    let mut order: Vec<u32> = head.into_iter().map(|k| inner[k as usize]).collect();
    order.extend(tail.into_iter().map(|k| rest[k as usize]));
    Some(order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::sparse_ldl::factor_fill;

    /// Bodies of three coordinates with rows between them, two for each pair of bodies.
    fn pinned(bodies: usize, pins: &[(usize, usize)]) -> (AdjacencyGraph, usize) {
        let nv = 3 * bodies;
        let mut couplings = Vec::new();
        for b in 0..bodies as u32 {
            couplings.extend([
                (3 * b, 3 * b + 1),
                (3 * b, 3 * b + 2),
                (3 * b + 1, 3 * b + 2),
            ]);
        }
        for (p, &(a, b)) in pins.iter().enumerate() {
            for axis in 0..2 {
                let row = (nv + 2 * p + axis) as u32;
                for body in [a, b] {
                    couplings.push((row, (3 * body + axis) as u32));
                    couplings.push((row, (3 * body + 2) as u32));
                }
            }
        }
        (
            AdjacencyGraph::new(nv + 2 * pins.len(), couplings.into_iter()),
            nv,
        )
    }

    fn positions(order: &[u32]) -> Vec<usize> {
        let mut at = vec![usize::MAX; order.len()];
        for (k, &i) in order.iter().enumerate() {
            assert_eq!(at[i as usize], usize::MAX, "{i} is eliminated twice");
            at[i as usize] = k;
        }
        at
    }

    #[test]
    fn constraints_of_a_chain_come_after_their_bodies() {
        let pins: Vec<_> = (1..50).map(|b| (b - 1, b)).collect();
        let (graph, nv) = pinned(50, &pins);
        let order = saddle_point_order(&graph, nv, &vec![false; nv]);
        assert_eq!(order.len(), graph.len());
        let at = positions(&order);
        for k in nv..graph.len() {
            for &j in graph.neighbours(k) {
                assert!(at[j as usize] < at[k], "row {k} before coordinate {j}");
            }
        }
        // Linear: a few entries for each unknown.
        assert!(factor_fill(&graph, &order) < 5 * graph.len());
    }

    #[test]
    fn a_star_does_not_couple_all_its_arms() {
        let pins: Vec<_> = (1..1001).map(|b| (0, b)).collect();
        let (graph, nv) = pinned(1001, &pins);
        let order = saddle_point_order(&graph, nv, &vec![false; nv]);
        let at = positions(&order);
        assert!(factor_fill(&graph, &order) < 5 * graph.len());
        // Each row still has the body of its arm before it.
        for k in nv..graph.len() {
            for &j in graph.neighbours(k).iter().filter(|&&j| j >= 3) {
                assert!(at[j as usize] < at[k]);
            }
        }
    }

    #[test]
    fn a_row_between_hubs_waits_for_them() {
        let mut pins: Vec<_> = (2..102).map(|b| (b % 2, b)).collect();
        pins.push((0, 1));
        let (graph, nv) = pinned(102, &pins);
        let at = positions(&saddle_point_order(&graph, nv, &vec![false; nv]));
        for k in [nv + 200, nv + 201] {
            assert!(graph.neighbours(k).iter().all(|&j| at[j as usize] < at[k]));
        }
    }

    #[test]
    fn coordinates_without_a_diagonal_wait_for_their_constraints() {
        let (graph, nv) = pinned(3, &[(0, 1), (1, 2)]);
        let mut light = vec![false; nv];
        light[3..6].fill(true);
        let at = positions(&saddle_point_order(&graph, nv, &light));
        for j in 3..6 {
            for &k in graph.neighbours(j).iter().filter(|&&k| k as usize >= nv) {
                assert!(at[k as usize] < at[j]);
            }
        }
    }

    #[test]
    fn nothing_and_a_single_unknown_have_an_order() {
        assert!(saddle_point_order(&AdjacencyGraph::new(0, [].into_iter()), 0, &[]).is_empty());
        assert_eq!(
            saddle_point_order(&AdjacencyGraph::new(1, [].into_iter()), 1, &[false]),
            [0]
        );
    }
}
