//! Habits of the command line: files by their ending, interrupted runs, full disks, standard input, words for settings,
//! quiet and verbose runs, completions and manual pages, comparisons and diagnoses.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use super::program::{command, fine, folder, of, outcome, word};

const PENDULUM: &str = "models/pendulum.toml";
const DOUBLE_PENDULUM: &str = "models/double_pendulum.toml";

#[test]
fn the_ending_of_a_file_says_what_is_written() {
    let folder = folder("habits_endings");
    let [csv, svg, html] = ["a.csv", "a.svg", "a.html"].map(|name| folder.join(name));
    fine(&[
        "run",
        PENDULUM,
        "-o",
        word(&csv),
        "-o",
        word(&svg),
        "-o",
        word(&html),
    ]);
    assert!(fs::read_to_string(&csv).unwrap().starts_with("time,"));
    assert!(fs::read_to_string(&svg).unwrap().starts_with("<svg"));
    assert!(
        fs::read_to_string(&html)
            .unwrap()
            .starts_with("<!DOCTYPE html>")
    );
    for (arguments, fragment) in [
        (
            ["-o", "a.xlsx"],
            "the ending says what is written, expected .csv (table)",
        ),
        (["-o", "results"], "the ending says"),
        (["--plot", "a.pdf"], "expected .svg or .png (picture)"),
        (["--report", "a.csv"], "expected .html (page)"),
    ] {
        let (status, _, error) = outcome(&[&["run", PENDULUM], &arguments[..]].concat());
        assert_eq!(status, 2, "{error}");
        assert!(error.contains(fragment), "{error}");
    }
    let (status, _, error) = outcome(&["run", PENDULUM, "-o", "a.csv", "--out", "b.csv"]);
    assert_eq!(status, 2);
    assert!(error.contains("two files for one table"), "{error}");
}

