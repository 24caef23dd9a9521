//! All mistakes of a text are reported in one run, each once and at its position, and no mistake that only follows
//! from another.

use biela::model::Model;

/// The positions and sentences of all mistakes.
fn mistakes(text: &str) -> Vec<String> {
    let error = Model::from_text(text, "m.toml").unwrap_err().to_string();
    error.lines().map(str::to_owned).collect()
}

fn assert_mistakes(text: &str, expected: &[&str]) {
    let found = mistakes(text);
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        let (place, fragment) = expected.split_once(' ').unwrap();
        assert!(found.starts_with(&format!("m.toml:{place}: ")), "{found}");
        assert!(found.contains(fragment), "{expected}: {found}");
    }
}

const HEAD: &str = "format = 1\ndimension = 2\n";

#[test]
fn misspelt_keys_types_and_names_are_all_found() {
    let text = format!(
        "{HEAD}[[body]]\nname = \"rod\"\nmas = 1.0\ninertai = 0.1\n[[joint]]\nname = \"pivot\"\ntype = \"revolut\"\n\
         bodies = [\"ground\", \"rood\"]\npoint = [0.0, 0.0]\n[[output]]\nname = \"angle\"\nsource = \"pivot.postion\"\n"
    );
    assert_mistakes(
        &text,
        &[
            "5:1 did you mean \"mass\"?",
            "6:1 did you mean \"inertia\"?",
            "9:8 did you mean \"revolute\"?",
            "10:21 did you mean \"rod\"?",
            "14:10 did you mean \"position\"?",
        ],
    );
}

#[test]
fn wrong_and_missing_values_of_one_table_are_all_found() {
    let text = format!(
        "{HEAD}[[body]]\nname = \"rod\"\nmass = -1.0\nposition = [0.5]\nangle = \"up\"\nvelocity = [1, \"x\"]\n\
         [solver]\nalpha = 2.0\ntolerance = -1\n[experiment]\nstop = \"late\"\n"
    );
    assert_mistakes(
        &text,
        &[
            "3:1 \"inertia\" is missing",
            "5:8 mass must be",
            "6:12 position must be",
            "7:9 angle must be",
            "8:16 velocity[1] must be",
            "10:9 0 <= alpha <= 1/3",
            "11:13 tolerance must be",
            "13:8 stop must be",
        ],
    );
}

#[test]
fn a_value_misread_under_a_misspelt_key_is_reported_too() {
    let text = format!("{HEAD}[[body]]\nname = \"rod\"\nmas = -1.0\ninertia = 1\n");
    assert_mistakes(&text, &["5:1 did you mean \"mass\"?", "5:7 mass must be"]);
}

#[test]
fn what_follows_from_a_mistake_is_not_reported() {
    // A type that resembles none: the outputs and motions of the joint cannot be judged.
    let text = format!(
        "{HEAD}[[body]]\nname = \"rod\"\nmass = 1\ninertia = 1\n[[joint]]\nname = \"pivot\"\ntype = \"magic\"\n\
         bodies = [\"ground\", \"rod\"]\npoint = [0, 0]\n[[motion]]\nname = \"drive\"\njoint = \"pivot\"\n\
         law = \"constant_speed\"\nspeed = 1\n[[output]]\nname = \"a\"\nsource = \"pivot.position\"\n\
         [[output]]\nname = \"b\"\nsource = \"drive.torque\"\n"
    );
    assert_mistakes(&text, &["9:8 type must be one of"]);
    // A body that is misspelt at the top, or in single brackets, is known to the joints.
    for (head, place) in [("[[boddy]]", "3:3"), ("[body]", "3:2")] {
        let text = format!(
            "{HEAD}{head}\nname = \"rod\"\nmass = 1\ninertia = 1\n[[joint]]\nname = \"pivot\"\ntype = \"revolute\"\n\
             bodies = [\"ground\", \"rod\"]\npoint = [0, 0]\n"
        );
        assert_mistakes(&text, &[&format!("{place} body")]);
    }
    // A name that is not allowed is still the name of the body.
    let text = format!(
        "{HEAD}[[body]]\nname = \"my rod\"\nmass = 1\ninertia = 1\n[[sensor]]\nname = \"tip\"\nbody = \"my rod\"\n"
    );
    assert_mistakes(&text, &["4:8 name must be letters"]);
    // Axes are not compared if one of them is no vector.
    let text = "format = 1\n[[body]]\nname = \"rod\"\nmass = 1\ninertia = [1, 1, 1]\n[[joint]]\nname = \"j\"\n\
                type = \"revolute\"\nbodies = [\"ground\", \"rod\"]\npoint = [0, 0, 0]\naxis = [0, 1]\nacross = [1, 0, 0]\n";
    assert_mistakes(text, &["11:8 axis must be"]);
    // The forgotten dimension is said once, not at every vector.
    let text = "format = 1\ngravity = [0, -9.81]\n[[body]]\nname = \"rod\"\nmass = 1\ninertia = 1\nposition = [0, 1]\n";
    assert_mistakes(text, &["2:11 unless dimension = 2 is written"]);
}

#[test]
fn every_line_that_is_not_toml_is_found() {
    let text = format!("{HEAD}[[body]]\nname = rod\nmass = 1.0 kg\ninertia = 0,5\n");
    assert_mistakes(
        &text,
        &[
            "4:8 write name = \"rod\"",
            "5:8 write mass = 1.0",
            "6:11 write a point, inertia = 0.5",
        ],
    );
}

#[test]
fn a_long_list_ends_with_the_number_of_the_rest() {
    let keys: String = (0..50).map(|i| format!("zzzzzz{i} = 1\n")).collect();
    let found = mistakes(&format!("format = 1\n{keys}"));
    assert_eq!(found.len(), 21, "{found:#?}");
    assert_eq!(found[20], "and 30 more mistakes");
}

/// Values that no key accepts, one in each table: as many mistakes as tables, whatever their order.
#[test]
fn mistakes_are_counted_once_in_random_models() {
    let mut seed = 12_345_u64;
    let mut random = move |n: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) % n
    };
    for _ in 0..200 {
        let mut text = HEAD.to_owned();
        let mut wrong = 0;
        for i in 0..6 {
            let (mass, bad) = match random(3) {
                0 => ("\"heavy\"", 1),
                1 => ("-2.0", 1),
                _ => ("1.0", 0),
            };
            let (position, off) = match random(3) {
                0 => ("[1, 2, 3]", 1),
                _ => ("[0, 1]", 0),
            };
            let (other, unknown) = match random(4) {
                0 => ("nobody", 1),
                _ => ("ground", 0),
            };
            wrong += bad + off + unknown;
            text += &format!(
                "[[body]]\nname = \"b{i}\"\nmass = {mass}\ninertia = 1\nposition = {position}\n\
                 [[joint]]\nname = \"j{i}\"\ntype = \"revolute\"\nbodies = [\"{other}\", \"b{i}\"]\npoint = [0, 0]\n\
                 [[output]]\nname = \"q{i}\"\nsource = \"j{i}.position\"\n"
            );
        }
        match wrong {
            0 => drop(Model::from_text(&text, "m.toml").unwrap()),
            _ => assert_eq!(mistakes(&text).len(), wrong, "{text}"),
        }
    }
}
