//! The matrices of a system at a point, dense: M, C, K, G and the friction matrix D.
//!
//! With a descriptor form S = Jᵀ S_b J and G = G_o J are formed column by column.

use std::sync::Arc;

use nalgebra::DMatrix;

use crate::formulation::system::{
    DescriptorForm, Dimensions, Evaluated, EvaluationContext, MotionPoint, Sparsity, System,
    TangentWeights,
};

/// M, C, K, G and D of a system at a point, with their workspace.
pub struct SystemMatrices {
    /// M
    pub mass: DMatrix<f64>,
    /// C = −∂f/∂v
    pub damping: DMatrix<f64>,
    /// K = ∂(M a − f + Gᵀλ)/∂q
    pub stiffness: DMatrix<f64>,
    /// G; rows of inactive constraints are zero.
    pub jacobian: DMatrix<f64>,
    /// D: friction forces of unit multipliers; empty without such friction.
    pub friction: DMatrix<f64>,
    /// Whether each constraint is active.
    pub active: Vec<bool>,
    size: Dimensions,
    sparsity: Sparsity,
    form: Option<Arc<dyn DescriptorForm>>,
    tangent_values: Vec<f64>,
    jacobian_values: Vec<f64>,
    transformation: Vec<f64>,
    unit: Vec<f64>,
    body: [Vec<f64>; 2],
}

impl SystemMatrices {
    /// Storage for the matrices of a system.
    pub fn new(system: &dyn System) -> Self {
        let size = system.dimensions();
        let form = system.descriptor_form();
        let sparsity = system.sparsity();
        let bodies = form.as_ref().map_or(0, |form| form.dimensions().0);
        let transformation = form.as_ref().map_or(0, |form| form.transformation_len());
        let square = || DMatrix::zeros(size.nv, size.nv);
        let friction = if system.properties().has_constraint_friction {
            size.nc
        } else {
            0
        };
        Self {
            mass: square(),
            damping: square(),
            stiffness: square(),
            jacobian: DMatrix::zeros(size.nc, size.nv),
            friction: DMatrix::zeros(size.nv, friction),
            active: vec![true; size.nc],
            tangent_values: vec![0.0; sparsity.tangent.len()],
            jacobian_values: vec![0.0; sparsity.jacobian.len()],
            transformation: vec![0.0; transformation],
            unit: vec![0.0; size.nv.max(size.nc)],
            body: std::array::from_fn(|_| vec![0.0; bodies]),
            size,
            sparsity,
            form,
        }
    }

    /// Computes M, G and D at a point.
    pub fn load_mass(
        &mut self,
        system: &dyn System,
        cx: &EvaluationContext,
        at: &MotionPoint,
    ) -> Evaluated {
        if let Some(form) = &self.form {
            form.transformation_at(at.q, &mut self.transformation);
        }
        let mut mass = std::mem::replace(&mut self.mass, DMatrix::zeros(0, 0));
        let outcome = self.tangent(system, cx, at, [1.0, 0.0, 0.0], &mut mass);
        self.mass = mass;
        self.load_jacobian(system, cx, at.q);
        self.load_friction(system, cx, at);
        outcome
    }

    /// Computes C and K at a point.
    pub fn load_tangent(
        &mut self,
        system: &dyn System,
        cx: &EvaluationContext,
        at: &MotionPoint,
    ) -> Evaluated {
        if let Some(form) = &self.form {
            form.transformation_at(at.q, &mut self.transformation);
        }
        let mut damping = std::mem::replace(&mut self.damping, DMatrix::zeros(0, 0));
        let mut stiffness = std::mem::replace(&mut self.stiffness, DMatrix::zeros(0, 0));
        let outcome = self
            .tangent(system, cx, at, [0.0, 1.0, 0.0], &mut damping)
            .and_then(|()| self.tangent(system, cx, at, [0.0, 0.0, 1.0], &mut stiffness));
        (self.damping, self.stiffness) = (damping, stiffness);
        outcome
    }