#[cfg(unix)]
#[test]
fn the_same_file_under_two_names_is_refused() {
    let folder = folder("habits_twice");
    let [table, link] = ["a.csv", "a.svg"].map(|name| folder.join(name));
    fs::write(&table, "kept").unwrap();
    std::os::unix::fs::symlink(&table, &link).unwrap();
    let (status, _, error) = outcome(&["run", PENDULUM, "-o", word(&table), "-o", word(&link)]);
    assert_eq!(status, 2);
    assert!(error.contains("is named twice"), "{error}");
    assert_eq!(fs::read_to_string(&table).unwrap(), "kept");
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_keeps_what_was_computed_and_says_so() {
    let folder = folder("habits_interrupted");
    let csv = folder.join("a.csv");
    let child = command(&["run", DOUBLE_PENDULUM, "--stop", "1e7", "-o", word(&csv)])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It runs for hours; a second is enough to begin.
    std::thread::sleep(std::time::Duration::from_millis(1500));
    assert!(
        !csv.exists(),
        "the table has its name only when it is complete"
    );
    Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    let (status, said, error) = of(&child.wait_with_output().unwrap());
    assert_eq!(status, 130, "{error}");
    assert!(
        error.contains("interrupted at t = ") && error.contains("are kept"),
        "{error}"
    );
    assert!(said.contains("wrote") && said.contains("a.csv"), "{said}");
    let table = fs::read_to_string(&csv).unwrap();
    assert!(table.ends_with('\n') && table.lines().count() > 10);
    let columns = |line: &str| line.split(',').count();
    let head = columns(table.lines().next().unwrap());
    assert!(
        table.lines().all(|line| columns(line) == head),
        "no row is torn"
    );
}

/// On a terminal, which the program `script` gives, a long run shows a line that is renewed in place, and the head of a message
/// is coloured.
#[cfg(target_os = "linux")]
#[test]
fn progress_and_colours_are_for_terminals() {
    // script may end with the command, or with its input, before it has read the last words: the one goes on for a second, the
    // other stays open. In the background timeout signals the program and then its whole group: the second interrupt would end it.
    let line = format!(
        "timeout --foreground -s INT 3 {} run {DOUBLE_PENDULUM} --stop 1e7; sleep 1",
        env!("CARGO_BIN_EXE_biela")
    );
    let script = Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env_remove("NO_COLOR")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut script) = script else {
        eprintln!("SKIP: the program script is not installed, so there is no terminal");
        return;
    };
    let input = script.stdin.take();
    let output = script.wait_with_output().unwrap();
    drop(input);
    let said = String::from_utf8_lossy(&output.stdout);
    for part in [
        "\r  t = ",
        " s of 10000000 s (0 %)",
        " s per second, ",
        " left, h = ",
        "\x1b[1;36mbiela:\x1b[0m interrupted at t = ",
    ] {
        assert!(said.contains(part), "{part:?}: {said:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_with_its_reason() {
    let (status, _, error) = outcome(&["run", PENDULUM, "--out", "/dev/full"]);
    assert_eq!(status, 1, "{error}");
    assert!(
        error.contains("cannot write \"/dev/full\": the disk is full"),
        "{error}"
    );
}

#[test]
fn unwritable_places_are_known_before_the_run() {
    let folder = folder("habits_unwritable");
    for (path, fragment) in [
        (folder.join("no/such/a.csv"), "the folder does not exist"),
        (folder.join("sub.csv"), "it is a folder"),
    ] {
        let _ = fs::create_dir(folder.join("sub.csv"));
        let (status, said, error) = outcome(&["run", PENDULUM, "-o", word(&path)]);
        assert_eq!(status, 2, "{error}");
        assert!(error.contains(fragment), "{error}");
        assert!(said.is_empty(), "{said}");
    }
}

#[test]
fn a_failed_write_leaves_the_file_of_the_run_before() {
    let folder = folder("habits_kept");
    let csv = folder.join("a.csv");
    fine(&["run", PENDULUM, "--quiet", "-o", word(&csv)]);
    let before = fs::read(&csv).unwrap();
    // The page cannot be written to a folder: nothing is simulated, and the table of the run before stays.
    let (status, ..) = outcome(&[
        "run",
        PENDULUM,
        "-o",
        word(&csv),
        "--report",
        "no/such/a.html",
    ]);
    assert_eq!(status, 2);
    assert_eq!(fs::read(&csv).unwrap(), before);
    assert_eq!(
        fs::read_dir(&folder).unwrap().count(),
        1,
        "no temporary file is left"
    );
}

#[test]
fn a_model_may_come_from_standard_input() {
    let text = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(PENDULUM)).unwrap();
    let fed = |arguments: &[&str], text: &[u8]| {
        let mut child = command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(text).unwrap();
        of(&child.wait_with_output().unwrap())
    };
    let (status, said, error) = fed(&["run", "-", "--out", "-"], &text);
    assert_eq!(status, 0, "{error}");
    assert_eq!(said, fine(&["run", PENDULUM, "--out", "-"]));
    let (status, _, error) = fed(&["check", "-"], b"format = 1\nmas = 3\n");
    assert_eq!(status, 2);
    assert!(error.contains("standard input:2:1: unknown key"), "{error}");
}

#[test]
fn units_are_a_second_head_line_on_request() {
    let plain = fine(&["run", PENDULUM, "--out", "-"]);
    let units = fine(&["run", PENDULUM, "--out", "-", "--units"]);
    let mut lines = units.lines();
    assert_eq!(lines.next(), plain.lines().next());
    let second = lines.next().unwrap();
    assert!(second.starts_with("s,m,m,rad,rad/s"), "{second}");
    assert!(lines.eq(plain.lines().skip(1)));
}

#[test]
fn tolerance_and_formulation_have_options_and_set_takes_words() {
    let steps = |arguments: &[&str]| {
        let said = fine(&[&["run", PENDULUM, "--json"], arguments].concat());
        let object: serde_json::Value = serde_json::from_str(&said).unwrap();
        object["steps"].as_u64().unwrap()
    };
    let fine_steps = steps(&["--tolerance", "1e-9"]);
    assert!(fine_steps > steps(&["--tolerance", "1e-4"]));
    assert_eq!(fine_steps, steps(&["--set", "solver.tolerance=1e-9"]));
    assert_eq!(
        steps(&["--formulation", "relative"]),
        steps(&["--set", "solver.formulation=relative"])
    );
    for (arguments, fragment) in [
        (["--formulation", "absolut"], "did you mean \"absolute\"?"),
        (
            ["--set", "solver.formulation=fast"],
            "one of auto, absolute",
        ),
        (
            ["--set", "solver.tolerance=tight"],
            "expected a finite number",
        ),
        (["--set", "solver.tolerance=-1"], "solver.tolerance = -1"),
        (["--set", "nonsense=word"], "no variable \"nonsense\""),
    ] {
        let arguments = [&["run", PENDULUM], &arguments[..]].concat();
        let (status, _, error) = outcome(&arguments);
        assert_eq!(status, 2, "{error}");
        assert!(error.contains(fragment), "{error}");
    }
}

#[test]
fn quiet_says_nothing_and_verbose_tells_events() {
    assert_eq!(fine(&["run", PENDULUM, "--quiet"]), "");
    let (status, said, told) = outcome(&["run", "models/bouncing_linkage.toml", "--verbose"]);
    assert_eq!(status, 0);
    assert!(said.contains("steps"), "{said}");
    assert!(
        told.contains("event at t = ") && told.contains("floor"),
        "{told}"
    );
    // Piped, there are neither colours nor progress.
    assert!(!told.contains('\x1b') && !said.contains('\x1b'));
}

#[test]
fn a_long_run_is_not_ended_by_max_substeps_but_a_host_is() {
    let folder = folder("habits_long");
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(PENDULUM)).unwrap();
    let text = match text.contains("[solver]") {
        true => text.replace("[solver]", "[solver]\nmax_substeps = 50"),
        false => format!("{text}\n[solver]\nmax_substeps = 50\n"),
    };
    let model = folder.join("long.toml");
    fs::write(&model, text).unwrap();
    let run = |more: &[&str]| outcome(&[&["run", word(&model), "--stop", "100"], more].concat());
    assert_eq!(run(&[]).0, 0);
    let (status, _, error) = run(&["--communication", "50"]);
    assert_eq!(status, 1);
    assert!(error.contains("more than max_substeps = 50"), "{error}");
    assert!(error.contains("the fastest body is"), "{error}");
    assert!(error.contains("raise max_substeps"), "{error}");
}

