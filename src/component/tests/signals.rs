//! Inputs that follow laws over time.

use super::*;

/// A mass of 2 kg on a slide, pushed by the input `u`, and a law for it.
fn block(law: &str) -> String {
    format!(
        "format = 1\ndimension = 2\n[solver]\ntolerance = 1e-8\nlength = 1\n[[body]]\nname = \"b\"\nmass = 2\ninertia = 1\n\
         [[joint]]\nname = \"rail\"\ntype = \"prismatic\"\nbodies = [\"ground\", \"b\"]\npoint = [0, 0]\naxis = [1, 0]\n\
         [[force]]\nname = \"push\"\ntype = \"actuator\"\njoint = \"rail\"\n[[input]]\nname = \"u\"\ntarget = \"push.force\"\n\
         [[output]]\nname = \"x\"\nsource = \"b.x\"\n[[output]]\nname = \"balance\"\nsource = \"energy.balance\"\n{law}"
    )
}

fn instance(text: &str) -> Instance {
    let mut instance = Instance::from_text(text, None).unwrap_or_else(|e| panic!("{e}\n{text}"));
    instance.initialize(0.0, 10.0, 0.0).unwrap();
    instance
}

fn to(instance: &mut Instance, t: f64) -> f64 {
    let now = instance.time();
    instance
        .step(now, t - now)
        .unwrap_or_else(|e| panic!("{e}"));
    let x = instance.find("x").unwrap();
    get(instance, x)
}

/// x by a fine integration of u/2 over each part between breaks.
fn exact(u: impl Fn(f64) -> f64, breaks: &[f64], t: f64) -> f64 {
    let (mut x, mut v, mut from) = (0.0, 0.0, 0.0);
    for &end in breaks.iter().chain(&[t]) {
        let end = end.min(t);
        let n = 2000;
        let h = (end - from) / f64::from(n);
        for k in 0..n {
            // Simpson's rule for the change of v; x by v and the double integral of a parabola.
            let s = from + f64::from(k) * h;
            let tiny = 1e-12 * (end - from);
            let (a, m, b) = (
                u(s + tiny) / 2.0,
                u(s + 0.5 * h) / 2.0,
                u(s + h - tiny) / 2.0,
            );
            x += v * h + h * h * (a + 2.0 * m) / 6.0;
            v += h * (a + 4.0 * m + b) / 6.0;
        }
        from = end;
    }
    x
}

#[test]
fn a_mass_follows_the_law_of_its_force_through_all_breaks() {
    use std::f64::consts::PI;
    type Law = (&'static str, fn(f64) -> f64, &'static [f64]);
    let laws: [Law; 7] = [
        ("law = \"constant\"\nvalue = 3", |_| 3.0, &[]),
        (
            "law = \"step\"\ntime = \"500 ms\"\nafter = \"0.01 kN\"",
            |t| if t < 0.5 { 0.0 } else { 10.0 },
            &[0.5],
        ),
        (
            "law = \"ramp\"\nbegin = 0.3\nend = 1.1\nfrom = 1\nto = -4",
            |t| 1.0 - 5.0 * ((t - 0.3) / 0.8).clamp(0.0, 1.0),
            &[0.3, 1.1],
        ),
        (
            "law = \"sine\"\namplitude = 5\nfrequency = 1.5\nphase = \"30 deg\"\noffset = 1",
            |t| 1.0 + 5.0 * (3.0 * PI * t + PI / 6.0).sin(),
            &[],
        ),
        (
            "law = \"pulse\"\nperiod = 0.7\nwidth = 0.2\nhigh = 8",
            |t| if t.rem_euclid(0.7) < 0.2 { 8.0 } else { 0.0 },
            &[0.2, 0.7, 0.9, 1.4, 1.6],
        ),
        (
            "law = \"table\"\npoints = [[0, 1], [0.4, 3], [0.4, -2], [1.5, 2]]\ninterpolation = \"linear\"",
            |t| {
                if t < 0.4 {
                    1.0 + 5.0 * t
                } else {
                    -2.0 + 4.0 * ((t - 0.4) / 1.1).min(1.0)
                }
            },
            &[0.4, 1.5],
        ),
        (
            "law = \"expression\"\nvalue = \"4*exp(-t)*cos(3*t)\"",
            |t| 4.0 * (-t).exp() * (3.0 * t).cos(),
            &[],
        ),
    ];
    for (law, u, breaks) in laws {
        let mut instance = instance(&block(&format!("[[signal]]\ninput = \"u\"\n{law}\n")));
        for t in [0.25, 0.4, 0.9, 2.0] {
            let breaks: Vec<f64> = breaks.iter().copied().filter(|b| *b < t).collect();
            let (found, expected) = (to(&mut instance, t), exact(u, &breaks, t));
            // A hundred tolerances of 1e-8.
            assert!(
                (found - expected).abs() < 1e-6,
                "{law} at {t}: {found} {expected}"
            );
            let u_now = instance.find("u").unwrap();
            let value = get(&mut instance, u_now);
            let left = u(t - 1e-9);
            assert!((value - left).abs() < 1e-6, "{law} at {t}: {value} {left}");
        }
        let balance = instance.find("balance").unwrap();
        assert!(get(&mut instance, balance).abs() < 1e-6, "{law}");
    }
}

