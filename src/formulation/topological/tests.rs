//! Every derivative against differences, what the choice does and does not depend on, ways from one position to another.

use super::Topological;
use crate::formulation::check::{Noise, Options, check};
use crate::formulation::{Context, Mechanism, Motion, System};
use crate::model::{JointKind, Model};

fn file(name: &str) -> Model {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("models")
        .join(name);
    Model::from_file(&path).unwrap_or_else(|e| panic!("{e}"))
}

/// Mechanisms with loops: in the plane and in space, balls in loops, redundant rows, massless links, drives, contacts.
const FILES: [&str; 9] = [
    "four_bar.toml",
    "slider_crank.toml",
    "double_four_bar.toml",
    "andrews.toml",
    "spatial_slider_crank.toml",
    "coupled_crank.toml",
    "bouncing_linkage.toml",
    "stewart.toml",
    "iltis.toml",
];

struct At {
    t: f64,
    u: Vec<f64>,
    zero: Vec<f64>,
    p: Vec<f64>,
    modes: Vec<i32>,
}

impl At {
    fn new(model: &Model, system: &dyn System, q: &[f64], v: &[f64]) -> Self {
        let mut at = Self {
            t: 0.3,
            u: model.inputs.iter().map(|input| input.start).collect(),
            zero: vec![0.0; model.inputs.len()],
            p: model.parameters.iter().map(|p| p.start).collect(),
            modes: vec![],
        };
        let mut modes = vec![0; system.size().modes];
        system.start_modes(&at.cx(), q, v, &mut modes);
        at.modes = modes;
        at
    }

    fn cx(&self) -> Context<'_> {
        Context {
            t: self.t,
            u: &self.u,
            u_dot: &self.zero,
            u_ddot: &self.zero,
            p: &self.p,
            modes: &self.modes,
        }
    }
}

fn everything_is_the_derivative(name: &str, model: &Model) {
    let Some(system) = Topological::new(model).unwrap() else {
        panic!("{name}: no loops");
    };
    let size = system.size();
    let mut noise = Noise::new(7);
    let (mut q, mut v) = (vec![0.0; size.nq], vec![0.0; size.nv]);
    system.start(&mut q, &mut v);
    for round in 0..3 {
        // Away from the start, where rotation vectors are not zero.
        let w = noise.vector(size.nv, 0.05 * f64::from(round));
        let mut there = vec![0.0; size.nq];
        system.retract(&q, &w, &mut there);
        assert!(
            there.iter().all(|x| x.is_finite()),
            "{name}: {:?}",
            system.lost()
        );
        let v = noise.vector(size.nv, 2.0);
        let (a, lambda) = (noise.vector(size.nv, 3.0), noise.vector(size.nc, 5.0));
        let outside = At::new(model, &system, &there, &v);
        let motion = Motion {
            q: &there,
            v: &v,
            a: &a,
            lambda: &lambda,
        };
        // Truncation of the differences is e⁴ times a fifth derivative: dependent coordinates bend within a fraction of the
        // mechanism's size.
        let options = Options {
            step: 2e-4,
            tolerance: 2e-8,
            energy: true,
            ..Options::default()
        };
        check(&system, &outside.cx(), &motion, &options)
            .unwrap_or_else(|e| panic!("{name}, round {round}: {e}"));
    }
}

#[test]
fn derivatives_are_those_of_differences() {
    for name in FILES {
        everything_is_the_derivative(name, &file(name));
    }
}
