//! Geometrically exact beam element of two nodes on SE(3) (V. Sonneville, A. Cardona, O. Brüls, Comput. Methods Appl. Mech. Eng. 268,
//! 2014): the strain is constant along the element, so that its pose is an exponential.
//!
//! ```text
//!   d = log(H_A⁻¹ H_B) = (u, θ),      V = (d − d₀)ᵀ K (d − d₀) / (2 L),      n = K (d − d₀ + β ḋ) / L
//!   ξ = (R_Aᵀ(ẋ_B − ẋ_A) − ω_A × r,  R_Aᵀ R_B ω_B − ω_A) = B v,      ḋ = D(d) ξ,      f = −Bᵀ Dᵀ n
//! ```
//!
//! with r the end of the element seen from its start, ξ its motion relative to the start in the axes there, n the section force,
//! and β the damping over stiffness. It depends on relative poses only: a rigid-body motion stores no energy and makes no force.
//! F = Dᵀ n is a function of six numbers (three in the plane); dual numbers give its derivatives, and B carries them to the two
//! nodes:
//!
//! ```text
//!   −∂f/∂v = Bᵀ F_ξ B,      −∂f/∂q = Bᵀ (F_d B + F_ξ ∂ξ/∂q) + (∂Bᵀ/∂q) F
//! ```

mod cotangent;
pub mod mass;
mod planar;
mod spatial;

use super::{ForceElement, ForceQuantities};
use crate::formulation::absolute::geometry::Geometry;
use crate::formulation::absolute::planar::PlanarGeometry;
use crate::formulation::absolute::sparsity::{PairSlots, SparsityBuilder};
use crate::formulation::absolute::spatial::SpatialGeometry;
use crate::formulation::{Energy, EvaluationContext, MotionPoint, Power};
use crate::model::{Beam, BodyRef};

/// Section force and strain of an element, in the order of the stiffness: three along the section axes, three about them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SectionState {
    /// n (N, N m), damping included.
    pub force: [f64; 6],
    /// (d − d₀) / L (1, 1/m)
    pub strain: [f64; 6],
    /// V (J)
    pub energy: f64,
    /// Dissipated power (W).
    pub dissipated: f64,
}

/// The elastic law of an element: K / L and the deformation d₀ at rest.
#[derive(Clone, Debug)]
struct ElasticLaw {
    /// K / L
    stiffness: [[f64; 6]; 6],
    /// d₀
    rest: [f64; 6],
    /// L (m)
    length: f64,
    /// β (s)
    damping: f64,
}

impl ElasticLaw {
    /// The law of a section, for an element with the deformation `rest` without stress.
    fn new(beam: &Beam, rest: [f64; 6]) -> Self {
        let length = (rest[0] * rest[0] + rest[1] * rest[1] + rest[2] * rest[2]).sqrt();
        let k = &beam.section.stiffness;
        Self {
            // Symmetric to the last digit, so that the force has a potential.
            stiffness: std::array::from_fn(|i| {
                std::array::from_fn(|j| 0.5 * (k[i][j] + k[j][i]) / length)
            }),
            rest,
            length,
            damping: beam.damping,
        }
    }

    /// (K / L) x
    fn times(&self, x: &[f64; 6]) -> [f64; 6] {
        std::array::from_fn(|i| (0..6).map(|j| self.stiffness[i][j] * x[j]).sum())
    }

    /// Force, strain, energy and power at the deformation d with the rate ḋ.
    fn state(&self, d: &[f64; 6], rate: &[f64; 6]) -> SectionState {
        let change: [f64; 6] = std::array::from_fn(|k| d[k] - self.rest[k]);
        let (elastic, viscous) = (self.times(&change), self.times(rate));
        let dot = |x: &[f64; 6], y: &[f64; 6]| -> f64 { (0..6).map(|k| x[k] * y[k]).sum() };
        SectionState {
            force: std::array::from_fn(|k| elastic[k] + self.damping * viscous[k]),
            strain: change.map(|x| x / self.length),
            energy: 0.5 * dot(&change, &elastic),
            dissipated: self.damping * dot(rate, &viscous),
        }
    }
}

/// The two nodes of an element and how its motion follows from theirs.
pub trait BeamKinematics<const N: usize>: std::fmt::Debug + Send + Sync {
    /// The geometry of the nodes.
    type World: Geometry<N>;

    /// β
    fn damping(&self) -> f64;

    /// L (m)
    fn length(&self) -> f64;

    /// Section force and strain for the velocities `v` of all bodies; `None`: at rest.
    fn section(
        &self,
        poses: &mut <Self::World as Geometry<N>>::Poses<'_>,
        v: Option<&[f64]>,
    ) -> SectionState;