#[test]
fn a_law_of_a_speed_moves_the_motion_by_its_integral() {
    let text = |of: &str| {
        format!(
            "format = 1\ndimension = 2\n[[body]]\nname = \"b\"\nmass = 2\ninertia = 1\n[[joint]]\nname = \"rail\"\n\
             type = \"prismatic\"\nbodies = [\"ground\", \"b\"]\npoint = [0, 0]\naxis = [1, 0]\n[[motion]]\nname = \"m\"\n\
             joint = \"rail\"\nlaw = \"input\"\nof = \"{of}\"\n[[input]]\nname = \"u\"\ntarget = \"m.{of}\"\n\
             [[output]]\nname = \"x\"\nsource = \"b.x\"\n[[signal]]\ninput = \"u\"\nlaw = \"ramp\"\nbegin = 0.5\nend = 1.5\nto = 2\n"
        )
    };
    // ∫ of a ramp: (t − 0.5)² up to 1.5, then 1 + 2 (t − 1.5); its integral a third of the cube, then 1/3 + s + s².
    let mut speed = instance(&text("speed"));
    for (t, x) in [(0.4, 0.0), (1.0, 0.25), (1.5, 1.0), (2.5, 3.0)] {
        let found = to(&mut speed, t);
        assert!((found - x).abs() < 1e-9, "{t}: {found} {x}");
    }
    let mut acceleration = instance(&text("acceleration"));
    for (t, x) in [(0.4, 0.0), (1.5, 1.0 / 3.0), (2.5, 1.0 / 3.0 + 2.0)] {
        let found = to(&mut acceleration, t);
        assert!((found - x).abs() < 1e-9, "{t}: {found} {x}");
    }
    let chirp = text("speed")
        .replace(
            "law = \"ramp\"",
            "law = \"chirp\"\namplitude = 1\nfrequencies = [1, 2]",
        )
        .replace("to = 2\n", "");
    let error = Model::from_text(&chirp, "t").unwrap_err().to_string();
    assert!(error.contains("whose integral is known"), "{error}");
}

#[test]
fn laws_belong_to_the_state_and_end_when_the_input_is_set() {
    let text =
        block("[[signal]]\ninput = \"u\"\nlaw = \"step\"\ntime = 0.5\nbefore = 1\nafter = 10\n");
    let mut first = instance(&text);
    let u = first.find("u").unwrap();
    to(&mut first, 0.45);
    let saved = first.save().unwrap();
    let expected: Vec<f64> = [0.55, 0.8].map(|t| to(&mut first, t)).to_vec();
    let mut other = instance(&text);
    to(&mut other, 2.0);
    let state = other.deserialize(&saved.to_bytes()).unwrap();
    other.restore(&state).unwrap();
    assert_eq!([0.55, 0.8].map(|t| to(&mut other, t)).to_vec(), expected);
    // Set from outside, the law has no say any more.
    other.restore(&saved).unwrap();
    other.set_real(&[u], &[1.0]).unwrap();
    to(&mut other, 0.8);
    assert_eq!(get(&mut other, u), 1.0);
    other.reset();
    assert_eq!(other.variables()[u as usize].start, Some(1.0));
    other.initialize(0.6, 2.0, 0.0).unwrap();
    assert_eq!(get(&mut other, u), 10.0);
}

