//! What a step works with: the equations at a point of time, the two saddle-point matrices, and scratch vectors.

use super::controller::StepControl;
use super::hht::Hht;
use super::state::{State, Statistics};
use super::{Environment, Signals};
use crate::constraint::multipliers::{Backend, Structure};
use crate::constraint::projection::{Saddle, Work};
use crate::formulation::{Character, Context, Fault, Size, System};
use crate::model::Solver;

/// The system with everything that stays fixed during a step.
#[derive(Clone, Copy)]
pub(super) struct Problem<'a> {
    pub system: &'a dyn System,
    pub env: Environment<'a>,
    pub modes: &'a [i32],
}

/// Sampled inputs: owns the slices a [`Context`] points to.
#[derive(Default)]
pub(super) struct Inputs {
    u: Vec<f64>,
    u_dot: Vec<f64>,
    u_ddot: Vec<f64>,
}

impl Inputs {
    fn new(n: usize) -> Self {
        Self {
            u: vec![0.0; n],
            u_dot: vec![0.0; n],
            u_ddot: vec![0.0; n],
        }
    }

    /// The surroundings of the equations at time `t`.
    pub fn at<'a>(&'a mut self, p: &Problem<'a>, t: f64) -> Context<'a> {
        let signals: &dyn Signals = p.env.signals;
        signals.sample(t, &mut self.u, &mut self.u_dot, &mut self.u_ddot);
        Context {
            t,
            u: &self.u,
            u_dot: &self.u_dot,
            u_ddot: &self.u_ddot,
            p: p.env.parameters,
            modes: p.modes,
        }
    }
}

/// Coordinate or constraint row to blame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Culprit {
    Coordinate(usize),
    Constraint(usize),
}

impl Culprit {
    pub fn name(self, system: &dyn System) -> String {
        match self {
            Self::Coordinate(i) => system.coordinate_name(i),
            Self::Constraint(i) => system.constraint_name(i),
        }
    }
}

/// Why an attempt at a step was given up. Nothing has been changed; a shorter step may succeed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Refusal {
    Newton {
        iterations: u32,
        residual: f64,
        culprit: Culprit,
    },
    NotFinite(Culprit),
    Singular(Culprit),
    /// A row that was left out because it followed from the others does not do so any more, by this part of its scale.
    Opened {
        row: usize,
        by: f64,
    },
    Fault(Fault),
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// A step in the making: the point it ends on and the memory it would leave.
#[derive(Clone, Debug, Default)]
pub(super) struct Trial {
    pub t: f64,
    pub h: f64,
    /// Shifted algorithmic acceleration at the start of the step.
    pub at: Vec<f64>,
    pub x: Vec<f64>,
    pub theta: Vec<f64>,
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub acc: Vec<f64>,
    pub lambda: Vec<f64>,
    pub a: Vec<f64>,
    pub delta: Vec<f64>,
    pub delta_dot: Vec<f64>,
    pub lambda_dot: Vec<f64>,
    pub jerk: Vec<f64>,
    pub jerk_known: bool,
    pub rate: f64,
    pub rate_uses: u32,
    pub corrected: bool,
    /// Largest ratio of the next step to this one that the motion allows.
    pub growth: f64,
    /// The widest opening of the rows that are left out, over its scale, and its row.
    pub opened: (f64, usize),
}

impl Trial {
    pub fn new(size: &Size) -> Self {
        let v = || vec![0.0; size.nv];
        Self {
            at: v(),
            x: v(),
            theta: v(),
            q: vec![0.0; size.nq],
            v: v(),
            acc: v(),
            lambda: vec![0.0; size.nc],
            a: v(),
            delta: v(),
            delta_dot: v(),
            lambda_dot: vec![0.0; size.nc],
            jerk: v(),
            rate: f64::INFINITY,
            ..Self::default()
        }
    }
}

/// Scratch vectors, by length.
pub(super) struct Scratch {
    pub q: Vec<f64>,
    pub v: [Vec<f64>; 5],
    pub c: [Vec<f64>; 3],
}

/// The method with its settings, matrices and scratch space.
pub(super) struct Core {
    pub method: Hht,
    pub control: StepControl,
    pub settings: Solver,
    pub newton_tolerance: f64,
    pub size: Size,
    pub character: Character,
    /// Against which the closure of each row is judged.
    pub closure_scale: Vec<f64>,
    pub st: Structure,
    /// [S Gᵀ; G −E] at the predicted end of the step.
    pub newton: Saddle,
    /// [M Gᵀ; G −E] at the end of the step; its factor is made only where it is needed.
    pub mass: Saddle,
    /// Inputs at the point in work, and at points near it.
    pub inputs: Inputs,
    pub nearby: Inputs,
    pub scratch: Scratch,
    pub work: Work,
    /// What the factor in `newton` was made for, where the matrix depends on nothing else (linear systems).
    pub factored_for: Option<f64>,
    /// The modes both matrices are prepared for.
    modes: Vec<i32>,
    /// Rows that hold in the modes but are left out because they follow from the others: watched, not closed.
    pub left_out: Vec<bool>,
}

impl Core {
    pub fn new(system: &dyn System, settings: &Solver, backend: Backend) -> Self {
        let size = system.size();
        let pattern = system.pattern();
        let st = Structure::new(size.nv, size.nc, &pattern, backend);
        let saddle = || Saddle::new(&st, pattern.tangent.len(), pattern.jacobian.len());
        let (newton, mass) = (saddle(), saddle());
        Self {
            method: Hht::new(settings.alpha),
            control: StepControl::new(settings),
            settings: *settings,
            newton_tolerance: settings
                .newton_tolerance
                .unwrap_or(1e-3 * settings.tolerance),
            size,
            character: system.character(),
            closure_scale: (0..size.nc)
                .map(|row| system.constraint_scale(row))
                .collect(),
            newton,
            mass,
            inputs: Inputs::new(size.inputs),
            nearby: Inputs::new(size.inputs),
            scratch: Scratch {
                q: vec![0.0; size.nq],
                v: std::array::from_fn(|_| vec![0.0; size.nv]),
                c: std::array::from_fn(|_| vec![0.0; size.nc]),
            },
            work: Work::default(),
            factored_for: None,
            modes: vec![0; size.modes],
            left_out: vec![false; size.nc],
            st,
        }
    }

    /// Moves the counters of the linear algebra into the statistics.
    pub fn collect(&mut self, stats: &mut Statistics) {
        stats.factorizations += self.work.factorizations;
        stats.solves += self.work.solves;
        self.work = Work::default();
    }

    /// Prepares both matrices for the rows that hold in the state's modes.
    pub fn select(&mut self, system: &dyn System, s: &State) {
        if self.modes != s.modes {
            // Also a restored state may be in other modes than the last step: its matrices are others.
            self.factored_for = None;
            self.modes.copy_from_slice(&s.modes);
        }
        self.newton.select(system, &s.modes, &s.dropped);
        self.mass.select(system, &s.modes, &s.dropped);
        if self.size.nc > 0 {
            system.active(&s.modes, &mut self.left_out);
            for (row, dropped) in self.left_out.iter_mut().zip(&s.dropped) {
                *row &= dropped;
            }
        }
    }
}

/// First entry that is NaN or infinite.
pub(super) fn first_not_finite(x: &[f64]) -> Option<usize> {
    x.iter().position(|x| !x.is_finite())
}
