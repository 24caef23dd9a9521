//! Mass of beam elements between their nodes. Each node has half of the mass of its elements, as a body. With the translation
//! interpolated linearly, the mass matrix of an element is
//!
//! ```text
//!   ρAL/6 [ 2 1; 1 2 ]  =  ρAL/2 [ 1 0; 0 1 ]  −  ρAL/6 [ 1 −1; −1 1 ]
//! ```
//!
//! times the unit matrix of translations: the last term couples the nodes. It is constant, has no momentum of its own, and no
//! weight.

use crate::formulation::absolute::sparsity::SparsityBuilder;

/// Part of the mass of an element that couples its nodes: 1/6 for linear interpolation.
const COUPLED_PART: f64 = 1.0 / 6.0;

/// The coupling term of one element: −m [ 1 −1; −1 1 ] for each translation.
#[derive(Clone, Debug)]
struct CoupledMass {
    /// First velocity of each node.
    first: [usize; 2],
    /// m (kg)
    mass: f64,
    /// Slots of (A, A), (A, B), (B, A), (B, B) for each translation.
    slots: Vec<[u32; 4]>,
}

/// The coupling terms of all elements.
#[derive(Clone, Debug, Default)]
pub struct CoupledMasses {
    elements: Vec<CoupledMass>,
}

impl CoupledMasses {
    /// Adds an element of this mass (kg); a body has `width` velocities, `axes` translations first.
    pub fn push(
        &mut self,
        nodes: [usize; 2],
        mass: f64,
        (width, axes): (usize, usize),
        slots: &mut SparsityBuilder,
    ) {
        let [a, b] = nodes.map(|node| width * node);
        let mut of_axis =
            |i: usize| [(a, a), (a, b), (b, a), (b, b)].map(|(r, c)| slots.slot(r + i, c + i));
        self.elements.push(CoupledMass {
            first: [a, b],
            mass: COUPLED_PART * mass,
            slots: (0..axes).map(&mut of_axis).collect(),
        });
    }

    /// out += M a of the coupling terms.
    #[inline]
    pub fn add_times(&self, a: &[f64], out: &mut [f64]) {
        for element in &self.elements {
            let [first, second] = element.first;
            for i in 0..element.slots.len() {
                let force = element.mass * (a[second + i] - a[first + i]);
                out[first + i] += force;
                out[second + i] -= force;
            }
        }
    }

    /// out += factor M in the values of the tangent matrix.
    pub fn add_tangent(&self, factor: f64, out: &mut [f64]) {
        for element in &self.elements {
            let m = factor * element.mass;
            for slots in &element.slots {
                for (slot, value) in slots.iter().zip([-m, m, m, -m]) {
                    out[*slot as usize] += value;
                }
            }
        }
    }

    /// Kinetic energy of the coupling terms (J), negative.
    pub fn kinetic_energy(&self, v: &[f64]) -> f64 {
        let mut energy = 0.0;
        for element in &self.elements {
            let [first, second] = element.first;
            for i in 0..element.slots.len() {
                energy -= 0.5 * element.mass * (v[second + i] - v[first + i]).powi(2);
            }
        }
        energy
    }
}
