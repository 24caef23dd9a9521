//! Independent coordinates: loop-closure constraints are eliminated by coordinate partitioning, one coordinate for each degree of freedom.
//! The system in joint coordinates z (`relative`) is the inner system:
//!
//! ```text
//!   Φ(z) = 0,     ż = P ẏ,     z̈ = P ÿ + b                     y the independent joint coordinates
//!   PᵀM P ÿ + (G P)ᵀ λ = Pᵀ (f − M b)                           G: constraints of motions, contacts and joint limits
//! ```
//!
//! The independent coordinates are chosen at the start (`partition`) and again when another choice is better conditioned. The choice is
//! part of the stored coordinates, so that a saved state contains it. `kinematics` has the Jacobian and its factors at a configuration,
//! `continuation` the solution of the loop closure at the next one, `tangent` the exact matrices. A mechanism without loops uses the inner
//! system directly.

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
use crate::formulation::EvaluationContext;
use crate::formulation::cache::{CacheGuard, Cached};
use crate::linalg::elementary::ln;
use crate::linalg::least_squares::smallest_least_squares;
use crate::linalg::random::Random;
use crate::model::Model;
use continuation::Continuation;
use kinematics::{CoordinateKind, CoordinateLayout, Kinematics};
use partition::{DependentFactor, Partition};
use rotation_vector::RotationInLoop;

/// |det J̃_d| relative to that of the best partition below which the coordinates are repartitioned.
const REPARTITION_RATIO: f64 = 0.5;
/// Pivot of J̃ below which a constraint is redundant.
const REDUNDANT_PIVOT: f64 = 1e-8;

/// A mechanism in independent coordinates.
pub struct Topological {
    inner: Box<dyn ClosureConstraints>,
    layout: CoordinateLayout,
    /// Index of each remaining constraint in absolute coordinates.
    whole_rows: Vec<usize>,
    rechoose: bool,
    /// Loop coordinates that are to be independent at the start if possible.
    first: Vec<usize>,
    work: Cached<TopologicalCache>,
}

/// Results at the last configurations that were evaluated. One instance owns its system: the lock is never waited for.
#[derive(Debug, Default)]
struct TopologicalCache {
    here: Kinematics,
    from: Kinematics,
    way: Continuation,
    /// The dependent coordinate with the smallest pivot, if the last continuation failed.
    lost: Option<usize>,
    choice: Partition,
    scaled: Vec<f64>,
    reach: Vec<f64>,
    current: DependentFactor,
    /// Vectors of joint coordinates, independent coordinates, loop constraints, all constraints of the inner system.
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

/// Builds the equations of a model in independent coordinates; in joint coordinates if there are no loops.
pub fn build(model: &Model) -> Result<Box<dyn Mechanism>> {
    Ok(match Topological::new(model)? {
        Some(system) => Box::new(system),
        None if model.dimension == 2 => Box::new(PlanarRelative::new(model)?),
        None => Box::new(SpatialRelative::new(model)?),
    })
}

impl Topological {
    /// Builds the equations of a model with loops; none without loops.
    pub fn new(model: &Model) -> Result<Option<Self>> {
        Self::with(model, &[])
    }

    /// Builds the equations with these independent coordinates at the start, as far as possible. The name of a joint stands for all of its
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
        // The names of coordinates need an initial partition.
        let size = super::System::dimensions(&system);
        system.initial_state(&mut vec![0.0; size.nq], &mut vec![0.0; size.nv]);
        Ok(Some(system))
    }

    /// Returns the names of the independent coordinates of the last configuration evaluated.
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

