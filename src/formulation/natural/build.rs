//! Builds a mechanism in natural coordinates from a model.

use super::body_map::BodyMap;
use super::layout::{self, NaturalLayout};
use super::tangent::{self, NaturalTangentWorkspace, TangentBlock};
use super::{Natural, NaturalCache, NaturalTransfer};
use crate::error::Result;
use crate::formulation::absolute::{Absolute, NamedConstraint};
use crate::formulation::cache::Cached;
use crate::formulation::selection::constraint_handling;
use crate::formulation::{Dimensions, Sparsity, System};
use crate::model::Model;

impl<W: BodyMap<N>, const N: usize> Natural<W, N> {
    /// Builds the equations of a model of this dimension.
    pub fn new(model: &Model) -> Result<Self> {
        let inner = Absolute::<W, N>::new(model)?;
        let layout = layout::layout(&inner);
        let inner_size = System::dimensions(&inner);
        let nx = layout.names.len();
        let kept = kept_constraints(&inner, &layout);
        let mut live = vec![false; inner_size.nc];
        for kept in &kept {
            live[kept.first..kept.first + kept.rows].fill(true);
        }
        let blocks = tangent::blocks::<N>(&inner.sparsity, &layout, W::DIMENSION);
        let mut arms = Vec::with_capacity(layout.bodies.len());
        let mut numbers = 0;
        for body in &layout.bodies {
            arms.push(numbers);
            numbers += Self::WIDTH * body.own.len();
        }
        let size = Dimensions {
            nq: nx + inner_size.nq,
            nv: nx,
            nc: inner_size.nc + layout.rigid.len(),
            ..inner_size
        };
        let work = NaturalCache {
            q: vec![f64::NAN; size.nq],
            x_dot: vec![f64::NAN; nx],
            y: vec![0.0; Self::Y * layout.bodies.len()],
            arms: vec![0.0; numbers],
            v: vec![0.0; inner_size.nv],
            a: vec![0.0; inner_size.nv],
            f: vec![0.0; inner_size.nv],
            gradient: vec![0.0; inner_size.nv],
            g: vec![0.0; inner.sparsity.jacobian.len()],
            tangent: NaturalTangentWorkspace::new(inner.sparsity.tangent.len(), inner_size.nv),
        };
        Ok(Self {
            constraint_handling: constraint_handling(&model.solver),
            height: inner_size.nc,
            sparsity: sparsity::<W, N>(&kept, &layout, &blocks, inner_size.nc),
            inner,
            layout,
            size,
            kept,
            live,
            numbers: (0..inner_size.nc).collect(),
            blocks,
            arms,
            work: Cached::new(work),
        })
    }
}

/// Returns the parts of the inner constraints that shared points and vectors do not satisfy by themselves.
fn kept_constraints<W: BodyMap<N>, const N: usize>(
    inner: &Absolute<W, N>,
    layout: &NaturalLayout,
) -> Vec<NaturalTransfer> {
    let (mut kept, mut slot) = (Vec::new(), 0);
    for (k, NamedConstraint { part, first, .. }) in inner.constraints.iter().enumerate() {
        let (from, mut bodies) = (slot, Vec::new());
        part.sparsity(&mut |_, column| {
            slot += 1;
            let body = column / (N / 2);
            if !bodies.contains(&body) {
                bodies.push(body);
            }
        });
        if !layout.shared[k] {
            kept.push(NaturalTransfer {
                part: k,
                first: *first,
                rows: part.count(),
                slots: from..slot,
                bodies,
            });
        }
    }
    kept
}

/// Returns the sparsity of the matrices: G of the kept constraints, then of the rigidity constraints from row `nc` on.
fn sparsity<W: BodyMap<N>, const N: usize>(
    kept: &[NaturalTransfer],
    layout: &NaturalLayout,
    blocks: &[TangentBlock],
    nc: usize,
) -> Sparsity {
    let mut sparsity = Sparsity::default();
    for kept in kept {
        for row in kept.first..kept.first + kept.rows {
            for &b in &kept.bodies {
                let own = layout.bodies[b].own.iter();
                sparsity.jacobian.extend(own.map(|x| (row as u32, *x)));
            }
        }
    }
    for (k, rigid) in layout.rigid.iter().enumerate() {
        let row = (nc + k) as u32;
        (rigid.row).pattern(W::DIMENSION, &mut |x| sparsity.jacobian.push((row, x)));
    }
    for block in blocks {
        let [rows, columns] = block.bodies.map(|b| &layout.bodies[b].own);
        for i in rows {
            sparsity.tangent.extend(columns.iter().map(|j| (*i, *j)));
        }
    }
    sparsity
}
