//! Elimination order of a sparse saddle-point matrix.
//!
//! ```text
//!   [ S   Gᵀ ]     coordinates:  pivots of S, positive
//!   [ G  −E  ]     constraints:  pivots of −(G S⁻¹ Gᵀ + E), negative
//! ```
//!
//! A constraint must not precede the coordinates it acts on, or its pivot is the tiny −E. Two such orders are computed and the
//! cheaper one is used: minimum degree on the complete matrix with constraints deferred until their coordinates are eliminated;
//! and all coordinates first, then minimum degree on the Schur complement of the constraints. A hub, a body with very many
//! constraints, is an exception: eliminated early it would couple all of them, so they may precede it.

use super::symbolic_ldl::factorization_cost;

/// Number of constraints on a body above which it is a hub. The first value is used unless its order is costly and the second
/// (hubs are bodies with more than four spherical joints) is much cheaper: pivots of constraints that precede one of their bodies
/// do not indicate singular positions.
const HUB_LIMITS: [usize; 2] = [40, 12];
/// Ratio of costs below which an order is much cheaper.
const MUCH_CHEAPER: f64 = 0.7;
/// Multiplications above which a factorisation is costly: a fraction of a millisecond.
const COSTLY: f64 = 1e6;
/// Largest number of couplings in the Schur complement, over the size of the graph.
const MAX_SCHUR_GROWTH: usize = 40;

/// Neighbours of each unknown, without itself: `neighbour[start[i]..start[i + 1]]`.
#[derive(Clone, Debug, Default)]
pub struct AdjacencyGraph {
    start: Vec<usize>,
    neighbour: Vec<u32>,
}

impl AdjacencyGraph {
    /// From couplings in either direction, possibly repeated.
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

    /// Whether there are no unknowns.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Neighbours of an unknown, ascending.
    pub fn neighbours(&self, i: usize) -> &[u32] {
        &self.neighbour[self.start[i]..self.start[i + 1]]
    }

    /// Number of couplings, each counted in both directions.
    pub fn couplings(&self) -> usize {
        self.neighbour.len()
    }

    /// Approximate minimum degree order (position to unknown).
    pub fn minimum_degree(&self) -> Vec<u32> {
        let n = self.len();
        if self.neighbour.is_empty() {
            return (0..n as u32).collect();
        }
        // The crate expects every diagonal entry.
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
            // Only an invalid graph is an error, and the lists above are sorted and in range.
            Err(_) => (0..n as u32).collect(),
        }
    }
}

/// Elimination order (position to unknown) of a saddle-point matrix whose first `nv` unknowns are coordinates. Coordinates without
/// a diagonal entry are `massless`: they follow their constraints.
///
/// Constraints that are `switched` (none if empty) are active now and then, few of them at a time: the order is made for the others,
/// and each of them follows its coordinates at once, so that it couples little while it is active and nothing while it is not.
pub fn saddle_point_order(
    graph: &AdjacencyGraph,
    nv: usize,
    massless: &[bool],
    switched: &[bool],
) -> Vec<u32> {
    if !switched.contains(&true) {
        return order_of_all(graph, nv, massless);
    }
    let is_switched = |i: u32| i as usize >= nv && switched[i as usize - nv];
    let couplings = (0..graph.len() as u32).flat_map(|i| {
        let neighbours = graph.neighbours(i as usize).iter();
        neighbours.map(move |&j| (i, j))
    });
    let others = couplings.filter(|&(i, j)| !is_switched(i) && !is_switched(j));
    let base = order_of_all(&AdjacencyGraph::new(graph.len(), others), nv, massless);
    let (first, rest): (Vec<u32>, Vec<u32>) = base.into_iter().partition(|&i| is_switched(i));
    let bodies = CoupledBlocks::new(graph, nv);
    let rows = |k: usize| is_switched(k as u32);
    Precedence::of_rows(graph, nv, massless, &bodies, &vec![false; nv], rows)
        .defer(&[first, rest].concat())
}

