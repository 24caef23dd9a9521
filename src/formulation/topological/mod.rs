//! Independent coordinates: the rows that close loops are eliminated, what is left are as many coordinates as the loops leave free.
//! A system around the one in joint coordinates z (`relative`), which keeps all the mechanics:
//!
//! ```text
//!   Φ(z) = 0,     ż = P ẏ,     z̈ = P ÿ + b                     y the independent ones of the joint coordinates
//!   PᵀM P ÿ + (G P)ᵀ λ = Pᵀ (f − M b)                           rows of motions, contacts and stops stay: they come, go and move
//! ```
//!
//! Which coordinates are independent is a choice (`chart`), made where the motion begins and made again where another one has
//! become better; it is part of the stored coordinates, so that a saved state knows it. `place` is what follows from a position,
//! `close` the way to another one, `tangent` the exact matrices. A mechanism without loops is its own inner system.

mod continuation;
mod kinematics;
pub mod partition;
mod quantity;
mod rotation_vector;
mod system;
mod tangent;

use super::relative::closure::{ClosureConstraints, NOWHERE};
use super::relative::{PlanarRelative, SpatialRelative};
use super::{Dimensions, Mechanism};
use crate::error::Result;
use crate::formulation::cache::{CacheGuard, Cached};
use crate::linalg::random::Random;
use crate::model::Model;
use continuation::Continuation;
use kinematics::{CoordinateKind, CoordinateLayout, Kinematics, RotationInLoop};
use partition::{Partition, Square};

/// |det| of the chosen J_d over that of the best choice below which the choice is made anew.
const BAD: f64 = 0.3;
/// Pivot of J̃ below which a row follows from the others.
const FOLLOWS: f64 = 1e-8;

/// A mechanism in independent coordinates.
pub struct Topological {
    inner: Box<dyn ClosureConstraints>,
    layout: CoordinateLayout,
    /// The row in absolute coordinates of each own row.
    whole_rows: Vec<usize>,
    rechoose: bool,
    /// Coordinates in loops that are independent at the start if they can be.
    first: Vec<usize>,
    work: Cached<TopologicalCache>,
}

/// Everything at the last positions that were looked at. One instance owns its system: the lock is never waited for.
#[derive(Debug, Default)]
struct TopologicalCache {
    here: Kinematics,
    from: Kinematics,
    way: Continuation,
    /// The joint coordinate that did not follow, if the last way did not get there.
    lost: Option<usize>,
    choice: Partition,
    scaled: Vec<f64>,
    reach: Vec<f64>,
    current: Square,
    /// Vectors of joint coordinates, own coordinates, rows of loops, all rows of the joints.
    z: [Vec<f64>; 4],
    y: Vec<f64>,
    rows: [Vec<f64>; 2],
    column: Vec<f64>,
    lambda: Vec<f64>,
    phi: Vec<f64>,
    active: Vec<bool>,
    least: quantity::MinimumNormReactions,
    tangent: tangent::TopologicalTangentWorkspace,
}

/// The equations of a model in independent coordinates; those of joint coordinates where there are no loops.
pub fn build(model: &Model) -> Result<Box<dyn Mechanism>> {
    Ok(match Topological::new(model)? {
        Some(system) => Box::new(system),
        None if model.dimension == 2 => Box::new(PlanarRelative::new(model)?),
        None => Box::new(SpatialRelative::new(model)?),
    })
}

impl Topological {
    /// The equations of a model that has loops.
    pub fn new(model: &Model) -> Result<Option<Self>> {
        Self::with(model, &[])
    }

