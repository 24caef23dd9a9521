//! Absolute coordinates: position of the centre of mass and orientation of each body; joints are constraints.
//!
//! ```text
//!   M a + Gᵀ λ = f,      Φ(q, t) = 0,      M constant but for armatures
//! ```
//!
//! Written once for the plane ([`PlanarGeometry`]: x, y, angle) and for space ([`SpatialGeometry`]: position and unit quaternion,
//! angular velocity in body axes) over the trait [`Geometry`]. Coordinates follow the bodies in their order; in space the counted
//! angles of joints come after them. Constraints follow joints, motions, prescribed bodies and unilateral forces. Points given in
//! a body frame are stored relative to the centre of mass.

mod armature;
mod build;
pub mod characteristic_length;
mod configuration_space;
pub mod constraint;
pub mod geometry;
pub mod planar;
mod quantity;
pub mod sparsity;
pub mod spatial;
mod system;

use std::sync::Arc;

use super::Sparsity;
use super::cache::Cached;
use super::force::beam::mass::CoupledMasses;
use super::force::beam::{BeamElement, BeamGeometry};
use super::force::rigid_friction::StickingContact;
use super::force::{ForceGeometry, gravity::Gravity, group::ForceGroup};
use super::joint::{JointEquations, JointGeometry};
use constraint::ConstraintPart;
use geometry::Geometry;
use planar::PlanarGeometry;
use spatial::SpatialGeometry;

/// Geometry with joints, forces and beams: everything a mechanism needs.
pub trait MechanismGeometry<const N: usize>:
    JointGeometry<N> + ForceGeometry<N> + BeamGeometry<N>
{
}
impl MechanismGeometry<6> for PlanarGeometry {}
impl MechanismGeometry<12> for SpatialGeometry {}

/// A planar mechanism in absolute coordinates.
pub type PlanarAbsolute = Absolute<PlanarGeometry, 6>;
/// A spatial mechanism in absolute coordinates.
pub type SpatialAbsolute = Absolute<SpatialGeometry, 12>;

/// A body: name, inertia, origin of its frame.
#[derive(Clone, Debug)]
pub(in crate::formulation) struct AbsoluteBody<W: Geometry<N>, const N: usize> {
    pub name: String,
    pub inertia: W::Inertia,
    /// Origin of the body frame: quantities of the body are those of this point.
    origin: W::BodyPoint,
}

/// Constraints of one kind, the index of the first, and the name of the joint, motion, body or force they belong to.
#[derive(Clone, Debug)]
pub(in crate::formulation) struct NamedConstraint<W: Geometry<N>, const N: usize> {
    pub part: ConstraintPart<W, N>,
    pub first: usize,
    pub name: String,
}

/// A mechanism in absolute coordinates.
#[derive(Clone, Debug)]
pub struct Absolute<W: MechanismGeometry<N>, const N: usize> {
    pub(in crate::formulation) bodies: Vec<AbsoluteBody<W, N>>,
    pub(in crate::formulation) joints: Vec<JointEquations<W, N>>,
    /// Index in `constraints` of each motion.
    motions: Vec<usize>,
    pub(in crate::formulation) constraints: Vec<NamedConstraint<W, N>>,
    /// Number of constraint equations.
    constraint_count: usize,
    /// The forces of the model, elements of beams, then friction and limits of its joints.
    forces: ForceGroup<W, N>,
    /// Scratch memory: the contacts that stick.
    sticking: Cached<Vec<StickingContact<N>>>,
    /// Joint, coordinate, and whether it is friction (else a limit), of the forces after those of the model.
    joint_forces: Vec<(usize, usize, bool)>,
    /// The elements of each beam, which are among the forces too.
    beams: Vec<Vec<Arc<BeamElement<W::Kinematics, N>>>>,
    /// Mass between the nodes of beams.
    coupled_masses: CoupledMasses,
    /// Inertia of joint coordinates.
    armatures: Vec<Arc<armature::Armature<W, N>>>,
    sensors: Vec<W::BodyPoint>,
    gravity: Gravity,
    pub(in crate::formulation) length: f64,
    inputs: usize,
    parameters: usize,
    pub(in crate::formulation) sparsity: Sparsity,
    /// Body and slots of every three columns that belong to one rotation.
    rotation_columns: Vec<(u32, [u32; 3])>,
    /// Angles whose turns are counted, in the order of their stored coordinates.
    pub(in crate::formulation) counted_angles: Vec<W::RelativeCoordinate>,
    pub(in crate::formulation) initial: (Vec<f64>, Vec<f64>),
}

/// Allocates stored coordinates for angles whose turns are counted.
#[derive(Debug, Default)]
pub struct TurnCounters {
    first: usize,
    /// A value within half a turn of each angle in the initial pose.
    initial: Vec<f64>,
}

impl TurnCounters {
    /// Allocates one more, for an angle whose initial value is within half a turn of `initial`.
    pub fn allocate(&mut self, initial: f64) -> Option<usize> {
        self.initial.push(initial);
        Some(self.first + self.initial.len() - 1)
    }
}