#[test]
fn numbers_for_people_have_the_digits_that_mean_something() {
    let said = fine(&["run", PENDULUM]);
    for line in said.lines().skip_while(|line| !line.contains("at the end")) {
        for number in line.split_whitespace().filter(|w| w.parse::<f64>().is_ok()) {
            let digits = number.chars().filter(char::is_ascii_digit).count();
            assert!(digits <= 12, "{line}");
        }
    }
}

#[test]
fn check_gives_json_with_what_there_is_or_every_mistake() {
    let object: serde_json::Value =
        serde_json::from_str(&fine(&["check", "--json", PENDULUM])).unwrap();
    assert_eq!(object["ok"], true);
    assert_eq!(object["degrees_of_freedom"], 1);
    assert!(object["outputs"][0]["unit"].is_string());
    let folder = folder("habits_json");
    let model = folder.join("wrong.toml");
    fs::write(
        &model,
        "format = 1\n[[body]]\nname = \"rod\"\nmas = 1\ninertia = \"x\"\n",
    )
    .unwrap();
    let (status, said, error) = outcome(&["check", "--json", word(&model)]);
    assert_eq!((status, error.as_str()), (2, ""));
    let object: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!(object["ok"], false);
    let errors = object["errors"].as_array().unwrap();
    assert!(errors.len() >= 2, "{said}");
    assert_eq!(
        (&errors[0]["line"], &errors[0]["column"]),
        (&4.into(), &1.into())
    );
}

#[test]
fn completions_and_manual_pages_know_every_command() {
    let commands = [
        "run", "check", "diagnose", "compare", "new", "schema", "explain", "pack", "sweep", "merge",
    ];
    for shell in ["bash", "zsh", "fish"] {
        let text = fine(&["completions", shell]);
        assert!(commands.iter().all(|c| text.contains(c)), "{shell}");
        assert!(text.contains("formulation"), "{shell}");
    }
    let page = fine(&["man"]);
    assert!(
        page.contains(".TH") && commands.iter().all(|c| page.contains(c)),
        "{page}"
    );
    let page = fine(&["man", "run"]);
    assert!(page.contains("\\-\\-tolerance"), "{page}");
    let folder = folder("habits_man");
    fine(&["man", "--dir", word(&folder)]);
    assert!(folder.join("biela-run.1").exists() && folder.join("biela.1").exists());
    let (status, _, error) = outcome(&["man", "walk"]);
    assert_eq!(status, 2);
    assert!(error.contains("there is no command \"walk\""), "{error}");
}

