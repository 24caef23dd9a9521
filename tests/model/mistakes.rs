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
            "7:10 there is no definition \"up\"",
            "8:17 there is no definition \"x\"",
            "10:9 0 <= alpha <= 1/3",
            "11:13 tolerance must be",
            "13:9 there is no definition \"late\"",
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

#[test]
fn mistakes_in_definitions_hide_no_others() {
    let text = format!(
        "{HEAD}[define]\nl = \"2*\"\nw = \"3 mm + 2 kg\"\nz = \"unknown\"\na = \"b\"\nb = \"a\"\nuses = \"l + w\"\n\
         2x = 3\npi = 3\nlist = [1, 2]\ngood = \"10 mm\"\n\
         [solver]\nalpha = \"l\"\n\
         [[body]]\nname = \"rod\"\nmas = 1.0\ninertia = \"l\"\nposition = [\"q\", \"good\"]\nangle = \"uses\"\n\
         [[joint]]\nname = \"p\"\ntype = \"revolute\"\nbodies = [\"ground\", \"rood\"]\npoint = [0, \"good*2 kg\"]\n\
         [[parameter]]\nname = \"length\"\ntarget = \"define.l\"\n"
    );
    assert_mistakes(
        &text,
        &[
            "4:8 define: l: the expression ends",
            "5:11 define: w: ",
            "6:6 define: z: there is no definition \"unknown\"",
            "8:6 definitions go in a circle: a, b",
            "10:1 define: a name has letters",
            "11:1 define: \"pi\" has a meaning",
            "12:8 define: list must be a number",
            "18:1 did you mean \"mass\"?",
            "20:14 there is no definition \"q\"",
            "25:21 did you mean \"rod\"?",
            "26:13 point is in m, but",
        ],
    );
}

#[test]
fn a_definition_that_resembles_another_is_suggested() {
    let text = format!("{HEAD}[define]\nlength = 2\nhalf = \"lenght/2\"\n");
    assert_mistakes(&text, &["5:9 did you mean \"length\"?"]);
}

/// Mistakes of parts are told with those of the file that includes them; names that may be those of a part that could not be read
/// are no mistakes.
#[test]
fn mistakes_in_parts_hide_no_others() {
    let folder = std::env::temp_dir().join(format!("biela_mistakes_{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let part =
        "format = 1\ndimension = 2\n[[body]]\nname = \"b\"\nmass = \"1 m\"\ninertia = \"2*\"\n";
    std::fs::write(folder.join("part.toml"), part).unwrap();
    let whole = format!(
        "{HEAD}include = [\"nothing.toml\", \"part.toml\"]\n[[body]]\nname = \"rod\"\nmas = 1\ninertia = 1\n\
         [[joint]]\nname = \"pin\"\ntype = \"revolute\"\nbodies = [\"b\", \"rod\"]\npoint = [0, 0]\n\
         [[output]]\nname = \"x\"\nsource = \"b.x\"\n[[output]]\nname = \"y\"\nsource = \"rod.hight\"\n"
    );
    let path = folder.join("whole.toml");
    std::fs::write(&path, whole).unwrap();
    let error = Model::from_file(&path).unwrap_err().to_string();
    std::fs::remove_dir_all(&folder).unwrap();
    let found: Vec<&str> = error.lines().collect();
    for (file, fragment) in [
        ("whole.toml:3:12: ", "cannot read"),
        ("part.toml:5:8: ", "mass is in kg"),
        ("part.toml:6:14: ", "the expression ends"),
        ("whole.toml:6:1: ", "did you mean \"mass\"?"),
        ("whole.toml:18:10: ", "rod"),
    ] {
        let told = |line: &&&str| line.contains(file) && line.contains(fragment);
        assert!(
            found.iter().any(|line| told(&line)),
            "{file}{fragment}: {error}"
        );
    }
    assert_eq!(found.len(), 5, "{error}");
}

#[test]
fn a_signal_of_an_input_with_a_mistake_is_no_mistake() {
    let text = format!(
        "{HEAD}[[input]]\nname = \"f\"\ntarget = \"drive.force\"\n[[signal]]\ninput = \"f\"\nlaw = \"constant\"\nvalue = 1\n\
         [[signal]]\ninput = \"g\"\nlaw = \"constant\"\nvalue = 1\n"
    );
    assert_mistakes(
        &text,
        &[
            "5:10 there is no element \"drive\"",
            "11:9 there is no input \"g\"",
        ],
    );
}

/// Warnings too say where: about an element of a part the line that includes it, about a value of a part its own file.
#[test]
fn warnings_about_parts_name_a_place_that_exists() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("warned-parts");
    std::fs::create_dir_all(&folder).unwrap();
    let part = format!(
        "{HEAD}\n\n\n[[body]]\nname = \"plate\"\nmass = 1\ninertia = 0.1\nposition = [0, 0]\nangle = 90\n"
    );
    std::fs::write(folder.join("part.toml"), part).unwrap();
    let text = format!(
        "{HEAD}[[include]]\nfile = \"part.toml\"\nprefix = \"a_\"\n[[force]]\nname = \"drive\"\ntype = \"actuator\"\ninput = 1\n"
    );
    let refused = Model::from_text_in(&text, "m.toml", Some(&folder)).unwrap_err();
    let said = refused.to_string();
    assert!(
        said.contains("m.toml:9:1: ") && said.contains("\"input\" is a table of its own"),
        "{said}"
    );

    let text = &text[..text.find("[[force]]").unwrap()];
    let said = Model::from_text_in(text, "m.toml", Some(&folder))
        .unwrap()
        .warnings();
    let body = "m.toml:3:1: body \"a_plate\" is in no joint";
    assert!(said.iter().any(|s| s == body), "{said:#?}");
    let angle = "part.toml:11:9: body \"plate\": angle is in radians";
    assert!(said.iter().any(|s| s.contains(angle)), "{said:#?}");
}
