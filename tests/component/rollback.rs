//! Is roll-back exact? Save, run, restore, run: the same bits, at many random points of every model that comes with the
//! library, also through bytes and in a process that never ran the model.

use std::path::Path;
use std::process::Command;

use crate::common::systems::{bounce::Bounce, impact::Impact};
use crate::common::{Random, act, all_models, bits, now, slider_crank, text};
use biela::component::{Extrapolation, Instance};
use biela::formulation::{EvaluationContext, Mechanism, MotionPoint};
use biela::model::quantity::Quantity;
use biela::model::{Model, SolverSettings, UserSystemNames};

/// Ten times more with BIELA_TEST_FULL=1.
fn points() -> usize {
    match std::env::var("BIELA_TEST_FULL").as_deref() {
        Ok("1") => 10_000,
        _ => 1_000,
    }
}

/// A few communication steps, and all that can be seen of them.
fn run(instance: &mut Instance, mut random: Random) -> (Vec<Vec<u64>>, String) {
    let mut seen = Vec::new();
    for _ in 0..1 + random.below(3) {
        act(instance, &mut random);
        seen.push(bits(instance));
    }
    (seen, now(instance))
}

/// At each point of a random run: away and back, in this instance, in another one, and through bytes.
fn roll_back(create: &dyn Fn() -> Instance, points: usize, seed: u64) -> Instance {
    let mut random = Random(seed);
    let name = create().model().name.clone();
    let (mut instance, mut other) = (create(), create());
    instance.set_extrapolation(Extrapolation::from_order((seed % 3) as u32).unwrap());
    instance.initialize(0.0, f64::INFINITY, 0.0).unwrap();
    let mut slot = instance.save().unwrap();
    for point in 0..points {
        instance.save_into(&mut slot).unwrap();
        let saved = text(&slot);
        let future = Random(random.bits());

        let first = run(&mut instance, future.clone());
        // Sometimes the run goes on, by another way, before it is called back.
        if point % 3 == 0 {
            run(&mut instance, Random(random.bits()));
        }
        instance.restore(&slot).unwrap();
        assert_eq!(now(&instance), saved, "{name}: restore at point {point}");
        let again = run(&mut instance, future.clone());
        assert_eq!(first, again, "{name}: same instance, point {point}");

        // Another instance, with a past of its own, takes over; half the time it knows the state only as bytes.
        let bytes = (point % 2 == 0).then(|| slot.to_bytes());
        match bytes.map(|bytes| other.deserialize(&bytes).unwrap()) {
            Some(read) => other.restore(&read).unwrap(),
            None => other.restore(&slot).unwrap(),
        }
        let elsewhere = run(&mut other, future);
        assert_eq!(first, elsewhere, "{name}: other instance, point {point}");

        assert_eq!(text(&slot), saved, "the saved state is only read");
        act(&mut instance, &mut random);
    }
    instance
}

#[test]
fn restoring_at_random_points_gives_the_same_bits_again() {
    let models = all_models();
    let (mut rejected, mut time) = (0, 0.0);
    for (seed, model) in models.iter().enumerate() {
        // The slider-crank, which is driven, gets half of them.
        let share = match model.name.as_str() {
            "slider_crank" => points() / 2,
            _ => points().div_ceil(2 * (models.len() - 1)),
        };
        let create = || Instance::from_model(model.clone()).unwrap();
        let instance = roll_back(&create, share, seed as u64);
        rejected += instance.statistics().rejected;
        time += instance.time();
    }
    assert!(rejected > 0, "some steps must have been refused on the way");
    assert!(time > 1.0, "the runs got to {time} s in all");
}

#[test]
fn models_with_beams_are_rolled_back_at_random_points() {
    for (seed, name) in [
        "flexible_slider_crank",
        "flying_spaghetti",
        "misaligned_four_bar",
        "spin_up",
    ]
    .into_iter()
    .enumerate()
    {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("models/beams/{name}.toml"));
        let create = || Instance::from_file(&path).unwrap();
        roll_back(&create, points() / 100, seed as u64);
    }
}

#[test]
fn error_bars_are_rolled_back_with_their_companion_run() {
    let models = all_models();
    for (seed, model) in models.iter().enumerate() {
        let mut model = model.clone();
        model.solver.error_bars = true;
        let create = || Instance::from_model(model.clone()).unwrap();
        let instance = roll_back(&create, points().div_ceil(10 * models.len()), seed as u64);
        let bars = instance.error_bars().unwrap();
        assert_eq!(bars.stopped, None, "{}", model.name);
    }
}

/// Coordinates, rates and the like of a system written by hand.
fn unknown(quantity: Quantity, at: &MotionPoint) -> f64 {
    match quantity {
        Quantity::Coordinate(i) => at.q[i],
        Quantity::Rate(i) => at.v[i],
        Quantity::Acceleration(i) => at.a[i],
        Quantity::Multiplier(i) => at.lambda[i],
        _ => f64::NAN,
    }
}

/// Thrown along the floor from a height of 0.2 m.
impl Mechanism for Bounce {
    fn initial_state(&self, q: &mut [f64], v: &mut [f64]) {
        q.copy_from_slice(&[0.0, 0.2]);
        v.copy_from_slice(&[1.0, 0.0]);
    }