#[test]
fn pictures_show_chosen_outputs_pairs_and_pixels() {
    let folder = folder("habits_pictures");
    let model = "models/slider_crank.toml";
    let svg = folder.join("a.svg");
    fine(&[
        "run",
        model,
        "--quiet",
        "--plot",
        word(&svg),
        "--show",
        "slider_x",
        "--xy",
        "slider_x,slider_v",
    ]);
    let text = fs::read_to_string(&svg).unwrap();
    assert!(text.contains(">slider_x</text>") && !text.contains(">angle</text>"));
    assert!(text.contains("slider_v (m/s)"), "the pair has its axes");
    let png = folder.join("a.png");
    let (status, _, error) = outcome(&["run", model, "--quiet", "--plot", word(&png)]);
    match status {
        0 => assert!(fs::read(&png).unwrap().starts_with(b"\x89PNG")),
        _ => {
            assert!(error.contains("no fonts"), "{error}");
            eprintln!("SKIP: no font is installed, so no PNG is drawn");
        }
    }
    let (status, _, error) = outcome(&["run", model, "--plot", word(&svg), "--show", "slider_y"]);
    assert_eq!(status, 2);
    assert!(error.contains("no output \"slider_y\""), "{error}");
    let (status, _, error) = outcome(&["run", model, "--xy", "slider_x,slider_v"]);
    assert_eq!(status, 2);
    assert!(error.contains("--plot"), "{error}");
}

#[test]
fn two_runs_are_compared_with_numbers_and_a_picture() {
    let folder = folder("habits_compare");
    let [a, b, svg] = ["a.csv", "b.csv", "both.svg"].map(|name| folder.join(name));
    fine(&[
        "run",
        PENDULUM,
        "--quiet",
        "--interval",
        "0.01",
        "-o",
        word(&a),
    ]);
    fine(&[
        "run",
        PENDULUM,
        "--quiet",
        "--interval",
        "0.02",
        "--tolerance",
        "1e-9",
        "--units",
        "-o",
        word(&b),
    ]);
    let said = fine(&[
        "compare",
        word(&a),
        word(&b),
        "--plot",
        word(&svg),
        "--within",
        "1",
    ]);
    assert!(said.contains("largest difference"), "{said}");
    assert!(
        fs::read_to_string(&svg)
            .unwrap()
            .contains("two runs compared")
    );
    let said = fine(&["compare", word(&a), word(&a)]);
    assert!(said.contains("largest difference 0 "), "{said}");
    let (status, _, error) = outcome(&["compare", word(&a), word(&b), "--within", "1e-15"]);
    assert_eq!(status, 1);
    assert!(error.contains("of its range"), "{error}");
    let (status, _, error) = outcome(&["compare", word(&a), PENDULUM]);
    assert_eq!(status, 2, "{error}");
}

#[test]
fn diagnose_finds_nothing_in_a_good_model_and_the_culprit_in_a_bad_one() {
    let said = fine(&["diagnose", PENDULUM]);
    assert!(said.contains("runs to t = "), "{said}");
    // A crank that a motion turns although its rod is too short to follow.
    let folder = folder("habits_diagnose");
    let model = folder.join("short.toml");
    let bar = |name: &str, x: f64, y: f64| {
        format!("[[body]]\nname = \"{name}\"\nmass = 1\ninertia = 0.1\nposition = [{x}, {y}]\n")
    };
    let pin = |name: &str, a: &str, b: &str, x: f64, y: f64| {
        format!(
            "[[joint]]\nname = \"{name}\"\ntype = \"revolute\"\nbodies = [\"{a}\", \"{b}\"]\npoint = [{x}, {y}]\n"
        )
    };
    let text = [
        "format = 1\ndimension = 2\n".to_owned(),
        bar("crank", 0.0, 0.5),
        bar("rod", 0.5, 1.0),
        bar("rocker", 1.0, 0.5),
        pin("A", "ground", "crank", 0.0, 0.0),
        pin("B", "crank", "rod", 0.0, 1.0),
        pin("C", "rod", "rocker", 0.6, 1.0),
        pin("D", "ground", "rocker", 1.0, 0.0),
        "[[motion]]\nname = \"drive\"\njoint = \"A\"\nlaw = \"constant_speed\"\nspeed = 1.0\n"
            .to_owned(),
    ]
    .concat();
    fs::write(&model, text).unwrap();
    let (status, said, _) = outcome(&["diagnose", word(&model), "--budget", "1"]);
    assert_eq!(status, 1, "{said}");
    assert!(said.contains("fails at t = "), "{said}");
    assert!(
        said.contains("short.toml:"),
        "the culprit has its line: {said}"
    );
    assert!(said.contains("suggestion"), "{said}");
}

