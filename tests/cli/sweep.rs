//! `biela sweep` and `biela merge`: rows that equal single runs, the same bytes for any number of threads and shards, sweeps
//! that are killed and go on, failed runs, mistakes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::program::{fine, folder, outcome, word};

const CRANK: &str = "models/slider_crank.toml";

/// The rows of a table, by column names; no field of these tests has a quote unless it is a message.
struct Rows {
    names: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Rows {
    fn of(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap();
        let mut records = biela::study::csv_records(&text)
            .into_iter()
            .map(|(_, fields)| fields);
        Self {
            names: records.next().unwrap(),
            rows: records.collect(),
        }
    }

    fn text(&self, row: usize, name: &str) -> &str {
        let column = self
            .names
            .iter()
            .position(|other| other == name)
            .unwrap_or_else(|| panic!("{name}: {:?}", self.names));
        &self.rows[row][column]
    }

    fn number(&self, row: usize, name: &str) -> f64 {
        self.text(row, name)
            .parse()
            .unwrap_or_else(|_| panic!("{name}: {}", self.text(row, name)))
    }
}

#[test]
fn a_row_is_what_a_single_run_gives() {
    let folder = folder("sweep_single");
    let table = folder.join("r.csv");
    let vary = [
        "--vary",
        "slider_mass=0.5:1.5:2",
        "--vary",
        "tau=list:-0.5,1",
        "--vary",
        "solver.formulation=list:absolute,topological",
    ];
    fine(
        &[
            &[
                "sweep",
                CRANK,
                "--stop",
                "0.5",
                "--outputs",
                "slider_x,crank_speed,rod.y,pivot.fx",
                "-o",
                word(&table),
            ],
            &vary[..],
        ]
        .concat(),
    );
    let rows = Rows::of(&table);
    assert_eq!(rows.rows.len(), 8);
    for row in 0..8 {
        let set: Vec<String> = ["slider_mass", "tau", "solver.formulation"]
            .map(|name| format!("--set={name}={}", rows.text(row, name)))
            .to_vec();
        let set: Vec<&str> = set.iter().map(String::as_str).collect();
        let said = fine(&[&["run", CRANK, "--stop", "0.5", "--json"], &set[..]].concat());
        // The text itself: reading JSON may round the last bit.
        let single = |name: &str| -> f64 {
            let behind = said.split(&format!("\"{name}\": ")).nth(1).unwrap();
            behind.split([',', '}']).next().unwrap().parse().unwrap()
        };
        // Reading outputs does not change a step: the same bits.
        for (name, column) in [
            ("slider_x", "slider_x"),
            ("crank_speed", "crank_speed"),
            ("steps", "solver.steps"),
            ("energy_drift", "energy_drift"),
        ] {
            assert_eq!(single(name), rows.number(row, column), "row {row} {name}");
        }
        assert_eq!(
            (
                rows.text(row, "status"),
                rows.text(row, "time"),
                rows.number(row, "run")
            ),
            ("ok", "0.5", row as f64 + 1.0)
        );
    }
}

#[test]
fn a_run_that_asks_for_an_accuracy_is_repeated_as_a_single_one() {
    let folder = folder("sweep_accuracy");
    let table = folder.join("r.csv");
    let model = "models/double_pendulum.toml";
    let words = ["sweep", model, "--stop", "2", "-o", word(&table), "--vary"];
    fine(&[&words[..], &["solver.accuracy=list:1e-3,1e-7"]].concat());
    let rows = Rows::of(&table);
    for (row, accuracy) in ["1e-3", "1e-7"].into_iter().enumerate() {
        let said = fine(&[
            "run",
            model,
            "--stop",
            "2",
            "--json",
            "--accuracy",
            accuracy,
        ]);
        let said: serde_json::Value = serde_json::from_str(&said).unwrap();
        assert_eq!(
            said["steps"],
            rows.number(row, "solver.steps"),
            "{accuracy}"
        );
    }
}

#[test]
fn extremes_are_those_of_a_fine_table() {
    let folder = folder("sweep_extremes");
    // A crank that turns, a contact that bounces, forces that jump: closed forms are not needed, a dense table shows the extremes.
    for model in [
        "slider_crank",
        "bouncing_linkage",
        "quarter_car",
        "four_bar",
    ] {
        let path = format!("models/{model}.toml");
        let [table, fine_table] =
            ["r.csv", "fine.csv"].map(|name| folder.join(format!("{model}_{name}")));
        fine(&[
            "sweep",
            &path,
            "--stop",
            "1",
            "--vary",
            "solver.alpha=list:0.05",
            "-o",
            word(&table),
        ]);
        fine(&[
            "run",
            &path,
            "--stop",
            "1",
            "--set",
            "solver.alpha=0.05",
            "--interval",
            "0.00005",
            "-q",
            "-o",
            word(&fine_table),
        ]);
        let (rows, dense) = (Rows::of(&table), Rows::of(&fine_table));
        assert_eq!(rows.text(0, "status"), "ok", "{model}");
        for name in dense.names.iter().skip(1) {
            let values: Vec<f64> = (0..dense.rows.len())
                .map(|row| dense.number(row, name))
                .collect();
            let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
            let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            // An extreme that turns smoothly is found to far better than a thousandth of the range; a jump has its limits, which
            // the table may miss by one of its rows.
            // An energy balance is rounding of energies, 1e-12 J here.
            let slack =
                1e-3 * (largest - smallest) + 1e-9 * largest.abs().max(smallest.abs()) + 1e-10;
            let (low, high) = (
                rows.number(0, &format!("{name}.min")),
                rows.number(0, &format!("{name}.max")),
            );
            assert!(
                low <= smallest + slack && high >= largest - slack,
                "{model} {name}: {low} {high}, table {smallest} {largest}"
            );
        }
    }
    // Without jumps the extremes are not beyond the table either.
    let (rows, dense) = (
        Rows::of(&folder.join("slider_crank_r.csv")),
        Rows::of(&folder.join("slider_crank_fine.csv")),
    );
    for name in ["slider_x", "slider_v", "pivot_fx", "guide_fy"] {
        let values: Vec<f64> = (0..dense.rows.len())
            .map(|row| dense.number(row, name))
            .collect();
        let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
        let found = [
            rows.number(0, &format!("{name}.min")),
            rows.number(0, &format!("{name}.max")),
        ];
        // Half a row of the table, 2.5e-5 s, at the turn: (ω t)²/2 of the range with ω below 200 1/s.
        let bound = 2e-5 * (largest - smallest);
        assert!(
            (found[0] - smallest).abs() < bound && (found[1] - largest).abs() < bound,
            "{name}: {found:?} {smallest} {largest}"
        );
    }
}

#[test]
fn any_number_of_threads_and_merged_shards_give_the_same_bytes() {
    let folder = folder("sweep_bytes");
    for ending in ["csv", "parquet"] {
        let path = |name: &str| folder.join(format!("{name}.{ending}"));
        let long = |name: &str| folder.join(format!("{name}_long.{ending}"));
        let study = |name: &str, more: &[&str]| {
            let (table, trajectories) = (path(name), long(name));
            let study = [
                "sweep",
                CRANK,
                "--stop",
                "0.1",
                "--vary",
                "slider_mass=normal(0.8,0.5)",
                "--vary",
                "tau=uniform(-1,1)",
                "--plan",
                "lhs",
                "--runs",
                "23",
                "--seed",
                "5",
                "-o",
                word(&table),
                "--trajectories",
                word(&trajectories),
            ];
            fine(&[&study[..], more].concat());
        };
        study("one", &["-j", "1"]);
        study("four", &["-j", "4"]);
        for shard in ["1/3", "2/3", "3/3"] {
            study(
                &format!("part{}", &shard[..1]),
                &["-j", "2", "--shard", shard],
            );
        }
        let parts = ["part3", "part1", "part2"];
        let tables: Vec<PathBuf> = parts.map(path).to_vec();
        let tables: Vec<&str> = tables.iter().map(|path| word(path)).collect();
        let merged = path("merged");
        fine(&[&["merge", "--out", word(&merged)], &tables[..]].concat());
        let longs: Vec<PathBuf> = parts.map(long).to_vec();
        let longs: Vec<&str> = longs.iter().map(|path| word(path)).collect();
        fine(&[&["merge", "--out", word(&long("merged"))], &longs[..]].concat());
        let one = [
            fs::read(path("one")).unwrap(),
            fs::read(long("one")).unwrap(),
        ];
        for other in ["four", "merged"] {
            assert!(one[0] == fs::read(path(other)).unwrap(), "{ending} {other}");
            assert!(
                one[1] == fs::read(long(other)).unwrap(),
                "{ending} {other}, trajectories"
            );
        }
        // A shard that is missing, one that is there twice, and a table of something else.
        let out = path("none");
        let (status, _, error) = outcome(&["merge", tables[0], tables[1], "--out", word(&out)]);
        assert!(
            status == 2 && error.contains("run 2 is in none of the tables"),
            "{error}"
        );
        let (status, _, error) = outcome(&["merge", tables[0], tables[0], "--out", word(&out)]);
        assert!(status == 2 && error.contains("run 3 is in"), "{error}");
        let (status, _, error) = outcome(&["merge", tables[0], longs[1], "--out", word(&out)]);
        assert!(
            status == 2 && error.contains("not parts of one sweep"),
            "{error}"
        );
        fine(&["merge", tables[0], "--partial", "--out", word(&out)]);
    }
}

#[test]
fn a_sweep_that_was_killed_goes_on() {
    let folder = folder("sweep_killed");
    for ending in ["csv", "parquet"] {
        let [whole, part, whole_long, part_long] = ["whole", "part", "whole_long", "part_long"]
            .map(|name| folder.join(format!("{name}.{ending}")));
        let study = |table: &Path, long: &Path| {
            let texts = [
                "sweep",
                CRANK,
                "--stop",
                "1",
                "--vary",
                "slider_mass=0.1:3:40",
                "-j",
                "2",
                "-q",
                "-o",
                word(table),
                "--trajectories",
                word(long),
            ];
            texts.map(str::to_owned).to_vec()
        };
        let run = |texts: &[String]| outcome(&texts.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(run(&study(&whole, &whole_long)).0, 0);
        let mut child = Command::new(env!("CARGO_BIN_EXE_biela"))
            .args(study(&part, &part_long))
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .spawn()
            .unwrap();
        let journal = folder.join(format!("part.{ending}.runs"));
        let lines = || fs::read_to_string(&journal).map_or(0, |text| text.lines().count());
        while lines() < 6 && child.try_wait().unwrap().is_none() {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!part.exists(), "it was killed before its end");
        let kept = lines();
        assert!((6..40).contains(&kept), "{kept}");
        // Killed inside a line: that run does not count.
        let text = fs::read_to_string(&journal).unwrap();
        fs::write(&journal, &text[..text.len() - 30]).unwrap();
        let (status, _, error) = run(&study(&part, &part_long));
        assert!(status == 2 && error.contains("--resume goes on"), "{error}");
        // Another study may not go on here.
        let mut other = study(&part, &part_long);
        other.push("--resume".to_owned());
        let place = other.iter().position(|word| word == "1").unwrap();
        other[place] = "0.9".to_owned();
        let (status, _, error) = run(&other);
        assert!(
            status == 2 && error.contains("another model, plan or shard"),
            "{error}"
        );
        let mut resumed = study(&part, &part_long);
        resumed.push("--resume".to_owned());
        let (status, _, error) = run(&resumed);
        assert_eq!(status, 0, "{error}");
        assert!(
            fs::read(&whole).unwrap() == fs::read(&part).unwrap(),
            "{ending}"
        );
        assert!(
            fs::read(&whole_long).unwrap() == fs::read(&part_long).unwrap(),
            "{ending}"
        );
        assert!(!journal.exists());
        // Everything is there: nothing is simulated again.
        let (status, _, error) = run(&resumed);
        assert!(status == 0 && error.contains("nothing to do"), "{error}");
    }
}

#[test]
fn tables_of_another_study_are_neither_resumed_nor_merged() {
    let folder = folder("sweep_other");
    let plan = folder.join("plan.csv");
    let write_plan = |fourth: &str| {
        fs::write(
            &plan,
            format!("slider_mass\n0.5\n0.6\n0.7\n{fourth}\n0.9\n"),
        )
        .unwrap();
    };
    write_plan("0.8");
    let csv = format!("csv:{}", word(&plan));
    let study = |table: &Path, more: &[&str]| {
        let words = ["sweep", CRANK, "--plan", &csv, "-q", "-o", word(table)];
        outcome(&[&words[..], more].concat())
    };
    // A journal whose plan differs in one of its inner runs.
    let table = folder.join("r.csv");
    let journal = folder.join("r.csv.runs");
    let [first, second, merged] =
        ["a", "b", "m"].map(|name| folder.join(format!("{name}.parquet")));
    let begun = Command::new(env!("CARGO_BIN_EXE_biela"))
        .args([
            "sweep",
            CRANK,
            "--plan",
            &csv,
            "-q",
            "-j",
            "1",
            "--stop",
            "1e3",
            "-o",
            word(&table),
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .spawn();
    let mut begun = begun.unwrap();
    while !journal.exists() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    while fs::read(&journal).unwrap().is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    begun.kill().unwrap();
    begun.wait().unwrap();
    write_plan("0.85");
    let (status, _, error) = study(&table, &["--stop", "1e3", "--resume"]);
    assert!(
        status == 2 && error.contains("another model, plan or shard"),
        "{error}"
    );
    // A complete table of another stop time is not left alone, and parts with different ones are not put together.
    assert_eq!(study(&first, &["--stop", "0.01"]).0, 0);
    let (status, _, error) = study(&first, &["--stop", "0.01", "--resume"]);
    assert!(status == 0 && error.contains("nothing to do"), "{error}");
    let (status, _, error) = study(&first, &["--stop", "0.02", "--resume"]);
    assert!(status == 0 && error.is_empty(), "{error}");
    assert_eq!(study(&first, &["--stop", "0.01", "--shard", "1/2"]).0, 0);
    assert_eq!(study(&second, &["--stop", "0.02", "--shard", "2/2"]).0, 0);
    let (status, _, error) = outcome(&["merge", word(&first), word(&second), "-o", word(&merged)]);
    assert!(
        status == 2 && error.contains("model, settings or plan differ"),
        "{error}"
    );
    // A shard of a plan far too large for one machine needs memory for its own runs alone.
    let huge = [
        "--vary",
        "tau=0:1:30000",
        "--vary",
        "slider_mass=0.5:1:30000",
        "--shard",
        "1/500000000",
    ];
    let words = ["sweep", CRANK, "--stop", "0.001", "-q", "-o", word(&second)];
    let (status, _, error) = outcome(&[&words[..], &huge].concat());
    assert_eq!(status, 0, "{error}");
}

#[test]
fn a_run_that_fails_is_a_row_with_its_sentence() {
    let folder = folder("sweep_failed");
    let table = folder.join("r.csv");
    let said = fine(&[
        "sweep",
        CRANK,
        "--stop",
        "0.05",
        "--vary",
        "slider_mass=list:0.8,-1,0.9",
        "-o",
        word(&table),
    ]);
    assert!(said.contains("3 runs, 1 of them failed"), "{said}");
    let rows = Rows::of(&table);
    let status: Vec<&str> = (0..3).map(|row| rows.text(row, "status")).collect();
    assert_eq!(status, ["ok", "failed", "ok"]);
    assert!(
        rows.text(1, "message").starts_with("slider_mass = -1"),
        "{}",
        rows.text(1, "message")
    );
    assert_eq!(
        (
            rows.text(1, "time"),
            rows.text(1, "slider_x"),
            rows.text(1, "solver.steps")
        ),
        ("", "", "")
    );
    assert_eq!(rows.text(0, "message"), "");
    // A run that stops half way keeps what it reached.
    fine(&[
        "sweep",
        CRANK,
        "--vary",
        "solver.max_substeps=list:5",
        "--vary",
        "solver.step=list:1e-9",
        "-o",
        word(&table),
    ]);
    let rows = Rows::of(&table);
    assert_eq!(rows.text(0, "status"), "failed");
    assert!(
        rows.text(0, "message").contains("max_substeps = 5"),
        "{}",
        rows.text(0, "message")
    );
    assert!(rows.number(0, "time") > 0.0 && rows.number(0, "slider_x") > 0.0);
}

#[test]
fn definitions_and_plans_from_tables_vary_too() {
    let folder = folder("sweep_plan");
    let model = folder.join("m.toml");
    let text = "format = 1\nname = \"drop\"\ndimension = 2\ngravity = [0.0, \"-g\"]\n[define]\ng = \"9.81 m/s^2\"\n[experiment]\nstop = 1.0\n\
                [[body]]\nname = \"ball\"\nmass = 1.0\ninertia = 1.0\n[[output]]\nname = \"y\"\nsource = \"ball.y\"\n";
    fs::write(&model, text).unwrap();
    let plan = folder.join("plan.csv");
    fs::write(&plan, "define.g,ball.mass\n1,1\n9.81,2\n20,3\n").unwrap();
    let table = folder.join("r.csv");
    let option = format!("csv:{}", word(&plan));
    fine(&[
        "sweep",
        word(&model),
        "--plan",
        &option,
        "--outputs",
        "y,ball.vy",
        "-o",
        word(&table),
    ]);
    let rows = Rows::of(&table);
    for (row, g) in [1.0, 9.81, 20.0].into_iter().enumerate() {
        // A free fall is integrated exactly but for rounding.
        assert!(
            (rows.number(row, "y") + 0.5 * g).abs() < 1e-12 * g,
            "{}",
            rows.text(row, "y")
        );
        assert!((rows.number(row, "ball.vy.min") + g).abs() < 1e-12 * g);
        assert_eq!(rows.number(row, "ball.mass"), row as f64 + 1.0);
    }
}

#[test]
fn mistakes_are_told_before_anything_runs() {
    let folder = folder("sweep_mistakes");
    let out = folder.join("r.csv");
    let sweep =
        |arguments: &[&str]| outcome(&[&["sweep", CRANK, "-o", word(&out)], arguments].concat());
    for (arguments, sentence) in [
        (
            vec!["--vary", "slider_mas=1:2:3"],
            "did you mean \"slider_mass\"?",
        ),
        (vec!["--vary", "slider_x=1:2:3"], "it is an output"),
        (
            vec!["--vary", "solver.formulation=list:relative,relativ"],
            "did you mean \"relative\"?",
        ),
        (
            vec!["--vary", "slider_mass=1:2:3", "--outputs", "slider_xx"],
            "did you mean \"slider_x\"?",
        ),
        (vec!["--vary", "slider_mass=1:2"], "a:b:n"),
        (
            vec!["--vary", "slider_mass=uniform(1,2)"],
            "the number of runs",
        ),
        (
            vec!["--vary", "slider_mass=1:2:3", "--vary", "slider_mass=1:2:3"],
            "varied twice",
        ),
        (
            vec!["--vary", "slider_mass=1:2:3", "--plan", "random"],
            "expected grid, lhs, sobol or csv:FILE",
        ),
        (
            vec!["--vary", "slider_mass=1:2:3", "--plan", "sobol"],
            "the number of runs",
        ),
        (
            vec!["--vary", "slider_mass=1:2:3", "--shard", "0/2"],
            "expected i/n",
        ),
        (
            vec!["--vary", "slider_mass=1:2:3", "--stop", "-1"],
            "a time after the start",
        ),
        (
            vec!["--vary", "slider_mass=1:2:3", "-j", "0"],
            "at least one thread",
        ),
        (vec![], "nothing varies"),
        (
            vec!["--plan", "csv:/does/not/exist"],
            "cannot read \"/does/not/exist\"",
        ),
    ] {
        let (status, _, error) = sweep(&arguments);
        assert!(
            status == 2 && error.contains(sentence),
            "{arguments:?}: {error}"
        );
        assert!(!out.exists());
        assert!(!folder.join("r.csv.runs").exists());
    }
    let (status, _, error) =
        outcome(&["sweep", CRANK, "-o", "r.txt", "--vary", "slider_mass=1:2:3"]);
    assert!(
        status == 2 && error.contains("expected .csv or .parquet"),
        "{error}"
    );
}
