//! The file: its size, its bytes and the code of others in it. What writing it costs is measured by `benches/report.rs`.

use sha2::{Digest, Sha256};

use super::support::{
    element, hundred_bodies, page_of, repository, run, scratch, summary, written,
};

fn without_times(page: &str) -> String {
    page.replace(element(page, "measured"), "")
}

#[test]
fn the_same_run_gives_the_same_bytes_but_for_measured_times() {
    let pages = ["a", "b"].map(|name| {
        let page = page_of("models/iltis.toml", &format!("same_{name}"), &[]);
        std::fs::read_to_string(page).unwrap()
    });
    assert!(element(&pages[0], "measured").contains("integrating"));
    assert!(without_times(&pages[0]) == without_times(&pages[1]));
}

#[test]
fn a_report_does_not_change_the_run() {
    let tables = [true, false].map(|report| {
        let csv = scratch(&format!("alone_{report}.csv"));
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_biela"));
        command
            .arg("run")
            .arg(repository("models/geneva.toml"))
            .arg("--out")
            .arg(&csv);
        if report {
            command.arg("--report").arg(scratch("alone.html"));
        }
        assert!(command.output().unwrap().status.success());
        std::fs::read(csv).unwrap()
    });
    assert!(tables[0] == tables[1]);
}

#[test]
fn pages_are_small() {
    for (model, most) in [("slider_crank", 400_000), ("stewart", 600_000)] {
        let page = page_of(
            &format!("models/{model}.toml"),
            &format!("size_{model}"),
            &[],
        );
        let size = std::fs::metadata(page).unwrap().len();
        assert!(size <= most, "{model}: {size} bytes");
    }
}

#[test]
fn a_hundred_bodies_over_many_rows_stay_below_a_kilobyte_a_row() {
    // 10 MB for 10,000 rows; a tenth of them unless everything is to be tested.
    let full = std::env::var_os("BIELA_TEST_FULL").is_some();
    let (stop, rows) = if full { ("10", 10_001) } else { ("1", 1_001) };
    let (model, page) = (
        written("hundred.toml", &hundred_bodies()),
        scratch("hundred.html"),
    );
    assert!(
        run(&model, &page, &["--stop", stop, "--interval", "0.001"])
            .status
            .success()
    );
    let text = std::fs::read_to_string(&page).unwrap();
    assert_eq!(
        summary(&text)["scene"]["bodies"].as_array().unwrap().len(),
        100
    );
    // Code and model text are there once; what is left is rows.
    let fixed = 400_000;
    assert!(text.len() <= fixed + rows * 960, "{} bytes", text.len());
}

#[test]
fn nothing_from_outside_is_allowed() {
    let page = page_of("models/slider_crank.toml", "policy", &[]);
    let text = std::fs::read_to_string(page).unwrap();
    let (_, policy) = text
        .split_once("Content-Security-Policy\" content=\"")
        .unwrap();
    let policy = policy.split_once('"').unwrap().0;
    assert!(
        policy.starts_with("default-src 'none'; script-src 'sha256-"),
        "{policy}"
    );
    assert!(
        !policy.contains("unsafe") && !policy.contains("http"),
        "{policy}"
    );
    assert_eq!(text.matches(" src=").count(), 0);
}

#[test]
fn the_code_of_others_is_what_was_published() {
    let folder = repository("src/report/assets/vendor");
    let list = std::fs::read_to_string(folder.join("README.md")).unwrap();
    let mut checked = 0;
    for line in list.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line
            .split('|')
            .map(|cell| cell.trim().trim_matches('`'))
            .collect();
        if let Ok(bytes) = std::fs::read(folder.join(cells[1])) {
            let hash: String = Sha256::digest(&bytes)
                .iter()
                .map(|b| format!("{b:02x}"))
                .collect();
            assert_eq!(hash, cells[2], "{}", cells[1]);
            checked += 1;
        }
    }
    assert_eq!(checked, 6);
    for name in ["uplot", "ogl"] {
        assert!(list.contains(&format!("{name}-")) && list.contains("sha512-"));
    }
    let page = std::fs::read_to_string(page_of("models/pendulum.toml", "licences", &[])).unwrap();
    assert!(
        page.contains("The MIT License (MIT)") && page.contains("released into the public domain")
    );
}