#[test]
fn contradicting_motors_and_short_loops_are_found_by_check() {
    let folder = folder("habits_contradiction");
    let model = folder.join("motors.toml");
    let text = fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suspicious/two_motors.toml"),
    )
    .unwrap();
    fs::write(&model, &text).unwrap();
    let (status, _, error) = outcome(&["check", word(&model)]);
    assert_eq!(status, 2);
    assert!(
        error.contains("motion \"m1\" contradicts \"m2\""),
        "{error}"
    );
    // Motors that agree are redundant, but no error.
    fs::write(&model, text.replace("speed = 2.0", "speed = 1.0")).unwrap();
    let (status, said, error) = outcome(&["check", word(&model)]);
    assert_eq!(status, 0, "{error}");
    assert!(said.contains("redundant"), "{said}");
}

#[test]
fn tables_of_other_rows_are_compared_at_common_times() {
    let folder = folder("habits_common_times");
    let [a, b, c] = ["a.csv", "b.csv", "c.csv"].map(|name| folder.join(name));
    let write = |path: &Path, more: &[&str]| {
        let arguments = [
            "run",
            "models/slider_crank.toml",
            "--quiet",
            "-o",
            word(path),
        ];
        fine(&[&arguments[..], more].concat());
    };
    write(&a, &["--interval", "0.01"]);
    write(&b, &["--interval", "0.02"]);
    write(&c, &["--interval", "0.013", "--tolerance", "1e-8"]);
    let said = fine(&["compare", word(&a), word(&b), "--within", "0"]);
    assert!(said.contains("0 s to 2 s, 101 times\n"), "{said}");
    let said = fine(&["compare", word(&a), word(&c)]);
    assert!(said.contains("times, between rows interpolated"), "{said}");
    // The energy is constant: its last digits are no difference of its whole range.
    write(&c, &["--interval", "0.01", "--tolerance", "1e-5"]);
    let within = [
        "compare",
        word(&a),
        word(&c),
        "--show",
        "energy",
        "--within",
    ];
    fine(&[&within[..], &["0.5"]].concat());
}

#[test]
fn numbers_are_set_by_expressions_with_units() {
    let value = |set: &str| {
        let said = fine(&["run", PENDULUM, "--json", "--stop", "0.01", "--set", set]);
        let object: serde_json::Value = serde_json::from_str(&said).unwrap();
        object["final"].to_string()
    };
    assert_eq!(value("gravity.y=-1.6"), value("gravity.y=-160 cm/s^2"));
    assert_ne!(value("gravity.y=-1.6"), value("gravity.y=-(1 + 1) m/s^2"));
    fine(&["run", PENDULUM, "--quiet", "--set", "expose=all"]);
    for (set, fragment) in [
        ("gravity.y=-1 kg", "a value in m/s2, it is a mass"),
        ("gravity.y=-1 parsec", "column 4"),
        ("expose=every", "one of declared, all"),
        (
            "experiment.initial=equilibrum",
            "did you mean \"equilibrium\"?",
        ),
    ] {
        let (status, _, error) = outcome(&["run", PENDULUM, "--set", set]);
        assert_eq!(status, 2, "{error}");
        assert!(error.contains(fragment), "{set}: {error}");
    }
}

#[test]
fn options_without_effect_and_two_laws_of_one_input_are_refused() {
    let model = "models/slider_crank.toml";
    for (arguments, fragment) in [
        (&["--units"][..], "--out F.csv"),
        (
            &["--input", "tau=1", "--input", "tau=2"],
            "two laws for one input",
        ),
        (&["--tolerance", "-1"], "solver.tolerance = -1"),
        (
            &["--input", "tau=step(0.5, 0, 10"],
            "expected step(time, before, after)",
        ),
        (
            &["--input", "tau=stepp(0.5, 0, 10)"],
            "expected step(time, before, after)",
        ),
        (
            &["--input", "tau=step(0.5, 0, 10 kg)"],
            "argument 3 in N.m, it is a mass",
        ),
        (
            &["--input", "tau=sqrt(t - 1)"],
            "the law of input \"tau\" at t = 0 s = NaN",
        ),
    ] {
        let (status, _, error) = outcome(&[&["run", model], arguments].concat());
        assert_eq!(status, 2, "{error}");
        assert!(error.contains(fragment), "{arguments:?}: {error}");
    }
}