    /// Returns the cache at q; none if J_d is singular.
    fn at(&self, q: &[f64]) -> Option<CacheGuard<'_, TopologicalCache>> {
        let mut work = self.lock();
        let fits = work.here.load(&self.layout, &*self.inner, q);
        fits.then_some(work)
    }

    /// Marks the constraints of the inner system that are active in the modes; all of them without modes.
    fn select_active(&self, cx: &EvaluationContext, work: &mut TopologicalCache) {
        match cx.modes.len() == self.inner.dimensions().modes {
            true => self.inner.active_constraints(cx.modes, &mut work.active),
            false => work.active.fill(true),
        }
    }

    /// Returns the cache at q with velocities v.
    fn moving(&self, q: &[f64], v: &[f64]) -> Option<CacheGuard<'_, TopologicalCache>> {
        let mut work = self.at(q)?;
        work.here.moving(&self.layout, &*self.inner, v);
        Some(work)
    }

    /// Chooses the best partition at joint coordinates z. The coordinates `but` become dependent only if there are too few others.
    fn choose(&self, work: &mut TopologicalCache, z: &[f64], but: &[usize]) {
        let l = &self.layout;
        self.scale(work, z);
        for row in work.scaled.chunks_exact_mut(l.looped.len().max(1)) {
            but.iter().for_each(|&k| row[k] = 0.0);
        }
        let (m, n) = (l.rows.len(), l.looped.len());
        work.choice.make(&mut work.scaled, l.rank, REDUNDANT_PIVOT);
        if work.choice.columns.len() < l.rank {
            self.scale(work, z);
            work.choice.make(&mut work.scaled, l.rank, 0.0);
        }
        // Without further pivots: any.
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

    /// Writes J̃ at joint coordinates z, with zero rotation vectors.
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
        // Its Jacobian was overwritten.
        work.from.q.fill(f64::NAN);
    }

    /// Chooses the partition at the joint coordinates of `q`, closes the loops there and writes the independent velocities of `z_dot`.
    fn settle(&self, but: &[usize], z_dot: &[f64], q: &mut [f64], v: &mut [f64]) {
        let (l, mut guard) = (&self.layout, self.lock());
        let work = &mut *guard;
        self.choose(work, &q[l.joints()], but);
        l.write(&work.choice.columns, &work.choice.rows, q);
        // Loops that cannot be closed stay open: the assembly reports them.
        work.lost = None;
        if !work.way.assemble(l, &*self.inner, q, &mut work.here)
            && !work.here.load(l, &*self.inner, q)
        {
            work.lost = work.here.weakest(l);
        }
        self.pick(&work.here, z_dot, v);
    }

    /// Writes the independent velocities of joint velocities, with zero rotation vectors.
    fn pick(&self, place: &Kinematics, z_dot: &[f64], v: &mut [f64]) {
        let l = &self.layout;
        let chosen = place.independent.iter().map(|&k| l.looped[k]);
        for (v, k) in v.iter_mut().zip(l.free.iter().copied().chain(chosen)) {
            *v = z_dot[k];
        }
    }

    /// Repartitions at q if that is better, or resets rotation vectors; false leaves q and v.
    fn repartition_at(&self, q: &mut [f64], v: &mut [f64]) -> bool {
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
            let a = work.current.cleared();
            for (i, &row) in work.here.solved.iter().enumerate() {
                for (k, &column) in work.here.dependent.iter().enumerate() {
                    a[i * r + k] = work.scaled[row * n + column];
                }
            }
            work.current.factor();
            other = work.current.log_determinant < work.choice.size + ln(REPARTITION_RATIO);
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
            current: DependentFactor::new(l.rank),
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

/// Returns the layout of coordinates and constraints, without the rank.
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

/// Iterations of the assembly, and the largest residual of closed loops.
const STEPS: usize = 60;
const CLOSED: f64 = 1e-10;
/// Number of further configurations at which the rank is computed, and their distance from the start.
const PROBES: u64 = 4;
const NEAR: f64 = 0.1;

/// Returns the rank of the closure Jacobian: the largest one at the start and near it, since the start may be a singular configuration.
fn rank(inner: &dyn ClosureConstraints, l: &CoordinateLayout) -> usize {
    let (m, n) = (l.rows.len(), l.looped.len());
    if m == 0 || n == 0 {
        // The joints of the loop have no coordinates: it is rigid.
        return 0;
    }
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
    // Least squares: works with redundant constraints and in singular configurations.
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
            let Some(x) = smallest_least_squares(&scaled(&z), &gap, REDUNDANT_PIVOT) else {
                break;
            };
            z = moved(&z, x.as_slice());
        }
        (z, false)
    };
    let rank_at = |z: &[f64]| {
        let mut choice = Partition::new(m, n);
        let mut a = scaled(z).transpose().as_slice().to_vec();
        choice.make(&mut a, m.min(n), REDUNDANT_PIVOT);
        choice.rows.len()
    };
    let (start, assembled) = closed(z);
    let mut most = rank_at(&start);
    for seed in 0..if assembled { PROBES } else { 0 } {
        let away = nalgebra::DVector::from_vec(Random::new(seed + 1).vector(n, NEAR));
        let a = scaled(&start);
        let gap = &a * &away;
        let Some(back) = smallest_least_squares(&a, &gap, REDUNDANT_PIVOT) else {
            continue;
        };
        let (there, assembled) = closed(moved(&start, (away - back).as_slice()));
        if assembled {
            most = most.max(rank_at(&there));
        }
    }
    most
}