    /// The same, beginning with these independent coordinates as far as that is possible: a joint's name stands for all of its
    /// coordinates.
    pub fn with(model: &Model, independent: &[&str]) -> Result<Option<Self>> {
        let inner: Box<dyn ClosureConstraints> = match model.dimension {
            2 => Box::new(PlanarRelative::with(model, &[], Some(false))?),
            _ => Box::new(SpatialRelative::with(model, &[], Some(false))?),
        };
        let rows = inner.loop_rows();
        if rows.is_empty() {
            return Ok(None);
        }
        let mut layout = layout(&*inner, rows);
        layout.rank = rank(&*inner, &layout);
        let named = |&k: &usize| {
            let name = inner.coordinate_name(layout.looped[k]);
            let joint = name.rsplit_once('.').map_or(&name[..], |(joint, _)| joint);
            independent.contains(&&name[..]) || independent.contains(&joint)
        };
        let first = (0..layout.looped.len()).filter(named).collect();
        let whole_rows = inner.full_constraints().map_or(vec![], |whole| {
            layout
                .own
                .iter()
                .map(|&k| whole.constraint_rows()[k])
                .collect()
        });
        let work = TopologicalCache::new(&*inner, &layout);
        let system = Self {
            inner,
            layout,
            whole_rows,
            rechoose: model.solver.repartition,
            first,
            work: Cached::new(work),
        };
        // So that coordinates have names.
        let size = super::System::dimensions(&system);
        system.initial_state(&mut vec![0.0; size.nq], &mut vec![0.0; size.nv]);
        Ok(Some(system))
    }

    /// Names of the independent coordinates where it was last looked.
    pub fn independent(&self) -> Vec<String> {
        let work = self.lock();
        let chosen = work.here.independent.iter().map(|&k| self.layout.looped[k]);
        (self.layout.free.iter().copied().chain(chosen))
            .map(|k| self.inner.coordinate_name(k))
            .collect()
    }

    fn lock(&self) -> CacheGuard<'_, TopologicalCache> {
        self.work.lock()
    }

    /// The work space at q; none where the independent coordinates say nothing.
    fn at(&self, q: &[f64]) -> Option<CacheGuard<'_, TopologicalCache>> {
        let mut work = self.lock();
        let fits = work.here.load(&self.layout, &*self.inner, q);
        fits.then_some(work)
    }

    /// The same with rates.
    fn moving(&self, q: &[f64], v: &[f64]) -> Option<CacheGuard<'_, TopologicalCache>> {
        let mut work = self.at(q)?;
        work.here.moving(&self.layout, &*self.inner, v);
        Some(work)
    }

    /// Makes the best choice at joint coordinates z, without the columns of `but` as long as there are enough others.
    fn choose(&self, work: &mut TopologicalCache, z: &[f64], but: &[usize]) {
        let l = &self.layout;
        self.scale(work, z);
        for row in work.scaled.chunks_exact_mut(l.looped.len()) {
            but.iter().for_each(|&k| row[k] = 0.0);
        }
        let (m, n) = (l.rows.len(), l.looped.len());
        work.choice.make(&mut work.scaled, l.rank, FOLLOWS);
        if work.choice.columns.len() < l.rank {
            self.scale(work, z);
            work.choice.make(&mut work.scaled, l.rank, 0.0);
        }
        // Where nothing is left to choose from: any.
        let Partition { rows, columns, .. } = &mut work.choice;
        for (list, count) in [(rows, m), (columns, n)] {
            let mut next = 0;
            while list.len() < l.rank && next < count {
                if !list.contains(&next) {
                    list.push(next);
                }
                next += 1;
            }
        }
    }

    /// J̃ at joint coordinates z, with rotation vectors that begin there.
    fn scale(&self, work: &mut TopologicalCache, z: &[f64]) {
        let (l, n) = (&self.layout, self.layout.looped.len());
        self.inner.reach(z, &mut work.reach);
        let g = &mut work.from.g;
        self.inner.jacobian(&NOWHERE, z, g);
        work.scaled.fill(0.0);
        for (entry, g) in l.entries.iter().zip(&*g) {
            if let CoordinateKind::Loop(at) = entry {
                work.scaled[*at as usize] += g;
            }
        }
        for (i, x) in work.scaled.iter_mut().enumerate() {
            *x /= l.scale[i / n] * work.reach[l.looped[i % n]];
        }
        // Its space has been used.
        work.from.q.fill(f64::NAN);
    }

    /// Chooses at the joint coordinates of `q`, closes the loops there and writes the own rates of `z_dot`.
    fn settle(&self, but: &[usize], z_dot: &[f64], q: &mut [f64], v: &mut [f64]) {
        let (l, mut guard) = (&self.layout, self.lock());
        let work = &mut *guard;
        self.choose(work, &q[l.joints()], but);
        l.write(&work.choice.columns, &work.choice.rows, q);
        // What cannot be closed is left as it is: whoever assembles says why.
        work.lost = None;
        if !work.way.assemble(l, &*self.inner, q, &mut work.here)
            && !work.here.load(l, &*self.inner, q)
        {
            work.lost = work.here.weakest(l);
        }
        self.pick(&work.here, z_dot, v);
    }

    /// Own rates of those of the joints, where rotation vectors begin anew.
    fn pick(&self, place: &Kinematics, z_dot: &[f64], v: &mut [f64]) {
        let l = &self.layout;
        let chosen = place.independent.iter().map(|&k| l.looped[k]);
        for (v, k) in v.iter_mut().zip(l.free.iter().copied().chain(chosen)) {
            *v = z_dot[k];
        }
    }

    /// Chooses anew at q if that is better, or takes rotation vectors from where they are; false leaves q and v.
    fn choose_anew(&self, q: &mut [f64], v: &mut [f64]) -> bool {
        let l = &self.layout;
        let Some(mut guard) = self.moving(q, v) else {
            return false;
        };
        let work = &mut *guard;
        let mut other = false;
        if self.rechoose && l.rank > 0 && l.independent() > 0 {
            self.choose(work, &q[l.joints()], &[]);
            self.scale(work, &q[l.joints()]);
            let (r, n) = (l.rank, l.looped.len());
            let a = work.current.values();
            for (i, &row) in work.here.solved.iter().enumerate() {
                for (k, &column) in work.here.dependent.iter().enumerate() {
                    a[i * r + k] = work.scaled[row * n + column];
                }
            }
            work.current.factor();
            other = work.current.size < work.choice.size + BAD.ln();
        }
        if !other && !work.here.turned() {
            return false;
        }
        let z_dot = &mut work.z[0];
        z_dot.copy_from_slice(&work.here.rates.z_dot);
        if other {
            l.write(&work.choice.columns, &work.choice.rows, q);
        } else {
            l.write(&work.here.dependent, &work.here.solved, q);
        }
        work.here.load(l, &*self.inner, q);
        let TopologicalCache { here, z, .. } = work;
        self.pick(here, &z[0], v);
        true
    }
}