#[test]
fn a_table_with_units_drives_an_input() {
    let folder = folder("habits_units_input");
    let (table, out) = (folder.join("drive.csv"), folder.join("a.glb"));
    fs::write(&table, "time,tau\ns,N.m\n0,0\n0.5,0\n0.5,1\n2,1\n").unwrap();
    let drive = format!("tau={}", word(&table));
    let model = "models/slider_crank.toml";
    let by_table = fine(&["run", model, "--out", "-", "--input", &drive]);
    let by_law = fine(&["run", model, "--out", "-", "--input", "tau=step(0.5, 0, 1)"]);
    assert_eq!(by_table, by_law);
    fine(&["run", model, "--quiet", "-o", word(&out)]);
    assert!(fs::read(&out).unwrap().starts_with(b"glTF"));
}

#[test]
fn a_start_that_fails_is_told_with_its_line() {
    let folder = folder("habits_positions");
    let model = folder.join("m.toml");
    let bar = |name: &str, x: f64| {
        format!("[[body]]\nname = \"{name}\"\nmass = 1\ninertia = 0.1\nposition = [{x}, 0]\n")
    };
    let pin = |name: &str, a: &str, b: &str, p: f64, q: f64| {
        format!(
            "[[joint]]\nname = \"{name}\"\ntype = \"revolute\"\nbodies = [\"{a}\", \"{b}\"]\n\
             at = [{{ point = [{p}, 0] }}, {{ point = [{q}, 0] }}]\n"
        )
    };
    let open = [
        "format = 1\ndimension = 2\n".to_owned(),
        bar("left", 0.5),
        bar("right", 2.5),
        pin("a", "ground", "left", 0.0, -0.5),
        pin("b", "left", "right", 0.5, -0.5),
        pin("c", "ground", "right", 3.0, 0.5),
    ]
    .concat();
    let massless = "format = 1\ndimension = 2\n[[body]]\nname = \"dust\"\nmass = 0\ninertia = 0\n";
    for (text, fragment) in [
        (open.as_str(), "the mechanism cannot be assembled"),
        (massless, "m.toml:3:1: \"dust"),
    ] {
        fs::write(&model, text).unwrap();
        for command in ["check", "run"] {
            let (status, _, error) = outcome(&[command, word(&model)]);
            assert_eq!(status, 2, "{error}");
            assert!(error.contains(fragment), "{error}");
            assert!(error.contains("m.toml:"), "{error}");
        }
        let (_, said, _) = outcome(&["check", "--json", word(&model)]);
        let object: serde_json::Value = serde_json::from_str(&said).unwrap();
        assert!(object["errors"][0]["line"].as_u64().is_some(), "{said}");
    }
    // The length that is short, in metres, at a joint of the loop.
    fs::write(&model, &open).unwrap();
    let (_, _, error) = outcome(&["check", word(&model)]);
    assert!(
        error.contains("1.0000 m short") && error.contains("m.toml:"),
        "{error}"
    );
}

#[test]
fn a_run_away_by_a_law_tells_its_present_value() {
    let folder = folder("habits_run_away");
    let model = folder.join("rotor.toml");
    let text = "format = 1\ndimension = 2\n[[body]]\nname = \"rotor\"\nmass = 1\ninertia = 1e-4\n\
                [[joint]]\nname = \"j\"\ntype = \"revolute\"\nbodies = [\"ground\", \"rotor\"]\npoint = [0, 0]\n\
                [[force]]\nname = \"m\"\ntype = \"actuator\"\njoint = \"j\"\n[[input]]\nname = \"tau\"\ntarget = \"m.torque\"\n";
    fs::write(&model, text).unwrap();
    let (status, _, error) = outcome(&["run", word(&model), "--input", "tau=1e6*t"]);
    assert_eq!(status, 1, "{error}");
    assert!(error.contains("\"rotor\" runs away: "), "{error}");
    // It is told after ten thousand steps, whenever that is.
    let time = error.split(" rad/s at t = ").nth(1).expect("a time");
    let time: f64 = time.split(' ').next().expect("a number").parse().unwrap();
    let present = format!("\"tau\" = {:.3e} N.m", 1e6 * time);
    assert!(error.contains(&present), "{present}: {error}");
}