fn order_of_all(graph: &AdjacencyGraph, nv: usize, massless: &[bool]) -> Vec<u32> {
    let bodies = CoupledBlocks::new(graph, nv);
    let degree = graph.minimum_degree();
    let mut best: Option<(f64, Vec<u32>)> = None;
    let mut tried: Option<Vec<bool>> = None;
    for limit in HUB_LIMITS {
        let hub = bodies.hubs(graph, nv, limit);
        let cheap = matches!(&best, Some((cost, _)) if *cost < COSTLY);
        if cheap || tried.as_ref() == Some(&hub) {
            continue;
        }
        let precedence = Precedence::of_rows(graph, nv, massless, &bodies, &hub, |_| true);
        let order = precedence.defer(&degree);
        let mut found = (factorization_cost(graph, &order), order);
        if let Some(order) = coordinates_first(graph, nv, massless, &hub) {
            let order = precedence.defer(&order);
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

/// Unknowns that must precede others.
struct Precedence {
    /// Number of unknowns that must precede each unknown.
    predecessors: Vec<u32>,
    /// Unknowns that must follow each unknown.
    successors: Vec<Vec<u32>>,
}

impl Precedence {
    /// Of the constraints for which `counts` is true and their coordinates.
    fn of_rows(
        graph: &AdjacencyGraph,
        nv: usize,
        massless: &[bool],
        bodies: &CoupledBlocks,
        hub: &[bool],
        counts: impl Fn(usize) -> bool,
    ) -> Self {
        let n = graph.len();
        let mut precedence = Self {
            predecessors: vec![0; n],
            successors: vec![Vec::new(); n],
        };
        for k in (nv..n).filter(|&k| counts(k)) {
            let with_mass = |j: &&u32| (**j as usize) < nv && !massless[**j as usize];
            let no_hub = |j: &&u32| with_mass(j) && !hub[**j as usize];
            let neighbours = graph.neighbours(k).iter();
            let mut before: Vec<u32> = neighbours.clone().filter(no_hub).copied().collect();
            if before.is_empty() {
                before = neighbours.filter(with_mass).copied().collect();
            }
            // With a coordinate all of its body: then the pivots of the constraints are those of G S⁻¹ Gᵀ.
            for at in 0..before.len() {
                let body = bodies.of(before[at] as usize);
                before.extend(body.iter().filter(no_hub));
            }
            before.sort_unstable();
            before.dedup();
            for j in before {
                precedence.predecessors[k] += 1;
                precedence.successors[j as usize].push(k as u32);
            }
        }
        for i in (0..nv).filter(|&i| massless[i]) {
            let rows = graph.neighbours(i).iter();
            for &k in rows.filter(|&&k| k as usize >= nv && counts(k as usize)) {
                precedence.predecessors[i] += 1;
                precedence.successors[k as usize].push(i as u32);
            }
        }
        precedence
    }

    /// The order with each unknown deferred until its predecessors are eliminated.
    fn defer(&self, order: &[u32]) -> Vec<u32> {
        let mut missing = self.predecessors.clone();
        let mut due = vec![false; order.len()];
        let mut deferred = Vec::with_capacity(order.len());
        let mut ready = Vec::new();
        for &i in order {
            due[i as usize] = true;
            if missing[i as usize] == 0 {
                ready.push(i);
            }
            while let Some(i) = ready.pop() {
                deferred.push(i);
                for &k in &self.successors[i as usize] {
                    missing[k as usize] -= 1;
                    if missing[k as usize] == 0 && due[k as usize] {
                        ready.push(k);
                    }
                }
            }
        }
        deferred
    }
}

/// Blocks of coordinates coupled by S, if they are few enough for one body.
struct CoupledBlocks {
    block: Vec<u32>,
    members: Vec<Vec<u32>>,
}

impl CoupledBlocks {
    /// Largest block: two rigid bodies, or a body with a few flexible coordinates.
    const LARGEST: usize = 12;

    fn new(graph: &AdjacencyGraph, nv: usize) -> Self {
        const NONE: u32 = u32::MAX;
        let mut blocks = Self {
            block: vec![NONE; nv],
            members: Vec::new(),
        };
        for root in 0..nv {
            if blocks.block[root] != NONE {
                continue;
            }
            let index = blocks.members.len() as u32;
            blocks.block[root] = index;
            let mut members = vec![root as u32];
            let mut at = 0;
            while at < members.len() {
                for &j in graph.neighbours(members[at] as usize) {
                    if (j as usize) < nv && blocks.block[j as usize] == NONE {
                        blocks.block[j as usize] = index;
                        members.push(j);
                    }
                }
                at += 1;
            }
            if members.len() > Self::LARGEST {
                members.clear();
            }
            blocks.members.push(members);
        }
        blocks
    }

    /// Whether each coordinate belongs to a body with more than `limit` constraints.
    fn hubs(&self, graph: &AdjacencyGraph, nv: usize, limit: usize) -> Vec<bool> {
        let mut hub = vec![false; nv];
        let mut constraints: Vec<u32> = Vec::new();
        for i in 0..nv {
            let single = [i as u32];
            let body = match self.of(i) {
                [] => &single[..],
                members if members[0] == i as u32 => members,
                _ => continue, // counted with its first member
            };
            constraints.clear();
            for &j in body {
                constraints.extend(
                    graph
                        .neighbours(j as usize)
                        .iter()
                        .filter(|&&k| k as usize >= nv),
                );
            }
            constraints.sort_unstable();
            constraints.dedup();
            for &j in body {
                hub[j as usize] = constraints.len() > limit;
            }
        }
        hub
    }

    /// All coordinates of the block of a coordinate; empty if the block is too large.
    fn of(&self, i: usize) -> &[u32] {
        &self.members[self.block[i] as usize]
    }
}

/// All coordinates except hubs and massless ones, then the rest by minimum degree of the Schur complement. `None` if that has too
/// many couplings.
fn coordinates_first(
    graph: &AdjacencyGraph,
    nv: usize,
    massless: &[bool],
    hub: &[bool],
) -> Option<Vec<u32>> {
    let n = graph.len();
    let first = |i: usize| i < nv && !massless[i] && !hub[i];
    let inner: Vec<u32> = (0..nv as u32).filter(|&i| first(i as usize)).collect();
    let rest: Vec<u32> = (0..n as u32).filter(|&i| !first(i as usize)).collect();
    let mut local = vec![0u32; n];
    for list in [&inner, &rest] {
        for (k, &i) in list.iter().enumerate() {
            local[i as usize] = k as u32;
        }
    }
    // Eliminating connected coordinates (a body, or bodies joined by springs) couples all their neighbours.
    let mut couplings: Vec<(u32, u32)> = Vec::new();
    let allowed = MAX_SCHUR_GROWTH * (graph.couplings() + n);
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
    use crate::linalg::symbolic_ldl::factor_fill;

    /// Bodies of three coordinates with revolute joints of two constraints between them.
    fn jointed(bodies: usize, joints: &[(usize, usize)]) -> (AdjacencyGraph, usize) {
        let nv = 3 * bodies;
        let mut couplings = Vec::new();
        for b in 0..bodies as u32 {
            couplings.extend([
                (3 * b, 3 * b + 1),
                (3 * b, 3 * b + 2),
                (3 * b + 1, 3 * b + 2),
            ]);
        }
        for (p, &(a, b)) in joints.iter().enumerate() {
            for axis in 0..2 {
                let row = (nv + 2 * p + axis) as u32;
                for body in [a, b] {
                    couplings.push((row, (3 * body + axis) as u32));
                    couplings.push((row, (3 * body + 2) as u32));
                }
            }
        }
        (
            AdjacencyGraph::new(nv + 2 * joints.len(), couplings.into_iter()),
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
    fn constraints_of_a_chain_follow_their_bodies() {
        let joints: Vec<_> = (1..50).map(|b| (b - 1, b)).collect();
        let (graph, nv) = jointed(50, &joints);
        let order = saddle_point_order(&graph, nv, &vec![false; nv], &[]);
        assert_eq!(order.len(), graph.len());
        let at = positions(&order);
        for k in nv..graph.len() {
            for &j in graph.neighbours(k) {
                assert!(
                    at[j as usize] < at[k],
                    "constraint {k} before coordinate {j}"
                );
            }
        }
        // Linear fill: a few entries for each unknown.
        assert!(factor_fill(&graph, &order) < 5 * graph.len());
    }

    #[test]
    fn the_hub_of_a_star_does_not_couple_all_constraints() {
        let joints: Vec<_> = (1..1001).map(|b| (0, b)).collect();
        let (graph, nv) = jointed(1001, &joints);
        let order = saddle_point_order(&graph, nv, &vec![false; nv], &[]);
        let at = positions(&order);
        assert!(factor_fill(&graph, &order) < 5 * graph.len());
        // Each constraint still follows the body of its arm.
        for k in nv..graph.len() {
            for &j in graph.neighbours(k).iter().filter(|&&j| j >= 3) {
                assert!(at[j as usize] < at[k]);
            }
        }
    }

    #[test]
    fn a_constraint_between_hubs_follows_them() {
        let mut joints: Vec<_> = (2..102).map(|b| (b % 2, b)).collect();
        joints.push((0, 1));
        let (graph, nv) = jointed(102, &joints);
        let at = positions(&saddle_point_order(&graph, nv, &vec![false; nv], &[]));
        for k in [nv + 200, nv + 201] {
            assert!(graph.neighbours(k).iter().all(|&j| at[j as usize] < at[k]));
        }
    }

    #[test]
    fn switched_constraints_follow_their_bodies_and_leave_the_others_in_their_order() {
        // A chain whose first body has many contacts with the ground.
        let joints: Vec<_> = (1..50).map(|b| (b - 1, b)).collect();
        let (chain, nv) = jointed(50, &joints);
        let rows = chain.len() as u32;
        let contacts = (0..300).flat_map(|k| (0..3).map(move |j| (rows + k, j)));
        let couplings = (0..rows).flat_map(|i| {
            let neighbours = chain.neighbours(i as usize).iter();
            neighbours.map(move |&j| (i, j))
        });
        let graph = AdjacencyGraph::new(rows as usize + 300, couplings.chain(contacts));
        let switched: Vec<bool> = (nv..graph.len()).map(|k| k >= rows as usize).collect();
        let order = saddle_point_order(&graph, nv, &vec![false; nv], &switched);
        let at = positions(&order);
        assert!((rows as usize..graph.len()).all(|k| (0..3).all(|j| at[j] < at[k])));
        let without: Vec<u32> = order.into_iter().filter(|&i| i < rows).collect();
        assert!(factor_fill(&chain, &without) < 5 * chain.len());
    }

    #[test]
    fn massless_coordinates_follow_their_constraints() {
        let (graph, nv) = jointed(3, &[(0, 1), (1, 2)]);
        let mut massless = vec![false; nv];
        massless[3..6].fill(true);
        let at = positions(&saddle_point_order(&graph, nv, &massless, &[]));
        for j in 3..6 {
            for &k in graph.neighbours(j).iter().filter(|&&k| k as usize >= nv) {
                assert!(at[k as usize] < at[j]);
            }
        }
    }

    #[test]
    fn an_empty_and_a_single_unknown_graph_have_an_order() {
        assert!(
            saddle_point_order(&AdjacencyGraph::new(0, [].into_iter()), 0, &[], &[]).is_empty()
        );
        assert_eq!(
            saddle_point_order(&AdjacencyGraph::new(1, [].into_iter()), 1, &[false], &[]),
            [0]
        );
    }
}