#[test]
fn mistakes_in_laws_are_refused_with_their_place() {
    for (law, fragment) in [
        (
            "input = \"v\"\nlaw = \"constant\"\nvalue = 1",
            "there is no input \"v\"",
        ),
        ("input = \"u\"\nlaw = \"setp\"", "did you mean \"step\"?"),
        (
            "input = \"u\"\nlaw = \"step\"\ntime = \"3 mm\"\nafter = 1",
            "time is in s, but \"3 mm\" is a length",
        ),
        (
            "input = \"u\"\nlaw = \"step\"\ntime = 1\nafter = \"3 mm\"",
            "after is in m.kg/s2",
        ),
        (
            "input = \"u\"\nlaw = \"ramp\"\nbegin = 2\nend = 1\nto = 1",
            "an end later than the begin",
        ),
        (
            "input = \"u\"\nlaw = \"pulse\"\nperiod = 1\nwidth = 2\nhigh = 1",
            "a period longer than the width",
        ),
        (
            "input = \"u\"\nlaw = \"expression\"\nvalue = \"abs(t)\"",
            "abs has kinks",
        ),
        (
            "input = \"u\"\nlaw = \"expression\"\nvalue = \"2*x\"",
            "there is no definition \"x\"",
        ),
        (
            "input = \"u\"\nlaw = \"csv\"\nfile = \"no such.csv\"",
            "no such.csv",
        ),
        (
            "input = \"u\"\nlaw = \"table\"\npoints = [[0, 1], [-1, 2]]",
            "must be larger than the one before",
        ),
        (
            "input = \"u\"\nlaw = \"constant\"\nvalue = 1\n[[signal]]\ninput = \"u\"\nlaw = \"constant\"\nvalue = 1",
            "has a law already",
        ),
    ] {
        let error = Model::from_text(&block(&format!("[[signal]]\n{law}\n")), "t")
            .expect_err(law)
            .to_string();
        assert!(error.contains(fragment), "{law}: {error}");
    }
}

#[test]
fn the_command_line_gives_laws_by_name_by_file_or_as_expressions() {
    let fresh = || Model::from_text(&block(""), "t").unwrap();
    let law = |text: &str| {
        let mut model = fresh();
        model
            .set_signal_text("u", text, None)
            .map(|()| model.signals[0].law.clone())
    };
    assert_eq!(
        law("step(0.5, 0, 10)").unwrap(),
        SignalLaw::Step {
            time: 0.5,
            before: 0.0,
            after: 10.0
        }
    );
    assert_eq!(
        law(" sine(5, 2 Hz, 90 deg) ").unwrap(),
        SignalLaw::Sine {
            amplitude: 5.0,
            frequency: 2.0,
            phase: std::f64::consts::FRAC_PI_2,
            offset: 0.0
        }
    );
    assert_eq!(
        law("constant(2*(1 + 3))").unwrap(),
        SignalLaw::Constant(8.0)
    );
    let SignalLaw::Expression(expression) = law("10*sin(2*pi*t)").unwrap() else {
        panic!("an expression")
    };
    assert!((expression.at(0.25)[0] - 10.0).abs() < 1e-12);
    for (text, fragment) in [
        ("step(1, 2)", "step(time, before, after)"),
        ("step(1, 2, 3 mm)", "argument 3"),
        ("2*x", "no definition \"x\""),
        ("é", "column 1"),
        ("", "empty"),
        ("missing.csv", "missing.csv"),
    ] {
        let error = law(text).unwrap_err().to_string();
        assert!(error.contains(fragment), "{text}: {error}");
    }
    assert!(
        fresh()
            .set_signal_text("tau", "1", None)
            .unwrap_err()
            .to_string()
            .contains("tau")
    );
    let folder = std::env::temp_dir().join(format!("biela_signal_{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("u.csv");
    std::fs::write(
        &file,
        "time,v,u\n# a comment\n0, 5, 1\n1;5;2\n1,5,-1\n2,5,0\n",
    )
    .unwrap();
    let SignalLaw::Table { points, .. } = law(file.to_str().unwrap()).unwrap() else {
        panic!("a table")
    };
    assert_eq!(points, [[0.0, 1.0], [1.0, 2.0], [1.0, -1.0], [2.0, 0.0]]);
    std::fs::write(&file, "0,1\n1,x\n").unwrap();
    let error = law(file.to_str().unwrap()).unwrap_err().to_string();
    assert!(
        error.contains("u.csv:2:3") && error.contains("\"x\" in column 2"),
        "{error}"
    );
    std::fs::remove_dir_all(&folder).unwrap();
}