    /// out += f
    fn add_force(
        &self,
        poses: &mut <Self::World as Geometry<N>>::Poses<'_>,
        v: &[f64],
        out: &mut [f64],
    );

    /// damping (−∂f/∂v) + stiffness (−∂f/∂q) over the two nodes.
    fn tangent(
        &self,
        poses: &mut <Self::World as Geometry<N>>::Poses<'_>,
        v: &[f64],
        damping: f64,
        stiffness: f64,
    ) -> [[f64; N]; N];
}

/// An element with its entries in the tangent matrix.
#[derive(Debug)]
pub struct BeamElement<K, const N: usize> {
    kinematics: K,
    pair: PairSlots<N>,
}

impl<K: BeamKinematics<N>, const N: usize> BeamElement<K, N> {
    fn new(kinematics: K, nodes: [usize; 2], slots: &mut SparsityBuilder) -> Self {
        let bodies: [BodyRef; 2] = nodes.map(Some);
        Self {
            kinematics,
            pair: slots.body_pair(bodies, |_, _| true),
        }
    }

    /// L (m)
    pub fn length(&self) -> f64 {
        self.kinematics.length()
    }

    /// Section force and strain for the velocities `v` of all bodies.
    pub fn section(
        &self,
        poses: &mut <K::World as Geometry<N>>::Poses<'_>,
        v: &[f64],
    ) -> SectionState {
        self.kinematics.section(poses, Some(v))
    }
}

impl<K: BeamKinematics<N>, const N: usize> ForceElement<K::World, N> for BeamElement<K, N> {
    fn depends_on_rate(&self) -> bool {
        self.kinematics.damping() != 0.0
    }

    fn does_work(&self) -> bool {
        self.kinematics.damping() != 0.0
    }

    fn add_force(
        &self,
        _cx: &EvaluationContext,
        poses: &mut <K::World as Geometry<N>>::Poses<'_>,
        v: &[f64],
        out: &mut [f64],
    ) {
        self.kinematics.add_force(poses, v, out);
    }

    fn add_tangent(
        &self,
        _cx: &EvaluationContext,
        poses: &mut <K::World as Geometry<N>>::Poses<'_>,
        v: &[f64],
        damping: f64,
        stiffness: f64,
        out: &mut [f64],
    ) {
        let tangent = self.kinematics.tangent(poses, v, damping, stiffness);
        self.pair.add_matrix(1.0, &tangent, out);
    }

    fn add_energy(
        &self,
        _cx: &EvaluationContext,
        poses: &mut <K::World as Geometry<N>>::Poses<'_>,
        energy: &mut Energy,
    ) {
        energy.potential += self.kinematics.section(poses, None).energy;
    }

    fn add_power(
        &self,
        _cx: &EvaluationContext,
        poses: &mut <K::World as Geometry<N>>::Poses<'_>,
        v: &[f64],
        power: &mut Power,
    ) {
        power.dissipated += self.kinematics.section(poses, Some(v)).dissipated;
    }

    fn quantities(
        &self,
        _cx: &EvaluationContext,
        _poses: &mut <K::World as Geometry<N>>::Poses<'_>,
        _at: &MotionPoint,
    ) -> ForceQuantities {
        ForceQuantities::default()
    }
}

/// A geometry, planar or spatial, with beam elements.
pub trait BeamGeometry<const N: usize>: Geometry<N> {
    /// How the motion of an element follows from that of its nodes.
    type Kinematics: BeamKinematics<N, World = Self> + 'static;

    /// The kinematics of element `k` of a beam; `q` is the pose without stress.
    fn beam_kinematics(beam: &Beam, k: usize, q: &[f64]) -> Self::Kinematics;

    /// Element `k` of a beam.
    fn beam_element(
        beam: &Beam,
        k: usize,
        q: &[f64],
        slots: &mut SparsityBuilder,
    ) -> BeamElement<Self::Kinematics, N> {
        let kinematics = Self::beam_kinematics(beam, k, q);
        BeamElement::new(kinematics, beam.element_nodes(k), slots)
    }
}

impl BeamGeometry<6> for PlanarGeometry {
    type Kinematics = planar::PlanarBeam;

    fn beam_kinematics(beam: &Beam, k: usize, q: &[f64]) -> planar::PlanarBeam {
        planar::PlanarBeam::new(beam, k, q)
    }
}

impl BeamGeometry<12> for SpatialGeometry {
    type Kinematics = spatial::SpatialBeam;

    fn beam_kinematics(beam: &Beam, k: usize, q: &[f64]) -> spatial::SpatialBeam {
        spatial::SpatialBeam::new(beam, k, q)
    }
}