impl TopologicalCache {
    fn new(inner: &dyn ClosureConstraints, l: &CoordinateLayout) -> Self {
        let entries = l.entries.len();
        let (m, n, nv) = (l.rows.len(), l.looped.len(), l.inner.nv);
        Self {
            here: Kinematics::new(l, entries),
            from: Kinematics::new(l, entries),
            way: Continuation::new(l, entries),
            lost: None,
            choice: Partition::new(m, n),
            scaled: vec![0.0; m * n],
            reach: vec![0.0; nv],
            current: Square::new(l.rank),
            z: std::array::from_fn(|_| vec![0.0; nv]),
            y: vec![0.0; l.moved()],
            rows: std::array::from_fn(|_| vec![0.0; m]),
            column: vec![0.0; l.rank],
            lambda: vec![0.0; l.inner.nc],
            phi: vec![0.0; l.inner.nc],
            active: vec![true; l.inner.nc],
            least: quantity::MinimumNormReactions::new(inner, l),
            tangent: tangent::TopologicalTangentWorkspace::new(l),
        }
    }
}

/// Which coordinates and rows there are; the rank is found later.
fn layout(inner: &dyn ClosureConstraints, rows: Vec<usize>) -> CoordinateLayout {
    let size: Dimensions = inner.dimensions();
    let places = inner.sparsity().jacobian;
    let mut of_loops = vec![None; size.nc];
    for (k, &row) in rows.iter().enumerate() {
        of_loops[row] = Some(k);
    }
    let mut touched = vec![false; size.nv];
    for &(row, column) in &places {
        touched[column as usize] |= of_loops[row as usize].is_some();
    }
    let turning = inner.turning();
    for &(_, moved) in &turning {
        let any = touched[moved..moved + 3].contains(&true);
        touched[moved..moved + 3].fill(any);
    }
    let (looped, free): (Vec<usize>, Vec<usize>) = (0..size.nv).partition(|&k| touched[k]);
    let own: Vec<usize> = (0..size.nc).filter(|&k| of_loops[k].is_none()).collect();
    let at = |list: &[usize], x: usize| list.binary_search(&x).ok();
    let entries = (places.iter())
        .map(|&(row, column)| {
            let (row, column) = (row as usize, column as usize);
            match (of_loops[row], at(&looped, column), at(&own, row)) {
                (Some(k), Some(j), _) => CoordinateKind::Loop((k * looped.len() + j) as u32),
                (_, _, k) => CoordinateKind::Own(k.unwrap_or(0) as u32, column as u32),
            }
        })
        .collect();
    let balls = (turning.iter())
        .filter_map(|&(stored, moved)| {
            let looped = at(&looped, moved)?;
            Some(RotationInLoop {
                stored,
                moved,
                looped,
            })
        })
        .collect();
    let (mut z, mut z_dot) = (vec![0.0; size.nq], vec![0.0; size.nv]);
    inner.initial_state(&mut z, &mut z_dot);
    let mut weight = vec![0.0; size.nv];
    inner.reach(&z, &mut weight);
    CoordinateLayout {
        inner: size,
        scale: rows.iter().map(|&k| inner.constraint_scale(k)).collect(),
        turning: (turning.iter())
            .filter_map(|&(_, moved)| at(&free, moved))
            .collect(),
        free,
        looped,
        rows,
        own,
        rank: 0,
        weight,
        balls,
        entries,
    }
}

