//! Descriptor form of a linear model, in the coordinates of the system and with the multipliers of its independent constraints:
//!
//! ```text
//!   [ I       ] [ ẇ  ]   [ −[v, ·]   I        0     ] [ w  ]
//!   [    M    ] [ δv̇ ] = [ −K       −C    −(Gᵀ − D) ] [ δv ]
//!   [       0 ] [ δλ̇ ]   [  G        0        0     ] [ δλ ]
//! ```

use super::linearization::{Linearizer, OperatingPoint};
use crate::error::Result;
use crate::formulation::system::System;

/// E ż = F z. Matrices are stored by rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DescriptorModel {
    /// Names of z: displacements, velocities, multipliers.
    pub names: Vec<String>,
    /// E
    pub e: Vec<f64>,
    /// F
    pub f: Vec<f64>,
}

impl Linearizer {
    /// The descriptor form at a point. A singular position is an error.
    pub fn descriptor_form(
        &mut self,
        system: &dyn System,
        at: &OperatingPoint,
    ) -> Result<DescriptorModel> {
        self.load(system, at)?;
        let nv = self.size.nv;
        let rows = self.null.independent_rows();
        let n = 2 * nv + rows.len();
        let (mut e, mut f) = (vec![0.0; n * n], vec![0.0; n * n]);
        let m = &self.matrices;
        let (mut unit, mut bracket) = (vec![0.0; nv], vec![0.0; nv]);
        for j in 0..nv {
            unit.fill(0.0);
            unit[j] = 1.0;
            system.bracket(at.motion.v, &unit, &mut bracket);
            e[j * n + j] = 1.0;
            f[j * n + nv + j] = 1.0;
            for i in 0..nv {
                f[i * n + j] = -bracket[i];
                let row = (nv + i) * n;
                e[row + nv + j] = m.mass[(i, j)];
                f[row + j] = -m.stiffness[(i, j)];
                f[row + nv + j] = -m.damping[(i, j)];
            }
            for (k, &row) in rows.iter().enumerate() {
                let g = m.jacobian[(row, j)];
                let friction = match m.friction.ncols() {
                    0 => 0.0,
                    _ => m.friction[(j, row)],
                };
                f[(nv + j) * n + 2 * nv + k] = friction - g;
                f[(2 * nv + k) * n + j] = g;
            }
        }
        let coordinates = (0..nv).map(|i| system.coordinate_name(i));
        let velocities = (0..nv).map(|i| format!("der({})", system.coordinate_name(i)));
        let multipliers = rows.iter().map(|&k| system.constraint_name(k));
        let names = coordinates.chain(velocities).chain(multipliers).collect();
        Ok(DescriptorModel { names, e, f })
    }
}
