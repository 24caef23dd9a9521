//! Reactions of joints that hold more than they need to: the least ones, on demand.

use crate::common::drive::{Run, sample};
use biela::constraint::sparsity::Backend;
use biela::formulation::System;
use biela::integrator::Environment;
use biela::model::Model;

/// A pendulum on `pins` hinges in one place.
fn pendulum(pins: usize) -> Model {
    let mut text = String::from(
        "format = 1\nname = \"p\"\ndimension = 2\ngravity = [0.0, -9.81]\n[solver]\ntolerance = 1e-8\n\
         [[body]]\nname = \"bar\"\nmass = 2.0\ninertia = 0.1\nposition = [0.5, 0.0]\n",
    );
    for i in 0..pins {
        text += &format!(
            "[[joint]]\nname = \"pin{i}\"\ntype = \"revolute\"\nbodies = [\"ground\", \"bar\"]\npoint = [0.0, 0.0]\n"
        );
    }
    Model::from_text(&text, "p").unwrap_or_else(|e| panic!("{e}"))
}

fn reactions(run: &mut Run<dyn System>) -> Vec<f64> {
    let env = Environment {
        signals: &run.signals,
        parameters: &run.parameters,
    };
    let mut lambda = vec![f64::NAN; run.state.lambda.len()];
    run.integrator
        .reactions(&*run.system, &env, &run.state, &mut lambda)
        .unwrap();
    lambda
}

#[test]
fn coincident_hinges_share_the_reaction_equally_also_between_steps() {
    let mut one = Run::model(&pendulum(1), Backend::Auto).unwrap();
    let mut three = Run::model(&pendulum(3), Backend::Auto).unwrap();
    let (mut a, mut b) = (sample(&one), sample(&three));
    for k in 1..=20 {
        let t = 0.05 * f64::from(k);
        one.to(t).unwrap();
        three.to(t).unwrap();
        let alone = reactions(&mut one);
        assert_eq!(alone, one.state.lambda, "nothing to share");
        let before = three.state.clone();
        let shared = reactions(&mut three);
        assert_eq!(before, three.state, "looking changes nothing");
        for (i, &x) in shared.iter().enumerate() {
            // 20 N; the tolerance of the run, and rounding over the regularisation (1e-16/1e-7).
            assert!(
                (x - alone[i % 2] / 3.0).abs() < 2e-6,
                "{t}: {shared:?} {alone:?}"
            );
        }
        let middle = three.state.t - 0.4 * three.state.statistics.step_size;
        three.look(middle, &mut b).unwrap();
        let env = Environment {
            signals: &three.signals,
            parameters: &three.parameters,
        };
        three
            .integrator
            .sample_reactions(&*three.system, &env, &mut b)
            .unwrap();
        let sum: f64 = (0..3).map(|i| b.lambda[2 * i + 1]).sum();
        for i in 0..3 {
            assert!(
                (b.lambda[2 * i + 1] - sum / 3.0).abs() < 1e-6,
                "{:?}",
                b.lambda
            );
        }
        // The forces on the body are those of the single hinge.
        let middle = one.state.t - 0.4 * one.state.statistics.step_size;
        one.look(middle, &mut a).unwrap();
        assert!(a.lambda[1].is_finite());
    }
    // A look does not disturb the run.
    let mut other = Run::model(&pendulum(3), Backend::Auto).unwrap();
    for k in 1..=20 {
        other.to(0.05 * f64::from(k)).unwrap();
    }
    assert_eq!(other.state, three.state);
}

/// A door on two hinges of which one would do: drawn in space, at rest, the hinges above each other.
const DOOR: &str = r#"
format = 1
name = "door"
gravity = [0.0, 0.0, -9.81]

[[body]]
name = "door"
mass = 10.0
inertia = [1.0, 2.0, 1.5]
position = [0.5, 0.0, 0.0]

[[joint]]
name = "upper"
type = "revolute"
bodies = ["ground", "door"]
point = [0.0, 0.0, 0.5]
axis = [0.0, 0.0, 1.0]

[[joint]]
name = "lower"
type = "revolute"
bodies = ["ground", "door"]
point = [0.0, 0.0, -0.5]
axis = [0.0, 0.0, 1.0]

[[output]]
name = "upper_fx"
source = "upper.fx"
[[output]]
name = "upper_fz"
source = "upper.fz"
[[output]]
name = "upper_my"
source = "upper.my"
[[output]]
name = "lower_fx"
source = "lower.fx"
[[output]]
name = "lower_fz"
source = "lower.fz"
[[output]]
name = "lower_my"
source = "lower.my"
"#;

#[test]
fn two_hinges_of_a_door_share_its_weight_as_an_instance_shows_it() {
    let mut door = biela::component::Instance::from_text(DOOR, None).unwrap();
    door.initialize(0.0, 1.0, 0.0).unwrap();
    let names = [
        "upper_fx", "upper_fz", "upper_my", "lower_fx", "lower_fz", "lower_my",
    ];
    let references = names.map(|name| door.find(name).unwrap());
    let mut at_start = [0.0; 6];
    door.get_real(&references, &mut at_start).unwrap();
    door.step(0.0, 0.1).unwrap();
    let mut later = [0.0; 6];
    door.get_real(&references, &mut later).unwrap();
    for values in [at_start, later] {
        let [ux, uz, uy, lx, lz, ly] = values;
        // The two hinges are mirror images: each carries half, what pulls above pushes below. Ten digits of 98.1 N are
        // what one refined solution leaves.
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-7, "{values:?}");
        close(uz, 98.1 / 2.0);
        close(lz, 98.1 / 2.0);
        close(ux, -lx);
        close(uy, ly);
        // Moments about the middle: couple of the forces and the hinges' own hold the weight's lever of half a metre.
        close((ux - lx) * 0.5 + uy + ly, -98.1 * 0.5);
        assert!(ux < 0.0, "the upper hinge pulls the door back: {values:?}");
    }
}