type Dense = nalgebra::DMatrix<f64>;

/// Steps of the assembly, and the closure it has to reach.
const STEPS: usize = 60;
const CLOSED: f64 = 1e-10;
/// Positions near the start that are looked at, and how far they are.
const PROBES: u64 = 4;
const NEAR: f64 = 0.1;

/// The rank of the closure Jacobian where the mechanism is: the largest one at the start and near it, since a start may be a
/// singular position.
fn rank(inner: &dyn ClosureConstraints, l: &CoordinateLayout) -> usize {
    let (m, n) = (l.rows.len(), l.looped.len());
    let mut z = vec![0.0; l.inner.nq];
    inner.initial_state(&mut z, &mut vec![0.0; l.inner.nv]);
    let scaled = |z: &[f64]| {
        let mut g = vec![0.0; l.entries.len()];
        inner.jacobian(&NOWHERE, z, &mut g);
        let mut a = Dense::zeros(m, n);
        for (entry, g) in l.entries.iter().zip(&g) {
            if let CoordinateKind::Loop(at) = entry {
                let (i, j) = (*at as usize / n, *at as usize % n);
                a[(i, j)] += g / (l.scale[i] * l.weight[l.looped[j]]);
            }
        }
        a
    };
    let moved = |z: &[f64], x: &[f64]| {
        let mut w = vec![0.0; l.inner.nv];
        for (&k, x) in l.looped.iter().zip(x) {
            w[k] = x / l.weight[k];
        }
        let mut out = z.to_vec();
        inner.retract(z, &w, &mut out);
        out
    };
    // Least squares: redundant rows and singular positions do not matter.
    let closed = |mut z: Vec<f64>| {
        let mut phi = vec![0.0; m];
        for _ in 0..STEPS {
            inner.close(&z, &mut phi);
            let gap = nalgebra::DVector::from_iterator(
                m,
                phi.iter().zip(&l.scale).map(|(phi, s)| -phi / s),
            );
            let open = gap.amax();
            if !open.is_finite() {
                break;
            }
            if open < CLOSED {
                return (z, true);
            }
            let Ok(x) = scaled(&z).svd(true, true).solve(&gap, FOLLOWS) else {
                break;
            };
            z = moved(&z, x.as_slice());
        }
        (z, false)
    };
    let found = |z: &[f64]| {
        let mut choice = Partition::new(m, n);
        let mut a = scaled(z).transpose().as_slice().to_vec();
        choice.make(&mut a, m.min(n), FOLLOWS);
        choice.rows.len()
    };
    let (start, assembled) = closed(z);
    let mut most = found(&start);
    for seed in 0..if assembled { PROBES } else { 0 } {
        let away = nalgebra::DVector::from_vec(Random::new(seed + 1).vector(n, NEAR));
        let a = scaled(&start);
        let gap = &a * &away;
        let Ok(back) = a.svd(true, true).solve(&gap, FOLLOWS) else {
            continue;
        };
        let (there, assembled) = closed(moved(&start, (away - back).as_slice()));
        if assembled {
            most = most.max(found(&there));
        }
    }
    most
}