    fn evaluate(&self, _cx: &EvaluationContext, quantity: Quantity, at: &MotionPoint) -> f64 {
        unknown(quantity, at)
    }
}

/// Fast enough to run into the constant force.
impl Mechanism for Impact {
    fn initial_state(&self, q: &mut [f64], v: &mut [f64]) {
        (q[0], v[0]) = (0.0, 10.0);
    }

    fn evaluate(&self, _cx: &EvaluationContext, quantity: Quantity, at: &MotionPoint) -> f64 {
        unknown(quantity, at)
    }
}

fn by_hand(name: &str, mechanism: Box<dyn Mechanism>) -> Instance {
    let size = mechanism.dimensions();
    let own = UserSystemNames {
        nq: size.nq,
        nv: size.nv,
        nc: size.nc,
    };
    let lift: &[(String, f64)] = match size.inputs {
        0 => &[],
        _ => &[("lift".to_string(), 0.0)],
    };
    let model =
        Model::from_user_system(name, own, SolverSettings::default(), lift, &[], false).unwrap();
    Instance::from_mechanism(model, mechanism).unwrap()
}

#[test]
fn contacts_and_impacts_are_rolled_back_too() {
    let bounce = || by_hand("bounce", Box::new(Bounce::default()));
    let impact = || by_hand("impact", Box::new(Impact::default()));
    for create in [&bounce as &dyn Fn() -> Instance, &impact] {
        let instance = roll_back(create, points() / 4, 21);
        let (name, statistics) = (&instance.model().name, instance.statistics());
        assert!(
            statistics.events > 5,
            "{name}: {} events",
            statistics.events
        );
        assert!(
            statistics.event_repeats > 0,
            "{name}: steps repeated to hit one"
        );
    }
}

/// Names the directory to the process that goes on with what this one has written.
const CHILD: &str = "BIELA_ROLLBACK_CHILD";

#[test]
fn a_process_that_never_ran_the_model_goes_on_from_bytes() {
    let random = || Random(11);
    if let Some(directory) = std::env::var_os(CHILD) {
        for (i, model) in all_models().into_iter().enumerate() {
            let file = |ending: &str| Path::new(&directory).join(format!("{i}.{ending}"));
            let mut instance = Instance::from_model(model).unwrap();
            let bytes = std::fs::read(file("state")).unwrap();
            let state = instance.deserialize(&bytes).unwrap();
            instance.restore(&state).unwrap();
            let seen = format!("{:?}", run(&mut instance, random()));
            let expected = std::fs::read_to_string(file("future")).unwrap();
            assert!(seen == expected, "{}", instance.model().name);
        }
        return;
    }
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rollback");
    std::fs::create_dir_all(&directory).unwrap();
    for (i, model) in all_models().into_iter().enumerate() {
        let file = |ending: &str| directory.join(format!("{i}.{ending}"));
        let mut instance = Instance::from_model(model).unwrap();
        instance.initialize(0.0, f64::INFINITY, 0.0).unwrap();
        run(&mut instance, Random(10));
        std::fs::write(file("state"), instance.save().unwrap().to_bytes()).unwrap();
        std::fs::write(
            file("future"),
            format!("{:?}", run(&mut instance, random())),
        )
        .unwrap();
    }
    let child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "rollback::a_process_that_never_ran_the_model_goes_on_from_bytes",
        ])
        .env(CHILD, &directory)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout);
    assert!(
        child.status.success() && said.contains("1 passed"),
        "{said}"
    );
}

#[test]
fn a_set_between_save_and_step_is_rolled_back_too() {
    let mut random = Random(2);
    let mut instance = slider_crank();
    let tau = crate::common::references(&instance, biela::component::Causality::Input)[0];
    instance.initialize(0.0, f64::INFINITY, 0.0).unwrap();
    for _ in 0..50 {
        act(&mut instance, &mut random);
        // Due, but not yet heard of by the mechanism.
        let due = random.between(-1.0, 1.0);
        instance.set_real(&[tau], &[due]).unwrap();
        let saved = instance.save().unwrap();
        let seen = bits(&mut instance);
        instance.set_real(&[tau], &[5.0]).unwrap();
        let t = instance.time();
        instance.step(t, 0.01).unwrap();
        assert_ne!(bits(&mut instance), seen);
        instance.restore(&saved).unwrap();
        assert_eq!(now(&instance), text(&saved));
        assert_eq!(bits(&mut instance), seen);
    }
}

#[test]
fn restoring_after_a_failed_step_undoes_it() {
    use std::sync::atomic::Ordering;
    let mut random = Random(3);
    let mut instance = slider_crank();
    instance.initialize(0.0, f64::INFINITY, 0.0).unwrap();
    act(&mut instance, &mut random);
    let saved = instance.save().unwrap();
    let first = run(&mut instance, random.clone());
    instance.restore(&saved).unwrap();
    instance.cancel_flag().store(true, Ordering::Relaxed);
    instance.step(instance.time(), 1.0).unwrap_err();
    instance.restore(&saved).unwrap();
    assert_eq!(run(&mut instance, random), first);
}