    /// out = m M + c C + k K for the weights [m, c, k].
    fn tangent(
        &mut self,
        system: &dyn System,
        cx: &EvaluationContext,
        at: &MotionPoint,
        [mass, damping, stiffness]: [f64; 3],
        out: &mut DMatrix<f64>,
    ) -> Evaluated {
        let weights = TangentWeights {
            mass,
            damping,
            stiffness,
            theta: &[],
        };
        system.tangent(cx, at, &weights, &mut self.tangent_values)?;
        let Some(form) = &self.form else {
            out.fill(0.0);
            for (&(i, j), x) in self.sparsity.tangent.iter().zip(&self.tangent_values) {
                out[(i as usize, j as usize)] += x;
            }
            return Ok(());
        };
        let [velocity, force] = &mut self.body;
        let unit = &mut self.unit[..self.size.nv];
        for column in 0..self.size.nv {
            unit.fill(0.0);
            unit[column] = 1.0;
            form.velocity(&self.transformation, unit, velocity);
            force.fill(0.0);
            for (&(i, j), x) in self.sparsity.tangent.iter().zip(&self.tangent_values) {
                force[i as usize] += x * velocity[j as usize];
            }
            let mut out = out.column_mut(column);
            form.generalised_force(&self.transformation, force, out.as_mut_slice());
        }
        Ok(())
    }

    /// Computes G at q in the modes of the context.
    pub fn load_jacobian(&mut self, system: &dyn System, cx: &EvaluationContext, q: &[f64]) {
        system.active_constraints(cx.modes, &mut self.active);
        if self.size.nc == 0 {
            return;
        }
        system.jacobian(cx, q, &mut self.jacobian_values);
        let entries = self.sparsity.jacobian.iter().zip(&self.jacobian_values);
        self.jacobian.fill(0.0);
        match &self.form {
            None => {
                for (&(i, j), g) in entries {
                    self.jacobian[(i as usize, j as usize)] += g;
                }
            }
            Some(form) => {
                form.transformation_at(q, &mut self.transformation);
                let rows = form.constraint_rows();
                let velocity = &mut self.body[0];
                let unit = &mut self.unit[..self.size.nv];
                for column in 0..self.size.nv {
                    unit.fill(0.0);
                    unit[column] = 1.0;
                    form.velocity(&self.transformation, unit, velocity);
                    for (&(i, j), g) in entries.clone() {
                        if let Ok(row) = rows.binary_search(&i) {
                            self.jacobian[(row, column)] += g * velocity[j as usize];
                        }
                    }
                }
            }
        }
        for (row, active) in self.active.iter().enumerate() {
            if !active {
                self.jacobian.row_mut(row).fill(0.0);
            }
        }
    }

    /// Evaluates G at q for [`SystemMatrices::jacobian_times`]. The loaded matrices do not change.
    pub fn evaluate_jacobian(&mut self, system: &dyn System, cx: &EvaluationContext, q: &[f64]) {
        system.jacobian(cx, q, &mut self.jacobian_values);
        if let Some(form) = &self.form {
            form.transformation_at(q, &mut self.transformation);
        }
    }

    /// out = G x with the G that was evaluated last; zero for inactive constraints.
    pub fn jacobian_times(&mut self, x: &[f64], out: &mut [f64]) {
        let entries = self.sparsity.jacobian.iter().zip(&self.jacobian_values);
        out.fill(0.0);
        match &self.form {
            None => {
                for (&(i, j), g) in entries {
                    out[i as usize] += g * x[j as usize];
                }
            }
            Some(form) => {
                let velocity = &mut self.body[0];
                form.velocity(&self.transformation, x, velocity);
                let rows = form.constraint_rows();
                for (&(i, j), g) in entries {
                    if let Ok(row) = rows.binary_search(&i) {
                        out[row] += g * velocity[j as usize];
                    }
                }
            }
        }
        for (out, active) in out.iter_mut().zip(&self.active) {
            if !active {
                *out = 0.0;
            }
        }
    }

    /// Computes D, whose columns are the friction forces of unit multipliers.
    fn load_friction(&mut self, system: &dyn System, cx: &EvaluationContext, at: &MotionPoint) {
        self.friction.fill(0.0);
        let unit = &mut self.unit[..self.size.nc];
        for column in 0..self.friction.ncols() {
            unit.fill(0.0);
            unit[column] = if self.active[column] { 1.0 } else { 0.0 };
            let mut out = self.friction.column_mut(column);
            system.constraint_friction(cx, at.q, at.v, unit, out.as_mut_slice());
        }
    }
}
